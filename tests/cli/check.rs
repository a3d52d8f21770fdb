use serde_json::json;

use crate::harness::{Folder, interlock};

const WRONG: &str = "\
workflow: mine
language: 1
extends: delivery-team
routes:
  developer:
    DEMO: { spawn: tech_leed }
  \"役割\":
\tDONE: { ask: me }
";

#[test]
fn a_sound_workflow_is_called_so() {
    let run = interlock(&["check", "delivery-team"]);
    assert_eq!((run.exit, run.stderr.as_str()), (0, ""));
    assert!(run.stdout.starts_with("delivery-team: no errors; 8 roles, "), "{}", run.stdout);
    let result = interlock(&["check", "phased", "--json"]).json();
    assert_eq!(result["valid"], true);
    assert_eq!(result["abstract"], true);
    assert_eq!(result["workflow"], "phased");
    assert_eq!(result["problems"], json!([]));
}

#[test]
fn every_problem_is_shown_with_its_place() {
    let text = "\
workflow: mine
language: 1
extends: delivery-team
overrides:
  - { when: { testing: none, 役割: true }, instead_of: tech_leed, use: developer }
routes:
  developer:
    DEMO: { spawn: tech_leed, loop: tries }
loops:
  tries: { escalate_at: { iteration: 0 } }
  extra: 3
  extra: 4
";
    let folder = Folder::new("check_every_problem").with("mine.yaml", text);
    insta::assert_snapshot!(folder.interlock(&["check", "mine.yaml"]));
    let run = folder.interlock(&["check", "mine.yaml", "--json"]);
    assert_eq!(run.exit, 4);
    insta::assert_snapshot!(run.stdout);
}

#[test]
fn a_file_that_is_not_yaml_is_shown_where_it_breaks() {
    insta::assert_snapshot!(Folder::new("check_not_yaml").with("mine.yaml", WRONG).interlock(&["check", "mine.yaml"]));
}

#[test]
fn the_projects_own_workflow_is_the_default() {
    let folder = Folder::new("check_default");
    insta::assert_snapshot!(folder.interlock(&["check"]));
    let folder = folder.with("interlock.yaml", "workflow: own\nlanguage: 1\nextends: feature\n");
    assert_eq!(folder.interlock(&["check", "--json"]).json()["workflow"], "own");
}

#[test]
fn a_workflow_may_extend_a_file_beside_it() {
    let folder = Folder::new("check_beside")
        .with("base.yaml", "workflow: base\nlanguage: 1\nabstract: true\nextends: delivery-team\nloops: { tries: 2 }\n")
        .with("mine.yaml", "workflow: mine\nlanguage: 1\nextends: base\nroutes: { developer: { AGAIN: { respawn: self, loop: tries } } }\n");
    assert_eq!(folder.interlock(&["check", "mine.yaml"]).exit, 0);
    // A problem in the base is shown in the base.
    let folder = folder.with("base.yaml", "workflow: base\nlanguage: 1\nextends: delivery-team\nloop: {}\n");
    let error = &folder.interlock(&["check", "./mine.yaml", "--json"]).json()["error"];
    assert_eq!(error["problems"][0]["at"], json!({ "file": "./base.yaml", "line": 4, "column": 1 }));
}

#[test]
fn a_built_in_name_keeps_its_meaning_beside_a_file_of_that_name() {
    let own = "workflow: own\nlanguage: 1\nextends: delivery-team\n";
    let folder = Folder::new("check_same_name").with("delivery-team", own).with("delivery-team.yaml", own);
    assert_eq!(folder.interlock(&["check", "delivery-team", "--json"]).json()["workflow"], "delivery-team");
    assert_eq!(folder.interlock(&["check", "./delivery-team", "--json"]).json()["workflow"], "own");
}

#[test]
fn what_cannot_be_read_is_said() {
    insta::assert_snapshot!(interlock(&["check", "delivery-teem"]));
    insta::assert_snapshot!(interlock(&["check", "no/such.yaml"]));
    let folder = Folder::new("check_unreadable").with("latin1.yaml", b"workflow: caf\xe9\n");
    insta::assert_snapshot!(folder.interlock(&["check", "latin1.yaml"]));
    assert_eq!(folder.interlock(&["check", ".", "--json"]).json()["error"]["code"], "E0401");
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_without_end_is_refused() {
    let error = &interlock(&["check", "/dev/zero", "--json"]).json()["error"];
    assert_eq!(error["code"], "E0107");
}

#[test]
fn hostile_files_cannot_steer_the_terminal() {
    let text = "workflow: mine\nlanguage: 1\n\"\u{1b}]0;owned\u{7}\u{9b}2J\": 1\n";
    let folder = Folder::new("check_hostile").with("mine.yaml", text);
    let run = folder.interlock(&["check", "mine.yaml"]);
    assert_eq!(run.exit, 4);
    assert!(!run.stderr.chars().any(|character| character.is_control() && character != '\n'), "{:?}", run.stderr);
    let run = folder.interlock(&["check", "mine.yaml", "--json"]);
    assert!(!run.stdout.chars().any(|character| character.is_control() && character != '\n'), "{:?}", run.stdout);
}

#[test]
fn patterns_that_can_fit_no_file_are_refused_with_their_places() {
    let text = "\
workflow: mine
language: 1
extends: delivery-team
roles:
  qa_expert:
    writes: ['!tests/golden/**', tests/, ./tests/**, '[a', 'tests/**']
";
    let folder = Folder::new("check_patterns").with("mine.yaml", text);
    let run = folder.interlock(&["check", "mine.yaml", "--json"]);
    assert_eq!(run.exit, 4);
    let problems = run.json()["error"]["problems"].as_array().unwrap().clone();
    let places: Vec<_> = problems.iter().map(|problem| problem["at"]["column"].as_u64().unwrap()).collect();
    assert_eq!(places, [14, 34, 42, 54], "{problems:?}");
    insta::assert_snapshot!(folder.interlock(&["check", "mine.yaml"]));
}

#[test]
fn what_an_orchestrator_may_be_is_checked_with_its_place() {
    let text = "\
workflow: mine
language: 1
extends: delivery-team
orchestrator: { watched: always, writes: [../x] }
";
    let folder = Folder::new("check_orchestrator").with("mine.yaml", text);
    let run = folder.interlock(&["check", "mine.yaml", "--json"]);
    assert_eq!(run.exit, 4);
    let problems = run.json()["error"]["problems"].clone();
    let of =
        |column: u64| problems.as_array().unwrap().iter().find(|problem| problem["at"]["column"] == column).cloned();
    let watched = of(26).unwrap_or_else(|| panic!("no problem with `always`: {problems}"));
    assert_eq!(watched["at"], json!({ "file": "mine.yaml", "line": 4, "column": 26 }));
    assert_eq!(watched["message"], "`watched` is `told` or `required`");
    insta::assert_snapshot!(folder.interlock(&["check", "mine.yaml"]));
    let folder = folder.with("mine.yaml", text.replace("watched: always, writes: [../x]", "watches: required"));
    let unknown = folder.interlock(&["check", "mine.yaml", "--json"]).json()["error"]["problems"][0].clone();
    assert_eq!(unknown["at"], json!({ "file": "mine.yaml", "line": 4, "column": 17 }), "{unknown}");
}
