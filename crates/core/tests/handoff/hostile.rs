//! Handoffs made to take time or memory. Each of these would take minutes if it were not linear.

use interlock_core::code::Code;
use interlock_core::handoff::extract;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::fixture::{HandoffCase, smallest, with, workflow};

/// About a megabyte of one entry.
fn many(entry: impl Fn(usize) -> Value) -> Vec<Value> {
    let size = entry(100_000).to_string().len() + 1;
    (0..1_000_000 / size).map(entry).collect()
}

#[test]
fn long_lists_take_no_longer_than_they_are_long() {
    let workflow = workflow("delivery-team");
    let names = || many(|number| json!(format!("t{number}")));
    let groups = |on: Vec<Value>| json!([{ "id": "A", "title": "t", "depends_on": on }]);
    for change in [
        json!({ "test_progression": { "still_failing": names(), "new": names() } }),
        json!({ "iteration_tracking": { "rejections_accepted": names(), "rejections_overruled": many(|n| json!(format!("u{n}"))) } }),
        json!({ "issues": many(|number| json!({ "id": format!("i{number}"), "title": "t", "location": "l", "severity": "LOW", "blocking": false })) }),
        json!({ "issue_responses": many(|number| json!({ "id": format!("i{number}"), "response": "fixed" })) }),
        json!({ "handoff.options": names() }),
        json!({ "questions": [{ "text": "a", "options": names() }] }),
        json!({ "groups": groups(names()) }),
        json!({ "skills_invoked": names(), "files_modified": names(), "source_files_verified": names() }),
    ] {
        let handoff = with(smallest("project_manager", "CONTINUE"), change);
        let _ = HandoffCase::of(&workflow, "project_manager").check_text(&handoff.to_string());
    }
}

#[test]
fn a_plan_that_is_one_long_chain_is_fine() {
    let workflow = workflow("delivery-team");
    let groups: Vec<Value> = (0..1000)
        .map(|number| json!({ "id": format!("g{number}"), "title": "t", "depends_on": if number == 0 { vec![] } else { vec![format!("g{}", number - 1)] } }))
        .collect();
    let handoff = with(smallest("project_manager", "PLANNING_COMPLETE"), json!({ "groups": groups }));
    assert!(HandoffCase::of(&workflow, "project_manager").check(&handoff).is_valid());
}

#[test]
fn a_million_mistakes_are_counted_and_a_hundred_listed() {
    let workflow = workflow("delivery-team");
    let wrong = vec![0; 200_000];
    let handoff = with(smallest("developer", "READY_FOR_QA"), json!({ "artifacts": wrong }));
    let text = handoff.to_string();
    let checked = HandoffCase::of(&workflow, "developer").check_text(&text);
    assert_eq!(checked.problems.len(), 101);
    assert_eq!(checked.problems[100].code, Code::FieldType);
    assert!(checked.problems[100].message.contains("199900 more"), "{}", checked.problems[100].message);
    assert!(!checked.is_valid());
}

#[test]
fn braces_that_open_and_never_close_are_passed_over() {
    for unit in ["{\n", "{\"a\":\n", "> {\n", "  {\n", "{\"status\": {\n", "```\n{\n"] {
        let text = unit.repeat(4_000_000 / unit.len());
        let problems = extract("out.md", text.as_bytes()).expect_err("there is no metadata");
        assert_eq!(problems.len(), 1, "{unit:?}");
        let metadata = smallest("developer", "READY_FOR_QA").to_string();
        let behind = format!("{text}\n\n```json\n{metadata}\n```\n");
        if !unit.contains('`') {
            assert!(extract("out.md", behind.as_bytes()).is_ok(), "{unit:?}");
        }
    }
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "[a-z.:/ -]{0,8}".prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        let keys = prop::sample::select(vec![
            "id",
            "title",
            "location",
            "severity",
            "blocking",
            "response",
            "reason",
            "text",
            "options",
            "depends_on",
            "checks",
            "kind",
            "context",
            "next_agent",
            "next_phase",
            "blockers",
            "type",
            "iteration",
            "still_failing",
            "new",
            "fixed",
            "x",
        ]);
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((keys, inner), 0..4).prop_map(|members| Value::Object(
                members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
            )),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// The check ends whatever a field holds, and it yields a handoff only if there is no problem.
    #[test]
    fn any_field_may_hold_anything(
        fields in prop::collection::btree_map(
            prop::sample::select(vec![
                "agent", "output_type", "timestamp", "feature_directory", "skills_invoked", "library_skills_read",
                "source_files_verified", "files_modified", "artifacts", "status", "blocked_reason", "attempted", "handoff",
                "phase", "summary", "verification", "issues", "issue_responses", "iteration_tracking", "blocking_summary",
                "test_progression", "questions", "groups", "acknowledge", "accept", "external",
            ]),
            any_value(),
            0..6,
        ),
        status in prop::sample::select(vec!["READY_FOR_QA", "BLOCKED", "ready-for-qa", "?"]),
    ) {
        let workflow = &*WORKFLOW;
        let mut handoff = smallest("developer", status);
        for (key, value) in fields {
            handoff.as_object_mut().unwrap().insert(key.to_owned(), value);
        }
        let checked = HandoffCase::of(workflow, "developer").check(&handoff);
        prop_assert_eq!(checked.handoff.is_some(), checked.problems.is_empty());
        if let Some(made) = checked.handoff {
            prop_assert_eq!(&*made.json, &handoff);
        }
    }
}

static WORKFLOW: std::sync::LazyLock<interlock_core::workflow::Workflow> =
    std::sync::LazyLock::new(|| workflow("delivery-team"));
