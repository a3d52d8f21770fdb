//! What can be asked of a session.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::checkout::GateCheckout;
use crate::handoff::{Handoff, PlannedGroup};
use crate::id::{AssignmentId, Digest, GateRunId, Name, QuestionId, Timestamp};
use crate::observed::ObservedChanges;
use crate::watch::{Sighting, Via};
use crate::workflow::Workflow;

/// What deciding may know of the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inputs {
    pub now: Timestamp,
}

#[derive(Clone, Debug)]
pub enum Command {
    Start(Start),
    Plan(Plan),
    Claim(Claim),
    Report(Report),
    /// The agent ended, and there is no handoff that could be taken.
    Lost(Lost),
    /// Interlock has tried the merge itself.
    Merged(Merged),
    Answer(Answer),
    GateFinished(GateFinished),
    Defer(Defer),
    Acknowledge(Acknowledge),
    Override(Override),
    Waive(Waive),
    Accept(Accept),
    Complete(Complete),
    Cancel(Cancel),
    LeaseExpired(LeaseExpired),
    /// A person moves the session to another workflow: the one that is decided with.
    Upgrade(Upgrade),
    /// A hook of a client was seen.
    Sight(Sighting),
    /// A person allows paths that the workflow protects.
    Allow(Allow),
}

impl Command {
    /// The person who gives the command, where a person does.
    pub fn person(&self) -> Option<&Name> {
        match self {
            Command::Plan(Plan { by, .. })
            | Command::Answer(Answer { by, .. })
            | Command::Defer(Defer { by, .. })
            | Command::Acknowledge(Acknowledge { by, .. })
            | Command::Override(Override { by, .. })
            | Command::Waive(Waive { by, .. })
            | Command::Accept(Accept { by, .. })
            | Command::Complete(Complete { by })
            | Command::Upgrade(Upgrade { by, .. })
            | Command::Allow(Allow { by, .. })
            | Command::Cancel(Cancel { by }) => Some(by),
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
            Command::Defer(Defer { why, .. })
            | Command::Override(Override { why, .. })
            | Command::Waive(Waive { why, .. }) => Some(("reason", why)),
            Command::Answer(Answer { choice: Choice::Text(text), .. }) => Some(("answer", text)),
            Command::Answer(Answer { choice: Choice::Option { .. }, .. })
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
pub struct Start {
    pub session: Name,
    pub title: Name,
    pub settings: BTreeMap<Name, Name>,
    /// Of the mission, if the session was given one.
    pub mission: Option<Digest>,
    /// It may end without groups.
    pub investigation: bool,
    /// The person who starts it, where one showed the operator key.
    pub by: Option<Name>,
    /// Requirements of the project's own workflow that the chosen one does not have.
    pub dropped: Vec<Name>,
    /// Protected paths that the person who starts it allows.
    pub allow: Option<Allow>,
}

/// A person adds groups to a running session.
#[derive(Clone, Debug)]
pub struct Plan {
    pub groups: Vec<PlannedGroup>,
    pub by: Name,
}

#[derive(Clone, Debug)]
pub struct Claim {
    pub assignment: AssignmentId,
    /// The hash of the secret that the holder gets.
    pub token: Digest,
    /// The prompt that the holder gets.
    pub prompt: Option<ClaimedPrompt>,
    pub lease_until: Option<Timestamp>,
    pub via: Option<Via>,
}

/// What is recorded of a prompt.
#[derive(Clone, Debug)]
pub struct ClaimedPrompt {
    pub digest: Digest,
    /// Groups awaiting confirmation that it lists with blocker, attempts and approver.
    pub confirmable: Vec<Name>,
}

#[derive(Clone, Debug)]
pub struct Report {
    pub assignment: AssignmentId,
    /// The hash of the secret that came with the report.
    pub token: Digest,
    pub handoff: Arc<Handoff>,
    /// The diff, where Interlock started the author and looked itself.
    pub observed: Option<Arc<ObservedChanges>>,
    pub via: Option<Via>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// It ended, and left none.
    NoHandoff,
    /// It stayed invalid, however often it was sent back.
    BadHandoff,
    /// It claims that tests pass which Interlock saw fail.
    FalseClaim,
    /// It cannot go on without a person: what it was given is used up, or its model cannot be reached.
    Halted,
}

impl Loss {
    pub const ALL: [Loss; 4] = [Loss::NoHandoff, Loss::BadHandoff, Loss::FalseClaim, Loss::Halted];

    /// The status that a workflow routes it by.
    pub const fn status(self) -> &'static str {
        match self {
            Loss::NoHandoff => "no_handoff",
            Loss::BadHandoff => "bad_handoff",
            Loss::FalseClaim => "false_claim",
            Loss::Halted => "halted",
        }
    }
}

#[derive(Clone, Debug)]
pub struct Lost {
    pub assignment: AssignmentId,
    pub loss: Loss,
    /// What there is to say of it.
    pub note: Option<Name>,
}

#[derive(Clone, Debug)]
pub struct Merged {
    pub assignment: AssignmentId,
    /// Made by Interlock, checked like any other.
    pub handoff: Arc<Handoff>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Choice {
    /// One of the options, perhaps with words of one's own: a rejection with its feedback.
    Option {
        name: Name,
        text: Option<Name>,
    },
    Text(Name),
}

#[derive(Clone, Debug)]
pub struct Answer {
    pub question: QuestionId,
    pub choice: Choice,
    pub by: Name,
    /// Patterns of protected paths that the person allows with the answer.
    pub allow: Vec<Name>,
}

#[derive(Clone, Debug)]
pub struct Allow {
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
pub struct Defer {
    pub group: Name,
    pub why: Name,
    pub by: Name,
}

#[derive(Clone, Debug)]
pub struct Acknowledge {
    pub group: Name,
    pub by: Name,
}

#[derive(Clone, Debug)]
pub struct Override {
    pub group: Name,
    pub to: Name,
    pub why: Name,
    pub by: Name,
}

/// A person lets one tree do without evidence that it needs.
#[derive(Clone, Debug)]
pub struct Waive {
    pub group: Name,
    pub evidence: Name,
    pub why: Name,
    pub by: Name,
}

/// A person confirms a group that awaits confirmation.
#[derive(Clone, Debug)]
pub struct Accept {
    pub group: Name,
    pub by: Name,
}

#[derive(Clone, Debug)]
pub struct Complete {
    pub by: Name,
}

#[derive(Clone, Debug)]
pub struct Cancel {
    pub by: Name,
}

#[derive(Clone, Debug)]
pub struct Upgrade {
    /// The workflow that the session ran until now.
    pub from: Arc<Workflow>,
    /// The person means to drop requirements.
    pub weaker: bool,
    pub by: Name,
}

#[derive(Clone, Debug)]
pub struct LeaseExpired {
    pub assignment: AssignmentId,
    /// The holder is known to be gone, whatever time it had: whoever says so holds the lock that went with it.
    pub holder_gone: bool,
}
