//! The effects of an event, one a line, for the guards of a database.
//!
//! A trigger that parses JSON for every row costs more than the rows. So each event carries one line for each of its
//! effects, sealed with it, and a guard searches for its exact line. The audit derives the lines again from the event
//! and compares them.

use std::fmt::Write as _;

use interlock_core::event::{Event, EventCause, StateChange};
use interlock_core::state::GroupEnd;

use crate::table::{
    ASSIGNMENTS, BLOCKS, COUNTERS, CellValue, EVIDENCE, FINDINGS, GROUPS, QUESTIONS, ResolvedBlocks, RowWrite,
    TableWrite, WriteMode,
};

/// Lines, each between two line breaks.
#[derive(Default)]
struct EffectLines(String);

impl EffectLines {
    /// Adds a line of a word and its values. The values are encoded as JSON texts, so that a name cannot add a line.
    fn say(&mut self, word: &str, of: &[&CellValue]) {
        if self.0.is_empty() {
            self.0.push('\n');
        }
        self.0.push_str(word);
        for cell in of {
            self.0.push(' ');
            self.cell(cell);
        }
        self.0.push('\n');
    }

    fn cell(&mut self, cell: &CellValue) {
        // Writing to memory cannot fail.
        let _ = match cell {
            CellValue::Null => self.0.write_str("null"),
            CellValue::Integer(number) => write!(self.0, "{number}"),
            CellValue::Text(text) if plain(text) => {
                self.0.push('"');
                self.0.push_str(text);
                self.0.write_char('"')
            }
            CellValue::Text(text) => write!(self.0, "{}", serde_json::Value::from(text.as_str())),
            CellValue::Bytes(bytes) => write!(self.0, "{}", interlock_core::id::Digest::from_bytes(*bytes)),
        };
    }
}

/// Nothing in it needs to be escaped.
fn plain(text: &str) -> bool {
    text.bytes().all(|byte| byte >= 0x20 && byte != b'"' && byte != b'\\')
}

/// The effect lines of this event, given the rows that it writes.
pub(super) fn describe_effects(event: &Event, writes: &[TableWrite]) -> String {
    let mut lines = EffectLines::default();
    for write in writes {
        match write {
            TableWrite::Row(record) => row(&mut lines, record),
            TableWrite::Resolved(ResolvedBlocks { group, part, role, .. }) => {
                lines.say("unblocked", &[group, part, role]);
            }
        }
    }
    for change in &event.changes {
        match change {
            StateChange::GroupEnded { group, end } => lines.say("ended", &[&group.into(), &ended(end).into()]),
            StateChange::DeferralNamed { group, by } => lines.say("named", &[&group.into(), &by.into()]),
            StateChange::CounterReset { group, counted, role } => {
                let group = group.as_ref().map_or_else(|| CellValue::from(""), CellValue::from);
                lines.say("reset", &[&group, &counted.into(), &role.into()]);
            }
            StateChange::Session { status } => lines.say("session", &[&status.name().into()]),
            _ => {}
        }
    }
    if matches!(event.cause, EventCause::Claimed { prompt: Some(_), .. }) {
        lines.say("told", &[]);
    }
    lines.0
}

fn row(lines: &mut EffectLines, record: &RowWrite) {
    let key: Vec<&CellValue> = record.key.iter().collect();
    let value = |column: &str| {
        let found = record.set.iter().find(|(name, _)| *name == column);
        found.map_or(&CellValue::Null, |(_, value)| value)
    };
    let mut with = |word: &str, columns: &[&str]| {
        let of: Vec<&CellValue> = key.iter().copied().chain(columns.iter().map(|column| value(column))).collect();
        lines.say(word, &of);
    };
    match (record.table.name, record.how) {
        (name, WriteMode::Insert) if name == GROUPS.name => with("planned", &[]),
        (name, _) if name == GROUPS.name => with("group", &[]),
        (name, WriteMode::Insert) if name == ASSIGNMENTS.name => with("assigned", &["role", "grp"]),
        (name, _) if name == ASSIGNMENTS.name => with("assignment", &["status"]),
        (name, WriteMode::Insert) if name == QUESTIONS.name => with("asked", &[]),
        (name, _) if name == QUESTIONS.name => with("answered", &["by", "answer"]),
        (name, _) if name == EVIDENCE.name => lines.say("evidence", key.get(..3).unwrap_or_default()),
        (name, _) if name == BLOCKS.name => {
            if let [group, _, part, role] = key.as_slice() {
                lines.say("blocked", &[group, part, role]);
            }
        }
        (name, _) if name == COUNTERS.name => with("counter", &["iteration", "no_progress"]),
        (name, _) if name == FINDINGS.name => with("finding", &["status", "blocking"]),
        _ => {}
    }
}

fn ended(end: &GroupEnd) -> &'static str {
    match end {
        GroupEnd::Completed => "completed",
        GroupEnd::Deferred { .. } => "deferred_external",
        GroupEnd::Cancelled { .. } => "cancelled",
    }
}
