//! Gathers what the holder of an assignment has to know.

use std::sync::Arc;

use interlock_core::event::{Cause, Event};
use interlock_core::id::{AssignmentId, DecisionId, Name, Timestamp};
use interlock_core::watch::Via;
use interlock_core::workflow::{Role, Workflow};
use serde_json::Value as Json;

use crate::brief::{Brief, Prompt, Said};
use crate::engine::load::{broken, unsealed};
use crate::engine::{Result, Work};
use crate::store::{EventRow, View, chain};

/// An event that gave assignments, and what was handed over in it.
pub(super) struct Origin {
    /// The version of the store that it was read in, its session and its number.
    place: (i64, i64, u64),
    event: Event,
    handoff: Option<Arc<Json>>,
}

/// A plan that many groups came from.
pub(super) struct Planned {
    /// The version of the store that it was read in, its session and its decision.
    place: (i64, i64, DecisionId),
    report: Option<Arc<Json>>,
}

impl Work<'_> {
    /// The prompt for an open assignment; `None` if there is no such thing, which the decision then says.
    pub(super) fn prompt(&mut self, session: &Name, id: AssignmentId, workflow: &Workflow) -> Result<Option<Prompt>> {
        let live = self.held(session)?;
        let key = live.key;
        let Some(assignment) = live.state.assignments.get(&id).filter(|assignment| assignment.closed.is_none()) else {
            return Ok(None);
        };
        let assignment = assignment.clone();
        let mut origin = self.origin(session, key, id)?;
        let mut lost = None;
        while let Some(Origin { event, .. }) = origin.as_deref()
            && let Cause::Lost { assignment, .. } = event.cause
        {
            let earlier = self.origin(session, key, assignment)?;
            lost = lost.or_else(|| origin.take());
            origin = earlier;
        }
        let event = origin.as_deref().map(|origin| &origin.event);
        // An answer is read with its question.
        if let Some(Cause::Answered { question, .. }) = event.map(|event| &event.cause) {
            self.recall_question(session, *question)?;
        }
        let mission = self.mission(session, key)?;
        let said = self.said(session, key, assignment.group.as_ref())?;
        let output_directory = output_directory(self.output, session, id, assignment.attempt);
        let in_a_run = self.via == Some(&Via::Run);
        let state = &self.held(session)?.state;
        let brief = Brief {
            state,
            workflow,
            id,
            assignment: &assignment,
            origin: event,
            lost: lost.as_deref().map(|lost| &lost.event),
            handoff: origin.as_deref().and_then(|origin| origin.handoff.as_ref()),
            mission: mission.as_deref(),
            said: &said,
            output_directory: &output_directory,
            in_a_run,
        };
        Ok(Some(brief.prompt()))
    }

    /// The event that gave the assignment, and what was handed over in it: as it was then, or not at all. A plan gives
    /// many, and is read once for all that are claimed one after another.
    fn origin(&mut self, session: &str, key: i64, id: AssignmentId) -> Result<Option<Arc<Origin>>> {
        let Some(seq) = self.tx.opened(key, id)? else { return Ok(None) };
        let place = (self.memory.version, key, seq);
        if let Some(known) = self.memory.origin.as_ref().filter(|known| known.place == place) {
            return Ok(Some(known.clone()));
        }
        let rows = self.tx.events(key, seq.saturating_sub(1), 1)?;
        let Some(row) = rows.first() else { return Ok(None) };
        let event = unsealed(session, row, self.key)?;
        let handoff = self.given(session, row)?.and_then(|body| serde_json::from_str(&body).ok()).map(Arc::new);
        let origin = Arc::new(Origin { place, event, handoff });
        self.memory.origin = Some(origin.clone());
        Ok(Some(origin))
    }

    /// What agents wrote of a group in their reports.
    fn said(&mut self, session: &Name, key: i64, group: Option<&Name>) -> Result<Said> {
        let state = &self.held(session)?.state;
        let Some(group) = group.and_then(|group| state.group(group)).cloned() else { return Ok(Said::default()) };
        let plan = group.words.plan;
        Said::of(&group, |decision| self.report_of(session, key, decision, decision == plan))
    }

    /// What was given in for a decision. A plan is that of many groups, and kept for the next of them.
    fn report_of(&mut self, session: &str, key: i64, id: DecisionId, keep: bool) -> Result<Option<Arc<Json>>> {
        let place = (self.memory.version, key, id);
        if let Some(known) = self.memory.plan.as_ref().filter(|known| known.place == place) {
            return Ok(known.report.clone());
        }
        let Some(row) = self.tx.event_of_decision(key, id.0)? else { return Ok(None) };
        let event = unsealed(session, &row, self.key)?;
        // The text beside the start of a session is its mission, whatever it looks like.
        let reported = matches!(event.cause, Cause::Reported { .. } | Cause::Merged { .. });
        let given = if reported { self.given(session, &row)? } else { None };
        let report = given.and_then(|body| serde_json::from_str(&body).ok()).map(Arc::new);
        if keep {
            self.memory.plan = Some(Planned { place, report: report.clone() });
        }
        Ok(report)
    }

    /// The text that the session was started with.
    fn mission(&mut self, session: &str, key: i64) -> Result<Option<String>> {
        let first = self.tx.events(key, 0, 1)?;
        let Some(row) = first.first() else { return Ok(None) };
        unsealed(session, row, self.key)?;
        self.given(session, row)
    }

    fn given(&mut self, session: &str, row: &EventRow) -> Result<Option<String>> {
        given(&mut *self.tx, session, row)
    }
}

/// What a sealed event was given, if it is what it was.
pub(super) fn given<V: View + ?Sized>(view: &mut V, session: &str, row: &EventRow) -> Result<Option<String>> {
    let body = view.attachment(row.id)?;
    match body.as_ref().map(|body| chain::given(body.as_bytes())) == row.given {
        true => Ok(body),
        false => Err(broken(session, row.seq).into()),
    }
}

pub(super) fn output_directory(folder: &str, session: &str, id: AssignmentId, attempt: u32) -> String {
    format!("{}/{id}.{attempt}", outputs_of_session(folder, session))
}

/// The folder that the outputs of a session lie in, one folder for each assignment.
pub(super) fn outputs_of_session(folder: &str, session: &str) -> String {
    format!("{folder}/{session}")
}

/// Until when a role has for its work.
pub(super) fn deadline(role: &Role, now: Timestamp) -> Option<Timestamp> {
    let length = i64::try_from(role.deadline?.milliseconds()).ok()?;
    Some(Timestamp(now.0.saturating_add(length)))
}
