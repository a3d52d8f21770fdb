//! `backup` and `rebuild`, stopped at every call.

use std::fs;
use std::path::Path;

use rusqlite::Connection;

use crate::project::{Project, Strike};

/// Strikes at every call of a command.
fn at_every_call(
    project: &Project,
    root: &Path,
    arguments: &[&str],
    kind: &str,
    fewest: u32,
    check: impl Fn(&crate::project::Run),
) {
    for at in 1.. {
        let strike = Strike { root, kind, at };
        let (run, struck) = strike.run(&mut project.command(arguments), &project.root().join("mark"));
        let Some(struck) = struck else {
            run.done();
            assert!(at > fewest, "only {at} calls");
            return;
        };
        eprintln!("{} {kind} at {at}, {struck}: exit {:?}", arguments[0], run.exit);
        if !matches!(run.exit, Some(0) | None) {
            assert!(matches!(run.unavailable().as_str(), "E0505" | "E0506" | "E0509"), "{run:?}");
        }
        check(&run);
    }
}

#[test]
fn a_backup_that_fails_leaves_no_file() {
    let project = Project::new("backup");
    project.planned(2);
    let folder = project.root().join("copies");
    fs::create_dir_all(&folder).unwrap();
    let copy = folder.join("copy.db");
    let name = copy.display().to_string();
    for kind in ["eio", "full", "short", "kill"] {
        at_every_call(&project, &folder, &["backup", &name], kind, 10, |run| {
            // A file with that name is a whole copy, even after a kill.
            if copy.exists() {
                assert_eq!(project.looked_at(&copy), 3, "{run:?}");
            }
            assert!(run.exit.is_none() || copy.exists() == (run.exit == Some(0)), "{run:?}");
            let _ = fs::remove_file(&copy);
            let left = fs::read_dir(&folder).unwrap().count();
            assert!(left == 0 || run.exit.is_none(), "{run:?} leaves something beside it");
            for entry in fs::read_dir(&folder).unwrap() {
                fs::remove_file(entry.unwrap().path()).unwrap();
            }
        });
        assert_eq!(project.verified_on(&copy), 3);
        fs::remove_file(&copy).unwrap();
    }
    assert_eq!(project.verified(), 3);
}

#[test]
fn a_rebuild_that_is_stopped_changes_all_or_nothing() {
    let project = Project::new("rebuild");
    project.planned(2);
    let guards = triggers(&project.store());
    assert!(guards > 40);
    spoil(&project.store());
    let spoilt = fs::read(project.store()).unwrap();
    let (root, before) = (project.store(), project.run(&["audit", "verify"]).json());
    assert_eq!(before["problems"][0]["kind"], "projection");
    for kind in ["full", "kill"] {
        at_every_call(&project, &root, &["rebuild"], kind, 20, |run| {
            let after = project.run(&["audit", "verify"]).json();
            assert!(after["valid"] == true || after == before, "{after}");
            assert!(run.exit.is_none() || (after["valid"] == true) == (run.exit == Some(0)), "{run:?} {after}");
            assert_eq!(triggers(&project.store()), guards, "the guards are on again");
            project.run(&["rebuild"]).done();
            project.looked_at(&root);
            restore(&project.store(), &spoilt);
        });
        project.verified();
        restore(&project.store(), &spoilt);
    }
}

fn restore(store: &Path, bytes: &[u8]) {
    for ending in ["-wal", "-shm"] {
        let _ = fs::remove_file(format!("{}{ending}", store.display()));
    }
    fs::write(store, bytes).unwrap();
}

fn triggers(store: &Path) -> u32 {
    let count = "SELECT count(*) FROM sqlite_schema WHERE type = 'trigger'";
    Connection::open(store).unwrap().query_row(count, [], |row| row.get(0)).unwrap()
}

/// Changes a row behind the program's back, and leaves the guards as they were.
fn spoil(store: &Path) {
    let connection = Connection::open(store).unwrap();
    let guard: String = connection
        .query_row("SELECT sql FROM sqlite_schema WHERE name = 'groups_update'", [], |row| row.get(0))
        .unwrap();
    // What nothing refuses is noted all the same, but for connections like the program's own.
    connection.execute_batch("PRAGMA case_sensitive_like = ON; DROP TRIGGER groups_update").unwrap();
    connection.execute_batch("UPDATE groups SET title = 'another' WHERE id = 'G1'").unwrap();
    connection.execute_batch(&guard).unwrap();
}
