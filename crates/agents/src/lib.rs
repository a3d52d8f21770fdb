//! Clients that run a model: one file each. What a client's formats are is known here and nowhere else.
//!
//! A client turns a [`Job`] into a program to start ([`Client::start`]) and what the program prints into an
//! [`Outcome`] ([`Conversation`]). It decides nothing: whether a handoff is good, and what follows, others say.

mod acp;
mod claude;
mod codex;
mod command;
mod conversation_record;
mod event;
mod failure;
mod gemini;
mod placeholder;
pub mod play;
mod start;
pub mod team;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value as Json;

use interlock_system::process::{OutputListener, ProcessEnd, ProcessSpec};

/// One turn of one agent.
#[derive(Clone, Debug)]
pub struct AgentJob<'a> {
    /// `SESSION.a3`.
    pub assignment: &'a str,
    pub role: &'a str,
    pub group: Option<&'a str>,
    pub attempt: u32,
    pub prompt: &'a str,
    /// Where it works.
    pub folder: &'a Path,
    /// Where it leaves `handoff.json`.
    pub output: &'a Path,
    /// It may change nothing in `folder`.
    pub read_only: bool,
    /// The conversation to go on with, as [`Outcome::conversation`] named it.
    pub resume: Option<&'a str>,
    /// A JSON Schema of the handoff, for a client that takes it ([`Client::takes_schema`]).
    pub schema: Option<&'a Json>,
    /// The server of MCP with the tool that it may hand off with, for clients that start one.
    pub tool: Option<&'a HandoffServer>,
}

/// A server of MCP, as clients start it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HandoffServer {
    pub program: String,
    pub arguments: Vec<String>,
}

impl HandoffServer {
    /// The name of the server in the clients.
    pub const SERVER: &'static str = "interlock_agent";
    /// The tool that hands off.
    pub const NAME: &'static str = "hand_off";
}

/// How an agent is set up: an entry of `agents.yaml`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AgentSetup {
    /// The program, where it is not the client's usual name.
    pub program: Option<String>,
    pub model: Option<String>,
    /// Added to the client's command line as they are.
    pub flags: Vec<String>,
    /// Its whole environment: the variables that the allow-list lets through, and fixed values.
    pub environment: BTreeMap<String, String>,
    /// For `command` and `acp`: the whole command line. `{prompt}`, `{role}`, `{group}`, `{output}`, `{assignment}`
    /// and `{attempt}` stand for single arguments or parts of one; nothing goes through a shell.
    pub command: Vec<String>,
}

/// The callback that receives progress.
pub type ProgressCallback = Box<dyn FnMut(AgentProgress) + Send>;

/// A kind of client.
pub trait AgentClient: Send + Sync {
    /// As `agents.yaml` names it.
    fn name(&self) -> &'static str;

    /// The program that has to be there.
    fn program<'a>(&self, setup: &'a AgentSetup) -> &'a str;

    /// Variables of the environment that the client cannot do without, or that people expect it to see. A name that
    /// ends in `*` stands for every name that begins so: ask [`lets_through`].
    fn variables(&self) -> &'static [&'static str];

    /// Problems with a set-up that can be known without starting anything: flags that Interlock sets itself, …
    fn check(&self, setup: &AgentSetup) -> Vec<String>;

    /// The program to start. `transcript`, `lock` and limits of the spec are the caller's. Clients that take more
    /// than arguments get files in the job's output folder.
    fn start(&self, setup: &AgentSetup, job: &AgentJob<'_>) -> std::io::Result<ProcessSpec>;

    /// Reads what the program prints.
    fn conversation(
        &self,
        setup: &AgentSetup,
        job: &AgentJob<'_>,
        tell: ProgressCallback,
    ) -> Box<dyn AgentConversation>;

    /// The arguments with which the program lists its flags, if it does. They serve to find flags that it does not
    /// have.
    fn help(&self) -> Option<&'static [&'static str]> {
        None
    }

    /// How it is asked whether it has a flag that its help does not speak of.
    fn probe(&self) -> Option<FlagProbe> {
        None
    }

    /// Can it hold its model to a schema at all?
    fn takes_schemas(&self) -> bool {
        false
    }

    /// Would it hold its model to this schema? Else it is started without.
    fn takes_schema(&self, _: &Json) -> bool {
        false
    }

    /// Does it start a server of MCP for its model?
    fn takes_tools(&self) -> bool {
        false
    }

    /// The usage that it always reports.
    fn tells(&self) -> UsageReporting {
        UsageReporting { tokens: false, cost: false }
    }

    /// Can a conversation be resumed with more words?
    fn resumes(&self) -> bool;

    /// Is what a resumed conversation has used the sum of all its turns, those before included? Else it is this turn's.
    fn counts_whole_conversations(&self) -> bool {
        false
    }
}

/// A flag between these arguments starts nothing, and if the program does not have it, it says so with these words.
/// Clients have flags that their help keeps to itself.
#[derive(Clone, Copy, Debug)]
pub struct FlagProbe {
    pub before: &'static [&'static str],
    pub after: &'static [&'static str],
    pub refusal: &'static str,
}

/// The usage that a client reports. A budget of anything else is never reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UsageReporting {
    pub tokens: bool,
    pub cost: bool,
}

pub trait AgentConversation: OutputListener + Send {
    /// The outcome, after the program has ended.
    fn finish(self: Box<Self>, end: ProcessEnd) -> ConversationOutcome;
}

/// For people who watch.
#[derive(Clone, Debug, PartialEq)]
pub enum AgentProgress {
    /// The model says something: its first line, as it came. Not safe for a terminal.
    Says(String),
    /// It uses a tool: the name, and what on.
    Uses(String, String),
    /// Its usage so far.
    Spent(Usage),
}

/// Resource usage. Clients count differently; here every token is counted once.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Usage {
    /// All that the model read, from a cache or not.
    pub input_tokens: u64,
    pub output_tokens: u64,
    /// The part of the input that came from a cache.
    pub cached_tokens: u64,
    /// In US dollars, if the client says.
    pub cost: Option<f64>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct ConversationOutcome {
    /// The last message, or structured output as JSON text: where the handoff is looked for if there is no file.
    pub text: Option<String>,
    pub usage: Usage,
    /// The error that the client itself reports, whatever its exit code. There can be a text as well: an agent that was
    /// denied one action may have done its work all the same. Its handoff shows that.
    pub trouble: Option<AgentFailure>,
    /// To resume it.
    pub conversation: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct AgentFailure {
    pub kind: AgentFailureKind,
    pub message: String,
    /// How long the service asked to wait before another try.
    pub retry_after: Option<Duration>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AgentFailureKind {
    /// Rate limits, overload, network: not counted as a failure of the agent, and worth another try.
    Passing,
    /// No key, no credit, no such model: another try fails too.
    Setup,
    /// The client was not allowed to do what the model wanted.
    Denied,
    /// The conversation to resume does not exist, so the new one needs the whole prompt.
    Forgotten,
    /// The agent itself failed, or gave up.
    Failed,
}

/// Every client, by name.
pub(crate) fn clients() -> [&'static dyn AgentClient; 5] {
    [&claude::ClaudeAgent, &codex::CodexAgent, &gemini::GeminiAgent, &acp::AcpAgent, &command::CommandAgent]
}

pub fn client(name: &str) -> Option<&'static dyn AgentClient> {
    clients().into_iter().find(|client| client.name() == name)
}

/// Where a program is: in the folders of `PATH`, or where its path points. Always an absolute path, because the program
/// starts in another folder. Relative folders of `PATH` are skipped: there, they would mean another place.
pub fn find_program(program: &str, path: Option<&str>) -> Option<PathBuf> {
    if program.is_empty() || program.contains('\0') {
        return None;
    }
    if program.contains('/') {
        return std::path::absolute(program).ok().filter(|place| is_program(place));
    }
    std::env::split_paths(path?)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(program))
        .find(|place| is_program(place))
}

fn is_program(place: &Path) -> bool {
    std::fs::metadata(place).is_ok_and(|about| about.is_file() && may_run(&about))
}

#[cfg(unix)]
fn may_run(about: &std::fs::Metadata) -> bool {
    std::os::unix::fs::PermissionsExt::mode(&about.permissions()) & 0o111 != 0
}

#[cfg(not(unix))]
fn may_run(_: &std::fs::Metadata) -> bool {
    true
}

/// Variables that no agent gets, whatever a list allows. They give the right to act for others than the agent.
const SECRET: [&str; 2] = ["INTERLOCK_TOKEN", "INTERLOCK_KEY_FILE"];

/// Does a list of names let a variable through? `NAME*` is every name that begins so; Interlock's own never pass.
pub(crate) fn lets_through(names: &[&str], variable: &str) -> bool {
    let listed = |entry: &&str| match entry.strip_suffix('*') {
        Some(beginning) => variable.starts_with(beginning),
        None => *entry == variable,
    };
    !variable.starts_with("INTERLOCK_") && names.iter().any(listed)
}
