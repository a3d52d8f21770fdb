//! The decisions of Interlock.
//!
//! Memory only: no files, no clock, no environment, no random numbers, nothing
//! iterated in hash order. The same workflow, state and command give the same
//! decision, byte for byte, on any machine.

pub mod code;
pub mod graph;
pub mod handoff;
pub mod id;
pub mod problem;
pub mod suggest;
pub mod workflow;
pub mod yaml;
