//! The steps that scenes are made of, with the real program.

use std::time::{Duration, Instant};

use serde_json::json;

use super::scene::Scene;

pub(super) fn session_of(scene: &Scene) -> String {
    scene.session.clone().expect("a session")
}

pub(super) fn make_project(scene: &mut Scene) {
    scene.write("src/login.rs", "fn main() {}\n");
    scene.write("README.md", "# Login\n");
    scene.prepare("git init -q -b main && interlock init && git add -A && git commit -qm 'Start the project'");
}

pub(super) fn start_session(scene: &mut Scene) {
    make_project(scene);
    scene.start_session("");
}

/// Two groups: a2 is the developer of LOGIN, a3 the developer of EXPORT.
pub(super) fn plan_groups(scene: &mut Scene) {
    make_project(scene);
    plan_in_project(scene);
}

pub(super) fn plan_in_project(scene: &mut Scene) {
    scene.start_session("");
    let groups = json!([{ "id": "LOGIN", "title": "Log in" }, { "id": "EXPORT", "title": "Export" }]);
    scene.play("project_manager", "PLANNING_COMPLETE", json!({ "groups": groups }));
}

fn finding() -> serde_json::Value {
    json!({ "id": "F1", "title": "The token is logged", "location": "src/login.rs:1", "severity": "HIGH",
            "blocking": true, "description": "Remove it." })
}

pub(super) fn rejected_finding() -> serde_json::Value {
    json!({ "id": "F1", "response": "rejected", "reason": "Only a hash of the token is logged." })
}

/// The tech lead holds a4, the first review of LOGIN.
pub(super) fn claim_review(scene: &mut Scene) {
    plan_groups(scene);
    scene.play("developer", "READY_FOR_REVIEW", json!({}));
    scene.claim("a4");
}

/// The developer of LOGIN holds a5 and has finding F1 to answer.
pub(super) fn request_changes(scene: &mut Scene) {
    claim_review(scene);
    scene.play("tech_lead", "CHANGES_REQUESTED", json!({ "issues": [finding()] }));
    scene.claim("a5");
}

/// The reviewer holds a8, after F1 was rejected and the rejection accepted.
pub(super) fn accept_rejection(scene: &mut Scene) {
    request_changes(scene);
    scene.play("developer", "READY_FOR_REVIEW", json!({ "issue_responses": [rejected_finding()] }));
    let mut other = finding();
    other["id"] = json!("F2");
    other["title"] = json!("The form has no test");
    let tracking = json!({ "rejections_accepted": ["F1"] });
    let more = json!({ "issues": [other], "iteration_tracking": tracking });
    scene.play("tech_lead", "CHANGES_REQUESTED", more);
    scene.play("developer", "READY_FOR_REVIEW", json!({ "issue_responses": [{ "id": "F2", "response": "fixed" }] }));
    scene.claim("a8");
}

/// LOGIN was blocked, resolved, tested, approved and merged.
pub(super) fn merge_blocked_group(scene: &mut Scene) {
    start_session(scene);
    let groups = json!([{ "id": "LOGIN", "title": "Log in" }]);
    scene.play("project_manager", "PLANNING_COMPLETE", json!({ "groups": groups }));
    scene.play("developer", "BLOCKED", json!({ "blocked_reason": "environment", "attempted": ["Ran it: no port"] }));
    scene.play("investigator", "ROOT_CAUSE_FOUND", json!({}));
    scene.play("tech_lead", "UNBLOCKING_GUIDANCE", json!({}));
    scene.play("developer", "READY_FOR_QA", json!({}));
    scene.play("qa_expert", "PASS", json!({ "test_progression": { "still_failing": [] } }));
    scene.play("tech_lead", "APPROVED", json!({}));
    scene.play("developer", "MERGE_SUCCESS", json!({}));
}

pub(super) fn defer_export(scene: &Scene) {
    scene.prepare(&format!("interlock defer {} EXPORT --why 'waits for the vendor'", session_of(scene)));
}

pub(super) fn ask_question(scene: &mut Scene) {
    start_session(scene);
    let questions = json!([{ "text": "Which buckets count as exposed?", "options": ["public-read", "anonymous"] }]);
    scene.play("project_manager", "NEEDS_CLARIFICATION", json!({ "questions": questions }));
}

/// A session of the workflow `feature` whose group LOGIN is in its first phase.
pub(super) fn start_phases(scene: &mut Scene) {
    make_project(scene);
    scene.start_session("--workflow feature");
    let groups = json!([{ "id": "LOGIN", "title": "Log in", "domain": "frontend" }]);
    scene.play("planner", "complete", json!({ "groups": groups }));
}

pub(super) fn start_without_deferral(scene: &mut Scene) {
    make_project(scene);
    write_workflow(scene, "questions:\n  stuck: { options: { defer: null } }\n");
    scene.start_session("");
    let groups = json!([{ "id": "LOGIN", "title": "Log in" }]);
    scene.play("project_manager", "PLANNING_COMPLETE", json!({ "groups": groups }));
}

/// LOGIN goes through tests, review and merge.
pub(super) fn complete_login(scene: &Scene) {
    scene.play("developer", "READY_FOR_QA", json!({}));
    scene.play("qa_expert", "PASS", json!({ "test_progression": { "still_failing": [] } }));
    scene.play("tech_lead", "APPROVED", json!({}));
    scene.play("developer", "MERGE_SUCCESS", json!({}));
}

/// The workflow of the project, with more lines.
pub(super) fn write_workflow(scene: &Scene, more: &str) {
    scene.write("interlock.yaml", &format!("workflow: team\nlanguage: 1\nextends: delivery-team\n{more}"));
}

/// Changes the database with its guards removed, as an attacker would.
pub(super) fn tamper(scene: &mut Scene, statement: &str) {
    plan_groups(scene);
    let triggers = "SELECT 'DROP TRIGGER \"' || name || '\";' FROM sqlite_schema WHERE type = 'trigger'";
    scene.prepare(&format!(
        "db=.interlock/interlock.db\nsqlite3 $db \"{}\" > drops.sql\necho \"{statement};\" >> drops.sql\nsqlite3 -bail $db < drops.sql\nrm drops.sql",
        triggers.replace('"', "\\\"")
    ));
}

pub(super) fn write_mission(scene: &mut Scene) {
    scene.write("mission.md", "# Add login\n\nA form with a name and a password.\n");
    make_project(scene);
}

pub(super) fn write_script(scene: &Scene, script: &str) {
    scene.write("scripted.yaml", script);
    scene.prepare("git add -A && git commit -qm 'Add a script'");
}

pub(super) fn write_waiting_mission(scene: &mut Scene) {
    write_mission(scene);
    let script = "steps: [{ role: project_manager, does: [{ wait: 10m }], says: { status: CONTINUE } }]\n";
    write_script(scene, script);
}

/// Waits until the run in the background has started its session.
pub(super) fn wait_for_session(scene: &mut Scene) {
    let end = Instant::now() + Duration::from_secs(60);
    while scene.session.is_none() {
        assert!(Instant::now() < end, "the run started no session");
        scene.find_session();
        std::thread::sleep(Duration::from_millis(20));
    }
}

pub(super) fn serve(scene: &mut Scene) {
    let line = scene.launch_until("interlock serve --listen 127.0.0.1:0 --json", "http://");
    let (_, rest) = line.split_once("http://").expect("an address");
    let end = rest.find(|character: char| !character.is_ascii_digit() && !".:".contains(character));
    scene.address = Some(rest[..end.unwrap_or(rest.len())].to_owned());
}
