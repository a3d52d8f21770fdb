//! Folders that are kept for later checkouts: copied without following links, and known to be untouched.

use std::fs::{self, File, FileTimes, Metadata};
use std::io;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

/// Copies a file, a link or a folder with its times and modes. The copy shares no file with the original, so that a command
/// that writes into it cannot change what is kept. The file system may share their blocks until then.
pub(super) fn copy_tree(from: &Path, to: &Path) -> io::Result<()> {
    let found = fs::symlink_metadata(from)?;
    if found.is_symlink() {
        return std::os::unix::fs::symlink(fs::read_link(from)?, to);
    }
    if found.is_dir() {
        fs::create_dir(to)?;
        for entry in fs::read_dir(from)? {
            let entry = entry?;
            copy_tree(&entry.path(), &to.join(entry.file_name()))?;
        }
    } else if found.is_file() {
        fs::copy(from, to)?;
    } else {
        return Ok(());
    }
    let times = FileTimes::new().set_modified(found.modified()?).set_accessed(found.accessed()?);
    File::open(to)?.set_times(times)?;
    fs::set_permissions(to, found.permissions())
}

/// Where something that is kept goes in a checkout, with the folders above it. A path that the tree has itself is refused: it
/// may be a link that leads elsewhere.
pub(super) fn free_place(folder: &Path, path: &Path) -> io::Result<PathBuf> {
    let mut at = folder.to_owned();
    let above = path.parent().unwrap_or(Path::new(""));
    for part in above.components() {
        at.push(part);
        match fs::symlink_metadata(&at) {
            Ok(found) if found.is_dir() => {}
            Ok(_) => return Err(in_the_way(&at, folder)),
            Err(_) => fs::create_dir(&at)?,
        }
    }
    let to = folder.join(path);
    if fs::symlink_metadata(&to).is_ok() {
        return Err(in_the_way(&to, folder));
    }
    Ok(to)
}

/// Moves a file or a folder, also to another file system.
pub(super) fn move_tree(from: &Path, to: &Path) -> io::Result<()> {
    fs::rename(from, to).or_else(|_| copy_tree(from, to))
}

fn in_the_way(path: &Path, folder: &Path) -> io::Error {
    let shown = path.strip_prefix(folder).unwrap_or(path).display();
    io::Error::new(io::ErrorKind::AlreadyExists, format!("the tree has `{shown}` itself"))
}

/// Detects whether anything below a path was changed: names, kinds, sizes, inodes and times. The time of the last
/// change of an inode cannot be set by a program.
pub(super) fn fingerprint(path: &Path) -> io::Result<[u8; 32]> {
    let mut hasher = blake3::Hasher::new();
    walk(path, &mut hasher)?;
    Ok(*hasher.finalize().as_bytes())
}

fn walk(path: &Path, hasher: &mut blake3::Hasher) -> io::Result<()> {
    let found = fs::symlink_metadata(path)?;
    hasher.update(std::os::unix::ffi::OsStrExt::as_bytes(path.as_os_str()));
    hasher.update(&[0]);
    for number in numbers(&found) {
        hasher.update(&number.to_le_bytes());
    }
    if found.is_dir() {
        let mut names: Vec<PathBuf> = fs::read_dir(path)?.map(|entry| Ok(entry?.path())).collect::<io::Result<_>>()?;
        names.sort();
        names.iter().try_for_each(|name| walk(name, hasher))?;
    }
    Ok(())
}

/// The state of a file, without its content.
pub(super) fn numbers(found: &Metadata) -> [i64; 8] {
    let size = if found.is_dir() { 0 } else { found.len() };
    let unsigned = |number: u64| i64::from_ne_bytes(number.to_ne_bytes());
    [
        i64::from(found.permissions().mode()),
        unsigned(size),
        unsigned(found.ino()),
        unsigned(found.dev()),
        found.mtime(),
        found.mtime_nsec(),
        found.ctime(),
        found.ctime_nsec(),
    ]
}
