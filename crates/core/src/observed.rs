//! The file changes that Interlock saw itself, as opposed to those that an agent claims.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::id::Name;

/// The diff of a group's work at the moment of a report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ObservedChanges {
    /// The commit that the diff is taken against.
    pub base: Name,
    /// The commit that holds the work, and its tree. Evidence speaks for this tree.
    pub commit: Name,
    pub tree: Name,
    /// Sorted by path, at most [`ObservedChanges::MOST_FILES`].
    pub files: Vec<ChangedFile>,
    /// Changed files beyond those listed.
    #[serde(default)]
    pub omitted: u32,
    /// Files that this turn changed and that the handoff does not name, where it names any.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub unclaimed: Vec<Name>,
    /// Files that the group's flags do not let it change, at most [`ObservedChanges::MOST_OUTSIDE`].
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub outside: Vec<Name>,
    /// The work was merged with this report, and everything in it was merged before.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub merge_is_empty: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangedFile {
    pub path: Name,
    pub change: FileChange,
    /// The path fits `test_files` of the workflow.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub test: bool,
    /// A gate runs it, or reads its commands from it.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub gate: bool,
    /// Agents read it as instructions: `AGENTS.md` and the like.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub instructions: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileChange {
    Added,
    Modified,
    Deleted,
}

impl FileChange {
    pub const fn name(self) -> &'static str {
        match self {
            FileChange::Added => "added",
            FileChange::Modified => "modified",
            FileChange::Deleted => "deleted",
        }
    }
}

impl ObservedChanges {
    /// Events stay small however much a group changes.
    pub const MOST_FILES: usize = 500;
    /// Names of unclaimed files that a report keeps.
    pub const MOST_UNCLAIMED: usize = 20;
    /// Names of files outside of the group's limit that a report keeps.
    pub const MOST_OUTSIDE: usize = 20;

    /// The work differs from its base in no file.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty() && self.omitted == 0
    }

    /// Existing tests and files of gates that the work modifies or deletes, and instructions for agents. New tests are not
    /// listed: they weaken nothing. New instructions are, because the next agent obeys them.
    pub fn changed_tests(&self) -> impl Iterator<Item = &ChangedFile> {
        let judges = |file: &ChangedFile| (file.test || file.gate) && file.change != FileChange::Added;
        self.files.iter().filter(move |file| judges(file) || file.instructions)
    }
}

/// The latest diff of a group, as its state keeps it: without the list of files, which the log has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupDiff {
    pub base: Name,
    pub commit: Name,
    pub tree: Name,
    /// How many files differ.
    pub files: u32,
    /// Existing tests that are modified or deleted, at most [`GroupDiff::MOST_TESTS`].
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub tests: Vec<ChangedFile>,
    /// Changed tests beyond those listed.
    #[serde(default)]
    pub tests_omitted: u32,
    /// Phases in which the tree changed.
    #[serde(skip_serializing_if = "BTreeSet::is_empty", default)]
    pub changed_in: BTreeSet<Name>,
    /// Files that the group's flags do not let it change, at most [`ObservedChanges::MOST_OUTSIDE`].
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub outside: Vec<Name>,
}

impl GroupDiff {
    /// The state stays small however many tests are changed.
    pub const MOST_TESTS: usize = 50;

    /// The diff after a report in a phase. `earlier` is the diff before it.
    pub(crate) fn after(earlier: Option<&Self>, observed: &ObservedChanges, phase: Option<&Name>) -> Self {
        let mut changed_in = earlier.map(|earlier| earlier.changed_in.clone()).unwrap_or_default();
        if let Some(phase) = phase.filter(|_| changes_tree(earlier, observed)) {
            changed_in.insert(phase.clone());
        }
        let count = observed.changed_tests().count();
        let listed = u32::try_from(observed.files.len()).unwrap_or(u32::MAX);
        Self {
            base: observed.base.clone(),
            commit: observed.commit.clone(),
            tree: observed.tree.clone(),
            files: listed.saturating_add(observed.omitted),
            tests: observed.changed_tests().take(Self::MOST_TESTS).cloned().collect(),
            tests_omitted: u32::try_from(count.saturating_sub(Self::MOST_TESTS)).unwrap_or(u32::MAX),
            changed_in,
            outside: observed.outside.clone(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.files == 0
    }
}

/// The report comes with another tree than the report before it.
pub(crate) fn changes_tree(earlier: Option<&GroupDiff>, observed: &ObservedChanges) -> bool {
    match earlier {
        Some(earlier) => earlier.tree != observed.tree,
        None => !observed.is_empty(),
    }
}
