//! Codex: its payloads, and the answers that it understands.

use std::path::PathBuf;

use serde_json::{Value as Json, json};

use crate::client::{HookOutput, text, word};
use crate::event::{CommandRun, HookAnswer, HookEvent, SubAgentEnd, SubAgentSpawn};
use crate::tool::{of_server, runs};

/// Tools that talk to an agent that is there already.
const RECALLS: &[&str] = &["send_input", "resume_agent", "followup_task", "collaborationsend_message"];

/// Of its two sets of tools the older one, with `close_agent`, counts agents that have ended until they are closed.
const WAIT_OF_OLD: &str = "multi_agent_v1wait_agent";
const CLOSE: &str =
    " Close each agent that has ended with close_agent before you start another: only a few may be there.";

/// Hooks that a conversation working on a session has sent by the time the session completes.
pub(super) const EXPECTS: &[&str] = &["SessionStart", "PreToolUse", "SubagentStart", "SubagentStop"];

pub(super) fn happening(event: &str, payload: &Json) -> HookEvent {
    let (tool, input) = (word(payload, "tool_name"), &payload["tool_input"]);
    match event {
        "SessionStart" => HookEvent::Begins { anew: payload["source"] != "compact" },
        "UserPromptSubmit" => HookEvent::Prompted,
        "PreToolUse" => before(&tool, payload, input),
        "PostToolUse" if tool.ends_with("spawn_agent") => {
            HookEvent::Linked { call: word(payload, "tool_use_id"), agent: spawned(&payload["tool_response"]) }
        }
        "PostToolUse" if tool.ends_with("wait_agent") => {
            HookEvent::Waited { failed: failed(&payload["tool_response"]) }
        }
        // An agent that is closed before its end is gone.
        "PostToolUse" if tool.ends_with("close_agent") => {
            HookEvent::Waited { failed: text(input, "target").into_iter().collect() }
        }
        "SubagentStart" => HookEvent::Started,
        "SubagentStop" => HookEvent::Ends(SubAgentEnd {
            message: word(payload, "last_assistant_message"),
            transcript: text(payload, "agent_transcript_path").map(Into::into),
            again: payload["stop_hook_active"] == true,
        }),
        "Stop" => HookEvent::Stops { again: payload["stop_hook_active"] == true },
        _ => HookEvent::Other,
    }
}

fn before(tool: &str, payload: &Json, input: &Json) -> HookEvent {
    match tool {
        _ if tool.ends_with("spawn_agent") => HookEvent::Spawns(SubAgentSpawn {
            kind: text(input, "agent_type").unwrap_or_else(|| "default".to_owned()),
            said: word(input, "message"),
            call: text(payload, "tool_use_id"),
        }),
        _ if RECALLS.iter().any(|recalls| tool.ends_with(recalls)) => HookEvent::Recalls,
        "apply_patch" => patches(tool, input),
        "Bash" | "shell" | "local_shell" | "shell_command" | "exec_command" | "js_repl" => {
            match runs(tool, input, &["workdir", "cwd"]) {
                HookEvent::Runs(run) => HookEvent::Runs(CommandRun { patch: patched(&run.command), ..run }),
                other => other,
            }
        }
        // Text typed into a running command. A call without text only reads the command's output.
        "write_stdin" => match text(input, "chars") {
            Some(command) => HookEvent::Runs(CommandRun { command, ..CommandRun::default() }),
            None => HookEvent::Other,
        },
        "" => HookEvent::Unclear(tool.to_owned()),
        _ => match tool.rsplit_once("__") {
            Some((_, name)) => of_server(name, input),
            None => HookEvent::Other,
        },
    }
}

/// A patch, in whichever field it comes.
fn patches(tool: &str, input: &Json) -> HookEvent {
    let patch = ["command", "input", "patch"].iter().find_map(|name| text(input, name));
    let paths = patched(&patch.unwrap_or_default());
    if paths.is_empty() { HookEvent::Unclear(tool.to_owned()) } else { HookEvent::Edits(paths) }
}

/// The files that a patch changes.
fn patched(patch: &str) -> Vec<PathBuf> {
    if !patch.contains("*** Begin Patch") {
        return Vec::new();
    }
    let marks = ["*** Add File:", "*** Update File:", "*** Delete File:", "*** Move to:"];
    let named = patch.lines().filter_map(|line| marks.iter().find_map(|mark| line.trim().strip_prefix(mark)));
    named.map(|path| PathBuf::from(path.trim())).collect()
}

/// The agent that a call has started.
fn spawned(response: &Json) -> Option<String> {
    text(&said(response), "agent_id")
}

/// The agents that a wait has found to have failed.
fn failed(response: &Json) -> Vec<String> {
    let response = said(response);
    let agents = response["status"].as_object().into_iter().flatten();
    agents.filter(|(_, status)| status.get("errored").is_some()).map(|(agent, _)| agent.clone()).collect()
}

/// The response of a tool: JSON, or a text that contains JSON.
fn said(response: &Json) -> Json {
    let parsed = response.as_str().and_then(|text| serde_json::from_str(text).ok());
    parsed.unwrap_or_else(|| response.clone())
}

/// Codex takes an answer with any other field for none at all, and lets the action through.
pub(super) fn reply(event: &str, payload: &Json, verdict: &HookAnswer) -> HookOutput {
    let specific = |answer: Json| HookOutput::json(&json!({ "hookSpecificOutput": answer }));
    match verdict {
        HookAnswer::Pass => HookOutput::silent(),
        HookAnswer::Deny(reason) if event == "PreToolUse" => specific(json!({
            "hookEventName": event, "permissionDecision": "deny", "permissionDecisionReason": reason,
        })),
        HookAnswer::Deny(reason) | HookAnswer::SendBack(reason) => {
            HookOutput::json(&json!({ "decision": "block", "reason": reason }))
        }
        // The prompt of an agent may be encrypted, so the agent receives its assignment when it starts.
        HookAnswer::Prompt(_) => HookOutput::silent(),
        // After a tool, a message can only replace the tool's response.
        HookAnswer::Tell(words) if event == "PostToolUse" => {
            let close = if word(payload, "tool_name") == WAIT_OF_OLD { CLOSE } else { "" };
            let reason = format!("{words}{close}\n\nThe tool itself said: {}", payload["tool_response"]);
            HookOutput::json(&json!({ "decision": "block", "reason": reason }))
        }
        HookAnswer::Tell(words) => specific(json!({ "hookEventName": event, "additionalContext": words })),
    }
}
