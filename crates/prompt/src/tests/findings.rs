//! Findings and files: what a prompt says of findings that ended, and of files that no report names.

use std::sync::Arc;

use interlock_core::id::Name;
use interlock_core::observed::{ChangedFile, FileChange, ObservedChanges};
use serde_json::json;

use super::play::{PromptTestSession, issue};

fn observe(play: &mut PromptTestSession, paths: &[&str], unclaimed: &[&str]) {
    let file = |path: &&str| ChangedFile {
        path: Name::new(path),
        change: FileChange::Modified,
        test: false,
        gate: false,
        instructions: false,
    };
    play.observed = Some(Arc::new(ObservedChanges {
        base: Name::new("b0"),
        commit: Name::new("c1"),
        tree: Name::new("t1"),
        files: paths.iter().map(file).collect(),
        omitted: 0,
        unclaimed: unclaimed.iter().map(|path| Name::new(path)).collect(),
        outside: Vec::new(),
        merge_is_empty: false,
    }));
}

#[test]
fn file_that_no_report_names_is_pointed_out_to_the_reviewer() {
    let mut play = PromptTestSession::groups(&["login"]);
    observe(&mut play, &["src/form.ts", "src/login.ts", "src/secret.ts"], &["src/form.ts", "src/secret.ts"]);
    let claim = json!(["src/login.ts"]);
    let report = json!({ "status": "PARTIAL", "files_modified": claim, "files_changed": claim });
    play.report("developer", report);
    observe(&mut play, &["src/form.ts", "src/login.ts", "src/secret.ts"], &[]);
    let later = json!({ "status": "READY_FOR_REVIEW", "files_modified": ["./src/form.ts"] });
    let author = play.prompt("developer", None);
    assert!(!author.contains("- `NOTHING_TO_DO`"), "the diff is not empty: {author}");
    play.report("developer", later);
    let review = play.prompt("tech_lead", None);
    assert!(review.contains("\nchanged, but named in no report: src/secret.ts\n"), "{review}");
    assert!(!review.contains("claimed as changed, but not changed"), "{review}");
}

#[test]
fn file_that_two_fields_name_is_listed_once() {
    let mut play = PromptTestSession::groups(&["login"]);
    let claim = json!(["src/login.ts"]);
    play.report("developer", json!({ "status": "READY_FOR_REVIEW", "files_modified": claim, "files_changed": claim }));
    let review = play.prompt("tech_lead", None);
    assert_eq!(review.matches("- src/login.ts").count(), 1, "{review}");
}

/// The manager of the session reads of every open finding, and of failing tests.
#[test]
fn medium_finding_reaches_the_manager_of_the_session() {
    let mut play = PromptTestSession::groups(&["login"]);
    play.report("developer", json!({ "status": "READY_FOR_QA" }));
    play.report("qa_expert", json!({ "status": "PASS" }));
    let issues = json!([issue("R1", "Slow query", "MEDIUM", false)]);
    play.report("tech_lead", json!({ "status": "APPROVED_WITH_NOTES", "issues": issues }));
    play.report("developer", json!({ "status": "MERGE_SUCCESS" }));
    let manager = play.prompt("project_manager", None);
    assert!(manager.contains("open finding R1 [MEDIUM, not blocking] src/session.ts:41: Slow query"), "{manager}");
}

#[test]
fn review_without_open_findings_asks_to_settle_none() {
    let mut play = PromptTestSession::groups(&["login"]);
    let tested = |play: &mut PromptTestSession, more: serde_json::Value| {
        let mut built = json!({ "status": "READY_FOR_QA" });
        built.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        play.report("developer", built);
        play.report("qa_expert", json!({ "status": "PASS" }));
    };
    tested(&mut play, json!({}));
    let issues = json!([issue("R1", "Token is logged", "HIGH", true)]);
    play.report("tech_lead", json!({ "status": "CHANGES_REQUESTED", "issues": issues }));
    tested(&mut play, json!({ "issue_responses": [{ "id": "R1", "response": "fixed" }] }));
    assert!(play.prompt("tech_lead", None).contains("Settle each earlier finding of yours by id"));
    let tracking = json!({ "iteration": 2, "fixes_confirmed": ["R1"] });
    play.report("tech_lead", json!({ "status": "APPROVED", "issues": [], "iteration_tracking": tracking }));
    play.report("developer", json!({ "status": "MERGE_CONFLICT", "conflicting_files": ["src/a.ts"] }));
    tested(&mut play, json!({}));
    let again = play.prompt("tech_lead", None);
    assert!(!again.contains("Settle each"), "{again}");
    assert!(again.contains("Token is logged (by tech_lead): fix confirmed; author's last response: fixed"), "{again}");
}
