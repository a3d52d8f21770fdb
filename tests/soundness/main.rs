//! Work that must not complete does not complete, and work that is done ends: through the program.
#![allow(clippy::needless_pass_by_value, reason = "json!({…}) reads better without a reference")]

mod cycles;
mod failing_tests;
mod findings;
mod loading;
mod phases;
mod plans;
#[path = "../team/mod.rs"]
mod team;
mod upgrades;
