//! Questions to people: the facts behind them, and what each option does.

use serde_json::{Value as Json, json};

use crate::scene::{Scene, with_context};

/// A session of `delivery-team` with one group.
fn team(test: &str) -> Scene {
    let scene = Scene::start(test, "delivery-team");
    let groups = json!([{ "id": "login", "title": "Login form", "description": "Lock after five wrong passwords." }]);
    scene.plays("project_manager", "-", "PLANNING_COMPLETE", "One group is enough.", json!({ "groups": groups }));
    scene
}

fn question(scene: &Scene) -> Json {
    let listed = scene.team.ask(&["question", "list"]).done();
    listed["questions"][0].clone()
}

#[test]
fn question_of_a_blocked_role_shows_facts_options_and_effects() {
    let scene = Scene::start("prompts-question", "feature");
    let groups = json!([{ "id": "s3", "title": "S3 exposure", "domain": "capability" }]);
    scene.plays("planner", "-", "complete", "One capability.", json!({ "groups": groups }));
    scene.plays("capability-lead", "s3", "complete", "Use the VQL scanner.", json!({}));
    let context = "Three definitions of exposed exist: which one applies?";
    let more = json!({
        "blocked_reason": "missing_requirements",
        "attempted": ["Searched the documentation for ACL policies"],
        "handoff": { "options": ["public-read ACL", "any anonymous access", "unauthenticated GetObject"] },
    });
    let developer = scene.desk("capability-developer", "s3");
    assert!(developer.prompt.contains("`handoff.options` if a person must choose"), "{}", developer.prompt);
    scene.report(&developer, "blocked", with_context(context, more));
    let asked = question(&scene);
    let options = ["public-read ACL", "any anonymous access", "unauthenticated GetObject"];
    assert_eq!(asked["options"], json!(options), "{asked:#}");
    let facts = asked["facts"].to_string();
    for known in [
        "asked for capability-developer on s3, attempt 1, blocked (missing_requirements)",
        "Searched the documentation for ACL policies",
        "Use the VQL scanner.",
        "evidence: none",
    ] {
        assert!(facts.contains(known), "{known}: {asked:#}");
    }
    for (index, option) in options.iter().enumerate() {
        assert_eq!(asked["effects"][index]["option"], *option);
        assert_eq!(asked["effects"][index]["effect"], "capability-developer works on s3, attempt 2", "{asked:#}");
    }
    let next = scene.team.ask(&["session", "next", &scene.session]).done();
    assert_eq!(
        (&next["questions"][0]["facts"], &next["questions"][0]["effects"]),
        (&asked["facts"], &asked["effects"])
    );
    let id = asked["question"].as_str().expect("an id");
    scene.team.ask(&["answer", id, "--option", "any anonymous access"]).done();
    let again = scene.desk("capability-developer", "s3");
    again.must_have(&["chosen: any anonymous access", context, "Searched the documentation", "Use the VQL scanner."]);
}

#[test]
fn question_at_a_limit_says_what_each_option_does() {
    let scene = team("prompts-limit");
    scene.plays(
        "developer",
        "login",
        "BLOCKED",
        "The test account is missing.",
        json!({ "attempted": ["Asked the provider"] }),
    );
    for _ in 0..20 {
        let open = scene.team.open(&scene.session);
        let Some((role, group)) = open.first() else { break };
        scene.plays(
            role,
            group,
            "BLOCKED",
            "Nothing helps without the account.",
            json!({ "attempted": ["Asked again"] }),
        );
    }
    let asked = question(&scene);
    let effects = asked["effects"].as_array().expect("effects");
    assert!(!effects.is_empty(), "{asked:#}");
    for effect in effects {
        let text = effect["effect"].as_str().expect("a text");
        assert!(!text.is_empty() && !text.starts_with("refused"), "{asked:#}");
    }
    assert!(asked["facts"].to_string().contains("The test account is missing."), "{asked:#}");
    assert!(asked["facts"].to_string().contains("Asked the provider"), "{asked:#}");
}

/// The manager decides about a blocked group with its blocker, the attempts and the guidance at hand.
#[test]
fn manager_who_defers_sees_blocker_attempts_and_guidance() {
    let scene = team("prompts-defer");
    let tried = json!({ "attempted": ["Called the provider's sandbox"], "blocked_reason": "external_dependency" });
    scene.plays("developer", "login", "READY_FOR_QA", "Locks after five.", json!({}));
    scene.plays("qa_expert", "login", "BLOCKED", "The SMS provider has no test account.", tried);
    let guidance = json!({ "external": true, "external_dependency": "a test account of the provider", "guidance": "Wait for the account." });
    scene.plays("tech_lead", "login", "UNBLOCKING_GUIDANCE", "Nothing in the project can replace it.", guidance);
    let manager = scene.desk("project_manager", "login");
    manager.must_have(&[
        "The SMS provider has no test account.",
        "Called the provider's sandbox",
        "external_dependency: a test account of the provider",
        "Wait for the account.",
        "Nothing in the project can replace it.",
        "Locks after five.",
    ]);
}

#[test]
fn manager_who_confirms_sees_approver_notes_and_blocker() {
    let scene = team("prompts-confirm");
    scene.plays("developer", "login", "READY_FOR_QA", "Locks after five.", json!({}));
    let tried = json!({ "attempted": ["Restarted the database"], "blocked_reason": "environment" });
    scene.plays("qa_expert", "login", "BLOCKED", "The database does not start.", tried);
    scene.plays(
        "tech_lead",
        "login",
        "UNBLOCKING_GUIDANCE",
        "Use the container.",
        json!({ "guidance": "docker compose up" }),
    );
    let passed = json!({ "test_progression": { "still_failing": [] } });
    scene.plays("qa_expert", "login", "PASS", "12 tests pass in the container.", passed);
    let severe = json!([{ "id": "N1", "title": "No audit log", "location": "src/login.ts:3", "severity": "HIGH", "blocking": false }]);
    let notes = json!({ "issues": severe, "notes_for_future": "Rate limit per address later." });
    scene.plays("tech_lead", "login", "APPROVED_WITH_NOTES", "Small and tested.", notes);
    scene.plays("developer", "login", "MERGE_SUCCESS", "Merged without conflicts.", json!({}));
    let manager = scene.desk("project_manager", "-");
    manager.must_have(&[
        "awaiting_confirmation",
        "The database does not start.",
        "Restarted the database",
        "docker compose up",
        "`tech_lead` reported `APPROVED_WITH_NOTES`",
        "Rate limit per address later.",
        "HIGH, not blocking: N1 No audit log (src/login.ts:3), by tech_lead",
        r#""accept": ["login"]"#,
    ]);
}
