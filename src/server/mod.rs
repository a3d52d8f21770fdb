//! What others connect to.

pub(crate) mod mcp;
