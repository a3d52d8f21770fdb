//! Files that are there whole, or not at all, whenever the machine stops.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Component, Path, PathBuf};

use rustix::fs::OFlags;

/// Puts a file where none is. Whether it did: one that is there already is kept.
pub fn put_new(path: &Path, bytes: &[u8]) -> io::Result<bool> {
    if fs::symlink_metadata(path).is_ok() {
        return Ok(false);
    }
    let partial = partial(path);
    let written = OpenOptions::new().write(true).create(true).truncate(true).open(&partial).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()
    });
    let placed = written.and_then(|()| place(&partial, path));
    if placed.is_err() {
        let _ = fs::remove_file(&partial);
    }
    match placed {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        other => other.map(|()| true),
    }
}

/// Reads a plain file from a place where agents can write. It follows no link and waits for nothing: a pipe would never
/// end.
pub fn read_plain(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    plain(OpenOptions::new().read(true), path)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The last bytes of such a file.
pub fn read_end(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut file = plain(OpenOptions::new().read(true), path)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(most)))?;
    let mut bytes = Vec::new();
    file.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Adds to such a file, or makes it.
pub fn add_plain(path: &Path, bytes: &[u8]) -> io::Result<()> {
    plain(OpenOptions::new().create(true).append(true), path)?.write_all(bytes)
}

/// Has a plain file exactly this in it? One of another length is not read.
pub fn is_same(path: &Path, bytes: &[u8]) -> bool {
    let is_as_long = fs::symlink_metadata(path).is_ok_and(|found| found.len() == bytes.len() as u64);
    is_as_long && read_plain(path).is_ok_and(|found| found == bytes)
}

/// Takes away what is neither file, folder nor link, all the way down: a program that opens a pipe waits for ever.
pub fn sweep(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => sweep(&entry.path()),
            Ok(kind) if kind.is_file() || kind.is_symlink() => {}
            _ => drop(fs::remove_file(entry.path())),
        }
    }
}

fn plain(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    let flags = i32::try_from((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits()).unwrap_or(0);
    let file = options.custom_flags(flags).open(path)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(io::Error::other("it is not a plain file")) }
}

/// The path of a temporary file beside a file that is being written. One left by a crash is ignored.
pub fn partial(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".partial-{}", std::process::id()));
    PathBuf::from(name)
}

/// Gives a finished file its name, if nothing has it. Where that fails, nothing has the name.
pub fn place(partial: &Path, path: &Path) -> io::Result<()> {
    match fs::hard_link(partial, path) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Err(error),
        // Not every file system has links.
        Err(_) if fs::symlink_metadata(path).is_ok() => return Err(io::ErrorKind::AlreadyExists.into()),
        Err(_) => fs::rename(partial, path)?,
    }
    let settled = removed(partial).and_then(|()| sync_folder(path));
    if settled.is_err() {
        let _ = fs::remove_file(path);
    }
    settled
}

fn removed(path: &Path) -> io::Result<()> {
    fs::remove_file(path).or_else(|error| if error.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(error) })
}

/// Waits until the name of a file is on the disk, as its content is.
pub fn sync_folder(path: &Path) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(folder)?.sync_all()
}

/// Removes whatever is there, without following links.
pub fn remove(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_dir() => fs::remove_dir_all(path).or_else(|_| {
            open_up(path);
            fs::remove_dir_all(path)
        }),
        Ok(_) => fs::remove_file(path),
        Err(_) => Ok(()),
    }
}

/// Folders that an agent has closed keep what is in them from being removed.
fn open_up(folder: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    let _ = fs::set_permissions(folder, fs::Permissions::from_mode(0o700));
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            open_up(&entry.path());
        }
    }
}

/// A file beside a folder, named after it.
pub fn beside(folder: &Path, ending: &str) -> PathBuf {
    let mut name: std::ffi::OsString = folder.as_os_str().to_owned();
    name.push(".");
    name.push(ending);
    PathBuf::from(name)
}

/// Makes a folder; what is in its place goes, a link too.
pub fn real_folder(folder: &Path) -> io::Result<()> {
    if !fs::symlink_metadata(folder).is_ok_and(|found| found.is_dir()) {
        remove(folder)?;
    }
    fs::create_dir_all(folder)
}

/// Whether a path is inside a checkout and not part of its repository: what `keeps` and `caches` may name.
pub fn is_inside(path: &Path) -> bool {
    let plain = path.components().all(|part| matches!(part, Component::Normal(name) if name != ".git"));
    plain && path.components().next().is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_files_are_read_and_added_to() {
        let folder = std::env::temp_dir().join(format!("interlock-plain-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        let [file, link, pipe] = ["file", "link", "pipe"].map(|name| folder.join(name));
        add_plain(&file, b"one").unwrap();
        add_plain(&file, b" two").unwrap();
        assert_eq!(read_plain(&file).unwrap(), b"one two");
        std::os::unix::fs::symlink(&file, &link).unwrap();
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        for odd in [&link, &pipe, &folder] {
            assert!(read_plain(odd).is_err() && add_plain(odd, b"x").is_err(), "{}", odd.display());
        }
        assert_eq!(fs::read(&file).unwrap(), b"one two");
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn what_is_there_is_kept_and_nothing_is_left_beside_it() {
        let folder = std::env::temp_dir().join(format!("interlock-files-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join("file");
        assert!(put_new(&path, b"one").unwrap());
        assert!(!put_new(&path, b"two").unwrap());
        let half = partial(&path);
        fs::write(&half, b"three").unwrap();
        assert_eq!(place(&half, &path).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        fs::remove_file(&half).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"one");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
        fs::remove_dir_all(&folder).unwrap();
    }
}
