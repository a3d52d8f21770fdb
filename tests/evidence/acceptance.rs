//! Groups that await confirmation: by the manager's BAZINGA, by name, or by a person.

use serde_json::json;

use crate::team::Team;
use crate::{no_lab, planned};

/// Merged after QA was blocked.
fn awaiting(team: &Team, session: &str, group: &str) {
    team.plays(session, "developer", group, "READY_FOR_QA", json!({}));
    team.plays(session, "qa_expert", group, "BLOCKED", no_lab());
    team.plays(session, "tech_lead", group, "APPROVED", json!({}));
    team.plays(session, "developer", group, "MERGE_SUCCESS", json!({}));
    assert_eq!(team.group_status(session, group), "awaiting_confirmation");
}

#[test]
fn end_without_names_confirms_what_awaits() {
    let (team, session) = planned("end_without_names_confirms_what_awaits", &["A", "B"]);
    awaiting(&team, &session, "A");
    awaiting(&team, &session, "B");
    team.plays(&session, "project_manager", "-", "BAZINGA", json!({}));
    assert_eq!(team.status(&session), "completed");
    assert_eq!(team.group(&session, "B")["accepted_by"], "project_manager");
}

#[test]
fn end_with_names_confirms_only_those() {
    let (team, session) = planned("end_with_names_confirms_only_those", &["A", "B"]);
    awaiting(&team, &session, "A");
    awaiting(&team, &session, "B");
    team.plays(&session, "project_manager", "-", "BAZINGA", json!({ "accept": ["A"] }));
    assert_eq!(team.status(&session), "active");
    assert_eq!(team.group_status(&session, "A"), "completed");
    assert_eq!(team.group_status(&session, "B"), "awaiting_confirmation");
}

#[test]
fn end_with_no_names_in_the_list_confirms_none() {
    let (team, session) = planned("end_with_no_names_in_the_list_confirms_none", &["A"]);
    awaiting(&team, &session, "A");
    team.plays(&session, "project_manager", "-", "BAZINGA", json!({ "accept": [] }));
    assert_eq!(team.group_status(&session, "A"), "awaiting_confirmation");
}

#[test]
fn person_accepts_a_group_that_awaits_confirmation() {
    let (team, session) = planned("person_accepts_a_group_that_awaits_confirmation", &["A", "B"]);
    let s = session.as_str();
    let early = team.ask(&["accept", s, "A"]);
    assert_eq!((early.exit, early.code().as_str()), (3, "E0353"), "{early}");
    awaiting(&team, s, "A");
    let refused = team.ask_without_keys(&["accept", s, "A"]);
    assert_eq!((refused.exit, refused.code().as_str()), (3, "E0512"), "{refused}");
    team.ask(&["accept", s, "A", "--as", "ann"]).done();
    assert_eq!(team.group_status(s, "A"), "completed");
    assert_eq!(team.group(s, "A")["accepted_by"], "ann");
    let again = team.ask(&["accept", s, "A"]);
    assert_eq!(again.code(), "E0353", "{again}");
    let unknown = team.ask(&["accept", s, "C"]);
    assert_eq!(unknown.exit, 3, "{unknown}");
}

/// The manager's prompt listed another tree of the group.
#[test]
fn end_without_names_confirms_nothing_that_came_later() {
    let (team, session) = planned("end_without_names_confirms_nothing_that_came_later", &["A"]);
    awaiting(&team, &session, "A");
    let manager = team.claim(&session, "project_manager", "-");
    team.ask(&["override", &session, "A", "--to", "developer", "--why", "the button is missing"]).done();
    awaiting(&team, &session, "A");
    team.report(&manager, "BAZINGA", json!({})).done();
    assert_eq!(team.group_status(&session, "A"), "awaiting_confirmation");
    team.plays(&session, "project_manager", "-", "BAZINGA", json!({}));
    assert_eq!(team.status(&session), "completed");
}
