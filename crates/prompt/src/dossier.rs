//! The dossier: what was reported, answered and checked before an assignment, read from the log.
//!
//! The state names the latest record of each kind (`Lane::records`), so reading costs the same however long the history is.

use std::sync::Arc;

use interlock_core::event::{Event, EventCause, StateChange};
use interlock_core::id::{AssignmentId, DecisionId, Name};
use interlock_core::observed::ObservedChanges;
use interlock_core::state::{Group, GroupStatus, IndexedRecord, Lane, Question, RecordKey, State};
use interlock_core::workflow::AssignmentTask;
use serde_json::Value as Json;

/// Superseded reports that a dossier reads, the newest ones.
const MOST_SUPERSEDED: usize = 40;

/// A record as the log holds it.
#[derive(Clone, Debug)]
pub struct LoggedRecord {
    pub event: Arc<Event>,
    /// The full handoff that was reported.
    pub handoff: Option<Arc<Json>>,
    /// The question that was answered.
    pub question: Option<Question>,
    /// Files that the reporter left in its output directory, as the reader sees them.
    pub output_files: Vec<String>,
    /// Artifacts that the handoff names, and where they are.
    pub artifacts: Vec<ClaimedArtifact>,
}

/// An artifact as a handoff names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimedArtifact {
    pub path: String,
    pub found: ArtifactPlace,
}

/// Where a claimed artifact is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ArtifactPlace {
    /// One of the documents that the reporter left, as the reader sees it.
    Output(String),
    /// In the project, in the feature directory, or in the observed diff.
    Elsewhere,
    /// Not where the claim says. Documents of the reporter with the same name may be meant.
    Nowhere { same_name: Vec<String> },
}

/// One record, with what it is about.
#[derive(Clone, Debug)]
pub struct DossierEntry {
    pub group: Option<Name>,
    pub key: RecordKey,
    pub decision: DecisionId,
    /// Fields that the decision on it hands on: shown whole.
    pub named: Arc<[Name]>,
    /// Interlock did the work itself: a merge.
    pub by_interlock: bool,
    /// Evidence that the decision on it recorded as passed.
    pub passed: Vec<Name>,
    /// Where its reporter left documents: the folder of the attempt in the feature directory.
    pub place: Option<String>,
    pub content: EntryContent,
}

#[derive(Clone, Debug)]
pub enum EntryContent {
    Report {
        status: Name,
        handoff: Arc<Json>,
        observed: Option<Arc<ObservedChanges>>,
        output_files: Vec<String>,
        artifacts: Vec<ClaimedArtifact>,
    },
    Answer {
        question: Option<Name>,
        option: Option<Name>,
        text: Option<Name>,
        by: Name,
    },
    Gate {
        passed: bool,
        output: Name,
    },
    /// A person redirected the work or waived evidence, for this reason.
    PersonsReason {
        why: Name,
        by: Name,
    },
}

/// Whose dossier it is.
#[derive(Clone, Copy, Debug)]
pub enum DossierScope<'a> {
    /// Work on one group: its records and those of the session.
    Group(&'a Name),
    /// Work on the session as a whole: the records of every group.
    WholeSession,
}

/// Everything that the reader of a prompt or a question should have, oldest first.
#[derive(Clone, Debug, Default)]
pub struct Dossier {
    pub entries: Vec<DossierEntry>,
    /// Reports that later ones of the same role replaced, newest first: for their documents, files and notes.
    pub superseded: Vec<DossierEntry>,
    /// The latest reports on the groups that the reader's group depends on, oldest first.
    pub dependencies: Vec<DossierEntry>,
}

impl Dossier {
    /// The records that a scope has, oldest first.
    pub fn index(state: &State, scope: DossierScope<'_>) -> Vec<(Option<Name>, IndexedRecord)> {
        let mut wanted: Vec<(Option<Name>, IndexedRecord)> = Vec::new();
        let mut add = |group: Option<&Name>, lane: &Lane| {
            wanted.extend(lane.records.iter().map(|record| (group.cloned(), record.clone())));
        };
        add(None, &state.lane);
        match scope {
            DossierScope::Group(name) => {
                if let Some(group) = state.group(name) {
                    add(Some(name), &group.lane);
                }
            }
            DossierScope::WholeSession => state.groups.iter().for_each(|group| add(Some(&group.id), &group.lane)),
        }
        wanted.sort_by_key(|(_, record)| record.decision);
        wanted
    }

    /// The latest reports of work and merges on the groups that a group depends on, oldest first.
    pub fn dependency_index(state: &State, group: &Name) -> Vec<(Option<Name>, IndexedRecord)> {
        let needed = state.group(group).into_iter().flat_map(|group| &group.depends_on);
        let needed = needed.filter_map(|name| state.group(name));
        let is_work = |key: &RecordKey| {
            matches!(key, RecordKey::Report { task: AssignmentTask::Work | AssignmentTask::Merge, blocked: false, .. })
        };
        let of = |group: &Group| {
            let records = group.lane.records.iter().filter(|record| is_work(&record.key));
            let latest = records.map(|record| IndexedRecord { superseded: Vec::new(), ..record.clone() });
            latest.map(|record| (Some(group.id.clone()), record)).collect::<Vec<_>>()
        };
        let mut wanted: Vec<(Option<Name>, IndexedRecord)> = needed.flat_map(of).collect();
        wanted.sort_by_key(|(_, record)| record.decision);
        wanted
    }

    /// Reads the reports on groups that the reader's group depends on.
    pub fn add_dependencies<E>(
        &mut self,
        index: Vec<(Option<Name>, IndexedRecord)>,
        mut read: impl FnMut(&IndexedRecord) -> Result<Option<LoggedRecord>, E>,
    ) -> Result<(), E> {
        for (group, record) in index {
            let Some(logged) = read(&record)? else { continue };
            self.dependencies.extend(DossierEntry::of(group, record, logged));
        }
        Ok(())
    }

    /// Reads the records. `read` finds one in the log.
    pub fn assemble<E>(
        index: Vec<(Option<Name>, IndexedRecord)>,
        mut read: impl FnMut(&IndexedRecord) -> Result<Option<LoggedRecord>, E>,
    ) -> Result<Self, E> {
        let mut dossier = Self::default();
        let mut superseded: Vec<(Option<Name>, IndexedRecord)> = Vec::new();
        for (group, mut record) in index {
            for old in std::mem::take(&mut record.superseded) {
                let (key, output) = (record.key.clone(), Some((old.assignment, old.attempt)));
                let old = IndexedRecord { key, decision: old.decision, output, superseded: Vec::new() };
                superseded.push((group.clone(), old));
            }
            let Some(logged) = read(&record)? else { continue };
            dossier.entries.extend(DossierEntry::of(group, record, logged));
        }
        superseded.sort_by_key(|(_, record)| std::cmp::Reverse(record.decision));
        for (group, record) in superseded.into_iter().take(MOST_SUPERSEDED) {
            let Some(logged) = read(&record)? else { continue };
            dossier.superseded.extend(DossierEntry::of(group, record, logged));
        }
        Ok(dossier)
    }

    /// Adds a record that the state does not name: the event that led to the assignment, in a session of an older version.
    pub fn add_origin(&mut self, group: Option<&Name>, record: IndexedRecord, logged: LoggedRecord) {
        if self.entries.iter().all(|entry| entry.decision != record.decision) {
            self.entries.extend(DossierEntry::of(group.cloned(), record, logged));
            self.entries.sort_by_key(|entry| entry.decision);
        }
    }

    /// Folders of the feature directory that have documents for this reader.
    pub fn output_places(&self) -> Vec<String> {
        let has_files = |entry: &&DossierEntry| match &entry.content {
            EntryContent::Report { output_files, .. } => !output_files.is_empty(),
            EntryContent::Answer { .. } | EntryContent::Gate { .. } | EntryContent::PersonsReason { .. } => false,
        };
        let all = self.entries.iter().chain(&self.superseded).chain(&self.dependencies);
        all.filter(has_files).filter_map(|entry| entry.place.clone()).collect()
    }

    /// The records of a group, oldest first.
    pub fn reports_on<'a>(&'a self, group: &'a Name) -> impl Iterator<Item = &'a DossierEntry> {
        self.entries.iter().filter(move |entry| entry.group.as_ref() == Some(group))
    }
}

impl DossierEntry {
    fn of(group: Option<Name>, record: IndexedRecord, logged: LoggedRecord) -> Option<Self> {
        let content = match &logged.event.cause {
            EventCause::Reported { status, observed, .. } => EntryContent::Report {
                status: status.clone(),
                handoff: logged.handoff?,
                observed: observed.clone(),
                output_files: logged.output_files,
                artifacts: logged.artifacts,
            },
            EventCause::Merged { status, .. } => EntryContent::Report {
                status: status.clone(),
                handoff: logged.handoff?,
                observed: None,
                output_files: Vec::new(),
                artifacts: Vec::new(),
            },
            EventCause::Answered { option, text, by, .. } => EntryContent::Answer {
                question: logged.question.map(|question| question.text),
                option: option.clone(),
                text: text.clone(),
                by: by.clone(),
            },
            EventCause::GateFinished { passed, output, .. } => {
                EntryContent::Gate { passed: *passed, output: output.clone() }
            }
            EventCause::Overridden { why, by, .. } | EventCause::Waived { why, by, .. } => {
                EntryContent::PersonsReason { why: why.clone(), by: by.clone() }
            }
            _ => return None,
        };
        let named = logged.event.decision.as_ref().map(|decision| decision.context.clone()).unwrap_or_default();
        let passes = logged.event.changes.iter().filter_map(|change| match change {
            StateChange::Passed { name, .. } => Some(name.clone()),
            _ => None,
        });
        let passed = passes.collect();
        let by_interlock = matches!(logged.event.cause, EventCause::Merged { .. });
        let place = record.output.map(|(id, attempt)| output_place(id, attempt));
        Some(Self { group, key: record.key, decision: record.decision, named, by_interlock, passed, place, content })
    }

    pub fn is_report(&self) -> bool {
        matches!(self.content, EntryContent::Report { .. })
    }

    /// The role that reported, and for which task.
    pub fn reporter(&self) -> Option<(&Name, AssignmentTask)> {
        match &self.key {
            RecordKey::Report { role, task, .. } => Some((role, *task)),
            RecordKey::Answer { .. } | RecordKey::Gate { .. } | RecordKey::Override | RecordKey::Waiver { .. } => None,
        }
    }

    /// The diff that Interlock observed with the report.
    pub(super) fn observed(&self) -> Option<&ObservedChanges> {
        match &self.content {
            EntryContent::Report { observed, .. } => observed.as_deref(),
            EntryContent::Answer { .. } | EntryContent::Gate { .. } | EntryContent::PersonsReason { .. } => None,
        }
    }

    pub fn phase(&self) -> Option<&Name> {
        match &self.key {
            RecordKey::Report { phase, .. } => phase.as_ref(),
            RecordKey::Answer { .. } | RecordKey::Gate { .. } | RecordKey::Override | RecordKey::Waiver { .. } => None,
        }
    }

    pub fn handoff(&self) -> Option<&Json> {
        match &self.content {
            EntryContent::Report { handoff, .. } => Some(handoff),
            EntryContent::Answer { .. } | EntryContent::Gate { .. } | EntryContent::PersonsReason { .. } => None,
        }
    }
}

/// Groups that the role that looks after the session has to decide about.
pub(super) fn needs_decision(group: &Group) -> bool {
    match group.status() {
        GroupStatus::Blocked
        | GroupStatus::AwaitingPerson
        | GroupStatus::AwaitingConfirmation
        | GroupStatus::DeferredExternal => true,
        GroupStatus::Pending
        | GroupStatus::InProgress
        | GroupStatus::Merging
        | GroupStatus::Completed
        | GroupStatus::Cancelled => false,
    }
}

/// The output directory of an attempt, below the directory of the session.
pub fn output_place(id: AssignmentId, attempt: u32) -> String {
    format!("{id}.{attempt}")
}
