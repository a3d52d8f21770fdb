//! Gathers what the holder of an assignment has to know.

use std::path::Path;
use std::sync::Arc;

use interlock_core::event::{Event, EventCause, StateChange};
use interlock_core::id::{AssignmentId, DecisionId, Name, Timestamp};
use interlock_core::provenance::Channel;
use interlock_core::state::{Assignment, IndexedRecord, RecordKey};
use interlock_core::workflow::{Role, Workflow};
use serde_json::Value as Json;

use crate::artifacts::locate_artifacts;
use crate::load::{chain_broken, verify_event};
use crate::{EngineResult, TxContext};
use interlock_prompt::outputs;
use interlock_prompt::{
    AssignmentPrompt, Dossier, DossierScope, EarlierReports, LoggedRecord, LostAttempt, PromptContext, ReturnChannel,
    output_place,
};
use interlock_store::chain::ChainKey;
use interlock_store::{EventRow, StoreView, chain};

/// Lost attempts that a prompt shows, the newest ones.
const MOST_LOST: usize = 5;
/// Attempts of one assignment that are looked at for what they left.
const MOST_LOST_ATTEMPTS: u32 = 20;
/// Events read at once to find the one that asked a question, and how often.
const BATCH: u64 = 64;
const MOST_BATCHES: u32 = 64;

/// An event that led to assignments.
pub(super) struct OriginEvent {
    /// The version of the store that it was read in, its session and its number.
    place: (i64, i64, u64),
    event: Event,
}

/// A plan that many groups came from.
pub(super) struct CachedPlan {
    /// The version of the store that it was read in, its session and its decision.
    place: (i64, i64, DecisionId),
    report: Option<Arc<Json>>,
}

impl TxContext<'_> {
    /// The prompt for an open assignment; `None` if there is no such thing, which the decision then says.
    pub(super) fn prompt(
        &mut self,
        session: &Name,
        id: AssignmentId,
        workflow: &Workflow,
    ) -> EngineResult<Option<AssignmentPrompt>> {
        let live = self.cached_session(session)?;
        let key = live.key;
        let Some(assignment) = live.state.assignments.get(&id).filter(|assignment| assignment.closed.is_none()) else {
            return Ok(None);
        };
        let assignment = assignment.clone();
        let mut origin = self.origin(session, key, id)?;
        let mut lost = None;
        let mut attempts = unreported_attempts(id, &assignment, origin.as_deref());
        while let Some(OriginEvent { event, .. }) = origin.as_deref()
            && let EventCause::Lost { assignment, .. } = event.cause
        {
            let earlier = self.origin(session, key, assignment)?;
            attempts.extend(self.attempts_of_lost(session, assignment, earlier.as_deref())?);
            lost = lost.or_else(|| origin.take());
            origin = earlier;
        }
        if let Some(asked) = self.loss_behind_answer(session, key, origin.as_deref())? {
            let earlier = self.origin(session, key, asked)?;
            attempts.extend(self.attempts_of_lost(session, asked, earlier.as_deref())?);
        }
        let event = origin.as_deref().map(|origin| &origin.event);
        let mission = self.mission(session, key)?;
        let said = self.read_earlier_reports(session, key, assignment.group.as_ref())?;
        let output_directory = output_directory(self.output, session, id, assignment.attempt);
        let reader = Some((id, assignment.attempt));
        let lost_attempts = self.read_attempts(session, (id, assignment.attempt), &attempts);
        let mut dossier = self.dossier(session, key, assignment.group.as_ref(), reader)?;
        if let Some(event) = event {
            self.add_origin(&mut dossier, session, key, assignment.group.as_ref(), event)?;
        }
        let channel = match self.via {
            Some(Channel::Run) => ReturnChannel::Run,
            Some(Channel::Hook(_) | Channel::Mcp(_)) => ReturnChannel::LastMessage,
            None => ReturnChannel::Command,
        };
        let state = &self.cached_session(session)?.state;
        let brief = PromptContext {
            state,
            workflow,
            id,
            assignment: &assignment,
            origin: event,
            lost: lost.as_deref().map(|lost| &lost.event),
            lost_attempts: &lost_attempts,
            mission: mission.as_deref(),
            said: &said,
            dossier: &dossier,
            output_directory: &output_directory,
            channel,
        };
        Ok(Some(brief.prompt()))
    }

    /// The attempts of an assignment that was lost, newest first.
    fn attempts_of_lost(
        &mut self,
        session: &Name,
        id: AssignmentId,
        origin: Option<&OriginEvent>,
    ) -> EngineResult<Vec<EndedAttempt>> {
        self.rehydrate_assignment(session, id)?;
        let Some(closed) = self.cached_session(session)?.state.assignments.get(&id).cloned() else {
            return Ok(Vec::new());
        };
        let last = EndedAttempt { role: closed.role.clone(), id, attempt: closed.attempt, unreported: false };
        Ok([vec![last], unreported_attempts(id, &closed, origin)].concat())
    }

    /// The lost assignment that led to a question, if the assignment here follows from the answer.
    fn loss_behind_answer(
        &mut self,
        session: &Name,
        key: i64,
        origin: Option<&OriginEvent>,
    ) -> EngineResult<Option<AssignmentId>> {
        let Some(OriginEvent { place: (_, _, seq), event }) = origin else { return Ok(None) };
        let EventCause::Answered { question: answered, .. } = event.cause else { return Ok(None) };
        let mut end = seq.saturating_sub(1);
        for _ in 0..MOST_BATCHES {
            let start = end.saturating_sub(BATCH);
            let count = usize::try_from(end.saturating_sub(start)).unwrap_or(0);
            let rows = if count == 0 { Vec::new() } else { self.tx.events(key, start, count)? };
            for row in rows.iter().rev() {
                let event = verify_event(session, row, self.key)?;
                let asks = |change: &StateChange| matches!(change, StateChange::Asked { question, .. } if *question == answered);
                if event.changes.iter().any(asks) {
                    let EventCause::Lost { assignment, .. } = event.cause else { return Ok(None) };
                    return Ok(Some(assignment));
                }
            }
            end = start;
        }
        Ok(None)
    }

    /// The outputs of attempts that ended without an accepted handoff.
    fn read_attempts(
        &self,
        session: &Name,
        reader: (AssignmentId, u32),
        attempts: &[EndedAttempt],
    ) -> Vec<LostAttempt> {
        let newest = attempts.iter().take(MOST_LOST).map(|ended| {
            let place = output_place(ended.id, ended.attempt);
            let folder = format!("{}/{session}/{place}", self.output);
            let shown = self.shown_place(session, Some(reader), &place);
            let files = outputs::list_files(Path::new(&folder));
            let (output, handoff) = outputs::read_remains(Path::new(&folder));
            LostAttempt {
                role: ended.role.clone(),
                attempt: ended.attempt,
                unreported: ended.unreported,
                place,
                files: files.iter().map(|file| format!("{shown}/{file}")).collect(),
                output,
                handoff,
            }
        });
        // An attempt of which nothing is left may never have started.
        newest.filter(|lost| !lost.unreported || !lost.files.is_empty()).collect()
    }

    /// The path of an output directory as a reader sees it. Agents of a run cannot read the folders of others: they get a
    /// copy.
    fn shown_place(&self, session: &Name, reader: Option<(AssignmentId, u32)>, place: &str) -> String {
        match (self.via, reader) {
            (Some(Channel::Run), Some((id, attempt))) => {
                format!("{}/{}/{place}", output_directory(self.output, session, id, attempt), outputs::EARLIER)
            }
            (Some(_) | None, _) => format!("{}/{session}/{place}", self.output),
        }
    }

    /// The event that led to the assignment. A plan leads to many, and is read once for all that are claimed in a row.
    fn origin(&mut self, session: &str, key: i64, id: AssignmentId) -> EngineResult<Option<Arc<OriginEvent>>> {
        let Some(seq) = self.tx.opened(key, id)? else { return Ok(None) };
        let place = (self.memory.version, key, seq);
        if let Some(known) = self.memory.origin.as_ref().filter(|known| known.place == place) {
            return Ok(Some(known.clone()));
        }
        let rows = self.tx.events(key, seq.saturating_sub(1), 1)?;
        let Some(row) = rows.first() else { return Ok(None) };
        let event = verify_event(session, row, self.key)?;
        let origin = Arc::new(OriginEvent { place, event });
        self.memory.origin = Some(origin.clone());
        Ok(Some(origin))
    }

    /// The entries of the log for a reader of this group, or of the session as a whole.
    pub(super) fn dossier(
        &mut self,
        session: &Name,
        key: i64,
        group: Option<&Name>,
        reader: Option<(AssignmentId, u32)>,
    ) -> EngineResult<Dossier> {
        let index = Dossier::index(
            &self.cached_session(session)?.state,
            group.map_or(DossierScope::WholeSession, DossierScope::Group),
        );
        let needed = match group {
            Some(group) if reader.is_some() => Dossier::dependency_index(&self.cached_session(session)?.state, group),
            Some(_) | None => Vec::new(),
        };
        let mut dossier = Dossier::assemble(index, |record| self.logged_record(session, key, record, reader))?;
        dossier.add_dependencies(needed, |record| self.logged_record(session, key, record, reader))?;
        Ok(dossier)
    }

    /// Adds the report that led to the assignment. Sessions of older versions have no index of their records.
    fn add_origin(
        &mut self,
        dossier: &mut Dossier,
        session: &Name,
        key: i64,
        group: Option<&Name>,
        event: &Event,
    ) -> EngineResult<()> {
        let (EventCause::Reported { assignment: id, .. }, Some(decision)) = (&event.cause, &event.decision) else {
            return Ok(());
        };
        if dossier.entries.iter().any(|entry| entry.decision == decision.id) {
            return Ok(());
        }
        self.rehydrate_assignment(session, *id)?;
        let closed = self.cached_session(session)?.state.assignments.get(id).cloned();
        // A report on another group only made room for this one.
        let Some(closed) = closed.filter(|closed| closed.group.is_none() || closed.group.as_ref() == group) else {
            return Ok(());
        };
        let key_of_report = RecordKey::Report {
            phase: closed.phase.clone(),
            role: closed.role.clone(),
            task: closed.task,
            blocked: false,
            helped: None,
        };
        let output = Some((*id, closed.attempt));
        let record = IndexedRecord { key: key_of_report, decision: decision.id, output, superseded: Vec::new() };
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
    ) -> EngineResult<Option<LoggedRecord>> {
        let Some(mut logged) = read_record(&mut *self.tx, self.key, session, key, record)? else { return Ok(None) };
        let Some((id, attempt)) = record.output else { return Ok(Some(logged)) };
        let place = output_place(id, attempt);
        let shown = self.shown_place(session, reader, &place);
        let files = outputs::list_files(Path::new(&format!("{}/{session}/{place}", self.output)));
        logged.output_files = files.iter().map(|file| format!("{shown}/{file}")).collect();
        logged.artifacts = locate_artifacts(&logged, &outputs_of_session(self.output, session), &place);
        Ok(Some(logged))
    }

    /// The texts that agents wrote about a group in their reports.
    fn read_earlier_reports(&mut self, session: &Name, key: i64, group: Option<&Name>) -> EngineResult<EarlierReports> {
        let state = &self.cached_session(session)?.state;
        let Some(group) = group else {
            let groups: Vec<(Name, DecisionId)> =
                state.groups.iter().map(|group| (group.id.clone(), group.words.plan)).collect();
            return EarlierReports::of_session(&groups, |decision| self.report_of(session, key, decision, true));
        };
        let Some(group) = state.group(group).cloned() else { return Ok(EarlierReports::default()) };
        let plan = group.words.plan;
        EarlierReports::of(&group, |decision| self.report_of(session, key, decision, decision == plan))
    }

    /// The report that was submitted for a decision. A plan applies to many groups, so it is cached for the
    /// next of them.
    fn report_of(&mut self, session: &str, key: i64, id: DecisionId, keep: bool) -> EngineResult<Option<Arc<Json>>> {
        let place = (self.memory.version, key, id);
        if let Some(known) = self.memory.plan.as_ref().filter(|known| known.place == place) {
            return Ok(known.report.clone());
        }
        let report = read_report(&mut *self.tx, self.key, session, key, id)?;
        if keep {
            self.memory.plan = Some(CachedPlan { place, report: report.clone() });
        }
        Ok(report)
    }

    /// The text that the session was started with.
    fn mission(&mut self, session: &str, key: i64) -> EngineResult<Option<String>> {
        let first = self.tx.events(key, 0, 1)?;
        let Some(row) = first.first() else { return Ok(None) };
        verify_event(session, row, self.key)?;
        self.read_attachment(session, row)
    }

    fn read_attachment(&mut self, session: &str, row: &EventRow) -> EngineResult<Option<String>> {
        read_attachment(&mut *self.tx, session, row)
    }
}

/// An attempt that ended without an accepted handoff.
#[derive(Clone)]
struct EndedAttempt {
    role: Name,
    id: AssignmentId,
    attempt: u32,
    /// The assignment was unclaimed, and is claimed again under the same id.
    unreported: bool,
}

/// Attempts before the latest one of the same assignment, newest first.
fn unreported_attempts(id: AssignmentId, assignment: &Assignment, origin: Option<&OriginEvent>) -> Vec<EndedAttempt> {
    let changes = origin.iter().flat_map(|origin| &origin.event.changes);
    let first = changes.into_iter().find_map(|change| match change {
        StateChange::Assigned { assignment, attempt, .. } if *assignment == id => Some(*attempt),
        _ => None,
    });
    let first = first.unwrap_or(assignment.attempt).max(assignment.attempt.saturating_sub(MOST_LOST_ATTEMPTS));
    let earlier = (first..assignment.attempt).rev();
    earlier.map(|attempt| EndedAttempt { role: assignment.role.clone(), id, attempt, unreported: true }).collect()
}

/// The report that a decision is about.
pub(super) fn read_report<V: StoreView + ?Sized>(
    view: &mut V,
    chain: &ChainKey,
    session: &str,
    key: i64,
    id: DecisionId,
) -> EngineResult<Option<Arc<Json>>> {
    let Some(row) = view.event_of_decision(key, id.0)? else { return Ok(None) };
    let event = verify_event(session, &row, chain)?;
    // The text beside the start of a session is its mission, whatever it looks like.
    let reported = matches!(event.cause, EventCause::Reported { .. } | EventCause::Merged { .. });
    let given = if reported { read_attachment(view, session, &row)? } else { None };
    Ok(given.and_then(|body| serde_json::from_str(&body).ok()).map(Arc::new))
}

/// A record of the index, as the log has it.
pub(super) fn read_record<V: StoreView + ?Sized>(
    view: &mut V,
    chain: &ChainKey,
    session: &str,
    key: i64,
    record: &IndexedRecord,
) -> EngineResult<Option<LoggedRecord>> {
    let Some(row) = view.event_of_decision(key, record.decision.0)? else { return Ok(None) };
    let event = Arc::new(verify_event(session, &row, chain)?);
    let mut logged =
        LoggedRecord { event, handoff: None, question: None, output_files: Vec::new(), artifacts: Vec::new() };
    match &logged.event.cause {
        EventCause::Reported { .. } | EventCause::Merged { .. } => {
            let body = read_attachment(view, session, &row)?;
            logged.handoff = body.and_then(|body| serde_json::from_str(&body).ok()).map(Arc::new);
        }
        EventCause::Answered { question, .. } => logged.question = view.question(key, *question)?,
        _ => {}
    }
    Ok(Some(logged))
}

/// The record with the paths of the documents that its reporter left.
pub(super) fn with_output_files(mut logged: LoggedRecord, record: &IndexedRecord, outputs: &str) -> LoggedRecord {
    if let Some((id, attempt)) = record.output {
        let folder = format!("{outputs}/{}", output_place(id, attempt));
        let files = outputs::list_files(Path::new(&folder));
        logged.output_files = files.iter().map(|file| format!("{folder}/{file}")).collect();
        logged.artifacts = locate_artifacts(&logged, outputs, &output_place(id, attempt));
    }
    logged
}

/// The attachment of a sealed event, verified against its hash.
pub(super) fn read_attachment<V: StoreView + ?Sized>(
    view: &mut V,
    session: &str,
    row: &EventRow,
) -> EngineResult<Option<String>> {
    let body = view.attachment(row.id)?;
    match body.as_ref().map(|body| chain::hash_attachment(body.as_bytes())) == row.given {
        true => Ok(body),
        false => Err(chain_broken(session, row.seq).into()),
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
