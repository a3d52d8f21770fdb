//! Requirements of completion that settings switch off.

use std::collections::BTreeMap;
use std::fmt;

use crate::id::Name;
use crate::workflow::model::*;

/// A setting whose value switches a requirement off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DroppedRequirement {
    pub setting: Name,
    pub value: Name,
    pub default: Name,
    /// Evidence, a gate or a phase, by its name.
    pub requirement: Name,
    /// The requirement applies by default: the choice of this session dropped it.
    pub chosen: bool,
}

impl fmt::Display for DroppedRequirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}={}` drops the requirement `{}`", self.setting, self.value, self.requirement)
    }
}

impl Workflow {
    /// Requirements that these settings drop, compared with the defaults of the workflow.
    pub fn dropped_requirements(&self, settings: &BTreeMap<Name, Name>) -> Vec<DroppedRequirement> {
        let mut off = self.requirements_off(settings);
        off.retain(|dropped| dropped.chosen);
        off
    }

    /// Requirements that do not apply under these settings, be it by choice or by default.
    pub fn requirements_off(&self, settings: &BTreeMap<Name, Name>) -> Vec<DroppedRequirement> {
        let needs = self.completion.needs.iter().map(|need| {
            let names: Vec<&str> = need.options.iter().map(|ix| self.pass(*ix).name.as_str()).collect();
            (&need.when, names.join(" or "))
        });
        let phases = self.phases.iter().map(|phase| (&phase.when, phase.name.to_string()));
        let mut off = Vec::new();
        for (when, requirement) in needs.chain(phases) {
            for test in when {
                let guard = self.guard(test.guard);
                if guard.source != GuardSource::Setting {
                    continue;
                }
                let Some(default) = guard.values.first() else { continue };
                let value = settings.get(&guard.name).unwrap_or(default);
                if !allows(guard, test, value) {
                    off.push(DroppedRequirement {
                        setting: guard.name.clone(),
                        value: value.clone(),
                        default: default.clone(),
                        requirement: Name::new(&requirement),
                        chosen: allows(guard, test, default),
                    });
                }
            }
        }
        off
    }
}

fn allows(guard: &Guard, test: &GuardTest, value: &Name) -> bool {
    let place = guard.values.iter().position(|known| known == value);
    let bit = place.and_then(|place| u32::try_from(place).ok()).unwrap_or(u32::MAX);
    test.allowed.checked_shr(bit).is_some_and(|bits| bits & 1 == 1)
}
