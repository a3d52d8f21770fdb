//! A lane: the parts of work that are open in a group, or in the session itself.

use serde::{Deserialize, Serialize};

use crate::id::{AssignmentId, GateRunId, Name, QuestionId};
use crate::state::record_index::IndexedRecord;
use crate::workflow::AssignmentTask;

/// A role and what it was doing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoleTask {
    pub role: Name,
    pub task: AssignmentTask,
    /// It waits because it was blocked.
    pub blocked: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PartHolder {
    #[default]
    Nobody,
    Assignment(AssignmentId),
    Question(QuestionId),
    Gate(GateRunId),
    Done,
}

/// One of the phases that run side by side; without phases the only one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LanePart {
    pub phase: Option<Name>,
    pub holder: PartHolder,
    /// Roles that consulted and are to be resumed, oldest first.
    pub waiting: Vec<RoleTask>,
}

/// An iteration counter, kept per loop and target role.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoopCounter {
    #[serde(rename = "loop")]
    pub counted: Name,
    pub role: Name,
    pub iteration: u32,
    pub no_progress: u32,
    /// The measure at the last iteration.
    pub measure: Option<u32>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedBlocker {
    pub part: u8,
    pub role: Name,
    pub reason: Option<Name>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lane {
    pub stage: Option<u16>,
    pub parts: Vec<LanePart>,
    pub counters: Vec<LoopCounter>,
    /// Assignments given so far, by role.
    pub attempts: Vec<(Name, u32)>,
    /// Blockers without a recorded resolution.
    pub blocks: Vec<RecordedBlocker>,
    pub ever_blocked: bool,
    /// The latest records of this lane in the log, oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub records: Vec<IndexedRecord>,
}

impl Lane {
    pub fn counter(&self, counted: &str, role: &str) -> Option<&LoopCounter> {
        self.counters.iter().find(|counter| counter.counted == counted && counter.role == role)
    }

    pub fn attempts_of(&self, role: &str) -> u32 {
        self.attempts.iter().find(|(name, _)| name == role).map_or(0, |(_, count)| *count)
    }

    pub fn part(&self, part: u8) -> Option<&LanePart> {
        self.parts.get(usize::from(part))
    }

    /// Somebody holds something, or waits for it.
    pub fn is_open(&self) -> bool {
        self.parts.iter().any(|part| match part.holder {
            PartHolder::Nobody | PartHolder::Done => !part.waiting.is_empty(),
            PartHolder::Assignment(_) | PartHolder::Question(_) | PartHolder::Gate(_) => true,
        })
    }

    pub fn asks(&self) -> bool {
        self.parts.iter().any(|part| matches!(part.holder, PartHolder::Question(_)))
    }
}
