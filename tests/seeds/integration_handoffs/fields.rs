//! The fields of the metadata block: six required, six optional.

use serde_json::{Value as Json, json};

use super::INTEGRATION;
use crate::each;
use crate::program::{completed, merged, orchestrated, without};

fn least() -> Json {
    completed("integration-developer", json!({ "status": "complete" }))
}

fn check(handoff: &Json) -> crate::program::Checked {
    orchestrated(INTEGRATION, "integration-developer").check(handoff)
}

/// Absent or of another type, it is named; as the document describes it, it is taken.
fn required(field: &str, good: &Json, wrong: &Json) {
    check(&merged(least(), json!({ field: good }))).valid();
    check(&without(least(), field)).invalid("E0210", field);
    check(&merged(least(), json!({ field: wrong }))).invalid("E0211", field);
}

each! { required:
    required_agent("agent", &json!("integration-developer"), &json!(1));
    required_output_type("output_type", &json!("implementation-log"), &json!(["review"]));
    required_timestamp("timestamp", &json!("2026-01-14T14:30:22Z"), &json!(1_768_400_000));
    required_feature_directory("feature_directory", &json!(".claude/.output/integrations/shodan/"), &json!({}));
    required_skills_invoked("skills_invoked", &json!(["using-skills"]), &json!("using-skills"));
    required_status("status", &json!("complete"), &json!(true));
}

#[test]
fn required_agent_is_the_role_of_the_assignment() {
    check(&merged(least(), json!({ "agent": "integration-lead" }))).invalid("E0213", "agent");
}

#[test]
fn required_timestamp_is_iso_8601() {
    check(&merged(least(), json!({ "timestamp": "2026-01-14T14:30:22+01:00" }))).valid();
    check(&merged(least(), json!({ "timestamp": "yesterday" }))).invalid("E0215", "timestamp");
}

#[test]
fn required_feature_directory_is_absolute_or_relative() {
    check(&merged(least(), json!({ "feature_directory": "/srv/output/integrations/shodan" }))).valid();
    check(&merged(least(), json!({ "feature_directory": ".claude/.output/integrations/shodan/" }))).valid();
}

fn status(value: &str) {
    let reason = json!({ "status": value, "blocked_reason": "unknown", "attempted": ["Read the documentation"] });
    let said = if value == "blocked" { reason } else { json!({ "status": value }) };
    assert_eq!(check(&merged(least(), said)).valid()["status"], value);
}

each! { status:
    required_status_can_be_complete("complete");
    required_status_can_be_blocked("blocked");
    required_status_can_be_needs_review("needs_review");
    required_status_can_be_needs_clarification("needs_clarification");
}

#[test]
fn required_status_is_one_of_the_four() {
    check(&merged(least(), json!({ "status": "done" }))).invalid("E0227", "status");
}

/// Absent, it is not missed; of another type, it is named.
fn optional(field: &str, good: &Json, wrong: &Json) {
    check(&least()).valid();
    check(&merged(least(), json!({ field: good }))).valid();
    check(&merged(least(), json!({ field: wrong }))).invalid("E0211", field);
}

each! { optional:
    optional_library_skills_read("library_skills_read", &json!(["developing-integrations/SKILL.md"]), &json!("one"));
    optional_source_files_verified("source_files_verified", &json!(["wiz/wiz.go:1-200"]), &json!("wiz/wiz.go"));
    optional_attempted("attempted", &json!(["Read the documentation"]), &json!("everything"));
}

fn source_file(reference: &str) {
    check(&merged(least(), json!({ "source_files_verified": [reference] }))).valid();
}

each! { source_file:
    optional_source_files_are_a_path("wiz/wiz.go");
    optional_source_files_are_a_path_and_a_line("wiz/wiz.go:87");
    optional_source_files_are_a_path_and_a_range("wiz/wiz.go:1-200");
}

#[test]
fn optional_source_files_have_a_range_that_can_be() {
    let handoff = merged(least(), json!({ "source_files_verified": ["wiz/wiz.go:200-1"] }));
    check(&handoff).invalid("E0221", "source_files_verified[0]");
}

fn reason(value: &str) {
    let blocked = json!({ "status": "blocked", "attempted": ["Read the documentation"], "blocked_reason": value });
    check(&merged(least(), blocked)).valid();
}

each! { reason:
    optional_blocked_reason_security_concern("security_concern");
    optional_blocked_reason_architecture_decision("architecture_decision");
    optional_blocked_reason_test_failures("test_failures");
    optional_blocked_reason_missing_requirements("missing_requirements");
    optional_blocked_reason_unknown("unknown");
    optional_blocked_reason_missing_test_plan_of_the_table("missing_test_plan");
    optional_blocked_reason_implementation_unclear_of_the_table("implementation_unclear");
    optional_blocked_reason_architecture_change_needed_of_the_table("architecture_change_needed");
}

#[test]
fn optional_blocked_reason_is_one_of_them() {
    let blocked = json!({ "status": "blocked", "attempted": ["Read the documentation"], "blocked_reason": "tired" });
    check(&merged(least(), blocked)).invalid("E0212", "blocked_reason");
}

#[test]
fn optional_next_agent_is_a_name_or_null() {
    check(&merged(least(), json!({ "handoff": { "next_agent": "backend-reviewer" } }))).valid();
    check(&merged(least(), json!({ "handoff": { "next_agent": null } }))).valid();
    check(&without(least(), "handoff.next_agent")).valid();
    check(&merged(least(), json!({ "handoff": { "next_agent": 5 } }))).invalid("E0211", "handoff.next_agent");
}

/// The context for the next role: optional here, required by the wrapper document unless no role is next.
#[test]
fn optional_context_is_asked_for_while_somebody_comes_next() {
    check(&without(least(), "handoff.context")).invalid("E0219", "handoff.context");
    let last = merged(without(least(), "handoff.context"), json!({ "handoff": { "next_phase": "complete" } }));
    check(&last).valid();
}
