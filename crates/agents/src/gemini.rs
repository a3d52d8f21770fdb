//! Gemini CLI: `gemini -o stream-json`.
//!
//! A message comes in pieces (`delta`); a tool, or the end, ends it. `result` says how the turn ended; the reason may
//! have come before, in an `error` event.

use std::ffi::OsString;
use std::io;

use serde_json::Value as Json;

use super::start::{Ours, check_flags, check_no_command, put, resumed, spec, variables};
use super::story::Story;
use super::{Client, Conversation, Job, Outcome, Probe, Setup, Tell, Tells, Trouble, Usage, event, trouble};
use interlock_system::process::{End, Listener, Spec, Stdin, Stream, Talk};

pub(super) struct Gemini;

/// For roles that change nothing: a rule of the client's own policy, above the one that allows everything.
const READ_ONLY: &str = r#"[[rule]]
toolName = ["write_file", "replace"]
decision = "deny"
priority = 999
"#;

/// Exit codes of the client for a set-up that cannot work.
const NO_KEY: i32 = 41;
const NO_CONFIGURATION: i32 = 52;

const OURS: [Ours; 18] = [
    Ours("-o", "it reads the event stream"),
    Ours("--output-format", "it reads the event stream"),
    Ours("-p", "the prompt is given on standard input"),
    Ours("--prompt", "the prompt is given on standard input"),
    Ours("-i", "agents are always run without a terminal"),
    Ours("--prompt-interactive", "agents are always run without a terminal"),
    Ours("-m", "say `model`"),
    Ours("--model", "say `model`"),
    Ours("-y", "nobody is there to ask, so everything is approved but what a role may not do"),
    Ours("--yolo", "nobody is there to ask, so everything is approved but what a role may not do"),
    Ours("--approval-mode", "nobody is there to ask, so everything is approved but what a role may not do"),
    Ours("-r", "it knows which conversation to go on with"),
    Ours("--resume", "it knows which conversation to go on with"),
    Ours("--session-id", "the client chooses one, and says so"),
    Ours("--session-file", "it knows which conversation to go on with"),
    Ours("-w", "each group has a worktree of its own already"),
    Ours("--acp", "for that, use the client `acp`"),
    Ours("--experimental-acp", "for that, use the client `acp`"),
];

impl Client for Gemini {
    fn name(&self) -> &'static str {
        "gemini"
    }

    fn program<'a>(&self, setup: &'a Setup) -> &'a str {
        setup.program.as_deref().unwrap_or("gemini")
    }

    fn variables(&self) -> &'static [&'static str] {
        variables!["GEMINI_*", "GOOGLE_*", "CLOUDSDK_*"]
    }

    fn check(&self, setup: &Setup) -> Vec<String> {
        let mut problems = check_flags(setup, &OURS);
        problems.extend(check_no_command(setup));
        problems
    }

    fn start(&self, setup: &Setup, job: &Job<'_>) -> io::Result<Spec> {
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
        spec(self.program(setup), arguments, setup, job, Stdin::Text(job.prompt.to_owned()))
    }

    fn conversation(&self, _: &Setup, _: &Job<'_>, tell: Tell) -> Box<dyn Conversation> {
        Box::new(Reading { story: Story::new(tell), message: String::new(), error: None })
    }

    fn help(&self) -> Option<&'static [&'static str]> {
        Some(&["--help"])
    }

    fn probe(&self) -> Option<Probe> {
        // Two prompts of different kinds are refused after all else was looked at.
        Some(Probe { before: &[], after: &["-p", "x", "-i", "x"], refusal: "Unknown argument" })
    }

    fn tells(&self) -> Tells {
        Tells { tokens: true, cost: false }
    }

    fn resumes(&self) -> bool {
        true
    }
}

struct Reading {
    story: Story,
    /// As much of a message as has come.
    message: String,
    error: Option<String>,
}

impl Listener for Reading {
    fn line(&mut self, from: Stream, line: &[u8], cut: bool, _: &mut Talk<'_>) {
        if from == Stream::Err {
            return self.story.grumbles(line);
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

impl Reading {
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

    fn trouble(&self, event: &Json) -> Trouble {
        let message = event::text(event, &["error", "message"]).or(self.error.as_deref());
        let message = message.unwrap_or("the turn failed, and the client does not say why");
        match event::text(event, &["error", "type"]).unwrap_or_default() {
            "FatalAuthenticationError" | "FatalConfigError" | "FatalSandboxError" => trouble::setup(message),
            "FatalTurnLimitedError" | "FatalCancellationError" | "FatalToolExecutionError" => trouble::failed(message),
            _ => trouble::from_words(message),
        }
    }
}

impl Conversation for Reading {
    fn finish(mut self: Box<Self>, end: End) -> Outcome {
        self.end_message();
        if !self.story.over {
            self.story.trouble = match end {
                End::Exited(NO_KEY | NO_CONFIGURATION) => Some(trouble::setup(self.story.grumbled())),
                _ => self.error.as_deref().map(trouble::from_words),
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
