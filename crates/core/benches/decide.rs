//! One decision: a report in mid-session of `delivery-team`, explanation included.
//!
//! Then the same reports in sessions that have grown: ten groups, ten thousand, and a
//! hundred thousand closed assignments on top. The ratios are to the smallest.
//!
//! `cargo bench -p interlock-core --bench decide [-- DECISIONS]`.
//!
//! Beside it the raw limit of the same run: what the decision must write down at
//! least (its event, cloned). Interleaved, five rounds, medians.

#![allow(
    clippy::disallowed_macros,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a benchmark measures"
)]

use std::collections::BTreeMap;
use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use interlock_core::command::{AddPlannedGroups, ClaimAssignment, Command, DecisionInputs, StartSession, SubmitReport};
use interlock_core::decide::{DecideOutcome, decide};
use interlock_core::event::{ClosureKind, Event, EventCause, StateChange};
use interlock_core::handoff::{ExpectedHandoff, Handoff, OrchestrationMode, PlannedGroup, check, extract};
use interlock_core::id::{AssignmentId, Digest, Name, Timestamp};
use interlock_core::state::State;
use interlock_core::workflow::{AssignmentTask, Workflow, load_builtin};

const ROUNDS: usize = 5;
const DECISIONS: usize = 400_000;
/// Short and many where it is the ratio that counts: whatever else runs then slows all alike.
const SLICES: usize = 51;
const GROWN: [(usize, u32); 3] = [(10, 0), (10_000, 0), (10_000, 100_000)];

struct BenchSession {
    workflow: Workflow,
    state: State,
}

impl BenchSession {
    fn apply(&mut self, command: &Command) -> Event {
        match decide(&self.workflow, &self.state, command, &DecisionInputs { now: Timestamp(1) }) {
            Ok(DecideOutcome::Decided(event)) => {
                self.state.apply(&event);
                *event
            }
            other => panic!("{command:?} gave {other:?}"),
        }
    }

    fn per_second(&self, times: usize, command: &Command) -> f64 {
        let inputs = DecisionInputs { now: Timestamp(2) };
        per_second(times, || drop(black_box(decide(&self.workflow, &self.state, command, &inputs))))
    }

    fn after(&self, command: &Command) -> (State, Event) {
        let mut session = BenchSession { workflow: self.workflow.clone(), state: self.state.clone() };
        let event = session.apply(command);
        (session.state, event)
    }

    fn claim(&mut self, role: &str, group: Option<&str>) -> AssignmentId {
        let group = group.map(Name::new);
        let open = self.state.open.iter().copied();
        let found = open
            .into_iter()
            .find(|id| self.state.assignments.get(id).is_some_and(|open| open.role == role && open.group == group));
        let assignment = found.unwrap_or_else(|| panic!("no assignment of {role} in {group:?}"));
        let token = Digest::of(b"token");
        self.apply(&Command::Claim(ClaimAssignment { assignment, token, prompt: None, lease_until: None, via: None }));
        assignment
    }

    fn handoff(&self, role: &str, status: &str, more: &str) -> Arc<Handoff> {
        let text = format!(
            r#"{{"agent":"{role}","output_type":"x","timestamp":"2026-01-18T15:42:00Z","feature_directory":"x",
            "skills_invoked":[],"status":"{status}","handoff":{{"next_agent":null,"context":"go on"}}{more}}}"#
        );
        let extracted = extract("handoff", text.as_bytes()).expect("it is JSON");
        let task = self.workflow.task_of(role, status);
        let expect = ExpectedHandoff {
            role: Some(role),
            phase: None,
            task,
            context: OrchestrationMode::Orchestrated,
            groups: &[],
        };
        let checked = check(Some(&self.workflow), &expect, &extracted);
        Arc::new(checked.handoff.unwrap_or_else(|| panic!("{:?}", checked.problems)))
    }

    fn report(&mut self, role: &str, group: Option<&str>, status: &str, more: &str) -> Event {
        let command = self.report_command(role, group, status, more);
        self.apply(&command)
    }

    fn report_command(&mut self, role: &str, group: Option<&str>, status: &str, more: &str) -> Command {
        let assignment = self.claim(role, group);
        let handoff = self.handoff(role, status, more);
        Command::Report(SubmitReport { assignment, token: Digest::of(b"token"), handoff, observed: None, via: None })
    }
}

/// A session in which `count` groups are planned: the last depends on all others.
fn planned(count: usize) -> BenchSession {
    let workflow = load_builtin("delivery-team").and_then(|loaded| loaded.workflow).expect("it loads");
    let mut session = BenchSession { workflow, state: State::default() };
    let (id, title) = (Name::new("s1"), Name::new("a session"));
    session.apply(&Command::Start(StartSession {
        session: id,
        title,
        settings: BTreeMap::new(),
        mission: None,
        investigation: false,
        by: None,
        dropped: Vec::new(),
        allow: None,
    }));
    let names: Vec<Name> = (1..=count).map(|n| Name::from(format!("G{n}"))).collect();
    let group = |(at, id): (usize, &Name)| PlannedGroup {
        id: id.clone(),
        title: id.clone(),
        flags: BTreeMap::new(),
        depends_on: if at + 1 == count { names[..at].to_vec() } else { Vec::new() },
        checks: Vec::new(),
    };
    let groups = names.iter().enumerate().map(group).collect();
    session.apply(&Command::Plan(AddPlannedGroups { groups, by: Name::new("ada") }));
    session
}

/// A session of so many groups and closed assignments, and what is asked of it: a first
/// report, a review with a finding, and the merge that completes a group and starts another.
fn grown((groups, closed): (usize, u32)) -> (BenchSession, [Command; 3]) {
    let mut session = planned(groups);
    for _ in 0..closed {
        let assignment = AssignmentId(session.state.last_assignment.0 + 1);
        let (role, phase, group) = (Name::new("project_manager"), None, None);
        let assigned =
            StateChange::Assigned { assignment, group, part: 0, phase, role, task: AssignmentTask::Work, attempt: 1 };
        let closed = StateChange::Closed { assignment, how: ClosureKind::Voided, digest: None, via: None };
        let cause = EventCause::Claimed { assignment, prompt: None, via: None };
        let changes = vec![assigned, closed];
        session.state.apply(&Event { at: Timestamp(1), cause, decision: None, changes, handoff: None });
    }
    for group in ["G2", "G3"] {
        session.report("developer", Some(group), "READY_FOR_QA", "");
        session.report("qa_expert", Some(group), "PASS", "");
    }
    session.report("tech_lead", Some("G3"), "APPROVED", "");
    let ready = session.report_command("developer", Some("G1"), "READY_FOR_QA", "");
    let issue =
        r#","issues":[{"id":"F1","title":"a finding","location":"src/a.rs:1","severity":"HIGH","blocking":true}]"#;
    let review = session.report_command("tech_lead", Some("G2"), "CHANGES_REQUESTED", issue);
    let merge = session.report_command("developer", Some("G3"), "MERGE_SUCCESS", "");
    (session, [ready, review, merge])
}

/// A review with findings, after some rounds of work on four groups.
fn mid_session() -> (BenchSession, Command) {
    let mut session = planned(8);
    for group in ["G1", "G2", "G3"] {
        session.report("developer", Some(group), "READY_FOR_QA", "");
        session.report("qa_expert", Some(group), "PASS", "");
    }
    let issues = |n: u32| {
        let list: Vec<String> = (0..n)
            .map(|i| {
                format!(
                    r#"{{"id":"F{i}","title":"finding {i}","location":"src/a.rs:{i}","severity":"HIGH","blocking":true}}"#
                )
            })
            .collect();
        format!(r#","issues":[{}]"#, list.join(","))
    };
    session.report("tech_lead", Some("G1"), "CHANGES_REQUESTED", &issues(3));
    session.report("developer", Some("G1"), "READY_FOR_REVIEW", "");
    let command = session.report_command("tech_lead", Some("G1"), "CHANGES_REQUESTED", &issues(2));
    (session, command)
}

fn main() {
    let argument = std::env::args().skip(1).find_map(|argument| argument.parse().ok());
    let decisions = argument.unwrap_or(DECISIONS);
    mid_session_beside_the_raw_limit(decisions);
    sessions_that_have_grown(decisions);
}

fn mid_session_beside_the_raw_limit(decisions: usize) {
    let (session, review) = mid_session();
    let mut other = mid_session().0;
    let ready = other.report_command("developer", Some("G4"), "READY_FOR_QA", "");
    let inputs = DecisionInputs { now: Timestamp(2) };
    let Ok(DecideOutcome::Decided(event)) = decide(&other.workflow, &other.state, &ready, &inputs) else {
        panic!("the report is accepted")
    };
    let mut columns: [Vec<f64>; 3] = Default::default();
    for _ in 0..ROUNDS {
        columns[0].push(other.per_second(decisions, &ready));
        columns[1].push(session.per_second(decisions, &review));
        columns[2].push(per_second(decisions, || drop(black_box(event.clone()))));
    }
    let [forward, review, raw] = columns.map(median);
    println!("decide, READY_FOR_QA:               {forward:>12.0} /s");
    println!("decide, CHANGES_REQUESTED, findings:{review:>12.0} /s");
    println!("the event alone, cloned:            {raw:>12.0} /s");
    println!("ratio of the first to the raw limit:{:>12.2}", forward / raw);
}

fn sessions_that_have_grown(decisions: usize) {
    let sessions = GROWN.map(grown);
    let whats = ["READY_FOR_QA", "CHANGES_REQUESTED", "MERGE_SUCCESS"];
    for (at, what) in whats.iter().enumerate() {
        let mut deciding: [Vec<f64>; GROWN.len()] = Default::default();
        let mut applying: [Vec<f64>; GROWN.len()] = Default::default();
        for _ in 0..SLICES {
            for (nth, (session, commands)) in sessions.iter().enumerate() {
                deciding[nth].push(session.per_second(decisions / SLICES, &commands[at]));
            }
        }
        // The same event again and again: each time it closes and opens the same things.
        let mut states: Vec<(State, Event)> =
            sessions.iter().map(|(session, commands)| session.after(&commands[at])).collect();
        for _ in 0..SLICES {
            for (nth, (state, event)) in states.iter_mut().enumerate() {
                applying[nth].push(per_second(decisions / SLICES, || state.apply(black_box(event))));
            }
        }
        let (deciding, applying) = (deciding.map(median), applying.map(median));
        for (nth, (groups, closed)) in GROWN.iter().enumerate() {
            println!(
                "{what}, {groups} groups, {closed} closed: decide {:>9.0} /s ({:.2}), apply {:>9.0} /s ({:.2})",
                deciding[nth],
                deciding[0] / deciding[nth],
                applying[nth],
                applying[0] / applying[nth]
            );
        }
    }
}

fn per_second(times: usize, mut run: impl FnMut()) -> f64 {
    let start = Instant::now();
    (0..times).for_each(|_| run());
    times as f64 / start.elapsed().as_secs_f64()
}

fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers[numbers.len() / 2]
}
