//! Many processes, one file: nothing is lost or doubled, and no process gets an error because the store is busy.
//!
//! Sixteen processes report 500 times each through the engine; each of them is this program, started again with a lane
//! to drive. Eight have a session of their own, eight share one and have a group each. Fewer go through the real
//! command line, on a real disk, because there every report takes two starts of the program.

#[path = "../project/mod.rs"]
#[allow(dead_code, reason = "shared with other tests")]
mod project;

mod copies;
mod lanes;
mod races;
