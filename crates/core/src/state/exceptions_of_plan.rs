//! Requirements that groups do without because of their plan, and merges without changes.

use std::collections::BTreeMap;

use crate::naming::shown_person;
use crate::state::{CompletionException, Group, GroupEnd, GroupProgress, State};
use crate::workflow::Workflow;

impl State {
    /// The requirements that a group does without because of its plan, and a merge of it that changed nothing: one
    /// sentence each.
    pub fn plan_exceptions(&self, workflow: &Workflow, group: &Group) -> Vec<String> {
        let all = self.dropped_by_plan_of(workflow, group).into_iter().chain(empty_merge_of(group));
        all.map(|exception| exception.text).collect()
    }

    /// Requirements that the plan's flags dropped: a planner's choice that a person has to see.
    pub(super) fn dropped_by_plan_of(&self, workflow: &Workflow, group: &Group) -> Vec<CompletionException> {
        if matches!(group.progress, GroupProgress::Ended(GroupEnd::Deferred { .. } | GroupEnd::Cancelled { .. })) {
            return Vec::new();
        }
        let none = BTreeMap::new();
        let settings = self.session.as_ref().map_or(&none, |session| &session.settings);
        let dropped = workflow.dropped_by_plan(settings, group);
        let texts = dropped.iter().filter_map(|dropped| {
            let by = group.planned_by.as_ref().map_or(String::new(), |by| format!(" by {}", shown_person(by)));
            let planned = match dropped.value.as_str() {
                "true" | "false" => format!("planned with `{}: {}`{by}", dropped.flag, dropped.value),
                value => format!("planned as {value}{by}"),
            };
            let evidence = dropped.evidence.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
            let is_empty = dropped.changes && group.diff.as_ref().is_some_and(|diff| diff.is_empty());
            let done = match group.progress {
                GroupProgress::Ended(_) | GroupProgress::AwaitingConfirmation => "done without",
                GroupProgress::Pending | GroupProgress::Working | GroupProgress::Arrived => "completes without",
            };
            match (evidence.is_empty(), is_empty) {
                (true, false) => None,
                (true, true) => Some(format!("{planned}: it changed no file")),
                (false, false) => Some(format!("{planned}: {done} {evidence}")),
                (false, true) => Some(format!("{planned}: {done} {evidence}; it changed no file")),
            }
        });
        texts.map(|text| CompletionException { group: Some(group.id.clone()), text }).collect()
    }

    /// How a sentence says that a session has no result.
    pub(super) fn without_result(&self) -> &'static str {
        match self.groups.iter().any(|group| group.progress == GroupProgress::Ended(GroupEnd::Completed)) {
            true => "no work was completed",
            false => "nothing was completed",
        }
    }
}

/// A group that brought nothing to what was merged, although its own diff is not empty.
pub(super) fn empty_merge_of(group: &Group) -> Option<CompletionException> {
    let merged =
        matches!(group.progress, GroupProgress::Ended(GroupEnd::Completed) | GroupProgress::AwaitingConfirmation);
    let changes = group.diff.as_ref().is_none_or(|diff| !diff.is_empty());
    let text = "its merge changed nothing: the same changes were merged before".to_owned();
    (merged && changes && group.merge_is_empty).then(|| CompletionException { group: Some(group.id.clone()), text })
}
