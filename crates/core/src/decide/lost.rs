//! The agent ended without a handoff that could be taken.

use crate::command::Lost;
use crate::decide::choose::choose;
use crate::decide::draft::Draft;
use crate::decide::report::interlock;
use crate::decide::situation::Situation;
use crate::decide::{Cx, Outcome, refuse};
use crate::event::{Cause, Change, Closing};
use crate::rejection::Rejection;

pub(super) fn lost(cx: &Cx<'_>, lost: &Lost) -> Result<Outcome, Rejection> {
    let assignment = cx.open_assignment(lost.assignment)?;
    let status = cx.workflow.lost(lost.loss);
    let situation = Situation::of_assignment(cx, assignment, None, None)?;
    let name = cx.workflow.status_name(status);
    let candidates = situation.reporter.and_then(|role| cx.workflow.by_report.get(&(role, status)));
    let Some(chosen) = candidates.and_then(|candidates| choose(&situation, candidates)) else {
        return Err(refuse::not_now(&situation, name));
    };
    let mut draft = Draft::new(*cx, chosen.rule.id.clone());
    draft.push(Change::Closed { assignment: lost.assignment, how: Closing::Voided, digest: None, via: None });
    draft.because.extend(lost.note.clone());
    draft.carry(&situation, chosen, &interlock())?;
    let note = lost.note.clone();
    Ok(draft.finish(Cause::Lost { assignment: lost.assignment, status: name.clone(), note }))
}
