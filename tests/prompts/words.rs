//! What prompts say, and in which order.

use serde_json::json;

use crate::scene::{Scene, with_context};
use crate::team::run;

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
    let first = manager.prompt.find("- `PLANNING_COMPLETE`: the groups can start").expect("a status");
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

/// Guidance to one role, documents and notes outlive the next report of the same role.
#[test]
fn later_reports_of_a_role_keep_its_documents_guidance_and_notes() {
    let scene = team("prompts-superseded");
    let developer = scene.desk("developer", "login");
    developer.leave("design.md", "The design.");
    let request = json!({ "validation_request": "Is a lock enough?", "artifacts": ["design.md"] });
    scene.report(&developer, "NEEDS_TECH_LEAD_VALIDATION", with_context("Drew the design of the lock.", request));
    let lead = scene.desk("tech_lead", "login");
    lead.leave("adr.md", "The decision.");
    let guidance =
        json!({ "guidance": "Lock by account, not by address.", "notes_for_future": "Rate limits by address" });
    scene.report(&lead, "UNBLOCKING_GUIDANCE", with_context("The design holds.", guidance));
    let built = json!({ "summary": "Built the lock with 12 tests", "files_changed": ["src/lock.rs"] });
    scene.plays("developer", "login", "READY_FOR_QA", "Locks after five.", built);
    let blocked = json!({ "attempted": ["Started it by hand"], "notes_for_future": ["A database for tests"] });
    scene.plays("qa_expert", "login", "BLOCKED", "No test database.", blocked);
    let help = json!({ "guidance": "Use the database in memory." });
    scene.plays("tech_lead", "login", "UNBLOCKING_GUIDANCE", "It has all tables.", help);
    let failing = json!({ "test_progression": { "still_failing": ["lock_opens"] } });
    scene.plays("qa_expert", "login", "FAIL", "The lock never opens.", failing);
    scene.plays("developer", "login", "PARTIAL", "Half of the timer is there.", json!({ "partial_work": "timer" }));
    let again = scene.desk("developer", "login");
    again.must_have(&[
        "reported `UNBLOCKING_GUIDANCE` on `login` to help you",
        "Lock by account, not by address.",
        "to help `qa_expert`",
        "Use the database in memory.",
        "/adr.md",
        "/design.md",
        "Built the lock with 12 tests",
        "- src/lock.rs",
        "No test database.",
        "lock_opens",
        "Half of the timer is there.",
    ]);
    let shown = scene.team.ask(&["session", "show", &scene.session]).done();
    let notes = shown["groups"][0]["notes"].to_string();
    for note in ["tech_lead: Rate limits by address", "qa_expert: A database for tests"] {
        assert!(notes.contains(note), "{notes}");
    }
}

#[test]
fn manager_on_a_group_reads_what_each_status_leads_to() {
    let scene = team("prompts-manager-on-group");
    scene.plays("developer", "login", "READY_FOR_QA", "Locks after five.", json!({}));
    scene.plays("qa_expert", "login", "PASS", "All 12 tests pass.", json!({}));
    scene.plays("tech_lead", "login", "BLOCKED", "No access to the policy.", json!({ "attempted": ["Asked"] }));
    let manager = scene.desk("project_manager", "login");
    let place = |text: &str| manager.prompt.find(text).unwrap_or_else(|| panic!("{text}: {}", manager.prompt));
    let order =
        ["\n- `DEFERRED_EXTERNAL`", "\n- `GROUP_ACCEPTED`", "\n- `CONTINUE`: back to tech_lead\n", "\n- `BLOCKED`"];
    let places: Vec<usize> = order.iter().map(|text| place(text)).collect();
    assert!(places.is_sorted(), "{}", manager.prompt);
    for absent in ["`PLANNING_COMPLETE`: ", "planned groups start", "\"groups\":["] {
        assert!(!manager.prompt.contains(absent), "{absent}: {}", manager.prompt);
    }
    scene.report(&manager, "CONTINUE", json!({}));
    assert_eq!(scene.team.open(&scene.session), [("tech_lead".to_owned(), "login".to_owned())]);
}

#[test]
fn manager_after_nothing_to_do_reads_that_continue_sends_the_work_back() {
    let scene = team("prompts-nothing-to-do");
    scene.plays("developer", "login", "NOTHING_TO_DO", "The lock exists in src/lock.rs.", json!({}));
    let manager = scene.desk("project_manager", "login");
    assert!(manager.prompt.contains("\n- `CONTINUE`: back to developer\n"), "{}", manager.prompt);
    scene.report(&manager, "CONTINUE", json!({}));
    assert_eq!(scene.team.open(&scene.session), [("developer".to_owned(), "login".to_owned())]);
}

/// The command of the prompt works in the folder that it names.
#[test]
fn report_command_of_a_prompt_works_in_the_output_directory() {
    let scene = team("prompts-command");
    let desk = scene.desk("developer", "login");
    let command = format!("interlock report --assignment {} handoff.json", desk.holder.assignment);
    assert!(desk.prompt.contains(&command), "{}", desk.prompt);
    let handoff = json!({ "status": "READY_FOR_QA", "handoff": { "context": "Accounts lock after five tries." } });
    desk.leave("handoff.json", &handoff.to_string());
    let mut report = scene.team.command(&["report", "--assignment", &desk.holder.assignment, "handoff.json"]);
    let run = run(report.current_dir(&desk.output).env("INTERLOCK_TOKEN", &desk.holder.token), "");
    assert_eq!(run.exit, 0, "{run}");
    assert_eq!(scene.team.open(&scene.session), [("qa_expert".to_owned(), "login".to_owned())]);
}

#[test]
fn reviewer_of_a_phase_reads_that_a_blocking_finding_sends_the_work_back() {
    let scene = Scene::start("prompts-rework", "feature");
    let groups = json!([{ "id": "form", "title": "Form", "domain": "frontend", "description": "A form that locks." }]);
    let planner = scene.desk("planner", "-");
    scene.report(&planner, "complete", with_context("One group.", json!({ "groups": groups })));
    scene.plays("frontend-lead", "form", "complete", "Use the hook.", json!({}));
    let developer = scene.desk("frontend-developer", "form");
    let blocked = json!({ "blocked_reason": "architecture_decision", "attempted": ["Read the design"] });
    scene.report(&developer, "blocked", with_context("Which store holds the count?", blocked));
    let (helper, _) = scene.team.open(&scene.session).into_iter().next().expect("a helper");
    let helper = scene.desk(&helper, "form");
    assert!(!helper.prompt.contains("\"issues\":["), "{}", helper.prompt);
    scene.report(&helper, "complete", with_context("The session store.", json!({})));
    let built = json!({ "files_modified": ["form.ts"] });
    scene.plays("frontend-developer", "form", "complete", "Wrote form.ts.", built);
    let reviewer = scene.desk("frontend-reviewer", "form");
    let sent = "a blocking finding sends the work back to phase `implementation`";
    assert!(reviewer.prompt.contains(sent), "{}", reviewer.prompt);
}

/// A required field is shown where it stands in the handoff, whatever the depth.
#[test]
fn dotted_required_fields_are_shown_as_objects() {
    let workflow = "workflow: mine\nlanguage: 1\nextends: delivery-team\nroutes:\n  engineer:\n    READY_FOR_QA: \
                    { spawn: qa_expert, changes: required, require: [handoff.risks, test_results.command, dev_output] }\n";
    let scene = Scene::of_project("prompts-dotted", workflow);
    let groups = json!([{ "id": "login", "title": "Login", "description": "A form that locks." }]);
    scene.plays("project_manager", "-", "PLANNING_COMPLETE", "One group.", json!({ "groups": groups }));
    let developer = scene.desk("developer", "login");
    let needs = r#"(needs `dev_output`, `"handoff":{"risks":"…"}`, `"test_results":{"command":"…"}`)"#;
    assert!(developer.prompt.contains(needs), "{}", developer.prompt);
    let filled =
        json!({ "dev_output": "Built.", "test_results": { "command": "cargo test" }, "handoff": { "risks": "none" } });
    scene.report(&developer, "READY_FOR_QA", with_context("Accounts lock after five tries.", filled));
}

/// The lead reads what each choice about an outside dependency leads to, and the field that belongs to it.
#[test]
fn helper_reads_where_each_value_of_external_leads() {
    let scene = team("prompts-external-ways");
    scene.plays("developer", "login", "READY_FOR_QA", "Locks after five.", json!({}));
    scene.plays("qa_expert", "login", "BLOCKED", "No test account.", json!({ "attempted": ["Asked"] }));
    let lead = scene.desk("tech_lead", "login");
    for choice in [
        "`external: false`, also if absent: back to qa_expert",
        "`external: true`: project_manager is next (only the manager may defer), add `external_dependency`",
    ] {
        assert!(lead.prompt.contains(choice), "{choice}: {}", lead.prompt);
    }
}

#[test]
fn helper_of_an_author_is_offered_no_verdict() {
    let scene = team("prompts-helper-verdict");
    let request = json!({ "validation_request": "Is a lock enough?" });
    scene.plays("developer", "login", "NEEDS_TECH_LEAD_VALIDATION", "Drew the design of the lock.", request);
    let lead = scene.desk("tech_lead", "login");
    for absent in ["- `APPROVED`", "- `CHANGES_REQUESTED`", "\"issues\":["] {
        assert!(!lead.prompt.contains(absent), "{absent}: {}", lead.prompt);
    }
    assert!(lead.prompt.contains("- `UNBLOCKING_GUIDANCE`"), "{}", lead.prompt);
}

/// The block and the status lines of a text's last return format, without what an assignment adds to a status.
fn return_format(text: &str) -> (Vec<String>, Vec<String>) {
    let from = text.rfind("```json").expect("a block");
    let lines = || text[from..].lines();
    let block = lines().skip(1).take_while(|line| *line != "```").map(str::to_owned).collect();
    let head = |line: &str| line.split(" (").next().unwrap_or(line).to_owned();
    (block, lines().filter(|line| line.starts_with("- `")).map(head).collect())
}

#[test]
fn page_of_a_role_shows_the_return_format_of_its_prompts() {
    let scene = team("prompts-page");
    let installed = run(&mut scene.team.command(&["plugin", "install", "claude"]), "");
    assert_eq!(installed.exit, 0, "{installed}");
    let page = |role: &str| {
        let page = find_file(scene.team.project().parent().expect("a home"), &format!("agents/{role}.md"));
        std::fs::read_to_string(page.expect("a page")).expect("a text")
    };
    let check = |role: &str, prompt: &str| {
        let page = page(role);
        let ((block, statuses), (own_block, own)) = (return_format(&page), return_format(prompt));
        assert_eq!(block, own_block, "{page}\n\n{prompt}");
        assert!(!own.is_empty() && own.iter().all(|line| statuses.contains(line)), "{own:#?} {statuses:#?}");
        assert!(page.contains("The prompt of your assignment lists the statuses that it accepts"), "{page}");
    };
    check("developer", &scene.plays("developer", "login", "READY_FOR_QA", "Locks after five.", json!({})).prompt);
    check("qa_expert", &scene.desk("qa_expert", "login").prompt);
}

fn find_file(folder: &std::path::Path, end: &str) -> Option<std::path::PathBuf> {
    let entries = std::fs::read_dir(folder).ok()?.filter_map(Result::ok).map(|entry| entry.path());
    entries.into_iter().find_map(|path| match path.is_dir() {
        true => find_file(&path, end),
        false => path.ends_with(end).then_some(path),
    })
}
