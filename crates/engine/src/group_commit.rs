//! Group commit: one worker decides the requests of many callers in turn, while the writer thread stores them. While a
//! commit is being stored, the worker decides the requests of the next one. A caller gets its answer only after its
//! decision is stored. If a commit fails, everything decided since is decided again.

use std::collections::VecDeque;
use std::sync::mpsc::{self, Receiver, Sender, SyncSender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use interlock_core::code::Code;

use crate::Committed;
use crate::Engine;
use crate::EngineError;
use crate::EngineResult;
use crate::Request;
use interlock_store::{CommitCallback, StoreError, StoreResult};

/// Requests in one commit, at most.
const MOST: usize = 256;
/// How long a commit is held open for callers who took part in the last one, and are likely to come again.
const PATIENCE: Duration = Duration::from_micros(200);
/// So many callers are served faster by two commits, of which one is decided while the other is stored.
const PIPELINED_CALLERS: usize = 32;

struct QueuedRequest {
    order: Request,
    back: SyncSender<EngineResult<Committed>>,
    /// Receives the result of the commit. The worker keeps no sender of its own, so that it ends when all callers have
    /// gone.
    desk: Sender<QueueMessage>,
}

/// A message in the worker's queue.
enum QueueMessage {
    Ticket(QueuedRequest),
    /// The result of the oldest commit under way.
    Stored(StoreResult<()>),
}

/// The queue to which the callers of one process submit their requests.
pub struct CommandQueue {
    mail: Option<Sender<QueueMessage>>,
    clerk: Option<JoinHandle<Engine>>,
}

/// A caller's end of the queue.
#[derive(Clone)]
pub struct QueueClient(Sender<QueueMessage>);

impl CommandQueue {
    pub fn open(engine: Engine) -> StoreResult<Self> {
        let engine = engine.use_writer_thread()?;
        let (mail, waiting) = mpsc::channel();
        let clerk =
            CommitWorker { engine, mail: waiting, early: VecDeque::new(), under_way: VecDeque::new(), crowd: 1 };
        Ok(Self { mail: Some(mail), clerk: Some(thread::spawn(move || clerk.serve())) })
    }

    pub fn caller(&self) -> Option<QueueClient> {
        self.mail.clone().map(QueueClient)
    }

    /// Waits for the requests in the queue, and returns the engine.
    pub fn close(mut self) -> Option<Engine> {
        self.mail = None;
        self.clerk.take().and_then(|clerk| clerk.join().ok())
    }
}

impl QueueClient {
    /// Submits a request and waits until it is decided and stored.
    pub fn execute(&self, order: Request) -> EngineResult<Committed> {
        let (back, answer) = mpsc::sync_channel(1);
        self.0
            .send(QueueMessage::Ticket(QueuedRequest { order, back, desk: self.0.clone() }))
            .map_err(|_| EngineError::internal_error())?;
        answer.recv().map_err(|_| EngineError::internal_error())?
    }
}

struct CommitWorker {
    engine: Engine,
    mail: Receiver<QueueMessage>,
    /// Messages that arrived while the worker waited for another one.
    early: VecDeque<QueueMessage>,
    /// Commits that are not stored yet.
    under_way: VecDeque<CommitBatch>,
    /// How many callers there were lately.
    crowd: usize,
}

/// The requests of one commit, with their results and reply channels.
struct CommitBatch {
    orders: Vec<Request>,
    backs: Vec<SyncSender<EngineResult<Committed>>>,
    results: Vec<EngineResult<Committed>>,
}

impl CommitWorker {
    fn serve(mut self) -> Engine {
        loop {
            let mail = self.early.pop_front().map_or_else(|| self.mail.recv(), Ok);
            match mail {
                Ok(QueueMessage::Ticket(first)) => self.decide(first),
                Ok(QueueMessage::Stored(stored)) => self.settle(&stored),
                Err(_) => return self.engine,
            }
        }
    }

    /// Decides what waits, and hands it over to be stored.
    fn decide(&mut self, first: QueuedRequest) {
        let Self { engine, mail, early, under_way, crowd } = self;
        let (mut orders, mut backs) = (Vec::new(), Vec::new());
        let most = if *crowd < PIPELINED_CALLERS { MOST } else { crowd.div_ceil(2).min(MOST) };
        let (busy, desk) = (!under_way.is_empty(), first.desk.clone());
        let mut coming = IncomingRequests {
            first: Some(first),
            mail,
            early,
            backs: &mut backs,
            most,
            expected: most.min(*crowd),
            busy,
        };
        let told = || -> CommitCallback {
            let teller = CommitReporter(Some(desk));
            Box::new(move |stored| teller.tell(stored))
        };
        match engine.execute_pipelined(busy, &mut coming, &mut orders, told) {
            Ok(results) => {
                *crowd = under_way.iter().map(|batch| batch.orders.len()).sum::<usize>() + orders.len();
                under_way.push_back(CommitBatch { orders, backs, results });
            }
            Err(_) => {
                self.again(vec![CommitBatch { orders, backs, results: Vec::new() }]);
            }
        }
    }

    /// Answers those whose commit is stored.
    fn settle(&mut self, stored: &StoreResult<()>) {
        let Some(batch) = self.under_way.pop_front() else { return };
        match stored {
            Ok(()) => batch.answer(),
            Err(_) => {
                self.engine.clear_cache();
                self.again(vec![batch]);
            }
        }
    }

    /// Executes the batches again and waits, with everything decided since; request by request if necessary.
    fn again(&mut self, mut batches: Vec<CommitBatch>) {
        while let Some(batch) = self.under_way.pop_front() {
            match self.stored() {
                Ok(()) => batch.answer(),
                Err(_) => batches.push(batch),
            }
        }
        self.engine.clear_cache();
        for CommitBatch { orders, backs, .. } in batches {
            let results = self.engine.execute_each(orders.iter());
            CommitBatch { orders, backs, results }.answer();
        }
    }

    /// Waits for the result of the oldest commit under way. Requests that arrive meanwhile are queued.
    fn stored(&mut self) -> StoreResult<()> {
        if let Some(at) = self.early.iter().position(|mail| matches!(mail, QueueMessage::Stored(_)))
            && let Some(QueueMessage::Stored(stored)) = self.early.remove(at)
        {
            return stored;
        }
        loop {
            match self.mail.recv() {
                Ok(QueueMessage::Stored(stored)) => return stored,
                Ok(ticket) => self.early.push_back(ticket),
                Err(_) => return Err(unheard()),
            }
        }
    }
}

impl CommitBatch {
    fn answer(self) {
        for (back, result) in self.backs.into_iter().zip(self.results) {
            // A caller that has gone does not want its answer.
            let _ = back.send(result);
        }
    }
}

/// Reports the result of a commit to the worker. Dropping it unused reports a failure.
struct CommitReporter(Option<Sender<QueueMessage>>);

impl CommitReporter {
    fn tell(mut self, stored: StoreResult<()>) {
        self.say(stored);
    }

    fn say(&mut self, stored: StoreResult<()>) {
        if let Some(desk) = self.0.take() {
            let _ = desk.send(QueueMessage::Stored(stored));
        }
    }
}

impl Drop for CommitReporter {
    fn drop(&mut self) {
        self.say(Err(unheard()));
    }
}

fn unheard() -> StoreError {
    StoreError::new(Code::Bug, "nobody said what came of a commit")
}

/// The requests of one commit, including those that arrive while it is being decided.
struct IncomingRequests<'a> {
    first: Option<QueuedRequest>,
    mail: &'a Receiver<QueueMessage>,
    early: &'a mut VecDeque<QueueMessage>,
    backs: &'a mut Vec<SyncSender<EngineResult<Committed>>>,
    most: usize,
    expected: usize,
    /// Another commit is under way: there is time until it is stored.
    busy: bool,
}

impl Iterator for IncomingRequests<'_> {
    type Item = Request;

    fn next(&mut self) -> Option<Request> {
        let came = self.backs.len();
        // The queue may hold the result of the previous commit. It is handled before more requests are accepted.
        if came == self.most || self.early.iter().any(|mail| matches!(mail, QueueMessage::Stored(_))) && came > 0 {
            return None;
        }
        let here = match self.first.take().map(QueueMessage::Ticket).or_else(|| self.early.pop_front()) {
            None => self.mail.try_recv().ok(),
            here => here,
        };
        let mail = match here {
            None if self.busy => self.mail.recv().ok(),
            None if came < self.expected => self.mail.recv_timeout(PATIENCE).ok(),
            here => here,
        };
        match mail? {
            QueueMessage::Ticket(ticket) => {
                self.backs.push(ticket.back);
                Some(ticket.order)
            }
            stored @ QueueMessage::Stored(_) => {
                self.early.push_front(stored);
                None
            }
        }
    }
}
