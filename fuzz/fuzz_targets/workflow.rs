//! Any text as a workflow file: problems or a workflow, never a panic.
#![no_main]

use interlock_core::workflow::load;

libfuzzer_sys::fuzz_target!(|text: &str| {
    let loaded = load("fuzz.yaml", text, &|_| None);
    assert!(loaded.workflow.is_some() || !loaded.problems.is_empty());
});
