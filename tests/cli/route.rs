//! `interlock route`: the fields, the exit codes, and what people read.

use serde_json::json;

use crate::harness::{Folder, interlock};

#[test]
fn every_field_of_the_contract_is_there() {
    let run = interlock(&[
        "route",
        "--workflow",
        "delivery-team",
        "--role",
        "developer",
        "--status",
        "READY_FOR_QA",
        "--json",
    ]);
    let decision = run.json();
    assert_eq!(decision["action"], "spawn");
    assert_eq!(decision["next"], json!([{ "role": "qa_expert", "model": null }]));
    assert_eq!(decision["context"], json!(["dev_output", "files_changed", "test_results"]));
    assert_eq!(decision["rule"], "routes.engineer.READY_FOR_QA");
    assert_eq!(decision["escalated"], false);
    for field in ["question", "because", "warnings"] {
        assert!(decision.get(field).is_some(), "{field} is missing");
    }
}

#[test]
fn a_question_to_a_person_has_nobody_next() {
    let run = interlock(&[
        "route",
        "--workflow",
        "feature",
        "--role",
        "frontend-developer",
        "--status",
        "blocked",
        "--reason",
        "missing_requirements",
        "--json",
    ]);
    let decision = run.json();
    assert_eq!(decision["action"], "ask");
    assert_eq!(decision["next"], json!([]));
    assert_eq!(decision["question"]["name"], "clarify");
}

#[test]
fn an_unknown_role_is_invalid_and_an_unknown_status_takes_the_fallback() {
    let run = interlock(&["route", "--workflow", "delivery-team", "--role", "DEVELOPER", "--status", "PASS", "--json"]);
    assert_eq!(run.exit, 4);
    assert_eq!(run.json()["error"]["code"], "E0110");
    let run =
        interlock(&["route", "--workflow", "delivery-team", "--role", "qa_expert", "--status", "LOOKS_FINE", "--json"]);
    assert_eq!(run.exit, 0);
    assert_eq!(run.json()["next"][0]["role"], "tech_lead");
    assert_eq!(run.json()["warnings"][0]["code"], "E0227");
}

#[test]
fn settings_and_facts_that_do_not_exist_are_all_named() {
    let run = interlock(&[
        "route",
        "--workflow",
        "delivery-team",
        "--role",
        "developer",
        "--status",
        "READY_FOR_QA",
        "--fact",
        "colour=red",
        "--fact",
        "loop.review.open=many",
        "--fact",
        "author=nobody",
        "--json",
    ]);
    assert_eq!(run.exit, 4);
    assert_eq!(run.json()["error"]["problems"].as_array().map(Vec::len), Some(3));
    let run = interlock(&[
        "route",
        "--workflow",
        "delivery-team",
        "--role",
        "developer",
        "--status",
        "READY_FOR_QA",
        "--set",
        "speed=9",
        "--json",
    ]);
    assert_eq!((run.exit, run.json()["error"]["code"].as_str()), (4, Some("E0327")));
}

#[test]
fn a_refusal_of_the_workflow_says_what_is_allowed() {
    let run = interlock(&[
        "route",
        "--workflow",
        "delivery-team",
        "--role",
        "project_manager",
        "--status",
        "GROUP_ACCEPTED",
        "--fact",
        "security_sensitive=true",
        "--json",
    ]);
    assert_eq!(run.exit, 3);
    let error = &run.json()["error"];
    assert_eq!(error["code"], "E0309");
    assert!(error["allowed"].as_array().is_some_and(|allowed| allowed.contains(&json!("DEFERRED_EXTERNAL"))));
}

#[test]
fn an_abstract_workflow_does_not_route() {
    let run = interlock(&["route", "--workflow", "phased", "--role", "tool-lead", "--status", "complete", "--json"]);
    assert_eq!((run.exit, run.json()["error"]["code"].as_str()), (4, Some("E0133")));
}

#[test]
fn a_file_routes_like_a_builtin() {
    let folder = Folder::new("route_file").with(
        "mine.yaml",
        "workflow: mine\nlanguage: 1\nextends: delivery-team\nroutes:\n  developer:\n    READY_FOR_QA: { spawn: tech_lead, because: we have no QA }\n",
    );
    let run =
        folder.interlock(&["route", "--workflow", "mine.yaml", "--role", "developer", "--status", "ready-for-qa"]);
    insta::assert_snapshot!(run);
}
