//! Bare SQLite: the same rows, indexes, triggers and durability, and nothing decided.

use std::path::Path;
use std::time::{Duration, Instant};

use interlock_core::event::Event;
use interlock_core::state::State;
use interlock_store::chain::{BEGINNING, Seal, SealedContent, hash_attachment};
use interlock_store::rows::{EventProjection, project_event};
use interlock_store::sqlite::SqliteStore;
use interlock_store::{EventAppend, Store};

use crate::world::{World, key};

/// The events written to the store since the copy, in order.
pub(crate) fn recorded(world: &World, before: &Path) -> Vec<EventAppend> {
    let mut old = SqliteStore::open(before).expect("the copy");
    let mut new = SqliteStore::open(&world.store()).expect("the store");
    let (mut old, mut new) = (old.view().expect("a view"), new.view().expect("a view"));
    let mut all = Vec::new();
    for session in new.sessions().expect("sessions") {
        let behind = old.session(&session.id).expect("a session").map_or(0, |session| session.seq);
        let mut state = State::default();
        for row in new.events(session.key, 0, usize::MAX).expect("events") {
            let event: Event = serde_json::from_str(&row.data).expect("an event");
            state.apply(&event);
            if row.seq > behind {
                let append = EventAppend {
                    session: session.key,
                    seq: row.seq,
                    kind: event.cause.kind(),
                    at: row.at,
                    decision: row.decision,
                    data: row.data,
                    given: row.given,
                    prev: row.prev,
                    hash: row.hash,
                    attachment: new.attachment(row.id).expect("an attachment"),
                    prompt: new.prompt(row.id).expect("a prompt"),
                    rows: project_event(&event, &state),
                };
                all.push((row.id, append));
            }
        }
    }
    all.sort_by_key(|(id, _)| *id);
    all.into_iter().map(|(_, append)| append).collect()
}

/// Writes them to the copy, so many a commit.
pub(crate) fn replay(copy: &Path, appends: &[EventAppend], a_commit: usize) -> Duration {
    let mut store = SqliteStore::open(copy).expect("the copy");
    let folder = copy.parent().expect("a folder");
    let identity = store.view().and_then(|mut view| view.identity()).expect("an identity");
    let keyring = interlock_store::keys::Keyring::new(folder.join(".config/interlock"), None);
    store.unlock(&keyring.chain(&identity).expect("a key")).expect("unlocked");
    if a_commit > 1 {
        store.expect_many().expect("room for many");
    }
    let begun = Instant::now();
    for batch in appends.chunks(a_commit) {
        let mut tx = store.begin().expect("a transaction");
        for append in batch {
            tx.append(append).expect("it is written");
        }
        tx.commit().expect("it is stored");
    }
    begun.elapsed()
}

/// Fills a store with whole sessions, each a copy of one that was played.
pub(crate) fn fill(world: &World, decisions: usize) {
    const A_COMMIT: usize = 2_000;
    let pattern = pattern();
    let began = pattern.first().expect("it began").0.at;
    let each = pattern.iter().filter(|(event, _)| event.decision.is_some()).count();
    let key = key(world);
    let (workflow, pinned) = world.workflow();
    let mut store = SqliteStore::open(&world.store()).expect("a store");
    store.unlock(&key).expect("unlocked");
    store.expect_many().expect("room for many");
    for batch in (0..decisions.div_ceil(each)).collect::<Vec<_>>().chunks(A_COMMIT) {
        let mut tx = store.begin().expect("a transaction");
        tx.pin_workflow(workflow.hash, pinned, &workflow.requirements()).expect("pinned");
        for number in batch {
            let id = format!("filled-{number}");
            let session = tx.begin_session(&id, began).expect("a session");
            let mut head: Seal = BEGINNING;
            for (seq, (event, rows)) in (1..).zip(&pattern) {
                let data = serde_json::to_string(event).expect("an event");
                let decision = event.decision.as_ref().map(|decision| decision.id.0);
                let attachment = event.handoff.as_ref().map(ToString::to_string);
                let hash_of_given = attachment.as_ref().map(|body| hash_attachment(body.as_bytes()));
                let (kind, at) = (event.cause.kind(), event.at);
                let sealed = SealedContent {
                    session: &id,
                    seq,
                    kind,
                    at,
                    decision,
                    data: &data,
                    says: &rows.says,
                    given: hash_of_given,
                };
                let hash = key.event(&sealed, &head);
                let append = EventAppend {
                    session,
                    seq,
                    kind,
                    at,
                    decision,
                    data,
                    given: hash_of_given,
                    prev: head,
                    hash,
                    attachment,
                    prompt: None,
                    rows: rows.clone(),
                };
                tx.append(&append).expect("it is written");
                head = hash;
            }
        }
        tx.commit().expect("it is stored");
    }
}

/// The events of a session from its start to its end, without prompts.
fn pattern() -> Vec<(Event, EventProjection)> {
    let world = World::new();
    let session = world.played();
    let mut store = SqliteStore::open(&world.store()).expect("a store");
    let mut view = store.view().expect("a view");
    let head = view.session(&session).expect("a session").expect("it is there");
    let mut state = State::default();
    let mut pattern = Vec::new();
    for row in view.events(head.key, 0, usize::MAX).expect("events") {
        let mut event: Event = serde_json::from_str(&row.data).expect("an event");
        if let interlock_core::event::EventCause::Claimed { prompt, .. } = &mut event.cause {
            *prompt = None;
        }
        let body = view.attachment(row.id).expect("an attachment");
        event.handoff = body.map(|body| std::sync::Arc::new(serde_json::from_str(&body).expect("JSON")));
        state.apply(&event);
        let rows = project_event(&event, &state);
        state.drop_closed(&event);
        pattern.push((event, rows));
    }
    pattern
}
