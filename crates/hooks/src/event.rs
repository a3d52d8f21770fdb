//! Events that a client reports and the answers to them. They are the same for every client.

use std::path::PathBuf;

/// Where something happens.
#[derive(Clone, Debug)]
pub(super) struct HookContext {
    /// As the client names its hook.
    pub(super) event: String,
    pub(super) conversation: String,
    pub(super) folder: PathBuf,
    /// The sub-agent that it happens in; the main conversation if none.
    pub(super) agent: Option<SubAgent>,
    /// The client's prefix of a role's name.
    pub(super) prefix: &'static str,
}

#[derive(Clone, Debug)]
pub(super) struct SubAgent {
    pub(super) id: String,
    pub(super) kind: String,
}

#[derive(Clone, Debug)]
pub(super) enum HookEvent {
    /// A conversation begins, goes on, or was shortened.
    Begins {
        /// The client was started, or a person has spoken: no sub-agent of before is at work any more.
        anew: bool,
    },
    /// A person has sent a prompt. Agents that were at work before are gone.
    Prompted,
    /// A sub-agent is about to start.
    Spawns(SubAgentSpawn),
    /// A sub-agent that has ended is about to be talked to again.
    Recalls,
    /// A sub-agent has started.
    Started,
    /// A sub-agent is about to end.
    Ends(SubAgentEnd),
    /// The call that started a sub-agent has come back.
    Returned { call: Option<String>, failed: bool },
    /// A call has started this sub-agent, which works beside the conversation.
    Linked { call: String, agent: Option<String> },
    /// Somebody has waited for sub-agents; these have failed.
    Waited { failed: Vec<String> },
    /// Files are about to be read, and folders with all that is in them if `whole`.
    Reads { paths: Vec<PathBuf>, whole: bool },
    /// Files are about to be changed.
    Edits(Vec<PathBuf>),
    /// A command is about to be run.
    Runs(CommandRun),
    /// A tool of Interlock's own server is about to be called.
    Calls(String),
    /// A tool that Interlock does not know receives these paths.
    Touches(Vec<PathBuf>),
    /// A tool that changes or runs something, by its name, with nothing in it that could be judged.
    Unclear(String),
    /// The main conversation is about to stop.
    Stops {
        /// The stop was refused before, and no prompt has come since.
        again: bool,
    },
    /// Nothing that concerns a session.
    Other,
}

#[derive(Clone, Debug, Default)]
pub(super) struct CommandRun {
    pub(super) command: String,
    /// Where it is run, if not where the client is.
    pub(super) folder: Option<PathBuf>,
    /// The files of a patch that it holds.
    pub(super) patch: Vec<PathBuf>,
}

#[derive(Clone, Debug)]
pub(super) struct SubAgentSpawn {
    /// The kind of agent that is asked for.
    pub(super) kind: String,
    /// The prompt of the agent.
    pub(super) said: String,
    /// How the client names this call.
    pub(super) call: Option<String>,
}

#[derive(Clone, Debug)]
pub(super) struct SubAgentEnd {
    /// The last message of the agent.
    pub(super) message: String,
    /// The file in which the client records the agent's conversation.
    pub(super) transcript: Option<PathBuf>,
    /// It was held back before.
    pub(super) again: bool,
}

/// The answer to the client.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum HookAnswer {
    Pass,
    /// It is not done, and this is why.
    Deny(String),
    /// It is done, with this prompt.
    Prompt(String),
    /// The action is allowed, and the model receives a message.
    Tell(String),
    /// It goes on working: this is what is missing.
    SendBack(String),
}
