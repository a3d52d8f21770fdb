//! "Workflow routing reference": the router's answers, and how progress is measured in feedback loops.

mod findings;
mod progress;

use serde_json::{Value as Json, json};

use crate::each;
use crate::program::{completed, example, orchestrated, route, without, workflow_file};
use crate::session::{Play, follows, warns};

pub(crate) const TEAM: &str = "delivery-team";

pub(crate) fn says(status: &str) -> Json {
    json!({ "status": status })
}

/// A blocking finding. Ids change from review to review; place and title do not.
pub(crate) fn finding(id: &str, name: &str) -> Json {
    json!({ "id": id, "title": format!("{name} is wrong"), "location": format!("src/{name}.rs:1"), "severity": "HIGH", "blocking": true })
}

/// CHANGES_REQUESTED with these blocking findings; each has its name for an id.
pub(crate) fn changes(names: &[&str]) -> Json {
    let issues: Vec<Json> = names.iter().map(|name| finding(name, name)).collect();
    json!({ "status": "CHANGES_REQUESTED", "issues": issues })
}

/// One group, `AUTH`, before its tech lead.
pub(crate) fn in_review() -> Play {
    let mut play = Play::groups(&["AUTH"]);
    play.report("developer", says("READY_FOR_REVIEW"));
    play
}

// ---- What the router determines ----------------------------------------------------------

fn next_agent(role: &str, status: &str, action: &str, next: &str) {
    route(TEAM, role, status, &[]).goes(action, &[next]);
}

each! { next_agent:
    router_developer_ready_for_qa_spawns_qa("developer", "READY_FOR_QA", "spawn", "qa_expert");
    router_qa_pass_spawns_the_tech_lead("qa_expert", "PASS", "spawn", "tech_lead");
    router_qa_fail_respawns_the_developer("qa_expert", "FAIL", "respawn", "developer");
    router_tech_lead_approved_merges("tech_lead", "APPROVED", "merge", "developer");
    router_changes_requested_respawns_the_developer("tech_lead", "CHANGES_REQUESTED", "respawn", "developer");
}

#[test]
fn router_escalates_at_the_revision_threshold() {
    let facts = ["--fact", "author=developer", "--fact", "loop.review.iteration=5"];
    let decision = route(TEAM, "tech_lead", "CHANGES_REQUESTED", &facts).goes("spawn", &["senior_software_engineer"]);
    assert_eq!(decision["escalated"], true);
}

fn qa_is_skipped(mode: &str) {
    let decision = route(TEAM, "developer", "READY_FOR_QA", &["--set", mode]).goes("spawn", &["tech_lead"]);
    assert_eq!(decision["overrides"][0]["instead_of"], "qa_expert");
    assert_eq!(decision["because"], json!(["QA is off in this testing mode"]));
}

each! { qa_is_skipped:
    router_skips_qa_with_minimal_testing("testing=minimal");
    router_skips_qa_with_testing_disabled("testing=disabled");
}

#[test]
fn router_keeps_qa_with_full_testing() {
    route(TEAM, "developer", "READY_FOR_QA", &["--set", "testing=full"]).goes("spawn", &["qa_expert"]);
}

#[test]
fn router_gives_security_sensitive_work_to_the_senior() {
    let decision = route(TEAM, "qa_expert", "FAIL", &["--fact", "security_sensitive=true"])
        .goes("respawn", &["senior_software_engineer"]);
    assert_eq!(decision["overrides"][0]["used"], "senior_software_engineer");
}

// ---- When to use, invocation -------------------------------------------------------------

#[test]
fn when_1_the_status_is_read_from_the_response() {
    let handoff = completed("developer", says("READY_FOR_QA"));
    let output = format!("All tests pass, APPROVED as far as I can see.\n\n```json\n{handoff:#}\n```\n");
    let checked = orchestrated(TEAM, "developer").check_text(&output).valid();
    assert_eq!(checked["status"], "READY_FOR_QA");
}

#[test]
fn when_2_and_3_the_router_is_asked_and_followed() {
    let mut play = Play::groups(&["AUTH"]);
    let decision = play.report("developer", says("READY_FOR_QA"));
    assert_eq!(decision.next[0].assignment, *play.state.open.first().unwrap(), "what it says is what is open");
}

/// Current agent, response status, group and testing mode are the arguments; the session is in the store.
#[test]
fn invocation_takes_agent_status_and_testing_mode() {
    for testing in ["full", "minimal", "disabled"] {
        let setting = format!("testing={testing}");
        assert_eq!(route(TEAM, "developer", "READY_FOR_QA", &["--set", &setting]).json()["action"], "spawn");
    }
    route(TEAM, "developer", "READY_FOR_QA", &["--set", "testing=none"]).refused(4, "E0116");
    route(TEAM, "coder", "READY_FOR_QA", &[]).refused(4, "E0110");
}

// ---- Response format ---------------------------------------------------------------------

#[test]
fn response_has_every_field_of_the_document() {
    let expected = example("workflow-routing-reference/response");
    let workflow = workflow_file(
        "workflow: mine\nlanguage: 1\nextends: delivery-team\n\
         roles: { qa_expert: { model: sonnet, escalates_to: tech_lead } }\n\
         routes: { engineer: { READY_FOR_QA: { spawn: qa_expert, with: [reasoning, packages] } } }\n",
    );
    let decision = route(&workflow, "developer", "READY_FOR_QA", &[]).json();
    assert_eq!(decision["next"][0]["role"], expected["next_agent"]);
    assert_eq!(decision["next"][0]["model"], expected["model"]);
    assert_eq!(decision["action"], expected["action"]);
    assert_eq!(decision["context"], expected["include_context"]);
}

#[test]
fn response_names_the_group() {
    let mut play = Play::groups(&["AUTH"]);
    let decision = play.report("developer", says("READY_FOR_QA"));
    assert_eq!(decision.next[0].group.as_deref(), Some("AUTH"));
}

#[test]
fn action_spawn_gives_the_next_agent_an_assignment() {
    let mut play = Play::groups(&["AUTH"]);
    follows(&play.report("developer", says("READY_FOR_QA")), "spawn", &["qa_expert"]);
    assert_eq!(play.open(), ["qa_expert@AUTH"]);
}

#[test]
fn action_merge_is_the_developers_to_do() {
    let mut play = Play::groups(&["AUTH"]);
    play.report("developer", says("READY_FOR_QA"));
    play.report("qa_expert", says("PASS"));
    follows(&play.report("tech_lead", says("APPROVED")), "merge", &["developer"]);
    assert_eq!((play.status("AUTH"), play.open()), ("merging", vec!["developer@AUTH".to_owned()]));
}

#[test]
fn action_check_phase_starts_groups_that_are_pending() {
    let facts = ["--fact", "groups.pending=2"];
    let decision = route(TEAM, "developer", "MERGE_SUCCESS", &facts).json();
    assert_eq!(decision["action"], "batch", "{decision:#}");
}

#[test]
fn action_check_phase_waits_for_groups_at_work() {
    route(TEAM, "developer", "MERGE_SUCCESS", &["--fact", "groups.in_progress=2"]).goes("wait", &[]);
}

#[test]
fn action_check_phase_goes_to_the_manager_when_all_are_done() {
    route(TEAM, "developer", "MERGE_SUCCESS", &[]).goes("spawn", &["project_manager"]);
}

// ---- Fallback ----------------------------------------------------------------------------

#[test]
fn fallback_warns_of_the_unknown_transition() {
    let decision = route(TEAM, "qa_expert", "LOOKS_FINE", &[]).json();
    assert_eq!(decision["warnings"][0]["code"], "E0227");
    assert_eq!(decision["warnings"][0]["message"], "qa_expert has no status `LOOKS_FINE`");
}

#[test]
fn fallback_routes_to_the_tech_lead() {
    for role in ["developer", "senior_software_engineer", "qa_expert", "investigator", "project_manager"] {
        route(TEAM, role, "LOOKS_FINE", &[]).goes("spawn", &["tech_lead"]);
    }
}

#[test]
fn fallback_asks_the_tech_lead_itself_again_and_not_for_ever() {
    let mut play = in_review();
    let decision = play.report("tech_lead", says("LOOKS_FINE"));
    follows(&decision, "spawn", &["tech_lead"]);
    warns(&decision, "tech_lead has no status `LOOKS_FINE`");
    follows(&play.report("tech_lead", says("LOOKS_FINE")), "spawn", &["project_manager"]);
}

#[test]
fn fallback_an_unknown_role_is_an_error() {
    route(TEAM, "wizard", "READY_FOR_QA", &[]).refused(4, "E0110");
}

// ---- Defaults for fields that are missing ------------------------------------------------

/// The fields that a handoff may leave out.
fn left_out(field: &str, role: &str, fragment: Json) {
    let whole = completed(role, fragment);
    orchestrated(TEAM, role).check(&whole).valid();
    orchestrated(TEAM, role).check(&without(whole, field)).valid();
}

each! { left_out:
    step_1_notes_for_future_may_be_left_out("notes_for_future", "tech_lead", json!({ "status": "APPROVED", "notes_for_future": [] }));
    step_1_blocking_summary_may_be_left_out("blocking_summary", "developer", json!({
        "status": "READY_FOR_REVIEW",
        "blocking_summary": { "total_blocking": 0, "fixed": 0, "rejected_with_reason": 0, "unaddressed": 0 },
    }));
    step_1_iteration_tracking_may_be_left_out("iteration_tracking", "tech_lead", json!({
        "status": "CHANGES_REQUESTED", "issues": [], "iteration_tracking": { "iteration": 1 },
    }));
}

#[test]
fn step_1_left_out_numbers_of_the_summary_are_zero() {
    let fragment = json!({ "status": "READY_FOR_REVIEW", "blocking_summary": { "total_blocking": 2 } });
    orchestrated(TEAM, "developer").check(&completed("developer", fragment)).valid();
}
