//! What Interlock saw of the files of a group: for the roles that judge the work.

use interlock_core::state::Group;

use crate::brief::piece::{Piece, Section};
use crate::brief::{Brief, data};

impl Brief<'_> {
    /// Points out an empty diff, and tests that existed before and were modified or deleted.
    pub(super) fn changed_files(&self, pieces: &mut Vec<Piece>) {
        let role = self.workflow.role_named(&self.assignment.role).map(|ix| self.workflow.role(ix));
        if role.is_some_and(|role| role.author) {
            return;
        }
        let in_scope = |group: &&Group| self.assignment.group.as_ref().is_none_or(|name| *name == group.id);
        let lines: Vec<String> = self.state.groups.iter().filter(in_scope).flat_map(lines_of).collect();
        if !lines.is_empty() {
            let heading = "Changes to look at first, from the observed diff".to_owned();
            let lead = "An empty diff is no work. A changed test may pass because it checks less: compare it with what it was.";
            pieces.push(
                Piece::data(
                    Section::Warnings,
                    heading,
                    lines.join(
                        "
",
                    ),
                )
                .lead(lead),
            );
        }
    }
}

fn lines_of(group: &Group) -> Vec<String> {
    let Some(diff) = &group.diff else { return Vec::new() };
    let mut lines = Vec::new();
    if diff.is_empty() {
        lines.push(format!("- group {}: the diff is empty, no file was changed", group.id));
    }
    let test = |path: &str, change: &str| format!("- group {}: test {} was {change}", group.id, data::line(path));
    lines.extend(diff.tests.iter().map(|file| test(&file.path, file.change.name())));
    if diff.tests_omitted > 0 {
        lines.push(format!("- group {}: {} more tests were changed", group.id, diff.tests_omitted));
    }
    lines
}
