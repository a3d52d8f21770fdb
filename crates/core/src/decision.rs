//! The outcome of a command, and the reasons for it.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::code::Code;
use crate::id::{AssignmentId, DecisionId, GateRunId, Name, QuestionId};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DecisionAction {
    Spawn,
    Respawn,
    Return,
    Batch,
    Merge,
    Gate,
    Ask,
    Validate,
    End,
    Wait,
}

impl DecisionAction {
    pub const fn name(self) -> &'static str {
        match self {
            DecisionAction::Spawn => "spawn",
            DecisionAction::Respawn => "respawn",
            DecisionAction::Return => "return",
            DecisionAction::Batch => "batch",
            DecisionAction::Merge => "merge",
            DecisionAction::Gate => "gate",
            DecisionAction::Ask => "ask",
            DecisionAction::Validate => "validate",
            DecisionAction::End => "end",
            DecisionAction::Wait => "wait",
        }
    }
}

/// An assignment that follows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NextAssignment {
    pub assignment: AssignmentId,
    pub role: Name,
    pub group: Option<Name>,
    pub attempt: u32,
    pub model: Option<Name>,
    /// Reasons of the decision that are about this assignment only: overrides, and the entry that began its group.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub because: Vec<Name>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DecisionQuestion {
    pub question: QuestionId,
    pub name: Name,
    pub text: Name,
    pub options: Vec<Name>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StartedGateRun {
    pub run: GateRunId,
    pub gate: Name,
}

/// An override that was applied.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AppliedOverride {
    pub instead_of: Name,
    pub used: Name,
    pub because: Name,
}

/// A value that the decision read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum FactValue {
    Flag(bool),
    Number(u32),
    Text(Name),
}

/// The reason to wait: the other phases of the stage, or other groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WaitsFor {
    Phase,
    Groups,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum CompletionVerdict {
    Accept,
    Reject,
}

/// Why the session cannot complete.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JudgementReason {
    pub code: Name,
    pub group: Option<Name>,
    pub text: Name,
}

impl JudgementReason {
    pub(crate) fn new(code: Code, group: Option<&Name>, text: impl Into<Name>) -> Self {
        Self { code: Name::new(code.number()), group: group.cloned(), text: text.into() }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompletionJudgement {
    pub verdict: CompletionVerdict,
    pub reasons: Vec<JudgementReason>,
}

/// Something worth telling that does not stop the decision.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Warning {
    pub code: Option<Name>,
    pub text: Name,
}

impl Warning {
    pub(crate) fn coded(code: Code, text: impl Into<Name>) -> Self {
        Self { code: Some(Name::new(code.number())), text: text.into() }
    }

    pub(crate) fn plain(text: impl Into<Name>) -> Self {
        Self { code: None, text: text.into() }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decision {
    pub id: DecisionId,
    pub action: DecisionAction,
    /// The rule that decided: its path in the workflow file.
    pub rule: Name,
    pub next: Vec<NextAssignment>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub question: Option<DecisionQuestion>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub gate: Option<StartedGateRun>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub waits_for: Option<WaitsFor>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub judgement: Option<CompletionJudgement>,
    /// Fields of the handoff that are passed on.
    pub context: Arc<[Name]>,
    /// Those of them that the handoff does not have.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub absent: Vec<Name>,
    /// The reasons from the workflow, and those of the engine.
    pub because: Vec<Name>,
    pub overrides: Vec<AppliedOverride>,
    pub facts: Vec<(Name, FactValue)>,
    pub warnings: Vec<Warning>,
    pub escalated: bool,
}
