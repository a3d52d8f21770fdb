//! The circumstances of a gate run: what its result depends on beside the tree.

use serde::{Deserialize, Serialize};

use crate::id::Name;

/// One gate of one group.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct GroupGate {
    pub group: Name,
    pub gate: Name,
}

/// Where the commands of a gate ran, and with what. Recorded with the result, so that a pass is not repeated for the same
/// tree, command and `prepare`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GateCheckout {
    /// Commands that passed, in their order.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub passed: Vec<Vec<Name>>,
    /// Hash of `prepare`: its commands and the content of its declared inputs. Absent if nothing is prepared.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub prepare: Option<Name>,
    /// The first files of the tree that were not committed: changed, or untracked.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub uncommitted: Vec<Name>,
    /// How many there were.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub uncommitted_count: u64,
    /// The project is not in a git repository: the commands ran on a copy of all its files.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub without_git: bool,
    /// The gate that failed, where the gates of several groups were checked again.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub failed: Option<GroupGate>,
}

impl GateCheckout {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Warnings for the reader of the result about the files that the gate ran on.
    pub fn warnings(&self, tree: &Name) -> Vec<String> {
        let tree = shown_tree(tree);
        let mut warnings = Vec::new();
        if self.without_git {
            warnings.push(format!(
                "the project is not in a git repository: the gate ran on a copy of all its files, {tree}, leftovers included"
            ));
        }
        if self.uncommitted_count > 0 {
            let names: Vec<String> = self.uncommitted.iter().map(|name| format!("`{}`", name.escape_debug())).collect();
            let named = u64::try_from(names.len()).unwrap_or(u64::MAX);
            let more = match self.uncommitted_count.saturating_sub(named) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            let files = if self.uncommitted_count == 1 {
                "1 file that is"
            } else {
                &format!("{} files that are", self.uncommitted_count)
            };
            warnings
                .push(format!("the gate ran on tree {tree}, with {files} not committed: {}{more}", names.join(", ")));
        }
        warnings
    }
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// The beginning of a tree's name, for people.
pub fn shown_tree(tree: &Name) -> &str {
    tree.get(..12).unwrap_or(tree)
}
