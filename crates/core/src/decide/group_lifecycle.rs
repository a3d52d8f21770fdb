//! Stages entered and left, groups started and ended, and what follows for the rest.

use std::borrow::Cow;

use crate::code::Code;
use crate::decide::apply_rule::DecisionActor;
use crate::decide::draft::{AssignmentSlot, DecisionDraft};
use crate::decide::facts::AUTHOR;
use crate::decide::rule_context::{RuleContext, phase_role};
use crate::decision::{DecisionAction, WaitsFor};
use crate::event::{BlockerResolution, StateChange};
use crate::id::{AssignmentId, Name, QuestionId};
use crate::rejection::Rejection;
use crate::state::{GatePurpose, Group, GroupClass, GroupEnd, GroupPosition, Lane, State};
use crate::workflow::*;

fn fresh_slot<'a>(group: Option<&'a Group>, lane: &'a Lane, part: usize, phase: Option<PhaseIx>) -> AssignmentSlot<'a> {
    AssignmentSlot { group, lane, part: u8::try_from(part).unwrap_or(u8::MAX), phase, fresh: true }
}

impl<'a> DecisionDraft<'a> {
    /// The stage is done: on to the next.
    pub(crate) fn leave_stage(&mut self, situation: &RuleContext<'_>) -> Result<(), Rejection> {
        let Some(phase) = situation.phase else { return Ok(()) };
        let phase = self.cx.workflow.phase(phase);
        let next = phase.stage.saturating_add(1);
        match situation.group {
            Some(group) => {
                self.action = DecisionAction::Spawn;
                let place = self.enter_group(group, next)?;
                self.continue_after_group(group, place)
            }
            None => {
                if phase.plans {
                    self.take_plan(situation)?;
                }
                self.enter_session(next)
            }
        }
    }

    /// Back to an earlier phase; whatever else is open in the lane is closed.
    pub(crate) fn return_to_phase(
        &mut self,
        situation: &RuleContext<'_>,
        phase: PhaseIx,
        role: Option<RoleIx>,
        voice: &DecisionActor,
    ) -> Result<(), Rejection> {
        let index = self.cx.workflow.phase(phase).stage;
        self.void_lane(situation.group, situation.lane, Some(situation.part), Some(BlockerResolution::Rework));
        self.end_waiting(situation.slot(), 0, voice.resolution);
        self.void_evidence(situation);
        self.action = DecisionAction::Respawn;
        let stage = self.cx.workflow.stages.get(index);
        if stage.is_some_and(|stage| self.any_applies(situation.group, stage)) {
            self.enter_stage(situation.group, situation.lane, index, role.map(|role| (phase, role)));
            return Ok(());
        }
        match situation.group {
            Some(group) => {
                let place = self.enter_group(group, index)?;
                self.continue_after_group(group, place)
            }
            None => self.enter_session(index),
        }
    }

    /// Begins a group's work at a stage, or at the next that applies to it.
    pub(crate) fn enter_group(&mut self, group: &Group, from: usize) -> Result<GroupPosition, Rejection> {
        let workflow = self.cx.workflow;
        for (index, stage) in workflow.stages.iter().enumerate().skip(from) {
            if stage.per_session {
                let number = u16::try_from(index).unwrap_or(u16::MAX);
                self.push(StateChange::Arrived { group: group.id.clone(), stage: number });
                return Ok(GroupPosition::Arrived(index));
            }
            if self.any_applies(Some(group), stage) {
                self.enter_stage(Some(group), &group.lane, index, None);
                return Ok(GroupPosition::Busy);
            }
        }
        self.finish_group(group)
    }

    fn any_applies(&mut self, group: Option<&Group>, stage: &PipelineStage) -> bool {
        stage.phases.iter().any(|phase| self.phase_applies(group, *phase))
    }

    /// The phase's `when` holds; a merge also needs an author to do it.
    fn phase_applies(&mut self, group: Option<&Group>, phase: PhaseIx) -> bool {
        let phase = self.cx.workflow.phase(phase);
        let mergeable = phase.performer != PhasePerformer::Merge || group.is_some_and(|group| group.author.is_some());
        mergeable && self.lets_through(group, &phase.when)
    }

    /// Assignments, gates or merge tasks of the phases that apply.
    pub(crate) fn enter_stage(
        &mut self,
        group: Option<&Group>,
        lane: &Lane,
        index: usize,
        stands_in: Option<(PhaseIx, RoleIx)>,
    ) {
        let workflow = self.cx.workflow;
        let Some(stage) = workflow.stages.get(index) else { return };
        let cx = self.cx;
        let phases: Vec<PhaseIx> =
            stage.phases.iter().copied().filter(|phase| self.phase_applies(group, *phase)).collect();
        self.push(StateChange::Entered {
            group: group.map(|group| group.id.clone()),
            stage: u16::try_from(index).ok(),
            phases: phases.iter().map(|phase| workflow.phase(*phase).name.clone()).collect(),
        });
        for (part, phase) in phases.into_iter().enumerate() {
            let slot = fresh_slot(group, lane, part, Some(phase));
            match &workflow.phase(phase).performer {
                PhasePerformer::Role(_) | PhasePerformer::ByDomain(_) => {
                    if let (PhasePerformer::ByDomain(_), Some(guard)) =
                        (&workflow.phase(phase).performer, workflow.domain_guard)
                    {
                        self.read(group, guard);
                    }
                    let climbed = stands_in.filter(|(own, _)| *own == phase).map(|(_, role)| role);
                    let role = climbed.or_else(|| phase_role(&cx, group, phase));
                    if let Some(role) = role.filter(|role| !self.asks_for_other_reviewer(group, slot, phase, *role)) {
                        self.assign(slot, role, AssignmentTask::Work, BlockerResolution::Rework);
                    }
                }
                PhasePerformer::Gate(gate) => {
                    self.action = DecisionAction::Gate;
                    self.open_gate(slot, *gate, GatePurpose::Phase);
                }
                PhasePerformer::Merge => {
                    let author = group.and_then(|group| group.author.as_ref());
                    if let Some(author) = author.and_then(|author| workflow.role_named(author)) {
                        self.action = DecisionAction::Merge;
                        self.read_role(&AUTHOR, author);
                        self.assign(slot, author, AssignmentTask::Merge, BlockerResolution::Approval);
                    }
                }
            }
        }
    }

    /// The session's own next stage, or the groups' turn, or the end.
    pub(crate) fn enter_session(&mut self, from: usize) -> Result<(), Rejection> {
        let workflow = self.cx.workflow;
        for (index, stage) in workflow.stages.iter().enumerate().skip(from) {
            if !stage.per_session {
                self.push(StateChange::Staged { stage: u16::try_from(index).unwrap_or(u16::MAX) });
                self.stage_groups();
                return self.start_groups(Some(index));
            }
            if self.any_applies(None, stage) {
                self.action = DecisionAction::Spawn;
                self.enter_stage(None, &self.cx.state.lane, index, None);
                return Ok(());
            }
        }
        if self.finish_arrived_groups() {
            return Ok(());
        }
        self.finish_session()
    }

    /// The session has left its last phase: groups that wait there have nothing before them but their completion.
    /// Returns whether a gate of one of them runs first. A group that lacks evidence stays as it is, and the question
    /// about unfinished work names what is missing.
    fn finish_arrived_groups(&mut self) -> bool {
        let mut busy = false;
        for index in self.roster.some(GroupClass::Arrived, usize::MAX) {
            let Some(group) = self.group_at(index) else { continue };
            if let Ok(place) = self.finish_group(&group) {
                busy |= place == GroupPosition::Busy;
                self.roster.set(index, Some(place));
            }
        }
        busy
    }

    /// Puts all open groups back in line to start.
    fn stage_groups(&mut self) {
        for class in [GroupClass::Busy, GroupClass::Arrived] {
            for index in self.roster.some(class, usize::MAX) {
                self.roster.set(index, None);
            }
        }
    }

    /// A group was moved: if it is out of the way, others start, or are waited for, or all are done.
    pub(crate) fn continue_after_group(&mut self, group: &Group, place: GroupPosition) -> Result<(), Rejection> {
        self.set_group_position(group, place);
        if place == GroupPosition::Busy { Ok(()) } else { self.start_groups(None) }
    }

    /// The state still shows the group as it was.
    pub(crate) fn set_group_position(&mut self, group: &Group, place: GroupPosition) {
        if let Some(index) = self.roster.index_of(&group.id) {
            self.roster.set(index, Some(place));
        }
    }

    /// Starts what can start. `staged`: the stage at which every open group has just been set.
    pub(crate) fn start_groups(&mut self, staged: Option<usize>) -> Result<(), Rejection> {
        let action = self.action;
        loop {
            self.defer_doomed();
            let mut busy = false;
            let mut moved = false;
            for index in self.startable() {
                let Some(group) = self.group_at(index) else { continue };
                let place = self.begin_group(&group, staged)?;
                busy |= place == GroupPosition::Busy;
                moved |= place != GroupPosition::Busy;
                self.roster.set(index, Some(place));
            }
            if busy {
                self.action = DecisionAction::Batch;
                return Ok(());
            }
            if !moved {
                break;
            }
        }
        self.action = action;
        if self.roster.busy() > 0 {
            self.action = DecisionAction::Wait;
            self.waits_for = Some(WaitsFor::Groups);
            return Ok(());
        }
        let arrived = self.roster.first(GroupClass::Arrived).and_then(|index| match self.roster.place(index) {
            Some(GroupPosition::Arrived(stage)) => Some(stage),
            Some(
                GroupPosition::Busy
                | GroupPosition::Completed
                | GroupPosition::AwaitsConfirmation
                | GroupPosition::Dropped,
            )
            | None => None,
        });
        self.all_groups_done(arrived)
    }

    /// Of the state, or of those that this decision plans.
    fn group_at(&self, index: usize) -> Option<Cow<'a, Group>> {
        let groups = &self.cx.state.groups;
        let planned = || self.planned.get(index.checked_sub(groups.len())?);
        groups.get(index).map(Cow::Borrowed).or_else(|| planned().cloned().map(Cow::Owned))
    }

    /// Groups whose dependencies will never be met are deferred, so that nothing waits for ever.
    fn defer_doomed(&mut self) {
        while let Some(index) = self.roster.first(GroupClass::Doomed) {
            self.roster.set(index, Some(GroupPosition::Dropped));
            let Some(group) = self.group_at(index) else { continue };
            let lost = group.depends_on.iter().find(|name| self.roster.is_lost(name));
            let name = lost.map_or("another", Name::as_str);
            let why = Name::from(format!("it depends on {name}, which was not completed"));
            let end = GroupEnd::Deferred { why, by: Name::new("interlock"), acknowledged: None };
            self.push(StateChange::GroupEnded { group: group.id.clone(), end });
        }
    }

    /// Pending groups with their dependencies met, as many as there are slots.
    fn startable(&self) -> Vec<usize> {
        let most = usize::try_from(self.cx.workflow.groups_at_most).unwrap_or(usize::MAX);
        self.roster.some(GroupClass::Ready, most.saturating_sub(self.roster.busy()))
    }

    fn begin_group(&mut self, group: &Group, staged: Option<usize>) -> Result<GroupPosition, Rejection> {
        if self.cx.workflow.has_phases() {
            let stage = staged.or(self.cx.state.lane.stage.map(usize::from)).unwrap_or(0);
            return self.enter_group(group, stage);
        }
        let openings = &self.cx.workflow.group_begin;
        let Some(opening) = openings.iter().find(|opening| self.lets_through(Some(group), &opening.when)) else {
            let message = format!("no entry of `groups.begin` holds for group `{}`", group.id);
            return Err(Rejection::new(Code::PlanRefused, message));
        };
        self.push(StateChange::Entered { group: Some(group.id.clone()), stage: None, phases: Vec::new() });
        self.apply_spawn_rule(opening, fresh_slot(Some(group), &group.lane, 0, None));
        Ok(GroupPosition::Busy)
    }

    pub(crate) fn apply_spawn_rule(&mut self, opening: &SpawnRule, slot: AssignmentSlot<'_>) {
        self.because.extend(opening.because.clone());
        let model = std::mem::replace(&mut self.model, opening.model.clone());
        self.assign(slot, opening.role, AssignmentTask::Work, BlockerResolution::Rework);
        if let Some(next) = self.next.last_mut() {
            next.because.extend(opening.because.clone());
        }
        self.model = model;
    }

    /// No group is left to start or running.
    fn all_groups_done(&mut self, arrived: Option<usize>) -> Result<(), Rejection> {
        let (workflow, state) = (self.cx.workflow, self.cx.state);
        if state.lane.is_open() && !self.closes_session_lane() {
            self.action = DecisionAction::Wait;
            self.waits_for = Some(WaitsFor::Groups);
            return Ok(());
        }
        if workflow.has_phases() {
            return match arrived {
                Some(stage) => self.enter_session(stage),
                None => self.finish_session(),
            };
        }
        if let Some(opening) = workflow.groups_ended.iter().find(|opening| self.lets_through(None, &opening.when)) {
            self.action = DecisionAction::Spawn;
            self.context = opening.with.clone();
            self.apply_spawn_rule(opening, fresh_slot(None, &state.lane, 0, None));
        }
        Ok(())
    }

    /// The session's own holder is the one whose report is being decided.
    fn closes_session_lane(&self) -> bool {
        let state = self.cx.state;
        let own = |id: &AssignmentId| state.assignments.get(id).is_some_and(|it| it.group.is_none());
        let asked = |id: &QuestionId| state.questions.get(id).is_some_and(|it| it.group.is_none());
        self.changes.iter().any(|change| {
            matches!(change, StateChange::Closed { assignment, .. } if own(assignment))
                || matches!(change, StateChange::QuestionClosed { question } if asked(question))
        })
    }

    /// Completes a group if the evidence is there; else a gate is run, or a manager asked.
    pub(crate) fn finish_group(&mut self, group: &Group) -> Result<GroupPosition, Rejection> {
        let workflow = self.cx.workflow;
        let missing = self.missing_needs(group);
        if !missing.is_empty() {
            let message = format!("group `{}` cannot be completed without: {}", group.id, missing.join(", "));
            return Err(Rejection::new(Code::NoValidPath, message));
        }
        self.nothing_is_open(group)?;
        self.refuse_unchanged(group)?;
        for gate in &workflow.completion.gates {
            if !self.gate_holds(group, *gate) {
                self.action = DecisionAction::Gate;
                self.open_gate(fresh_slot(Some(group), &group.lane, 0, None), *gate, GatePurpose::Completion);
                return Ok(GroupPosition::Busy);
            }
        }
        if !self.is_confirmed(group) {
            self.push(StateChange::AwaitsConfirmation { group: group.id.clone() });
            return Ok(GroupPosition::AwaitsConfirmation);
        }
        self.push(StateChange::GroupEnded { group: group.id.clone(), end: GroupEnd::Completed });
        Ok(GroupPosition::Completed)
    }

    /// Never blocked and nothing excused, or accepted since.
    pub(crate) fn is_confirmed(&self, group: &Group) -> bool {
        let now = |change: &StateChange| matches!(change, StateChange::Confirmed { group: g, .. } if *g == group.id);
        let asked = !self.cx.workflow.completion.once_blocked.is_empty();
        let doubtful = group.lane.ever_blocked || self.has_excuse(group, None);
        // An acceptance does not cover what is excused after it.
        let before = group.confirmed && !self.excuses_now(group);
        !asked || !doubtful || before || self.changes.iter().any(now)
    }

    /// As this decision leaves the group, it has no open finding, no blocker and no waiting role.
    fn nothing_is_open(&self, group: &Group) -> Result<(), Rejection> {
        let mut changes = self.changes.iter().filter(|change| concerns_what_is_open(change)).peekable();
        let after = match changes.peek() {
            None => Some(Cow::Borrowed(group)),
            Some(_) => State::begun_with(group.clone()).after(changes).map(Cow::Owned),
        };
        let Some(after) = after else { return Ok(()) };
        let findings = after.blocking_findings();
        if findings > 0 {
            let message =
                format!("group `{}` cannot be completed while blocking findings are open: {findings}", group.id);
            return Err(Rejection::new(Code::StillOpen, message));
        }
        if let Some(block) = after.lane.blocks.first() {
            let message =
                format!("group `{}` cannot be completed: nothing resolved the block of {}", group.id, block.role);
            return Err(Rejection::new(Code::BlockUnresolved, message));
        }
        if let Some(seat) = after.lane.parts.iter().flat_map(|part| &part.waiting).next() {
            let message = format!("group `{}` cannot be completed while {} waits", group.id, seat.role);
            return Err(Rejection::new(Code::NoValidPath, message));
        }
        Ok(())
    }

    pub(crate) fn gate_done(&self, group: &Group, gate: GateIx) -> bool {
        let gate = self.cx.workflow.gate(gate);
        let nothing_to_run = matches!(gate.run, GateCommandSource::Plan) && group.checks.is_empty();
        let now = |change: &StateChange| matches!(change, StateChange::GatePassed { group: Some(g), gate: n, .. } if *g == group.id && *n == gate.name);
        let earlier = || !self.lapses_now(group) && group.gates_passed.contains(&gate.name);
        nothing_to_run || self.changes.iter().any(now) || earlier()
    }

    pub(crate) fn complete_group(&mut self, situation: &RuleContext<'_>) -> Result<(), Rejection> {
        let Some(group) = situation.group else { return Ok(()) };
        let place = self.finish_group(group)?;
        self.continue_after_group(group, place)
    }

    /// Ends a group without completing it.
    pub(crate) fn drop_group(&mut self, group: &Group, except: Option<u8>, end: GroupEnd) -> Result<(), Rejection> {
        self.void_lane(Some(group), &group.lane, except, None);
        self.push(StateChange::GroupEnded { group: group.id.clone(), end });
        self.continue_after_group(group, GroupPosition::Dropped)
    }
}

fn concerns_what_is_open(change: &StateChange) -> bool {
    matches!(
        change,
        StateChange::Reviewed { .. }
            | StateChange::Blocked { .. }
            | StateChange::Unblocked { .. }
            | StateChange::Waits { .. }
            | StateChange::WaitEnded { .. }
    )
}
