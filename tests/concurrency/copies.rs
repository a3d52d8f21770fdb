//! Backups, and rebuilds, while others write.

use std::fs;

use rusqlite::Connection;

use crate::lanes::{ended, lanes, start};
use crate::project::Project;

const WRITERS: usize = 8;
const BACKUPS: usize = 5;
/// Reports of each writer: more than are made while the backups run.
const REPORTS: u32 = 150;

#[test]
fn a_backup_is_consistent_while_eight_processes_write() {
    let project = Project::new("copies");
    let lanes = lanes(&project, WRITERS, WRITERS / 2);
    let begun = project.verified();
    let children: Vec<_> = lanes.iter().map(|lane| start(&project, lane, REPORTS)).collect();
    let mut sizes = Vec::new();
    for number in 0..BACKUPS {
        let copy = project.root().join(format!("copy-{number}.db"));
        project.run(&["backup", &copy.display().to_string()]).done();
        sizes.push(project.verified_on(&copy));
        fs::remove_file(copy).unwrap();
    }
    children.into_iter().for_each(ended);
    assert!(sizes.is_sorted(), "a later copy has no less: {sizes:?}");
    assert!(sizes[0] < sizes[BACKUPS - 1], "nobody wrote meanwhile: {sizes:?}");
    let writers = u64::try_from(WRITERS).unwrap();
    let all = begun + 2 * u64::from(REPORTS) * writers;
    assert_eq!(project.verified(), all);
    assert!(sizes.iter().all(|size| (begun..=all).contains(size)), "{sizes:?}");
}

#[test]
fn a_rebuild_takes_nothing_away_from_those_who_write() {
    let project = Project::new("rebuilds");
    let lanes = lanes(&project, 4, 2);
    let begun = project.verified();
    let children: Vec<_> = lanes.iter().map(|lane| start(&project, lane, REPORTS)).collect();
    for _ in 0..BACKUPS {
        spoil(&project);
        let rebuilt = project.run(&["rebuild"]).done();
        assert_eq!(rebuilt["rebuilt"], 3, "{rebuilt}");
    }
    children.into_iter().for_each(ended);
    assert_eq!(project.verified(), begun + 2 * 4 * u64::from(REPORTS));
}

/// Changes rows that are never written again, behind the program's back, and leaves the guards as they were.
fn spoil(project: &Project) {
    let mut connection = Connection::open(project.store()).unwrap();
    connection.busy_timeout(std::time::Duration::from_secs(60)).unwrap();
    let tx = connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate).unwrap();
    let guard: String =
        tx.query_row("SELECT sql FROM sqlite_schema WHERE name = 'assignments_update'", [], |row| row.get(0)).unwrap();
    // What nothing refuses is noted all the same, but for connections like the program's own.
    tx.execute_batch("PRAGMA case_sensitive_like = ON").unwrap();
    tx.execute_batch("DROP TRIGGER assignments_update; UPDATE assignments SET phase = 'another' WHERE n = 1").unwrap();
    tx.execute_batch(&guard).unwrap();
    tx.commit().unwrap();
}
