//! A person waives evidence for one tree.

use serde_json::json;

use crate::{next_roles, planned};

#[test]
fn waiver_of_qa_waits_for_acceptance_and_is_named_everywhere() {
    let (team, session) = planned("waiver_of_qa_waits_for_acceptance_and_is_named_everywhere", &["A"]);
    let s = session.as_str();
    team.plays(s, "developer", "A", "READY_FOR_QA", json!({}));
    let decided = team.ask(&["override", s, "A", "--waive", "qa", "--why", "lab\nclosed", "--as", "ann"]).done();
    assert_eq!(next_roles(&decided), ["tech_lead"], "as after PASS: {decided:#}");
    assert_eq!(team.group(s, "A")["evidence"], json!([]), "a waiver passes nothing");
    team.plays(s, "tech_lead", "A", "APPROVED", json!({}));
    team.plays(s, "developer", "A", "MERGE_SUCCESS", json!({}));
    assert_eq!(team.group_status(s, "A"), "awaiting_confirmation");
    let reasons = team.ask(&["complete", s]).json();
    assert!(reasons["reasons"][0]["text"].as_str().is_some_and(|text| text.contains("waived by ann")), "{reasons:#}");
    team.plays(s, "project_manager", "-", "BAZINGA", json!({ "accept": ["A"] }));
    assert_eq!(team.status(s), "completed");
    let named = "`qa` was waived by ann (lab closed); accepted by project_manager";
    for shown in [team.show(s), team.ask(&["complete", s]).done()] {
        assert_eq!(shown["exceptions"], json!([{ "group": "A", "text": named }]), "{shown:#}");
    }
    let text = team.command(&["session", "show", s]).output().expect("it runs");
    assert!(String::from_utf8_lossy(&text.stdout).contains(&format!("A: {named}\n")), "{text:?}");
    let log = team.log(s);
    assert!(log.iter().any(|event| event["kind"] == "waived"), "{log:?}");
}

#[test]
fn waiver_after_the_approval_merges() {
    let (team, session) = planned("waiver_after_the_approval_merges", &["A"]);
    team.plays(&session, "developer", "A", "READY_FOR_REVIEW", json!({}));
    team.plays(&session, "tech_lead", "A", "APPROVED", json!({}));
    let decided = team.ask(&["override", &session, "A", "--waive", "qa", "--why", "the lab is closed"]).done();
    assert_eq!(decided["action"], "merge", "{decided:#}");
    team.plays(&session, "developer", "A", "MERGE_SUCCESS", json!({}));
    assert_eq!(team.group_status(&session, "A"), "awaiting_confirmation");
}

/// An acceptance before the waiver does not cover it.
#[test]
fn waiver_after_an_acceptance_needs_another() {
    let (team, session) = planned("waiver_after_an_acceptance_needs_another", &["A"]);
    let s = session.as_str();
    team.plays(s, "developer", "A", "READY_FOR_REVIEW", json!({}));
    team.plays(s, "tech_lead", "A", "UNBLOCKING_GUIDANCE", json!({ "external": true }));
    team.plays(s, "project_manager", "A", "GROUP_ACCEPTED", json!({}));
    team.ask(&["override", s, "A", "--waive", "qa", "--why", "the lab is closed"]).done();
    team.plays(s, "developer", "A", "MERGE_SUCCESS", json!({}));
    assert_eq!(team.group_status(s, "A"), "awaiting_confirmation");
}

#[test]
fn waiver_lapses_with_its_tree() {
    let (team, session) = planned("waiver_lapses_with_its_tree", &["A"]);
    let s = session.as_str();
    team.plays(s, "developer", "A", "READY_FOR_QA", json!({}));
    team.ask(&["override", s, "A", "--waive", "qa", "--why", "the lab is closed"]).done();
    let issue = json!({ "id": "F1", "title": "t", "location": "a.rs:1", "severity": "HIGH", "blocking": true });
    team.plays(s, "tech_lead", "A", "CHANGES_REQUESTED", json!({ "issues": [issue] }));
    let fixed = json!({ "issue_responses": [{ "id": "F1", "response": "fixed" }] });
    team.plays(s, "developer", "A", "READY_FOR_REVIEW", fixed);
    let asked = team.plays(s, "tech_lead", "A", "APPROVED", json!({ "issues": [] }));
    assert_eq!(next_roles(&asked), ["qa_expert"], "{asked:#}");
    assert_eq!(team.show(s)["exceptions"], json!([]));
}

#[test]
fn waiver_of_what_is_not_missing_is_refused() {
    let (team, session) = planned("waiver_of_what_is_not_missing_is_refused", &["A"]);
    let s = session.as_str();
    let waive = |evidence: &str| team.ask(&["override", s, "A", "--waive", evidence, "--why", "faster"]);
    let refused = |evidence: &str| {
        let run = waive(evidence);
        assert_eq!((run.exit, run.code().as_str()), (3, "E0352"), "{evidence}: {run}");
    };
    refused("qa");
    team.plays(s, "developer", "A", "READY_FOR_QA", json!({}));
    for never in ["review", "acceptance", "merge", "weather"] {
        refused(never);
    }
    team.plays(s, "qa_expert", "A", "PASS", json!({}));
    refused("qa");
}

#[test]
fn waiver_without_the_operator_key_is_refused() {
    let (team, session) = planned("waiver_without_the_operator_key_is_refused", &["A"]);
    team.plays(&session, "developer", "A", "READY_FOR_QA", json!({}));
    let run = team.ask_without_keys(&["override", &session, "A", "--waive", "qa", "--why", "faster"]);
    assert_eq!((run.exit, run.code().as_str()), (3, "E0512"), "{run}");
}

#[test]
fn waive_and_to_exclude_each_other() {
    let (team, session) = planned("waive_and_to_exclude_each_other", &["A"]);
    let both = ["override", &session, "A", "--to", "tech_lead", "--waive", "qa", "--why", "x"];
    assert_eq!(team.ask(&both).exit, 2);
    assert_eq!(team.ask(&["override", &session, "A", "--why", "x"]).exit, 2);
}
