//! The output of a program, kept for people: both streams in their order of arrival, up to a limit.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;

use rustix::fs::OFlags;

const NOTE: &[u8] = b"\n[Interlock: the rest was not kept]\n";

pub(super) struct OutputTranscript {
    file: File,
    room: u64,
    is_full: bool,
}

impl OutputTranscript {
    /// For its owner only: programs print secrets.
    pub(super) fn create(path: &Path, room: u64) -> io::Result<Self> {
        // Programs can guess the name: what a link that they leave there leads to would be overwritten, and a pipe waited for.
        if fs::symlink_metadata(path).is_ok_and(|found| is_trap(&found)) {
            fs::remove_file(path)?;
        }
        let flags = i32::try_from(OFlags::NOFOLLOW.bits()).unwrap_or(0);
        let mut options = OpenOptions::new();
        let file = options.write(true).create(true).truncate(true).mode(0o600).custom_flags(flags).open(path)?;
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

fn is_trap(found: &fs::Metadata) -> bool {
    let kind = found.file_type();
    kind.is_symlink() || kind.is_fifo() || (kind.is_file() && found.nlink() > 1)
}
