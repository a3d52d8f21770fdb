//! The write statements, one a table.
//!
//! `OR FAIL`: a statement that fails is not rolled back by itself, because its request or the whole transaction is.
//! SQLite keeps a journal for each all the same, because the guards call functions, and any function may fail.

use std::fmt::Write as _;
use std::sync::Arc;

use interlock_core::code::Code;
use interlock_core::id::{Digest, Name, Timestamp};
use interlock_core::workflow::CompletionRequirements;
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Params, ToSql, named_params, params};
use serde_json::json;

use crate::EventAppend;
use crate::PinnedSources;
use crate::Snapshot;
use crate::StoreError;
use crate::StoreResult;
use crate::StoreTransaction;
use crate::StoreView as _;
use crate::chain::Seal;
use crate::rows::SessionRow;
use crate::sqlite::{SqliteTransaction, corrupt, signed, verify};
use crate::table::{CellValue, ProjectedTables, ResolvedBlocks, RowWrite, TableSchema, TableWrite, WriteMode};

/// A row's place: its session, and the event that writes it.
#[derive(Clone, Copy)]
struct RowOrigin {
    session: i64,
    seq: i64,
}

impl StoreTransaction for SqliteTransaction<'_> {
    fn pin_workflow(
        &mut self,
        digest: Digest,
        pinned: &PinnedSources,
        needs: &CompletionRequirements,
    ) -> StoreResult<()> {
        let hash = digest.to_string();
        let known = self.count("SELECT count(*) FROM workflows WHERE hash = ?1", [&hash])?;
        if known > 0 {
            // Another process may have written them, or left some out, before the workflow was pinned.
            let message = format!("what workflow {hash} needs is not in the store as it was pinned");
            let altered =
                || StoreError::new(Code::PinnedChanged, message).help("nothing is started with it; restore a backup");
            return if self.needs_are(digest, needs)? { Ok(()) } else { Err(altered()) };
        }
        for (clause, kind, name) in clauses(needs) {
            let row = params![hash, clause, kind, name.as_str()];
            self.run("INSERT INTO needs (workflow, clause, kind, name) VALUES (?1, ?2, ?3, ?4)", row)?;
        }
        let sources = json!(pinned.sources).to_string();
        let row = params![hash, pinned.name.as_str(), sources];
        self.run("INSERT INTO workflows (hash, name, sources) VALUES (?1, ?2, ?3)", row)?;
        Ok(())
    }

    fn begin_session(&mut self, id: &str, at: Timestamp) -> StoreResult<i64> {
        let head = crate::chain::BEGINNING;
        self.run(
            "INSERT INTO sessions (id, title, workflow, workflow_hash, status, started_at, updated_at, lapsed, seq, head)
             VALUES (?1, '', '', '', 'active', ?2, ?2, 0, 0, ?3)",
            params![id, at.0, head.as_bytes()],
        )?;
        Ok(self.tx.last_insert_rowid())
    }

    fn append(&mut self, append: &EventAppend) -> StoreResult<()> {
        let at = RowOrigin { session: append.session, seq: signed(append.seq) };
        let written = self.run(
            "INSERT OR FAIL INTO events (session, seq, kind, at, decision, data, says, given, prev, hash)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
            params![
                at.session,
                at.seq,
                append.kind,
                append.at.0,
                append.decision,
                append.data,
                append.rows.says,
                append.given.as_ref().map(Seal::as_bytes),
                append.prev.as_bytes(),
                append.hash.as_bytes()
            ],
        )?;
        if written != 1 {
            // A trigger that others added may skip the row silently.
            return Err(corrupt("an event was not stored"));
        }
        let event = self.tx.last_insert_rowid();
        if let Some(body) = &append.attachment {
            self.run("INSERT OR FAIL INTO attachments (event, body) VALUES (?1, ?2)", params![event, body])?;
        }
        if let Some(body) = &append.prompt {
            self.run("INSERT OR FAIL INTO prompts (event, body) VALUES (?1, ?2)", params![event, body])?;
        }
        for write in &append.rows.rows {
            self.write(at.session, write)?;
        }
        self.session_row(at, &append.rows.session)
    }

    fn put_snapshot(&mut self, session: i64, snapshot: &Snapshot) -> StoreResult<()> {
        let row = params![session, signed(snapshot.seq), snapshot.data, snapshot.seal.as_bytes()];
        self.run("INSERT OR REPLACE INTO snapshots (session, seq, data, seal) VALUES (?1, ?2, ?3, ?4)", row)?;
        Ok(())
    }

    fn rebuild(&mut self, sessions: &[(i64, ProjectedTables, SessionRow)]) -> StoreResult<()> {
        verify::rebuild(self, sessions)
    }

    fn set_savepoint(&mut self) -> StoreResult<()> {
        self.run("SAVEPOINT one", []).map(drop)
    }

    fn release_savepoint(&mut self) -> StoreResult<()> {
        self.run("RELEASE one", []).map(drop)
    }

    fn rollback_to_savepoint(&mut self) -> StoreResult<()> {
        self.run("ROLLBACK TO one", [])?;
        self.run("RELEASE one", []).map(drop)
    }

    fn commit(self: Box<Self>) -> StoreResult<()> {
        let Self { tx, path, .. } = *self;
        tx.commit().map_err(|error| super::store_error(path, &error))
    }
}

impl SqliteTransaction<'_> {
    pub(super) fn run(&self, sql: &str, values: impl Params) -> StoreResult<usize> {
        let mut statement = self.tx.prepare_cached(sql).map_err(|error| self.store_error(&error))?;
        statement.execute(values).map_err(|error| self.store_error(&error))
    }

    fn count(&self, sql: &str, values: impl Params) -> StoreResult<i64> {
        let mut statement = self.tx.prepare_cached(sql).map_err(|error| self.store_error(&error))?;
        statement.query_row(values, |row| row.get(0)).map_err(|error| self.store_error(&error))
    }

    fn session_row(&self, at: RowOrigin, row: &SessionRow) -> StoreResult<()> {
        let SessionRow { status, workflow, workflow_hash, title, lapses, .. } = row;
        let sql =
            "UPDATE OR FAIL sessions SET status = :status, title = :title, workflow = :workflow, workflow_hash = :hash,
                          lapsed = iif(:lapses, :seq, lapsed)
                    WHERE key = :key AND (status <> :status OR workflow_hash <> :hash OR :lapses)";
        let hash = workflow_hash.to_string();
        let values = named_params! {
            ":key": at.session, ":status": status, ":title": title.as_str(), ":workflow": workflow.as_str(),
            ":hash": hash, ":lapses": lapses, ":seq": at.seq,
        };
        self.run(sql, values).map(drop)
    }

    fn write(&self, session: i64, write: &TableWrite) -> StoreResult<()> {
        match write {
            TableWrite::Row(record) => self.record(session, record),
            TableWrite::Resolved(ResolvedBlocks { group, part, role, by, seq }) => {
                let sql = "UPDATE OR FAIL blocks SET resolved = ?5, resolution = ?6
                            WHERE session = ?1 AND grp = ?2 AND part = ?3 AND role = ?4 AND resolved IS NULL AND seq < ?5";
                self.run(sql, params![session, group, part, role, seq, by]).map(drop)
            }
        }
    }

    pub(super) fn record(&self, session: i64, record: &RowWrite) -> StoreResult<()> {
        let written = match record.how {
            WriteMode::Insert => 0,
            WriteMode::Update | WriteMode::Either => self.bound(SqlVerb::Update, session, record)?,
        };
        if written == 0 && record.how != WriteMode::Update {
            self.bound(SqlVerb::Insert, session, record)?;
        }
        Ok(())
    }

    /// Runs a statement whose values are the session, the key and the columns that are set, in this order.
    fn bound(&self, verb: SqlVerb, session: i64, record: &RowWrite) -> StoreResult<usize> {
        let sql = self.texts.borrow_mut().of(verb, record);
        let mut statement = self.tx.prepare_cached(&sql).map_err(|error| self.store_error(&error))?;
        let values = record.key.iter().chain(record.set.iter().map(|(_, value)| value));
        let bound = statement
            .raw_bind_parameter(1, session)
            .and_then(|()| (2..).zip(values).try_for_each(|(index, value)| statement.raw_bind_parameter(index, value)));
        bound.and_then(|()| statement.raw_execute()).map_err(|error| self.store_error(&error))
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum SqlVerb {
    Insert,
    Update,
}

/// The statements that were written before. There are few: one for each set of columns that an event can set.
#[derive(Default)]
pub(super) struct StatementCache(Vec<CachedStatement>);

struct CachedStatement {
    verb: SqlVerb,
    table: &'static str,
    columns: Vec<&'static str>,
    sql: Arc<str>,
}

impl StatementCache {
    fn of(&mut self, verb: SqlVerb, record: &RowWrite) -> Arc<str> {
        let columns = || record.set.iter().map(|(column, _)| *column);
        let same = |text: &&CachedStatement| {
            text.verb == verb
                && text.table == record.table.name
                && text.columns.len() == record.set.len()
                && text.columns.iter().copied().eq(columns())
        };
        if let Some(text) = self.0.iter().find(same) {
            return text.sql.clone();
        }
        let sql = Arc::from(match verb {
            SqlVerb::Insert => insert(record),
            SqlVerb::Update => update(record),
        });
        self.0.push(CachedStatement {
            verb,
            table: record.table.name,
            columns: columns().collect(),
            sql: Arc::clone(&sql),
        });
        sql
    }
}

/// `INSERT` of a record. What the text is made of are names of our own, never values.
fn insert(record: &RowWrite) -> String {
    let TableSchema { name, key, .. } = record.table;
    let mut sql = format!("INSERT OR FAIL INTO {name} (session");
    for column in key.iter().chain(record.set.iter().map(|(column, _)| column)) {
        sql.push_str(", ");
        sql.push_str(column);
    }
    sql.push_str(") VALUES (?");
    sql.push_str(&", ?".repeat(key.len() + record.set.len()));
    sql.push(')');
    sql
}

fn update(record: &RowWrite) -> String {
    let TableSchema { name, key, .. } = record.table;
    let mut sql = format!("UPDATE OR FAIL {name} SET ");
    for (index, (column, _)) in record.set.iter().enumerate() {
        let comma = if index == 0 { "" } else { ", " };
        let _ = write!(sql, "{comma}{column} = ?{}", key.len() + 2 + index);
    }
    sql.push_str(" WHERE session = ?1");
    for (index, column) in key.iter().enumerate() {
        let _ = write!(sql, " AND {column} = ?{}", index + 2);
    }
    sql
}

impl ToSql for CellValue {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        let value = match self {
            CellValue::Null => ValueRef::Null,
            CellValue::Integer(number) => ValueRef::Integer(*number),
            CellValue::Text(text) => ValueRef::Text(text.as_bytes()),
            CellValue::Bytes(bytes) => ValueRef::Blob(bytes),
        };
        Ok(ToSqlOutput::Borrowed(value))
    }
}

/// Each clause of the needs, numbered, with the names that satisfy it.
pub(super) fn clauses(needs: &CompletionRequirements) -> Vec<(u32, &'static str, Name)> {
    let mut rows = Vec::new();
    let mut clause = 0;
    let mut next = || {
        clause += 1;
        clause
    };
    for options in &needs.needs {
        let clause = next();
        rows.extend(options.iter().map(|name| (clause, "pass", name.clone())));
    }
    for (gate, runs_the_plan) in &needs.gates {
        rows.push((next(), if *runs_the_plan { "checks" } else { "gate" }, gate.clone()));
    }
    if needs.confirm_once_blocked {
        rows.push((next(), "confirmed", Name::new("confirmed")));
    }
    rows.extend(needs.session_gates.iter().map(|gate| (next(), "session_gate", gate.clone())));
    rows
}
