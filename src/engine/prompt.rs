//! Gathers what the holder of an assignment has to know.

use std::path::Path;
use std::sync::Arc;

use interlock_core::event::{Cause, Event};
use interlock_core::id::{AssignmentId, DecisionId, Name, Timestamp};
use interlock_core::state::{IndexedRecord, RecordKey};
use interlock_core::watch::Via;
use interlock_core::workflow::{Role, Workflow};
use serde_json::Value as Json;

use crate::brief::{Brief, Dossier, DossierScope, LoggedRecord, Prompt, ReturnChannel, Said, output_place};
use crate::engine::load::{broken, unsealed};
use crate::engine::{Result, Work};
use crate::outputs;
use crate::store::chain::ChainKey;
use crate::store::{EventRow, View, chain};

/// An event that led to assignments.
pub(super) struct Origin {
    /// The version of the store that it was read in, its session and its number.
    place: (i64, i64, u64),
    event: Event,
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
        let mission = self.mission(session, key)?;
        let said = self.said(session, key, assignment.group.as_ref())?;
        let output_directory = output_directory(self.output, session, id, assignment.attempt);
        let reader = Some((id, assignment.attempt));
        let mut dossier = self.dossier(session, key, assignment.group.as_ref(), reader)?;
        if let Some(event) = event {
            self.add_origin(&mut dossier, session, key, assignment.group.as_ref(), event)?;
        }
        let channel = match self.via {
            Some(Via::Run) => ReturnChannel::Run,
            Some(Via::Hook(_)) => ReturnChannel::LastMessage,
            Some(Via::Mcp(_)) | None => ReturnChannel::Command,
        };
        let state = &self.held(session)?.state;
        let brief = Brief {
            state,
            workflow,
            id,
            assignment: &assignment,
            origin: event,
            lost: lost.as_deref().map(|lost| &lost.event),
            mission: mission.as_deref(),
            said: &said,
            dossier: &dossier,
            output_directory: &output_directory,
            channel,
        };
        Ok(Some(brief.prompt()))
    }

    /// The event that led to the assignment. A plan leads to many, and is read once for all that are claimed in a row.
    fn origin(&mut self, session: &str, key: i64, id: AssignmentId) -> Result<Option<Arc<Origin>>> {
        let Some(seq) = self.tx.opened(key, id)? else { return Ok(None) };
        let place = (self.memory.version, key, seq);
        if let Some(known) = self.memory.origin.as_ref().filter(|known| known.place == place) {
            return Ok(Some(known.clone()));
        }
        let rows = self.tx.events(key, seq.saturating_sub(1), 1)?;
        let Some(row) = rows.first() else { return Ok(None) };
        let event = unsealed(session, row, self.key)?;
        let origin = Arc::new(Origin { place, event });
        self.memory.origin = Some(origin.clone());
        Ok(Some(origin))
    }

    /// What the log holds for a reader of this group, or of the session as a whole.
    pub(super) fn dossier(
        &mut self,
        session: &Name,
        key: i64,
        group: Option<&Name>,
        reader: Option<(AssignmentId, u32)>,
    ) -> Result<Dossier> {
        let index =
            Dossier::index(&self.held(session)?.state, group.map_or(DossierScope::WholeSession, DossierScope::Group));
        Dossier::assemble(index, |record| self.logged_record(session, key, record, reader))
    }

    /// Adds the report that led to the assignment. Sessions of older versions have no index of their records.
    fn add_origin(
        &mut self,
        dossier: &mut Dossier,
        session: &Name,
        key: i64,
        group: Option<&Name>,
        event: &Event,
    ) -> Result<()> {
        let (Cause::Reported { assignment: id, .. }, Some(decision)) = (&event.cause, &event.decision) else {
            return Ok(());
        };
        if dossier.entries.iter().any(|entry| entry.decision == decision.id) {
            return Ok(());
        }
        self.recall_assignment(session, *id)?;
        let closed = self.held(session)?.state.assignments.get(id).cloned();
        // A report on another group only made room for this one.
        let Some(closed) = closed.filter(|closed| closed.group.is_none() || closed.group.as_ref() == group) else {
            return Ok(());
        };
        let key_of_report = RecordKey::Report {
            phase: closed.phase.clone(),
            role: closed.role.clone(),
            task: closed.task,
            blocked: false,
        };
        let record = IndexedRecord { key: key_of_report, decision: decision.id, output: Some((*id, closed.attempt)) };
        if let Some(logged) = self.logged_record(session, key, &record, None)? {
            dossier.add_origin(closed.group.as_ref(), record, logged);
        }
        Ok(())
    }

    fn logged_record(
        &mut self,
        session: &Name,
        key: i64,
        record: &IndexedRecord,
        reader: Option<(AssignmentId, u32)>,
    ) -> Result<Option<LoggedRecord>> {
        let Some(mut logged) = read_record(&mut *self.tx, self.key, session, key, record)? else { return Ok(None) };
        let Some((id, attempt)) = record.output else { return Ok(Some(logged)) };
        let place = output_place(id, attempt);
        let shown = match (self.via, reader) {
            // Agents of a run cannot read the folders of others: they get a copy.
            (Some(Via::Run), Some((id, attempt))) => {
                format!("{}/{}/{place}", output_directory(self.output, session, id, attempt), outputs::EARLIER)
            }
            (Some(_) | None, _) => format!("{}/{session}/{place}", self.output),
        };
        let files = outputs::list_files(Path::new(&format!("{}/{session}/{place}", self.output)));
        logged.output_files = files.iter().map(|file| format!("{shown}/{file}")).collect();
        Ok(Some(logged))
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

/// A record of the index, as the log has it.
pub(super) fn read_record<V: View + ?Sized>(
    view: &mut V,
    chain: &ChainKey,
    session: &str,
    key: i64,
    record: &IndexedRecord,
) -> Result<Option<LoggedRecord>> {
    let Some(row) = view.event_of_decision(key, record.decision.0)? else { return Ok(None) };
    let event = Arc::new(unsealed(session, &row, chain)?);
    let mut logged = LoggedRecord { event, handoff: None, question: None, output_files: Vec::new() };
    match &logged.event.cause {
        Cause::Reported { .. } | Cause::Merged { .. } => {
            let body = given(view, session, &row)?;
            logged.handoff = body.and_then(|body| serde_json::from_str(&body).ok()).map(Arc::new);
        }
        Cause::Answered { question, .. } => logged.question = view.question(key, *question)?,
        _ => {}
    }
    Ok(Some(logged))
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
