//! The published JSON Schema accepts what `check` accepts, and refuses what a schema can refuse.

use interlock_core::handoff::{schema, schema_for_assignment};
use jsonschema::Validator;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::fixture::{HandoffCase, check_alone, smallest, with, workflow};

fn validator(schema: &Value) -> Validator {
    jsonschema::draft202012::options().should_validate_formats(true).build(schema).unwrap()
}

fn complaints(validator: &Validator, handoff: &Value) -> Vec<String> {
    validator.iter_errors(handoff).map(|error| format!("{}: {error}", error.instance_path())).collect()
}

type ValidHandoff = (&'static str, &'static str, Option<&'static str>, Value);

/// Handoffs that are valid for a role of `delivery-team`.
fn of_a_team() -> Vec<ValidHandoff> {
    let issue =
        json!({ "id": "TL-1", "title": "Race", "location": "a.rs:3", "severity": "Critical", "blocking": true });
    vec![
        ("delivery-team", "developer", None, smallest("developer", "READY_FOR_QA")),
        ("delivery-team", "developer", None, smallest("developer", "ready for qa")),
        ("delivery-team", "qa_expert", None, smallest("qa_expert", "LOOKS_FINE")),
        ("delivery-team", "developer", None, with(smallest("developer", "BLOCKED"), json!({ "attempted": ["x"] }))),
        (
            "delivery-team",
            "developer",
            None,
            with(
                smallest("developer", "READY_FOR_QA"),
                json!({
                    "issue_responses": [{ "id": "a", "response": "Rejected", "reason": "r" }, { "id": "b", "response": "FIXED" }],
                    "blocking_summary": { "total_blocking": 2, "fixed": 1, "rejected_with_reason": 1, "unaddressed": 0 },
                    "source_files_verified": ["a.rs:1-3", "b.rs"], "files_modified": ["a.rs"], "artifacts": ["/abs/a.md"], "own": [1],
                }),
            ),
        ),
        (
            "delivery-team",
            "tech_lead",
            None,
            with(
                smallest("tech_lead", "CHANGES_REQUESTED"),
                json!({
                    "issues": [issue], "iteration_tracking": { "iteration": 1, "rejections_accepted": [], "rejections_overruled": ["x"] },
                }),
            ),
        ),
        (
            "delivery-team",
            "tech_lead",
            None,
            with(smallest("tech_lead", "UNBLOCKING_GUIDANCE"), json!({ "external": true })),
        ),
        (
            "delivery-team",
            "tech_lead",
            None,
            with(smallest("tech_lead", "UNBLOCKING_GUIDANCE"), json!({ "external": "true" })),
        ),
        (
            "delivery-team",
            "qa_expert",
            None,
            with(
                smallest("qa_expert", "FAIL"),
                json!({
                    "test_progression": { "still_failing": ["a"], "new": [], "fixed": ["b"] },
                }),
            ),
        ),
        (
            "delivery-team",
            "project_manager",
            None,
            with(
                smallest("project_manager", "PLANNING_COMPLETE"),
                json!({
                    "groups": [{ "id": "A", "title": "t", "security_sensitive": true, "checks": ["cargo test", ["sh", "-c", "a | b"]] },
                        { "id": "B", "title": "t", "depends_on": ["A"], "kind": "research" }],
                }),
            ),
        ),
        (
            "delivery-team",
            "project_manager",
            None,
            with(smallest("project_manager", "BAZINGA"), json!({ "acknowledge": ["A"], "accept": [] })),
        ),
    ]
}

/// And of workflows with phases.
fn of_phases() -> Vec<ValidHandoff> {
    let blocker = json!({ "type": "t", "description": "d", "resolution": "r" });
    vec![
        (
            "feature",
            "frontend-lead",
            None,
            with(
                smallest("frontend-lead", "Needs-Clarification"),
                json!({
                    "questions": [{ "text": "a", "options": ["x", "y"], "category": "c", "impact": "i" }, { "text": "b" }, { "text": "c", "options": [] }],
                }),
            ),
        ),
        (
            "feature",
            "frontend-developer",
            None,
            with(
                smallest("frontend-developer", "blocked"),
                json!({
                    "attempted": ["x"], "blocked_reason": "security_concern", "handoff.blockers": [blocker],
                }),
            ),
        ),
        (
            "mcp-wrapper",
            "tool-lead",
            Some("tool_architecture"),
            with(
                smallest("tool-lead", "blocked"),
                json!({
                    "attempted": ["x"], "blocked_reason": "architecture_decision", "handoff.blockers": [blocker], "phase": "architecture",
                    "summary": "Blocked on list-issues: 12K tokens, pagination or truncation",
                }),
            ),
        ),
        (
            "mcp-wrapper",
            "tool-reviewer",
            None,
            with(
                smallest("tool-reviewer", "complete"),
                json!({
                    "handoff": { "next_phase": "complete", "next_agent": null }, "phase": "review", "summary": "Reviewed get-issue: 18 of 18 tests pass",
                }),
            ),
        ),
    ]
}

#[test]
fn what_the_check_accepts_the_schema_accepts() {
    let common = validator(&schema(None));
    for (name, role, phase, handoff) in of_a_team().into_iter().chain(of_phases()) {
        let workflow = workflow(name);
        let case = HandoffCase { phase, ..HandoffCase::of(&workflow, role) };
        let checked = case.check(&handoff);
        assert!(checked.is_valid(), "{handoff:#}: {:?}", checked.problems);
        assert_eq!(complaints(&validator(&schema(Some(&workflow))), &handoff), [""; 0], "{handoff:#}");
        let alone = check_alone(&handoff);
        assert_eq!(complaints(&common, &handoff).is_empty(), alone.is_valid(), "{handoff:#}: {:?}", alone.problems);
    }
}

/// Handoffs for an assignment may leave out what Interlock knows, and so does the schema for assignments.
#[test]
fn schema_for_assignment_agrees_with_the_check_of_filled_handoffs() {
    for name in ["delivery-team", "feature", "integration", "mcp-wrapper"] {
        assert!(jsonschema::meta::is_valid(&schema_for_assignment(&workflow(name))), "{name}");
    }
    for (name, role, phase, handoff) in of_a_team().into_iter().chain(of_phases()) {
        let workflow = workflow(name);
        let validator = validator(&schema_for_assignment(&workflow));
        let case = HandoffCase { phase, ..HandoffCase::of(&workflow, role) };
        let mut variants = vec![handoff.clone()];
        let known = ["agent", "output_type", "timestamp", "feature_directory", "skills_invoked", "status"];
        for field in known.into_iter().chain(phase.map(|_| "phase")) {
            let mut without = handoff.clone();
            without.as_object_mut().unwrap().remove(field);
            variants.push(without);
            let mut with_null = handoff.clone();
            with_null[field] = Value::Null;
            variants.push(with_null);
        }
        for variant in variants {
            let checked = case.check_filled(&variant);
            let complaints = complaints(&validator, &variant);
            assert_eq!(complaints.is_empty(), checked.is_valid(), "{variant:#}: {complaints:?} {:?}", checked.problems);
        }
    }
}

#[test]
fn what_a_schema_can_refuse_it_refuses() {
    let table = [
        (
            "delivery-team",
            "developer",
            "READY_FOR_QA",
            vec![
                json!({ "agent": null }),
                json!({ "agent": "nobody" }),
                json!({ "agent": "validator" }),
                json!({ "status": null }),
                json!({ "status": "" }),
                json!({ "status": 1 }),
                json!({ "timestamp": "yesterday" }),
                json!({ "timestamp": null }),
                json!({ "skills_invoked": "a" }),
                json!({ "skills_invoked": [1] }),
                json!({ "feature_directory": "" }),
                json!({ "output_type": null }),
                json!({ "handoff": null }),
                json!({ "handoff": [] }),
                json!({ "handoff.context": null }),
                json!({ "handoff.context": "" }),
                json!({ "handoff.context": "  " }),
                json!({ "handoff.next_agent": 1 }),
                json!({ "handoff.blockers": [{ "type": "t" }] }),
                json!({ "status": "BLOCKED" }),
                json!({ "status": "Blocked", "attempted": [] }),
                json!({ "external": "maybe" }),
                json!({ "verification": [] }),
                json!({ "issues": [{ "id": "a" }] }),
                json!({ "issue_responses": [{ "id": "a", "response": "later" }] }),
                json!({ "issue_responses": [{ "id": "a", "response": "rejected" }] }),
                json!({ "iteration_tracking": { "iteration": 0 } }),
                json!({ "blocking_summary": { "fixed": -1 } }),
                json!({ "test_progression": {} }),
                json!({ "questions": [{ "text": "a", "options": ["x"] }] }),
                json!({ "questions": [{ "text": "a", "options": ["x", "x"] }] }),
                json!({ "groups": [{ "id": "a b", "title": "t" }] }),
                json!({ "groups": [{ "id": "A", "title": "t", "kind": "art" }] }),
                json!({ "groups": [{ "id": "A", "title": "t", "checks": [[]] }] }),
                json!({ "attempted": [" "] }),
                json!({ "questions": [{ "text": "a", "impact": 1 }] }),
                json!({ "issue_responses": [{ "id": "a", "response": "fixed", "reason": 1 }] }),
            ],
        ),
        (
            "feature",
            "frontend-lead",
            "complete",
            vec![
                json!({ "status": "compleet" }),
                json!({ "status": "READY_FOR_QA" }),
                json!({ "phase": "dreaming" }),
                json!({ "status": "blocked", "attempted": ["x"] }),
                json!({ "status": "BLOCKED", "attempted": ["x"] }),
                json!({ "status": "blocked", "attempted": ["x"], "blocked_reason": "weather" }),
                json!({ "groups": [{ "id": "A", "title": "t" }] }),
            ],
        ),
    ];
    for (name, role, status, changes) in table {
        let workflow = workflow(name);
        let validator = validator(&schema(Some(&workflow)));
        let case = HandoffCase::of(&workflow, role);
        for change in changes {
            let handoff = with(smallest(role, status), change.clone());
            assert!(!case.check(&handoff).is_valid(), "the check refuses {change}");
            assert!(!complaints(&validator, &handoff).is_empty(), "the schema refuses {change}");
        }
    }
}

#[test]
fn the_schema_is_one() {
    for name in ["delivery-team", "feature", "integration", "mcp-wrapper"] {
        assert!(jsonschema::meta::is_valid(&schema(Some(&workflow(name)))), "{name}");
    }
    assert!(jsonschema::meta::is_valid(&schema(None)));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// A handoff that the check takes is never one that a client with the schema could not give.
    #[test]
    fn a_schema_is_never_narrower_than_the_check(text in "[ a-zA-Z_-]{0,12}", number in -3i64..4, field in prop::sample::select(vec![
        "status", "summary", "phase", "blocked_reason", "output_type", "external", "feature_directory",
    ])) {
        let (workflow, validator) = &*FEATURE;
        for value in [json!(text), json!(number), json!(null), json!([text])] {
            let mut handoff = smallest("frontend-lead", "complete");
            handoff.as_object_mut().unwrap().insert(field.to_owned(), value);
            if HandoffCase::of(workflow, "frontend-lead").check(&handoff).is_valid() {
                prop_assert_eq!(complaints(validator, &handoff), Vec::<String>::new());
            }
        }
    }
}

static FEATURE: std::sync::LazyLock<(interlock_core::workflow::Workflow, Validator)> = std::sync::LazyLock::new(|| {
    let workflow = workflow("feature");
    let validator = validator(&schema(Some(&workflow)));
    (workflow, validator)
});
