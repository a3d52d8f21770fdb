//! Where the store and its keys are.

use std::env;
use std::path::{Path, PathBuf};

use interlock_core::code::Code;
use interlock_core::id::Name;
use interlock_core::naming;
use interlock_core::provenance::Channel;

use crate::error::{CommandError, CommandExit};
use interlock_engine::Engine;
use interlock_store::keys::Keyring;
use interlock_store::sqlite::SqliteStore;
use interlock_store::{StoreError, StoreResult};

/// The folder of a project's store, and the store in it.
pub const FOLDER: &str = ".interlock";
const FILE: &str = "interlock.db";

/// How a command finds its store.
#[derive(Clone, Debug, Default)]
pub struct AppContext {
    /// As `--store` names it.
    named: Option<String>,
    /// Looked for from here, if not from the working folder.
    from: Option<PathBuf>,
    /// The channel that is recorded for commands of this context.
    via: Option<Channel>,
    /// A client waits for this command, and not for long: store timeouts are short.
    brief: bool,
}

impl AppContext {
    pub fn new(named: Option<String>) -> Self {
        let named = named.or_else(|| env::var("INTERLOCK_STORE").ok().filter(|named| !named.is_empty()));
        Self { named, from: None, via: None, brief: false }
    }

    /// The same, as seen from another folder.
    pub fn with_folder(&self, folder: &Path) -> Self {
        Self { from: Some(folder.to_owned()), ..self.clone() }
    }

    /// The same, with everything that is done coming this way.
    pub fn via(&self, via: Channel) -> Self {
        Self { via: Some(via), ..self.clone() }
    }

    /// The same, with a store that is given up soon if others keep it busy.
    pub fn with_short_timeout(&self) -> Self {
        Self { brief: true, ..self.clone() }
    }

    /// The file of the store: as named, or found from this folder upward.
    pub fn file(&self) -> StoreResult<PathBuf> {
        match &self.named {
            Some(url) if url.starts_with("postgres://") || url.starts_with("postgresql://") => {
                let message = "this version of Interlock keeps its store in a file; a server cannot be named yet";
                Err(StoreError::new(Code::StoreFailed, message).help("name a path with --store"))
            }
            Some(path) => Ok(PathBuf::from(path)),
            None => {
                let here = self.here().map_err(|error| StoreError::new(Code::NoStore, error.to_string()))?;
                let found = here.ancestors().map(in_folder).find(|path| path.exists());
                found.ok_or_else(|| {
                    StoreError::new(Code::NoStore, "there is no store here, nor in a folder above")
                        .help("`interlock init` makes one; --store or INTERLOCK_STORE names another")
                })
            }
        }
    }

    /// Where `init` puts the store of a project.
    pub fn file_for(&self, folder: &Path) -> PathBuf {
        self.named.as_ref().map_or_else(|| in_folder(folder), PathBuf::from)
    }

    /// The store, to look at.
    pub fn store(&self) -> Result<SqliteStore, CommandError> {
        let file = self.file()?;
        Ok(if self.brief { SqliteStore::open_briefly(&file)? } else { SqliteStore::open(&file)? })
    }

    /// The engine, to decide with.
    pub fn engine(&self) -> Result<Engine, CommandError> {
        let output = self.folder()?.join("sessions");
        let output = std::path::absolute(&output).unwrap_or(output).display().to_string();
        self.engine_with(output)
    }

    /// The engine, for agents that leave their handoffs in this folder.
    pub fn engine_with(&self, output: String) -> Result<Engine, CommandError> {
        let engine = Engine::open(Box::new(self.store()?), keyring()?, output)?;
        Ok(match &self.via {
            Some(via) => engine.via(via.clone()),
            None => engine,
        })
    }

    /// The folder that the store lies in.
    pub fn folder(&self) -> Result<PathBuf, CommandError> {
        Ok(self.file()?.parent().unwrap_or(Path::new("")).to_owned())
    }

    /// The project that the store belongs to: the folder that has it, or this one.
    pub fn project(&self) -> Result<PathBuf, CommandError> {
        let folder = std::path::absolute(self.folder()?).unwrap_or_default();
        if folder.file_name().is_some_and(|name| name == FOLDER)
            && let Some(project) = folder.parent()
        {
            return Ok(project.to_owned());
        }
        self.here().map_err(|error| StoreError::new(Code::NoStore, error.to_string()).into())
    }

    fn here(&self) -> std::io::Result<PathBuf> {
        self.from.clone().map_or_else(env::current_dir, Ok)
    }
}

fn in_folder(folder: &Path) -> PathBuf {
    folder.join(FOLDER).join(FILE)
}

/// Where runs have their workspaces: not in the project, whose tools would find the files above them.
pub fn workspaces() -> Result<PathBuf, CommandError> {
    let folder = absolute("XDG_STATE_HOME").or_else(|| absolute("HOME").map(|home| home.join(".local/state")));
    folder.map(|folder| folder.join("interlock")).ok_or_else(|| {
        let message = "there is no folder for workspaces: neither HOME nor XDG_STATE_HOME is set";
        CommandError::new(CommandExit::Unavailable, Code::OutputFailed, message)
            .help("name one with `folder` in the agents file")
    })
}

/// A variable that holds a whole path.
fn absolute(name: &str) -> Option<PathBuf> {
    env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute())
}

/// The keys of this user.
pub fn keyring() -> Result<Keyring, CommandError> {
    let folder = absolute("XDG_CONFIG_HOME").or_else(|| absolute("HOME").map(|home| home.join(".config")));
    let Some(folder) = folder else {
        let message = "there is no configuration folder: neither HOME nor XDG_CONFIG_HOME is set";
        return Err(CommandError::new(CommandExit::Unavailable, Code::KeyMissing, message));
    };
    let file = env::var_os("INTERLOCK_KEY_FILE").map(PathBuf::from).filter(|path| !path.as_os_str().is_empty());
    Ok(Keyring::new(folder.join("interlock"), file))
}

/// The name of the person at the keyboard.
pub fn person(named: Option<&str>) -> Name {
    // Services and containers often set only one of them.
    let usable = |user: &String| naming::check_person(user).is_none();
    let user = || ["USER", "LOGNAME"].iter().find_map(|name| env::var(name).ok().filter(usable));
    Name::from(named.map(str::to_owned).or_else(user).unwrap_or_else(|| "operator".to_owned()))
}
