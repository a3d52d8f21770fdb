//! The fold: one total match over what can change, live and in replay.

use crate::event::{Cause, Change, Closing, Event};
use crate::id::{AssignmentId, DecisionId, Name};
use crate::state::group::{End, Group, Progress};
use crate::state::lane::{Block, Counter, Holder, Lane, Part};
use crate::state::{Assignment, Closed, GateRun, Question, Session, SessionStatus, State};
use crate::workflow::Task;

impl State {
    /// Applies an event. Whatever does not fit is passed over: replay never fails.
    pub fn apply(&mut self, event: &Event) {
        self.seq = self.seq.saturating_add(1);
        if let Cause::Started { session, title, workflow, workflow_hash, settings } = &event.cause {
            self.session = Some(Session {
                id: session.clone(),
                title: title.clone(),
                workflow: workflow.clone(),
                workflow_hash: *workflow_hash,
                settings: settings.clone(),
            });
        }
        if let Some(decision) = &event.decision {
            self.last_decision = decision.id;
        }
        let decision = self.last_decision;
        for change in &event.changes {
            self.change(change, decision);
        }
    }

    fn change(&mut self, change: &Change, decision: DecisionId) {
        match change {
            Change::GroupPlanned { group } => {
                self.group_index.insert(group.id.clone(), self.groups.len());
                self.groups.push(Group::planned(group));
            }
            Change::Staged { stage } => self.staged(*stage),
            Change::Entered { group, stage, phases } => self.entered(group.as_ref(), *stage, phases),
            Change::Assigned { .. } => self.assigned(change),
            Change::Claimed { assignment, token, lease_until } => {
                if let Some(assignment) = self.assignments.get_mut(assignment) {
                    assignment.token = Some(*token);
                    assignment.lease_until = *lease_until;
                }
            }
            Change::Unclaimed { assignment } => self.unclaimed(*assignment),
            Change::Closed { assignment, how, digest } => self.closed(*assignment, *how, *digest, decision),
            Change::Asked { question, name, group, part, text, options, asker, stopped } => {
                self.hold(group.as_ref(), *part, Holder::Question(*question));
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
                    open: true,
                };
                self.questions.insert(*question, asked);
            }
            Change::QuestionClosed { question } => {
                self.open_questions.remove(question);
                let closed = self.questions.get_mut(question).map(|asked| {
                    asked.open = false;
                    (asked.group.clone(), asked.part)
                });
                if let Some((group, part)) = closed {
                    self.release(group.as_ref(), part, &Holder::Question(*question));
                }
            }
            Change::GateOpened { run, gate, group, part, purpose } => {
                self.hold(group.as_ref(), *part, Holder::Gate(*run));
                self.last_gate_run = *run;
                let opened =
                    GateRun { gate: gate.clone(), group: group.clone(), part: *part, purpose: purpose.clone() };
                self.gate_runs.insert(*run, opened);
                self.merging(group.as_ref(), true);
            }
            Change::GateClosed { run } => {
                if let Some(closed) = self.gate_runs.remove(run) {
                    self.release(closed.group.as_ref(), closed.part, &Holder::Gate(*run));
                }
            }
            Change::GatePassed { group, gate } => self.gate_passed(group.as_ref(), gate),
            Change::Session { status } => self.status = *status,
            Change::Waits { group, .. }
            | Change::WaitEnded { group, .. }
            | Change::Blocked { group, .. }
            | Change::Unblocked { group, .. }
            | Change::Counted { group, .. }
            | Change::CounterReset { group, .. }
            | Change::PartDone { group, .. } => {
                if let Some(lane) = self.lane_mut(group.as_ref()) {
                    lane.change(change);
                }
            }
            Change::MeasureForgotten { group, .. }
            | Change::Author { group, .. }
            | Change::Passed { group, .. }
            | Change::PassesLapsed { group }
            | Change::Reviewed { group, .. }
            | Change::Responded { group, .. }
            | Change::TestsFailing { group, .. }
            | Change::Arrived { group, .. }
            | Change::AwaitsConfirmation { group }
            | Change::GroupEnded { group, .. }
            | Change::DeferralNamed { group, .. }
            | Change::Noted { group, .. } => {
                if let Some(group) = self.group_mut(group) {
                    group.change(change);
                }
            }
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
        for group in self.groups.iter_mut().filter(|group| !group.ended()) {
            group.progress = Progress::Pending;
            group.lane.stage = Some(stage);
            group.lane.parts.clear();
        }
    }

    fn entered(&mut self, name: Option<&Name>, stage: Option<u16>, phases: &[Name]) {
        let Some(lane) = self.lane_mut(name) else { return };
        lane.stage = stage;
        lane.parts = if phases.is_empty() {
            vec![Part::default()]
        } else {
            phases.iter().map(|phase| Part { phase: Some(phase.clone()), ..Part::default() }).collect()
        };
        if let Some(group) = name.and_then(|name| self.group_mut(name)) {
            group.progress = Progress::Working;
        }
    }

    fn assigned(&mut self, change: &Change) {
        let Change::Assigned { assignment, group, part, phase, role, task, attempt } = change else { return };
        self.hold(group.as_ref(), *part, Holder::Assignment(*assignment));
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
            closed: None,
        };
        self.assignments.insert(*assignment, given);
        if let Some(lane) = self.lane_mut(group.as_ref()) {
            match lane.attempts.iter_mut().find(|(name, _)| name == role) {
                Some((_, count)) => *count = *attempt,
                None => lane.attempts.push((role.clone(), *attempt)),
            }
        }
        self.merging(group.as_ref(), *task == Task::Merge);
        if self.status == SessionStatus::Validating {
            self.status = SessionStatus::Active;
        }
    }

    /// A group is merging while its merge or its gates are under way.
    fn merging(&mut self, group: Option<&Name>, merging: bool) {
        if let Some(group) = group.and_then(|name| self.group_mut(name)) {
            group.merging = merging;
            group.progress = Progress::Working;
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

    fn closed(&mut self, id: AssignmentId, how: Closing, digest: Option<crate::id::Digest>, decision: DecisionId) {
        self.open.remove(&id);
        let closed = self.assignments.get_mut(&id).map(|assignment| {
            assignment.closed = Some(Closed { how, digest, decision });
            (assignment.group.clone(), assignment.part)
        });
        if let Some((group, part)) = closed {
            self.release(group.as_ref(), part, &Holder::Assignment(id));
        }
    }

    fn gate_passed(&mut self, group: Option<&Name>, gate: &Name) {
        match group {
            None => {
                self.gates_passed.insert(gate.clone());
            }
            Some(name) => {
                if let Some(group) = self.group_mut(name) {
                    group.gates_passed.insert(gate.clone());
                }
            }
        }
    }

    fn hold(&mut self, group: Option<&Name>, part: u8, holder: Holder) {
        if let Some(lane) = self.lane_mut(group) {
            // The session's own part comes into being with its first holder.
            while lane.parts.len() <= usize::from(part) {
                lane.parts.push(Part::default());
            }
            if let Some(part) = lane.parts.get_mut(usize::from(part)) {
                part.holder = holder;
            }
        }
    }

    fn release(&mut self, group: Option<&Name>, part: u8, holder: &Holder) {
        let part = self.lane_mut(group).and_then(|lane| lane.parts.get_mut(usize::from(part)));
        if let Some(part) = part.filter(|part| part.holder == *holder) {
            part.holder = Holder::Nobody;
        }
    }
}

impl Lane {
    fn change(&mut self, change: &Change) {
        match change {
            Change::Waits { part, seat, .. } => {
                if let Some(part) = self.parts.get_mut(usize::from(*part)) {
                    part.waiting.push(seat.clone());
                }
            }
            Change::WaitEnded { part, from, .. } => {
                if let Some(part) = self.parts.get_mut(usize::from(*part)) {
                    part.waiting.truncate(usize::from(*from));
                }
            }
            Change::Blocked { role, reason, .. } => {
                self.blocks.push(Block { role: role.clone(), reason: reason.clone() });
                self.ever_blocked = true;
            }
            Change::Unblocked { role, .. } => self.blocks.retain(|block| block.role != *role),
            Change::Counted { counted, role, iteration, no_progress, measure, .. } => {
                let new = Counter {
                    counted: counted.clone(),
                    role: role.clone(),
                    iteration: *iteration,
                    no_progress: *no_progress,
                    measure: *measure,
                };
                match self.counters.iter_mut().find(|old| old.counted == *counted && old.role == *role) {
                    Some(old) => *old = new,
                    None => self.counters.push(new),
                }
            }
            Change::CounterReset { counted, role, .. } => {
                self.counters.retain(|old| old.counted != *counted || old.role != *role);
            }
            Change::PartDone { part, .. } => {
                if let Some(part) = self.parts.get_mut(usize::from(*part)) {
                    part.holder = Holder::Done;
                }
            }
            // Only what concerns a lane is sent here.
            _ => {}
        }
    }
}

impl Group {
    fn change(&mut self, change: &Change) {
        match change {
            Change::MeasureForgotten { counted, .. } => {
                for counter in self.lane.counters.iter_mut().filter(|counter| counter.counted == *counted) {
                    counter.measure = None;
                }
            }
            Change::Author { role, .. } => self.author = Some(role.clone()),
            Change::Passed { name, .. } => {
                self.passed.insert(name.clone());
            }
            Change::PassesLapsed { .. } => {
                self.passed.clear();
                self.gates_passed.clear();
            }
            Change::Reviewed { findings, .. } => {
                self.reviews = self.reviews.saturating_add(1);
                for (index, finding) in findings {
                    match self.findings.get_mut(usize::try_from(*index).unwrap_or(usize::MAX)) {
                        Some(old) => *old = finding.clone(),
                        None => self.findings.push(finding.clone()),
                    }
                }
            }
            Change::Responded { responses, .. } => {
                for response in responses {
                    let answered = self.findings.iter_mut().rev().find(|finding| finding.id == response.id);
                    if let Some(finding) = answered {
                        finding.response = Some(response.clone());
                    }
                }
            }
            Change::TestsFailing { tests, .. } => self.failing_tests.clone_from(tests),
            Change::Arrived { stage, .. } => {
                self.progress = Progress::Arrived;
                self.lane.stage = Some(*stage);
                self.lane.parts.clear();
            }
            Change::AwaitsConfirmation { .. } => {
                self.progress = Progress::AwaitingConfirmation;
                self.merging = false;
            }
            Change::GroupEnded { end, .. } => {
                self.progress = Progress::Ended(end.clone());
                self.merging = false;
            }
            Change::DeferralNamed { by, .. } => {
                if let Progress::Ended(End::Deferred { acknowledged, .. }) = &mut self.progress {
                    *acknowledged = Some(by.clone());
                }
            }
            Change::Noted { note, .. } => self.notes.push(note.clone()),
            // Only what concerns a group is sent here.
            _ => {}
        }
    }
}
