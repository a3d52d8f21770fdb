//! Stores to measure on, with reports that are ready to be submitted.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, VecDeque};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use interlock_core::handoff;
use interlock_core::id::{AssignmentId, Digest, Name, Timestamp};
use interlock_core::workflow::{Workflow, builtin, load};
use interlock_engine::{Committed, Engine, Operation, Request, SubmittedHandoff};
use interlock_store::chain::ChainKey;
use interlock_store::keys::{Keyring, SecretKey};
use interlock_store::sqlite::SqliteStore;
use interlock_store::{PinnedSources, Store};

/// Groups of a usual session.
const AT_ONCE: usize = 4;

/// A store in a folder of its own.
pub(crate) struct World {
    pub(crate) folder: PathBuf,
    workflow: Arc<Workflow>,
    pinned: Arc<PinnedSources>,
    sessions: Cell<u32>,
}

/// A claimed report that can be submitted.
pub(crate) struct Ready {
    pub(crate) session: Name,
    pub(crate) assignment: AssignmentId,
    pub(crate) token: SecretKey,
    pub(crate) bytes: String,
    given: SubmittedHandoff,
}

impl Ready {
    pub(crate) fn order(&self) -> Request {
        let (token, given) = (Some(self.token.clone()), self.given.clone());
        let task = Operation::Report { assignment: self.assignment, token, given, observed: None };
        Request { session: self.session.clone(), task }
    }

    pub(crate) fn reference(&self) -> String {
        format!("{}.{}", self.session, self.assignment)
    }
}

impl World {
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("bench-{}-{number}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        let (identity, _) = keyring(&folder).make("bench").expect("keys");
        SqliteStore::create(&folder.join("interlock.db"), &identity, Timestamp(1)).expect("a store");
        let text = builtin("delivery-team").expect("it ships").text;
        // As many groups of a session at work as the measurements need.
        let text = text.replacen("at_most: 4", "at_most: 10000", 1).replacen("partial: 4", "partial: 4000000", 1);
        let loaded = load("bench.yaml", &text, &|_| None);
        let (workflow, sources) = (Arc::new(loaded.workflow.expect("it loads")), loaded.sources);
        let pinned = Arc::new(PinnedSources { name: workflow.name.clone(), sources });
        Self { folder, workflow, pinned, sessions: Cell::new(0) }
    }

    pub(crate) fn store(&self) -> PathBuf {
        self.folder.join("interlock.db")
    }

    pub(crate) fn engine(&self) -> Engine {
        open(&self.store(), &self.folder)
    }

    /// A copy of the store as it is, beside it.
    pub(crate) fn copy(&self) -> PathBuf {
        let copy = self.folder.join("copy.db");
        let _ = fs::remove_file(&copy);
        SqliteStore::open(&self.store()).and_then(|store| store.back_up(&copy)).expect("a copy");
        copy
    }

    pub(crate) fn bytes(&self) -> u64 {
        let copy = self.copy();
        fs::metadata(copy).expect("a copy").len()
    }

    fn start_order(&self) -> Request {
        let number = self.sessions.replace(self.sessions.get() + 1);
        let session = Name::from(format!("session-{number}"));
        let task = Operation::Start {
            pinned: self.pinned.clone(),
            workflow: self.workflow.clone(),
            title: Name::new("A session"),
            settings: BTreeMap::new(),
            mission: None,
            investigation: false,
            by: None,
            dropped: Vec::new(),
            allow: None,
        };
        Request { session, task }
    }

    /// Starts a session with so many groups planned.
    fn start(&self, engine: &mut Engine, groups: usize) -> Name {
        let start = self.start_order();
        let session = start.session.clone();
        engine.execute(&start).expect("it starts");
        let plan: Vec<String> = (1..=groups).map(|n| format!(r#"{{"id":"G{n}","title":"group {n}"}}"#)).collect();
        let plan = format!(r#","groups":[{}]"#, plan.join(","));
        report(engine, &session, AssignmentId(1), "project_manager", "PLANNING_COMPLETE", &plan);
        session
    }

    /// So many reports, each of a developer in the middle of a session of four groups.
    pub(crate) fn ready(&self, count: usize) -> Vec<Ready> {
        self.ready_in(count.div_ceil(AT_ONCE), count)
    }

    /// The same, in so many sessions.
    pub(crate) fn ready_in(&self, sessions: usize, count: usize) -> Vec<Ready> {
        let mut engine = self.engine();
        let groups = count.div_ceil(sessions);
        let plan: Vec<String> = (1..=groups).map(|n| format!(r#"{{"id":"G{n}","title":"group {n}"}}"#)).collect();
        let plan = format!(r#","groups":[{}]"#, plan.join(","));
        let extra = r#","dev_output":"Added the handler and its tests.","files_changed":["src/a.rs"]"#;
        let starts: Vec<Request> = (0..sessions).map(|_| self.start_order()).collect();
        all(&mut engine, &starts);
        let first = |start: &Request| (start.session.clone(), AssignmentId(1));
        let plans =
            claim_all(&mut engine, starts.iter().map(first).collect(), "project_manager", "PLANNING_COMPLETE", &plan);
        all(&mut engine, &plans.iter().map(Ready::order).collect::<Vec<_>>());
        let last = u32::try_from(groups).expect("few") + 1;
        let developers = starts.iter().flat_map(|start| (2..=last).map(|n| (start.session.clone(), AssignmentId(n))));
        let mut ready = claim_all(&mut engine, developers.collect(), "developer", "READY_FOR_QA", extra);
        ready.truncate(count);
        ready
    }

    /// A session from its start to its end.
    pub(crate) fn played(&self) -> Name {
        let mut engine = self.engine();
        let session = self.start(&mut engine, 1);
        let steps = [
            ("developer", "READY_FOR_QA"),
            ("qa_expert", "PASS"),
            ("tech_lead", "APPROVED"),
            ("developer", "MERGE_SUCCESS"),
            ("project_manager", "BAZINGA"),
        ];
        for (id, (role, status)) in (2..).zip(steps) {
            report(&mut engine, &session, AssignmentId(id), role, status, "");
        }
        session
    }

    /// Whole sessions, until so many decisions are stored.
    pub(crate) fn fill(&self, decisions: usize) {
        crate::raw::fill(self, decisions);
    }

    pub(crate) fn workflow(&self) -> (&Workflow, &PinnedSources) {
        (&self.workflow, &self.pinned)
    }
}

impl Drop for World {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn keyring(folder: &Path) -> Keyring {
    Keyring::new(folder.join(".config/interlock"), None)
}

fn open(store: &Path, folder: &Path) -> Engine {
    let store = SqliteStore::open(store).expect("a store");
    Engine::open(Box::new(store), keyring(folder), "out".to_owned()).expect("an engine")
}

pub(crate) fn key(world: &World) -> ChainKey {
    let mut store = SqliteStore::open(&world.store()).expect("a store");
    let identity = store.view().and_then(|mut view| view.identity()).expect("an identity");
    keyring(&world.folder).chain(&identity).expect("its key")
}

/// Executes many requests, many in a commit.
fn all(engine: &mut Engine, orders: &[Request]) -> Vec<Committed> {
    let mut done = Vec::with_capacity(orders.len());
    for batch in orders.chunks(500) {
        let results = engine.execute_all(&batch.iter().collect::<Vec<_>>());
        done.extend(results.into_iter().map(|result| result.expect("it is done")));
    }
    done
}

fn claim_all(
    engine: &mut Engine,
    assignments: Vec<(Name, AssignmentId)>,
    role: &str,
    status: &str,
    extra: &str,
) -> Vec<Ready> {
    let order = |(session, id): &(Name, AssignmentId)| Request {
        session: session.clone(),
        task: Operation::Claim { assignment: *id },
    };
    let claimed = all(engine, &assignments.iter().map(order).collect::<Vec<_>>());
    let tokens = claimed.into_iter().map(|done| done.claimed.expect("a token").token);
    let report =
        |((session, id), token): ((Name, AssignmentId), SecretKey)| made(&session, id, token, role, status, extra);
    assignments.into_iter().zip(tokens).map(report).collect()
}

/// Claims an assignment, and makes the report for it.
fn claim(engine: &mut Engine, session: &Name, id: AssignmentId, role: &str, status: &str, extra: &str) -> Ready {
    let order = Request { session: session.clone(), task: Operation::Claim { assignment: id } };
    let claimed = engine.execute(&order).expect("it is claimed").claimed.expect("a token");
    made(session, id, claimed.token, role, status, extra)
}

fn made(session: &Name, id: AssignmentId, token: SecretKey, role: &str, status: &str, extra: &str) -> Ready {
    let bytes = format!(
        r#"{{"agent":"{role}","output_type":"report","timestamp":"2026-01-01T00:00:00Z","feature_directory":"f",
            "skills_invoked":[],"status":"{status}","handoff":{{"next_agent":null,"context":"what was done"}}{extra}}}"#
    );
    let extracted = handoff::extract("handoff.json", bytes.as_bytes()).map(Arc::new);
    let given = SubmittedHandoff { extracted, digest: Digest::of(bytes.as_bytes()) };
    Ready { session: session.clone(), assignment: id, token, bytes, given }
}

fn report(engine: &mut Engine, session: &Name, id: AssignmentId, role: &str, status: &str, extra: &str) -> Committed {
    let ready = claim(engine, session, id, role, status, extra);
    engine.execute(&ready.order()).expect("it is decided")
}

/// One session with so many decisions behind it, and room to go on.
pub(crate) struct LongSession {
    world: World,
    session: Name,
    engine: RefCell<Engine>,
    /// Whose turn it is: the open assignment of each group.
    turns: RefCell<VecDeque<AssignmentId>>,
}

pub(crate) fn long_session(decisions: usize) -> LongSession {
    let world = World::new();
    let mut engine = world.engine();
    let session = world.start(&mut engine, 4);
    let first = (2..6).map(AssignmentId).collect();
    let long = LongSession { world, session, engine: RefCell::new(engine), turns: RefCell::new(first) };
    long.go_on(decisions);
    long
}

impl LongSession {
    /// Makes so many more decisions: developers who go on and on. The time they took, claims not counted.
    pub(crate) fn go_on(&self, decisions: usize) -> Duration {
        let mut spent = Duration::ZERO;
        let mut engine = self.engine.borrow_mut();
        let mut turns = self.turns.borrow_mut();
        for _ in 0..decisions {
            let id = turns.pop_front().expect("somebody goes on");
            let ready = claim(&mut engine, &self.session, id, "developer", "PARTIAL", "");
            let begun = Instant::now();
            let done = engine.execute(&ready.order()).expect("it is decided");
            spent += begun.elapsed();
            turns.extend(done.event.decision.iter().flat_map(|decision| &decision.next).map(|next| next.assignment));
        }
        assert!(self.world.store().exists());
        spent
    }
}
