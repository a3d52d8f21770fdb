//! A handoff held against a workflow without a session, and the outcome as a document.

use interlock_core::handoff::{self, CheckedHandoff, ExpectedHandoff, ExtractedHandoff};
use interlock_core::problem::Problem;
use interlock_core::workflow::Workflow;
use serde_json::{Value, json};

use crate::error::{CommandError, SourceTexts};

pub fn known_phase(workflow: &Workflow, phase: &str) -> Result<(), CommandError> {
    if !workflow.phases_called(phase, "").is_empty() {
        return Ok(());
    }
    Err(CommandError::invalid(vec![workflow.no_phase(phase)], SourceTexts::default()))
}

/// The phase that was named, or else the one that the handoff says, if it is one of its role's. Two phases may go by one
/// name: then the first counts that the handoff fits.
pub fn check_extracted(
    workflow: Option<&Workflow>,
    expect: &ExpectedHandoff<'_>,
    extracted: &ExtractedHandoff,
) -> CheckedHandoff {
    let word = |key: &str| extracted.json.get(key).and_then(Value::as_str).unwrap_or_default();
    let role = expect.role.unwrap_or_else(|| word("agent"));
    let Some(workflow) = workflow else { return handoff::check(None, expect, extracted) };
    let mut phases = workflow.phases_called(expect.phase.unwrap_or_else(|| word("phase")), role);
    phases.retain(|phase| expect.phase.is_some() || workflow.is_phase_of(*phase, role));
    let mut first: Option<CheckedHandoff> = None;
    for phase in phases {
        let expect = ExpectedHandoff { phase: Some(workflow.phase_name(phase)), ..*expect };
        let checked = handoff::check(Some(workflow), &expect, extracted);
        if checked.is_valid() {
            return checked;
        }
        first.get_or_insert(checked);
    }
    first.unwrap_or_else(|| handoff::check(Some(workflow), expect, extracted))
}

pub fn document(checked: &CheckedHandoff, extracted: Option<&ExtractedHandoff>) -> Value {
    let list = |problems: &[Problem]| -> Vec<Value> {
        problems
            .iter()
            .map(|problem| {
                json!({
                    "code": problem.code,
                    "message": problem.message,
                    "help": problem.advice(),
                    "field": problem.field,
                    "element": problem.subject.as_ref().map(|subject| &subject.element),
                    "at": problem.at.as_ref().map(|at| json!({ "line": at.line, "column": at.column })),
                })
            })
            .collect()
    };
    json!({
        "valid": checked.is_valid(),
        "status": checked.status,
        "handoff": extracted.map(|extracted| &*extracted.json),
        "problems": list(&checked.problems),
        "warnings": list(&checked.warnings),
    })
}
