//! A person confirms a group that awaits confirmation, as the manager could.

use crate::code::Code;
use crate::command::AcceptGroup;
use crate::decide::draft::DecisionDraft;
use crate::decide::{DecideOutcome, DecisionContext};
use crate::decision::DecisionAction;
use crate::event::{EventCause, StateChange};
use crate::id::Name;
use crate::rejection::Rejection;
use crate::state::GroupProgress;

pub(super) fn accept(cx: &DecisionContext<'_>, accept: &AcceptGroup) -> Result<DecideOutcome, Rejection> {
    let group = cx.known_group(&accept.group)?;
    if group.progress != GroupProgress::AwaitingConfirmation {
        let message = format!("group `{}` is {}, not awaiting confirmation", group.id, group.status().name());
        let waiting = cx.state.groups.iter().filter(|group| group.progress == GroupProgress::AwaitingConfirmation);
        let waiting = waiting.map(|group| group.id.to_string()).collect();
        return Err(Rejection::new(Code::NotAwaitingConfirmation, message).allowed(waiting));
    }
    let mut draft = DecisionDraft::new(*cx, Name::new("accept"));
    draft.about = Some(group.id.clone());
    draft.action = DecisionAction::Wait;
    draft.accept(group, &accept.by);
    let cause = EventCause::Accepted { group: accept.group.clone(), by: accept.by.clone() };
    match cx.asked_unfinished() {
        Some(question) if draft.ends_after(&accept.by) => {
            draft.push(StateChange::QuestionClosed { question });
            draft.finish_session()?;
        }
        Some(_) => {}
        None => draft.start_groups(None)?,
    }
    Ok(draft.finish(cause))
}
