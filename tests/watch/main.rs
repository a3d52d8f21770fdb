//! A session that another process drives: followed as it goes, and its gates run on the files as they are.

mod gates;
#[path = "../team/mod.rs"]
mod team;

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

use serde_json::{Value as Json, json};
use team::{Team, run};

fn git(team: &Team, words: &[&str]) {
    let mut command = Command::new("git");
    command.args(words).current_dir(team.project()).env("HOME", team.project()).env("GIT_CONFIG_NOSYSTEM", "1");
    command.stdin(Stdio::null());
    assert!(command.status().expect("git").success(), "{words:?}");
}

/// A session with one group that is merged and waits for its checks.
fn before_the_gate(team: &Team, checks: &Json) -> String {
    git(team, &["init", "-q"]);
    let session = team.start("Login");
    let group =
        json!({ "id": "login", "title": "Login", "kind": "code", "security_sensitive": "false", "checks": checks });
    team.plays(&session, "project_manager", "-", "PLANNING_COMPLETE", json!({ "groups": [group] }));
    team.plays(&session, "developer", "login", "READY_FOR_QA", json!({}));
    team.plays(&session, "qa_expert", "login", "PASS", json!({}));
    team.plays(&session, "tech_lead", "login", "APPROVED", json!({}));
    team.plays(&session, "developer", "login", "MERGE_SUCCESS", json!({}));
    session
}

/// Ends with the test, however that ends.
struct Follower(std::process::Child);

impl Drop for Follower {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn each_decision_and_each_refused_shortcut_is_told_as_it_happens() {
    let team = Team::new("watch-follows");
    let mut follower = team.command(&["watch", "--json"]);
    let mut follower = Follower(follower.stdout(Stdio::piped()).spawn().expect("it starts"));
    let mut lines = BufReader::new(follower.0.stdout.take().expect("a pipe")).lines();
    let mut next = || -> Json { serde_json::from_str(&lines.next().expect("a line").expect("text")).expect("JSON") };
    // It was there before any session, and hears of each event before the next one happens.
    let session = team.start("Login");
    let started = next();
    assert_eq!((&started["kind"], &started["decision"]["next"]), (&json!("started"), &json!(["project_manager"])));
    team.ask(&["claim", &format!("{session}.a9")]);
    let refused = next();
    assert_eq!((&refused["kind"], &refused["refused"]["code"]), (&json!("refused"), &json!("E0304")));
    team.ask(&["cancel", &session]).done();
    assert_eq!(next()["kind"], "cancelled");
    let ended = next();
    assert_eq!((&ended["kind"], &ended["status"]), (&json!("ended"), &json!("cancelled")));
    assert!(follower.0.wait().expect("it ends").success());
}

#[test]
fn a_person_reads_who_did_what_and_what_followed() {
    let team = Team::new("watch-text");
    let session = before_the_gate(&team, &json!([]));
    team.ask(&["claim", &format!("{session}.a99")]);
    team.ask(&["cancel", &session]).done();
    let told = run(&mut team.command(&["watch", &session]), "");
    for words in [
        "project_manager reported PLANNING_COMPLETE  → batch developer  (d2, routes.project_manager.PLANNING_COMPLETE)",
        "developer on login started work on a2",
        "qa_expert on login reported PASS  → spawn tech_lead",
        "refused  E0304: there is no assignment a99 (claim)",
        "ann cancelled the session",
    ] {
        assert!(told.stdout.contains(words), "`{words}` is not in\n{told}");
    }
}

#[test]
fn a_gate_is_run_on_the_files_as_they_are_and_nobody_else_says_what_came_of_it() {
    let team = Team::new("watch-gate");
    let session = before_the_gate(&team, &json!([["test", "-f", "built"]]));
    let gate = format!("{session}.g1");
    let other = team.ask(&["gate", &format!("{session}.g9")]);
    assert_eq!((other.exit, other.code().as_str()), (3, "E0319"), "{other}");
    assert_ne!(team.ask_without_keys(&["gate", &gate]).exit, 0, "it takes a key");
    // It fails, and the work goes back to its author with what the command said.
    let failed = team.ask(&["gate", &gate]).done();
    assert_eq!(failed["next"][0]["role"], "developer", "{failed}");
    fs::write(team.project().join("built"), "yes").expect("a file");
    team.plays(&session, "developer", "login", "READY_FOR_QA", json!({}));
    team.plays(&session, "qa_expert", "login", "PASS", json!({}));
    team.plays(&session, "tech_lead", "login", "APPROVED", json!({}));
    team.plays(&session, "developer", "login", "MERGE_SUCCESS", json!({}));
    team.ask(&["gate", &format!("{session}.g2")]).done();
    assert_eq!(team.group_status(&session, "login"), "completed");
    let log = team.log(&session);
    let finished: Vec<&Json> = log
        .iter()
        .filter(|event| event["kind"] == "gate_finished")
        .map(|event| &event["data"]["cause"]["gate_finished"])
        .collect();
    assert_eq!((&finished[0]["passed"], &finished[1]["passed"]), (&json!(false), &json!(true)));
    assert_ne!(finished[0]["tree"], finished[1]["tree"], "each is bound to its own files");
    assert!(!team.project().join(".git/index").exists(), "the repository of the user is not touched");
}
