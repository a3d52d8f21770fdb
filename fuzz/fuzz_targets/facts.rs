//! Any text as a CEL expression (the first line), any JSON as the handoff it is derived from
//! (the rest): a value or an error, twice the same, whatever it is.
#![no_main]

use interlock_core::handoff::{OrchestrationMode, ExpectedHandoff, check, extract};
use interlock_core::workflow::{AssignmentTask, load};
use libfuzzer_sys::fuzz_target;
use serde_json::{Value, json};

const BEFORE: &str = "workflow: w\nlanguage: 1\nroles: { dev: { is: [author] } }\nbegin: { spawn: dev }\n\
    groups: { begin: { spawn: dev }, ended: { spawn: dev } }\nloops: { plan: 3 }\ncompletion: { group: { needs: [x] } }\n\
    routes: { dev: { PLAN: { start: groups, loop: plan, when: { fact: false } }, DONE: { complete: group, passes: [x] }, END: { end: session } } }\n";

fuzz_target!(|input: &[u8]| {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let (expression, rest) = text.split_once('\n').unwrap_or((text, "{}"));
    let quoted = Value::from(expression).to_string();
    let file = format!("{BEFORE}facts: {{ fact: {{ values: [false, true], cel: {quoted} }} }}\n");
    let Some(workflow) = load("fuzz.yaml", &file, &|_| None).workflow else { return };
    let mut handoff: Value = serde_json::from_str(rest).ok().filter(Value::is_object).unwrap_or_else(|| json!({}));
    for (key, value) in [
        ("agent", json!("dev")),
        ("output_type", json!("x")),
        ("timestamp", json!("2026-01-18T15:42:00Z")),
        ("feature_directory", json!("x")),
        ("skills_invoked", json!([])),
        ("status", json!("PLAN")),
        ("handoff", json!({ "context": "x" })),
    ] {
        handoff[key] = value;
    }
    let Ok(extracted) = extract("out.json", handoff.to_string().as_bytes()) else { return };
    let expect =
        ExpectedHandoff { role: Some("dev"), phase: None, task: AssignmentTask::Work, context: OrchestrationMode::Orchestrated, groups: &[] };
    let once = check(Some(&workflow), &expect, &extracted);
    let again = check(Some(&workflow), &expect, &extracted);
    assert_eq!(once.problems, again.problems);
    assert_eq!(once.handoff.map(|handoff| handoff.facts), again.handoff.map(|handoff| handoff.facts));
});
