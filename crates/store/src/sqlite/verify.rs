//! Verification of the schema, and repair of rows.

use rusqlite::{Connection, params};

use crate::StoreResult;
use crate::rows::SessionRow;
use crate::sqlite::{SqliteTransaction, open};
use crate::table::{ProjectedTables, RowWrite, TABLES, WriteMode};

/// Every object that is not as this version makes it.
pub(super) fn schema(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let (expected, found) = (open::expected_schema()?, open::schema(connection)?);
    let mut wrong = Vec::new();
    for (name, sql) in &expected {
        match found.iter().find(|(other, _)| other == name) {
            None => wrong.push(format!("{name} is missing")),
            Some((_, other)) if other != sql => wrong.push(format!("{name} has been changed")),
            Some(_) => {}
        }
    }
    let added = found.iter().filter(|(name, _)| !is_own(name) && expected.iter().all(|(other, _)| other != name));
    wrong.extend(added.map(|(name, _)| format!("{name} has been added")));
    let mut altered = connection.prepare("SELECT what FROM attempts WHERE guard = ?1")?;
    let altered = altered.query_map([open::ALTERED], |row| row.get::<_, String>(0))?;
    wrong.extend(altered.collect::<rusqlite::Result<Vec<_>>>()?);
    let integrity: String = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
    if integrity != "ok" {
        wrong.push(format!("the file is damaged: {integrity}"));
    }
    Ok(wrong)
}

/// Objects that SQLite creates for itself, such as statistics, are not problems. SQLite reserves these names.
fn is_own(name: &str) -> bool {
    name.starts_with("table sqlite_") || name.starts_with("index sqlite_")
}

/// Replaces the rows of sessions. The guards are off only inside this transaction, and on again before it ends.
pub(super) fn rebuild(tx: &SqliteTransaction<'_>, sessions: &[(i64, ProjectedTables, SessionRow)]) -> StoreResult<()> {
    open::drop_guards(&tx.tx).map_err(|error| tx.store_error(&error))?;
    for (session, fold, row) in sessions {
        tx.replace(*session, fold, row)?;
    }
    open::put_guards(&tx.tx).map_err(|error| tx.store_error(&error))
}

impl SqliteTransaction<'_> {
    fn replace(&self, session: i64, fold: &ProjectedTables, row: &SessionRow) -> StoreResult<()> {
        for table in TABLES {
            self.run(&format!("DELETE FROM {} WHERE session = ?1", table.name), [session])?;
            for (key, values) in fold.rows(table).into_iter().flatten() {
                let set = table.columns.iter().copied().zip(values.iter().cloned()).collect();
                self.record(session, &RowWrite { table, key: key.clone(), set, how: WriteMode::Insert })?;
            }
        }
        self.run("DELETE FROM snapshots WHERE session = ?1", [session])?;
        let hash = row.workflow_hash.to_string();
        self.run(
            "UPDATE sessions SET status = ?2, title = ?3, workflow = ?4, workflow_hash = ?5, lapsed = ?6,
                    seq = (SELECT max(seq) FROM events WHERE session = key),
                    head = (SELECT hash FROM events WHERE session = key ORDER BY seq DESC LIMIT 1)
              WHERE key = ?1",
            params![session, row.status, row.title.as_str(), row.workflow.as_str(), hash, super::signed(row.lapsed)],
        )?;
        Ok(())
    }
}
