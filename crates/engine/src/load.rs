//! Loads a session: its last sealed snapshot, and every event after it.

use std::collections::BTreeMap;
use std::sync::Arc;

use interlock_core::code::Code;
use interlock_core::command::Command;
use interlock_core::event::{Event, StateChange};
use interlock_core::id::{AssignmentId, Digest, Name, QuestionId};
use interlock_core::rejection::Rejection;
use interlock_core::state::{Assignment, State};
use interlock_core::workflow::{Workflow, load_pinned};

use crate::EngineResult;
use crate::TxContext;
use crate::prompt::{CachedPlan, OriginEvent};
use interlock_store::chain::{BEGINNING, ChainKey, Seal, SealedContent};
use interlock_store::{EventRow, SessionHead, Snapshot, StoreError, StoreResult, StoreView};

/// Events read at a time.
pub(super) const BATCH: usize = 1024;
/// Sessions kept in memory.
const KEPT: usize = 1024;

/// A session in memory.
#[derive(Clone, Debug)]
pub struct LoadedSession {
    pub key: i64,
    pub id: Name,
    pub state: State,
    /// The seal of its last event.
    pub head: Seal,
    /// Bytes of events since the last snapshot, and of that snapshot.
    pub(super) since: usize,
    pub(super) snapshot: usize,
    /// The version of the store that it was last held against.
    version: i64,
    /// Closed assignments or questions were loaded again, for the request under way.
    pub(super) recalled: bool,
}

impl LoadedSession {
    fn new(head: &SessionHead) -> Self {
        let (key, id) = (head.key, head.id.clone());
        Self { key, id, state: State::default(), head: BEGINNING, since: 0, snapshot: 0, version: 0, recalled: false }
    }

    pub fn workflow_hash(&self) -> Digest {
        self.state.session.as_ref().map_or_else(|| Digest::of(b""), |session| session.workflow_hash)
    }

    /// Takes an event in, if it is the next one and its seal fits.
    pub(super) fn apply_row(&mut self, row: &EventRow, key: &ChainKey) -> StoreResult<()> {
        let follows = row.seq == self.state.seq.saturating_add(1) && row.prev == self.head;
        if !follows {
            return Err(chain_broken(&self.id, row.seq));
        }
        let event = verify_event(&self.id, row, key)?;
        self.state.apply(&event);
        self.state.drop_closed(&event);
        self.head = row.hash;
        self.since += row.data.len();
        Ok(())
    }
}

/// An event out of its bytes.
pub(crate) fn parse(session: &str, row: &EventRow) -> StoreResult<Event> {
    serde_json::from_str(&row.data).map_err(|_| chain_broken(session, row.seq))
}

/// An event out of its bytes, if its seal fits them.
pub(super) fn verify_event(session: &str, row: &EventRow, key: &ChainKey) -> StoreResult<Event> {
    let EventRow { seq, kind, at, decision, data, says, given, .. } = row;
    let sealed = SealedContent { session, seq: *seq, kind, at: *at, decision: *decision, data, says, given: *given };
    if key.event(&sealed, &row.prev) != row.hash {
        return Err(chain_broken(session, *seq));
    }
    parse(session, row)
}

pub(super) fn chain_broken(session: &str, seq: u64) -> StoreError {
    StoreError::new(Code::ChainBroken, format!("the history of {session} has been altered, from event {seq} on"))
        .help("nothing is decided on it; `interlock audit verify` says what was done, a backup brings it back")
}

/// Reads sessions and workflows, and remembers them.
pub(super) struct SessionLoader<'a> {
    pub(super) view: &'a mut dyn StoreView,
    pub(super) key: &'a ChainKey,
    pub(super) memory: &'a mut SessionCache,
}

/// The sessions and workflows that a process has already loaded.
#[derive(Default)]
pub(super) struct SessionCache {
    /// Of the store, in the transaction under way.
    pub(super) version: i64,
    pub(super) sessions: BTreeMap<Name, LoadedSession>,
    workflows: BTreeMap<String, Arc<Workflow>>,
    /// Where the last claim came from.
    pub(super) origin: Option<Arc<OriginEvent>>,
    /// The plan that was last looked into.
    pub(super) plan: Option<CachedPlan>,
}

impl SessionCache {
    /// Clears the cache: it may be ahead of the store.
    pub(super) fn clear_cache(&mut self) {
        self.sessions.clear();
        self.origin = None;
        self.plan = None;
    }

    pub(super) fn cache_workflow(&mut self, workflow: &Arc<Workflow>) {
        self.workflows.entry(workflow.hash.to_string()).or_insert_with(|| workflow.clone());
    }
}

impl<'a> SessionLoader<'a> {
    /// The session, as it is now: held against the store unless only this connection has written since it last was.
    pub(super) fn load_session(self, id: &str) -> EngineResult<&'a mut LoadedSession> {
        let version = self.memory.version;
        if self.memory.sessions.get(id).is_some_and(|live| live.version == version) {
            return self.memory.sessions.get_mut(id).ok_or_else(super::EngineError::internal_error);
        }
        let Some(head) = self.view.session(id)? else { return Err(unknown(self.view, id)?.into()) };
        let known = self.memory.sessions.remove(id).filter(|live| live.state.seq <= head.seq && live.key == head.key);
        let mut this = self;
        let mut live = match known {
            Some(live) => live,
            None => this.load_snapshot(&head)?,
        };
        while live.state.seq < head.seq {
            let events = this.view.events(head.key, live.state.seq, BATCH)?;
            if events.is_empty() {
                return Err(chain_broken(id, live.state.seq.saturating_add(1)).into());
            }
            events.iter().try_for_each(|event| live.apply_row(event, this.key))?;
        }
        if live.head != head.head {
            return Err(chain_broken(id, head.seq).into());
        }
        live.version = version;
        if this.memory.sessions.len() >= KEPT {
            this.memory.sessions.pop_first();
        }
        Ok(this.memory.sessions.entry(head.id).or_insert(live))
    }

    /// From a snapshot whose seal fits the event that it was taken at; otherwise from the beginning.
    fn load_snapshot(&mut self, head: &SessionHead) -> EngineResult<LoadedSession> {
        let mut live = LoadedSession::new(head);
        let Some(snapshot) = self.view.snapshot(head.key)?.filter(|snapshot| snapshot.seq <= head.seq) else {
            return Ok(live);
        };
        let at = self.view.events(head.key, snapshot.seq.saturating_sub(1), 1)?;
        let Some(event) = at.first().filter(|event| event.seq == snapshot.seq) else { return Ok(live) };
        if self.key.snapshot(&head.id, &event.hash, &snapshot.data) != snapshot.seal {
            return Ok(live);
        }
        if let Ok(mut state) = serde_json::from_str::<State>(&snapshot.data) {
            state.reindex();
            (live.state, live.head, live.snapshot) = (state, event.hash, snapshot.data.len());
        }
        Ok(live)
    }

    /// The workflow that a session is pinned to.
    pub(super) fn load_workflow(self, hash: Digest) -> EngineResult<Arc<Workflow>> {
        let name = hash.to_string();
        if let Some(workflow) = self.memory.workflows.get(&name) {
            return Ok(workflow.clone());
        }
        let workflow = Arc::new(pinned(self.view, hash)?);
        self.memory.workflows.insert(name, workflow.clone());
        Ok(workflow)
    }
}

impl TxContext<'_> {
    pub(super) fn load_session(&mut self, id: &str) -> EngineResult<&mut LoadedSession> {
        self.loader().load_session(id)
    }

    pub(super) fn load_workflow(&mut self, hash: Digest) -> EngineResult<Arc<Workflow>> {
        self.loader().load_workflow(hash)
    }

    fn loader(&mut self) -> SessionLoader<'_> {
        SessionLoader { view: &mut *self.tx, key: self.key, memory: self.memory }
    }

    /// The session that this transaction has loaded already.
    pub(super) fn cached_session(&mut self, id: &Name) -> EngineResult<&mut LoadedSession> {
        if self.memory.sessions.contains_key(id) {
            return self.memory.sessions.get_mut(id).ok_or_else(super::EngineError::internal_error);
        }
        self.load_session(id)
    }

    /// Brings back what the command names, if it was closed and let go of.
    pub(super) fn rehydrate_closed(&mut self, session: &Name, command: &Command) -> EngineResult<()> {
        match command {
            Command::Claim(claim) => self.rehydrate_assignment(session, claim.assignment),
            Command::Report(report) => self.rehydrate_assignment(session, report.assignment),
            Command::Lost(lost) => self.rehydrate_assignment(session, lost.assignment),
            Command::Merged(merged) => self.rehydrate_assignment(session, merged.assignment),
            Command::LeaseExpired(expired) => self.rehydrate_assignment(session, expired.assignment),
            Command::Answer(answer) => self.rehydrate_question(session, answer.question),
            Command::Start(_)
            | Command::Plan(_)
            | Command::GateFinished(_)
            | Command::Defer(_)
            | Command::Acknowledge(_)
            | Command::Override(_)
            | Command::Waive(_)
            | Command::Accept(_)
            | Command::Complete(_)
            | Command::Upgrade(_)
            | Command::Sight(_)
            | Command::Allow(_)
            | Command::Cancel(_) => Ok(()),
        }
    }

    pub(super) fn rehydrate_assignment(&mut self, session: &Name, id: AssignmentId) -> EngineResult<()> {
        let live = self.cached_session(session)?;
        let key = live.key;
        if live.state.assignments.contains_key(&id) || id > live.state.last_assignment {
            return Ok(());
        }
        if let Some(closed) = self.closed_assignment(session, key, id)? {
            let live = self.cached_session(session)?;
            live.state.rehydrate_assignment(id, closed);
            live.recalled = true;
        }
        Ok(())
    }

    /// A closed assignment, rebuilt from the events: they decide who may repeat a report. The table only names
    /// the first event.
    fn closed_assignment(&mut self, session: &Name, key: i64, id: AssignmentId) -> EngineResult<Option<Assignment>> {
        let Some(opened) = self.tx.opened(key, id)? else { return Ok(None) };
        let mut state = State::default();
        let mut seq = opened.saturating_sub(1);
        loop {
            let rows = self.tx.events(key, seq, BATCH)?;
            for row in &rows {
                let mut event = verify_event(session, row, self.key)?;
                event.changes.retain(|change| is_of(change, id));
                state.apply(&event);
                if state.assignments.get(&id).is_some_and(|assignment| assignment.closed.is_some()) {
                    return Ok(state.assignments.remove(&id));
                }
            }
            let Some(last) = rows.last() else { return Ok(None) };
            seq = last.seq;
        }
    }

    pub(super) fn rehydrate_question(&mut self, session: &Name, id: QuestionId) -> EngineResult<()> {
        let live = self.cached_session(session)?;
        let key = live.key;
        if live.state.questions.contains_key(&id) || id > live.state.last_question {
            return Ok(());
        }
        if let Some(closed) = self.tx.question(key, id)?.filter(|question| !question.open) {
            let live = self.cached_session(session)?;
            live.state.rehydrate_question(id, closed);
            live.recalled = true;
        }
        Ok(())
    }

    /// Drops the closed entries that were loaded again.
    pub(super) fn clear_rehydrated(&mut self, id: &Name) {
        if let Some(live) = self.memory.sessions.get_mut(id).filter(|live| live.recalled) {
            live.state.drop_all_closed();
            live.recalled = false;
        }
    }

    /// Keeps the state of a session, when enough has happened since the last time.
    pub(super) fn keep_snapshot(&mut self, id: &Name) -> EngineResult<()> {
        let Some(live) = self.memory.sessions.get_mut(id) else { return Ok(()) };
        let data = serde_json::to_string(&live.state).map_err(|_| super::EngineError::internal_error())?;
        let seal = self.key.snapshot(&live.id, &live.head, &data);
        (live.since, live.snapshot) = (0, data.len());
        self.tx.put_snapshot(live.key, &Snapshot { seq: live.state.seq, data, seal })?;
        Ok(())
    }
}

/// Does a change make something of this assignment?
fn is_of(change: &StateChange, id: AssignmentId) -> bool {
    match change {
        StateChange::Assigned { assignment, .. }
        | StateChange::Claimed { assignment, .. }
        | StateChange::Unclaimed { assignment }
        | StateChange::StatusReturned { assignment }
        | StateChange::Closed { assignment, .. } => *assignment == id,
        _ => false,
    }
}

/// A workflow out of the store, if it still is what its hash says.
fn pinned(tx: &mut dyn StoreView, hash: Digest) -> StoreResult<Workflow> {
    let altered = || {
        let message = format!("the workflow {hash} is not in the store as it was pinned");
        StoreError::new(Code::PinnedChanged, message).help("nothing is decided with it; restore a backup")
    };
    let pinned = tx.workflow(hash)?.ok_or_else(altered)?;
    load_pinned(&pinned.sources).workflow.filter(|workflow| workflow.hash == hash).ok_or_else(altered)
}

fn unknown(tx: &mut dyn StoreView, id: &str) -> StoreResult<Rejection> {
    let known: Vec<String> = tx.sessions()?.iter().take(10).map(|session| session.id.to_string()).collect();
    let help = interlock_core::suggest::help(id, known.iter().map(String::as_str).collect::<Vec<_>>());
    Ok(Rejection::new(Code::NoSession, format!("there is no session `{id}`")).allowed(known).maybe_help(help))
}
