//! Stores of other versions of the program.

use std::fs;
use std::path::Path;

use rusqlite::Connection;

use crate::Victim;
use crate::project::Strike;

fn triggers(store: &Path) -> (i32, u32) {
    let connection = Connection::open(store).unwrap();
    let count = connection.query_row("SELECT count(*) FROM sqlite_schema WHERE type = 'trigger'", [], |row| row.get(0));
    let version = connection.query_row("PRAGMA user_version", [], |row| row.get(0));
    (version.unwrap(), count.unwrap())
}

/// The versions before this one, with the triggers that each made.
const OLDER: [(i32, &str); 2] = [
    (3, include_str!("../data/stores/version-3-triggers.sql")),
    (4, include_str!("../data/stores/version-4-triggers.sql")),
];

/// As that version made them.
fn make_old(store: &Path, (version, made): (i32, &str)) {
    let connection = Connection::open(store).unwrap();
    let names: Vec<String> = {
        let mut names = connection.prepare("SELECT name FROM sqlite_schema WHERE type = 'trigger'").unwrap();
        names.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    };
    names.iter().for_each(|name| connection.execute_batch(&format!("DROP TRIGGER {name}")).unwrap());
    connection.execute_batch(made).unwrap();
    connection.pragma_update(None, "user_version", version).unwrap();
}

#[test]
fn a_newer_store_is_refused_and_left_alone() {
    let victim = Victim::new("newer");
    Connection::open(victim.project.store()).unwrap().execute_batch("PRAGMA user_version = 99").unwrap();
    victim.refused_everywhere(&victim.project.store(), "E0504");
}

#[test]
fn an_older_store_moves_forward_and_gets_its_guards() {
    for version in OLDER {
        let victim = Victim::new(&format!("older-{}", version.0));
        let now = triggers(&victim.project.store());
        make_old(&victim.project.store(), version);
        let old = triggers(&victim.project.store());
        assert!(old.0 == version.0 && old != now, "{old:?}");
        assert_eq!(victim.project.verified(), victim.events);
        assert_eq!(triggers(&victim.project.store()), now);
        victim.project.claim(&format!("{}.a2", victim.session));
        assert_eq!(victim.project.verified(), victim.events + 1);
    }
}

#[test]
fn a_move_that_is_stopped_at_any_call_moves_all_or_nothing() {
    let victim = Victim::new("moving");
    let store = victim.project.store();
    let now = triggers(&store);
    make_old(&store, OLDER[1]);
    let (before, old) = (triggers(&store), fs::read(&store).unwrap());
    for kind in ["kill", "full"] {
        for at in (1..).step_by(3) {
            victim.put(&old);
            let strike = Strike { root: &store, kind, at };
            let mark = victim.project.root().join("mark");
            let (run, struck) = strike.run(&mut victim.project.command(&["session", "list"]), &mark);
            let moved = triggers(&store);
            assert!(moved == now || moved == before, "{moved:?} after {struck:?}");
            assert_eq!(victim.project.verified(), victim.events);
            if struck.is_none() {
                run.done();
                assert!(at > 40, "only {at} calls");
                break;
            }
            if !matches!(run.exit, Some(0) | None) {
                assert!(matches!(run.unavailable().as_str(), "E0505" | "E0506" | "E0509"), "{run:?}");
            }
        }
    }
}
