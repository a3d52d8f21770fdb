//! The tables that people query, as a fold: what rows an event writes.
//!
//! Pure: the same events give the same rows, so a rebuild can be compared with what is stored.

use interlock_core::decision::Decision;
use interlock_core::event::{Cause, Change, Closing, Event, Resolution};
use interlock_core::id::{AssignmentId, Digest, Name, QuestionId, Timestamp};
use interlock_core::state::{Assignment, Closed, End, Finding, Group, Holder, Lane, Progress, Question, State};

/// The group column of what belongs to the session itself.
pub const SESSION: &str = "";

/// One row of one table, as this event leaves it. The event's number goes with it.
#[derive(Clone, Debug, PartialEq)]
pub enum Row {
    Group(GroupRow),
    Assignment(AssignmentRow),
    Question(QuestionRow),
    Evidence(EvidenceRow),
    Block(BlockRow),
    /// Every open block of this role in this part is resolved.
    Resolved(ResolvedRow),
    Counter(CounterRow),
    Finding(FindingRow),
}

#[derive(Clone, Debug, PartialEq)]
pub struct GroupRow {
    pub id: Name,
    pub title: Name,
    pub status: &'static str,
    /// Who holds it, or held it last.
    pub role: Option<Name>,
    pub attempt: u32,
    pub ever_blocked: bool,
    /// The plan gave it checks of its own.
    pub checks: bool,
    pub acknowledged: Option<Name>,
    /// The event that voided its evidence, if this one did.
    pub lapses: bool,
    pub new: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub struct AssignmentRow {
    pub id: AssignmentId,
    pub assignment: Assignment,
    pub new: bool,
}

impl AssignmentRow {
    pub fn status(&self) -> &'static str {
        match (&self.assignment.closed, &self.assignment.token) {
            (Some(Closed { how: Closing::Reported, .. }), _) => "reported",
            (Some(Closed { how: Closing::Voided, .. }), _) => "void",
            (None, Some(_)) => "claimed",
            (None, None) => "open",
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct QuestionRow {
    pub id: QuestionId,
    pub question: Question,
    pub answer: Option<Name>,
    pub by: Option<Name>,
    pub new: bool,
}

impl QuestionRow {
    pub fn status(&self) -> &'static str {
        match (self.question.open, &self.by) {
            (true, _) => "open",
            (false, Some(_)) => "answered",
            (false, None) => "void",
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct EvidenceRow {
    pub group: Name,
    pub kind: &'static str,
    pub name: Name,
}

#[derive(Clone, Debug, PartialEq)]
pub struct BlockRow {
    pub group: Name,
    pub part: u8,
    pub role: Name,
    pub reason: Option<Name>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ResolvedRow {
    pub group: Name,
    pub part: u8,
    pub role: Name,
    pub by: &'static str,
}

#[derive(Clone, Debug, PartialEq)]
pub struct CounterRow {
    pub group: Name,
    pub counted: Name,
    pub role: Name,
    pub iteration: u32,
    pub no_progress: u32,
    pub measure: Option<u32>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct FindingRow {
    pub group: Name,
    pub number: u32,
    pub finding: Finding,
}

/// What the session's own row says after an event.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionRow {
    pub status: &'static str,
    pub workflow: Name,
    pub workflow_hash: Digest,
    pub title: Name,
    pub lapses: bool,
}

/// Everything that an event writes beside itself.
#[derive(Clone, Debug, PartialEq)]
pub struct Rows {
    pub session: SessionRow,
    pub rows: Vec<Row>,
}

/// What an event writes, given the state after it. Closed assignments and questions of this event must still be there.
pub fn rows(event: &Event, after: &State) -> Rows {
    let mut writer = Writer { event, after, rows: Vec::new(), session_lapses: false };
    for change in &event.changes {
        writer.change(change);
    }
    let mut rows = writer.rows;
    // Evidence and resolutions stand before the group that needs them.
    rows.sort_by_key(|row| matches!(row, Row::Group(_)));
    let session = after.session.as_ref();
    let session = SessionRow {
        status: after.status.name(),
        workflow: session.map_or_else(|| Name::new(SESSION), |session| session.workflow.clone()),
        workflow_hash: session.map_or_else(|| Digest::of(b""), |session| session.workflow_hash),
        title: session.map_or_else(|| Name::new(SESSION), |session| session.title.clone()),
        lapses: writer.session_lapses,
    };
    Rows { session, rows }
}

struct Writer<'a> {
    event: &'a Event,
    after: &'a State,
    rows: Vec<Row>,
    session_lapses: bool,
}

impl Writer<'_> {
    fn change(&mut self, change: &Change) {
        match change {
            Change::GroupPlanned { group } => self.group(&group.id, true),
            Change::Staged { .. } => {
                let going_on = self.after.groups.iter().filter(|group| !group.ended());
                let all: Vec<Name> = going_on.map(|group| group.id.clone()).collect();
                all.iter().for_each(|group| self.group(group, false));
            }
            Change::Assigned { assignment, group, .. } => {
                self.assignment(*assignment, true);
                self.touch(group.as_ref());
            }
            Change::Claimed { assignment, .. }
            | Change::Unclaimed { assignment }
            | Change::Closed { assignment, .. } => {
                self.assignment(*assignment, false);
                let group = self.after.assignments.get(assignment).and_then(|given| given.group.clone());
                self.touch(group.as_ref());
            }
            Change::Asked { question, group, .. } => {
                self.question(*question, true);
                self.touch(group.as_ref());
            }
            Change::QuestionClosed { question } => {
                self.question(*question, false);
                let group = self.after.questions.get(question).and_then(|asked| asked.group.clone());
                self.touch(group.as_ref());
            }
            Change::Blocked { group, part, role, reason } => {
                let group_name = group.clone().unwrap_or_else(session_itself);
                let (role, reason) = (role.clone(), reason.clone());
                self.rows.push(Row::Block(BlockRow { group: group_name, part: *part, role, reason }));
                self.touch(group.as_ref());
            }
            Change::Unblocked { group, part, role, by } => {
                let group_name = group.clone().unwrap_or_else(session_itself);
                let by = resolution(*by);
                self.rows.push(Row::Resolved(ResolvedRow { group: group_name, part: *part, role: role.clone(), by }));
                self.touch(group.as_ref());
            }
            Change::Passed { group, name } => self.evidence(Some(group), "pass", name),
            Change::GatePassed { group, gate } => self.evidence(group.as_ref(), "gate", gate),
            Change::Confirmed { group } => self.evidence(Some(group), "confirmed", group),
            Change::PassesLapsed { group } => self.lapses(group),
            Change::Counted { group, counted, role, iteration, no_progress, measure } => {
                let (iteration, no_progress, measure) = (*iteration, *no_progress, *measure);
                self.counter(group.as_ref(), counted, role, (iteration, no_progress, measure));
            }
            Change::CounterReset { group, counted, role } => {
                self.counter(group.as_ref(), counted, role, (0, 0, None));
            }
            Change::MeasureForgotten { group, counted } => self.forgotten(group, counted),
            Change::Reviewed { group, findings, .. } => {
                let moved = |number: u32, _: &Finding| findings.iter().any(|(moved, _)| *moved == number);
                self.findings(group, moved);
            }
            Change::Responded { group, responses } => {
                let answered = |_, finding: &Finding| responses.iter().any(|response| response.id == finding.id);
                self.findings(group, answered);
            }
            Change::Entered { group, .. }
            | Change::Waits { group, .. }
            | Change::WaitEnded { group, .. }
            | Change::GateOpened { group, .. }
            | Change::PartDone { group, .. } => self.touch(group.as_ref()),
            Change::Author { group, .. }
            | Change::TestsFailing { group, .. }
            | Change::Arrived { group, .. }
            | Change::AwaitsConfirmation { group }
            | Change::DeferralNamed { group, .. }
            | Change::Noted { group, .. } => self.touch(Some(group)),
            Change::GroupEnded { group, .. } => {
                self.session_lapses = true;
                self.touch(Some(group));
            }
            Change::GateClosed { .. } | Change::Session { .. } => {}
        }
        // As the fold has it: gates of the session passed on a tree that is about to change.
        if let Change::Assigned { group: Some(_), task, .. } = change
            && *task != interlock_core::workflow::Task::Consult
        {
            self.session_lapses = true;
        }
    }

    fn touch(&mut self, group: Option<&Name>) {
        if let Some(name) = group {
            self.group(name, false);
        }
    }

    fn group(&mut self, name: &Name, new: bool) {
        let known = self.rows.iter().any(|row| matches!(row, Row::Group(known) if known.id == *name));
        if let Some(group) = self.after.group(name).filter(|_| !known) {
            self.rows.push(Row::Group(group_row(group, self.after, new)));
        }
    }

    fn assignment(&mut self, id: AssignmentId, new: bool) {
        let known = self.rows.iter().any(|row| matches!(row, Row::Assignment(known) if known.id == id));
        if let Some(assignment) = self.after.assignments.get(&id).filter(|_| !known) {
            self.rows.push(Row::Assignment(AssignmentRow { id, assignment: assignment.clone(), new }));
        }
    }

    fn question(&mut self, id: QuestionId, new: bool) {
        let known = self.rows.iter().any(|row| matches!(row, Row::Question(known) if known.id == id));
        let Some(question) = self.after.questions.get(&id).filter(|_| !known) else { return };
        let (answer, by) = match &self.event.cause {
            Cause::Answered { question: answered, option, text, by } if *answered == id => {
                (option.clone().or_else(|| text.clone()), Some(by.clone()))
            }
            _ => (None, None),
        };
        self.rows.push(Row::Question(QuestionRow { id, question: question.clone(), answer, by, new }));
    }

    fn evidence(&mut self, group: Option<&Name>, kind: &'static str, name: &Name) {
        let row = EvidenceRow { group: group.cloned().unwrap_or_else(session_itself), kind, name: name.clone() };
        if !self.rows.contains(&Row::Evidence(row.clone())) {
            self.rows.push(Row::Evidence(row));
        }
        self.touch(group);
    }

    /// Nothing passed up to here counts any more, this event's own evidence included.
    fn lapses(&mut self, name: &Name) {
        self.rows.retain(|row| !matches!(row, Row::Evidence(evidence) if evidence.group == *name));
        self.group(name, false);
        for row in &mut self.rows {
            if let Row::Group(group) = row
                && group.id == *name
            {
                group.lapses = true;
            }
        }
    }

    fn counter(&mut self, group: Option<&Name>, counted: &Name, role: &Name, at: (u32, u32, Option<u32>)) {
        let group_name = group.cloned().unwrap_or_else(session_itself);
        let (iteration, no_progress, measure) = at;
        let row = CounterRow {
            group: group_name,
            counted: counted.clone(),
            role: role.clone(),
            iteration,
            no_progress,
            measure,
        };
        let same =
            |known: &CounterRow| known.group == row.group && known.counted == row.counted && known.role == row.role;
        self.rows.retain(|known| !matches!(known, Row::Counter(known) if same(known)));
        self.rows.push(Row::Counter(row));
        self.touch(group);
    }

    fn forgotten(&mut self, group: &Name, counted: &Name) {
        let Some(lane) = self.after.lane_of(Some(group)) else { return };
        let counters: Vec<_> = lane.counters.iter().filter(|counter| counter.counted == *counted).cloned().collect();
        for counter in counters {
            let at = (counter.iteration, counter.no_progress, counter.measure);
            self.counter(Some(group), counted, &counter.role, at);
        }
        self.touch(Some(group));
    }

    fn findings(&mut self, name: &Name, wanted: impl Fn(u32, &Finding) -> bool) {
        self.touch(Some(name));
        let Some(group) = self.after.group(name) else { return };
        for (number, finding) in (0_u32..).zip(&group.findings).filter(|(number, finding)| wanted(*number, finding)) {
            let row = FindingRow { group: name.clone(), number, finding: finding.clone() };
            if !self.rows.contains(&Row::Finding(row.clone())) {
                self.rows.push(Row::Finding(row));
            }
        }
    }
}

fn group_row(group: &Group, state: &State, new: bool) -> GroupRow {
    let (role, attempt) = holder(&group.lane, state);
    let acknowledged = match &group.progress {
        Progress::Ended(End::Deferred { acknowledged, .. }) => acknowledged.clone(),
        Progress::Pending
        | Progress::Working
        | Progress::Arrived
        | Progress::AwaitingConfirmation
        | Progress::Ended(End::Completed | End::Cancelled { .. }) => None,
    };
    GroupRow {
        id: group.id.clone(),
        title: group.title.clone(),
        status: group.status().name(),
        role,
        attempt,
        ever_blocked: group.lane.ever_blocked,
        checks: !group.checks.is_empty(),
        acknowledged,
        lapses: false,
        new,
    }
}

/// Who holds a lane: the first of its parts that somebody has.
pub fn holder(lane: &Lane, state: &State) -> (Option<Name>, u32) {
    let held = lane.parts.iter().find_map(|part| match part.holder {
        Holder::Assignment(id) => state.assignments.get(&id),
        Holder::Nobody | Holder::Question(_) | Holder::Gate(_) | Holder::Done => None,
    });
    held.map_or((None, 0), |assignment| (Some(assignment.role.clone()), assignment.attempt))
}

fn session_itself() -> Name {
    Name::new(SESSION)
}

fn resolution(by: Resolution) -> &'static str {
    match by {
        Resolution::Guidance => "guidance",
        Resolution::Approval => "approval",
        Resolution::Rework => "rework",
        Resolution::Person => "person",
    }
}

/// What the log's row says of an event beside its bytes.
pub fn decision_number(decision: Option<&Decision>) -> Option<u32> {
    decision.map(|decision| decision.id.0)
}

/// When a lease runs out, as the tables have it.
pub fn milliseconds(at: Option<Timestamp>) -> Option<i64> {
    at.map(|at| at.0)
}
