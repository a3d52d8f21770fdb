//! What another version of a workflow no longer demands.
//!
//! Requirements are compared by their structure, not by their text: evidence by its names, gates by their commands, loops
//! by what they measure. A requirement that is merely written in another way is not dropped.

use std::collections::{BTreeMap, BTreeSet};

use crate::id::Name;
use crate::workflow::model::*;
use crate::workflow::vacuous::can_fail;

/// Every requirement of `old` that `new` does not have, as sentences for people.
pub fn dropped_requirements(old: &Workflow, new: &Workflow) -> Vec<Name> {
    let mut dropped = Vec::new();
    dropped_evidence(old, new, &mut dropped);
    dropped_gates(old, new, &mut dropped);
    dropped_phases(old, new, &mut dropped);
    dropped_measures(old, new, &mut dropped);
    dropped_demands(old, new, &mut dropped);
    dropped_rights(old, new, &mut dropped);
    dropped.into_iter().map(Name::from).collect()
}

/// Needs of completion, who may pass them, and the confirmation of groups that were once blocked.
fn dropped_evidence(old: &Workflow, new: &Workflow, dropped: &mut Vec<String>) {
    for need in &old.completion.needs {
        let options = |workflow: &Workflow, need: &Need| -> Vec<Name> {
            need.options.iter().map(|ix| workflow.pass(*ix).name.clone()).collect()
        };
        let known = options(old, need);
        let covers = |other: &&Need| options(new, other).iter().all(|option| known.contains(option));
        let applies = |other: &Need| conditions_imply(&conditions(old, &need.when), &conditions(new, &other.when));
        let covering: Vec<&Need> = new.completion.needs.iter().filter(covers).collect();
        let names: Vec<&str> = known.iter().map(Name::as_str).collect();
        if covering.is_empty() {
            dropped.push(format!("evidence `{}` is no longer needed to complete a group", names.join(" or ")));
        } else if !covering.into_iter().any(applies) {
            dropped.push(format!("evidence `{}` is needed in fewer cases than before", names.join(" or ")));
        }
    }
    if let Some(before) = &old.completion.changes {
        let applies = |after: &RequiredChanges| {
            let unless = |workflow: &Workflow, changes: &RequiredChanges| -> BTreeSet<Name> {
                changes.unless.iter().map(|ix| workflow.pass(*ix).name.clone()).collect()
            };
            unless(new, after).is_subset(&unless(old, before))
                && conditions_imply(&conditions(old, &before.when), &conditions(new, &after.when))
        };
        if !new.completion.changes.as_ref().is_some_and(applies) {
            dropped.push("a group may be completed with an empty diff in more cases than before".to_owned());
        }
    }
    let confirmations = |workflow: &Workflow| -> BTreeSet<Name> {
        workflow.completion.once_blocked.iter().map(|ix| workflow.pass(*ix).name.clone()).collect()
    };
    for name in confirmations(old).difference(&confirmations(new)) {
        dropped.push(format!("`{name}` is no longer needed of groups that were once blocked"));
    }
    let (who_before, who_after) = (passed_by(old), passed_by(new));
    for (name, roles) in &who_after {
        let Some(known) = who_before.get(name) else { continue };
        for role in roles.difference(known) {
            dropped.push(format!("`{name}` can also be passed by {role}"));
        }
    }
}

/// The roles that can pass each evidence.
fn passed_by(workflow: &Workflow) -> BTreeMap<Name, BTreeSet<Name>> {
    let mut passed: BTreeMap<Name, BTreeSet<Name>> = BTreeMap::new();
    for rule in &workflow.rules {
        let Source::Roles { roles, .. } = &rule.source else { continue };
        for ix in &rule.passes {
            let names = roles.iter().filter_map(|role| workflow.roles.get(role)).map(|role| role.name.clone());
            passed.entry(workflow.pass(*ix).name.clone()).or_default().extend(names);
        }
    }
    passed
}

fn dropped_gates(old: &Workflow, new: &Workflow, dropped: &mut Vec<String>) {
    let scopes = [
        ("a group", &old.completion.gates, &new.completion.gates),
        ("the session", &old.completion.session_gates, &new.completion.session_gates),
    ];
    for (scope, before, after) in scopes {
        for gate in before.iter().map(|ix| old.gate(*ix)) {
            match after.iter().map(|ix| new.gate(*ix)).find(|other| same_run(&gate.run, &other.run)) {
                None => {
                    dropped.push(format!("gate `{}` ({}) no longer has to pass for {scope}", gate.name, words(gate)));
                }
                Some(other) if gate.required && !other.required => {
                    dropped.push(format!("gate `{}` no longer requires checks of every group", gate.name));
                }
                Some(_) => {}
            }
        }
    }
}

/// A command that cannot fail is the same as none.
fn same_run(old: &GateRun, new: &GateRun) -> bool {
    match (old, new) {
        (GateRun::Plan, GateRun::Plan) => true,
        (GateRun::Command(old), GateRun::Command(new)) => old == new || !can_fail(old),
        (GateRun::Plan, GateRun::Command(_)) | (GateRun::Command(_), GateRun::Plan) => false,
    }
}

fn words(gate: &Gate) -> String {
    match &gate.run {
        GateRun::Plan => "checks of the plan".to_owned(),
        GateRun::Command(command) => command.iter().map(Name::as_str).collect::<Vec<_>>().join(" "),
    }
}

fn dropped_phases(old: &Workflow, new: &Workflow, dropped: &mut Vec<String>) {
    for phase in &old.phases {
        let Some(other) = new.phase_named(&phase.name).map(|ix| new.phase(ix)) else {
            dropped.push(format!("phase `{}` is gone", phase.name));
            continue;
        };
        missing_demands(&format!("phase `{}`", phase.name), &phase.demands, &other.demands, dropped);
        let when = |workflow: &Workflow, phase: &Phase| conditions(workflow, &phase.when);
        if when(old, phase) != when(new, other) && !other.when.is_empty() {
            dropped.push(format!("phase `{}` is left out in other cases than before", phase.name));
        }
        let rework = |workflow: &Workflow, stage: usize| {
            let rework = workflow.stages.get(stage).and_then(|stage| stage.rework.as_ref());
            rework.and_then(|rework| workflow.loop_at(rework.counted).measure)
        };
        let (before, after) = (rework(old, phase.stage), rework(new, other.stage));
        if before.is_some() && before != after {
            dropped.push(format!("phase `{}` no longer sends work back for what is open", phase.name));
        }
    }
}

/// Whether `new` holds wherever `old` does.
fn conditions_imply(old: &BTreeSet<(Name, BTreeSet<Name>)>, new: &BTreeSet<(Name, BTreeSet<Name>)>) -> bool {
    let narrows = |test: &(Name, BTreeSet<Name>)| {
        old.iter().any(|(guard, allowed)| *guard == test.0 && allowed.is_subset(&test.1))
    };
    new.iter().all(narrows)
}

fn conditions(workflow: &Workflow, when: &[Test]) -> BTreeSet<(Name, BTreeSet<Name>)> {
    let test = |test: &Test| {
        let guard = workflow.guard(test.guard);
        let allowed = guard.values.iter().enumerate().filter(|(bit, _)| {
            let bit = u32::try_from(*bit).unwrap_or(u32::MAX);
            test.allowed.checked_shr(bit).is_some_and(|bits| bits & 1 == 1)
        });
        (guard.name.clone(), allowed.map(|(_, value)| value.clone()).collect())
    };
    when.iter().map(test).collect()
}

/// A loop may get another limit: that is a matter of patience. What it measures decides whether work is done.
fn dropped_measures(old: &Workflow, new: &Workflow, dropped: &mut Vec<String>) {
    for before in old.loops.iter().filter(|item| item.measure.is_some()) {
        let after = new.loops.iter().find(|item| item.name == before.name);
        if after.is_none_or(|after| after.measure != before.measure) {
            dropped.push(format!("loop `{}` no longer measures what is open", before.name));
        }
    }
}

fn dropped_demands(old: &Workflow, new: &Workflow, dropped: &mut Vec<String>) {
    missing_demands("every handoff", &old.handoff.demands, &new.handoff.demands, dropped);
    if old.handoff.refuse_missing_skills && !new.handoff.refuse_missing_skills {
        dropped.push("a handoff without the mandatory skills is no longer refused".to_owned());
    }
    for rule in
        old.rules.iter().filter(|rule| !rule.demands.is_empty() && !rule.climbs && !rule.id.contains(['/', '@']))
    {
        if let Some(other) = new.rule_index.get(&rule.id).map(|ix| new.rule(*ix)) {
            missing_demands(&format!("`{}`", rule.id), &rule.demands, &other.demands, dropped);
        }
    }
}

fn missing_demands(of: &str, old: &Demands, new: &Demands, dropped: &mut Vec<String>) {
    for field in old.require.iter().filter(|field| !new.require.contains(field)) {
        dropped.push(format!("{of} no longer requires `{field}`"));
    }
    for claim in old.verify.iter().filter(|claim| !new.verify.contains(claim)) {
        dropped.push(format!("{of} no longer requires `verification.{claim}`"));
    }
    if old.changes == ChangesDemand::Required && new.changes != ChangesDemand::Required {
        dropped.push(format!("{of} no longer requires changes"));
    }
}

/// What roles may write, and whether work has to be watched.
fn dropped_rights(old: &Workflow, new: &Workflow, dropped: &mut Vec<String>) {
    if old.orchestrator.watched && !new.orchestrator.watched {
        dropped.push("work no longer has to be watched".to_owned());
    }
    if !writes_within(&new.orchestrator.writes, &old.orchestrator.writes) {
        dropped.push("the orchestrator may write more files".to_owned());
    }
    for pattern in old.protected.iter().filter(|pattern| !new.protected.contains(pattern)) {
        dropped.push(format!("paths `{pattern}` are no longer protected"));
    }
    for role in &new.roles {
        let before = old.role_named(&role.name).map_or(&[][..], |ix| old.role(ix).owns.as_slice());
        for pattern in role.owns.iter().filter(|pattern| !before.contains(pattern)) {
            dropped.push(format!("{} owns protected paths `{pattern}`", role.name));
        }
    }
    for role in &old.roles {
        let other = new.role_named(&role.name).map(|ix| new.role(ix));
        if other.is_some_and(|other| !writes_within(&other.writes, &role.writes)) {
            dropped.push(format!("{} may write more files", role.name));
        }
    }
}

fn writes_within(new: &Writes, old: &Writes) -> bool {
    match (new, old) {
        (_, Writes::Everything) | (Writes::Nothing, _) => true,
        (Writes::Everything, Writes::Nothing | Writes::Only(_)) | (Writes::Only(_), Writes::Nothing) => false,
        (Writes::Only(new), Writes::Only(old)) => new.iter().all(|pattern| old.contains(pattern)),
    }
}
