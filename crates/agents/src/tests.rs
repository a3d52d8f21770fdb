//! The clients against what the real ones printed.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use serde_json::{Value as Json, json};

use super::*;
use interlock_system::process::{OutputStream, ProcessHandle, StdinMode};

fn data(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/clients").join(name);
    fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn job() -> AgentJob<'static> {
    AgentJob {
        assignment: "s-1.a3",
        role: "developer",
        group: Some("login"),
        attempt: 2,
        prompt: "do the demo",
        folder: Path::new("/home/dev/project"),
        output: Path::new("/home/dev/out"),
        read_only: false,
        resume: None,
        schema: None,
        tool: None,
    }
}

fn setup(command: &[&str]) -> AgentSetup {
    AgentSetup { command: command.iter().map(|word| (*word).to_owned()).collect(), ..AgentSetup::default() }
}

/// A conversation, and everything that was seen of it.
struct RecordedConversation {
    conversation: Box<dyn AgentConversation>,
    told: Arc<Mutex<Vec<AgentProgress>>>,
    sent: Vec<u8>,
}

impl RecordedConversation {
    fn new(name: &str, setup: &AgentSetup, job: &AgentJob<'_>) -> Self {
        let told = Arc::new(Mutex::new(Vec::new()));
        let teller = Arc::clone(&told);
        let tell = Box::new(move |progress| teller.lock().unwrap().push(progress));
        let conversation = client(name).unwrap().conversation(setup, job, tell);
        let mut played = Self { conversation, told, sent: Vec::new() };
        played.conversation.started(&mut ProcessHandle::recorded(&mut played.sent));
        played
    }

    fn line(&mut self, from: OutputStream, line: &[u8]) {
        self.conversation.line(from, line, false, &mut ProcessHandle::recorded(&mut self.sent));
    }

    fn lines(&mut self, text: &[u8]) {
        for line in text.split(|byte| *byte == b'\n') {
            self.line(OutputStream::Out, line);
        }
    }

    fn finish(self, end: ProcessEnd) -> ConversationOutcome {
        self.conversation.finish(end)
    }

    /// Everything, for a snapshot.
    fn show(self, end: ProcessEnd) -> String {
        let mut text = String::new();
        for progress in self.told.lock().unwrap().iter() {
            writeln!(text, "{progress:?}").unwrap();
        }
        text.push_str(&String::from_utf8_lossy(&self.sent));
        writeln!(text, "{:#?}", self.finish(end)).unwrap();
        text
    }
}

fn capture(name: &str, file: &str) -> String {
    let mut played = RecordedConversation::new(name, &AgentSetup::default(), &job());
    played.lines(&data(file));
    played.show(ProcessEnd::Exited(0))
}

/// The outcome of events that a test makes up.
fn outcome(name: &str, events: &[Json], end: ProcessEnd) -> ConversationOutcome {
    let mut played = RecordedConversation::new(name, &AgentSetup::default(), &job());
    for event in events {
        played.line(OutputStream::Out, event.to_string().as_bytes());
    }
    played.finish(end)
}

fn trouble(name: &str, events: &[Json]) -> (AgentFailureKind, String, Option<Duration>) {
    let trouble = outcome(name, events, ProcessEnd::Exited(0)).trouble.expect("trouble");
    (trouble.kind, trouble.message, trouble.retry_after)
}

#[test]
fn claude_with_tools_and_a_sub_agent() {
    insta::assert_snapshot!(capture("claude", "claude/stream-json-tools-and-subagent.jsonl"));
}

#[test]
fn claude_with_a_denial() {
    insta::assert_snapshot!(capture("claude", "claude/stream-json-deny-and-stop-block.jsonl"));
}

#[test]
fn claude_with_structured_output() {
    insta::assert_snapshot!(capture("claude", "claude/json-with-schema.json"));
}

#[test]
fn codex_with_words_only() {
    insta::assert_snapshot!(capture("codex", "codex/exec-json-text.jsonl"));
}

#[test]
fn codex_with_warnings() {
    insta::assert_snapshot!(capture("codex", "codex/exec-json-hooks-untrusted.jsonl"));
}

#[test]
fn codex_with_tools_and_a_sub_agent() {
    insta::assert_snapshot!(capture("codex", "codex/exec-json-tools-and-subagent.jsonl"));
}

#[test]
fn codex_without_a_network() {
    insta::assert_snapshot!(capture("codex", "codex/exec-json-stream-failure.jsonl"));
}

#[test]
fn gemini_with_tools() {
    insta::assert_snapshot!(capture("gemini", "gemini/stream-json-tools.jsonl"));
}

const DIALOGUES: [&str; 4] = [
    "acp/claude-agent-acp-0.99.1-nonroot.jsonl",
    "acp/codex-acp-2.6.0.jsonl",
    "acp/gemini-acp.jsonl",
    "acp/opencode-acp.jsonl",
];

/// The messages of the agent in a captured dialogue.
fn agent_side(file: &str) -> Vec<u8> {
    let dialogue = String::from_utf8(data(file)).unwrap();
    let said = dialogue.lines().filter_map(|line| line.strip_prefix("OUT ")?.split_once(' ').map(|(_, said)| said));
    let mut text = said.collect::<Vec<_>>().join("\n");
    // The number of a request is the editor's to choose: the probe gave the prompt 2, Interlock keeps that for the model.
    text = text.replace("\"id\":2,\"result\"", "\"id\":3,\"result\"");
    text.into_bytes()
}

fn dialogue(file: &str, setup: &AgentSetup, job: &AgentJob<'_>) -> String {
    let mut played = RecordedConversation::new("acp", setup, job);
    played.lines(&agent_side(file));
    played.show(ProcessEnd::Exited(0))
}

#[test]
fn acp_dialogues_are_played() {
    for file in DIALOGUES {
        insta::assert_snapshot!(file.replace(['/', '.'], "_"), dialogue(file, &AgentSetup::default(), &job()));
    }
}

fn acp_lines(setup: &AgentSetup, job: &AgentJob<'_>, lines: &[Json]) -> String {
    let mut played = RecordedConversation::new("acp", setup, job);
    for line in lines {
        played.line(OutputStream::Out, line.to_string().as_bytes());
    }
    played.show(ProcessEnd::Exited(0))
}

fn greeting(load: bool) -> Json {
    json!({ "id": 0, "result": { "protocolVersion": 1, "agentCapabilities": { "loadSession": load } } })
}

fn permission(id: u64, kind: &str, path: &str) -> Json {
    let options = json!([{ "optionId": "yes", "kind": "allow_once" }, { "optionId": "no", "kind": "reject_once" }]);
    let call = json!({ "toolCallId": format!("t{id}"), "kind": kind, "title": format!("{kind} {path}"),
                       "locations": [{ "path": path }] });
    json!({ "id": id, "method": "session/request_permission", "params": { "options": options, "toolCall": call } })
}

#[test]
fn acp_read_only_roles_edit_nothing_but_their_handoff() {
    let job = AgentJob { read_only: true, ..job() };
    let hidden = json!({ "id": "x", "method": "session/request_permission", "params": {
        "options": [{ "optionId": "always", "kind": "allow_always" }],
        "toolCall": { "toolCallId": "t", "title": "patch", "content": [{ "type": "diff", "path": "/etc/passwd" }] } } });
    insta::assert_snapshot!(acp_lines(
        &AgentSetup::default(),
        &job,
        &[
            greeting(false),
            json!({ "id": 1, "result": { "sessionId": "s" } }),
            permission(10, "execute", "/home/dev/project"),
            permission(11, "edit", "/home/dev/project/a.rs"),
            permission(12, "edit", "/home/dev/out/handoff.json"),
            permission(13, "edit", "/home/dev/out/../project/a.rs"),
            hidden,
            json!({ "id": 14, "method": "fs/write_text_file", "params": { "path": "/etc/passwd", "content": "" } }),
            json!({ "id": 3, "result": { "stopReason": "end_turn" } }),
        ]
    ));
}

#[test]
fn acp_goes_on_with_a_conversation_and_chooses_a_model() {
    let job = AgentJob { resume: Some("old"), ..job() };
    let setup = AgentSetup { model: Some("fast".to_owned()), ..AgentSetup::default() };
    let replayed = json!({ "method": "session/update", "params": { "update": {
        "sessionUpdate": "agent_message_chunk", "content": { "type": "text", "text": "old words" } } } });
    insta::assert_snapshot!(acp_lines(
        &setup,
        &job,
        &[
            greeting(true),
            replayed,
            json!({ "id": 1, "result": { "models": { "availableModels": [] } } }),
            json!({ "id": 2, "error": { "code": -32602, "message": "Invalid params", "data": { "details": "no such model" } } }),
        ]
    ));
}

#[test]
fn acp_that_cannot_go_on_or_wants_a_login_says_so() {
    let resuming = AgentJob { resume: Some("old"), ..job() };
    insta::assert_snapshot!("acp_cannot_go_on", acp_lines(&AgentSetup::default(), &resuming, &[greeting(false)]));
    let error = json!({ "code": -32000, "message": "Authentication required" });
    let lines = [greeting(false), json!({ "id": 1, "error": error })];
    insta::assert_snapshot!("acp_wants_a_login", acp_lines(&AgentSetup::default(), &job(), &lines));
    let newer = json!({ "id": 0, "result": { "protocolVersion": 2 } });
    insta::assert_snapshot!("acp_is_newer", acp_lines(&AgentSetup::default(), &job(), &[newer]));
}

#[test]
fn acp_whose_conversations_do_not_load_has_forgotten_them() {
    let resuming = AgentJob { resume: Some("old"), ..job() };
    let error =
        json!({ "code": -32603, "message": "Internal error", "data": { "details": "Invalid session identifier" } });
    let lines = [greeting(true), json!({ "id": 1, "error": error })];
    insta::assert_snapshot!("acp_does_not_load", acp_lines(&AgentSetup::default(), &resuming, &lines));
}

/// Where the agent lets its sandbox be opened, the handoff can be written.
#[test]
fn acp_is_told_of_the_output_folder() {
    let offers = json!({ "loadSession": false, "sessionCapabilities": { "additionalDirectories": {} } });
    let lines = [json!({ "id": 0, "result": { "protocolVersion": 1, "agentCapabilities": offers } })];
    insta::assert_snapshot!("acp_more_directories", acp_lines(&AgentSetup::default(), &job(), &lines));
}

/// A failure that the answer reports as a good end: the reason comes as a message of the model.
#[test]
fn acp_failures_in_disguise_are_found() {
    let update = |update: Json| json!({ "method": "session/update", "params": { "update": update } });
    let events = [
        greeting(false),
        json!({ "id": 1, "result": { "sessionId": "s" } }),
        update(
            json!({ "sessionUpdate": "session_info_update", "_meta": { "codex": { "threadStatus": { "type": "active" } } } }),
        ),
        update(
            json!({ "sessionUpdate": "session_info_update", "_meta": { "codex": { "threadStatus": { "type": "systemError" } } } }),
        ),
        update(json!({ "sessionUpdate": "agent_message_chunk", "content": { "type": "text",
            "text": "exceeded retry limit, last status: 429 Too Many Requests" } })),
        json!({ "id": 3, "result": { "stopReason": "end_turn", "usage": null } }),
    ];
    assert_eq!(trouble("acp", &events).0, AgentFailureKind::Passing);
}

#[test]
fn acp_stops_for_other_reasons() {
    let opening = [greeting(false), json!({ "id": 1, "result": { "sessionId": "s" } })];
    for (answer, kind) in [
        (json!({ "id": 3, "result": { "stopReason": "refusal" } }), AgentFailureKind::Failed),
        (json!({ "id": 3, "result": {} }), AgentFailureKind::Failed),
        (json!({ "id": 3, "error": { "code": 429, "message": "slow down" } }), AgentFailureKind::Passing),
        (
            json!({ "id": 3, "error": { "code": -32603, "message": "Internal error", "data": "overloaded" } }),
            AgentFailureKind::Passing,
        ),
    ] {
        let events: Vec<Json> = opening.iter().cloned().chain([answer]).collect();
        assert_eq!(trouble("acp", &events).0, kind);
    }
}

#[test]
fn a_command_is_its_output_and_its_exit_code() {
    let play = |end| {
        let mut played = RecordedConversation::new("command", &setup(&["agent"]), &job());
        played.line(OutputStream::Out, b"first");
        played.line(OutputStream::Out, b"\xff second {\"type\":\"result\"}");
        played.line(OutputStream::Err, b"something is off");
        played.show(end)
    };
    let ends = [0, 1, 75, 77, 78, 127].map(ProcessEnd::Exited);
    let all: Vec<String> = ends.into_iter().chain([ProcessEnd::TimedOut]).map(play).collect();
    insta::assert_snapshot!(all.join("\n"));
}

#[test]
fn a_command_keeps_the_end_of_much() {
    let mut played = RecordedConversation::new("command", &setup(&["agent"]), &job());
    let line = vec![b'x'; 1 << 20];
    for _ in 0..20 {
        played.line(OutputStream::Out, &line);
    }
    played.line(OutputStream::Out, b"the end");
    let text = played.finish(ProcessEnd::Exited(0)).text.unwrap();
    assert!(text.len() <= 8 << 20 && text.ends_with("the end"));
}

#[test]
fn claude_says_success_and_means_failure() {
    let failing = |fields: Json| {
        let mut event =
            json!({ "type": "result", "subtype": "success", "is_error": true, "terminal_reason": "api_error" });
        event.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        event
    };
    for (fields, kind) in [
        (json!({ "api_error_status": 529, "result": "API Error: Overloaded" }), AgentFailureKind::Passing),
        (json!({ "api_error_status": 401, "result": "Invalid API key" }), AgentFailureKind::Setup),
        (json!({ "api_error_status": 404, "result": "no such model" }), AgentFailureKind::Setup),
        (json!({ "result": "Credit balance is too low" }), AgentFailureKind::Setup),
        (json!({ "result": "API Error: Connection error." }), AgentFailureKind::Passing),
        (
            json!({ "terminal_reason": "max_turns", "subtype": "error_max_turns", "errors": ["rate limit of turns"] }),
            AgentFailureKind::Failed,
        ),
        (json!({ "is_error": false, "terminal_reason": "aborted_tools" }), AgentFailureKind::Failed),
    ] {
        assert_eq!(trouble("claude", &[failing(fields.clone())]).0, kind, "{fields}");
    }
    let told = json!({ "type": "assistant", "error": "rate_limit", "message": { "model": "<synthetic>", "content": [{ "type": "text", "text": "no" }] } });
    let result = failing(json!({ "result": "You have reached it" }));
    let outcome = outcome("claude", &[told, result], ProcessEnd::Exited(1));
    assert_eq!(outcome.trouble.unwrap().kind, AgentFailureKind::Passing);
    assert_eq!(outcome.text, None);
}

#[test]
fn errors_of_the_service_as_claude_prints_them() {
    for (status, kind) in [
        (400, AgentFailureKind::Setup),
        (401, AgentFailureKind::Setup),
        (429, AgentFailureKind::Passing),
        (529, AgentFailureKind::Passing),
    ] {
        let mut played = RecordedConversation::new("claude", &AgentSetup::default(), &job());
        played.lines(&data(&format!("claude/stream-json-error-{status}.jsonl")));
        let outcome = played.finish(ProcessEnd::Exited(1));
        assert_eq!((outcome.trouble.unwrap().kind, outcome.text), (kind, None), "{status}");
    }
}

#[test]
fn errors_of_the_service_as_codex_prints_them() {
    for (message, kind) in [
        (
            "unexpected status 401 Unauthorized: Incorrect API key provided, url: http://127.0.0.1/v1/responses",
            AgentFailureKind::Setup,
        ),
        ("exceeded retry limit, last status: 429 Too Many Requests", AgentFailureKind::Passing),
        ("Quota exceeded. Check your plan and billing details.", AgentFailureKind::Setup),
        (
            "unexpected status 503 Service Unavailable: no, url: http://127.0.0.1/v1/responses",
            AgentFailureKind::Passing,
        ),
        ("The model `x` does not exist or you do not have access to it.", AgentFailureKind::Setup),
    ] {
        let failed = json!({ "type": "turn.failed", "error": { "message": message } });
        assert_eq!(trouble("codex", &[failed]).0, kind, "{message}");
    }
}

#[test]
fn errors_of_the_service_as_gemini_prints_them() {
    for (message, kind) in [
        (
            "[API Error: {\"error\":{\"code\":400,\"message\":\"API key not valid. Please pass a valid API key.\"}}]",
            AgentFailureKind::Setup,
        ),
        ("[API Error: models/nope is not found for API version v1beta]", AgentFailureKind::Setup),
        (
            "[API Error: You have exhausted your daily quota on this model.]\nPlease wait and try again later.",
            AgentFailureKind::Passing,
        ),
    ] {
        let error = json!({ "type": "unknown", "message": message });
        let result = json!({ "type": "result", "status": "error", "error": error });
        assert_eq!(trouble("gemini", &[result]).0, kind, "{message}");
    }
}

#[test]
fn claude_is_told_when_a_limit_ends() {
    let at = u64::try_from(interlock_system::clock::now().0).unwrap() / 1000 + 3600;
    let limit = json!({ "type": "rate_limit_event", "rate_limit_info": { "status": "rejected", "resetsAt": at } });
    let result = json!({ "type": "result", "is_error": true, "api_error_status": 429, "result": "limit" });
    let (kind, _, after) = trouble("claude", &[limit, result]);
    assert_eq!(kind, AgentFailureKind::Passing);
    assert!(after.unwrap() > Duration::from_secs(3500) && after.unwrap() <= Duration::from_secs(3600));
}

#[test]
fn the_last_of_two_results_counts() {
    let first = json!({ "type": "result", "is_error": true, "result": "Connection error", "result_index": 0 });
    let second =
        json!({ "type": "result", "is_error": false, "result": "done", "result_index": 1, "total_cost_usd": 0.5 });
    let outcome = outcome("claude", &[first, second], ProcessEnd::Exited(0));
    assert_eq!((outcome.text.as_deref(), outcome.trouble, outcome.usage.cost), (Some("done"), None, Some(0.5)));
}

#[test]
fn claude_counts_the_turn_and_not_the_conversation() {
    let result = |index: u64| {
        let model = |input: u64, cost: f64| json!({ "m": { "inputTokens": input, "cacheReadInputTokens": 7, "outputTokens": 20, "costUSD": cost } });
        json!({ "type": "result", "result": "done", "result_index": index, "modelUsage": model(900, 9.0),
                "total_cost_usd": 9.0, "model_usage_since_last_result": model(100, 0.25) })
    };
    let usage = outcome("claude", &[result(0), result(1)], ProcessEnd::Exited(0)).usage;
    assert_eq!(usage, Usage { input_tokens: 214, output_tokens: 40, cached_tokens: 14, cost: Some(0.5) });
}

#[test]
fn claude_that_still_tries_at_the_end_says_what_for() {
    let retry = |error: &str| json!({ "type": "system", "subtype": "api_retry", "attempt": 3, "error": error });
    let kind = |error: &str| outcome("claude", &[retry(error)], ProcessEnd::TimedOut).trouble.unwrap().kind;
    assert_eq!(kind("authentication_failed"), AgentFailureKind::Setup);
    assert_eq!(kind("overloaded"), AgentFailureKind::Passing);
    assert_eq!(kind("something"), AgentFailureKind::Failed);
}

#[test]
fn codex_gets_over_errors_and_says_what_was_declined() {
    let item = json!({ "id": "i", "type": "command_execution", "command": "rm -r /", "status": "declined" });
    let events = [
        json!({ "type": "error", "message": "Reconnecting... 1/5" }),
        json!({ "type": "item.completed", "item": item }),
        json!({ "type": "turn.completed", "usage": { "input_tokens": 1e300, "output_tokens": -5, "cached_input_tokens": "x" } }),
    ];
    let outcome = outcome("codex", &events, ProcessEnd::Exited(143));
    assert_eq!(outcome.trouble.unwrap().kind, AgentFailureKind::Denied);
    assert_eq!((outcome.usage.input_tokens, outcome.usage.output_tokens), (u64::MAX, 0));
    let failed = json!({ "type": "turn.failed", "error": { "message": "Please try again in 11.054s." } });
    let (kind, _, after) = trouble("codex", &[failed]);
    assert_eq!((kind, after), (AgentFailureKind::Passing, Some(Duration::from_millis(11_054))));
}

#[test]
fn gemini_says_why_in_one_of_three_places() {
    let result = json!({ "type": "result", "status": "error", "error": { "type": "FatalAuthenticationError", "message": "no key" } });
    assert_eq!(trouble("gemini", &[result]).0, AgentFailureKind::Setup);
    let error = json!({ "type": "error", "severity": "error", "message": "RESOURCE_EXHAUSTED" });
    let result = json!({ "type": "result", "status": "error" });
    assert_eq!(trouble("gemini", &[error, result]).0, AgentFailureKind::Passing);
    let mut played = RecordedConversation::new("gemini", &AgentSetup::default(), &job());
    played.line(OutputStream::Err, b"set the GEMINI_API_KEY");
    let trouble = played.finish(ProcessEnd::Exited(41)).trouble.unwrap();
    assert_eq!((trouble.kind, trouble.message.as_str()), (AgentFailureKind::Setup, "set the GEMINI_API_KEY"));
}

#[test]
fn an_end_without_a_result_is_never_a_success() {
    for client in clients().into_iter().filter(|client| client.name() != "command") {
        for end in [
            ProcessEnd::Exited(0),
            ProcessEnd::Exited(1),
            ProcessEnd::TimedOut,
            ProcessEnd::Silent,
            ProcessEnd::Flooded,
            ProcessEnd::Stopped,
        ] {
            let outcome = outcome(client.name(), &[], end);
            assert_eq!(
                outcome.trouble.map(|trouble| trouble.kind),
                Some(AgentFailureKind::Failed),
                "{} {end:?}",
                client.name()
            );
        }
        let mut played = RecordedConversation::new(client.name(), &AgentSetup::default(), &job());
        played.line(OutputStream::Err, b"sh: not found");
        assert_eq!(played.finish(ProcessEnd::Exited(127)).trouble.unwrap().kind, AgentFailureKind::Setup);
    }
}

/// Numbers that look random, and are the same every time.
struct AgentTestRandom(u64);

impl AgentTestRandom {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % u64::try_from(sides.max(1)).unwrap()).unwrap()
    }
}

/// Cuts, doubles, swaps and spoils.
fn spoilt(text: &[u8], dice: &mut AgentTestRandom) -> Vec<u8> {
    let mut bytes = text.to_vec();
    for _ in 0..=dice.roll(6) {
        let (from, to) = (dice.roll(bytes.len()), dice.roll(bytes.len()));
        match dice.roll(4) {
            0 => bytes.truncate(from.max(1)),
            1 => {
                let byte = u8::try_from(dice.roll(256)).unwrap();
                bytes.splice(from..from, [byte]);
            }
            2 => drop(bytes.drain(from.min(to)..from.max(to).min(from.min(to) + 40))),
            _ => bytes.swap(from, to),
        }
    }
    bytes
}

#[test]
fn nothing_that_is_printed_makes_a_client_panic() {
    let mut dice = AgentTestRandom(0x9e37_79b9_7f4a_7c15);
    let captures = [
        data("claude/stream-json-deny-and-stop-block.jsonl"),
        data("codex/exec-json-tools-and-subagent.jsonl"),
        data("gemini/stream-json-tools.jsonl"),
        agent_side("acp/gemini-acp.jsonl"),
    ];
    for round in 0..400 {
        let capture = &captures[round % captures.len()];
        let bytes = match round % 10 {
            0 => (0..2000).map(|_| u8::try_from(dice.roll(256)).unwrap()).collect(),
            _ => spoilt(capture, &mut dice),
        };
        for client in clients() {
            let mut played = RecordedConversation::new(client.name(), &AgentSetup::default(), &job());
            played.lines(&bytes);
            for line in bytes.split(|byte| *byte == b'\n').take(3) {
                played.line(OutputStream::Err, line);
                played.conversation.line(OutputStream::Out, line, true, &mut ProcessHandle::recorded(&mut Vec::new()));
            }
            played.finish(ProcessEnd::Exited(0));
        }
    }
}

/// Every key that is read holds every kind of value once.
#[test]
fn nothing_of_another_type_makes_a_client_panic() {
    let values = [
        json!(null),
        json!(true),
        json!(-1),
        json!(1e308),
        json!("x"),
        json!([]),
        json!([1]),
        json!({}),
        json!({"x": 1}),
    ];
    for (name, file) in [
        ("claude", "claude/stream-json-deny-and-stop-block.jsonl"),
        ("codex", "codex/exec-json-tools-and-subagent.jsonl"),
        ("gemini", "gemini/stream-json-tools.jsonl"),
    ] {
        for line in data(file).split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            let event: Json = serde_json::from_slice(line).unwrap();
            for key in event.as_object().unwrap().keys() {
                for value in &values {
                    let mut spoilt = event.clone();
                    spoilt[key.as_str()] = value.clone();
                    outcome(name, &[spoilt], ProcessEnd::Exited(0));
                }
            }
        }
    }
}

#[test]
fn deep_nesting_is_passed_over() {
    let deep = format!("{{\"type\":\"result\",\"x\":{}{}}}", "[".repeat(200_000), "]".repeat(200_000));
    for client in clients() {
        let mut played = RecordedConversation::new(client.name(), &AgentSetup::default(), &job());
        played.line(OutputStream::Out, deep.as_bytes());
        played.finish(ProcessEnd::Exited(0));
    }
}

/// A command line as people would type it, with what goes with it.
fn shown(spec: &ProcessSpec) -> String {
    let mut text = format!("{}\n", spec.program.display());
    for argument in &spec.arguments {
        writeln!(text, "  {}", argument.display()).unwrap();
    }
    let stdin = match &spec.stdin {
        StdinMode::Nothing => "nothing".to_owned(),
        StdinMode::Text(text) => format!("{text:?}"),
        StdinMode::Open => "open".to_owned(),
    };
    writeln!(text, "in {}, stdin {stdin}", spec.folder.display()).unwrap();
    text
}

fn scratch(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("interlock-agents-{name}-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    folder
}

#[test]
fn command_lines() {
    let output = scratch("lines");
    let schema = json!({ "$schema": "x", "type": "object", "properties": { "a": { "type": "string" } }, "required": ["a"],
                         "additionalProperties": false });
    let arguments = ["mcp", "--handoff", "/home/dev/out"].map(str::to_owned).to_vec();
    let tool = HandoffServer { program: "/opt/in \"quotes\"/interlock".to_owned(), arguments };
    let mut all = String::new();
    for client in clients() {
        let command =
            if matches!(client.name(), "acp" | "command") { vec!["agent", "--as={role}", "{output}"] } else { vec![] };
        let plain = setup(&command);
        let full = AgentSetup { model: Some("big".to_owned()), flags: vec!["--extra".to_owned()], ..plain.clone() };
        let first = AgentJob { output: &output, tool: Some(&tool), ..job() };
        let again =
            AgentJob { read_only: true, resume: Some("c-1"), schema: Some(&schema), tool: None, ..first.clone() };
        for (setup, job) in [(&plain, &first), (&full, &again)] {
            all.push_str(&shown(&client.start(setup, job).unwrap()));
        }
    }
    insta::assert_snapshot!(all.replace(output.to_str().unwrap(), "/home/dev/out"));
    let files: BTreeMap<String, String> = fs::read_dir(&output)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), fs::read_to_string(&path).unwrap()))
        .collect();
    insta::assert_debug_snapshot!("files_beside_command_lines", files);
    fs::remove_dir_all(&output).unwrap();
}

#[test]
fn schemas_are_given_as_each_service_takes_them() {
    let output = scratch("schemas");
    let schema = interlock_core::handoff::schema(None);
    let job = AgentJob { output: &output, schema: Some(&schema), ..job() };
    let claude = client("claude").unwrap().start(&AgentSetup::default(), &job).unwrap();
    let given = claude.arguments.iter().skip_while(|argument| *argument != "--json-schema").nth(1).unwrap();
    let given: Json = serde_json::from_str(given.to_str().unwrap()).unwrap();
    assert!(given.get("allOf").is_none() && given["properties"] == schema["properties"]);
    let codex = client("codex").unwrap().start(&AgentSetup::default(), &job).unwrap();
    assert!(!codex.arguments.iter().any(|argument| argument == "--output-schema"));
    fs::remove_dir_all(&output).unwrap();
}

#[test]
fn the_environment_says_what_the_job_is_and_holds_no_secret() {
    let mut setup = setup(&["agent"]);
    for name in ["HOME", "INTERLOCK_TOKEN", "INTERLOCK_KEY_FILE", "INTERLOCK_ROLE"] {
        setup.environment.insert(name.to_owned(), "given".to_owned());
    }
    for client in clients() {
        let spec = client.start(&setup, &job()).unwrap();
        let environment: Vec<String> =
            spec.environment.iter().map(|(name, value)| format!("{}={}", name.display(), value.display())).collect();
        assert_eq!(
            environment.join(" "),
            "HOME=given INTERLOCK_ASSIGNMENT=s-1.a3 INTERLOCK_ATTEMPT=2 INTERLOCK_GROUP=login \
             INTERLOCK_OUTPUT=/home/dev/out INTERLOCK_ROLE=developer"
        );
        assert!(
            lets_through(client.variables(), "HOME")
                && lets_through(client.variables(), "LC_ALL")
                && lets_through(client.variables(), "https_proxy")
        );
        for name in ["INTERLOCK_TOKEN", "INTERLOCK_KEY_FILE", "AWS", "SECRET", "HOMEX", ""] {
            assert!(!lets_through(client.variables(), name), "{name}");
        }
    }
    assert!(
        lets_through(client("claude").unwrap().variables(), "ANTHROPIC_API_KEY")
            && !lets_through(client("claude").unwrap().variables(), "OPENAI_API_KEY")
    );
    assert!(
        lets_through(client("codex").unwrap().variables(), "CODEX_HOME")
            && lets_through(client("gemini").unwrap().variables(), "GEMINI_API_KEY")
    );
}

#[test]
fn placeholders_are_filled_in_once_and_inside_one_argument() {
    let job = AgentJob { prompt: "say {role}; rm -r / \n $(x)", group: None, ..job() };
    let command = [
        "agent",
        "{prompt}",
        "a{role}b{attempt}",
        "{{role}}",
        "{\"a\":{\"b\":1}}",
        "{group}",
        "{",
        "}{",
        "{Role}",
        "{}",
        "é{assignment}é",
    ];
    let spec = client("command").unwrap().start(&setup(&command), &job).unwrap();
    let arguments: Vec<_> = spec.arguments.iter().map(|argument| argument.to_str().unwrap()).collect();
    assert_eq!(
        arguments,
        [
            "say {role}; rm -r / \n $(x)",
            "adeveloperb2",
            "{role}",
            "{\"a\":{\"b\":1}}",
            "",
            "{",
            "}{",
            "{Role}",
            "{}",
            "és-1.a3é"
        ]
    );
    assert!(matches!(spec.stdin, StdinMode::Nothing));
}

#[test]
fn what_the_system_would_refuse_is_refused_with_a_sentence() {
    let long = "x".repeat(200_000);
    for prompt in [long.as_str(), "a\0b"] {
        let job = AgentJob { prompt, ..job() };
        let command = client("command").unwrap();
        assert_eq!(
            command.start(&setup(&["agent", "{prompt}"]), &job).unwrap_err().kind(),
            std::io::ErrorKind::InvalidInput
        );
        assert!(command.start(&setup(&["agent"]), &job).is_ok());
        assert!(client("claude").unwrap().start(&AgentSetup::default(), &job).is_ok());
    }
}

#[test]
fn the_name_of_a_conversation_is_never_a_flag() {
    for client in ["claude", "codex", "gemini"] {
        for name in ["--dangerously-skip-permissions", "-", "", "a\0b"] {
            let job = AgentJob { resume: Some(name), ..job() };
            assert!(super::client(client).unwrap().start(&AgentSetup::default(), &job).is_err(), "{client} {name:?}");
        }
    }
}

#[cfg(unix)]
#[test]
fn a_link_in_the_output_folder_is_not_followed() {
    let output = scratch("links");
    let elsewhere = output.join("elsewhere");
    fs::write(&elsewhere, "mine").unwrap();
    std::os::unix::fs::symlink(&elsewhere, output.join("read-only.toml")).unwrap();
    let job = AgentJob { output: &output, read_only: true, ..job() };
    client("gemini").unwrap().start(&AgentSetup::default(), &job).unwrap();
    assert_eq!(fs::read_to_string(&elsewhere).unwrap(), "mine");
    fs::remove_dir_all(&output).unwrap();
}

#[test]
fn problems_of_a_set_up() {
    let flags = |flags: &[&str]| AgentSetup {
        flags: flags.iter().map(|flag| (*flag).to_owned()).collect(),
        ..AgentSetup::default()
    };
    let mut all = String::new();
    let mut check = |name: &str, setup: &AgentSetup| {
        for problem in client(name).unwrap().check(setup) {
            writeln!(all, "{name}: {problem}").unwrap();
        }
    };
    check("claude", &flags(&["--output-format=json", "--model", "x", "-p", "--allowedTools", "mcp__x"]));
    check("claude", &flags(&["hello", "--"]));
    check("claude", &setup(&["x"]));
    check("codex", &flags(&["-c", "a=b", "--json", "-mx", "--sandbox", "danger-full-access"]));
    check("gemini", &flags(&["-ojson", "--yolo", "--policy", "x"]));
    check("command", &setup(&[]));
    check("command", &setup(&["{role}", "{foo}", "{{bar}}", "{prompt}"]));
    check(
        "command",
        &AgentSetup { program: Some("x".to_owned()), model: Some("y".to_owned()), ..setup(&["a", "b\0"]) },
    );
    check("acp", &setup(&["agent", "{prompt}"]));
    check("acp", &setup(&[" "]));
    insta::assert_snapshot!(all);
    for client in clients().into_iter().filter(|client| !matches!(client.name(), "acp" | "command")) {
        assert_eq!(client.check(&AgentSetup::default()), Vec::<String>::new());
    }
}

#[cfg(unix)]
#[test]
fn programs_are_found() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = scratch("find");
    let (program, text) = (folder.join("agent"), folder.join("text"));
    fs::write(&program, "").unwrap();
    fs::write(&text, "").unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    fs::set_permissions(&text, fs::Permissions::from_mode(0o644)).unwrap();
    let path = format!("/nowhere:relative::{}", folder.display());
    assert_eq!(find_program("agent", Some(&path)), Some(program.clone()));
    assert_eq!(find_program(program.to_str().unwrap(), None), Some(program));
    for missing in ["text", "nothing", "", "a\0b", ".", ".."] {
        assert_eq!(find_program(missing, Some(&path)), None, "{missing}");
    }
    assert_eq!(find_program(folder.to_str().unwrap(), None), None);
    assert_eq!(find_program("agent", None), None);
    fs::remove_dir_all(&folder).unwrap();
}
