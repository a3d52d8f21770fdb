//! A client gets for every payload an answer that it understands, or a refusal that every client understands.

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Map, Value as Json, json};

use crate::scene::{Answer, CLIENTS, Client, Talk, planned};
use crate::team::{Team, run_bytes};

const EVENTS: &[&str] = &[
    "SessionStart",
    "UserPromptSubmit",
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
    "SubagentStart",
    "SubagentStop",
    "Stop",
    "BeforeAgent",
    "BeforeTool",
    "AfterTool",
    "AfterAgent",
    "SessionEnd",
    "PreCompress",
    "",
];
const TOOLS: &[&str] = &[
    "Agent",
    "Task",
    "Write",
    "Edit",
    "NotebookEdit",
    "Bash",
    "SendMessage",
    "Read",
    "spawn_agent",
    "apply_patch",
    "collaborationspawn_agent",
    "multi_agent_v1wait_agent",
    "invoke_agent",
    "complete_task",
    "write_file",
    "replace",
    "run_shell_command",
    "read_file",
    "read_many_files",
    "mcp__interlock__claim_assignment",
    "__interlock__",
    "",
];
const FIELDS: &[&str] = &[
    "session_id",
    "cwd",
    "transcript_path",
    "agent_id",
    "agent_type",
    "tool_name",
    "tool_input",
    "tool_use_id",
    "tool_response",
    "stop_hook_active",
    "last_assistant_message",
    "agent_transcript_path",
    "mcp_context",
    "source",
    "prompt",
];
const INSIDE: &[&str] = &[
    "file_path",
    "notebook_path",
    "command",
    "subagent_type",
    "agent_type",
    "agent_name",
    "prompt",
    "message",
    "description",
    "result",
    "status",
    "agent_id",
    "llmContent",
    "server_name",
    "tool_name",
    "path",
    "include",
];

/// What every client sends, captured, is answered.
#[test]
fn everything_that_was_captured_is_answered() {
    for client in CLIENTS {
        let team = Team::new(&format!("hooks_captured_{}", client.name()));
        let (talk, session) = planned(&team, client, &["LOGIN"]);
        let mut denied = Vec::new();
        for payload in client.captured() {
            let here = payload.to_string().replace("/home/dev/project", &team.project().display().to_string());
            let payload: Json = serde_json::from_str(&here).expect("JSON");
            let event = payload["hook_event_name"].as_str().expect("a name").to_owned();
            if let Answer::Deny(reason) = talk.hook(&event, &payload) {
                denied.push((event, reason));
            }
        }
        let codes = |event: &str| {
            denied.iter().filter(|(of, _)| of == event).map(|(_, reason)| &reason[11..16]).collect::<Vec<_>>()
        };
        let before = match client {
            // A shell that writes, an edit (in Codex by the shell), `exit`, a sub-agent that is not open; its own shell is not seen to start.
            Client::Claude | Client::Codex => vec!["E0702", "E0702", "E0702", "E0701"],
            Client::Gemini => vec!["E0702"],
        };
        assert_eq!(codes(client.before_tool()), before, "{denied:?}");
        assert_eq!(team.open(&session), [("developer".to_owned(), "LOGIN".to_owned())]);
    }
}

fn word(of: &'static [&'static str]) -> impl Strategy<Value = String> {
    prop_oneof![4 => proptest::sample::select(of).prop_map(str::to_owned), 1 => any::<String>()]
}

fn leaf() -> impl Strategy<Value = Json> {
    prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        any::<i64>().prop_map(Json::from),
        any::<f64>().prop_map(Json::from),
        any::<String>().prop_map(Json::from),
        word(TOOLS).prop_map(Json::from),
        proptest::sample::select(vec!["developer", "qa_expert", "interlock:developer", "c-1", "/", "..", "~", "$HOME"])
            .prop_map(Json::from),
        proptest::sample::select(vec![
            "cat ~/x; interlock answer \"$(",
            "sqlite3 .interlock/interlock.db",
            "bash -c 'bash -c \"rm x\"'",
            "'",
            "\\",
            "a >",
            "2>&",
            "*** Begin Patch\n*** Add File: ",
            "```json\n{}\n```",
            "# Assignment :",
            "# Assignment x.a2:",
        ])
        .prop_map(Json::from),
    ]
}

fn value() -> impl Strategy<Value = Json> {
    leaf().prop_recursive(3, 24, 5, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Json::from),
            proptest::collection::vec((word(INSIDE), inner), 0..5)
                .prop_map(|pairs| Json::Object(pairs.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

/// A payload in which any field may be anything; the tool is one that hooks look at, more often than not.
fn payload() -> impl Strategy<Value = Vec<u8>> {
    let object = (proptest::collection::vec((word(FIELDS), value()), 0..8), word(TOOLS)).prop_map(|(pairs, tool)| {
        let mut object: Map<String, Json> = pairs.into_iter().collect();
        object.entry("tool_name").or_insert(Json::from(tool));
        Json::Object(object).to_string().into_bytes()
    });
    prop_oneof![8 => object, 1 => value().prop_map(|value| value.to_string().into_bytes()), 1 => any::<Vec<u8>>()]
}

/// Random payloads, in a session that is under way: never a fault, and never an answer that a client would not understand.
#[test]
fn whatever_is_sent_is_answered_or_held() {
    let team = Team::new("hooks_random");
    let (talk, _) = planned(&team, Client::Claude, &["LOGIN"]);
    talk.starts("developer", "Build LOGIN.");
    let mut runner = TestRunner::new_with_rng(
        Config { cases: 400, failure_persistence: None, ..Config::default() },
        proptest::test_runner::TestRng::deterministic_rng(proptest::test_runner::RngAlgorithm::ChaCha),
    );
    let client = proptest::sample::select(CLIENTS.to_vec());
    let cases = (client, word(EVENTS), payload(), any::<bool>());
    let result = runner.run(&cases, |(client, event, payload, hold)| {
        // What a shell would not pass on is not passed on.
        prop_assume!(!event.contains('\0') && !event.starts_with('-'));
        let talk = Talk::new(&team, client, "c-1");
        let mut command = talk.command(&event, if hold { &["--hold"] } else { &[] });
        let run = run_bytes(&mut command, &payload);
        match Answer::of(client, &event, &run) {
            Ok(_) => Ok(()),
            Err(error) => Err(TestCaseError::fail(error)),
        }
    });
    result.unwrap_or_else(|error| panic!("{error}"));
    assert!(team.ask(&["audit", "verify"]).done()["valid"].as_bool().unwrap());
}

/// Deep and long ones, too.
#[test]
fn large_payloads_are_answered_or_held() {
    let team = Team::new("hooks_large");
    let (talk, _) = planned(&team, Client::Claude, &["LOGIN"]);
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    talk.read("PreToolUse", &talk.raw("PreToolUse", &format!("{{\"tool_input\":{deep}}}"))).held();
    let long = "x/".repeat(2 << 20);
    let path = json!({ "file_path": long, "content": "x" });
    assert!(talk.tool(("Write", path), None).denied().len() < 10_000, "what is repeated of it is short");
    let mut payload = talk.tool_payload("PreToolUse", "Write", &json!({ "file_path": "a.rs" }), None);
    payload["session_id"] = json!(long);
    assert!(talk.hook("PreToolUse", &payload).denied().contains("E0702"));
    let command = format!("echo {} > a", "'a b' ".repeat(1 << 18));
    assert!(talk.runs(&command, None).denied().contains("E0702"));
}
