//! Hooks of clients, as the clients call them: the real program, fed with what the real clients send.
//!
//! Payloads are made from those that were captured (`tests/data/clients/*/hooks-*.jsonl`); answers are read as strictly as
//! the strictest client reads them.

mod cheats;
mod gates;
mod handoffs;
mod keeping;
mod parallel;
mod payloads;
mod protected;
mod reach;
mod scene;
mod sessions;
mod stopping;
#[path = "../team/mod.rs"]
mod team;
mod ways;
mod workflows;
