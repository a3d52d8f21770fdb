//! The tables that people query, as a fold: what rows an event writes.
//!
//! Pure: the same events give the same rows, so a rebuild can be compared with what is stored.

use interlock_core::event::{BlockerResolution, ClosureKind, Event, EventCause, StateChange};
use interlock_core::id::{AssignmentId, Digest, Name, QuestionId};
use interlock_core::state::{
    Assignment, AssignmentClosure, Finding, FindingStatus, Group, GroupEnd, GroupProgress, Lane, PartHolder, State,
};
use interlock_core::workflow::AssignmentTask;
use serde_json::json;

use crate::event_effects::describe_effects;
use crate::table::{
    ASSIGNMENTS, BLOCKS, COUNTERS, CellValue, EVIDENCE, FINDINGS, GROUPS, QUESTIONS, ResolvedBlocks, RowWrite,
    TableWrite, WriteMode,
};

/// The group column of what belongs to the session itself.
pub const SESSION: &str = "";

/// The columns of the session's own row after an event.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionRow {
    pub status: &'static str,
    pub workflow: Name,
    pub workflow_hash: Digest,
    pub title: Name,
    /// This event voids the gates of the session.
    pub lapses: bool,
    /// The event that last did, as far as a fold knows.
    pub lapsed: u64,
}

/// Everything that an event writes beside itself.
#[derive(Clone, Debug, PartialEq)]
pub struct EventProjection {
    pub session: SessionRow,
    pub rows: Vec<TableWrite>,
    /// The effects of the event, one a line, for the guards.
    pub says: String,
}

/// The rows that an event writes, given the state after it. Closed assignments and questions of this event must still
/// be there.
pub fn project_event(event: &Event, after: &State) -> EventProjection {
    let seq = i64::try_from(after.seq).unwrap_or(i64::MAX);
    let mut writer =
        ProjectionWriter { event, after, seq, writes: Vec::new(), groups: Vec::new(), session_lapses: false };
    if matches!(event.cause, EventCause::Started { investigation: true, .. }) {
        writer.evidence(None, "investigation", &Name::new("investigation"));
    }
    for change in &event.changes {
        writer.change(change);
    }
    // Evidence and resolutions stand before the group that needs them.
    let groups = std::mem::take(&mut writer.groups);
    groups.iter().for_each(|touched| writer.group_row(touched));
    let session = after.session.as_ref();
    let session = SessionRow {
        status: after.status.name(),
        workflow: session.map_or_else(|| Name::new(SESSION), |session| session.workflow.clone()),
        workflow_hash: session.map_or_else(|| Digest::of(b""), |session| session.workflow_hash),
        title: session.map_or_else(|| Name::new(SESSION), |session| session.title.clone()),
        lapses: writer.session_lapses,
        lapsed: if writer.session_lapses { after.seq } else { 0 },
    };
    let says = describe_effects(event, &writer.writes);
    EventProjection { session, rows: writer.writes, says }
}

/// A group that an event speaks of.
struct TouchedGroup {
    group: Name,
    new: bool,
    /// Nothing passed before counts any more.
    lapses: bool,
}

struct ProjectionWriter<'a> {
    event: &'a Event,
    after: &'a State,
    seq: i64,
    writes: Vec<TableWrite>,
    groups: Vec<TouchedGroup>,
    session_lapses: bool,
}

impl ProjectionWriter<'_> {
    fn change(&mut self, change: &StateChange) {
        match change {
            StateChange::GroupPlanned { group, .. } => self.touched(&group.id).new = true,
            StateChange::Staged { .. } => {
                for group in self.after.groups.iter().filter(|group| !group.ended()) {
                    self.touched(&group.id);
                }
            }
            StateChange::Assigned { assignment, group, task, .. } => {
                // As the fold has it: gates of the session passed on a tree that is about to change.
                self.session_lapses |= group.is_some() && *task != AssignmentTask::Consult;
                self.assignment(*assignment, WriteMode::Insert);
                self.touch(group.as_ref());
            }
            StateChange::Claimed { assignment, .. }
            | StateChange::Unclaimed { assignment }
            | StateChange::Closed { assignment, .. } => {
                self.assignment(*assignment, WriteMode::Update);
                let given = self.after.assignments.get(assignment);
                self.touch(given.and_then(|given| given.group.as_ref()));
            }
            StateChange::Asked { question, group, .. } => {
                self.question(*question, WriteMode::Insert);
                self.touch(group.as_ref());
            }
            StateChange::QuestionClosed { question } => {
                self.question(*question, WriteMode::Update);
                let asked = self.after.questions.get(question);
                self.touch(asked.and_then(|asked| asked.group.as_ref()));
            }
            StateChange::Blocked { group, part, role, reason } => {
                let key = vec![group_cell(group.as_ref()), self.seq.into(), (*part).into(), role.into()];
                let set = vec![("reason", reason.as_ref().into())];
                self.put(RowWrite { table: &BLOCKS, key, set, how: WriteMode::Insert });
                self.touch(group.as_ref());
            }
            StateChange::Unblocked { group, part, role, by } => {
                let (seq, by) = (self.seq, resolution(*by));
                let (group_cell, part, role) = (group_cell(group.as_ref()), (*part).into(), role.into());
                self.writes.push(TableWrite::Resolved(ResolvedBlocks { group: group_cell, part, role, by, seq }));
                self.touch(group.as_ref());
            }
            StateChange::Passed { group, name } => self.evidence(Some(group), "pass", name),
            StateChange::GatePassed { group, gate, .. } => self.evidence(group.as_ref(), "gate", gate),
            StateChange::Confirmed { group, .. } => self.evidence(Some(group), "confirmed", group),
            StateChange::EvidenceFailed { group, name } => self.evidence(Some(group), "failed", name),
            StateChange::Excused { group, excuse } => self.evidence(Some(group), "excused", &excuse.evidence),
            StateChange::NeedSpared { group, clause, .. } => self.spared(group, *clause),
            StateChange::NothingCompletedAcknowledged { by } => self.evidence(None, "acknowledged", by),
            StateChange::PassesLapsed { group } => self.lapses(group),
            StateChange::PassVoided { group, .. } => self.restate_evidence(group),
            StateChange::Counted { group, counted, role, iteration, no_progress, measure } => {
                let at = (*iteration, *no_progress, *measure);
                self.counter(group.as_ref(), counted, role, at);
            }
            StateChange::CounterReset { group, counted, role } => {
                self.counter(group.as_ref(), counted, role, (0, 0, None));
            }
            StateChange::MeasureForgotten { group, counted } => self.forgotten(group, counted),
            StateChange::Reviewed { group, findings, .. } => {
                self.findings(group, |number, _| findings.iter().any(|(moved, _)| *moved == number));
            }
            StateChange::Responded { group, responses } => {
                self.findings(group, |_, finding| responses.iter().any(|response| response.id == finding.id));
            }
            StateChange::Entered { group, .. }
            | StateChange::Waits { group, .. }
            | StateChange::WaitEnded { group, .. }
            | StateChange::GateOpened { group, .. }
            | StateChange::GateWaived { group, .. }
            | StateChange::PartDone { group, .. } => self.touch(group.as_ref()),
            StateChange::Author { group, .. }
            | StateChange::WorkDelivered { group }
            | StateChange::TestsFailing { group, .. }
            | StateChange::FailuresStated { group, .. }
            | StateChange::Arrived { group, .. }
            | StateChange::AwaitsConfirmation { group }
            | StateChange::DeferralNamed { group, .. }
            | StateChange::NothingToDo { group, .. }
            | StateChange::AcceptedUnchanged { group, .. }
            | StateChange::Noted { group, .. } => self.touch(Some(group)),
            StateChange::GroupEnded { group, .. } => {
                self.session_lapses = true;
                self.touch(Some(group));
            }
            StateChange::GateClosed { .. }
            | StateChange::Session { .. }
            | StateChange::PathsAllowed { .. }
            | StateChange::Sighted(_)
            | StateChange::StatusReturned { .. } => {}
        }
    }

    fn touch(&mut self, group: Option<&Name>) {
        if let Some(name) = group {
            self.touched(name);
        }
    }

    fn touched(&mut self, name: &Name) -> &mut TouchedGroup {
        let index = self.groups.iter().position(|touched| touched.group == *name).unwrap_or(self.groups.len());
        if index == self.groups.len() {
            self.groups.push(TouchedGroup { group: name.clone(), new: false, lapses: false });
        }
        &mut self.groups[index]
    }

    /// One write a row: what an event does to a row, it does at once.
    fn put(&mut self, record: RowWrite) {
        let same = |write: &TableWrite| matches!(write, TableWrite::Row(known) if known.table == record.table && known.key == record.key);
        if !self.writes.iter().any(same) {
            self.writes.push(TableWrite::Row(record));
        }
    }

    fn group_row(&mut self, touched: &TouchedGroup) {
        let Some(group) = self.after.group(&touched.group) else { return };
        let (role, attempt) = holder(&group.lane, self.after);
        let mut set = vec![
            ("title", CellValue::from(&group.title)),
            ("status", group.status().name().into()),
            ("ever_blocked", group.lane.ever_blocked.into()),
            ("checks", (!group.checks.is_empty()).into()),
            ("acknowledged", acknowledged(group).into()),
            ("seq", self.seq.into()),
        ];
        // A lane without a holder keeps the name of its last one.
        if role.is_some() || touched.new {
            set.extend([("role", role.as_ref().into()), ("attempt", attempt.into())]);
        }
        if touched.lapses || touched.new {
            set.push(("lapsed", if touched.lapses { self.seq } else { 0 }.into()));
        }
        let how = if touched.new { WriteMode::Insert } else { WriteMode::Update };
        self.put(RowWrite { table: &GROUPS, key: vec![CellValue::from(&group.id)], set, how });
    }

    fn assignment(&mut self, id: AssignmentId, how: WriteMode) {
        let Some(given) = self.after.assignments.get(&id) else { return };
        let mut set = vec![
            ("attempt", CellValue::from(given.attempt)),
            ("status", assignment_status(given).into()),
            ("token", given.token.into()),
            ("lease_until", given.lease_until.map(|at| at.0).into()),
            ("digest", given.closed.and_then(|closed| closed.digest).into()),
            ("decision", given.closed.map(|closed| closed.decision.0).into()),
            ("seq", self.seq.into()),
        ];
        if how == WriteMode::Insert {
            set.extend([
                ("grp", group_cell(given.group.as_ref())),
                ("part", given.part.into()),
                ("phase", given.phase.as_ref().into()),
                ("role", (&given.role).into()),
                ("task", task_name(given.task).into()),
                ("opened", self.seq.into()),
            ]);
        }
        self.put(RowWrite { table: &ASSIGNMENTS, key: vec![id.0.into()], set, how });
    }

    fn question(&mut self, id: QuestionId, how: WriteMode) {
        let Some(asked) = self.after.questions.get(&id) else { return };
        let (answer, by) = self.answer(id);
        let status = match (asked.open, by) {
            (true, _) => "open",
            (false, Some(_)) => "answered",
            (false, None) => "void",
        };
        let mut set = vec![
            ("status", CellValue::from(status)),
            ("answer", answer.into()),
            ("by", by.into()),
            ("seq", self.seq.into()),
        ];
        if how == WriteMode::Insert {
            set.extend([
                ("name", (&asked.name).into()),
                ("grp", group_cell(asked.group.as_ref())),
                ("part", asked.part.into()),
                ("text", (&asked.text).into()),
                ("options", json!(asked.options).to_string().into()),
                ("asker", asked.asker.as_ref().map(|asker| json!(asker).to_string()).into()),
                ("stopped", asked.stopped.as_ref().map(|stopped| json!(stopped).to_string()).into()),
            ]);
        }
        self.put(RowWrite { table: &QUESTIONS, key: vec![id.0.into()], set, how });
    }

    /// The answer of this event, and the person that gave it.
    fn answer(&self, id: QuestionId) -> (Option<&Name>, Option<&Name>) {
        match &self.event.cause {
            EventCause::Answered { question, option, text, by } if *question == id => {
                (option.as_ref().or(text.as_ref()), Some(by))
            }
            _ => (None, None),
        }
    }

    fn evidence(&mut self, group: Option<&Name>, kind: &'static str, name: &Name) {
        let key = vec![group_cell(group), kind.into(), name.into(), self.seq.into()];
        self.put(RowWrite { table: &EVIDENCE, key, set: Vec::new(), how: WriteMode::Insert });
        self.touch(group);
    }

    /// A need that does not apply to the group. It is named with its workflow, because another one may need it.
    fn spared(&mut self, group: &Name, clause: u16) {
        let Some(session) = &self.after.session else { return };
        let name = Name::from(format!("{} {clause}", session.workflow_hash));
        self.evidence(Some(group), "spared", &name);
    }

    /// Nothing passed up to here counts any more, this event's own evidence included.
    fn lapses(&mut self, name: &Name) {
        let of_group =
            |record: &RowWrite| record.table == &EVIDENCE && record.key.first() == Some(&CellValue::from(name));
        self.writes.retain(|write| !matches!(write, TableWrite::Row(record) if of_group(record)));
        self.touched(name).lapses = true;
    }

    /// One pass is taken back. Evidence is never deleted, so what still holds of the group is recorded again.
    fn restate_evidence(&mut self, name: &Name) {
        self.lapses(name);
        let Some(group) = self.after.group(name) else { return };
        let named = [("pass", &group.passed), ("gate", &group.gates_passed), ("failed", &group.failed)];
        for (kind, names) in named {
            names.iter().for_each(|evidence| self.evidence(Some(name), kind, evidence));
        }
        group.excused.iter().for_each(|excuse| self.evidence(Some(name), "excused", &excuse.evidence));
        if group.confirmed {
            self.evidence(Some(name), "confirmed", name);
        }
    }

    fn counter(&mut self, group: Option<&Name>, counted: &Name, role: &Name, at: (u32, u32, Option<u32>)) {
        let (iteration, no_progress, measure) = at;
        let set = vec![
            ("iteration", iteration.into()),
            ("no_progress", no_progress.into()),
            ("measure", measure.into()),
            ("seq", self.seq.into()),
        ];
        let key = vec![group_cell(group), counted.into(), role.into()];
        // Of several counts in one event the last one stands.
        self.writes
            .retain(|write| !matches!(write, TableWrite::Row(known) if known.table == &COUNTERS && known.key == key));
        self.put(RowWrite { table: &COUNTERS, key, set, how: WriteMode::Either });
        self.touch(group);
    }

    fn forgotten(&mut self, group: &Name, counted: &Name) {
        let after = self.after;
        let counters = after.lane_of(Some(group)).map_or(&[][..], |lane| &lane.counters);
        for counter in counters.iter().filter(|counter| counter.counted == *counted) {
            let at = (counter.iteration, counter.no_progress, counter.measure);
            self.counter(Some(group), counted, &counter.role, at);
        }
        self.touch(Some(group));
    }

    fn findings(&mut self, name: &Name, wanted: impl Fn(u32, &Finding) -> bool) {
        self.touch(Some(name));
        let Some(group) = self.after.group(name) else { return };
        for (number, finding) in (0_u32..).zip(&group.findings).filter(|(number, finding)| wanted(*number, finding)) {
            let record = finding_row(name, number, finding, self.seq);
            self.put(record);
        }
    }
}

fn finding_row(group: &Name, number: u32, finding: &Finding, seq: i64) -> RowWrite {
    let severity = json!(finding.severity);
    let set = vec![
        ("id", CellValue::from(&finding.id)),
        ("title", (&finding.title).into()),
        ("location", (&finding.location).into()),
        ("severity", severity.as_str().into()),
        ("blocking", finding.blocking.into()),
        ("raised_by", (&finding.raised_by).into()),
        ("status", finding_status(finding.status).into()),
        ("response", finding.response.as_ref().map(|response| json!(response).to_string()).into()),
        ("seq", seq.into()),
    ];
    RowWrite { table: &FINDINGS, key: vec![group.into(), number.into()], set, how: WriteMode::Either }
}

fn acknowledged(group: &Group) -> Option<&Name> {
    match &group.progress {
        GroupProgress::Ended(GroupEnd::Deferred { acknowledged, .. }) => acknowledged.as_ref(),
        GroupProgress::Pending
        | GroupProgress::Working
        | GroupProgress::Arrived
        | GroupProgress::AwaitingConfirmation
        | GroupProgress::Ended(GroupEnd::Completed | GroupEnd::Cancelled { .. }) => None,
    }
}

/// The holder of a lane: that of its first part that is assigned.
pub fn holder(lane: &Lane, state: &State) -> (Option<Name>, u32) {
    let held = lane.parts.iter().find_map(|part| match part.holder {
        PartHolder::Assignment(id) => state.assignments.get(&id),
        PartHolder::Nobody | PartHolder::Question(_) | PartHolder::Gate(_) | PartHolder::Done => None,
    });
    held.map_or((None, 0), |assignment| (Some(assignment.role.clone()), assignment.attempt))
}

fn group_cell(group: Option<&Name>) -> CellValue {
    group.map_or_else(|| CellValue::from(SESSION), CellValue::from)
}

fn assignment_status(given: &Assignment) -> &'static str {
    match (&given.closed, &given.token) {
        (Some(AssignmentClosure { how: ClosureKind::Reported, .. }), _) => "reported",
        (Some(AssignmentClosure { how: ClosureKind::Voided, .. }), _) => "void",
        (None, Some(_)) => "claimed",
        (None, None) => "open",
    }
}

fn task_name(task: AssignmentTask) -> &'static str {
    match task {
        AssignmentTask::Work => "work",
        AssignmentTask::Consult => "consult",
        AssignmentTask::Merge => "merge",
    }
}

fn finding_status(status: FindingStatus) -> &'static str {
    match status {
        FindingStatus::Open => "open",
        FindingStatus::Closed => "closed",
        FindingStatus::Accepted => "accepted",
    }
}

fn resolution(by: BlockerResolution) -> &'static str {
    match by {
        BlockerResolution::Guidance => "guidance",
        BlockerResolution::Approval => "approval",
        BlockerResolution::Rework => "rework",
        BlockerResolution::Person => "person",
    }
}
