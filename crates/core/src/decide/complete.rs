//! A command asks to complete the session. The answer lists every reason against it; no actor can skip the
//! requirements.

use crate::code::Code;
use crate::command::CompleteSession;
use crate::decide::draft::DecisionDraft;
use crate::decide::{DecideOutcome, DecisionContext};
use crate::decision::{CompletionJudgement, CompletionVerdict, DecisionAction, JudgementReason};
use crate::event::EventCause;
use crate::id::Name;
use crate::rejection::Rejection;
use crate::workflow::{RuleSource, RuleVerb};

pub(super) fn complete(cx: &DecisionContext<'_>, complete: &CompleteSession) -> Result<DecideOutcome, Rejection> {
    let mut draft = DecisionDraft::new(*cx, Name::new("completion"));
    let investigation = cx.state.session.as_ref().is_some_and(|session| session.investigation);
    let mut reasons = draft.judge_end(investigation || cx.workflow.has_phases());
    let enders: Vec<&str> = enders(cx);
    if !enders.is_empty() {
        let text = format!("only {} can end the session, by reporting so", enders.join(" or "));
        reasons.push(JudgementReason::new(Code::NotSaid, None, text));
    } else if reasons.is_empty() {
        reasons.push(JudgementReason::new(Code::NotSaid, None, "the session ends by itself with its last phase"));
    }
    reasons.extend(draft.final_gate_reasons());
    draft.action = DecisionAction::Wait;
    draft.judgement = Some(CompletionJudgement { verdict: CompletionVerdict::Reject, reasons });
    Ok(draft.finish(EventCause::CompletionAsked { by: complete.by.clone() }))
}

/// The roles that have a row which ends the session.
fn enders<'a>(cx: &DecisionContext<'a>) -> Vec<&'a str> {
    let ends = cx.workflow.rules.iter().filter(|rule| matches!(rule.verb, RuleVerb::Validate(_) | RuleVerb::End));
    let mut names: Vec<&str> = ends
        .filter_map(|rule| match &rule.source {
            RuleSource::Roles { roles, .. } => Some(roles.iter()),
            RuleSource::Gate(_) | RuleSource::Question(_) => None,
        })
        .flatten()
        .filter_map(|index| cx.workflow.roles.get(index))
        .filter(|role| !role.by_interlock)
        .map(|role| role.name.as_str())
        .collect();
    names.sort_unstable();
    names.dedup();
    names
}
