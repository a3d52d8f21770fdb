//! QA's PASS for the group's own tree.

use serde_json::json;

use crate::team::{Holder, Team};
use crate::{next_roles, no_lab, planned, refused};

#[test]
fn approval_without_qa_is_recorded_and_asks_qa() {
    let (team, session) = planned("approval_without_qa_is_recorded_and_asks_qa", &["A"]);
    team.plays(&session, "developer", "A", "READY_FOR_REVIEW", json!({}));
    let asked = team.plays(&session, "tech_lead", "A", "APPROVED", json!({}));
    assert_eq!(next_roles(&asked), ["qa_expert"], "{asked:#}");
    assert_eq!(asked["rule"], "routes.tech_lead.APPROVED/needs.qa", "{asked:#}");
    assert_eq!(team.group(&session, "A")["evidence"], json!(["review"]));
    let merges = team.plays(&session, "qa_expert", "A", "PASS", json!({}));
    assert_eq!(
        (merges["action"].as_str(), merges["rule"].as_str()),
        (Some("merge"), Some("routes.qa_expert.PASS/merge"))
    );
    team.plays(&session, "developer", "A", "MERGE_SUCCESS", json!({}));
    assert_eq!(team.group_status(&session, "A"), "completed");
}

#[test]
fn failed_tests_then_review_does_not_complete() {
    let (team, session) = planned("failed_tests_then_review_does_not_complete", &["A"]);
    team.plays(&session, "developer", "A", "READY_FOR_QA", json!({}));
    let failing = json!({ "test_progression": { "still_failing": ["login"] } });
    team.plays(&session, "qa_expert", "A", "FAIL", failing);
    team.plays(&session, "developer", "A", "READY_FOR_REVIEW", json!({}));
    let asked = team.plays(&session, "tech_lead", "A", "APPROVED", json!({}));
    assert_eq!(next_roles(&asked), ["qa_expert"], "{asked:#}");
    let complete = team.ask(&["complete", &session]);
    assert_eq!(complete.exit, 3, "{complete}");
    assert_eq!(team.group_status(&session, "A"), "in_progress");
}

#[test]
fn new_work_of_the_author_voids_the_pass() {
    let (team, session) = planned("new_work_of_the_author_voids_the_pass", &["A"]);
    team.plays(&session, "developer", "A", "READY_FOR_QA", json!({}));
    team.plays(&session, "qa_expert", "A", "PASS", json!({}));
    let issue = json!({ "id": "F1", "title": "t", "location": "a.rs:1", "severity": "HIGH", "blocking": true });
    team.plays(&session, "tech_lead", "A", "CHANGES_REQUESTED", json!({ "issues": [issue] }));
    let fixed = json!({ "issue_responses": [{ "id": "F1", "response": "fixed" }] });
    team.plays(&session, "developer", "A", "READY_FOR_REVIEW", fixed);
    let asked = team.plays(&session, "tech_lead", "A", "APPROVED", json!({ "issues": [] }));
    assert_eq!(next_roles(&asked), ["qa_expert"], "{asked:#}");
}

/// Only QA passes `qa`: where its reports are lost, no other role is asked in its place.
#[test]
fn lost_reports_of_qa_end_at_a_person() {
    let team = Team::new("lost_reports_of_qa_end_at_a_person");
    let words = ["route", "--workflow", "delivery-team", "--role", "qa_expert", "--status", "no_handoff"];
    let facts = ["--fact", "loop.retry.iteration=3", "--fact", "passed.qa=false"];
    let asks = team.ask(&[words.as_slice(), &facts].concat()).done();
    assert_eq!((asks["action"].as_str(), asks["question"]["name"].as_str()), (Some("ask"), Some("stuck")), "{asks:#}");
}

#[test]
fn unknown_status_of_the_author_does_not_bypass_qa() {
    let (team, session) = planned("unknown_status_of_the_author_does_not_bypass_qa", &["A"]);
    let unclear = team.plays(&session, "developer", "A", "DONE", json!({}));
    assert_eq!(next_roles(&unclear), ["tech_lead"]);
    let asked = team.plays(&session, "tech_lead", "A", "APPROVED", json!({}));
    assert_eq!(next_roles(&asked), ["qa_expert"], "{asked:#}");
}

#[test]
fn unknown_status_of_qa_is_never_evidence() {
    let (team, session) = planned("unknown_status_of_qa_is_never_evidence", &["A"]);
    team.plays(&session, "developer", "A", "READY_FOR_QA", json!({}));
    team.plays(&session, "qa_expert", "A", "LOOKS_FINE", json!({}));
    let asked = team.plays(&session, "tech_lead", "A", "APPROVED", json!({}));
    assert_eq!(next_roles(&asked), ["qa_expert"], "{asked:#}");
}

/// Each time QA avoids a verdict it is asked again, and at the limit a person is.
#[test]
fn requests_for_missing_evidence_are_bounded() {
    let (team, session) = planned("requests_for_missing_evidence_are_bounded", &["A"]);
    team.plays(&session, "developer", "A", "READY_FOR_REVIEW", json!({}));
    for _ in 0..12 {
        if team.open(&session).is_empty() {
            break;
        }
        let decided = team.plays(&session, "tech_lead", "A", "APPROVED", json!({}));
        if next_roles(&decided) == ["qa_expert"] {
            team.plays(&session, "qa_expert", "A", "FLAKY", json!({}));
        }
    }
    let shown = team.show(&session);
    assert_eq!(shown["questions"][0]["name"], "stuck", "{shown:#}");
    assert_ne!(team.group_status(&session, "A"), "completed");
}

/// QA passed the tree, and a person has it look once more.
fn passed_and_asked_again(team: &Team, session: &str, group: &str) {
    team.plays(session, "developer", group, "READY_FOR_QA", json!({}));
    team.plays(session, "qa_expert", group, "PASS", json!({}));
    team.ask(&["override", session, group, "--to", "qa_expert", "--why", "again"]).done();
}

#[test]
fn research_group_needs_no_tests() {
    let team = Team::new("research_group_needs_no_tests");
    let session = team.start("Research");
    let groups = json!({ "groups": [{ "id": "A", "title": "a", "kind": "research" }] });
    team.plays(&session, "project_manager", "-", "PLANNING_COMPLETE", groups);
    team.plays(&session, "requirements_engineer", "A", "READY_FOR_REVIEW", json!({}));
    let merges = team.plays(&session, "tech_lead", "A", "APPROVED", json!({}));
    assert_eq!(merges["action"], "merge", "{merges:#}");
    team.plays(&session, "requirements_engineer", "A", "MERGE_SUCCESS", json!({}));
    assert_eq!(team.group_status(&session, "A"), "completed");
}

/// The planner dropped the requirement, so everyone who reads the result sees who did.
#[test]
fn requirement_that_the_plan_drops_is_an_exception() {
    let team = Team::new("requirement_that_the_plan_drops_is_an_exception");
    let session = team.start("Research and code");
    let groups = json!({ "groups": [{ "id": "A", "title": "a" }, { "id": "R", "title": "r", "kind": "research" }] });
    team.plays(&session, "project_manager", "-", "PLANNING_COMPLETE", groups);
    let exceptions = |part: &str| {
        let shown = team.show(&session)["exceptions"].to_string();
        assert!(shown.contains(part), "{shown}");
    };
    exceptions("planned as research by project_manager: completes without `qa`");
    team.plays(&session, "developer", "A", "READY_FOR_QA", json!({}));
    team.plays(&session, "qa_expert", "A", "PASS", json!({}));
    for (author, group) in [("developer", "A"), ("requirements_engineer", "R")] {
        if group == "R" {
            team.plays(&session, author, group, "READY_FOR_REVIEW", json!({}));
        }
        team.plays(&session, "tech_lead", group, "APPROVED", json!({}));
        team.plays(&session, author, group, "MERGE_SUCCESS", json!({}));
    }
    let told = "planned as research by project_manager: done without `qa`";
    exceptions(told);
    let assignment = team.assignment(&session, "project_manager", "-");
    let claimed = team.ask(&["claim", &assignment]).done();
    assert!(claimed["prompt"].to_string().contains(told), "{claimed:#}");
    let token = claimed["token"].as_str().expect("a token").to_owned();
    let holder = Holder { assignment, role: "project_manager".to_owned(), token };
    team.report(&holder, "BAZINGA", json!({})).done();
    assert_eq!(team.status(&session), "completed");
    assert!(team.ask(&["complete", &session]).done()["exceptions"].to_string().contains(told));
    assert!(team.log(&session).iter().any(|event| event.to_string().contains(&format!("exception: R: {told}"))));
}

/// One trivial research group is no result: the team would acknowledge its own deferrals.
#[test]
fn session_with_nothing_but_research_completed_asks_a_person() {
    let team = Team::new("session_with_nothing_but_research_completed_asks_a_person");
    let session = team.start("Give up");
    let groups = json!({ "groups": [{ "id": "A", "title": "a" }, { "id": "R", "title": "r", "kind": "research" }] });
    team.plays(&session, "project_manager", "-", "PLANNING_COMPLETE", groups);
    let mut blocked = no_lab();
    blocked["blocked_reason"] = json!("external_dependency");
    team.plays(&session, "developer", "A", "BLOCKED", blocked);
    team.plays(&session, "investigator", "A", "EXHAUSTED", json!({}));
    let external = json!({ "external": true, "external_dependency": "moon" });
    team.plays(&session, "tech_lead", "A", "UNBLOCKING_GUIDANCE", external);
    team.plays(&session, "project_manager", "A", "DEFERRED_EXTERNAL", json!({ "defer_reason": "moon" }));
    team.plays(&session, "requirements_engineer", "R", "READY_FOR_REVIEW", json!({}));
    team.plays(&session, "tech_lead", "R", "APPROVED", json!({}));
    team.plays(&session, "requirements_engineer", "R", "MERGE_SUCCESS", json!({}));
    let asked = team.plays(&session, "project_manager", "-", "BAZINGA", json!({ "acknowledge": ["A"] }));
    assert_eq!(asked["action"], "ask", "{asked:#}");
    assert_eq!(team.show(&session)["questions"][0]["name"], "nothing_completed");
}

/// An acceptance ends a dispute about a finding, not a finding that its author never answered.
#[test]
fn acceptance_over_an_unanswered_finding_is_refused() {
    let (team, session) = planned("acceptance_over_an_unanswered_finding_is_refused", &["A", "B"]);
    let issue = json!({ "id": "F1", "title": "bad", "location": "a:1", "severity": "HIGH", "blocking": true });
    for (group, answers) in [("A", json!([])), ("B", json!([{ "id": "F1", "response": "rejected", "reason": "no" }]))] {
        team.plays(&session, "developer", group, "READY_FOR_QA", json!({}));
        team.plays(&session, "qa_expert", group, "PASS", json!({}));
        team.plays(&session, "tech_lead", group, "CHANGES_REQUESTED", json!({ "issues": [issue] }));
        team.plays(&session, "developer", group, "READY_FOR_QA", json!({ "issue_responses": answers }));
        team.plays(&session, "qa_expert", group, "PASS", json!({}));
        team.plays(&session, "tech_lead", group, "BLOCKED", no_lab());
    }
    let error = refused(&team, &session, "project_manager", "A", "GROUP_ACCEPTED", "E0311");
    let message = error["message"].as_str().unwrap_or_default();
    assert!(message.contains("1 blocking finding is open that developer has not answered: F1"), "{error:#}");
    assert!(
        error["allowed"].as_array().is_some_and(|allowed| !allowed.contains(&json!("GROUP_ACCEPTED"))),
        "{error:#}"
    );
    let accepted = team.plays(&session, "project_manager", "B", "GROUP_ACCEPTED", json!({}));
    assert_eq!(accepted["action"], "merge", "{accepted:#}");
    let warning = &accepted["warnings"][0];
    assert_eq!(warning["code"], "E0345", "{accepted:#}");
    assert_eq!(warning["message"], "project_manager accepted the group with 1 blocking finding open", "{warning:#}");
}

/// Document 2, positive test: QA is blocked, the tech lead approves afterwards, the manager accepts.
#[test]
fn blocked_qa_with_approval_and_acceptance_completes() {
    let (team, session) = planned("blocked_qa_with_approval_and_acceptance_completes", &["A"]);
    team.plays(&session, "developer", "A", "READY_FOR_QA", json!({}));
    team.plays(&session, "qa_expert", "A", "BLOCKED", no_lab());
    let merges = team.plays(&session, "tech_lead", "A", "APPROVED", json!({}));
    assert_eq!(merges["action"], "merge", "{merges:#}");
    team.plays(&session, "developer", "A", "MERGE_SUCCESS", json!({}));
    assert_eq!(team.group_status(&session, "A"), "awaiting_confirmation");
    team.plays(&session, "project_manager", "-", "BAZINGA", json!({}));
    assert_eq!(team.status(&session), "completed");
    let complete = team.ask(&["complete", &session]).done();
    let text = complete["exceptions"][0]["text"].as_str().expect("an exception");
    assert!(text.contains("`qa` was not passed") && text.contains("accepted by project_manager"), "{text}");
}

/// QA has seen tests fail, whatever kept it from the rest: neither an approval nor an acceptance makes up for that.
#[test]
fn blocked_qa_with_failing_tests_is_a_failure() {
    let (team, session) = planned("blocked_qa_with_failing_tests_is_a_failure", &["A", "B"]);
    for (group, status) in [("A", "BLOCKED"), ("B", "PARTIAL")] {
        team.plays(&session, "developer", group, "READY_FOR_QA", json!({}));
        let mut report = no_lab();
        report["test_progression"] = json!({ "still_failing": ["login"] });
        team.plays(&session, "qa_expert", group, status, report);
        let error = refused(&team, &session, "tech_lead", group, "APPROVED", "E0351");
        let allowed = error["allowed"].as_array().cloned().unwrap_or_default();
        assert!(allowed.contains(&json!("CHANGES_REQUESTED")), "{error:#}");
    }
    team.plays(&session, "tech_lead", "A", "BLOCKED", json!({ "attempted": ["x"], "blocked_reason": "unknown" }));
    refused(&team, &session, "project_manager", "A", "GROUP_ACCEPTED", "E0351");
    let waiver = team.ask(&["override", &session, "A", "--waive", "qa", "--why", "ship it"]);
    assert_eq!((waiver.exit, waiver.code().as_str()), (3, "E0351"), "{waiver}");
}

/// The latest report of QA counts, whatever its status: an earlier PASS on the tree does not cover tests that fail now.
#[test]
fn failing_tests_after_a_pass_void_it_under_any_status() {
    let statuses = [("A", "BLOCKED"), ("B", "PARTIAL"), ("C", "FLAKY"), ("D", "LOOKS_BAD")];
    let (team, session) = planned("failing_tests_after_a_pass_void_it_under_any_status", &["A", "B", "C", "D"]);
    for (group, status) in statuses {
        passed_and_asked_again(&team, &session, group);
        let mut report = no_lab();
        // `test_progression` is one of the fields that state failing tests.
        match group {
            "C" => report["test_results"] = json!({ "passed": 4, "failed": 1 }),
            _ => report["test_progression"] = json!({ "still_failing": ["login"] }),
        }
        let decided = team.plays(&session, "qa_expert", group, status, report);
        assert_eq!(team.group(&session, group)["evidence"], json!([]), "{decided:#}");
        refused(&team, &session, "tech_lead", group, "APPROVED", "E0351");
    }
    let waiver = team.ask(&["override", &session, "A", "--waive", "qa", "--why", "ship it"]);
    assert_eq!((waiver.exit, waiver.code().as_str()), (3, "E0351"), "{waiver}");
    assert!(team.ask(&["rebuild"]).done()["differences"].as_array().is_none_or(Vec::is_empty));
}

/// The latest report of QA is no PASS, so the exception for a blocked QA applies: it is named and must be accepted.
#[test]
fn block_of_qa_after_a_pass_leaves_the_exception() {
    let (team, session) = planned("block_of_qa_after_a_pass_leaves_the_exception", &["A"]);
    passed_and_asked_again(&team, &session, "A");
    let blocked = team.plays(&session, "qa_expert", "A", "BLOCKED", no_lab());
    let because = blocked["because"].to_string();
    assert!(
        because.contains("qa_expert passed `qa` on this tree before, and this report takes that back"),
        "{because}"
    );
    let merges = team.plays(&session, "tech_lead", "A", "APPROVED", json!({}));
    assert_eq!(merges["action"], "merge", "{merges:#}");
    team.plays(&session, "developer", "A", "MERGE_SUCCESS", json!({}));
    assert_eq!(team.group_status(&session, "A"), "awaiting_confirmation");
    team.plays(&session, "project_manager", "-", "BAZINGA", json!({}));
    let complete = team.ask(&["complete", &session]).done();
    let text = complete["exceptions"][0]["text"].as_str().expect("an exception");
    assert!(text.contains("`qa` was not passed") && text.contains("accepted by project_manager"), "{text}");
}

#[test]
fn report_without_a_verdict_after_a_pass_asks_qa_again() {
    let (team, session) = planned("report_without_a_verdict_after_a_pass_asks_qa_again", &["A"]);
    passed_and_asked_again(&team, &session, "A");
    team.plays(&session, "qa_expert", "A", "PARTIAL", json!({}));
    let asked = team.plays(&session, "tech_lead", "A", "APPROVED", json!({}));
    assert_eq!(next_roles(&asked), ["qa_expert"], "{asked:#}");
    let merges = team.plays(&session, "qa_expert", "A", "PASS", json!({}));
    assert_eq!(merges["action"], "merge", "the approval of the tree still holds: {merges:#}");
}

/// A person waived the tests before QA saw them fail.
#[test]
fn waiver_does_not_cover_tests_that_fail_afterwards() {
    let (team, session) = planned("waiver_does_not_cover_tests_that_fail_afterwards", &["A"]);
    team.plays(&session, "developer", "A", "READY_FOR_QA", json!({}));
    team.ask(&["override", &session, "A", "--waive", "qa", "--why", "no lab"]).done();
    team.ask(&["override", &session, "A", "--to", "qa_expert", "--why", "there is a lab"]).done();
    let mut report = no_lab();
    report["test_progression"] = json!({ "still_failing": ["login"] });
    team.plays(&session, "qa_expert", "A", "BLOCKED", report);
    refused(&team, &session, "tech_lead", "A", "APPROVED", "E0351");
}

/// A workflow in which QA reports on one tree twice, without a person's doing.
#[test]
fn second_report_of_qa_in_one_workflow_voids_the_first() {
    let team = Team::new("second_report_of_qa_in_one_workflow_voids_the_first");
    let text = "workflow: twice\nlanguage: 1\nextends: delivery-team\nroutes:\n  qa_expert:\n    \
                PASS: { respawn: self, loop: second_look, passes: [qa] }\n    \
                PARTIAL: { spawn: tech_lead }\nloops: { second_look: 3 }\n";
    let file = team.file("twice.yaml", text).display().to_string();
    let started = team.ask(&["session", "start", "--title", "Twice", "--workflow", &file]).done();
    let session = started["session"].as_str().expect("a session").to_owned();
    team.plays(&session, "project_manager", "-", "PLANNING_COMPLETE", crate::plan(&["A"]));
    team.plays(&session, "developer", "A", "READY_FOR_QA", json!({}));
    let again = team.plays(&session, "qa_expert", "A", "PASS", json!({}));
    assert_eq!(next_roles(&again), ["qa_expert"], "{again:#}");
    let failing = json!({ "test_progression": { "still_failing": ["login"] } });
    team.plays(&session, "qa_expert", "A", "PARTIAL", failing);
    refused(&team, &session, "tech_lead", "A", "APPROVED", "E0351");
}

/// The tests passed after all: the latest report of QA counts.
#[test]
fn pass_of_qa_after_its_own_failing_report_counts() {
    let (team, session) = planned("pass_of_qa_after_its_own_failing_report_counts", &["A"]);
    team.plays(&session, "developer", "A", "READY_FOR_QA", json!({}));
    let mut report = no_lab();
    report["test_progression"] = json!({ "still_failing": ["login"] });
    team.plays(&session, "qa_expert", "A", "BLOCKED", report);
    team.plays(&session, "tech_lead", "A", "UNBLOCKING_GUIDANCE", json!({}));
    let none = json!({ "test_progression": { "still_failing": [] } });
    team.plays(&session, "qa_expert", "A", "PASS", none);
    let merges = team.plays(&session, "tech_lead", "A", "APPROVED", json!({}));
    assert_eq!(merges["action"], "merge", "{merges:#}");
}

/// The approval came first: it does not speak for a tree that QA could not test.
#[test]
fn approval_before_the_block_of_qa_is_no_exception() {
    let (team, session) = planned("approval_before_the_block_of_qa_is_no_exception", &["A"]);
    team.plays(&session, "developer", "A", "READY_FOR_REVIEW", json!({}));
    team.plays(&session, "tech_lead", "A", "APPROVED", json!({}));
    team.plays(&session, "qa_expert", "A", "BLOCKED", no_lab());
    assert_eq!(team.group_status(&session, "A"), "blocked");
    let back = team.plays(&session, "tech_lead", "A", "UNBLOCKING_GUIDANCE", json!({}));
    assert_eq!(next_roles(&back), ["qa_expert"], "{back:#}");
}

/// At the top of the ladder the manager gets a group whose tests fail, and cannot accept it.
#[test]
fn acceptance_over_failed_tests_is_refused() {
    let team = Team::new("acceptance_over_failed_tests_is_refused");
    let session = team.start("Failing");
    let groups = json!({ "groups": [{ "id": "A", "title": "a" }] });
    team.plays(&session, "project_manager", "-", "PLANNING_COMPLETE", groups);
    team.plays(&session, "developer", "A", "ESCALATE_SENIOR", json!({}));
    team.plays(&session, "senior_software_engineer", "A", "READY_FOR_QA", json!({}));
    let up = team.plays(&session, "qa_expert", "A", "FAIL_ESCALATE", json!({}));
    assert_eq!(next_roles(&up), ["project_manager"], "{up:#}");
    let error = refused(&team, &session, "project_manager", "A", "GROUP_ACCEPTED", "E0351");
    assert!(error["message"].as_str().is_some_and(|text| text.contains("`qa`")), "{error:#}");
    assert!(
        error["allowed"].as_array().is_some_and(|list| list.iter().any(|status| status == "CONTINUE")),
        "{error:#}"
    );
    let waiver = team.ask(&["override", &session, "A", "--waive", "qa", "--why", "ship it"]);
    assert_eq!((waiver.exit, waiver.code().as_str()), (3, "E0351"), "{waiver}");
    team.ask(&["override", &session, "A", "--to", "tech_lead", "--why", "look again"]).done();
    refused(&team, &session, "tech_lead", "A", "APPROVED", "E0351");
}

#[test]
fn route_takes_evidence_as_a_fact() {
    let team = Team::new("route_takes_evidence_as_a_fact");
    let route = |facts: &[&str]| {
        let words = ["route", "--workflow", "delivery-team", "--role", "tech_lead", "--status", "APPROVED"];
        team.ask(&[words.as_slice(), facts].concat()).done()
    };
    assert_eq!(route(&[])["action"], "merge");
    assert_eq!(route(&["--fact", "passed.qa=true"])["action"], "merge");
    assert_eq!(next_roles(&route(&["--fact", "passed.qa=false"])), ["qa_expert"]);
    let unknown = team.ask(&[
        "route",
        "--workflow",
        "delivery-team",
        "--role",
        "tech_lead",
        "--status",
        "APPROVED",
        "--fact",
        "passed.q=true",
    ]);
    assert_eq!(unknown.exit, 4, "{unknown}");
}

#[test]
fn rebuilt_tables_of_an_excepted_group_are_the_same() {
    let (team, session) = planned("rebuilt_tables_of_an_excepted_group_are_the_same", &["A", "B"]);
    team.plays(&session, "developer", "A", "READY_FOR_QA", json!({}));
    team.plays(&session, "qa_expert", "A", "BLOCKED", no_lab());
    team.plays(&session, "tech_lead", "A", "APPROVED", json!({}));
    let before = team.standing();
    team.ask(&["rebuild"]).done();
    assert_eq!(team.standing(), before);
    assert_eq!(team.ask(&["audit", "verify"]).exit, 0);
}
