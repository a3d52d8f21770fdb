//! Problems of a workflow file at load: placeholders, what completion needs, and help that leads on.

use serde_json::{Value as Json, json};

use crate::cycles::{problems, project};
use crate::team::Team;

/// The help of the first problem with this code.
#[track_caller]
fn help(team: &Team, code: &str) -> String {
    let check = team.ask(&["check"]);
    assert_eq!(check.exit, 4, "{check}");
    let document = check.json();
    let problems = document["error"]["problems"].as_array().expect("problems");
    let found = problems.iter().find(|problem| problem["code"] == code);
    found.unwrap_or_else(|| panic!("no {code}: {check}"))["help"].as_str().expect("a help").to_owned()
}

#[test]
fn unknown_placeholder_of_a_gate_is_an_error_with_the_known_ones() {
    let text =
        "workflow: mine\nlanguage: 1\nextends: integration\ngates:\n  p0: { run: [scripts/p0, \"{feature_dir}\"] }\n";
    let team = project("unknown_placeholder_of_a_gate_is_an_error_with_the_known_ones", text);
    let check = team.ask(&["check"]);
    assert_eq!((check.exit, check.code().as_str()), (4, "E0141"), "{check}");
    assert_eq!(check.json()["error"]["at"]["line"], 5, "{check}");
    let help = help(&team, "E0141");
    for name in ["{feature_directory}", "{session}", "{group}", "{domain}"] {
        assert!(help.contains(name), "{help}");
    }
    let start = team.ask(&["session", "start", "--title", "T"]);
    assert_eq!((start.exit, start.code().as_str()), (4, "E0141"), "{start}");
}

#[test]
fn unknown_placeholder_of_a_question_is_an_error() {
    let text = "workflow: mine\nlanguage: 1\nextends: delivery-team\nquestions:\n  clarify: { text: \"{contxt}\" }\n";
    let team = project("unknown_placeholder_of_a_question_is_an_error", text);
    assert_eq!(team.ask(&["check"]).code(), "E0141");
    let known = text.replace("{contxt}", "{role} asks on {group}: {handoff.context} {{plain}}");
    let team = project("unknown_placeholder_of_a_question_is_an_error", &known);
    let s = team.start("T");
    team.plays(&s, "project_manager", "-", "NEEDS_CLARIFICATION", json!({}));
    let asked = team.show(&s)["questions"][0]["text"].as_str().unwrap().to_owned();
    assert!(asked.starts_with("project_manager asks on : What the next one") && asked.ends_with("{plain}"), "{asked}");
}

#[test]
fn unknown_field_of_the_handoff_in_a_question_is_an_error() {
    let test = "unknown_field_of_the_handoff_in_a_question_is_an_error";
    let with = |text: &str| {
        let question = format!("questions:\n  clarify: {{ text: \"{text}\" }}\n");
        let routes = "routes:\n  developer:\n    SHOWN: { spawn: tech_lead, with: [handoff.context, handoff.sketch, demo], \
                      require: [handoff.context, summary], verify: [shown_to_ann] }\n";
        project(test, &format!("workflow: mine\nlanguage: 1\nextends: delivery-team\n{question}{routes}"))
    };
    for wrong in ["handoff.contxt", "verification.shown_to_bob", "test_progression.failing"] {
        let check = with(&format!("{{{wrong}}}")).ask(&["check"]);
        assert_eq!((check.exit, check.code().as_str()), (4, "E0141"), "{wrong}: {check}");
    }
    let help = help(&with("{handoff.contxt}"), "E0141");
    assert!(help.starts_with("did you mean `{handoff.context}`? "), "{help}");
    for name in ["{handoff.context}", "{summary}", "{role}", "{handoff.sketch}", "{verification.shown_to_ann}"] {
        let list = help.split_once("known here: ").map(|(_, list)| list).unwrap_or_default();
        assert_eq!(list.matches(name).count(), 1, "{name}: {help}");
    }
    let known = "{handoff.sketch} {demo.file} {verification.shown_to_ann} {handoff.blockers} {issues} {iteration_tracking.iteration}";
    let check = with(known).ask(&["check"]);
    assert!(!check.stdout.contains("E0141"), "{check}");
}

#[test]
fn feature_directory_of_a_question_is_the_folder_of_the_session() {
    let test = "feature_directory_of_a_question_is_the_folder_of_the_session";
    let text = "workflow: mine\nlanguage: 1\nextends: delivery-team\nquestions:\n  clarify: { text: \"Look into {feature_directory}\" }\n";
    let team = project(test, text);
    let s = team.start("T");
    let claim = json!({ "feature_directory": "/somewhere/else" });
    team.plays(&s, "project_manager", "-", "NEEDS_CLARIFICATION", claim);
    let asked = team.show(&s)["questions"][0]["text"].as_str().unwrap().to_owned();
    assert!(asked.ends_with(&format!("/{s}")) && !asked.contains("somewhere"), "{asked}");
}

/// The gate of `integration` gets the directory of the feature, in `session next` and when it runs.
#[test]
fn gate_of_integration_gets_the_feature_directory() {
    let team = Team::new("gate_of_integration_gets_the_feature_directory");
    let s = team.ask(&["session", "start", "--title", "T", "--workflow", "integration"]).done();
    let s = s["session"].as_str().unwrap().to_owned();
    let verified = json!({ "source_files_verified": ["src/a.rs"] });
    team.plays(&s, "integration-lead", "main", "complete", verified);
    team.plays(&s, "integration-developer", "main", "complete", json!({ "files_modified": ["a"] }));
    let next = team.ask(&["session", "next", &s]).done();
    let directory = next["gates"][0]["commands"][0][1].as_str().unwrap_or_default().to_owned();
    assert!(directory.ends_with(&format!("/{s}")) && !directory.contains('{'), "{next}");
    let shown = team.show(&s);
    assert_eq!(shown["gates"][0]["commands"][0][1], directory.as_str(), "{shown}");
    // By hand: the program receives the same path.
    let run = next["gates"][0]["run"].as_str().unwrap().to_owned();
    team.ask(&["gate", &run]);
    let asked = team.show(&s)["questions"][0]["text"].as_str().unwrap_or_default().to_owned();
    assert!(asked.contains(&format!("scripts/p0-compliance {directory}")), "{asked}");
}

const BARE: &str = "workflow: mine
language: 1
roles: { planner: {}, writer: { is: [author] } }
begin: { spawn: planner }
groups: { begin: { spawn: writer }, ended: { spawn: planner } }
routes:
  planner: { PLANNED: { start: groups, loop: planning }, DONE: { end: session } }
  writer: { WRITTEN: { complete: group } }
loops: { planning: 5 }
";

#[test]
fn workflow_that_needs_nothing_is_warned_of_at_check_and_start() {
    let team = project("workflow_that_needs_nothing_is_warned_of_at_check_and_start", BARE);
    let check = team.ask(&["check"]).done();
    let codes = |document: &Json| document["warnings"].to_string().matches("E0144").count();
    assert_eq!(codes(&check), 1, "{check}");
    let started = team.ask(&["session", "start", "--title", "T"]).done();
    assert_eq!(codes(&started), 1, "{started}");
    let needs = format!(
        "{BARE}gates: {{ checks: {{ run: [make], fail: {{ respawn: author, loop: planning }} }} }}\ncompletion: {{ group: {{ gates: [checks] }} }}\n"
    );
    let team = project("workflow_that_needs_nothing_is_warned_of_at_check_and_start", &needs);
    assert_eq!(codes(&team.ask(&["check"]).done()), 0);
}

#[test]
fn workflow_without_author_is_told_to_declare_one() {
    let text = BARE.replace("writer: { is: [author] }", "writer: {}").replace("complete: group", "merge: author")
        + "merge: { MERGED: { complete: group } }\n";
    let team = project("workflow_without_author_is_told_to_declare_one", &text);
    assert!(help(&team, "E0143").contains("`writer: { is: [author] }`"));
    let phased = "workflow: w\nlanguage: 1\nroles: { builder: {} }\nphases:\n  - { phase: build, role: builder }\n  - { phase: merge, merge: author }\nroutes: { any: { complete: { advance: phase } } }\nmerge: { MERGED: { advance: phase } }\n";
    let team = project("workflow_without_author_is_told_to_declare_one", phased);
    let said = help(&team, "E0143");
    assert!(said.contains("`builder: { is: [author] }`"), "{said}");
}

#[test]
fn rework_without_measure_is_told_which_measures_there_are() {
    let text = "workflow: w\nlanguage: 1\nroles: { builder: { is: [author] }, reviewer: {} }\nphases:\n  - { phase: build, role: builder }\n  - { phase: review, role: reviewer, rework: { goto: build, loop: review } }\nroutes: { any: { complete: { advance: phase } } }\nloops: { review: 3 }\n";
    let team = project("rework_without_measure_is_told_which_measures_there_are", text);
    let said = help(&team, "E0129");
    assert!(said.contains("measure: blocking_findings") && said.contains("failing_tests"), "{said}");
}

#[test]
fn run_as_a_string_is_one_problem_that_shows_the_list() {
    let text = format!(
        "{BARE}gates: {{ checks: {{ run: \"cargo test\", fail: {{ respawn: author, loop: planning }} }} }}\ncompletion: {{ group: {{ gates: [checks] }} }}\n"
    );
    let team = project("run_as_a_string_is_one_problem_that_shows_the_list", &text);
    let check = team.ask(&["check"]);
    assert_eq!(problems(&check.json(), "E0114"), [""; 0], "{check}");
    assert_eq!(problems(&check.json(), "E0105").len(), 1, "{check}");
    assert!(help(&team, "E0105").contains("run: [\"cargo\", \"test\"]"));
}
