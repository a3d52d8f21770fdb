//! A store at work in a thread of its own: whoever decides goes on while what was decided is written.
//!
//! What is appended is handed over and not waited for. Everything else waits for its answer, and so for all that was
//! handed over before it. What could not be written comes to light with [`Transaction::written`] or with the commit, and
//! nothing that was handed over after it is written. A transaction may be begun while the one before it is being stored
//! ([`Store::begin_ahead`]); where that fails, or somebody else has written, so does every one that was begun ahead, until
//! one is begun that waits.

use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::{self, JoinHandle};

use interlock_core::code::Code;
use interlock_core::id::{AssignmentId, Digest, QuestionId, Timestamp};
use interlock_core::state::Question;
use interlock_core::workflow::Requirements;

use crate::Append;
use crate::Attempt;
use crate::EventRow;
use crate::Identity;
use crate::Kept;
use crate::Link;
use crate::OpenQuestion;
use crate::Pinned;
use crate::SessionHead;
use crate::Snapshot;
use crate::Store;
use crate::StoreError;
use crate::StoreResult;
use crate::Told;
use crate::Transaction;
use crate::View;
use crate::chain::ChainKey;
use crate::rows::SessionRow;
use crate::table::{self, Fold, Table};

type Setting = Box<dyn FnOnce(&mut dyn Store) + Send>;
type Looking = Box<dyn FnOnce(&mut dyn View) + Send>;
type Changing = Box<dyn FnOnce(&mut dyn Transaction) + Send>;

/// What is asked of a store.
enum Job {
    Settle(Setting),
    View(Sender<StoreResult<()>>),
    Begin(Sender<StoreResult<()>>),
    /// Nobody waits for it; it holds only at this version.
    BeginAhead(i64),
    /// The rest are part of the view or transaction under way.
    Look(Looking),
    Change(Changing),
    Append(Box<Append>),
    Snapshot(i64, Snapshot),
    Written(Sender<StoreResult<()>>),
    Commit(Told),
    End,
}

pub struct Behind {
    jobs: Sender<Job>,
    hand: Option<JoinHandle<()>>,
}

impl Behind {
    pub fn new(store: Box<dyn Store>) -> Self {
        let (jobs, waiting) = mpsc::channel();
        let hand = thread::spawn(move || serve(store, &waiting));
        Self { jobs, hand: Some(hand) }
    }

    fn begin_with(&self, job: impl FnOnce(Sender<StoreResult<()>>) -> Job) -> StoreResult<Hand<'_>> {
        ask(&self.jobs, job)?;
        Ok(Hand { jobs: &self.jobs })
    }
}

/// What was handed over is written before the store is closed.
impl Drop for Behind {
    fn drop(&mut self) {
        (self.jobs, _) = mpsc::channel();
        if let Some(hand) = self.hand.take() {
            // Where it panicked, that was said.
            let _ = hand.join();
        }
    }
}

impl Store for Behind {
    fn view(&mut self) -> StoreResult<Box<dyn View + '_>> {
        Ok(Box::new(self.begin_with(Job::View)?))
    }

    fn begin(&mut self) -> StoreResult<Box<dyn Transaction + '_>> {
        Ok(Box::new(self.begin_with(Job::Begin)?))
    }

    fn begin_ahead(&mut self, version: i64) -> StoreResult<Box<dyn Transaction + '_>> {
        self.jobs.send(Job::BeginAhead(version)).map_err(|_| gone())?;
        Ok(Box::new(Hand { jobs: &self.jobs }))
    }

    fn expect_many(&mut self) -> StoreResult<()> {
        ask(&self.jobs, |back| Job::Settle(Box::new(move |store| answer(&back, store.expect_many()))))
    }

    fn unlock(&mut self, key: &ChainKey) -> StoreResult<()> {
        let key = key.clone();
        ask(&self.jobs, |back| Job::Settle(Box::new(move |store| answer(&back, store.unlock(&key)))))
    }
}

/// Hands a job over, and waits for what comes of it.
fn ask<T>(jobs: &Sender<Job>, job: impl FnOnce(Sender<StoreResult<T>>) -> Job) -> StoreResult<T> {
    let (back, answer) = mpsc::channel();
    jobs.send(job(back)).map_err(|_| gone())?;
    answer.recv().map_err(|_| gone())?
}

fn answer<T>(back: &Sender<T>, result: T) {
    // Whoever asked may be gone.
    let _ = back.send(result);
}

fn gone() -> StoreError {
    StoreError::new(Code::Bug, "the thread that writes the store is gone")
}

fn serve(mut store: Box<dyn Store>, waiting: &Receiver<Job>) {
    // Something that was begun ahead could not be stored, and nothing that rests on it may be.
    let mut spoilt = false;
    while let Ok(job) = waiting.recv() {
        match job {
            Job::Settle(work) => work(&mut *store),
            Job::View(back) => match store.view() {
                Ok(view) => {
                    answer(&back, Ok(()));
                    look(view, waiting);
                }
                Err(fault) => answer(&back, Err(fault)),
            },
            Job::Begin(back) => match store.begin() {
                Ok(tx) => {
                    answer(&back, Ok(()));
                    spoilt = transact(tx, waiting);
                }
                Err(fault) => answer(&back, Err(fault)),
            },
            Job::BeginAhead(_) if spoilt => refuse(gone(), waiting),
            Job::BeginAhead(version) => match store.begin_ahead(version) {
                Ok(tx) => spoilt = transact(tx, waiting),
                Err(fault) => {
                    spoilt = true;
                    refuse(fault, waiting);
                }
            },
            Job::Look(_)
            | Job::Change(_)
            | Job::Append(_)
            | Job::Snapshot(..)
            | Job::Written(_)
            | Job::Commit(_)
            | Job::End => {}
        }
    }
}

fn look(mut view: Box<dyn View + '_>, waiting: &Receiver<Job>) {
    while let Ok(Job::Look(work)) = waiting.recv() {
        work(&mut *view);
    }
}

/// Until it is committed or given up. Whether what was to be stored was not.
fn transact(mut tx: Box<dyn Transaction + '_>, waiting: &Receiver<Job>) -> bool {
    let mut written = Ok(());
    while let Ok(job) = waiting.recv() {
        match job {
            Job::Look(work) => work(&mut *tx),
            Job::Change(work) => work(&mut *tx),
            Job::Append(append) => written = written.and_then(|()| tx.append(&append)),
            Job::Snapshot(session, snapshot) => written = written.and_then(|()| tx.put_snapshot(session, &snapshot)),
            Job::Written(back) => answer(&back, std::mem::replace(&mut written, Ok(()))),
            Job::Commit(told) => {
                let stored = written.and_then(|()| tx.commit());
                let spoilt = stored.is_err();
                told(stored);
                return spoilt;
            }
            Job::End | Job::Settle(_) | Job::View(_) | Job::Begin(_) | Job::BeginAhead(_) => return true,
        }
    }
    true
}

/// Takes in all that belongs to a transaction that there is not. Whoever asks gets no answer.
fn refuse(fault: StoreError, waiting: &Receiver<Job>) {
    while let Ok(job) = waiting.recv() {
        match job {
            Job::Commit(told) => return told(Err(fault)),
            Job::End | Job::Settle(_) | Job::View(_) | Job::Begin(_) | Job::BeginAhead(_) => return,
            Job::Look(_) | Job::Change(_) | Job::Append(_) | Job::Snapshot(..) | Job::Written(_) => {}
        }
    }
}

/// A view or a transaction of a store that is at work elsewhere.
struct Hand<'a> {
    jobs: &'a Sender<Job>,
}

impl Hand<'_> {
    fn look<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut dyn View) -> StoreResult<T> + Send + 'static,
    ) -> StoreResult<T> {
        ask(self.jobs, |back| Job::Look(Box::new(move |view| answer(&back, work(view)))))
    }

    fn change<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut dyn Transaction) -> StoreResult<T> + Send + 'static,
    ) -> StoreResult<T> {
        ask(self.jobs, |back| Job::Change(Box::new(move |tx| answer(&back, work(tx)))))
    }

    fn hand_over(&self, job: Job) -> StoreResult<()> {
        self.jobs.send(job).map_err(|_| gone())
    }
}

/// After a commit nothing is under way, and this says nothing.
impl Drop for Hand<'_> {
    fn drop(&mut self) {
        let _ = self.jobs.send(Job::End);
    }
}

impl View for Hand<'_> {
    fn identity(&mut self) -> StoreResult<Identity> {
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

    fn workflow(&mut self, hash: Digest) -> StoreResult<Option<Pinned>> {
        self.look(move |view| view.workflow(hash))
    }

    fn needs_are(&mut self, hash: Digest, needs: &Requirements) -> StoreResult<bool> {
        let needs = needs.clone();
        self.look(move |view| view.needs_are(hash, &needs))
    }

    fn lost_sessions(&mut self) -> StoreResult<Vec<(&'static str, u64)>> {
        self.look(|view| view.lost_sessions())
    }

    fn kept(&mut self) -> StoreResult<Kept> {
        self.look(|view| view.kept())
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

    fn attempts(&mut self) -> StoreResult<Vec<Attempt>> {
        self.look(|view| view.attempts())
    }

    fn chain(&mut self, session: i64, each: &mut dyn FnMut(&Link<'_>)) -> StoreResult<()> {
        let (links, chain) = mpsc::channel();
        self.look(move |view| view.chain(session, &mut |link| answer(&links, Copied::from(link))))?;
        chain.iter().for_each(|copied| each(&copied.link()));
        Ok(())
    }

    fn table_is(&mut self, table: &'static Table, session: i64, rows: &table::Rows) -> StoreResult<bool> {
        let rows = rows.clone();
        self.look(move |view| view.table_is(table, session, &rows))
    }

    fn table(&mut self, table: &'static Table, session: i64) -> StoreResult<table::Rows> {
        self.look(move |view| view.table(table, session))
    }

    fn schema(&mut self) -> StoreResult<Vec<String>> {
        self.look(|view| view.schema())
    }
}

/// What a [`Link`] borrows.
struct Copied {
    row: EventRow,
    attachment: Option<String>,
    prompt: Option<String>,
}

impl From<&Link<'_>> for Copied {
    fn from(link: &Link<'_>) -> Self {
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

impl Copied {
    fn link(&self) -> Link<'_> {
        let EventRow { id: _, seq, kind, at, decision, data, says, given, prev, hash } = &self.row;
        Link {
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

impl Transaction for Hand<'_> {
    fn pin_workflow(&mut self, hash: Digest, pinned: &Pinned, needs: &Requirements) -> StoreResult<()> {
        let (pinned, needs) = (pinned.clone(), needs.clone());
        self.change(move |tx| tx.pin_workflow(hash, &pinned, &needs))
    }

    fn begin_session(&mut self, id: &str, at: Timestamp) -> StoreResult<i64> {
        let id = id.to_owned();
        self.change(move |tx| tx.begin_session(&id, at))
    }

    fn append(&mut self, append: &Append) -> StoreResult<()> {
        self.take(append.clone())
    }

    fn take(&mut self, append: Append) -> StoreResult<()> {
        self.hand_over(Job::Append(Box::new(append)))
    }

    fn put_snapshot(&mut self, session: i64, snapshot: &Snapshot) -> StoreResult<()> {
        self.hand_over(Job::Snapshot(session, snapshot.clone()))
    }

    fn rebuild(&mut self, sessions: &[(i64, Fold, SessionRow)]) -> StoreResult<()> {
        let sessions = sessions.to_vec();
        self.change(move |tx| tx.rebuild(&sessions))
    }

    fn mark(&mut self) -> StoreResult<()> {
        self.change(|tx| tx.mark())
    }

    fn keep(&mut self) -> StoreResult<()> {
        self.change(|tx| tx.keep())
    }

    fn undo(&mut self) -> StoreResult<()> {
        self.change(|tx| tx.undo())
    }

    fn written(&mut self) -> StoreResult<()> {
        ask(self.jobs, Job::Written)
    }

    fn commit(self: Box<Self>) -> StoreResult<()> {
        ask(self.jobs, |back| Job::Commit(Box::new(move |stored| answer(&back, stored))))
    }

    fn commit_behind(self: Box<Self>, told: Told) {
        // Where nobody is there any more to hear it, nobody tells.
        let _ = self.jobs.send(Job::Commit(told));
    }
}
