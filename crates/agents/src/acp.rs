//! Any agent that speaks the Agent Client Protocol, version 1: JSON-RPC over standard input and output, a message a
//! line.
//!
//! Interlock is the editor's side. It offers neither files nor terminals: the agent has tools of its own, and what is
//! not offered cannot be misused. The agent asks before it acts, and is answered by policy: a role that changes nothing
//! may look and run, but not edit.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io;
use std::path::{Component, Path, PathBuf};

use serde_json::{Value as Json, json};

use super::conversation_record::ConversationRecord;
use super::start::{spec, variables};
use super::{
    AgentClient, AgentConversation, AgentFailure, AgentJob, AgentSetup, ConversationOutcome, HandoffServer,
    ProgressCallback, Usage, event, failure, placeholder,
};
use interlock_system::process::{OutputListener, OutputStream, ProcessEnd, ProcessHandle, ProcessSpec, StdinMode};

pub(super) struct AcpAgent;

/// The protocol's code for "log in first".
const LOG_IN: i64 = -32000;
const NO_SUCH_METHOD: i64 = -32601;

impl AgentClient for AcpAgent {
    fn name(&self) -> &'static str {
        "acp"
    }

    fn program<'a>(&self, setup: &'a AgentSetup) -> &'a str {
        setup.command.first().map_or("", String::as_str)
    }

    /// The agent behind the command is unknown, so this lists the variables of all clients.
    fn variables(&self) -> &'static [&'static str] {
        variables![
            "ANTHROPIC_*",
            "CLAUDE_CONFIG_DIR",
            "CLAUDE_CODE_*",
            "OPENAI_*",
            "CODEX_*",
            "GEMINI_*",
            "GOOGLE_*",
            "OPENCODE_*",
            "GOOSE_*",
        ]
    }

    fn check(&self, setup: &AgentSetup) -> Vec<String> {
        let mut problems = placeholder::check(setup);
        if placeholder::uses_prompt(&setup.command) {
            problems
                .push("`{prompt}` has no place in the command of an ACP agent: the prompt is sent to it".to_owned());
        }
        problems
    }

    fn start(&self, setup: &AgentSetup, job: &AgentJob<'_>) -> io::Result<ProcessSpec> {
        let mut arguments: Vec<OsString> = placeholder::fill(&setup.command, job);
        arguments.extend(setup.flags.iter().map(Into::into));
        spec(self.program(setup), arguments, setup, job, StdinMode::Open)
    }

    fn conversation(
        &self,
        setup: &AgentSetup,
        job: &AgentJob<'_>,
        tell: ProgressCallback,
    ) -> Box<dyn AgentConversation> {
        Box::new(AcpConversation {
            story: ConversationRecord::new(tell),
            stage: AcpStage::Greeting,
            prompt: job.prompt.to_owned(),
            folder: std::path::absolute(job.folder).unwrap_or_else(|_| job.folder.to_owned()),
            output: std::path::absolute(job.output).unwrap_or_else(|_| job.output.to_owned()),
            read_only: job.read_only,
            resume: job.resume.map(str::to_owned),
            model: setup.model.clone(),
            tool: job.tool.cloned(),
            message: String::new(),
            message_id: None,
            told: BTreeSet::new(),
            broken: false,
        })
    }

    fn takes_tools(&self) -> bool {
        true
    }

    fn resumes(&self) -> bool {
        true
    }
}

/// The request of ours that is open. Its number is the request's id.
#[derive(Clone, Copy, PartialEq)]
enum AcpStage {
    Greeting,
    Opening,
    Choosing,
    Prompting,
    Over,
}

struct AcpConversation {
    story: ConversationRecord,
    stage: AcpStage,
    prompt: String,
    folder: PathBuf,
    output: PathBuf,
    read_only: bool,
    resume: Option<String>,
    model: Option<String>,
    tool: Option<HandoffServer>,
    /// As much of a message as has come, and whose pieces they are.
    message: String,
    message_id: Option<String>,
    /// Uses of tools that were reported already.
    told: BTreeSet<String>,
    /// The agent reported a failure that its final answer will not mention.
    broken: bool,
}

impl OutputListener for AcpConversation {
    fn started(&mut self, talk: &mut ProcessHandle<'_>) {
        let about = json!({ "name": "interlock", "title": "Interlock", "version": env!("CARGO_PKG_VERSION") });
        let none = json!({ "fs": { "readTextFile": false, "writeTextFile": false }, "terminal": false });
        let params = json!({ "protocolVersion": 1, "clientCapabilities": none, "clientInfo": about });
        self.ask(AcpStage::Greeting, "initialize", &params, talk);
    }

    fn line(&mut self, from: OutputStream, line: &[u8], cut: bool, talk: &mut ProcessHandle<'_>) {
        if from == OutputStream::Err {
            return self.story.record_stderr(line);
        }
        if cut || self.stage == AcpStage::Over {
            return;
        }
        let Some(message) = event::parse(line) else { return };
        match (event::text(&message, &["method"]), message.get("id")) {
            (Some("session/update"), None) => self.update(&message),
            (Some("session/request_permission"), Some(id)) => self.permit(id, &message, talk),
            (Some(method), Some(id)) => refuse(id, method, talk),
            (Some(_), None) => {}
            (None, Some(id)) if id.as_u64() == Some(self.stage as u64) => self.answer(&message, talk),
            (None, _) => {}
        }
    }
}

impl AcpConversation {
    fn ask(&mut self, stage: AcpStage, method: &str, params: &Json, talk: &mut ProcessHandle<'_>) {
        self.stage = stage;
        send(&json!({ "jsonrpc": "2.0", "id": stage as u64, "method": method, "params": params }), talk);
    }

    /// The answer to the request that is open.
    fn answer(&mut self, message: &Json, talk: &mut ProcessHandle<'_>) {
        if let Some(error) = event::at(message, &["error"]) {
            let resumed = self.stage == AcpStage::Opening && self.resume.is_some();
            return self.fail(failure(self.stage, error, resumed), talk);
        }
        let result = message.get("result").unwrap_or(&Json::Null);
        match self.stage {
            AcpStage::Greeting => self.open(result, talk),
            AcpStage::Opening => self.opened(result, talk),
            AcpStage::Choosing => self.prompt(talk),
            AcpStage::Prompting => self.prompted(result, talk),
            AcpStage::Over => {}
        }
    }

    fn open(&mut self, greeting: &Json, talk: &mut ProcessHandle<'_>) {
        let version = event::count(greeting, &["protocolVersion"]);
        if version != 1 {
            let message = format!("the agent speaks version {version} of the protocol, and Interlock version 1");
            return self.fail(failure::setup(message), talk);
        }
        let served = |HandoffServer { program, arguments }: &HandoffServer| json!({ "name": HandoffServer::SERVER, "command": program, "args": arguments, "env": [] });
        let servers: Vec<Json> = self.tool.iter().map(served).collect();
        let mut params = json!({ "cwd": self.folder.to_string_lossy(), "mcpServers": servers });
        // The output folder is not in the working folder, and an agent's sandbox would be in the way of the handoff.
        if event::at(greeting, &["agentCapabilities", "sessionCapabilities", "additionalDirectories"]).is_some() {
            params["additionalDirectories"] = json!([self.output.to_string_lossy()]);
        }
        let Some(conversation) = self.resume.clone() else {
            return self.ask(AcpStage::Opening, "session/new", &params, talk);
        };
        if event::at(greeting, &["agentCapabilities", "loadSession"]) != Some(&Json::Bool(true)) {
            let message = "the agent cannot go on with a conversation";
            return self.fail(failure::forgotten(message), talk);
        }
        params["sessionId"] = json!(conversation);
        self.story.conversation = Some(conversation);
        self.ask(AcpStage::Opening, "session/load", &params, talk);
    }

    fn opened(&mut self, session: &Json, talk: &mut ProcessHandle<'_>) {
        if let Some(id) = event::text(session, &["sessionId"]) {
            self.story.conversation = Some(id.to_owned());
        }
        match self.model.take() {
            Some(model) => self.choose(&model, session, talk),
            None => self.prompt(talk),
        }
    }

    /// Agents let a model be chosen in one of two ways, or not at all.
    fn choose(&mut self, model: &str, session: &Json, talk: &mut ProcessHandle<'_>) {
        let options = event::list(session, &["configOptions"]);
        let option = options.iter().find(|option| event::text(option, &["category"]) == Some("model"));
        if let Some(id) = option.and_then(|option| event::text(option, &["id"])) {
            let params = json!({ "sessionId": self.story.conversation, "configId": id, "value": model });
            self.ask(AcpStage::Choosing, "session/set_config_option", &params, talk);
        } else if event::at(session, &["models"]).is_some() {
            let params = json!({ "sessionId": self.story.conversation, "modelId": model });
            self.ask(AcpStage::Choosing, "session/set_model", &params, talk);
        } else {
            let message = "the agent does not let its model be chosen: leave `model` out, or put it into `command`";
            self.fail(failure::setup(message), talk);
        }
    }

    fn prompt(&mut self, talk: &mut ProcessHandle<'_>) {
        let prompt = json!([{ "type": "text", "text": self.prompt }]);
        let params = json!({ "sessionId": self.story.conversation, "prompt": prompt });
        self.ask(AcpStage::Prompting, "session/prompt", &params, talk);
    }

    fn prompted(&mut self, result: &Json, talk: &mut ProcessHandle<'_>) {
        self.end_message();
        self.story.spent(used(result, self.story.usage.cost));
        match event::text(result, &["stopReason"]) {
            Some("end_turn") if self.broken => {
                // The reason comes as a message, in the same form as text of the model.
                let message = self.story.text.take().unwrap_or_else(|| "the agent's own client failed".to_owned());
                self.fail(failure::from_words(&message), talk);
            }
            Some("end_turn") => self.end(talk),
            reason => {
                let message = format!("the agent stopped: {}", reason.unwrap_or("it does not say why"));
                self.fail(failure::failed(message), talk);
            }
        }
    }

    fn fail(&mut self, trouble: AgentFailure, talk: &mut ProcessHandle<'_>) {
        self.story.trouble = Some(trouble);
        self.end(talk);
    }

    fn end(&mut self, talk: &mut ProcessHandle<'_>) {
        self.end_message();
        self.stage = AcpStage::Over;
        self.story.over = true;
        talk.close();
    }

    /// News. While an old conversation is loaded, it is the old news once more.
    fn update(&mut self, message: &Json) {
        if self.stage != AcpStage::Prompting {
            return;
        }
        let Some(update) = event::at(message, &["params", "update"]) else { return };
        match event::text(update, &["sessionUpdate"]) {
            Some("agent_message_chunk") => self.piece(update),
            Some("session_info_update") => {
                let status = event::text(update, &["_meta", "codex", "threadStatus", "type"]);
                self.broken = status.map_or(self.broken, |status| status == "systemError");
            }
            Some("tool_call" | "tool_call_update") => self.tool(update, false),
            Some("usage_update") if event::text(update, &["cost", "currency"]) == Some("USD") => {
                let cost = event::amount(update, &["cost", "amount"]);
                self.story.spent(Usage { cost, ..self.story.usage });
            }
            _ => {}
        }
    }

    fn piece(&mut self, update: &Json) {
        let id = event::text(update, &["messageId"]);
        if id != self.message_id.as_deref() {
            self.end_message();
            self.message_id = id.map(str::to_owned);
        }
        self.message.push_str(event::text(update, &["content", "text"]).unwrap_or_default());
    }

    fn end_message(&mut self) {
        let message = std::mem::take(&mut self.message);
        if !message.trim().is_empty() {
            self.story.says(&message);
            self.story.text = Some(message);
        }
    }

    /// Tells of a tool once, as soon as it is known what it is used on.
    fn tool(&mut self, call: &Json, asked: bool) {
        self.end_message();
        let id = event::text(call, &["toolCallId"]).unwrap_or_default();
        let input = event::at(call, &["rawInput"]).and_then(Json::as_object);
        let input = input.is_some_and(|input| input.keys().any(|key| key != "cwd"));
        let running = !matches!(event::text(call, &["status"]), None | Some("pending"));
        let Some(title) = event::text(call, &["title"]) else { return };
        if (asked || input || running) && self.told.insert(id.to_owned()) {
            let name = event::text(call, &["name"]).or_else(|| event::text(call, &["_meta", "claudeCode", "toolName"]));
            self.story.uses(name.or_else(|| event::text(call, &["kind"])).unwrap_or("tool"), title);
        }
    }

    /// Answers what the agent asks to be allowed.
    fn permit(&mut self, id: &Json, message: &Json, talk: &mut ProcessHandle<'_>) {
        let call = event::at(message, &["params", "toolCall"]).unwrap_or(&Json::Null);
        self.tool(call, true);
        let allowed = !self.read_only || !is_edit(call) || self.stays_in_output(call);
        if !allowed {
            self.story
                .denied(&format!("an edit was not allowed: {}", event::text(call, &["title"]).unwrap_or_default()));
        }
        let wanted = if allowed { ["allow_once", "allow_always"] } else { ["reject_once", "reject_always"] };
        let options = event::list(message, &["params", "options"]);
        let option = wanted.iter().find_map(|kind| {
            let option = options.iter().find(|option| event::text(option, &["kind"]) == Some(kind))?;
            event::text(option, &["optionId"])
        });
        let outcome = match option {
            Some(option) => json!({ "outcome": "selected", "optionId": option }),
            None => json!({ "outcome": "cancelled" }),
        };
        send(&json!({ "jsonrpc": "2.0", "id": id, "result": { "outcome": outcome } }), talk);
    }

    /// The handoff is a file too.
    fn stays_in_output(&self, call: &Json) -> bool {
        let places = event::list(call, &["locations"]).iter().map(|place| event::text(place, &["path"]));
        let mut places = places.chain(diffs(call).map(|diff| event::text(diff, &["path"]))).peekable();
        places.peek().is_some() && places.all(|place| place.is_some_and(|place| is_inside(place, &self.output)))
    }
}

impl AgentConversation for AcpConversation {
    fn finish(mut self: Box<Self>, end: ProcessEnd) -> ConversationOutcome {
        self.end_message();
        self.story.outcome(end)
    }
}

fn send(message: &Json, talk: &mut ProcessHandle<'_>) {
    let mut line = message.to_string();
    line.push('\n');
    talk.send(line.as_bytes());
}

/// Refuses a method that Interlock did not offer.
fn refuse(id: &Json, method: &str, talk: &mut ProcessHandle<'_>) {
    let error = json!({ "code": NO_SUCH_METHOD, "message": format!("{method} is not offered") });
    send(&json!({ "jsonrpc": "2.0", "id": id, "error": error }), talk);
}

fn diffs(call: &Json) -> impl Iterator<Item = &Json> {
    event::list(call, &["content"]).iter().filter(|content| event::text(content, &["type"]) == Some("diff"))
}

fn is_edit(call: &Json) -> bool {
    matches!(event::text(call, &["kind"]), Some("edit" | "delete" | "move")) || diffs(call).next().is_some()
}

/// Below a folder, by its words alone; a path with `..` in it is not.
fn is_inside(place: &str, folder: &Path) -> bool {
    let place = Path::new(place);
    place.starts_with(folder) && !place.components().any(|part| part == Component::ParentDir)
}

fn failure(stage: AcpStage, error: &Json, resumed: bool) -> AgentFailure {
    let said = event::text(error, &["message"]).unwrap_or("the agent refused");
    let details = ["message", "details", "error"].iter().find_map(|key| event::text(error, &["data", key]));
    let details = details.or_else(|| event::text(error, &["data"]));
    let message = details.map_or_else(|| said.to_owned(), |details| format!("{said}: {details}"));
    match event::at(error, &["code"]).and_then(Json::as_i64) {
        Some(LOG_IN) => failure::setup(message),
        Some(status @ 400..=599) => failure::from_status(status.unsigned_abs(), &message),
        _ if stage == AcpStage::Choosing => failure::setup(message),
        // Some agents offer to load conversations, and then cannot.
        _ if resumed => failure::forgotten(message),
        _ => failure::from_words(&message),
    }
}

/// Some agents count cached tokens as input and some do not; the total has them all.
fn used(result: &Json, cost: Option<f64>) -> Usage {
    let of = |path: &[&str]| event::count(result, path);
    let quota = ["_meta", "quota", "token_count"];
    let output = of(&["usage", "outputTokens"]).max(of(&[quota[0], quota[1], quota[2], "output_tokens"]));
    let input = of(&["usage", "inputTokens"]).max(of(&[quota[0], quota[1], quota[2], "input_tokens"]));
    Usage {
        input_tokens: of(&["usage", "totalTokens"]).saturating_sub(output).max(input),
        output_tokens: output,
        cached_tokens: of(&["usage", "cachedReadTokens"]),
        cost,
    }
}
