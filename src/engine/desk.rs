//! Many callers, one writer: what they ask for at the same time goes into one commit.

use std::sync::mpsc::{self, Receiver, Sender, SyncSender};
use std::thread::{self, JoinHandle};

use crate::engine::{Done, Engine, Error, Order, Result};
use crate::store::Stored;

/// Orders taken into one commit.
const MOST: usize = 256;

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
    pub fn open(mut engine: Engine) -> Stored<Self> {
        engine.store().expect_many()?;
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
    while let Ok(first) = waiting.recv() {
        let mut tickets = vec![first];
        tickets.extend(waiting.try_iter().take(MOST - 1));
        let orders: Vec<&Order> = tickets.iter().map(|ticket| &ticket.order).collect();
        let results = engine.execute_all(&orders);
        for (ticket, result) in tickets.into_iter().zip(results) {
            // A caller that has gone does not want its answer.
            let _ = ticket.back.send(result);
        }
    }
    engine
}
