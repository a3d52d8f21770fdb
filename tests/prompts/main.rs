//! Prompts and questions as the real program writes them: what was recorded before reaches its reader.

mod artifacts;
mod documents;
mod held;
mod people;
mod questions;
mod scene;
mod settled;
#[path = "../team/mod.rs"]
mod team;
mod words;
