//! A person cancels the session.

use crate::command::CancelSessionByPerson;
use crate::decide::draft::DecisionDraft;
use crate::decide::validate::person;
use crate::decide::{DecideOutcome, DecisionContext};
use crate::event::EventCause;
use crate::id::Name;
use crate::rejection::Rejection;

pub(super) fn cancel(cx: &DecisionContext<'_>, cancel: &CancelSessionByPerson) -> Result<DecideOutcome, Rejection> {
    let mut draft = DecisionDraft::new(*cx, Name::new("cancel"));
    draft.cancel_session(&person(&cancel.by));
    Ok(draft.finish(EventCause::Cancelled { by: cancel.by.clone() }))
}
