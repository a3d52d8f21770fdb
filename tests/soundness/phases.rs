//! A session ends with its last phase, wherever phases of the session stand.

use serde_json::{Value as Json, json};

use crate::cycles::project;
use crate::team::Team;

/// Phases in this order: `name/group` or `name/session`; `plan/session` plans the groups.
fn workflow(phases: &[&str], more: &str) -> String {
    let phase = |text: &&str| {
        let (name, per) = text.split_once('/').unwrap();
        let plans = if name == "plan" { ", plans: groups" } else { "" };
        let role = if per == "group" { "worker" } else { "lead" };
        format!("  - {{ phase: {name}, per: {per}, role: {role}{plans} }}\n")
    };
    let phases: String = phases.iter().map(phase).collect();
    format!(
        "workflow: mine\nlanguage: 1\nroles: {{ lead: {{}}, worker: {{ is: [author] }} }}\nphases:\n{phases}\
         routes: {{ any: {{ complete: {{ advance: phase }} }} }}\n{more}"
    )
}

fn planned(team: &Team, groups: &[&str]) -> String {
    let session = team.start("T");
    let groups: Vec<Json> = groups.iter().map(|id| json!({ "id": id, "title": id })).collect();
    team.plays(&session, "lead", "-", "complete", json!({ "groups": groups }));
    session
}

#[test]
fn last_phase_of_the_session_ends_the_session() {
    let phases = ["plan/session", "work/group", "final/session"];
    let team = project("last_phase_of_the_session_ends_the_session", &workflow(&phases, ""));
    let s = planned(&team, &["a", "b"]);
    team.plays(&s, "worker", "a", "complete", json!({}));
    let decided = team.plays(&s, "worker", "b", "complete", json!({}));
    assert_eq!(decided["next"][0]["role"], "lead", "{decided}");
    let decided = team.plays(&s, "lead", "-", "complete", json!({}));
    assert_eq!(decided["action"], "end", "{decided}");
    assert_eq!((team.status(&s).as_str(), team.group_status(&s, "a").as_str()), ("completed", "completed"));
}

#[test]
fn two_phases_of_the_session_at_the_end_end_it_after_the_second() {
    let phases = ["plan/session", "work/group", "check/session", "final/session"];
    let team = project("two_phases_of_the_session_at_the_end_end_it_after_the_second", &workflow(&phases, ""));
    let s = planned(&team, &["a"]);
    team.plays(&s, "worker", "a", "complete", json!({}));
    team.plays(&s, "lead", "-", "complete", json!({}));
    assert_eq!(team.status(&s), "active");
    team.plays(&s, "lead", "-", "complete", json!({}));
    assert_eq!((team.status(&s).as_str(), team.group_status(&s, "a").as_str()), ("completed", "completed"));
}

#[test]
fn phase_of_the_session_in_the_middle_lets_groups_go_on() {
    let phases = ["plan/session", "draft/group", "agree/session", "work/group", "final/session"];
    let team = project("phase_of_the_session_in_the_middle_lets_groups_go_on", &workflow(&phases, ""));
    let s = planned(&team, &["a", "b"]);
    for group in ["a", "b"] {
        team.plays(&s, "worker", group, "complete", json!({}));
    }
    team.plays(&s, "lead", "-", "complete", json!({}));
    for group in ["a", "b"] {
        team.plays(&s, "worker", group, "complete", json!({}));
    }
    team.plays(&s, "lead", "-", "complete", json!({}));
    assert_eq!((team.status(&s).as_str(), team.group_status(&s, "b").as_str()), ("completed", "completed"));
}

/// A session without a group that was completed is put to a person, not ended and not asked about for ever.
#[test]
fn last_phase_of_the_session_with_all_groups_deferred_asks_a_person() {
    let phases = ["plan/session", "work/group", "final/session"];
    let team = project("last_phase_of_the_session_with_all_groups_deferred_asks_a_person", &workflow(&phases, ""));
    let s = planned(&team, &["a"]);
    team.ask(&["defer", &s, "a", "--why", "no access"]).done();
    let shown = team.show(&s);
    assert!(shown["questions"][0]["text"].as_str().unwrap_or_default().contains("deferred"), "{shown}");
    let id = shown["questions"][0]["question"].as_str().unwrap().to_owned();
    team.ask(&["answer", &id, "--option", "acknowledge"]).done();
    assert_ne!(team.status(&s), "active", "{}", team.show(&s));
}

/// Gates of completion run before the groups count as completed.
#[test]
fn last_phase_of_the_session_runs_the_gates_of_the_groups_first() {
    let phases = ["plan/session", "work/group", "final/session"];
    let more = "loops: { again: 2 }\ngates: { proof: { run: [\"false\"], fail: { goto: work, loop: again } } }\n\
                completion: { group: { gates: [proof] } }\n";
    let test = "last_phase_of_the_session_runs_the_gates_of_the_groups_first";
    let team = project(test, &workflow(&phases, more));
    let s = planned(&team, &["a"]);
    team.plays(&s, "worker", "a", "complete", json!({}));
    let decided = team.plays(&s, "lead", "-", "complete", json!({}));
    assert_eq!(decided["action"], "gate", "{decided}");
    assert_eq!(team.status(&s), "active");
    assert_ne!(team.group_status(&s, "a"), "completed");
}
