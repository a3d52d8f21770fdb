//! Which way blocked work goes, role by role.

use std::collections::BTreeMap;

use crate::workflow::*;

/// A cell that applies to more roles than this is shown in a table.
const MOST_BLOCKED: usize = 6;

pub(super) struct BlockedRules<'a> {
    ways: Vec<Option<&'a Rule>>,
    /// How many roles take the rule of this id.
    takers: BTreeMap<&'a str, usize>,
    /// One way whatever the reason.
    can_be_drawn: bool,
}

impl<'a> BlockedRules<'a> {
    pub(super) fn new(workflow: &'a Workflow) -> Self {
        let rules: Vec<&Rule> =
            workflow.rules.iter().filter(|rule| rule.blocks && !rule.climbs && rule.reason.is_none()).collect();
        let mut ways = Vec::new();
        let mut takers: BTreeMap<&str, usize> = BTreeMap::new();
        for role in (0..workflow.roles.len()).map(RoleIx::new) {
            let way = rules.iter().copied().find(|rule| takes(rule, role));
            if let Some(rule) = way {
                let count = takers.entry(rule.id.as_str()).or_default();
                *count = count.saturating_add(1);
            }
            ways.push(way);
        }
        let by_reason = workflow.blocked.as_ref().is_none_or(|blocked| blocked.by_reason);
        Self { ways, takers, can_be_drawn: !by_reason && !workflow.has_phases() }
    }

    /// The first rule that takes a role when it is blocked.
    pub(super) fn rule(&self, role: RoleIx) -> Option<&'a Rule> {
        self.ways.get(role.index()).copied().flatten()
    }

    /// As an arrow; the rest is a table.
    pub(super) fn is_drawn(&self, rule: &Rule) -> bool {
        self.can_be_drawn && self.takers.get(rule.id.as_str()).is_some_and(|takers| *takers <= MOST_BLOCKED)
    }
}

/// A rule that would lead back to the role itself is passed over.
fn takes(rule: &Rule, role: RoleIx) -> bool {
    let comes_back = rule.verb == RuleVerb::Consult(RoleTarget::Role(role));
    matches!(&rule.source, RuleSource::Roles { roles, .. } if roles.contains(role.index())) && !comes_back
}
