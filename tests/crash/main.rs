//! A command that is interrupted at any call stores the whole decision or nothing of it, and the log stays valid.
//!
//! `tests/faults/faults.c` makes the n-th call on the files of the store fail, or ends the process there, for every n
//! until the command no longer comes that far. Everything runs in memory (`/dev/shm`) where there is such a thing: what
//! is tested is the order of calls, and no disk is waited for.

#[path = "../project/mod.rs"]
#[allow(dead_code, reason = "shared with other tests")]
mod project;

mod copies;
mod decisions;
mod making;
mod scene;
