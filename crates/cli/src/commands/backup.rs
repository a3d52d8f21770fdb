//! `interlock backup`

use std::path::PathBuf;

use clap::Args;
use serde_json::json;

use crate::commands::examples;
use interlock_app::failure::Ending;
use interlock_app::failure::Exit;
use interlock_app::output::Output;
use interlock_app::place::Place;
use interlock_system::text::Text;

/// Copy the store to a file, consistently, while others go on writing
///
/// The keys are not in it: keep a copy of their folder as well.
#[derive(Args)]
#[command(after_help = examples!("interlock backup ../interlock-monday.db"))]
pub(crate) struct Backup {
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

impl Backup {
    pub(crate) fn run(&self, output: Output, place: &Place) -> Ending {
        place.store()?.back_up(&self.file)?;
        let bytes = std::fs::metadata(&self.file).map_or(0, |file| file.len());
        let file = self.file.display().to_string();
        if output.json {
            output.document(&json!({ "backup": file, "bytes": bytes }))?;
        } else {
            let mut text = Text::default();
            text.line(format_args!("{file}: {bytes} bytes"));
            output.text(&text)?;
        }
        Ok(Exit::Done)
    }
}
