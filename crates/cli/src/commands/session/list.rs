//! `interlock session list`

use clap::Args;
use serde_json::json;

use crate::commands::examples;
use interlock_app::context::AppContext;
use interlock_app::error::CommandExit;
use interlock_app::error::CommandResult;
use interlock_app::output::CommandOutput;
use interlock_store::Store as _;
use interlock_system::clock::rfc3339;
use interlock_system::sanitise;
use interlock_system::text::{NAME, TerminalText};

/// List the sessions, the newest first
///
/// Each with its id, its status (active, validating, completed or cancelled), its workflow and its title.
#[derive(Args)]
#[command(after_help = examples!("interlock session list"))]
pub(crate) struct SessionListCommand {}

impl SessionListCommand {
    #[allow(clippy::unused_self, reason = "every command runs the same way")]
    pub(crate) fn run(&self, output: CommandOutput, place: &AppContext) -> CommandResult {
        let mut store = place.store()?;
        let sessions = store.view()?.sessions()?;
        if output.json {
            let sessions: Vec<_> = sessions
                .iter()
                .map(|session| {
                    json!({
                        "session": session.id, "title": session.title, "status": session.status,
                        "workflow": session.workflow, "workflow_hash": session.workflow_hash.to_string(),
                        "started_at": rfc3339(session.started_at), "updated_at": rfc3339(session.updated_at),
                        "events": session.seq,
                    })
                })
                .collect();
            output.document(&json!({ "sessions": sessions }))?;
            return Ok(CommandExit::Done);
        }
        let mut text = TerminalText::default();
        if sessions.is_empty() {
            text.push("There are no sessions yet. Start one: interlock session start --title \"What is to be done\"\n");
        }
        let width = sessions.iter().map(|session| session.id.chars().count()).max().unwrap_or(0);
        for session in &sessions {
            text.paint(NAME, format!("{:<width$}", session.id.as_str()));
            let [status, workflow, title] =
                [&session.status, &session.workflow, &session.title].map(|text| sanitise::line(text));
            text.line(format_args!("  {status:<10}  {workflow:<14}  {title}"));
        }
        output.text(&text)?;
        Ok(CommandExit::Done)
    }
}
