//! `interlock pause` and `interlock resume`

use std::fs;
use std::path::PathBuf;

use clap::Args;
use interlock_core::id::Name;
use serde_json::json;

use crate::commands::examples;
use interlock_app::context::AppContext;
use interlock_app::error::CommandResult;
use interlock_app::error::{CommandError, CommandExit};
use interlock_app::output::CommandOutput;
use interlock_system::text::{NAME, TerminalText};

/// Let nothing new start in a session that is being run
///
/// Agents that are at work finish, and what they report is decided; nobody new is started until `interlock resume`.
/// It holds for later runs too.
#[derive(Args)]
#[command(after_help = examples!("interlock pause add-login-4f2k"))]
pub(crate) struct PauseCommand {
    #[arg(value_name = "SESSION")]
    session: String,
}

/// Let a paused session go on
///
/// A run that waits goes on at once.
#[derive(Args)]
#[command(after_help = examples!("interlock resume add-login-4f2k"))]
pub(crate) struct ResumeCommand {
    #[arg(value_name = "SESSION")]
    session: String,
}

impl PauseCommand {
    pub(crate) fn run(&self, output: CommandOutput, place: &AppContext) -> CommandResult {
        let (session, mark) = known(place, &self.session)?;
        let folder = mark.parent().unwrap_or(&mark);
        let written = fs::create_dir_all(folder).and_then(|()| fs::write(&mark, ""));
        written.map_err(|error| interlock_store::StoreError::unwritable(&mark, &error))?;
        tell(output, &session, true)
    }
}

impl ResumeCommand {
    pub(crate) fn run(&self, output: CommandOutput, place: &AppContext) -> CommandResult {
        let (session, mark) = known(place, &self.session)?;
        if mark.exists() {
            fs::remove_file(&mark).map_err(|error| interlock_store::StoreError::unwritable(&mark, &error))?;
        }
        tell(output, &session, false)
    }
}

/// The file that is there while a session is paused.
pub(super) fn mark(place: &AppContext, session: &Name) -> Result<PathBuf, CommandError> {
    Ok(place.folder()?.join("paused").join(session.as_str()))
}

/// A session that is there; what people type is no path.
fn known(place: &AppContext, session: &str) -> Result<(Name, PathBuf), CommandError> {
    let (live, _) = place.engine()?.load_session(session)?;
    let mark = mark(place, &live.id)?;
    Ok((live.id, mark))
}

fn tell(output: CommandOutput, session: &Name, paused: bool) -> CommandResult {
    if output.json {
        output.document(&json!({ "session": session, "paused": paused }))?;
        return Ok(CommandExit::Done);
    }
    let mut text = TerminalText::default();
    text.paint(NAME, session);
    text.push(if paused { " is paused: nothing new starts\n" } else { " goes on\n" });
    output.text(&text)?;
    Ok(CommandExit::Done)
}
