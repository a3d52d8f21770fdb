//! The MCP server, as clients meet it: the real program over its pipes, and over HTTP.

mod client;
mod conformance;
mod door;
mod http;
mod inspector;
mod limits;
mod person;
mod protocol;
mod python;
mod reading;
mod serve;
mod stopping;
#[path = "../team/mod.rs"]
mod team;
mod together;
mod tools;
mod unknown_status;
mod wire;
