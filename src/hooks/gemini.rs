//! Gemini CLI: its payloads, and the answers that it understands.
//!
//! It has no hook for the end of a sub-agent, but one ends by a tool. And nothing tells a sub-agent from the main
//! conversation; so one works at a time, and while it does, what happens is taken for its doing.

use serde_json::{Value as Json, json};

use crate::hooks::client::{Reply, path, paths, text, with_prompt, word};
use crate::hooks::happening::{End, Happening, Spawn, Verdict};

/// What a conversation that works on a session has sent when the session completes.
pub(super) const EXPECTS: &[&str] = &["BeforeAgent", "BeforeTool"];

/// The tool that starts a sub-agent, and the one that ends it.
const SPAWN: &str = "invoke_agent";
const END: &str = "complete_task";

pub(super) fn happening(event: &str, payload: &Json) -> Happening {
    let (tool, input) = (word(payload, "tool_name"), &payload["tool_input"]);
    match event {
        // What is said when a session starts keeps commands from being understood; this comes with every prompt.
        "BeforeAgent" => Happening::Begins { anew: true },
        "BeforeTool" => before(&tool, payload, input),
        "AfterTool" if tool == SPAWN => Happening::Returned { call: call(input), failed: failed(payload) },
        "AfterAgent" => Happening::Stops { again: payload["stop_hook_active"] == true },
        _ => Happening::Other,
    }
}

fn before(tool: &str, payload: &Json, input: &Json) -> Happening {
    match tool {
        SPAWN => {
            Happening::Spawns(Spawn { kind: word(input, "agent_name"), said: word(input, "prompt"), call: call(input) })
        }
        END => Happening::Ends(End { message: word(input, "result"), transcript: None, again: false }),
        "write_file" | "replace" => Happening::Edits(paths(input, "file_path")),
        "read_file" => {
            Happening::Reads(["file_path", "absolute_path"].iter().flat_map(|name| paths(input, name)).collect())
        }
        "read_many_files" => {
            Happening::Reads(input["include"].as_array().into_iter().flatten().filter_map(path).collect())
        }
        "run_shell_command" => Happening::Runs(word(input, "command")),
        _ => match text(&payload["mcp_context"], "tool_name") {
            Some(name) if word(&payload["mcp_context"], "server_name").contains("interlock") => Happening::Calls(name),
            Some(_) | None => Happening::Other,
        },
    }
}

/// Calls have no name here: what an agent is told says which one it is.
fn call(input: &Json) -> Option<String> {
    let first = word(input, "prompt").lines().next().map(str::to_owned).unwrap_or_default();
    let named = first.strip_prefix("# Assignment ").and_then(|rest| rest.split_once(':'));
    named.map(|(assignment, _)| assignment.to_owned())
}

fn failed(payload: &Json) -> bool {
    let said = payload["tool_response"]["llmContent"].to_string();
    said.contains("failed. Error:")
}

pub(super) fn reply(event: &str, payload: &Json, verdict: &Verdict) -> Reply {
    match verdict {
        Verdict::Pass => Reply::silent(),
        Verdict::Deny(reason) | Verdict::SendBack(reason) => {
            Reply::json(&json!({ "decision": "deny", "reason": reason }))
        }
        Verdict::Prompt(prompt) => {
            let input = with_prompt(&payload["tool_input"], prompt);
            Reply::json(&json!({ "hookSpecificOutput": { "hookEventName": event, "tool_input": input } }))
        }
        Verdict::Tell(words) => {
            Reply::json(&json!({ "hookSpecificOutput": { "hookEventName": event, "additionalContext": words } }))
        }
    }
}
