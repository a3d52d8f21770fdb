//! Stores what was decided: the event, its seal, and the rows that follow from it.

use std::sync::Arc;

use interlock_core::event::{Event, EventCause};
use interlock_core::id::{AssignmentId, DecisionId, Name};
use interlock_core::state::State;
use serde::Serialize;

use crate::AssignmentClaim;
use crate::Committed;
use crate::EngineError;
use crate::EngineResult;
use crate::Request;
use crate::TxContext;
use crate::load::verify_event;
use interlock_store::EventAppend;
use interlock_store::chain::{self, SealedContent};
use interlock_store::rows;

/// A snapshot is not worth its while before this many bytes of events.
const WORTHWHILE: usize = 32 * 1024;

/// The data stored beside an event.
#[derive(Default)]
pub(super) struct RecordExtras<'a> {
    /// The mission of a session. A handoff comes with its event.
    pub(super) mission: Option<&'a str>,
    pub(super) claimed: Option<AssignmentClaim>,
}

impl TxContext<'_> {
    pub(super) fn record(
        &mut self,
        order: &Request,
        event: Box<Event>,
        with: RecordExtras<'_>,
    ) -> EngineResult<Committed> {
        let key = self.key;
        let live = self.cached_session(&order.session)?;
        live.state.apply(&event);
        let data = json(&event)?;
        let decision = event.decision.as_ref().map(|decision| decision.id.0);
        let (seq, kind, at) = (live.state.seq, event.cause.kind(), event.at);
        let handoff = event.handoff.as_deref().map(json).transpose()?;
        let attachment = handoff.or_else(|| with.mission.map(str::to_owned));
        let given = attachment.as_ref().map(|body| chain::hash_attachment(body.as_bytes()));
        let rows = rows::project_event(&event, &live.state);
        let sealed =
            SealedContent { session: live.id.as_str(), seq, kind, at, decision, data: &data, says: &rows.says, given };
        let hash = key.event(&sealed, &live.head);
        let group = group_of(&event, &live.state);
        live.state.drop_closed(&event);
        let prev = std::mem::replace(&mut live.head, hash);
        live.since += data.len();
        let due = live.since > live.snapshot.max(WORTHWHILE) || live.state.ended() && event.decision.is_some();
        let (session, prompt) = (live.key, with.claimed.as_ref().map(|claimed| claimed.prompt.clone()));
        self.tx.append_deferred(EventAppend {
            session,
            seq,
            kind,
            at,
            decision,
            data,
            given,
            prev,
            hash,
            attachment,
            prompt,
            rows,
        })?;
        if due {
            self.keep_snapshot(&order.session)?;
        }
        let session = order.session.clone();
        Ok(Committed { session, seq, event: Arc::from(event), group, repeated: false, claimed: with.claimed })
    }

    /// The decision that the same report received when it was first submitted.
    pub(super) fn repeated(&mut self, order: &Request, decision: DecisionId) -> EngineResult<Committed> {
        let live = self.cached_session(&order.session)?;
        let key = live.key;
        let row = self.tx.event_of_decision(key, decision.0)?.ok_or_else(EngineError::internal_error)?;
        let event = Arc::new(verify_event(&order.session, &row, self.key)?);
        let state = &self.cached_session(&order.session)?.state;
        let group = spoken_for(&event).and_then(|id| state.assignments.get(&id)?.group.clone());
        Ok(Committed { session: order.session.clone(), seq: row.seq, event, group, repeated: true, claimed: None })
    }
}

/// As text, with room for what most events and handoffs take.
fn json(value: &impl Serialize) -> EngineResult<String> {
    let mut text = Vec::with_capacity(2048);
    serde_json::to_writer(&mut text, value).map_err(|_| EngineError::internal_error())?;
    String::from_utf8(text).map_err(|_| EngineError::internal_error())
}

/// The assignment that an event closed by a report.
fn spoken_for(event: &Event) -> Option<AssignmentId> {
    match &event.cause {
        EventCause::Claimed { assignment, .. }
        | EventCause::Reported { assignment, .. }
        | EventCause::Lost { assignment, .. }
        | EventCause::Merged { assignment, .. }
        | EventCause::LeaseExpired { assignment, .. } => Some(*assignment),
        EventCause::Started { .. }
        | EventCause::Planned { .. }
        | EventCause::Answered { .. }
        | EventCause::GateFinished { .. }
        | EventCause::Deferred { .. }
        | EventCause::Acknowledged { .. }
        | EventCause::Overridden { .. }
        | EventCause::Waived { .. }
        | EventCause::Accepted { .. }
        | EventCause::CompletionAsked { .. }
        | EventCause::Cancelled { .. }
        | EventCause::Upgraded { .. }
        | EventCause::Sighted(_)
        | EventCause::Allowed { .. }
        | EventCause::Refused(_) => None,
    }
}

/// The group that an event is about.
fn group_of(event: &Event, state: &State) -> Option<Name> {
    if let EventCause::Deferred { group, .. }
    | EventCause::Acknowledged { group, .. }
    | EventCause::Overridden { group, .. }
    | EventCause::Waived { group, .. }
    | EventCause::Accepted { group, .. } = &event.cause
    {
        return Some(group.clone());
    }
    if let EventCause::Answered { question, .. } = &event.cause {
        return state.questions.get(question).and_then(|question| question.group.clone());
    }
    spoken_for(event).and_then(|id| state.assignments.get(&id)).and_then(|assignment| assignment.group.clone())
}
