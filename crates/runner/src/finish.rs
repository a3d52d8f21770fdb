//! The end of a run. The outcome is noted before anything is removed, and the note is removed when the outcome was
//! reported. If a run is killed in between, the next run finishes it and reports the same outcome.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use interlock_core::code::Code;
use interlock_core::id::Name;
use interlock_core::state::SessionStatus;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::run_report::RunReport;
use crate::workspaces;
use interlock_app::error::{CommandError, CommandExit};
use interlock_engine::Engine;
use interlock_system::files;
use interlock_system::files::remove;
use interlock_system::text::TerminalText;

/// How a run ended.
pub struct RunOutcome {
    pub status: SessionStatus,
    /// Why it stopped before the end of the session.
    pub stopped: Option<String>,
    pub text: TerminalText,
    pub document: Json,
    /// Where it can be read.
    pub report: Option<PathBuf>,
    /// The note that the outcome has to be reported.
    note: PathBuf,
}

/// The same, as it is noted.
#[derive(Serialize, Deserialize)]
struct RunOutcomeNote {
    status: SessionStatus,
    text: String,
    document: Json,
    report: Option<PathBuf>,
}

impl RunOutcome {
    pub(super) fn new(
        root: &Path,
        status: SessionStatus,
        stopped: Option<String>,
        story: &RunReport,
        report: Option<PathBuf>,
    ) -> Self {
        Self { status, stopped, text: story.text(), document: story.json(), report, note: note(root) }
    }

    /// From now on, only the report of the session's end is left to do. The note is written completely or not at all.
    pub(super) fn note(&self) -> io::Result<()> {
        let text = anstream::adapter::strip_str(self.text.as_str()).to_string();
        let (document, report) = (self.document.clone(), self.report.clone());
        let bytes = serde_json::to_vec(&RunOutcomeNote { status: self.status, text, document, report })?;
        let partial = self.note.with_extension("new");
        // An agent may have left a link there.
        remove(&partial)?;
        fs::write(&partial, bytes)?;
        fs::rename(&partial, &self.note)
    }

    /// Whether the session has ended, and not only the run.
    pub fn is_over(&self) -> bool {
        matches!(self.status, SessionStatus::Completed | SessionStatus::Cancelled)
    }

    /// People know it: nothing is left to do.
    pub fn remove_note(&self) {
        // A note that cannot be removed is only reported again.
        let _ = remove(&self.note);
    }

    fn read(path: PathBuf) -> Option<Self> {
        let RunOutcomeNote { status, text: plain, document, report } =
            serde_json::from_slice(&files::read_plain(&path).ok()?).ok()?;
        let mut text = TerminalText::default();
        text.push_lines(&plain);
        Some(Self { status, stopped: None, text, document, report, note: path })
    }
}

fn note(root: &Path) -> PathBuf {
    root.join("ended.json")
}

/// Whether a session that has ended needs no further run: its result is handed over, unneeded files are removed, and
/// the outcome was reported.
pub fn is_handed_over(root: &Path) -> bool {
    !note(root).exists() && (!workspaces::repository(root).exists() || workspaces::kept(root).exists())
}

/// Finishes a session that has ended and whose repository is gone: removes its remaining files, and returns the noted
/// outcome. The repository is not created again, because it would lack the session's work.
pub(super) fn catch_up(looking: &mut Engine, session: &Name, root: &Path) -> Result<Option<RunOutcome>, CommandError> {
    let (live, _) = looking.load_session(session)?;
    let ended = matches!(live.state.status, SessionStatus::Completed | SessionStatus::Cancelled);
    if !ended || workspaces::repository(root).exists() {
        return Ok(None);
    }
    workspaces::remove_session_files(root);
    match RunOutcome::read(note(root)) {
        Some(ended) => Ok(Some(ended)),
        None => {
            let message = format!("session {session} has ended; its result is the branch interlock/{session}");
            Err(CommandError::new(CommandExit::Refused, Code::SessionEnded, message))
        }
    }
}
