//! What a repository of Interlock's own has to be like before git is started on it: it lies within the reach of agents,
//! and git obeys what it finds there.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use crate::git::{Error, Result, remove};

#[derive(Debug)]
pub(super) struct Ground {
    path: PathBuf,
    /// The device and number of the folder: another one in its place, or a link, is not it.
    identity: (u64, u64),
    /// Files that git obeys, and what Interlock wrote there; `None`: there is no such file.
    files: Vec<(&'static str, Option<String>)>,
}

impl Ground {
    /// The folder as it is now, which has to stay the same one.
    pub(super) fn of(path: &Path, files: Vec<(&'static str, Option<String>)>) -> Result<Self> {
        Ok(Self { path: path.to_owned(), identity: identity(path)?, files })
    }

    /// Makes sure of it.
    pub(super) fn settle(&self) -> Result<()> {
        if identity(&self.path).ok() != Some(self.identity) {
            let message = format!("{} is gone, or something else is in its place", self.path.display());
            return Err(Error::odd(message)
                .help("what agents have done lies there: restore the folder, or start a new session"));
        }
        for (name, text) in &self.files {
            let path = self.path.join(name);
            match text {
                None => remove(&path)?,
                Some(text) => keep(&path, text)?,
            }
        }
        Ok(())
    }
}

fn identity(path: &Path) -> Result<(u64, u64)> {
    let found = fs::symlink_metadata(path)?;
    if !found.is_dir() {
        return Err(Error::odd(format!("{} is not a folder", path.display())));
    }
    Ok((found.dev(), found.ino()))
}

/// A plain file with this text. A link, or a file that has another name as well, would lead to somebody else's.
fn keep(path: &Path, text: &str) -> Result<()> {
    let is_plain = fs::symlink_metadata(path).is_ok_and(|found| found.is_file() && found.nlink() == 1);
    if is_plain && fs::read(path).is_ok_and(|found| found == text.as_bytes()) {
        return Ok(());
    }
    if !is_plain {
        remove(path)?;
    }
    let partial = crate::files::partial(path);
    remove(&partial)?;
    Ok(fs::write(&partial, text).and_then(|()| fs::rename(&partial, path))?)
}
