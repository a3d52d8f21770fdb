//! The requirements that another version of a workflow no longer has.
//!
//! Requirements are compared by their structure, not by their text: evidence by its names, gates by their commands, loops
//! by their measures. A requirement that is merely written in another way is not dropped.
//!
//! Every part of a workflow is taken apart by name, without `..`. A new field does not compile until it is compared, or left
//! out with a reason.

mod cases;
mod choices;
mod patterns;
mod phases;
mod reports;
mod roles;

use std::collections::BTreeSet;

use crate::id::Name;
use crate::workflow::model::*;
use crate::workflow::trivial_checks::can_fail;
use crate::workflow::weaker::cases::{GuardKey, guard_of, key};
use crate::workflow::weaker::patterns::covered;

/// Every requirement of `old` that `new` does not have, as sentences for people.
pub fn dropped_requirements(old: &Workflow, new: &Workflow) -> Vec<Name> {
    let Workflow {
        loops,
        blocked,
        handoff,
        orchestrator,
        protected,
        test_files,
        file_limits,
        completion,
        passes,
        // Compared by their own modules.
        roles: _,
        guards: _,
        phases: _,
        stages: _,
        questions: _,
        rules: _,
        overrides: _,
        begin: _,
        group_begin: _,
        groups_ended: _,
        // Compared where completion or a phase demands them.
        gates: _,
        // Other spellings of a status that a role has anyway.
        aliases: _,
        statuses: _,
        unknown: _,
        // Names and texts.
        name: _,
        about: _,
        hash: _,
        status_notes: _,
        // Work at once, and which role takes which part of it.
        groups_at_most: _,
        domains: _,
        domain_guard: _,
        // Indices into the lists above.
        role_index: _,
        status_index: _,
        by_report: _,
        by_gate: _,
        by_answer: _,
        rule_index: _,
        stuck: _,
        unfinished: _,
        nothing_completed: _,
        lost: _,
    } = old;
    let mut dropped = Vec::new();
    weaker_completion((old, completion), (new, &new.completion), &mut dropped);
    phases::weaker_phases(old, new, &mut dropped);
    weaker_loops(loops, &new.loops, &mut dropped);
    weaker_evidence(passes, &new.passes, &mut dropped);
    weaker_handoffs((handoff, blocked), new, &mut dropped);
    weaker_paths((orchestrator, protected, test_files), new, &mut dropped);
    weaker_limits((old, file_limits), new, &mut dropped);
    roles::weaker_roles(old, new, &mut dropped);
    roles::weaker_places(old, new, &mut dropped);
    reports::weaker_entries(old, new, &mut dropped);
    choices::weaker_choices(old, new, &mut dropped);
    choices::dropped_answers(old, new, &mut dropped);
    let mut known = BTreeSet::new();
    dropped.retain(|sentence| known.insert(sentence.clone()));
    dropped.into_iter().map(Name::from).collect()
}

fn weaker_completion(
    (old, before): (&Workflow, &CompletionRules),
    (new, after): (&Workflow, &CompletionRules),
    dropped: &mut Vec<String>,
) {
    let CompletionRules { needs, once_blocked, gates, session_gates, changes } = before;
    for need in needs {
        dropped_need((old, need), (new, &after.needs), dropped);
    }
    if let Some(before) = changes {
        let RequiredChanges { when, unless } = before;
        let applies = |after: &RequiredChanges| {
            names(new, &after.unless).is_subset(&names(old, unless))
                && conditions_imply(&conditions(old, when), &conditions(new, &after.when))
        };
        if !after.changes.as_ref().is_some_and(applies) {
            dropped.push("a group may be completed with an empty diff in more cases than before".to_owned());
        }
    }
    for name in names(old, once_blocked).difference(&names(new, &after.once_blocked)) {
        dropped.push(format!("`{name}` is no longer needed of groups that were once blocked"));
    }
    dropped_gates("a group", (old, gates), (new, &after.gates), dropped);
    dropped_gates("the session", (old, session_gates), (new, &after.session_gates), dropped);
}

fn names(workflow: &Workflow, list: &[PassIx]) -> BTreeSet<Name> {
    list.iter().map(|ix| workflow.pass(*ix).name.clone()).collect()
}

fn dropped_need(
    (old, need): (&Workflow, &EvidenceNeed),
    (new, needs): (&Workflow, &[EvidenceNeed]),
    dropped: &mut Vec<String>,
) {
    // The roles that are asked for it follow from the roles that pass it.
    let EvidenceNeed { options, when, asks: _ } = need;
    let known = names(old, options);
    let covering: Vec<&EvidenceNeed> =
        needs.iter().filter(|other| names(new, &other.options).is_subset(&known)).collect();
    let list: Vec<&str> = known.iter().map(Name::as_str).collect();
    let list = list.join(" or ");
    if covering.is_empty() {
        dropped.push(format!("evidence `{list}` is no longer needed to complete a group"));
        return;
    }
    let applies = |other: &&EvidenceNeed| conditions_imply(&conditions(old, when), &conditions(new, &other.when));
    if !covering.iter().any(applies) {
        dropped.push(format!("evidence `{list}` is needed in fewer cases than before"));
    }
}

/// Evidence that completion needs in some case.
fn needed(workflow: &Workflow, evidence: &Name) -> bool {
    let needs = workflow.completion.needs.iter().flat_map(|need| &need.options);
    let unless = workflow.completion.changes.iter().flat_map(|changes| &changes.unless);
    let mut all = needs.chain(unless).chain(&workflow.completion.once_blocked);
    all.any(|ix| workflow.pass(*ix).name == *evidence)
}

fn dropped_gates(
    scope: &str,
    (old, before): (&Workflow, &[GateIx]),
    (new, after): (&Workflow, &[GateIx]),
    dropped: &mut Vec<String>,
) {
    // A longer timeout is patience.
    for Gate { name, run, required, timeout: _ } in before.iter().map(|ix| old.gate(*ix)) {
        let same: Vec<&Gate> = after.iter().map(|ix| new.gate(*ix)).filter(|other| same_run(run, &other.run)).collect();
        if same.is_empty() {
            dropped.push(format!("gate `{name}` ({}) no longer has to pass for {scope}", words(run)));
        } else if *required && !same.iter().any(|other| other.required) {
            dropped.push(format!("gate `{name}` no longer requires checks of every group"));
        }
    }
}

/// A command that cannot fail is the same as none.
fn same_run(old: &GateCommandSource, new: &GateCommandSource) -> bool {
    match (old, new) {
        (GateCommandSource::Plan, GateCommandSource::Plan) => true,
        (GateCommandSource::Command(old), GateCommandSource::Command(new)) => old == new || !can_fail(old),
        (GateCommandSource::Plan, GateCommandSource::Command(_))
        | (GateCommandSource::Command(_), GateCommandSource::Plan) => false,
    }
}

fn words(run: &GateCommandSource) -> String {
    match run {
        GateCommandSource::Plan => "checks of the plan".to_owned(),
        GateCommandSource::Command(command) => command.iter().map(Name::as_str).collect::<Vec<_>>().join(" "),
    }
}

/// A loop may get another limit: that is a matter of patience. Its measure decides whether work is done.
fn weaker_loops(before: &[Loop], after: &[Loop], dropped: &mut Vec<String>) {
    for Loop { name, measure, limit: _, warn: _, escalations: _, facts: _ } in before {
        let other = after.iter().find(|item| item.name == *name);
        if measure.is_some() && other.is_none_or(|other| other.measure != *measure) {
            dropped.push(format!("loop `{name}` no longer measures what is open"));
        }
    }
}

fn weaker_evidence(before: &[Pass], after: &[Pass], dropped: &mut Vec<String>) {
    // The roles that pass it are compared entry by entry; the rest follows from the loops and entries.
    for Pass { name, measured, settles, roles: _, forgets: _, approves: _, place: _ } in before {
        let Some(other) = after.iter().find(|other| other.name == *name) else { continue };
        if measured.is_some() && other.measured != *measured {
            dropped.push(format!("evidence `{name}` can be passed while findings or failing tests are open"));
        }
        if !settles && other.settles {
            dropped.push(format!("evidence `{name}` settles findings that are open"));
        }
    }
}

fn weaker_handoffs(
    (handoff, blocked): (&HandoffRules, &Option<BlockedStatus>),
    new: &Workflow,
    dropped: &mut Vec<String>,
) {
    let HandoffRules { demands, skills, refuse_missing_skills } = handoff;
    compare_demands("every handoff", demands, &new.handoff.demands, dropped);
    if *refuse_missing_skills && !new.handoff.refuse_missing_skills {
        dropped.push("a handoff without the mandatory skills is no longer refused".to_owned());
    }
    for skill in skills.iter().filter(|skill| *refuse_missing_skills && !new.handoff.skills.contains(skill)) {
        dropped.push(format!("every handoff no longer requires skill `{skill}`"));
    }
    // Without a blocked status there is nothing to demand of it.
    if let (Some(before), Some(after)) = (blocked, &new.blocked) {
        let BlockedStatus { status: _, reasons: _, by_reason, demands } = before;
        compare_demands("every blocked handoff", demands, &after.demands, dropped);
        if *by_reason && !after.by_reason {
            dropped.push("every blocked handoff no longer requires `blocked_reason`".to_owned());
        }
    }
}

fn compare_demands(of: &str, before: &HandoffDemands, after: &HandoffDemands, dropped: &mut Vec<String>) {
    let HandoffDemands { require, verify, changes } = before;
    for field in require.iter().filter(|field| !after.require.contains(field)) {
        dropped.push(format!("{of} no longer requires `{field}`"));
    }
    for claim in verify.iter().filter(|claim| !after.verify.contains(claim)) {
        dropped.push(format!("{of} no longer requires `verification.{claim}`"));
    }
    match changes {
        ChangesDemand::Required if after.changes != ChangesDemand::Required => {
            dropped.push(format!("{of} no longer requires changes"));
        }
        ChangesDemand::Nothing if after.changes == ChangesDemand::Any => {
            dropped.push(format!("{of} no longer requires an empty diff"));
        }
        ChangesDemand::Any | ChangesDemand::Required | ChangesDemand::Nothing => {}
    }
}

/// Which paths are protected or pointed out, and whether work has to be watched.
fn weaker_paths(
    (orchestrator, protected, test_files): (&OrchestratorRules, &[Name], &[Name]),
    new: &Workflow,
    dropped: &mut Vec<String>,
) {
    let OrchestratorRules { writes, watched } = orchestrator;
    if *watched && !new.orchestrator.watched {
        dropped.push("work no longer has to be watched".to_owned());
    }
    if !roles::writes_within(&new.orchestrator.writes, writes) {
        dropped.push("the orchestrator may write more files".to_owned());
    }
    for pattern in protected.iter().filter(|pattern| !covered(pattern, &new.protected)) {
        dropped.push(format!("paths `{pattern}` are no longer protected"));
    }
    for pattern in test_files.iter().filter(|pattern| !covered(pattern, &new.test_files)) {
        dropped.push(format!("paths `{pattern}` are no longer pointed out as tests"));
    }
}

/// The files that groups may change at most, by their flags.
fn weaker_limits((old, before): (&Workflow, &[FileLimit]), new: &Workflow, dropped: &mut Vec<String>) {
    for FileLimit { when, only } in before {
        let holds = |after: &&FileLimit| {
            let within = after.only.iter().all(|pattern| covered(pattern, only));
            within && conditions_imply(&conditions(old, when), &conditions(new, &after.when))
        };
        if !new.file_limits.iter().any(|after| holds(&after)) {
            let named = |test: &GuardTest| format!("`{}`", old.guard(test.guard).name);
            let flags: Vec<String> = when.iter().map(named).collect();
            dropped.push(format!("groups may change more files, whatever their plan has for {}", flags.join(", ")));
        }
    }
}

/// Names with the values under which a condition holds.
struct GuardConditions<'w> {
    workflow: &'w Workflow,
    tests: BTreeSet<(GuardKey, BTreeSet<Name>)>,
}

/// Whether `wide` holds wherever `narrow` does.
fn conditions_imply(narrow: &GuardConditions<'_>, wide: &GuardConditions<'_>) -> bool {
    wide.tests.iter().all(|(guard, allowed)| {
        let possible = guard_of(narrow.workflow, guard).map(|guard| &guard.values);
        let always = possible.is_some_and(|values| values.iter().all(|value| allowed.contains(value)));
        always || narrow.tests.iter().any(|(known, values)| known == guard && values.is_subset(allowed))
    })
}

fn conditions<'w>(workflow: &'w Workflow, when: &[GuardTest]) -> GuardConditions<'w> {
    let test = |test: &GuardTest| {
        let guard = workflow.guard(test.guard);
        let allowed = guard.values.iter().filter(|value| cases::allows(workflow, *test, value));
        (key(guard), allowed.cloned().collect())
    };
    GuardConditions { workflow, tests: when.iter().map(test).collect() }
}
