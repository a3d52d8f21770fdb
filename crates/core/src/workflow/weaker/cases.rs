//! The entries that can apply to a report, in each combination of settings, flags, facts, phases and tasks.

use std::collections::{BTreeMap, BTreeSet};

use crate::id::Name;
use crate::workflow::model::*;

/// A declared name, with where its value comes from: a fact of an agent is no setting of a person.
pub(super) type GuardKey = (&'static str, Name);

/// Combinations of values for one status. Beyond that, conditions on values count as open.
const MOST_COMBINATIONS: usize = 1024;

pub(super) fn kind(source: GuardSource) -> &'static str {
    match source {
        GuardSource::Setting => "setting",
        GuardSource::Flag => "flag",
        GuardSource::Fact => "fact",
    }
}

pub(super) fn key(guard: &Guard) -> GuardKey {
    (kind(guard.source), guard.name.clone())
}

pub(super) fn guard_of<'w>(workflow: &'w Workflow, key: &GuardKey) -> Option<&'w Guard> {
    workflow.guards.iter().find(|guard| kind(guard.source) == key.0 && guard.name == key.1)
}

/// Whether a test holds with a value of its guard.
pub(super) fn allows(workflow: &Workflow, test: GuardTest, value: &Name) -> bool {
    let values = workflow.guard(test.guard).values.iter();
    let bit = values.into_iter().position(|known| known == value).and_then(|bit| u32::try_from(bit).ok());
    bit.and_then(|bit| test.allowed.checked_shr(bit)).is_some_and(|bits| bits & 1 == 1)
}

/// The entries of one status in one workflow, with values that are fixed.
#[derive(Clone, Copy)]
pub(super) struct StatusEntries<'w> {
    pub(super) workflow: &'w Workflow,
    pub(super) rules: &'w [RuleIx],
    pub(super) status: Option<StatusIx>,
    pub(super) fixed: Option<(&'w GuardKey, &'w Name)>,
}

/// A situation, as far as the files of both workflows can describe it.
#[derive(Clone)]
pub(super) struct ComparedCase {
    values: BTreeMap<GuardKey, Name>,
    task: AssignmentTask,
    in_group: bool,
    phase: Option<Name>,
    reason: Option<Name>,
}

impl ComparedCase {
    /// Whether a workflow has the phase of the case.
    pub(super) fn is_in(&self, workflow: &Workflow) -> bool {
        self.phase.as_ref().is_none_or(|phase| workflow.phase_named(phase).is_some())
    }
}

impl<'w> StatusEntries<'w> {
    pub(super) fn all(&self) -> impl Iterator<Item = &'w Rule> + use<'w> {
        let (workflow, status) = (self.workflow, self.status);
        let rules = self.rules.iter().map(move |ix| workflow.rule(*ix));
        rules.filter(move |rule| !rule.climbs && (status.is_none() || rule.status.is_none() || rule.status == status))
    }

    /// The entries that may decide in a case, in order. The last one decides where all earlier ones do not apply.
    pub(super) fn in_case(&self, case: &ComparedCase) -> Vec<&'w Rule> {
        let mut found = Vec::new();
        for rule in self.all() {
            match self.fits(rule, case) {
                CaseFit::No => {}
                CaseFit::Maybe => found.push(rule),
                CaseFit::Yes => {
                    found.push(rule);
                    break;
                }
            }
        }
        found
    }

    fn fits(&self, rule: &Rule, case: &ComparedCase) -> CaseFit {
        let phase = rule.phase.map(|phase| &self.workflow.phase(phase).name);
        if !rule.speaks_of(case.task)
            || phase.is_some() && phase != case.phase.as_ref()
            || rule.reason.is_some() && rule.reason != case.reason
        {
            return CaseFit::No;
        }
        rule.conditions.iter().map(|condition| self.condition(condition, case)).min().unwrap_or(CaseFit::Yes)
    }

    fn condition(&self, condition: &RuleCondition, case: &ComparedCase) -> CaseFit {
        let certain = |holds: bool| if holds { CaseFit::Yes } else { CaseFit::No };
        match condition {
            RuleCondition::When(test) => {
                let own = key(self.workflow.guard(test.guard));
                let fixed = self.fixed.filter(|(key, _)| **key == own).map(|(_, value)| value);
                match fixed.or_else(|| case.values.get(&own)) {
                    Some(value) => certain(allows(self.workflow, *test, value)),
                    None => CaseFit::Maybe,
                }
            }
            // Only groups have authors.
            RuleCondition::InGroup | RuleCondition::HasAuthor => certain(case.in_group),
            RuleCondition::InSession => certain(!case.in_group),
            RuleCondition::Task(task) => certain(*task == case.task),
            RuleCondition::Free(_)
            | RuleCondition::SomebodyWaits
            | RuleCondition::Reached(_)
            | RuleCondition::Undelivered => CaseFit::Maybe,
            // Entries that loading derives from others, with the same demands. They go back, wait or ask.
            RuleCondition::Limit
            | RuleCondition::Open(_)
            | RuleCondition::Outstanding
            | RuleCondition::Settled
            | RuleCondition::RaisedAgain
            | RuleCondition::Completes
            | RuleCondition::Lacks(_)
            | RuleCondition::ApprovedAlready
            | RuleCondition::NothingToDo => CaseFit::No,
        }
    }

    fn tested(&self) -> BTreeSet<GuardKey> {
        let tests = self.all().flat_map(|rule| &rule.conditions).filter_map(|condition| match condition {
            RuleCondition::When(test) => Some(key(self.workflow.guard(test.guard))),
            RuleCondition::InGroup
            | RuleCondition::InSession
            | RuleCondition::Task(_)
            | RuleCondition::HasAuthor
            | RuleCondition::Free(_)
            | RuleCondition::SomebodyWaits
            | RuleCondition::Limit
            | RuleCondition::Open(_)
            | RuleCondition::Outstanding
            | RuleCondition::Reached(_)
            | RuleCondition::Settled
            | RuleCondition::RaisedAgain
            | RuleCondition::Completes
            | RuleCondition::Lacks(_)
            | RuleCondition::ApprovedAlready
            | RuleCondition::Undelivered
            | RuleCondition::NothingToDo => None,
        });
        tests.collect()
    }
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum CaseFit {
    No,
    Maybe,
    Yes,
}

/// Every case that the entries of either workflow tell apart.
pub(super) fn cases(old: StatusEntries<'_>, new: StatusEntries<'_>) -> Vec<ComparedCase> {
    let both = || old.all().map(|rule| (old.workflow, rule)).chain(new.all().map(|rule| (new.workflow, rule)));
    let phases = both().map(|(workflow, rule)| rule.phase.map(|phase| workflow.phase(phase).name.clone()));
    let phases: BTreeSet<Option<Name>> = phases.chain([None]).collect();
    let reasons: BTreeSet<Option<Name>> = both().map(|(_, rule)| rule.reason.clone()).chain([None]).collect();
    let mut all = Vec::new();
    for values in combinations(old, new) {
        for task in [AssignmentTask::Work, AssignmentTask::Consult, AssignmentTask::Merge] {
            for in_group in [false, true] {
                for phase in &phases {
                    for reason in &reasons {
                        let (values, phase, reason) = (values.clone(), phase.clone(), reason.clone());
                        all.push(ComparedCase { values, task, in_group, phase, reason });
                    }
                }
            }
        }
    }
    all
}

fn combinations(old: StatusEntries<'_>, new: StatusEntries<'_>) -> Vec<BTreeMap<GuardKey, Name>> {
    let fixed: Vec<&GuardKey> = [old.fixed, new.fixed].into_iter().flatten().map(|(key, _)| key).collect();
    let tested: BTreeSet<GuardKey> = old.tested().union(&new.tested()).cloned().collect();
    let mut all = vec![BTreeMap::new()];
    for key in tested.into_iter().filter(|key| !fixed.contains(&key)) {
        let Some(guard) = guard_of(new.workflow, &key).or_else(|| guard_of(old.workflow, &key)) else { continue };
        if all.len().saturating_mul(guard.values.len()) > MOST_COMBINATIONS {
            continue;
        }
        let with = |known: &BTreeMap<GuardKey, Name>, value: &Name| {
            let mut known = known.clone();
            known.insert(key.clone(), value.clone());
            known
        };
        all = all.iter().flat_map(|known| guard.values.iter().map(|value| with(known, value))).collect();
    }
    all
}
