//! One decision: a report in mid-session of `delivery-team`, explanation included.
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

use interlock_core::command::{Claim, Command, Inputs, Report, Start};
use interlock_core::decide::{Outcome, decide};
use interlock_core::event::Event;
use interlock_core::handoff::{Context, Expect, Handoff, check, extract};
use interlock_core::id::{AssignmentId, Digest, Name, Timestamp};
use interlock_core::state::State;
use interlock_core::workflow::{Task, Workflow, load_builtin};

const ROUNDS: usize = 5;
const DECISIONS: usize = 400_000;

struct Session {
    workflow: Workflow,
    state: State,
}

impl Session {
    fn apply(&mut self, command: &Command) -> Event {
        match decide(&self.workflow, &self.state, command, &Inputs { now: Timestamp(1) }) {
            Ok(Outcome::Decided(event)) => {
                self.state.apply(&event);
                *event
            }
            other => panic!("{command:?} gave {other:?}"),
        }
    }

    fn claim(&mut self, role: &str, group: Option<&str>) -> AssignmentId {
        let group = group.map(Name::new);
        let open = self.state.open.iter().copied();
        let found = open
            .into_iter()
            .find(|id| self.state.assignments.get(id).is_some_and(|open| open.role == role && open.group == group));
        let assignment = found.unwrap_or_else(|| panic!("no assignment of {role} in {group:?}"));
        let token = Digest::of(b"token");
        self.apply(&Command::Claim(Claim { assignment, token, prompt: None, lease_until: None }));
        assignment
    }

    fn handoff(&self, role: &str, status: &str, more: &str) -> Arc<Handoff> {
        let text = format!(
            r#"{{"agent":"{role}","output_type":"x","timestamp":"2026-01-18T15:42:00Z","feature_directory":"x",
            "skills_invoked":[],"status":"{status}","handoff":{{"next_agent":null,"context":"go on"}}{more}}}"#
        );
        let extracted = extract("handoff", text.as_bytes()).expect("it is JSON");
        let expect =
            Expect { role: Some(role), phase: None, task: Task::Work, context: Context::Orchestrated, groups: &[] };
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
        Command::Report(Report { assignment, token: Digest::of(b"token"), handoff })
    }
}

/// A review with findings, after some rounds of work on four groups.
fn mid_session() -> (Session, Command) {
    let workflow = load_builtin("delivery-team").and_then(|loaded| loaded.workflow).expect("it loads");
    let mut session = Session { workflow, state: State::default() };
    let (id, title) = (Name::new("s1"), Name::new("a session"));
    session.apply(&Command::Start(Start { session: id, title, settings: BTreeMap::new(), mission: None }));
    let groups: Vec<String> = (1..=8).map(|n| format!(r#"{{"id":"G{n}","title":"group {n}"}}"#)).collect();
    let plan = format!(r#","groups":[{}]"#, groups.join(","));
    session.report("project_manager", None, "PLANNING_COMPLETE", &plan);
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
    let (session, review) = mid_session();
    let mut other = mid_session().0;
    let ready = other.report_command("developer", Some("G4"), "READY_FOR_QA", "");
    let inputs = Inputs { now: Timestamp(2) };
    let Ok(Outcome::Decided(event)) = decide(&other.workflow, &other.state, &ready, &inputs) else {
        panic!("the report is accepted")
    };
    let mut columns: [Vec<f64>; 3] = Default::default();
    for _ in 0..ROUNDS {
        columns[0].push(per_second(|| drop(black_box(decide(&other.workflow, &other.state, &ready, &inputs)))));
        columns[1].push(per_second(|| drop(black_box(decide(&session.workflow, &session.state, &review, &inputs)))));
        columns[2].push(per_second(|| drop(black_box(event.clone()))));
    }
    let [forward, review, raw] = columns.map(median);
    println!("decide, READY_FOR_QA:               {forward:>12.0} /s");
    println!("decide, CHANGES_REQUESTED, findings:{review:>12.0} /s");
    println!("the event alone, cloned:            {raw:>12.0} /s");
    println!("ratio of the first to the raw limit:{:>12.2}", forward / raw);
}

fn per_second(mut run: impl FnMut()) -> f64 {
    let start = Instant::now();
    (0..DECISIONS).for_each(|_| run());
    DECISIONS as f64 / start.elapsed().as_secs_f64()
}

fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers[numbers.len() / 2]
}
