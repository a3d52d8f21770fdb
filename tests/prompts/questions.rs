//! Questions as a person reads them who knows nothing else of the session.

use serde_json::{Value as Json, json};

use crate::documents::example;
use crate::people::{answer, start_with};
use crate::scene::{Scene, with_context};

/// `question list` as it is printed, without what differs from one run to the next.
fn printed(scene: &Scene) -> String {
    let shown = crate::team::run(&mut scene.team.command(&["question", "list"]), "").stdout;
    let long: Vec<&str> = shown.lines().filter(|line| line.chars().count() > 80 && !line.contains('/')).collect();
    assert!(long.is_empty(), "{long:#?}");
    let root = scene.team.project().display().to_string();
    join_cut_words(&shown).replace(&root, "PROJECT").replace(&scene.session, "SESSION")
}

/// A path that is longer than a line is cut, and where depends on the folder that the tests run in.
fn join_cut_words(shown: &str) -> String {
    const MARK: &str = "    | ";
    let mut joined: Vec<String> = Vec::new();
    let mut is_cut = false;
    for line in shown.lines() {
        let rest = line.strip_prefix(MARK);
        match (rest, joined.last_mut()) {
            (Some(rest), Some(last)) if is_cut => last.push_str(rest),
            _ => joined.push(line.to_owned()),
        }
        is_cut = line.chars().count() == 80 && rest.is_some_and(|rest| !rest.contains(' '));
    }
    joined.join("\n") + "\n"
}

#[test]
fn plan_for_approval_as_a_person_reads_it() {
    let scene = start_with("questions-plan", "feature", &["approvals=at_checkpoints"]);
    let groups = json!([
        { "id": "store", "title": "Keep medication plans", "domain": "backend", "checks": [["cargo", "test", "store"]],
          "description": "One row for each dose, with the time at which it was marked as taken." },
        { "id": "page", "title": "Show the plan of a patient", "domain": "frontend", "depends_on": ["store"],
          "description": "Works without JavaScript." },
    ]);
    let more = json!({ "groups": groups, "summary": "Planned 2 groups, the page after the store",
        "notes_for_future": "The pharmacy service has no test account yet." });
    scene.plays("planner", "-", "complete", "The store comes first, since the page reads it.", more);
    insta::assert_snapshot!(printed(&scene));
}

#[test]
fn clarification_with_findings_as_a_person_reads_it() {
    let scene = start_with("questions-findings", "feature", &[]);
    let group = json!([{ "id": "api", "title": "The API", "domain": "backend" }]);
    scene.plays("planner", "-", "complete", "One group for the API.", json!({ "groups": group }));
    let lead = scene.desk("backend-lead", "api");
    lead.leave("design.md", "# Design");
    scene.report(&lead, "complete", with_context("Three modules.", json!({})));
    let built = json!({ "files_modified": ["src/api.rs"], "notes_for_future": "Cache the lookups later." });
    scene.plays("backend-developer", "api", "complete", "Built.", built.clone());
    let issue = json!({ "id": "R1", "title": "Unchecked input", "location": "src/api.rs:1", "severity": "HIGH",
        "blocking": true, "description": "An id of 0 reads the first row of another patient." });
    scene.plays("backend-reviewer", "api", "complete", "One problem.", json!({ "issues": [issue] }));
    scene.plays("backend-security", "api", "complete", "Nothing else.", json!({}));
    let mut fixed = built;
    fixed["issue_responses"] = json!([{ "id": "R1", "response": "rejected", "reason": "The caller checks it." }]);
    scene.plays("backend-developer", "api", "complete", "Explained.", fixed);
    let more = json!({ "issues": [issue] });
    scene.plays("backend-reviewer", "api", "needs_clarification", "Who checks the input?", more);
    insta::assert_snapshot!(printed(&scene));
}

#[test]
fn failed_gate_as_a_person_reads_it() {
    let scene = start_with("questions-gate", "integration", &[]);
    let lead = scene.desk("integration-lead", "main");
    scene.report(&lead, "complete", example("integration-agent-handoffs/phase-3-to-4"));
    let developer = scene.desk("integration-developer", "main");
    scene.report(&developer, "complete", example("integration-agent-handoffs/phase-4-to-4.5"));
    scene.team.ask(&["gate", &format!("{}.g1", scene.session)]).done();
    insta::assert_snapshot!(printed(&scene));
}

#[test]
fn limit_of_a_review_as_a_person_reads_it() {
    let scene = start_with("questions-limit", "feature", &[]);
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
    insta::assert_snapshot!(printed(&scene));
}

/// A deferral, an approval after a blocker and its notes: everything that the manager who asks has seen.
#[test]
fn question_of_the_manager_as_a_person_reads_it() {
    let scene = Scene::start("questions-manager", "delivery-team");
    let group = |id: &str, title: &str| json!({ "id": id, "title": title });
    let groups: Vec<Json> = vec![group("login", "Login form"), group("sms", "Codes by SMS")];
    scene.plays("project_manager", "-", "PLANNING_COMPLETE", "Two groups.", json!({ "groups": groups }));
    scene.plays("developer", "login", "READY_FOR_QA", "Locks after five.", json!({}));
    let tried = json!({ "attempted": ["Restarted the database"], "blocked_reason": "environment" });
    scene.plays("qa_expert", "login", "BLOCKED", "The database does not start.", tried);
    let guidance = json!({ "guidance": "docker compose up" });
    scene.plays("tech_lead", "login", "UNBLOCKING_GUIDANCE", "Use the container.", guidance);
    scene.plays("qa_expert", "login", "PASS", "12 tests pass.", json!({ "test_progression": { "still_failing": [] } }));
    let severe = json!([{ "id": "N1", "title": "No audit log", "location": "src/login.ts:3", "severity": "HIGH", "blocking": false }]);
    let notes = json!({ "issues": severe, "notes_for_future": "Rate limit per address later." });
    scene.plays("tech_lead", "login", "APPROVED_WITH_NOTES", "Small and tested.", notes);
    scene.plays("developer", "login", "MERGE_SUCCESS", "Merged without conflicts.", json!({}));
    let blocked = json!({ "attempted": ["Called the sandbox"], "blocked_reason": "external_dependency" });
    scene.plays("developer", "sms", "READY_FOR_QA", "Sends codes.", json!({}));
    scene.plays("qa_expert", "sms", "BLOCKED", "The provider has no test account.", blocked);
    let external = json!({ "external": true, "external_dependency": "a test account", "guidance": "Wait for it." });
    scene.plays("tech_lead", "sms", "UNBLOCKING_GUIDANCE", "Nothing here can replace it.", external);
    let why = json!({ "defer_reason": "The provider opens test accounts in May." });
    scene.plays("project_manager", "sms", "DEFERRED_EXTERNAL", "Deferred until May.", why);
    scene.plays("project_manager", "-", "NEEDS_CLARIFICATION", "May the session end without the codes?", json!({}));
    insta::assert_snapshot!(printed(&scene));
    answer(&scene, &["--text", "Yes."]);
}

#[test]
fn question_about_the_session_states_what_each_group_does_without() {
    let scene = Scene::start("questions-excused", "delivery-team");
    let groups = json!([{ "id": "login", "title": "Login form" }, { "id": "logout", "title": "Log out" }]);
    scene.plays("project_manager", "-", "PLANNING_COMPLETE", "Two groups.", json!({ "groups": groups }));
    scene.plays("developer", "login", "READY_FOR_QA", "Locks after five.", json!({}));
    let tried = json!({ "attempted": ["Restarted the database"], "blocked_reason": "environment" });
    scene.plays("qa_expert", "login", "BLOCKED", "The database does not start.", tried);
    scene.plays("tech_lead", "login", "APPROVED", "Small, and I read all of it.", json!({}));
    scene.plays("developer", "login", "MERGE_SUCCESS", "Merged without conflicts.", json!({}));
    scene.plays("developer", "logout", "NOTHING_TO_DO", "The button is there already.", json!({}));
    scene.plays("project_manager", "logout", "GROUP_ACCEPTED", "It is there.", json!({}));
    scene.plays("developer", "logout", "MERGE_SUCCESS", "There was nothing to merge.", json!({}));
    let manager = scene.desk("project_manager", "-");
    scene.report(&manager, "NEEDS_CLARIFICATION", with_context("May the session end like this?", json!({})));
    let asked = scene.team.ask(&["question", "list"]).done();
    let facts: Vec<&str> = asked["questions"][0]["facts"].as_array().unwrap().iter().filter_map(Json::as_str).collect();
    for (group, own) in [("login", "tech_lead approved without it"), ("logout", "nothing to do, reported by developer")]
    {
        assert!(manager.prompt.contains(own), "{own}: {}", manager.prompt);
        let fact = facts.iter().find(|fact| fact.starts_with(&format!("group {group} ")));
        assert!(fact.is_some_and(|fact| fact.contains(own)), "{own}: {facts:#?}");
    }
}
