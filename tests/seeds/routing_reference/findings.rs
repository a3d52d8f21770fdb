//! Steps 0 and 0.5: issues, responses and verdicts are kept, and what was accepted cannot be raised again.

use interlock_core::handoff::ResponseKind;
use interlock_core::state::FindingStatus;
use serde_json::{Value as Json, json};

use super::{TEAM, changes, finding, in_review};
use crate::program::{completed, merged, orchestrated};
use crate::session::{Play, follows, warns};

/// The first review raised `token` and `log`; the developer fixed one and rejected the other.
fn answered() -> Play {
    let mut play = in_review();
    play.report("tech_lead", changes(&["token", "log"]));
    play.report("developer", responses());
    play
}

fn responses() -> Json {
    json!({
        "status": "READY_FOR_REVIEW",
        "issue_responses": [
            { "id": "log", "response": "fixed" },
            { "id": "token", "response": "rejected", "reason": "the library does this already" },
        ],
        "blocking_summary": { "total_blocking": 2, "fixed": 1, "rejected_with_reason": 1, "unaddressed": 0 },
    })
}

/// A review that raises something, and says yes or no to the rejection of `token`.
fn verdict(key: &str, raised: &[&str]) -> Json {
    merged(changes(raised), json!({ "iteration_tracking": { "iteration": 2, key: ["token"] } }))
}

/// The rejection of `token` was accepted; `cache` is open.
fn accepted() -> Play {
    let mut play = answered();
    play.report("tech_lead", verdict("rejections_accepted", &["cache"]));
    let fixed = json!([{ "id": "cache", "response": "fixed" }]);
    play.report("developer", json!({ "status": "READY_FOR_REVIEW", "issue_responses": fixed }));
    play
}

fn status_of(play: &Play, name: &str) -> FindingStatus {
    let title = format!("{name} is wrong");
    play.group("AUTH").findings.iter().find(|finding| finding.title == title.as_str()).expect("a finding").status
}

// ---- Step 0 ------------------------------------------------------------------------------

#[test]
fn step_0_the_issues_of_a_review_are_kept() {
    let mut play = in_review();
    play.report("tech_lead", changes(&["token", "log"]));
    let kept: Vec<&str> = play.group("AUTH").findings.iter().map(|finding| finding.id.as_str()).collect();
    assert_eq!((kept, play.group("AUTH").blocking_findings()), (vec!["token", "log"], 2));
}

#[test]
fn step_0_the_same_report_again_is_the_same_decision() {
    let mut play = in_review();
    let decision = play.report("tech_lead", changes(&["token"]));
    assert_eq!(play.repeated("tech_lead", changes(&["token"])), decision.id);
    assert_eq!(play.counter("AUTH", "review", "developer").iteration, 1, "it is not counted twice");
}

#[test]
fn step_0_the_responses_of_the_author_are_kept_with_the_issues() {
    let play = answered();
    let kept: Vec<_> = play.group("AUTH").findings.iter().map(|finding| finding.response.as_ref().unwrap()).collect();
    assert_eq!((kept[0].response, kept[1].response), (ResponseKind::Rejected, ResponseKind::Fixed));
    assert_eq!(kept[0].reason.as_deref(), Some("the library does this already"));
}

#[test]
fn step_0_a_rejection_says_why() {
    let fragment =
        json!({ "status": "READY_FOR_REVIEW", "issue_responses": [{ "id": "token", "response": "rejected" }] });
    let checked = orchestrated(TEAM, "developer").check(&completed("developer", fragment));
    checked.invalid("E0224", "issue_responses[0]");
}

#[test]
fn step_0_an_accepted_rejection_settles_its_issue() {
    let mut play = answered();
    play.report("tech_lead", verdict("rejections_accepted", &["cache"]));
    assert_eq!(status_of(&play, "token"), FindingStatus::Accepted);
    assert_eq!(status_of(&play, "log"), FindingStatus::Closed, "not raised again by who raised it");
    assert_eq!(play.group("AUTH").blocking_findings(), 1);
}

#[test]
fn step_0_an_overruled_rejection_keeps_its_issue_open() {
    let mut play = answered();
    play.report("tech_lead", verdict("rejections_overruled", &[]));
    assert_eq!(status_of(&play, "token"), FindingStatus::Open);
    assert_eq!(play.group("AUTH").blocking_findings(), 1);
}

// ---- Step 0.5 ----------------------------------------------------------------------------

/// The ids are new with each review: place and title tell.
#[test]
fn step_0_5_a_settled_issue_that_is_raised_again_is_accepted_automatically() {
    let mut play = accepted();
    let again =
        json!({ "status": "CHANGES_REQUESTED", "issues": [finding("R3-1", "token"), finding("R3-2", "cache")] });
    let decision = play.report("tech_lead", again);
    follows(&decision, "respawn", &["developer"]);
    warns(&decision, "R3-1 was raised again after its rejection was accepted");
    assert_eq!(status_of(&play, "token"), FindingStatus::Accepted);
    assert_eq!(play.group("AUTH").blocking_findings(), 1, "only the other one blocks");
}

#[test]
fn step_0_5_a_re_raised_issue_is_noted_for_the_manager() {
    let mut play = accepted();
    let again =
        json!({ "status": "CHANGES_REQUESTED", "issues": [finding("R3-1", "token"), finding("R3-2", "cache")] });
    play.report("tech_lead", again);
    let notes = &play.group("AUTH").notes;
    assert!(notes.iter().any(|note| note.contains("raised again")), "{notes:?}");
}

#[test]
fn step_0_5_another_place_is_another_issue() {
    let mut play = accepted();
    let mut elsewhere = finding("R3-1", "token");
    elsewhere["location"] = json!("src/session.rs:9");
    play.report("tech_lead", json!({ "status": "CHANGES_REQUESTED", "issues": [elsewhere] }));
    assert_eq!(play.group("AUTH").blocking_findings(), 1);
}

#[test]
fn step_0_5_within_one_review_the_id_tells_issues_apart() {
    let mut play = in_review();
    let alike =
        json!({ "status": "CHANGES_REQUESTED", "issues": [finding("R1-1", "token"), finding("R1-2", "token")] });
    play.report("tech_lead", alike);
    assert_eq!(play.group("AUTH").blocking_findings(), 2);
}

#[test]
fn step_0_5_only_blocking_issues_are_checked() {
    let mut play = accepted();
    let mut remark = finding("R3-1", "token");
    remark["blocking"] = json!(false);
    let decision = play
        .report("tech_lead", json!({ "status": "CHANGES_REQUESTED", "issues": [remark, finding("R3-2", "cache")] }));
    assert!(!decision.warnings.iter().any(|warning| warning.text.contains("raised again")));
}

/// The loop that this prevents: nothing but what was settled is left to change.
#[test]
fn step_0_5_a_review_with_nothing_else_goes_back_to_the_reviewer_and_then_to_the_manager() {
    let mut play = accepted();
    let again = json!({ "status": "CHANGES_REQUESTED", "issues": [finding("R3-1", "token")] });
    follows(&play.report("tech_lead", again), "respawn", &["tech_lead"]);
    let again = json!({ "status": "CHANGES_REQUESTED", "issues": [finding("R4-1", "token")] });
    follows(&play.report("tech_lead", again), "spawn", &["project_manager"]);
}
