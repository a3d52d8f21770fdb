//! Where the log holds what was last recorded on a lane: latest reports, answers, gate results and overrides.
//!
//! The texts stay beside their events. The state keeps decision numbers only: the latest of each key, and a bounded number
//! of the reports before it. So its size follows the workflow and not the length of the history.

use serde::{Deserialize, Serialize};

use crate::event::{Event, EventCause, StateChange};
use crate::id::{AssignmentId, DecisionId, Name};
use crate::state::{Assignment, State};
use crate::workflow::AssignmentTask;

/// Superseded reports that stay indexed for each key. The oldest are dropped first.
const MOST_SUPERSEDED: usize = 8;

/// Identifies the records of which only the latest is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RecordKey {
    /// A blocked report is kept beside the latest other one: its blocker matters until the group ends.
    Report {
        phase: Option<Name>,
        role: Name,
        task: AssignmentTask,
        blocked: bool,
        /// The role that was helped: guidance to one role does not replace guidance to another.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        helped: Option<Name>,
    },
    Answer {
        question: Name,
    },
    Gate {
        gate: Name,
    },
    Override,
    Waiver {
        evidence: Name,
    },
}

/// The latest record of its key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IndexedRecord {
    pub key: RecordKey,
    pub decision: DecisionId,
    /// For a report: the assignment and its attempt, which name the output directory.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub output: Option<(AssignmentId, u32)>,
    /// Reports of the same key before this one, oldest first: their documents, files and notes still count.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub superseded: Vec<SupersededReport>,
}

/// A report that a later one of the same key replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SupersededReport {
    pub decision: DecisionId,
    pub assignment: AssignmentId,
    pub attempt: u32,
}

impl IndexedRecord {
    /// The record that takes the place of an older one of the same key.
    fn replacing(mut self, old: Self) -> Self {
        self.superseded = old.superseded;
        if let Some((assignment, attempt)) = old.output {
            self.superseded.push(SupersededReport { decision: old.decision, assignment, attempt });
        }
        let excess = self.superseded.len().saturating_sub(MOST_SUPERSEDED);
        self.superseded.drain(..excess);
        self
    }
}

impl State {
    /// The lane and key that an event adds a record under. Must run before the event's changes close its subject.
    pub(super) fn indexed_record(&self, event: &Event) -> Option<(Option<Name>, IndexedRecord)> {
        let decision = event.decision.as_ref()?.id;
        let (group, key, output) = match &event.cause {
            EventCause::Reported { assignment: id, .. } | EventCause::Merged { assignment: id, .. } => {
                let closed = self.assignments.get(id)?;
                let blocked = event.changes.iter().any(|change| matches!(change, StateChange::Blocked { .. }));
                let (phase, role, task) = (closed.phase.clone(), closed.role.clone(), closed.task);
                let helped = self.helped_role(closed);
                let key = RecordKey::Report { phase, role, task, blocked, helped };
                (closed.group.clone(), key, Some((*id, closed.attempt)))
            }
            EventCause::Answered { question, .. } => {
                let asked = self.questions.get(question)?;
                (asked.group.clone(), RecordKey::Answer { question: asked.name.clone() }, None)
            }
            EventCause::GateFinished { run, gate, .. } => {
                (self.gate_runs.get(run)?.group.clone(), RecordKey::Gate { gate: gate.clone() }, None)
            }
            EventCause::Overridden { group, .. } => (Some(group.clone()), RecordKey::Override, None),
            EventCause::Waived { group, evidence, .. } => {
                (Some(group.clone()), RecordKey::Waiver { evidence: evidence.clone() }, None)
            }
            EventCause::Started { .. }
            | EventCause::Planned { .. }
            | EventCause::Claimed { .. }
            | EventCause::Lost { .. }
            | EventCause::Deferred { .. }
            | EventCause::Acknowledged { .. }
            | EventCause::Accepted { .. }
            | EventCause::Allowed { .. }
            | EventCause::CompletionAsked { .. }
            | EventCause::Cancelled { .. }
            | EventCause::LeaseExpired { .. }
            | EventCause::Upgraded { .. }
            | EventCause::Sighted(_)
            | EventCause::Refused(_) => return None,
        };
        Some((group, IndexedRecord { key, decision, output, superseded: Vec::new() }))
    }

    /// The role that waits for a helper.
    fn helped_role(&self, helper: &Assignment) -> Option<Name> {
        let lane = match &helper.group {
            Some(group) => &self.group(group)?.lane,
            None => &self.lane,
        };
        let waiting = &lane.part(helper.part).filter(|_| helper.task == AssignmentTask::Consult)?.waiting;
        waiting.last().map(|seat| seat.role.clone())
    }

    /// Replaces the record of the same key. The newest record is last.
    pub(super) fn index_record(&mut self, group: Option<&Name>, record: IndexedRecord) {
        self.on_lane(group, |lane| {
            let old = lane.records.iter().position(|old| old.key == record.key);
            let record = match old {
                Some(index) => record.replacing(lane.records.remove(index)),
                None => record,
            };
            lane.records.push(record);
        });
    }
}
