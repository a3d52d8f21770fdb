//! What others connect to.

pub mod http;
pub(crate) mod mcp;
