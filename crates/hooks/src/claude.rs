//! Claude Code: its payloads, and the answers that it understands.

use serde_json::{Value as Json, json};

use crate::client::{Reply, text, with_prompt, word};
use crate::happening::{End, Happening, Spawn, Verdict};
use crate::tool::{edits, of_server, paths, runs};

/// What a conversation that works on a session has sent when the session completes. `Stop` may not have come by then.
pub(super) const EXPECTS: &[&str] = &["SessionStart", "PreToolUse", "SubagentStart", "SubagentStop"];

/// Tools that start agents of which no hook would hear before they are at work.
const SWARMS: &[&str] = &["RemoteTrigger", "TeamCreate", "Workflow"];

/// Roles that come out of a plugin are called by its name first.
pub(super) const OF_PLUGIN: &str = "interlock:";

pub(super) fn happening(event: &str, payload: &Json) -> Happening {
    let (tool, input) = (word(payload, "tool_name"), &payload["tool_input"]);
    let spawns = matches!(tool.as_str(), "Agent" | "Task");
    match event {
        "SessionStart" => Happening::Begins { anew: payload["source"] != "compact" },
        "UserPromptSubmit" => Happening::Prompted,
        "PreToolUse" if spawns => Happening::Spawns(Spawn {
            kind: text(input, "subagent_type").unwrap_or_else(|| "general-purpose".to_owned()),
            said: format!("{}\n{}", word(input, "description"), word(input, "prompt")),
            call: text(payload, "tool_use_id"),
        }),
        "PreToolUse" => before(&tool, input),
        "PostToolUse" | "PostToolUseFailure" if spawns => {
            Happening::Returned { call: text(payload, "tool_use_id"), failed: event == "PostToolUseFailure" }
        }
        "SubagentStart" => Happening::Started,
        "SubagentStop" => Happening::Ends(End {
            message: word(payload, "last_assistant_message"),
            transcript: text(payload, "agent_transcript_path").map(Into::into),
            again: payload["stop_hook_active"] == true,
        }),
        "Stop" => Happening::Stops { again: payload["stop_hook_active"] == true },
        _ => Happening::Other,
    }
}

fn before(tool: &str, input: &Json) -> Happening {
    match tool {
        "Write" | "Edit" | "MultiEdit" => edits(tool, input, &["file_path"]),
        "NotebookEdit" => edits(tool, input, &["notebook_path"]),
        "Read" => Happening::Reads { paths: paths(input, &["file_path"]), whole: false },
        "Grep" => Happening::Reads { paths: paths(input, &["path"]), whole: true },
        "Glob" => Happening::Reads { paths: paths(input, &["path", "pattern"]), whole: false },
        "Bash" | "PowerShell" | "Monitor" | "REPL" => runs(tool, input, &[]),
        "SendMessage" => Happening::Recalls,
        "" => Happening::Unclear(tool.to_owned()),
        _ if SWARMS.contains(&tool) => {
            Happening::Spawns(Spawn { kind: tool.to_owned(), said: String::new(), call: None })
        }
        _ => match tool.rsplit_once("__") {
            Some((_, name)) => of_server(name, input),
            None => Happening::Other,
        },
    }
}

pub(super) fn reply(event: &str, payload: &Json, verdict: &Verdict) -> Reply {
    let with = |name: &str, value: Json| {
        let mut answer = json!({ "hookEventName": event });
        answer[name] = value;
        Reply::json(&json!({ "hookSpecificOutput": answer }))
    };
    match verdict {
        Verdict::Pass => Reply::silent(),
        Verdict::Deny(reason) if event == "PreToolUse" => {
            let answer = json!({
                "hookEventName": event, "permissionDecision": "deny", "permissionDecisionReason": reason,
            });
            Reply::json(&json!({ "hookSpecificOutput": answer }))
        }
        Verdict::Deny(reason) | Verdict::SendBack(reason) => {
            Reply::json(&json!({ "decision": "block", "reason": reason }))
        }
        Verdict::Prompt(prompt) => {
            let mut input = with_prompt(&payload["tool_input"], prompt);
            // One that works beside the conversation would still be at it when the conversation stops.
            input["run_in_background"] = json!(false);
            let answer = json!({ "hookEventName": event, "permissionDecision": "allow", "updatedInput": input });
            Reply::json(&json!({ "hookSpecificOutput": answer }))
        }
        Verdict::Tell(words) => with("additionalContext", json!(words)),
    }
}
