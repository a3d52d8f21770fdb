//! The real Claude Code, Codex and Gemini CLI as orchestrators of a session, set up by `interlock plugin install`.
//!
//! Only the model is not real: a scripted one on loopback, and it cheats. It starts the wrong roles, edits, goes to the
//! store, reports for others, calls blocked work complete and stops early. Each time it gets a refusal and the next
//! step; then it takes that step, and the session ends as it should. Where the hooks are gone, the store still refuses,
//! and the session is reported as unwatched.

#[path = "../clients/client.rs"]
mod client;
#[path = "../models/mod.rs"]
mod models;

mod hands;
mod orchestrator;
mod scene;
mod team;

mod hooks_gone;
mod sessions;
mod setup;
