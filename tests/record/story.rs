//! `log`, `why` and `decisions` tell what happened: session, group, agent, status, next agent, action and time.

use serde_json::{Value as Json, json};

use crate::team::{Run, Team, run};
use crate::{planned, submit_for_people};

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

/// Plays the rest of a group whose QA is blocked, and ends the session with a BAZINGA that names no group.
fn end_without_qa(team: &Team, session: &str) -> [String; 3] {
    let why = |decision: &Json| {
        let id = decision["decision"].as_str().expect("an id");
        read(team, &["why", id]).stdout.split_whitespace().filter(|word| *word != "|").collect::<Vec<_>>().join(" ")
    };
    let approved = team.plays(session, "tech_lead", "LOGIN", "APPROVED", json!({}));
    team.plays(session, "developer", "LOGIN", "MERGE_SUCCESS", json!({}));
    let manager = team.claim(session, "project_manager", "-");
    let ended =
        submit_for_people(team, &manager, r#"{ "status": "BAZINGA", "handoff": { "context": "All is done." } }"#);
    assert_eq!(ended.exit, 0, "{ended}");
    let decisions = team.ask(&["decisions", session]).done()["decisions"].clone();
    let last = decisions.as_array().and_then(|all| all.last()).expect("a decision").clone();
    [why(&approved), ended.stdout, why(&last)]
}

#[test]
fn decisions_without_qa_name_the_exception_and_the_groups_that_were_accepted() {
    let (team, session) = planned("exception", &["LOGIN"]);
    team.plays(&session, "developer", "LOGIN", "READY_FOR_QA", json!({}));
    let blocked = json!({ "attempted": ["npm test"], "blocked_reason": "environment" });
    team.plays(&session, "qa_expert", "LOGIN", "BLOCKED", blocked);
    let [approved, ended, why] = end_without_qa(&team, &session);
    let exception = "`qa` was not passed (qa_expert was blocked: environment); tech_lead approved without it";
    assert!(approved.contains(exception), "{approved}");
    for shown in [ended, why] {
        assert!(shown.contains("the report names no group to accept"), "{shown}");
        assert!(shown.contains("project_manager accepted LOGIN: it was once blocked; `qa` was not passed"), "{shown}");
        assert!(shown.contains(&format!("exception: LOGIN: {exception}; accepted by project_manager")), "{shown}");
    }
}

#[test]
fn decisions_after_a_waiver_name_it() {
    let (team, session) = planned("waiver", &["LOGIN"]);
    team.plays(&session, "developer", "LOGIN", "READY_FOR_QA", json!({}));
    team.ask(&["override", &session, "LOGIN", "--waive", "qa", "--why", "the lab is closed", "--as", "ann"]).done();
    let [approved, ended, why] = end_without_qa(&team, &session);
    let exception = "`qa` was waived by ann (the lab is closed)";
    assert!(approved.contains(exception), "{approved}");
    for shown in [ended, why] {
        assert!(shown.contains(&format!("exception: LOGIN: {exception}; accepted by project_manager")), "{shown}");
    }
}

#[test]
fn why_of_an_approval_says_which_setting_spares_qa() {
    let team = Team::new("record-spared");
    let started = team.ask(&["session", "start", "--title", "Spared", "--set", "testing=disabled"]).done();
    let session = started["session"].as_str().unwrap();
    let groups = json!({ "groups": [{ "id": "LOGIN", "title": "Build LOGIN" }] });
    team.plays(session, "project_manager", "-", "PLANNING_COMPLETE", groups);
    team.plays(session, "developer", "LOGIN", "READY_FOR_REVIEW", json!({}));
    let [approved, ended, why] = end_without_qa(&team, session);
    assert!(approved.contains("`qa` is not needed: testing is disabled"), "{approved}");
    for shown in [ended, why] {
        assert!(shown.contains("exception: "), "{shown}");
    }
}

/// Everything that was wrong is in the record: for the agent that asks what to fix, and for the person who asks why it took
/// three rounds.
#[test]
fn refused_report_is_recorded_with_its_agent_its_group_and_every_problem() {
    let (team, session) = planned("refused-report", &["LOGIN"]);
    let developer = team.claim(&session, "developer", "LOGIN");
    let wrong = r#"{ "status": "READY_FOR_QA", "files_modified": 5, "handoff": {} }"#;
    let refused = submit_for_people(&team, &developer, wrong);
    assert_eq!(refused.exit, 4, "{refused}");
    let event = team.log(&session).into_iter().find(|event| event["kind"] == "refused").expect("a refusal");
    assert_eq!((&event["agent"], &event["group"]), (&json!("developer"), &json!("LOGIN")), "{event}");
    let problems = event["data"]["cause"]["refused"]["problems"].as_array().expect("problems").clone();
    assert!(problems.len() > 1, "{event}");
    let log = read(&team, &["log", &session]).stdout;
    assert!(log.contains("developer on LOGIN reported"), "{log}");
    let id = format!("{session}.e{}", event["seq"]);
    let why = read(&team, &["why", &id]);
    assert_eq!(why.exit, 0, "{why}");
    assert!(why.stdout.contains("developer on LOGIN reported READY_FOR_QA."), "{why}");
    for problem in &problems {
        let code = problem["code"].as_str().unwrap();
        assert!(log.contains(code) && why.stdout.contains(code), "{code}: {log}{why}");
    }
    let document = team.ask(&["why", &id]).done();
    assert_eq!((&document["agent"], &document["refused"]["code"]), (&json!("developer"), &problems[0]["code"]));
    let unknown = team.ask(&["why", &format!("{session}.e999")]);
    assert_eq!((unknown.exit, unknown.code().as_str()), (3, "E0333"), "{unknown}");
}

#[test]
fn decision_that_completes_names_deferrals_and_confirmations() {
    let (team, session) = planned("completing", &["LOGIN", "MAIL"]);
    let blocked = json!({ "attempted": ["npm test"], "blocked_reason": "environment" });
    team.plays(&session, "developer", "LOGIN", "BLOCKED", blocked);
    team.ask(&["override", &session, "LOGIN", "--to", "developer", "--why", "it is back", "--as", "ann"]).done();
    team.ask(&["defer", &session, "MAIL", "--why", "the vendor is down", "--as", "ann"]).done();
    let acknowledged = read(&team, &["acknowledge", &session, "MAIL", "--as", "bob"]);
    assert_eq!(acknowledged.exit, 0, "{acknowledged}");
    assert!(acknowledged.stdout.contains("bob acknowledged that MAIL is deferred"), "{acknowledged}");
    assert!(acknowledged.stdout.contains("developer on LOGIN"), "what comes next: {acknowledged}");
    team.plays(&session, "developer", "LOGIN", "READY_FOR_QA", json!({}));
    team.plays(&session, "qa_expert", "LOGIN", "PASS", json!({ "test_progression": { "still_failing": [] } }));
    let [_, ended, why] = end_without_qa(&team, &session);
    let log = read(&team, &["log", &session]).stdout;
    let log = log.split_whitespace().filter(|word| *word != "|").collect::<Vec<_>>().join(" ");
    for shown in [ended, why, log] {
        let deferred = "exception: MAIL: deferred by ann (the vendor is down); acknowledged by bob";
        assert!(shown.contains(deferred), "{shown}");
        assert!(shown.contains("exception: LOGIN: once blocked; accepted by project_manager"), "{shown}");
    }
}

#[test]
fn complete_names_the_person_who_asks() {
    let (team, session) = planned("complete-as", &["LOGIN"]);
    assert_eq!(read(&team, &["complete", &session, "--as", "ann"]).exit, 3);
    let log = read(&team, &["log", &session]).stdout;
    assert!(log.contains("ann asked for completion"), "{log}");
}
