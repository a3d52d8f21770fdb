//! The store: events in chains, and the tables that people query, in one transaction.
//!
//! A backend implements [`Store`], [`StoreView`] and [`StoreTransaction`], and enforces the same rules by its own
//! means. The suite in `tests/store` runs against the traits. Only this crate contains SQL.

pub mod audit;
pub mod chain;
mod error;
mod event_effects;
pub mod keys;
pub mod rows;
pub mod sqlite;
pub mod table;
mod writer_thread;

use interlock_core::code::Code;
use interlock_core::id::{AssignmentId, Digest, Name, QuestionId, Timestamp};
use interlock_core::state::Question;
use interlock_core::workflow::CompletionRequirements;

use chain::{ChainKey, Seal};
pub use error::StoreError;
use rows::{EventProjection, SessionRow};
use table::{ProjectedTables, TableSchema};
pub use writer_thread::WriterThreadStore;

pub type StoreResult<T> = Result<T, StoreError>;

/// The identity of a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreIdentity {
    pub id: Name,
    /// The hash of the operator key.
    pub operator: Digest,
    /// The hash of the spawner key.
    pub spawner: Digest,
    pub seal: Seal,
}

/// A session as its row has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionHead {
    pub key: i64,
    pub id: Name,
    pub title: Name,
    pub workflow: Name,
    pub workflow_hash: Digest,
    pub status: Name,
    pub started_at: Timestamp,
    pub updated_at: Timestamp,
    /// Of its last event.
    pub seq: u64,
    pub head: Seal,
    /// The event that last voided its gates.
    pub lapsed: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventRow {
    /// Where attachment and prompt are found.
    pub id: i64,
    pub seq: u64,
    pub kind: String,
    pub at: Timestamp,
    pub decision: Option<u32>,
    pub data: String,
    /// The effects of the event, one a line.
    pub says: String,
    /// The hash of what it was given.
    pub given: Option<Seal>,
    pub prev: Seal,
    pub hash: Seal,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    pub seq: u64,
    pub data: String,
    pub seal: Seal,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenQuestion {
    pub session: Name,
    pub id: QuestionId,
    pub group: Option<Name>,
    pub text: Name,
    pub options: Vec<Name>,
}

/// A write that went round the program and was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedWrite {
    pub at: String,
    pub session: Option<Name>,
    pub guard: String,
    pub what: String,
}

/// A workflow as it was pinned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PinnedSources {
    pub name: Name,
    /// Each file that was read, and its text.
    pub sources: Vec<(String, String)>,
}

/// An event with all that it writes.
#[derive(Clone, Debug)]
pub struct EventAppend {
    pub session: i64,
    pub seq: u64,
    pub kind: &'static str,
    pub at: Timestamp,
    pub decision: Option<u32>,
    pub data: String,
    pub given: Option<Seal>,
    pub prev: Seal,
    pub hash: Seal,
    pub attachment: Option<String>,
    pub prompt: Option<String>,
    pub rows: EventProjection,
}

/// The read operations of a store.
pub trait StoreView {
    fn identity(&mut self) -> StoreResult<StoreIdentity>;
    /// A number that differs from an earlier one of this connection if any other has written in between.
    fn version(&mut self) -> StoreResult<i64>;
    fn session(&mut self, id: &str) -> StoreResult<Option<SessionHead>>;
    /// The newest first.
    fn sessions(&mut self) -> StoreResult<Vec<SessionHead>>;
    /// Those that have not ended, the newest first, so many at most.
    fn sessions_under_way(&mut self, most: usize) -> StoreResult<Vec<SessionHead>>;
    fn workflow(&mut self, hash: Digest) -> StoreResult<Option<PinnedSources>>;
    /// Whether what a completed group must have is stored for this workflow as it was pinned.
    fn needs_are(&mut self, hash: Digest, needs: &CompletionRequirements) -> StoreResult<bool>;
    /// Each table with rows of sessions that are not there, and of how many.
    fn lost_sessions(&mut self) -> StoreResult<Vec<(&'static str, u64)>>;
    /// How many events have something that they were given, and how many a prompt.
    fn count_attachments(&mut self) -> StoreResult<AttachmentCounts>;
    fn snapshot(&mut self, session: i64) -> StoreResult<Option<Snapshot>>;
    /// Events after `seq`, in order, at most `limit`.
    fn events(&mut self, session: i64, after: u64, limit: usize) -> StoreResult<Vec<EventRow>>;
    fn event_of_decision(&mut self, session: i64, decision: u32) -> StoreResult<Option<EventRow>>;
    /// The attachment of an event.
    fn attachment(&mut self, event: i64) -> StoreResult<Option<String>>;
    fn prompt(&mut self, event: i64) -> StoreResult<Option<String>>;
    /// The event that gave an assignment.
    fn opened(&mut self, session: i64, id: AssignmentId) -> StoreResult<Option<u64>>;
    fn question(&mut self, session: i64, id: QuestionId) -> StoreResult<Option<Question>>;
    /// Open questions of one session, or of all.
    fn open_questions(&mut self, session: Option<i64>) -> StoreResult<Vec<OpenQuestion>>;
    fn attempts(&mut self) -> StoreResult<Vec<RefusedWrite>>;
    /// Every event of a session in order, with its attachment and its prompt.
    fn chain(&mut self, session: i64, each: &mut dyn FnMut(&ChainLink<'_>)) -> StoreResult<()>;
    /// Whether the rows of a session in one of the tables are these.
    fn table_is(&mut self, table: &'static TableSchema, session: i64, rows: &table::TableRows) -> StoreResult<bool>;
    /// The rows of a session in one of the tables.
    fn table(&mut self, table: &'static TableSchema, session: i64) -> StoreResult<table::TableRows>;
    /// Differences from the schema of this version: each object that is missing, added or changed.
    fn schema(&mut self) -> StoreResult<Vec<String>>;
}

/// The numbers of attachments and prompts beside events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AttachmentCounts {
    pub attachments: u64,
    pub prompts: u64,
}

/// One event of a chain, as it lies in the store.
#[derive(Clone, Copy, Debug)]
pub struct ChainLink<'a> {
    pub seq: u64,
    pub kind: &'a str,
    pub at: Timestamp,
    pub decision: Option<u32>,
    pub data: &'a str,
    pub says: &'a str,
    pub given: Option<Seal>,
    pub prev: Seal,
    pub hash: Seal,
    pub attachment: Option<&'a str>,
    pub prompt: Option<&'a str>,
}

/// Everything in it is stored, durably, or nothing is.
pub trait StoreTransaction: StoreView {
    fn pin_workflow(&mut self, hash: Digest, pinned: &PinnedSources, needs: &CompletionRequirements)
    -> StoreResult<()>;
    /// Makes room for a session, which begins with its first event.
    fn begin_session(&mut self, id: &str, at: Timestamp) -> StoreResult<i64>;
    fn append(&mut self, append: &EventAppend) -> StoreResult<()>;
    /// The same, for a store that may write it later: what comes of it is known when all is `written`.
    fn append_deferred(&mut self, append: EventAppend) -> StoreResult<()> {
        self.append(&append)
    }
    fn put_snapshot(&mut self, session: i64, snapshot: &Snapshot) -> StoreResult<()>;
    /// Puts the rows of these sessions in the place of what is there.
    fn rebuild(&mut self, sessions: &[(i64, ProjectedTables, SessionRow)]) -> StoreResult<()>;
    /// From here on everything can be undone by itself.
    fn set_savepoint(&mut self) -> StoreResult<()>;
    fn release_savepoint(&mut self) -> StoreResult<()>;
    fn rollback_to_savepoint(&mut self) -> StoreResult<()>;
    /// Waits for what was taken and not written yet, and reports the outcome.
    fn flush_appends(&mut self) -> StoreResult<()> {
        Ok(())
    }
    fn commit(self: Box<Self>) -> StoreResult<()>;
    /// The same, for a store that may do it later: the outcome is reported then.
    fn commit_async(self: Box<Self>, told: CommitCallback) {
        told(self.commit());
    }
}

/// Hears what came of a commit.
pub type CommitCallback = Box<dyn FnOnce(StoreResult<()>) + Send>;

pub trait Store: Send {
    /// For reading: one consistent view.
    fn view(&mut self) -> StoreResult<Box<dyn StoreView + '_>>;
    /// For writing. Waits for its turn.
    fn begin(&mut self) -> StoreResult<Box<dyn StoreTransaction + '_>>;
    /// Begins to write on top of the state in memory. Fails if another connection has written since this version. A
    /// writer thread does not wait for that check, nor for the previous commit to be stored; if either fails, this
    /// transaction is not stored.
    fn begin_pipelined(&mut self, version: i64) -> StoreResult<Box<dyn StoreTransaction + '_>> {
        let mut tx = self.begin()?;
        match tx.version()? == version {
            true => Ok(tx),
            false => Err(StoreError::new(Code::StoreFailed, "somebody else has written in between")),
        }
    }
    /// This process will write for many callers.
    fn expect_many(&mut self) -> StoreResult<()>;
    /// From now on events are sealed, and guarded, with this key.
    fn unlock(&mut self, key: &ChainKey) -> StoreResult<()>;
}
