//! Finds a program as the system would, before it is started: what is not there is an error here, and no exit code.

use std::ffi::OsStr;
use std::io::{self, ErrorKind};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};

/// The search path of the system, used when `PATH` is not set.
const USUAL: &str = "/bin:/usr/bin";

/// The program's path. `folder`: where it will run, and relative paths start; `path`: the `PATH` it will see.
pub(super) fn program(name: &OsStr, folder: &Path, path: Option<&OsStr>) -> io::Result<PathBuf> {
    if name.is_empty() {
        return Err(io::Error::new(ErrorKind::NotFound, "no program was named"));
    }
    if name.as_bytes().contains(&b'/') {
        let place = folder.join(name);
        return runnable(&place).map(|()| place).map_err(|kind| missing(name, kind));
    }
    let mut worst = ErrorKind::NotFound;
    for entry in std::env::split_paths(path.unwrap_or(OsStr::new(USUAL))) {
        let place = folder.join(entry).join(name);
        match runnable(&place) {
            Ok(()) => return Ok(place),
            Err(ErrorKind::PermissionDenied) => worst = ErrorKind::PermissionDenied,
            Err(_) => {}
        }
    }
    Err(missing(name, worst))
}

fn runnable(place: &Path) -> Result<(), ErrorKind> {
    let found = std::fs::metadata(place).map_err(|error| error.kind())?;
    if found.is_file() && access(place, Access::EXEC_OK).is_ok() { Ok(()) } else { Err(ErrorKind::PermissionDenied) }
}

fn missing(name: &OsStr, kind: ErrorKind) -> io::Error {
    let name = name.display();
    let said = match kind {
        ErrorKind::PermissionDenied => format!("{name} cannot be executed"),
        _ => format!("{name} was not found"),
    };
    io::Error::new(kind, said)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(name: &str, path: &str) -> Result<PathBuf, ErrorKind> {
        program(OsStr::new(name), Path::new("/"), Some(OsStr::new(path))).map_err(|error| error.kind())
    }

    #[test]
    fn programs_are_found_as_the_system_finds_them() {
        assert_eq!(look("sh", "/nowhere:/bin"), Ok(PathBuf::from("/bin/sh")));
        assert_eq!(look("bin/sh", ""), Ok(PathBuf::from("/bin/sh")));
        assert_eq!(look("passwd", "/etc"), Err(ErrorKind::PermissionDenied));
        assert_eq!(look("passwd", "/etc:/usr/bin"), Ok(PathBuf::from("/usr/bin/passwd")));
        assert_eq!(look("/etc", ""), Err(ErrorKind::PermissionDenied));
        assert_eq!(look("no such program", "/bin"), Err(ErrorKind::NotFound));
        assert_eq!(look("", "/bin"), Err(ErrorKind::NotFound));
    }
}
