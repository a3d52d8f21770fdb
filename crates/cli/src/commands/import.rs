use std::path::PathBuf;

use clap::{Args, Subcommand, ValueHint};
use serde_json::json;

use crate::commands::examples;
use interlock_app::failure::Ending;
use interlock_app::failure::{Exit, Failure};
use interlock_app::input;
use interlock_app::output::{Output, complain};
use interlock_import::bazinga;
use interlock_system::text::Text;

/// Far above any file of transitions.
const LARGEST_FILE: u64 = 16 << 20;

/// Make a workflow from the rules of another program
///
/// The workflow is written to stdout. A note on stderr names every field that had no effect in the original.
#[derive(Subcommand)]
#[command(after_help = examples!(
    "interlock import bazinga transitions.json > interlock.yaml"
))]
pub(crate) enum Import {
    Bazinga(Bazinga),
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
pub(crate) struct Bazinga {
    /// The file with the transitions; `-` reads stdin
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) file: PathBuf,
}

impl Import {
    pub(crate) fn run(&self, output: Output) -> Ending {
        match self {
            Self::Bazinga(command) => command.run(output),
        }
    }
}

impl Bazinga {
    fn run(&self, output: Output) -> Ending {
        let text = input::text(&self.file, LARGEST_FILE)?;
        let file = self.file.display().to_string();
        let imported = bazinga::import(&file, &text)
            .map_err(|problems| Failure::invalid(problems, [(file, text)].into_iter().collect()))?;
        if output.json {
            output.document(&json!({ "workflow": imported.yaml, "notes": imported.notes }))?;
            return Ok(Exit::Done);
        }
        let mut notes = Text::default();
        for note in &imported.notes {
            notes.line(format_args!("note: {note}"));
        }
        complain(&notes);
        output.data(&imported.yaml)?;
        Ok(Exit::Done)
    }
}
