//! Interlock has merged, or tried to, in the author's name.

use crate::code::Code;
use crate::command::RecordMerge;
use crate::decide::report::route_report;
use crate::decide::{DecideOutcome, DecisionContext};
use crate::event::EventCause;
use crate::handoff::Handoff;
use crate::id::Name;
use crate::rejection::Rejection;
use crate::workflow::AssignmentTask;
use serde_json::Value as Json;

pub(super) fn merged(cx: &DecisionContext<'_>, merged: &RecordMerge) -> Result<DecideOutcome, Rejection> {
    let closed = cx.assignment(merged.assignment)?.closed;
    if let Some(closed) = closed.filter(|closed| closed.digest == Some(merged.handoff.digest)) {
        return Ok(DecideOutcome::Repeated(closed.decision));
    }
    let assignment = cx.open_assignment(merged.assignment)?;
    if assignment.task != AssignmentTask::Merge {
        let message = format!("assignment {} is not a merge", merged.assignment);
        return Err(Rejection::new(Code::NotAMerge, message));
    }
    let mut draft = route_report(cx, (merged.assignment, assignment), &merged.handoff, None, None)?;
    // Interlock has seen this merge itself, whichever role held the assignment.
    draft.record_channel(assignment.via.as_ref());
    draft.handoff = Some(merged.handoff.submitted.clone());
    let status = merged.handoff.said.clone();
    let empty = merged.handoff.field("merge_is_empty") == Some(&Json::Bool(true));
    draft.note_merge_of_nothing_new(empty, assignment.group.as_ref());
    let conflicts = conflicts(&merged.handoff);
    Ok(draft.finish(EventCause::Merged { assignment: merged.assignment, status, conflicts, empty }))
}

/// The files that the merge reports in conflict.
fn conflicts(handoff: &Handoff) -> Vec<Name> {
    let files = handoff.field("conflicting_files").and_then(Json::as_array);
    files.into_iter().flatten().filter_map(Json::as_str).map(Name::new).collect()
}
