//! Shared by all front ends: find a project, start a session, explain a decision, show the state of a session; and the
//! one error type that people and scripts see.

pub mod context;
pub mod contract;
pub mod decision;
pub mod diagnostics;
pub mod doctor_report;
pub mod error;
pub mod explain;
pub mod explanation;
pub mod gate_commands;
pub mod handoff_check;
pub mod input;
pub mod library;
pub mod markdown;
pub mod narrative;
pub mod output;
pub mod pages;
pub mod panic_message;
pub mod roles;
pub mod session_start;
pub mod session_view;
pub mod setting;
