//! Whether a session has a result: a group that was completed with work.

use std::collections::BTreeMap;

use crate::state::{Group, GroupEnd, GroupProgress, State};
use crate::workflow::{GuardTest, Workflow};

impl State {
    /// A group was completed with work. Without one, a person acknowledges the end of the session.
    pub(crate) fn has_result(&self, workflow: &Workflow) -> bool {
        let completed = |group: &&Group| group.progress == GroupProgress::Ended(GroupEnd::Completed);
        self.groups.iter().filter(completed).any(|group| self.is_result(workflow, group))
    }

    /// Completed, would this group be work done? A group that had nothing to do is none, nor one that a flag of its plan frees
    /// from changes and that changed nothing, nor one that passed none of its evidence.
    pub(crate) fn is_result(&self, workflow: &Workflow, group: &Group) -> bool {
        let none = BTreeMap::new();
        let settings = self.session.as_ref().map_or(&none, |session| &session.settings);
        if group.nothing_to_do.is_some() || group.nothing_to_do().is_some() {
            return false;
        }
        let changed = group.diff.as_ref().is_some_and(|diff| !diff.is_empty());
        let bound = |when: &[GuardTest]| workflow.holds_for(settings, group, when);
        let requires = workflow.completion.changes.as_ref().is_none_or(|changes| bound(&changes.when));
        let needs = workflow.completion.needs.iter().filter(|need| bound(&need.when));
        let mut options = needs.flat_map(|need| &need.options).map(|ix| &workflow.pass(*ix).name);
        let only_excused = !group.excused.is_empty() && !options.any(|name| group.passed.contains(name));
        (changed || requires) && !only_excused
    }
}
