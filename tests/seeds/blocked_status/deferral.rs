//! DEFERRED_EXTERNAL: an environment blocker is put off by the manager, in seven steps, and never counts as done.

use interlock_core::decision::CompletionVerdict;
use interlock_core::state::{GroupEnd, GroupProgress};
use serde_json::{Value as Json, json};

use super::{TEAM, blocked, qa_blocked, says};
use crate::program::{completed, orchestrated, route, without};
use crate::session::{Play, follows, judged};

fn external() -> Json {
    json!({ "status": "UNBLOCKING_GUIDANCE", "external": true, "external_dependency": "a test server with Playwright" })
}

fn deferral() -> Json {
    json!({ "status": "DEFERRED_EXTERNAL", "defer_reason": "the environment needs a test server" })
}

/// The group deferred, the manager asked for the session.
fn deferred() -> Play {
    let mut play = qa_blocked();
    play.report("tech_lead", external());
    play.report("project_manager", deferral());
    play
}

#[test]
fn deferred_step_1_qa_reports_blocked() {
    let mut play = super::at_qa();
    let decision = play.report("qa_expert", blocked());
    assert_eq!(decision.rule, "blocked.any.any");
    assert_eq!(play.status("E2E-RX"), "blocked");
}

#[test]
fn deferred_step_2_the_router_routes_to_the_tech_lead() {
    route(TEAM, "qa_expert", "BLOCKED", &["--reason", "environment"]).goes("spawn", &["tech_lead"]);
}

#[test]
fn deferred_step_3_the_tech_lead_confirms_that_it_is_external() {
    orchestrated(TEAM, "tech_lead").check(&completed("tech_lead", external())).valid();
    let mut play = qa_blocked();
    let decision = play.report("tech_lead", external());
    assert_eq!(decision.because, ["only the manager may defer"]);
}

#[test]
fn deferred_step_4_guidance_notes_the_external_dependency() {
    let mut play = qa_blocked();
    let decision = play.report("tech_lead", external());
    assert_eq!(*decision.context, ["guidance", "external_dependency"]);
    assert!(!decision.absent.iter().any(|field| *field == "external_dependency"));
}

#[test]
fn deferred_step_5_it_goes_to_the_manager() {
    let mut play = qa_blocked();
    follows(&play.report("tech_lead", external()), "spawn", &["project_manager"]);
    assert_eq!(play.status("E2E-RX"), "blocked");
    let facts = ["--fact", "blocked_agent=qa_expert", "--fact", "external=true"];
    route(TEAM, "tech_lead", "UNBLOCKING_GUIDANCE", &facts).goes("spawn", &["project_manager"]);
}

#[test]
fn deferred_step_6_the_manager_may_defer_and_that_is_not_completion() {
    let play = deferred();
    assert_eq!(play.status("E2E-RX"), "deferred_external");
    let GroupProgress::Ended(GroupEnd::Deferred { why, by, acknowledged: None }) = &play.group("E2E-RX").progress
    else {
        panic!("{:?}", play.group("E2E-RX").progress);
    };
    assert_eq!((why.as_str(), by.as_str()), ("the environment needs a test server", "project_manager"));
}

#[test]
fn deferred_step_6_a_deferral_has_a_reason() {
    let handoff = completed("project_manager", deferral());
    orchestrated(TEAM, "project_manager").check(&handoff).valid();
    let handoff = without(handoff, "defer_reason");
    orchestrated(TEAM, "project_manager").check(&handoff).invalid("E0210", "defer_reason");
}

#[test]
fn deferred_step_6_nobody_else_may_defer() {
    let mut play = qa_blocked();
    let decision = play.report("tech_lead", deferral());
    assert_ne!(play.status("E2E-RX"), "deferred_external");
    assert!(decision.rule.starts_with("unknown_status"), "{}", decision.rule);
}

#[test]
fn deferred_step_7_bazinga_needs_the_deferral_acknowledged_by_name() {
    let mut play = deferred();
    assert_eq!(play.open(), ["project_manager"]);
    judged(&play.report("project_manager", says("BAZINGA")), CompletionVerdict::Reject, &["E0343", "E0354"]);
    let decision = play.report("project_manager", json!({ "status": "BAZINGA", "acknowledge": ["E2E-RX"] }));
    assert_eq!(decision.question.expect("nothing was completed, so a person is asked").name, "nothing_completed");
    follows(&play.choose("confirm"), "end", &[]);
    assert_eq!((play.state.status.name(), play.status("E2E-RX")), ("completed", "deferred_external"));
}

/// The statuses of a group that the document lists are words of the program.
#[test]
fn valid_statuses_are_known() {
    for status in ["pending", "in_progress"] {
        let fact = format!("group.status={status}");
        route(TEAM, "developer", "READY_FOR_QA", &["--fact", &fact]).goes("spawn", &["qa_expert"]);
    }
    for status in ["completed", "deferred_external"] {
        let fact = format!("group.status={status}");
        route(TEAM, "developer", "READY_FOR_QA", &["--fact", &fact]).refused(3, "E0315");
    }
    route(TEAM, "developer", "READY_FOR_QA", &["--fact", "group.status=blocked_environment"]).refused(4, "E0116");
}
