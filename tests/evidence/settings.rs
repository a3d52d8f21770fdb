//! Settings that drop a requirement.

use std::fs;

use serde_json::json;

use crate::next_roles;
use crate::team::{Team, run};

const START: [&str; 4] = ["session", "start", "--title", "Quick"];

fn with(setting: &str) -> Vec<&str> {
    [START.as_slice(), &["--set", setting]].concat()
}

/// A key file with the spawner key alone: an orchestrating model has that one.
fn spawner_alone(team: &Team, arguments: &[&str]) -> crate::team::Run {
    let key = team.keys().join("spawner.key");
    run(team.command(arguments).arg("--json").env("INTERLOCK_KEY_FILE", key), "")
}

#[test]
fn setting_that_drops_qa_takes_the_operator_key() {
    let team = Team::new("setting_that_drops_qa_takes_the_operator_key");
    for value in ["testing=disabled", "testing=minimal"] {
        let refused = spawner_alone(&team, &with(value));
        assert_eq!((refused.exit, refused.code().as_str()), (3, "E0355"), "{refused}");
        assert!(refused.json()["error"]["message"].as_str().is_some_and(|text| text.contains("`qa`")), "{refused}");
    }
    spawner_alone(&team, &with("testing=full")).done();
    spawner_alone(&team, &START).done();
}

#[test]
fn setting_that_a_person_chose_is_listed_with_what_it_drops() {
    let team = Team::new("setting_that_a_person_chose_is_listed");
    let started = team.ask(&with("testing=minimal")).done();
    let session = started["session"].as_str().expect("a session");
    let shown = team.show(session);
    assert_eq!(
        shown["dropped_requirements"],
        json!([{ "setting": "testing", "value": "minimal", "default": "full", "requirement": "qa",
            "by_default": false, "by": "ann" }])
    );
    let text = team.command(&["session", "show", session]).output().expect("it runs");
    let text = String::from_utf8_lossy(&text.stdout).into_owned();
    assert!(text.contains("settings testing=minimal\n"), "{text}");
    assert!(text.contains("`testing=minimal` drops the requirement `qa`: chosen by ann"), "{text}");
    team.plays(session, "project_manager", "-", "PLANNING_COMPLETE", crate::plan(&["A"]));
    let review = team.plays(session, "developer", "A", "READY_FOR_QA", json!({}));
    assert_eq!(next_roles(&review), ["tech_lead"], "{review:#}");
    assert_eq!(team.plays(session, "tech_lead", "A", "APPROVED", json!({}))["action"], "merge");
    team.plays(session, "developer", "A", "MERGE_SUCCESS", json!({}));
    assert_eq!(team.group_status(session, "A"), "completed");
}

/// The default of the project's own file drops nothing, and is listed all the same.
#[test]
fn default_of_the_project_needs_no_key_and_is_listed() {
    let team = Team::new("default_of_the_project_needs_no_key_and_is_listed");
    let own = "workflow: own\nlanguage: 1\nextends: delivery-team\nsettings: { testing: [disabled, full, minimal] }\n";
    fs::write(team.project().join("interlock.yaml"), own).expect("a workflow");
    let started = spawner_alone(&team, &START);
    assert_eq!(started.exit, 0, "{started}");
    let session = started.json()["session"].as_str().expect("a session").to_owned();
    let shown = team.show(&session);
    assert_eq!(shown["dropped_requirements"][0]["by_default"], true, "{shown:#}");
}

/// The database knows for each workflow which needs apply to a group.
#[test]
fn need_that_does_not_apply_stays_so_after_an_upgrade() {
    let team = Team::new("need_that_does_not_apply_stays_so_after_an_upgrade");
    let started = team.ask(&with("testing=minimal")).done();
    let session = started["session"].as_str().expect("a session");
    team.plays(session, "project_manager", "-", "PLANNING_COMPLETE", crate::plan(&["A"]));
    let file = team.project().join("interlock.yaml");
    let text = fs::read_to_string(&file).expect("a workflow").replace("partial: 4", "partial: 5");
    fs::write(&file, text).expect("a workflow");
    team.ask(&["session", "upgrade", session, "--workflow", "interlock.yaml"]).done();
    team.plays(session, "developer", "A", "READY_FOR_REVIEW", json!({}));
    team.plays(session, "tech_lead", "A", "APPROVED", json!({}));
    team.plays(session, "developer", "A", "MERGE_SUCCESS", json!({}));
    assert_eq!(team.group_status(session, "A"), "completed");
    assert_eq!(team.ask(&["audit", "verify"]).exit, 0);
}

/// A workflow that needs more than the one before asks for it.
#[test]
fn need_that_an_upgrade_adds_is_asked_for() {
    let team = Team::new("need_that_an_upgrade_adds_is_asked_for");
    let file = team.project().join("interlock.yaml");
    let strict = fs::read_to_string(&file).expect("a workflow");
    let (rules, _) = strict.split_once("\nexamples:").expect("examples");
    fs::write(&file, rules.replace(", { need: qa, when: { testing: full, kind: code } }]", "]")).expect("a workflow");
    let session = team.start("Upgraded");
    team.plays(&session, "project_manager", "-", "PLANNING_COMPLETE", crate::plan(&["A"]));
    fs::write(&file, &strict).expect("a workflow");
    team.ask(&["session", "upgrade", &session, "--workflow", "interlock.yaml"]).done();
    team.plays(&session, "developer", "A", "READY_FOR_REVIEW", json!({}));
    let asked = team.plays(&session, "tech_lead", "A", "APPROVED", json!({}));
    assert_eq!(next_roles(&asked), ["qa_expert"], "{asked:#}");
}

/// A mission that is cut would be another mission.
#[test]
fn mission_over_the_limit_is_refused_at_the_start() {
    let team = Team::new("mission_over_the_limit_is_refused_at_the_start");
    let at = |name: &str, size: usize| team.file(name, &"m".repeat(size)).display().to_string();
    let start = |path: &str| team.ask(&[START.as_slice(), &["--mission", path]].concat());
    let refused = start(&at("long.md", (1 << 20) + 1));
    assert_eq!((refused.exit, refused.code().as_str()), (2, "E0402"), "{refused}");
    assert!(refused.to_string().contains("1048577 bytes"), "{refused}");
    start(&at("most.md", 1 << 20)).done();
}
