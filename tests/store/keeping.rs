//! What is kept, and that all of it is kept or nothing.

use interlock_core::id::{AssignmentId, Timestamp};
use interlock_core::workflow::Workflow;
use interlock_store::chain::BEGINNING;
use interlock_store::{Snapshot, StoreView};

use crate::driver::SessionDriver;
use crate::{Backend, KEY, Written, builtin, name};

/// A session with its first event, and no other.
fn started(workflow: &Workflow) -> SessionDriver<'_> {
    let mut driver = SessionDriver::new(workflow, workflow);
    while driver.history.is_empty() {
        driver.step(3);
    }
    driver
}

pub(crate) fn a_transaction_that_is_not_committed_leaves_nothing(backend: &dyn Backend) {
    let mut store = backend.make();
    store.unlock(&KEY).unwrap();
    let workflow = builtin("delivery-team");
    let driver = started(&workflow);
    {
        let mut tx = store.begin().unwrap();
        let mut written = Written::begin(&mut *tx, "one", &workflow, driver.history[0].at);
        driver.history.iter().for_each(|event| written.append(&mut *tx, event).unwrap());
    }
    let mut view = store.view().unwrap();
    assert_eq!(view.sessions().unwrap(), []);
    assert_eq!(view.workflow(workflow.hash).unwrap(), None);
}

pub(crate) fn what_is_undone_leaves_the_rest(backend: &dyn Backend) {
    let mut store = backend.make();
    store.unlock(&KEY).unwrap();
    let workflow = builtin("delivery-team");
    let mut tx = store.begin().unwrap();
    for (id, kept) in [("one", true), ("two", false), ("three", true)] {
        tx.set_savepoint().unwrap();
        Written::begin(&mut *tx, id, &workflow, Timestamp(1));
        if kept { tx.release_savepoint().unwrap() } else { tx.rollback_to_savepoint().unwrap() }
    }
    tx.commit().unwrap();
    let mut again = backend.again();
    let sessions = again.view().unwrap().sessions().unwrap();
    let ids: Vec<_> = sessions.iter().map(|session| session.id.as_str().to_owned()).collect();
    assert_eq!(ids, ["three", "one"], "the newest first");
}

pub(crate) fn what_was_written_is_read_back(backend: &dyn Backend) {
    let mut store = backend.make();
    store.unlock(&KEY).unwrap();
    let workflow = builtin("delivery-team");
    let driver = started(&workflow);
    let mut tx = store.begin().unwrap();
    let mut written = Written::begin(&mut *tx, "one", &workflow, driver.history[0].at);
    driver.history.iter().for_each(|event| written.append(&mut *tx, event).unwrap());
    let snapshot = Snapshot { seq: 1, data: "{}".to_owned(), seal: BEGINNING };
    tx.put_snapshot(written.key, &snapshot).unwrap();
    tx.commit().unwrap();

    let mut again = backend.again();
    let mut view = again.view().unwrap();
    let session = view.session("one").unwrap().unwrap();
    assert_eq!((session.seq, session.head, session.status.as_str()), (1, written.head, "active"));
    assert_eq!(session.workflow_hash, workflow.hash);
    assert_eq!(view.session("two").unwrap(), None);
    assert_eq!(view.snapshot(session.key).unwrap(), Some(snapshot));
    events(&mut *view, session.key, &written);
    assert_eq!(view.opened(session.key, AssignmentId(1)).unwrap(), Some(1));
    assert_eq!(view.opened(session.key, AssignmentId(2)).unwrap(), None);
    assert_eq!(view.workflow(workflow.hash).unwrap().unwrap().name, name("delivery-team"));
    assert_eq!(view.attempts().unwrap(), []);
    assert_eq!(view.schema().unwrap(), Vec::<String>::new());
}

fn events(view: &mut dyn StoreView, session: i64, written: &Written) {
    let events = view.events(session, 0, 10).unwrap();
    assert_eq!(events.len(), 1);
    assert_eq!((events[0].seq, events[0].kind.as_str(), events[0].hash), (1, "started", written.head));
    assert_eq!(events[0].prev, BEGINNING);
    assert!(events[0].at > Timestamp(0));
    assert_eq!(view.events(session, 1, 10).unwrap(), []);
    assert_eq!(view.event_of_decision(session, 1).unwrap().as_ref(), events.first());
    assert_eq!(view.event_of_decision(session, 2).unwrap(), None);
}

pub(crate) fn an_event_out_of_turn_is_refused(backend: &dyn Backend) {
    let mut store = backend.make();
    store.unlock(&KEY).unwrap();
    let workflow = builtin("delivery-team");
    let driver = started(&workflow);
    let mut tx = store.begin().unwrap();
    let mut written = Written::begin(&mut *tx, "one", &workflow, driver.history[0].at);
    // Its seal is made for the second place, and nothing stands at the first.
    written.state.seq = 1;
    let fault = written.append(&mut *tx, &driver.history[0]).unwrap_err();
    assert_eq!(fault.code, interlock_core::code::Code::GuardFired);
}
