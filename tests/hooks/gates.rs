//! Gates of a session that a client drives with its hooks.

use std::fs;
use std::process::Command;

use serde_json::json;

use crate::scene::{Client, Talk};
use crate::team::Team;

#[test]
fn gate_of_a_session_with_hooks_counts_only_for_the_tree_it_ran_on() {
    let team = Team::new("hooks_gate");
    let made =
        Command::new("git").args(["init", "-q"]).current_dir(team.project()).env("HOME", team.project()).status();
    assert!(made.expect("git").success());
    fs::write(team.project().join(".gitignore"), ".interlock\nbuilt.o\n").expect("a file");
    let session = team.start("Add login");
    let talk = Talk::begun(&team, Client::Claude, "c-1");
    let groups = json!([{ "id": "LOGIN", "title": "Login", "checks": [["test", "-f", "built"], ["test", "!", "-e", "built.o"]] }]);
    talk.plays("project_manager", "Plan it.", "PLANNING_COMPLETE", json!({ "groups": groups }));
    fs::write(team.project().join("built"), "yes").expect("a file");
    fs::write(team.project().join("built.o"), "an ignored file").expect("a file");
    talk.plays("developer", "", "READY_FOR_QA", json!({}));
    talk.plays("qa_expert", "", "PASS", json!({}));
    talk.plays("tech_lead", "", "APPROVED", json!({}));
    let told = talk.plays("developer", "", "MERGE_SUCCESS", json!({}));
    assert!(told.contains(&format!("interlock gate {session}.g1")), "{told}");
    team.ask(&["gate", &format!("{session}.g1")]).done();
    assert_eq!(team.group_status(&session, "LOGIN"), "completed");
    fs::remove_file(team.project().join("built")).expect("it was there");
    let told = talk.plays("project_manager", "Is it done?", "BAZINGA", json!({}));
    assert!(told.contains(&format!("interlock gate {session}.g2")), "{told}");
    team.ask(&["gate", &format!("{session}.g2")]).done();
    assert_ne!(team.status(&session), "completed");
}
