//! The requests that the engine accepts.

use std::collections::BTreeMap;
use std::sync::Arc;

use interlock_core::command::{self, Command};
use interlock_core::event::RefusedCommand;
use interlock_core::handoff::ExtractedHandoff;
use interlock_core::id::{AssignmentId, Digest, Name};
use interlock_core::observed::ObservedChanges;
use interlock_core::problem::Problem;
use interlock_core::workflow::Workflow;

use interlock_store::PinnedSources;
use interlock_store::keys::SecretKey;

/// Something to be done to a session.
#[derive(Clone, Debug)]
pub struct Request {
    pub session: Name,
    pub task: Operation,
}

#[derive(Clone, Debug)]
pub enum Operation {
    Start {
        pinned: Arc<PinnedSources>,
        workflow: Arc<Workflow>,
        title: Name,
        settings: BTreeMap<Name, Name>,
        mission: Option<String>,
        /// It may end without groups.
        investigation: bool,
        /// The person who starts it. Settings that drop a requirement take the operator key.
        by: Option<Name>,
        /// Requirements of the project's own workflow that this one does not have. They take the operator key.
        dropped: Vec<Name>,
        /// Protected paths that a person allows. It takes the operator key.
        allow: Option<command::AllowPaths>,
    },
    Claim {
        assignment: AssignmentId,
    },
    Report {
        assignment: AssignmentId,
        token: Option<SecretKey>,
        given: SubmittedHandoff,
        /// The diff of the work, where Interlock started the author.
        observed: Option<Arc<ObservedChanges>>,
    },
    /// Interlock has tried a merge itself, and reports the outcome.
    Merge {
        assignment: AssignmentId,
        given: SubmittedHandoff,
    },
    /// Moves a session to another workflow.
    Upgrade {
        pinned: Arc<PinnedSources>,
        workflow: Arc<Workflow>,
        /// The person means to drop requirements.
        weaker: bool,
        by: Name,
    },
    /// A hook has turned something down before it was done.
    Deny(RefusedCommand),
    /// Commands that go to the core unchanged.
    Simple(Command),
}

/// A submitted handoff: a metadata block, or the reason why there is none.
#[derive(Clone, Debug)]
pub struct SubmittedHandoff {
    pub extracted: Result<Arc<ExtractedHandoff>, Vec<Problem>>,
    /// Of the bytes, for the record of a refusal.
    pub digest: Digest,
}

impl Operation {
    /// The name of the command, as people type it.
    pub fn name(&self) -> &'static str {
        match self {
            Operation::Start { .. } => "session start",
            Operation::Claim { .. } => "claim",
            Operation::Report { .. } => "report",
            Operation::Merge { .. } => "merge",
            Operation::Upgrade { .. } => "session upgrade",
            Operation::Deny(_) => "hook",
            Operation::Simple(command) => match command {
                Command::Start(_) => "session start",
                Command::Plan(_) => "plan",
                Command::Claim(_) => "claim",
                Command::Report(_) => "report",
                Command::Lost(_) => "lost",
                Command::Merged(_) => "merge",
                Command::Answer(_) => "answer",
                Command::GateFinished(_) => "gate",
                Command::Defer(_) => "defer",
                Command::Acknowledge(_) => "acknowledge",
                Command::Override(_) | Command::Waive(_) => "override",
                Command::Accept(_) => "accept",
                Command::Complete(_) => "complete",
                Command::Cancel(_) => "cancel",
                Command::LeaseExpired(_) => "lease",
                Command::Upgrade(_) => "session upgrade",
                Command::Sight(_) => "hook",
                Command::Allow(_) => "allow",
            },
        }
    }

    /// The person that the operation names, if any.
    pub(crate) fn by(&self) -> Option<Name> {
        let command = match self {
            Operation::Simple(command) => command,
            Operation::Upgrade { by, .. } => return Some(by.clone()),
            Operation::Deny(refusal) => return refusal.by.clone(),
            Operation::Start { .. } | Operation::Claim { .. } | Operation::Report { .. } | Operation::Merge { .. } => {
                return None;
            }
        };
        match command {
            Command::Plan(command::AddPlannedGroups { by, .. })
            | Command::Answer(command::AnswerQuestion { by, .. })
            | Command::Defer(command::DeferGroup { by, .. })
            | Command::Acknowledge(command::AcknowledgeDeferral { by, .. })
            | Command::Override(command::OverrideAssignment { by, .. })
            | Command::Waive(command::WaiveEvidence { by, .. })
            | Command::Accept(command::AcceptGroup { by, .. })
            | Command::Complete(command::CompleteSession { by })
            | Command::Upgrade(command::UpgradeWorkflow { by, .. })
            | Command::Allow(command::AllowPaths { by, .. })
            | Command::Cancel(command::CancelSessionByPerson { by }) => Some(by.clone()),
            Command::Start(_)
            | Command::Claim(_)
            | Command::Report(_)
            | Command::Lost(_)
            | Command::Merged(_)
            | Command::GateFinished(_)
            | Command::Sight(_)
            | Command::LeaseExpired(_) => None,
        }
    }

    /// The subject of the operation: an assignment, a question, a group.
    pub(crate) fn about(&self) -> Option<Name> {
        let named = |id: &dyn std::fmt::Display| Some(Name::from(id.to_string()));
        match self {
            Operation::Start { .. } | Operation::Upgrade { .. } => None,
            Operation::Deny(refusal) => refusal.about.clone(),
            Operation::Claim { assignment }
            | Operation::Report { assignment, .. }
            | Operation::Merge { assignment, .. } => named(assignment),
            Operation::Simple(command) => match command {
                Command::Answer(answer) => named(&answer.question),
                Command::Defer(command::DeferGroup { group, .. })
                | Command::Acknowledge(command::AcknowledgeDeferral { group, .. })
                | Command::Waive(command::WaiveEvidence { group, .. })
                | Command::Accept(command::AcceptGroup { group, .. })
                | Command::Override(command::OverrideAssignment { group, .. }) => Some(group.clone()),
                Command::Claim(command::ClaimAssignment { assignment, .. })
                | Command::Report(command::SubmitReport { assignment, .. })
                | Command::Lost(command::RecordLoss { assignment, .. })
                | Command::Merged(command::RecordMerge { assignment, .. })
                | Command::LeaseExpired(command::LeaseExpired { assignment, .. }) => named(assignment),
                Command::GateFinished(result) => named(&result.run),
                Command::Start(_)
                | Command::Plan(_)
                | Command::Complete(_)
                | Command::Cancel(_)
                | Command::Sight(_)
                | Command::Allow(_)
                | Command::Upgrade(_) => None,
            },
        }
    }
}
