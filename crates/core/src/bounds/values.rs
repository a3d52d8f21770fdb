//! Values of settings and flags: fixed for a session and a group, whatever happens in them.

use std::collections::BTreeSet;

use crate::decide::test_holds;
use crate::workflow::{Condition, GuardIx, GuardSource, Test, Workflow};

/// More combinations are not tried one by one.
const MOST_COMBINATIONS: usize = 512;

/// What is known of a condition before anything happens.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Truth {
    No,
    Maybe,
    Yes,
}

impl Truth {
    pub(super) fn of(known: bool) -> Self {
        if known { Truth::Yes } else { Truth::No }
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

    pub(super) fn test(&self, workflow: &Workflow, in_group: bool, test: Test) -> Truth {
        match workflow.guard(test.guard).source {
            GuardSource::Fact => Truth::Maybe,
            // Outside of groups a flag has its default.
            GuardSource::Flag if !in_group => Truth::of(test_holds(test, 0)),
            GuardSource::Flag | GuardSource::Setting => {
                self.value(test.guard).map_or(Truth::Maybe, |value| Truth::of(test_holds(test, value)))
            }
        }
    }

    pub(super) fn all(&self, workflow: &Workflow, in_group: bool, when: &[Test]) -> Truth {
        when.iter().map(|test| self.test(workflow, in_group, *test)).min().unwrap_or(Truth::Yes)
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
        Condition::When(test) => Some(test.guard),
        Condition::InGroup
        | Condition::InSession
        | Condition::HasAuthor
        | Condition::Free(_)
        | Condition::SomebodyWaits
        | Condition::Limit
        | Condition::Open(_)
        | Condition::Outstanding
        | Condition::Reached(_)
        | Condition::Task(_)
        | Condition::Settled
        | Condition::RaisedAgain
        | Condition::Completes
        | Condition::Lacks(_)
        | Condition::ApprovedAlready
        | Condition::Undelivered
        | Condition::NothingToDo => None,
    });
    let overrides = workflow.overrides.iter().flat_map(|item| &item.when);
    let phases = workflow.phases.iter().flat_map(|phase| &phase.when);
    let needs = workflow.completion.needs.iter().flat_map(|need| &need.when);
    let openings = workflow.begin.iter().chain(&workflow.group_begin).chain(&workflow.groups_ended);
    let tests = overrides.chain(phases).chain(needs).chain(openings.flat_map(|opening| &opening.when));
    let read = of_rules.chain(tests.map(|test| test.guard)).chain(workflow.domain_guard);
    read.filter(|guard| workflow.guard(*guard).source != GuardSource::Fact).collect()
}
