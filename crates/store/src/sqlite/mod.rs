//! The embedded store: one SQLite file.

mod filesystem;
mod guards;
mod open;
mod read;
mod sqlite_error;
mod verify;
mod write;

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use interlock_core::code::Code;
use interlock_core::id::Timestamp;
use rusqlite::functions::FunctionFlags;
use rusqlite::{Connection, TransactionBehavior};

use crate::Store;
use crate::StoreError;
use crate::StoreIdentity;
use crate::StoreResult;
use crate::StoreTransaction;
use crate::StoreView;
use crate::chain::{ChainKey, Seal, SealedContent};
use sqlite_error::store_error;
use write::StatementCache;

/// As it stands in the header of the file: `ILOK`.
const APPLICATION_ID: i32 = 0x494c_4f4b;
/// How long a writer waits for its turn, in milliseconds: in general, and when a client waits for the command. A command
/// may wait several times in a row, and a wait takes longer on a machine under load.
const PATIENCE: u64 = 120_000;
const BRIEF: u64 = 3_000;
/// Waits a little, and says whether to try again.
type BusyHandler = fn(i32) -> bool;
/// Statements kept prepared.
const STATEMENTS: usize = 64;

pub struct SqliteStore {
    connection: Connection,
    path: PathBuf,
    texts: RefCell<StatementCache>,
}

impl SqliteStore {
    fn new(connection: Connection, path: &Path) -> Self {
        Self { connection, path: path.to_owned(), texts: RefCell::default() }
    }

    /// Opens a store that is there.
    pub fn open(path: &Path) -> StoreResult<Self> {
        open::open(path, wait_for_turn::<PATIENCE>)
    }

    /// Opens with a short timeout, for commands that a client waits for.
    pub fn open_briefly(path: &Path) -> StoreResult<Self> {
        open::open(path, wait_for_turn::<BRIEF>)
    }

    /// Makes a store. What is there already is opened, if it is one.
    pub fn create(path: &Path, identity: &StoreIdentity, at: Timestamp) -> StoreResult<Self> {
        open::create(path, identity, at)
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A consistent copy, while others go on writing.
    pub fn back_up(&self, to: &Path) -> StoreResult<()> {
        open::back_up(&self.connection, to)
    }

    fn transact(&mut self, behavior: TransactionBehavior) -> StoreResult<SqliteTransaction<'_>> {
        let Self { connection, path, texts } = self;
        let tx = connection.transaction_with_behavior(behavior).map_err(|error| store_error(path, &error))?;
        Ok(SqliteTransaction { tx, path, texts })
    }

    fn store_error(&self, error: &rusqlite::Error) -> StoreError {
        store_error(&self.path, error)
    }
}

impl Store for SqliteStore {
    fn view(&mut self) -> StoreResult<Box<dyn StoreView + '_>> {
        self.transact(TransactionBehavior::Deferred).map(|tx| Box::new(tx) as _)
    }

    fn begin(&mut self) -> StoreResult<Box<dyn StoreTransaction + '_>> {
        self.transact(TransactionBehavior::Immediate).map(|tx| Box::new(tx) as _)
    }

    fn expect_many(&mut self) -> StoreResult<()> {
        open::expect_many(&self.connection).map_err(|error| self.store_error(&error))
    }

    fn unlock(&mut self, key: &ChainKey) -> StoreResult<()> {
        let key = key.clone();
        let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC | FunctionFlags::SQLITE_INNOCUOUS;
        let sealed = move |cx: &rusqlite::functions::Context<'_>| {
            let sealed = SealedContent {
                session: cx.get_raw(0).as_str()?,
                seq: cx.get::<i64>(1)?.unsigned_abs(),
                kind: cx.get_raw(2).as_str()?,
                at: Timestamp(cx.get(3)?),
                decision: cx.get(4)?,
                data: cx.get_raw(5).as_str()?,
                says: cx.get_raw(6).as_str()?,
                given: cx.get::<Option<[u8; 32]>>(7)?.map(Seal::from_bytes),
            };
            let prev = Seal::from_bytes(cx.get(8)?);
            // Only the comparison is returned, never the seal: triggers that others added run in this connection too.
            Ok(key.event(&sealed, &prev) == Seal::from_bytes(cx.get(9)?))
        };
        self.connection
            .create_scalar_function("interlock_sealed", 10, flags, sealed)
            .map_err(|error| self.store_error(&error))
    }
}

/// A transaction, for reading or for both.
struct SqliteTransaction<'a> {
    tx: rusqlite::Transaction<'a>,
    path: &'a Path,
    texts: &'a RefCell<StatementCache>,
}

impl SqliteTransaction<'_> {
    fn store_error(&self, error: &rusqlite::Error) -> StoreError {
        store_error(self.path, error)
    }
}

/// A writer that finds another at work waits a little, and longer the longer it has waited.
fn wait_for_turn<const MILLISECONDS: u64>(tries: i32) -> bool {
    let tries = u64::try_from(tries).unwrap_or(0);
    // Not all in step: each process has its own beat.
    let beat = u64::from(std::process::id() % 7);
    let pause = (200 + 100 * beat) + 250 * tries.min(16);
    let waited = tries.saturating_mul(3_000);
    thread::sleep(Duration::from_micros(pause));
    waited / 1_000 < MILLISECONDS
}

/// A number of ours that SQLite keeps as a signed one.
fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn unsigned(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}

fn corrupt(what: &str) -> StoreError {
    StoreError::new(Code::StoreCorrupt, format!("the store is damaged: {what}"))
        .help("`interlock audit verify` says what is wrong; restore a backup")
}
