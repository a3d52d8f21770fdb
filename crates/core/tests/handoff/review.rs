//! Findings, answers to them, and failing tests, as seed 4 has them.

use interlock_core::code::Code;
use interlock_core::handoff::{FindingSeverity, ResponseKind};
use serde_json::json;

use crate::fixture::{HandoffCase, refuses, smallest, with, workflow};

#[test]
fn findings_are_complete_and_told_apart() {
    let workflow = workflow("delivery-team");
    let case = HandoffCase::of(&workflow, "tech_lead");
    let issue = json!({ "id": "TL-1", "title": "Race", "location": "a.rs:3", "severity": "high", "blocking": true });
    let valid = with(
        smallest("tech_lead", "CHANGES_REQUESTED"),
        json!({
            "issues": [issue],
            "iteration_tracking": { "iteration": 2, "rejections_accepted": ["TL-0"], "rejections_overruled": ["TL-9"] },
            "notes_for_future": ["anything"],
        }),
    );
    let handoff = case.check(&valid).handoff.unwrap();
    let issues = handoff.issues.unwrap();
    assert_eq!((issues[0].severity, issues[0].blocking), (FindingSeverity::High, true));
    assert_eq!(handoff.tracking.rejections_accepted[0].as_str(), "TL-0");
    let change =
        |key: &str, value: serde_json::Value| json!({ "issues": [with(issue.clone(), json!({ key: value }))] });
    let finding: &[(Code, &str)] = &[(Code::BadFinding, "issues[0]")];
    refuses(
        &case,
        &valid,
        &[
            (change("id", json!("")), finding),
            (change("title", json!(null)), finding),
            (change("location", json!(" ")), finding),
            (change("severity", json!("severe")), finding),
            (change("blocking", json!("yes")), finding),
            (change("title", json!(5)), &[(Code::FieldType, "issues[0].title")]),
            (json!({ "issues": [issue, issue] }), &[(Code::RepeatedId, "issues[1]")]),
            (json!({ "issues": ["a"] }), &[(Code::FieldType, "issues[0]")]),
            (json!({ "iteration_tracking.iteration": 0 }), &[(Code::BadFinding, "iteration_tracking.iteration")]),
            (
                json!({ "iteration_tracking.rejections_overruled": ["TL-0"] }),
                &[(Code::BadFinding, "iteration_tracking")],
            ),
            (json!({ "iteration_tracking": 3 }), &[(Code::FieldType, "iteration_tracking")]),
        ],
    );
}

#[test]
fn what_is_not_said_has_its_default() {
    let workflow = workflow("delivery-team");
    let handoff = HandoffCase::of(&workflow, "tech_lead").check(&smallest("tech_lead", "APPROVED")).handoff.unwrap();
    assert_eq!((handoff.issues, handoff.blocking_summary, handoff.failing_tests), (None, None, None));
    assert!(handoff.tracking.rejections_accepted.is_empty() && handoff.responses.is_empty());
    let empty = with(smallest("tech_lead", "APPROVED"), json!({ "issues": [] }));
    let handoff = HandoffCase::of(&workflow, "tech_lead").check(&empty).handoff.unwrap();
    assert_eq!(handoff.issues, Some(Vec::new()), "an empty list says something");
}

#[test]
fn answers_are_one_of_three_and_a_rejection_has_its_reason() {
    let workflow = workflow("delivery-team");
    let case = HandoffCase::of(&workflow, "developer");
    let answers =
        json!([{ "id": "a", "response": "FIXED" }, { "id": "b", "response": "rejected", "reason": "it is tested" }]);
    let summary = json!({ "total_blocking": 3, "fixed": 1, "rejected_with_reason": 1, "unaddressed": 1 });
    let valid = with(
        smallest("developer", "READY_FOR_REVIEW"),
        json!({ "issue_responses": answers, "blocking_summary": summary }),
    );
    let handoff = case.check(&valid).handoff.unwrap();
    assert_eq!(
        handoff.responses.iter().map(|answer| answer.response).collect::<Vec<_>>(),
        [ResponseKind::Fixed, ResponseKind::Rejected]
    );
    refuses(
        &case,
        &valid,
        &[
            (json!({ "issue_responses": [{ "id": "a" }] }), &[(Code::BadFinding, "issue_responses[0]")]),
            (json!({ "issue_responses": [{ "response": "fixed" }] }), &[(Code::BadFinding, "issue_responses[0]")]),
            (
                json!({ "issue_responses": [{ "id": "a", "response": "later" }] }),
                &[(Code::BadFinding, "issue_responses[0]")],
            ),
            (
                json!({ "issue_responses": [{ "id": "a", "response": "rejected" }] }),
                &[(Code::BadFinding, "issue_responses[0]")],
            ),
            (
                json!({ "issue_responses": [{ "id": "a", "response": "fixed" }, { "id": "a", "response": "deferred" }] }),
                &[(Code::RepeatedId, "issue_responses[1]")],
            ),
            (json!({ "blocking_summary.fixed": 3 }), &[(Code::BadFinding, "blocking_summary")]),
            (json!({ "blocking_summary.fixed": -1 }), &[(Code::BadFinding, "blocking_summary.fixed")]),
            (json!({ "blocking_summary.fixed": 0.5 }), &[(Code::BadFinding, "blocking_summary.fixed")]),
            (json!({ "blocking_summary.fixed": 1e30 }), &[(Code::BadFinding, "blocking_summary.fixed")]),
            (json!({ "blocking_summary": [] }), &[(Code::FieldType, "blocking_summary")]),
        ],
    );
}

#[test]
fn failing_tests_are_the_old_and_the_new_each_once() {
    let workflow = workflow("delivery-team");
    let case = HandoffCase::of(&workflow, "qa_expert");
    let progression = json!({ "still_failing": ["b", "a"], "new": ["a", "c"], "fixed": ["d"] });
    let valid = with(smallest("qa_expert", "FAIL"), json!({ "test_progression": progression }));
    let tests = case.check(&valid).handoff.unwrap().failing_tests.unwrap();
    assert_eq!(tests.iter().map(|test| test.as_str()).collect::<Vec<_>>(), ["b", "a", "c"]);
    refuses(
        &case,
        &valid,
        &[
            (
                json!({ "test_progression.still_failing": null }),
                &[(Code::FieldMissing, "test_progression.still_failing")],
            ),
            (json!({ "test_progression.new": [1] }), &[(Code::FieldType, "test_progression.new[0]")]),
            (json!({ "test_progression.fixed": "d" }), &[(Code::FieldType, "test_progression.fixed")]),
        ],
    );
}
