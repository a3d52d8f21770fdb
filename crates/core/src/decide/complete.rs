//! Somebody asks for the end. The answer is every reason against it; nobody has a shorter way.

use crate::code::Code;
use crate::command::Complete;
use crate::decide::draft::Draft;
use crate::decide::{Cx, Outcome};
use crate::decision::{Action, Judgement, Reason, Verdict};
use crate::event::Cause;
use crate::id::Name;
use crate::rejection::Rejection;
use crate::workflow::{Source, Verb};

pub(super) fn complete(cx: &Cx<'_>, complete: &Complete) -> Result<Outcome, Rejection> {
    let mut draft = Draft::new(*cx, Name::new("completion"));
    let investigation = cx.state.session.as_ref().is_some_and(|session| session.investigation);
    let mut reasons = draft.judge_end(investigation || cx.workflow.has_phases());
    let enders: Vec<&str> = enders(cx);
    if !enders.is_empty() {
        let text = format!("only {} can end the session, by reporting so", enders.join(" or "));
        reasons.push(Reason::new(Code::NotSaid, None, text));
    } else if reasons.is_empty() {
        reasons.push(Reason::new(Code::NotSaid, None, "the session ends by itself with its last phase"));
    }
    reasons.extend(draft.final_gate_reasons());
    draft.action = Action::Wait;
    draft.judgement = Some(Judgement { verdict: Verdict::Reject, reasons });
    Ok(draft.finish(Cause::CompletionAsked { by: complete.by.clone() }))
}

/// The roles that have a row which ends the session.
fn enders<'a>(cx: &Cx<'a>) -> Vec<&'a str> {
    let ends = cx.workflow.rules.iter().filter(|rule| matches!(rule.verb, Verb::Validate(_) | Verb::End));
    let mut names: Vec<&str> = ends
        .filter_map(|rule| match &rule.source {
            Source::Roles { roles, .. } => Some(roles.iter()),
            Source::Gate(_) | Source::Question(_) => None,
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
