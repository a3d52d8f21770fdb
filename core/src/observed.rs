//! The file changes that Interlock saw itself, as opposed to those that an agent claims.

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
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangedFile {
    pub path: Name,
    pub change: FileChange,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileChange {
    Added,
    Modified,
    Deleted,
}

impl ObservedChanges {
    /// Events stay small however much a group changes.
    pub const MOST_FILES: usize = 500;

    /// The work differs from its base in no file.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty() && self.omitted == 0
    }
}
