//! Large files that a filter keeps beside the repository, as Git LFS does: a commit has their names alone, so a result is
//! whole only if they come with it.

use std::fs::{self, File};
use std::io::{ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use crate::git::{GitError, GitResult};
use interlock_system::files;

/// Puts what agents have added where the user's repository looks for it. What is there already stays.
pub(super) fn hand_over(from: &Path, to: &Path) -> GitResult<()> {
    for (name, path) in objects(&from.join("objects")) {
        let (Some(first), Some(second)) = (name.get(..2), name.get(2..4)) else { continue };
        let folder = to.join("objects").join(first).join(second);
        let place = folder.join(&name);
        if fs::symlink_metadata(&place).is_err() {
            let taken = fs::create_dir_all(&folder).and_then(|()| take(&path, &place, &name));
            taken.map_err(|error| {
                GitError::odd(format!("the large file {name} cannot be handed over: {error}"))
                    .help(format!("make room in {}, and run again", to.display()))
            })?;
        }
    }
    Ok(())
}

/// Those that lie in folders by the beginning of their names, which are hashes. Links are not followed.
fn objects(folder: &Path) -> Vec<(String, PathBuf)> {
    let mut found = Vec::new();
    let mut folders = vec![(folder.to_owned(), 0)];
    while let Some((folder, depth)) = folders.pop() {
        if !fs::symlink_metadata(&folder).is_ok_and(|about| about.is_dir()) {
            continue;
        }
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let (Ok(kind), Ok(name)) = (entry.file_type(), entry.file_name().into_string()) else { continue };
            if kind.is_dir() && depth < 2 {
                folders.push((entry.path(), depth + 1));
            } else if kind.is_file()
                && depth == 2
                && name.len() == 64
                && name.bytes().all(|byte| byte.is_ascii_hexdigit())
            {
                found.push((name, entry.path()));
            }
        }
    }
    found
}

/// The object is copied, not linked: its writer may still have it open. Objects whose hash does not match their name
/// are skipped.
fn take(from: &Path, to: &Path, name: &str) -> std::io::Result<()> {
    let partial = files::partial(to);
    let copied = copy(from, &partial);
    let placed = match &copied {
        Ok(hash) if hash == name => files::place(&partial, to),
        Ok(_) => Ok(()),
        Err(error) => Err(std::io::Error::new(error.kind(), error.to_string())),
    };
    let _ = fs::remove_file(&partial);
    match placed {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        placed => placed,
    }
}

/// The hash of what was copied.
fn copy(from: &Path, to: &Path) -> std::io::Result<String> {
    let (mut from, mut to) = (File::open(from)?, File::create(to)?);
    let (mut hash, mut buffer) = (Sha256::new(), vec![0; 1 << 16]);
    loop {
        let read = from.read(&mut buffer)?;
        let Some(bytes) = buffer.get(..read).filter(|bytes| !bytes.is_empty()) else { break };
        hash.update(bytes);
        to.write_all(bytes)?;
    }
    to.sync_all()?;
    Ok(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}
