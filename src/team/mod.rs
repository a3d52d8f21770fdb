//! The team: which client plays which role, and what it is held to. Read from `agents.yaml`.

mod doc;
pub(crate) mod examine;
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

use crate::agents::{Client, Setup, Usage};

pub(crate) use fit::{DESKTOP, WEBHOOK};
pub(crate) use prepare::Prepare;
pub(crate) use read::{Source, environment, open};

/// Who plays a role.
#[derive(Clone)]
pub(crate) struct Part {
    pub(crate) agent: Name,
    pub(crate) client: &'static dyn Client,
    pub(crate) setup: Setup,
    /// The client is given the schema of a handoff, if it takes it.
    pub(crate) structured: bool,
    /// The client starts a server with the tool that hands off. What is held to a schema hands off with its last word.
    pub(crate) tool: bool,
    pub(crate) deadline: Option<Duration>,
    /// For all assignments of the role together, and for each of them.
    pub(crate) budget: Allowance,
    pub(crate) each: Allowance,
    pub(crate) parallel: Option<u32>,
}

/// What may be spent; nothing said is no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Allowance {
    pub(crate) cost: Option<f64>,
    pub(crate) tokens: Option<u64>,
    pub(crate) time: Option<Duration>,
}

impl Allowance {
    /// The other one, where nothing is said.
    fn or(self, other: Self) -> Self {
        if self == Self::default() { other } else { self }
    }

    /// What is used up, in words, if anything is. `times`: how often a person has granted it once more.
    pub(crate) fn exceeded(&self, spent: &Usage, time: Duration, times: u32) -> Option<String> {
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
pub(crate) struct Retry {
    pub(crate) tries: u32,
    pub(crate) first: Duration,
    pub(crate) longest: Duration,
}

impl Retry {
    /// How long to wait before try `n` (from 1).
    pub(crate) fn wait(&self, n: u32) -> Duration {
        let doubled = self.first.saturating_mul(2u32.saturating_pow(n.saturating_sub(1).min(20)));
        doubled.min(self.longest)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keep {
    Never,
    Failed,
    Always,
}

/// How the commands of plans, gates and `prepare` are run.
#[derive(Clone, Debug)]
pub(crate) struct Checks {
    /// Variables that they get beside the usual ones.
    pub(crate) env: Vec<String>,
    /// A plan may bring some.
    pub(crate) by_plan: bool,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Notify {
    pub(crate) desktop: bool,
    pub(crate) command: Option<Vec<String>>,
    pub(crate) webhook_env: Option<Name>,
}

/// The answer that a question gets when nobody gives one.
#[derive(Clone, Debug)]
pub(crate) struct Fallback {
    pub(crate) after: Duration,
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
    pub(crate) fn choice(&self) -> Choice {
        match &self.answer {
            Reply::Option(name) => Choice::Option { name: name.value.clone(), text: None },
            Reply::Text(text) => Choice::Text(text.value.clone()),
        }
    }

    /// As the file has it.
    pub(crate) fn word(&self) -> &Name {
        match &self.answer {
            Reply::Option(word) | Reply::Text(word) => &word.value,
        }
    }
}

pub(crate) struct Team {
    /// The file, and its text.
    pub(crate) source: (String, String),
    /// Files that say what scripted agents do.
    pub(crate) scripts: Vec<PathBuf>,
    parts: BTreeMap<Name, Part>,
    any: Option<Part>,
    /// The roles that the file names.
    named: Vec<At<Name>>,
    pub(crate) parallel: u32,
    pub(crate) corrections: u32,
    pub(crate) retry: Retry,
    pub(crate) limits: crate::process::Limits,
    pub(crate) session_budget: Allowance,
    pub(crate) group_budget: Allowance,
    pub(crate) merge_by_agent: bool,
    pub(crate) prepare: Prepare,
    pub(crate) checks: Checks,
    pub(crate) keep: Keep,
    pub(crate) notify: Notify,
    pub(crate) defaults: BTreeMap<Name, Fallback>,
    pub(crate) folder: Option<At<PathBuf>>,
}

impl Team {
    pub(crate) fn part(&self, role: &str) -> Option<&Part> {
        self.parts.get(role).or(self.any.as_ref())
    }

    /// Every agent that plays something, once.
    pub(crate) fn everybody(&self) -> BTreeMap<Name, &Part> {
        self.parts.values().chain(self.any.as_ref()).map(|part| (part.agent.clone(), part)).collect()
    }
}

/// A team, or everything that is wrong with its file.
pub(crate) type Read = Result<Team, Vec<Problem>>;
