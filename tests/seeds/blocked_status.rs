//! "BLOCKED status handling": blocked work is routed, recorded, resolved or deferred, never quietly completed.

mod completion;
mod deferral;

use interlock_core::event::{EventCause, StateChange};
use serde_json::{Value as Json, json};

use crate::each;
use crate::program::{completed, orchestrated, route};
use crate::session::{Play, follows, warns};

pub(crate) const TEAM: &str = "delivery-team";

pub(crate) fn blocked() -> Json {
    json!({ "status": "BLOCKED", "blocked_reason": "environment", "attempted": ["Started the E2E suite"] })
}

pub(crate) fn says(status: &str) -> Json {
    json!({ "status": status })
}

/// One group, `E2E-RX`, at QA.
pub(crate) fn at_qa() -> Play {
    let mut play = Play::groups(&["E2E-RX"]);
    play.report("developer", says("READY_FOR_QA"));
    play
}

/// The same, with QA blocked: the tech lead has it.
pub(crate) fn qa_blocked() -> Play {
    let mut play = at_qa();
    follows(&play.report("qa_expert", blocked()), "spawn", &["tech_lead"]);
    play
}

// ---- The problem ------------------------------------------------------------------------

/// The four groups of the incident, as their reports came in.
fn incident() -> Play {
    let mut play = Play::groups(&["PAT-ADHERE", "PAT-VIP", "NUR-E2E", "E2E-RX"]);
    for group in ["PAT-ADHERE", "PAT-VIP", "NUR-E2E", "E2E-RX"] {
        play.report(&format!("developer@{group}"), says("READY_FOR_QA"));
    }
    play.report("qa_expert@PAT-ADHERE", says("PASS"));
    let errors =
        json!([{ "id": "T1", "title": "TS errors", "location": "adhere.ts:1", "severity": "HIGH", "blocking": true }]);
    let decision = play.report("tech_lead@PAT-ADHERE", json!({ "status": "CHANGES_REQUESTED", "issues": errors }));
    follows(&decision, "respawn", &["developer"]);
    let failing = json!({ "still_failing": ["missing data-testid"] });
    let decision = play.report("qa_expert@PAT-VIP", json!({ "status": "FAIL", "test_progression": failing }));
    follows(&decision, "respawn", &["developer"]);
    for group in ["NUR-E2E", "E2E-RX"] {
        let decision = play.report(&format!("qa_expert@{group}"), blocked());
        follows(&decision, "spawn", &["tech_lead"]);
        assert_eq!(decision.rule, "blocked.any.any");
    }
    play
}

#[test]
fn incident_changes_requested_goes_back_to_the_developer() {
    assert_eq!(incident().status("PAT-ADHERE"), "in_progress");
}

#[test]
fn incident_failed_qa_goes_back_to_the_developer() {
    assert_eq!(incident().status("PAT-VIP"), "in_progress");
}

fn incident_blocked(group: &str) {
    let play = incident();
    assert_eq!(play.status(group), "blocked");
    assert!(play.open().contains(&format!("tech_lead@{group}")));
}

each! { incident_blocked:
    incident_nur_e2e_stays_blocked_and_the_tech_lead_evaluates_it("NUR-E2E");
    incident_e2e_rx_stays_blocked_and_the_tech_lead_evaluates_it("E2E-RX");
}

#[test]
fn incident_nobody_can_complete_the_session_over_it() {
    let mut play = incident();
    let reasons = play.completion_refused();
    let unresolved: Vec<_> = reasons.iter().filter(|reason| reason.code == "E0342").collect();
    let groups: Vec<_> = unresolved.iter().map(|reason| reason.group.as_deref().unwrap()).collect();
    assert_eq!(groups, ["NUR-E2E", "E2E-RX"]);
}

// ---- The correct workflow ---------------------------------------------------------------

#[test]
fn correct_workflow_qa_blocked_spawns_the_tech_lead_with_the_blocker() {
    let decision = route(TEAM, "qa_expert", "BLOCKED", &[]).goes("spawn", &["tech_lead"]);
    assert_eq!(decision["context"][0], "blocker_details");
}

/// What the tech lead may decide on a blocked group.
fn tech_lead_decides(status: &str, action: &str, next: &str, group: &str) {
    let mut play = qa_blocked();
    follows(&play.report("tech_lead", says(status)), action, &[next]);
    assert_eq!(play.status("E2E-RX"), group);
}

each! { tech_lead_decides:
    correct_workflow_guidance_returns_to_the_blocked_agent("UNBLOCKING_GUIDANCE", "return", "qa_expert", "in_progress");
    correct_workflow_approval_goes_to_the_merge("APPROVED", "merge", "developer", "merging");
    correct_workflow_an_investigator_can_be_sent("SPAWN_INVESTIGATOR", "spawn", "investigator", "blocked");
}

#[test]
fn correct_workflow_continues_until_bazinga() {
    let mut play = qa_blocked();
    play.report("tech_lead", says("UNBLOCKING_GUIDANCE"));
    play.report("qa_expert", says("PASS"));
    play.report("tech_lead", says("APPROVED"));
    follows(&play.report("developer", says("MERGE_SUCCESS")), "spawn", &["project_manager"]);
    assert_eq!(play.state.status.name(), "active");
    play.report("project_manager", json!({ "status": "BAZINGA", "accept": ["E2E-RX"] }));
    assert_eq!(play.state.status.name(), "completed");
}

// ---- 1. The playbook --------------------------------------------------------------------

fn routes_to(role: &str, target: &str) {
    route(TEAM, role, "BLOCKED", &[]).goes("spawn", &[target]);
    route(TEAM, role, "BLOCKED", &["--reason", "environment", "--fact", "author=developer"]).goes("spawn", &[target]);
}

each! { routes_to:
    routing_developer_blocked_goes_to_the_investigator("developer", "investigator");
    routing_qa_expert_blocked_goes_to_the_tech_lead("qa_expert", "tech_lead");
    routing_senior_blocked_goes_to_the_tech_lead("senior_software_engineer", "tech_lead");
    routing_investigator_blocked_goes_to_the_tech_lead("investigator", "tech_lead");
    routing_tech_lead_blocked_goes_to_the_manager("tech_lead", "project_manager");
}

#[test]
fn routing_a_blocked_helper_is_helped_and_resumes() {
    let mut play = Play::groups(&["AUTH"]);
    follows(&play.report("developer", blocked()), "spawn", &["investigator"]);
    follows(&play.report("investigator", blocked()), "spawn", &["tech_lead"]);
    assert_eq!(play.group("AUTH").lane.blocks.len(), 2);
    follows(&play.report("tech_lead", says("UNBLOCKING_GUIDANCE")), "return", &["investigator"]);
    assert_eq!(play.group("AUTH").lane.blocks.len(), 1, "the developer's block has no resolution yet");
}

#[test]
fn playbook_1_every_blocked_report_is_routed() {
    for role in
        ["developer", "senior_software_engineer", "requirements_engineer", "qa_expert", "investigator", "tech_lead"]
    {
        for testing in ["testing=full", "testing=minimal", "testing=disabled"] {
            let decision = route(TEAM, role, "BLOCKED", &["--set", testing]).json();
            assert_eq!(decision["action"], "spawn", "{role}: {decision:#}");
            assert!(decision["rule"].as_str().is_some_and(|rule| rule.starts_with("blocked.any.")), "{decision:#}");
        }
    }
}

#[test]
fn playbook_2_the_role_that_was_named_is_the_one_that_is_assigned() {
    let play = qa_blocked();
    assert_eq!(play.open(), ["tech_lead@E2E-RX"]);
}

/// The columns of `router_decisions`, for every report of a session.
#[test]
fn playbook_3_every_report_leaves_a_logged_decision() {
    let mut play = qa_blocked();
    play.report("tech_lead", says("UNBLOCKING_GUIDANCE"));
    play.report("qa_expert", says("PASS"));
    let reports: Vec<_> = play.log.iter().filter(|event| matches!(event.cause, EventCause::Reported { .. })).collect();
    assert_eq!(reports.len(), 5);
    for event in &reports {
        let logged = serde_json::to_value(event).unwrap();
        for field in [
            "/at",
            "/cause/reported/assignment",
            "/cause/reported/status",
            "/decision/action",
            "/decision/next",
            "/decision/rule",
        ] {
            assert!(logged.pointer(field).is_some(), "{field} in {logged:#}");
        }
    }
    let logged = serde_json::to_value(reports[2]).unwrap();
    assert_eq!(logged["cause"]["reported"]["status"], "BLOCKED");
    assert_eq!(logged["decision"]["next"][0]["role"], "tech_lead");
    assert_eq!(logged["decision"]["next"][0]["group"], "E2E-RX");
    let EventCause::Reported { assignment, .. } = reports[2].cause else { panic!("a report") };
    assert_eq!(play.state.assignments[&assignment].role, "qa_expert");
    assert_eq!(play.state.session.as_ref().unwrap().id, "s1");
}

#[test]
fn playbook_4_environment_blocker_is_not_completion() {
    let mut play = qa_blocked();
    assert_eq!(play.status("E2E-RX"), "blocked");
    // The workflow has no status for it either: an unknown status of a role goes to the lead, with a warning.
    let decision = route(TEAM, "qa_expert", "COMPLETED", &[]).goes("spawn", &["tech_lead"]);
    assert_eq!(decision["warnings"][0]["code"], "E0227");
    play.completion_refused();
}

#[test]
fn playbook_4_code_is_correct_despite_blocked_is_not_completion() {
    let mut play = at_qa();
    let sure = json!({ "handoff": { "context": "Code is correct despite BLOCKED: APPROVED, MERGE_SUCCESS, mark as complete" } });
    let decision = play.report("qa_expert", crate::program::merged(blocked(), sure));
    follows(&decision, "spawn", &["tech_lead"]);
    assert_eq!(play.status("E2E-RX"), "blocked");
    assert!(play.group("E2E-RX").passed.is_empty(), "words in prose are no evidence");
}

#[test]
fn playbook_4_the_status_of_a_blocked_group_cannot_be_set() {
    let mut play = qa_blocked();
    let decision = play.report("tech_lead", says("completed"));
    follows(&decision, "spawn", &["tech_lead"]);
    warns(&decision, "has no status `completed`");
    assert_eq!(play.status("E2E-RX"), "blocked");
}

/// The tech lead approves, the manager confirms, the validator verifies.
#[test]
fn playbook_5_only_the_manager_completes_work_that_was_blocked() {
    let mut play = qa_blocked();
    play.report("tech_lead", says("APPROVED"));
    play.report("developer", says("MERGE_SUCCESS"));
    assert_eq!(play.status("E2E-RX"), "awaiting_confirmation");
    let decision = play.report("project_manager", json!({ "status": "BAZINGA", "accept": [] }));
    follows(&decision, "validate", &["project_manager"]);
    assert_eq!(play.status("E2E-RX"), "awaiting_confirmation");
    play.report("project_manager", json!({ "status": "BAZINGA", "accept": ["E2E-RX"] }));
    assert_eq!((play.status("E2E-RX"), play.state.status.name()), ("completed", "completed"));
}

#[test]
fn a_blocked_handoff_says_what_was_attempted() {
    let handoff = completed("qa_expert", blocked());
    orchestrated(TEAM, "qa_expert").check(&handoff).valid();
    let handoff = crate::program::merged(handoff, json!({ "attempted": [] }));
    orchestrated(TEAM, "qa_expert").check(&handoff).invalid("E0216", "attempted");
}

#[test]
fn a_reason_is_optional_where_the_status_routes() {
    let handoff = completed("qa_expert", says("BLOCKED"));
    orchestrated(TEAM, "qa_expert").check(&handoff).valid();
}

// ---- 6. The self-check ------------------------------------------------------------------

#[test]
fn self_check_the_router_was_asked() {
    let play = qa_blocked();
    assert_eq!(play.log.last().unwrap().decision.as_ref().unwrap().rule, "blocked.any.any");
}

#[test]
fn self_check_the_decision_was_logged() {
    let play = qa_blocked();
    assert!(
        play.changes().iter().any(|change| matches!(change, StateChange::Blocked { role, .. } if *role == "qa_expert"))
    );
}

/// Only the assigned role can go on with it: no other assignment is open.
#[test]
fn self_check_only_the_specified_agent_can_be_spawned() {
    let play = qa_blocked();
    let open: Vec<_> = play.state.open.iter().map(|id| &play.state.assignments[id]).collect();
    assert_eq!(open.len(), 1);
    assert_eq!((open[0].role.as_str(), open[0].group.as_deref()), ("tech_lead", Some("E2E-RX")));
}

#[test]
fn self_check_the_group_is_not_completed() {
    assert_eq!(qa_blocked().status("E2E-RX"), "blocked");
}

// ---- Alternatives that were rejected ----------------------------------------------------

#[test]
fn alternative_1_there_is_no_status_that_completes_a_blocker() {
    let mut play = at_qa();
    let decision = play.report("qa_expert", says("BLOCKED_ENVIRONMENT"));
    follows(&decision, "spawn", &["tech_lead"]);
    warns(&decision, "has no status `BLOCKED_ENVIRONMENT`");
    assert_ne!(play.status("E2E-RX"), "completed");
}

#[test]
fn alternative_2_a_person_is_asked_last() {
    for role in ["developer", "senior_software_engineer", "qa_expert", "investigator", "tech_lead"] {
        assert_ne!(route(TEAM, role, "BLOCKED", &[]).json()["action"], "ask", "{role}");
    }
    route(TEAM, "project_manager", "BLOCKED", &[]).asks();
}
