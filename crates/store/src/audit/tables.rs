//! Holds the tables against what the events make of them.

use interlock_core::id::Name;

use crate::SessionHead;
use crate::StoreResult;
use crate::StoreView;
use crate::audit::{AuditProblem, AuditProblemKind};
use crate::rows::SessionRow;
use crate::table::{CellValue, ProjectedTables, TABLES, TableRows, TableSchema};

/// The most differences in a report: readers stop before longer lists end.
const MOST: usize = 20;

pub(super) fn compare(
    view: &mut dyn StoreView,
    session: &SessionHead,
    fold: &ProjectedTables,
    row: &SessionRow,
) -> StoreResult<Vec<AuditProblem>> {
    let mut wrong = session_row(session, row);
    for table in TABLES {
        let none = TableRows::new();
        let expected = fold.rows(table).unwrap_or(&none);
        if !view.table_is(table, session.key, expected)? {
            wrong.extend(differences(table, &view.table(table, session.key)?, expected));
        }
    }
    wrong.truncate(MOST);
    let problem =
        |(seq, text)| AuditProblem { session: Some(session.id.clone()), seq, kind: AuditProblemKind::Projection, text };
    Ok(wrong.into_iter().map(problem).collect())
}

fn session_row(session: &SessionHead, row: &SessionRow) -> Vec<(Option<u64>, String)> {
    let hash = (session.workflow_hash.to_string(), row.workflow_hash.to_string());
    let lapsed = (session.lapsed.to_string(), row.lapsed.to_string());
    let columns = [
        ("status", session.status.as_str(), row.status),
        ("title", session.title.as_str(), row.title.as_str()),
        ("workflow", session.workflow.as_str(), row.workflow.as_str()),
        ("workflow_hash", hash.0.as_str(), hash.1.as_str()),
        ("lapsed", lapsed.0.as_str(), lapsed.1.as_str()),
    ];
    let wrong = columns.iter().filter(|(_, found, expected)| found != expected);
    wrong
        .map(|(name, found, expected)| (None, format!("sessions: {name} is `{found}`, and should be `{expected}`")))
        .collect()
}

fn differences(table: &TableSchema, found: &TableRows, expected: &TableRows) -> Vec<(Option<u64>, String)> {
    let mut wrong = Vec::new();
    for (key, values) in expected {
        match found.get(key) {
            None => wrong.push((seq_of(table, key, values), format!("{} {}: the row is gone", table.name, named(key)))),
            Some(other) if other != values => {
                let columns =
                    table.columns.iter().zip(other.iter().zip(values)).filter(|(_, (is, should))| is != should);
                let columns: Vec<String> =
                    columns.map(|(name, (is, should))| format!("{name} is {is}, and should be {should}")).collect();
                let text = format!("{} {}: {}", table.name, named(key), columns.join("; "));
                wrong.push((seq_of(table, key, values), text));
            }
            Some(_) => {}
        }
    }
    for (key, values) in found.iter().filter(|(key, _)| !expected.contains_key(*key)) {
        wrong.push((seq_of(table, key, values), format!("{} {}: the row was put in", table.name, named(key))));
    }
    wrong
}

/// The event that the row says it is from.
fn seq_of(table: &TableSchema, key: &[CellValue], values: &[CellValue]) -> Option<u64> {
    let columns = table.key.iter().zip(key).chain(table.columns.iter().zip(values));
    let mut seq = columns.filter(|(name, _)| **name == "seq").map(|(_, value)| value);
    match seq.next() {
        Some(CellValue::Integer(seq)) => u64::try_from(*seq).ok(),
        Some(CellValue::Null | CellValue::Text(_) | CellValue::Bytes(_)) | None => None,
    }
}

fn named(key: &[CellValue]) -> String {
    let text = |cell: &CellValue| match cell {
        CellValue::Text(text) if text.is_empty() => Name::new("session").to_string(),
        CellValue::Text(text) => text.to_string(),
        other => other.to_string(),
    };
    key.iter().map(text).collect::<Vec<_>>().join(" ")
}
