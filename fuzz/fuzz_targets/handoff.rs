//! Any bytes as what an agent wrote: problems or a checked handoff, never a panic.
#![no_main]

use std::sync::LazyLock;

use interlock_core::handoff::{Context, Expect, check, extract};
use interlock_core::workflow::{Task, Workflow, load_builtin};

static WORKFLOW: LazyLock<Option<Workflow>> =
    LazyLock::new(|| load_builtin("mcp-wrapper").and_then(|loaded| loaded.workflow));

libfuzzer_sys::fuzz_target!(|output: &[u8]| {
    if let Ok(extracted) = extract("fuzz.md", output) {
        let expect = Expect {
            role: None,
            phase: Some("implementation"),
            task: Task::Work,
            context: Context::Orchestrated,
            groups: &[],
        };
        let checked = check(WORKFLOW.as_ref(), &expect, &extracted);
        assert!(checked.is_valid() || checked.handoff.is_none());
    }
});
