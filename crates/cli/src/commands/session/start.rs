//! `interlock session start`

use std::path::PathBuf;

use clap::Args;
use interlock_core::code::Code;
use serde_json::json;

use crate::commands::examples;
use interlock_app::context::{AppContext, person};
use interlock_app::decision;
use interlock_app::diagnostics;
use interlock_app::error::CommandResult;
use interlock_app::error::{CommandError, CommandExit, SourceTexts};
use interlock_app::output::{CommandOutput, print_diagnostics};
use interlock_app::session_start::{SessionStartRequest, allowed_by_person, read_mission, workflow_name};
use interlock_app::setting::SettingArgument;
use interlock_system::text::{HEADING, NAME, TerminalText};

/// Start a session (takes the spawner key)
///
/// The workflow is pinned: editing its file never changes a session that runs.
#[derive(Args)]
#[command(after_help = examples!(
    "interlock session start --title \"Add login\""
    "interlock session start --title \"Add login\" --mission login.md --set testing=minimal"
))]
pub(crate) struct SessionStartCommand {
    /// What is to be done, in a few words
    #[arg(long, value_name = "TEXT")]
    title: String,

    /// The workflow: a built-in name or a file; interlock.yaml of the project if none is named. One that demands less than
    /// interlock.yaml takes the operator key
    #[arg(long, value_name = "NAME or FILE")]
    workflow: Option<String>,

    /// A setting of the workflow; may be repeated. One that drops a requirement takes the operator key
    #[arg(long, value_name = "NAME=VALUE", value_parser = SettingArgument::parse)]
    set: Vec<SettingArgument>,

    /// The whole of what is to be done, for every agent to read
    #[arg(long, value_name = "FILE")]
    mission: Option<PathBuf>,

    /// Declare an investigation: the session may end without groups (takes the operator key)
    #[arg(long)]
    investigation: bool,

    /// Who drops a requirement, declares an investigation or allows protected paths
    #[arg(long = "as", value_name = "NAME")]
    by: Option<String>,
    /// Allow agents to change protected paths that fit this pattern; may be repeated (takes the operator key)
    #[arg(long, value_name = "GLOB")]
    allow: Vec<String>,
}

impl SessionStartCommand {
    pub(crate) fn run(&self, output: CommandOutput, place: &AppContext) -> CommandResult {
        if self.title.trim().is_empty() {
            return Err(CommandError::new(CommandExit::Usage, Code::BadArgument, "a session needs a title"));
        }
        let mission = match &self.mission {
            Some(path) => Some(read_mission(path)?),
            None => None,
        };
        let workflow = workflow_name(self.workflow.as_deref(), place)?;
        let by = person(self.by.as_deref());
        let beginning = SessionStartRequest {
            title: &self.title,
            workflow: &workflow,
            settings: &self.set,
            mission,
            investigation: self.investigation,
            allow: allowed_by_person(&self.allow, &by),
            by: Some(by),
            own: workflow_name(None, place).ok(),
        };
        let (done, workflow) = beginning.begin(&mut place.engine()?, |_| Ok(()))?;
        let next = done.event.decision.iter().flat_map(|decided| &decided.next);
        let next: Vec<_> = next.map(|next| decision::next_json(next, &done.session)).collect();
        let warnings: Vec<_> = workflow.completion_warning().into_iter().collect();
        if output.json {
            let hash = workflow.hash.to_string();
            let document = json!({
                "session": done.session, "workflow": workflow.name, "workflow_hash": hash, "next": next,
                "warnings": warnings,
            });
            output.document(&document)?;
            return Ok(CommandExit::Done);
        }
        if !warnings.is_empty() {
            print_diagnostics(&diagnostics::problems(&warnings, &SourceTexts::default()));
        }
        let mut text = TerminalText::default();
        text.paint(HEADING, "session ");
        text.paint(NAME, &done.session);
        text.push("\n");
        decision::next_text(&mut text, done.event.decision.as_ref(), &done.session);
        output.text(&text)?;
        Ok(CommandExit::Done)
    }
}
