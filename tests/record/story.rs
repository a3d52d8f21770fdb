//! `log`, `why` and `decisions` tell what happened: session, group, agent, status, next agent, action and time.

use serde_json::{Value as Json, json};

use crate::planned;
use crate::team::{Run, Team, run};

fn read(team: &Team, arguments: &[&str]) -> Run {
    run(&mut team.command(arguments), "")
}

/// A session of the quick start: a plan, a block, a review that fails once, and a rejected end.
fn session(test: &str) -> (Team, String) {
    let (team, session) = planned(test, &["LOGIN", "LOGOUT"]);
    let small = r#"{ "status": "READY_FOR_QA", "handoff": { "context": "Log in works by mail." } }"#;
    let developer = team.claim(&session, "developer", "LOGIN");
    team.give(&developer, small).done();
    team.plays(&session, "qa_expert", "LOGIN", "PASS", json!({ "test_progression": { "still_failing": [] } }));
    let issue = json!({ "id": "TL-1", "title": "No check", "location": "src/login.rs:4", "severity": "HIGH",
        "blocking": true });
    team.plays(&session, "tech_lead", "LOGIN", "CHANGES_REQUESTED", json!({ "issues": [issue] }));
    let blocked = json!({ "attempted": ["npm test"], "blocked_reason": "environment" });
    team.plays(&session, "developer", "LOGOUT", "BLOCKED", blocked);
    assert_eq!(team.ask(&["complete", &session]).exit, 3);
    (team, session)
}

#[test]
fn decisions_list_has_every_field_of_a_routing_record() {
    let (team, session) = session("decisions");
    let listed = team.ask(&["decisions", &session]).done()["decisions"].as_array().unwrap().clone();
    for decision in &listed {
        for field in ["decision", "session", "group", "agent", "status", "next_agent", "action", "rule", "at"] {
            assert!(decision.get(field).is_some(), "{field}: {decision}");
        }
        assert_eq!(decision["session"], session.as_str());
    }
    let row = |decision: &Json| {
        ["group", "agent", "status", "action", "next_agent"]
            .map(|field| decision[field].as_str().unwrap_or("-").to_owned())
    };
    let rows: Vec<[String; 5]> = listed.iter().map(row).collect();
    let texts: Vec<Vec<&str>> = rows.iter().map(|row| row.iter().map(String::as_str).collect()).collect();
    assert_eq!(texts[0], ["-", "-", "started", "spawn", "project_manager"]);
    assert_eq!(texts[1], ["-", "project_manager", "PLANNING_COMPLETE", "batch", "developer"]);
    assert_eq!(texts[2], ["LOGIN", "developer", "READY_FOR_QA", "spawn", "qa_expert"]);
    assert_eq!(texts[3], ["LOGIN", "qa_expert", "PASS", "spawn", "tech_lead"]);
    assert_eq!(texts[4], ["LOGIN", "tech_lead", "CHANGES_REQUESTED", "respawn", "developer"]);
    assert_eq!(texts[5], ["LOGOUT", "developer", "BLOCKED", "spawn", "investigator"]);
    let all = team.ask(&["decisions"]).done();
    assert_eq!(all["decisions"].as_array().unwrap().len(), listed.len(), "without a session: of all sessions");
}

#[test]
fn log_in_json_has_the_routing_record_of_every_event() {
    let (team, session) = session("log-json");
    let log = team.log(&session);
    let reported = log.iter().find(|event| event["status"] == "READY_FOR_QA").expect("a report");
    let record = ["session", "group", "agent", "next_agent", "action"].map(|field| reported[field].as_str().unwrap());
    assert_eq!(record, [session.as_str(), "LOGIN", "developer", "qa_expert", "spawn"]);
    assert!(log.iter().all(|event| event["at"].is_string() && event["session"] == session.as_str()));
}

#[test]
fn log_in_text_tells_what_happened_and_names_rules_on_request() {
    let (team, session) = session("log-text");
    let plain = read(&team, &["log", &session]).stdout;
    assert!(plain.contains("developer on LOGIN reported READY_FOR_QA"), "{plain}");
    assert!(plain.contains("spawn qa_expert on LOGIN"), "{plain}");
    assert!(!plain.contains("routes."), "rules are for -v: {plain}");
    assert!(plain.lines().all(|line| line.chars().count() <= 80), "{plain}");
    let verbose = read(&team, &["log", &session, "-v"]).stdout;
    assert!(verbose.contains("routes."), "{verbose}");
}

#[test]
fn why_of_a_verdict_lists_every_reason_with_its_code() {
    let (team, session) = planned("why-verdict", &["LOGIN", "LOGOUT"]);
    team.ask(&["defer", &session, "LOGOUT", "--why", "the vendor is down", "--as", "ann"]).done();
    team.plays(&session, "developer", "LOGIN", "READY_FOR_QA", json!({}));
    team.plays(&session, "qa_expert", "LOGIN", "PASS", json!({ "test_progression": { "still_failing": [] } }));
    team.plays(&session, "tech_lead", "LOGIN", "APPROVED", json!({}));
    team.plays(&session, "developer", "LOGIN", "MERGE_SUCCESS", json!({}));
    let rejected = team.plays(&session, "project_manager", "-", "BAZINGA", json!({}));
    let why = team.ask(&["why", rejected["decision"].as_str().unwrap()]).done();
    assert_eq!(why["judgement"]["verdict"], "REJECT", "{why}");
    let text = why["text"].as_str().unwrap();
    assert!(text.contains("project_manager reported BAZINGA") && text.contains("REJECT"), "{text}");
    let reasons = why["judgement"]["reasons"].as_array().unwrap();
    assert!(reasons.iter().any(|reason| reason["code"] == "E0343"), "{why}");
    for reason in reasons {
        assert!(text.contains(reason["code"].as_str().unwrap()), "{text}");
    }
}

/// The line of a rule changes with every change of the workflow above it.
fn without_lines(text: &str) -> String {
    let mut parts = text.split(".yaml:");
    let mut steady = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        steady.push_str(".yaml:LINE");
        steady.push_str(part.trim_start_matches(|c: char| c.is_ascii_digit()));
    }
    steady
}

/// An upgrade moves lines. A decision is explained with the file that decided it.
#[test]
fn why_after_an_upgrade_cites_the_line_of_its_time() {
    let (team, session) = planned("why-upgrade", &["LOGIN"]);
    let line = |decision: &str| {
        team.ask(&["why", &format!("{session}.{decision}")]).done()["source"]["line"].as_u64().expect("a line")
    };
    let before = line("d2");
    let file = team.project().join("interlock.yaml");
    let text = std::fs::read_to_string(&file).unwrap();
    let changed = text.replacen("settings:\n", "settings:\n  pace: [calm, brisk]\n", 1);
    assert_ne!(changed, text);
    std::fs::write(&file, format!("# one\n# two\n# three\n{changed}")).unwrap();
    team.ask(&["session", "upgrade", &session, "--workflow", "interlock.yaml", "--as", "ann"]).done();
    assert_eq!(line("d2"), before);
    let later = team.plays(&session, "developer", "LOGIN", "READY_FOR_QA", json!({}));
    let id = later["decision"].as_str().unwrap();
    let (_, id) = id.rsplit_once('.').unwrap();
    let now = std::fs::read_to_string(&file).unwrap();
    let at = usize::try_from(line(id)).unwrap();
    assert!(now.lines().nth(at - 1).unwrap().contains("READY_FOR_QA"), "line {at}");
}

/// Each was read once as the person who asks would.
#[test]
fn why_outputs_of_the_quick_start() {
    let (team, session) = session("why");
    for decision in 1..=6 {
        let why = read(&team, &["why", &format!("{session}.d{decision}")]);
        assert_eq!(why.exit, 0, "{why}");
        assert!(why.stdout.lines().all(|line| line.chars().count() <= 80), "{}", why.stdout);
        let stamp = why.stdout.lines().next().unwrap().split("  ").last().unwrap().to_owned();
        let text = without_lines(&why.stdout.replace(&session, "SESSION").replace(&stamp, "TIME"));
        insta::assert_snapshot!(format!("why_d{decision}"), text);
    }
    let why = team.ask(&["why", &format!("{session}.d3")]).done();
    assert_eq!(
        (&why["agent"], &why["group"], &why["status"]),
        (&json!("developer"), &json!("LOGIN"), &json!("READY_FOR_QA"))
    );
    assert!(why["source"]["line"].is_u64() && why["filled_in"]["agent"] == "developer", "{why}");
}
