//! Groups with nothing to do, investigations, and sessions in which nothing was completed.

use serde_json::json;

use crate::team::Team;
use crate::{next_roles, planned};

#[test]
fn nothing_to_do_is_accepted_by_the_manager_and_completes_without_qa() {
    let (team, session) = planned("nothing_to_do_is_accepted_by_the_manager", &["A"]);
    let s = session.as_str();
    let reason = json!({ "handoff": { "next_agent": null, "context": "The field exists since commit 4f2." } });
    let up = team.plays(s, "developer", "A", "NOTHING_TO_DO", reason);
    assert_eq!(next_roles(&up), ["project_manager"], "{up:#}");
    let merges = team.plays(s, "project_manager", "A", "GROUP_ACCEPTED", json!({}));
    assert_eq!(merges["action"], "merge", "{merges:#}");
    team.plays(s, "developer", "A", "MERGE_SUCCESS", json!({}));
    assert_eq!(team.group_status(s, "A"), "completed");
    let shown = team.show(s);
    let text = shown["exceptions"][0]["text"].as_str().expect("an exception");
    assert!(
        text.contains("nothing to do, reported by developer") && text.contains("accepted by project_manager"),
        "{text}"
    );
}

#[test]
fn nothing_to_do_can_be_sent_back() {
    let (team, session) = planned("nothing_to_do_can_be_sent_back", &["A"]);
    team.plays(&session, "developer", "A", "NOTHING_TO_DO", json!({}));
    let back = team.plays(&session, "project_manager", "A", "CONTINUE", json!({}));
    assert_eq!(next_roles(&back), ["developer"], "{back:#}");
    assert_eq!(team.show(&session)["exceptions"], json!([]));
    team.plays(&session, "developer", "A", "READY_FOR_REVIEW", json!({}));
    let asked = team.plays(&session, "tech_lead", "A", "APPROVED", json!({}));
    assert_eq!(next_roles(&asked), ["qa_expert"], "{asked:#}");
}

/// An author that has delivered work has something to be tested.
#[test]
fn nothing_to_do_after_a_delivery_is_refused() {
    let (team, session) = planned("nothing_to_do_after_a_delivery_is_refused", &["A"]);
    team.plays(&session, "developer", "A", "READY_FOR_QA", json!({}));
    team.plays(&session, "qa_expert", "A", "FAIL", json!({}));
    let holder = team.claim(&session, "developer", "A");
    let run = team.report(&holder, "NOTHING_TO_DO", json!({}));
    assert_eq!((run.exit, run.code().as_str()), (3, "E0309"), "{run}");
}

#[test]
fn nothing_to_do_on_security_work_is_reviewed_and_then_accepted() {
    let team = Team::new("nothing_to_do_on_security_work_is_reviewed_and_then_accepted");
    let session = team.start("Security");
    let groups = json!({ "groups": [{ "id": "A", "title": "a", "security_sensitive": true }] });
    team.plays(&session, "project_manager", "-", "PLANNING_COMPLETE", groups);
    let up = team.plays(&session, "senior_software_engineer", "A", "NOTHING_TO_DO", json!({}));
    assert_eq!(next_roles(&up), ["tech_lead"], "{up:#}");
    let approved = team.plays(&session, "tech_lead", "A", "APPROVED", json!({}));
    assert_eq!(next_roles(&approved), ["project_manager"], "{approved:#}");
    let accepted = team.plays(&session, "project_manager", "A", "GROUP_ACCEPTED", json!({}));
    assert_eq!(accepted["action"], "merge", "{accepted:#}");
    team.plays(&session, "senior_software_engineer", "A", "MERGE_SUCCESS", json!({}));
    assert_eq!(team.group_status(&session, "A"), "completed");
}

/// An acceptance does not replace the review of security work.
#[test]
fn acceptance_of_security_work_without_review_asks_the_reviewer() {
    let team = Team::new("acceptance_of_security_work_without_review_asks_the_reviewer");
    let session = team.start("Security");
    let groups = json!({ "groups": [{ "id": "A", "title": "a", "security_sensitive": true }] });
    team.plays(&session, "project_manager", "-", "PLANNING_COMPLETE", groups);
    team.plays(&session, "senior_software_engineer", "A", "READY_FOR_REVIEW", json!({}));
    team.plays(&session, "tech_lead", "A", "UNBLOCKING_GUIDANCE", json!({ "external": true }));
    let accepted = team.plays(&session, "project_manager", "A", "GROUP_ACCEPTED", json!({}));
    assert_eq!(next_roles(&accepted), ["tech_lead"], "{accepted:#}");
    assert_ne!(team.group_status(&session, "A"), "completed");
}

#[test]
fn investigation_that_was_not_declared_asks_a_person() {
    let team = Team::new("investigation_that_was_not_declared_asks_a_person");
    let session = team.start("Look into it");
    team.plays(&session, "project_manager", "-", "INVESTIGATION_ONLY", json!({}));
    assert_eq!(team.status(&session), "active");
    let shown = team.show(&session);
    assert_eq!(shown["questions"][0]["name"], "nothing_completed", "{shown:#}");
    let refused = team.ask_without_keys(&["answer", &format!("{session}.q1"), "--option", "confirm"]);
    assert_eq!(refused.code(), "E0512");
    team.ask(&["answer", &format!("{session}.q1"), "--option", "confirm", "--as", "ann"]).done();
    assert_eq!(team.status(&session), "completed");
    let complete = team.ask(&["complete", &session]).done();
    assert_eq!(complete["exceptions"][0]["text"], "nothing was completed; ann confirmed that", "{complete:#}");
}

#[test]
fn investigation_that_is_not_confirmed_goes_on() {
    let team = Team::new("investigation_that_is_not_confirmed_goes_on");
    let session = team.start("Look into it");
    team.plays(&session, "project_manager", "-", "INVESTIGATION_ONLY", json!({}));
    team.ask(&["answer", &format!("{session}.q1"), "--option", "go on"]).done();
    assert_eq!(team.open(&session), [("project_manager".to_owned(), "-".to_owned())]);
}

#[test]
fn declared_investigation_ends_without_groups() {
    let team = Team::new("declared_investigation_ends_without_groups");
    let start = ["session", "start", "--title", "Look into it", "--investigation"];
    let started = team.ask(&start).done();
    let session = started["session"].as_str().expect("a session");
    assert_eq!(team.show(session)["investigation"], true);
    team.plays(session, "project_manager", "-", "INVESTIGATION_ONLY", json!({}));
    assert_eq!(team.status(session), "completed");
    let refused = team.ask_without_keys(&start);
    assert_eq!(refused.exit, 3, "{refused}");
}

#[test]
fn session_with_every_group_deferred_asks_a_person() {
    let (team, session) = planned("session_with_every_group_deferred_asks_a_person", &["A"]);
    let s = session.as_str();
    team.plays(s, "developer", "A", "READY_FOR_REVIEW", json!({}));
    team.plays(s, "tech_lead", "A", "UNBLOCKING_GUIDANCE", json!({ "external": true }));
    team.plays(s, "project_manager", "A", "DEFERRED_EXTERNAL", json!({ "defer_reason": "the vendor is down" }));
    team.plays(s, "project_manager", "-", "BAZINGA", json!({ "acknowledge": ["A"] }));
    assert_eq!(team.status(s), "active", "the team acknowledges its own deferral, which is not enough");
    let complete = team.ask(&["complete", s]).json();
    let codes: Vec<&str> =
        complete["reasons"].as_array().unwrap().iter().map(|reason| reason["code"].as_str().unwrap()).collect();
    assert!(codes.contains(&"E0354"), "{complete:#}");
    team.ask(&["answer", &format!("{s}.q1"), "--option", "confirm", "--as", "ann"]).done();
    assert_eq!(team.status(s), "completed");
}
