//! Facts: fields of the handoff with finite values, plain or derived.

use interlock_core::code::Code;
use interlock_core::workflow::Workflow;
use serde_json::json;

use crate::fixture::{HandoffCase, custom, problems, refuses, smallest, with, workflow};

#[test]
fn a_plain_fact_is_a_field_with_declared_values() {
    let workflow = workflow("delivery-team");
    let case = HandoffCase::of(&workflow, "tech_lead");
    let guiding = smallest("tech_lead", "UNBLOCKING_GUIDANCE");
    let at = workflow.guards.iter().position(|guard| guard.name == "external").unwrap();
    for (value, index) in [(json!(null), 0), (json!(false), 0), (json!(true), 1), (json!("true"), 1)] {
        let handoff = case.check(&with(guiding.clone(), json!({ "external": value }))).handoff.unwrap();
        assert_eq!(handoff.facts[at], index, "{value}");
    }
    refuses(
        &case,
        &guiding,
        &[
            (json!({ "external": "maybe" }), &[(Code::FieldValue, "external")]),
            (json!({ "external": 1 }), &[(Code::FieldValue, "external")]),
            (json!({ "external": [true] }), &[(Code::FieldType, "external")]),
        ],
    );
}

fn thin() -> Workflow {
    custom(
        "workflow: w\nlanguage: 1\nroles: { dev: { is: [author] } }\nbegin: { spawn: dev }\n\
         groups: { begin: { spawn: dev }, ended: { spawn: dev } }\n\
         facts: { thin: { values: [false, true], cel: \"handoff.verification.coverage_percent < 80\" } }\n\
         routes: { dev: { PLAN: { start: groups, loop: plan, when: { thin: false } }, DONE: { complete: group, passes: [x] }, END: { end: session } } }\n\
         loops: { plan: 3 }\ncompletion: { group: { needs: [x] } }\n",
    )
}

#[test]
fn a_derived_fact_turns_a_number_into_one_of_few_values() {
    let workflow = thin();
    let case = HandoffCase::of(&workflow, "dev");
    let covered = |percent: serde_json::Value| {
        with(smallest("dev", "PLAN"), json!({ "verification": { "coverage_percent": percent } }))
    };
    assert_eq!(case.check(&covered(json!(80))).handoff.unwrap().facts, [0]);
    assert_eq!(case.check(&covered(json!(79.9))).handoff.unwrap().facts, [1]);
    for bad in [smallest("dev", "PLAN"), covered(json!("many"))] {
        assert_eq!(problems(&case.check(&bad)), [(Code::FactFailed, "thin")], "{bad}");
    }
}
