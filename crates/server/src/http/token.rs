//! The token of a server: made once for each store, a file of the user, shown by nothing.

use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use interlock_core::code::Code;

use interlock_app::error::{CommandError, CommandExit};
use interlock_store::keys::SecretKey;
use interlock_system::files;

const FILE: &str = "serve.token";

pub struct BearerToken {
    pub file: PathBuf,
    pub secret: SecretKey,
}

impl BearerToken {
    /// The one in this folder; made, if there is none yet.
    pub fn in_folder(folder: &Path) -> Result<Self, CommandError> {
        let file = folder.join(FILE);
        let unusable = |why: String| CommandError::new(CommandExit::Unavailable, Code::ServerToken, why);
        if !file.exists() {
            make(folder, &file).map_err(|error| unusable(format!("{} cannot be made: {error}", file.display())))?;
        }
        let read = || -> io::Result<(String, u32)> {
            Ok((fs::read_to_string(&file)?, fs::metadata(&file)?.permissions().mode()))
        };
        let (text, mode) = read().map_err(|error| unusable(format!("{} cannot be read: {error}", file.display())))?;
        if mode & 0o077 != 0 {
            let message = format!("{} can be read by other users", file.display());
            let help = "delete it: the next start makes a new one, which clients have to be told";
            return Err(unusable(message).help(help));
        }
        match SecretKey::parse(&text) {
            Some(secret) => Ok(Self { file, secret }),
            None => Err(unusable(format!("{} does not hold a token", file.display()))
                .help("delete it: the next start makes a new one, which clients have to be told")),
        }
    }
}

/// Of two servers that start at once, one makes it.
fn make(folder: &Path, file: &Path) -> io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let partial = files::partial(file);
    let mut made = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&partial)?;
    let written = writeln!(made, "{}", SecretKey::new().reveal()).and_then(|()| made.sync_all());
    let placed = written.and_then(|()| files::place(&partial, file));
    if placed.is_err() {
        let _ = fs::remove_file(&partial);
    }
    match placed {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        other => other,
    }
}
