//! The scenes that `console in=NAME` names. The program itself makes them.

use std::collections::HashMap;
use std::process::Command;
use std::sync::{LazyLock, Mutex};

use serde_json::json;

use super::scene::Scene;
use super::steps::{
    accept_rejection, ask_question, claim_review, complete_login, defer_export, make_project, merge_blocked_group,
    plan_groups, plan_in_project, rejected_finding, request_changes, serve, session_of, start_phases, start_session,
    start_without_deferral, tamper, wait_for_session, write_mission, write_script, write_waiting_mission,
    write_workflow,
};

/// Makes a scene, each time from the same state.
struct SceneRecipe {
    name: &'static str,
    /// Made once; every page gets a copy.
    prepare: fn(&mut Scene),
    /// Started for every page, such as a server.
    launch: fn(&mut Scene),
}

const fn folder(name: &'static str, prepare: fn(&mut Scene)) -> SceneRecipe {
    SceneRecipe { name, prepare, launch: |_| {} }
}

const fn running(name: &'static str, prepare: fn(&mut Scene), launch: fn(&mut Scene)) -> SceneRecipe {
    SceneRecipe { name, prepare, launch }
}

const RECIPES: &[SceneRecipe] = &[
    folder("empty", |_| {}),
    folder("project", make_project),
    folder("planning", |scene| {
        start_session(scene);
        scene.claim("a1");
    }),
    folder("planned", plan_groups),
    folder("developer", |scene| {
        plan_groups(scene);
        scene.claim("a2");
    }),
    folder("reported", |scene| {
        plan_groups(scene);
        scene.play("developer", "READY_FOR_QA", json!({}));
    }),
    folder("reviewer", claim_review),
    folder("changes-requested", request_changes),
    folder("second-review", |scene| {
        request_changes(scene);
        scene.play("developer", "READY_FOR_REVIEW", json!({ "issue_responses": [rejected_finding()] }));
        scene.claim("a6");
    }),
    folder("rejection-accepted", accept_rejection),
    folder("guidance", |scene| {
        plan_groups(scene);
        scene.play("developer", "NEEDS_TECH_LEAD_VALIDATION", json!({}));
        scene.claim("a4");
    }),
    folder("once-blocked", merge_blocked_group),
    folder("deferred", |scene| {
        plan_groups(scene);
        defer_export(scene);
    }),
    folder("acknowledged", |scene| {
        plan_groups(scene);
        defer_export(scene);
        scene.prepare(&format!("interlock acknowledge {} EXPORT --as alice", session_of(scene)));
    }),
    folder("question", ask_question),
    folder("answered", |scene| {
        ask_question(scene);
        scene.prepare(&format!("interlock answer {} --option 1 --as alice", scene.id("q1")));
    }),
    folder("cancelled", |scene| {
        plan_groups(scene);
        scene.claim("a2");
        scene.prepare(&format!("interlock cancel {}", session_of(scene)));
    }),
    folder("blocked-and-deferred", |scene| {
        plan_groups(scene);
        scene.play(
            "developer",
            "BLOCKED",
            json!({ "blocked_reason": "environment", "attempted": ["Ran it: no port"] }),
        );
        defer_export(scene);
    }),
    folder("completed-group", |scene| {
        plan_groups(scene);
        complete_login(scene);
    }),
    folder("manager", |scene| {
        start_session(scene);
        let groups = json!([{ "id": "LOGIN", "title": "Log in" }]);
        scene.play("project_manager", "PLANNING_COMPLETE", json!({ "groups": groups }));
        complete_login(scene);
        scene.claim("a6");
    }),
    folder("research", |scene| {
        start_session(scene);
        let group = |id: &str| json!({ "id": id, "title": "Find it out", "kind": "research" });
        let groups = json!([group("LOGIN"), group("EXPORT"), group("IMPORT")]);
        scene.play("project_manager", "PLANNING_COMPLETE", json!({ "groups": groups }));
        scene.claim("a2");
        scene.claim("a3");
    }),
    folder("failed-qa", |scene| {
        plan_groups(scene);
        scene.play("developer", "ESCALATE_SENIOR", json!({}));
        scene.play("senior_software_engineer", "READY_FOR_QA", json!({}));
        scene.play("qa_expert", "FAIL_ESCALATE", json!({}));
        scene.claim("a6");
    }),
    folder("late", |scene| {
        make_project(scene);
        write_workflow(scene, "roles:\n  developer: { deadline: 1ms }\n");
        scene.start_session("");
        let groups = json!([{ "id": "LOGIN", "title": "Log in" }]);
        scene.play("project_manager", "PLANNING_COMPLETE", json!({ "groups": groups }));
        scene.claim("a2");
    }),
    folder("agent-key", |scene| {
        start_session(scene);
        scene.prepare(&format!("cp {}/spawner.key agent.key", scene.keys().display()));
    }),
    folder("required-checks", |scene| {
        make_project(scene);
        let fail = "{ respawn: author, loop: merging, with: [gate_output] }";
        write_workflow(scene, &format!("gates:\n  checks: {{ run: plan, required: true, fail: {fail} }}\n"));
        scene.start_session("");
        scene.claim("a1");
    }),
    folder("open-gate", |scene| {
        start_session(scene);
        let groups = json!([{ "id": "LOGIN", "title": "Log in", "checks": [["cargo", "test"]] }]);
        scene.play("project_manager", "PLANNING_COMPLETE", json!({ "groups": groups }));
        complete_login(scene);
    }),
    folder("nothing-completed", |scene| {
        plan_groups(scene);
        defer_export(scene);
        let session = session_of(scene);
        scene.prepare(&format!("interlock defer {session} LOGIN --why 'waits for the vendor'"));
        scene.prepare(&format!("interlock acknowledge {session} EXPORT && interlock acknowledge {session} LOGIN"));
    }),
    folder("phases", start_phases),
    folder("no-deferral", start_without_deferral),
    folder("other-key", |scene| {
        start_session(scene);
        let keys = scene.keys();
        scene.prepare(&format!(
            "mkdir ../other && (cd ../other && interlock init)\nfor folder in ~/.config/interlock/*; do\n[ $folder = {} ] || cp $folder/operator.key other.key\ndone",
            keys.display()
        ));
    }),
    folder("direct-end", |scene| {
        make_project(scene);
        write_workflow(scene, "routes:\n  project_manager: { FINISHED: { end: session } }\n");
        plan_in_project(scene);
        defer_export(scene);
        complete_login(scene);
        scene.claim("a7");
    }),
    folder("conversation", |scene| {
        plan_groups(scene);
        let begins = json!({ "session_id": "c-1", "hook_event_name": "SessionStart", "source": "startup" });
        scene.prepare(&format!("echo '{begins}' | interlock hook claude SessionStart"));
    }),
    folder("newer-store", |scene| {
        start_session(scene);
        scene.prepare("sqlite3 .interlock/interlock.db 'PRAGMA user_version = 99'");
    }),
    folder("broken-schema", |scene| tamper(scene, "DROP TABLE sessions")),
    folder("tampered-log", |scene| tamper(scene, "UPDATE events SET data = replace(data, 'Log in', 'Log out')")),
    folder("tampered-workflow", |scene| {
        tamper(scene, "UPDATE workflows SET sources = replace(sources, 'tech_lead', 'tech_load')");
    }),
    folder("mission", write_mission),
    folder("question-in-run", |scene| {
        write_mission(scene);
        let says =
            "{ status: NEEDS_CLARIFICATION, questions: [{ text: 'Which port?', options: [port 80, port 443] }] }";
        write_script(scene, &format!("steps: [{{ role: project_manager, says: {says} }}]\n"));
    }),
    running("running", write_waiting_mission, |scene| {
        scene.launch("interlock run mission.md --agents scripted > run.log 2>&1");
        wait_for_session(scene);
    }),
    running("server", make_project, serve),
];

/// A fresh copy of the scene, for one block of one page.
pub(super) fn enter_scene(name: &str, page: &str) -> Scene {
    static TEMPLATES: LazyLock<Mutex<HashMap<&'static str, Scene>>> = LazyLock::new(Mutex::default);
    let recipe = RECIPES.iter().find(|recipe| recipe.name == name);
    let recipe = recipe.unwrap_or_else(|| panic!("{page}: there is no scene `{name}`"));
    let mut templates = TEMPLATES.lock().unwrap();
    let template = templates.entry(recipe.name).or_insert_with(|| {
        let mut scene = Scene::new(&format!("scene-{name}"));
        (recipe.prepare)(&mut scene);
        scene
    });
    let mut scene = Scene::new(page);
    let copied = Command::new("cp").arg("-a").arg(template.home()).arg(scene.home().parent().unwrap()).status();
    assert!(copied.expect("cp").success(), "the scene `{name}` is copied");
    scene.session.clone_from(&template.session);
    drop(templates);
    (recipe.launch)(&mut scene);
    scene
}

#[test]
fn every_scene_is_used_by_a_page() {
    let pages = super::fence::read_error_pages();
    let blocks = pages.iter().flat_map(|page| &page.blocks);
    let used: Vec<&str> = blocks.filter_map(|block| block.option("in")).collect();
    let unused: Vec<&str> =
        RECIPES.iter().map(|recipe| recipe.name).filter(|name| *name != "empty" && !used.contains(name)).collect();
    assert!(unused.is_empty(), "{unused:?}");
}
