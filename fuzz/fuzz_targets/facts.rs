//! Any text as an expression, over any handoff: a value or an error, never a panic.
#![no_main]

use interlock_core::handoff::{Context, Expect, check, extract};
use interlock_core::workflow::{Task, load};

libfuzzer_sys::fuzz_target!(|input: (&str, &str)| {
    let (expression, handoff) = input;
    let quoted = format!("'{}'", expression.replace('\'', "''").replace(['\n', '\r'], " "));
    let text = format!(
        "workflow: fuzz\nlanguage: 1\nextends: delivery-team\nfacts:\n  derived: {{ values: [false, true], cel: {quoted} }}\n"
    );
    let Some(workflow) = load("fuzz.yaml", &text, &|_| None).workflow else { return };
    if let Ok(extracted) = extract("fuzz.json", handoff.as_bytes()) {
        let expect =
            Expect { role: None, phase: None, task: Task::Work, context: Context::Orchestrated, groups: &[] };
        check(Some(&workflow), &expect, &extracted);
    }
});
