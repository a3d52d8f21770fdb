//! A status that a role does not have, in a tool call.

use serde_json::{Value as Json, json};

use crate::client::{Client, NEWEST};
use crate::team::{Team, handoff};

fn planned(team: &Team) -> (String, Json) {
    let session = team.start("Add login");
    let groups = json!({ "groups": [{ "id": "LOGIN", "title": "Log in" }] });
    team.plays(&session, "project_manager", "-", "PLANNING_COMPLETE", groups);
    let developer = team.claim(&session, "developer", "LOGIN");
    let call = json!({ "assignment": developer.assignment, "token": developer.token,
        "handoff": handoff("developer", "DONE", json!({})) });
    (session, call)
}

/// The count is in the log: every call comes from a server that was just started.
#[test]
fn unknown_status_is_returned_twice_across_restarts_before_the_fallback() {
    let team = Team::new("mcp_unknown_status");
    let (session, call) = planned(&team);
    for _ in 0..2 {
        let mut client = Client::new(&team, NEWEST);
        let refused = client.refused("report_handoff", call.clone());
        assert_eq!(refused["code"], "E0380", "{refused}");
        let allowed: Vec<&str> = refused["allowed"].as_array().unwrap().iter().filter_map(Json::as_str).collect();
        assert!(allowed.contains(&"READY_FOR_QA") && allowed.contains(&"BLOCKED"), "{refused}");
        assert!(!allowed.contains(&"MERGE_SUCCESS"), "only what is allowed now: {refused}");
        assert_eq!((allowed.first(), allowed.last()), (Some(&"READY_FOR_QA"), Some(&"BLOCKED")), "{refused}");
        let help = refused["help"].as_str().unwrap();
        assert!(help.starts_with("usually: `READY_FOR_QA` (") && help.contains("otherwise: "), "{help}");
        client.close();
    }
    let mut client = Client::new(&team, NEWEST);
    let decided = client.call("report_handoff", call);
    assert_eq!((&decided["rule"], &decided["next"][0]["role"]), (&json!("unknown_status"), &json!("tech_lead")));
    assert_eq!(decided["warnings"][0]["code"], "E0227");
    let why = client.call("explain_decision", json!({ "decision": decided["decision"] }));
    let text = why["text"].as_str().unwrap();
    assert!(text.contains("fallback") && text.contains("evidence of nothing"), "{text}");
    let shown = team.group(&session, "LOGIN");
    assert_eq!(shown["evidence"], json!([]), "the fallback passes nothing");
    assert!(team.ask(&["audit", "verify"]).done()["valid"].as_bool().unwrap());
    assert!(team.ask(&["rebuild"]).done()["differences"].as_array().is_none_or(Vec::is_empty));
}

/// A workflow without a fallback returns the status the same way. After that the handoff is malformed, and evidence of
/// nothing.
#[test]
fn unknown_status_without_a_fallback_is_returned_twice_and_is_then_a_problem() {
    let team = Team::new("mcp_unknown_without_fallback");
    let started = team.ask(&["session", "start", "--title", "Add login", "--workflow", "feature"]).done();
    let session = started["session"].as_str().expect("a session").to_owned();
    let planner = team.claim(&session, "planner", "-");
    let more = json!({ "skills_invoked": ["persisting-agent-outputs", "writing-plans"], "summary": "one group",
        "groups": [{ "id": "LOGIN", "title": "Log in", "domain": "backend" }] });
    let mut call = json!({ "assignment": planner.assignment, "token": planner.token,
        "handoff": handoff("planner", "DONE", more.clone()) });
    let mut client = Client::new(&team, NEWEST);
    let checked = client.call("check_handoff", json!({ "assignment": call["assignment"], "handoff": call["handoff"] }));
    assert_eq!(checked["problems"].as_array().map(Vec::len), Some(1), "{checked}");
    assert_eq!(checked["problems"][0]["code"], "E0380", "{checked}");
    for _ in 0..2 {
        let refused = client.refused("report_handoff", call.clone());
        assert_eq!((&refused["code"], refused["problems"].as_array().map(Vec::len)), (&json!("E0380"), Some(1)));
        let allowed: Vec<&str> = refused["allowed"].as_array().unwrap().iter().filter_map(Json::as_str).collect();
        assert_eq!(allowed, ["complete", "needs_clarification", "needs_review", "blocked"], "{refused}");
        let help = refused["help"].as_str().unwrap();
        assert!(help.starts_with("usually: `complete` (finished); otherwise: "), "{help}");
    }
    let refused = client.refused("report_handoff", call.clone());
    assert_eq!(refused["code"], "E0227", "{refused}");
    assert!(!refused.to_string().contains("MERGE_"), "no merge assignment: {refused}");
    call["handoff"] = handoff("planner", "complete", more);
    let decided = client.call("report_handoff", call);
    assert_eq!(decided["next"][0]["role"], "backend-lead", "{decided}");
}

/// A right status after an unknown one is an ordinary report.
#[test]
fn known_status_after_an_unknown_one_is_accepted() {
    let team = Team::new("mcp_unknown_then_known");
    let (_, mut call) = planned(&team);
    let mut client = Client::new(&team, NEWEST);
    client.refused("report_handoff", call.clone());
    call["handoff"] = json!({ "status": "READY_FOR_QA", "handoff": { "context": "Log in works." } });
    let decided = client.call("report_handoff", call);
    assert_eq!(decided["next"][0]["role"], "qa_expert");
}

/// `interlock report` is called by scripts: the documents' fallback applies at once.
#[test]
fn unknown_status_by_command_takes_the_fallback_at_once() {
    let team = Team::new("mcp_unknown_by_command");
    let session = team.start("Add login");
    let groups = json!({ "groups": [{ "id": "LOGIN", "title": "Log in" }] });
    team.plays(&session, "project_manager", "-", "PLANNING_COMPLETE", groups);
    let decided = team.plays(&session, "developer", "LOGIN", "DONE", json!({}));
    assert_eq!((&decided["rule"], &decided["next"][0]["role"]), (&json!("unknown_status"), &json!("tech_lead")));
    assert_eq!(decided["warnings"].as_array().map(Vec::len), Some(1), "one mistake, one warning: {decided}");
}

/// What a check calls valid, a report has to accept.
#[test]
fn check_of_an_unknown_status_answers_as_a_report_would() {
    let team = Team::new("mcp_check_unknown");
    let (_, call) = planned(&team);
    let mut client = Client::new(&team, NEWEST);
    let of_assignment = json!({ "assignment": call["assignment"], "handoff": call["handoff"] });
    let of_role = json!({ "role": "developer", "handoff": call["handoff"] });
    for check in [of_assignment.clone(), of_role] {
        let checked = client.call("check_handoff", check);
        assert_eq!((&checked["valid"], &checked["allowed"][0]), (&json!(false), &json!("READY_FOR_QA")), "{checked}");
        assert_eq!(checked["problems"][0]["code"], "E0380", "{checked}");
        let help = checked["problems"][0]["help"].as_str().unwrap();
        assert!(help.contains("usually: `READY_FOR_QA` ("), "{help}");
    }
    for _ in 0..2 {
        client.refused("report_handoff", call.clone());
    }
    let checked = client.call("check_handoff", of_assignment);
    assert_eq!((&checked["valid"], &checked["warnings"][0]["code"]), (&json!(true), &json!("E0227")), "{checked}");
    assert_eq!(client.call("report_handoff", call)["rule"], "unknown_status");
}

/// Otherwise the agent would learn of the status only after it has fixed everything else.
#[test]
fn unknown_status_is_returned_together_with_other_problems() {
    let team = Team::new("mcp_unknown_and_more");
    let (_, mut call) = planned(&team);
    call["handoff"] = json!({ "status": "DONE", "files_modified": 5, "handoff": {} });
    let mut client = Client::new(&team, NEWEST);
    let refused = client.refused("report_handoff", call);
    let codes: Vec<&str> =
        refused["problems"].as_array().unwrap().iter().filter_map(|problem| problem["code"].as_str()).collect();
    assert_eq!((&refused["code"], codes.first()), (&json!("E0380"), Some(&"E0380")), "{refused}");
    assert!(codes.len() > 1, "{refused}");
}

#[test]
fn refusal_of_a_report_is_explained_by_its_event() {
    let team = Team::new("mcp_refusal_is_explained");
    let (session, call) = planned(&team);
    let mut client = Client::new(&team, NEWEST);
    client.refused("report_handoff", call);
    let last = team.log(&session).last().expect("an event")["seq"].as_u64().expect("a number");
    let told = client.call("explain_decision", json!({ "decision": format!("{session}.e{last}") }));
    assert_eq!((&told["kind"], &told["refused"]["code"]), (&json!("refused"), &json!("E0380")), "{told}");
    assert!(told["text"].as_str().is_some_and(|text| text.contains("E0380")), "{told}");
    let plan = client.call("explain_decision", json!({ "decision": format!("{session}.e1") }));
    assert_eq!(plan["decision"], format!("{session}.d1"), "an event with a decision: {plan}");
    let unknown = client.refused("explain_decision", json!({ "decision": format!("{session}.e999") }));
    assert_eq!(unknown["code"], "E0333", "{unknown}");
    assert!(unknown["help"].as_str().is_some_and(|help| help.contains("SESSION.eN")), "{unknown}");
}
