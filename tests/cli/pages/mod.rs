//! Runs the examples of `docs/errors/` with the program, and checks how the pages are written.
//!
//! `INTERLOCK_BLESS=1 cargo test --test cli pages` writes the output of today's program into the
//! `console` blocks.

mod console;
mod examples;
mod fence;
mod print;
mod scene;
mod scenes;
mod steps;
mod words;
