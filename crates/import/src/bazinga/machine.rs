//! BAZINGA's state machine as it stands in the file, before it is given a meaning here.

use interlock_core::problem::Place;

/// Value of `next_agent` for guidance that goes back to the blocked agent.
pub(super) const RETURN: &str = "_return_to_blocked";

#[derive(Default)]
pub(super) struct BazingaMachine {
    pub(super) about: Option<String>,
    pub(super) version: Option<String>,
    pub(super) agents: Vec<BazingaAgent>,
    pub(super) testing: Vec<TestingMode>,
    pub(super) escalation: Option<EscalationRule>,
    pub(super) security: Option<SecurityRule>,
    pub(super) research: Option<ResearchRule>,
    /// The agents that special rules name, and where.
    pub(super) named: Vec<(String, Place)>,
    pub(super) aliases: Vec<ImportedAlias>,
    /// Fields that nothing here has a meaning for, by their path, and what becomes of them.
    pub(super) asides: Vec<(String, UnroutedField)>,
}

/// How a field without routing information is imported.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum UnroutedField {
    /// Kept: as `about`, as `because` or as a comment.
    Comment,
    /// A remark about the file itself.
    Remark,
    /// Not a field of BAZINGA's that is known here.
    Unknown,
}

pub(super) struct BazingaAgent {
    pub(super) name: String,
    pub(super) about: Option<String>,
    pub(super) rows: Vec<TransitionRow>,
}

pub(super) struct TransitionRow {
    pub(super) status: String,
    pub(super) action: TransitionAction,
    pub(super) next: TransitionTarget,
    pub(super) with: Vec<String>,
    pub(super) note: Option<String>,
    pub(super) model: Option<String>,
    pub(super) fallback: Option<String>,
    pub(super) max_parallel: Option<u32>,
    pub(super) then: Option<String>,
    pub(super) escalation_check: bool,
    /// These stand in the file, and nothing there reads them (or only repeats them).
    pub(super) iteration_budget_check: Option<bool>,
    pub(super) mandatory_review: Option<bool>,
    pub(super) bypass_qa: Option<bool>,
    pub(super) place: Place,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum TransitionAction {
    Spawn,
    Respawn,
    SpawnBatch,
    SpawnMerge,
    ValidateThenEnd,
    PauseForUser,
    EndSession,
}

impl TransitionAction {
    pub(super) const ALL: [(&'static str, TransitionAction); 7] = [
        ("spawn", TransitionAction::Spawn),
        ("respawn", TransitionAction::Respawn),
        ("spawn_batch", TransitionAction::SpawnBatch),
        ("spawn_merge", TransitionAction::SpawnMerge),
        ("validate_then_end", TransitionAction::ValidateThenEnd),
        ("pause_for_user", TransitionAction::PauseForUser),
        ("end_session", TransitionAction::EndSession),
    ];

    pub(super) fn needs_agent(self) -> bool {
        matches!(
            self,
            TransitionAction::Spawn
                | TransitionAction::Respawn
                | TransitionAction::SpawnBatch
                | TransitionAction::SpawnMerge
        )
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum TransitionTarget {
    Nobody,
    Agent(String),
    /// `_return_to_blocked`, which the original never resolved.
    Blocked,
}

impl TransitionTarget {
    pub(super) fn agent(&self) -> Option<&str> {
        match self {
            TransitionTarget::Agent(name) => Some(name),
            TransitionTarget::Nobody | TransitionTarget::Blocked => None,
        }
    }
}

pub(super) struct TestingMode {
    pub(super) mode: String,
    pub(super) affected: Vec<String>,
    pub(super) takes: String,
    pub(super) about: Option<String>,
}

pub(super) struct EscalationRule {
    pub(super) threshold: Option<u32>,
    pub(super) agent: String,
    pub(super) about: Option<String>,
}

pub(super) struct SecurityRule {
    pub(super) agent: String,
    pub(super) mandatory_review: Option<bool>,
    pub(super) about: Option<String>,
}

pub(super) struct ResearchRule {
    pub(super) agent: String,
    pub(super) max_parallel: Option<u32>,
    pub(super) about: Option<String>,
}

pub(super) struct ImportedAlias {
    pub(super) alias: String,
    pub(super) meant: String,
}

impl BazingaMachine {
    pub(super) fn agent(&self, name: &str) -> Option<&BazingaAgent> {
        self.agents.iter().find(|agent| agent.name == name)
    }

    pub(super) fn rows(&self) -> impl Iterator<Item = (&BazingaAgent, &TransitionRow)> {
        self.agents.iter().flat_map(|agent| agent.rows.iter().map(move |row| (agent, row)))
    }
}
