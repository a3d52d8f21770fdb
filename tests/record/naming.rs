//! Ids of groups, titles, and names of persons.

use serde_json::json;

use crate::planned;
use crate::team::Team;

fn refused_plan(test: &str, groups: &serde_json::Value) -> serde_json::Value {
    let team = Team::new(&format!("record-{test}"));
    let session = team.start("Add login");
    let manager = team.claim(&session, "project_manager", "-");
    let run = team.report(&manager, "PLANNING_COMPLETE", json!({ "groups": groups }));
    assert_eq!(run.exit, 4, "{run}");
    run.json()["error"].clone()
}

#[test]
fn group_ids_that_differ_in_case_only_are_refused() {
    let error = refused_plan("case", &json!([{ "id": "A", "title": "First" }, { "id": "a", "title": "Second" }]));
    assert_eq!(error["code"], "E0231");
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("`a`") && message.contains("`A`") && message.contains("case"), "{message}");
    assert_eq!(error["problems"][0]["field"], "groups[1].id");
}

#[test]
fn group_id_of_a_later_plan_is_compared_without_case() {
    let (team, session) = planned("later-case", &["LOGIN"]);
    team.plays(&session, "developer", "LOGIN", "READY_FOR_QA", json!({}));
    team.plays(&session, "qa_expert", "LOGIN", "PASS", json!({ "test_progression": { "still_failing": [] } }));
    team.plays(&session, "tech_lead", "LOGIN", "APPROVED", json!({}));
    team.plays(&session, "developer", "LOGIN", "MERGE_SUCCESS", json!({}));
    let manager = team.claim(&session, "project_manager", "-");
    let more = json!({ "groups": [{ "id": "login", "title": "Again" }] });
    let run = team.report(&manager, "CONTINUE", more);
    assert_eq!(run.exit, 4, "{run}");
    assert!(run.to_string().contains("there is a group `LOGIN`"), "{run}");
}

#[test]
fn reserved_group_id_is_refused_with_its_reason() {
    for (id, reason) in [
        ("session", "Interlock uses this word"),
        ("Interlock", "Interlock uses this word"),
        ("CON", "Windows"),
        ("nul.txt", "Windows"),
        ("com1", "Windows"),
        ("x.lock", "git"),
        ("a..b", "git"),
        ("a.", "git"),
    ] {
        let error = refused_plan("reserved", &json!([{ "id": id, "title": "Work" }]));
        assert_eq!(error["code"], "E0260", "{id}: {error}");
        let message = error["message"].as_str().unwrap();
        assert!(message.contains(id) && message.contains(reason), "{message}");
    }
}

#[test]
fn title_of_a_group_beyond_the_limit_is_refused() {
    let error = refused_plan("group-title", &json!([{ "id": "A", "title": "x".repeat(1 << 20) }]));
    assert_eq!(error["code"], "E0261");
    assert!(error["message"].as_str().unwrap().contains("1048576 characters; at most 200"), "{error}");
    assert!(error.to_string().len() < 2000, "the refusal does not repeat the title");
}

#[test]
fn title_of_a_session_beyond_the_limit_is_refused() {
    let team = Team::new("record-session-title");
    let run = team.ask(&["session", "start", "--title", &"x".repeat(201)]);
    assert_eq!((run.exit, run.code().as_str()), (4, "E0261"), "{run}");
    assert_eq!(team.ask(&["session", "list"]).done()["sessions"], json!([]), "nothing was started");
    team.start(&"x".repeat(200));
}

#[test]
fn person_without_a_usable_name_is_refused() {
    let (team, session) = planned("person", &["LOGIN"]);
    for name in ["", "  ", &"n".repeat(101)] {
        let run = team.ask(&["cancel", &session, "--as", name]);
        assert_eq!((run.exit, run.code().as_str()), (4, "E0261"), "{run}");
    }
    assert_eq!(team.status(&session), "active");
}
