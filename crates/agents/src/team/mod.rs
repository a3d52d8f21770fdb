//! The team: which client plays which role, and what it is held to. Read from `agents.yaml`.

mod doc;
pub mod examine;
mod fit;
mod prepare;
mod read;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use interlock_core::command::Choice;
use interlock_core::id::Name;
use interlock_core::problem::{Place, Problem};
use interlock_core::workflow::record::At;

use crate::Client;
use crate::Setup;
use crate::Usage;

pub use fit::{DESKTOP, WEBHOOK};
pub use prepare::Prepare;
pub use read::{Source, environment, open};

/// Who plays a role.
#[derive(Clone)]
pub struct Part {
    pub agent: Name,
    pub client: &'static dyn Client,
    pub setup: Setup,
    /// The client is given the schema of a handoff, if it takes it.
    pub(crate) structured: bool,
    /// The client starts a server with the tool that hands off. What is held to a schema hands off with its last word.
    pub tool: bool,
    pub deadline: Option<Duration>,
    /// For all assignments of the role together, and for each of them.
    pub budget: Allowance,
    pub each: Allowance,
    pub parallel: Option<u32>,
}

/// What may be spent; nothing said is no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Allowance {
    pub cost: Option<f64>,
    pub tokens: Option<u64>,
    pub time: Option<Duration>,
}

impl Allowance {
    /// The other one, where nothing is said.
    fn or(self, other: Self) -> Self {
        if self == Self::default() { other } else { self }
    }

    /// What is used up, in words, if anything is. `times`: how often a person has granted it once more.
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
pub struct Retry {
    pub tries: u32,
    pub(crate) first: Duration,
    pub(crate) longest: Duration,
}

impl Retry {
    /// How long to wait before try `n` (from 1).
    pub fn wait(&self, n: u32) -> Duration {
        let doubled = self.first.saturating_mul(2u32.saturating_pow(n.saturating_sub(1).min(20)));
        doubled.min(self.longest)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    Never,
    Failed,
    Always,
}

/// How the commands of plans, gates and `prepare` are run.
#[derive(Clone, Debug)]
pub struct Checks {
    /// Variables that they get beside the usual ones.
    pub env: Vec<String>,
    /// A plan may bring some.
    pub by_plan: bool,
}

#[derive(Clone, Debug, Default)]
pub struct Notify {
    pub desktop: bool,
    pub command: Option<Vec<String>>,
    pub webhook_env: Option<Name>,
}

/// The answer that a question gets when nobody gives one.
#[derive(Clone, Debug)]
pub struct Fallback {
    pub after: Duration,
    answer: Reply,
    /// Where the file names the question.
    place: Place,
}

#[derive(Clone, Debug)]
enum Reply {
    Option(At<Name>),
    Text(At<Name>),
}

impl Fallback {
    pub fn choice(&self) -> Choice {
        match &self.answer {
            Reply::Option(name) => Choice::Option { name: name.value.clone(), text: None },
            Reply::Text(text) => Choice::Text(text.value.clone()),
        }
    }

    /// As the file has it.
    pub fn word(&self) -> &Name {
        match &self.answer {
            Reply::Option(word) | Reply::Text(word) => &word.value,
        }
    }
}

pub struct Team {
    /// The file, and its text.
    pub source: (String, String),
    /// Files that say what scripted agents do.
    pub scripts: Vec<PathBuf>,
    parts: BTreeMap<Name, Part>,
    any: Option<Part>,
    /// The roles that the file names.
    named: Vec<At<Name>>,
    pub parallel: u32,
    pub corrections: u32,
    pub retry: Retry,
    pub limits: interlock_system::process::Limits,
    pub session_budget: Allowance,
    pub group_budget: Allowance,
    pub merge_by_agent: bool,
    pub prepare: Prepare,
    pub checks: Checks,
    pub keep: Keep,
    pub notify: Notify,
    pub defaults: BTreeMap<Name, Fallback>,
    pub folder: Option<At<PathBuf>>,
}

impl Team {
    pub fn part(&self, role: &str) -> Option<&Part> {
        self.parts.get(role).or(self.any.as_ref())
    }

    /// Every agent that plays something, once.
    pub fn everybody(&self) -> BTreeMap<Name, &Part> {
        self.parts.values().chain(self.any.as_ref()).map(|part| (part.agent.clone(), part)).collect()
    }
}

/// A team, or everything that is wrong with its file.
pub(crate) type Read = Result<Team, Vec<Problem>>;
