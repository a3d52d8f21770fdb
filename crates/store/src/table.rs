//! The tables that people query: what they are made of, and the fold of what is written to them.

use std::collections::BTreeMap;

use interlock_core::id::Name;

/// A value in a table.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum CellValue {
    #[default]
    Null,
    Integer(i64),
    Text(Name),
    Bytes([u8; 32]),
}

/// A table, each of whose rows belongs to a session. The last of its columns, or of its key, is the event that wrote it.
#[derive(PartialEq, Eq, Debug)]
pub struct TableSchema {
    pub name: &'static str,
    pub key: &'static [&'static str],
    pub columns: &'static [&'static str],
}

pub static GROUPS: TableSchema = TableSchema {
    name: "groups",
    key: &["id"],
    columns: &["title", "status", "role", "attempt", "ever_blocked", "checks", "acknowledged", "lapsed", "seq"],
};
pub static ASSIGNMENTS: TableSchema = TableSchema {
    name: "assignments",
    key: &["n"],
    columns: &[
        "grp",
        "part",
        "phase",
        "role",
        "task",
        "attempt",
        "status",
        "token",
        "lease_until",
        "digest",
        "decision",
        "opened",
        "seq",
    ],
};
pub static QUESTIONS: TableSchema = TableSchema {
    name: "questions",
    key: &["n"],
    columns: &["name", "grp", "part", "text", "options", "asker", "stopped", "status", "answer", "by", "seq"],
};
pub static EVIDENCE: TableSchema = TableSchema { name: "evidence", key: &["grp", "kind", "name", "seq"], columns: &[] };
pub static BLOCKS: TableSchema = TableSchema {
    name: "blocks",
    key: &["grp", "seq", "part", "role"],
    columns: &["reason", "resolved", "resolution"],
};
pub static COUNTERS: TableSchema = TableSchema {
    name: "counters",
    key: &["grp", "loop", "role"],
    columns: &["iteration", "no_progress", "measure", "seq"],
};
pub static FINDINGS: TableSchema = TableSchema {
    name: "findings",
    key: &["grp", "n"],
    columns: &["id", "title", "location", "severity", "blocking", "raised_by", "status", "response", "seq"],
};

/// All of them, in the order in which they may be written.
pub static TABLES: [&TableSchema; 7] = [&ASSIGNMENTS, &QUESTIONS, &EVIDENCE, &BLOCKS, &COUNTERS, &FINDINGS, &GROUPS];

/// Whether a row is there already.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WriteMode {
    Insert,
    Update,
    /// Only the table knows.
    Either,
}

/// A write to one row. Columns that are not named keep their value.
#[derive(Clone, PartialEq, Debug)]
pub struct RowWrite {
    pub table: &'static TableSchema,
    pub key: Vec<CellValue>,
    pub set: Vec<(&'static str, CellValue)>,
    pub how: WriteMode,
}

/// Resolves every open block of a role in a part of a group.
#[derive(Clone, PartialEq, Debug)]
pub struct ResolvedBlocks {
    pub group: CellValue,
    pub part: CellValue,
    pub role: CellValue,
    pub by: &'static str,
    pub seq: i64,
}

#[derive(Clone, PartialEq, Debug)]
pub enum TableWrite {
    Row(RowWrite),
    Resolved(ResolvedBlocks),
}

/// Rows of one table by their key.
pub type TableRows = BTreeMap<Vec<CellValue>, Vec<CellValue>>;

/// The tables of one session, as its events make them.
#[derive(Clone, Default, Debug)]
pub struct ProjectedTables {
    tables: BTreeMap<&'static str, TableRows>,
}

impl ProjectedTables {
    pub fn rows(&self, table: &TableSchema) -> Option<&TableRows> {
        self.tables.get(table.name)
    }

    pub fn apply_write(&mut self, write: TableWrite) {
        match write {
            TableWrite::Row(RowWrite { table, key, set, .. }) => {
                let row = self.tables.entry(table.name).or_default().entry(key);
                let row = row.or_insert_with(|| vec![CellValue::Null; table.columns.len()]);
                for (column, value) in set {
                    if let Some(index) = table.columns.iter().position(|name| *name == column)
                        && let Some(cell) = row.get_mut(index)
                    {
                        *cell = value;
                    }
                }
            }
            TableWrite::Resolved(resolved) => self.resolve(&resolved),
        }
    }

    fn resolve(&mut self, resolved: &ResolvedBlocks) {
        let Some(blocks) = self.tables.get_mut(BLOCKS.name) else { return };
        for (key, row) in blocks {
            let ([group, opened, part, role], [_, by_event, how]) = (key.as_slice(), row.as_mut_slice()) else {
                continue;
            };
            let meant = (group, part, role) == (&resolved.group, &resolved.part, &resolved.role);
            if meant && *by_event == CellValue::Null && *opened < CellValue::Integer(resolved.seq) {
                *by_event = CellValue::Integer(resolved.seq);
                *how = CellValue::Text(Name::new(resolved.by));
            }
        }
    }
}

impl From<&str> for CellValue {
    fn from(text: &str) -> Self {
        CellValue::Text(Name::new(text))
    }
}

impl From<&Name> for CellValue {
    fn from(text: &Name) -> Self {
        CellValue::Text(text.clone())
    }
}

impl From<String> for CellValue {
    fn from(text: String) -> Self {
        CellValue::Text(Name::from(text))
    }
}

impl From<u32> for CellValue {
    fn from(number: u32) -> Self {
        CellValue::Integer(i64::from(number))
    }
}

impl From<u8> for CellValue {
    fn from(number: u8) -> Self {
        CellValue::Integer(i64::from(number))
    }
}

impl From<i64> for CellValue {
    fn from(number: i64) -> Self {
        CellValue::Integer(number)
    }
}

impl From<bool> for CellValue {
    fn from(flag: bool) -> Self {
        CellValue::Integer(i64::from(flag))
    }
}

impl<T: Into<CellValue>> From<Option<T>> for CellValue {
    fn from(value: Option<T>) -> Self {
        value.map_or(CellValue::Null, Into::into)
    }
}

impl From<interlock_core::id::Digest> for CellValue {
    fn from(digest: interlock_core::id::Digest) -> Self {
        CellValue::Bytes(*digest.as_bytes())
    }
}

impl std::fmt::Display for CellValue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            CellValue::Null => f.write_str("nothing"),
            CellValue::Integer(number) => write!(f, "{number}"),
            CellValue::Text(text) => write!(f, "`{text}`"),
            CellValue::Bytes(bytes) => write!(f, "{}", interlock_core::id::Digest::from_bytes(*bytes)),
        }
    }
}
