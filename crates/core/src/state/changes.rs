//! The changes that groups made to files: how the state keeps them, and sentences about them for people.

use crate::id::{AssignmentId, Name};
use crate::naming::shown_person;
use crate::observed::{ChangedFile, GroupDiff, ObservedChanges};
use crate::state::{AllowedPath, Group, GroupEnd, GroupProgress, State};
use crate::workflow::AssignmentTask;

impl State {
    /// An author's report without a diff leaves the diff of its group unknown: the files may have changed since.
    pub(super) fn note_observed(&mut self, assignment: AssignmentId, observed: Option<&ObservedChanges>) {
        let Some(assignment) = self.assignments.get(&assignment) else { return };
        let (task, role, phase) = (assignment.task, assignment.role.clone(), assignment.phase.clone());
        let Some(group) = assignment.group.clone() else { return };
        if let (AssignmentTask::Merge, Some(observed)) = (task, observed) {
            self.on_group(&group, |group| group.merge_is_empty = observed.merge_is_empty);
        }
        self.on_group(&group, |group| match observed {
            Some(observed) => group.diff = Some(GroupDiff::after(group.diff.as_ref(), observed, phase.as_ref())),
            None if task == AssignmentTask::Work && group.author.as_ref() == Some(&role) => group.diff = None,
            None => {}
        });
    }

    /// Interlock has merged the work of a group.
    pub(super) fn note_merge(&mut self, assignment: AssignmentId, empty: bool) {
        let group = self.assignments.get(&assignment).and_then(|assignment| assignment.group.clone());
        if let Some(group) = group {
            self.on_group(&group, |group| group.merge_is_empty = empty);
        }
    }

    pub(super) fn allow_paths(&mut self, paths: &[Name], by: &Name) {
        let allowed = paths.iter().map(|pattern| AllowedPath { pattern: pattern.clone(), by: by.clone() });
        if let Some(session) = &mut self.session {
            session.allowed.extend(allowed);
        }
    }

    /// The known changes of the groups that are merged or completed.
    pub fn changes_statement(&self) -> Vec<String> {
        let merged = |group: &&Group| {
            matches!(group.progress, GroupProgress::Ended(GroupEnd::Completed) | GroupProgress::AwaitingConfirmation)
        };
        changes_statement(self.groups.iter().filter(merged))
    }
}

impl Group {
    /// An author gets work: what one stated before ends.
    pub(super) fn begin_authorship(&mut self, role: &Name) {
        self.author = Some(role.clone());
        self.nothing_to_do = None;
        // Findings that were left to a role above are the author's to answer again.
        self.findings.iter_mut().for_each(|finding| finding.escalated_to = None);
    }

    pub(super) fn state_nothing_to_do(&mut self, by: &Name) {
        self.nothing_to_do = Some(by.clone());
    }

    pub(super) fn accept_unchanged(&mut self, by: &Name) {
        self.accepted_unchanged = Some(by.clone());
    }
}

/// The statement of completion about the changes of these groups, one sentence each. The caller leaves out deferred and
/// cancelled groups: none of their work is completed.
pub(crate) fn changes_statement<'g>(groups: impl IntoIterator<Item = &'g Group>) -> Vec<String> {
    let groups: Vec<&Group> = groups.into_iter().collect();
    let mut statement = Vec::new();
    let unobserved: Vec<&str> =
        groups.iter().filter(|group| group.diff.is_none()).map(|group| group.id.as_str()).collect();
    if !unobserved.is_empty() {
        let of =
            if unobserved.len() == groups.len() { String::new() } else { format!(" of {}", unobserved.join(", ")) };
        statement
            .push(format!("changes{of} not observed: Interlock did not start the authors, so no diff was compared"));
    }
    for group in groups {
        statement.extend(unchanged_sentence(group));
        statement.extend(changed_tests_sentence(group).map(|tests| format!("{}: {tests}", group.id)));
    }
    statement
}

fn unchanged_sentence(group: &Group) -> Option<String> {
    group.diff.as_ref().filter(|diff| diff.is_empty())?;
    let by = match &group.accepted_unchanged {
        Some(by) => format!("; accepted by {by}", by = shown_person(by)),
        None => String::new(),
    };
    Some(format!("{}: no file was changed{by}", group.id))
}

/// Existing tests that the group's diff modifies or deletes, by name.
pub fn changed_tests_sentence(group: &Group) -> Option<String> {
    let diff = group.diff.as_ref().filter(|diff| !diff.tests.is_empty())?;
    let named = |file: &ChangedFile| format!("{} ({})", file.path, file.change.name());
    let (instructions, judging): (Vec<&ChangedFile>, Vec<&ChangedFile>) =
        diff.tests.iter().partition(|file| file.instructions);
    let mut names: Vec<String> = judging.iter().map(|file| named(file)).collect();
    let kinds = (judging.iter().any(|file| !file.gate), judging.iter().any(|file| file.gate));
    let kinds = match kinds {
        (true, true) => "tests and files of gates",
        (false, true) => "files of gates",
        (true, false) | (false, false) => "tests",
    };
    if diff.tests_omitted > 0 {
        names.push(format!("{} more", diff.tests_omitted));
    }
    let judging = (!names.is_empty()).then(|| format!("existing {kinds} were changed: {}", names.join(", ")));
    let names: Vec<String> = instructions.iter().map(|file| named(file)).collect();
    let instructions =
        (!names.is_empty()).then(|| format!("instructions for agents were changed: {}", names.join(", ")));
    Some(judging.into_iter().chain(instructions).collect::<Vec<_>>().join("; "))
}
