//! The laws of deciding, over generated sequences of commands.

#![allow(clippy::disallowed_macros, clippy::disallowed_methods, reason = "tests and benchmarks are not the core")]

mod driver;
mod laws;
mod routes;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use interlock_core::code::Code;
use interlock_core::decide::DecideOutcome;
use interlock_core::event::{Event, EventCause};
use interlock_core::state::State;
use interlock_core::workflow::{Workflow, load, load_builtin};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use driver::SessionDriver;
use laws::{Laws, STATES};

/// Every law holds over at least 10,000 sequences. Those that only the first workflow can break, for only it has all of an
/// approval, an acceptance and a merge, are shown on it alone; the others, on all together.
const SEQUENCES: [(&str, u32); 7] = [
    ("delivery-team", 10_000),
    ("odd", 4_000),
    ("feature", 2_000),
    ("odd-phases", 2_000),
    ("last-per-session", 2_000),
    ("mcp-wrapper", 2_000),
    ("integration", 2_000),
];
const COMMANDS: std::ops::Range<usize> = 50..90;

/// The events and states that the sequences reached.
#[derive(Default)]
struct Coverage {
    causes: BTreeMap<&'static str, u64>,
    changes: BTreeMap<String, u64>,
    actions: BTreeMap<&'static str, u64>,
    refusals: BTreeMap<Code, u64>,
    reasons: BTreeMap<String, u64>,
    states: BTreeMap<&'static str, u64>,
    completed: u64,
    repeats: u64,
    sequences: u64,
}

fn workflow(name: &str) -> Workflow {
    let loaded = match name {
        "odd" => load("odd.yaml", include_str!("odd.yaml"), &|_| None),
        "odd-phases" => load("odd-phases.yaml", include_str!("odd-phases.yaml"), &|_| None),
        "last-per-session" => load("last-per-session.yaml", include_str!("last-per-session.yaml"), &|_| None),
        builtin => load_builtin(builtin).unwrap(),
    };
    loaded.workflow.unwrap_or_else(|| panic!("{:#?}", loaded.problems))
}

fn play(workflow: &Workflow, other: &Workflow, seeds: &[u64], coverage: &mut Coverage) {
    let mut driver = SessionDriver::new(workflow, other);
    let mut laws = Laws::default();
    for seed in seeds {
        let step = driver.step(*seed);
        if std::env::var_os("TRACE").is_some() {
            trace(&step.result);
        }
        laws.hold(workflow, &step, &driver.state);
        routes::route_agrees(workflow, &step);
        coverage.take(&step.result);
    }
    let mut replayed = State::default();
    for event in &driver.history {
        let stored = serde_json::to_string(event).unwrap();
        let mut read: Event = serde_json::from_str(&stored).unwrap();
        read.handoff.clone_from(&event.handoff);
        assert_eq!(read, *event, "an event must survive being stored");
        replayed.apply(&read);
    }
    assert_eq!(replayed, driver.state, "replay must equal live");
    coverage.states.append(&mut laws.reached);
    coverage.completed += u64::from(driver.state.status == interlock_core::state::SessionStatus::Completed);
}

/// One line a step, to read a failing sequence by: `TRACE=1 cargo test --test properties -- --nocapture`.
fn trace(result: &Result<DecideOutcome, interlock_core::rejection::Rejection>) {
    match result {
        Err(rejection) => println!("  refused {}", rejection.code),
        Ok(DecideOutcome::Repeated(decision)) => println!("  repeated {decision}"),
        Ok(DecideOutcome::Decided(event)) => {
            let decision = event.decision.as_ref();
            let rule = decision.map_or("", |decision| decision.rule.as_str());
            let next: Vec<&str> = decision.iter().flat_map(|d| &d.next).map(|next| next.role.as_str()).collect();
            println!("  {} by {rule}, next {next:?}", event.cause.kind());
        }
    }
}

impl Coverage {
    fn add(&mut self, other: Self) {
        fn add<K: Ord>(to: &mut BTreeMap<K, u64>, more: BTreeMap<K, u64>) {
            more.into_iter().for_each(|(key, count)| *to.entry(key).or_default() += count);
        }
        add(&mut self.causes, other.causes);
        add(&mut self.changes, other.changes);
        add(&mut self.actions, other.actions);
        add(&mut self.refusals, other.refusals);
        add(&mut self.reasons, other.reasons);
        add(&mut self.states, other.states);
        self.completed += other.completed;
        self.repeats += other.repeats;
        self.sequences += 1.max(other.sequences);
    }

    fn take(&mut self, result: &Result<DecideOutcome, interlock_core::rejection::Rejection>) {
        match result {
            Err(rejection) => *self.refusals.entry(rejection.code).or_default() += 1,
            Ok(DecideOutcome::Repeated(_)) => self.repeats += 1,
            Ok(DecideOutcome::Decided(event)) => {
                *self.causes.entry(event.cause.kind()).or_default() += 1;
                for change in &event.changes {
                    let json = serde_json::to_value(change).unwrap();
                    let kind = json.as_object().and_then(|kind| kind.keys().next()).unwrap();
                    *self.changes.entry(kind.clone()).or_default() += 1;
                }
                if let Some(decision) = &event.decision {
                    *self.actions.entry(decision.action.name()).or_default() += 1;
                    for reason in decision.judgement.iter().flat_map(|judgement| &judgement.reasons) {
                        *self.reasons.entry(reason.code.to_string()).or_default() += 1;
                    }
                }
            }
        }
    }
}

/// Every refusal that deciding can give.
const REFUSALS: &[Code] = &[
    Code::StatusReturned,
    Code::NoSession,
    Code::SessionExists,
    Code::SessionEnded,
    Code::NoAssignment,
    Code::AssignmentClosed,
    Code::WrongToken,
    Code::NotClaimed,
    Code::ReportDiffers,
    Code::NotNow,
    Code::NoSuchStatus,
    Code::StillOpen,
    Code::NoRole,
    Code::RoleBusy,
    Code::NoGroup,
    Code::GroupEnded,
    Code::NoQuestion,
    Code::QuestionClosed,
    Code::NoOption,
    Code::NoGateRun,
    Code::NotDeferred,
    Code::AlreadyAcknowledged,
    Code::LeaseHolds,
    Code::CompletionRejected,
    Code::OverrideImpossible,
    Code::HandoffOfAnother,
    Code::BadSetting,
    Code::PlanRefused,
    Code::NotForPeople,
    Code::NotAMerge,
    Code::WorkflowMismatch,
    Code::NotWatched,
    Code::NothingChanged,
    Code::ChangesPresent,
    Code::Late,
    Code::NoValidPath,
    Code::GateWithoutTree,
    Code::FieldMissing,
    Code::EvidenceFailed,
    Code::WaiverImpossible,
    Code::NotAwaitingConfirmation,
    Code::RequirementDropped,
];

const REASONS: &[&str] =
    &["E0340", "E0341", "E0342", "E0343", "E0344", "E0345", "E0346", "E0347", "E0348", "E0354", "E0365"];

#[test]
fn the_laws_hold_over_generated_sequences_that_reach_everything() {
    let workflows = SEQUENCES.map(|(name, sequences)| (workflow(name), sequences));
    let mut coverage = Coverage::default();
    std::thread::scope(|scope| {
        let playing: Vec<_> = (0..workflows.len())
            .map(|index| {
                let (workflow, sequences) = &workflows[index];
                let (other, _) = &workflows[(index + 1) % workflows.len()];
                scope.spawn(move || reached(workflow, other, *sequences))
            })
            .collect();
        for reached in playing {
            coverage.add(reached.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
    });
    show(&coverage);
    everything_was_reached(&coverage);
}

/// Plays that many sequences, always the same ones.
fn reached(workflow: &Workflow, other: &Workflow, sequences: u32) -> Coverage {
    let coverage = RefCell::new(Coverage::default());
    let config = Config { cases: sequences, failure_persistence: None, ..Config::default() };
    let rng = proptest::test_runner::TestRng::deterministic_rng(config.rng_algorithm);
    let mut runner = TestRunner::new_with_rng(config, rng);
    let result = runner.run(&prop::collection::vec(any::<u64>(), COMMANDS), |seeds| {
        let mut of_this = Coverage::default();
        play(workflow, other, &seeds, &mut of_this);
        coverage.borrow_mut().add(of_this);
        Ok(())
    });
    if let Err(error) = result {
        panic!("{}: {error}", workflow.name);
    }
    coverage.into_inner()
}

fn show(coverage: &Coverage) {
    println!("sequences: {}, sessions completed: {}", coverage.sequences, coverage.completed);
    println!("events: {:?}", coverage.causes);
    println!("changes: {:?}", coverage.changes);
    println!("actions: {:?}", coverage.actions);
    println!("refusals: {:?}", coverage.refusals);
    println!("reasons against completion: {:?}", coverage.reasons);
    println!("states that laws are about: {:#?}", coverage.states);
    println!("repeats: {}", coverage.repeats);
}

fn everything_was_reached(coverage: &Coverage) {
    // The caller that keeps the event log records refusals as events. An upgrade takes a second workflow
    // (`tests/upgrade.rs`).
    for kind in EventCause::KINDS.iter().filter(|kind| !matches!(**kind, "refused" | "upgraded")) {
        assert!(coverage.causes.contains_key(kind), "no sequence reached the event {kind}");
    }
    let missed: Vec<_> = REFUSALS.iter().filter(|code| !coverage.refusals.contains_key(code)).collect();
    assert!(missed.is_empty(), "no sequence was refused with {missed:?}");
    let unlisted: Vec<_> = coverage.refusals.keys().filter(|code| !REFUSALS.contains(code)).collect();
    assert!(unlisted.is_empty(), "refusals that the list above does not have: {unlisted:?}");
    let missed: Vec<_> = REASONS.iter().filter(|code| !coverage.reasons.contains_key(**code)).collect();
    assert!(missed.is_empty(), "no completion was rejected for {missed:?}");
    let is_rare = |(state, least): &&(&str, u64)| coverage.states.get(state).is_none_or(|count| count < least);
    let rare: Vec<_> = STATES.iter().filter(is_rare).collect();
    assert!(rare.is_empty(), "too few sequences reached {rare:?}: {:?}", coverage.states);
    let actions: BTreeSet<_> = coverage.actions.keys().copied().collect();
    assert_eq!(actions.len(), 10, "actions reached: {actions:?}");
    assert_eq!(coverage.changes.len(), 45, "kinds of change reached: {:?}", coverage.changes.keys());
    assert!(coverage.repeats > 0 && coverage.completed > 0);
}
