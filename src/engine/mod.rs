//! The engine: load, decide, append, in one transaction.
//!
//! A session is loaded from its last sealed snapshot and the events after it, every seal checked on the way, so what
//! the tables say has no bearing on what is decided. In a long-lived process it stays in memory as long as nobody else
//! has added to it.

mod desk;
mod error;
mod ids;
mod load;
mod order;
mod prompt;
mod record;
mod refuse;
mod report;

use std::path::PathBuf;
use std::sync::Arc;

use interlock_core::command::{self, Command, Inputs};
use interlock_core::decide::{self, Outcome};
use interlock_core::event::Event;
use interlock_core::id::{AssignmentId, Digest, Name};
use interlock_core::rejection::Rejection;
use interlock_core::workflow::Workflow;

use crate::clock;
use crate::keys::{Keyring, Kind, Secret};
use crate::store::chain::ChainKey;
use crate::store::{Identity, Store, Stored, Transaction};

pub use desk::{Caller, Desk};
pub use error::Error;
pub use ids::{AssignmentRef, DecisionRef, QuestionRef, session as session_id};
pub use load::Live;
use load::{Loader, Memory};
pub use order::{Given, Order, Task};
pub use report::examine;

/// What came of an order.
#[derive(Clone, Debug)]
pub struct Done {
    pub session: Name,
    pub seq: u64,
    pub event: Arc<Event>,
    /// What the assignment that was reported for belongs to.
    pub group: Option<Name>,
    /// The same report again: this was decided then.
    pub repeated: bool,
    /// For the holder of a claim.
    pub claimed: Option<Claimed>,
}

/// What a claim gives to whoever starts the agent.
#[derive(Clone, Debug)]
pub struct Claimed {
    pub role: Name,
    pub attempt: u32,
    pub token: Secret,
    pub prompt: String,
    pub deadline: Option<interlock_core::id::Timestamp>,
}

pub type Result<T> = std::result::Result<T, Error>;

pub struct Engine {
    store: Box<dyn Store>,
    keyring: Keyring,
    identity: Identity,
    key: ChainKey,
    memory: Memory,
    /// Where the output directories of assignments are, as agents see it.
    output: String,
}

impl Engine {
    /// Opens the engine on a store; only whoever has the chain key can.
    pub fn open(mut store: Box<dyn Store>, keyring: Keyring, output: String) -> Stored<Self> {
        let identity = store.view()?.identity()?;
        let key = keyring.chain(&identity)?;
        store.unlock(&key)?;
        Ok(Self { store, keyring, identity, key, memory: Memory::default(), output })
    }

    /// Carries out one order.
    pub fn execute(&mut self, order: &Order) -> Result<Done> {
        self.execute_all(&[order]).pop().unwrap_or_else(|| Err(Error::lost()))
    }

    /// Carries out several orders in one commit; each stands for itself.
    pub fn execute_all(&mut self, orders: &[&Order]) -> Vec<Result<Done>> {
        let mut spoilt = false;
        let together = self.transact(orders, |work, order| {
            let done = work.carry_out(order);
            spoilt = matches!(done, Err(Error::Fault(_)));
            work.forget(&order.session);
            match done {
                Err(Error::Fault(fault)) => Err(fault),
                other => Ok(other),
            }
        });
        // A way back for each order costs all of them much, and hardly ever is one needed: only then is it laid.
        let stored =
            if spoilt && orders.len() > 1 { self.transact(orders, |work, order| work.alone(order)) } else { together };
        stored.unwrap_or_else(|fault| orders.iter().map(|_| Err(Error::from(fault.clone()))).collect())
    }

    /// Does this for each order, in one commit: all of it is stored, or none.
    fn transact(
        &mut self,
        orders: &[&Order],
        mut each: impl FnMut(&mut Work<'_>, &Order) -> Stored<Result<Done>>,
    ) -> Stored<Vec<Result<Done>>> {
        let Self { store, keyring, identity, key, memory, output } = self;
        let mut tx = store.begin()?;
        let results = tx.version().and_then(|version| {
            memory.version = version;
            let mut work = Work { tx: &mut *tx, keyring, identity, key, memory, output };
            orders.iter().map(|order| each(&mut work, order)).collect()
        });
        let stored = results.and_then(|results| tx.commit().map(|()| results));
        if stored.is_err() {
            memory.let_go();
        }
        stored
    }

    /// A session as it is now, every seal on the way checked.
    pub fn look(&mut self, session: &str) -> Result<(Live, Arc<Workflow>)> {
        let mut view = self.store.view()?;
        self.memory.version = view.version()?;
        let live = Loader { view: &mut *view, key: &self.key, memory: &mut self.memory }.live(session)?.clone();
        let loader = Loader { view: &mut *view, key: &self.key, memory: &mut self.memory };
        let workflow = loader.workflow(live.workflow_hash())?;
        Ok((live, workflow))
    }

    /// Brings a session that was looked at up to date: what was added since is read, and nothing else.
    pub fn follow(&mut self, live: &mut Live) -> Result<()> {
        let mut view = self.store.view()?;
        loop {
            let rows = view.events(live.key, live.state.seq, load::BATCH)?;
            for row in &rows {
                live.take(row, &self.key)?;
            }
            if rows.len() < load::BATCH {
                return Ok(());
            }
        }
    }

    /// Every event of a session, each seal checked.
    pub fn history(&mut self, session: &str) -> Result<Vec<Event>> {
        let key = self.look(session)?.0.key;
        let mut view = self.store.view()?;
        let mut events = Vec::new();
        loop {
            let rows = view.events(key, events.len() as u64, load::BATCH)?;
            if rows.is_empty() {
                return Ok(events);
            }
            for row in &rows {
                events.push(load::unsealed(session, row, &self.key)?);
            }
        }
    }

    /// Where the holder of an assignment leaves its handoff.
    pub fn output_directory(&self, session: &str, assignment: AssignmentId, attempt: u32) -> PathBuf {
        PathBuf::from(prompt::output_directory(&self.output, session, assignment, attempt))
    }

    /// For reading what the tables have.
    pub fn store(&mut self) -> &mut dyn Store {
        &mut *self.store
    }

    pub fn key(&self) -> &ChainKey {
        &self.key
    }
}

/// One transaction at work.
struct Work<'a> {
    tx: &'a mut dyn Transaction,
    keyring: &'a Keyring,
    identity: &'a Identity,
    key: &'a ChainKey,
    memory: &'a mut Memory,
    output: &'a str,
}

impl Work<'_> {
    /// An order that fails to be stored is undone without harm to the others. Where even that fails, the whole
    /// transaction is lost, and nothing may be added to what is left of it.
    fn alone(&mut self, order: &Order) -> Stored<Result<Done>> {
        self.tx.mark()?;
        let done = self.carry_out(order);
        self.forget(&order.session);
        match &done {
            Ok(_) | Err(Error::Refused(_)) => self.tx.keep()?,
            Err(Error::Fault(fault)) => {
                self.memory.sessions.remove(&order.session);
                self.memory.origin = None;
                self.tx.undo().map_err(|_| fault.clone())?;
            }
        }
        Ok(done)
    }

    fn carry_out(&mut self, order: &Order) -> Result<Done> {
        let decided = self.decide(order);
        match decided {
            Err(Error::Refused(rejection)) => {
                self.record_refusal(order, &rejection)?;
                Err(Error::Refused(rejection))
            }
            other => other,
        }
    }

    fn decide(&mut self, order: &Order) -> Result<Done> {
        if let Some(kind) = order.task.takes() {
            self.keyring.holds(kind, self.identity)?;
        }
        match &order.task {
            Task::Start { pinned, workflow, title, settings, mission } => {
                self.tx.pin_workflow(workflow.hash, pinned, &workflow.requirements())?;
                self.memory.learn(workflow);
                let start = command::Start {
                    session: order.session.clone(),
                    title: title.clone(),
                    settings: settings.clone(),
                    mission: mission.as_ref().map(|mission| Digest::of(mission.as_bytes())),
                };
                self.start(order, workflow, start, mission.as_deref())
            }
            Task::Claim { assignment } => self.claim(order, *assignment),
            Task::Report { assignment, token, given } => self.report(order, *assignment, token.as_ref(), given),
            Task::Merge { assignment, given } => self.merge(order, *assignment, given),
            Task::Upgrade { pinned, workflow, by } => self.upgrade(order, pinned, workflow, by),
            Task::Simple(command) => {
                self.live(&order.session)?;
                self.recall(&order.session, command)?;
                let hash = self.held(&order.session)?.workflow_hash();
                let workflow = self.workflow(hash)?;
                self.run(order, &workflow, command, record::With::default())
            }
        }
    }

    /// Decides a command and stores what follows.
    fn run(&mut self, order: &Order, workflow: &Workflow, command: &Command, with: record::With<'_>) -> Result<Done> {
        let inputs = Inputs { now: clock::now() };
        let live = self.held(&order.session)?;
        match decide::decide(workflow, &live.state, command, &inputs)? {
            Outcome::Repeated(decision) => self.repeated(order, decision),
            Outcome::Decided(event) => self.record(order, event, with),
        }
    }
}

/// Which key an order takes.
impl Task {
    fn takes(&self) -> Option<Kind> {
        match self {
            Task::Start { .. } | Task::Claim { .. } | Task::Merge { .. } => Some(Kind::Spawner),
            Task::Report { .. } => None,
            Task::Upgrade { .. } => Some(Kind::Operator),
            Task::Simple(command) => match command {
                Command::Plan(_)
                | Command::Answer(_)
                | Command::Defer(_)
                | Command::Acknowledge(_)
                | Command::Override(_)
                | Command::Upgrade(_)
                | Command::Cancel(_) => Some(Kind::Operator),
                Command::Lost(_)
                | Command::Merged(_)
                | Command::GateFinished(_)
                | Command::LeaseExpired(_)
                | Command::Start(_)
                | Command::Claim(_)
                | Command::Report(_) => Some(Kind::Spawner),
                Command::Complete(_) => None,
            },
        }
    }
}

impl From<Rejection> for Error {
    fn from(rejection: Rejection) -> Self {
        Error::Refused(Box::new(rejection))
    }
}
