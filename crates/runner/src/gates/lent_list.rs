//! Kept folders that a checkout has for a while, instead of a copy.
//!
//! Copying thousands of files takes longer than most checks. A folder that commands leave as it was is moved into the next
//! checkout. A list says how each of its files was before the commands of a gate ran. Afterwards everything that is not in
//! the list is removed. If a file of the list is missing then, a command has changed it, and the folder is useless: the time
//! of the last change of an inode cannot be set by a program.

use std::collections::BTreeSet;
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use crate::gates::copy::numbers;
use interlock_system::files;
use interlock_system::files::remove;

type PathStamp = [u8; 32];

/// A stamp for every file and folder that a checkout has from a kept folder: its path and its state.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct LentList(BTreeSet<PathStamp>);

impl LentList {
    /// Notes how everything below these paths is now. Paths that are not there are left out.
    pub(super) fn of(checkout: &Path, paths: &[PathBuf]) -> io::Result<Self> {
        let mut list = Self::default();
        for path in paths.iter().filter(|path| is_real(checkout, path)) {
            list.note(checkout, path)?;
        }
        Ok(list)
    }

    fn note(&mut self, checkout: &Path, path: &Path) -> io::Result<()> {
        let found = fs::symlink_metadata(checkout.join(path))?;
        self.0.insert(stamp_of(path, &found));
        if found.is_dir() {
            for entry in fs::read_dir(checkout.join(path))? {
                self.note(checkout, &path.join(entry?.file_name()))?;
            }
        }
        Ok(())
    }

    /// Removes entries that are not in the list. Returns whether every entry of the list is there.
    pub(super) fn restore(&self, checkout: &Path, paths: &[PathBuf]) -> io::Result<bool> {
        let mut there = 0;
        for path in paths.iter().filter(|path| is_real(checkout, path)) {
            there += self.restore_path(checkout, path)?;
        }
        Ok(there == self.0.len())
    }

    fn restore_path(&self, checkout: &Path, path: &Path) -> io::Result<usize> {
        let full = checkout.join(path);
        let found = fs::symlink_metadata(&full)?;
        if !self.0.contains(&stamp_of(path, &found)) {
            return remove(&full).map(|()| 0);
        }
        let mut there = 1;
        if found.is_dir() {
            for entry in fs::read_dir(&full)? {
                there += self.restore_path(checkout, &path.join(entry?.file_name()))?;
            }
        }
        Ok(there)
    }

    /// Reads a list that was written with this key.
    pub(super) fn read(file: &Path, key: &[u8; 32]) -> Option<Self> {
        let bytes = files::read_plain(file).ok()?;
        let (seal, stamps) = bytes.split_first_chunk::<32>()?;
        let is_ours = blake3::keyed_hash(key, stamps) == *seal;
        is_ours.then(|| Self(stamps.as_chunks().0.iter().copied().collect()))
    }

    pub(super) fn write(&self, file: &Path, key: &[u8; 32]) -> io::Result<()> {
        let stamps: Vec<u8> = self.0.iter().flatten().copied().collect();
        let seal = blake3::keyed_hash(key, &stamps);
        fs::write(file, [seal.as_bytes().as_slice(), &stamps].concat())
    }
}

/// Of a folder only the mode counts: files that are added to it change its times.
fn stamp_of(path: &Path, found: &Metadata) -> PathStamp {
    let mut hasher = blake3::Hasher::new();
    let state = numbers(found);
    let counted = if found.is_dir() { state.get(..1).unwrap_or_default() } else { &state };
    counted.iter().for_each(|number| {
        hasher.update(&number.to_le_bytes());
    });
    hasher.update(path.as_os_str().as_bytes());
    *hasher.finalize().as_bytes()
}

/// Is this path in the checkout itself, and not behind a link?
pub(super) fn is_real(checkout: &Path, path: &Path) -> bool {
    let real = checkout.join(path).canonicalize();
    real.is_ok_and(|real| checkout.canonicalize().is_ok_and(|of| real == of.join(path)))
}
