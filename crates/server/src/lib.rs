//! What others connect to.

pub mod http;
pub mod mcp;
