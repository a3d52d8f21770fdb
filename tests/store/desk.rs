//! Group commit: the requests of many callers go into one commit, and each succeeds or fails by itself.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Barrier};
use std::thread;

use interlock_core::id::{AssignmentId, Name, Timestamp};
use interlock_core::workflow::{Workflow, load_builtin};
use interlock_engine::{CommandQueue, Committed, Engine, EngineError, Operation, Request};
use interlock_store::audit;
use interlock_store::keys::Keyring;
use interlock_store::sqlite::SqliteStore;
use interlock_store::{PinnedSources, Store};

/// Enough for two commits under way at once.
const CALLERS: usize = 64;

struct Place {
    folder: PathBuf,
    workflow: Arc<Workflow>,
    pinned: Arc<PinnedSources>,
}

impl Place {
    fn new(what: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("interlock-desk-{what}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let loaded = load_builtin("delivery-team").unwrap();
        let workflow = Arc::new(loaded.workflow.unwrap());
        let pinned = Arc::new(PinnedSources { name: workflow.name.clone(), sources: loaded.sources });
        let place = Self { folder, workflow, pinned };
        let (identity, _) = place.keyring().make("desk").unwrap();
        SqliteStore::create(&place.store(), &identity, Timestamp(1)).unwrap();
        place
    }

    fn store(&self) -> PathBuf {
        self.folder.join("interlock.db")
    }

    fn keyring(&self) -> Keyring {
        Keyring::new(self.folder.join("keys"), None)
    }

    fn engine(&self) -> Engine {
        Engine::open(Box::new(SqliteStore::open(&self.store()).unwrap()), self.keyring(), "out".to_owned()).unwrap()
    }

    fn start(&self, session: &str, mission: &str) -> Request {
        let task = Operation::Start {
            pinned: self.pinned.clone(),
            workflow: self.workflow.clone(),
            title: Name::new("A session"),
            settings: BTreeMap::new(),
            mission: Some(mission.to_owned()),
            investigation: false,
            by: None,
            dropped: Vec::new(),
            allow: None,
        };
        Request { session: Name::new(session), task }
    }

    /// The log and the tables are as they should be; how many events there are.
    fn verified(&self, allowed: usize) -> u64 {
        let open = || Ok(Box::new(SqliteStore::open(&self.store())?) as Box<dyn Store>);
        let (sessions, identity) = {
            let mut store = open().unwrap();
            let mut view = store.view().unwrap();
            (view.sessions().unwrap(), view.identity().unwrap())
        };
        let report = audit::verify(&open, &self.keyring().chain(&identity).unwrap(), &sessions, &[]).unwrap();
        assert_eq!(report.problems.len(), allowed, "{:?}", report.problems);
        report.events
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Every order by a caller of its own, all at the same moment.
fn at_once(desk: &CommandQueue, orders: Vec<Request>) -> Vec<Result<Committed, EngineError>> {
    let barrier = Barrier::new(orders.len());
    thread::scope(|scope| {
        let callers: Vec<_> = orders
            .into_iter()
            .map(|order| {
                let (caller, barrier) = (desk.caller().unwrap(), &barrier);
                scope.spawn(move || {
                    barrier.wait();
                    caller.execute(order)
                })
            })
            .collect();
        callers.into_iter().map(|caller| caller.join().unwrap()).collect()
    })
}

fn claim(session: &str, assignment: u32) -> Request {
    Request { session: Name::new(session), task: Operation::Claim { assignment: AssignmentId(assignment) } }
}

#[test]
fn everybody_gets_the_answer_to_their_own_order() {
    let place = Place::new("answers");
    let desk = CommandQueue::open(place.engine()).unwrap();
    let names: Vec<String> = (0..CALLERS).map(|number| format!("session-{number}")).collect();
    let started = at_once(&desk, names.iter().map(|name| place.start(name, "a mission")).collect());
    for (done, name) in started.into_iter().zip(&names) {
        let done = done.unwrap();
        assert_eq!((done.session.as_str(), done.seq), (name.as_str(), 1));
    }
    // In each session one caller claims an assignment that exists, and one claims an assignment that does not.
    let orders: Vec<Request> = names.iter().flat_map(|name| [claim(name, 1), claim(name, 9)]).collect();
    let claimed = at_once(&desk, orders);
    for pair in claimed.chunks(2) {
        assert!(pair[0].as_ref().unwrap().claimed.is_some());
        assert!(matches!(pair[1], Err(EngineError::Refused(_))), "{:?}", pair[1]);
    }
    drop(desk.close());
    assert_eq!(place.verified(0), 3 * u64::try_from(CALLERS).unwrap());
}

#[test]
fn an_order_that_cannot_be_stored_takes_no_other_with_it() {
    let place = Place::new("spoilt");
    rusqlite::Connection::open(place.store())
        .unwrap()
        .execute_batch(
            "CREATE TRIGGER spoil BEFORE INSERT ON attachments WHEN NEW.body = 'spoil it' BEGIN
               SELECT RAISE(ABORT, 'spoilt');
             END",
        )
        .unwrap();
    let desk = CommandQueue::open(place.engine()).unwrap();
    for round in 0..4 {
        let mission = |number: usize| if number % 5 == 2 { "spoil it" } else { "a mission" };
        let name = |number: usize| format!("session-{round}-{number}");
        let orders = (0..CALLERS).map(|number| place.start(&name(number), mission(number))).collect();
        for (number, done) in at_once(&desk, orders).into_iter().enumerate() {
            match mission(number) {
                "spoil it" => assert!(matches!(done, Err(EngineError::Fault(_))), "{done:?}"),
                _ => assert_eq!(done.unwrap().session, *name(number)),
            }
        }
    }
    drop(desk.close());
    // One event for each that was not spoilt; and the audit sees the trigger.
    assert_eq!(place.verified(1), 4 * (0..CALLERS).filter(|number| number % 5 != 2).count() as u64);
}

#[test]
fn what_others_write_in_between_is_seen() {
    let place = Place::new("between");
    let desk = CommandQueue::open(place.engine()).unwrap();
    let mut other = place.engine();
    let caller = desk.caller().unwrap();
    caller.execute(place.start("one", "a mission")).unwrap();
    for round in 0..5 {
        // Claiming again voids the claim before: the attempt counts them all.
        let mine = caller.execute(claim("one", 1)).unwrap();
        let theirs = other.execute(&claim("one", 1)).unwrap();
        assert_eq!((mine.seq, theirs.seq), (2 + 2 * round, 3 + 2 * round));
    }
    drop(caller);
    drop(desk.close());
    assert_eq!(place.verified(0), 11);
}

/// What is decided ahead of a commit, and overtaken by another process, is decided again: nothing is lost, or stored twice.
#[test]
fn others_write_while_a_crowd_is_served() {
    const CROWD: usize = 48;
    const TURNS: usize = 6;
    let place = Place::new("crowd");
    let desk = CommandQueue::open(place.engine()).unwrap();
    thread::scope(|scope| {
        for number in 0..CROWD {
            let (caller, place) = (desk.caller().unwrap(), &place);
            scope.spawn(move || {
                let session = format!("s{number}");
                caller.execute(place.start(&session, "")).unwrap();
                for _ in 0..TURNS {
                    caller.execute(claim(&session, 1)).unwrap();
                    assert!(caller.execute(claim(&session, 9)).is_err(), "there is no such assignment");
                }
            });
        }
        scope.spawn(|| {
            let mut engine = place.engine();
            engine.execute(&place.start("other", "")).unwrap();
            for turn in 0..3 * TURNS {
                // In a session of its own, and in one that the queue's engine has in memory.
                engine.execute(&claim("other", 1)).unwrap();
                let _ = engine.execute(&claim(&format!("s{}", turn % CROWD), 1));
            }
        });
    });
    desk.close();
    let others = 1 + 3 * TURNS;
    let counted = place.verified(0);
    let own = u64::try_from(CROWD * (1 + 2 * TURNS) + others).unwrap();
    // Claims of the other that came before the session was there are no event.
    assert!((own..=own + 3 * TURNS as u64).contains(&counted), "{counted} events, and at least {own} were made");
}
