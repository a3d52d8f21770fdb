//! What never was a store.

use std::fs;
use std::os::unix::fs::symlink;

use rusqlite::Connection;

use crate::project::{Project, run};
use crate::{Victim, beside};

#[test]
fn what_is_no_store_is_refused_and_left_alone() {
    let victim = Victim::new("foreign");
    let at = |name: &str| victim.project.root().join(name);
    fs::write(at("notes.txt"), "Some notes, and no database at all.\n".repeat(200)).unwrap();
    fs::write(at("short"), "x").unwrap();
    fs::write(at("empty"), "").unwrap();
    fs::create_dir(at("folder")).unwrap();
    symlink(at("nowhere"), at("dangling")).unwrap();
    symlink(at("circle"), at("circle")).unwrap();
    let other = Connection::open(at("other.db")).unwrap();
    other.execute_batch("CREATE TABLE events (id); INSERT INTO events VALUES (1)").unwrap();
    drop(other);
    let named = Connection::open(at("named.db")).unwrap();
    named.execute_batch("PRAGMA application_id = 7; PRAGMA user_version = 2; CREATE TABLE store (id)").unwrap();
    drop(named);
    for (name, code) in [
        ("notes.txt", "E0502"),
        ("short", "E0502"),
        ("other.db", "E0502"),
        ("named.db", "E0502"),
        ("empty", "E0501"),
        ("missing", "E0501"),
        ("dangling", "E0501"),
        ("no/such/folder", "E0501"),
        ("folder", "E0509"),
        ("circle", "E0509"),
        ("notes.txt/interlock.db", "E0509"),
    ] {
        victim.refused_everywhere(&at(name), code);
    }
}

/// A process that opens a database with a log may be its last user, and then SQLite tidies up.
#[test]
fn the_log_of_another_programs_database_is_left_alone() {
    let victim = Victim::new("others");
    let folder = victim.project.root().join("theirs");
    fs::create_dir(&folder).unwrap();
    let (store, live) = (folder.join("theirs.db"), folder.join("live.db"));
    let other = Connection::open(&live).unwrap();
    other.execute_batch("PRAGMA journal_mode = wal; CREATE TABLE t (id); INSERT INTO t VALUES (1)").unwrap();
    // As if its program had been killed.
    fs::copy(&live, &store).unwrap();
    fs::copy(beside(&live, "-wal"), beside(&store, "-wal")).unwrap();
    drop(other);
    let log = fs::read(beside(&store, "-wal")).unwrap();
    assert!(!log.is_empty());
    victim.refused_everywhere(&store, "E0502");
    assert!(log == fs::read(beside(&store, "-wal")).unwrap());
}

#[test]
fn init_makes_no_store_of_what_is_something_else() {
    let project = Project::empty("init-foreign");
    let path = project.root().join("notes.txt");
    fs::write(&path, "Some notes.\n").unwrap();
    let refused = run(project.command(&project.init()).env("INTERLOCK_STORE", &path));
    assert_eq!(refused.unavailable(), "E0502");
    assert_eq!(fs::read_to_string(&path).unwrap(), "Some notes.\n");
    let keys = project.home().join(".config/interlock");
    assert!(!keys.exists(), "no keys are made for no store");
}

#[test]
fn a_link_to_a_store_is_that_store() {
    let victim = Victim::new("link");
    let link = victim.project.root().join("link.db");
    symlink(victim.project.store(), &link).unwrap();
    assert_eq!(victim.project.verified_on(&link), victim.events);
    let claimed = victim.project.run_on(&link, &["claim", &format!("{}.a2", victim.session)]);
    claimed.done();
    assert_eq!(victim.project.verified(), victim.events + 1);
}
