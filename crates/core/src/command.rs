//! The commands that a session accepts.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::checkout::GateCheckout;
use crate::handoff::{Handoff, PlannedGroup};
use crate::id::{AssignmentId, Digest, GateRunId, Name, QuestionId, Timestamp};
use crate::observed::ObservedChanges;
use crate::provenance::{Channel, HookSeen};
use crate::workflow::Workflow;

/// The inputs of a decision from outside of the session: the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DecisionInputs {
    pub now: Timestamp,
}

#[derive(Clone, Debug)]
pub enum Command {
    Start(StartSession),
    Plan(AddPlannedGroups),
    Claim(ClaimAssignment),
    Report(SubmitReport),
    /// The agent ended, and there is no handoff that could be taken.
    Lost(RecordLoss),
    /// Interlock has tried the merge itself.
    Merged(RecordMerge),
    Answer(AnswerQuestion),
    GateFinished(GateFinished),
    Defer(DeferGroup),
    Acknowledge(AcknowledgeDeferral),
    Override(OverrideAssignment),
    Waive(WaiveEvidence),
    Accept(AcceptGroup),
    Complete(CompleteSession),
    Cancel(CancelSessionByPerson),
    LeaseExpired(LeaseExpired),
    /// A person moves the session to another workflow: the one that is decided with.
    Upgrade(UpgradeWorkflow),
    /// A hook of a client was seen.
    Sight(HookSeen),
    /// A person allows paths that the workflow protects.
    Allow(AllowPaths),
}

impl Command {
    /// The person who gives the command, where a person does.
    pub fn person(&self) -> Option<&Name> {
        match self {
            Command::Plan(AddPlannedGroups { by, .. })
            | Command::Answer(AnswerQuestion { by, .. })
            | Command::Defer(DeferGroup { by, .. })
            | Command::Acknowledge(AcknowledgeDeferral { by, .. })
            | Command::Override(OverrideAssignment { by, .. })
            | Command::Waive(WaiveEvidence { by, .. })
            | Command::Accept(AcceptGroup { by, .. })
            | Command::Complete(CompleteSession { by })
            | Command::Upgrade(UpgradeWorkflow { by, .. })
            | Command::Allow(AllowPaths { by, .. })
            | Command::Cancel(CancelSessionByPerson { by }) => Some(by),
            Command::Start(start) => start.by.as_ref(),
            Command::Claim(_)
            | Command::Report(_)
            | Command::Lost(_)
            | Command::Merged(_)
            | Command::GateFinished(_)
            | Command::Sight(_)
            | Command::LeaseExpired(_) => None,
        }
    }

    /// Every person that the command names for the record.
    pub fn persons(&self) -> impl Iterator<Item = &Name> {
        let allowing = if let Command::Start(start) = self { start.allow.as_ref() } else { None };
        self.person().into_iter().chain(allowing.map(|allow| &allow.by))
    }

    /// The text that a person must write for the record, and its name in messages.
    pub fn words(&self) -> Option<(&'static str, &Name)> {
        match self {
            Command::Defer(DeferGroup { why, .. })
            | Command::Override(OverrideAssignment { why, .. })
            | Command::Waive(WaiveEvidence { why, .. }) => Some(("reason", why)),
            Command::Answer(AnswerQuestion { choice: AnswerChoice::Text(text), .. }) => Some(("answer", text)),
            Command::Answer(AnswerQuestion { choice: AnswerChoice::Option { .. }, .. })
            | Command::Start(_)
            | Command::Plan(_)
            | Command::Claim(_)
            | Command::Report(_)
            | Command::Lost(_)
            | Command::Merged(_)
            | Command::GateFinished(_)
            | Command::Acknowledge(_)
            | Command::Accept(_)
            | Command::Complete(_)
            | Command::Cancel(_)
            | Command::LeaseExpired(_)
            | Command::Upgrade(_)
            | Command::Sight(_)
            | Command::Allow(_) => None,
        }
    }
}

#[derive(Clone, Debug)]
pub struct StartSession {
    pub session: Name,
    pub title: Name,
    pub settings: BTreeMap<Name, Name>,
    /// The digest of the mission, if the session has one.
    pub mission: Option<Digest>,
    /// It may end without groups.
    pub investigation: bool,
    /// The person who starts it, where one showed the operator key.
    pub by: Option<Name>,
    /// Requirements of the project's own workflow that the chosen one does not have.
    pub dropped: Vec<Name>,
    /// Protected paths that the person who starts it allows.
    pub allow: Option<AllowPaths>,
}

/// A person adds groups to a running session.
#[derive(Clone, Debug)]
pub struct AddPlannedGroups {
    pub groups: Vec<PlannedGroup>,
    pub by: Name,
}

#[derive(Clone, Debug)]
pub struct ClaimAssignment {
    pub assignment: AssignmentId,
    /// The hash of the secret that the holder gets.
    pub token: Digest,
    /// The prompt that the holder gets.
    pub prompt: Option<ClaimedPrompt>,
    pub lease_until: Option<Timestamp>,
    pub via: Option<Channel>,
}

/// The recorded facts about a prompt.
#[derive(Clone, Debug)]
pub struct ClaimedPrompt {
    pub digest: Digest,
    /// Groups awaiting confirmation that it lists with blocker, attempts and approver.
    pub confirmable: Vec<Name>,
}

#[derive(Clone, Debug)]
pub struct SubmitReport {
    pub assignment: AssignmentId,
    /// The hash of the secret that came with the report.
    pub token: Digest,
    pub handoff: Arc<Handoff>,
    /// The diff, where Interlock started the author and looked itself.
    pub observed: Option<Arc<ObservedChanges>>,
    pub via: Option<Channel>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossReason {
    /// It ended, and left none.
    NoHandoff,
    /// It stayed invalid, however often it was sent back.
    BadHandoff,
    /// It claims that tests pass which Interlock saw fail.
    FalseClaim,
    /// It cannot go on without a person: its budget is used up, or its model cannot be reached.
    Halted,
}

impl LossReason {
    pub const ALL: [LossReason; 4] =
        [LossReason::NoHandoff, LossReason::BadHandoff, LossReason::FalseClaim, LossReason::Halted];

    /// The status that a workflow routes it by.
    pub const fn status(self) -> &'static str {
        match self {
            LossReason::NoHandoff => "no_handoff",
            LossReason::BadHandoff => "bad_handoff",
            LossReason::FalseClaim => "false_claim",
            LossReason::Halted => "halted",
        }
    }
}

#[derive(Clone, Debug)]
pub struct RecordLoss {
    pub assignment: AssignmentId,
    pub loss: LossReason,
    /// A remark on the loss, for the record.
    pub note: Option<Name>,
}

#[derive(Clone, Debug)]
pub struct RecordMerge {
    pub assignment: AssignmentId,
    /// Made by Interlock, checked like any other.
    pub handoff: Arc<Handoff>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AnswerChoice {
    /// One of the options, perhaps with words of one's own: a rejection with its feedback.
    Option {
        name: Name,
        text: Option<Name>,
    },
    Text(Name),
}

#[derive(Clone, Debug)]
pub struct AnswerQuestion {
    pub question: QuestionId,
    pub choice: AnswerChoice,
    pub by: Name,
    /// Patterns of protected paths that the person allows with the answer.
    pub allow: Vec<Name>,
}

#[derive(Clone, Debug)]
pub struct AllowPaths {
    pub paths: Vec<Name>,
    pub by: Name,
}

#[derive(Clone, Debug)]
pub struct GateFinished {
    pub run: GateRunId,
    pub passed: bool,
    /// The tree that the commands ran on.
    pub tree: Name,
    pub output: Name,
    pub checkout: GateCheckout,
}

#[derive(Clone, Debug)]
pub struct DeferGroup {
    pub group: Name,
    pub why: Name,
    pub by: Name,
}

#[derive(Clone, Debug)]
pub struct AcknowledgeDeferral {
    pub group: Name,
    pub by: Name,
}

#[derive(Clone, Debug)]
pub struct OverrideAssignment {
    pub group: Name,
    pub to: Name,
    pub why: Name,
    pub by: Name,
}

/// A person lets one tree do without evidence that it needs.
#[derive(Clone, Debug)]
pub struct WaiveEvidence {
    pub group: Name,
    pub evidence: Name,
    pub why: Name,
    pub by: Name,
}

/// A person confirms a group that awaits confirmation.
#[derive(Clone, Debug)]
pub struct AcceptGroup {
    pub group: Name,
    pub by: Name,
}

#[derive(Clone, Debug)]
pub struct CompleteSession {
    pub by: Name,
}

#[derive(Clone, Debug)]
pub struct CancelSessionByPerson {
    pub by: Name,
}

#[derive(Clone, Debug)]
pub struct UpgradeWorkflow {
    /// The workflow that the session ran until now.
    pub from: Arc<Workflow>,
    /// The person means to drop requirements.
    pub weaker: bool,
    pub by: Name,
}

#[derive(Clone, Debug)]
pub struct LeaseExpired {
    pub assignment: AssignmentId,
    /// The holder is known to be gone, whatever the lease says: the caller holds the lock that the holder held.
    pub holder_gone: bool,
}
