//! The groups of a plan.

use interlock_core::code::Code;
use interlock_core::id::Name;
use serde_json::{Value, json};

use crate::fixture::{HandoffCase, problems, refuses, smallest, with, workflow};

fn plan(groups: &Value) -> Value {
    with(smallest("project_manager", "PLANNING_COMPLETE"), json!({ "groups": groups }))
}

#[test]
fn a_plan_brings_groups_with_flags_dependencies_and_checks() {
    let workflow = workflow("delivery-team");
    let handoff = HandoffCase::of(&workflow, "project_manager")
        .check(&plan(&json!([
            { "id": "AUTH", "title": "Login", "security_sensitive": true, "checks": ["cargo test", ["sh", "-c", "a | b"]] },
            { "id": "docs.1", "title": "Docs", "kind": "research", "depends_on": ["AUTH"], "security_sensitive": "false" },
        ])))
        .handoff
        .unwrap();
    let groups = handoff.groups.unwrap();
    let flags = |index: usize, name: &str| groups[index].flags.get(name).map(Name::as_str);
    assert_eq!((flags(0, "security_sensitive"), flags(1, "security_sensitive")), (Some("true"), Some("false")));
    assert_eq!((flags(0, "kind"), flags(1, "kind")), (None, Some("research")));
    assert_eq!(groups[1].depends_on, [Name::new("AUTH")]);
    let words: Vec<Vec<&str>> = groups[0].checks.iter().map(|check| check.iter().map(Name::as_str).collect()).collect();
    assert_eq!(words, [vec!["cargo", "test"], vec!["sh", "-c", "a | b"]]);
}

#[test]
fn a_plan_that_cannot_be_carried_out_is_refused() {
    let workflow = workflow("delivery-team");
    let group = |id: &str, more: Value| with(json!({ "id": id, "title": "t" }), more);
    let plain = json!({});
    let chain = |ids: &[(&str, &str)]| -> Value {
        let groups: Vec<Value> = ids.iter().map(|(id, on)| group(id, json!({ "depends_on": [on] }))).collect();
        json!({ "groups": groups })
    };
    refuses(
        &HandoffCase::of(&workflow, "project_manager"),
        &plan(&json!([group("A", plain.clone())])),
        &[
            (json!({ "groups": [] }), &[(Code::FieldMissing, "groups")]),
            (json!({ "groups": [{ "title": "t" }] }), &[(Code::BadPlan, "groups[0]")]),
            (json!({ "groups": [{ "id": "A" }] }), &[(Code::BadPlan, "groups[0]")]),
            (json!({ "groups": [group("a b", plain.clone())] }), &[(Code::BadPlan, "groups[0].id")]),
            (json!({ "groups": [group("../a", plain.clone())] }), &[(Code::BadPlan, "groups[0].id")]),
            (json!({ "groups": [group(&"a".repeat(65), plain.clone())] }), &[(Code::BadPlan, "groups[0].id")]),
            (
                json!({ "groups": [group("A", plain.clone()), group("A", plain)] }),
                &[(Code::RepeatedId, "groups[1].id")],
            ),
            (json!({ "groups": [group("A", json!({ "kind": "art" }))] }), &[(Code::BadPlan, "groups[0].kind")]),
            (
                json!({ "groups": [group("A", json!({ "security_sensitive": 1 }))] }),
                &[(Code::BadPlan, "groups[0].security_sensitive")],
            ),
            (
                json!({ "groups": [{ "title": "t" }, group("A", json!({ "depends_on": ["B"] }))] }),
                &[(Code::BadPlan, "groups[0]"), (Code::BadPlan, "groups[1].depends_on")],
            ),
            (
                json!({ "groups": [group("A", json!({ "depends_on": ["A"] }))] }),
                &[(Code::BadPlan, "groups[0].depends_on")],
            ),
            (
                json!({ "groups": [group("A", json!({ "depends_on": "B" }))] }),
                &[(Code::BadPlan, "groups[0].depends_on")],
            ),
            (chain(&[("A", "B"), ("B", "C"), ("C", "A")]), &[(Code::BadPlan, "groups")]),
            (
                json!({ "groups": [group("A", json!({ "checks": ["a | b"] }))] }),
                &[(Code::BadPlan, "groups[0].checks[0]")],
            ),
            (
                json!({ "groups": [group("A", json!({ "checks": ["x", "echo \"a b\""] }))] }),
                &[(Code::BadPlan, "groups[0].checks[1]")],
            ),
            (json!({ "groups": [group("A", json!({ "checks": [[]] }))] }), &[(Code::BadPlan, "groups[0].checks[0]")]),
            (
                json!({ "groups": [group("A", json!({ "checks": "cargo test" }))] }),
                &[(Code::BadPlan, "groups[0].checks")],
            ),
            (json!({ "groups": "A" }), &[(Code::FieldType, "groups")]),
        ],
    );
}

#[test]
fn groups_may_depend_on_those_that_are_there_already() {
    let workflow = workflow("delivery-team");
    let handoff = plan(&json!([{ "id": "B", "title": "t", "depends_on": ["A"] }]));
    let known = [Name::new("A")];
    let case = HandoffCase { groups: &known, ..HandoffCase::of(&workflow, "project_manager") };
    assert_eq!(problems(&case.check(&handoff)), []);
    assert_eq!(
        problems(&HandoffCase::of(&workflow, "project_manager").check(&handoff)),
        [(Code::BadPlan, "groups[0].depends_on")]
    );
}

#[test]
fn a_flag_without_a_sensible_default_must_be_given() {
    let workflow = workflow("feature");
    let groups = |group: Value| with(smallest("planner", "complete"), json!({ "groups": [group] }));
    let case = HandoffCase::of(&workflow, "planner").in_phase("planning");
    assert_eq!(problems(&case.check(&groups(json!({ "id": "A", "title": "t", "domain": "frontend" })))), []);
    assert_eq!(
        problems(&case.check(&groups(json!({ "id": "A", "title": "t" })))),
        [(Code::BadPlan, "groups[0].domain")]
    );
}
