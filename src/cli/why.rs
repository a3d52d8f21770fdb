//! `interlock why`

use clap::Args;
use interlock_core::code::Code;
use interlock_core::event::{Cause, Event};
use interlock_core::id::Digest;
use interlock_core::rejection::Rejection;
use interlock_core::workflow::{Workflow, load_pinned};
use serde_json::Value as Json;

use crate::cli::place::Place;
use crate::cli::{Ending, examples};
use crate::engine::DecisionRef;
use crate::explanation::Explanation;
use crate::failure::{Exit, Failure};
use crate::narrative::Narrator;
use crate::output::{Output, Text};
use crate::store::{SessionHead, Store as _, View};

/// Explain a decision: who reported what, the rule that decided, the facts that it read
///
/// Names the rule with its line in the workflow that the session is pinned to, what was overridden, every reason of a
/// verdict with its code, and the fields that Interlock filled in. `interlock decisions` lists the decisions.
#[derive(Args)]
#[command(after_help = examples!("interlock why add-login-4f2k.d12"))]
pub(crate) struct Why {
    #[arg(value_name = "DECISION", value_parser = DecisionRef::parse)]
    decision: DecisionRef,
}

/// Events read at a time.
const BATCH: usize = 512;

impl Why {
    pub(crate) fn run(&self, output: Output, place: &Place) -> Ending {
        let (document, text) = explained(place, &self.decision)?;
        if output.json {
            output.document(&document)?;
        } else {
            output.text(&text)?;
        }
        Ok(Exit::Done)
    }
}

/// A decision for scripts, and for people.
pub(crate) fn explained(place: &Place, reference: &DecisionRef) -> Result<(Json, Text), Failure> {
    let mut store = place.store()?;
    let mut view = store.view()?;
    let Some(session) = view.session(&reference.session)? else {
        return Err(Rejection::new(Code::NoSession, format!("there is no session `{}`", reference.session)).into());
    };
    let Some(row) = view.event_of_decision(session.key, reference.id.0)? else { return Err(unknown(reference).into()) };
    let event = read_event(&row.data)?;
    let Some(decision) = &event.decision else { return Err(unknown(reference).into()) };
    let narrator = read_before(&mut *view, &session, row.seq)?;
    // A later upgrade has other lines. The event that starts a session decides by the workflow that it pins.
    let mut pinned = narrator.workflow_hash;
    if let Cause::Started { workflow_hash, .. } | Cause::Upgraded { workflow_hash, .. } = &event.cause {
        pinned = Some(*workflow_hash);
    }
    let workflow = pinned_workflow(&mut *view, pinned.unwrap_or(session.workflow_hash))?;
    let session = &reference.session;
    let explanation = Explanation { session, event: &event, decision, workflow: &workflow, narrator: &narrator };
    Ok((explanation.json(), explanation.text()))
}

/// Everything that was known before this event: who held what, and the pinned workflow.
fn read_before(view: &mut dyn View, session: &SessionHead, seq: u64) -> Result<Narrator, Failure> {
    let mut narrator = Narrator::default();
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

fn read_event(data: &str) -> Result<Event, Failure> {
    serde_json::from_str(data)
        .map_err(|_| Failure::new(Exit::Refused, Code::ChainBroken, "an event of this session cannot be read"))
}

fn pinned_workflow(view: &mut dyn View, hash: Digest) -> Result<Workflow, Failure> {
    let pinned = view.workflow(hash)?;
    let workflow = pinned.and_then(|pinned| load_pinned(&pinned.sources).workflow);
    workflow.ok_or_else(|| Failure::new(Exit::Refused, Code::PinnedChanged, "the pinned workflow cannot be read"))
}

fn unknown(reference: &DecisionRef) -> Rejection {
    Rejection::new(Code::NoDecision, format!("there is no decision {reference}"))
}
