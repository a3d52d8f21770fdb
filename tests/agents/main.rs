//! `interlock run` with the real Claude Code, Codex, Gemini CLI and ACP agents, each from the mission to the merged result.
//!
//! Only the model is not real: a scripted one on loopback. All that clients do between it and Interlock is: their tools
//! write the files, their sandboxes refuse, their conversations are resumed, and they fail as they fail.

#[path = "../clients/client.rs"]
mod client;
#[path = "../models/mod.rs"]
mod models;

mod doctor;
mod scene;
mod script;
mod sessions;
