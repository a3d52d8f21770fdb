//! A session by tools alone, and what is refused on the way.

use serde_json::{Value as Json, json};

use crate::client::{Client, NEWEST};
use crate::team::{Team, handoff, run};

fn started(client: &mut Client) -> String {
    let started = client.call("start_session", json!({ "title": "Add login", "mission": "People log in by mail." }));
    assert_eq!(started["workflow"], "delivery-team");
    assert_eq!(started["next"][0]["role"], "project_manager");
    started["session"].as_str().unwrap().to_owned()
}

fn plan() -> Json {
    json!({ "groups": [{ "id": "LOGIN", "title": "Log in" }, { "id": "LOGOUT", "title": "Log out" }] })
}

/// A review, a round of rework, a block, a rejected end and a good one.
#[test]
fn a_whole_session_by_tools_alone() {
    for version in ["2024-11-05", NEWEST] {
        let team = Team::new(&format!("mcp_a_whole_session_{version}"));
        let mut client = Client::new(&team, version);
        let session = &started(&mut client);
        let planned = client.plays(session, "project_manager", None, "PLANNING_COMPLETE", plan());
        assert_eq!((&planned["action"], planned["next"].as_array().map(Vec::len)), (&json!("batch"), Some(2)));
        let line = planned["do_next"].as_str().unwrap();
        assert!(line.contains("side by side") && line.contains("for developer on LOGOUT"), "{line}");
        for group in ["LOGIN", "LOGOUT"] {
            client.plays(session, "developer", Some(group), "READY_FOR_QA", json!({}));
        }
        client.plays(session, "qa_expert", Some("LOGIN"), "PASS", json!({}));
        let issue = json!({ "id": "TL-1", "title": "No check", "location": "src/login.rs:4", "severity": "HIGH", "blocking": true });
        let back = client.plays(session, "tech_lead", Some("LOGIN"), "CHANGES_REQUESTED", json!({ "issues": [issue] }));
        assert_eq!((&back["action"], &back["next"][0]["role"]), (&json!("respawn"), &json!("developer")));
        let blocked = json!({ "attempted": ["npm test"], "blocked_reason": "environment" });
        client.plays(session, "qa_expert", Some("LOGOUT"), "BLOCKED", blocked);
        let status = client.call("session_status", json!({ "session": session }));
        assert_eq!(status["groups"][1]["status"], "blocked");
        let answers = json!({ "issue_responses": [{ "id": "TL-1", "response": "fixed" }] });
        client.plays(session, "developer", Some("LOGIN"), "READY_FOR_QA", answers);
        client.plays(session, "qa_expert", Some("LOGIN"), "PASS", json!({}));
        for group in ["LOGIN", "LOGOUT"] {
            client.plays(session, "tech_lead", Some(group), "APPROVED", json!({}));
            client.plays(session, "developer", Some(group), "MERGE_SUCCESS", json!({}));
        }
        let rejected = client.plays(session, "project_manager", None, "BAZINGA", json!({ "accept": [] }));
        assert_eq!(rejected["judgement"]["verdict"], "REJECT", "{rejected}");
        let accepted = client.plays(session, "project_manager", None, "BAZINGA", json!({}));
        assert_eq!(accepted["judgement"]["verdict"], "ACCEPT", "{accepted}");
        assert_eq!(accepted["do_next"], "The session is completed: nothing is left to do.");
        assert_eq!(team.status(session), "completed");
        let why = client.call("explain_decision", json!({ "decision": accepted["decision"] }));
        assert_eq!(why["rule"], accepted["rule"]);
        assert!(team.ask(&["audit", "verify"]).done()["valid"].as_bool().unwrap());
        assert_eq!(client.close(), (Some(0), String::new()));
    }
}

/// Requirements are not for the model to drop.
#[test]
fn model_may_not_drop_a_requirement_or_declare_an_investigation() {
    let team = Team::new("mcp_model_may_not_drop_a_requirement");
    let mut client = Client::new(&team, NEWEST);
    for value in ["disabled", "minimal"] {
        let start = json!({ "title": "Quick", "settings": { "testing": value } });
        let refused = client.refused("start_session", start);
        assert_eq!(refused["code"], "E0355", "{refused}");
    }
    let declared = json!({ "title": "Look", "investigation": true });
    let answer = client.request("tools/call", json!({ "name": "start_session", "arguments": declared }));
    assert_eq!(answer["isError"], true, "{answer}");
    assert_eq!(team.ask(&["session", "list"]).done()["sessions"], json!([]), "no session was started");
}

/// What hooks would turn down is not what a model is told to do.
#[test]
fn where_hooks_watch_a_model_is_told_to_start_sub_agents() {
    let team = Team::new("mcp_hooks_watch");
    let mut client = Client::new(&team, NEWEST);
    let session = &started(&mut client);
    let next = |client: &mut Client| {
        let next = client.call("whats_next", json!({ "session": session }));
        next["do_next"].as_str().unwrap().to_owned()
    };
    assert!(next(&mut client).contains(&format!("claim_assignment {session}.a1")));
    let hook = |tool: &str, input: Json| {
        let payload = json!({
            "session_id": "c", "cwd": team.project(), "tool_name": tool, "tool_input": input, "tool_use_id": "t",
        });
        run(&mut team.command(&["hook", "claude", "PreToolUse"]), &payload.to_string()).stdout
    };
    assert!(hook("Write", json!({ "file_path": "a.rs" })).contains("E0702"));
    let line = next(&mut client);
    assert!(line.contains(&format!("start sub-agent `project_manager` ({session}.a1): hooks claim it")), "{line}");
    assert!(hook("Agent", json!({ "subagent_type": "project_manager", "prompt": "p" })).contains("# Assignment"));
    let line = next(&mut client);
    assert!(line.contains(&format!("wait for project_manager ({session}.a1), whose handoff a hook submits")), "{line}");
}

#[test]
fn refusals_say_what_is_allowed() {
    let team = Team::new("mcp_refusals_say_what_is_allowed");
    let mut client = Client::new(&team, "2025-11-25");
    let session = &started(&mut client);
    let (assignment, token) = client.claims(session, "project_manager", None);
    let report = |assignment: &str, token: &str, handoff: Json| json!({ "assignment": assignment, "token": token, "handoff": handoff });
    let good = handoff("project_manager", "PLANNING_COMPLETE", plan());

    let wrong = client.refused("report_handoff", report(&assignment, &"0".repeat(64), good.clone()));
    assert_eq!(wrong["code"], "E0306");
    assert!(wrong["allowed"][0].as_str().unwrap().starts_with(&format!("report_handoff {assignment}")), "{wrong}");
    let none = client.refused("report_handoff", report(&assignment, "let me in", good.clone()));
    assert_eq!(none["code"], "E0306");

    let early = client.refused(
        "report_handoff",
        report(&assignment, &token, handoff("project_manager", "GROUP_ACCEPTED", json!({}))),
    );
    assert!(early["allowed"].as_array().unwrap().contains(&json!("PLANNING_COMPLETE")), "{early}");

    let malformed =
        json!({ "agent": "tech_lead", "status": "PLANNING_COMPLETE", "handoff": { "next_agent": "developer" } });
    let every = client.refused("report_handoff", report(&assignment, &token, malformed.clone()));
    let problems = every["problems"].as_array().unwrap();
    let fields: Vec<&str> = problems.iter().filter_map(|problem| problem["field"].as_str()).collect();
    assert_eq!(fields, ["groups", "agent", "handoff.context"], "every problem at once: {every}");
    let checked = client.call("check_handoff", json!({ "assignment": assignment, "handoff": malformed }));
    assert_eq!((&checked["valid"], checked["problems"].as_array().unwrap().len()), (&json!(false), problems.len()));
    let prose = client.refused("report_handoff", report(&assignment, &token, json!("All is done, believe me.")));
    assert!(prose["code"].is_string(), "{prose}");

    let ahead = client.refused("claim_assignment", json!({ "assignment": format!("{session}.a2") }));
    assert!(ahead["do_next"].as_str().unwrap().contains(&assignment), "{ahead}");
    assert!(ahead["allowed"][0].as_str().unwrap().contains("report_handoff"), "{ahead}");
    client.refused("claim_assignment", json!({ "assignment": "nonsense" }));
    client.refused("whats_next", json!({ "session": "no-such-session" }));
    client.refused("start_session", json!({ "title": " " }));

    // None of it changed anything, and all of it that reached the engine is on the record.
    let kinds: Vec<String> = team.log(session).iter().map(|event| event["kind"].as_str().unwrap().to_owned()).collect();
    assert_eq!(kinds.iter().filter(|kind| *kind == "refused").count(), 6, "{kinds:?}");
    let text = format!("I planned it.\n\n```json\n{good:#}\n```\n");
    let first = client.call("report_handoff", report(&assignment, &token, json!(text)));
    let again = client.call("report_handoff", report(&assignment, &token, good));
    assert_eq!((&first["decision"], &again["repeated"]), (&again["decision"], &json!(true)), "the same, the same");
}

/// Checking is free: no assignment is needed, and nothing is stored.
#[test]
fn a_handoff_is_checked_without_a_trace() {
    let team = Team::new("mcp_a_handoff_is_checked");
    let mut client = Client::new(&team, "2025-11-25");
    let session = &started(&mut client);
    let before = team.log(session).len();
    let good = handoff("qa_expert", "PASS", json!({}));
    let valid = client.call("check_handoff", json!({ "role": "qa_expert", "handoff": good }));
    assert_eq!((&valid["valid"], &valid["status"]), (&json!(true), &json!("PASS")));
    let other = client.call("check_handoff", json!({ "role": "tech_lead", "handoff": good }));
    assert_eq!(other["valid"], false);
    let named = client.refused("check_handoff", json!({ "role": "hacker", "handoff": good }));
    assert!(named["allowed"].as_array().unwrap().contains(&json!("qa_expert")), "{named}");
    client.refused("check_handoff", json!({ "handoff": good }));
    assert_eq!(team.log(session).len(), before);
}

/// A model could write a workflow without a review, and then start a session by it.
#[test]
fn a_model_does_not_bring_its_own_rules() {
    let team = Team::new("mcp_a_model_does_not_bring_its_own_rules");
    let lax = team.project().join("lax.yaml");
    std::fs::write(&lax, "name: lax\nextends: delivery-team\n").unwrap();
    let mut client = Client::new(&team, "2025-11-25");
    for name in ["lax.yaml", "./lax.yaml", lax.to_str().unwrap(), "../project/interlock.yaml"] {
        let refusal = client.refused("start_session", json!({ "title": "T", "workflow": name }));
        assert_eq!(refusal["allowed"][0], "interlock.yaml", "{refusal}");
    }
    let refusal = client.refused("start_session", json!({ "title": "T", "workflow": "feature" }));
    assert_eq!(refusal["code"], "E0355", "{refusal}");
    client.call("start_session", json!({ "title": "T", "workflow": "delivery-team" }));
    client.call("start_session", json!({ "title": "T", "workflow": "interlock.yaml" }));
}

/// After a compaction a model knows nothing; the only session that is under way is found for it.
#[test]
fn a_session_is_found_again() {
    let team = Team::new("mcp_a_session_is_found_again");
    let mut client = Client::new(&team, "2025-11-25");
    assert!(client.refused("whats_next", json!({}))["help"].as_str().unwrap().contains("start_session"));
    let session = started(&mut client);
    assert_eq!(client.call("whats_next", json!({}))["session"], session);
    let other = started(&mut client);
    let allowed = client.refused("whats_next", json!({}))["allowed"].take();
    assert_eq!(allowed, json!([other, session]));
}
