//! `interlock backup`

use std::path::PathBuf;

use clap::Args;
use serde_json::json;

use crate::commands::examples;
use interlock_app::context::AppContext;
use interlock_app::error::CommandExit;
use interlock_app::error::CommandResult;
use interlock_app::output::CommandOutput;
use interlock_system::text::TerminalText;

/// Copy the store to a file, consistently, while others go on writing
///
/// The keys are not in it: keep a copy of their folder as well.
#[derive(Args)]
#[command(after_help = examples!("interlock backup ../interlock-monday.db"))]
pub(crate) struct BackupCommand {
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

impl BackupCommand {
    pub(crate) fn run(&self, output: CommandOutput, place: &AppContext) -> CommandResult {
        place.store()?.back_up(&self.file)?;
        let bytes = std::fs::metadata(&self.file).map_or(0, |file| file.len());
        let file = self.file.display().to_string();
        if output.json {
            output.document(&json!({ "backup": file, "bytes": bytes }))?;
        } else {
            let mut text = TerminalText::default();
            text.line(format_args!("{file}: {bytes} bytes"));
            output.text(&text)?;
        }
        Ok(CommandExit::Done)
    }
}
