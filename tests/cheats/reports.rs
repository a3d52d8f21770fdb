//! By a report: without the right to report, for another role, or with a status that is not accepted now.

use serde_json::json;

use crate::refused;
use crate::team::incident::{Incident, no_environment, plan, type_errors};
use crate::team::{Team, handoff};

#[test]
fn report_without_a_token() {
    let Incident { team, session, holders, .. } = &Incident::new("report_without_a_token");
    let nobody = holders["NUR-E2E"].with_token("");
    refused(team, session, 3, "E0517", || team.report(&nobody, "APPROVED", json!({})));
}

#[test]
fn report_with_a_made_up_token() {
    let Incident { team, session, holders, .. } = &Incident::new("report_with_a_made_up_token");
    for token in ["0".repeat(64), "open sesame".to_owned()] {
        let forger = holders["NUR-E2E"].with_token(&token);
        refused(team, session, 3, "E0306", || team.report(&forger, "APPROVED", json!({})));
    }
}

#[test]
fn report_with_the_token_of_another_assignment() {
    let Incident { team, session, holders, .. } = &Incident::new("report_with_the_token_of_another_assignment");
    // The developer of one group approves another, as its tech lead.
    let forger = holders["NUR-E2E"].with_token(&holders["PAT-VIP"].token);
    refused(team, session, 3, "E0306", || team.report(&forger, "APPROVED", json!({})));
}

#[test]
fn report_with_a_token_that_a_later_claim_voided() {
    let Incident { team, session, holders, .. } = &Incident::new("report_with_a_token_that_a_later_claim_voided");
    let earlier = &holders["NUR-E2E"];
    let later = team.claim(session, "tech_lead", "NUR-E2E");
    assert_ne!(later.token, earlier.token);
    refused(team, session, 3, "E0306", || team.report(earlier, "APPROVED", json!({})));
}

#[test]
fn report_for_what_nobody_has_claimed() {
    let team = Team::new("report_for_what_nobody_has_claimed");
    let session = team.start("Nobody");
    let holder = crate::team::Holder {
        assignment: format!("{session}.a1"),
        role: "project_manager".to_owned(),
        token: "0".repeat(64),
    };
    refused(&team, &session, 3, "E0307", || team.report(&holder, "BAZINGA", json!({})));
}

#[test]
fn report_something_else_for_a_used_assignment() {
    let Incident { team, session, spent, .. } = &Incident::new("report_something_else_for_a_used_assignment");
    refused(team, session, 3, "E0308", || team.report(spent, "PASS", json!({})));
    assert_eq!(team.group_status(session, "E2E-RX"), "blocked");
}

#[test]
fn report_the_same_twice() {
    let Incident { team, session, spent, .. } = &Incident::new("report_the_same_twice");
    let (before, events) = (team.standing(), team.log(session).len());
    let again = team.report(spent, "BLOCKED", no_environment()).done();
    assert_eq!(again["repeated"], true);
    assert_eq!((team.standing(), team.log(session).len()), (before, events), "decided once, counted once");
}

#[test]
fn report_late() {
    let Incident { team, session, holders, .. } = &Incident::new("report_late");
    team.ask(&["override", session, "NUR-E2E", "--to", "investigator", "--why", "the tech lead is away"]).done();
    refused(team, session, 3, "E0305", || team.report(&holders["NUR-E2E"], "APPROVED", json!({})));
}

/// Of two who hold the same assignment one after the other, only the one whose time is not up may speak.
#[test]
fn report_after_the_deadline() {
    let team = &Team::new("report_after_the_deadline");
    let text = "workflow: hasty\nlanguage: 1\nextends: delivery-team\nroles: { project_manager: { deadline: 50ms } }\n";
    let file = team.file("hasty.yaml", text).display().to_string();
    let started = team.ask(&["session", "start", "--title", "Hasty", "--workflow", &file]).done();
    let session = started["session"].as_str().expect("a session");
    let holder = team.claim(session, "project_manager", "-");
    std::thread::sleep(std::time::Duration::from_millis(60));
    let plan = json!({ "groups": [{ "id": "A", "title": "A" }] });
    refused(team, session, 3, "E0350", || team.report(&holder, "PLANNING_COMPLETE", plan));
}

/// Whether a report may be repeated depends on the events, whatever the tables contain.
#[test]
fn repeat_another_report_by_way_of_the_tables() {
    let Incident { team, session, holders, .. } = &Incident::new("repeat_another_report_by_way_of_the_tables");
    let theirs = "(SELECT token FROM assignments WHERE n = 13)";
    team.tamper_unseen(&format!("UPDATE assignments SET token = {theirs}, decision = 2 WHERE n = 1"));
    let forged = crate::team::Holder { assignment: format!("{session}.a1"), ..holders["NUR-E2E"].clone() };
    refused(team, session, 3, "E0306", || team.report(&forged, "PLANNING_COMPLETE", json!({})));
}

#[test]
fn report_in_another_session_with_the_same_number() {
    let Incident { team, session, .. } = &Incident::new("report_in_another_session_with_the_same_number");
    let other = team.start("Another");
    let theirs = team.claim(&other, "project_manager", "-");
    assert!(theirs.assignment.ends_with(".a1"));
    let forged = crate::team::Holder { assignment: format!("{session}.a1"), ..theirs };
    refused(team, session, 3, "E0306", || team.report(&forged, "BAZINGA", json!({})));
}

#[test]
fn report_as_another_role() {
    let Incident { team, session, holders, .. } = &Incident::new("report_as_another_role");
    let as_lead = handoff("tech_lead", "APPROVED", json!({})).to_string();
    refused(team, session, 4, "E0213", || team.give(&holders["PAT-ADHERE"], &as_lead));
}

/// An approval by a role that may not approve is an unknown status of that role: the tech lead is asked.
#[test]
fn approve_without_being_the_reviewer() {
    let Incident { team, session, holders, .. } = &Incident::new("approve_without_being_the_reviewer");
    let evidence = team.query("SELECT count(*) FROM evidence");
    let decided = team.report(&holders["PAT-VIP"], "APPROVED", json!({})).done();
    assert_eq!((&decided["action"], &decided["next"][0]["role"]), (&json!("spawn"), &json!("tech_lead")));
    assert_eq!(decided["warnings"][0]["code"], "E0227");
    assert_eq!(team.query("SELECT count(*) FROM evidence"), evidence, "nothing has passed");
    assert_eq!(team.group_status(session, "PAT-VIP"), "in_progress");
}

#[test]
fn approve_as_quality_assurance() {
    let team = Team::new("approve_as_quality_assurance");
    let session = team.start("QA approves");
    team.plays(&session, "project_manager", "-", "PLANNING_COMPLETE", plan(&["ALPHA"]));
    team.plays(&session, "developer", "ALPHA", "READY_FOR_QA", json!({}));
    let decided = team.plays(&session, "qa_expert", "ALPHA", "APPROVED", json!({}));
    assert_eq!(decided["next"][0]["role"], "tech_lead");
    let passed = team.query("SELECT count(*) FROM evidence WHERE kind <> 'spared'");
    assert_eq!(passed, "0", "nothing has passed");
}

#[test]
fn merge_without_a_merge_assignment() {
    let Incident { team, session, holders, .. } = &Incident::new("merge_without_a_merge_assignment");
    refused(team, session, 3, "E0309", || team.report(&holders["PAT-ADHERE"], "MERGE_SUCCESS", json!({})));
}

#[test]
fn approve_with_blocking_findings() {
    let team = Team::new("approve_with_blocking_findings");
    let session = team.start("Approved with findings");
    team.plays(&session, "project_manager", "-", "PLANNING_COMPLETE", plan(&["ALPHA"]));
    team.plays(&session, "developer", "ALPHA", "READY_FOR_REVIEW", json!({}));
    let lead = team.claim(&session, "tech_lead", "ALPHA");
    refused(&team, &session, 3, "E0311", || team.report(&lead, "APPROVED", type_errors()));
}

#[test]
fn pass_with_failing_tests() {
    let team = Team::new("pass_with_failing_tests");
    let session = team.start("Passed with failures");
    team.plays(&session, "project_manager", "-", "PLANNING_COMPLETE", plan(&["ALPHA"]));
    team.plays(&session, "developer", "ALPHA", "READY_FOR_QA", json!({}));
    let qa = team.claim(&session, "qa_expert", "ALPHA");
    let failing = json!({ "test_progression": { "still_failing": ["login"] } });
    refused(&team, &session, 3, "E0311", || team.report(&qa, "PASS", failing));
}

#[test]
fn close_ones_own_findings() {
    let Incident { team, session, holders, .. } = &Incident::new("close_ones_own_findings");
    let claims = json!({
        "issue_responses": [{ "id": "TL-1", "response": "fixed" }, { "id": "TL-2", "response": "fixed" }],
        "blocking_summary": { "total_blocking": 2, "fixed": 2, "rejected_with_reason": 0, "unaddressed": 0 },
    });
    team.report(&holders["PAT-ADHERE"], "READY_FOR_REVIEW", claims).done();
    let group = team.group(session, "PAT-ADHERE");
    assert_eq!(group["loops"]["review"]["blocking"], 2, "what an author claims is not counted");
}

#[test]
fn block_without_having_tried() {
    let Incident { team, session, holders, .. } = &Incident::new("block_without_having_tried");
    let lazy = json!({ "blocked_reason": "environment", "attempted": [] });
    refused(team, session, 4, "E0216", || team.report(&holders["PAT-VIP"], "BLOCKED", lazy));
}

#[test]
fn choose_ones_own_successor() {
    let Incident { team, session, holders, .. } = &Incident::new("choose_ones_own_successor");
    let mut chosen = no_environment();
    chosen["handoff"] = json!({ "next_agent": "developer", "context": "Give it back to me, I know best." });
    refused(team, session, 4, "E0214", || team.report(&holders["PAT-VIP"], "BLOCKED", chosen));
}

#[test]
fn end_the_session_from_a_group() {
    let Incident { team, session, holders, .. } = &Incident::new("end_the_session_from_a_group");
    let external = json!({ "external": true, "external_dependency": "browsers on the ward" });
    team.report(&holders["NUR-E2E"], "UNBLOCKING_GUIDANCE", external).done();
    let manager = team.claim(session, "project_manager", "NUR-E2E");
    refused(team, session, 3, "E0309", || team.report(&manager, "BAZINGA", json!({})));
}

#[test]
fn end_the_session_with_blocked_groups() {
    let team = Team::new("end_the_session_with_blocked_groups");
    let session = team.start("Blocked");
    let groups = json!({ "groups": [
        { "id": "ALPHA", "title": "first" }, { "id": "BETA", "title": "second", "depends_on": ["ALPHA"] },
    ] });
    team.plays(&session, "project_manager", "-", "PLANNING_COMPLETE", groups);
    team.plays(&session, "developer", "ALPHA", "BLOCKED", no_environment());
    team.plays(&session, "investigator", "ALPHA", "ROOT_CAUSE_FOUND", json!({}));
    team.plays(&session, "tech_lead", "ALPHA", "APPROVED", json!({}));
    team.plays(&session, "qa_expert", "ALPHA", "PASS", json!({}));
    team.plays(&session, "developer", "ALPHA", "MERGE_SUCCESS", json!({}));
    assert_eq!(team.group_status(&session, "ALPHA"), "awaiting_confirmation");
    // Merged and never accepted, and what depends on it has not even begun.
    let decided = team.plays(&session, "project_manager", "-", "BAZINGA", json!({ "accept": [] }));
    assert_eq!(decided["judgement"]["verdict"], "REJECT");
    let codes: Vec<&str> = decided["judgement"]["reasons"]
        .as_array()
        .unwrap()
        .iter()
        .map(|reason| reason["code"].as_str().unwrap())
        .collect();
    assert!(codes.contains(&"E0344") && codes.contains(&"E0340"), "{codes:?}");
    assert_eq!(team.status(&session), "active");
}

#[test]
fn end_a_session_without_work() {
    let team = Team::new("end_a_session_without_work");
    let session = team.start("Nothing");
    let decided = team.plays(&session, "project_manager", "-", "BAZINGA", json!({}));
    assert_eq!(decided["judgement"]["reasons"][0]["code"], "E0347");
    assert_eq!(team.status(&session), "active");
}

#[test]
fn accept_what_was_not_merged() {
    let team = Team::new("accept_what_was_not_merged");
    let session = team.start("Accept");
    team.plays(&session, "project_manager", "-", "PLANNING_COMPLETE", plan(&["ALPHA", "BETA"]));
    team.ask(&["defer", &session, "BETA", "--why", "the vendor"]).done();
    team.plays(&session, "developer", "ALPHA", "BLOCKED", no_environment());
    let lead = json!({ "external": true, "external_dependency": "x" });
    team.plays(&session, "investigator", "ALPHA", "EXHAUSTED", json!({}));
    team.plays(&session, "tech_lead", "ALPHA", "UNBLOCKING_GUIDANCE", lead);
    let manager = team.claim(&session, "project_manager", "ALPHA");
    let all = json!({ "accept": ["ALPHA"], "acknowledge": ["BETA", "ALPHA"] });
    refused(&team, &session, 3, "E0309", || team.report(&manager, "BAZINGA", all));
    assert_eq!(team.group_status(&session, "ALPHA"), "blocked");
}

#[test]
fn acknowledge_in_a_report_what_is_not_deferred() {
    let team = Team::new("acknowledge_in_a_report_what_is_not_deferred");
    let session = team.start("Acknowledge");
    team.plays(&session, "project_manager", "-", "PLANNING_COMPLETE", plan(&["ALPHA"]));
    team.plays(&session, "developer", "ALPHA", "BLOCKED", no_environment());
    team.plays(&session, "investigator", "ALPHA", "ROOT_CAUSE_FOUND", json!({}));
    team.plays(&session, "tech_lead", "ALPHA", "APPROVED", json!({}));
    team.plays(&session, "qa_expert", "ALPHA", "PASS", json!({}));
    team.plays(&session, "developer", "ALPHA", "MERGE_SUCCESS", json!({}));
    // It awaits its acceptance; to acknowledge it as if it were deferred is no acceptance.
    let decided =
        team.plays(&session, "project_manager", "-", "BAZINGA", json!({ "acknowledge": ["ALPHA"], "accept": [] }));
    assert_eq!(decided["judgement"]["reasons"][0]["code"], "E0344");
    assert_eq!(team.group_status(&session, "ALPHA"), "awaiting_confirmation");
}

#[test]
fn plan_a_group_anew() {
    let (team, session) = crate::commands::merged("plan_a_group_anew");
    let manager = team.claim(&session, "project_manager", "-");
    refused(&team, &session, 4, "E0328", || team.report(&manager, "PLANNING_COMPLETE", plan(&["ALPHA"])));
}

#[test]
fn plan_a_group_without_a_name() {
    let team = Team::new("plan_a_group_without_a_name");
    let session = team.start("No name");
    let manager = team.claim(&session, "project_manager", "-");
    refused(&team, &session, 4, "E0232", || team.report(&manager, "PLANNING_COMPLETE", plan(&[""])));
}

#[test]
fn defer_without_a_reason() {
    let Incident { team, session, holders, .. } = &Incident::new("defer_without_a_reason");
    let external = json!({ "external": true, "external_dependency": "browsers on the ward" });
    team.report(&holders["NUR-E2E"], "UNBLOCKING_GUIDANCE", external).done();
    let manager = team.claim(session, "project_manager", "NUR-E2E");
    refused(team, session, 4, "E0210", || team.report(&manager, "DEFERRED_EXTERNAL", json!({})));
}

#[test]
fn defer_without_being_the_manager() {
    let Incident { team, session, holders, .. } = &Incident::new("defer_without_being_the_manager");
    let decided =
        team.report(&holders["NUR-E2E"], "DEFERRED_EXTERNAL", json!({ "defer_reason": "only the environment" })).done();
    assert_eq!(decided["warnings"][0]["code"], "E0227");
    assert_eq!(team.group_status(session, "NUR-E2E"), "blocked");
}

#[test]
fn hand_in_prose() {
    let Incident { team, session, holders, .. } = &Incident::new("hand_in_prose");
    refused(team, session, 4, "E0201", || {
        team.give(&holders["NUR-E2E"], "APPROVED. All tests pass, mark it as complete. MERGE_SUCCESS.\n")
    });
}

#[test]
fn hand_in_two_different_results() {
    let Incident { team, session, holders, .. } = &Incident::new("hand_in_two_different_results");
    let block = |status: &str| format!("```json\n{}\n```\n", handoff("tech_lead", status, json!({})));
    let both = format!("{}{}", block("CHANGES_REQUESTED"), block("APPROVED"));
    refused(team, session, 4, "E0203", || team.give(&holders["NUR-E2E"], &both));
}

#[test]
fn accept_failing_tests() {
    let (team, session) = crate::commands::failing("accept_failing_tests");
    let manager = team.claim(&session, "project_manager", "ALPHA");
    refused(&team, &session, 3, "E0351", || team.report(&manager, "GROUP_ACCEPTED", json!({})));
}

#[test]
fn approve_without_tests() {
    let team = Team::new("approve_without_tests");
    let session = team.start("Untested");
    team.plays(&session, "project_manager", "-", "PLANNING_COMPLETE", plan(&["ALPHA"]));
    team.plays(&session, "developer", "ALPHA", "READY_FOR_REVIEW", json!({}));
    team.plays(&session, "tech_lead", "ALPHA", "APPROVED", json!({}));
    assert_eq!(team.open(&session), [("qa_expert".to_owned(), "ALPHA".to_owned())]);
    assert_eq!(team.group(&session, "ALPHA")["evidence"], json!(["review"]));
}

#[test]
fn end_a_session_with_everything_deferred() {
    let team = Team::new("end_a_session_with_everything_deferred");
    let session = everything_deferred(&team);
    team.plays(&session, "project_manager", "-", "BAZINGA", json!({ "acknowledge": ["ALPHA"] }));
    assert_eq!(team.status(&session), "active");
    assert_eq!(team.show(&session)["questions"][0]["name"], "nothing_completed");
}

/// The team itself has deferred the only group.
pub(crate) fn everything_deferred(team: &Team) -> String {
    let session = team.start("Deferred");
    team.plays(&session, "project_manager", "-", "PLANNING_COMPLETE", plan(&["ALPHA"]));
    team.plays(&session, "developer", "ALPHA", "READY_FOR_REVIEW", json!({}));
    team.plays(&session, "tech_lead", "ALPHA", "UNBLOCKING_GUIDANCE", json!({ "external": true }));
    team.plays(&session, "project_manager", "ALPHA", "DEFERRED_EXTERNAL", json!({ "defer_reason": "too hard" }));
    session
}

#[test]
fn end_as_an_investigation() {
    let team = Team::new("end_as_an_investigation");
    let session = team.start("Nothing");
    team.plays(&session, "project_manager", "-", "INVESTIGATION_ONLY", json!({}));
    assert_eq!(team.status(&session), "active");
    assert_eq!(team.show(&session)["questions"][0]["name"], "nothing_completed");
}
