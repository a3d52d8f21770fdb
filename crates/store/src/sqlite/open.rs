//! Opens a store, or makes one; refuses what is none, and moves an older one forward.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use interlock_core::code::Code;
use interlock_core::id::Timestamp;
use rusqlite::config::DbConfig;
use rusqlite::ffi::ErrorCode;
use rusqlite::{Connection, OpenFlags, TransactionBehavior};

use crate::StoreError;
use crate::StoreIdentity;
use crate::StoreResult;
use crate::sqlite::{
    APPLICATION_ID, BusyHandler, PATIENCE, STATEMENTS, SqliteStore, corrupt, filesystem, guards, store_error,
    wait_for_turn,
};
use interlock_system::files;

/// The version of the schema that this program writes.
pub(super) const VERSION: i32 = 5;
/// Older versions that are moved forward, each with the hash of the schema that it made.
const OLDER: [(i32, &str); 2] = [
    (3, "7eef9ecb7db6f814ac5ca14411f257c848607af2964c4dc1adec6d8b900e091a"),
    (4, "fde773e7f5aa8dd198c4e39c8151bc5ad230eaf57dbd914e6bff63e5041d8a5e"),
];
/// Recorded in place of a guard when a store was migrated without the guards of its old version.
pub(super) const ALTERED: &str = "schema";
/// A database has a page, and none is smaller.
const SMALLEST: u64 = 512;
const TABLES: &str = include_str!("schema.sql");

/// Pages in the write-ahead log of a process that writes for many, before they go into the file.
const LONG_LOG: i32 = 8_192;
/// Pages of the file kept in memory by a process that writes for many.
const CACHE_KIB: i32 = 65_536;

pub(super) fn open(path: &Path, waits: BusyHandler) -> StoreResult<SqliteStore> {
    find(path)?;
    filesystem::check(path)?;
    let mut connection = connect(path, OpenFlags::empty(), waits)?;
    let wrong = |error: rusqlite::Error| store_error(path, &error);
    let DatabaseHeader { application, version, empty } = look(&connection).map_err(wrong)?;
    match (application, version) {
        (APPLICATION_ID, VERSION) => {}
        (APPLICATION_ID, newer) if newer > VERSION => {
            let message = format!("{} was written by a newer Interlock (version {newer})", path.display());
            return Err(StoreError::new(Code::StoreNewer, message)
                .help("nothing was changed; use that version, or a newer one"));
        }
        (APPLICATION_ID, older) if OLDER.iter().any(|(known, _)| *known == older) => {
            migrate(&mut connection, None).map_err(wrong)?;
        }
        (APPLICATION_ID, other) => return Err(corrupt(&format!("there is no version {other} of a store"))),
        (0, 0) if empty => {
            return Err(StoreError::new(Code::NoStore, format!("{} is empty: it was never finished", path.display()))
                .help("`interlock init` makes a store of it"));
        }
        (_, _) => {
            return Err(foreign(format!("{} is a database, but not an Interlock store", path.display())));
        }
    }
    prepare(&connection, waits).map_err(wrong)?;
    Ok(SqliteStore::new(connection, path))
}

/// Looks before SQLite does, which throws the log of an empty file away, and takes one of a few bytes for an empty one.
fn find(path: &Path) -> StoreResult<()> {
    let place = path.display();
    let found = fs::metadata(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => {
            StoreError::new(Code::NoStore, format!("there is no store at {place}")).help("`interlock init` makes one")
        }
        _ => StoreError::new(Code::StoreUnopened, format!("{place} cannot be opened: {error}"))
            .help("the file and its folder must be readable and writable for this user"),
    })?;
    if found.is_dir() {
        return Err(StoreError::new(Code::StoreUnopened, format!("{place} is a folder, not a store"))
            .help("name the file in it with --store"));
    }
    if found.len() >= SMALLEST || beside(path, "-journal").exists() {
        return Ok(());
    }
    if found.len() > 0 {
        return Err(foreign(format!("{place} is not an Interlock store")));
    }
    let log = fs::metadata(beside(path, "-wal")).map_or(0, |log| log.len());
    if log > 0 {
        return Err(StoreError::new(Code::StoreCorrupt, format!("{place} is empty, and its log beside it is not"))
            .help("nothing was changed; restore a backup"));
    }
    Err(StoreError::new(Code::NoStore, format!("{place} is empty: it was never finished"))
        .help("`interlock init` makes a store of it"))
}

fn foreign(message: String) -> StoreError {
    StoreError::new(Code::StoreForeign, message).help("nothing was changed; name another with --store")
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

pub(super) fn create(path: &Path, identity: &StoreIdentity, at: Timestamp) -> StoreResult<SqliteStore> {
    let waits: BusyHandler = wait_for_turn::<PATIENCE>;
    filesystem::check(path)?;
    let mut connection = connect(path, OpenFlags::SQLITE_OPEN_CREATE, waits)?;
    let wrong = |error: rusqlite::Error| store_error(path, &error);
    if !matches!(look(&connection).map_err(wrong)?, DatabaseHeader { application: 0, version: 0, empty: true }) {
        drop(connection);
        return open(path, waits);
    }
    migrate(&mut connection, Some((identity, at))).map_err(wrong)?;
    prepare(&connection, waits).map_err(wrong)?;
    Ok(SqliteStore::new(connection, path))
}

fn connect(path: &Path, more: OpenFlags, waits: BusyHandler) -> StoreResult<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX | more;
    let mut connection = Connection::open_with_flags(path, flags).map_err(|error| store_error(path, &error))?;
    let patient = connection.busy_handler(Some(waits));
    patient.map_err(|error| store_error(path, &error))?;
    connection.pragma_update(None, guards::KNOWN, true).map_err(|error| store_error(path, &error))?;
    // Until it is known to be ours nothing of it is tidied up.
    let kept = connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true);
    kept.map_err(|error| store_error(path, &error))?;
    Ok(connection)
}

fn prepare(connection: &Connection, waits: BusyHandler) -> rusqlite::Result<()> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    // Every statement uses a key. Without this SQLite plans some of them again for each value that is bound.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    use_log(connection, waits)?;
    connection.pragma_update(None, "synchronous", "full")
}

/// A process that writes for many has room for the pages of many sessions, and tidies its log up seldom.
pub(super) fn expect_many(connection: &Connection) -> rusqlite::Result<()> {
    connection.pragma_update(None, "wal_autocheckpoint", LONG_LOG)?;
    connection.pragma_update(None, "cache_size", -CACHE_KIB)
}

fn versions(connection: &Connection) -> rusqlite::Result<(i32, i32)> {
    let number = |pragma: &str| connection.pragma_query_value(None, pragma, |row| row.get(0));
    Ok((number("application_id")?, number("user_version")?))
}

/// The values in a file's header that identify it.
struct DatabaseHeader {
    application: i32,
    pub version: i32,
    empty: bool,
}

/// Reads all of it in one transaction: another process may be creating the store.
fn look(connection: &Connection) -> rusqlite::Result<DatabaseHeader> {
    let tx = connection.unchecked_transaction()?;
    let (application, version) = versions(&tx)?;
    let empty = tx.query_row("SELECT NOT EXISTS (SELECT 1 FROM sqlite_schema)", [], |row| row.get(0))?;
    Ok(DatabaseHeader { application, version, empty })
}

/// Only the first call changes anything, and SQLite does not wait for readers of the file then.
fn use_log(connection: &Connection, waits: BusyHandler) -> rusqlite::Result<()> {
    for tries in 0.. {
        match connection.pragma_update(None, "journal_mode", "wal") {
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) && waits(tries) => {}
            other => return other,
        }
    }
    Ok(())
}

/// Brings the schema to the version of this program, step by step, in one transaction.
fn migrate(connection: &mut Connection, fresh: Option<(&StoreIdentity, Timestamp)>) -> rusqlite::Result<()> {
    let tx = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Another process may have done it during the wait.
    let (_, from) = versions(&tx)?;
    if from < 1 {
        tx.execute_batch(TABLES)?;
    }
    if from < VERSION {
        let altered = from > 0 && !is_as_made(&tx, from)?;
        drop_guards(&tx)?;
        put_guards(&tx)?;
        if altered {
            // Recorded now: after the migration the difference can no longer be detected.
            let what = format!("the schema was not that of version {from} when the store was opened");
            tx.execute("INSERT INTO attempts (guard, what) VALUES (?1, ?2)", (ALTERED, what))?;
        }
    }
    tx.pragma_update(None, "application_id", APPLICATION_ID)?;
    tx.pragma_update(None, "user_version", VERSION)?;
    if let Some((identity, at)) = fresh.filter(|_| from < 1) {
        let (operator, spawner) = (identity.operator.as_bytes(), identity.spawner.as_bytes());
        tx.execute(
            "INSERT INTO store (one, id, created_at, operator, spawner, seal) VALUES (1, ?1, ?2, ?3, ?4, ?5)",
            (identity.id.as_str(), at.0, operator, spawner, identity.seal.as_bytes()),
        )?;
    }
    tx.commit()
}

/// Whether the schema is what this version made, or another that it was set back from.
fn is_as_made(connection: &Connection, version: i32) -> rusqlite::Result<bool> {
    let found = schema(connection)?;
    let older = OLDER.iter().any(|(known, hash)| *known == version && fingerprint(&found) == *hash);
    Ok(older || found == expected_schema()?)
}

fn fingerprint(schema: &[(String, String)]) -> String {
    let mut hash = blake3::Hasher::new();
    for (name, sql) in schema {
        hash.update(format!("{name}\n{sql}\n").as_bytes());
    }
    hash.finalize().to_string()
}

pub(super) fn put_guards(connection: &Connection) -> rusqlite::Result<()> {
    guards::statements().iter().try_for_each(|statement| connection.execute_batch(statement))
}

/// Takes the guards off; only ever inside a transaction that puts them on again.
pub(super) fn drop_guards(connection: &Connection) -> rusqlite::Result<()> {
    let mut names = connection.prepare("SELECT name FROM sqlite_schema WHERE type = 'trigger'")?;
    let names: Vec<String> = names.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    names.iter().try_for_each(|name| connection.execute_batch(&format!("DROP TRIGGER \"{name}\"")))
}

/// The schema that a store of this version has: each object and the statement that made it.
pub(super) fn expected_schema() -> rusqlite::Result<Vec<(String, String)>> {
    let connection = Connection::open_in_memory()?;
    connection.execute_batch(TABLES)?;
    put_guards(&connection)?;
    schema(&connection)
}

pub(super) fn schema(connection: &Connection) -> rusqlite::Result<Vec<(String, String)>> {
    let mut objects =
        connection.prepare("SELECT type || ' ' || name, coalesce(sql, '') FROM sqlite_schema ORDER BY 1")?;
    objects.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
}

pub(super) fn back_up(connection: &Connection, to: &Path) -> StoreResult<()> {
    if fs::symlink_metadata(to).is_ok() {
        return Err(taken(to));
    }
    let partial = files::partial(to);
    let copied = copy(connection, to, &partial);
    if copied.is_err() {
        // A copy that fails leaves its journal, too.
        let _ = fs::remove_file(beside(&partial, "-journal"));
        let _ = fs::remove_file(&partial);
    }
    copied
}

/// Copies under another name first: a file with the name of a backup is a whole one.
fn copy(connection: &Connection, to: &Path, partial: &Path) -> StoreResult<()> {
    let unwritable = |error: io::Error| match error.kind() {
        io::ErrorKind::AlreadyExists => taken(to),
        _ => crate::StoreError::unwritable(to, &error),
    };
    let Some(name) = partial.to_str() else {
        return Err(StoreError::new(Code::StoreUnopened, format!("{} is not a name in UTF-8", to.display()))
            .help("name the backup in letters that every program can write"));
    };
    // Reads in one transaction, so writers neither wait for it nor make it start again.
    connection.execute("VACUUM INTO ?1", [name]).map_err(|error| store_error(to, &error))?;
    fs::File::open(partial).and_then(|file| file.sync_all()).map_err(unwritable)?;
    files::place(partial, to).map_err(unwritable)
}

fn taken(to: &Path) -> StoreError {
    StoreError::new(Code::BackupExists, format!("{} is there already", to.display()))
        .help("name a file that does not exist yet; nothing is overwritten")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_older_versions_made_is_known() {
        let triggers = [
            include_str!("../../../../tests/data/stores/version-3-triggers.sql"),
            include_str!("../../../../tests/data/stores/version-4-triggers.sql"),
        ];
        for ((version, hash), triggers) in OLDER.iter().zip(triggers) {
            let connection = Connection::open_in_memory().unwrap();
            connection.execute_batch(TABLES).unwrap();
            connection.execute_batch(triggers).unwrap();
            assert_eq!(fingerprint(&schema(&connection).unwrap()), *hash, "version {version}");
        }
    }
}
