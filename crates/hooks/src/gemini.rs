//! Gemini CLI: its payloads, and the answers that it understands.
//!
//! It has no hook for the end of a sub-agent, but one ends by a tool. And nothing tells a sub-agent from the main
//! conversation; so one works at a time, and while it does, what happens is taken for its doing.

use serde_json::{Value as Json, json};

use crate::client::{HookOutput, text, with_prompt, word};
use crate::event::{HookAnswer, HookEvent, SubAgentEnd, SubAgentSpawn};
use crate::tool::{edits, of_server, paths, runs};

/// Hooks that a conversation working on a session has sent by the time the session completes.
pub(super) const EXPECTS: &[&str] = &["BeforeAgent", "BeforeTool"];

/// The tool that starts a sub-agent, and the one that ends it.
const SPAWN: &str = "invoke_agent";
const END: &str = "complete_task";

/// Where a tool works, if not in the folder of the conversation.
const IN_FOLDER: &[&str] = &["dir_path", "directory", "path"];

pub(super) fn happening(event: &str, payload: &Json) -> HookEvent {
    let (tool, input) = (word(payload, "tool_name"), &payload["tool_input"]);
    match event {
        // Output at `SessionStart` keeps the client from recognising commands. `BeforeAgent` comes with every prompt.
        "BeforeAgent" => HookEvent::Begins { anew: true },
        "BeforeTool" => before(&tool, payload, input),
        "AfterTool" if tool == SPAWN => HookEvent::Returned { call: call(input), failed: failed(payload) },
        "AfterAgent" => HookEvent::Stops { again: payload["stop_hook_active"] == true },
        _ => HookEvent::Other,
    }
}

fn before(tool: &str, payload: &Json, input: &Json) -> HookEvent {
    match tool {
        SPAWN => HookEvent::Spawns(SubAgentSpawn {
            kind: word(input, "agent_name"),
            said: word(input, "prompt"),
            call: call(input),
        }),
        END => HookEvent::Ends(SubAgentEnd { message: word(input, "result"), transcript: None, again: false }),
        "write_file" | "replace" => edits(tool, input, &["file_path"]),
        "read_file" => HookEvent::Reads { paths: paths(input, &["file_path", "absolute_path"]), whole: false },
        "read_many_files" => HookEvent::Reads { paths: paths(input, &["include", "paths"]), whole: true },
        "grep_search" | "search_file_content" => HookEvent::Reads { paths: paths(input, IN_FOLDER), whole: true },
        "run_shell_command" => runs(tool, input, IN_FOLDER),
        "" => HookEvent::Unclear(tool.to_owned()),
        _ => match text(&payload["mcp_context"], "tool_name") {
            Some(name) => of_server(&name, input),
            None => HookEvent::Other,
        },
    }
}

/// Calls have no id in this client, so the first line of the agent's prompt identifies the call.
fn call(input: &Json) -> Option<String> {
    let first = word(input, "prompt").lines().next().map(str::to_owned).unwrap_or_default();
    let named = first.strip_prefix("# Assignment ").and_then(|rest| rest.split_once(':'));
    named.map(|(assignment, _)| assignment.to_owned())
}

fn failed(payload: &Json) -> bool {
    let said = payload["tool_response"]["llmContent"].to_string();
    said.contains("failed. Error:")
}

pub(super) fn reply(event: &str, payload: &Json, verdict: &HookAnswer) -> HookOutput {
    match verdict {
        HookAnswer::Pass => HookOutput::silent(),
        HookAnswer::Deny(reason) | HookAnswer::SendBack(reason) => {
            HookOutput::json(&json!({ "decision": "deny", "reason": reason }))
        }
        HookAnswer::Prompt(prompt) => {
            let input = with_prompt(&payload["tool_input"], prompt);
            HookOutput::json(&json!({ "hookSpecificOutput": { "hookEventName": event, "tool_input": input } }))
        }
        HookAnswer::Tell(words) => {
            HookOutput::json(&json!({ "hookSpecificOutput": { "hookEventName": event, "additionalContext": words } }))
        }
    }
}
