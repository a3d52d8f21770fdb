//! Handoffs held against the built-in workflows: every rule, each with a handoff that breaks it.

mod check;
mod facts;
mod fixture;
mod hostile;
mod plan;
mod review;

mod schema;
