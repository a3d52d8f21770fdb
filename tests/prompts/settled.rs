//! Findings that ended, short facts of long reports, and files with the whole text.

use serde_json::{Value as Json, json};

use crate::scene::{Scene, with_context};

fn team(test: &str) -> Scene {
    let scene = Scene::start(test, "delivery-team");
    let groups = json!([{ "id": "login", "title": "Login" }]);
    scene.plays(
        "project_manager",
        "-",
        "PLANNING_COMPLETE",
        "One group, no dependencies.",
        json!({ "groups": groups }),
    );
    scene
}

fn built_and_tested(scene: &Scene, more: Json) {
    scene.plays("developer", "login", "READY_FOR_QA", "Accounts lock after five tries.", more);
    scene.plays("qa_expert", "login", "PASS", "All 14 tests pass.", json!({}));
}

/// After a merge conflict the reviewer comes back, and knows how each of its findings ended.
#[test]
fn reviewer_who_returns_reads_how_each_of_its_findings_ended() {
    let scene = team("prompts-settled");
    built_and_tested(&scene, json!({}));
    let issue = |id: &str, title: &str| json!({ "id": id, "title": title, "location": format!("src/{id}.ts:1"), "severity": "HIGH", "blocking": true, "description": "Fix it." });
    let issues = json!([issue("F1", "Token is logged"), issue("F2", "No lock"), issue("F3", "Slow query")]);
    scene.plays("tech_lead", "login", "CHANGES_REQUESTED", "Three findings.", json!({ "issues": issues }));
    let responses = json!([
        { "id": "F1", "response": "fixed" },
        { "id": "F2", "response": "rejected", "reason": "the gateway locks" },
        { "id": "F3", "response": "deferred", "reason": "needs an index" },
    ]);
    built_and_tested(&scene, json!({ "issue_responses": responses }));
    let tracking = json!({ "iteration": 2, "fixes_confirmed": ["F1"], "rejections_accepted": ["F2"],
        "findings_dropped": [{ "id": "F3", "reason": "the table is small" }] });
    let approval = json!({ "issues": [], "iteration_tracking": tracking });
    scene.plays("tech_lead", "login", "APPROVED", "Fit to merge.", approval);
    let conflict = json!({ "conflicting_files": ["src/a.ts"] });
    scene.plays("developer", "login", "MERGE_CONFLICT", "src/a.ts conflicts.", conflict);
    let author = scene.desk("developer", "login");
    let settled = [
        "F1 [HIGH, blocking] src/F1.ts:1: Token is logged (by tech_lead): fix confirmed; author's last response: fixed",
        "rejection accepted, do not raise it again; author's last response: rejected: the gateway locks",
        "dropped: the table is small; author's last response: deferred: needs an index",
    ];
    for line in settled {
        assert!(author.prompt.contains(line), "{line}: {}", author.prompt);
    }
    scene.report(&author, "READY_FOR_QA", with_context("Both sides are in src/a.ts.", json!({})));
    scene.plays("qa_expert", "login", "PASS", "All 14 tests pass.", json!({}));
    let reviewer = scene.desk("tech_lead", "login").prompt;
    for line in settled {
        assert!(reviewer.contains(line), "{line}: {reviewer}");
    }
    assert!(!reviewer.contains("Settle each"), "nothing is open: {reviewer}");
    assert!(!reviewer.contains("`UNBLOCKING_GUIDANCE`"), "no role waits: {reviewer}");
}

/// The long context of a blocked role does not displace its blocker, attempts, options, documents and notes.
#[test]
fn helper_reads_the_facts_of_a_blocked_report_whose_context_is_long() {
    let scene = team("prompts-long-blocker");
    let files: Vec<String> = (0..90).map(|number| format!("src/f{number}.ts")).collect();
    let long = "word ".repeat(8_000);
    scene.plays("developer", "login", "READY_FOR_QA", &long, json!({ "files_modified": files }));
    let tester = scene.desk("qa_expert", "login");
    assert!(tester.prompt.contains(r#""blocked_reason":"architecture_decision|environment|"#), "{}", tester.prompt);
    assert!(tester.prompt.contains(r#""blockers":[{"type":"#), "{}", tester.prompt);
    tester.must_have(&["- src/f89.ts"]);
    tester.leave("qa.md", "What was tried.");
    let output = format!("{long}\nECONNREFUSED 5432");
    let more = json!({ "blocked_reason": "environment", "attempted": ["Restarted it", "Another port"],
        "verification": { "command_output": output }, "notes_for_future": "Pin the port.",
        "handoff": { "blockers": [{ "type": "environment", "description": "Port 5432 is taken", "resolution": "Free it" }] } });
    scene.report(&tester, "BLOCKED", with_context(&long, more));
    let facts = [
        "Port 5432 is taken",
        "Free it",
        "- Restarted it",
        "- Another port",
        "Pin the port.",
        "ECONNREFUSED 5432",
        "qa.md",
    ];
    let helper = scene.desk("tech_lead", "login");
    for fact in facts {
        assert!(helper.prompt.contains(fact), "{fact}: {}", helper.prompt);
    }
    helper.must_have(&["- src/f89.ts"]);
    let guidance = json!({ "guidance": format!("Ask the operators first. {long}"), "external": true, "external_dependency": "a free port" });
    scene.report(&helper, "UNBLOCKING_GUIDANCE", with_context(&long, guidance));
    let manager = scene.desk("project_manager", "login").prompt;
    for fact in facts.iter().chain(&["Ask the operators first.", "a free port"]) {
        assert!(manager.contains(fact), "{fact}: {manager}");
    }
    assert!(manager.contains("Of this group, nothing is checked"), "{manager}");
}

/// Text that is shown whole in another layout is not reported as cut.
#[test]
fn piece_that_only_changes_its_layout_is_not_called_cut() {
    let scene = team("prompts-layout");
    let more = json!({ "test_results": { "passed": 14, "failed": 0 }, "risks": ["one", "two"] });
    scene.plays("developer", "login", "PARTIAL", "The form is there.", more.clone());
    scene.plays("developer", "login", "READY_FOR_QA", "The form and its lock are there.", more);
    let prompt = scene.desk("qa_expert", "login").prompt;
    assert!(!prompt.contains("left out"), "{prompt}");
}
