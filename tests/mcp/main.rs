//! The MCP server, as clients meet it: the real program over its pipes.

mod client;
mod inspector;
mod person;
mod protocol;
mod python;
mod reading;
#[path = "../team/mod.rs"]
mod team;
mod together;
mod tools;
