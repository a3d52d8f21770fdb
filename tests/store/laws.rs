//! Everything that can be decided can be stored, and the tables are the fold of the events.

use std::sync::Mutex;

use interlock_core::workflow::{Workflow, load};
use interlock_store::audit;
use interlock_store::{SessionHead, Store};

use crate::driver::{ChoiceStream, SessionDriver};
use crate::{Backend, KEY, Written, builtin};

/// Sequences for each of six workflows, and commands in each.
const SEQUENCES: u64 = 60;
const COMMANDS: u64 = 90;

pub(crate) fn whatever_is_decided_can_be_stored_and_read_back(backend: &dyn Backend) {
    let odd = |file: &str, text: &str| load(file, text, &|_| None).workflow.unwrap();
    let workflows = [
        builtin("delivery-team"),
        builtin("feature"),
        builtin("integration"),
        builtin("mcp-wrapper"),
        odd("odd.yaml", include_str!("../../crates/core/tests/properties/odd.yaml")),
        odd("odd-phases.yaml", include_str!("../../crates/core/tests/properties/odd-phases.yaml")),
    ];
    let mut store = backend.make();
    store.unlock(&KEY).unwrap();
    let mut events = 0;
    for (index, workflow) in workflows.iter().enumerate() {
        let other = &workflows[(index + 1) % workflows.len()];
        events += (0..SEQUENCES).map(|seed| play(&mut *store, (workflow, other), seed)).sum::<u64>();
    }
    let sessions: Vec<SessionHead> = store.view().unwrap().sessions().unwrap();
    assert_eq!(u64::try_from(sessions.len()).unwrap(), SEQUENCES * 6);
    let again = Mutex::new(());
    let open = || {
        let _one = again.lock().unwrap();
        Ok(backend.again())
    };
    let report = audit::verify(&open, &KEY, &sessions, &[]).unwrap();
    assert_eq!(report.problems, []);
    assert_eq!(report.events, events);
    assert!(events > 10_000, "too little was decided to mean anything: {events}");
}

/// One sequence into one session, an event at a time, as the guards see it.
fn play(store: &mut dyn Store, (workflow, other): (&Workflow, &Workflow), seed: u64) -> u64 {
    let mut driver = SessionDriver::new(workflow, other);
    let mut dice = ChoiceStream::new(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let mut step = |driver: &mut SessionDriver<'_>| {
        let step = u64::try_from(dice.roll(1 << 30)).unwrap();
        driver.step(step.wrapping_mul(0x2545_f491_4f6c_dd1d));
    };
    while driver.history.is_empty() {
        step(&mut driver);
    }
    let mut tx = store.begin().unwrap();
    let id = format!("{}-{seed}", workflow.name);
    let mut written = Written::begin(&mut *tx, &id, workflow, driver.history[0].at);
    let mut stored = 0;
    for _ in 0..COMMANDS {
        step(&mut driver);
        for event in &driver.history[stored..] {
            if let Err(fault) = written.append(&mut *tx, event) {
                panic!("{} {seed}: {fault}\n{}", workflow.name, serde_json::to_string_pretty(event).unwrap());
            }
        }
        stored = driver.history.len();
    }
    let mut expected = driver.state;
    expected.drop_all_closed();
    assert_eq!(written.state, expected, "what is let go of when closed is all that was closed");
    tx.commit().unwrap();
    u64::try_from(stored).unwrap()
}
