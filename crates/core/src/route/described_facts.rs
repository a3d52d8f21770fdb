//! Facts as people and examples write them.

use std::collections::BTreeMap;

use crate::code::Code;
use crate::decide::{AssumedLoop, RouteAssumptions};
use crate::decision::Warning;
use crate::id::Name;
use crate::problem::Problem;
use crate::rejection::Rejection;
use crate::route::described_state::MOST_DESCRIBED;
use crate::route::{RouteQuery, RouteSource};
use crate::state::GroupStatus;
use crate::suggest;
use crate::workflow::*;

/// BAZINGA's statuses for groups that have not ended, so that a query can use its records as they are.
const OTHER_STATUSES: &[(&str, GroupStatus)] =
    &[("approved_pending_merge", GroupStatus::Merging), ("failed", GroupStatus::InProgress)];

/// The facts of a query, parsed.
#[derive(Clone, Debug, Default)]
pub struct DescribedFacts {
    pub(crate) settings: BTreeMap<Name, Name>,
    pub(crate) flags: BTreeMap<Name, Name>,
    pub(crate) facts: Vec<u8>,
    pub(crate) author: Option<Name>,
    /// The description states that the group has no author yet.
    pub(crate) no_author: bool,
    pub(crate) blocked_agent: Option<Name>,
    /// All waiting roles, oldest first, where they are described.
    pub(crate) waiting: Option<Vec<(Name, AssignmentTask)>>,
    /// The task of the assignment, where it is described.
    pub(crate) task: Option<AssignmentTask>,
    pub(crate) asker: Option<Name>,
    pub(crate) reason: Option<Name>,
    pub(crate) outstanding: bool,
    pub(crate) pending: u32,
    pub(crate) in_progress: u32,
    /// Groups that were deferred, and not yet acknowledged.
    pub(crate) deferred: u32,
    /// How the group stands that the report is about.
    pub(crate) status: Option<GroupStatus>,
    /// Its author reported that there is nothing to do.
    pub(crate) nothing_to_do: bool,
    pub(crate) loops: RouteAssumptions,
}

impl DescribedFacts {
    pub(crate) fn read(workflow: &Workflow, query: &RouteQuery) -> Result<Self, Vec<Problem>> {
        let mut facts = Self { facts: vec![0; workflow.guards.len()], ..Self::default() };
        facts.reason.clone_from(&query.reason);
        let mut problems = Vec::new();
        for (name, value) in &query.given {
            if let Err(problem) = facts.take(workflow, name, value) {
                problems.push(problem.field(name.to_string()));
            }
        }
        let reasons = workflow.blocked.as_ref().map_or(&[][..], |blocked| blocked.reasons.as_slice());
        if let Some(reason) = facts.reason.as_ref().filter(|reason| !reasons.contains(reason)) {
            let help = suggest::help(reason, reasons.iter().map(Name::as_str));
            let message = format!("`{reason}` is not a reason of this workflow");
            problems.push(Problem::new(Code::FieldValue, message).maybe_help(help).field("reason"));
        }
        if let Some(name) = query.phase.as_ref().filter(|name| workflow.phases_called(name, "").is_empty()) {
            problems.push(workflow.no_phase(name));
        }
        if problems.is_empty() { Ok(facts) } else { Err(problems) }
    }

    /// Nothing can be reported on a group that has ended.
    pub(crate) fn check_group_open(&self) -> Result<(), Rejection> {
        let ended = [GroupStatus::Completed, GroupStatus::DeferredExternal, GroupStatus::Cancelled];
        match self.status.filter(|status| ended.contains(status)) {
            Some(_) => Err(Rejection::new(Code::GroupEnded, "the group has ended: nothing can be reported on it")),
            None => Ok(()),
        }
    }

    /// The open count of a measure. A measure has one count, whichever of its loops described it.
    pub(crate) fn open(&self, workflow: &Workflow, measure: LoopMeasure) -> Option<u32> {
        let measured = self.loops.loops.iter().filter(|(ix, _)| workflow.loop_at(**ix).measure == Some(measure));
        measured.filter_map(|(_, given)| given.open).max()
    }

    pub(crate) fn failing_tests(&self, workflow: &Workflow) -> Option<Vec<Name>> {
        let open = self.open(workflow, LoopMeasure::FailingTests)?;
        Some((0..open.min(MOST_DESCRIBED)).map(|number| Name::from(format!("test {number}"))).collect())
    }

    /// A reason that the decision has not looked at.
    pub(crate) fn idle_reason(&self, workflow: &Workflow, query: &RouteQuery) -> Option<Warning> {
        let RouteSource::Role(name) = &query.source else { return None };
        let status = workflow.role_named(name).and_then(|role| workflow.status_of(role, &query.status));
        let blocked = workflow.blocked.as_ref().is_some_and(|blocked| status == Some(blocked.status));
        let text = "a reason is given, and the status is not a blocked one";
        (self.reason.is_some() && !blocked).then(|| Warning::coded(Code::NoReason, text))
    }

    fn take(&mut self, workflow: &Workflow, name: &Name, value: &Name) -> Result<(), Problem> {
        match name.as_str() {
            "author" if *value == "none" => self.no_author = true,
            "author" => self.author = Some(author(workflow, value)?),
            "waiting" => self.waiting = Some(waiting(workflow, value)?),
            "task" => self.task = Some(task(value)?),
            "blocked_agent" => self.blocked_agent = Some(role(workflow, value)?),
            "asker" => self.asker = Some(role(workflow, value)?),
            "reason" => self.reason = Some(value.clone()),
            "outstanding" => self.outstanding = flag(value)?,
            "groups.pending" => self.pending = number(value)?,
            "groups.in_progress" => self.in_progress = number(value)?,
            // A query that states the deferred groups knows all groups of the session.
            "groups.deferred" => {
                self.deferred = number(value)?;
                self.loops.groups_described = true;
            }
            "group.status" => self.group_status(value)?,
            "group.nothing_to_do" => self.nothing_to_do = flag(value)?,
            other => match (other.strip_prefix("loop."), other.strip_prefix("passed.")) {
                (Some(path), _) => self.loop_fact(workflow, path, value)?,
                (None, Some(evidence)) => self.passed_fact(workflow, evidence, value)?,
                (None, None) => self.declared(workflow, name, value)?,
            },
        }
        Ok(())
    }

    fn group_status(&mut self, value: &Name) -> Result<(), Problem> {
        let own = GroupStatus::ALL.iter().find(|status| status.name() == value.as_str());
        let other = || OTHER_STATUSES.iter().find(|(name, _)| *name == value.as_str()).map(|(_, status)| status);
        let Some(status) = own.or_else(other) else {
            let help = suggest::help(value, GroupStatus::ALL.iter().map(|status| status.name()));
            return Err(Problem::new(Code::UnknownValue, format!("no group is ever `{value}`")).maybe_help(help));
        };
        self.status = Some(*status);
        Ok(())
    }

    fn loop_fact(&mut self, workflow: &Workflow, path: &str, value: &Name) -> Result<(), Problem> {
        let (name, what) = path.rsplit_once('.').unwrap_or((path, ""));
        let Some(ix) = workflow.loop_named(name) else {
            let help = suggest::help(name, workflow.loops.iter().map(|item| item.name.as_str()));
            return Err(Problem::new(Code::UnknownLoop, format!("there is no loop `{name}`")).maybe_help(help));
        };
        let entry: &mut AssumedLoop = self.loops.loops.entry(ix).or_default();
        match what {
            "iteration" => entry.iteration = number(value)?,
            "no_progress" => entry.no_progress = number(value)?,
            "open" => entry.open = Some(open(value)?),
            "escalated" => entry.escalated = number(value)?,
            _ => {
                let help = format!("ask for loop.{name}.iteration, .no_progress, .open or .escalated");
                return Err(Problem::new(Code::BadArgument, "a loop has no such number").help(help));
            }
        }
        Ok(())
    }

    fn passed_fact(&mut self, workflow: &Workflow, name: &str, value: &Name) -> Result<(), Problem> {
        let Some(pass) = workflow.passes.iter().find(|pass| pass.name == name) else {
            let help = suggest::help(name, workflow.passes.iter().map(|pass| pass.name.as_str()));
            return Err(Problem::new(Code::UnknownValue, format!("no entry passes `{name}`")).maybe_help(help));
        };
        self.loops.passed.insert(pass.name.clone(), flag(value)?);
        Ok(())
    }

    fn declared(&mut self, workflow: &Workflow, name: &Name, value: &Name) -> Result<(), Problem> {
        let Some(index) = workflow.guards.iter().position(|guard| guard.name == *name) else {
            // The domain may be given even where the name of the role implies it.
            if *name == "domain" && workflow.domains.iter().any(|domain| domain.name == *value) {
                return Ok(());
            }
            let known = workflow.guards.iter().map(|guard| guard.name.as_str());
            let state = ["author", "blocked_agent", "waiting", "task", "asker", "outstanding"];
            let all: Vec<&str> = known
                .chain(state)
                .chain([
                    "groups.pending",
                    "groups.in_progress",
                    "groups.deferred",
                    "group.status",
                    "group.nothing_to_do",
                ])
                .collect();
            let help = suggest::help(name, all);
            let message = format!("there is no setting, flag or fact `{name}`");
            return Err(Problem::new(Code::UnknownGuard, message).maybe_help(help));
        };
        let Some(guard) = workflow.guards.get(index) else { return Ok(()) };
        let Some(position) = guard.values.iter().position(|known| known == value) else {
            let help = suggest::help(value, guard.values.iter().map(Name::as_str));
            return Err(Problem::new(Code::UnknownValue, format!("`{name}` is never `{value}`")).maybe_help(help));
        };
        match guard.source {
            GuardSource::Setting => {
                self.settings.insert(name.clone(), value.clone());
            }
            GuardSource::Flag => {
                self.flags.insert(name.clone(), value.clone());
            }
            GuardSource::Fact => {
                if let Some(slot) = self.facts.get_mut(index) {
                    *slot = u8::try_from(position).unwrap_or(0);
                }
            }
        }
        Ok(())
    }
}

pub(crate) fn role(workflow: &Workflow, value: &Name) -> Result<Name, Problem> {
    if workflow.role_named(value).is_some() {
        return Ok(value.clone());
    }
    let help = suggest::help(value, workflow.roles.iter().map(|role| role.name.as_str()));
    Err(Problem::new(Code::UnknownRole, format!("the workflow has no role `{value}`")).maybe_help(help))
}

fn author(workflow: &Workflow, value: &Name) -> Result<Name, Problem> {
    let name = role(workflow, value)?;
    let authors = || workflow.roles.iter().filter(|role| role.author).map(|role| role.name.as_str());
    if authors().any(|author| name == author) {
        return Ok(name);
    }
    let message = format!("{name} is not an author: work never goes back to it");
    Err(Problem::new(Code::UnknownValue, message).maybe_help(suggest::help("", authors().collect::<Vec<_>>())))
}

/// `developer,qa_expert:merge`: the waiting roles, oldest first, each with the task it goes on with; work by default.
fn waiting(workflow: &Workflow, value: &Name) -> Result<Vec<(Name, AssignmentTask)>, Problem> {
    let seats = value.split(',').map(str::trim).filter(|seat| !seat.is_empty() && *seat != "none");
    seats
        .map(|seat| {
            let (name, doing) = seat.split_once(':').unwrap_or((seat, "work"));
            Ok((role(workflow, &Name::new(name))?, task(&Name::new(doing))?))
        })
        .collect()
}

fn task(value: &Name) -> Result<AssignmentTask, Problem> {
    match value.as_str() {
        "work" => Ok(AssignmentTask::Work),
        "consult" => Ok(AssignmentTask::Consult),
        "merge" => Ok(AssignmentTask::Merge),
        _ => Err(Problem::new(Code::UnknownValue, format!("a task is `work`, `consult` or `merge`, not `{value}`"))),
    }
}

/// How much is open, or only whether something is.
fn open(value: &Name) -> Result<u32, Problem> {
    flag(value).map(u32::from).or_else(|_| number(value))
}

fn number(value: &Name) -> Result<u32, Problem> {
    value.parse().map_err(|_| Problem::new(Code::BadArgument, format!("`{value}` is not a whole number")))
}

fn flag(value: &Name) -> Result<bool, Problem> {
    match value.as_str() {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err(Problem::new(Code::BadArgument, format!("`{value}` is neither true nor false"))),
    }
}
