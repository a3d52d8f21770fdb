//! The operating system: the clock, random numbers, files that survive a crash, child processes, and text that is safe
//! to print.

pub mod clock;
pub mod files;
pub mod process;
pub mod sanitise;
pub mod text;
