//! The engine: load, decide, append, in one transaction.
//!
//! A session is loaded from its last sealed snapshot and the events after it. Every seal is checked on the way, so the
//! projected tables have no influence on decisions. In a long-lived process the session stays in memory until another
//! writer appends to the store.

mod artifacts;
mod error;
mod group_commit;
mod ids;
mod load;
mod prompt;
mod record;
mod refuse;
mod report;
mod request;

use std::borrow::Borrow;
use std::path::PathBuf;
use std::sync::Arc;

use interlock_core::command::{self, Command, DecisionInputs};
use interlock_core::decide::{self, DecideOutcome};
use interlock_core::event::{Event, EventCause};
use interlock_core::id::{AssignmentId, Digest, Name, QuestionId};
use interlock_core::provenance::Channel;
use interlock_core::rejection::Rejection;
use interlock_core::workflow::Workflow;
use serde_json::Value as Json;

use interlock_prompt::{Dossier, DossierScope, EarlierReports, QuestionBrief, QuestionSources};
use interlock_store::chain::ChainKey;
use interlock_store::keys::{KeyKind, Keyring, SecretKey};
use interlock_store::{
    CommitCallback, Store, StoreError, StoreIdentity, StoreResult, StoreTransaction, WriterThreadStore,
};
use interlock_system::clock;

pub use error::EngineError;
pub use group_commit::{CommandQueue, QueueClient};
pub use ids::{AssignmentRef, DecisionRef, GateRef, QuestionRef, new_session_id as session_id};
pub use load::LoadedSession;
use load::{SessionCache, SessionLoader};
pub use report::{ReportContext, check_submitted};
pub use request::{Operation, Request, SubmittedHandoff};

/// The result of a request.
#[derive(Clone, Debug)]
pub struct Committed {
    pub session: Name,
    pub seq: u64,
    pub event: Arc<Event>,
    /// The group of the assignment that was reported.
    pub group: Option<Name>,
    /// The same report again: this was decided then.
    pub repeated: bool,
    /// For the holder of a claim.
    pub claimed: Option<AssignmentClaim>,
}

/// The claimed work, as the spawner receives it.
#[derive(Clone, Debug)]
pub struct AssignmentClaim {
    pub role: Name,
    pub attempt: u32,
    pub token: SecretKey,
    pub prompt: String,
    /// The full texts that did not fit into the prompt: files for the output directory, which the caller
    /// writes there.
    pub whole: Vec<(String, String)>,
    /// Folders of the feature directory with documents that the prompt names.
    pub earlier: Vec<String>,
    pub deadline: Option<interlock_core::id::Timestamp>,
}

pub type EngineResult<T> = std::result::Result<T, EngineError>;

pub struct Engine {
    store: Box<dyn Store>,
    keyring: Keyring,
    identity: StoreIdentity,
    key: ChainKey,
    memory: SessionCache,
    /// Where the output directories of assignments are, as agents see it.
    output: String,
    /// The channel by which this process claims and submits.
    via: Option<Channel>,
}

impl Engine {
    /// Opens the engine on a store. The caller must have the chain key.
    pub fn open(mut store: Box<dyn Store>, keyring: Keyring, output: String) -> StoreResult<Self> {
        let identity = store.view()?.identity()?;
        let key = keyring.chain(&identity)?;
        store.unlock(&key)?;
        Ok(Self { store, keyring, identity, key, memory: SessionCache::default(), output, via: None })
    }

    /// The key that seals the register of a session's repository.
    pub fn register_key(&self, session: &str) -> [u8; 32] {
        self.key.register(session)
    }

    /// Seals folders that checkouts of a session share.
    pub fn checkout_key(&self, session: &str) -> [u8; 32] {
        blake3::derive_key("interlock checkouts 1", &self.key.register(session))
    }

    /// Sets the channel that is recorded for claims and submissions of this engine.
    #[must_use]
    pub fn via(self, via: Channel) -> Self {
        Self { via: Some(via), ..self }
    }

    /// From now on what is decided is written by another thread, while the next is being decided.
    fn use_writer_thread(self) -> StoreResult<Self> {
        let mut store: Box<dyn Store> = Box::new(WriterThreadStore::new(self.store));
        store.expect_many()?;
        Ok(Self { store, ..self })
    }

    /// Executes one request.
    pub fn execute(&mut self, order: &Request) -> EngineResult<Committed> {
        self.execute_all(&[order]).pop().unwrap_or_else(|| Err(EngineError::internal_error()))
    }

    /// Executes several requests in one commit; each succeeds or fails by itself.
    pub fn execute_all(&mut self, orders: &[&Request]) -> Vec<EngineResult<Committed>> {
        self.execute_each(orders.iter().copied())
    }

    /// Decides requests as they arrive and commits them together, without waiting for the commit: its result
    /// goes to `told`.
    /// `ahead`: the previous commit may not be stored yet. On an error no decision of `taken` holds, and all of `taken`
    /// must be executed again.
    fn execute_pipelined(
        &mut self,
        ahead: bool,
        orders: &mut dyn Iterator<Item = Request>,
        taken: &mut Vec<Request>,
        told: impl FnOnce() -> CommitCallback,
    ) -> StoreResult<Vec<EngineResult<Committed>>> {
        let Self { store, keyring, identity, key, memory, output, via } = self;
        let mut tx = if ahead { store.begin_pipelined(memory.version)? } else { store.begin()? };
        if !ahead {
            memory.version = tx.version()?;
        }
        let mut work = TxContext { tx: &mut *tx, keyring, identity, key, memory, output, via: via.as_ref() };
        let results = execute_requests(&mut work, orders, taken, |work, order| work.execute_in_batch(order));
        match results {
            Ok(results) => {
                tx.commit_async(told());
                Ok(results)
            }
            Err(fault) => {
                memory.clear_cache();
                Err(fault)
            }
        }
    }

    /// Discards decisions that were not stored.
    fn clear_cache(&mut self) {
        self.memory.clear_cache();
    }

    /// Executes requests as they arrive, and waits until they are stored.
    fn execute_each<O: Borrow<Request>>(
        &mut self,
        mut orders: impl Iterator<Item = O>,
    ) -> Vec<EngineResult<Committed>> {
        let mut taken = Vec::new();
        let mut stored = self.transact(&mut orders, &mut taken, |work, order| work.execute_in_batch(order));
        if let Err(CommitFailure { spoilt, .. }) = &stored {
            taken.extend(orders);
            // Savepoints are expensive and rarely needed, so a batch uses them only when it is retried after a failure.
            if *spoilt && taken.len() > 1 {
                let mut again = Vec::with_capacity(taken.len());
                let mut orders = taken.iter().map(Borrow::borrow);
                stored = self.transact(&mut orders, &mut again, |work, order| work.execute_with_savepoint(order));
            }
        }
        stored.unwrap_or_else(|CommitFailure { fault, .. }| {
            taken.iter().map(|_| Err(EngineError::from(fault.clone()))).collect()
        })
    }

    /// Applies `each` to every request in one commit: all of them are stored, or none.
    fn transact<O: Borrow<Request>>(
        &mut self,
        orders: &mut dyn Iterator<Item = O>,
        taken: &mut Vec<O>,
        each: fn(&mut TxContext<'_>, &Request) -> StoreResult<EngineResult<Committed>>,
    ) -> std::result::Result<Vec<EngineResult<Committed>>, CommitFailure> {
        let Self { store, keyring, identity, key, memory, output, via } = self;
        let mut tx = store.begin().map_err(|fault| CommitFailure { fault, spoilt: false })?;
        let results = tx.version().and_then(|version| {
            memory.version = version;
            let mut work = TxContext { tx: &mut *tx, keyring, identity, key, memory, output, via: via.as_ref() };
            let results = execute_requests(&mut work, orders, taken, each);
            let written = tx.flush_appends();
            results.and_then(|results| written.map(|()| results))
        });
        let stored = match results {
            Ok(results) => tx.commit().map(|()| results).map_err(|fault| CommitFailure { fault, spoilt: false }),
            Err(fault) => Err(CommitFailure { fault, spoilt: true }),
        };
        if stored.is_err() {
            memory.clear_cache();
        }
        stored
    }

    /// A session as it is now, every seal on the way checked.
    pub fn load_session(&mut self, session: &str) -> EngineResult<(LoadedSession, Arc<Workflow>)> {
        let mut view = self.store.view()?;
        self.memory.version = view.version()?;
        let live =
            SessionLoader { view: &mut *view, key: &self.key, memory: &mut self.memory }.load_session(session)?.clone();
        let loader = SessionLoader { view: &mut *view, key: &self.key, memory: &mut self.memory };
        let workflow = loader.load_workflow(live.workflow_hash())?;
        Ok((live, workflow))
    }

    /// Brings a session that was looked at up to date: what was added since is read, and nothing else.
    pub fn refresh_session(&mut self, live: &mut LoadedSession) -> EngineResult<()> {
        let mut view = self.store.view()?;
        loop {
            let rows = view.events(live.key, live.state.seq, load::BATCH)?;
            for row in &rows {
                live.apply_row(row, &self.key)?;
            }
            if rows.len() < load::BATCH {
                return Ok(());
            }
        }
    }

    /// Every event of a session, each seal checked.
    pub fn load_history(&mut self, session: &str) -> EngineResult<Vec<Event>> {
        let key = self.load_session(session)?.0.key;
        let mut events = Vec::new();
        loop {
            let more = self.events_after(session, key, events.len() as u64)?;
            if more.is_empty() {
                return Ok(events);
            }
            events.extend(more);
        }
    }

    /// Calls `each` for every event of a session in order, with its attachment. Every seal is checked.
    pub fn for_each_event(&mut self, session: &str, each: &mut dyn FnMut(&Event, Option<&Json>)) -> EngineResult<()> {
        let key = self.load_session(session)?.0.key;
        let mut view = self.store.view()?;
        let mut seq = 0;
        loop {
            let rows = view.events(key, seq, load::BATCH)?;
            let Some(last) = rows.last() else { return Ok(()) };
            seq = last.seq;
            for row in &rows {
                let event = load::verify_event(session, row, &self.key)?;
                let reports = matches!(event.cause, EventCause::Reported { .. } | EventCause::Merged { .. });
                let body = if reports { prompt::read_attachment(&mut *view, session, row)? } else { None };
                each(&event, body.and_then(|body| serde_json::from_str(&body).ok()).as_ref());
            }
        }
    }

    /// The next events of a session after so many, each seal checked; none if there are no more yet.
    pub fn events_after(&mut self, session: &str, key: i64, seq: u64) -> EngineResult<Vec<Event>> {
        let rows = self.store.view()?.events(key, seq, load::BATCH)?;
        rows.iter().map(|row| Ok(load::verify_event(session, row, &self.key)?)).collect()
    }

    /// The facts behind an open question, and what each option does.
    pub fn question_brief(
        &mut self,
        live: &LoadedSession,
        workflow: &Workflow,
        id: QuestionId,
    ) -> EngineResult<QuestionBrief> {
        let group = live.state.questions.get(&id).and_then(|asked| asked.group.as_ref());
        let scope = group.map_or(DossierScope::WholeSession, DossierScope::Group);
        let index = Dossier::index(&live.state, scope);
        let (mut view, chain) = (self.store.view()?, &self.key);
        let outputs = prompt::outputs_of_session(&self.output, &live.id);
        let read = |record: &_| -> EngineResult<_> {
            let logged = prompt::read_record(&mut *view, chain, &live.id, live.key, record)?;
            Ok(logged.map(|logged| prompt::with_output_files(logged, record, &outputs)))
        };
        let dossier = Dossier::assemble(index, read)?;
        let said = match group.and_then(|name| live.state.group(name)) {
            Some(group) => {
                EarlierReports::of(group, |id| prompt::read_report(&mut *view, chain, &live.id, live.key, id))?
            }
            None => EarlierReports::default(),
        };
        let sources = QuestionSources { workflow, dossier: &dossier, said: &said, documents: &outputs };
        Ok(QuestionBrief::of(&live.state, sources, id))
    }

    /// Where the holder of an assignment leaves its handoff.
    pub fn output_directory(&self, session: &str, assignment: AssignmentId, attempt: u32) -> PathBuf {
        PathBuf::from(prompt::output_directory(&self.output, session, assignment, attempt))
    }

    /// `{feature_directory}` of gates: the directory that all roles of a session share.
    pub fn feature_directory(&self, session: &str) -> String {
        self.outputs_of_session(session)
    }

    /// The folder of all outputs of a session.
    pub fn outputs_of_session(&self, session: &str) -> String {
        prompt::outputs_of_session(&self.output, session)
    }

    /// For reading what the tables have.
    pub fn store(&mut self) -> &mut dyn Store {
        &mut *self.store
    }

    /// The user's own folder for what belongs to this store.
    pub fn own_folder(&self) -> PathBuf {
        self.keyring.folder_of(&self.identity)
    }

    pub fn key(&self) -> &ChainKey {
        &self.key
    }
}

/// The result of each request. Fails if any of them cannot be stored.
fn execute_requests<O: Borrow<Request>>(
    work: &mut TxContext<'_>,
    orders: &mut dyn Iterator<Item = O>,
    taken: &mut Vec<O>,
    each: fn(&mut TxContext<'_>, &Request) -> StoreResult<EngineResult<Committed>>,
) -> StoreResult<Vec<EngineResult<Committed>>> {
    orders
        .map(|order| {
            let done = each(work, order.borrow());
            taken.push(order);
            done
        })
        .collect()
}

/// Why nothing was stored.
struct CommitFailure {
    fault: StoreError,
    /// One of the requests could not be stored; the others may be.
    spoilt: bool,
}

/// One transaction at work.
struct TxContext<'a> {
    tx: &'a mut dyn StoreTransaction,
    keyring: &'a Keyring,
    identity: &'a StoreIdentity,
    key: &'a ChainKey,
    memory: &'a mut SessionCache,
    output: &'a str,
    via: Option<&'a Channel>,
}

impl TxContext<'_> {
    /// If one request cannot be stored, all of them fail.
    fn execute_in_batch(&mut self, order: &Request) -> StoreResult<EngineResult<Committed>> {
        let done = self.execute_request(order);
        self.clear_rehydrated(&order.session);
        match done {
            Err(EngineError::Fault(fault)) => Err(fault),
            other => Ok(other),
        }
    }

    /// A request that cannot be stored is rolled back without harm to the others. If the rollback fails, the whole
    /// transaction is lost, and nothing may be added to it.
    fn execute_with_savepoint(&mut self, order: &Request) -> StoreResult<EngineResult<Committed>> {
        self.tx.set_savepoint()?;
        let done = self.execute_request(order);
        self.clear_rehydrated(&order.session);
        let done = self.tx.flush_appends().map_err(EngineError::from).and(done);
        match &done {
            Ok(_) | Err(EngineError::Refused(_)) => self.tx.release_savepoint()?,
            Err(EngineError::Fault(fault)) => {
                self.memory.sessions.remove(&order.session);
                self.memory.origin = None;
                self.tx.rollback_to_savepoint().map_err(|_| fault.clone())?;
            }
        }
        Ok(done)
    }

    fn execute_request(&mut self, order: &Request) -> EngineResult<Committed> {
        let decided = self.decide(order);
        match decided {
            Err(EngineError::Refused(rejection)) => {
                self.record_refusal(order, &rejection)?;
                Err(EngineError::Refused(rejection))
            }
            other => other,
        }
    }

    fn decide(&mut self, order: &Request) -> EngineResult<Committed> {
        if let Some(kind) = order.task.required_key() {
            self.keyring.holds(kind, self.identity)?;
        }
        match &order.task {
            Operation::Start { pinned, workflow, title, settings, mission, investigation, by, dropped, allow } => {
                if allow.is_some() {
                    self.keyring.holds(KeyKind::Operator, self.identity)?;
                }
                let drops =
                    *investigation || !dropped.is_empty() || !workflow.dropped_requirements(settings).is_empty();
                let by = by.clone().filter(|_| drops && self.is_operator());
                self.tx.pin_workflow(workflow.hash, pinned, &workflow.requirements())?;
                self.memory.cache_workflow(workflow);
                let start = command::StartSession {
                    session: order.session.clone(),
                    title: title.clone(),
                    settings: settings.clone(),
                    mission: mission.as_ref().map(|mission| Digest::of(mission.as_bytes())),
                    investigation: *investigation,
                    by,
                    dropped: dropped.clone(),
                    allow: allow.clone(),
                };
                self.start(order, workflow, start, mission.as_deref())
            }
            Operation::Claim { assignment } => self.claim(order, *assignment),
            Operation::Report { assignment, token, given, observed } => {
                self.report(order, *assignment, token.as_ref(), given, observed.as_ref())
            }
            Operation::Merge { assignment, given } => self.merge(order, *assignment, given),
            Operation::Upgrade { pinned, workflow, weaker, by } => self.upgrade(order, pinned, workflow, *weaker, by),
            Operation::Deny(refusal) => {
                self.load_session(&order.session)?;
                self.record(
                    order,
                    Box::new(Event::refused(clock::now(), refusal.clone())),
                    record::RecordExtras::default(),
                )
            }
            Operation::Simple(command) => {
                self.load_session(&order.session)?;
                self.rehydrate_closed(&order.session, command)?;
                let hash = self.cached_session(&order.session)?.workflow_hash();
                let workflow = self.load_workflow(hash)?;
                self.run(order, &workflow, command, record::RecordExtras::default())
            }
        }
    }

    /// Only a person may drop a requirement. The refusal names the requirement, so a missing key is no error here.
    fn is_operator(&self) -> bool {
        self.keyring.holds(KeyKind::Operator, self.identity).is_ok()
    }

    /// Decides a command and stores what follows.
    fn run(
        &mut self,
        order: &Request,
        workflow: &Workflow,
        command: &Command,
        with: record::RecordExtras<'_>,
    ) -> EngineResult<Committed> {
        let inputs = DecisionInputs { now: clock::now() };
        let outputs = prompt::outputs_of_session(self.output, &order.session);
        let live = self.cached_session(&order.session)?;
        match decide::decide_with_folder(workflow, &live.state, command, &inputs, &outputs)? {
            DecideOutcome::Repeated(decision) => self.repeated(order, decision),
            DecideOutcome::Decided(event) => self.record(order, event, with),
        }
    }
}

/// The key that an operation requires.
impl Operation {
    fn required_key(&self) -> Option<KeyKind> {
        match self {
            Operation::Start { .. } | Operation::Claim { .. } | Operation::Merge { .. } | Operation::Deny(_) => {
                Some(KeyKind::Spawner)
            }
            Operation::Report { .. } => None,
            Operation::Upgrade { .. } => Some(KeyKind::Operator),
            Operation::Simple(command) => match command {
                Command::Plan(_)
                | Command::Answer(_)
                | Command::Defer(_)
                | Command::Acknowledge(_)
                | Command::Override(_)
                | Command::Waive(_)
                | Command::Accept(_)
                | Command::Upgrade(_)
                | Command::Allow(_)
                | Command::Cancel(_) => Some(KeyKind::Operator),
                Command::Lost(_)
                | Command::Merged(_)
                | Command::GateFinished(_)
                | Command::LeaseExpired(_)
                | Command::Sight(_)
                | Command::Start(_)
                | Command::Claim(_)
                | Command::Report(_) => Some(KeyKind::Spawner),
                Command::Complete(_) => None,
            },
        }
    }
}

impl From<Rejection> for EngineError {
    fn from(rejection: Rejection) -> Self {
        EngineError::Refused(Box::new(rejection))
    }
}
