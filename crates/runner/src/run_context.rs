//! State that all workers of a run share.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use interlock_core::code::Code;
use interlock_core::command::{Command, LeaseExpired, LossReason, RecordLoss};
use interlock_core::event::{Event, EventCause, StateChange};
use interlock_core::id::{AssignmentId, Name};
use interlock_core::provenance::Channel;
use interlock_core::state::{Assignment, State};
use interlock_core::workflow::{AssignmentTask, Workflow, WritePermission};

use crate::budget::{BudgetLedger, BudgetScope};
use crate::checks::RunChecks;
use crate::git;
use crate::observe::ChangeObserver;
use crate::other_groups::{OtherGroup, is_settled, neighbours};
use crate::scope::GroupLimit;
use crate::workspaces::SessionWorkspaces;
use interlock_agents::AgentProgress;
use interlock_agents::team::{AgentTeam, RoleAgent};
use interlock_app::error::{CommandError, CommandExit};
use interlock_engine::{Committed, EngineError, Operation as Wish, QueueClient, Request};
use interlock_prompt::outputs::{AttemptRemains, readable};
use interlock_system::process::ProcessControl;

pub(super) struct RunContext {
    pub(super) session: Name,
    pub(super) workflow: Arc<Workflow>,
    /// The files of the workflow.
    pub(super) sources: Vec<(String, String)>,
    pub(super) team: AgentTeam,
    pub(super) site: SessionWorkspaces,
    pub(super) observer: ChangeObserver,
    /// The directory that all roles of the session share.
    pub(super) feature_directory: String,
    pub(super) purse: BudgetLedger,
    pub(super) checks: RunChecks,
    pub(super) cut_short: Mutex<InterruptedAttempts>,
    /// People know that the mission is longer than a prompt.
    pub(super) told: AtomicBool,
    pub(super) desk: QueueClient,
    /// Held by the keepers of agents; the next run waits for it.
    pub(super) lock: PathBuf,
    /// A file that is there while nothing new may start.
    pub(super) paused: PathBuf,
    /// Whether the run waits for people.
    pub(super) waits: bool,
    /// Like no other run's, for what it starts.
    pub(super) mark: String,
}

/// How many attempts of a role on a group are not counted as a failure of the agent: they ended with the run, or
/// because a person has to be asked.
pub(super) type InterruptedAttempts = BTreeMap<(Option<Name>, Name), u32>;

/// One assignment to be played.
#[derive(Clone, Debug)]
pub(super) struct AssignmentJob {
    pub(super) id: AssignmentId,
    pub(super) role: Name,
    pub(super) group: Option<Name>,
    pub(super) phase: Option<Name>,
    pub(super) task: AssignmentTask,
    /// The reports that are still to come: what those assignments left does not count yet.
    pub(super) open: Vec<AssignmentId>,
    /// The commands that the plan has for the group.
    pub(super) checks: Vec<Vec<Name>>,
    /// As the plan has it.
    pub(super) domain: Option<Name>,
    /// For what is merged: the other groups, whose work may be in already.
    pub(super) neighbours: Vec<OtherGroup>,
    /// No group is at work.
    pub(super) whole: bool,
    /// Those that a plan may depend on; only the session itself is planned.
    pub(super) groups: Vec<Name>,
    /// Protected paths that people have allowed.
    pub(super) allowed: Vec<Name>,
    /// Limits that the flags of its plan set on the changes of the group.
    pub(super) limits: Vec<GroupLimit>,
}

impl AssignmentJob {
    pub(super) fn new(id: AssignmentId, assignment: &Assignment, state: &State, workflow: &Workflow) -> Self {
        let group = assignment.group.as_ref().and_then(|name| state.group(name));
        Self {
            id,
            role: assignment.role.clone(),
            group: assignment.group.clone(),
            phase: assignment.phase.clone(),
            task: assignment.task,
            open: state.open.iter().copied().collect(),
            checks: group.map(|group| group.checks.clone()).unwrap_or_default(),
            domain: group.and_then(|group| group.flags.get("domain").cloned()),
            neighbours: match (&assignment.group, assignment.task) {
                (Some(_), AssignmentTask::Work | AssignmentTask::Consult) => Vec::new(),
                (own, _) => neighbours(own.as_ref(), state),
            },
            whole: state.groups.iter().all(is_settled),
            groups: match assignment.group {
                Some(_) => Vec::new(),
                None => state.groups.iter().map(|group| group.id.clone()).collect(),
            },
            allowed: state.allowed_paths().cloned().collect(),
            limits: group.map(|group| GroupLimit::of(workflow, group)).unwrap_or_default(),
        }
    }
}

/// Messages to the scheduler.
pub(super) enum SchedulerMessage {
    Progress(AssignmentId, AgentProgress),
    /// A turn, a merge or a gate is over.
    Over(JobId, Result<JobOutcome, CommandError>),
    /// For people: something happened to an assignment that no decision reports.
    Note(Option<Name>, String),
    /// A person typed something.
    Typed(Vec<u8>),
    /// The process was stopped, and goes on.
    Resumed,
    /// A person, or the system, wants the run to stop.
    Stop,
}

/// The job of a worker.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum JobId {
    Turn(AssignmentId),
    Merge(AssignmentId),
    Gate(interlock_core::id::GateRunId),
}

/// How it ended.
pub(super) enum JobOutcome {
    Decided(Box<Committed>),
    /// Another decision took the work away.
    Gone,
    /// The run is stopping; the work is given out again when it goes on.
    Stopped,
}

impl RunContext {
    pub(super) fn submit_operation(&self, task: Wish) -> Result<Committed, EngineError> {
        self.desk.execute(Request { session: self.session.clone(), task })
    }

    /// Settles an assignment that brought nothing.
    pub(super) fn record_loss(
        &self,
        id: AssignmentId,
        loss: LossReason,
        note: impl Into<Name>,
    ) -> Result<JobOutcome, CommandError> {
        let command = Command::Lost(RecordLoss { assignment: id, loss, note: Some(note.into()) });
        job_outcome(self.submit_operation(Wish::Simple(command)))
    }

    /// Releases the assignments of the last run before anything starts. Their holders ended with that run, whose lock
    /// this run holds now. Each assignment becomes another attempt, with another token.
    pub(super) fn settle_orphaned_assignments(&self, state: &State) -> Result<(), CommandError> {
        let claimed = |id: &&AssignmentId| state.assignments.get(id).is_some_and(|given| given.token.is_some());
        for id in state.open.iter().filter(claimed) {
            if let Some(assignment) = state.assignments.get(id) {
                self.keep_remains(&AssignmentJob::new(*id, assignment, state, &self.workflow), assignment.attempt);
            }
            self.free(*id)?;
        }
        Ok(())
    }

    /// Keeps what an attempt leaves that ends without an accepted handoff, for the next attempt. An attempt whose remains
    /// cannot be kept is lost all the same.
    pub(super) fn keep_remains(&self, call: &AssignmentJob, attempt: u32) {
        let writes = *self.writes(&call.role) != WritePermission::Nothing;
        let patch = if writes { self.site.unaccepted_changes(call).unwrap_or_default() } else { Vec::new() };
        let remains = AttemptRemains {
            output: readable(&self.site.printed_by(call.id, attempt)),
            patch,
            handoff: self.site.submitted_by(call.id, attempt),
        };
        let _ = remains.keep(&self.site.output(call.id, attempt));
    }

    /// Releases an assignment that is not counted as a failure of the agent: it is assigned again, and counts in no
    /// loop.
    pub(super) fn release_assignment(&self, call: &AssignmentJob) -> Result<JobOutcome, CommandError> {
        let over = self.free(call.id)?;
        *self.cut_short().entry((call.group.clone(), call.role.clone())).or_default() += 1;
        Ok(over)
    }

    fn free(&self, assignment: AssignmentId) -> Result<JobOutcome, CommandError> {
        let command = Command::LeaseExpired(LeaseExpired { assignment, holder_gone: true });
        match self.submit_operation(Wish::Simple(command)) {
            Ok(_) => Ok(JobOutcome::Stopped),
            Err(error) if is_gone(error.code()) => Ok(JobOutcome::Gone),
            Err(error) => Err(error.into()),
        }
    }

    /// Reads from the log which attempts were cut short.
    pub(super) fn count_interrupted_attempts(&self, history: &[Event]) {
        let mut whose = BTreeMap::new();
        let mut counted = self.cut_short();
        for change in history.iter().flat_map(|event| &event.changes) {
            match change {
                StateChange::Assigned { assignment, group, role, .. } => {
                    whose.insert(*assignment, (group.clone(), role.clone()));
                }
                StateChange::Unclaimed { assignment } => {
                    if let Some(whose) = whose.get(assignment) {
                        *counted.entry(whose.clone()).or_default() += 1;
                    }
                }
                _ => {}
            }
        }
    }

    /// The attempts of a role on a group that came to an end of their own, and this one: what a script goes by.
    pub(super) fn effective_attempt(&self, call: &AssignmentJob, attempt: u32) -> String {
        let cut_short = self.cut_short().get(&(call.group.clone(), call.role.clone())).copied().unwrap_or(0);
        attempt.saturating_sub(cut_short).max(1).to_string()
    }

    fn cut_short(&self) -> std::sync::MutexGuard<'_, InterruptedAttempts> {
        self.cut_short.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a person has to say first if this may spend more.
    pub(super) fn is_held(&self, role: &Name, group: Option<&Name>) -> bool {
        let group = group.cloned().map(BudgetScope::Group);
        let accounts = [BudgetScope::Session, BudgetScope::Role(role.clone())];
        accounts.iter().chain(&group).any(|account| self.purse.is_held(account))
    }

    /// Merges the session's own work that a killed run was about to merge.
    pub(super) fn catch_up(&self, history: &[Event]) -> Result<(), CommandError> {
        for (name, commit) in self.site.vault.pending_merges()? {
            let id = AssignmentId::parse(&name);
            let is_its = |cause: &EventCause| matches!(cause, EventCause::Reported { assignment, .. } if Some(*assignment) == id);
            let given = history.iter().flat_map(|event| &event.changes).find_map(|change| match change {
                StateChange::Assigned { assignment, role, .. } if Some(*assignment) == id => Some(role),
                _ => None,
            });
            if let Some(role) = given.filter(|_| history.iter().any(|event| is_its(&event.cause))) {
                self.site.integrate(role, &commit)?;
            }
            self.site.vault.clear_pending_merge(&name)?;
        }
        Ok(())
    }

    /// Checks that the repository knows all reported work. The seals of a register that was cut short still fit, so
    /// they do not reveal that.
    pub(super) fn hold_against(&self, history: &[Event]) -> Result<(), CommandError> {
        let mut given = BTreeMap::new();
        // Before that, other roles may have been allowed to write.
        let upgraded =
            history.iter().rposition(|event| matches!(event.cause, EventCause::Upgraded { .. })).unwrap_or(0);
        for (index, event) in history.iter().enumerate() {
            for change in &event.changes {
                if let StateChange::Assigned { assignment, group, role, .. } = change {
                    given.insert(*assignment, (group.clone(), role.clone()));
                }
            }
            if let Some(lost) = self.unknown(&event.cause, &given).filter(|_| index >= upgraded) {
                let message =
                    format!("the session's repository does not know any more what {}.{lost} did", self.session);
                return Err(CommandError::new(CommandExit::Unavailable, Code::GitFailed, message).help(
                    "somebody has changed it: restore it from a copy, or cancel the session and start a new one",
                ));
            }
        }
        Ok(())
    }

    /// The assignment that was reported by a run, and of which the repository has nothing though it should.
    fn unknown(
        &self,
        cause: &EventCause,
        given: &BTreeMap<AssignmentId, (Option<Name>, Name)>,
    ) -> Option<AssignmentId> {
        let (assignment, is_known) = match cause {
            EventCause::Merged { assignment, status, .. }
                if Some(status) == self.workflow.find_merge_statuses().success.as_ref() =>
            {
                (assignment, self.site.vault.knows_merge(*assignment))
            }
            EventCause::Reported { assignment, via: Some(Channel::Run), .. } => {
                let (group, role) = given.get(assignment)?;
                let leaves = *self.writes(role) != WritePermission::Nothing;
                (assignment, !leaves || self.site.has_left(group.as_ref(), *assignment))
            }
            _ => return None,
        };
        (!is_known).then_some(*assignment)
    }

    pub(super) fn part(&self, role: &Name) -> Result<&RoleAgent, CommandError> {
        self.team.part(role).ok_or_else(|| {
            CommandError::new(CommandExit::Invalid, Code::NoAgentFor, format!("nobody plays `{role}`"))
                .help("give the role to an agent in the agents file, or add `any: NAME` under `roles`")
        })
    }

    pub(super) fn writes(&self, role: &Name) -> &WritePermission {
        self.workflow.role_named(role).map_or(&WritePermission::Nothing, |ix| &self.workflow.role(ix).writes)
    }
}

/// A decision, or that there was nothing left to decide.
pub(super) fn job_outcome(result: Result<Committed, EngineError>) -> Result<JobOutcome, CommandError> {
    match result {
        Ok(done) => Ok(JobOutcome::Decided(Box::new(done))),
        Err(error) if is_gone(error.code()) => Ok(JobOutcome::Gone),
        Err(error) => Err(CommandError::from(error)),
    }
}

/// Whether a code means that another decision took the work away.
pub(super) fn is_gone(code: Code) -> bool {
    matches!(
        code,
        Code::AssignmentClosed | Code::NoAssignment | Code::SessionEnded | Code::NoGateRun | Code::GroupEnded
    )
}

impl From<git::GitError> for CommandError {
    fn from(error: git::GitError) -> Self {
        CommandError::new(CommandExit::Unavailable, Code::GitFailed, error.message).maybe_help(error.help)
    }
}

/// Waits, unless a stop is requested. Returns whether it waited to the end.
pub(super) fn wait_unless_stopped(length: Duration, control: &ProcessControl) -> bool {
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
