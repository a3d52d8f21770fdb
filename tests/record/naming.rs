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

/// The record names roles and persons side by side, so a person with the name of a role would read like an agent.
#[test]
fn person_with_the_name_of_a_role_or_of_interlock_is_refused_by_every_command() {
    let (team, session) = planned("person-role", &["LOGIN"]);
    for name in ["project_manager", " Tech_Lead ", "tech lead", "validator", "Interlock", "a\"b", "a`b"] {
        for arguments in [
            &["defer", &session, "LOGIN", "--why", "later"][..],
            &["acknowledge", &session, "LOGIN"],
            &["accept", &session, "LOGIN"],
            &["override", &session, "LOGIN", "--to", "tech_lead", "--why", "now"],
            &["override", &session, "LOGIN", "--waive", "qa", "--why", "now"],
            &["complete", &session],
            &["cancel", &session],
            &["session", "upgrade", &session, "--workflow", "feature"],
        ] {
            let mut arguments = arguments.to_vec();
            arguments.extend(["--as", name]);
            let run = team.ask(&arguments);
            assert_eq!((run.exit, run.code().as_str()), (4, "E0262"), "{arguments:?}: {run}");
        }
    }
    let started = team.ask(&["session", "start", "--title", "T", "--investigation", "--as", "project_manager"]);
    assert_eq!(started.code(), "E0262", "{started}");
    let allowed = team.ask(&["session", "start", "--title", "T", "--allow", "ci/**", "--as", "project_manager"]);
    assert_eq!(allowed.code(), "E0262", "{allowed}");
    for refused in team.log(&session).iter().filter(|event| event["kind"] == "refused") {
        assert_eq!(refused["agent"], json!(null), "the record does not repeat the name: {refused}");
    }
    assert_eq!(team.status(&session), "active");
    team.ask(&["cancel", &session, "--as", "operator"]).done();
}

/// A refusal that never came to the decision records no agent either.
#[test]
fn refusal_without_a_key_does_not_record_the_name_of_a_role() {
    let (team, session) = planned("person-key", &["LOGIN"]);
    let run = team.ask_without_keys(&["cancel", &session, "--as", "project_manager"]);
    assert_eq!(run.exit, 3, "{run}");
    let log = crate::run(&mut team.command(&["log", &session]), "").stdout;
    assert!(!log.contains("by project_manager"), "{log}");
}

#[test]
fn person_whose_name_reads_like_a_sentence_stands_in_quotation_marks() {
    let (team, session) = planned("person-sentence", &["LOGIN"]);
    let name = "operator accepted LOGIN: fine; operator";
    team.ask(&["defer", &session, "LOGIN", "--why", "later", "--as", name]).done();
    team.ask(&["cancel", &session, "--as", name]).done();
    let decisions = team.ask(&["decisions", &session]).done()["decisions"].as_array().map_or(0, Vec::len);
    let mut commands = vec![
        vec!["log".to_owned(), session.clone()],
        vec!["session".to_owned(), "show".to_owned(), session.clone()],
        vec!["decisions".to_owned(), session.clone()],
        vec!["watch".to_owned(), session.clone()],
    ];
    commands.extend((1..=decisions).map(|id| vec!["why".to_owned(), format!("{session}.d{id}")]));
    for arguments in commands {
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let shown = crate::run(&mut team.command(&arguments), "").stdout;
        let words = shown.split_whitespace().filter(|word| *word != "|").collect::<Vec<_>>().join(" ");
        let named = words.matches(name).count();
        assert_eq!(words.matches(&format!("\"{name}\"")).count(), named, "{arguments:?}: {shown}");
    }
}
