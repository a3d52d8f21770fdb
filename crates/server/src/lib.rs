//! Servers that clients connect to: MCP and HTTP.

pub mod http;
pub mod mcp;
