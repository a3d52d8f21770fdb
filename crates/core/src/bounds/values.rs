//! Values of settings and flags: fixed for a session and a group, whatever happens in them.

use std::collections::BTreeSet;

use crate::decide::test_holds;
use crate::workflow::{GuardIx, GuardSource, GuardTest, RuleCondition, Workflow};

/// More combinations are not tried one by one.
const MOST_COMBINATIONS: usize = 512;

/// The truth of a condition as far as it is known before the session runs.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum TruthValue {
    No,
    Maybe,
    Yes,
}

impl TruthValue {
    pub(super) fn of(known: bool) -> Self {
        if known { TruthValue::Yes } else { TruthValue::No }
    }
}

/// A value for some settings and flags; every other one is a free choice.
#[derive(Clone, Default)]
pub(super) struct GuardValues(Vec<(GuardIx, usize)>);

impl GuardValues {
    pub(super) fn unknown() -> Self {
        Self::default()
    }

    pub(super) fn value(&self, guard: GuardIx) -> Option<usize> {
        self.0.iter().find(|(own, _)| *own == guard).map(|(_, value)| *value)
    }

    pub(super) fn test(&self, workflow: &Workflow, in_group: bool, test: GuardTest) -> TruthValue {
        match workflow.guard(test.guard).source {
            GuardSource::Fact => TruthValue::Maybe,
            // Outside of groups a flag has its default.
            GuardSource::Flag if !in_group => TruthValue::of(test_holds(test, 0)),
            GuardSource::Flag | GuardSource::Setting => {
                self.value(test.guard).map_or(TruthValue::Maybe, |value| TruthValue::of(test_holds(test, value)))
            }
        }
    }

    pub(super) fn all(&self, workflow: &Workflow, in_group: bool, when: &[GuardTest]) -> TruthValue {
        when.iter().map(|test| self.test(workflow, in_group, *test)).min().unwrap_or(TruthValue::Yes)
    }
}

/// Every combination of the settings and flags that the workflow reads; `None` where there are too many.
pub(super) fn valuations(workflow: &Workflow) -> Option<Vec<GuardValues>> {
    let mut all = vec![GuardValues::default()];
    for guard in guards_read(workflow) {
        let values = workflow.guard(guard).values.len().max(1);
        if all.len().saturating_mul(values) > MOST_COMBINATIONS {
            return None;
        }
        let extended = all.iter().flat_map(|known| {
            (0..values).map(move |value| {
                let mut next = known.clone();
                next.0.push((guard, value));
                next
            })
        });
        all = extended.collect();
    }
    Some(all)
}

fn guards_read(workflow: &Workflow) -> BTreeSet<GuardIx> {
    let of_rules = workflow.rules.iter().flat_map(|rule| &rule.conditions).filter_map(|condition| match condition {
        RuleCondition::When(test) => Some(test.guard),
        RuleCondition::InGroup
        | RuleCondition::InSession
        | RuleCondition::HasAuthor
        | RuleCondition::Free(_)
        | RuleCondition::SomebodyWaits
        | RuleCondition::Limit
        | RuleCondition::Open(_)
        | RuleCondition::Outstanding
        | RuleCondition::Reached(_)
        | RuleCondition::Task(_)
        | RuleCondition::Settled
        | RuleCondition::RaisedAgain
        | RuleCondition::Completes
        | RuleCondition::Lacks(_)
        | RuleCondition::ApprovedAlready
        | RuleCondition::Undelivered
        | RuleCondition::NothingToDo => None,
    });
    let overrides = workflow.overrides.iter().flat_map(|item| &item.when);
    let phases = workflow.phases.iter().flat_map(|phase| &phase.when);
    let needs = workflow.completion.needs.iter().flat_map(|need| &need.when);
    let openings = workflow.begin.iter().chain(&workflow.group_begin).chain(&workflow.groups_ended);
    let tests = overrides.chain(phases).chain(needs).chain(openings.flat_map(|opening| &opening.when));
    let read = of_rules.chain(tests.map(|test| test.guard)).chain(workflow.domain_guard);
    read.filter(|guard| workflow.guard(*guard).source != GuardSource::Fact).collect()
}
