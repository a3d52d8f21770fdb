//! The state of a session: the fold of its events.
//!
//! Its size follows what is open and what may still matter, not the length of the
//! history. `decide` reads closed assignments and questions only by their id.

mod apply;
mod changes;
mod exceptions;
mod exceptions_of_plan;
mod group;
mod lane;
mod record_index;
mod result;
mod roster;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::checkout::GroupGate;
use crate::event::{ClosureKind, Event, StateChange};
use crate::handoff::PlannedGroup;
use crate::id::{AssignmentId, DecisionId, Digest, GateRunId, Name, QuestionId, Timestamp};
use crate::provenance::{Channel, SessionProvenance};
use crate::workflow::AssignmentTask;

pub use changes::changed_tests_sentence;
pub(crate) use changes::changes_statement;
pub use exceptions::CompletionException;
pub use group::{
    Excuse, ExcuseKind, FailureStatement, Finding, FindingStatus, Group, GroupEnd, GroupProgress, GroupStatus,
    GroupTextSources,
};
pub use lane::{Lane, LanePart, LoopCounter, PartHolder, RecordedBlocker, RoleTask};
pub use record_index::{IndexedRecord, RecordKey, SupersededReport};
pub(crate) use roster::{GroupClass, GroupPosition, Roster};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionStatus {
    #[default]
    Active,
    Validating,
    Completed,
    Cancelled,
}

impl SessionStatus {
    pub const fn name(self) -> &'static str {
        match self {
            SessionStatus::Active => "active",
            SessionStatus::Validating => "validating",
            SessionStatus::Completed => "completed",
            SessionStatus::Cancelled => "cancelled",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Session {
    pub id: Name,
    pub title: Name,
    pub workflow: Name,
    pub workflow_hash: Digest,
    pub settings: BTreeMap<Name, Name>,
    /// Declared at the start: it may end without groups.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub investigation: bool,
    /// The person who chose settings that drop a requirement, or declared the investigation.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub settings_by: Option<Name>,
    /// Requirements of the project's own workflow that the workflow chosen at the start does not have.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub dropped: Vec<Name>,
    /// Protected paths that people have allowed, and who did.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub allowed: Vec<AllowedPath>,
}

/// A pattern of protected paths that a person has allowed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AllowedPath {
    pub pattern: Name,
    pub by: Name,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Assignment {
    pub group: Option<Name>,
    pub part: u8,
    pub phase: Option<Name>,
    pub role: Name,
    pub task: AssignmentTask,
    pub attempt: u32,
    /// The hash of the secret, once claimed.
    pub token: Option<Digest>,
    pub lease_until: Option<Timestamp>,
    /// The channel that saw the claim.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub via: Option<Channel>,
    /// Groups that awaited confirmation when it was claimed.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub awaiting: Vec<Name>,
    /// How often a handoff came back for a status that the role does not have.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub statuses_returned: u32,
    pub closed: Option<AssignmentClosure>,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(count: &u32) -> bool {
    *count == 0
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AssignmentClosure {
    pub how: ClosureKind,
    /// The digest of the submitted handoff.
    pub digest: Option<Digest>,
    pub decision: DecisionId,
}

/// A move that a limit stopped, to be made after all if a person says so.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoppedMove {
    pub rule: Name,
    #[serde(rename = "loop")]
    pub counted: Name,
    pub role: Name,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Question {
    /// As the workflow calls it.
    pub name: Name,
    pub group: Option<Name>,
    pub part: u8,
    pub text: Name,
    pub options: Vec<Name>,
    pub asker: Option<RoleTask>,
    pub stopped: Option<StoppedMove>,
    /// The report behind the question, as far as an answer can still act on it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub held: Option<HeldReport>,
    pub open: bool,
}

/// A gate that failed, and the person who let the work go past it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaivedGate {
    pub group: Option<Name>,
    pub gate: Name,
    pub by: Name,
}

/// A report that waits for the answer to a question. It holds the parts that take effect only if the answer lets them;
/// everything else took effect when it was reported.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeldReport {
    /// The decision on the report.
    pub reported: DecisionId,
    /// The plan's groups.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub groups: Option<Vec<PlannedGroup>>,
    /// Why the reporter is blocked.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reason: Option<Name>,
    /// Groups that the report accepts, and deferred groups that it acknowledges.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub accept: Vec<Name>,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub acknowledge: Vec<Name>,
    /// Options that the report offers to the person.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub options: Vec<Name>,
    /// Fields that a later question or record quotes, by their paths.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub texts: BTreeMap<Name, Name>,
}

/// The purpose of a gate's result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GatePurpose {
    Phase,
    Completion,
    /// The validator waits; this is its role.
    Validation(Name),
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GateRun {
    pub gate: Name,
    pub group: Option<Name>,
    pub part: u8,
    pub purpose: GatePurpose,
    /// Gates of completed groups that this run checks again, instead of `gate`.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub again: Vec<GroupGate>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// Events applied.
    pub seq: u64,
    pub session: Option<Session>,
    pub status: SessionStatus,
    /// In the order of the plan.
    pub groups: Vec<Group>,
    #[serde(skip)]
    pub(crate) roster: Roster<'static>,
    /// The session's own lane, outside its groups.
    pub lane: Lane,
    pub gates_passed: BTreeSet<Name>,
    /// The person who acknowledged that nothing was completed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub nothing_completed: Option<Name>,
    /// Gates that failed, and that a person let the work go past.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub waived_gates: Vec<WaivedGate>,
    /// For each gate of the session that passed, the tree it passed on.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub gate_trees: BTreeMap<Name, Name>,
    pub assignments: BTreeMap<AssignmentId, Assignment>,
    pub open: BTreeSet<AssignmentId>,
    pub questions: BTreeMap<QuestionId, Question>,
    pub open_questions: BTreeSet<QuestionId>,
    /// Gate runs whose result is awaited.
    pub gate_runs: BTreeMap<GateRunId, GateRun>,
    #[serde(skip_serializing_if = "SessionProvenance::is_empty", default)]
    pub watch: SessionProvenance,
    /// Moves to another version of the workflow, oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub upgrades: Vec<SessionUpgrade>,
    pub last_assignment: AssignmentId,
    pub last_question: QuestionId,
    pub last_gate_run: GateRunId,
    pub last_decision: DecisionId,
}

/// A move of the session to another version of its workflow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionUpgrade {
    pub from: Digest,
    pub to: Digest,
    pub by: Name,
    /// Requirements that the new version does not have any more.
    pub dropped: Vec<Name>,
}

impl State {
    /// Patterns of protected paths that people have allowed.
    pub fn allowed_paths(&self) -> impl Iterator<Item = &Name> {
        self.session.iter().flat_map(|session| &session.allowed).map(|one| &one.pattern)
    }

    /// A session that has just begun.
    pub(crate) fn with_session(session: Session) -> Self {
        Self { session: Some(session), ..Self::default() }
    }

    /// A state with nothing but one group, to see what changes would make of it.
    pub(crate) fn begun_with(group: Group) -> Self {
        let mut state = Self { groups: vec![group], ..Self::default() };
        state.reindex();
        state
    }

    pub fn group_ix(&self, name: &str) -> Option<usize> {
        self.roster.index_of(name)
    }

    pub fn group(&self, name: &str) -> Option<&Group> {
        self.group_ix(name).and_then(|index| self.groups.get(index))
    }

    /// The lane of a group, or of the session.
    pub fn lane_of(&self, group: Option<&Name>) -> Option<&Lane> {
        match group {
            None => Some(&self.lane),
            Some(name) => self.group(name).map(|group| &group.lane),
        }
    }

    /// Rebuilds what is not stored, after the state was read back.
    pub fn reindex(&mut self) {
        self.roster = Roster::of(&self.groups);
    }

    /// Drops the records that this event closed. `decide` reads closed records only by their id, so a caller that keeps
    /// the history elsewhere need not hold them. `rehydrate_assignment` and `rehydrate_question` bring back those that
    /// a command names.
    pub fn drop_closed(&mut self, event: &Event) {
        for change in &event.changes {
            if let StateChange::Closed { assignment, .. } = change {
                self.assignments.remove(assignment);
            }
            if let StateChange::QuestionClosed { question } = change {
                self.questions.remove(question);
            }
        }
    }

    /// The same for everything that is closed.
    pub fn drop_all_closed(&mut self) {
        self.assignments.retain(|_, assignment| assignment.closed.is_none());
        self.questions.retain(|_, question| question.open);
    }

    /// Brings back a closed assignment.
    pub fn rehydrate_assignment(&mut self, id: AssignmentId, assignment: Assignment) {
        self.assignments.entry(id).or_insert(assignment);
    }

    /// Brings back a closed question.
    pub fn rehydrate_question(&mut self, id: QuestionId, question: Question) {
        self.questions.entry(id).or_insert(question);
    }

    pub fn ended(&self) -> bool {
        matches!(self.status, SessionStatus::Completed | SessionStatus::Cancelled)
    }
}
