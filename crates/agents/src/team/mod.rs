//! The team: which client plays which role, and what it is held to. Read from `agents.yaml`.

mod doc;
pub mod examine;
mod prepare;
mod read;
mod workflow_fit;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use interlock_core::command::AnswerChoice;
use interlock_core::id::Name;
use interlock_core::problem::{Place, Problem};
use interlock_core::workflow::record::PlacedValue;

use crate::AgentClient;
use crate::AgentSetup;
use crate::Usage;

pub use prepare::PrepareSettings;
pub use read::{TeamSource, environment, open};
pub use workflow_fit::{DESKTOP, WEBHOOK};

/// The agent that plays a role.
#[derive(Clone)]
pub struct RoleAgent {
    pub agent: Name,
    pub client: &'static dyn AgentClient,
    pub setup: AgentSetup,
    /// The client is given the schema of a handoff, if it takes it.
    pub(crate) structured: bool,
    /// The client starts a server with the tool that hands off. What is held to a schema hands off with its last word.
    pub tool: bool,
    pub deadline: Option<Duration>,
    /// For all assignments of the role together, and for each of them.
    pub budget: BudgetLimit,
    pub each: BudgetLimit,
    pub parallel: Option<u32>,
}

/// Spending limits. A missing limit is unlimited.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BudgetLimit {
    pub cost: Option<f64>,
    pub tokens: Option<u64>,
    pub time: Option<Duration>,
}

impl BudgetLimit {
    /// These limits, or the other ones if none is set.
    fn or(self, other: Self) -> Self {
        if self == Self::default() { other } else { self }
    }

    /// Describes a limit that is used up, if there is one. `times`: how often a person has granted it once more.
    pub fn exceeded(&self, spent: &Usage, time: Duration, times: u32) -> Option<String> {
        let granted = f64::from(times);
        let tokens = spent.input_tokens.saturating_add(spent.output_tokens);
        if let (Some(limit), Some(cost)) = (self.cost, spent.cost)
            && cost >= limit * granted
        {
            return Some(format!("${cost:.2} of ${:.2}", limit * granted));
        }
        if let Some(limit) = self.tokens.map(|limit| limit.saturating_mul(u64::from(times)))
            && tokens >= limit
        {
            return Some(format!("{tokens} of {limit} tokens"));
        }
        if let Some(limit) = self.time.map(|limit| limit.saturating_mul(times))
            && time >= limit
        {
            return Some(format!("{} s of {} s", time.as_secs(), limit.as_secs()));
        }
        None
    }
}

/// How rate limits and network faults are waited out.
#[derive(Clone, Copy, Debug)]
pub struct RetryPolicy {
    pub tries: u32,
    pub(crate) first: Duration,
    pub(crate) longest: Duration,
}

impl RetryPolicy {
    /// How long to wait before try `n` (from 1).
    pub fn wait(&self, n: u32) -> Duration {
        let doubled = self.first.saturating_mul(2u32.saturating_pow(n.saturating_sub(1).min(20)));
        doubled.min(self.longest)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkspaceRetention {
    Never,
    Failed,
    Always,
}

/// How the commands of plans, gates and `prepare` are run.
#[derive(Clone, Debug)]
pub struct CheckSettings {
    /// Variables that they get beside the usual ones.
    pub env: Vec<String>,
    /// A plan may bring some.
    pub by_plan: bool,
}

#[derive(Clone, Debug, Default)]
pub struct NotificationSettings {
    pub desktop: bool,
    pub command: Option<Vec<String>>,
    pub webhook_env: Option<Name>,
}

/// The default answer of a question that gets no other.
#[derive(Clone, Debug)]
pub struct DefaultAnswer {
    pub after: Duration,
    answer: DefaultReply,
    /// Where the file names the question.
    place: Place,
}

#[derive(Clone, Debug)]
enum DefaultReply {
    Option(PlacedValue<Name>),
    Text(PlacedValue<Name>),
}

impl DefaultAnswer {
    pub fn choice(&self) -> AnswerChoice {
        match &self.answer {
            DefaultReply::Option(name) => AnswerChoice::Option { name: name.value.clone(), text: None },
            DefaultReply::Text(text) => AnswerChoice::Text(text.value.clone()),
        }
    }

    /// As the file has it.
    pub fn word(&self) -> &Name {
        match &self.answer {
            DefaultReply::Option(word) | DefaultReply::Text(word) => &word.value,
        }
    }
}

pub struct AgentTeam {
    /// The file, and its text.
    pub source: (String, String),
    /// Files that say what scripted agents do.
    pub scripts: Vec<PathBuf>,
    parts: BTreeMap<Name, RoleAgent>,
    any: Option<RoleAgent>,
    /// The roles that the file names.
    named: Vec<PlacedValue<Name>>,
    pub parallel: u32,
    pub corrections: u32,
    pub retry: RetryPolicy,
    pub limits: interlock_system::process::ProcessLimits,
    pub session_budget: BudgetLimit,
    pub group_budget: BudgetLimit,
    pub merge_by_agent: bool,
    pub prepare: PrepareSettings,
    pub checks: CheckSettings,
    pub keep: WorkspaceRetention,
    pub notify: NotificationSettings,
    pub defaults: BTreeMap<Name, DefaultAnswer>,
    pub folder: Option<PlacedValue<PathBuf>>,
}

impl AgentTeam {
    pub fn part(&self, role: &str) -> Option<&RoleAgent> {
        self.parts.get(role).or(self.any.as_ref())
    }

    /// Every agent that plays something, once.
    pub fn everybody(&self) -> BTreeMap<Name, &RoleAgent> {
        self.parts.values().chain(self.any.as_ref()).map(|part| (part.agent.clone(), part)).collect()
    }
}

/// A team, or everything that is wrong with its file.
pub(crate) type TeamResult = Result<AgentTeam, Vec<Problem>>;
