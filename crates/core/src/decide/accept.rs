//! A person confirms a group that awaits confirmation, as the manager could.

use crate::code::Code;
use crate::command::Accept;
use crate::decide::draft::Draft;
use crate::decide::{Cx, Outcome};
use crate::decision::Action;
use crate::event::{Cause, Change};
use crate::id::Name;
use crate::rejection::Rejection;
use crate::state::Progress;

pub(super) fn accept(cx: &Cx<'_>, accept: &Accept) -> Result<Outcome, Rejection> {
    let group = cx.known_group(&accept.group)?;
    if group.progress != Progress::AwaitingConfirmation {
        let message = format!("group `{}` is {}, not awaiting confirmation", group.id, group.status().name());
        let waiting = cx.state.groups.iter().filter(|group| group.progress == Progress::AwaitingConfirmation);
        let waiting = waiting.map(|group| group.id.to_string()).collect();
        return Err(Rejection::new(Code::NotAwaitingConfirmation, message).allowed(waiting));
    }
    let mut draft = Draft::new(*cx, Name::new("accept"));
    draft.about = Some(group.id.clone());
    draft.action = Action::Wait;
    draft.accept(group, &accept.by);
    let cause = Cause::Accepted { group: accept.group.clone(), by: accept.by.clone() };
    match cx.asked_unfinished() {
        Some(question) if draft.ends_after(&accept.by) => {
            draft.push(Change::QuestionClosed { question });
            draft.finish_session()?;
        }
        Some(_) => {}
        None => draft.start_groups(None)?,
    }
    Ok(draft.finish(cause))
}
