//! A finding ends explicitly: confirmed, accepted, dropped, or left out after the author answered `fixed`.

use serde_json::{Value as Json, json};

use crate::team::incident::plan;
use crate::team::{Run, Team};

/// A group whose first review raised these blocking findings, `R1` and on; its author has answered with `responses`.
fn reviewed(test: &str, findings: u32, responses: Json) -> (Team, String) {
    let team = Team::new(test);
    let session = team.start("Findings");
    team.plays(&session, "project_manager", "-", "PLANNING_COMPLETE", plan(&["AUTH"]));
    team.plays(&session, "developer", "AUTH", "READY_FOR_REVIEW", json!({}));
    let issues: Vec<Json> = (1..=findings).map(issue).collect();
    team.plays(&session, "tech_lead", "AUTH", "CHANGES_REQUESTED", json!({ "issues": issues }));
    team.plays(&session, "developer", "AUTH", "READY_FOR_REVIEW", json!({ "issue_responses": responses }));
    (team, session)
}

fn issue(number: u32) -> Json {
    json!({ "id": format!("R{number}"), "title": format!("Fault {number}"), "location": format!("src/auth.rs:{number}"),
        "severity": "HIGH", "blocking": true })
}

fn answer(number: u32, response: &str) -> Json {
    json!({ "id": format!("R{number}"), "response": response, "reason": "as the plan says" })
}

fn approves(team: &Team, session: &str, more: Json) -> Run {
    let holder = team.claim(session, "tech_lead", "AUTH");
    team.report(&holder, "APPROVED", more)
}

/// The refusal, and that it names this finding with the author's answer and a way to end it.
#[track_caller]
fn refused(run: &Run, id: &str, answered: &str, way: &str) {
    assert_eq!((run.exit, run.code().as_str()), (3, "E0311"), "{run}");
    let error = &run.json()["error"];
    let problems = error["problems"].as_array().expect("problems");
    let message = |problem: &Json| problem["message"].as_str().unwrap_or_default().to_owned();
    let named = problems.iter().find(|problem| message(problem).starts_with(&format!("{id} [HIGH] Fault")));
    let named = named.unwrap_or_else(|| panic!("{id} is not listed: {error}"));
    assert!(message(named).contains(answered), "{named}");
    assert!(named["help"].as_str().is_some_and(|help| help.contains(way)), "{named}");
}

#[track_caller]
/// The approval is recorded. QA, which these groups have skipped, is asked next.
fn passes(run: &Run) {
    assert_eq!(run.exit, 0, "{run}");
    assert_eq!(run.json()["next"][0]["role"], "qa_expert", "{run}");
}

fn statuses(team: &Team, session: &str) -> Vec<String> {
    let findings = team.group(session, "AUTH")["findings"].clone();
    findings.as_array().unwrap().iter().map(|finding| finding["status"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn approval_over_unanswered_finding_is_refused() {
    let (team, s) = reviewed("approval_over_unanswered_finding_is_refused", 2, json!([answer(1, "fixed")]));
    let run = approves(&team, &s, json!({}));
    refused(&run, "R2", "not answered", "fixes_confirmed");
    assert_eq!(run.json()["error"]["problems"].as_array().unwrap().len(), 1, "R1 was answered `fixed`: {run}");
    // An empty list of issues does not end it either, and nothing has merged.
    let holder = team.claim(&s, "tech_lead", "AUTH");
    refused(&team.report(&holder, "APPROVED", json!({ "issues": [] })), "R2", "not answered", "findings_dropped");
    assert_eq!(team.group(&s, "AUTH")["evidence"], json!([]));
}

#[test]
fn approval_over_deferred_or_rejected_finding_is_refused() {
    let answers = json!([answer(1, "deferred"), answer(2, "rejected")]);
    let (team, s) = reviewed("approval_over_deferred_or_rejected_finding_is_refused", 2, answers);
    let run = approves(&team, &s, json!({ "issues": [] }));
    refused(&run, "R1", "answered `deferred`", "fixes_confirmed");
    refused(&run, "R2", "answered `rejected`: as the plan says", "rejections_accepted");
}

#[test]
fn finding_answered_fixed_and_left_out_is_closed() {
    let answers = json!([answer(1, "fixed")]);
    let (team, s) = reviewed("finding_answered_fixed_and_left_out_is_closed", 1, answers);
    passes(&approves(&team, &s, json!({})));
    assert_eq!(statuses(&team, &s), ["closed"]);
}

#[test]
fn findings_confirmed_dropped_and_accepted_let_approval_pass() {
    let answers = json!([answer(3, "rejected")]);
    let (team, s) = reviewed("findings_confirmed_dropped_and_accepted_let_approval_pass", 4, answers);
    let tracking = json!({
        "iteration": 2, "fixes_confirmed": ["R1"], "rejections_accepted": ["R3"],
        "findings_dropped": [{ "id": "R2", "reason": "the gateway closes it" }],
    });
    let beside = json!([{ "id": "R4", "reason": "moved to another group" }]);
    passes(&approves(&team, &s, json!({ "iteration_tracking": tracking, "findings_dropped": beside })));
    assert_eq!(statuses(&team, &s), ["closed", "closed", "accepted", "closed"]);
    let notes = team.group(&s, "AUTH")["notes"].to_string();
    assert!(notes.contains("tech_lead dropped R2 (Fault 2): the gateway closes it"), "{notes}");
}

#[test]
fn dropped_finding_without_reason_is_refused() {
    let (team, s) = reviewed("dropped_finding_without_reason_is_refused", 1, json!([]));
    let run = approves(&team, &s, json!({ "iteration_tracking": { "findings_dropped": [{ "id": "R1" }] } }));
    assert_eq!((run.exit, run.code().as_str()), (4, "E0224"), "{run}");
}

#[test]
fn omitted_unanswered_finding_stays_in_the_measure() {
    let (team, s) = reviewed("omitted_unanswered_finding_stays_in_the_measure", 2, json!([answer(1, "fixed")]));
    team.plays(&s, "tech_lead", "AUTH", "CHANGES_REQUESTED", json!({ "issues": [issue(3)] }));
    assert_eq!(statuses(&team, &s), ["closed", "open", "open"]);
    assert_eq!(team.group(&s, "AUTH")["loops"]["review"]["blocking"], 2);
}

#[test]
fn stale_fixed_answer_does_not_end_a_finding_raised_again() {
    let answers = json!([answer(1, "fixed")]);
    let (team, s) = reviewed("stale_fixed_answer_does_not_end_a_finding_raised_again", 1, answers);
    team.plays(&s, "tech_lead", "AUTH", "CHANGES_REQUESTED", json!({ "issues": [issue(1)] }));
    team.plays(&s, "developer", "AUTH", "READY_FOR_REVIEW", json!({}));
    refused(&approves(&team, &s, json!({})), "R1", "answered `fixed`: as the plan says, and raised again since", "");
}

#[test]
fn reviewer_that_answers_its_own_finding_ends_nothing() {
    let (team, s) = reviewed("reviewer_that_answers_its_own_finding_ends_nothing", 1, json!([]));
    let own = json!({ "issues": [issue(1)], "issue_responses": [answer(1, "fixed")] });
    let decided = team.plays(&s, "tech_lead", "AUTH", "CHANGES_REQUESTED", own);
    assert!(decided["warnings"].to_string().contains("E0244"), "{decided}");
    team.plays(&s, "developer", "AUTH", "READY_FOR_REVIEW", json!({}));
    refused(&approves(&team, &s, json!({})), "R1", "not answered", "");
}

#[test]
fn serious_finding_that_does_not_block_is_shown() {
    let (team, s) = reviewed("serious_finding_that_does_not_block_is_shown", 1, json!([answer(1, "fixed")]));
    let mut remark = issue(7);
    remark["blocking"] = json!(false);
    passes(&approves(&team, &s, json!({ "issues": [remark] })));
    let group = team.group(&s, "AUTH");
    assert_eq!(group["serious_findings"][0]["id"], "R7", "{group}");
    let shown = crate::team::run(&mut team.command(&["session", "show", &s]), "");
    assert!(shown.stdout.contains("HIGH, not blocking: R7 Fault 7 (src/auth.rs:7), by tech_lead"), "{shown}");
}

/// In a pipeline the reviewer leaves its phase instead of approving.
#[test]
fn phase_left_over_unanswered_finding_is_refused() {
    let team = Team::new("phase_left_over_unanswered_finding_is_refused");
    let started = team.ask(&["session", "start", "--title", "F", "--workflow", "feature"]).done();
    let s = started["session"].as_str().unwrap().to_owned();
    let group = json!({ "id": "AUTH", "title": "Login", "domain": "tool" });
    team.plays(&s, "planner", "-", "complete", json!({ "groups": [group] }));
    team.plays(&s, "tool-lead", "AUTH", "complete", json!({}));
    let files = json!({ "files_modified": ["src/a.rs"] });
    team.plays(&s, "tool-developer", "AUTH", "complete", files.clone());
    team.plays(&s, "tool-reviewer", "AUTH", "complete", json!({ "issues": [issue(1), issue(2)] }));
    let mut answered = files;
    answered["issue_responses"] = json!([answer(1, "fixed")]);
    team.plays(&s, "tool-developer", "AUTH", "complete", answered);
    let holder = team.claim(&s, "tool-reviewer", "AUTH");
    refused(&team.report(&holder, "complete", json!({})), "R2", "not answered", "fixes_confirmed");
    let dropped = json!({ "iteration_tracking": { "findings_dropped": [{ "id": "R2", "reason": "not reachable" }] } });
    let decided = team.report(&holder, "complete", dropped).done();
    assert_eq!(decided["next"][0]["role"], "test-lead", "{decided}");
}
