//! The clients: what they send, and how they are answered. Their formats are nowhere else.

use serde_json::Value as Json;

use crate::claude;
use crate::codex;
use crate::event::{HookAnswer, HookContext, HookEvent, SubAgent};
use crate::gemini;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HookClient {
    Claude,
    Codex,
    Gemini,
}

impl HookClient {
    pub const ALL: [HookClient; 3] = [HookClient::Claude, HookClient::Codex, HookClient::Gemini];

    pub const fn name(self) -> &'static str {
        match self {
            HookClient::Claude => "claude",
            HookClient::Codex => "codex",
            HookClient::Gemini => "gemini",
        }
    }

    /// As people write it.
    pub const fn title(self) -> &'static str {
        match self {
            HookClient::Claude => "Claude Code",
            HookClient::Codex => "Codex",
            HookClient::Gemini => "Gemini CLI",
        }
    }

    /// The hooks that a conversation must have sent by the time that its session completes.
    pub(super) const fn expects(self) -> &'static [&'static str] {
        match self {
            HookClient::Claude => claude::EXPECTS,
            HookClient::Codex => codex::EXPECTS,
            HookClient::Gemini => gemini::EXPECTS,
        }
    }

    /// Sub-agents start in the order in which they were asked for.
    pub(super) const fn starts_in_order(self) -> bool {
        matches!(self, HookClient::Codex)
    }

    /// The prompt of an agent cannot be changed, but text can be added to its context when it starts.
    pub(super) const fn tells_at_start(self) -> bool {
        matches!(self, HookClient::Codex)
    }

    /// Nothing tells a sub-agent from the main conversation, so one works at a time.
    pub(super) const fn one_at_a_time(self) -> bool {
        matches!(self, HookClient::Gemini)
    }

    /// Sub-agents work beside the conversation, and may outlast a turn of it.
    pub(super) const fn works_beside(self) -> bool {
        matches!(self, HookClient::Codex)
    }

    /// Where something happens: every client says so in the same words.
    pub(super) fn scene(self, event: &str, payload: &Json, from_plugin: bool) -> HookContext {
        HookContext {
            event: event.to_owned(),
            conversation: word(payload, "session_id"),
            folder: word(payload, "cwd").into(),
            agent: text(payload, "agent_id").map(|id| SubAgent { id, kind: word(payload, "agent_type") }),
            prefix: if self == HookClient::Claude && from_plugin { claude::OF_PLUGIN } else { "" },
        }
    }

    pub(super) fn happening(self, event: &str, payload: &Json) -> HookEvent {
        match self {
            HookClient::Claude => claude::happening(event, payload),
            HookClient::Codex => codex::happening(event, payload),
            HookClient::Gemini => gemini::happening(event, payload),
        }
    }

    pub(super) fn reply(self, event: &str, payload: &Json, verdict: &HookAnswer) -> HookOutput {
        match self {
            HookClient::Claude => claude::reply(event, payload, verdict),
            HookClient::Codex => codex::reply(event, payload, verdict),
            HookClient::Gemini => gemini::reply(event, payload, verdict),
        }
    }
}

/// The reply of a hook: its output and exit code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookOutput {
    pub out: String,
    pub err: String,
    pub code: u8,
}

impl HookOutput {
    pub(super) fn silent() -> Self {
        Self { out: String::new(), err: String::new(), code: 0 }
    }

    pub(super) fn json(answer: &Json) -> Self {
        Self { out: format!("{answer}\n"), ..Self::silent() }
    }

    /// A refusal that every client understands, whichever event it sent.
    pub(super) fn blocked(reason: &str) -> Self {
        Self { err: format!("{reason}\n"), code: 2, ..Self::silent() }
    }
}

/// A field that holds a text, and something in it.
pub(super) fn text(of: &Json, name: &str) -> Option<String> {
    of[name].as_str().filter(|text| !text.is_empty()).map(str::to_owned)
}

pub(super) fn word(of: &Json, name: &str) -> String {
    text(of, name).unwrap_or_default()
}

/// The arguments of a tool, with the prompt replaced.
pub(super) fn with_prompt(input: &Json, prompt: &str) -> Json {
    let mut input = input.as_object().cloned().unwrap_or_default();
    input.insert("prompt".to_owned(), Json::from(prompt));
    Json::Object(input)
}
