//! Many callers, one commit: a clerk decides what they ask for, one after the other, while another thread writes it. While a
//! commit is being stored the clerk decides on, for the next one: nobody is answered before what was decided is stored, and
//! where a commit fails everything that was decided since is decided again.

use std::collections::VecDeque;
use std::sync::mpsc::{self, Receiver, Sender, SyncSender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use interlock_core::code::Code;

use crate::Done;
use crate::Engine;
use crate::Error;
use crate::Order;
use crate::Result;
use interlock_store::{StoreError, StoreResult, Told};

/// Orders taken into one commit.
const MOST: usize = 256;
/// How long a commit is held open for callers who took part in the last one, and are likely to come again.
const PATIENCE: Duration = Duration::from_micros(200);
/// So many callers are served faster by two commits, of which one is decided while the other is stored.
const CROWD: usize = 32;

struct Ticket {
    order: Order,
    back: SyncSender<Result<Done>>,
    /// For what came of the commit that the order goes into. The clerk has no such end of its own: it ends when all callers
    /// have gone.
    desk: Sender<Mail>,
}

/// What comes in at the desk.
enum Mail {
    Ticket(Ticket),
    /// What came of the oldest commit under way.
    Stored(StoreResult<()>),
}

/// Where callers of one process hand in their orders.
pub struct Desk {
    mail: Option<Sender<Mail>>,
    clerk: Option<JoinHandle<Engine>>,
}

/// A caller's end of the desk.
#[derive(Clone)]
pub struct Caller(Sender<Mail>);

impl Desk {
    pub fn open(engine: Engine) -> StoreResult<Self> {
        let engine = engine.write_behind()?;
        let (mail, waiting) = mpsc::channel();
        let clerk = Clerk { engine, mail: waiting, early: VecDeque::new(), under_way: VecDeque::new(), crowd: 1 };
        Ok(Self { mail: Some(mail), clerk: Some(thread::spawn(move || clerk.serve())) })
    }

    pub fn caller(&self) -> Option<Caller> {
        self.mail.clone().map(Caller)
    }

    /// Waits for what was handed in, and gives the engine back.
    pub fn close(mut self) -> Option<Engine> {
        self.mail = None;
        self.clerk.take().and_then(|clerk| clerk.join().ok())
    }
}

impl Caller {
    /// Hands in an order and waits until it is decided and stored.
    pub fn execute(&self, order: Order) -> Result<Done> {
        let (back, answer) = mpsc::sync_channel(1);
        self.0.send(Mail::Ticket(Ticket { order, back, desk: self.0.clone() })).map_err(|_| Error::lost())?;
        answer.recv().map_err(|_| Error::lost())?
    }
}

struct Clerk {
    engine: Engine,
    mail: Receiver<Mail>,
    /// What came in while something else was waited for.
    early: VecDeque<Mail>,
    /// Commits that are not stored yet.
    under_way: VecDeque<Batch>,
    /// How many callers there were lately.
    crowd: usize,
}

/// What went into one commit.
struct Batch {
    orders: Vec<Order>,
    backs: Vec<SyncSender<Result<Done>>>,
    results: Vec<Result<Done>>,
}

impl Clerk {
    fn serve(mut self) -> Engine {
        loop {
            let mail = self.early.pop_front().map_or_else(|| self.mail.recv(), Ok);
            match mail {
                Ok(Mail::Ticket(first)) => self.decide(first),
                Ok(Mail::Stored(stored)) => self.settle(&stored),
                Err(_) => return self.engine,
            }
        }
    }

    /// Decides what waits, and hands it over to be stored.
    fn decide(&mut self, first: Ticket) {
        let Self { engine, mail, early, under_way, crowd } = self;
        let (mut orders, mut backs) = (Vec::new(), Vec::new());
        let most = if *crowd < CROWD { MOST } else { crowd.div_ceil(2).min(MOST) };
        let (busy, desk) = (!under_way.is_empty(), first.desk.clone());
        let mut coming =
            Coming { first: Some(first), mail, early, backs: &mut backs, most, expected: most.min(*crowd), busy };
        let told = || -> Told {
            let teller = Teller(Some(desk));
            Box::new(move |stored| teller.tell(stored))
        };
        match engine.execute_behind(busy, &mut coming, &mut orders, told) {
            Ok(results) => {
                *crowd = under_way.iter().map(|batch| batch.orders.len()).sum::<usize>() + orders.len();
                under_way.push_back(Batch { orders, backs, results });
            }
            Err(_) => {
                self.again(vec![Batch { orders, backs, results: Vec::new() }]);
            }
        }
    }

    /// Answers those whose commit is stored.
    fn settle(&mut self, stored: &StoreResult<()>) {
        let Some(batch) = self.under_way.pop_front() else { return };
        match stored {
            Ok(()) => batch.answer(),
            Err(_) => {
                self.engine.let_go();
                self.again(vec![batch]);
            }
        }
    }

    /// Does it once more, waiting this time, and each order by itself if need be; with everything that was decided since.
    fn again(&mut self, mut batches: Vec<Batch>) {
        while let Some(batch) = self.under_way.pop_front() {
            match self.stored() {
                Ok(()) => batch.answer(),
                Err(_) => batches.push(batch),
            }
        }
        self.engine.let_go();
        for Batch { orders, backs, .. } in batches {
            let results = self.engine.execute_each(orders.iter());
            Batch { orders, backs, results }.answer();
        }
    }

    /// What came of the oldest commit under way; orders that come in meanwhile wait.
    fn stored(&mut self) -> StoreResult<()> {
        if let Some(at) = self.early.iter().position(|mail| matches!(mail, Mail::Stored(_)))
            && let Some(Mail::Stored(stored)) = self.early.remove(at)
        {
            return stored;
        }
        loop {
            match self.mail.recv() {
                Ok(Mail::Stored(stored)) => return stored,
                Ok(ticket) => self.early.push_back(ticket),
                Err(_) => return Err(unheard()),
            }
        }
    }
}

impl Batch {
    fn answer(self) {
        for (back, result) in self.backs.into_iter().zip(self.results) {
            // A caller that has gone does not want its answer.
            let _ = back.send(result);
        }
    }
}

/// Tells the clerk what came of a commit; also that nobody said.
struct Teller(Option<Sender<Mail>>);

impl Teller {
    fn tell(mut self, stored: StoreResult<()>) {
        self.say(stored);
    }

    fn say(&mut self, stored: StoreResult<()>) {
        if let Some(desk) = self.0.take() {
            let _ = desk.send(Mail::Stored(stored));
        }
    }
}

impl Drop for Teller {
    fn drop(&mut self) {
        self.say(Err(unheard()));
    }
}

fn unheard() -> StoreError {
    StoreError::new(Code::Bug, "nobody said what came of a commit")
}

/// The orders of one commit: also those that are handed in while it is made.
struct Coming<'a> {
    first: Option<Ticket>,
    mail: &'a Receiver<Mail>,
    early: &'a mut VecDeque<Mail>,
    backs: &'a mut Vec<SyncSender<Result<Done>>>,
    most: usize,
    expected: usize,
    /// Another commit is under way: there is time until it is stored.
    busy: bool,
}

impl Iterator for Coming<'_> {
    type Item = Order;

    fn next(&mut self) -> Option<Order> {
        let came = self.backs.len();
        // What came early may be that the commit before is stored.
        if came == self.most || self.early.iter().any(|mail| matches!(mail, Mail::Stored(_))) && came > 0 {
            return None;
        }
        let here = match self.first.take().map(Mail::Ticket).or_else(|| self.early.pop_front()) {
            None => self.mail.try_recv().ok(),
            here => here,
        };
        let mail = match here {
            None if self.busy => self.mail.recv().ok(),
            None if came < self.expected => self.mail.recv_timeout(PATIENCE).ok(),
            here => here,
        };
        match mail? {
            Mail::Ticket(ticket) => {
                self.backs.push(ticket.back);
                Some(ticket.order)
            }
            stored @ Mail::Stored(_) => {
                self.early.push_front(stored);
                None
            }
        }
    }
}
