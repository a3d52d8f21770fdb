//! The only way to stdout and stderr.

use std::io::{self, Write as _};

use interlock_core::code::Code;
use interlock_system::sanitise;
use interlock_system::text::TerminalText;
use serde::Serialize;

use crate::error::{CommandError, CommandExit};

/// Where the result of a command goes.
#[derive(Clone, Copy)]
pub struct CommandOutput {
    pub json: bool,
}

impl CommandOutput {
    /// The one JSON document of a command.
    pub fn document(self, document: &impl Serialize) -> Result<(), CommandError> {
        let mut text = serde_json::to_string_pretty(document).map_err(|error| {
            CommandError::new(CommandExit::Bug, Code::Bug, format!("a result is not JSON: {error}"))
        })?;
        text.push('\n');
        self.data(&sanitise::json(&text))
    }

    /// Output for another program, byte for byte.
    pub fn data(self, data: &str) -> Result<(), CommandError> {
        let mut stdout = io::stdout().lock();
        written(stdout.write_all(data.as_bytes()).and_then(|()| stdout.flush()))
    }

    /// Output for people: coloured on a terminal, plain elsewhere.
    pub fn text(self, text: &TerminalText) -> Result<(), CommandError> {
        let mut stdout = anstream::stdout().lock();
        let shown = text.for_stream(&io::stdout());
        written(stdout.write_all(shown.as_bytes()).and_then(|()| stdout.flush()))
    }
}

/// Diagnostics. There is nowhere left to say that stderr cannot be written to.
pub fn print_diagnostics(text: &TerminalText) {
    let mut stderr = anstream::stderr().lock();
    let _ = stderr.write_all(text.for_stream(&io::stderr()).as_bytes()).and_then(|()| stderr.flush());
}

fn written(result: io::Result<()>) -> Result<(), CommandError> {
    match result {
        Ok(()) => Ok(()),
        // The reader has seen enough: `interlock … | head` is no failure.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Err(CommandError::reader_gone()),
        Err(error) => Err(CommandError::new(
            CommandExit::Unavailable,
            Code::OutputFailed,
            format!("stdout cannot be written to: {error}"),
        )),
    }
}
