//! `interlock route`: the fields, the exit codes, and what people read.

use serde_json::json;

use crate::harness::{Folder, Run, interlock};

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
        "--scope",
        "session",
        "--json",
    ]);
    assert_eq!(run.exit, 3);
    let error = &run.json()["error"];
    assert_eq!(error["code"], "E0309");
    assert!(error["allowed"].as_array().is_some_and(|allowed| allowed.contains(&json!("CONTINUE"))));
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

/// `interlock route` of a built-in workflow, with more arguments.
fn route(workflow: &str, role: &str, status: &str, more: &[&str]) -> Run {
    let mut arguments = vec!["route", "--json", "--workflow", workflow, "--role", role, "--status", status];
    arguments.extend(more);
    interlock(&arguments)
}

fn code(run: &Run) -> Option<String> {
    run.json()["error"]["code"].as_str().map(str::to_owned)
}

#[test]
fn nothing_passes_over_what_is_said_to_be_open() {
    for open in ["loop.review.open=3", "loop.review.open=true"] {
        let run = route("delivery-team", "tech_lead", "APPROVED", &["--fact", open]);
        assert_eq!((run.exit, code(&run).as_deref()), (3, Some("E0311")), "{run}");
    }
    let run = route("delivery-team", "tech_lead", "APPROVED", &["--fact", "loop.review.open=3"]);
    assert_eq!(run.json()["error"]["message"], "`review` cannot pass: 3 blocking findings are open");
    let run = route("delivery-team", "qa_expert", "PASS", &["--fact", "loop.qa.open=1"]);
    assert_eq!((run.exit, code(&run).as_deref()), (3, Some("E0311")), "{run}");
    let run = route("delivery-team", "developer", "MERGE_SUCCESS", &["--fact", "loop.review.open=1"]);
    assert_eq!((run.exit, code(&run).as_deref()), (3, Some("E0311")), "{run}");
    for open in ["loop.review.open=0", "loop.review.open=false"] {
        let run = route("delivery-team", "tech_lead", "APPROVED", &["--fact", open]);
        assert_eq!(run.json()["action"], "merge", "{run}");
    }
    // A manager that accepts in the reviewer's place settles what is open, and that is said.
    let run = route("delivery-team", "project_manager", "GROUP_ACCEPTED", &["--fact", "loop.review.open=2"]);
    assert_eq!(run.json()["action"], "merge", "{run}");
    assert!(
        run.json()["warnings"][0]["message"].as_str().is_some_and(|text| text.contains("2 blocking findings open"))
    );
}

#[test]
fn what_was_read_is_told() {
    let facts = |run: &Run| run.json()["facts"].clone();
    let run = route("delivery-team", "developer", "READY_FOR_QA", &["--set", "testing=minimal"]);
    assert_eq!(facts(&run), json!({ "testing": "minimal" }), "an override that applied");
    let run = route("delivery-team", "developer", "READY_FOR_QA", &[]);
    assert_eq!(facts(&run), json!({ "testing": "full" }), "an override that did not");
    let run = route("delivery-team", "qa_expert", "BLOCKED", &["--reason", "environment"]);
    let counted = json!({ "reason": "environment", "loop.unblocking.iteration": 0, "loop.unblocking.no_progress": 0 });
    assert_eq!(facts(&run), counted);
    let run = route("feature", "backend-developer", "blocked", &["--reason", "security_concern"]);
    assert_eq!(facts(&run)["reason"], "security_concern");
    assert_eq!(facts(&run)["domain"], "backend");
    let run = route("feature", "python-analyst", "blocked", &["--reason", "security_concern"]);
    assert_eq!(facts(&run), json!({ "reason": "security_concern", "domain": "backend" }));
    let run = route("delivery-team", "tech_lead", "UNBLOCKING_GUIDANCE", &["--fact", "blocked_agent=qa_expert"]);
    assert_eq!(facts(&run)["blocked_agent"], "qa_expert");
    let run = route("delivery-team", "tech_lead", "APPROVED", &[]);
    assert_eq!(facts(&run)["author"], "developer");
    let run = route("delivery-team", "qa_expert", "FAIL", &["--fact", "security_sensitive=true"]);
    assert_eq!(facts(&run)["author"], "developer");
    assert_eq!(facts(&run)["security_sensitive"], "true");
}

#[test]
fn a_phase_left_out_is_explained_by_what_its_when_read() {
    let text = "workflow: w\nlanguage: 1\nsettings: { care: [some, much] }\nroles: { maker: { is: [author] }, critic: {}, closer: {} }\n\
        groups: { flags: { kind: [code, text] } }\nroutes: { any: { complete: { advance: phase } } }\nphases:\n  - { phase: making, role: maker }\n  \
        - { phase: looking, role: critic, when: { care: much } }\n  - { phase: reading, role: critic, when: { kind: text } }\n  - { phase: closing, role: closer }\n";
    let folder = Folder::new("route-skips").with("w.yaml", text);
    let run = folder.interlock(&["route", "--json", "--workflow", "w.yaml", "--role", "maker", "--status", "complete"]);
    assert_eq!(run.json()["next"][0]["role"], "closer", "{run}");
    assert_eq!(run.json()["facts"]["care"], "some");
    assert_eq!(run.json()["facts"]["kind"], "code");
}

#[test]
fn a_role_that_is_not_declared_is_asked_no_less() {
    let run = route("feature", "python-analyst", "blocked", &["--reason", "bogus"]);
    assert_eq!((run.exit, code(&run).as_deref()), (4, Some("E0212")), "{run}");
    let run = route("feature", "python-analyst", "blocked", &["--reason", "unknown", "--phase", "nosuch"]);
    assert_eq!((run.exit, code(&run).as_deref()), (4, Some("E0112")), "{run}");
    let run = route("feature", "python-analyst", "blocked", &["--reason", "unknown", "--fact", "colour=red"]);
    assert_eq!((run.exit, code(&run).as_deref()), (4, Some("E0115")), "{run}");
}

#[test]
fn what_cannot_have_an_effect_is_said() {
    let run = route("delivery-team", "developer", "READY_FOR_QA", &["--phase", "review"]);
    assert_eq!((run.exit, code(&run).as_deref()), (4, Some("E0112")), "{run}");
    let run = route("delivery-team", "developer", "READY_FOR_QA", &["--reason", "environment"]);
    assert_eq!((run.exit, run.json()["warnings"][0]["code"].as_str()), (0, Some("E0217")), "{run}");
    let run = route("delivery-team", "qa_expert", "FAIL", &["--fact", "author=qa_expert"]);
    assert_eq!((run.exit, code(&run).as_deref()), (4, Some("E0116")), "{run}");
}

#[test]
fn the_status_of_a_group_is_the_state_it_is_in() {
    let accepted = |status: &str| {
        let fact = format!("group.status={status}");
        route("delivery-team", "project_manager", "GROUP_ACCEPTED", &["--fact", &fact])
    };
    assert_eq!(accepted("in_progress").json()["action"], "merge");
    let run = accepted("awaiting_confirmation");
    assert_eq!(run.json()["rule"], "routes.project_manager.GROUP_ACCEPTED/complete", "{run}");
    assert_eq!(run.json()["next"][0]["role"], "project_manager", "the group has ended, and was the last: {run}");
    let run = accepted("completed");
    assert_eq!((run.exit, code(&run).as_deref()), (3, Some("E0315")), "{run}");
    let guidance = ["--fact", "group.status=blocked"];
    let run = route("delivery-team", "tech_lead", "UNBLOCKING_GUIDANCE", &guidance);
    assert_eq!(
        (run.json()["action"].as_str(), run.json()["next"][0]["role"].as_str()),
        (Some("return"), Some("developer"))
    );
}
