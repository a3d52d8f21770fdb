//! The handoff: the structured result that an agent submits at the end.
//!
//! `extract` finds the metadata block in the agent's output. `check` compares it with a workflow. Only `check` creates
//! a [`Handoff`], so the code that decides can rely on its fields.

mod blocks;
mod candidate;
mod check;
mod digest;
mod extract;
#[cfg(test)]
mod extract_tests;
mod extracted;
mod fill;
mod json;
mod json_fault;
mod marks;
mod outline;
mod schema;
mod test_statements;

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

pub(crate) use check::circle;
pub use check::{
    CheckedHandoff, ExpectedHandoff, OrchestrationMode, check, check_own_report, context_of_prompt, mandatory_skills,
    skills_of_task,
};
pub use extract::extract;
pub use extracted::ExtractedHandoff;
pub use fill::{FilledFields, KnownFields};
pub use schema::{schema, schema_for_assignment};

use crate::id::{Digest, Name};
use crate::workflow::StatusIx;

/// A checked handoff: the fields that the decision reads, and the whole submitted handoff.
#[derive(Clone, Debug, PartialEq)]
pub struct Handoff {
    /// The role it was checked for.
    pub role: Name,
    /// The phase it was checked for.
    pub phase: Option<Name>,
    /// The status as the agent wrote it.
    pub said: Name,
    /// The status it means; `None`: the role has no such status, and the workflow routes that.
    pub status: Option<StatusIx>,
    pub reason: Option<Name>,
    /// For each guard of the workflow the index of its value; only facts are filled in.
    pub facts: Vec<u8>,
    /// Findings of a review. `None`: the report speaks of none, which is not the same as an empty list.
    pub issues: Option<Vec<ReviewIssue>>,
    pub tracking: ReviewTracking,
    pub responses: Vec<FindingResponse>,
    pub blocking_summary: Option<BlockingSummary>,
    /// Tests that still fail, or fail again, each once.
    pub failing_tests: Option<Vec<Name>>,
    /// The plan's groups.
    pub groups: Option<Vec<PlannedGroup>>,
    pub questions: Vec<AgentQuestion>,
    /// Deferred groups acknowledged by name.
    pub acknowledge: Vec<Name>,
    /// Groups awaiting confirmation that are accepted by name.
    pub accept: Vec<Name>,
    /// Of the canonical content: the same report again has the same digest.
    pub digest: Digest,
    /// The whole handoff, extra fields and those that were filled in included.
    pub json: Arc<Json>,
    /// The handoff as the agent submitted it: the record keeps this.
    pub submitted: Arc<Json>,
    pub filled_in: FilledFields,
    /// Interlock made it, so it need not have the fields that the workflow asks of agents.
    pub is_own_report: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum FindingSeverity {
    Critical,
    High,
    Medium,
    Low,
}

impl FindingSeverity {
    pub const fn name(self) -> &'static str {
        match self {
            FindingSeverity::Critical => "CRITICAL",
            FindingSeverity::High => "HIGH",
            FindingSeverity::Medium => "MEDIUM",
            FindingSeverity::Low => "LOW",
        }
    }
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ReviewIssue {
    pub id: Name,
    pub title: Name,
    pub location: Name,
    pub severity: FindingSeverity,
    pub blocking: bool,
}

#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct ReviewTracking {
    pub rejections_accepted: Vec<Name>,
    pub rejections_overruled: Vec<Name>,
    /// Findings whose fix the reviewer has seen.
    #[serde(default)]
    pub fixes_confirmed: Vec<Name>,
    /// Findings that the reviewer takes back.
    #[serde(default)]
    pub findings_dropped: Vec<DroppedFinding>,
}

impl ReviewTracking {
    /// The report says nothing about findings of earlier reviews.
    pub fn is_empty(&self) -> bool {
        self.rejections_accepted.is_empty()
            && self.rejections_overruled.is_empty()
            && self.fixes_confirmed.is_empty()
            && self.findings_dropped.is_empty()
    }
}

/// A finding that its reviewer no longer holds against the work, and why.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct DroppedFinding {
    pub id: Name,
    pub reason: Name,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ResponseKind {
    Fixed,
    Rejected,
    Deferred,
}

impl ResponseKind {
    pub const fn name(self) -> &'static str {
        match self {
            ResponseKind::Fixed => "fixed",
            ResponseKind::Rejected => "rejected",
            ResponseKind::Deferred => "deferred",
        }
    }
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct FindingResponse {
    pub id: Name,
    pub response: ResponseKind,
    pub reason: Option<Name>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct BlockingSummary {
    pub total_blocking: u32,
    pub fixed: u32,
    pub rejected_with_reason: u32,
    pub unaddressed: u32,
}

/// A group as the plan gives it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PlannedGroup {
    pub id: Name,
    pub title: Name,
    /// Declared flags that the plan gives, by name.
    pub flags: std::collections::BTreeMap<Name, Name>,
    pub depends_on: Vec<Name>,
    /// Commands of the gate `run: plan`, each a program and its arguments.
    pub checks: Vec<Vec<Name>>,
}

/// A question that an agent has for a person.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct AgentQuestion {
    pub text: Name,
    pub category: Option<Name>,
    pub options: Vec<Name>,
    pub impact: Option<Name>,
}

impl Handoff {
    /// The value at a dotted path.
    pub fn field(&self, path: &str) -> Option<&Json> {
        path.split('.').try_fold(&*self.json, |value, key| value.get(key))
    }

    /// Present, not null, not empty.
    pub fn has(&self, path: &str) -> bool {
        self.field(path).is_some_and(is_something)
    }

    /// The report states that no test fails. Saying nothing of tests states nothing.
    pub fn states_tests_pass(&self) -> bool {
        match &self.failing_tests {
            Some(tests) => tests.is_empty(),
            None => test_statements::passes_stated(|path| self.field(path)),
        }
    }

    /// The claim `verification.NAME` is made.
    pub fn claims(&self, name: &str) -> bool {
        self.json.get("verification").and_then(|claims| claims.get(name)) == Some(&Json::Bool(true))
    }
}

/// Present, not null, not empty.
pub fn is_something(value: &Json) -> bool {
    match value {
        Json::Null => false,
        Json::Bool(_) | Json::Number(_) => true,
        Json::String(text) => !text.trim().is_empty(),
        Json::Array(items) => !items.is_empty(),
        Json::Object(members) => !members.is_empty(),
    }
}
