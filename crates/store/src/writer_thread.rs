//! A store on a writer thread: the caller continues to decide while the thread stores earlier decisions.
//!
//! Appends are queued without waiting. Every other call waits for its answer, and so for all that was queued before it.
//! A failed append is reported by [`StoreTransaction::flush_appends`] or by the commit, and nothing queued after it is
//! written. A transaction may begin while the previous one is being stored ([`Store::begin_pipelined`]). If the
//! previous one fails, or another connection has written, every pipelined transaction fails until one begins that
//! waits.

use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::{self, JoinHandle};

use interlock_core::code::Code;
use interlock_core::id::{AssignmentId, Digest, QuestionId, Timestamp};
use interlock_core::state::Question;
use interlock_core::workflow::CompletionRequirements;

use crate::AttachmentCounts;
use crate::ChainLink;
use crate::CommitCallback;
use crate::EventAppend;
use crate::EventRow;
use crate::OpenQuestion;
use crate::PinnedSources;
use crate::RefusedWrite;
use crate::SessionHead;
use crate::Snapshot;
use crate::Store;
use crate::StoreError;
use crate::StoreIdentity;
use crate::StoreResult;
use crate::StoreTransaction;
use crate::StoreView;
use crate::chain::ChainKey;
use crate::rows::SessionRow;
use crate::table::{self, ProjectedTables, TableSchema};

type StoreJob = Box<dyn FnOnce(&mut dyn Store) + Send>;
type ViewJob = Box<dyn FnOnce(&mut dyn StoreView) + Send>;
type TransactionJob = Box<dyn FnOnce(&mut dyn StoreTransaction) + Send>;

/// A request to the writer thread.
enum WriterMessage {
    Settle(StoreJob),
    View(Sender<StoreResult<()>>),
    Begin(Sender<StoreResult<()>>),
    /// Gets no reply. It is valid only at this version.
    BeginAhead(i64),
    /// The rest are part of the view or transaction under way.
    Look(ViewJob),
    Change(TransactionJob),
    Append(Box<EventAppend>),
    Snapshot(i64, Snapshot),
    Written(Sender<StoreResult<()>>),
    Commit(CommitCallback),
    End,
}

pub struct WriterThreadStore {
    jobs: Sender<WriterMessage>,
    hand: Option<JoinHandle<()>>,
}

impl WriterThreadStore {
    pub fn new(store: Box<dyn Store>) -> Self {
        let (jobs, waiting) = mpsc::channel();
        let hand = thread::spawn(move || serve(store, &waiting));
        Self { jobs, hand: Some(hand) }
    }

    fn begin_with(&self, job: impl FnOnce(Sender<StoreResult<()>>) -> WriterMessage) -> StoreResult<WriterHandle<'_>> {
        ask(&self.jobs, job)?;
        Ok(WriterHandle { jobs: &self.jobs })
    }
}

/// Queued requests are written before the store is closed.
impl Drop for WriterThreadStore {
    fn drop(&mut self) {
        (self.jobs, _) = mpsc::channel();
        if let Some(hand) = self.hand.take() {
            // A panic of the thread has already been printed.
            let _ = hand.join();
        }
    }
}

impl Store for WriterThreadStore {
    fn view(&mut self) -> StoreResult<Box<dyn StoreView + '_>> {
        Ok(Box::new(self.begin_with(WriterMessage::View)?))
    }

    fn begin(&mut self) -> StoreResult<Box<dyn StoreTransaction + '_>> {
        Ok(Box::new(self.begin_with(WriterMessage::Begin)?))
    }

    fn begin_pipelined(&mut self, version: i64) -> StoreResult<Box<dyn StoreTransaction + '_>> {
        self.jobs.send(WriterMessage::BeginAhead(version)).map_err(|_| gone())?;
        Ok(Box::new(WriterHandle { jobs: &self.jobs }))
    }

    fn expect_many(&mut self) -> StoreResult<()> {
        ask(&self.jobs, |back| WriterMessage::Settle(Box::new(move |store| answer(&back, store.expect_many()))))
    }

    fn unlock(&mut self, key: &ChainKey) -> StoreResult<()> {
        let key = key.clone();
        ask(&self.jobs, |back| WriterMessage::Settle(Box::new(move |store| answer(&back, store.unlock(&key)))))
    }
}

/// Hands a job over, and waits for what comes of it.
fn ask<T>(jobs: &Sender<WriterMessage>, job: impl FnOnce(Sender<StoreResult<T>>) -> WriterMessage) -> StoreResult<T> {
    let (back, answer) = mpsc::channel();
    jobs.send(job(back)).map_err(|_| gone())?;
    answer.recv().map_err(|_| gone())?
}

fn answer<T>(back: &Sender<T>, result: T) {
    // The caller may have gone.
    let _ = back.send(result);
}

fn gone() -> StoreError {
    StoreError::new(Code::Bug, "the thread that writes the store is gone")
}

fn serve(mut store: Box<dyn Store>, waiting: &Receiver<WriterMessage>) {
    // Something that was begun ahead could not be stored, and nothing that rests on it may be.
    let mut spoilt = false;
    while let Ok(job) = waiting.recv() {
        match job {
            WriterMessage::Settle(work) => work(&mut *store),
            WriterMessage::View(back) => match store.view() {
                Ok(view) => {
                    answer(&back, Ok(()));
                    look(view, waiting);
                }
                Err(fault) => answer(&back, Err(fault)),
            },
            WriterMessage::Begin(back) => match store.begin() {
                Ok(tx) => {
                    answer(&back, Ok(()));
                    spoilt = transact(tx, waiting);
                }
                Err(fault) => answer(&back, Err(fault)),
            },
            WriterMessage::BeginAhead(_) if spoilt => refuse(gone(), waiting),
            WriterMessage::BeginAhead(version) => match store.begin_pipelined(version) {
                Ok(tx) => spoilt = transact(tx, waiting),
                Err(fault) => {
                    spoilt = true;
                    refuse(fault, waiting);
                }
            },
            WriterMessage::Look(_)
            | WriterMessage::Change(_)
            | WriterMessage::Append(_)
            | WriterMessage::Snapshot(..)
            | WriterMessage::Written(_)
            | WriterMessage::Commit(_)
            | WriterMessage::End => {}
        }
    }
}

fn look(mut view: Box<dyn StoreView + '_>, waiting: &Receiver<WriterMessage>) {
    while let Ok(WriterMessage::Look(work)) = waiting.recv() {
        work(&mut *view);
    }
}

/// Until it is committed or given up. Whether what was to be stored was not.
fn transact(mut tx: Box<dyn StoreTransaction + '_>, waiting: &Receiver<WriterMessage>) -> bool {
    let mut written = Ok(());
    while let Ok(job) = waiting.recv() {
        match job {
            WriterMessage::Look(work) => work(&mut *tx),
            WriterMessage::Change(work) => work(&mut *tx),
            WriterMessage::Append(append) => written = written.and_then(|()| tx.append(&append)),
            WriterMessage::Snapshot(session, snapshot) => {
                written = written.and_then(|()| tx.put_snapshot(session, &snapshot));
            }
            WriterMessage::Written(back) => answer(&back, std::mem::replace(&mut written, Ok(()))),
            WriterMessage::Commit(told) => {
                let stored = written.and_then(|()| tx.commit());
                let spoilt = stored.is_err();
                told(stored);
                return spoilt;
            }
            WriterMessage::End
            | WriterMessage::Settle(_)
            | WriterMessage::View(_)
            | WriterMessage::Begin(_)
            | WriterMessage::BeginAhead(_) => return true,
        }
    }
    true
}

/// Drains the remaining messages of a transaction that failed to start. Only the commit is answered, with the error.
fn refuse(fault: StoreError, waiting: &Receiver<WriterMessage>) {
    while let Ok(job) = waiting.recv() {
        match job {
            WriterMessage::Commit(told) => return told(Err(fault)),
            WriterMessage::End
            | WriterMessage::Settle(_)
            | WriterMessage::View(_)
            | WriterMessage::Begin(_)
            | WriterMessage::BeginAhead(_) => return,
            WriterMessage::Look(_)
            | WriterMessage::Change(_)
            | WriterMessage::Append(_)
            | WriterMessage::Snapshot(..)
            | WriterMessage::Written(_) => {}
        }
    }
}

/// A view or a transaction of a store that is at work elsewhere.
struct WriterHandle<'a> {
    jobs: &'a Sender<WriterMessage>,
}

impl WriterHandle<'_> {
    fn look<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut dyn StoreView) -> StoreResult<T> + Send + 'static,
    ) -> StoreResult<T> {
        ask(self.jobs, |back| WriterMessage::Look(Box::new(move |view| answer(&back, work(view)))))
    }

    fn change<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut dyn StoreTransaction) -> StoreResult<T> + Send + 'static,
    ) -> StoreResult<T> {
        ask(self.jobs, |back| WriterMessage::Change(Box::new(move |tx| answer(&back, work(tx)))))
    }

    fn hand_over(&self, job: WriterMessage) -> StoreResult<()> {
        self.jobs.send(job).map_err(|_| gone())
    }
}

/// After a commit nothing is under way, and this says nothing.
impl Drop for WriterHandle<'_> {
    fn drop(&mut self) {
        let _ = self.jobs.send(WriterMessage::End);
    }
}

impl StoreView for WriterHandle<'_> {
    fn identity(&mut self) -> StoreResult<StoreIdentity> {
        self.look(|view| view.identity())
    }

    fn version(&mut self) -> StoreResult<i64> {
        self.look(|view| view.version())
    }

    fn session(&mut self, id: &str) -> StoreResult<Option<SessionHead>> {
        let id = id.to_owned();
        self.look(move |view| view.session(&id))
    }

    fn sessions(&mut self) -> StoreResult<Vec<SessionHead>> {
        self.look(|view| view.sessions())
    }

    fn sessions_under_way(&mut self, most: usize) -> StoreResult<Vec<SessionHead>> {
        self.look(move |view| view.sessions_under_way(most))
    }

    fn workflow(&mut self, hash: Digest) -> StoreResult<Option<PinnedSources>> {
        self.look(move |view| view.workflow(hash))
    }

    fn needs_are(&mut self, hash: Digest, needs: &CompletionRequirements) -> StoreResult<bool> {
        let needs = needs.clone();
        self.look(move |view| view.needs_are(hash, &needs))
    }

    fn lost_sessions(&mut self) -> StoreResult<Vec<(&'static str, u64)>> {
        self.look(|view| view.lost_sessions())
    }

    fn count_attachments(&mut self) -> StoreResult<AttachmentCounts> {
        self.look(|view| view.count_attachments())
    }

    fn snapshot(&mut self, session: i64) -> StoreResult<Option<Snapshot>> {
        self.look(move |view| view.snapshot(session))
    }

    fn events(&mut self, session: i64, after: u64, limit: usize) -> StoreResult<Vec<EventRow>> {
        self.look(move |view| view.events(session, after, limit))
    }

    fn event_of_decision(&mut self, session: i64, decision: u32) -> StoreResult<Option<EventRow>> {
        self.look(move |view| view.event_of_decision(session, decision))
    }

    fn attachment(&mut self, event: i64) -> StoreResult<Option<String>> {
        self.look(move |view| view.attachment(event))
    }

    fn prompt(&mut self, event: i64) -> StoreResult<Option<String>> {
        self.look(move |view| view.prompt(event))
    }

    fn opened(&mut self, session: i64, id: AssignmentId) -> StoreResult<Option<u64>> {
        self.look(move |view| view.opened(session, id))
    }

    fn question(&mut self, session: i64, id: QuestionId) -> StoreResult<Option<Question>> {
        self.look(move |view| view.question(session, id))
    }

    fn open_questions(&mut self, session: Option<i64>) -> StoreResult<Vec<OpenQuestion>> {
        self.look(move |view| view.open_questions(session))
    }

    fn attempts(&mut self) -> StoreResult<Vec<RefusedWrite>> {
        self.look(|view| view.attempts())
    }

    fn chain(&mut self, session: i64, each: &mut dyn FnMut(&ChainLink<'_>)) -> StoreResult<()> {
        let (links, chain) = mpsc::channel();
        self.look(move |view| view.chain(session, &mut |link| answer(&links, OwnedChainLink::from(link))))?;
        chain.iter().for_each(|copied| each(&copied.link()));
        Ok(())
    }

    fn table_is(&mut self, table: &'static TableSchema, session: i64, rows: &table::TableRows) -> StoreResult<bool> {
        let rows = rows.clone();
        self.look(move |view| view.table_is(table, session, &rows))
    }

    fn table(&mut self, table: &'static TableSchema, session: i64) -> StoreResult<table::TableRows> {
        self.look(move |view| view.table(table, session))
    }

    fn schema(&mut self) -> StoreResult<Vec<String>> {
        self.look(|view| view.schema())
    }
}

/// The data that a [`ChainLink`] borrows, owned.
struct OwnedChainLink {
    row: EventRow,
    attachment: Option<String>,
    prompt: Option<String>,
}

impl From<&ChainLink<'_>> for OwnedChainLink {
    fn from(link: &ChainLink<'_>) -> Self {
        let row = EventRow {
            id: 0,
            seq: link.seq,
            kind: link.kind.to_owned(),
            at: link.at,
            decision: link.decision,
            data: link.data.to_owned(),
            says: link.says.to_owned(),
            given: link.given,
            prev: link.prev,
            hash: link.hash,
        };
        Self { row, attachment: link.attachment.map(str::to_owned), prompt: link.prompt.map(str::to_owned) }
    }
}

impl OwnedChainLink {
    fn link(&self) -> ChainLink<'_> {
        let EventRow { id: _, seq, kind, at, decision, data, says, given, prev, hash } = &self.row;
        ChainLink {
            seq: *seq,
            kind,
            at: *at,
            decision: *decision,
            data,
            says,
            given: *given,
            prev: *prev,
            hash: *hash,
            attachment: self.attachment.as_deref(),
            prompt: self.prompt.as_deref(),
        }
    }
}

impl StoreTransaction for WriterHandle<'_> {
    fn pin_workflow(
        &mut self,
        hash: Digest,
        pinned: &PinnedSources,
        needs: &CompletionRequirements,
    ) -> StoreResult<()> {
        let (pinned, needs) = (pinned.clone(), needs.clone());
        self.change(move |tx| tx.pin_workflow(hash, &pinned, &needs))
    }

    fn begin_session(&mut self, id: &str, at: Timestamp) -> StoreResult<i64> {
        let id = id.to_owned();
        self.change(move |tx| tx.begin_session(&id, at))
    }

    fn append(&mut self, append: &EventAppend) -> StoreResult<()> {
        self.append_deferred(append.clone())
    }

    fn append_deferred(&mut self, append: EventAppend) -> StoreResult<()> {
        self.hand_over(WriterMessage::Append(Box::new(append)))
    }

    fn put_snapshot(&mut self, session: i64, snapshot: &Snapshot) -> StoreResult<()> {
        self.hand_over(WriterMessage::Snapshot(session, snapshot.clone()))
    }

    fn rebuild(&mut self, sessions: &[(i64, ProjectedTables, SessionRow)]) -> StoreResult<()> {
        let sessions = sessions.to_vec();
        self.change(move |tx| tx.rebuild(&sessions))
    }

    fn set_savepoint(&mut self) -> StoreResult<()> {
        self.change(|tx| tx.set_savepoint())
    }

    fn release_savepoint(&mut self) -> StoreResult<()> {
        self.change(|tx| tx.release_savepoint())
    }

    fn rollback_to_savepoint(&mut self) -> StoreResult<()> {
        self.change(|tx| tx.rollback_to_savepoint())
    }

    fn flush_appends(&mut self) -> StoreResult<()> {
        ask(self.jobs, WriterMessage::Written)
    }

    fn commit(self: Box<Self>) -> StoreResult<()> {
        ask(self.jobs, |back| WriterMessage::Commit(Box::new(move |stored| answer(&back, stored))))
    }

    fn commit_async(self: Box<Self>, told: CommitCallback) {
        // If the thread has ended, the callback is dropped without a call.
        let _ = self.jobs.send(WriterMessage::Commit(told));
    }
}
