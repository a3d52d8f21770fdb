//! Failing tests end by a statement: a report that says nothing of them does not leave its phase.

use serde_json::{Value as Json, json};

use crate::team::incident::plan;
use crate::team::{Run, Team};

fn still_failing(tests: &[&str]) -> Json {
    json!({ "test_progression": { "still_failing": tests } })
}

/// A group of `feature` whose tester reported a failing test; its author has reported again.
fn failed_in_a_phase(test: &str) -> (Team, String) {
    let team = Team::new(test);
    let started = team.ask(&["session", "start", "--title", "T", "--workflow", "feature"]).done();
    let s = started["session"].as_str().unwrap().to_owned();
    let group = json!({ "id": "AUTH", "title": "Login", "domain": "tool" });
    team.plays(&s, "planner", "-", "complete", json!({ "groups": [group] }));
    team.plays(&s, "tool-lead", "AUTH", "complete", json!({}));
    build_and_review(&team, &s);
    let decided = team.plays(&s, "tool-tester", "AUTH", "complete", still_failing(&["login > locks"]));
    assert_eq!(decided["next"][0]["role"], "tool-developer", "{decided}");
    build_and_review(&team, &s);
    (team, s)
}

fn build_and_review(team: &Team, session: &str) {
    team.plays(session, "tool-developer", "AUTH", "complete", json!({ "files_modified": ["src/a.rs"] }));
    team.plays(session, "tool-reviewer", "AUTH", "complete", json!({}));
    team.plays(session, "test-lead", "AUTH", "complete", json!({}));
}

#[track_caller]
fn refused(run: &Run, test: &str, help: &[&str]) {
    assert_eq!((run.exit, run.code().as_str()), (3, "E0311"), "{run}");
    let error = &run.json()["error"];
    assert!(error["message"].as_str().unwrap().ends_with(&format!(": {test}")), "{error}");
    let problem = &error["problems"][0];
    assert!(problem["message"].as_str().unwrap().contains(test), "{error}");
    let text = error["help"].as_str().unwrap();
    assert!(help.iter().all(|part| text.contains(part)) && !text.contains("finding"), "{error}");
}

#[test]
fn phase_left_without_a_word_on_failing_tests_is_refused() {
    let (team, s) = failed_in_a_phase("phase_left_without_a_word_on_failing_tests_is_refused");
    let holder = team.claim(&s, "tool-tester", "AUTH");
    refused(&team.report(&holder, "complete", json!({})), "login > locks", &["still_failing`; an empty list"]);
    assert_eq!(team.group(&s, "AUTH")["failing_tests"], json!(["login > locks"]));
    let decided = team.report(&holder, "complete", still_failing(&[])).done();
    assert_eq!(decided["action"], "merge", "an empty list is a statement: {decided}");
    assert_eq!(team.group(&s, "AUTH")["failing_tests"], json!([]));
}

#[test]
fn phase_without_failing_tests_on_record_needs_no_statement() {
    let team = Team::new("phase_without_failing_tests_on_record_needs_no_statement");
    let started = team.ask(&["session", "start", "--title", "T", "--workflow", "feature"]).done();
    let s = started["session"].as_str().unwrap().to_owned();
    let group = json!({ "id": "AUTH", "title": "Login", "domain": "tool" });
    team.plays(&s, "planner", "-", "complete", json!({ "groups": [group] }));
    team.plays(&s, "tool-lead", "AUTH", "complete", json!({}));
    build_and_review(&team, &s);
    team.plays(&s, "tool-tester", "AUTH", "complete", json!({}));
}

/// A group of `delivery-team` that waits for QA.
fn with_qa(test: &str) -> (Team, String) {
    let team = Team::new(test);
    let s = team.start("T");
    team.plays(&s, "project_manager", "-", "PLANNING_COMPLETE", plan(&["AUTH"]));
    team.plays(&s, "developer", "AUTH", "READY_FOR_QA", json!({}));
    (team, s)
}

#[test]
fn pass_with_failing_tests_lists_them_and_names_the_status_to_report() {
    let (team, s) = with_qa("pass_with_failing_tests_lists_them_and_names_the_status_to_report");
    let holder = team.claim(&s, "qa_expert", "AUTH");
    refused(&team.report(&holder, "PASS", still_failing(&["login > locks"])), "login > locks", &["`FAIL`"]);
}

#[test]
fn explicit_pass_ends_failing_tests() {
    let (team, s) = with_qa("explicit_pass_ends_failing_tests");
    team.plays(&s, "qa_expert", "AUTH", "FAIL", still_failing(&["login > locks"]));
    team.plays(&s, "developer", "AUTH", "READY_FOR_QA", json!({}));
    team.plays(&s, "qa_expert", "AUTH", "PASS", json!({}));
    assert_eq!(team.group(&s, "AUTH")["failing_tests"], json!([]));
}

#[test]
fn pass_beside_a_count_of_failures_is_refused() {
    let (team, s) = with_qa("pass_beside_a_count_of_failures_is_refused");
    let holder = team.claim(&s, "qa_expert", "AUTH");
    let cases = [
        (json!({ "test_results": { "passed": 1, "failed": 3 } }), "`test_results.failed` is 3"),
        (json!({ "tests_passed": false }), "`tests_passed` is false"),
        (json!({ "failing_tests": ["login > locks"] }), "login > locks"),
        (json!({ "test_progression": { "still_failing": [] }, "tests_failed": 2 }), "`tests_failed` is 2"),
    ];
    for (more, test) in cases {
        refused(&team.report(&holder, "PASS", more), test, &["`FAIL`"]);
    }
    team.report(&holder, "PASS", json!({ "test_results": { "passed": 4, "failed": 0 } })).done();
}

#[test]
fn tester_that_counts_failures_sends_the_work_back() {
    let (team, s) = failed_in_a_phase("tester_that_counts_failures_sends_the_work_back");
    let decided = team.plays(&s, "tool-tester", "AUTH", "complete", json!({ "test_results": { "failed": 3 } }));
    assert_eq!(decided["next"][0]["role"], "tool-developer", "{decided}");
}

fn exceptions(team: &Team, session: &str) -> String {
    team.show(session)["exceptions"].to_string()
}

fn prompt(team: &Team, session: &str, role: &str) -> String {
    let assignment = team.assignment(session, role, "AUTH");
    let claimed = team.ask(&["claim", &assignment]).done();
    claimed["prompt"].as_str().unwrap_or_else(|| panic!("no prompt: {claimed}")).to_owned()
}

/// A group of `feature` whose developer said `complete` with a failing test.
fn built_with_failures(test: &str) -> (Team, String) {
    let team = Team::new(test);
    let started = team.ask(&["session", "start", "--title", "T", "--workflow", "feature"]).done();
    let s = started["session"].as_str().unwrap().to_owned();
    let group = json!({ "id": "AUTH", "title": "Login", "domain": "tool" });
    team.plays(&s, "planner", "-", "complete", json!({ "groups": [group] }));
    team.plays(&s, "tool-lead", "AUTH", "complete", json!({}));
    let mut built = still_failing(&["login > locks"]);
    built["files_modified"] = json!(["src/a.rs"]);
    team.plays(&s, "tool-developer", "AUTH", "complete", built);
    (team, s)
}

const STATED: &str = "failing tests reported by tool-developer with `complete`: login > locks";

#[test]
fn failing_tests_stated_with_success_are_shown_to_the_next_reader_and_as_exception() {
    let (team, s) =
        built_with_failures("failing_tests_stated_with_success_are_shown_to_the_next_reader_and_as_exception");
    assert!(exceptions(&team, &s).contains(STATED), "{}", exceptions(&team, &s));
    let prompt = prompt(&team, &s, "tool-reviewer");
    assert!(prompt.contains("tool-developer with `complete`: login > locks"), "{prompt}");
    let shown = crate::team::run(&mut team.command(&["complete", &s]), "");
    assert!(shown.stdout.contains(STATED), "{shown}");
}

#[test]
fn failing_tests_stated_with_success_end_when_the_tester_finds_none() {
    let (team, s) = built_with_failures("failing_tests_stated_with_success_end_when_the_tester_finds_none");
    team.plays(&s, "tool-reviewer", "AUTH", "complete", json!({}));
    // Saying nothing of tests states nothing.
    assert!(exceptions(&team, &s).contains(STATED), "{}", exceptions(&team, &s));
    team.plays(&s, "test-lead", "AUTH", "complete", json!({}));
    team.plays(&s, "tool-tester", "AUTH", "complete", still_failing(&[]));
    assert!(!exceptions(&team, &s).contains("failing tests"), "{}", exceptions(&team, &s));
}

#[test]
fn failing_tests_stated_without_qa_stay_an_exception() {
    let team = Team::new("failing_tests_stated_without_qa_stay_an_exception");
    let arguments = ["session", "start", "--title", "T", "--set", "testing=disabled"];
    let s = team.ask(&arguments).done()["session"].as_str().unwrap().to_owned();
    team.plays(&s, "project_manager", "-", "PLANNING_COMPLETE", plan(&["AUTH"]));
    team.plays(&s, "developer", "AUTH", "READY_FOR_REVIEW", json!({ "test_results": { "failed": 3 } }));
    let stated = "failing tests reported by developer with `READY_FOR_REVIEW`: `test_results.failed` is 3";
    assert!(exceptions(&team, &s).contains(stated), "{}", exceptions(&team, &s));
    // The author takes it back in its next report.
    team.plays(&s, "tech_lead", "AUTH", "CHANGES_REQUESTED", json!({}));
    team.plays(&s, "developer", "AUTH", "READY_FOR_REVIEW", json!({ "test_results": { "failed": 0 } }));
    assert!(!exceptions(&team, &s).contains("failing tests"), "{}", exceptions(&team, &s));
}
