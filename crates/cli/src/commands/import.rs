use std::path::PathBuf;

use clap::{Args, Subcommand, ValueHint};
use serde_json::json;

use crate::commands::examples;
use interlock_app::error::CommandResult;
use interlock_app::error::{CommandError, CommandExit};
use interlock_app::input;
use interlock_app::output::{CommandOutput, print_diagnostics};
use interlock_import::bazinga;
use interlock_system::text::TerminalText;

/// Far above any file of transitions.
const LARGEST_FILE: u64 = 16 << 20;

/// Make a workflow from the rules of another program
///
/// The workflow is written to stdout. A note on stderr names every field that had no effect in the original.
#[derive(Subcommand)]
#[command(after_help = examples!(
    "interlock import bazinga transitions.json > interlock.yaml"
))]
pub(crate) enum ImportCommand {
    Bazinga(ImportBazingaCommand),
}

/// Make a workflow from the transitions of BAZINGA
///
/// The file is the `transitions.json` that its workflow router reads. The workflow is written to stdout, ready to be
/// checked with `interlock check`; a note on stderr names every field that had no effect in the original.
#[derive(Args)]
#[command(after_help = examples!(
    "interlock import bazinga transitions.json > interlock.yaml"
    "interlock check interlock.yaml"
))]
pub(crate) struct ImportBazingaCommand {
    /// The file with the transitions; `-` reads stdin
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) file: PathBuf,
}

impl ImportCommand {
    pub(crate) fn run(&self, output: CommandOutput) -> CommandResult {
        match self {
            Self::Bazinga(command) => command.run(output),
        }
    }
}

impl ImportBazingaCommand {
    fn run(&self, output: CommandOutput) -> CommandResult {
        let text = input::text(&self.file, LARGEST_FILE)?;
        let file = self.file.display().to_string();
        let imported = bazinga::import(&file, &text)
            .map_err(|problems| CommandError::invalid(problems, [(file, text)].into_iter().collect()))?;
        if output.json {
            output.document(&json!({ "workflow": imported.yaml, "notes": imported.notes }))?;
            return Ok(CommandExit::Done);
        }
        let mut notes = TerminalText::default();
        for note in &imported.notes {
            notes.line(format_args!("note: {note}"));
        }
        print_diagnostics(&notes);
        output.data(&imported.yaml)?;
        Ok(CommandExit::Done)
    }
}
