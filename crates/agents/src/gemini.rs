//! Gemini CLI: `gemini -o stream-json`.
//!
//! A message comes in pieces (`delta`); a tool, or the end, ends it. `result` says how the turn ended; the reason may
//! have come before, in an `error` event.

use std::ffi::OsString;
use std::io;

use serde_json::Value as Json;

use super::conversation_record::ConversationRecord;
use super::start::{ReservedFlag, check_flags, check_no_command, put, resumed, spec, variables};
use super::{
    AgentClient, AgentConversation, AgentFailure, AgentJob, AgentSetup, ConversationOutcome, FlagProbe,
    ProgressCallback, Usage, UsageReporting, event, failure,
};
use interlock_system::process::{OutputListener, OutputStream, ProcessEnd, ProcessHandle, ProcessSpec, StdinMode};

pub(super) struct GeminiAgent;

/// For roles that change nothing: a rule of the client's own policy, above the one that allows everything.
const READ_ONLY: &str = r#"[[rule]]
toolName = ["write_file", "replace"]
decision = "deny"
priority = 999
"#;

/// Exit codes of the client for a set-up that cannot work.
const NO_KEY: i32 = 41;
const NO_CONFIGURATION: i32 = 52;

const OURS: [ReservedFlag; 18] = [
    ReservedFlag("-o", "it reads the event stream"),
    ReservedFlag("--output-format", "it reads the event stream"),
    ReservedFlag("-p", "the prompt is given on standard input"),
    ReservedFlag("--prompt", "the prompt is given on standard input"),
    ReservedFlag("-i", "agents are always run without a terminal"),
    ReservedFlag("--prompt-interactive", "agents are always run without a terminal"),
    ReservedFlag("-m", "say `model`"),
    ReservedFlag("--model", "say `model`"),
    ReservedFlag("-y", "nobody is there to ask, so everything is approved but what a role may not do"),
    ReservedFlag("--yolo", "nobody is there to ask, so everything is approved but what a role may not do"),
    ReservedFlag("--approval-mode", "nobody is there to ask, so everything is approved but what a role may not do"),
    ReservedFlag("-r", "it knows which conversation to go on with"),
    ReservedFlag("--resume", "it knows which conversation to go on with"),
    ReservedFlag("--session-id", "the client chooses one, and says so"),
    ReservedFlag("--session-file", "it knows which conversation to go on with"),
    ReservedFlag("-w", "each group has a worktree of its own already"),
    ReservedFlag("--acp", "for that, use the client `acp`"),
    ReservedFlag("--experimental-acp", "for that, use the client `acp`"),
];

impl AgentClient for GeminiAgent {
    fn name(&self) -> &'static str {
        "gemini"
    }

    fn program<'a>(&self, setup: &'a AgentSetup) -> &'a str {
        setup.program.as_deref().unwrap_or("gemini")
    }

    fn variables(&self) -> &'static [&'static str] {
        variables!["GEMINI_*", "GOOGLE_*", "CLOUDSDK_*"]
    }

    fn check(&self, setup: &AgentSetup) -> Vec<String> {
        let mut problems = check_flags(setup, &OURS);
        problems.extend(check_no_command(setup));
        problems
    }

    fn start(&self, setup: &AgentSetup, job: &AgentJob<'_>) -> io::Result<ProcessSpec> {
        let mut arguments: Vec<OsString> = setup.flags.iter().map(Into::into).collect();
        let mut add = |words: &[&str]| arguments.extend(words.iter().map(Into::into));
        add(&["-o", "stream-json", "--approval-mode", "yolo", "--skip-trust"]);
        if let Some(model) = &setup.model {
            add(&["-m", model]);
        }
        if let Some(conversation) = resumed(job)? {
            add(&["--resume", conversation]);
        }
        if job.read_only {
            arguments.extend(["--policy".into(), put(job, "read-only.toml", READ_ONLY)?]);
        }
        arguments.extend(["--include-directories".into(), job.output.into()]);
        spec(self.program(setup), arguments, setup, job, StdinMode::Text(job.prompt.to_owned()))
    }

    fn conversation(&self, _: &AgentSetup, _: &AgentJob<'_>, tell: ProgressCallback) -> Box<dyn AgentConversation> {
        Box::new(GeminiConversation { story: ConversationRecord::new(tell), message: String::new(), error: None })
    }

    fn help(&self) -> Option<&'static [&'static str]> {
        Some(&["--help"])
    }

    fn probe(&self) -> Option<FlagProbe> {
        // Two prompts of different kinds are refused after all else was looked at.
        Some(FlagProbe { before: &[], after: &["-p", "x", "-i", "x"], refusal: "Unknown argument" })
    }

    fn tells(&self) -> UsageReporting {
        UsageReporting { tokens: true, cost: false }
    }

    fn resumes(&self) -> bool {
        true
    }
}

struct GeminiConversation {
    story: ConversationRecord,
    /// As much of a message as has come.
    message: String,
    error: Option<String>,
}

impl OutputListener for GeminiConversation {
    fn line(&mut self, from: OutputStream, line: &[u8], cut: bool, _: &mut ProcessHandle<'_>) {
        if from == OutputStream::Err {
            return self.story.record_stderr(line);
        }
        if cut {
            return;
        }
        let Some(event) = event::parse(line) else { return };
        let field = |key: &str| event::text(&event, &[key]).unwrap_or_default();
        match field("type") {
            "init" => self.story.conversation = event::text(&event, &["session_id"]).map(str::to_owned),
            "message" if field("role") == "assistant" => self.message.push_str(field("content")),
            "tool_use" => {
                self.end_message();
                let on = event.get("parameters").map(event::subject).unwrap_or_default();
                self.story.uses(field("tool_name"), &on);
            }
            "tool_result" => self.tool_result(&event),
            "error" if field("severity") != "warning" => self.error = Some(field("message").to_owned()),
            "result" => self.result(&event),
            _ => {}
        }
    }
}

impl GeminiConversation {
    fn end_message(&mut self) {
        let message = std::mem::take(&mut self.message);
        if !message.trim().is_empty() {
            self.story.says(&message);
            self.story.text = Some(message);
        }
    }

    fn tool_result(&mut self, event: &Json) {
        let kind = event::text(event, &["error", "type"]).unwrap_or_default();
        if matches!(kind, "policy_violation" | "permission_denied" | "path_not_in_workspace") {
            self.story.denied(event::text(event, &["error", "message"]).unwrap_or(kind));
        }
    }

    fn result(&mut self, event: &Json) {
        self.end_message();
        self.story.over = true;
        self.story.spent(used(event));
        if event::text(event, &["status"]) != Some("success") {
            self.story.trouble = Some(self.trouble(event));
        }
    }

    fn trouble(&self, event: &Json) -> AgentFailure {
        let message = event::text(event, &["error", "message"]).or(self.error.as_deref());
        let message = message.unwrap_or("the turn failed, and the client does not say why");
        match event::text(event, &["error", "type"]).unwrap_or_default() {
            "FatalAuthenticationError" | "FatalConfigError" | "FatalSandboxError" => failure::setup(message),
            "FatalTurnLimitedError" | "FatalCancellationError" | "FatalToolExecutionError" => failure::failed(message),
            _ => failure::from_words(message),
        }
    }
}

impl AgentConversation for GeminiConversation {
    fn finish(mut self: Box<Self>, end: ProcessEnd) -> ConversationOutcome {
        self.end_message();
        if !self.story.over {
            self.story.trouble = match end {
                ProcessEnd::Exited(NO_KEY | NO_CONFIGURATION) => Some(failure::setup(self.story.grumbled())),
                _ => self.error.as_deref().map(failure::from_words),
            };
        }
        self.story.outcome(end)
    }
}

fn used(event: &Json) -> Usage {
    Usage {
        input_tokens: event::count(event, &["stats", "input_tokens"]),
        output_tokens: event::count(event, &["stats", "output_tokens"]),
        cached_tokens: event::count(event, &["stats", "cached"]),
        cost: None,
    }
}
