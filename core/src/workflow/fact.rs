//! Facts that a CEL expression derives from a handoff.

use crate::id::Name;

/// An expression that was parsed when the workflow was loaded.
#[derive(Clone, Debug)]
pub struct Expression {
    pub(crate) text: Name,
}
