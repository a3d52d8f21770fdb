//! The embedded store, held to the suite.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use interlock_core::id::{Digest, Timestamp};
use interlock_store::sqlite::SqliteStore;
use interlock_store::{Store, StoreIdentity};

use crate::{Backend, KEY, keeping, laws, name};

struct File {
    folder: PathBuf,
    made: AtomicBool,
}

impl File {
    fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("interlock-store-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        Self { folder, made: AtomicBool::new(false) }
    }
}

impl Drop for File {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

impl Backend for File {
    fn make(&self) -> Box<dyn Store> {
        assert!(!self.made.swap(true, Ordering::Relaxed), "one store a backend");
        let (operator, spawner) = (Digest::of(b"operator"), Digest::of(b"spawner"));
        let seal = KEY.store("store", operator.as_bytes(), spawner.as_bytes());
        let identity = StoreIdentity { id: name("store"), operator, spawner, seal };
        Box::new(SqliteStore::create(&self.folder.join("interlock.db"), &identity, Timestamp(1)).unwrap())
    }

    fn again(&self) -> Box<dyn Store> {
        Box::new(SqliteStore::open(&self.folder.join("interlock.db")).unwrap())
    }
}

#[test]
fn whatever_is_decided_can_be_stored_and_read_back() {
    laws::whatever_is_decided_can_be_stored_and_read_back(&File::new());
}

#[test]
fn a_transaction_that_is_not_committed_leaves_nothing() {
    keeping::a_transaction_that_is_not_committed_leaves_nothing(&File::new());
}

#[test]
fn what_is_undone_leaves_the_rest() {
    keeping::what_is_undone_leaves_the_rest(&File::new());
}

#[test]
fn what_was_written_is_read_back() {
    keeping::what_was_written_is_read_back(&File::new());
}

#[test]
fn an_event_out_of_turn_is_refused() {
    keeping::an_event_out_of_turn_is_refused(&File::new());
}
