//! What everybody at work in a run shares.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use interlock_core::code::Code;
use interlock_core::command::{Command, Loss, Lost};
use interlock_core::event::{Cause, Change, Event};
use interlock_core::id::{AssignmentId, Name};
use interlock_core::state::Assignment;
use interlock_core::workflow::{Task, Workflow, Writes, normalise_status};

use crate::agents::Progress;
use crate::engine::{Caller, Done, Error, Order, Task as Wish};
use crate::failure::{Exit, Failure};
use crate::git::{self, Hash, Workspace};
use crate::process::{Control, Limits};
use crate::run::checks::Checks;
use crate::run::purse::Purse;
use crate::run::site::Site;
use crate::team::{Part, Team};

pub(super) struct Crew {
    pub(super) session: Name,
    pub(super) workflow: Arc<Workflow>,
    /// The files of the workflow.
    pub(super) sources: Vec<(String, String)>,
    pub(super) team: Team,
    pub(super) site: Site,
    pub(super) purse: Purse,
    pub(super) checks: Checks,
    pub(super) desk: Caller,
    /// Held by the keepers of agents; the next run waits for it.
    pub(super) lock: PathBuf,
    /// Like no other run's, for what it starts.
    pub(super) mark: String,
}

/// One assignment to be played.
#[derive(Clone, Debug)]
pub(super) struct Call {
    pub(super) id: AssignmentId,
    pub(super) role: Name,
    pub(super) group: Option<Name>,
    pub(super) phase: Option<Name>,
    pub(super) task: Task,
    /// The reports that are still to come: what those assignments left does not count yet.
    pub(super) open: Vec<AssignmentId>,
    /// The commands that the plan has for the group.
    pub(super) checks: Vec<Vec<Name>>,
    /// Those that a plan may depend on; only the session itself is planned.
    pub(super) groups: Vec<Name>,
}

impl Call {
    pub(super) fn new(id: AssignmentId, assignment: &Assignment, state: &interlock_core::state::State) -> Self {
        let group = assignment.group.as_ref().and_then(|name| state.group(name));
        Self {
            id,
            role: assignment.role.clone(),
            group: assignment.group.clone(),
            phase: assignment.phase.clone(),
            task: assignment.task,
            open: state.open.iter().copied().collect(),
            checks: group.map(|group| group.checks.clone()).unwrap_or_default(),
            groups: match assignment.group {
                Some(_) => Vec::new(),
                None => state.groups.iter().map(|group| group.id.clone()).collect(),
            },
        }
    }

    /// As it was given out.
    fn assigned(id: AssignmentId, change: &Change) -> Option<Self> {
        match change {
            Change::Assigned { assignment, role, group, phase, task, .. } if *assignment == id => Some(Self {
                id,
                role: role.clone(),
                group: group.clone(),
                phase: phase.clone(),
                task: *task,
                open: Vec::new(),
                checks: Vec::new(),
                groups: Vec::new(),
            }),
            _ => None,
        }
    }
}

/// What workers tell whoever conducts.
pub(super) enum News {
    Progress(AssignmentId, Progress),
    /// A turn, a merge or a gate is over.
    Over(Work, Result<Over, Failure>),
    /// For people: something happened to an assignment that no decision tells.
    Note(Option<Name>, String),
    /// A person typed a line.
    Typed(String),
    /// A person, or the system, wants the run to stop.
    Stop,
}

/// What a worker is at.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Work {
    Turn(AssignmentId),
    Merge(AssignmentId),
    Gate(interlock_core::id::GateRunId),
}

/// How it ended.
pub(super) enum Over {
    Decided(Box<Done>),
    /// Somebody else's decision took the work away.
    Gone,
    /// The run is stopping; the work is given out again when it goes on.
    Stopped,
}

impl Crew {
    pub(super) fn order(&self, task: Wish) -> Result<Done, Error> {
        self.desk.execute(Order { session: self.session.clone(), task })
    }

    /// Settles an assignment that brought nothing.
    pub(super) fn lose(&self, id: AssignmentId, loss: Loss, note: impl Into<Name>) -> Result<Over, Failure> {
        let command = Command::Lost(Lost { assignment: id, loss, note: Some(note.into()) });
        settled(self.order(Wish::Simple(command)))
    }

    /// Merges what an assignment left, if its report says that nobody else will. The files that conflict.
    pub(super) fn integrate(
        &self,
        id: AssignmentId,
        said: &Cause,
        call: &Call,
        commit: &Hash,
    ) -> Result<Vec<String>, Failure> {
        let merged = self.workflow.merge_words().success;
        let is_last_word = match (said, call.task) {
            (Cause::Reported { status, .. }, Task::Merge) => {
                merged.is_some_and(|word| normalise_status(&word) == normalise_status(status))
            }
            (Cause::Reported { .. }, _) => call.group.is_none(),
            _ => false,
        };
        let conflicts =
            if is_last_word { self.site.integrate(call.group.as_deref(), &call.role, commit)? } else { Vec::new() };
        self.site.vault.settled(&id.to_string())?;
        Ok(conflicts)
    }

    /// What a run was about to merge when it was killed.
    pub(super) fn catch_up(&self, history: &[Event]) -> Result<(), Failure> {
        for (name, commit) in self.site.vault.intended()? {
            let Some(id) = AssignmentId::parse(&name) else { continue };
            let is_its =
                |event: &&Event| matches!(&event.cause, Cause::Reported { assignment, .. } if *assignment == id);
            let reported = history.iter().find(is_its);
            let call = history.iter().flat_map(|event| &event.changes).find_map(|change| Call::assigned(id, change));
            match (reported, call) {
                (Some(event), Some(call)) => drop(self.integrate(id, &event.cause, &call, &commit)?),
                _ => self.site.vault.settled(&name)?,
            }
        }
        Ok(())
    }

    pub(super) fn part(&self, role: &Name) -> Result<&Part, Failure> {
        self.team.part(role).ok_or_else(|| {
            Failure::new(Exit::Invalid, Code::NoAgentFor, format!("nobody plays `{role}`"))
                .help("give the role to an agent in the agents file, or add `any: NAME` under `roles`")
        })
    }

    /// Runs the commands that make a workspace ready, once for each that is new.
    pub(super) fn make_ready(&self, workspace: &Workspace, control: &Control) -> Result<(), Failure> {
        if self.team.prepare.is_empty() || self.site.is_ready(workspace) {
            return Ok(());
        }
        for command in &self.team.prepare {
            self.prepare(command, &workspace.folder, control)?;
        }
        self.site.mark_ready(workspace)?;
        Ok(())
    }

    pub(super) fn writes(&self, role: &Name) -> &Writes {
        self.workflow.role_named(role).map_or(&Writes::Nothing, |ix| &self.workflow.role(ix).writes)
    }

    /// What an agent of this role is held to.
    pub(super) fn limits(&self, part: &Part, deadline: Option<Duration>) -> Limits {
        let usual = self.team.limits;
        let time = [deadline, part.deadline, usual.time, part.budget.time].into_iter().flatten().min();
        Limits { time, ..usual }
    }
}

/// A decision, or that there was nothing left to decide.
pub(super) fn settled(result: Result<Done, Error>) -> Result<Over, Failure> {
    match result {
        Ok(done) => Ok(Over::Decided(Box::new(done))),
        Err(error) if is_gone(error.code()) => Ok(Over::Gone),
        Err(error) => Err(Failure::from(error)),
    }
}

/// Codes that say: somebody else's decision took the work away.
pub(super) fn is_gone(code: Code) -> bool {
    matches!(
        code,
        Code::AssignmentClosed | Code::NoAssignment | Code::SessionEnded | Code::NoGateRun | Code::GroupEnded
    )
}

impl From<git::Error> for Failure {
    fn from(error: git::Error) -> Self {
        Failure::new(Exit::Unavailable, Code::GitFailed, error.message).maybe_help(error.help)
    }
}

/// Waits, unless somebody wants an end. Whether it waited to the end.
pub(super) fn pause(length: Duration, control: &Control) -> bool {
    let until = std::time::Instant::now() + length;
    while !control.is_stopped() {
        let left = until.saturating_duration_since(std::time::Instant::now());
        if left.is_zero() {
            return true;
        }
        std::thread::sleep(left.min(Duration::from_millis(50)));
    }
    false
}
