//! Explains one decision or event from the log.

use interlock_core::code::Code;
use interlock_core::event::{Event, EventCause};
use interlock_core::id::{Digest, Name};
use interlock_core::rejection::Rejection;
use interlock_core::workflow::{Workflow, load_pinned};
use interlock_engine::DecisionRef;
use interlock_store::{EventRow, SessionHead, Store as _, StoreView};
use interlock_system::text::TerminalText;
use serde_json::Value as Json;

use crate::context::AppContext;
use crate::error::{CommandError, CommandExit};
use crate::explanation::{DecisionExplanation, EventExplanation};
use crate::narrative::EventNarrator;

/// The subject of an explanation.
#[derive(Clone)]
pub enum ExplainSubject {
    Decision(DecisionRef),
    Event { session: Name, seq: u64 },
}

impl ExplainSubject {
    pub fn session(&self) -> &str {
        match self {
            Self::Decision(reference) => &reference.session,
            Self::Event { session, .. } => session,
        }
    }

    pub fn parse(text: &str) -> Result<Self, String> {
        let event = text.rsplit_once(".e").filter(|(session, _)| !session.is_empty());
        if let Some((session, seq)) = event.and_then(|(session, digits)| Some((session, digits.parse().ok()?))) {
            return Ok(Self::Event { session: Name::new(session), seq });
        }
        let how = "such an id reads SESSION.d12, or SESSION.e5 for event 5 of the log";
        DecisionRef::parse(text).map(Self::Decision).map_err(|_| how.to_owned())
    }
}

/// Events read at a time.
const BATCH: usize = 512;

/// A decision or an event, for scripts and for people.
pub fn explain_subject(place: &AppContext, subject: &ExplainSubject) -> Result<(Json, TerminalText), CommandError> {
    match subject {
        ExplainSubject::Decision(reference) => explained_decision(place, reference),
        ExplainSubject::Event { session, seq } => explained_event(place, session, *seq),
    }
}

fn explained_decision(place: &AppContext, reference: &DecisionRef) -> Result<(Json, TerminalText), CommandError> {
    let mut store = place.store()?;
    let mut view = store.view()?;
    let session = known_session(&mut *view, &reference.session)?;
    let Some(row) = view.event_of_decision(session.key, reference.id.0)? else { return Err(unknown(reference).into()) };
    explain_row(&mut *view, &session, &row)
}

fn explained_event(place: &AppContext, session: &Name, seq: u64) -> Result<(Json, TerminalText), CommandError> {
    let mut store = place.store()?;
    let mut view = store.view()?;
    let head = known_session(&mut *view, session)?;
    let row = view.events(head.key, seq.saturating_sub(1), 1)?.into_iter().find(|row| row.seq == seq);
    let Some(row) = row else {
        let message = format!("the log of `{session}` has no event {seq}");
        return Err(Rejection::new(Code::NoDecision, message).into());
    };
    explain_row(&mut *view, &head, &row)
}

fn known_session(view: &mut dyn StoreView, id: &str) -> Result<SessionHead, CommandError> {
    let missing = || CommandError::from(Rejection::new(Code::NoSession, format!("there is no session `{id}`")));
    view.session(id)?.ok_or_else(missing)
}

fn explain_row(
    view: &mut dyn StoreView,
    head: &SessionHead,
    row: &EventRow,
) -> Result<(Json, TerminalText), CommandError> {
    let event = read_event(&row.data)?;
    let narrator = read_before(view, head, row.seq)?;
    let (session, narrator) = (head.id.as_str(), &narrator);
    let Some(decision) = &event.decision else {
        let explanation = EventExplanation { session, seq: row.seq, event: &event, narrator };
        return Ok((explanation.json(), explanation.text()));
    };
    // A later upgrade has other lines. The event that starts a session decides by the workflow that it pins.
    let mut pinned = narrator.workflow_hash;
    if let EventCause::Started { workflow_hash, .. } | EventCause::Upgraded { workflow_hash, .. } = &event.cause {
        pinned = Some(*workflow_hash);
    }
    let workflow = pinned_workflow(view, pinned.unwrap_or(head.workflow_hash))?;
    let explanation = DecisionExplanation { session, event: &event, decision, workflow: &workflow, narrator };
    Ok((explanation.json(), explanation.text()))
}

/// Everything that was known before this event: who held what, and the pinned workflow.
fn read_before(view: &mut dyn StoreView, session: &SessionHead, seq: u64) -> Result<EventNarrator, CommandError> {
    let mut narrator = EventNarrator::default();
    let mut after = 0;
    while after + 1 < seq {
        let limit = BATCH.min(usize::try_from(seq - 1 - after).unwrap_or(BATCH));
        let rows = view.events(session.key, after, limit)?;
        let Some(last) = rows.last() else { break };
        after = last.seq;
        for row in &rows {
            narrator.learn(&read_event(&row.data)?);
        }
    }
    Ok(narrator)
}

fn read_event(data: &str) -> Result<Event, CommandError> {
    serde_json::from_str(data).map_err(|_| {
        CommandError::new(CommandExit::Refused, Code::ChainBroken, "an event of this session cannot be read")
    })
}

fn pinned_workflow(view: &mut dyn StoreView, hash: Digest) -> Result<Workflow, CommandError> {
    let pinned = view.workflow(hash)?;
    let workflow = pinned.and_then(|pinned| load_pinned(&pinned.sources).workflow);
    workflow.ok_or_else(|| {
        CommandError::new(CommandExit::Refused, Code::PinnedChanged, "the pinned workflow cannot be read")
    })
}

fn unknown(reference: &DecisionRef) -> Rejection {
    Rejection::new(Code::NoDecision, format!("there is no decision {reference}"))
}
