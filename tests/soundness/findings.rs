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
    // No status of a phase is called "request changes", and a restatement as a remark ends nothing.
    refused(
        &team.report(&holder, "complete", json!({ "issues": [lowered(2, "R2")] })),
        "R2",
        "",
        "and report `complete`",
    );
    let dropped = json!({ "iteration_tracking": { "findings_dropped": [{ "id": "R2", "reason": "not reachable" }] } });
    let decided = team.report(&holder, "complete", dropped).done();
    assert_eq!(decided["next"][0]["role"], "test-lead", "{decided}");
}

/// The same finding, restated as a remark.
fn lowered(number: u32, id: &str) -> Json {
    let mut issue = issue(number);
    (issue["id"], issue["severity"], issue["blocking"]) = (json!(id), json!("LOW"), json!(false));
    issue
}

#[test]
fn blocking_finding_restated_as_remark_still_blocks_approval() {
    let (team, s) = reviewed("blocking_finding_restated_as_remark_still_blocks_approval", 1, json!([]));
    let holder = team.claim(&s, "tech_lead", "AUTH");
    for id in ["R1", "R9"] {
        let run = team.report(&holder, "APPROVED", json!({ "issues": [lowered(1, id)] }));
        assert_eq!((run.exit, run.code().as_str()), (3, "E0311"), "{run}");
        let error = &run.json()["error"];
        assert!(error["message"].as_str().unwrap().ends_with("open: R1"), "the id that is on record: {error}");
        assert!(error["help"].as_str().unwrap().contains("report `CHANGES_REQUESTED`"), "{error}");
    }
    let dropped = json!([{ "id": "R1", "reason": "cosmetic after all" }]);
    let more = json!({ "issues": [lowered(1, "R9")], "iteration_tracking": { "findings_dropped": dropped } });
    passes(&team.report(&holder, "APPROVED", more));
    let finding = &team.group(&s, "AUTH")["findings"][0];
    assert_eq!((&finding["blocking"], &finding["severity"]), (&json!(false), &json!("LOW")), "{finding}");
}

#[test]
fn blocking_finding_restated_as_remark_stays_in_the_measure() {
    let (team, s) = reviewed("blocking_finding_restated_as_remark_stays_in_the_measure", 1, json!([]));
    let decided = team.plays(&s, "tech_lead", "AUTH", "CHANGES_REQUESTED", json!({ "issues": [lowered(1, "R1")] }));
    assert!(decided["warnings"].to_string().contains("R1 stays blocking"), "{decided}");
    let finding = &team.group(&s, "AUTH")["findings"][0];
    assert_eq!((&finding["blocking"], &finding["severity"]), (&json!(true), &json!("LOW")), "{finding}");
}

#[test]
fn finding_answered_fixed_and_restated_as_remark_needs_a_verdict() {
    let answers = json!([answer(1, "fixed")]);
    let (team, s) = reviewed("finding_answered_fixed_and_restated_as_remark_needs_a_verdict", 1, answers);
    let holder = team.claim(&s, "tech_lead", "AUTH");
    let run = team.report(&holder, "APPROVED", json!({ "issues": [lowered(1, "R1")] }));
    assert_eq!((run.exit, run.code().as_str()), (3, "E0311"), "what is listed is still there: {run}");
    let confirmed = json!({ "issues": [lowered(1, "R1")], "iteration_tracking": { "fixes_confirmed": ["R1"] } });
    passes(&team.report(&holder, "APPROVED", confirmed));
    assert_eq!(team.group(&s, "AUTH")["findings"][0]["blocking"], json!(false));
}

fn ids(team: &Team, session: &str) -> Vec<String> {
    let findings = team.group(session, "AUTH")["findings"].clone();
    findings.as_array().unwrap().iter().map(|finding| finding["id"].as_str().unwrap().to_owned()).collect()
}

/// `R1` is open and unanswered, and the second review uses the id for another finding.
fn reused(test: &str) -> (Team, String) {
    let (team, s) = reviewed(test, 1, json!([]));
    let mut other = issue(2);
    other["id"] = json!("R1");
    let decided = team.plays(&s, "tech_lead", "AUTH", "CHANGES_REQUESTED", json!({ "issues": [other] }));
    let warnings = decided["warnings"].to_string();
    assert!(warnings.contains("E0231") && warnings.contains("Fault 1") && warnings.contains("`R1-2`"), "{decided}");
    assert_eq!(ids(&team, &s), ["R1", "R1-2"]);
    (team, s)
}

#[test]
fn reused_id_of_open_finding_gets_an_id_of_its_own() {
    let (team, s) = reused("reused_id_of_open_finding_gets_an_id_of_its_own");
    // One answer speaks of one finding.
    team.plays(&s, "developer", "AUTH", "READY_FOR_REVIEW", json!({ "issue_responses": [answer(1, "fixed")] }));
    refused(&approves(&team, &s, json!({})), "R1-2", "not answered", "fixes_confirmed");
    let holder = team.claim(&s, "tech_lead", "AUTH");
    let run = team.report(&holder, "APPROVED", json!({ "iteration_tracking": { "fixes_confirmed": ["R1"] } }));
    refused(&run, "R1-2", "not answered", "fixes_confirmed");
    let both = json!({ "iteration_tracking": { "fixes_confirmed": ["R1", "R1-2"] } });
    passes(&team.report(&holder, "APPROVED", both));
}

#[test]
fn finding_with_an_id_of_its_own_keeps_it_while_the_other_is_open() {
    let (team, s) = reused("finding_with_an_id_of_its_own_keeps_it_while_the_other_is_open");
    team.plays(&s, "developer", "AUTH", "READY_FOR_REVIEW", json!({}));
    let mut other = issue(2);
    other["id"] = json!("R1");
    team.plays(&s, "tech_lead", "AUTH", "CHANGES_REQUESTED", json!({ "issues": [other] }));
    assert_eq!(ids(&team, &s), ["R1", "R1-2"]);
}

#[test]
fn id_of_a_finding_that_this_review_ends_may_be_used_again() {
    let answers = json!([answer(1, "fixed")]);
    let (team, s) = reviewed("id_of_a_finding_that_this_review_ends_may_be_used_again", 1, answers);
    let mut other = issue(2);
    other["id"] = json!("R1");
    team.plays(&s, "tech_lead", "AUTH", "CHANGES_REQUESTED", json!({ "issues": [other] }));
    assert_eq!(
        (ids(&team, &s), statuses(&team, &s)),
        (vec!["R1".into(), "R1".into()], vec!["closed".into(), "open".into()])
    );
}

#[test]
fn accepted_rejection_of_an_unanswered_finding_leaves_it_open() {
    let answers = json!([answer(2, "fixed"), answer(3, "rejected"), answer(4, "deferred")]);
    let (team, s) = reviewed("accepted_rejection_of_an_unanswered_finding_leaves_it_open", 4, answers);
    let holder = team.claim(&s, "tech_lead", "AUTH");
    let all = json!({ "iteration": 2, "rejections_accepted": ["R1", "R2", "R3", "R4", "R9"] });
    let error = team.report(&holder, "APPROVED", json!({ "iteration_tracking": &all })).json()["error"].clone();
    assert_eq!(error["code"], "E0311", "{error:#}");
    assert_eq!(error["message"], "`review` cannot pass: 1 blocking finding is open: R1");
    let goes_back = json!({ "issues": [issue(1)], "iteration_tracking": all });
    let decided = team.report(&holder, "CHANGES_REQUESTED", goes_back).done();
    let warnings = decided["warnings"].to_string();
    for text in [
        "names R1, and its author did not answer it",
        "names R2, and its author answered `fixed`",
        "names R9, which is not open",
    ] {
        assert!(warnings.contains(text), "{text}: {warnings}");
    }
    assert!(!warnings.contains("R3") && !warnings.contains("R4"), "{warnings}");
    assert_eq!(statuses(&team, &s), ["open", "closed", "accepted", "accepted"]);
}

#[test]
fn refusal_of_an_approval_says_once_what_is_allowed() {
    let answers = json!([answer(3, "rejected")]);
    let (team, s) = reviewed("refusal_of_an_approval_says_once_what_is_allowed", 3, answers);
    let holder = team.claim(&s, "tech_lead", "AUTH");
    let error = team.report(&holder, "APPROVED", json!({})).json()["error"].clone();
    assert_eq!(error["message"], "`review` cannot pass: 3 blocking findings are open: R1, R2, R3");
    let help = "end each finding by its id in `iteration_tracking`: `fixes_confirmed`, `rejections_accepted` (R3) or \
                `findings_dropped` with a reason; or list it in `issues` as blocking and report `CHANGES_REQUESTED`";
    assert_eq!(error["help"], help);
    let mut command = team.command(&["report", "--assignment", &holder.assignment, "-"]);
    let handoff = crate::team::handoff("tech_lead", "APPROVED", json!({})).to_string();
    let text = crate::team::run(command.env("INTERLOCK_TOKEN", &holder.token), &handoff).stderr;
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(text.matches("not answered: R1 [HIGH] Fault 1 (src/auth.rs:1), R2").count(), 1, "{text}");
    assert_eq!(text.matches("findings_dropped").count(), 1, "{text}");
}

#[test]
fn double_verdict_and_missing_reason_say_how_to_fix_them() {
    let (team, s) = reviewed("double_verdict_and_missing_reason_say_how_to_fix_them", 1, json!([]));
    let holder = team.claim(&s, "tech_lead", "AUTH");
    let help = |more: Json| {
        let run = team.report(&holder, "APPROVED", json!({ "iteration_tracking": more }));
        assert_eq!((run.exit, run.code().as_str()), (4, "E0224"), "{run}");
        run.json()["error"]["problems"][0]["help"].as_str().unwrap().to_owned()
    };
    let missing = help(json!({ "findings_dropped": [{ "id": "R1" }] }));
    assert!(missing.contains("say in `reason` why"), "{missing}");
    let double = help(json!({ "fixes_confirmed": ["R1"], "rejections_accepted": ["R1"] }));
    assert!(double.contains("name each finding in one of the lists"), "{double}");
}

#[test]
fn findings_accepted_with_the_group_are_shown_as_exceptions() {
    let (team, s) = reviewed(
        "findings_accepted_with_the_group_are_shown_as_exceptions",
        2,
        json!([answer(1, "rejected"), answer(2, "fixed")]),
    );
    let why = ["override", &s, "AUTH", "--to", "project_manager", "--why", "the deadline"];
    team.ask(&why).done();
    team.plays(&s, "project_manager", "AUTH", "GROUP_ACCEPTED", json!({}));
    let shown = crate::team::run(&mut team.command(&["session", "show", &s]), "");
    let text = "blocking findings accepted as they are: R1 [HIGH] Fault 1, by project_manager; R2 [HIGH] Fault 2";
    assert!(shown.stdout.contains(text), "{shown}");
    let exceptions = team.show(&s)["exceptions"].to_string();
    assert!(exceptions.contains(text), "{exceptions}");
}
