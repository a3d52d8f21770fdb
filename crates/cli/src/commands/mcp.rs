//! `interlock mcp`

use std::path::PathBuf;

use clap::{Args, ValueHint};

use crate::commands::examples;
use interlock_app::context::AppContext;
use interlock_app::error::CommandResult;
use interlock_server as server;

/// Serve a model that orchestrates: MCP on stdin and stdout (takes the spawner key)
///
/// A client starts it; people do not. The model sees what may happen now, claims assignments, submits handoffs, and is
/// refused everything else. A question for a person goes to the person, where the client can ask one; no tool answers in
/// their place. docs/mcp.md says how clients are told of it.
#[derive(Args)]
#[command(after_help = examples!(
    "interlock mcp"
    "claude mcp add interlock -- interlock mcp       # Claude Code starts it"
    "codex mcp add interlock -- interlock mcp        # Codex does"
    "gemini mcp add interlock interlock mcp          # Gemini CLI does"
    "interlock mcp --store /srv/team/.interlock/interlock.db"
))]
pub(crate) struct McpCommand {
    /// Serve an agent of a run instead: one tool, which hands off into this folder (`interlock run` says so to its clients)
    #[arg(long, value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    pub(crate) handoff: Option<PathBuf>,
}

impl McpCommand {
    pub(crate) fn run(&self, place: &AppContext) -> CommandResult {
        match &self.handoff {
            Some(folder) => server::mcp::serve_agent(folder),
            None => server::mcp::serve(place),
        }
    }
}
