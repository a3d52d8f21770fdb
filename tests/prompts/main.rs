//! Prompts and questions as the real program writes them: what was recorded before reaches its reader.

mod documents;
mod people;
mod scene;
#[path = "../team/mod.rs"]
mod team;
mod words;
