//! Facts that a CEL expression derives from a handoff.

use crate::id::Name;

/// An expression that was parsed when the workflow was loaded.
#[derive(Clone, Debug)]
pub struct Expression {
    pub(crate) text: Name,
}

impl Expression {
    pub(crate) fn compile(text: &str) -> Result<Self, String> {
        Ok(Self { text: Name::new(text) })
    }
}
