//! Claude Code: its payloads, and the answers that it understands.

use serde_json::{Value as Json, json};

use crate::client::{HookOutput, text, with_prompt, word};
use crate::event::{HookAnswer, HookEvent, SubAgentEnd, SubAgentSpawn};
use crate::tool::{edits, of_server, paths, runs};

/// Hooks that a conversation working on a session has sent by the time the session completes. `Stop` may come later.
pub(super) const EXPECTS: &[&str] = &["SessionStart", "PreToolUse", "SubagentStart", "SubagentStop"];

/// Tools that start agents of which no hook would hear before they are at work.
const SWARMS: &[&str] = &["RemoteTrigger", "TeamCreate", "Workflow"];

/// Roles that come out of a plugin are called by its name first.
pub(super) const OF_PLUGIN: &str = "interlock:";

pub(super) fn happening(event: &str, payload: &Json) -> HookEvent {
    let (tool, input) = (word(payload, "tool_name"), &payload["tool_input"]);
    let spawns = matches!(tool.as_str(), "Agent" | "Task");
    match event {
        "SessionStart" => HookEvent::Begins { anew: payload["source"] != "compact" },
        "UserPromptSubmit" => HookEvent::Prompted,
        "PreToolUse" if spawns => HookEvent::Spawns(SubAgentSpawn {
            kind: text(input, "subagent_type").unwrap_or_else(|| "general-purpose".to_owned()),
            said: format!("{}\n{}", word(input, "description"), word(input, "prompt")),
            call: text(payload, "tool_use_id"),
        }),
        "PreToolUse" => before(&tool, input),
        "PostToolUse" | "PostToolUseFailure" if spawns => {
            HookEvent::Returned { call: text(payload, "tool_use_id"), failed: event == "PostToolUseFailure" }
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

fn before(tool: &str, input: &Json) -> HookEvent {
    match tool {
        "Write" | "Edit" | "MultiEdit" => edits(tool, input, &["file_path"]),
        "NotebookEdit" => edits(tool, input, &["notebook_path"]),
        "Read" => HookEvent::Reads { paths: paths(input, &["file_path"]), whole: false },
        "Grep" => HookEvent::Reads { paths: paths(input, &["path"]), whole: true },
        "Glob" => HookEvent::Reads { paths: paths(input, &["path", "pattern"]), whole: false },
        "Bash" | "PowerShell" | "Monitor" | "REPL" => runs(tool, input, &[]),
        "SendMessage" => HookEvent::Recalls,
        "" => HookEvent::Unclear(tool.to_owned()),
        _ if SWARMS.contains(&tool) => {
            HookEvent::Spawns(SubAgentSpawn { kind: tool.to_owned(), said: String::new(), call: None })
        }
        _ => match tool.rsplit_once("__") {
            Some((_, name)) => of_server(name, input),
            None => HookEvent::Other,
        },
    }
}

pub(super) fn reply(event: &str, payload: &Json, verdict: &HookAnswer) -> HookOutput {
    let with = |name: &str, value: Json| {
        let mut answer = json!({ "hookEventName": event });
        answer[name] = value;
        HookOutput::json(&json!({ "hookSpecificOutput": answer }))
    };
    match verdict {
        HookAnswer::Pass => HookOutput::silent(),
        HookAnswer::Deny(reason) if event == "PreToolUse" => {
            let answer = json!({
                "hookEventName": event, "permissionDecision": "deny", "permissionDecisionReason": reason,
            });
            HookOutput::json(&json!({ "hookSpecificOutput": answer }))
        }
        HookAnswer::Deny(reason) | HookAnswer::SendBack(reason) => {
            HookOutput::json(&json!({ "decision": "block", "reason": reason }))
        }
        HookAnswer::Prompt(prompt) => {
            let mut input = with_prompt(&payload["tool_input"], prompt);
            // One that works beside the conversation would still be at it when the conversation stops.
            input["run_in_background"] = json!(false);
            let answer = json!({ "hookEventName": event, "permissionDecision": "allow", "updatedInput": input });
            HookOutput::json(&json!({ "hookSpecificOutput": answer }))
        }
        HookAnswer::Tell(words) => with("additionalContext", json!(words)),
    }
}
