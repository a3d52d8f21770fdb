//! A person acknowledges a deferred group, by name.

use crate::code::Code;
use crate::command::Acknowledge;
use crate::decide::draft::Draft;
use crate::decide::{Cx, Outcome};
use crate::event::{Cause, Change};
use crate::id::{Name, QuestionId};
use crate::rejection::Rejection;
use crate::state::{End, Progress};

pub(super) fn acknowledge(cx: &Cx<'_>, acknowledge: &Acknowledge) -> Result<Outcome, Rejection> {
    let group = cx.known_group(&acknowledge.group)?;
    match &group.progress {
        Progress::Ended(End::Deferred { acknowledged: None, .. }) => {}
        Progress::Ended(End::Deferred { acknowledged: Some(by), .. }) => {
            let message = format!("{by} has acknowledged `{}` already", group.id);
            return Err(Rejection::new(Code::AlreadyAcknowledged, message));
        }
        Progress::Pending
        | Progress::Working
        | Progress::Arrived
        | Progress::AwaitingConfirmation
        | Progress::Ended(End::Completed | End::Cancelled { .. }) => {
            let message = format!("group `{}` is {}, not deferred", group.id, group.status().name());
            return Err(Rejection::new(Code::NotDeferred, message));
        }
    }
    let mut draft = Draft::new(*cx, Name::new("acknowledge"));
    draft.push(Change::DeferralNamed { group: group.id.clone(), by: acknowledge.by.clone() });
    let (group, by) = (acknowledge.group.clone(), acknowledge.by.clone());
    let cause = Cause::Acknowledged { group, by };
    // The question about unfinished work answers itself once nothing is left of it.
    let unfinished = &cx.workflow.question(cx.workflow.unfinished).name;
    let is_it = |id: &QuestionId| cx.state.questions.get(id).is_some_and(|asked| asked.name == *unfinished);
    let asked = cx.state.open_questions.iter().copied().rfind(is_it);
    match asked {
        Some(question) if draft.judge_groups(true).is_empty() => {
            draft.push(Change::QuestionClosed { question });
            draft.finish_session()?;
            Ok(draft.finish(cause))
        }
        Some(_) | None => Ok(draft.record(cause)),
    }
}
