//! The facts that a decision has read: each fact once, in the order of reading.

use std::sync::LazyLock;

use crate::decide::draft::DecisionDraft;
use crate::decide::rule_context::{guard_value, test_holds};
use crate::decision::FactValue;
use crate::id::Name;
use crate::state::Group;
use crate::workflow::{GuardIx, GuardSource, GuardTest, RoleIx};

pub(crate) type RecordedFacts = Vec<(Name, FactValue)>;

pub(crate) static AUTHOR: LazyLock<Name> = LazyLock::new(|| Name::new("author"));
pub(crate) static BLOCKED_AGENT: LazyLock<Name> = LazyLock::new(|| Name::new("blocked_agent"));
pub(crate) static ASKER: LazyLock<Name> = LazyLock::new(|| Name::new("asker"));
pub(crate) static REASON: LazyLock<Name> = LazyLock::new(|| Name::new("reason"));
pub(crate) static DOMAIN: LazyLock<Name> = LazyLock::new(|| Name::new("domain"));
pub(crate) static OUTSTANDING: LazyLock<Name> = LazyLock::new(|| Name::new("outstanding"));

pub(crate) fn record_fact(facts: &mut RecordedFacts, name: &Name, value: FactValue) {
    if facts.iter().all(|(known, _)| known != name) {
        facts.push((name.clone(), value));
    }
}

impl DecisionDraft<'_> {
    /// Do settings and flags let this through? What is looked at is kept.
    pub(crate) fn lets_through(&mut self, group: Option<&Group>, when: &[GuardTest]) -> bool {
        when.iter().all(|test| test_holds(*test, self.read(group, test.guard)))
    }

    /// The value of a setting or flag. Groups have the same flags: those of another group come with its name.
    pub(crate) fn read(&mut self, group: Option<&Group>, ix: GuardIx) -> usize {
        let value = guard_value(&self.cx, group, ix);
        let guard = self.cx.workflow.guard(ix);
        let Some(text) = guard.values.get(value) else { return value };
        let other = group.filter(|group| guard.source == GuardSource::Flag && self.about.as_ref() != Some(&group.id));
        match other {
            Some(group) => {
                let name = Name::from(format!("{}.{}", group.id, guard.name));
                record_fact(&mut self.facts, &name, FactValue::Text(text.clone()));
            }
            None => record_fact(&mut self.facts, &guard.name, FactValue::Text(text.clone())),
        }
        value
    }

    pub(crate) fn read_role(&mut self, name: &Name, role: RoleIx) {
        let value = FactValue::Text(self.cx.workflow.role(role).name.clone());
        record_fact(&mut self.facts, name, value);
    }
}
