//! Facts: appended once, never changed.
//!
//! One event a command: its cause, the decision, and the changes that follow.
//! Folding the changes gives the state; nothing is decided again in replay.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::checkout::{GateCheckout, GroupGate};
use crate::decision::Decision;
use crate::handoff::{FilledFields, FindingResponse, PlannedGroup};
use crate::id::{AssignmentId, DecisionId, Digest, GateRunId, Name, QuestionId, Timestamp};
use crate::observed::ObservedChanges;
use crate::provenance::{Channel, HookSeen};
use crate::state::{
    Excuse, FailureStatement, Finding, GatePurpose, GroupEnd, HeldReport, RoleTask, SessionStatus, StoppedMove,
};
use crate::workflow::AssignmentTask;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Event {
    pub at: Timestamp,
    pub cause: EventCause,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub decision: Option<Decision>,
    pub changes: Vec<StateChange>,
    /// The submitted handoff, whole. Kept beside the event, which commits to it by the digest in its changes.
    #[serde(skip)]
    pub handoff: Option<Arc<Json>>,
}

impl Event {
    /// That a command was refused is a fact of the session as well, and changes nothing in it.
    pub fn refused(at: Timestamp, refusal: RefusedCommand) -> Self {
        Self { at, cause: EventCause::Refused(refusal), decision: None, changes: Vec::new(), handoff: None }
    }
}

/// A command that was refused: what was tried, by whom, and the code of the refusal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RefusedCommand {
    /// The command, by its name on the command line.
    pub command: Name,
    pub code: Name,
    pub message: Name,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub by: Option<Name>,
    /// The subject of the command: an assignment, a question or a group.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub about: Option<Name>,
    /// The digest of the submitted handoff.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub digest: Option<Digest>,
    /// The status of a report, as it was written.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub status: Option<Name>,
    /// Everything that was wrong, where the message names only the first.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub problems: Vec<RefusedProblem>,
}

/// One reason of a refusal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefusedProblem {
    pub code: Name,
    pub message: Name,
}

/// The command that caused the event, as it was received.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EventCause {
    Started {
        session: Name,
        title: Name,
        workflow: Name,
        workflow_hash: Digest,
        settings: BTreeMap<Name, Name>,
        #[serde(skip_serializing_if = "Option::is_none", default)]
        mission: Option<Digest>,
        /// Declared at the start: the session may end without groups.
        #[serde(skip_serializing_if = "std::ops::Not::not", default)]
        investigation: bool,
        /// The person who chose settings that drop a requirement, or declared the investigation.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        by: Option<Name>,
        /// Requirements of the project's own workflow that the chosen one does not have. `by` chose it.
        #[serde(skip_serializing_if = "Vec::is_empty", default)]
        dropped: Vec<Name>,
    },
    Planned {
        by: Name,
    },
    Claimed {
        assignment: AssignmentId,
        #[serde(skip_serializing_if = "Option::is_none", default)]
        prompt: Option<Digest>,
        #[serde(skip_serializing_if = "Option::is_none", default)]
        via: Option<Channel>,
    },
    Reported {
        assignment: AssignmentId,
        status: Name,
        #[serde(skip_serializing_if = "Option::is_none", default)]
        via: Option<Channel>,
        /// The diff of the work; absent where Interlock did not start the author.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        observed: Option<Arc<ObservedChanges>>,
        /// Fields that Interlock filled in, with their values.
        #[serde(skip_serializing_if = "FilledFields::is_empty", default)]
        filled_in: FilledFields,
    },
    Lost {
        assignment: AssignmentId,
        status: Name,
        #[serde(skip_serializing_if = "Option::is_none", default)]
        note: Option<Name>,
    },
    Merged {
        assignment: AssignmentId,
        status: Name,
        /// Files in conflict, where the merge conflicts.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        conflicts: Vec<Name>,
        /// Everything in it was merged before.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        empty: bool,
    },
    Answered {
        question: QuestionId,
        option: Option<Name>,
        text: Option<Name>,
        by: Name,
    },
    GateFinished {
        run: GateRunId,
        gate: Name,
        passed: bool,
        tree: Name,
        output: Name,
        #[serde(skip_serializing_if = "GateCheckout::is_empty", default)]
        checkout: GateCheckout,
    },
    Deferred {
        group: Name,
        why: Name,
        by: Name,
    },
    Acknowledged {
        group: Name,
        by: Name,
    },
    Overridden {
        group: Name,
        to: Name,
        why: Name,
        by: Name,
    },
    /// A person waived evidence for one tree.
    Waived {
        group: Name,
        evidence: Name,
        why: Name,
        by: Name,
    },
    /// A person accepted a group that awaited confirmation.
    Accepted {
        group: Name,
        by: Name,
    },
    CompletionAsked {
        by: Name,
    },
    Cancelled {
        by: Name,
    },
    LeaseExpired {
        assignment: AssignmentId,
        /// The holder was gone before its time was.
        #[serde(skip_serializing_if = "std::ops::Not::not", default)]
        holder_gone: bool,
    },
    Upgraded {
        workflow: Name,
        workflow_hash: Digest,
        from: Digest,
        by: Name,
        /// Requirements that the new workflow does not have any more.
        #[serde(skip_serializing_if = "Vec::is_empty", default)]
        dropped: Vec<Name>,
    },
    Sighted(HookSeen),
    /// A person allowed paths that the workflow protects.
    Allowed {
        paths: Vec<Name>,
        by: Name,
    },
    Refused(RefusedCommand),
}

impl EventCause {
    /// The kinds, in the order of the variants.
    pub const KINDS: &'static [&'static str] = &[
        "started",
        "planned",
        "claimed",
        "reported",
        "lost",
        "merged",
        "answered",
        "gate_finished",
        "deferred",
        "acknowledged",
        "overridden",
        "waived",
        "accepted",
        "completion_asked",
        "cancelled",
        "lease_expired",
        "upgraded",
        "sighted",
        "allowed",
        "refused",
    ];

    pub fn kind(&self) -> &'static str {
        match self {
            EventCause::Started { .. } => "started",
            EventCause::Planned { .. } => "planned",
            EventCause::Claimed { .. } => "claimed",
            EventCause::Reported { .. } => "reported",
            EventCause::Lost { .. } => "lost",
            EventCause::Merged { .. } => "merged",
            EventCause::Answered { .. } => "answered",
            EventCause::GateFinished { .. } => "gate_finished",
            EventCause::Deferred { .. } => "deferred",
            EventCause::Acknowledged { .. } => "acknowledged",
            EventCause::Overridden { .. } => "overridden",
            EventCause::Waived { .. } => "waived",
            EventCause::Accepted { .. } => "accepted",
            EventCause::CompletionAsked { .. } => "completion_asked",
            EventCause::Cancelled { .. } => "cancelled",
            EventCause::LeaseExpired { .. } => "lease_expired",
            EventCause::Upgraded { .. } => "upgraded",
            EventCause::Sighted(_) => "sighted",
            EventCause::Allowed { .. } => "allowed",
            EventCause::Refused(_) => "refused",
        }
    }
}

/// Why a blocker no longer holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BlockerResolution {
    /// The agent that was blocked goes on with the guidance that it got.
    Guidance,
    /// A role that may approve has approved.
    Approval,
    /// The work itself was assigned again.
    Rework,
    /// A person has answered.
    Person,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClosureKind {
    Reported,
    /// Taken away: another decision made it pointless.
    Voided,
}

/// One step of the state. `group: None` is the session itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StateChange {
    GroupPlanned {
        group: PlannedGroup,
        /// The decision on the report that planned the group, where a later answer starts it.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        reported: Option<DecisionId>,
        /// The role or person that planned it.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        by: Option<Name>,
    },
    /// The groups wait for their turn at this stage.
    Staged {
        stage: u16,
    },
    /// Work begins at a stage: one part for each phase, or a single one without phases.
    Entered {
        group: Option<Name>,
        stage: Option<u16>,
        phases: Vec<Name>,
    },
    Assigned {
        assignment: AssignmentId,
        group: Option<Name>,
        part: u8,
        phase: Option<Name>,
        role: Name,
        task: AssignmentTask,
        attempt: u32,
    },
    Claimed {
        assignment: AssignmentId,
        token: Digest,
        lease_until: Option<Timestamp>,
        #[serde(skip_serializing_if = "Option::is_none", default)]
        via: Option<Channel>,
        /// Groups that awaited confirmation when the prompt was written: a report that names none confirms these.
        #[serde(skip_serializing_if = "Vec::is_empty", default)]
        awaiting: Vec<Name>,
    },
    Unclaimed {
        assignment: AssignmentId,
    },
    /// A handoff was sent back because the role does not have its status.
    StatusReturned {
        assignment: AssignmentId,
    },
    Closed {
        assignment: AssignmentId,
        how: ClosureKind,
        digest: Option<Digest>,
        #[serde(skip_serializing_if = "Option::is_none", default)]
        via: Option<Channel>,
    },
    Waits {
        group: Option<Name>,
        part: u8,
        seat: RoleTask,
    },
    /// The roles that wait from this position on wait no longer.
    WaitEnded {
        group: Option<Name>,
        part: u8,
        from: u8,
    },
    Blocked {
        group: Option<Name>,
        part: u8,
        role: Name,
        reason: Option<Name>,
    },
    Unblocked {
        group: Option<Name>,
        part: u8,
        role: Name,
        by: BlockerResolution,
    },
    Author {
        group: Name,
        role: Name,
    },
    Passed {
        group: Name,
        name: Name,
    },
    /// The role or person that may accept a group has accepted it.
    Confirmed {
        group: Name,
        #[serde(skip_serializing_if = "Option::is_none", default)]
        by: Option<Name>,
    },
    /// The group is to be completed without this evidence, once it is accepted.
    Excused {
        group: Name,
        excuse: Excuse,
    },
    /// The role that passes this evidence sent the tree back.
    EvidenceFailed {
        group: Name,
        name: Name,
    },
    /// An author reported work on the group.
    WorkDelivered {
        group: Name,
    },
    /// A need of completion whose condition does not hold for the group. `clause` counts the needs from 1.
    NeedSpared {
        group: Name,
        clause: u16,
        names: Vec<Name>,
    },
    /// A person acknowledged that the session ends with nothing completed.
    NothingCompletedAcknowledged {
        by: Name,
    },
    PassesLapsed {
        group: Name,
    },
    /// A later report on the same tree took this evidence back.
    PassVoided {
        group: Name,
        name: Name,
    },
    /// The author states that nothing has to change.
    NothingToDo {
        group: Name,
        by: Name,
    },
    /// The role that may accept has accepted a group whose diff is empty.
    AcceptedUnchanged {
        group: Name,
        by: Name,
    },
    /// A person allowed these patterns of protected paths.
    PathsAllowed {
        paths: Vec<Name>,
        by: Name,
    },
    Counted {
        group: Option<Name>,
        #[serde(rename = "loop")]
        counted: Name,
        role: Name,
        iteration: u32,
        no_progress: u32,
        measure: Option<u32>,
    },
    MeasureForgotten {
        group: Name,
        #[serde(rename = "loop")]
        counted: Name,
    },
    CounterReset {
        group: Option<Name>,
        #[serde(rename = "loop")]
        counted: Name,
        role: Name,
    },
    Reviewed {
        group: Name,
        by: Name,
        findings: Vec<(u32, Finding)>,
    },
    Responded {
        group: Name,
        responses: Vec<FindingResponse>,
    },
    TestsFailing {
        group: Name,
        tests: Vec<Name>,
    },
    /// Failing tests that reports stated with a status of success: all that hold after this decision.
    FailuresStated {
        group: Name,
        statements: Vec<FailureStatement>,
    },
    Asked {
        question: QuestionId,
        name: Name,
        group: Option<Name>,
        part: u8,
        text: Name,
        options: Vec<Name>,
        asker: Option<RoleTask>,
        stopped: Option<StoppedMove>,
        /// The report behind the question, as far as an answer can still act on it.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        held: Option<HeldReport>,
    },
    QuestionClosed {
        question: QuestionId,
    },
    GateOpened {
        run: GateRunId,
        gate: Name,
        group: Option<Name>,
        part: u8,
        purpose: GatePurpose,
        /// The run checks these gates of completed groups again, on the tree that the session completes with.
        #[serde(skip_serializing_if = "Vec::is_empty", default)]
        again: Vec<GroupGate>,
    },
    GateClosed {
        run: GateRunId,
    },
    GatePassed {
        group: Option<Name>,
        gate: Name,
        /// The tree that it passed on. Absent in events that were stored before trees were kept.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        tree: Option<Name>,
    },
    PartDone {
        group: Option<Name>,
        part: u8,
    },
    Arrived {
        group: Name,
        stage: u16,
    },
    AwaitsConfirmation {
        group: Name,
    },
    GroupEnded {
        group: Name,
        end: GroupEnd,
    },
    DeferralNamed {
        group: Name,
        by: Name,
    },
    Noted {
        group: Name,
        note: Name,
    },
    /// A person let the work go on past a gate that failed.
    GateWaived {
        group: Option<Name>,
        gate: Name,
        by: Name,
    },
    Session {
        status: SessionStatus,
    },
    /// A hook of a client was seen for the first time in its conversation.
    Sighted(HookSeen),
}
