//! Builds a described group.

use std::collections::BTreeSet;

use crate::decide::DecisionContext;
use crate::handoff::{FindingSeverity, PlannedGroup};
use crate::id::Name;
use crate::route::described_position::task_of;
use crate::route::described_state::{ID, MOST_DESCRIBED};
use crate::route::{DescribedFacts, RouteQuery, RouteSource};
use crate::state::{
    Finding, FindingStatus, Group, GroupProgress, GroupStatus, Lane, LanePart, PartHolder, RecordedBlocker, RoleTask,
    Session, State,
};
use crate::workflow::{AssignmentTask, LoopMeasure, PassIx, PhaseIx, RoleIx, Workflow};

pub(super) struct StateBuilder<'a> {
    pub(super) workflow: &'a Workflow,
    pub(super) facts: &'a DescribedFacts,
    pub(super) phase: Option<PhaseIx>,
    pub(super) speaker: Option<&'a Name>,
}

impl StateBuilder<'_> {
    pub(super) fn stage(&self) -> Option<usize> {
        self.phase.map(|phase| self.workflow.phase(phase).stage)
    }

    pub(super) fn group(&self, id: &str, progress: GroupProgress) -> Group {
        let mut flags = self.facts.flags.clone();
        if let (Some(guard), None) = (self.workflow.domain_guard, flags.get("domain")) {
            let told = self.speaker.and_then(|role| self.workflow.domain_of(role));
            let domain = told.and_then(|ix| self.workflow.domains.get(ix.index())).map(|domain| domain.name.clone());
            let first = || self.workflow.guard(guard).values.first().cloned();
            flags.extend(domain.or_else(first).map(|domain| (Name::new("domain"), domain)));
        }
        let mut group = Group::planned(&PlannedGroup {
            id: Name::new(id),
            title: Name::new(id),
            flags,
            depends_on: Vec::new(),
            checks: Vec::new(),
        });
        group.progress = progress;
        group.lane.stage = self.stage().and_then(|stage| u16::try_from(stage).ok());
        group
    }

    /// The described author, or the one that a plain group would have.
    fn author(&self) -> Option<Name> {
        if self.facts.author.is_some() || self.facts.no_author {
            return self.facts.author.clone();
        }
        let workflow = self.workflow;
        let is_author = |ix: &RoleIx| workflow.role(*ix).author;
        let own = self.speaker.and_then(|name| workflow.role_named(name)).filter(is_author);
        let plain = self.group("plain", GroupProgress::Pending);
        let state = State::with_session(Session {
            id: Name::new("route"),
            title: Name::new("route"),
            workflow: workflow.name.clone(),
            workflow_hash: workflow.hash,
            settings: self.facts.settings.clone(),
            investigation: false,
            settings_by: None,
            dropped: Vec::new(),
            allowed: Vec::new(),
        });
        let inputs = crate::command::DecisionInputs { now: crate::id::Timestamp(0) };
        let cx = DecisionContext { workflow, state: &state, inputs: &inputs, tree: None, feature_directory: None };
        let opening = workflow
            .group_begin
            .iter()
            .find(|opening| crate::decide::guards_hold(&cx, &plain, &opening.when))
            // Before overrides: those are for whatever the route arrives at.
            .map(|opening| opening.role);
        let by_phase = || {
            (0..workflow.phases.len())
                .filter_map(|index| crate::decide::role_of_phase(&cx, &plain, PhaseIx::new(index)))
                .find(is_author)
        };
        let found = own.or_else(|| opening.filter(is_author)).or_else(by_phase);
        found.map(|ix| workflow.role(ix).name.clone())
    }

    /// The group that the report is about.
    pub(super) fn subject(&self, query: &RouteQuery) -> Group {
        let mut group = self.group("group", GroupProgress::Working);
        group.author = self.author();
        group.lane = self.lane(group.author.as_ref());
        group.passed = self.passed(query);
        group.nothing_to_do = group.author.clone().filter(|_| self.facts.nothing_to_do);
        group.merging = self.facts.status == Some(GroupStatus::Merging);
        let by = match &query.source {
            RouteSource::Question(_) => self.speaker.cloned(),
            RouteSource::Role(_) | RouteSource::Gate(_) => None,
        };
        group.findings = self.findings(&by.unwrap_or_else(|| Name::new("")));
        group.failing_tests = self.facts.failing_tests(self.workflow).unwrap_or_default();
        group
    }

    /// The open findings, with the report counted. The report itself does not close them: they belong to no role,
    /// unless a person is asked about findings of the asker.
    fn findings(&self, raised_by: &Name) -> Vec<Finding> {
        let open = self.facts.open(self.workflow, LoopMeasure::BlockingFindings).unwrap_or_default();
        let finding = |number: u32| Finding {
            id: Name::from(format!("F{number}")),
            location: Name::new("described"),
            title: Name::from(format!("finding {number}")),
            severity: FindingSeverity::High,
            blocking: true,
            raised_by: raised_by.clone(),
            status: FindingStatus::Open,
            response: None,
            response_refuted: false,
            accepted_as_is_by: None,
            escalated_to: None,
            dropped_because: None,
        };
        (0..open.min(MOST_DESCRIBED)).map(finding).collect()
    }

    /// A merge comes after the approvals, and a confirmation after the merge, so they are there.
    fn passed(&self, query: &RouteQuery) -> BTreeSet<Name> {
        let role = self.speaker.map_or("", Name::as_str);
        let merges = task_of(self.workflow, role, query, self.facts) == AssignmentTask::Merge;
        let confirmed = &self.workflow.completion.once_blocked;
        let awaits = self.facts.status == Some(GroupStatus::AwaitingConfirmation);
        let passes = self.workflow.passes.iter().enumerate();
        let there = passes.filter(|(index, _)| merges || awaits && !confirmed.contains(&PassIx::new(*index)));
        let mut passed: BTreeSet<Name> = there.map(|(_, pass)| pass.name.clone()).collect();
        for (name, there) in &self.facts.loops.passed {
            if *there {
                passed.insert(name.clone())
            } else {
                passed.remove(name)
            };
        }
        passed
    }

    /// The role that waits because it was blocked: the described one, or the author if the group is described as
    /// blocked.
    fn blocked_agent(&self, author: Option<&Name>) -> Option<Name> {
        let told = self.facts.blocked_agent.as_ref().filter(|_| self.facts.waiting.is_none());
        let blocked = self.facts.status == Some(GroupStatus::Blocked);
        told.or(author.filter(|author| blocked && Some(*author) != self.speaker)).cloned()
    }

    pub(super) fn lane(&self, author: Option<&Name>) -> Lane {
        let workflow = self.workflow;
        let blocked = self.blocked_agent(author);
        let waiting: Vec<RoleTask> = match &self.facts.waiting {
            Some(waiting) => {
                let seat = |(role, task): &(Name, AssignmentTask)| RoleTask {
                    role: role.clone(),
                    task: *task,
                    blocked: false,
                };
                waiting.iter().map(seat).collect()
            }
            None => blocked
                .iter()
                .map(|role| RoleTask { role: role.clone(), task: AssignmentTask::Work, blocked: true })
                .collect(),
        };
        let own = LanePart { phase: None, holder: PartHolder::Assignment(ID), waiting };
        let mut lane = Lane { stage: self.stage().and_then(|stage| u16::try_from(stage).ok()), ..Lane::default() };
        let stage = self.stage().and_then(|stage| workflow.stages.get(stage));
        lane.ever_blocked = blocked.is_some()
            || matches!(self.facts.status, Some(GroupStatus::Blocked | GroupStatus::AwaitingConfirmation));
        match stage {
            None => lane.parts.push(own),
            Some(stage) => {
                for phase in &stage.phases {
                    let name = Some(workflow.phase(*phase).name.clone());
                    if Some(*phase) == self.phase {
                        lane.parts.push(LanePart { phase: name, ..own.clone() });
                    } else {
                        let holder = if self.facts.outstanding { PartHolder::Nobody } else { PartHolder::Done };
                        lane.parts.push(LanePart { phase: name, holder, waiting: Vec::new() });
                    }
                }
            }
        }
        let part = lane.parts.iter().position(|part| part.holder == PartHolder::Assignment(ID));
        let part = u8::try_from(part.unwrap_or(0)).unwrap_or(0);
        lane.blocks.extend(blocked.map(|role| RecordedBlocker { part, role, reason: None }));
        lane
    }
}
