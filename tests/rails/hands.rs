//! What a model calls the tools of each client.

use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::{Value as Json, json};

use crate::client::Client;
use crate::models::{Step, Turn};

/// The tools that the newest models have in Codex: a program for everything, and sub-agents by the name of their task.
pub(crate) const NEWEST_MODEL: &str = "gpt-6.1-sol";

#[derive(Clone, Copy)]
pub(crate) struct Hands {
    pub(crate) client: Client,
    /// Interlock's server comes out of the plugin, and not out of settings of the user's own.
    pub(crate) plugin: bool,
    /// It is the newest model of Codex.
    pub(crate) codes: bool,
}

impl Hands {
    pub(crate) fn of(client: Client) -> Self {
        Self { client, plugin: true, codes: false }
    }

    /// A tool of Interlock's server.
    pub(crate) fn call(self, tool: &str, input: Json) -> Step {
        if self.codes {
            return program(&format!("text(await tools.mcp__interlock__{tool}({input}))"));
        }
        let name = match self.client {
            Client::Claude if self.plugin => format!("mcp__plugin_interlock_interlock__{tool}"),
            Client::Claude => format!("mcp__interlock__{tool}"),
            Client::Gemini => format!("mcp_interlock_{tool}"),
            Client::Codex | Client::CodexAcp => format!("mcp__interlock::{tool}"),
        };
        Step::Tool { name, input }
    }

    /// A sub-agent of this kind, as the client has it in its list.
    pub(crate) fn spawn(self, kind: &str, told: &str) -> Step {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let (name, input) = match self.client {
            Client::Claude => ("Agent", json!({ "description": "A role", "prompt": told, "subagent_type": kind })),
            Client::Gemini => ("invoke_agent", json!({ "agent_name": kind, "prompt": told })),
            Client::Codex | Client::CodexAcp if self.codes => {
                let task = format!("task_{}", NEXT.fetch_add(1, Ordering::Relaxed));
                let input = json!({ "task_name": task, "message": told, "agent_type": kind, "fork_turns": "none" });
                ("collaboration::spawn_agent", input)
            }
            Client::Codex | Client::CodexAcp => {
                ("multi_agent_v1::spawn_agent", json!({ "agent_type": kind, "message": told }))
            }
        };
        Step::Tool { name: name.to_owned(), input }
    }

    /// Waits for a sub-agent that works beside the conversation.
    pub(crate) fn wait(self, agent: &str) -> Step {
        let (name, input) = match self.codes {
            true => ("collaboration::wait_agent", json!({ "timeout_ms": 60_000 })),
            false => ("multi_agent_v1::wait_agent", json!({ "targets": [agent], "timeout_ms": 60_000 })),
        };
        Step::Tool { name: name.to_owned(), input }
    }

    /// What the client calls a role.
    pub(crate) fn kind(self, role: &str) -> String {
        if self.client == Client::Claude { format!("interlock:{role}") } else { role.to_owned() }
    }

    /// The kind of agent that each client has for everything.
    pub(crate) fn anybody(self) -> &'static str {
        match self.client {
            Client::Claude => "general-purpose",
            Client::Gemini => "generalist",
            Client::Codex | Client::CodexAcp => "worker",
        }
    }

    pub(crate) fn run(self, turn: &Turn, command: &str) -> Step {
        match self.codes {
            true => program(&format!("text((await tools.exec_command({})).output)", json!({ "cmd": command }))),
            false => turn.run(command),
        }
    }

    /// Writes a whole file, with the tool that the client has for it.
    pub(crate) fn write(self, turn: &Turn, path: &str, text: &str) -> Step {
        let patch = format!("*** Begin Patch\n*** Add File: {path}\n+{text}\n*** End Patch\n");
        let (name, input) = match self.client {
            Client::Claude => ("Write", json!({ "file_path": path, "content": text })),
            Client::Gemini => ("write_file", json!({ "file_path": path, "content": text })),
            Client::Codex | Client::CodexAcp if self.codes => {
                return program(&format!("text(await tools.apply_patch({}))", json!(patch)));
            }
            Client::Codex | Client::CodexAcp => return turn.run(&format!("apply_patch <<'EOF'\n{patch}EOF\n")),
        };
        Step::Tool { name: name.to_owned(), input }
    }
}

/// What goes wrong in a program, the model hears as well.
fn program(text: &str) -> Step {
    let input = format!("try {{ {text} }} catch (error) {{ text(String(error)) }}");
    Step::Tool { name: "exec".to_owned(), input: Json::String(input) }
}
