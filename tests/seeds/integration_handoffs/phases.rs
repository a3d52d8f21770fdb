//! From phase to phase, with the handoffs of the document, to the end.

use serde_json::{Value as Json, json};

use super::INTEGRATION;
use crate::each;
use crate::program::{completed, example, orchestrated, route};
use crate::session::{Play, follows};

fn handoff(name: &str) -> Json {
    example(&format!("integration-agent-handoffs/{name}"))
}

/// The P0 check runs.
fn at_p0() -> Play {
    let mut play = Play::start(INTEGRATION);
    play.report("integration-lead", handoff("phase-3-to-4"));
    let decision = play.report("integration-developer", handoff("phase-4-to-4.5"));
    assert_eq!(decision.gate.expect("a gate").gate, "p0");
    play
}

fn in_review() -> Play {
    let mut play = at_p0();
    play.gate(true, "no violations");
    play
}

fn valid_in(name: &str, role: &str, phase: &str) {
    orchestrated(INTEGRATION, role).phase(phase).check(&completed(role, handoff(name))).valid();
}

each! { valid_in:
    phase_3_to_4_handoff_is_valid("phase-3-to-4", "integration-lead", "architecture");
    phase_4_to_4_5_handoff_is_valid("phase-4-to-4.5", "integration-developer", "implementation");
    phase_5_to_6_handoff_is_valid("phase-5-to-6", "backend-reviewer", "review");
}

#[test]
fn phase_3_to_4_spawns_the_developer_with_the_context() {
    let mut play = Play::start(INTEGRATION);
    let decision = play.report("integration-lead", handoff("phase-3-to-4"));
    follows(&decision, "spawn", &["integration-developer"]);
    assert!(decision.context.iter().any(|field| *field == "handoff.context"));
    assert!(!decision.absent.iter().any(|field| *field == "handoff.context"));
}

#[test]
fn phase_4_to_4_5_runs_a_command_and_no_agent() {
    let mut play = Play::start(INTEGRATION);
    play.report("integration-lead", handoff("phase-3-to-4"));
    follows(&play.report("integration-developer", handoff("phase-4-to-4.5")), "gate", &[]);
    assert!(play.open().is_empty(), "nobody is assigned while the gate runs");
    let decision = route(INTEGRATION, "integration-developer", "complete", &[]).goes("gate", &[]);
    assert_eq!(decision["gate"], "p0");
}

#[test]
fn phase_4_5_without_violations_goes_on_to_the_review() {
    follows(&at_p0().gate(true, "no violations"), "spawn", &["backend-reviewer"]);
}

#[test]
fn phase_4_5_with_violations_is_a_human_checkpoint() {
    let mut play = at_p0();
    let decision = play.gate(false, "VMFilter is not initialized");
    follows(&decision, "ask", &[]);
    let put = decision.question.expect("a question");
    assert_eq!(put.text, "The P0 compliance check failed: VMFilter is not initialized");
    assert_eq!(put.options, ["fix", "stop", "waive"]);
    assert_eq!(play.status("main"), "awaiting_person");
    follows(&play.choose("fix"), "respawn", &["integration-developer"]);
}

#[test]
fn phase_5_to_6_spawns_the_test_lead_with_the_context() {
    let mut play = in_review();
    let decision = play.report("backend-reviewer", handoff("phase-5-to-6"));
    follows(&decision, "spawn", &["test-lead"]);
    assert!(decision.context.iter().any(|field| *field == "handoff.context"));
}

#[test]
fn phases_lead_to_a_completed_integration() {
    let mut play = in_review();
    play.report("backend-reviewer", handoff("phase-5-to-6"));
    follows(&play.report("test-lead", json!({ "status": "complete" })), "spawn", &["backend-tester"]);
    follows(&play.report("backend-tester", json!({ "status": "complete" })), "merge", &["integration-developer"]);
    follows(&play.report("integration-developer", json!({ "status": "MERGE_SUCCESS" })), "end", &[]);
    assert_eq!((play.status("main"), play.state.status.name()), ("completed", "completed"));
}
