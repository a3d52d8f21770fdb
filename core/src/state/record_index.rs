//! Where the log holds what was last recorded on a lane: latest reports, answers, gate results and overrides.
//!
//! The texts stay beside their events. The state keeps decision numbers only, one for each key, so its size follows the
//! workflow and not the length of the history.

use serde::{Deserialize, Serialize};

use crate::event::{Cause, Change, Event};
use crate::id::{AssignmentId, DecisionId, Name};
use crate::state::State;
use crate::workflow::Task;

/// Identifies the records of which only the latest is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RecordKey {
    /// A blocked report is kept beside the latest other one: its blocker matters until the group ends.
    Report {
        phase: Option<Name>,
        role: Name,
        task: Task,
        blocked: bool,
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
}

impl State {
    /// The lane and key that an event adds a record under. Must run before the event's changes close its subject.
    pub(super) fn indexed_record(&self, event: &Event) -> Option<(Option<Name>, IndexedRecord)> {
        let decision = event.decision.as_ref()?.id;
        let (group, key, output) = match &event.cause {
            Cause::Reported { assignment: id, .. } | Cause::Merged { assignment: id, .. } => {
                let closed = self.assignments.get(id)?;
                let blocked = event.changes.iter().any(|change| matches!(change, Change::Blocked { .. }));
                let (phase, role, task) = (closed.phase.clone(), closed.role.clone(), closed.task);
                let key = RecordKey::Report { phase, role, task, blocked };
                (closed.group.clone(), key, Some((*id, closed.attempt)))
            }
            Cause::Answered { question, .. } => {
                let asked = self.questions.get(question)?;
                (asked.group.clone(), RecordKey::Answer { question: asked.name.clone() }, None)
            }
            Cause::GateFinished { run, gate, .. } => {
                (self.gate_runs.get(run)?.group.clone(), RecordKey::Gate { gate: gate.clone() }, None)
            }
            Cause::Overridden { group, .. } => (Some(group.clone()), RecordKey::Override, None),
            Cause::Waived { group, evidence, .. } => {
                (Some(group.clone()), RecordKey::Waiver { evidence: evidence.clone() }, None)
            }
            Cause::Started { .. }
            | Cause::Planned { .. }
            | Cause::Claimed { .. }
            | Cause::Lost { .. }
            | Cause::Deferred { .. }
            | Cause::Acknowledged { .. }
            | Cause::Accepted { .. }
            | Cause::Allowed { .. }
            | Cause::CompletionAsked { .. }
            | Cause::Cancelled { .. }
            | Cause::LeaseExpired { .. }
            | Cause::Upgraded { .. }
            | Cause::Sighted(_)
            | Cause::Refused(_) => return None,
        };
        Some((group, IndexedRecord { key, decision, output }))
    }

    /// Replaces the record of the same key. The newest record is last.
    pub(super) fn index_record(&mut self, group: Option<&Name>, record: IndexedRecord) {
        self.on_lane(group, |lane| {
            lane.records.retain(|old| old.key != record.key);
            lane.records.push(record);
        });
    }
}
