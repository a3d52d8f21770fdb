//! What prompts say, and in which order.

use serde_json::json;

use crate::scene::Scene;

fn team(test: &str) -> Scene {
    let scene = Scene::start(test, "delivery-team");
    let groups = json!([{ "id": "login", "title": "Login form" }]);
    scene.plays("project_manager", "-", "PLANNING_COMPLETE", "One group is enough.", json!({ "groups": groups }));
    scene
}

#[test]
fn prompt_begins_with_the_task_and_ends_with_one_return_format() {
    let scene = team("prompts-order");
    let desk = scene.desk("developer", "login");
    let place = |text: &str| desk.prompt.find(text).unwrap_or_else(|| panic!("{text}: {}", desk.prompt));
    let order = [
        ": you are developer",
        "OUTPUT_DIRECTORY: ",
        "## Mission",
        "## Plan for group `login`",
        "## `project_manager` reported",
        "## Return",
        "- `READY_FOR_QA`: built and tested",
        "interlock report --assignment",
    ];
    let places: Vec<usize> = order.iter().map(|text| place(text)).collect();
    assert!(places.is_sorted(), "{places:?}: {}", desk.prompt);
    assert_eq!(desk.prompt.matches("handoff.json").count(), 2, "one way to return: {}", desk.prompt);
    for banned in ["not instructions", "Absent", "by rule", "routes.", "hand_off", "last message"] {
        assert!(!desk.prompt.contains(banned), "{banned}: {}", desk.prompt);
    }
}

#[test]
fn statuses_say_what_they_mean_and_the_usual_one_is_first() {
    let scene = Scene::start("prompts-statuses", "delivery-team");
    let manager = scene.desk("project_manager", "-");
    let first = manager.prompt.find("- `PLANNING_COMPLETE`: the groups are planned").expect("a status");
    let later = manager.prompt.find("- `NEEDS_CLARIFICATION`: a person must answer").expect("a status");
    assert!(first < later && !manager.prompt.contains("`BAZINGA`"), "{}", manager.prompt);
    for known in ["run without a shell", "no two may touch the same files", "Up to 4 run at once", "<A-Za-z0-9._->"] {
        assert!(manager.prompt.contains(known), "{known}: {}", manager.prompt);
    }
    let shown = scene.team.ask(&["workflow", "show", "delivery-team", "--compiled"]).done();
    assert!(shown.to_string().contains("built and tested; QA can test it"), "{shown}");
}

#[test]
fn external_dependency_without_external_is_refused_with_both_choices() {
    let scene = team("prompts-external");
    scene.plays("developer", "login", "READY_FOR_QA", "Locks after five.", json!({}));
    scene.plays("qa_expert", "login", "BLOCKED", "No test account.", json!({ "attempted": ["Asked"] }));
    let lead = scene.desk("tech_lead", "login");
    let first = lead.prompt.find("- `UNBLOCKING_GUIDANCE`").expect("offered");
    assert!(first < lead.prompt.find("- `APPROVED`").expect("offered"), "{}", lead.prompt);
    assert!(
        lead.prompt.contains("`external: true`: project_manager is next (only the manager may defer)"),
        "{}",
        lead.prompt
    );
    let refused = scene.try_report(&lead, "UNBLOCKING_GUIDANCE", json!({ "external_dependency": "a test account" }));
    assert_eq!((refused.exit, refused.code().as_str()), (4, "E0255"), "{refused}");
    assert!(refused.stdout.contains("`external: false` or `external: true`"), "{refused}");
    scene.report(&lead, "UNBLOCKING_GUIDANCE", json!({ "external": false, "external_dependency": "a test account" }));
    assert_eq!(scene.team.open(&scene.session), [("qa_expert".to_owned(), "login".to_owned())]);
}

#[test]
fn context_that_repeats_the_status_draws_the_vagueness_warning() {
    let scene = team("prompts-vague");
    let desk = scene.plays("developer", "login", "BLOCKED", "blocked", json!({ "attempted": ["Tried it"] }));
    assert!(desk.prompt.contains("`BLOCKED`"));
    let log = scene.team.ask(&["log", &scene.session]).done();
    assert!(log.to_string().contains("E0228"), "{log}");
}

#[test]
fn python_group_is_worked_on_by_python_agents() {
    let scene = Scene::start("prompts-python", "feature");
    let groups = json!([{ "id": "etl", "title": "ETL", "domain": "backend", "stack": "python" }]);
    let planner = scene.plays("planner", "-", "complete", "One Python group.", json!({ "groups": groups }));
    assert!(planner.prompt.contains(r#""stack":"any|python""#), "{}", planner.prompt);
    scene.plays("python-lead", "etl", "complete", "Use pandas.", json!({}));
    let developer =
        scene.plays("python-developer", "etl", "complete", "Wrote etl.py.", json!({ "files_modified": ["etl.py"] }));
    developer.must_have(&["Use pandas."]);
    let open = scene.team.open(&scene.session);
    assert!(open.iter().any(|(role, _)| role == "python-reviewer"), "{open:?}");
    scene.plays("python-reviewer", "etl", "complete", "Reads well.", json!({ "issues": [] }));
    let security = scene.plays("backend-security", "etl", "complete", "No secrets.", json!({ "issues": [] }));
    security.must_have(&["Use pandas.", "Wrote etl.py."]);
    // Both reports of the join reach the next phase.
    scene.desk("test-lead", "etl").must_have(&["Reads well.", "No secrets.", "Wrote etl.py."]);
}

/// The skeleton of the prompt is all that an agent has to fill in.
#[test]
fn skeleton_of_a_prompt_is_accepted_once_it_is_filled_in() {
    let scene = team("prompts-skeleton");
    let desk = scene.desk("developer", "login");
    let block = desk.prompt.split("```json\n").nth(1).and_then(|rest| rest.split("\n```").next()).expect("a skeleton");
    let mut handoff: serde_json::Value = serde_json::from_str(block).expect("JSON");
    handoff["status"] = json!("READY_FOR_QA");
    handoff["handoff"]["context"] = json!("Accounts lock after five wrong passwords.");
    let run = scene.team.give(&desk.holder, &handoff.to_string());
    assert_eq!(run.exit, 0, "{handoff}: {run}");
    scene.desk("qa_expert", "login").must_have(&["Accounts lock after five wrong passwords."]);
}

/// The first prompts of a small session, as agents read them.
#[test]
fn first_prompts_of_a_small_session() {
    let scene = Scene::start("prompts-small", "delivery-team");
    let groups = json!([{ "id": "discounts", "title": "Discounts on the whole cart", "checks": [["python3", "-m", "unittest"]],
        "description": "A discount code takes a percentage off the total." }]);
    let manager = scene.plays(
        "project_manager",
        "-",
        "PLANNING_COMPLETE",
        "One group, no dependencies.",
        json!({ "groups": groups }),
    );
    let developer = scene.plays(
        "developer",
        "discounts",
        "READY_FOR_QA",
        "shop/cart.py has discount(); 4 tests pass.",
        json!({ "files_modified": ["shop/cart.py"], "summary": "Added discount codes to shop/cart.py with 4 tests" }),
    );
    let failing = json!({ "still_failing": ["test_discount_of_100_percent"] });
    let tester = scene.plays(
        "qa_expert",
        "discounts",
        "FAIL",
        "A code of 100 % gives a negative total.",
        json!({ "test_progression": failing }),
    );
    let again = scene.desk("developer", "discounts");
    let all = [manager, developer, tester, again].map(|desk| desk.prompt).join("\n=====\n\n");
    let root = scene.team.project().display().to_string();
    insta::assert_snapshot!(all.replace(&root, "PROJECT").replace(&scene.session, "SESSION"));
}
