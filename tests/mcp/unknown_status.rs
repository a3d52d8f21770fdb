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
