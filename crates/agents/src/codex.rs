//! Codex: `codex exec --json`.
//!
//! `turn.completed` or `turn.failed` ends the turn, seconds before the process ends. An `item` of type `error` is a
//! warning, and so is `error` while the client tries again.

use std::ffi::OsString;
use std::io;

use serde_json::Value as Json;

use super::conversation_record::ConversationRecord;
use super::start::{ReservedFlag, check_flags, check_no_command, is_flag, put, resumed, spec, variables};
use super::{
    AgentClient, AgentConversation, AgentJob, AgentSetup, ConversationOutcome, FlagProbe, HandoffServer,
    ProgressCallback, Usage, UsageReporting, event, failure,
};
use interlock_system::process::{OutputListener, OutputStream, ProcessEnd, ProcessHandle, ProcessSpec, StdinMode};

pub(super) struct CodexAgent;

/// Flags with which a person chooses a sandbox, or none.
const SANDBOX: [&str; 4] = ["-s", "--sandbox", "--dangerously-bypass-approvals-and-sandbox", "--approve-for-me"];

const OURS: [ReservedFlag; 11] = [
    ReservedFlag("--json", "it reads the event stream"),
    ReservedFlag("-m", "say `model`"),
    ReservedFlag("--model", "say `model`"),
    ReservedFlag("-C", "the agent works in the folder of its group"),
    ReservedFlag("--cd", "the agent works in the folder of its group"),
    ReservedFlag("--worktree", "each group has a worktree of its own already"),
    ReservedFlag("--output-schema", "the workflow has the schema of a handoff"),
    ReservedFlag("-o", "it takes the last message from the event stream"),
    ReservedFlag("--output-last-message", "it takes the last message from the event stream"),
    ReservedFlag("--ephemeral", "an agent whose handoff is refused is asked again in the same conversation"),
    ReservedFlag("--last", "it knows which conversation to go on with"),
];

impl AgentClient for CodexAgent {
    fn name(&self) -> &'static str {
        "codex"
    }

    fn program<'a>(&self, setup: &'a AgentSetup) -> &'a str {
        setup.program.as_deref().unwrap_or("codex")
    }

    fn variables(&self) -> &'static [&'static str] {
        variables!["OPENAI_*", "CODEX_*", "AZURE_OPENAI_*", "RUST_LOG"]
    }

    fn check(&self, setup: &AgentSetup) -> Vec<String> {
        let mut problems = check_flags(setup, &OURS);
        problems.extend(check_no_command(setup));
        problems
    }

    fn start(&self, setup: &AgentSetup, job: &AgentJob<'_>) -> io::Result<ProcessSpec> {
        // All flags stand before `resume`: after it, few are taken.
        let mut arguments: Vec<OsString> = vec!["exec".into()];
        arguments.extend(setup.flags.iter().map(Into::into));
        arguments.extend(["--json".into(), "--skip-git-repo-check".into()]);
        if let Some(model) = &setup.model {
            arguments.extend(["-m".into(), model.into()]);
        }
        let chosen = setup.flags.iter().any(|flag| SANDBOX.iter().any(|name| is_flag(flag, name)));
        if !chosen {
            let sandbox = if job.read_only { "read-only" } else { "workspace-write" };
            arguments.extend(["--sandbox".into(), sandbox.into()]);
        }
        if !job.read_only {
            arguments.extend(["--add-dir".into(), job.output.into()]);
        }
        if let Some(tool) = job.tool {
            arguments.extend(served(tool).into_iter().flat_map(|setting| ["-c".into(), setting.into()]));
        }
        if let Some(schema) = job.schema.filter(|schema| is_strict(schema)) {
            arguments.extend(["--output-schema".into(), put(job, "handoff.schema.json", &schema.to_string())?]);
        }
        if let Some(conversation) = resumed(job)? {
            arguments.extend(["resume".into(), conversation.into()]);
        }
        arguments.push("-".into());
        spec(self.program(setup), arguments, setup, job, StdinMode::Text(job.prompt.to_owned()))
    }

    fn conversation(&self, _: &AgentSetup, _: &AgentJob<'_>, tell: ProgressCallback) -> Box<dyn AgentConversation> {
        Box::new(CodexConversation { story: ConversationRecord::new(tell), using: None, error: None })
    }

    fn help(&self) -> Option<&'static [&'static str]> {
        Some(&["exec", "--help"])
    }

    fn probe(&self) -> Option<FlagProbe> {
        // It looks at all of its arguments before it helps.
        Some(FlagProbe { before: &["exec"], after: &["--help"], refusal: "unexpected argument" })
    }

    fn takes_schemas(&self) -> bool {
        true
    }

    fn takes_schema(&self, schema: &Json) -> bool {
        is_strict(schema)
    }

    fn takes_tools(&self) -> bool {
        true
    }

    fn tells(&self) -> UsageReporting {
        UsageReporting { tokens: true, cost: false }
    }

    fn resumes(&self) -> bool {
        true
    }

    fn counts_whole_conversations(&self) -> bool {
        true
    }
}

/// The settings that start a server. No person can approve its tool, so they allow it.
fn served(tool: &HandoffServer) -> [String; 3] {
    let arguments = toml_edit::Array::from_iter(&tool.arguments);
    let setting = |key: &str, value: toml_edit::Value| format!("mcp_servers.{}.{key}={value}", HandoffServer::SERVER);
    [
        setting("command", tool.program.as_str().into()),
        setting("args", arguments.into()),
        setting("default_tools_approval_mode", "approve".into()),
    ]
}

/// Does the service take this schema? It wants every object closed and every property required, and refuses the whole
/// turn otherwise. A schema that it would refuse is not given to it: the check of the handoff knows it anyway.
fn is_strict(schema: &Json) -> bool {
    const REFUSED: [&str; 8] =
        ["allOf", "oneOf", "not", "if", "then", "else", "patternProperties", "dependentRequired"];
    match schema {
        Json::Array(all) => all.iter().all(is_strict),
        Json::Object(fields) => {
            let closed = match fields.get("properties").and_then(Json::as_object) {
                Some(properties) => {
                    let required = event::list(schema, &["required"]);
                    let is_required = |key: &String| required.iter().any(|name| name.as_str() == Some(key));
                    fields.get("additionalProperties") == Some(&Json::Bool(false)) && properties.keys().all(is_required)
                }
                None => schema.get("type").and_then(Json::as_str) != Some("object"),
            };
            closed && !REFUSED.iter().any(|key| fields.contains_key(*key)) && fields.values().all(is_strict)
        }
        _ => true,
    }
}

struct CodexConversation {
    story: ConversationRecord,
    /// The item whose start was reported last.
    using: Option<String>,
    /// The last error, which the client may get over.
    error: Option<String>,
}

impl OutputListener for CodexConversation {
    fn line(&mut self, from: OutputStream, line: &[u8], cut: bool, talk: &mut ProcessHandle<'_>) {
        if from == OutputStream::Err {
            return self.story.record_stderr(line);
        }
        if cut {
            return;
        }
        let Some(event) = event::parse(line) else { return };
        match event::text(&event, &["type"]) {
            Some("thread.started") => {
                self.story.conversation = event::text(&event, &["thread_id"]).map(str::to_owned);
            }
            Some("item.started" | "item.completed") => self.item(&event),
            Some("turn.completed") => {
                self.story.spent(used(&event));
                self.story.over = true;
                talk.stop();
            }
            Some("turn.failed") => {
                let message = event::text(&event, &["error", "message"]).or(self.error.as_deref());
                self.story.trouble = Some(failure::from_words(message.unwrap_or("the turn failed")));
                self.story.over = true;
                talk.stop();
            }
            Some("error") => self.error = event::text(&event, &["message"]).map(str::to_owned),
            _ => {}
        }
    }
}

impl CodexConversation {
    fn item(&mut self, event: &Json) {
        let Some(item) = event.get("item") else { return };
        let field = |key: &str| event::text(item, &[key]).unwrap_or_default();
        match field("type") {
            "agent_message" => {
                self.story.says(field("text"));
                self.story.text = Some(field("text").to_owned());
            }
            "command_execution" => self.uses(item, "command", field("command")),
            "file_change" => {
                let paths = event::list(item, &["changes"]).iter().filter_map(|change| event::text(change, &["path"]));
                self.uses(item, "edit", &paths.collect::<Vec<_>>().join(", "));
            }
            "mcp_tool_call" => {
                let on = item.get("arguments").map(event::subject).unwrap_or_default();
                self.uses(item, &format!("{}/{}", field("server"), field("tool")), &on);
            }
            "collab_tool_call" => self.uses(item, field("tool"), field("prompt")),
            "web_search" => self.uses(item, "web search", field("query")),
            _ => {}
        }
    }

    /// Tells of a tool once, when it starts; and of what was not allowed.
    fn uses(&mut self, item: &Json, tool: &str, on: &str) {
        let id = event::text(item, &["id"]).map(str::to_owned);
        if self.using.is_none() || self.using != id {
            self.story.uses(tool, on);
            self.using = id;
        }
        if event::text(item, &["status"]) == Some("declined") {
            self.story.denied(&format!("{tool} was not allowed: {on}"));
        }
    }
}

impl AgentConversation for CodexConversation {
    fn finish(mut self: Box<Self>, end: ProcessEnd) -> ConversationOutcome {
        if !self.story.over {
            self.story.trouble = self.error.as_deref().map(failure::from_words);
        }
        self.story.outcome(end)
    }
}

fn used(event: &Json) -> Usage {
    Usage {
        input_tokens: event::count(event, &["usage", "input_tokens"]),
        output_tokens: event::count(event, &["usage", "output_tokens"]),
        cached_tokens: event::count(event, &["usage", "cached_input_tokens"]),
        cost: None,
    }
}
