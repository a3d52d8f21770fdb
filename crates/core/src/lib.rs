//! The decisions of Interlock.
//!
//! Memory only: no files, no clock, no environment, no random numbers, nothing
//! iterated in hash order. The same workflow, state and command give the same
//! decision, byte for byte, on any machine.

#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::unreachable,
        clippy::indexing_slicing,
        clippy::string_slice,
        clippy::arithmetic_side_effects,
        clippy::wildcard_enum_match_arm,
        clippy::disallowed_types,
        clippy::disallowed_methods,
        clippy::disallowed_macros
    )
)]

mod advice;
pub mod bounds;
pub mod checkout;
pub mod code;
pub mod command;
pub mod decide;
pub mod decision;
pub mod event;
pub mod graph;
pub mod handoff;
pub mod id;
pub mod naming;
pub mod observed;
pub mod problem;
pub mod provenance;
pub mod rejection;
pub mod route;
pub mod state;
pub mod suggest;
pub mod workflow;
pub mod yaml;
