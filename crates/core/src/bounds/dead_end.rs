//! States whose holder has nothing to report that leads on, but that it is blocked.

use crate::bounds::explore::LaneExplorer;
use crate::bounds::lane::{LaneHolder, LaneState};
use crate::bounds::values::{GuardValues, TruthValue};
use crate::code::Code;
use crate::problem::{Place, Problem};
use crate::workflow::{AssignmentTask, EvidenceNeed, PassIx, PhaseIx, RoleIx, Rule, RuleVerb, StatusIx, Workflow};

/// A role in a phase with a task, where no status of it leads on.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct DeadEnd {
    role: RoleIx,
    task: AssignmentTask,
    phase: Option<PhaseIx>,
    /// Completion is refused there for want of these.
    missing: Vec<String>,
}

impl LaneExplorer<'_> {
    pub(super) fn dead_ends(&self, states: &[LaneState]) -> Vec<DeadEnd> {
        let mut found: Vec<DeadEnd> = Vec::new();
        for dead in states.iter().filter_map(|state| self.dead_end(state)) {
            let known = |other: &DeadEnd| (other.role, other.task, other.phase) == (dead.role, dead.task, dead.phase);
            if !found.iter().any(known) {
                found.push(dead);
            }
        }
        found
    }

    fn dead_end(&self, state: &LaneState) -> Option<DeadEnd> {
        let LaneHolder::Role(role, task) = state.holder else { return None };
        let workflow = self.workflow;
        if workflow.role(role).by_interlock {
            return None;
        }
        let own = workflow.by_report.range((role, StatusIx(0))..=(role, StatusIx(u16::MAX)));
        let own = own.filter(|((_, status), _)| !workflow.is_loss(*status));
        let rules = own.flat_map(|(_, rules)| rules).map(|ix| workflow.rule(*ix));
        let mut missing = Vec::new();
        for rule in rules.filter(|rule| !rule.blocks && self.rule_holds(state, rule) != TruthValue::No) {
            let lacks = if self.ends_group(state, rule) { self.certainly_missing(state, rule) } else { Vec::new() };
            if lacks.is_empty() {
                return None;
            }
            missing = lacks;
        }
        Some(DeadEnd { role, task, phase: state.phase, missing })
    }

    /// With this rule the group has nothing before it but its completion.
    fn ends_group(&self, state: &LaneState, rule: &Rule) -> bool {
        let workflow = self.workflow;
        let last = |phase: PhaseIx| {
            let after = workflow.stages.iter().skip(workflow.phase(phase).stage.saturating_add(1));
            let mut phases = after.clone().flat_map(|stage| &stage.phases);
            let waits = workflow.stages.iter().skip_while(|stage| stage.per_session).any(|stage| stage.per_session);
            !waits && phases.all(|phase| self.phase_applies(true, *phase, state.author) == TruthValue::No)
        };
        match rule.verb {
            RuleVerb::Complete => true,
            RuleVerb::Leave => state.phase.is_some_and(last),
            RuleVerb::Spawn(_)
            | RuleVerb::Respawn(_)
            | RuleVerb::Consult(_)
            | RuleVerb::Return
            | RuleVerb::Escalate(_)
            | RuleVerb::Merge
            | RuleVerb::Goto(_)
            | RuleVerb::Rework(_)
            | RuleVerb::Start
            | RuleVerb::Ask(_)
            | RuleVerb::Defer
            | RuleVerb::Validate(_)
            | RuleVerb::End
            | RuleVerb::CancelGroup
            | RuleVerb::CancelSession
            | RuleVerb::Redo
            | RuleVerb::Acknowledge
            | RuleVerb::Join => false,
        }
    }

    /// Needs of completion that no setting, excuse or exception takes away, and that nothing has passed.
    fn certainly_missing(&self, state: &LaneState, rule: &Rule) -> Vec<String> {
        let workflow = self.workflow;
        if !state.in_group || rule.climbs || self.may_wait.is_some() || !workflow.completion.once_blocked.is_empty() {
            return Vec::new();
        }
        let has = |ix: &PassIx| {
            let excused = workflow.rules.iter().any(|rule| rule.excuses.contains(ix));
            excused || rule.passes.contains(ix) || state.passed.contains(ix)
        };
        let is_missing = |need: &&EvidenceNeed| {
            self.values.all(workflow, true, &need.when) == TruthValue::Yes && !need.options.iter().any(has)
        };
        let name = |ix: &PassIx| format!("`{}`", workflow.pass(*ix).name);
        let missing = workflow.completion.needs.iter().filter(is_missing);
        missing.map(|need| need.options.iter().map(name).collect::<Vec<_>>().join(" or ")).collect()
    }
}

pub(super) fn report_dead_end(workflow: &Workflow, dead: &DeadEnd) -> Problem {
    let role = workflow.role(dead.role);
    let place_of = |phase: PhaseIx| format!(" in phase `{}`", workflow.phase(phase).name);
    let place = match dead.phase {
        Some(phase) => place_of(phase),
        None if workflow.has_phases() => " outside of every phase".to_owned(),
        None => String::new(),
    };
    let task = match dead.task {
        AssignmentTask::Work => "has work",
        AssignmentTask::Consult => "helps",
        AssignmentTask::Merge => "merges",
    };
    let (message, help) = if dead.missing.is_empty() {
        let message = format!("{} {task}{place} and has no status that leads on", role.name);
        (message, format!("add a status of {} that holds there, or send the work elsewhere", role.name))
    } else {
        let missing = dead.missing.join(", ");
        let message = format!("{} {task}{place} and can only complete the group, which needs {missing}", role.name);
        (message, format!("let {} hand on to the role that passes it, or pass it with `passes`", role.name))
    };
    let problem = Problem::new(Code::DeadEnd, message).help(help);
    match place_in_file(workflow, dead) {
        Some(place) => problem.at(place),
        None => problem,
    }
}

/// The phase, or an entry that gives the role its work.
fn place_in_file(workflow: &Workflow, dead: &DeadEnd) -> Option<Place> {
    let names = |rule: &&Rule| match rule.verb {
        RuleVerb::Spawn(target)
        | RuleVerb::Respawn(target)
        | RuleVerb::Consult(target)
        | RuleVerb::Escalate(target) => {
            let own = target == crate::workflow::RoleTarget::Role(dead.role);
            own || target == crate::workflow::RoleTarget::Author && workflow.role(dead.role).author
        }
        RuleVerb::Merge => dead.task == AssignmentTask::Merge,
        RuleVerb::Complete => !dead.missing.is_empty(),
        RuleVerb::Return
        | RuleVerb::Goto(_)
        | RuleVerb::Rework(_)
        | RuleVerb::Start
        | RuleVerb::Ask(_)
        | RuleVerb::Defer
        | RuleVerb::Validate(_)
        | RuleVerb::End
        | RuleVerb::CancelGroup
        | RuleVerb::CancelSession
        | RuleVerb::Redo
        | RuleVerb::Acknowledge
        | RuleVerb::Join
        | RuleVerb::Leave => false,
    };
    let phase = dead.phase.map(|phase| workflow.phase(phase).place.clone());
    phase.or_else(|| workflow.rules.iter().find(names).map(|rule| rule.place.clone()))
}

/// The dead ends that some choice of settings and flags allows.
pub(super) fn confirm_dead_ends(
    found: Vec<DeadEnd>,
    valuations: Option<&[GuardValues]>,
    explore: impl Fn(&GuardValues) -> Vec<DeadEnd>,
) -> Vec<DeadEnd> {
    let Some(valuations) = valuations.filter(|_| !found.is_empty()) else { return found };
    let mut confirmed: Vec<DeadEnd> = Vec::new();
    for values in valuations {
        for dead in explore(values) {
            if !confirmed.contains(&dead) {
                confirmed.push(dead);
            }
        }
    }
    confirmed
}
