//! What was a store.

use std::fs;

use crate::project::Dice;
use crate::{Victim, beside};

const PAGE: usize = 4096;
/// Files with one page overwritten, and files with one byte changed.
const PAGES: u64 = 16;
const BYTES: u64 = 16;

fn noise(dice: &mut Dice, bytes: &mut [u8]) {
    bytes.iter_mut().for_each(|byte| *byte = u8::try_from(dice.roll(256)).unwrap());
}

#[test]
fn a_store_without_its_header_is_refused_and_left_alone() {
    let victim = Victim::new("header");
    let mut dice = Dice(1);
    let mut bytes = victim.store.clone();
    noise(&mut dice, &mut bytes[..100]);
    victim.put(&bytes);
    victim.refused_everywhere(&victim.project.store(), "E0502");
    victim.put(&vec![0; victim.store.len()]);
    victim.refused_everywhere(&victim.project.store(), "E0502");
    // The header is there, and nothing else of the first page.
    let mut bytes = victim.store.clone();
    noise(&mut dice, &mut bytes[100..PAGE]);
    victim.put(&bytes);
    victim.refused_everywhere(&victim.project.store(), "E0503");
}

#[test]
fn a_store_that_was_cut_off_is_refused_and_left_alone() {
    let victim = Victim::new("cut");
    let whole = victim.store.len();
    for (length, code) in [
        (1, "E0502"),
        (50, "E0502"),
        (100, "E0502"),
        (PAGE - 1, "E0503"),
        (PAGE, "E0503"),
        (PAGE + 1, "E0503"),
        (whole / 2, "E0503"),
        (whole - PAGE, "E0503"),
    ] {
        victim.put(&victim.store[..length]);
        eprintln!("cut to {length}");
        victim.refused_everywhere(&victim.project.store(), code);
    }
    // Within the last page the file still has as many pages as it should. SQLite reads zeros where it ends, so what is
    // cut off must be more than zeros to be missed by anybody.
    let content = victim.store.iter().rposition(|byte| *byte != 0).unwrap();
    assert!(content > whole - PAGE + 50, "the last page has something in it");
    victim.put(&victim.store[..content - 50]);
    let verified = victim.survived();
    assert_ne!(verified.exit, Some(0), "{verified:?}");
}

#[test]
fn an_empty_file_whose_log_is_not_empty_was_a_store() {
    let victim = Victim::new("emptied");
    victim.put(b"");
    fs::write(beside(&victim.project.store(), "-wal"), &victim.store).unwrap();
    victim.refused_everywhere(&victim.project.store(), "E0503");
    let init = victim.project.run(&victim.project.init());
    assert_eq!(init.unavailable(), "E0503");
    assert!(fs::read(beside(&victim.project.store(), "-wal")).unwrap() == victim.store, "the log is what is left");
}

#[test]
fn a_page_that_was_overwritten_is_found_and_nobody_panics() {
    let victim = Victim::new("pages");
    let pages = u64::try_from(victim.store.len() / PAGE).unwrap();
    let mut dice = Dice(2);
    for seed in 0..PAGES {
        let page = 1 + dice.roll(pages - 1);
        let from = usize::try_from(page).unwrap() * PAGE;
        let mut bytes = victim.store.clone();
        if seed.is_multiple_of(4) {
            bytes[from..from + PAGE].fill(0);
        } else {
            noise(&mut dice, &mut bytes[from..from + PAGE]);
        }
        victim.put(&bytes);
        eprintln!("page {page}");
        let verified = victim.survived();
        assert_ne!(verified.exit, Some(0), "page {page} is missed: {verified:?}");
    }
}

#[test]
fn a_byte_that_was_changed_makes_nobody_panic() {
    let victim = Victim::new("bytes");
    let length = u64::try_from(victim.store.len()).unwrap();
    let mut dice = Dice(3);
    for _ in 0..BYTES {
        let place = usize::try_from(100 + dice.roll(length - 100)).unwrap();
        let mut bytes = victim.store.clone();
        bytes[place] ^= 1 << dice.roll(8);
        victim.put(&bytes);
        eprintln!("byte {place}");
        victim.survived();
    }
}

/// Rows as a program could have written them that knows SQLite and not us.
#[test]
fn rows_that_make_no_sense_make_nobody_panic() {
    let victim = Victim::new("rows");
    for (sql, unharmed) in [
        ("UPDATE events SET seq = -5 WHERE seq = 2", false),
        ("UPDATE events SET seq = 0 WHERE seq = 1", false),
        ("UPDATE events SET seq = 9223372036854775807 WHERE seq = 3", false),
        ("UPDATE sessions SET seq = -1", false),
        ("UPDATE sessions SET seq = 9223372036854775807", false),
        ("UPDATE sessions SET head = x'00'", false),
        ("UPDATE sessions SET workflow_hash = 'x'", false),
        ("UPDATE events SET data = '{'", false),
        ("UPDATE events SET hash = x''", false),
        ("UPDATE events SET at = -9223372036854775808", false),
        ("UPDATE events SET decision = -1 WHERE seq = 3", false),
        ("UPDATE assignments SET part = -1, attempt = -1", false),
        ("UPDATE assignments SET token = x'00'", false),
        ("UPDATE questions SET options = '{'", true),
        ("DELETE FROM store", false),
        ("DELETE FROM events", false),
        ("DELETE FROM workflows", true),
        ("UPDATE workflows SET sources = '['", true),
        ("DROP TABLE events", false),
        ("DROP TABLE sessions", false),
        ("DROP TABLE snapshots", false),
        ("PRAGMA user_version = 0", false),
    ] {
        victim.put(&victim.store);
        let connection = rusqlite::Connection::open(victim.project.store()).unwrap();
        let guards: Vec<(String, String)> = {
            let mut found = connection.prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").unwrap();
            found.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap().map(Result::unwrap).collect()
        };
        guards.iter().for_each(|(name, _)| connection.execute_batch(&format!("DROP TRIGGER {name}")).unwrap());
        connection.execute_batch(sql).unwrap();
        for (_, guard) in guards {
            // One on a table that is gone is gone as well.
            let _ = connection.execute_batch(&guard);
        }
        connection.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
        drop(connection);
        eprintln!("{sql}");
        let verified = victim.survived();
        assert!(unharmed || verified.exit != Some(0), "{sql} is missed: {verified:?}");
    }
}
