//! Any bytes as an agent's output: found and checked, or refused, in time and memory that the
//! size of the input bounds; every problem has a place inside the output.
#![no_main]

use std::sync::LazyLock;

use interlock_core::handoff::{OrchestrationMode, ExpectedHandoff, check, extract};
use interlock_core::problem::Problem;
use interlock_core::workflow::{AssignmentTask, Workflow, load_shipped};
use libfuzzer_sys::fuzz_target;

static WORKFLOWS: LazyLock<Vec<(Workflow, &str, Option<&str>)>> = LazyLock::new(|| {
    let shipped = |name: &str| load_shipped(name).and_then(|loaded| loaded.workflow).expect("a built-in loads");
    vec![
        (shipped("delivery-team"), "developer", None),
        (shipped("delivery-team"), "project_manager", None),
        (shipped("feature"), "frontend-developer", Some("implementation")),
        (shipped("mcp-wrapper"), "tool-lead", Some("tool_architecture")),
    ]
});

fn inside(problems: &[Problem], output: &[u8]) {
    let lines = output.iter().filter(|byte| matches!(byte, b'\n' | b'\r')).count() + 1;
    for problem in problems {
        if let Some(place) = &problem.at {
            assert!(place.line >= 1 && place.line as usize <= lines && place.column >= 1, "{problem:?}");
        }
    }
}

fuzz_target!(|output: &[u8]| {
    let extracted = match extract("out.md", output) {
        Ok(extracted) => extracted,
        Err(problems) => {
            assert!(!problems.is_empty(), "a refusal says why");
            return inside(&problems, output);
        }
    };
    for (workflow, role, phase) in WORKFLOWS.iter() {
        for (context, role) in [(OrchestrationMode::Orchestrated, Some(*role)), (OrchestrationMode::Direct, None)] {
            let expect = ExpectedHandoff { role, phase: *phase, task: AssignmentTask::Work, context, groups: &[] };
            let checked = check(Some(workflow), &expect, &extracted);
            inside(&checked.problems, output);
            inside(&checked.warnings, output);
            assert!(checked.handoff.is_none() || checked.problems.is_empty());
            if let Some(handoff) = checked.handoff {
                assert_eq!(handoff.facts.len(), workflow.guards.len());
            }
        }
    }
});
