//! By the command line: without the key, out of turn, or as a role that may not.

use std::fs;

use serde_json::json;

use crate::refused;
use crate::team::incident::{Incident, clarification, plan};
use crate::team::{Team, run};

/// One group, built, tested, reviewed and merged; the manager is asked what next.
pub(crate) fn merged(test: &str) -> (Team, String) {
    let team = Team::new(test);
    let session = team.start("One group");
    team.plays(&session, "project_manager", "-", "PLANNING_COMPLETE", plan(&["ALPHA"]));
    team.plays(&session, "developer", "ALPHA", "READY_FOR_QA", json!({}));
    team.plays(&session, "qa_expert", "ALPHA", "PASS", json!({}));
    team.plays(&session, "tech_lead", "ALPHA", "APPROVED", json!({}));
    team.plays(&session, "developer", "ALPHA", "MERGE_SUCCESS", json!({}));
    (team, session)
}

/// The same, and the manager has ended the session.
pub(crate) fn completed(test: &str) -> (Team, String) {
    let (team, session) = merged(test);
    team.plays(&session, "project_manager", "-", "BAZINGA", json!({}));
    assert_eq!(team.status(&session), "completed");
    (team, session)
}

#[test]
fn complete_with_blocked_work() {
    let incident = Incident::new("complete_with_blocked_work");
    let (team, session) = (&incident.team, incident.session.as_str());
    let asked = team.ask(&["complete", session]);
    assert_eq!(asked.exit, 3, "{asked}");
    let asked = asked.json();
    assert_eq!(asked["verdict"], "REJECT");
    let reasons: Vec<(&str, &str)> = asked["reasons"]
        .as_array()
        .unwrap()
        .iter()
        .map(|reason| (reason["code"].as_str().unwrap(), reason["group"].as_str().unwrap_or("-")))
        .collect();
    for wanted in
        [("E0342", "NUR-E2E"), ("E0342", "E2E-RX"), ("E0345", "PAT-ADHERE"), ("E0340", "PAT-VIP"), ("E0348", "-")]
    {
        assert!(reasons.contains(&wanted), "{wanted:?} in {reasons:?}");
    }
    assert_eq!(team.log(session).last().unwrap()["kind"], "completion_asked");
    assert_eq!((team.status(session).as_str(), incident.group_status("NUR-E2E").as_str()), ("active", "blocked"));
}

#[test]
fn complete_before_the_manager_has_said_so() {
    let (team, session) = merged("complete_before_the_manager_has_said_so");
    let asked = team.ask(&["complete", &session]);
    assert_eq!((asked.exit, asked.json()["reasons"][0]["code"].as_str()), (3, Some("E0348")), "{asked}");
    assert_eq!(team.status(&session), "active");
}

#[test]
fn defer_without_the_operator_key() {
    let Incident { team, session, .. } = &Incident::new("defer_without_the_operator_key");
    refused(team, session, 3, "E0512", || {
        team.ask_without_keys(&["defer", session, "NUR-E2E", "--why", "only the environment"])
    });
}

#[test]
fn acknowledge_without_the_operator_key() {
    let Incident { team, session, .. } = &Incident::new("acknowledge_without_the_operator_key");
    team.ask(&["defer", session, "NUR-E2E", "--why", "the ward has no browsers"]).done();
    refused(team, session, 3, "E0512", || team.ask_without_keys(&["acknowledge", session, "NUR-E2E"]));
}

#[test]
fn cancel_without_the_operator_key() {
    let Incident { team, session, .. } = &Incident::new("cancel_without_the_operator_key");
    refused(team, session, 3, "E0512", || team.ask_without_keys(&["cancel", session]));
}

#[test]
fn override_without_the_operator_key() {
    let Incident { team, session, .. } = &Incident::new("override_without_the_operator_key");
    refused(team, session, 3, "E0512", || {
        team.ask_without_keys(&["override", session, "NUR-E2E", "--to", "developer", "--why", "quicker"])
    });
}

#[test]
fn answer_without_the_operator_key() {
    let team = Team::new("answer_without_the_operator_key");
    let session = team.start("A question");
    team.plays(&session, "project_manager", "-", "NEEDS_CLARIFICATION", clarification());
    let question = format!("{session}.q1");
    refused(&team, &session, 3, "E0512", || team.ask_without_keys(&["answer", &question, "--option", "all"]));
}

#[test]
fn upgrade_without_the_operator_key() {
    let Incident { team, session, .. } = &Incident::new("upgrade_without_the_operator_key");
    let weaker = weaker(team);
    refused(team, session, 3, "E0512", || {
        team.ask_without_keys(&["session", "upgrade", session, "--workflow", &weaker])
    });
}

/// The file of the project is anybody's to edit; the session is pinned to what it said.
#[test]
fn edit_the_workflow_file() {
    let team = Team::new("edit_the_workflow_file");
    let session = team.start("Pinned");
    team.plays(&session, "project_manager", "-", "PLANNING_COMPLETE", plan(&["ALPHA"]));
    fs::copy(weaker(&team), team.project().join("interlock.yaml")).unwrap();
    team.plays(&session, "developer", "ALPHA", "READY_FOR_QA", json!({}));
    team.plays(&session, "qa_expert", "ALPHA", "PASS", json!({}));
    let decided = team.plays(&session, "tech_lead", "ALPHA", "APPROVED", json!({}));
    assert_eq!(decided["action"], "merge", "as it was when the session started");
    let shown = team.show(&session);
    let (now, then) = (&shown["pinned"]["file_hash"], &shown["workflow_hash"]);
    assert!(now.is_string() && now != then, "and it shows: {}", shown["pinned"]);
}

/// A workflow in which the review alone completes a group.
fn weaker(team: &Team) -> String {
    let text = fs::read_to_string(team.project().join("interlock.yaml")).unwrap();
    let rules = text.split("\nexamples:").next().unwrap();
    let merge = "APPROVED:                   { merge: author, passes: [review]";
    let complete = "APPROVED:                   { complete: group, passes: [review, merge]";
    let weaker = rules.replace(merge, complete).replace(", { need: qa, when: { testing: full, kind: code } }]", "]");
    // Without an acceptance nothing may be excused.
    let weaker = weaker.replace("once_blocked: [acceptance]", "once_blocked: []").replace(" excuses: [qa],", "");
    assert_ne!(rules, weaker);
    team.file("weaker.yaml", &weaker).display().to_string()
}

#[test]
fn answer_a_question_once_more() {
    let Incident { team, session, .. } = &Incident::new("answer_a_question_once_more");
    let question = format!("{session}.q1");
    refused(team, session, 3, "E0317", || team.ask(&["answer", &question, "--option", "chrome"]));
    assert_eq!(team.query("SELECT answer, by FROM answers"), "all|ann");
}

#[test]
fn claim_without_the_spawner_key() {
    let Incident { team, session, holders, .. } = &Incident::new("claim_without_the_spawner_key");
    let assignment = &holders["NUR-E2E"].assignment;
    refused(team, session, 3, "E0512", || team.ask_without_keys(&["claim", assignment]));
}

#[test]
fn claim_what_is_closed() {
    let Incident { team, session, spent, .. } = &Incident::new("claim_what_is_closed");
    refused(team, session, 3, "E0305", || team.ask(&["claim", &spent.assignment]));
}

#[test]
fn start_a_session_without_the_spawner_key() {
    let Incident { team, .. } = &Incident::new("start_a_session_without_the_spawner_key");
    let before = team.standing();
    let run = team.ask_without_keys(&[
        "session",
        "start",
        "--title",
        "A session with no review",
        "--set",
        "testing=disabled",
    ]);
    assert_eq!((run.exit, run.code().as_str()), (3, "E0512"), "{run}");
    assert!(team.standing() == before, "something has changed");
}

#[test]
fn the_operator_key_of_another_store() {
    let Incident { team, session, .. } = &Incident::new("the_operator_key_of_another_store");
    let other = Team::new("the_operator_key_of_another_store-2");
    let key = other.keys().join("operator.key");
    refused(team, session, 3, "E0513", || {
        run(team.command(&["cancel", session, "--json"]).env("INTERLOCK_KEY_FILE", &key), "")
    });
}

#[test]
fn the_spawner_key_for_the_operators() {
    let Incident { team, session, .. } = &Incident::new("the_spawner_key_for_the_operators");
    let spawner = fs::read_to_string(team.keys().join("spawner.key")).unwrap();
    let renamed = team.file("renamed.key", &spawner.replace("spawner", "operator"));
    refused(team, session, 3, "E0513", || {
        run(team.command(&["cancel", session, "--json"]).env("INTERLOCK_KEY_FILE", &renamed), "")
    });
}

#[test]
fn a_keyring_of_ones_own() {
    let Incident { team, session, .. } = &Incident::new("a_keyring_of_ones_own");
    let other = Team::new("a_keyring_of_ones_own-2");
    let before = team.standing();
    let empty = run(team.command(&["cancel", session, "--json"]).env("XDG_CONFIG_HOME", other.config()), "");
    assert_eq!((empty.exit, empty.code().as_str()), (5, "E0511"), "{empty}");
    // The keys of another store, under the name of this one.
    let name = team.keys().file_name().unwrap().to_owned();
    fs::rename(other.keys(), other.keys().with_file_name(name)).unwrap();
    let exchanged = run(team.command(&["cancel", session, "--json"]).env("XDG_CONFIG_HOME", other.config()), "");
    assert_eq!(exchanged.code(), "E0513", "{exchanged}");
    assert_ne!(exchanged.exit, 0);
    assert!(team.standing() == before, "something has changed");
}

#[test]
fn override_to_the_validator() {
    let Incident { team, session, .. } = &Incident::new("override_to_the_validator");
    refused(team, session, 4, "E0312", || {
        team.ask(&["override", session, "NUR-E2E", "--to", "validator", "--why", "it is fine"])
    });
}

#[test]
fn override_into_completion() {
    let Incident { team, session, .. } = &Incident::new("override_into_completion");
    team.ask(&["override", session, "NUR-E2E", "--to", "developer", "--why", "let us get it over with"]).done();
    let developer = team.claim(session, "developer", "NUR-E2E");
    refused(team, session, 3, "E0309", || team.report(&developer, "MERGE_SUCCESS", json!({})));
    let asked = team.ask(&["complete", session]);
    assert_eq!((asked.exit, asked.json()["verdict"].as_str()), (3, Some("REJECT")));
    assert_eq!(team.group_status(session, "NUR-E2E"), "in_progress");
    let overridden = team.log(session);
    assert!(overridden.iter().any(|event| event["kind"] == "overridden"), "it is recorded as one");
}

#[test]
fn override_a_group_that_has_ended() {
    let (team, session) = merged("override_a_group_that_has_ended");
    refused(&team, &session, 3, "E0315", || {
        team.ask(&["override", &session, "ALPHA", "--to", "developer", "--why", "once more"])
    });
}

#[test]
fn acknowledge_what_is_not_deferred() {
    let Incident { team, session, .. } = &Incident::new("acknowledge_what_is_not_deferred");
    refused(team, session, 3, "E0320", || team.ask(&["acknowledge", session, "NUR-E2E"]));
}

#[test]
fn defer_what_has_ended() {
    let (team, session) = merged("defer_what_has_ended");
    refused(&team, &session, 3, "E0315", || team.ask(&["defer", &session, "ALPHA", "--why", "no time"]));
}

#[test]
fn go_on_after_the_end() {
    let (team, session) = completed("go_on_after_the_end");
    refused(&team, &session, 3, "E0303", || team.ask(&["cancel", &session]));
    assert_eq!(team.status(&session), "completed");
}

#[test]
fn waive_what_cannot_be_waived() {
    let Incident { team, session, .. } = &Incident::new("waive_what_cannot_be_waived");
    for evidence in ["review", "merge", "acceptance", "weather"] {
        refused(team, session, 3, "E0352", || {
            team.ask(&["override", session, "E2E-RX", "--waive", evidence, "--why", "quicker"])
        });
    }
    // QA failed it, and its author has not delivered anything since.
    refused(team, session, 3, "E0351", || {
        team.ask(&["override", session, "PAT-VIP", "--waive", "qa", "--why", "the author is still at work"])
    });
}

/// A group whose tests fail, with the manager at the top of the ladder.
pub(crate) fn failing(test: &str) -> (Team, String) {
    let team = Team::new(test);
    let session = team.start("Failing");
    team.plays(&session, "project_manager", "-", "PLANNING_COMPLETE", plan(&["ALPHA"]));
    team.plays(&session, "developer", "ALPHA", "ESCALATE_SENIOR", json!({}));
    team.plays(&session, "senior_software_engineer", "ALPHA", "READY_FOR_QA", json!({}));
    team.plays(&session, "qa_expert", "ALPHA", "FAIL_ESCALATE", json!({}));
    (team, session)
}

#[test]
fn waive_failing_tests() {
    let (team, session) = failing("waive_failing_tests");
    let waive = ["override", &session, "ALPHA", "--waive", "qa", "--why", "they are only tests"];
    refused(&team, &session, 3, "E0351", || team.ask(&waive));
    team.ask(&["override", &session, "ALPHA", "--to", "tech_lead", "--why", "look again"]).done();
    refused(&team, &session, 3, "E0351", || team.ask(&waive));
}

#[test]
fn waive_and_accept_without_the_operator_key() {
    let Incident { team, session, .. } = &Incident::new("waive_and_accept_without_the_operator_key");
    refused(team, session, 3, "E0512", || {
        team.ask_without_keys(&["override", session, "E2E-RX", "--waive", "qa", "--why", "quicker"])
    });
    refused(team, session, 3, "E0512", || team.ask_without_keys(&["accept", session, "E2E-RX"]));
}

#[test]
fn accept_what_does_not_await_it() {
    let Incident { team, session, .. } = &Incident::new("accept_what_does_not_await_it");
    for group in ["E2E-RX", "PAT-VIP"] {
        refused(team, session, 3, "E0353", || team.ask(&["accept", session, group]));
    }
}

#[test]
fn drop_a_requirement_with_the_spawner_key() {
    let team = Team::new("drop_a_requirement_with_the_spawner_key");
    let key = team.keys().join("spawner.key");
    for words in [["--set", "testing=disabled"].as_slice(), &["--set", "testing=minimal"], &["--investigation"]] {
        let start = [["session", "start", "--title", "Quick"].as_slice(), words].concat();
        let tried = run(team.command(&start).arg("--json").env("INTERLOCK_KEY_FILE", &key), "");
        assert_eq!((tried.exit, tried.code().as_str()), (3, "E0355"), "{tried}");
    }
    let list = team.ask(&["session", "list"]).done();
    assert_eq!(list["sessions"], json!([]), "no session was started");
}
