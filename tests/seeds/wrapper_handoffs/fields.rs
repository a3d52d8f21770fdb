//! The fields of the document, with its examples.

use serde_json::{Value as Json, json};

use super::{WRAPPER, everything, of, whole};
use crate::each;
use crate::program::{merged, orchestrated, route, without, workflow_file};

/// A complete handoff of implementation, with the fields that its phase requires.
fn implemented(fragment: Json) -> Json {
    whole("tool-developer", "implementation", merged(everything(), fragment))
}

fn check(handoff: &Json) -> crate::program::Checked {
    orchestrated(WRAPPER, "tool-developer").phase("implementation").check(handoff)
}

// ---- summary -----------------------------------------------------------------------------

fn summary(kind: &str, index: usize) -> crate::program::Checked {
    check(&implemented(json!({ "summary": of("summaries")[kind][index] })))
}

fn good(index: usize) {
    summary("good", index).not_warned("E0228");
}

fn bad(index: usize) {
    summary("bad", index).warned("E0228");
}

each! { good:
    summary_good_discovered_schema(0);
    summary_good_designed_shared_architecture(1);
    summary_good_implemented_wrapper(2);
}

each! { bad:
    summary_bad_completed_schema_discovery(0);
    summary_bad_wrote_some_architecture(1);
    summary_bad_added_wrapper(2);
}

// ---- files_modified, artifacts -----------------------------------------------------------

#[test]
fn files_modified_are_relative_paths() {
    let files = of("files-modified");
    let checked = check(&implemented(files.clone())).valid();
    assert_eq!(checked["handoff"]["files_modified"], files["files_modified"]);
    check(&implemented(json!({ "files_modified": ["/srv/tools/get-issue.ts"] }))).invalid("E0222", "files_modified[0]");
    check(&implemented(json!({ "files_modified": ["../get-issue.ts"] }))).invalid("E0222", "files_modified[0]");
}

#[test]
fn artifacts_are_files_that_are_not_code() {
    let artifacts = of("artifacts");
    let handoff = whole("claude", "schema_discovery", merged(everything(), artifacts.clone()));
    let asked = orchestrated(WRAPPER, "claude").phase("schema_discovery");
    assert_eq!(asked.check(&handoff).valid()["handoff"]["artifacts"], artifacts["artifacts"]);
    asked.check(&merged(handoff, json!({ "artifacts": [] }))).invalid("E0210", "artifacts");
}

// ---- verification ------------------------------------------------------------------------

/// The example is enough; without any one of its claims the phase is not done.
fn verified(role: &str, phase: &str, written: &str, example: &str, claims: &[&str]) {
    let asked = orchestrated(WRAPPER, role).phase(phase);
    let rest = merged(of("files-modified"), of("artifacts"));
    let handoff = whole(role, written, merged(rest, of(example)));
    asked.check(&handoff).valid();
    for claim in claims {
        let field = format!("verification.{claim}");
        let denied = merged(handoff.clone(), json!({ "verification": { *claim: false } }));
        asked.check(&denied).invalid("E0226", &field);
    }
}

each! { verified:
    verification_of_implementation(
        "tool-developer", "implementation", "implementation", "verification-implementation",
        &["tests_passed", "build_success", "lint_passed"],
    );
    verification_of_schema_discovery(
        "claude", "schema_discovery", "schema_discovery", "verification-schema-discovery",
        &["tool_called", "input_schema_documented", "output_schema_documented", "token_count_measured"],
    );
    verification_of_architecture(
        "tool-lead", "shared_architecture", "architecture", "verification-architecture",
        &["patterns_referenced", "decisions_documented", "shared_utilities_identified", "token_strategy_defined"],
    );
}

#[test]
fn verification_of_implementation_has_the_coverage() {
    let mut handoff = implemented(json!({}));
    handoff["verification"].as_object_mut().unwrap().remove("coverage_percent");
    check(&handoff).invalid("E0210", "verification.coverage_percent");
}

// ---- handoff.next_phase ------------------------------------------------------------------

fn next_phase(role: &str, phase: &str, written: &str, next: &str) {
    let fragment = merged(everything(), json!({ "handoff": { "next_phase": next } }));
    orchestrated(WRAPPER, role).phase(phase).check(&whole(role, written, fragment)).not_warned("E0212");
}

each! { next_phase:
    next_phase_architecture_after_schema_discovery("claude", "schema_discovery", "schema_discovery", "architecture");
    next_phase_implementation_after_architecture("tool-lead", "tool_architecture", "architecture", "implementation");
    next_phase_implementation_after_testing_setup("tool-tester", "testing", "testing", "implementation");
    next_phase_testing_after_implementation("tool-developer", "implementation", "implementation", "testing");
    next_phase_review_after_implementation("tool-developer", "implementation", "implementation", "review");
    next_phase_complete_after_review("tool-reviewer", "review", "review", "complete");
}

/// Tests first is the built-in order; a workflow may as well have them afterwards.
#[test]
fn next_phase_testing_after_implementation_is_an_order_that_a_workflow_can_have() {
    let workflow = workflow_file(
        "workflow: mine\nlanguage: 1\nextends: mcp-wrapper\nphases:\n\
         \x20 - { phase: tool_selection, per: session, role: claude, plans: groups }\n\
         \x20 - { phase: implementation, role: tool-developer }\n\
         \x20 - { phase: testing, role: tool-tester }\n\
         \x20 - { phase: review, role: tool-reviewer, rework: { goto: implementation, loop: review } }\n\
         \x20 - { phase: merge, merge: author }\n\
         checkpoints: []\n",
    );
    route(&workflow, "tool-developer", "complete", &["--phase", "implementation"]).goes("spawn", &["tool-tester"]);
    route(&workflow, "tool-tester", "complete", &["--phase", "testing"]).goes("spawn", &["tool-reviewer"]);
}

#[test]
fn next_phase_that_does_not_exist_is_noted() {
    check(&implemented(json!({ "handoff": { "next_phase": "deployment" } }))).warned("E0212");
}

// ---- handoff.next_agent ------------------------------------------------------------------

#[test]
fn next_agent_complete_can_suggest_tool_developer() {
    let fragment = merged(everything(), json!({ "handoff": { "next_agent": "tool-developer" } }));
    let handoff = whole("tool-lead", "architecture", fragment);
    orchestrated(WRAPPER, "tool-lead").phase("tool_architecture").check(&handoff).valid();
}

#[test]
fn next_agent_blocked_is_null() {
    let handoff = whole("tool-lead", "architecture", json!({ "status": "blocked" }));
    let asked = orchestrated(WRAPPER, "tool-lead").phase("tool_architecture");
    asked.check(&handoff).valid();
    let named = merged(handoff, json!({ "handoff": { "next_agent": "tool-developer" } }));
    asked.check(&named).invalid("E0214", "handoff.next_agent");
}

// ---- handoff.context ---------------------------------------------------------------------

fn context(example: &str, role: &str, phase: &str, written: &str) {
    let text = of("contexts")[example].clone();
    assert!(text.is_string(), "there is no example {example}");
    let fragment = merged(everything(), json!({ "handoff": { "context": text } }));
    let handoff = whole(role, written, fragment);
    let checked = orchestrated(WRAPPER, role).phase(phase).check(&handoff).valid();
    assert_eq!(checked["handoff"]["handoff"]["context"], text);
    let silent = without(handoff, "handoff.context");
    orchestrated(WRAPPER, role).phase(phase).check(&silent).invalid("E0219", "handoff.context");
}

each! { context:
    context_from_schema_discovery_to_architecture("Schema Discovery → Architecture", "claude", "schema_discovery", "schema_discovery");
    context_from_shared_to_tool_architecture("Architecture (Shared) → Architecture (Per-Tool)", "tool-lead", "shared_architecture", "architecture");
    context_from_architecture_to_implementation("Architecture → Implementation", "tool-lead", "tool_architecture", "architecture");
    context_from_implementation_to_review("Implementation → Review", "tool-developer", "implementation", "implementation");
    context_from_review_to_complete("Review → Complete", "tool-reviewer", "review", "review");
}

// ---- handoff.blockers, attempted ---------------------------------------------------------

#[test]
fn blockers_say_what_and_how_it_could_be_resolved() {
    let fragment = merged(json!({ "status": "blocked" }), of("blockers"));
    let handoff = whole("claude", "schema_discovery", fragment);
    let asked = orchestrated(WRAPPER, "claude").phase("schema_discovery");
    let checked = asked.check(&handoff).valid();
    assert_eq!(checked["handoff"]["handoff"]["blockers"], of("blockers")["handoff"]["blockers"]);
    for key in ["type", "description", "resolution"] {
        let mut handoff = handoff.clone();
        handoff["handoff"]["blockers"][1].as_object_mut().unwrap().remove(key);
        asked.check(&handoff).invalid_with("E0218");
    }
}

#[test]
fn blockers_without_being_blocked_are_noted() {
    check(&implemented(json!({ "handoff": { "blockers": [] } }))).not_warned("E0218");
    check(&implemented(of("blockers"))).warned("E0218");
}

#[test]
fn attempted_is_kept_as_it_was_given() {
    let fragment = merged(json!({ "status": "blocked" }), of("attempted"));
    let handoff = whole("claude", "schema_discovery", fragment);
    let checked = orchestrated(WRAPPER, "claude").phase("schema_discovery").check(&handoff).valid();
    assert_eq!(checked["handoff"]["attempted"], of("attempted")["attempted"]);
}
