//! BAZINGA's state machine as it stands in the file, before it is given a meaning here.

use interlock_core::problem::Place;

/// What `next_agent` says when guidance goes back to whoever was blocked.
pub(super) const RETURN: &str = "_return_to_blocked";

#[derive(Default)]
pub(super) struct Machine {
    pub(super) about: Option<String>,
    pub(super) version: Option<String>,
    pub(super) agents: Vec<Agent>,
    pub(super) testing: Vec<TestingMode>,
    pub(super) escalation: Option<Escalation>,
    pub(super) security: Option<Security>,
    pub(super) research: Option<Research>,
    /// The agents that special rules name, and where.
    pub(super) named: Vec<(String, Place)>,
    pub(super) aliases: Vec<Alias>,
    /// Fields that nothing here has a meaning for, by their path, and what becomes of them.
    pub(super) asides: Vec<(String, Aside)>,
}

/// What becomes of a field that says nothing about routes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Aside {
    /// Kept: as `about`, as `because` or as a comment.
    Comment,
    /// A remark about the file itself.
    Remark,
    /// Not a field of BAZINGA's that is known here.
    Unknown,
}

pub(super) struct Agent {
    pub(super) name: String,
    pub(super) about: Option<String>,
    pub(super) rows: Vec<Row>,
}

pub(super) struct Row {
    pub(super) status: String,
    pub(super) action: Action,
    pub(super) next: Next,
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
pub(super) enum Action {
    Spawn,
    Respawn,
    SpawnBatch,
    SpawnMerge,
    ValidateThenEnd,
    PauseForUser,
    EndSession,
}

impl Action {
    pub(super) const ALL: [(&'static str, Action); 7] = [
        ("spawn", Action::Spawn),
        ("respawn", Action::Respawn),
        ("spawn_batch", Action::SpawnBatch),
        ("spawn_merge", Action::SpawnMerge),
        ("validate_then_end", Action::ValidateThenEnd),
        ("pause_for_user", Action::PauseForUser),
        ("end_session", Action::EndSession),
    ];

    pub(super) fn needs_agent(self) -> bool {
        matches!(self, Action::Spawn | Action::Respawn | Action::SpawnBatch | Action::SpawnMerge)
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Next {
    Nobody,
    Agent(String),
    /// `_return_to_blocked`, which the original never resolved.
    Blocked,
}

impl Next {
    pub(super) fn agent(&self) -> Option<&str> {
        match self {
            Next::Agent(name) => Some(name),
            Next::Nobody | Next::Blocked => None,
        }
    }
}

pub(super) struct TestingMode {
    pub(super) mode: String,
    pub(super) affected: Vec<String>,
    pub(super) takes: String,
    pub(super) about: Option<String>,
}

pub(super) struct Escalation {
    pub(super) threshold: Option<u32>,
    pub(super) agent: String,
    pub(super) about: Option<String>,
}

pub(super) struct Security {
    pub(super) agent: String,
    pub(super) mandatory_review: Option<bool>,
    pub(super) about: Option<String>,
}

pub(super) struct Research {
    pub(super) agent: String,
    pub(super) max_parallel: Option<u32>,
    pub(super) about: Option<String>,
}

pub(super) struct Alias {
    pub(super) alias: String,
    pub(super) meant: String,
}

impl Machine {
    pub(super) fn agent(&self, name: &str) -> Option<&Agent> {
        self.agents.iter().find(|agent| agent.name == name)
    }

    pub(super) fn rows(&self) -> impl Iterator<Item = (&Agent, &Row)> {
        self.agents.iter().flat_map(|agent| agent.rows.iter().map(move |row| (agent, row)))
    }
}
