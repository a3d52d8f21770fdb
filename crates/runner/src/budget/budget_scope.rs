//! Whose spending is added up, and may have a limit.

use std::fmt;

use interlock_core::id::Name;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum BudgetScope {
    Session,
    /// All agents of a role, in any group.
    Role(Name),
    /// All agents of a group, in any role.
    Group(Name),
    /// One assignment with all its attempts.
    Assignment(String),
}

impl fmt::Display for BudgetScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Session => f.write_str("the session"),
            Self::Role(name) => write!(f, "role {name}"),
            Self::Group(name) => write!(f, "group {name}"),
            Self::Assignment(name) => f.write_str(name),
        }
    }
}
