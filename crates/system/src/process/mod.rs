//! Programs that others wrote: started in a process of their own, watched, and ended whole.
//!
//! A supervisor process (`supervisor.rs`) runs between Interlock and the program: the same binary in a role of its own.
//! Processes that the program leaves behind become the supervisor's children, so that none outlives it. If Interlock is
//! killed, the supervisor ends everything. If the supervisor is killed, the remaining processes are identified by a
//! variable of their environment (`orphans.rs`).

mod children;
mod control;
mod input;
mod line_splitter;
mod orphans;
mod resolve;
mod running;
mod supervisor;
mod transcript;
mod tree;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

pub use children::{HelperProcess, own_no_others};
pub use control::ProcessControl;
pub use input::ProcessHandle;
pub use orphans::{MARK, become_subreaper, end_marked_processes};
pub use running::{run, set_supervisor};
pub use supervisor::{WORD as KEEPER, main as keep};
pub use tree::wake_children;

/// The program to start, with its environment, folder and limits.
#[derive(Clone, Debug)]
pub struct ProcessSpec {
    /// A name that is looked for in the `PATH` of `environment`, or a path.
    pub program: OsString,
    pub arguments: Vec<OsString>,
    /// All of it, but for the mark: nothing is inherited.
    pub environment: BTreeMap<OsString, OsString>,
    pub folder: PathBuf,
    pub stdin: StdinMode,
    pub limits: ProcessLimits,
    /// Where what it prints is kept, up to `Limits::kept`. A file that is there is replaced.
    pub transcript: Option<PathBuf>,
    /// Locked (shared) by the supervisor as long as any process of the program lives.
    pub lock: Option<PathBuf>,
    /// The value of [`MARK`] in its environment: like no other's, so that it is known again when everything else fails.
    pub mark: String,
}

#[derive(Clone, Debug)]
pub enum StdinMode {
    Nothing,
    /// Written, then closed.
    Text(String),
    /// Kept open for a conversation.
    Open,
}

#[derive(Clone, Copy, Debug)]
pub struct ProcessLimits {
    /// Bytes of output after which the program is ended.
    pub output: u64,
    /// Bytes of a line that are handed on; the rest of it is dropped.
    pub line: usize,
    /// Bytes of output that are kept in the transcript.
    pub kept: u64,
    /// How long it may take.
    pub time: Option<Duration>,
    /// How long it may be silent.
    pub silence: Option<Duration>,
    /// Between being asked to end and being ended.
    pub grace: Duration,
}

impl Default for ProcessLimits {
    fn default() -> Self {
        Self {
            output: 256 << 20,
            line: 16 << 20,
            kept: 16 << 20,
            time: None,
            silence: None,
            grace: Duration::from_secs(5),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputStream {
    Out,
    Err,
}

/// Receives the output of a program line by line, as it arrives.
pub trait OutputListener {
    /// A line without its end. It may not be UTF-8. `cut`: it was longer than the limit.
    fn line(&mut self, from: OutputStream, line: &[u8], cut: bool, talk: &mut ProcessHandle<'_>);

    /// Before anything was printed: to open a conversation.
    fn started(&mut self, _talk: &mut ProcessHandle<'_>) {}

    /// The transcript ends here, because it could not be written. The program goes on.
    fn transcript_lost(&mut self, _error: &io::Error) {}
}

/// How a program ended. Nothing of it is left when this is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProcessEnd {
    /// By itself, with this code; 128 + n after signal n.
    Exited(i32),
    /// It took too long.
    TimedOut,
    /// It printed nothing for too long.
    Silent,
    /// It printed too much.
    Flooded,
    /// It was asked to end.
    Stopped,
}
