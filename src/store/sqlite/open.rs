//! Opens a store, or makes one; refuses what is none, and moves an older one forward.

use std::path::Path;

use interlock_core::code::Code;
use interlock_core::id::Timestamp;
use rusqlite::{Connection, OpenFlags, TransactionBehavior};

use crate::store::sqlite::{APPLICATION_ID, STATEMENTS, Sqlite, filesystem, guards, trouble, wait_for_turn};
use crate::store::{Fault, Identity, Stored};

/// The version of the schema that this program writes.
pub(super) const VERSION: i32 = 2;
const TABLES: &str = include_str!("schema.sql");

pub(super) fn open(path: &Path) -> Stored<Sqlite> {
    if !path.exists() {
        return Err(Fault::new(Code::NoStore, format!("there is no store at {}", path.display()))
            .help("`interlock init` makes one"));
    }
    filesystem::check(path)?;
    let mut connection = connect(path, OpenFlags::empty())?;
    let wrong = |error: rusqlite::Error| trouble(path, &error);
    match versions(&connection).map_err(wrong)? {
        (APPLICATION_ID, VERSION) => {}
        (APPLICATION_ID, newer) if newer > VERSION => {
            let message = format!("{} was written by a newer Interlock (version {newer})", path.display());
            return Err(
                Fault::new(Code::StoreNewer, message).help("nothing was changed; use that version, or a newer one")
            );
        }
        (APPLICATION_ID, _) => migrate(&mut connection, None).map_err(wrong)?,
        (0, 0) if is_empty(&connection).map_err(wrong)? => {
            return Err(Fault::new(Code::NoStore, format!("{} is empty: it was never finished", path.display()))
                .help("`interlock init` makes a store of it"));
        }
        (_, _) => {
            let message = format!("{} is a database, but not an Interlock store", path.display());
            return Err(Fault::new(Code::StoreForeign, message).help("nothing was changed; name another with --store"));
        }
    }
    prepare(&connection).map_err(wrong)?;
    Ok(Sqlite { connection, path: path.to_owned() })
}

pub(super) fn create(path: &Path, identity: &Identity, at: Timestamp) -> Stored<Sqlite> {
    filesystem::check(path)?;
    let mut connection = connect(path, OpenFlags::SQLITE_OPEN_CREATE)?;
    let wrong = |error: rusqlite::Error| trouble(path, &error);
    if versions(&connection).map_err(wrong)? != (0, 0) || !is_empty(&connection).map_err(wrong)? {
        drop(connection);
        return open(path);
    }
    migrate(&mut connection, Some((identity, at))).map_err(wrong)?;
    prepare(&connection).map_err(wrong)?;
    Ok(Sqlite { connection, path: path.to_owned() })
}

fn connect(path: &Path, more: OpenFlags) -> Stored<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX | more;
    let mut connection = Connection::open_with_flags(path, flags).map_err(|error| trouble(path, &error))?;
    let patient = connection.busy_handler(Some(wait_for_turn));
    patient.map_err(|error| trouble(path, &error))?;
    Ok(connection)
}

fn prepare(connection: &Connection) -> rusqlite::Result<()> {
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    connection.pragma_update(None, "journal_mode", "wal")?;
    connection.pragma_update(None, "synchronous", "full")
}

fn versions(connection: &Connection) -> rusqlite::Result<(i32, i32)> {
    let number = |pragma: &str| connection.pragma_query_value(None, pragma, |row| row.get(0));
    Ok((number("application_id")?, number("user_version")?))
}

fn is_empty(connection: &Connection) -> rusqlite::Result<bool> {
    connection.query_row("SELECT NOT EXISTS (SELECT 1 FROM sqlite_schema)", [], |row| row.get(0))
}

/// Brings the schema to the version of this program, step by step, in one transaction.
fn migrate(connection: &mut Connection, fresh: Option<(&Identity, Timestamp)>) -> rusqlite::Result<()> {
    let tx = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Somebody else may have done it while we waited.
    let (_, from) = versions(&tx)?;
    if from < 1 {
        tx.execute_batch(TABLES)?;
    }
    if from < 2 {
        // There are some already where somebody has set the version back.
        drop_guards(&tx)?;
        put_guards(&tx)?;
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

pub(super) fn back_up(connection: &Connection, to: &Path) -> Stored<()> {
    let wrong = |error: rusqlite::Error| trouble(to, &error);
    if to.exists() {
        return Err(Fault::new(Code::BackupExists, format!("{} is there already", to.display()))
            .help("name a file that does not exist yet; nothing is overwritten"));
    }
    // Reads in one transaction, so writers neither wait for it nor make it start again.
    let copied = connection.execute("VACUUM INTO ?1", [to.to_string_lossy()]).map_err(wrong);
    let kept = copied.and_then(|_| {
        let synced = std::fs::File::open(to).and_then(|file| file.sync_all());
        synced.map_err(|error| Fault::new(Code::StoreIo, format!("{}: {error}", to.display())))
    });
    if kept.is_err() {
        // Half a copy is worse than none.
        let _ = std::fs::remove_file(to);
    }
    kept
}
