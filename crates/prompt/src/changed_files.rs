//! The observed changes of a group's files, for the roles that judge the work.

use interlock_core::observed::ChangedFile;
use interlock_core::state::{Group, GroupEnd, GroupProgress};
use interlock_core::workflow::AssignmentTask;

use crate::PromptContext;
use crate::data;
use crate::section::{Section, SectionKind};

impl PromptContext<'_> {
    /// Points out an empty diff, and tests that existed before and were modified or deleted.
    pub(super) fn changed_files(&self, pieces: &mut Vec<Section>) {
        let role = self.workflow.role_named(&self.assignment.role).map(|ix| self.workflow.role(ix));
        // A helper judges nothing, and a group that ended without completion is expected to have no work.
        if role.is_some_and(|role| role.author) || self.assignment.task == AssignmentTask::Consult {
            return;
        }
        let in_scope = |group: &&Group| match &self.assignment.group {
            Some(name) => *name == group.id,
            None => {
                !matches!(group.progress, GroupProgress::Ended(GroupEnd::Deferred { .. } | GroupEnd::Cancelled { .. }))
            }
        };
        let lines: Vec<String> = self.state.groups.iter().filter(in_scope).flat_map(lines_of).collect();
        if !lines.is_empty() {
            let heading = "Changes to look at first, from the observed diff".to_owned();
            let piece = Section::data(SectionKind::Warnings, heading, lines.join("\n"));
            let has_tests = lines.iter().any(|line| line.contains(" test"));
            pieces.push(match has_tests {
                true => piece.lead("A changed test may pass because it checks less: compare it with what it was."),
                false => piece,
            });
        }
    }
}

fn lines_of(group: &Group) -> Vec<String> {
    let Some(diff) = &group.diff else { return Vec::new() };
    let mut lines = Vec::new();
    if diff.is_empty() {
        lines.push(format!("- group {}: the diff is empty, no file was changed", group.id));
    }
    let changed = |file: &ChangedFile| {
        let kind = if file.gate { "file of a gate" } else { "test" };
        format!("- group {}: {kind} {} was {}", group.id, data::line(&file.path), file.change.name())
    };
    lines.extend(diff.tests.iter().map(changed));
    if diff.tests_omitted > 0 {
        lines.push(format!("- group {}: {} more tests were changed", group.id, diff.tests_omitted));
    }
    lines
}
