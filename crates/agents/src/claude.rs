//! Claude Code: `claude -p --output-format stream-json`.
//!
//! It prints an event a line, and `result` at the end; two of them if a sub-agent in the background wakes it once more:
//! the last one counts. `subtype: success` means little: `is_error`, `terminal_reason` and `permission_denials` tell.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::time::Duration;

use serde_json::{Value as Json, json};

use super::conversation_record::ConversationRecord;
use super::start::{ARGUMENT, ReservedFlag, check_flags, check_no_command, resumed, spec, variables};
use super::{
    AgentClient, AgentConversation, AgentFailure, AgentFailureKind, AgentJob, AgentSetup, ConversationOutcome,
    FlagProbe, HandoffServer, ProgressCallback, Usage, UsageReporting, event, failure,
};
use interlock_system::clock;
use interlock_system::process::{OutputListener, OutputStream, ProcessEnd, ProcessHandle, ProcessSpec, StdinMode};

pub(super) struct ClaudeAgent;

/// Tools that an agent needs to look around and to run things. No person can approve a use, so every tool that neither
/// the flags nor the settings allow is denied. `bypassPermissions` is not used: the client refuses it to root.
const LOOKING: &str = "Bash,BashOutput,KillShell,Read,Glob,Grep,LS,NotebookRead,WebFetch,WebSearch,Task,Agent,TodoWrite,\
                       Skill,ToolSearch,TaskStop,TaskOutput,Monitor,SendMessage,ListAgents";
const WRITING: &str = "Edit,MultiEdit,Write,NotebookEdit";

const OURS: [ReservedFlag; 18] = [
    ReservedFlag("-p", "agents are always run without a terminal"),
    ReservedFlag("--print", "agents are always run without a terminal"),
    ReservedFlag("--output-format", "it reads the event stream"),
    ReservedFlag("--input-format", "the prompt is given as text on standard input"),
    ReservedFlag("--model", "say `model`"),
    ReservedFlag("-r", "it knows which conversation to go on with"),
    ReservedFlag("--resume", "it knows which conversation to go on with"),
    ReservedFlag("-c", "it knows which conversation to go on with"),
    ReservedFlag("--continue", "it knows which conversation to go on with"),
    ReservedFlag("--from-pr", "it knows which conversation to go on with"),
    ReservedFlag("--fork-session", "it knows which conversation to go on with"),
    ReservedFlag("--session-id", "the client chooses one, and says so"),
    ReservedFlag(
        "--no-session-persistence",
        "an agent whose handoff is refused is asked again in the same conversation",
    ),
    ReservedFlag("--json-schema", "the workflow has the schema of a handoff"),
    ReservedFlag("--bg", "it waits for the agent to end"),
    ReservedFlag("--background", "it waits for the agent to end"),
    ReservedFlag("--cloud", "the agent works in a folder of this machine"),
    ReservedFlag("--worktree", "each group has a worktree of its own already"),
];

impl AgentClient for ClaudeAgent {
    fn name(&self) -> &'static str {
        "claude"
    }

    fn program<'a>(&self, setup: &'a AgentSetup) -> &'a str {
        setup.program.as_deref().unwrap_or("claude")
    }

    fn variables(&self) -> &'static [&'static str] {
        variables![
            "ANTHROPIC_*",
            "CLAUDE_CONFIG_DIR",
            "CLAUDE_CODE_*",
            "DISABLE_TELEMETRY",
            "DISABLE_AUTOUPDATER",
            "DISABLE_ERROR_REPORTING",
            "DISABLE_BUG_COMMAND",
            "DISABLE_COST_WARNINGS",
            "DISABLE_PROMPT_CACHING",
            "BASH_DEFAULT_TIMEOUT_MS",
            "BASH_MAX_TIMEOUT_MS",
            "BASH_MAX_OUTPUT_LENGTH",
            "MAX_THINKING_TOKENS",
            "MAX_MCP_OUTPUT_TOKENS",
            "MCP_TIMEOUT",
            "MCP_TOOL_TIMEOUT",
            "API_TIMEOUT_MS",
            "AWS_*",
            "GOOGLE_APPLICATION_CREDENTIALS",
            "CLOUD_ML_REGION",
            "VERTEX_REGION_*",
        ]
    }

    fn check(&self, setup: &AgentSetup) -> Vec<String> {
        let mut problems = check_flags(setup, &OURS);
        problems.extend(check_no_command(setup));
        problems
    }

    fn start(&self, setup: &AgentSetup, job: &AgentJob<'_>) -> io::Result<ProcessSpec> {
        // A person's flags come first: where a flag stands twice, the last one counts.
        let mut arguments: Vec<OsString> = setup.flags.iter().map(Into::into).collect();
        let mut add = |words: &[&str]| arguments.extend(words.iter().map(Into::into));
        add(&["-p", "--output-format", "stream-json", "--verbose"]);
        if let Some(model) = &setup.model {
            add(&["--model", model]);
        }
        if let Some(conversation) = resumed(job)? {
            add(&["--resume", conversation]);
        }
        let mut allowed = LOOKING.to_owned();
        if let Some(tool) = job.tool {
            allowed.push_str(&format!(",mcp__{}__{}", HandoffServer::SERVER, HandoffServer::NAME));
            // Loaded at once: the model should not have to look for it.
            let server =
                json!({ "type": "stdio", "command": tool.program, "args": tool.arguments, "alwaysLoad": true });
            add(&["--mcp-config", &json!({ "mcpServers": { HandoffServer::SERVER: server } }).to_string()]);
        }
        if job.read_only {
            add(&["--allowedTools", &allowed, "--disallowedTools", WRITING]);
        } else {
            add(&["--allowedTools", &format!("{allowed},{WRITING}")]);
        }
        if let Some(schema) = job.schema.filter(|schema| self.takes_schema(schema)) {
            add(&["--json-schema", &plain(schema)]);
        }
        arguments.extend(["--add-dir".into(), job.output.into()]);
        spec(self.program(setup), arguments, setup, job, StdinMode::Text(job.prompt.to_owned()))
    }

    fn conversation(&self, _: &AgentSetup, _: &AgentJob<'_>, tell: ProgressCallback) -> Box<dyn AgentConversation> {
        Box::new(ClaudeConversation {
            story: ConversationRecord::new(tell),
            messages: BTreeMap::new(),
            results: Usage::default(),
            told: None,
            resets: None,
        })
    }

    fn help(&self) -> Option<&'static [&'static str]> {
        Some(&["--help"])
    }

    fn probe(&self) -> Option<FlagProbe> {
        // Without a prompt it says that there is none.
        Some(FlagProbe { before: &["-p"], after: &[], refusal: "unknown option" })
    }

    fn takes_schemas(&self) -> bool {
        true
    }

    fn takes_schema(&self, schema: &Json) -> bool {
        plain(schema).len() <= ARGUMENT
    }

    fn takes_tools(&self) -> bool {
        true
    }

    fn tells(&self) -> UsageReporting {
        UsageReporting { tokens: true, cost: true }
    }

    fn resumes(&self) -> bool {
        true
    }
}

/// The schema as the service takes it: alternatives at the top are refused there. It becomes wider by that, and what
/// it lets through the check of the handoff finds.
fn plain(schema: &Json) -> String {
    let mut schema = schema.clone();
    if let Some(fields) = schema.as_object_mut() {
        fields.retain(|key, _| {
            !["$schema", "$id", "allOf", "anyOf", "oneOf", "not", "if", "then", "else"].contains(&key.as_str())
        });
    }
    schema.to_string()
}

struct ClaudeConversation {
    story: ConversationRecord,
    /// Usage of each message of the model. An event for each part of a message repeats it.
    messages: BTreeMap<String, Usage>,
    /// Usage of the results so far.
    results: Usage,
    /// The kind of service error that the client reported before the result.
    told: Option<&'static str>,
    /// When a limit that was reached ends.
    resets: Option<Duration>,
}

impl OutputListener for ClaudeConversation {
    fn line(&mut self, from: OutputStream, line: &[u8], cut: bool, _: &mut ProcessHandle<'_>) {
        if from == OutputStream::Err {
            return self.story.record_stderr(line);
        }
        if cut {
            return;
        }
        let Some(event) = event::parse(line) else { return };
        if let Some(id) = event::text(&event, &["session_id"]) {
            self.story.conversation = Some(id.to_owned());
        }
        match event::text(&event, &["type"]) {
            Some("assistant") => self.assistant(&event),
            Some("result") => self.result(&event),
            Some("rate_limit_event") => self.limit(&event),
            Some("system") if event::text(&event, &["subtype"]) == Some("api_retry") => {
                self.told = event::text(&event, &["error"]).and_then(known_error);
            }
            _ => {}
        }
    }
}

impl ClaudeConversation {
    fn assistant(&mut self, event: &Json) {
        if let Some(error) = event::text(event, &["error"]) {
            self.told = known_error(error);
            return;
        }
        if event::text(event, &["message", "model"]) == Some("<synthetic>") {
            return;
        }
        // The words of a sub-agent are not the agent's.
        let own = event::at(event, &["parent_tool_use_id"]).is_none();
        for part in event::list(event, &["message", "content"]) {
            match event::text(part, &["type"]) {
                Some("text") if own => self.says(event::text(part, &["text"]).unwrap_or_default()),
                Some("tool_use") => {
                    let on = part.get("input").map(event::subject).unwrap_or_default();
                    self.story.uses(event::text(part, &["name"]).unwrap_or("a tool"), &on);
                }
                _ => {}
            }
        }
        self.count(event);
    }

    fn says(&mut self, text: &str) {
        self.story.says(text);
        if !text.trim().is_empty() {
            self.story.text = Some(text.to_owned());
        }
    }

    /// Adds up what messages have used. The output is known in full only at the end.
    fn count(&mut self, event: &Json) {
        let (Some(id), Some(usage)) = (event::text(event, &["message", "id"]), event::at(event, &["message", "usage"]))
        else {
            return;
        };
        let now = of_message(usage);
        let before = self.messages.insert(id.to_owned(), now).unwrap_or_default();
        let add = |total: u64, before: u64, now: u64| total.saturating_sub(before).saturating_add(now);
        let total = self.story.usage;
        self.story.spent(Usage {
            input_tokens: add(total.input_tokens, before.input_tokens, now.input_tokens),
            output_tokens: add(total.output_tokens, before.output_tokens, now.output_tokens),
            cached_tokens: add(total.cached_tokens, before.cached_tokens, now.cached_tokens),
            cost: total.cost,
        });
    }

    fn limit(&mut self, event: &Json) {
        if event::text(event, &["rate_limit_info", "status"]) == Some("rejected") {
            let at = Duration::from_secs(event::count(event, &["rate_limit_info", "resetsAt"]));
            let now = Duration::from_millis(u64::try_from(clock::now().0).unwrap_or(0));
            self.resets = at.checked_sub(now);
        }
    }

    fn result(&mut self, event: &Json) {
        self.story.over = true;
        self.results = of_result(event, self.results);
        self.story.spent(self.results);
        self.story.trouble = self.trouble(event);
        if self.story.trouble.is_some() {
            return;
        }
        if let Some(structured) = event::at(event, &["structured_output"]) {
            self.story.text = Some(structured.to_string());
        } else if let Some(text) = event::text(event, &["result"]).filter(|text| !text.trim().is_empty()) {
            self.story.text = Some(text.to_owned());
        }
        if let Some(denial) = event::list(event, &["permission_denials"]).first() {
            let tool = event::text(denial, &["tool_name"]).unwrap_or("a tool");
            let on = denial.get("tool_input").map(event::subject).unwrap_or_default();
            self.story.denied(&format!("{tool} was not allowed: {on}"));
        }
    }

    fn trouble(&self, event: &Json) -> Option<AgentFailure> {
        let subtype = event::text(event, &["subtype"]).unwrap_or("success");
        let reason = event::text(event, &["terminal_reason"]).unwrap_or("completed");
        let error = event::at(event, &["is_error"]).and_then(Json::as_bool).unwrap_or(false);
        if !error && subtype == "success" && reason == "completed" {
            return None;
        }
        let message = message(event).unwrap_or_else(|| format!("it ended with {subtype}, {reason}"));
        let status = event::count(event, &["api_error_status"]);
        let mut trouble = match (status, self.told) {
            (100.., _) => failure::from_status(status, &message),
            (_, Some(told)) => failure::from_words(told),
            // Turns, budgets and hooks are no matter of the service, whatever their words.
            _ if reason == "api_error" || subtype == "success" => failure::from_words(&message),
            _ if failure::is_forgotten(&message) => failure::forgotten(message.as_str()),
            _ => failure::failed(message.as_str()),
        };
        trouble.message = message;
        if trouble.kind == AgentFailureKind::Passing {
            trouble.retry_after = trouble.retry_after.or(self.resets);
        }
        Some(trouble)
    }
}

impl AgentConversation for ClaudeConversation {
    fn finish(mut self: Box<Self>, end: ProcessEnd) -> ConversationOutcome {
        if let (false, Some(told)) = (self.story.over, self.told) {
            // It was still trying when its time was up.
            let message = format!("the service does not answer: {told}");
            self.story.trouble = Some(AgentFailure { message, ..failure::from_words(told) });
        }
        self.story.outcome(end)
    }
}

/// The words of the client for errors of the service, in words that mean the same everywhere.
fn known_error(error: &str) -> Option<&'static str> {
    match error {
        "rate_limit" => Some("rate_limit"),
        "overloaded" => Some("overloaded"),
        "server_error" => Some("server_error"),
        "authentication_failed" | "oauth_org_not_allowed" => Some("authentication_failed"),
        "billing_error" => Some("billing_error"),
        "model_not_found" => Some("model_not_found"),
        _ => None,
    }
}

/// The error message of the client.
fn message(event: &Json) -> Option<String> {
    let errors: Vec<&str> = event::list(event, &["errors"]).iter().filter_map(Json::as_str).collect();
    let said = event::text(event, &["result"]).filter(|text| !text.trim().is_empty());
    said.map(str::to_owned).or_else(|| (!errors.is_empty()).then(|| errors.join("\n")))
}

fn of_message(usage: &Json) -> Usage {
    let cached = event::count(usage, &["cache_read_input_tokens"]);
    let fresh =
        event::count(usage, &["input_tokens"]).saturating_add(event::count(usage, &["cache_creation_input_tokens"]));
    Usage {
        input_tokens: fresh.saturating_add(cached),
        output_tokens: event::count(usage, &["output_tokens"]),
        cached_tokens: cached,
        cost: None,
    }
}

/// The usage after a result. `usage` leaves sub-agents out; the count for each model includes them. The totals include
/// earlier use of a resumed conversation; the count since the last result does not.
fn of_result(event: &Json, before: Usage) -> Usage {
    if let Some(models) = event::at(event, &["model_usage_since_last_result"]).and_then(Json::as_object) {
        return models.values().fold(before, with_model);
    }
    let models = event::at(event, &["modelUsage"]).and_then(Json::as_object).filter(|models| !models.is_empty());
    let mut usage = match models {
        Some(models) => models.values().fold(Usage::default(), with_model),
        None => event::at(event, &["usage"]).map_or(before, of_message),
    };
    usage.cost = event::amount(event, &["total_cost_usd"]);
    usage
}

fn with_model(total: Usage, model: &Json) -> Usage {
    let of = |key: &str| event::count(model, &[key]);
    let cached = of("cacheReadInputTokens");
    let input = of("inputTokens").saturating_add(of("cacheCreationInputTokens")).saturating_add(cached);
    let cost = event::amount(model, &["costUSD"]);
    Usage {
        input_tokens: total.input_tokens.saturating_add(input),
        output_tokens: total.output_tokens.saturating_add(of("outputTokens")),
        cached_tokens: total.cached_tokens.saturating_add(cached),
        cost: cost.map_or(total.cost, |cost| Some(total.cost.unwrap_or(0.0) + cost)),
    }
}
