//! Many callers, one commit: a clerk decides what they ask for, one after the other, while another thread writes it.

use std::sync::mpsc::{self, Receiver, Sender, SyncSender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::engine::{Done, Engine, Error, Order, Result};
use crate::store::Stored;

/// Orders taken into one commit.
const MOST: usize = 256;
/// How long a commit is held open for callers who took part in the last one, and are likely to come again.
const PATIENCE: Duration = Duration::from_micros(200);

struct Ticket {
    order: Order,
    back: SyncSender<Result<Done>>,
}

/// Where callers of one process hand in their orders.
pub struct Desk {
    tickets: Option<Sender<Ticket>>,
    clerk: Option<JoinHandle<Engine>>,
}

/// A caller's end of the desk.
#[derive(Clone)]
pub struct Caller(Sender<Ticket>);

impl Desk {
    pub fn open(engine: Engine) -> Stored<Self> {
        let engine = engine.write_behind()?;
        let (tickets, waiting) = mpsc::channel();
        let clerk = thread::spawn(move || serve(engine, &waiting));
        Ok(Self { tickets: Some(tickets), clerk: Some(clerk) })
    }

    pub fn caller(&self) -> Option<Caller> {
        self.tickets.clone().map(Caller)
    }

    /// Waits for what was handed in, and gives the engine back.
    pub fn close(mut self) -> Option<Engine> {
        self.tickets = None;
        self.clerk.take().and_then(|clerk| clerk.join().ok())
    }
}

impl Caller {
    /// Hands in an order and waits until it is decided and stored.
    pub fn execute(&self, order: Order) -> Result<Done> {
        let (back, answer) = mpsc::sync_channel(1);
        self.0.send(Ticket { order, back }).map_err(|_| Error::lost())?;
        answer.recv().map_err(|_| Error::lost())?
    }
}

fn serve(mut engine: Engine, waiting: &Receiver<Ticket>) -> Engine {
    let mut expected = 1;
    while let Ok(first) = waiting.recv() {
        let mut backs = Vec::with_capacity(expected);
        let results = engine.execute_each(Orders { first: Some(first), waiting, expected, backs: &mut backs });
        expected = backs.len();
        for (back, result) in backs.into_iter().zip(results) {
            // A caller that has gone does not want its answer.
            let _ = back.send(result);
        }
    }
    engine
}

/// The orders of one commit: also those that are handed in while it is made.
struct Orders<'a> {
    first: Option<Ticket>,
    waiting: &'a Receiver<Ticket>,
    expected: usize,
    backs: &'a mut Vec<SyncSender<Result<Done>>>,
}

impl Iterator for Orders<'_> {
    type Item = Order;

    fn next(&mut self) -> Option<Order> {
        let came = self.backs.len();
        if came == MOST {
            return None;
        }
        let here = self.first.take().or_else(|| self.waiting.try_recv().ok());
        let ticket = match here {
            None if came < self.expected => self.waiting.recv_timeout(PATIENCE).ok(),
            here => here,
        }?;
        self.backs.push(ticket.back);
        Some(ticket.order)
    }
}
