//! "Integration agent handoffs": the metadata block, the four statuses, the routing table, skills and phases.

mod fields;
mod phases;
mod skills;

use serde_json::{Value as Json, json};

use crate::each;
use crate::program::{completed, completed_example, merged, orchestrated, route, route_blocked};
use crate::session::{Play, follows, warns};

pub(crate) const INTEGRATION: &str = "integration";

/// The fragment, with the other fields that the architecture phase requires.
pub(crate) fn architecture(fragment: Json) -> Json {
    merged(json!({ "source_files_verified": ["wiz/wiz.go:1-300"] }), fragment)
}

/// An integration whose architecture is done.
pub(crate) fn in_implementation() -> Play {
    let mut play = Play::start(INTEGRATION);
    play.report("integration-lead", architecture(json!({ "status": "complete" })));
    play
}

// ---- Key principles, and the block at the end of the output ------------------------------

#[test]
fn structure_the_whole_block_is_a_valid_handoff() {
    let handoff = crate::program::example("integration-agent-handoffs/structure");
    let checked = orchestrated(INTEGRATION, "integration-lead").phase("architecture").check(&handoff).valid();
    assert_eq!(checked["status"], "complete");
    assert_eq!(checked["handoff"], handoff, "everything that was given in is kept");
    assert_eq!(checked["warnings"], json!([]), "every mandatory skill was invoked");
}

#[test]
fn structure_the_block_stands_at_the_end_of_the_output() {
    let handoff = crate::program::example("integration-agent-handoffs/structure");
    let output = format!(
        "# Architecture\n\nThe response looks like this:\n\n```json\n{{ \"total\": 3 }}\n```\n\n## Metadata\n\n```json\n{handoff:#}\n```\n"
    );
    let checked = orchestrated(INTEGRATION, "integration-lead").phase("architecture").check_text(&output).valid();
    assert_eq!(checked["handoff"], handoff);
}

#[test]
fn principle_prose_is_no_handoff() {
    let output = "# Architecture\n\nStatus: complete. Next agent: integration-developer.\n";
    let run = orchestrated(INTEGRATION, "integration-lead").check_text(output);
    run.invalid_with("E0201");
}

// ---- Status: complete --------------------------------------------------------------------

fn complete() -> Json {
    architecture(crate::program::example("integration-agent-handoffs/status-complete"))
}

#[test]
fn complete_example_is_valid() {
    let handoff = completed("integration-lead", complete());
    orchestrated(INTEGRATION, "integration-lead").phase("architecture").check(&handoff).valid();
}

#[test]
fn complete_1_the_phase_is_marked_complete() {
    let mut play = Play::start(INTEGRATION);
    play.report("integration-lead", complete());
    let part = &play.group("main").lane.parts[0];
    assert_eq!(part.phase.as_deref(), Some("implementation"));
}

#[test]
fn complete_2_the_recommendation_is_compared() {
    let mut play = Play::start(INTEGRATION);
    let decision = play.report("integration-lead", complete());
    assert!(decision.warnings.is_empty(), "{:?}", decision.warnings);
    let mut play = Play::start(INTEGRATION);
    let other = merged(complete(), json!({ "handoff": { "next_agent": "backend-tester" } }));
    let decision = play.report("integration-lead", other);
    follows(&decision, "spawn", &["integration-developer"]);
    warns(&decision, "the agent suggested backend-tester; the workflow decides: integration-developer");
}

#[test]
fn complete_3_the_next_phases_agent_is_spawned() {
    route(INTEGRATION, "integration-lead", "complete", &[]).goes("spawn", &["integration-developer"]);
    let mut play = Play::start(INTEGRATION);
    follows(&play.report("integration-lead", complete()), "spawn", &["integration-developer"]);
}

// ---- Status: blocked ---------------------------------------------------------------------

#[test]
fn blocked_example_is_valid() {
    let handoff = completed_example("integration-agent-handoffs/status-blocked", "integration-developer");
    orchestrated(INTEGRATION, "integration-developer").phase("implementation").check(&handoff).valid();
}

#[test]
fn blocked_1_and_2_the_reason_is_looked_up_in_the_table() {
    let mut play = in_implementation();
    let blocked = crate::program::example("integration-agent-handoffs/status-blocked");
    let decision = play.report("integration-developer", blocked);
    follows(&decision, "spawn", &["backend-security"]);
    assert_eq!(decision.rule, "blocked.security_concern.backend");
}

#[test]
fn blocked_3_without_a_match_a_person_is_asked() {
    route_blocked(INTEGRATION, "test-lead", "security_concern", "orchestrated").asks();
    route_blocked(INTEGRATION, "integration-developer", "missing_test_plan", "orchestrated").asks();
}

#[test]
fn blocked_next_agent_must_be_null() {
    let handoff = completed_example("integration-agent-handoffs/status-blocked", "integration-developer");
    let named = merged(handoff, json!({ "handoff": { "next_agent": "backend-security" } }));
    orchestrated(INTEGRATION, "integration-developer").check(&named).invalid("E0214", "handoff.next_agent");
}

// ---- Status: needs_review ----------------------------------------------------------------

fn under_review() -> Play {
    let mut play = Play::start(INTEGRATION);
    let handoff = architecture(crate::program::example("integration-agent-handoffs/status-needs-review"));
    follows(&play.report("integration-lead", handoff), "ask", &[]);
    play
}

#[test]
fn needs_review_example_is_valid() {
    let handoff = architecture(crate::program::example("integration-agent-handoffs/status-needs-review"));
    let handoff = completed("integration-lead", handoff);
    orchestrated(INTEGRATION, "integration-lead").phase("architecture").check(&handoff).valid();
}

#[test]
fn needs_review_1_and_2_a_person_is_shown_it_with_approval_options() {
    let play = under_review();
    let question = play.state.questions.values().next().unwrap();
    assert_eq!(
        question.text,
        "integration-lead has finished architecture and asks for approval: \
         Architecture complete. User approval required before implementation."
    );
    assert_eq!(question.options, ["approve", "reject"]);
    assert_eq!(play.status("main"), "awaiting_person");
}

#[test]
fn needs_review_3_approved_goes_to_the_next_phase() {
    follows(&under_review().choose("approve"), "spawn", &["integration-developer"]);
}

#[test]
fn needs_review_4_rejected_respawns_the_agent_with_the_feedback() {
    let decision = under_review().choose("reject");
    follows(&decision, "respawn", &["integration-lead"]);
    assert_eq!((decision.next[0].attempt, &*decision.context), (2, &["answer".into()][..]));
}

// ---- Status: needs_clarification ---------------------------------------------------------

fn unclear() -> Play {
    let mut play = Play::start(INTEGRATION);
    let handoff = crate::program::example("integration-agent-handoffs/status-needs-clarification");
    follows(&play.report("integration-lead", handoff), "ask", &[]);
    play
}

#[test]
fn needs_clarification_example_is_valid() {
    let handoff = completed_example("integration-agent-handoffs/status-needs-clarification", "integration-lead");
    orchestrated(INTEGRATION, "integration-lead").phase("architecture").check(&handoff).valid();
}

#[test]
fn needs_clarification_1_and_2_the_question_is_put_to_a_person() {
    let play = unclear();
    let question = play.state.questions.values().next().unwrap();
    assert_eq!(
        question.text,
        "Cannot determine authentication method. User must specify: API key, OAuth2, or mutual TLS?"
    );
}

#[test]
fn needs_clarification_3_the_same_agent_goes_on_with_the_answer() {
    let mut play = unclear();
    let decision = play.say("OAuth2");
    follows(&decision, "respawn", &["integration-lead"]);
    assert_eq!((decision.next[0].attempt, &*decision.context), (2, &["answer".into()][..]));
    // It takes up its own phase again, and can finish it.
    follows(&play.report("integration-lead", complete()), "spawn", &["integration-developer"]);
}

fn one_status(said: &str) {
    let fragment = json!({ "status": said, "handoff": { "next_agent": null } });
    let handoff = completed("integration-lead", architecture(fragment));
    let checked = orchestrated(INTEGRATION, "integration-lead").check(&handoff).valid();
    assert_eq!(checked["status"], "needs_review");
}

each! { one_status:
    status_is_read_in_capitals("NEEDS_REVIEW");
    status_is_read_with_a_hyphen("needs-review");
    status_is_read_with_a_space("Needs Review");
}

// ---- The routing table -------------------------------------------------------------------

fn row(role: &str, reason: &str, target: &str) {
    let decision = route_blocked(INTEGRATION, role, reason, "orchestrated").goes("spawn", &[target]);
    assert_eq!(decision["context"], json!(["handoff.context", "attempted"]));
}

each! { row:
    routing_developer_security_concern_goes_to_backend_security("integration-developer", "security_concern", "backend-security");
    routing_developer_architecture_decision_goes_to_integration_lead("integration-developer", "architecture_decision", "integration-lead");
    routing_developer_test_failures_goes_to_backend_tester("integration-developer", "test_failures", "backend-tester");
    routing_tester_missing_test_plan_goes_to_test_lead("backend-tester", "missing_test_plan", "test-lead");
    routing_reviewer_implementation_unclear_goes_to_the_developer_with_clarification("backend-reviewer", "implementation_unclear", "integration-developer");
    routing_security_architecture_change_needed_goes_to_integration_lead("backend-security", "architecture_change_needed", "integration-lead");
}

#[test]
fn routing_developer_missing_requirements_asks_a_person() {
    route_blocked(INTEGRATION, "integration-developer", "missing_requirements", "orchestrated").asks();
}

#[test]
fn routing_unknown_asks_a_person_whoever_is_blocked() {
    for role in [
        "integration-lead",
        "integration-developer",
        "backend-reviewer",
        "backend-tester",
        "backend-security",
        "test-lead",
    ] {
        route_blocked(INTEGRATION, role, "unknown", "orchestrated").asks();
    }
}

#[test]
fn routing_the_developer_clarifies_and_the_review_goes_on() {
    let mut play = in_implementation();
    play.report("integration-developer", json!({ "status": "complete" }));
    play.gate(true, "no violations");
    let unclear = json!({ "status": "blocked", "blocked_reason": "implementation_unclear" });
    follows(&play.report("backend-reviewer", unclear), "spawn", &["integration-developer"]);
    follows(&play.report("integration-developer", json!({ "status": "complete" })), "return", &["backend-reviewer"]);
}

/// Who helps may be blocked as well: each finds its way back.
#[test]
fn routing_help_of_helpers_finds_its_way_back() {
    let mut play = in_implementation();
    let concern = json!({ "status": "blocked", "blocked_reason": "security_concern" });
    follows(&play.report("integration-developer", concern), "spawn", &["backend-security"]);
    let change = json!({ "status": "blocked", "blocked_reason": "architecture_change_needed" });
    follows(&play.report("backend-security", change), "spawn", &["integration-lead"]);
    follows(&play.report("integration-lead", json!({ "status": "complete" })), "return", &["backend-security"]);
    follows(&play.report("backend-security", json!({ "status": "complete" })), "return", &["integration-developer"]);
}

// ---- Blocked status handling -------------------------------------------------------------

#[test]
fn blocked_security_concern_is_answered_and_returns() {
    let handoff = crate::program::example("integration-agent-handoffs/blocked-security-concern");
    let whole = completed("integration-developer", handoff.clone());
    orchestrated(INTEGRATION, "integration-developer").phase("implementation").check(&whole).valid();
    let mut play = in_implementation();
    let decision = play.report("integration-developer", handoff);
    follows(&decision, "spawn", &["backend-security"]);
    assert_eq!(*decision.context, ["handoff.context", "attempted"]);
    assert!(decision.absent.is_empty());
    follows(&play.report("backend-security", json!({ "status": "complete" })), "return", &["integration-developer"]);
}

#[test]
fn blocked_missing_requirements_asks_with_the_options() {
    let handoff = crate::program::example("integration-agent-handoffs/blocked-missing-requirements");
    let whole = completed("integration-lead", handoff.clone());
    orchestrated(INTEGRATION, "integration-lead").phase("architecture").check(&whole).valid();
    let question = json!({
        "text": "Does Shodan API have an endpoint to verify if an IP address is still active/owned by customer?",
        "options": [
            "Yes, use /api/v1/host/{ip} endpoint (provide endpoint details)",
            "No, use BaseCapability.CheckAffiliationSimple (re-enumerates all assets)",
            "Other (describe alternative approach)",
        ],
    });
    let mut play = Play::start(INTEGRATION);
    let decision = play.report("integration-lead", merged(handoff, json!({ "questions": [question] })));
    follows(&decision, "ask", &[]);
    let put = decision.question.expect("a question");
    assert_eq!((json!(put.text), json!(put.options)), (question["text"].clone(), question["options"].clone()));
    follows(
        &play.choose("No, use BaseCapability.CheckAffiliationSimple (re-enumerates all assets)"),
        "respawn",
        &["integration-lead"],
    );
}

#[test]
fn blocked_missing_requirements_takes_another_answer_in_words() {
    let handoff = crate::program::example("integration-agent-handoffs/blocked-missing-requirements");
    let mut play = Play::start(INTEGRATION);
    play.report("integration-lead", handoff);
    follows(&play.say("Ask the vendor's support first"), "respawn", &["integration-lead"]);
}
