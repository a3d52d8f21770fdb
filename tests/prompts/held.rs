//! Reports that wait for a person: an answer that lets them through loses nothing of them.

use serde_json::json;

use crate::people::{answer, effect, question, start_with};
use crate::scene::{Scene, with_context};

fn start_file(test: &str, name: &str, workflow: &str) -> Scene {
    let team = crate::team::Team::new(test);
    let file = team.file(name, workflow).display().to_string();
    let start = team.ask(&["session", "start", "--title", "A session", "--workflow", &file]).done();
    Scene { team, session: start["session"].as_str().expect("a session").to_owned() }
}

#[test]
fn plan_that_is_approved_starts_its_groups() {
    let checkpoints: &[&str] = &["approvals=at_checkpoints"];
    let cases: [(&str, &str, &str, &str, &[&str]); 4] = [
        ("feature", "planner", "planning", "needs_review", &[]),
        ("feature", "planner", "planning", "complete", checkpoints),
        ("mcp-wrapper", "claude", "tool_selection", "needs_review", &[]),
        ("mcp-wrapper", "claude", "tool_selection", "complete", checkpoints),
    ];
    for (case, (workflow, planner, phase, status, settings)) in cases.into_iter().enumerate() {
        let scene = start_with(&format!("prompts-approved-plan-{case}"), workflow, settings);
        let mut group = json!({ "id": "api", "title": "The API", "description": "Answers in JSON." });
        if workflow == "feature" {
            group["domain"] = json!("backend");
        }
        let more = json!({ "groups": [group], "phase": phase, "summary": "Planned 1 group of one domain" });
        scene.plays(planner, "-", status, "One group.", more);
        let asked = question(&scene);
        let facts = asked["facts"].to_string();
        assert!(facts.contains("planned group api: The API") && facts.contains("Answers in JSON."), "{asked:#}");
        let worker = if workflow == "feature" { "backend-lead" } else { "claude" };
        assert_eq!(effect(&asked, "approve"), format!("plans group api; {worker} works on api"), "{asked:#}");
        answer(&scene, &["--option", "approve"]);
        let desk = scene.desk(worker, "api");
        desk.must_have(&["The API", "description: Answers in JSON.", "One group.", "approve"]);
    }
}

#[test]
fn plan_that_is_rejected_leaves_no_groups() {
    let scene = start_with("prompts-rejected-plan", "feature", &[]);
    let plan = |title: &str| json!({ "groups": [{ "id": "api", "title": title, "domain": "backend" }] });
    scene.plays("planner", "-", "needs_review", "One group.", plan("Too large"));
    assert_eq!(
        effect(&question(&scene), "reject"),
        "planner works on the session, attempt 2; the planned group will not start"
    );
    answer(&scene, &["--option", "reject", "--text", "Make it smaller."]);
    let shown = scene.team.ask(&["session", "show", &scene.session]).done();
    assert_eq!(shown["groups"], json!([]), "{shown:#}");
    scene.plays("planner", "-", "complete", "One group.", plan("Small"));
    let shown = scene.team.ask(&["session", "show", &scene.session]).done();
    assert_eq!(shown["groups"][0]["title"], "Small", "{shown:#}");
}

/// A person rejects until the limit, so that another question stands between the plan and its approval.
#[test]
fn plan_survives_every_question_before_its_approval() {
    let scene = start_with("prompts-plan-at-limit", "feature", &[]);
    let plan = json!({ "groups": [{ "id": "api", "title": "The API", "domain": "backend" }] });
    while question(&scene)["options"] != json!(["retry", "stop"]) {
        if !question(&scene).is_null() {
            answer(&scene, &["--option", "reject"]);
        }
        scene.plays("planner", "-", "needs_review", "One group.", plan.clone());
    }
    assert!(question(&scene)["facts"].to_string().contains("planned group api: The API"), "{}", question(&scene));
    answer(&scene, &["--option", "retry"]);
    assert_eq!(question(&scene)["text"], "planner has finished planning and asks for approval: One group.");
    assert_eq!(effect(&question(&scene), "approve"), "plans group api; backend-lead works on api");
    answer(&scene, &["--option", "approve"]);
    scene.desk("backend-lead", "api");
}

const PLAN_APPROVED: &str = "
workflow: approved
extends: delivery-team
language: 1
about: A person approves the plan of the manager.
routes:
  project_manager:
    PLANNING_COMPLETE: { ask: plan }
questions:
  plan:
    text: '{handoff.context}'
    options:
      start: { start: groups }
      again: { redo: work, with: [answer] }
";

#[test]
fn plan_without_phases_starts_when_it_is_approved() {
    let scene = start_file("prompts-plan-routes", "approved.yaml", PLAN_APPROVED);
    let groups = json!({ "groups": [{ "id": "api", "title": "The API" }] });
    scene.plays("project_manager", "-", "PLANNING_COMPLETE", "One group.", groups.clone());
    answer(&scene, &["--option", "again"]);
    assert_eq!(scene.team.show(&scene.session)["groups"], json!([]));
    scene.plays("project_manager", "-", "PLANNING_COMPLETE", "One group.", groups);
    assert_eq!(effect(&question(&scene), "start"), "plans group api; developer works on api");
    answer(&scene, &["--option", "start"]);
    scene.desk("developer", "api");
}

const PLAN_BESIDE: &str = "
workflow: beside
extends: feature
language: 1
about: Risks are listed while the groups are planned.
phases:
  - per: session
    together:
      - { phase: planning, role: planner, plans: groups }
      - { phase: risks, role: test-lead }
  - { phase: implementation, role: '{domain}-developer' }
  - { phase: merge, merge: author }
checkpoints: []
examples: []
";

#[test]
fn plan_of_a_phase_beside_another_starts_when_both_are_done() {
    let scene = start_file("prompts-plan-beside", "beside.yaml", PLAN_BESIDE);
    let groups = json!({ "groups": [{ "id": "api", "title": "The API", "domain": "tool" }] });
    scene.plays("planner", "-", "needs_review", "One group.", groups);
    answer(&scene, &["--option", "approve"]);
    scene.plays("test-lead", "-", "complete", "No risks.", json!({}));
    scene.desk("tool-developer", "api");
}

#[test]
fn plan_for_approval_is_checked_when_it_is_reported() {
    let scene = start_with("prompts-checked-plan", "feature", &[]);
    let planner = scene.desk("planner", "-");
    let without = scene.try_report(&planner, "needs_review", with_context("Look at it.", json!({})));
    assert_eq!(without.code(), "E0328", "{without}");
    assert!(without.to_string().contains("`groups` is not in the handoff"), "{without}");
    let unknown = json!({ "groups": [{ "id": "api", "title": "The API" }] });
    let refused = scene.try_report(&planner, "needs_review", with_context("Look at it.", unknown));
    assert_eq!(refused.exit, 4, "a group without its domain: {refused}");
}

/// The question after the retry asks with the words and the options of the report that was stopped.
#[test]
fn clarification_that_is_retried_keeps_words_and_options() {
    let scene = start_with("prompts-held-clarify", "feature", &[]);
    let asks = json!({ "questions": [{ "text": "Which store?", "options": ["files", "database"] }] });
    while question(&scene)["options"] != json!(["retry", "stop"]) {
        if !question(&scene).is_null() {
            answer(&scene, &["--option", "files"]);
        }
        scene.plays("planner", "-", "needs_clarification", "Which store?", asks.clone());
    }
    answer(&scene, &["--option", "retry"]);
    let asked = question(&scene);
    assert_eq!(
        (&asked["text"], &asked["options"]),
        (&json!("Which store?"), &json!(["files", "database"])),
        "{asked:#}"
    );
}

/// A blocker that reached the limit of the helpers: the retried help knows the reason and the attempts.
#[test]
fn blocker_that_is_retried_keeps_its_reason() {
    let scene = start_with("prompts-held-blocker", "feature", &[]);
    let group = json!([{ "id": "login", "title": "Login form", "domain": "tool" }]);
    scene.plays("planner", "-", "complete", "One group.", json!({ "groups": group }));
    scene.plays("tool-lead", "login", "complete", "Designed.", json!({}));
    let block = json!({ "blocked_reason": "architecture_decision", "attempted": ["Read the design twice"] });
    for _ in 0..8 {
        scene.plays("tool-developer", "login", "blocked", "Two designs fit.", block.clone());
        if !question(&scene).is_null() {
            break;
        }
        scene.plays("tool-lead", "login", "complete", "Take the first.", json!({}));
    }
    let asked = question(&scene);
    let facts = asked["facts"].to_string();
    for known in ["blocked (architecture_decision)", "Read the design twice", "Take the first."] {
        assert!(facts.contains(known), "{known}: {asked:#}");
    }
    answer(&scene, &["--option", "retry"]);
    scene.desk("tool-lead", "login").must_have(&["architecture_decision", "Read the design twice", "Two designs fit."]);
    let group = scene.team.group(&scene.session, "login");
    assert!(group.to_string().contains("architecture_decision"), "{group:#}");
}

const END_APPROVED: &str = "
workflow: ended
extends: delivery-team
language: 1
about: A person approves the end that the manager reports.
routes:
  project_manager:
    BAZINGA: { ask: end, with: [completion_summary] }
questions:
  end:
    text: 'The manager calls it done: {handoff.context}'
    options:
      confirm: { validate: validator, loop: validation }
      again: { redo: work, with: [answer] }
examples: []
";

#[test]
fn confirmation_that_is_approved_counts() {
    let scene = start_file("prompts-held-end", "ended.yaml", END_APPROVED);
    let groups = json!([{ "id": "login", "title": "Login form" }]);
    scene.plays("project_manager", "-", "PLANNING_COMPLETE", "One group.", json!({ "groups": groups }));
    scene.plays("developer", "login", "READY_FOR_QA", "Built.", json!({}));
    let tried = json!({ "attempted": ["Restarted it"], "blocked_reason": "environment" });
    scene.plays("qa_expert", "login", "BLOCKED", "The database does not start.", tried);
    scene.plays("tech_lead", "login", "UNBLOCKING_GUIDANCE", "Use the container.", json!({ "guidance": "compose" }));
    scene.plays("qa_expert", "login", "PASS", "Tested.", json!({ "test_progression": { "still_failing": [] } }));
    scene.plays("tech_lead", "login", "APPROVED", "Good.", json!({}));
    scene.plays("developer", "login", "MERGE_SUCCESS", "Merged.", json!({}));
    assert_eq!(scene.team.group_status(&scene.session, "login"), "awaiting_confirmation");
    scene.plays("project_manager", "-", "BAZINGA", "All is done.", json!({ "accept": ["login"] }));
    assert_eq!(scene.team.group_status(&scene.session, "login"), "awaiting_confirmation", "a person decides first");
    assert!(effect(&question(&scene), "confirm").contains("completes group login"), "{:#}", question(&scene));
    answer(&scene, &["--option", "confirm"]);
    assert_eq!(scene.team.group_status(&scene.session, "login"), "completed");
    assert_eq!(scene.team.status(&scene.session), "completed");
}
