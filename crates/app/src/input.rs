//! Files and stdin, read with a limit.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use interlock_core::code::Code;

use crate::error::{CommandError, CommandExit};

/// Reads a file, or stdin for `-`. At most one byte more than `limit` is read: enough for what checks the size to see
/// it, and a device without an end cannot fill the memory.
pub fn bytes(path: &Path, limit: u64) -> Result<Vec<u8>, CommandError> {
    let mut bytes = Vec::new();
    let at_most = limit.saturating_add(1);
    let result = if path.as_os_str() == "-" {
        io::stdin().lock().take(at_most).read_to_end(&mut bytes)
    } else {
        File::open(path).and_then(|file| file.take(at_most).read_to_end(&mut bytes))
    };
    match result {
        Ok(_) => Ok(bytes),
        Err(error) => {
            Err(CommandError::new(CommandExit::Invalid, Code::FileUnreadable, format!("{}: {error}", path.display())))
        }
    }
}

/// Reads text.
pub fn text(path: &Path, limit: u64) -> Result<String, CommandError> {
    to_text(path, bytes(path, limit)?)
}

/// The bytes of a file as text.
pub(crate) fn to_text(path: &Path, bytes: Vec<u8>) -> Result<String, CommandError> {
    String::from_utf8(bytes).map_err(|error| {
        let place = error.utf8_error().valid_up_to();
        let message = format!("{}: not UTF-8 text from byte {place} on", path.display());
        CommandError::new(CommandExit::Invalid, Code::FileUnreadable, message)
    })
}
