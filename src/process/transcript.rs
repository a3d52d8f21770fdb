//! What a program printed, kept for people: both streams as they came, up to a limit.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

const NOTE: &[u8] = b"\n[Interlock: the rest was not kept]\n";

pub(super) struct Transcript {
    file: File,
    room: u64,
    is_full: bool,
}

impl Transcript {
    /// For its owner only: programs print secrets.
    pub(super) fn create(path: &Path, room: u64) -> io::Result<Self> {
        // An agent can guess the name. A link that it left there would be written through.
        match fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
        Ok(Self { file, room, is_full: false })
    }

    pub(super) fn keep(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.is_full {
            return Ok(());
        }
        let kept = bytes.len().min(usize::try_from(self.room).unwrap_or(usize::MAX));
        self.file.write_all(&bytes[..kept])?;
        self.room -= kept as u64;
        if kept < bytes.len() {
            self.is_full = true;
            self.file.write_all(NOTE)?;
        }
        Ok(())
    }
}
