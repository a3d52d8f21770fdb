//! Defaults and values of settings, flags and facts, and the answers that people can give.

use crate::id::Name;
use crate::workflow::model::*;
use crate::workflow::weaker::cases::{allows, guard_of, key, kind};
use crate::workflow::weaker::reports::value_is_weaker;
use crate::workflow::weaker::roles::lesser_role;

/// Another default, or another value of a flag, under which a requirement no longer applies.
pub(super) fn weaker_choices(old: &Workflow, new: &Workflow, dropped: &mut Vec<String>) {
    for before in &old.guards {
        let Guard { name, source, values, required, expression } = before;
        let kind = kind(*source);
        let Some(after) = guard_of(new, &key(before)) else { continue };
        if let (Some(was), Some(is)) = (values.first(), after.values.first()) {
            if was != is && after.values.contains(was) && drops_requirement(new, after, was, is) {
                dropped.push(format!("{kind} `{name}` is `{is}` by default and no longer `{was}`: less is required"));
            }
            // A plan or a handoff chooses among these values: no person has to agree.
            let by_agents = matches!(source, GuardSource::Flag | GuardSource::Fact);
            let added = after.values.iter().filter(|value| by_agents && !values.contains(value));
            for value in added.filter(|value| drops_requirement(new, after, is, value)) {
                dropped.push(format!("{kind} `{name}` can be `{value}`: less is required"));
            }
        }
        if *required && !after.required {
            dropped.push(format!("{kind} `{name}` no longer has to be stated"));
        }
        let text = |expression: &Option<crate::workflow::fact::FactExpression>| {
            expression.as_ref().map(|expression| expression.text().clone())
        };
        if text(expression) != text(&after.expression) {
            dropped.push(format!("{kind} `{name}` is derived in another way"));
        }
    }
}

/// Whether something that is required with one value is not required with another.
fn drops_requirement(workflow: &Workflow, guard: &Guard, was: &Name, is: &Name) -> bool {
    let own = |test: &&GuardTest| key(workflow.guard(test.guard)) == key(guard);
    let needs = workflow.completion.needs.iter().flat_map(|need| &need.when);
    let changes = workflow.completion.changes.iter().flat_map(|changes| &changes.when);
    let phases = workflow.phases.iter().flat_map(|phase| &phase.when);
    let checkpoints = workflow.stages.iter().flat_map(|stage| &stage.checkpoints).flat_map(|one| &one.when);
    let mut requirements = needs.chain(changes).chain(phases).chain(checkpoints).filter(own);
    let less_of_a_role = |swap: &RoleOverride| {
        let (instead, takes) = (workflow.role(swap.instead_of), workflow.role(swap.takes));
        let mut tests = swap.when.iter().filter(own);
        tests.any(|test| allows(workflow, *test, is) && !allows(workflow, *test, was))
            && lesser_role((workflow, instead), (workflow, takes)).is_some()
    };
    requirements.any(|test| allows(workflow, *test, was) && !allows(workflow, *test, is))
        || workflow.overrides.iter().any(less_of_a_role)
        || value_is_weaker(workflow, &key(guard), was, is)
}

/// Answers that a person can no longer choose.
pub(super) fn dropped_answers(old: &Workflow, new: &Workflow, dropped: &mut Vec<String>) {
    for DeclaredQuestion { name, options, text: _, free } in &old.questions {
        let Some(other) = new.question_named(name).map(|ix| new.question(ix)) else { continue };
        let is_kept = |option: &Name| other.options.iter().any(|(known, _)| known == option);
        for (option, _) in options.iter().filter(|(option, _)| other.free.is_none() && !is_kept(option)) {
            dropped.push(format!("a person can no longer answer `{option}` to question `{name}`"));
        }
        if free.is_some() && other.free.is_none() {
            dropped.push(format!("a person can no longer answer question `{name}` in their own words"));
        }
    }
}
