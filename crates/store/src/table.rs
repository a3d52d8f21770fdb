//! The tables that people query: what they are made of, and the fold of what is written to them.

use std::collections::BTreeMap;

use interlock_core::id::Name;

/// A value in a table.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum Cell {
    #[default]
    Null,
    Integer(i64),
    Text(Name),
    Bytes([u8; 32]),
}

/// A table, each of whose rows belongs to a session. The last of its columns, or of its key, is the event that wrote it.
#[derive(PartialEq, Eq, Debug)]
pub struct Table {
    pub name: &'static str,
    pub key: &'static [&'static str],
    pub columns: &'static [&'static str],
}

pub static GROUPS: Table = Table {
    name: "groups",
    key: &["id"],
    columns: &["title", "status", "role", "attempt", "ever_blocked", "checks", "acknowledged", "lapsed", "seq"],
};
pub static ASSIGNMENTS: Table = Table {
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
pub static QUESTIONS: Table = Table {
    name: "questions",
    key: &["n"],
    columns: &["name", "grp", "part", "text", "options", "asker", "stopped", "status", "answer", "by", "seq"],
};
pub static EVIDENCE: Table = Table { name: "evidence", key: &["grp", "kind", "name", "seq"], columns: &[] };
pub static BLOCKS: Table =
    Table { name: "blocks", key: &["grp", "seq", "part", "role"], columns: &["reason", "resolved", "resolution"] };
pub static COUNTERS: Table =
    Table { name: "counters", key: &["grp", "loop", "role"], columns: &["iteration", "no_progress", "measure", "seq"] };
pub static FINDINGS: Table = Table {
    name: "findings",
    key: &["grp", "n"],
    columns: &["id", "title", "location", "severity", "blocking", "raised_by", "status", "response", "seq"],
};

/// All of them, in the order in which they may be written.
pub static TABLES: [&Table; 7] = [&ASSIGNMENTS, &QUESTIONS, &EVIDENCE, &BLOCKS, &COUNTERS, &FINDINGS, &GROUPS];

/// Whether a row is there already.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum How {
    Insert,
    Update,
    /// Only the table knows.
    Either,
}

/// What is written to one row. Columns that are not named keep their value.
#[derive(Clone, PartialEq, Debug)]
pub struct Record {
    pub table: &'static Table,
    pub key: Vec<Cell>,
    pub set: Vec<(&'static str, Cell)>,
    pub how: How,
}

/// Resolves every open block of a role in a part of a group.
#[derive(Clone, PartialEq, Debug)]
pub struct Resolved {
    pub group: Cell,
    pub part: Cell,
    pub role: Cell,
    pub by: &'static str,
    pub seq: i64,
}

#[derive(Clone, PartialEq, Debug)]
pub enum Write {
    Row(Record),
    Resolved(Resolved),
}

/// Rows of one table by their key.
pub type Rows = BTreeMap<Vec<Cell>, Vec<Cell>>;

/// The tables of one session, as its events make them.
#[derive(Clone, Default, Debug)]
pub struct Fold {
    tables: BTreeMap<&'static str, Rows>,
}

impl Fold {
    pub fn rows(&self, table: &Table) -> Option<&Rows> {
        self.tables.get(table.name)
    }

    pub fn take(&mut self, write: Write) {
        match write {
            Write::Row(Record { table, key, set, .. }) => {
                let row = self.tables.entry(table.name).or_default().entry(key);
                let row = row.or_insert_with(|| vec![Cell::Null; table.columns.len()]);
                for (column, value) in set {
                    if let Some(index) = table.columns.iter().position(|name| *name == column)
                        && let Some(cell) = row.get_mut(index)
                    {
                        *cell = value;
                    }
                }
            }
            Write::Resolved(resolved) => self.resolve(&resolved),
        }
    }

    fn resolve(&mut self, resolved: &Resolved) {
        let Some(blocks) = self.tables.get_mut(BLOCKS.name) else { return };
        for (key, row) in blocks {
            let ([group, opened, part, role], [_, by_event, how]) = (key.as_slice(), row.as_mut_slice()) else {
                continue;
            };
            let meant = (group, part, role) == (&resolved.group, &resolved.part, &resolved.role);
            if meant && *by_event == Cell::Null && *opened < Cell::Integer(resolved.seq) {
                *by_event = Cell::Integer(resolved.seq);
                *how = Cell::Text(Name::new(resolved.by));
            }
        }
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Cell::Text(Name::new(text))
    }
}

impl From<&Name> for Cell {
    fn from(text: &Name) -> Self {
        Cell::Text(text.clone())
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Cell::Text(Name::from(text))
    }
}

impl From<u32> for Cell {
    fn from(number: u32) -> Self {
        Cell::Integer(i64::from(number))
    }
}

impl From<u8> for Cell {
    fn from(number: u8) -> Self {
        Cell::Integer(i64::from(number))
    }
}

impl From<i64> for Cell {
    fn from(number: i64) -> Self {
        Cell::Integer(number)
    }
}

impl From<bool> for Cell {
    fn from(flag: bool) -> Self {
        Cell::Integer(i64::from(flag))
    }
}

impl<T: Into<Cell>> From<Option<T>> for Cell {
    fn from(value: Option<T>) -> Self {
        value.map_or(Cell::Null, Into::into)
    }
}

impl From<interlock_core::id::Digest> for Cell {
    fn from(digest: interlock_core::id::Digest) -> Self {
        Cell::Bytes(*digest.as_bytes())
    }
}

impl std::fmt::Display for Cell {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Cell::Null => f.write_str("nothing"),
            Cell::Integer(number) => write!(f, "{number}"),
            Cell::Text(text) => write!(f, "`{text}`"),
            Cell::Bytes(bytes) => write!(f, "{}", interlock_core::id::Digest::from_bytes(*bytes)),
        }
    }
}
