//! A session moves to another workflow only if that has a place for everything in it.

#![allow(clippy::disallowed_macros, clippy::disallowed_methods, reason = "tests and benchmarks are not the core")]

use std::collections::BTreeMap;
use std::sync::Arc;

use interlock_core::code::Code;
use interlock_core::command::{
    CancelSessionByPerson, ClaimAssignment, Command, DecisionInputs, StartSession, SubmitReport, UpgradeWorkflow,
};
use interlock_core::decide::{DecideOutcome, decide};
use interlock_core::event::{EventCause, StateChange};
use interlock_core::handoff::{self, ExpectedHandoff, OrchestrationMode};
use interlock_core::id::{AssignmentId, Digest, Name, Timestamp};
use interlock_core::rejection::Rejection;
use interlock_core::state::State;
use interlock_core::workflow::{Workflow, builtin, load};

struct UpgradeScenario {
    workflow: Arc<Workflow>,
    state: State,
}

fn edited(edit: impl Fn(&str) -> String) -> Arc<Workflow> {
    let text = edit(builtin("delivery-team").unwrap().text);
    let loaded = load("interlock.yaml", &text, &|_| None);
    Arc::new(loaded.workflow.unwrap_or_else(|| panic!("{:#?}", loaded.problems)))
}

impl UpgradeScenario {
    fn new() -> Self {
        let mut play = Self { workflow: edited(str::to_owned), state: State::default() };
        let (session, title) = (Name::new("s"), Name::new("t"));
        let settings = BTreeMap::from([(Name::new("testing"), Name::new("full"))]);
        play.take(&Command::Start(StartSession {
            session,
            title,
            settings,
            mission: None,
            investigation: false,
            by: None,
            dropped: Vec::new(),
            allow: None,
        }))
        .unwrap();
        play.report("project_manager", "PLANNING_COMPLETE", r#","groups":[{"id":"A","title":"a"}]"#);
        play
    }

    fn take(&mut self, command: &Command) -> Result<(), Rejection> {
        let workflow = self.workflow.clone();
        self.take_with(&workflow, command)
    }

    fn take_with(&mut self, workflow: &Workflow, command: &Command) -> Result<(), Rejection> {
        let outcome = decide(workflow, &self.state, command, &DecisionInputs { now: Timestamp(1) })?;
        let DecideOutcome::Decided(event) = outcome else { panic!("decided before") };
        self.state.apply(&event);
        Ok(())
    }

    fn report(&mut self, role: &str, status: &str, extra: &str) {
        let id = *self.state.open.iter().find(|id| self.state.assignments[id].role == role).unwrap();
        let task = self.state.assignments[&id].task;
        let token = Digest::of(b"token");
        self.take(&Command::Claim(ClaimAssignment {
            assignment: id,
            token,
            prompt: None,
            lease_until: None,
            via: None,
        }))
        .unwrap();
        let text = format!(
            r#"{{"agent":"{role}","output_type":"x","timestamp":"2026-01-01T00:00:00Z","feature_directory":"f",
                "skills_invoked":[],"status":"{status}","handoff":{{"next_agent":null,"context":"c"}}{extra}}}"#
        );
        let extracted = handoff::extract("h.json", text.as_bytes()).unwrap();
        let expect = ExpectedHandoff {
            role: Some(role),
            phase: None,
            task,
            context: OrchestrationMode::Orchestrated,
            groups: &[],
        };
        let checked = handoff::check(Some(&self.workflow), &expect, &extracted);
        let handoff = Arc::new(checked.handoff.unwrap_or_else(|| panic!("{:#?}", checked.problems)));
        self.take(&Command::Report(SubmitReport { assignment: id, token, handoff, observed: None, via: None }))
            .unwrap();
    }

    fn upgrade(&mut self, to: &Arc<Workflow>) -> Result<(), Rejection> {
        let upgrade = UpgradeWorkflow { from: self.workflow.clone(), weaker: true, by: Name::new("ada") };
        self.take_with(to, &Command::Upgrade(upgrade))?;
        self.workflow = to.clone();
        Ok(())
    }

    /// The conflicts with the new workflow.
    fn misfits(&mut self, to: &Arc<Workflow>) -> Vec<String> {
        let before = self.state.clone();
        let rejection = self.upgrade(to).unwrap_err();
        assert_eq!(rejection.code, Code::UpgradeImpossible);
        assert_eq!(self.state, before, "nothing changes");
        rejection.problems.into_iter().map(|problem| problem.message).collect()
    }
}

#[test]
fn a_session_goes_on_under_the_new_workflow() {
    let mut play = UpgradeScenario::new();
    play.report("developer", "READY_FOR_QA", "");
    let new = edited(|text| {
        text.replace(
            "PASS:                       { spawn: tech_lead,",
            "PASS:                       { spawn: senior_software_engineer,",
        )
        .replace(
            "qa_expert, status: PASS, expect: { spawn: tech_lead }",
            "qa_expert, status: PASS, expect: { spawn: senior_software_engineer }",
        )
    });
    play.upgrade(&new).unwrap();
    assert_eq!(play.state.session.as_ref().unwrap().workflow_hash, new.hash);
    play.report("qa_expert", "PASS", "");
    assert_eq!(play.state.assignments[&AssignmentId(4)].role, "senior_software_engineer");
}

#[test]
fn the_event_says_from_what_to_what_and_who() {
    let play = UpgradeScenario::new();
    let new = edited(|text| text.replace("at_most: 4", "at_most: 3"));
    let upgrade =
        Command::Upgrade(UpgradeWorkflow { from: play.workflow.clone(), weaker: false, by: Name::new("ada") });
    let DecideOutcome::Decided(event) =
        decide(&new, &play.state, &upgrade, &DecisionInputs { now: Timestamp(9) }).unwrap()
    else {
        panic!("decided before")
    };
    let expected = EventCause::Upgraded {
        workflow: Name::new("delivery-team"),
        workflow_hash: new.hash,
        from: play.workflow.hash,
        by: Name::new("ada"),
        dropped: Vec::new(),
    };
    assert_eq!(event.cause, expected);
    let spares = |change: &StateChange| matches!(change, StateChange::NeedSpared { .. });
    assert!(event.decision.is_none() && event.changes.iter().all(spares), "{:?}", event.changes);
}

#[test]
fn a_role_at_work_must_still_be_there_and_have_something_to_report() {
    let mut play = UpgradeScenario::new();
    let new = edited(|text| text.replace("qa_expert", "tester").replace("investigator", "detective"));
    play.upgrade(&new).unwrap();
    let mut play = UpgradeScenario::new();
    play.report("developer", "READY_FOR_QA", "");
    assert_eq!(play.misfits(&new), ["a3 is open for qa_expert, which could report nothing"]);
}

#[test]
fn a_setting_that_was_given_must_still_be_there() {
    let mut play = UpgradeScenario::new();
    let new = edited(|text| {
        text.replace("testing: [full, minimal, disabled]", "testing: [thorough, minimal, disabled]")
            .replace("testing: full", "testing: thorough")
    });
    let misfits = play.misfits(&new);
    assert_eq!(misfits, ["`testing` cannot be `full` any more, as it is in the session"]);
}

#[test]
fn a_loop_that_was_counted_must_still_be_there() {
    let mut play = UpgradeScenario::new();
    let new =
        edited(|text| text.replace("loop: managing", "loop: steering").replace("  managing: 10", "  steering: 10"));
    let misfits = play.misfits(&new);
    assert_eq!(misfits, ["there is no loop `managing` any more, and it has been counted"]);
}

#[test]
fn what_is_completed_must_be_enough_for_the_new_workflow() {
    let mut play = UpgradeScenario::new();
    for (role, status) in [
        ("developer", "READY_FOR_QA"),
        ("qa_expert", "PASS"),
        ("tech_lead", "APPROVED"),
        ("developer", "MERGE_SUCCESS"),
    ] {
        play.report(role, status, "");
    }
    let stricter = edited(|text| {
        text.replace("needs: [merge, { any_of: [review, acceptance] },", "needs: [merge, review, acceptance,")
    });
    assert_eq!(play.misfits(&stricter), ["A is completed, and the new workflow needs acceptance of it"]);
}

#[test]
fn the_same_workflow_and_an_ended_session_are_refused() {
    let mut play = UpgradeScenario::new();
    let same = play.workflow.clone();
    assert_eq!(play.upgrade(&same).unwrap_err().code, Code::UpgradeImpossible);
    play.take(&Command::Cancel(CancelSessionByPerson { by: Name::new("ada") })).unwrap();
    let new = edited(|text| text.replace("at_most: 4", "at_most: 3"));
    assert_eq!(play.upgrade(&new).unwrap_err().code, Code::SessionEnded);
}
