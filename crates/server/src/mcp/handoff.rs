//! Handoffs: submit or check.

use interlock_core::code::Code;
use interlock_core::decide::{returned_status, returned_status_of_role};
use interlock_core::handoff::{CheckedHandoff, ExpectedHandoff, ExtractedHandoff, OrchestrationMode};
use interlock_core::rejection::Rejection;
use interlock_core::workflow::Workflow;
use serde_json::{Value as Json, json};

use crate::mcp::arguments::{CheckArguments, ReportArguments, bad_id};
use crate::mcp::next_steps;
use crate::mcp::session::permitted_workflow;
use crate::mcp::tool_reply::{ToolReply, ToolResult};
use interlock_app::context::AppContext;
use interlock_app::decision;
use interlock_app::error::{CommandError, CommandExit};
use interlock_app::handoff_check::{check_extracted as checked_against, document, known_phase};
use interlock_app::library;
use interlock_engine::{AssignmentRef, Committed, Operation, ReportContext, Request, check_submitted};
use interlock_store::keys::SecretKey;
use interlock_system::clock;

/// Fields of a decision that a model needs. `explain_decision` has the rest.
const OF_A_DECISION: [&str; 15] = [
    "decision",
    "session",
    "group",
    "seq",
    "action",
    "next",
    "question",
    "gate",
    "waits_for",
    "rule",
    "because",
    "warnings",
    "escalated",
    "judgement",
    "repeated",
];

pub(super) fn report(report: &ReportArguments, place: &AppContext) -> ToolResult {
    let reference = AssignmentRef::parse(&report.assignment).map_err(|how| bad_id(&report.assignment, &how))?;
    // A malformed token counts as a wrong one.
    let token = Some(SecretKey::parse(&report.token).unwrap_or_default());
    let AssignmentRef { session, id } = reference;
    let task = Operation::Report { assignment: id, token, given: report.handoff.given(), observed: None };
    let mut engine = place.engine()?;
    let done = engine.execute(&Request { session, task })?;
    let (live, _) = engine.load_session(&done.session)?;
    Ok(ToolReply::new(decided(&done), next_steps::line(&live)))
}

/// A decision in short.
pub(super) fn decided(done: &Committed) -> Json {
    let mut whole = decision::done_json(done);
    if let Some(fields) = whole.as_object_mut() {
        fields.retain(|name, _| OF_A_DECISION.contains(&name.as_str()));
    }
    whole
}

/// Nothing is stored, not even that it was tried.
pub(super) fn check(check: &CheckArguments, place: &AppContext) -> ToolResult {
    let (mut checked, returned, extracted) = match check.handoff.given().extracted {
        Ok(extracted) => {
            let (checked, returned) = held_against(check, &extracted, place)?;
            (checked, returned, Some(extracted))
        }
        Err(problems) => (CheckedHandoff { handoff: None, status: None, problems, warnings: Vec::new() }, None, None),
    };
    // A handoff that report_handoff would send back is not valid.
    if let Some(returned) = &returned {
        checked.warnings.retain(|warning| warning.code != Code::UnknownStatus);
        checked.problems.retain(|problem| problem.code != Code::UnknownStatus);
        checked.problems.splice(..0, returned.problems.iter().cloned());
    }
    let mut facts = document(&checked, extracted.as_deref());
    if let Some(returned) = returned {
        facts["allowed"] = json!(returned.allowed);
    }
    if let Some(fields) = facts.as_object_mut() {
        fields.retain(|name, _| name != "handoff");
    }
    let next = match (checked.is_valid(), checked.problems.len()) {
        (true, _) => "It is valid: submit it with report_handoff.".to_owned(),
        (false, 1) => "It would be refused: have the agent fix the problem, and check again.".to_owned(),
        (false, count) => format!("It would be refused: have the agent fix all {count} problems, and check again."),
    };
    Ok(ToolReply::new(facts, next))
}

/// The handoff held against its assignment or its role, and how its status would come back.
fn held_against(
    check: &CheckArguments,
    extracted: &ExtractedHandoff,
    place: &AppContext,
) -> Result<(CheckedHandoff, Option<Rejection>), CommandError> {
    let status = extracted.json.get("status").and_then(Json::as_str).filter(|status| !status.trim().is_empty());
    if let Some(assignment) = &check.assignment {
        if check.role.is_some() || check.workflow.is_some() || check.phase.is_some() {
            let message = "an assignment has its role, its workflow and its phase: name it alone";
            return Err(CommandError::new(CommandExit::Usage, Code::BadArgument, message));
        }
        let reference = AssignmentRef::parse(assignment).map_err(|how| bad_id(assignment, &how))?;
        let mut engine = place.engine()?;
        let (live, workflow) = engine.load_session(&reference.session)?;
        let outputs = engine.outputs_of_session(&reference.session);
        let surroundings = ReportContext { now: clock::now(), outputs: &outputs };
        let checked = check_submitted(&workflow, &live.state, reference.id, extracted, surroundings)?;
        let returned = status.and_then(|status| returned_status(&workflow, &live.state, reference.id, status));
        return Ok((checked, returned));
    }
    let Some(role) = &check.role else {
        let message = "name the assignment that the handoff is for, or the role";
        return Err(CommandError::new(CommandExit::Usage, Code::BadArgument, message));
    };
    let workflow = library::runnable(&permitted_workflow(check.workflow.as_deref(), place)?)?;
    if let Some(phase) = &check.phase {
        known_phase(&workflow, phase)?;
    }
    known_role(&workflow, role)?;
    let known = workflow.role_named(role);
    let returned = known.zip(status).and_then(|(role, status)| returned_status_of_role(&workflow, role, status));
    let task = workflow.task_of(role, status.unwrap_or_default());
    let expect = ExpectedHandoff {
        role: Some(role),
        phase: check.phase.as_deref(),
        task,
        context: OrchestrationMode::Orchestrated,
        groups: &[],
    };
    Ok((checked_against(Some(&workflow), &expect, extracted), returned))
}

pub(super) fn known_role(workflow: &Workflow, role: &str) -> Result<(), CommandError> {
    if workflow.role_named(role).is_some() {
        return Ok(());
    }
    let names = workflow.roles.iter().filter(|role| !role.by_interlock).map(|role| role.name.to_string());
    let message = format!("`{}` has no role `{role}`", workflow.name);
    Err(CommandError::new(CommandExit::Invalid, Code::NoRole, message).allowed(names))
}
