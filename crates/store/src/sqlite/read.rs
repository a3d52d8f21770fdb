//! The read statements, one mapper a table.

use std::borrow::Cow;

use interlock_core::id::{AssignmentId, Digest, Name, QuestionId, Timestamp};
use interlock_core::state::Question;
use interlock_core::workflow::CompletionRequirements;
use rusqlite::types::ValueRef;
use rusqlite::{OptionalExtension, Params, params};

use crate::AttachmentCounts;
use crate::ChainLink;
use crate::EventRow;
use crate::OpenQuestion;
use crate::PinnedSources;
use crate::RefusedWrite;
use crate::SessionHead;
use crate::Snapshot;
use crate::StoreIdentity;
use crate::StoreResult;
use crate::StoreView;
use crate::chain::Seal;
use crate::rows::SESSION;
use crate::sqlite::write::clauses;
use crate::sqlite::{SqliteTransaction, corrupt, signed, unsigned, verify};
use crate::table::{self, CellValue, TableSchema};

const SESSION_COLUMNS: &str =
    "key, id, title, workflow, workflow_hash, status, started_at, updated_at, seq, head, lapsed";
const EVENT_COLUMNS: &str = "id, seq, kind, at, decision, data, says, given, prev, hash";
const QUESTION_COLUMNS: &str = "name, grp, part, text, options, asker, stopped, status";

impl StoreView for SqliteTransaction<'_> {
    fn identity(&mut self) -> StoreResult<StoreIdentity> {
        let row = self.one("SELECT id, operator, spawner, seal FROM store", [], |row| {
            Ok(StoreIdentity {
                id: name(row, 0)?,
                operator: Digest::from_bytes(row.get(1)?),
                spawner: Digest::from_bytes(row.get(2)?),
                seal: seal(row, 3)?,
            })
        })?;
        row.ok_or_else(|| corrupt("it does not say whose it is"))
    }

    fn version(&mut self) -> StoreResult<i64> {
        let version = self.one("PRAGMA data_version", [], |row| row.get(0))?;
        version.ok_or_else(|| corrupt("it does not say whether it was written"))
    }

    fn session(&mut self, id: &str) -> StoreResult<Option<SessionHead>> {
        self.one(&format!("SELECT {SESSION_COLUMNS} FROM sessions WHERE id = ?1"), [id], session)
    }

    fn sessions(&mut self) -> StoreResult<Vec<SessionHead>> {
        self.all(&format!("SELECT {SESSION_COLUMNS} FROM sessions ORDER BY key DESC"), [], session)
    }

    fn sessions_under_way(&mut self, most: usize) -> StoreResult<Vec<SessionHead>> {
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        let open = "status NOT IN ('completed', 'cancelled')";
        let query = format!("SELECT {SESSION_COLUMNS} FROM sessions WHERE {open} ORDER BY key DESC LIMIT ?1");
        self.all(&query, [most], session)
    }

    fn workflow(&mut self, hash: Digest) -> StoreResult<Option<PinnedSources>> {
        let found = self.one("SELECT name, sources FROM workflows WHERE hash = ?1", [hash.to_string()], |row| {
            Ok((name(row, 0)?, text(row, 1)?))
        })?;
        let Some((name, sources)) = found else { return Ok(None) };
        // Without its files the workflow does not match its hash, and the loader reports that.
        let sources = serde_json::from_str(&sources).unwrap_or_default();
        Ok(Some(PinnedSources { name, sources }))
    }

    fn needs_are(&mut self, hash: Digest, needs: &CompletionRequirements) -> StoreResult<bool> {
        let sql = "SELECT clause, kind, name FROM needs WHERE workflow = ?1 ORDER BY clause, name";
        let found: Vec<(u32, String, Name)> =
            self.all(sql, [hash.to_string()], |row| Ok((row.get(0)?, row.get(1)?, name(row, 2)?)))?;
        let mut expected = clauses(needs);
        expected.sort();
        let found = found.iter().map(|(clause, kind, name)| (*clause, kind.as_str(), name));
        Ok(found.eq(expected.iter().map(|(clause, kind, name)| (*clause, *kind, name))))
    }

    fn lost_sessions(&mut self) -> StoreResult<Vec<(&'static str, u64)>> {
        let names = table::TABLES.iter().map(|table| table.name).chain(["events", "snapshots"]);
        let count = |name| Ok((name, self.one(&lost(name), [], |row| row.get(0).map(unsigned))?.unwrap_or(0)));
        let counts: StoreResult<Vec<_>> = names.map(count).collect();
        Ok(counts?.into_iter().filter(|(_, count)| *count > 0).collect())
    }

    fn count_attachments(&mut self) -> StoreResult<AttachmentCounts> {
        let sql = "SELECT (SELECT count(*) FROM attachments), (SELECT count(*) FROM prompts)";
        let kept = self.one(sql, [], |row| {
            Ok(AttachmentCounts { attachments: unsigned(row.get(0)?), prompts: unsigned(row.get(1)?) })
        });
        kept.map(Option::unwrap_or_default)
    }

    fn snapshot(&mut self, session: i64) -> StoreResult<Option<Snapshot>> {
        self.one("SELECT seq, data, seal FROM snapshots WHERE session = ?1", [session], |row| {
            Ok(Snapshot { seq: unsigned(row.get(0)?), data: text(row, 1)?, seal: seal(row, 2)? })
        })
    }

    fn events(&mut self, session: i64, after: u64, limit: usize) -> StoreResult<Vec<EventRow>> {
        let sql = format!("SELECT {EVENT_COLUMNS} FROM events WHERE session = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3");
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        self.all(&sql, params![session, signed(after), limit], event)
    }

    fn event_of_decision(&mut self, session: i64, decision: u32) -> StoreResult<Option<EventRow>> {
        let sql = format!("SELECT {EVENT_COLUMNS} FROM events WHERE session = ?1 AND decision = ?2");
        self.one(&sql, params![session, decision], event)
    }

    fn attachment(&mut self, event: i64) -> StoreResult<Option<String>> {
        self.one("SELECT body FROM attachments WHERE event = ?1", [event], |row| row.get(0))
    }

    fn prompt(&mut self, event: i64) -> StoreResult<Option<String>> {
        self.one("SELECT body FROM prompts WHERE event = ?1", [event], |row| row.get(0))
    }

    fn opened(&mut self, session: i64, id: AssignmentId) -> StoreResult<Option<u64>> {
        let sql = "SELECT opened FROM assignments WHERE session = ?1 AND n = ?2";
        self.one(sql, params![session, id.0], |row| row.get(0).map(unsigned))
    }

    fn question(&mut self, session: i64, id: QuestionId) -> StoreResult<Option<Question>> {
        let sql = format!("SELECT {QUESTION_COLUMNS} FROM questions WHERE session = ?1 AND n = ?2");
        self.one(&sql, params![session, id.0], question)
    }

    fn open_questions(&mut self, session: Option<i64>) -> StoreResult<Vec<OpenQuestion>> {
        let sql = "SELECT s.id, q.n, q.grp, q.text, q.options FROM questions q JOIN sessions s ON s.key = q.session
                    WHERE q.status = 'open' AND s.status NOT IN ('completed', 'cancelled') AND (?1 IS NULL OR q.session = ?1)
                    ORDER BY q.session, q.n";
        self.all(sql, [session], |row| {
            Ok(OpenQuestion {
                session: name(row, 0)?,
                id: QuestionId(row.get(1)?),
                group: group(row, 2)?,
                text: name(row, 3)?,
                options: from_json(row, 4)?.unwrap_or_default(),
            })
        })
    }

    fn chain(&mut self, session: i64, each: &mut dyn FnMut(&ChainLink<'_>)) -> StoreResult<()> {
        let sql = "SELECT e.seq, e.kind, e.at, e.decision, e.data, e.says, e.given, e.prev, e.hash, a.body, p.body
                     FROM events e LEFT JOIN attachments a ON a.event = e.id LEFT JOIN prompts p ON p.event = e.id
                    WHERE e.session = ?1 ORDER BY e.seq";
        let mut statement = self.tx.prepare_cached(sql).map_err(|error| self.store_error(&error))?;
        let mut rows = statement.query([session]).map_err(|error| self.store_error(&error))?;
        while let Some(row) = rows.next().map_err(|error| self.store_error(&error))? {
            link(row, each).map_err(|error| self.store_error(&error))?;
        }
        Ok(())
    }

    fn table_is(&mut self, table: &'static TableSchema, session: i64, rows: &table::TableRows) -> StoreResult<bool> {
        let mut statement = self.tx.prepare_cached(&rows_of(table)).map_err(|error| self.store_error(&error))?;
        let mut found = statement.query([session]).map_err(|error| self.store_error(&error))?;
        for (key, values) in rows {
            let Some(row) = found.next().map_err(|error| self.store_error(&error))? else { return Ok(false) };
            let mut cells = key.iter().chain(values).enumerate();
            if !cells.all(|(column, cell)| row.get_ref(column).is_ok_and(|value| is_cell(value, cell))) {
                return Ok(false);
            }
        }
        let more = found.next().map_err(|error| self.store_error(&error))?;
        Ok(more.is_none())
    }

    fn table(&mut self, table: &'static TableSchema, session: i64) -> StoreResult<table::TableRows> {
        let keys = table.key.len();
        let rows = self.all(&rows_of(table), [session], |row| {
            let columns = 0..keys + table.columns.len();
            let cells: rusqlite::Result<Vec<CellValue>> = columns.map(|index| cell(row, index)).collect();
            cells.map(|mut key| (key.split_off(keys), key))
        })?;
        Ok(rows.into_iter().map(|(values, key)| (key, values)).collect())
    }

    fn schema(&mut self) -> StoreResult<Vec<String>> {
        verify::schema(&self.tx).map_err(|error| self.store_error(&error))
    }

    fn attempts(&mut self) -> StoreResult<Vec<RefusedWrite>> {
        let sql = "SELECT a.at, s.id, a.guard, a.what FROM attempts a LEFT JOIN sessions s ON s.key = a.session ORDER BY a.id";
        self.all(sql, [], |row| {
            Ok(RefusedWrite {
                at: text(row, 0)?,
                session: Some(name(row, 1)?).filter(|session| !session.is_empty()),
                guard: text(row, 2)?,
                what: text(row, 3)?,
            })
        })
    }
}

impl SqliteTransaction<'_> {
    fn one<T>(
        &self,
        sql: &str,
        values: impl Params,
        map: impl FnOnce(&rusqlite::Row<'_>) -> rusqlite::Result<T>,
    ) -> StoreResult<Option<T>> {
        let mut statement = self.tx.prepare_cached(sql).map_err(|error| self.store_error(&error))?;
        statement.query_row(values, map).optional().map_err(|error| self.store_error(&error))
    }

    fn all<T>(
        &self,
        sql: &str,
        values: impl Params,
        map: impl Fn(&rusqlite::Row<'_>) -> rusqlite::Result<T>,
    ) -> StoreResult<Vec<T>> {
        let mut statement = self.tx.prepare_cached(sql).map_err(|error| self.store_error(&error))?;
        let rows = statement.query_map(values, |row| map(row)).map_err(|error| self.store_error(&error))?;
        rows.collect::<rusqlite::Result<_>>().map_err(|error| self.store_error(&error))
    }
}

/// The rows of a session, in the order of their keys, which is that of cells as well.
fn rows_of(table: &TableSchema) -> String {
    let columns: Vec<&str> = table.key.iter().chain(table.columns).copied().collect();
    format!("SELECT {} FROM {} WHERE session = ?1 ORDER BY {}", columns.join(", "), table.name, table.key.join(", "))
}

/// Goes from session to session, and not from row to row.
fn lost(table: &str) -> String {
    format!(
        "WITH RECURSIVE known(key) AS (
           SELECT min(session) FROM {table}
           UNION ALL SELECT (SELECT min(session) FROM {table} WHERE session > key) FROM known WHERE key IS NOT NULL
         ) SELECT count(*) FROM known WHERE key NOT IN (SELECT key FROM sessions)"
    )
}

fn is_cell(value: ValueRef<'_>, cell: &CellValue) -> bool {
    match (value, cell) {
        (ValueRef::Null, CellValue::Null) => true,
        (ValueRef::Integer(found), CellValue::Integer(number)) => found == *number,
        (ValueRef::Text(found), CellValue::Text(text)) => found == text.as_bytes(),
        (ValueRef::Blob(found), CellValue::Bytes(bytes)) => found == bytes,
        (_, CellValue::Null | CellValue::Integer(_) | CellValue::Text(_) | CellValue::Bytes(_)) => false,
    }
}

fn session(row: &rusqlite::Row<'_>) -> rusqlite::Result<SessionHead> {
    let hash: String = row.get(4)?;
    Ok(SessionHead {
        key: row.get(0)?,
        id: name(row, 1)?,
        title: name(row, 2)?,
        workflow: name(row, 3)?,
        workflow_hash: Digest::parse(&hash).unwrap_or_else(|| Digest::of(b"")),
        status: name(row, 5)?,
        started_at: Timestamp(row.get(6)?),
        updated_at: Timestamp(row.get(7)?),
        seq: unsigned(row.get(8)?),
        head: seal(row, 9)?,
        lapsed: unsigned(row.get(10)?),
    })
}

pub(super) fn event(row: &rusqlite::Row<'_>) -> rusqlite::Result<EventRow> {
    Ok(EventRow {
        id: row.get(0)?,
        seq: unsigned(row.get(1)?),
        kind: text(row, 2)?,
        at: Timestamp(row.get(3)?),
        decision: decision(row, 4)?,
        data: text(row, 5)?,
        says: text(row, 6)?,
        given: given(row, 7)?,
        prev: seal(row, 8)?,
        hash: seal(row, 9)?,
    })
}

fn link(row: &rusqlite::Row<'_>, each: &mut dyn FnMut(&ChainLink<'_>)) -> rusqlite::Result<()> {
    let (kind, data, says) = (lossy(row.get_ref(1)?), lossy(row.get_ref(4)?), lossy(row.get_ref(5)?));
    let body = |column: usize| row.get_ref(column).map(|value| Some(lossy(value)).filter(|_| value != ValueRef::Null));
    let (attachment, prompt) = (body(9)?, body(10)?);
    each(&ChainLink {
        seq: unsigned(row.get(0)?),
        kind: &kind,
        at: Timestamp(row.get(2)?),
        decision: decision(row, 3)?,
        data: &data,
        says: &says,
        given: given(row, 6)?,
        prev: seal(row, 7)?,
        hash: seal(row, 8)?,
        attachment: attachment.as_deref(),
        prompt: prompt.as_deref(),
    });
    Ok(())
}

fn cell(row: &rusqlite::Row<'_>, column: usize) -> rusqlite::Result<CellValue> {
    Ok(match row.get_ref(column)? {
        ValueRef::Null => CellValue::Null,
        ValueRef::Integer(number) => CellValue::Integer(number),
        ValueRef::Real(number) => CellValue::from(number.to_string()),
        ValueRef::Text(text) => CellValue::Text(Name::from(String::from_utf8_lossy(text).into_owned())),
        ValueRef::Blob(bytes) => match bytes.try_into() {
            Ok(bytes) => CellValue::Bytes(bytes),
            Err(_) => CellValue::from(format!("{} bytes", bytes.len())),
        },
    })
}

fn question(row: &rusqlite::Row<'_>) -> rusqlite::Result<Question> {
    let status: String = row.get(7)?;
    Ok(Question {
        name: name(row, 0)?,
        group: group(row, 1)?,
        part: row.get(2)?,
        text: name(row, 3)?,
        options: from_json(row, 4)?.unwrap_or_default(),
        asker: from_json(row, 5)?,
        stopped: from_json(row, 6)?,
        // Only closed questions are read from the table, and they hold no report.
        held: None,
        open: status == "open",
    })
}

fn name(row: &rusqlite::Row<'_>, column: usize) -> rusqlite::Result<Name> {
    row.get_ref(column).map(|value| Name::new(&lossy(value)))
}

/// `''` is the session itself.
fn group(row: &rusqlite::Row<'_>, column: usize) -> rusqlite::Result<Option<Name>> {
    Ok(Some(name(row, column)?).filter(|group| *group != SESSION))
}

/// Reads corrupted text as far as possible. Its seal does not match, and that error is more useful than one that says
/// that the text cannot be read.
fn lossy(value: ValueRef<'_>) -> Cow<'_, str> {
    match value {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => String::from_utf8_lossy(bytes),
        ValueRef::Integer(number) => Cow::Owned(number.to_string()),
        ValueRef::Real(number) => Cow::Owned(number.to_string()),
        ValueRef::Null => Cow::Borrowed(""),
    }
}

fn text(row: &rusqlite::Row<'_>, column: usize) -> rusqlite::Result<String> {
    row.get_ref(column).map(|value| lossy(value).into_owned())
}

/// One of the wrong length fits nothing.
fn seal(row: &rusqlite::Row<'_>, column: usize) -> rusqlite::Result<Seal> {
    given(row, column).map(|seal| seal.unwrap_or(Seal::from_bytes([0xff; 32])))
}

fn given(row: &rusqlite::Row<'_>, column: usize) -> rusqlite::Result<Option<Seal>> {
    Ok(match row.get_ref(column)? {
        ValueRef::Null => None,
        ValueRef::Blob(bytes) => Some(Seal::from_bytes(bytes.try_into().unwrap_or([0xff; 32]))),
        ValueRef::Integer(_) | ValueRef::Real(_) | ValueRef::Text(_) => Some(Seal::from_bytes([0xff; 32])),
    })
}

fn decision(row: &rusqlite::Row<'_>, column: usize) -> rusqlite::Result<Option<u32>> {
    let number: Option<i64> = row.get(column)?;
    Ok(number.map(|number| u32::try_from(number).unwrap_or(u32::MAX)))
}

fn from_json<T: serde::de::DeserializeOwned>(row: &rusqlite::Row<'_>, column: usize) -> rusqlite::Result<Option<T>> {
    let text: Option<String> = row.get(column)?;
    Ok(text.and_then(|text| serde_json::from_str(&text).ok()))
}
