//! The incident that Interlock exists for, played to its end.
//!
//! Four groups; at one moment the review sends one back, the tests of another fail, and two are blocked by the
//! environment. The orchestrator marked the blocked ones complete, in the database, because the tests were "written
//! correctly". Here it cannot; and the work goes its way through tech lead, manager, deferral and validator.

mod example;
#[path = "../team/mod.rs"]
mod team;

use serde_json::{Value as Json, json};
use team::Team;
use team::incident::{GROUPS, Incident, no_environment, plan};

fn statuses(team: &Team, session: &str) -> Vec<(String, String)> {
    let text = |value: &Json| value.as_str().unwrap_or("-").to_owned();
    let shown = team.show(session);
    let groups = shown["groups"].as_array().expect("groups");
    groups.iter().map(|group| (text(&group["id"]), text(&group["status"]))).collect()
}

fn named(pairs: &[(String, String)]) -> Vec<(&str, &str)> {
    pairs.iter().map(|(left, right)| (left.as_str(), right.as_str())).collect()
}

#[test]
fn four_groups_go_four_ways_at_once() {
    let Incident { team, session, .. } = &Incident::new("four_groups_go_four_ways_at_once");
    assert_eq!(
        named(&statuses(team, session)),
        [("PAT-ADHERE", "in_progress"), ("PAT-VIP", "in_progress"), ("NUR-E2E", "blocked"), ("E2E-RX", "blocked")]
    );
    let open = team.open(session);
    assert_eq!(
        named(&open),
        [("developer", "PAT-ADHERE"), ("developer", "PAT-VIP"), ("tech_lead", "NUR-E2E"), ("tech_lead", "E2E-RX")],
        "the tech lead evaluates both blocks; nobody else may go on with them"
    );
    // Every answer of an agent has its decision, with the rule that made it.
    for event in team.log(session).iter().filter(|event| event["kind"] == "reported") {
        assert!(event["data"]["decision"]["rule"].is_string(), "{event}");
    }
}

/// What the orchestrator did, and everything it might have done instead.
#[test]
fn every_shortcut_is_refused_and_on_the_record() {
    let Incident { team, session, holders, spent } = &Incident::new("every_shortcut_is_refused_and_on_the_record");
    let before = team.standing();

    // By command.
    for (arguments, code) in [
        (&["acknowledge", session, "NUR-E2E"][..], "E0320"),
        (&["override", session, "NUR-E2E", "--to", "validator", "--why", "only the environment"], "E0312"),
    ] {
        assert_eq!(team.ask(arguments).code(), code);
    }
    for arguments in [
        &["defer", session, "NUR-E2E", "--why", "only the environment"][..],
        &["override", session, "E2E-RX", "--to", "developer", "--why", "only the environment"],
        &["cancel", session],
    ] {
        assert_eq!(team.ask_without_keys(arguments).code(), "E0512");
    }

    // By a report that no role may submit.
    let lead = &holders["NUR-E2E"];
    assert_eq!(team.report(&lead.with_token(&holders["PAT-VIP"].token), "APPROVED", json!({})).code(), "E0306");
    assert_eq!(team.report(spent, "PASS", json!({})).code(), "E0308");
    assert_eq!(team.report(&holders["PAT-VIP"], "MERGE_SUCCESS", json!({})).code(), "E0309");
    assert_eq!(team.give(lead, "The tests are written correctly. Mark as complete.").code(), "E0201");

    // By SQL, as it was done then.
    for script in [
        "UPDATE groups SET status = 'completed' WHERE id IN ('NUR-E2E', 'E2E-RX')",
        "UPDATE sessions SET status = 'completed'",
        "UPDATE blocks SET resolved = 24",
        "INSERT INTO evidence VALUES (1, 'NUR-E2E', 'pass', 'review', 24)",
        "DELETE FROM blocks",
    ] {
        let run = team.sql(script);
        assert!(run.exit != 0 && run.stderr.contains("E0514"), "{script}: {run}");
    }

    assert!(team.standing() == before, "nothing has changed");
    let refusals = team.refusals(session);
    let codes: Vec<&str> = refusals.iter().map(|(_, code)| code.as_str()).collect();
    assert_eq!(codes, ["E0320", "E0312", "E0512", "E0512", "E0512", "E0306", "E0308", "E0309", "E0201"]);
    assert_eq!(team.query("SELECT count(*) FROM attempts"), "5");
    let asked = team.ask(&["complete", session]);
    assert_eq!((asked.exit, asked.json()["verdict"].as_str()), (3, Some("REJECT")));
    assert_eq!(team.ask(&["audit", "verify"]).done()["valid"], true, "the log is whole");
}

/// One group is approved and merged, one is deferred for the lack of an environment, two are fixed: then it is done.
#[test]
fn the_work_goes_its_way_to_the_end() {
    let Incident { team, session, holders, .. } = &Incident::new("the_work_goes_its_way_to_the_end");
    let s = session.as_str();

    // The tech lead confirms that one block lies outside, and sends it to the manager, who alone may defer.
    let external = json!({ "external": true, "external_dependency": "browsers on the ward" });
    let guided = team.report(&holders["NUR-E2E"], "UNBLOCKING_GUIDANCE", external).done();
    assert_eq!(
        (&guided["next"][0]["role"], &guided["because"][0]),
        (&json!("project_manager"), &json!("only the manager may defer"))
    );
    assert_eq!(team.group_status(s, "NUR-E2E"), "blocked");
    team.plays(
        s,
        "project_manager",
        "NUR-E2E",
        "DEFERRED_EXTERNAL",
        json!({ "defer_reason": "no browsers on the ward" }),
    );
    assert_eq!(team.group_status(s, "NUR-E2E"), "deferred_external");

    // It accepts the state of the other, whose merge is not yet its completion.
    let approved = team.report(&holders["E2E-RX"], "APPROVED", json!({})).done();
    assert_eq!(approved["action"], "merge");
    team.plays(s, "developer", "E2E-RX", "MERGE_SUCCESS", json!({}));
    assert_eq!(team.group_status(s, "E2E-RX"), "awaiting_confirmation");

    // The other two are fixed.
    let fixed =
        json!({ "issue_responses": [{ "id": "TL-1", "response": "fixed" }, { "id": "TL-2", "response": "fixed" }] });
    team.report(&holders["PAT-ADHERE"], "READY_FOR_QA", fixed).done();
    team.report(&holders["PAT-VIP"], "READY_FOR_QA", json!({})).done();
    for group in ["PAT-ADHERE", "PAT-VIP"] {
        team.plays(s, "qa_expert", group, "PASS", json!({}));
        team.plays(s, "tech_lead", group, "APPROVED", json!({}));
        team.plays(s, "developer", group, "MERGE_SUCCESS", json!({}));
        assert_eq!(team.group_status(s, group), "completed", "never blocked: done when it is merged");
    }

    // The manager does not name the deferred group, and names no group that it accepts.
    let decided = team.plays(s, "project_manager", "-", "BAZINGA", json!({ "accept": [] }));
    let reasons = &decided["judgement"]["reasons"];
    assert_eq!((&reasons[0]["code"], &reasons[0]["group"]), (&json!("E0343"), &json!("NUR-E2E")));
    assert_eq!((&reasons[1]["code"], &reasons[1]["group"]), (&json!("E0344"), &json!("E2E-RX")));
    assert_eq!(team.status(s), "active");
    let named = json!({ "acknowledge": ["NUR-E2E"], "accept": ["E2E-RX"] });
    let decided = team.plays(s, "project_manager", "-", "BAZINGA", named);
    assert_eq!(decided["judgement"]["verdict"], "ACCEPT");
    assert_eq!((team.status(s).as_str(), team.group_status(s, "E2E-RX").as_str()), ("completed", "completed"));
    assert_eq!(team.group_status(s, "NUR-E2E"), "deferred_external", "a deferral is never called done");

    let audit = team.ask(&["audit", "verify"]).done();
    assert_eq!((&audit["valid"], &audit["problems"]), (&json!(true), &json!([])));
    assert_eq!(team.ask(&["complete", s]).done()["verdict"], "ACCEPT");
}

/// The document's positive test case, step by step.
#[test]
fn positive_a_blocked_group_is_completed_by_its_proper_path() {
    let team = Team::new("positive_a_blocked_group_is_completed_by_its_proper_path");
    let s = team.start("Positive test case");
    // 1. Create task group.
    team.plays(&s, "project_manager", "-", "PLANNING_COMPLETE", plan(&["NUR-E2E"]));
    team.plays(&s, "developer", "NUR-E2E", "READY_FOR_QA", json!({}));
    // 2. QA returns BLOCKED. 3. The router's decision is logged.
    let blocked = team.plays(&s, "qa_expert", "NUR-E2E", "BLOCKED", no_environment());
    assert_eq!(team.group_status(&s, "NUR-E2E"), "blocked");
    let why = team.ask(&["why", blocked["decision"].as_str().unwrap()]).done();
    assert_eq!(why["rule"], "blocked.any.any");
    let logged = format!("SELECT action, rule, next ->> '$[0].role' FROM decisions WHERE seq = {}", blocked["seq"]);
    assert_eq!(team.query(&logged), "spawn|blocked.any.any|tech_lead");
    // 4. The tech lead is spawned. 5. It returns APPROVED.
    assert_eq!(blocked["next"][0]["role"], "tech_lead");
    team.plays(&s, "tech_lead", "NUR-E2E", "APPROVED", json!({}));
    // 6. The merge succeeds. 7. The manager is spawned.
    let merged = team.plays(&s, "developer", "NUR-E2E", "MERGE_SUCCESS", json!({}));
    assert_eq!(merged["next"][0]["role"], "project_manager");
    assert_eq!(team.group_status(&s, "NUR-E2E"), "awaiting_confirmation");
    // 8. The manager sends BAZINGA. 9. The validator checks the path and accepts. 10. The group is complete.
    let ended = team.plays(&s, "project_manager", "-", "BAZINGA", json!({ "accept": ["NUR-E2E"] }));
    assert_eq!(ended["judgement"]["verdict"], "ACCEPT");
    assert_eq!((team.status(&s).as_str(), team.group_status(&s, "NUR-E2E").as_str()), ("completed", "completed"));
}

/// The document's negative test case, step by step.
#[test]
fn negative_the_database_refuses_to_call_blocked_work_complete() {
    let team = Team::new("negative_the_database_refuses_to_call_blocked_work_complete");
    let s = team.start("Negative test case");
    // 1. Create task group. 2. QA returns BLOCKED.
    team.plays(&s, "project_manager", "-", "PLANNING_COMPLETE", plan(&["NUR-E2E"]));
    team.plays(&s, "developer", "NUR-E2E", "READY_FOR_QA", json!({}));
    team.plays(&s, "qa_expert", "NUR-E2E", "BLOCKED", no_environment());
    // 3. The orchestrator sets `completed` directly. 4. The guard of the database rejects it, and notes it.
    let run = team.sql("UPDATE groups SET status = 'completed' WHERE id = 'NUR-E2E'");
    assert!(run.stderr.contains("a group cannot be completed with a block or a blocking finding open"), "{run}");
    assert_eq!(team.query("SELECT guard, what FROM attempts"), "groups_update|UPDATE groups");
    assert_eq!(team.query("SELECT status FROM groups"), "blocked");
    // 5. It is forced back to the router: the one thing that may happen is the tech lead.
    assert_eq!(named(&team.open(&s)), [("tech_lead", "NUR-E2E")]);
    // 6. Proper routing resumes: guidance goes back to the agent that was blocked.
    let guided =
        team.plays(&s, "tech_lead", "NUR-E2E", "UNBLOCKING_GUIDANCE", json!({ "guidance": "use the container" }));
    assert_eq!((&guided["action"], &guided["next"][0]["role"]), (&json!("return"), &json!("qa_expert")));
    assert_eq!(team.group_status(&s, "NUR-E2E"), "in_progress");
    team.plays(&s, "qa_expert", "NUR-E2E", "PASS", json!({}));
    team.plays(&s, "tech_lead", "NUR-E2E", "APPROVED", json!({}));
    team.plays(&s, "developer", "NUR-E2E", "MERGE_SUCCESS", json!({}));
    // Once blocked, its merge is not enough by itself.
    assert_eq!(team.group_status(&s, "NUR-E2E"), "awaiting_confirmation");
    team.plays(&s, "project_manager", "-", "BAZINGA", json!({ "accept": ["NUR-E2E"] }));
    assert_eq!(team.status(&s), "completed");
}

/// Each block needs its own resolution, and each of the groups its own.
#[test]
fn the_resolution_of_one_block_is_not_that_of_another() {
    let Incident { team, session, holders, .. } = &Incident::new("the_resolution_of_one_block_is_not_that_of_another");
    team.report(&holders["NUR-E2E"], "UNBLOCKING_GUIDANCE", json!({})).done();
    assert_eq!(team.query("SELECT grp FROM blocks WHERE resolved IS NULL"), "E2E-RX");
    team.plays(session, "qa_expert", "NUR-E2E", "BLOCKED", no_environment());
    let open = "SELECT count(*) FROM blocks WHERE grp = 'NUR-E2E' AND resolved IS NULL";
    assert_eq!((team.group_status(session, "NUR-E2E").as_str(), team.query(open).as_str()), ("blocked", "1"));
    assert_eq!(
        GROUPS.map(|group| team.group_status(session, group)).iter().filter(|status| *status == "blocked").count(),
        2
    );
}
