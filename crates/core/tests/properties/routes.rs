//! `route` answers what the engine decides, on every state that the sequences reach.
//!
//! The state is described as people describe it to `route`: settings, flags, facts of the handoff, the author, who waits,
//! the numbers of loops as the decision read them, and the other groups.

use std::collections::BTreeMap;

use interlock_core::command::{Command, SubmitReport};
use interlock_core::decide::DecideOutcome;
use interlock_core::decision::{Decision, DecisionAction, FactValue};
use interlock_core::event::{Event, StateChange};
use interlock_core::id::Name;
use interlock_core::route::{RouteQuery, RouteScope, RouteSource, route};
use interlock_core::state::{Assignment, GatePurpose, Group, GroupEnd, GroupProgress, Lane, PartHolder, State};
use interlock_core::workflow::{AssignmentTask, GuardSource, Workflow};

use crate::driver::DriverStep;

pub(crate) fn route_agrees(workflow: &Workflow, step: &DriverStep) {
    let (Command::Report(report), Ok(DecideOutcome::Decided(event))) = (&step.command, &step.result) else { return };
    let (Some(decision), Some(held)) = (&event.decision, step.before.assignments.get(&report.assignment)) else {
        return;
    };
    // Which findings were settled before has no name among the facts of `route`: it knows their number only.
    if decision.rule.contains("/settled") {
        return;
    }
    let query = describe(workflow, &step.before, held, report, event);
    let routed = route(workflow, &query);
    let routed = routed.unwrap_or_else(|refused| panic!("{query:#?}\nis {decision:#?}\nbut refused: {refused:#?}"));
    assert_eq!(routed.rule, decision.rule, "{query:#?}");
    // `route` answers `validate`; the validator, which reads the whole session, may start groups, run a gate or ask first.
    if routed.action == DecisionAction::Validate {
        let before_verdict = matches!(
            decision.action,
            DecisionAction::Batch | DecisionAction::Wait | DecisionAction::Gate | DecisionAction::Ask
        );
        assert!(decision.action == DecisionAction::Validate || before_verdict, "{query:#?}\n{decision:#?}");
        return;
    }
    // Gates of completion count as passed for `route`. A plan has flags and dependencies of its own, and so has each group
    // that starts or goes on with this decision: no fact names them.
    let gate = event.changes.iter().any(|change| {
        matches!(change, StateChange::GateOpened { purpose: GatePurpose::Completion | GatePurpose::Validation(_), .. })
    });
    let planned = report.handoff.groups.is_some();
    let starts_groups = event.changes.iter().any(|change| matches!(change, StateChange::Staged { .. }));
    let described = others_are_described(&step.before, held) && !ends_short_of_groups(event);
    if gate || planned || starts_groups || !described {
        return;
    }
    assert_eq!(routed.action, decision.action, "{query:#?}\n{decision:#?}\n{routed:#?}");
    assert_eq!(roles(&routed), roles(decision), "{query:#?}");
}

/// Groups that wait for their turn have flags and dependencies of their own, and work of the session beside groups has no
/// name among the facts.
fn others_are_described(state: &State, held: &Assignment) -> bool {
    if held.group.is_some() && state.lane.is_open() {
        return false;
    }
    let mut others = state.groups.iter().filter(|other| Some(&other.id) != held.group.as_ref());
    others.all(|other| match &other.progress {
        GroupProgress::Working | GroupProgress::Ended(_) => true,
        // A phase of the session begins when every group has arrived.
        GroupProgress::Arrived => held.group.is_none(),
        GroupProgress::Pending | GroupProgress::AwaitingConfirmation => false,
    })
}

/// The end is put to a person for a reason that has no name among the facts: an arrived group lacks evidence, or no group
/// was completed.
fn ends_short_of_groups(event: &Event) -> bool {
    let asked =
        event.changes.iter().any(|change| matches!(change, StateChange::Asked { name, .. } if *name == "unfinished"));
    let unnamed = ["has not passed", "is arrived", "no group was completed", "no group was planned", "was blocked"];
    let because = event.decision.iter().flat_map(|decision| &decision.because);
    asked && because.clone().any(|line| unnamed.iter().any(|text| line.contains(text)))
}

fn roles(decision: &Decision) -> Vec<&Name> {
    decision.next.iter().map(|next| &next.role).collect()
}

fn describe(workflow: &Workflow, state: &State, held: &Assignment, report: &SubmitReport, event: &Event) -> RouteQuery {
    let group = held.group.as_ref().and_then(|name| state.group(name));
    let lane = group.map_or(&state.lane, |group| &group.lane);
    let mut given: BTreeMap<Name, Name> = BTreeMap::new();
    given.extend(state.session.iter().flat_map(|session| session.settings.clone()));
    // A group whose diff goes beyond what its kind lets it change is treated as one of the default kind.
    let counts = |group: &Group, flag: &Name| flag != "kind" || !goes_beyond(workflow, group);
    let flags = group.iter().flat_map(|group| group.flags.clone().into_iter().filter(|(flag, _)| counts(group, flag)));
    given.extend(flags);
    for (index, guard) in workflow.guards.iter().enumerate().filter(|(_, guard)| guard.source == GuardSource::Fact) {
        let value = report.handoff.facts.get(index).copied().unwrap_or(0);
        given.extend(guard.values.get(usize::from(value)).map(|value| (guard.name.clone(), value.clone())));
    }
    if let Some(group) = group {
        let author = group.author.clone().unwrap_or_else(|| Name::new("none"));
        given.insert(Name::new("author"), author);
        let stated = group.nothing_to_do.is_some();
        given.insert(Name::new("group.nothing_to_do"), Name::from(stated.to_string()));
    }
    for name in workflow.requirements().needs.iter().flatten() {
        let Some(group) = group else { continue };
        // `route` has no name for a block of the role that would pass it: what is excused now counts as passed.
        let now = event.changes.iter().filter_map(|change| match change {
            StateChange::Excused { excuse, .. } => Some(excuse),
            _ => None,
        });
        let excused = group.excused.iter().chain(now).any(|excuse| excuse.evidence == *name);
        // Evidence that only the merge or the acceptance brings is described where the rule reads it.
        let passed = excused || group.passed.contains(name);
        given.insert(Name::from(format!("passed.{name}")), Name::from(passed.to_string()));
    }
    given.insert(Name::new("waiting"), waiting(lane, held));
    given.insert(Name::new("task"), Name::new(task(held.task)));
    for (name, value) in event.decision.iter().flat_map(|decision| &decision.facts) {
        if name.starts_with("loop.") || *name == "outstanding" {
            let value = match value {
                FactValue::Flag(flag) => flag.to_string(),
                FactValue::Number(number) => number.to_string(),
                FactValue::Text(text) => text.to_string(),
            };
            given.insert(name.clone(), Name::from(value));
        }
    }
    let others = |fits: &dyn Fn(&Group) -> bool| {
        let others = state.groups.iter().filter(|other| Some(&other.id) != held.group.as_ref());
        Name::from(others.filter(|other| fits(other)).count().to_string())
    };
    given.insert(Name::new("groups.in_progress"), others(&|other| other.progress == GroupProgress::Working));
    let deferred =
        |other: &Group| matches!(&other.progress, GroupProgress::Ended(GroupEnd::Deferred { acknowledged: None, .. }));
    given.insert(Name::new("groups.deferred"), others(&deferred));
    RouteQuery {
        source: RouteSource::Role(held.role.clone()),
        status: report.handoff.said.clone(),
        reason: report.handoff.reason.clone(),
        phase: held.phase.clone(),
        given,
        scope: Some(if group.is_some() { RouteScope::Group } else { RouteScope::Session }),
        undeclared_roles: false,
    }
}

/// The diff has files that the plan's flags do not let the group change.
fn goes_beyond(workflow: &Workflow, group: &Group) -> bool {
    let limited = workflow.limits_of(group).next().is_some();
    limited && group.diff.as_ref().is_some_and(|diff| !diff.outside.is_empty())
}

fn waiting(lane: &Lane, held: &Assignment) -> Name {
    let part = lane.part(held.part);
    let seats = part.into_iter().filter(|part| part.holder != PartHolder::Done).flat_map(|part| &part.waiting);
    let seats: Vec<String> = seats.map(|seat| format!("{}:{}", seat.role, task(seat.task))).collect();
    Name::from(if seats.is_empty() { "none".to_owned() } else { seats.join(",") })
}

fn task(task: AssignmentTask) -> &'static str {
    match task {
        AssignmentTask::Work => "work",
        AssignmentTask::Consult => "consult",
        AssignmentTask::Merge => "merge",
    }
}
