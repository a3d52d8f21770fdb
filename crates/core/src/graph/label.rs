//! The label of an arrow, combined from several rules.

use std::collections::BTreeMap;

use super::{GraphLabel, MOST_LABELS, label_text};
use crate::id::Name;
use crate::workflow::*;

/// A label while rules still add to it.
#[derive(Clone, Debug, Default)]
pub(super) struct LabelDraft {
    pub(super) text: String,
    pub(super) details: Vec<String>,
    /// Whose report it is.
    pub(super) roles: IndexBitSet,
}

impl LabelDraft {
    /// A label for a rule that no report triggers.
    pub(super) fn nothing() -> Self {
        Self::default()
    }

    pub(super) fn detail(text: &str) -> Self {
        Self { details: vec![text.to_owned()], ..Self::default() }
    }

    /// The status of a rule with its guards and its loop.
    pub(super) fn rule(workflow: &Workflow, rule: &Rule, roles: IndexBitSet) -> Self {
        let text = rule.status.map(|status| workflow.status_name(status).to_string());
        let mut details: Vec<String> = Vec::new();
        for condition in &rule.conditions {
            if let RuleCondition::When(test) = condition {
                details.push(label_text::test(workflow, test));
            }
        }
        details.extend(instead(workflow, rule));
        details.extend(label_text::shown_loop(workflow, rule).map(|counted| label_text::limit(workflow, counted)));
        Self { text: text.unwrap_or_default(), details, roles }
    }

    fn same(&self, other: &LabelDraft) -> bool {
        self.text == other.text && self.details == other.details
    }
}

/// Why an `otherwise` is taken.
fn instead(workflow: &Workflow, rule: &Rule) -> Option<String> {
    let first = workflow.rule_index.get(rule.id.strip_suffix("/otherwise")?)?;
    let why = if workflow.rule(*first).verb == RuleVerb::Return { "nobody waits" } else { "cannot be asked" };
    Some(why.to_owned())
}

/// Adds a label, or its roles to one that says the same.
pub(super) fn add(list: &mut Vec<LabelDraft>, said: LabelDraft) {
    match list.iter_mut().find(|one| one.same(&said)) {
        Some(one) => said.roles.iter().for_each(|role| one.roles.insert(role)),
        None => list.push(said),
    }
}

/// Labels with whose they are, where a box holds several roles and not all say it.
pub(super) fn finish(workflow: &Workflow, members: &IndexBitSet, list: Vec<LabelDraft>) -> (Vec<GraphLabel>, usize) {
    let mut labels: Vec<GraphLabel> = Vec::new();
    for said in list {
        let mut details = said.details;
        details.extend(who(workflow, members, &said.roles));
        let label = GraphLabel { text: said.text, detail: details.join(", ") };
        if label.text.is_empty() && label.detail.is_empty() {
            continue;
        }
        labels.push(label);
    }
    let common = shared_detail(&labels);
    if common.is_some() {
        labels.iter_mut().for_each(|label| label.detail.clear());
    }
    let shown = if labels.len() > MOST_LABELS { MOST_LABELS.saturating_sub(1) } else { labels.len() };
    let more = labels.len().saturating_sub(shown);
    labels.truncate(shown);
    labels.extend(common.map(GraphLabel::detail));
    (labels, more)
}

/// A detail that all labels share is shown once.
fn shared_detail(labels: &[GraphLabel]) -> Option<String> {
    let first = labels.first().filter(|label| !label.detail.is_empty() && labels.len() > 1)?;
    let shared = labels.iter().all(|label| label.detail == first.detail && !label.text.is_empty());
    shared.then(|| first.detail.clone())
}

fn who(workflow: &Workflow, members: &IndexBitSet, speakers: &IndexBitSet) -> Option<String> {
    let all: Vec<usize> = members.iter().collect();
    let own: Vec<usize> = all.iter().copied().filter(|role| speakers.contains(*role)).collect();
    if own.is_empty() || own.len() == all.len() {
        return None;
    }
    let mut classes: BTreeMap<&Name, Vec<usize>> = BTreeMap::new();
    for (index, role) in workflow.roles.iter().enumerate() {
        for class in &role.classes {
            classes.entry(class).or_default().push(index);
        }
    }
    let class = classes.iter().find(|(_, roles)| **roles == own && roles.len() > 1);
    let names: Vec<&str> =
        own.iter().filter_map(|role| workflow.roles.get(*role)).map(|role| role.name.as_str()).collect();
    Some(class.map_or_else(|| label_text::list(&names, 2), |(class, _)| class.to_string()))
}
