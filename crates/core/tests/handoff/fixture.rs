//! Valid handoffs to break one thing of, and the outcome in a form that is easy to compare.

use interlock_core::code::Code;
use interlock_core::handoff::{CheckedHandoff, ExpectedHandoff, KnownFields, OrchestrationMode, check, extract};
use interlock_core::id::Name;
use interlock_core::workflow::{AssignmentTask, Workflow, load, load_builtin};
use serde_json::{Value, json};

pub(crate) fn workflow(name: &str) -> Workflow {
    let loaded = load_builtin(name).unwrap();
    loaded.workflow.unwrap_or_else(|| panic!("{:?}", loaded.problems))
}

pub(crate) fn custom(text: &str) -> Workflow {
    let loaded = load("custom.yaml", text, &|_| None);
    loaded.workflow.unwrap_or_else(|| panic!("{:?}", loaded.problems))
}

/// The fewest fields that every handoff has.
pub(crate) fn smallest(agent: &str, status: &str) -> Value {
    json!({
        "agent": agent,
        "output_type": "implementation",
        "timestamp": "2026-01-18T15:42:00Z",
        "feature_directory": ".claude/.output/x",
        "skills_invoked": ["persisting-agent-outputs"],
        "status": status,
        "handoff": { "next_agent": null, "context": "what to know" },
    })
}

/// The handoff with fields added, replaced or (`null`) removed, by their paths.
#[expect(clippy::needless_pass_by_value, reason = "tables of changes read better")]
pub(crate) fn with(mut handoff: Value, changes: Value) -> Value {
    for (path, value) in changes.as_object().unwrap() {
        let (parents, key) = path.rsplit_once('.').unwrap_or(("", path));
        let parent = parents.split('.').filter(|part| !part.is_empty()).fold(&mut handoff, |at, part| &mut at[part]);
        let members = parent.as_object_mut().unwrap();
        if value.is_null() {
            members.shift_remove(key);
        } else {
            members.insert(key.to_owned(), value.clone());
        }
    }
    handoff
}

pub(crate) struct HandoffCase<'a> {
    pub(crate) workflow: &'a Workflow,
    pub(crate) role: Option<&'a str>,
    pub(crate) phase: Option<&'a str>,
    pub(crate) task: AssignmentTask,
    pub(crate) context: OrchestrationMode,
    pub(crate) groups: &'a [Name],
}

impl<'a> HandoffCase<'a> {
    pub(crate) fn of(workflow: &'a Workflow, role: &'a str) -> Self {
        let (task, context) = (AssignmentTask::Work, OrchestrationMode::Orchestrated);
        Self { workflow, role: Some(role), phase: None, task, context, groups: &[] }
    }

    pub(crate) fn in_phase(self, phase: &'a str) -> Self {
        Self { phase: Some(phase), ..self }
    }

    pub(crate) fn direct(self) -> Self {
        Self { context: OrchestrationMode::Direct, ..self }
    }

    pub(crate) fn check(&self, handoff: &Value) -> CheckedHandoff {
        self.check_text(&format!("# Report\n\n```json\n{}\n```\n", serde_json::to_string_pretty(handoff).unwrap()))
    }

    /// As a report for an assignment is checked.
    pub(crate) fn check_filled(&self, handoff: &Value) -> CheckedHandoff {
        let extracted = extract("out.json", handoff.to_string().as_bytes()).unwrap();
        let Self { role, phase, task, context, groups, .. } = *self;
        let now = interlock_core::id::Timestamp(1_768_750_920_000);
        let known = KnownFields { role: role.unwrap(), phase, task, now, directory: ".output" };
        let filled = extracted.fill_in(self.workflow, &known);
        check(Some(self.workflow), &ExpectedHandoff { role, phase, task, context, groups }, &filled)
    }

    pub(crate) fn check_text(&self, output: &str) -> CheckedHandoff {
        let extracted = extract("out.md", output.as_bytes()).unwrap_or_else(|problems| panic!("{problems:?}"));
        let Self { role, phase, task, context, groups, .. } = *self;
        check(Some(self.workflow), &ExpectedHandoff { role, phase, task, context, groups }, &extracted)
    }
}

/// The result of checking a handoff without a workflow.
pub(crate) fn check_alone(handoff: &Value) -> CheckedHandoff {
    let extracted = extract("out.json", handoff.to_string().as_bytes()).unwrap();
    let expect = ExpectedHandoff {
        role: None,
        phase: None,
        task: AssignmentTask::Work,
        context: OrchestrationMode::Orchestrated,
        groups: &[],
    };
    check(None, &expect, &extracted)
}

/// The codes and fields of what is wrong.
pub(crate) fn problems(checked: &CheckedHandoff) -> Vec<(Code, &str)> {
    checked.problems.iter().map(|problem| (problem.code, problem.field.as_deref().unwrap_or_default())).collect()
}

pub(crate) fn warnings(checked: &CheckedHandoff) -> Vec<(Code, &str)> {
    checked.warnings.iter().map(|problem| (problem.code, problem.field.as_deref().unwrap_or_default())).collect()
}

/// Each change of a valid handoff gives exactly these problems, and no handoff.
pub(crate) fn refuses(case: &HandoffCase<'_>, valid: &Value, table: &[(Value, &[(Code, &str)])]) {
    let checked = case.check(valid);
    assert_eq!(problems(&checked), [], "the handoff that the table begins with");
    assert!(checked.handoff.is_some());
    for (change, expected) in table {
        let checked = case.check(&with(valid.clone(), change.clone()));
        assert_eq!(problems(&checked), *expected, "{change}");
        assert!(checked.handoff.is_none(), "{change}");
        let placed = checked.problems.iter().all(|problem| problem.at.as_ref().is_some_and(|at| at.line >= 4));
        assert!(placed, "{change}: every problem has a place in the block");
    }
}
