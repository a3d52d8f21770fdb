//! The agent ended without a handoff that could be taken.

use crate::command::RecordLoss;
use crate::decide::choose::choose_rule;
use crate::decide::draft::DecisionDraft;
use crate::decide::report::interlock;
use crate::decide::rule_context::RuleContext;
use crate::decide::{DecideOutcome, DecisionContext, refuse};
use crate::event::{ClosureKind, EventCause, StateChange};
use crate::rejection::Rejection;

pub(super) fn lost(cx: &DecisionContext<'_>, lost: &RecordLoss) -> Result<DecideOutcome, Rejection> {
    let assignment = cx.open_assignment(lost.assignment)?;
    let status = cx.workflow.find_loss_status(lost.loss);
    let situation = RuleContext::of_assignment(cx, assignment, None, None)?;
    let name = cx.workflow.status_name(status);
    let candidates = situation.reporter.and_then(|role| cx.workflow.by_report.get(&(role, status)));
    let Some(chosen) = candidates.and_then(|candidates| choose_rule(&situation, candidates)) else {
        return Err(refuse::refuse_untimely_status(&situation, name));
    };
    let mut draft = DecisionDraft::new(*cx, chosen.rule.id.clone());
    draft.push(StateChange::Closed { assignment: lost.assignment, how: ClosureKind::Voided, digest: None, via: None });
    draft.because.extend(lost.note.clone());
    draft.apply_chosen_rule(&situation, chosen, &interlock())?;
    let note = lost.note.clone();
    Ok(draft.finish(EventCause::Lost { assignment: lost.assignment, status: name.clone(), note }))
}
