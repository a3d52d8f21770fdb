//! Cleanup of a session that was cancelled while no run was active, as its run would have done it.
//!
//! A run notes the agents of the roles, beside the store, until its session has ended and the outcome was reported.

use std::fs;
use std::path::{Path, PathBuf};

use interlock_core::code::Code;
use interlock_core::id::Name;

use crate::commands::run::RunCommand;
use interlock_app::context::AppContext;
use interlock_app::error::CommandError;
use interlock_runner::RunOutcome;

/// The note that a session is being run: the team, as it was named.
fn note(place: &AppContext, session: &Name) -> Result<PathBuf, CommandError> {
    Ok(place.folder()?.join("runs").join(session.as_str()))
}

/// Notes the agents of a session. The note is empty for the project's own team.
pub(super) fn remember(place: &AppContext, session: &Name, agents: Option<&str>) -> Result<(), CommandError> {
    let path = note(place, session)?;
    // A file is found from elsewhere too; a client has no path.
    let whole = |name: &str| match Path::new(name).is_file() {
        true => std::path::absolute(name).map_or_else(|_| name.to_owned(), |path| path.display().to_string()),
        false => name.to_owned(),
    };
    let agents = agents.map(whole).unwrap_or_default();
    let folder = path.parent().unwrap_or(Path::new(""));
    let written = fs::create_dir_all(folder).and_then(|()| fs::write(&path, agents));
    written.map_err(|error| interlock_store::StoreError::unwritable(&path, &error).into())
}

pub(super) fn forget(place: &AppContext, session: &Name) {
    // A note that cannot be removed is harmless: the next run finds its session ended.
    let _ = note(place, session).map(fs::remove_file);
}

/// Brings the run of a session that has ended to its end. `None`: there was none, or one is under way and does it itself.
pub(super) fn clear(place: &AppContext, session: &Name) -> Option<Result<RunOutcome, CommandError>> {
    let agents = fs::read_to_string(note(place, session).ok()?).ok()?;
    let run = RunCommand::for_ended_session(session, Some(agents).filter(|agents| !agents.is_empty()));
    match run.quietly(place) {
        Err(failure) if failure.code() == Code::AlreadyRunning => None,
        ended => Some(ended),
    }
}
