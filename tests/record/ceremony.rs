//! The smallest handoff of an assignment, and what Interlock fills in.

use serde_json::{Value as Json, json};

use crate::planned;
use crate::team::{Team, run};

const SMALLEST: &str = r#"{ "status": "READY_FOR_QA", "handoff": { "context": "Log in works by mail." } }"#;

#[test]
fn smallest_handoff_of_an_assignment_is_accepted_and_recorded_as_filled_in() {
    let (team, session) = planned("smallest", &["LOGIN"]);
    let developer = team.claim(&session, "developer", "LOGIN");
    let decided = team.give(&developer, SMALLEST).done();
    assert_eq!(decided["next"][0]["role"], "qa_expert");
    let log = team.ask(&["log", &session, "--full"]).done();
    let event = log["events"].as_array().unwrap().iter().rfind(|event| event["kind"] == "reported").unwrap().clone();
    let filled = &event["data"]["cause"]["reported"]["filled_in"];
    let fields: Vec<&str> = filled.as_object().unwrap().keys().map(String::as_str).collect();
    let expected = ["agent", "feature_directory", "handoff.next_agent", "output_type", "skills_invoked", "timestamp"];
    assert_eq!(fields, expected);
    assert_eq!(filled["agent"], "developer");
    assert_eq!(filled["skills_invoked"], json!([]));
    let directory = filled["feature_directory"].as_str().unwrap();
    assert!(directory.ends_with(&session), "the folder of the session: {directory}");
    assert_eq!(event["given"], serde_json::from_str::<Json>(SMALLEST).unwrap(), "the record keeps what was submitted");
    // The same again is the same report, although the time that would be filled in is another.
    assert_eq!(team.give(&developer, SMALLEST).done()["repeated"], true);
    assert!(team.ask(&["audit", "verify"]).done()["valid"].as_bool().unwrap());
}

#[test]
fn handoff_with_everything_stated_records_nothing_as_filled_in() {
    let (team, session) = planned("stated", &["LOGIN"]);
    team.plays(&session, "developer", "LOGIN", "READY_FOR_QA", json!({}));
    let log = team.log(&session);
    let event = log.iter().rfind(|event| event["kind"] == "reported").unwrap();
    assert!(event["data"]["cause"]["reported"].get("filled_in").is_none(), "{event}");
}

#[test]
fn value_that_is_given_is_still_checked() {
    let (team, session) = planned("given", &["LOGIN"]);
    let developer = team.claim(&session, "developer", "LOGIN");
    for (field, value, code) in [
        ("agent", json!("qa_expert"), "E0213"),
        ("agent", json!(""), "E0210"),
        ("timestamp", json!("yesterday"), "E0215"),
        ("feature_directory", json!(7), "E0211"),
        ("skills_invoked", json!("all"), "E0211"),
        ("output_type", json!(" "), "E0210"),
    ] {
        let mut handoff: Json = serde_json::from_str(SMALLEST).unwrap();
        handoff[field] = value.clone();
        let run = team.give(&developer, &handoff.to_string());
        assert_eq!((run.exit, run.code().as_str()), (4, code), "{field} = {value}: {run}");
        assert_eq!(run.json()["error"]["problems"].as_array().unwrap().len(), 1, "{run}");
    }
}

#[test]
fn document_workflow_still_asks_for_what_only_the_agent_knows() {
    let team = Team::new("record-documents");
    let started = team.ask(&["session", "start", "--title", "Add", "--workflow", "mcp-wrapper"]).done();
    let session = started["session"].as_str().unwrap();
    let holder = team.claim(session, "claude", "-");
    let small = json!({ "status": "complete", "handoff": { "context": "One tool." },
        "groups": [{ "id": "get-issue", "title": "Wrap get-issue" }] });
    let run = team.give(&holder, &small.to_string());
    assert_eq!(run.exit, 4, "{run}");
    let problems = run.json()["error"]["problems"].as_array().unwrap().clone();
    let fields: Vec<&str> = problems.iter().filter_map(|problem| problem["field"].as_str()).collect();
    assert!(fields.contains(&"skills_invoked") && fields.contains(&"summary"), "{fields:?}");
    for known in ["agent", "timestamp", "feature_directory", "output_type", "phase"] {
        assert!(!fields.contains(&known), "Interlock knows {known}: {fields:?}");
    }
}

#[test]
fn handoff_check_is_strict_unless_fields_may_be_filled_in() {
    let team = Team::new("record-check-filled");
    let file = team.file("small.json", SMALLEST).display().to_string();
    let check = ["handoff", "check", &file, "--workflow", "delivery-team", "--role", "developer"];
    let strict = team.ask(&check);
    assert_eq!(strict.exit, 4, "{strict}");
    let filled = team.ask(&[&check[..], &["--filled"]].concat());
    assert_eq!((filled.exit, &filled.json()["valid"]), (0, &json!(true)), "{filled}");
}

/// Agents write Markdown too, and people read the answer.
#[test]
fn smallest_handoff_in_markdown_is_accepted() {
    let (team, session) = planned("markdown", &["LOGIN"]);
    let developer = team.claim(&session, "developer", "LOGIN");
    let mut command = team.command(&["report", "--assignment", &developer.assignment, "-"]);
    let output = format!("Done.\n\n```json\n{SMALLEST}\n```\n");
    let run = run(command.env("INTERLOCK_TOKEN", &developer.token), &output);
    assert_eq!(run.exit, 0, "{run}");
}
