//! A person cancels the session.

use crate::command::Cancel;
use crate::decide::draft::Draft;
use crate::decide::validate::person;
use crate::decide::{Cx, Outcome};
use crate::event::Cause;
use crate::id::Name;
use crate::rejection::Rejection;

pub(super) fn cancel(cx: &Cx<'_>, cancel: &Cancel) -> Result<Outcome, Rejection> {
    let mut draft = Draft::new(*cx, Name::new("cancel"));
    draft.cancel_session(&person(&cancel.by));
    Ok(draft.finish(Cause::Cancelled { by: cancel.by.clone() }))
}
