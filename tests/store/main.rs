//! What every store must hold to. The suite speaks to the traits; a backend is a way to make an empty store.

mod desk;
#[path = "../../crates/core/tests/properties/driver.rs"]
#[allow(dead_code, reason = "shared with the tests of the core")]
mod driver;
mod keeping;
mod laws;
mod sqlite;

use interlock_core::event::Event;
use interlock_core::id::{Name, Timestamp};
use interlock_core::state::State;
use interlock_core::workflow::{Workflow, load};
use interlock_store::chain::{BEGINNING, ChainKey, Seal, SealedContent, hash_attachment};
use interlock_store::rows::project_event;
use interlock_store::{EventAppend, PinnedSources, Store, StoreResult, StoreTransaction};

/// The key that all stores of the suite have.
const KEY: ChainKey = ChainKey::new([7; 32]);

/// A backend under test: makes an empty store, and opens it again.
trait Backend: Sync {
    fn make(&self) -> Box<dyn Store>;
    fn again(&self) -> Box<dyn Store>;
}

/// A session that is being written.
struct Written {
    key: i64,
    id: String,
    state: State,
    head: Seal,
}

impl Written {
    fn begin(tx: &mut dyn StoreTransaction, id: &str, workflow: &Workflow, at: Timestamp) -> Self {
        let pinned = PinnedSources { name: workflow.name.clone(), sources: sources(workflow) };
        tx.pin_workflow(workflow.hash, &pinned, &workflow.requirements()).unwrap();
        let key = tx.begin_session(id, at).unwrap();
        Self { key, id: id.to_owned(), state: State::default(), head: BEGINNING }
    }

    /// Appends an event as the engine does.
    fn append(&mut self, tx: &mut dyn StoreTransaction, event: &Event) -> StoreResult<()> {
        self.state.apply(event);
        let data = serde_json::to_string(event).unwrap();
        let decision = event.decision.as_ref().map(|decision| decision.id.0);
        let attachment = event.handoff.as_ref().map(ToString::to_string);
        let hash_of_given = attachment.as_ref().map(|body| hash_attachment(body.as_bytes()));
        let written = project_event(event, &self.state);
        let (seq, kind, at) = (self.state.seq, event.cause.kind(), event.at);
        let sealed = SealedContent {
            session: &self.id,
            seq,
            kind,
            at,
            decision,
            data: &data,
            says: &written.says,
            given: hash_of_given,
        };
        let hash = KEY.event(&sealed, &self.head);
        self.state.drop_closed(event);
        let append = EventAppend {
            session: self.key,
            seq,
            kind,
            at,
            decision,
            data,
            given: hash_of_given,
            prev: self.head,
            hash,
            attachment,
            prompt: None,
            rows: written,
        };
        tx.append(&append)?;
        self.head = hash;
        Ok(())
    }
}

fn builtin(name: &str) -> Workflow {
    interlock_core::workflow::load_builtin(name).unwrap().workflow.unwrap()
}

/// Every file that a workflow of these tests was read from.
fn sources(workflow: &Workflow) -> Vec<(String, String)> {
    let odd = |file: &str, text: &str| load(file, text, &|_| None).sources;
    match workflow.name.as_str() {
        "odd" => odd("odd.yaml", include_str!("../../crates/core/tests/properties/odd.yaml")),
        "odd-phases" => odd("odd-phases.yaml", include_str!("../../crates/core/tests/properties/odd-phases.yaml")),
        shipped => interlock_core::workflow::load_builtin(shipped).unwrap().sources,
    }
}

fn name(text: &str) -> Name {
    Name::new(text)
}
