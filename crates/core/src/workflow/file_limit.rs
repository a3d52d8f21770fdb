//! The files that the flags of a plan allow a group to change.
//!
//! A planner chooses the flags of its groups. A flag that frees a group from requirements must not let it deliver the
//! very work that those requirements are for.

use std::collections::BTreeMap;

use crate::id::Name;
use crate::state::Group;
use crate::workflow::model::*;

impl Workflow {
    /// The limits that hold for a group, by the flags of its plan.
    pub fn limits_of(&self, group: &Group) -> impl Iterator<Item = &FileLimit> {
        self.file_limits
            .iter()
            .filter(|limit| limit.when.iter().all(|test| self.fits(test, group.flags.get(self.name_of(test)))))
    }

    /// The flags of a group that a limit tests, with their values: `kind: research`.
    pub fn flags_of(&self, limit: &FileLimit, group: &Group) -> String {
        let named = limit.when.iter().filter_map(|test| {
            let guard = self.guard(test.guard);
            Some(format!("{}: {}", guard.name, group.flags.get(&guard.name).or(guard.values.first())?))
        });
        named.collect::<Vec<_>>().join(", ")
    }

    /// The flag as it counts. A group whose diff goes beyond what a flag lets it change is held to the default of that flag.
    pub(crate) fn flag_value<'g>(&self, group: &'g Group, ix: GuardIx) -> Option<&'g Name> {
        let exceeds = group.diff.as_ref().is_some_and(|diff| !diff.outside.is_empty());
        let limits = |limit: &FileLimit| limit.when.iter().any(|test| test.guard == ix);
        let value = group.flags.get(&self.guard(ix).name);
        value.filter(|_| !exceeds || !self.limits_of(group).any(limits))
    }

    fn name_of(&self, test: &GuardTest) -> &Name {
        &self.guard(test.guard).name
    }

    /// `None`: the default.
    fn fits(&self, test: &GuardTest, value: Option<&Name>) -> bool {
        let values = &self.guard(test.guard).values;
        let place = value.map_or(Some(0), |value| values.iter().position(|known| known == value));
        place
            .and_then(|place| u32::try_from(place).ok())
            .and_then(|bit| test.allowed.checked_shr(bit))
            .is_some_and(|bits| bits & 1 == 1)
    }

    /// Do settings and flags meet the condition, with the flags as they count for this group?
    pub(crate) fn holds_for(&self, settings: &BTreeMap<Name, Name>, group: &Group, when: &[GuardTest]) -> bool {
        when.iter().all(|test| self.fits(test, self.value_for(settings, Some(group), test)))
    }

    fn value_for<'v>(
        &self,
        settings: &'v BTreeMap<Name, Name>,
        group: Option<&'v Group>,
        test: &GuardTest,
    ) -> Option<&'v Name> {
        match self.guard(test.guard).source {
            GuardSource::Setting => settings.get(self.name_of(test)),
            GuardSource::Flag => group.and_then(|group| self.flag_value(group, test.guard)),
            GuardSource::Fact => None,
        }
    }

    /// Requirements that the plan's flags drop for a group, where the defaults of the flags would demand them.
    pub(crate) fn dropped_by_plan(&self, settings: &BTreeMap<Name, Name>, group: &Group) -> Vec<DroppedByPlan> {
        let needs = self.completion.needs.iter().map(|need| {
            let names: Vec<&str> = need.options.iter().map(|ix| self.pass(*ix).name.as_str()).collect();
            (&need.when, Some(names.join(" or ")))
        });
        let phases = self.phases.iter().map(|phase| (&phase.when, Some(phase.name.to_string())));
        let changes = self.completion.changes.iter().map(|changes| (&changes.when, None));
        let mut all: Vec<DroppedByPlan> = Vec::new();
        for (when, requirement) in needs.chain(phases).chain(changes) {
            let by_default = when.iter().all(|test| self.fits(test, self.value_for(settings, None, test)));
            if !by_default || self.holds_for(settings, group, when) {
                continue;
            }
            for test in when {
                let Some(value) =
                    self.value_for(settings, Some(group), test).filter(|value| !self.fits(test, Some(value)))
                else {
                    continue;
                };
                let flag = self.name_of(test);
                let known = all.iter().position(|dropped| dropped.flag == *flag);
                let index = known.unwrap_or(all.len());
                if known.is_none() {
                    let (flag, value) = (flag.clone(), value.clone());
                    all.push(DroppedByPlan { flag, value, evidence: Vec::new(), changes: false });
                }
                let Some(dropped) = all.get_mut(index) else { continue };
                match &requirement {
                    Some(requirement) => dropped.evidence.push(requirement.clone()),
                    None => dropped.changes = true,
                }
            }
        }
        all
    }
}

/// A flag of a plan that frees a group from requirements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DroppedByPlan {
    pub(crate) flag: Name,
    pub(crate) value: Name,
    /// Evidence and phases, by their names.
    pub(crate) evidence: Vec<String>,
    /// The group may complete with an empty diff.
    pub(crate) changes: bool,
}
