//! Questions to people: the facts behind them, and what each option does.

use serde_json::{Value as Json, json};

use crate::scene::{Scene, with_context};

/// A session of `delivery-team` with one group.
pub(crate) fn team(test: &str) -> Scene {
    let scene = Scene::start(test, "delivery-team");
    let groups = json!([{ "id": "login", "title": "Login form", "description": "Lock after five wrong passwords." }]);
    scene.plays("project_manager", "-", "PLANNING_COMPLETE", "One group is enough.", json!({ "groups": groups }));
    scene
}

pub(crate) fn question(scene: &Scene) -> Json {
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
    assert!(developer.prompt.contains(r#""options":["<for a person>"]"#), "{}", developer.prompt);
    scene.report(&developer, "blocked", with_context(context, more));
    let asked = question(&scene);
    let options = ["public-read ACL", "any anonymous access", "unauthenticated GetObject"];
    assert_eq!(asked["options"], json!(options), "{asked:#}");
    let facts = asked["facts"].to_string();
    for known in [
        "asked for capability-developer on s3, attempt 1, blocked (missing_requirements)",
        "Searched the documentation for ACL policies",
        "Use the VQL scanner.",
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
    for fact in [
        "- login [awaiting_confirmation] it was once blocked\n  blocker of qa_expert (environment): The database does not start.",
        "  attempts of qa_expert: 2; tried: Restarted the database",
        "  guidance of tech_lead: docker compose up",
        "  approved by: qa_expert (qa), tech_lead (review)",
    ] {
        assert!(manager.prompt.contains(fact), "{fact}: {}", manager.prompt);
    }
    let place = |text: &str| manager.prompt.find(text).unwrap_or_else(|| panic!("{text}: {}", manager.prompt));
    assert!(place("approved by: ") < place("Locks after five."), "the author's report comes last: {}", manager.prompt);
    scene.report(&manager, "BAZINGA", with_context("All groups are done.", json!({})));
    let shown = scene.team.ask(&["session", "show", &scene.session]).done();
    assert_eq!(shown["groups"][0]["status"], "completed", "{shown:#}");
}

/// A question of one letter is not replaced wherever a report has that letter.
#[test]
fn short_question_leaves_the_facts_readable() {
    let scene = Scene::start("prompts-short-question", "delivery-team");
    let blocked = json!({ "attempted": ["Tested everything"] });
    scene.plays("project_manager", "-", "BLOCKED", "e", blocked);
    let asked = question(&scene);
    assert!(asked["facts"].to_string().contains("Tested everything"), "{asked:#}");
}

pub(crate) fn start_with(test: &str, workflow: &str, settings: &[&str]) -> Scene {
    let team = crate::team::Team::new(test);
    let mut start = vec!["session", "start", "--title", "A session", "--workflow", workflow];
    settings.iter().for_each(|setting| start.extend(["--set", setting]));
    let session = team.ask(&start).done()["session"].as_str().expect("a session").to_owned();
    Scene { team, session }
}

pub(crate) fn answer(scene: &Scene, arguments: &[&str]) {
    let id = question(scene)["question"].as_str().expect("an open question").to_owned();
    let mut command = vec!["answer", id.as_str()];
    command.extend(arguments);
    scene.team.ask(&command).done();
}

pub(crate) fn effect(asked: &Json, option: &str) -> String {
    let own = asked["effects"].as_array().into_iter().flatten().find(|effect| effect["option"] == option);
    own.and_then(|effect| effect["effect"].as_str()).unwrap_or_default().to_owned()
}

/// The question repeats a short context: no text that merely contains it changes.
#[test]
fn fact_that_contains_the_question_is_shown_whole() {
    let scene = team("prompts-whole-facts");
    let tried = |attempt: &str| json!({ "attempted": [attempt], "handoff": { "options": ["keep", "replace"] } });
    scene.plays("developer", "login", "BLOCKED", "e", tried("tried the reset"));
    scene.plays("investigator", "login", "BLOCKED", "The details are needed.", tried("read every page"));
    scene.plays("tech_lead", "login", "BLOCKED", "Somewhere else.", tried("went there"));
    scene.plays("project_manager", "login", "BLOCKED", "e", tried("tested everything"));
    let asked = question(&scene);
    assert_eq!(asked["text"], "e", "{asked:#}");
    let facts = asked["facts"].to_string();
    for known in [
        "tried the reset",
        "The details are needed.",
        "tested everything",
        "context: as in the question",
        "developer reported BLOCKED on login: attempted: tried the reset; options: keep; replace; context: e",
        "One group is enough.",
    ] {
        assert!(facts.contains(known), "{known}: {asked:#}");
    }
}

#[test]
fn question_names_documents_and_findings_in_full() {
    let scene = start_with("prompts-question-findings", "feature", &[]);
    let group = json!([{ "id": "api", "title": "The API", "domain": "backend" }]);
    scene.plays("planner", "-", "complete", "One group for the API.", json!({ "groups": group }));
    let lead = scene.desk("backend-lead", "api");
    lead.leave("design.md", "# Design");
    scene.report(&lead, "complete", with_context("Three modules.", json!({})));
    let built = json!({ "files_modified": ["src/api.rs"] });
    scene.plays("backend-developer", "api", "complete", "Built.", built.clone());
    let issue = json!({ "id": "R1", "title": "Unchecked input", "location": "src/api.rs:1", "severity": "HIGH", "blocking": true });
    let issues = json!({ "issues": [issue] });
    scene.plays("backend-reviewer", "api", "complete", "One problem.", issues.clone());
    scene.plays("backend-security", "api", "complete", "Nothing else.", json!({}));
    let mut fixed = built;
    fixed["issue_responses"] = json!([{ "id": "R1", "response": "rejected", "reason": "The caller checks it." }]);
    scene.plays("backend-developer", "api", "complete", "Explained.", fixed);
    scene.plays("backend-reviewer", "api", "needs_clarification", "Who checks the input?", issues);
    let asked = question(&scene);
    let facts = asked["facts"].to_string();
    let design = lead.output.join("design.md").display().to_string();
    for known in [
        "open finding R1 [HIGH, blocking] src/api.rs:1: Unchecked input (by backend-reviewer)",
        "author's last response: rejected: The caller checks it.",
        &format!("documents of backend-lead on api: {design}"),
        "One group for the API.",
    ] {
        assert!(facts.contains(known), "{known}: {asked:#}");
    }
    assert!(!facts.contains("evidence: none"), "{asked:#}");
    for command in [&["question", "list"][..], &["session", "next", &scene.session]] {
        let shown = crate::team::run(&mut scene.team.command(command), "").stdout;
        let long: Vec<&str> = shown.lines().filter(|line| line.chars().count() > 80 && !line.contains('/')).collect();
        assert!(long.is_empty(), "{long:#?}");
        assert!(!shown.contains("is asked ()"), "{shown}");
    }
}

#[test]
fn deferral_shows_the_words_and_the_name_of_the_person() {
    let scene = start_with("prompts-deferral-words", "feature", &[]);
    let group = json!([{ "id": "login", "title": "Login form", "domain": "tool" }]);
    scene.plays("planner", "-", "complete", "One group.", json!({ "groups": group }));
    scene.plays("tool-lead", "login", "complete", "Designed.", json!({}));
    let issue = json!({ "id": "R1", "title": "Wrong", "location": "src/a.rs:1", "severity": "HIGH", "blocking": true });
    for _ in 0..6 {
        if scene.team.open(&scene.session).is_empty() {
            break;
        }
        let built = json!({ "files_modified": ["src/a.rs"], "issue_responses": [{ "id": "R1", "response": "fixed" }] });
        scene.plays("tool-developer", "login", "complete", "Built.", built);
        scene.plays("tool-reviewer", "login", "complete", "Still wrong.", json!({ "issues": [issue] }));
    }
    answer(&scene, &["--option", "defer", "--text", "The provider is down until May.", "--as", "ann"]);
    let group = scene.team.group(&scene.session, "login");
    assert_eq!(group["deferred"]["reason"], "The provider is down until May.", "{group:#}");
    assert_eq!(group["deferred"]["by"], "ann", "{group:#}");
    let shown = crate::team::run(&mut scene.team.command(&["session", "show", &scene.session]), "").stdout;
    assert!(shown.contains("deferred by ann, not acknowledged: The provider is down until May."), "{shown}");
}

#[test]
fn question_of_the_session_counts_records_that_are_left_out() {
    let scene = Scene::start("prompts-left-out", "delivery-team");
    let group = |number: usize| json!({ "id": format!("g{number}"), "title": "One of many" });
    let groups: Vec<Json> = (0..5).map(group).collect();
    scene.plays("project_manager", "-", "PLANNING_COMPLETE", "Five groups.", json!({ "groups": groups }));
    for number in 0..5 {
        let group = format!("g{number}");
        scene.plays("developer", &group, "READY_FOR_QA", "Built.", json!({}));
        let passed = json!({ "test_progression": { "still_failing": [] } });
        scene.plays("qa_expert", &group, "PASS", "Tested.", passed);
        scene.plays("tech_lead", &group, "APPROVED", "Good.", json!({}));
        scene.plays("developer", &group, "MERGE_SUCCESS", "Merged.", json!({}));
    }
    scene.plays("project_manager", "-", "NEEDS_CLARIFICATION", "Is this all?", json!({}));
    let asked = question(&scene);
    let facts = asked["facts"].to_string();
    let left_out =
        format!("4 earlier records not shown; every record is whole in `interlock log {} --full`", scene.session);
    assert!(facts.contains(&left_out), "{asked:#}");
}
