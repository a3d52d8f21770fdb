//! The fold: one total match over what can change, live and in replay.

use std::collections::BTreeMap;

use crate::event::{ClosureKind, Event, EventCause, StateChange};
use crate::handoff::FindingResponse;
use crate::id::{AssignmentId, DecisionId, GateRunId, Name, QuestionId};
use crate::provenance::Channel;
use crate::state::group::{Finding, FindingStatus, Group, GroupEnd, GroupProgress};
use crate::state::lane::{Lane, LanePart, LoopCounter, PartHolder, RecordedBlocker};
use crate::state::{
    Assignment, AssignmentClosure, GateRun, Question, Session, SessionStatus, SessionUpgrade, State, WaivedGate,
};
use crate::workflow::AssignmentTask;

impl State {
    /// Applies an event. Whatever does not fit is passed over: replay never fails.
    pub fn apply(&mut self, event: &Event) {
        self.seq = self.seq.saturating_add(1);
        if let EventCause::Started {
            session,
            title,
            workflow,
            workflow_hash,
            settings,
            investigation,
            by,
            dropped,
            ..
        } = &event.cause
        {
            self.session = Some(Session {
                id: session.clone(),
                title: title.clone(),
                workflow: workflow.clone(),
                workflow_hash: *workflow_hash,
                settings: settings.clone(),
                investigation: *investigation,
                settings_by: by.clone(),
                dropped: dropped.clone(),
                allowed: Vec::new(),
            });
        }
        if let (EventCause::Upgraded { workflow, workflow_hash, from, by, dropped }, Some(session)) =
            (&event.cause, &mut self.session)
        {
            session.workflow = workflow.clone();
            session.workflow_hash = *workflow_hash;
            let (from, to) = (*from, *workflow_hash);
            self.upgrades.push(SessionUpgrade { from, to, by: by.clone(), dropped: dropped.clone() });
        }
        if let Some(decision) = &event.decision {
            self.last_decision = decision.id;
        }
        let decision = self.last_decision;
        if let EventCause::Reported { assignment, observed, .. } = &event.cause {
            self.note_observed(*assignment, observed.as_deref());
        }
        if let EventCause::Merged { assignment, empty, .. } = &event.cause {
            self.note_merge(*assignment, *empty);
        }
        let record = self.indexed_record(event);
        for change in &event.changes {
            self.change(change, decision);
        }
        if let Some((group, record)) = record {
            self.index_record(group.as_ref(), record);
        }
    }

    /// The only group, as these changes would leave it.
    pub(crate) fn after<'c>(mut self, changes: impl Iterator<Item = &'c StateChange>) -> Option<Group> {
        for change in changes {
            self.change(change, DecisionId::default());
        }
        self.groups.pop()
    }

    fn change(&mut self, change: &StateChange, decision: DecisionId) {
        match change {
            StateChange::GroupPlanned { group, reported, by } => {
                self.session_gates_lapse();
                self.nothing_completed = None;
                let mut group = Group::planned(group);
                group.words.plan = reported.unwrap_or(decision);
                group.planned_by.clone_from(by);
                self.roster.add(self.groups.len(), &group);
                self.groups.push(group);
            }
            StateChange::Staged { stage } => self.staged(*stage),
            StateChange::Entered { group, stage, phases } => self.entered(group.as_ref(), *stage, phases),
            StateChange::Assigned { .. } => self.assigned(change),
            StateChange::Claimed { .. } => self.claimed(change),
            StateChange::Unclaimed { assignment } => self.unclaimed(*assignment),
            StateChange::StatusReturned { assignment } => self.status_returned(*assignment),
            StateChange::Closed { assignment, how, digest, via } => {
                if *how == ClosureKind::Reported {
                    self.handed_in(*assignment, via.as_ref());
                }
                self.closed(*assignment, *how, *digest, decision);
            }
            StateChange::Sighted(sighting) => self.watch.record_hook(sighting),
            StateChange::Asked { .. } => self.asked(change),
            StateChange::QuestionClosed { question } => self.question_closed(*question),
            StateChange::GateOpened { .. } => self.gate_opened(change),
            StateChange::GateClosed { run } => self.gate_closed(*run),
            StateChange::GatePassed { group, gate, tree } => {
                self.forget_waiver(group.as_ref(), gate);
                self.gate_passed(group.as_ref(), gate, tree.as_ref());
            }
            StateChange::Session { status } => self.status = *status,
            StateChange::PathsAllowed { paths, by } => self.allow_paths(paths, by),
            StateChange::Waits { group, part, seat } => {
                self.on_part(group.as_ref(), *part, |part| part.waiting.push(seat.clone()));
            }
            StateChange::WaitEnded { group, part, from } => {
                self.on_part(group.as_ref(), *part, |part| part.waiting.truncate(usize::from(*from)));
            }
            StateChange::PartDone { group, part } => {
                self.on_part(group.as_ref(), *part, |part| part.holder = PartHolder::Done);
            }
            StateChange::Blocked { group, part, role, reason } => {
                let block = RecordedBlocker { part: *part, role: role.clone(), reason: reason.clone() };
                self.blocked(group.as_ref(), block);
            }
            StateChange::Unblocked { group, part, role, .. } => self.on_lane(group.as_ref(), |lane| {
                lane.blocks.retain(|block| block.part != *part || block.role != *role);
            }),
            StateChange::NothingCompletedAcknowledged { by } => self.nothing_completed = Some(by.clone()),
            StateChange::GateWaived { group, gate, by } => {
                self.forget_waiver(group.as_ref(), gate);
                let (group, gate, by) = (group.clone(), gate.clone(), by.clone());
                self.waived_gates.push(WaivedGate { group, gate, by });
            }
            StateChange::Counted { group, counted, role, iteration, no_progress, measure } => {
                let (counted, role) = (counted.clone(), role.clone());
                let (iteration, no_progress, measure) = (*iteration, *no_progress, *measure);
                let counter = LoopCounter { counted, role, iteration, no_progress, measure };
                self.on_lane(group.as_ref(), |lane| lane.count(counter));
            }
            StateChange::CounterReset { group, counted, role } => self.on_lane(group.as_ref(), |lane| {
                lane.counters.retain(|old| old.counted != *counted || old.role != *role);
            }),
            StateChange::MeasureForgotten { group, counted } => {
                self.on_lane(Some(group), |lane| lane.forget_measure(counted));
            }
            StateChange::Confirmed { .. }
            | StateChange::Excused { .. }
            | StateChange::EvidenceFailed { .. }
            | StateChange::WorkDelivered { .. }
            | StateChange::NeedSpared { .. }
            | StateChange::Author { .. }
            | StateChange::Passed { .. }
            | StateChange::PassesLapsed { .. }
            | StateChange::PassVoided { .. }
            | StateChange::NothingToDo { .. }
            | StateChange::AcceptedUnchanged { .. }
            | StateChange::Reviewed { .. }
            | StateChange::Responded { .. }
            | StateChange::TestsFailing { .. }
            | StateChange::FailuresStated { .. }
            | StateChange::Arrived { .. }
            | StateChange::AwaitsConfirmation { .. }
            | StateChange::GroupEnded { .. }
            | StateChange::DeferralNamed { .. }
            | StateChange::Noted { .. } => self.change_group(change, decision),
        }
    }

    fn forget_waiver(&mut self, group: Option<&Name>, gate: &Name) {
        self.waived_gates.retain(|waived| waived.group.as_ref() != group || waived.gate != *gate);
    }

    /// Changes of one group: its author, evidence, findings and end.
    fn change_group(&mut self, change: &StateChange, decision: DecisionId) {
        match change {
            StateChange::Confirmed { group, by } => self.on_group(group, |group| group.confirm(by.as_ref())),
            StateChange::Excused { group, excuse } => self.on_group(group, |group| group.excuse(excuse)),
            StateChange::EvidenceFailed { group, name } => self.on_group(group, |group| group.fail_evidence(name)),
            StateChange::WorkDelivered { group } => self.on_group(group, |group| group.delivered = true),
            // The database keeps it; `decide` reads the condition itself.
            StateChange::NeedSpared { .. } => {}
            StateChange::Author { group, role } => self.on_group(group, |group| group.begin_authorship(role)),
            StateChange::Passed { group, name } => self.on_group(group, |group| group.pass_evidence(name)),
            StateChange::PassesLapsed { group } => self.on_group(group, Group::lapse_evidence),
            StateChange::PassVoided { group, name } => self.on_group(group, |group| group.void_pass(name)),
            StateChange::NothingToDo { group, by } => self.on_group(group, |group| group.state_nothing_to_do(by)),
            StateChange::AcceptedUnchanged { group, by } => self.on_group(group, |group| group.accept_unchanged(by)),
            StateChange::Reviewed { group, by, findings } => {
                self.on_group(group, |group| group.reviewed(by, findings, decision));
            }
            StateChange::Responded { group, responses } => self.on_group(group, |group| group.responded(responses)),
            StateChange::TestsFailing { group, tests } => {
                self.on_group(group, |group| group.failing_tests.clone_from(tests));
            }
            StateChange::FailuresStated { group, statements } => {
                self.on_group(group, |group| group.stated_failures.clone_from(statements));
            }
            StateChange::Arrived { group, stage } => self.moved(group, |group| {
                group.progress = GroupProgress::Arrived;
                group.lane.stage = Some(*stage);
                group.lane.parts.clear();
            }),
            StateChange::AwaitsConfirmation { group } => {
                self.moved(group, |group| group.rests(GroupProgress::AwaitingConfirmation));
                self.forget_awaited(group);
            }
            StateChange::GroupEnded { group, end } => {
                self.session_gates_lapse();
                self.moved(group, |group| group.rests(GroupProgress::Ended(end.clone())));
            }
            StateChange::DeferralNamed { group, by } => self.on_group(group, |group| {
                if let GroupProgress::Ended(GroupEnd::Deferred { acknowledged, .. }) = &mut group.progress {
                    *acknowledged = Some(by.clone());
                }
            }),
            StateChange::Noted { group, note } => self.on_group(group, |group| group.note(note)),
            StateChange::GroupPlanned { .. }
            | StateChange::GateWaived { .. }
            | StateChange::Staged { .. }
            | StateChange::Entered { .. }
            | StateChange::Assigned { .. }
            | StateChange::Claimed { .. }
            | StateChange::Unclaimed { .. }
            | StateChange::StatusReturned { .. }
            | StateChange::Closed { .. }
            | StateChange::Sighted(_)
            | StateChange::Asked { .. }
            | StateChange::QuestionClosed { .. }
            | StateChange::GateOpened { .. }
            | StateChange::GateClosed { .. }
            | StateChange::GatePassed { .. }
            | StateChange::Session { .. }
            | StateChange::Waits { .. }
            | StateChange::WaitEnded { .. }
            | StateChange::PartDone { .. }
            | StateChange::Blocked { .. }
            | StateChange::Unblocked { .. }
            | StateChange::NothingCompletedAcknowledged { .. }
            | StateChange::Counted { .. }
            | StateChange::CounterReset { .. }
            | StateChange::PathsAllowed { .. }
            | StateChange::MeasureForgotten { .. } => {}
        }
    }

    fn status_returned(&mut self, assignment: AssignmentId) {
        if let Some(known) = self.assignments.get_mut(&assignment) {
            known.statuses_returned = known.statuses_returned.saturating_add(1);
        }
    }

    /// An acceptance from before this block does not cover it.
    fn blocked(&mut self, group: Option<&Name>, block: RecordedBlocker) {
        self.on_lane(group, |lane| {
            lane.blocks.push(block);
            lane.ever_blocked = true;
        });
        if let Some(name) = group {
            self.on_group(name, Group::withdraw_confirmation);
        }
    }

    pub(super) fn on_group(&mut self, name: &Name, change: impl FnOnce(&mut Group)) {
        if let Some(group) = self.group_mut(name) {
            change(group);
        }
    }

    /// A change of where a group stands, of which the roster takes note.
    fn moved(&mut self, name: &Name, change: impl FnOnce(&mut Group)) {
        let Some(index) = self.group_ix(name) else { return };
        if let Some(group) = self.groups.get_mut(index) {
            change(group);
            self.roster.update(index, group);
        }
    }

    pub(super) fn on_lane(&mut self, group: Option<&Name>, change: impl FnOnce(&mut Lane)) {
        if let Some(lane) = self.lane_mut(group) {
            change(lane);
        }
    }

    fn on_part(&mut self, group: Option<&Name>, part: u8, change: impl FnOnce(&mut LanePart)) {
        if let Some(part) = self.lane_mut(group).and_then(|lane| lane.parts.get_mut(usize::from(part))) {
            change(part);
        }
    }

    fn group_mut(&mut self, name: &Name) -> Option<&mut Group> {
        let index = self.group_ix(name)?;
        self.groups.get_mut(index)
    }

    fn lane_mut(&mut self, group: Option<&Name>) -> Option<&mut Lane> {
        match group {
            None => Some(&mut self.lane),
            Some(name) => self.group_mut(name).map(|group| &mut group.lane),
        }
    }

    fn staged(&mut self, stage: u16) {
        self.lane.stage = Some(stage);
        self.lane.parts.clear();
        for (index, group) in self.groups.iter_mut().enumerate().filter(|(_, group)| !group.ended()) {
            group.progress = GroupProgress::Pending;
            group.lane.stage = Some(stage);
            group.lane.parts.clear();
            self.roster.update(index, group);
        }
    }

    fn entered(&mut self, name: Option<&Name>, stage: Option<u16>, phases: &[Name]) {
        let Some(lane) = self.lane_mut(name) else { return };
        lane.stage = stage;
        lane.parts = if phases.is_empty() {
            vec![LanePart::default()]
        } else {
            phases.iter().map(|phase| LanePart { phase: Some(phase.clone()), ..LanePart::default() }).collect()
        };
        if let Some(name) = name {
            self.moved(name, |group| group.progress = GroupProgress::Working);
        }
    }

    fn assigned(&mut self, change: &StateChange) {
        let StateChange::Assigned { assignment, group, part, phase, role, task, attempt } = change else { return };
        self.on_lane(group.as_ref(), |lane| {
            lane.hold(*part, PartHolder::Assignment(*assignment));
            lane.attempted(role, *attempt);
        });
        if let Some(name) = group.as_ref().filter(|_| *task == AssignmentTask::Work) {
            // An earlier statement of an author ends when an author works again.
            self.on_group(name, |group| {
                if group.author.as_ref() == Some(role) {
                    group.begin_authorship(role);
                }
            });
        }
        self.last_assignment = *assignment;
        self.open.insert(*assignment);
        let given = Assignment {
            group: group.clone(),
            part: *part,
            phase: phase.clone(),
            role: role.clone(),
            task: *task,
            attempt: *attempt,
            token: None,
            lease_until: None,
            via: None,
            awaiting: Vec::new(),
            statuses_returned: 0,
            closed: None,
        };
        self.assignments.insert(*assignment, given);
        if group.is_some() && *task != AssignmentTask::Consult {
            // Gates of the session passed on a tree that is about to change.
            self.session_gates_lapse();
        }
        self.merging(group.as_ref(), *task == AssignmentTask::Merge);
        if self.status == SessionStatus::Validating {
            self.status = SessionStatus::Active;
        }
    }

    /// A group is merging while its merge or its gates are under way.
    fn merging(&mut self, group: Option<&Name>, merging: bool) {
        if let Some(name) = group {
            self.moved(name, |group| {
                group.merging = merging;
                group.progress = GroupProgress::Working;
            });
        }
    }

    /// Prompts that were written before listed another tree of the group, or none.
    fn forget_awaited(&mut self, group: &Name) {
        for id in &self.open {
            if let Some(assignment) = self.assignments.get_mut(id) {
                assignment.awaiting.retain(|awaited| awaited != group);
            }
        }
    }

    fn claimed(&mut self, change: &StateChange) {
        let StateChange::Claimed { assignment, token, lease_until, via, awaiting } = change else { return };
        if let Some(assignment) = self.assignments.get_mut(assignment) {
            assignment.token = Some(*token);
            assignment.lease_until = *lease_until;
            assignment.via.clone_from(via);
            assignment.awaiting.clone_from(awaiting);
        }
    }

    fn unclaimed(&mut self, id: AssignmentId) {
        let Some(assignment) = self.assignments.get_mut(&id) else { return };
        assignment.token = None;
        assignment.lease_until = None;
        assignment.attempt = assignment.attempt.saturating_add(1);
        let (group, role, attempt) = (assignment.group.clone(), assignment.role.clone(), assignment.attempt);
        let lane = self.lane_mut(group.as_ref());
        if let Some((_, count)) = lane.and_then(|lane| lane.attempts.iter_mut().find(|(name, _)| *name == role)) {
            *count = attempt;
        }
    }

    fn closed(&mut self, id: AssignmentId, how: ClosureKind, digest: Option<crate::id::Digest>, decision: DecisionId) {
        self.open.remove(&id);
        let closed = self.assignments.get_mut(&id).map(|assignment| {
            assignment.closed = Some(AssignmentClosure { how, digest, decision });
            (assignment.group.clone(), assignment.part)
        });
        if let Some((group, part)) = closed {
            self.release(group.as_ref(), part, &PartHolder::Assignment(id));
        }
    }

    /// A merge that Interlock makes itself is not counted: no agent claimed it.
    fn handed_in(&mut self, id: AssignmentId, via: Option<&Channel>) {
        if let Some(assignment) = self.assignments.get(&id).filter(|assignment| assignment.token.is_some()) {
            self.watch.count_handoff(assignment.via.as_ref(), via);
        }
    }

    fn asked(&mut self, change: &StateChange) {
        let StateChange::Asked { question, name, group, part, text, options, asker, stopped, held } = change else {
            return;
        };
        self.on_lane(group.as_ref(), |lane| lane.hold(*part, PartHolder::Question(*question)));
        self.last_question = *question;
        self.open_questions.insert(*question);
        let asked = Question {
            name: name.clone(),
            group: group.clone(),
            part: *part,
            text: text.clone(),
            options: options.clone(),
            asker: asker.clone(),
            stopped: stopped.clone(),
            held: held.clone(),
            open: true,
        };
        self.questions.insert(*question, asked);
    }

    fn question_closed(&mut self, id: QuestionId) {
        self.open_questions.remove(&id);
        let closed = self.questions.get_mut(&id).map(|asked| {
            asked.open = false;
            // The answer has let the report take effect, or has declined it.
            asked.held = None;
            (asked.group.clone(), asked.part)
        });
        if let Some((group, part)) = closed {
            self.release(group.as_ref(), part, &PartHolder::Question(id));
        }
    }

    fn gate_opened(&mut self, change: &StateChange) {
        let StateChange::GateOpened { run, gate, group, part, purpose, again } = change else { return };
        self.on_lane(group.as_ref(), |lane| lane.hold(*part, PartHolder::Gate(*run)));
        self.last_gate_run = *run;
        let (gate, group, again) = (gate.clone(), group.clone(), again.clone());
        let opened = GateRun { gate, group: group.clone(), part: *part, purpose: purpose.clone(), again };
        self.gate_runs.insert(*run, opened);
        self.merging(group.as_ref(), true);
    }

    fn gate_closed(&mut self, id: GateRunId) {
        if let Some(closed) = self.gate_runs.remove(&id) {
            self.release(closed.group.as_ref(), closed.part, &PartHolder::Gate(id));
        }
    }

    fn gate_passed(&mut self, group: Option<&Name>, gate: &Name, tree: Option<&Name>) {
        let (passed, trees) = match group {
            None => (&mut self.gates_passed, &mut self.gate_trees),
            Some(name) => {
                let Some(group) = self.group_mut(name) else { return };
                (&mut group.gates_passed, &mut group.gate_trees)
            }
        };
        passed.insert(gate.clone());
        match tree {
            Some(tree) => drop(trees.insert(gate.clone(), tree.clone())),
            None => drop(trees.remove(gate)),
        }
    }

    fn session_gates_lapse(&mut self) {
        self.gates_passed.clear();
        self.gate_trees.clear();
    }

    fn release(&mut self, group: Option<&Name>, part: u8, holder: &PartHolder) {
        let part = self.lane_mut(group).and_then(|lane| lane.parts.get_mut(usize::from(part)));
        if let Some(part) = part.filter(|part| part.holder == *holder) {
            part.holder = PartHolder::Nobody;
        }
    }
}

impl Lane {
    fn hold(&mut self, part: u8, holder: PartHolder) {
        // The session's own part comes into being with its first holder.
        while self.parts.len() <= usize::from(part) {
            self.parts.push(LanePart::default());
        }
        if let Some(part) = self.parts.get_mut(usize::from(part)) {
            part.holder = holder;
        }
    }

    fn attempted(&mut self, role: &Name, attempt: u32) {
        match self.attempts.iter_mut().find(|(name, _)| name == role) {
            Some((_, count)) => *count = attempt,
            None => self.attempts.push((role.clone(), attempt)),
        }
    }

    fn count(&mut self, counter: LoopCounter) {
        let same = |old: &&mut LoopCounter| old.counted == counter.counted && old.role == counter.role;
        match self.counters.iter_mut().find(same) {
            Some(old) => *old = counter,
            None => self.counters.push(counter),
        }
    }

    fn forget_measure(&mut self, counted: &Name) {
        for counter in self.counters.iter_mut().filter(|counter| counter.counted == *counted) {
            counter.measure = None;
        }
    }
}

impl Group {
    fn reviewed(&mut self, by: &Name, findings: &[(u32, Finding)], decision: DecisionId) {
        self.reviewers.insert(by.clone());
        self.words.review(by, decision);
        let number = self.words.review_counts.get(by).copied().unwrap_or_default();
        for (index, finding) in findings {
            let mut index = usize::try_from(*index).unwrap_or(usize::MAX);
            let was_refuted = self.findings.get(index).is_some_and(|old| old.response_refuted);
            if finding.response_refuted && !was_refuted {
                self.words.refuted_in.insert(index, number);
            }
            match self.findings.get_mut(index) {
                Some(old) => *old = finding.clone(),
                None => {
                    index = self.findings.len();
                    self.findings.push(finding.clone());
                }
            }
            if finding.status == FindingStatus::Open {
                self.words.raise(index, decision);
            }
        }
    }

    fn responded(&mut self, responses: &[FindingResponse]) {
        let by_id: BTreeMap<&Name, &FindingResponse> =
            responses.iter().map(|response| (&response.id, response)).collect();
        for finding in self.findings.iter_mut().filter(|finding| finding.status == FindingStatus::Open) {
            if let Some(response) = by_id.get(&finding.id) {
                finding.response = Some((*response).clone());
                finding.response_refuted = false;
            }
        }
    }

    fn rests(&mut self, progress: GroupProgress) {
        self.progress = progress;
        self.merging = false;
    }
}
