//! The lease of a holder ran out: the assignment is free again, as another attempt, and its token is void.
//!
//! The process that ran the agent is gone. That is not counted as a failure of the agent and counts in no loop.

use crate::code::Code;
use crate::command::LeaseExpired;
use crate::decide::draft::DecisionDraft;
use crate::decide::{DecideOutcome, DecisionContext};
use crate::event::{EventCause, StateChange};
use crate::id::Name;
use crate::rejection::Rejection;

pub(super) fn expired(cx: &DecisionContext<'_>, expired: &LeaseExpired) -> Result<DecideOutcome, Rejection> {
    let assignment = cx.open_assignment(expired.assignment)?;
    if assignment.token.is_none() {
        let message = format!("assignment {} is not claimed", expired.assignment);
        return Err(Rejection::new(Code::NotClaimed, message));
    }
    if !expired.holder_gone && assignment.lease_until.is_none_or(|until| until > cx.inputs.now) {
        let message = format!("the lease of assignment {} has not run out", expired.assignment);
        return Err(Rejection::new(Code::LeaseHolds, message));
    }
    let mut draft = DecisionDraft::new(*cx, Name::new("lease"));
    draft.push(StateChange::Unclaimed { assignment: expired.assignment });
    Ok(draft.record(EventCause::LeaseExpired { assignment: expired.assignment, holder_gone: expired.holder_gone }))
}
