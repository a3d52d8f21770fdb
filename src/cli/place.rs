//! Where the store and its keys are.

use std::env;
use std::path::{Path, PathBuf};

use interlock_core::code::Code;
use interlock_core::id::Name;

use crate::engine::Engine;
use crate::failure::{Exit, Failure};
use crate::keys::Keyring;
use crate::store::sqlite::Sqlite;
use crate::store::{Fault, Stored};

/// The folder of a project's store, and the store in it.
pub(crate) const FOLDER: &str = ".interlock";
const FILE: &str = "interlock.db";

/// How a command finds its store.
#[derive(Clone, Debug, Default)]
pub(crate) struct Place {
    /// As `--store` names it.
    named: Option<String>,
}

impl Place {
    pub(crate) fn new(named: Option<String>) -> Self {
        Self { named: named.or_else(|| env::var("INTERLOCK_STORE").ok().filter(|named| !named.is_empty())) }
    }

    /// The file of the store: as named, or found from this folder upward.
    pub(crate) fn file(&self) -> Stored<PathBuf> {
        match &self.named {
            Some(url) if url.starts_with("postgres://") || url.starts_with("postgresql://") => {
                let message = "this version of Interlock keeps its store in a file; a server cannot be named yet";
                Err(Fault::new(Code::StoreFailed, message).help("name a path with --store"))
            }
            Some(path) => Ok(PathBuf::from(path)),
            None => {
                let here = env::current_dir().map_err(|error| Fault::new(Code::NoStore, error.to_string()))?;
                let found = here.ancestors().map(in_folder).find(|path| path.exists());
                found.ok_or_else(|| {
                    Fault::new(Code::NoStore, "there is no store here, nor in a folder above")
                        .help("`interlock init` makes one; --store or INTERLOCK_STORE names another")
                })
            }
        }
    }

    /// Where `init` puts the store of a project.
    pub(crate) fn file_for(&self, folder: &Path) -> PathBuf {
        self.named.as_ref().map_or_else(|| in_folder(folder), PathBuf::from)
    }

    /// The store, to look at.
    pub(crate) fn store(&self) -> Result<Sqlite, Failure> {
        Ok(Sqlite::open(&self.file()?)?)
    }

    /// The engine, to decide with.
    pub(crate) fn engine(&self) -> Result<Engine, Failure> {
        let store = self.store()?;
        let folder = store.path().parent().unwrap_or(Path::new(""));
        let output = folder.join("sessions");
        let output = std::path::absolute(&output).unwrap_or(output).display().to_string();
        Ok(Engine::open(Box::new(store), keyring()?, output)?)
    }
}

fn in_folder(folder: &Path) -> PathBuf {
    folder.join(FOLDER).join(FILE)
}

/// The keys of this user.
pub(crate) fn keyring() -> Result<Keyring, Failure> {
    let absolute = |name: &str| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let folder = absolute("XDG_CONFIG_HOME").or_else(|| absolute("HOME").map(|home| home.join(".config")));
    let Some(folder) = folder else {
        let message = "there is no configuration folder: neither HOME nor XDG_CONFIG_HOME is set";
        return Err(Failure::new(Exit::Unavailable, Code::KeyMissing, message));
    };
    let file = env::var_os("INTERLOCK_KEY_FILE").map(PathBuf::from).filter(|path| !path.as_os_str().is_empty());
    Ok(Keyring::new(folder.join("interlock"), file))
}

/// The name of the person at the keyboard.
pub(crate) fn person(named: Option<&str>) -> Name {
    let user = || env::var("USER").ok().filter(|user| !user.is_empty());
    Name::from(named.map(str::to_owned).or_else(user).unwrap_or_else(|| "operator".to_owned()))
}
