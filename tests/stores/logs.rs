//! The files that SQLite keeps beside a store, gone or spoilt.

use std::fs;

use crate::project::{Dice, Strike};
use crate::{Victim, beside};

/// Leaves a store whose last event stands in its log alone: the process is killed when it is about to tidy up.
fn with_a_log(name: &str) -> Victim {
    let victim = Victim::new(name);
    let store = victim.project.store();
    let assignment = format!("{}.a2", victim.session);
    for at in 1.. {
        victim.put(&victim.store);
        let strike = Strike { root: &store, kind: "kill", at };
        let (_, struck) =
            strike.run(&mut victim.project.command(&["claim", &assignment]), &victim.project.root().join("mark"));
        let struck = struck.expect("the log is synced before it is copied back");
        // The second sync of the log is the one before it is copied back.
        let copied = struck.starts_with("pwrite") && struck.ends_with("interlock.db");
        if copied {
            assert!(fs::read(&store).unwrap() == victim.store);
            return victim;
        }
    }
    unreachable!("a claim makes some fifty calls")
}

#[test]
fn what_stands_in_the_log_alone_is_there() {
    let victim = with_a_log("log");
    assert_eq!(victim.project.verified(), victim.events + 1);
}

#[test]
fn without_its_log_a_store_is_what_it_was_before() {
    let victim = with_a_log("log-gone");
    fs::remove_file(beside(&victim.project.store(), "-wal")).unwrap();
    assert_eq!(victim.project.verified(), victim.events);
    victim.project.claim(&format!("{}.a2", victim.session));
    assert_eq!(victim.project.verified(), victim.events + 1);
}

#[test]
fn of_a_spoilt_log_whole_transactions_are_taken_or_none() {
    let victim = with_a_log("log-spoilt");
    let (store, mut dice) = (victim.project.store(), Dice(4));
    let log = fs::read(beside(&store, "-wal")).unwrap();
    let spoilt = |change: &mut dyn FnMut(&mut Vec<u8>)| {
        victim.put(&victim.store);
        let mut log = log.clone();
        change(&mut log);
        fs::write(beside(&store, "-wal"), log).unwrap();
        victim.project.verified() - victim.events
    };
    assert_eq!(spoilt(&mut |_| {}), 1);
    assert_eq!(spoilt(&mut |log| log.clear()), 0);
    assert_eq!(spoilt(&mut |log| log.truncate(20)), 0);
    assert_eq!(spoilt(&mut |log| log.truncate(log.len() - 1)), 0);
    assert_eq!(spoilt(&mut |log| log[..32].fill(7)), 0);
    assert_eq!(spoilt(&mut |log| log.extend([9; 5000])), 1);
    for _ in 0..8 {
        let place = 32 + usize::try_from(dice.roll(u64::try_from(log.len()).unwrap() - 32)).unwrap();
        assert_eq!(spoilt(&mut |log| log[place] ^= 0x10), 0, "byte {place}");
    }
}

#[test]
fn a_spoilt_index_of_the_log_is_made_anew() {
    let victim = with_a_log("index");
    fs::write(beside(&victim.project.store(), "-shm"), [0xa5; 40_000]).unwrap();
    assert_eq!(victim.project.verified(), victim.events + 1);
}
