//! The only way to stdout and stderr.

use std::io::{self, Write as _};

use interlock_core::code::Code;
use interlock_system::sanitise;
use interlock_system::text::Text;
use serde::Serialize;

use crate::failure::{Exit, Failure};

/// Where the result of a command goes.
#[derive(Clone, Copy)]
pub struct Output {
    pub json: bool,
}

impl Output {
    /// The one JSON document of a command.
    pub fn document(self, document: &impl Serialize) -> Result<(), Failure> {
        let mut text = serde_json::to_string_pretty(document)
            .map_err(|error| Failure::new(Exit::Bug, Code::Bug, format!("a result is not JSON: {error}")))?;
        text.push('\n');
        self.data(&sanitise::json(&text))
    }

    /// What another program reads, byte for byte.
    pub fn data(self, data: &str) -> Result<(), Failure> {
        let mut stdout = io::stdout().lock();
        written(stdout.write_all(data.as_bytes()).and_then(|()| stdout.flush()))
    }

    /// What people read: coloured on a terminal, plain elsewhere.
    pub fn text(self, text: &Text) -> Result<(), Failure> {
        let mut stdout = anstream::stdout().lock();
        let shown = text.for_stream(&io::stdout());
        written(stdout.write_all(shown.as_bytes()).and_then(|()| stdout.flush()))
    }
}

/// Diagnostics. There is nowhere left to say that stderr cannot be written to.
pub fn complain(text: &Text) {
    let mut stderr = anstream::stderr().lock();
    let _ = stderr.write_all(text.for_stream(&io::stderr()).as_bytes()).and_then(|()| stderr.flush());
}

fn written(result: io::Result<()>) -> Result<(), Failure> {
    match result {
        Ok(()) => Ok(()),
        // The reader has seen enough: `interlock … | head` is no failure.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Err(Failure::reader_gone()),
        Err(error) => {
            Err(Failure::new(Exit::Unavailable, Code::OutputFailed, format!("stdout cannot be written to: {error}")))
        }
    }
}
