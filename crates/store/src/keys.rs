//! The secrets of a store: files of the user, outside of the repository.
//!
//! Three of them lie in `interlock/STORE` of the user's configuration folder, each readable for its user alone: the
//! operator key is for people, the spawner key for whatever starts agents, the chain key seals the log. A file named
//! by `INTERLOCK_KEY_FILE` takes the place of the first two, and holds one or more lines `interlock-KIND-1:HEX`.

use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use interlock_core::code::Code;
use interlock_core::id::{Digest, Name};
use interlock_core::rejection::Rejection;

use crate::StoreError;
use crate::StoreIdentity;
use crate::StoreResult;
use crate::chain::ChainKey;
use interlock_system::clock;
use interlock_system::files;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum KeyKind {
    Operator,
    Spawner,
    Chain,
}

impl KeyKind {
    const ALL: [KeyKind; 3] = [KeyKind::Operator, KeyKind::Spawner, KeyKind::Chain];

    pub const fn name(self) -> &'static str {
        match self {
            KeyKind::Operator => "operator",
            KeyKind::Spawner => "spawner",
            KeyKind::Chain => "chain",
        }
    }

    fn prefix(self) -> String {
        format!("interlock-{}-1:", self.name())
    }
}

/// A secret that never shows itself.
#[derive(Clone)]
pub struct SecretKey([u8; 32]);

impl SecretKey {
    pub fn new() -> Self {
        Self(clock::secret())
    }

    pub fn parse(hex: &str) -> Option<Self> {
        Digest::parse(hex.trim()).map(|bytes| Self(*bytes.as_bytes()))
    }

    /// The digest of the key: it may be stored and compared.
    pub fn digest(&self) -> Digest {
        Digest::of(&self.0)
    }

    /// The only way to see it: for the one who is to hold it.
    pub fn reveal(&self) -> String {
        Digest::from_bytes(self.0).to_string()
    }
}

impl Default for SecretKey {
    fn default() -> Self {
        Self::new()
    }
}

impl std::fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// Where the keys of stores lie: `interlock` in the user's configuration folder.
#[derive(Clone, Debug)]
pub struct Keyring {
    folder: PathBuf,
    /// The path in `INTERLOCK_KEY_FILE`.
    file: Option<PathBuf>,
}

impl Keyring {
    pub fn new(folder: PathBuf, file: Option<PathBuf>) -> Self {
        Self { folder, file }
    }

    /// Makes the keys of a new store.
    pub fn make(&self, store: &str) -> StoreResult<(StoreIdentity, PathBuf)> {
        let folder = self.folder(store);
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&folder)
            .map_err(|error| StoreError::unwritable(&folder, &error))?;
        let [operator, spawner, chain] = KeyKind::ALL.map(|kind| (kind, SecretKey::new()));
        let secrets = [&operator, &spawner, &chain];
        let written = secrets.iter().try_for_each(|(kind, secret)| write(&folder, *kind, secret));
        // A store must never outlive its keys, so these are on the disk before there is one.
        let kept = written.and_then(|()| {
            files::sync_folder(&self.path(store, KeyKind::Chain))?;
            files::sync_folder(&folder)
        });
        if let Err(error) = kept {
            self.forget(store);
            return Err(StoreError::unwritable(&folder, &error));
        }
        let (operator, spawner) = (operator.1.digest(), spawner.1.digest());
        let seal = ChainKey::new(chain.1.0).store(store, operator.as_bytes(), spawner.as_bytes());
        Ok((StoreIdentity { id: Name::new(store), operator, spawner, seal }, folder))
    }

    /// Where the secrets of this store lie.
    pub fn folder(&self, store: &str) -> PathBuf {
        self.folder.join(store)
    }

    /// Everywhere that keys may lie.
    pub fn places(&self) -> Vec<PathBuf> {
        [Some(self.folder.clone()), self.file.clone()].into_iter().flatten().collect()
    }

    /// Takes back the keys of a store that did not come to be.
    pub fn forget(&self, store: &str) {
        let _ = fs::remove_dir_all(self.folder(store));
    }

    /// The key that seals the chains of this store.
    pub fn chain(&self, identity: &StoreIdentity) -> StoreResult<ChainKey> {
        let path = self.path(&identity.id, KeyKind::Chain);
        let found = self.in_file(KeyKind::Chain).or_else(|| read(&path, KeyKind::Chain));
        let Some(secret) = found else {
            let message = format!("the chain key of this store is not at {}", path.display());
            return Err(StoreError::new(Code::NoChainKey, message)
                .help("copy it from where the store was made; without it nothing can be added to the log"));
        };
        let key = ChainKey::new(secret.0);
        if key.store(&identity.id, identity.operator.as_bytes(), identity.spawner.as_bytes()) != identity.seal {
            let message = "the chain key does not fit the store, or somebody has exchanged the store's keys";
            return Err(StoreError::new(Code::KeyWrong, message));
        }
        Ok(key)
    }

    /// Checks that the caller holds the key.
    pub fn holds(&self, kind: KeyKind, identity: &StoreIdentity) -> Result<(), Box<Rejection>> {
        let wanted = match kind {
            KeyKind::Operator => identity.operator,
            KeyKind::Spawner => identity.spawner,
            KeyKind::Chain => return Ok(()),
        };
        let path = self.path(&identity.id, kind);
        let found = match &self.file {
            Some(_) => self.in_file(kind),
            None => read(&path, kind),
        };
        let place = self.file.as_ref().unwrap_or(&path).display();
        match found {
            Some(secret) if secret.digest() == wanted => Ok(()),
            Some(_) => {
                let message = format!("the {} key in {place} is not the one of this store", kind.name());
                Err(Box::new(Rejection::new(Code::KeyWrong, message)))
            }
            None => {
                let message = format!("this takes the {} key, and {place} has none", kind.name());
                Err(Box::new(Rejection::new(Code::KeyMissing, message).help(may(kind))))
            }
        }
    }

    /// Where the keys of a store lie.
    pub fn folder_of(&self, identity: &StoreIdentity) -> PathBuf {
        self.folder.join(identity.id.as_str())
    }

    fn path(&self, store: &str, kind: KeyKind) -> PathBuf {
        self.folder(store).join(format!("{}.key", kind.name()))
    }

    fn in_file(&self, kind: KeyKind) -> Option<SecretKey> {
        self.file.as_ref().and_then(|path| read(path, kind))
    }
}

fn may(kind: KeyKind) -> &'static str {
    match kind {
        KeyKind::Operator => "people answer, approve, override, defer, acknowledge and cancel; agents report",
        KeyKind::Spawner => "whatever starts agents starts sessions and claims assignments; agents report",
        KeyKind::Chain => "the program itself seals the log",
    }
}

fn write(folder: &Path, kind: KeyKind, secret: &SecretKey) -> io::Result<()> {
    let path = folder.join(format!("{}.key", kind.name()));
    let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    writeln!(file, "{}{}", kind.prefix(), secret.reveal())?;
    file.sync_all()
}

fn read(path: &Path, kind: KeyKind) -> Option<SecretKey> {
    let text = fs::read_to_string(path).ok()?;
    let prefix = kind.prefix();
    text.lines().find_map(|line| line.trim().strip_prefix(&prefix)).and_then(SecretKey::parse)
}
