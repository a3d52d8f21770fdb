//! `interlock claim`

use clap::Args;
use interlock_core::code::Code;
use serde_json::json;

use crate::commands::examples;
use interlock_app::context::AppContext;
use interlock_app::error::CommandResult;
use interlock_app::error::{CommandError, CommandExit};
use interlock_app::output::CommandOutput;
use interlock_engine::{AssignmentRef, Operation, Request};
use interlock_prompt::handoff_files;
use interlock_system::clock::rfc3339;
use interlock_system::text::{HEADING, TerminalText};

/// Take an assignment for an agent: its token and its prompt (takes the spawner key)
///
/// The token is shown here and nowhere else. Claiming again gives a new one, and the old one is void.
#[derive(Args)]
#[command(after_help = examples!(
    "interlock claim add-login-4f2k.a3 --json"
))]
pub(crate) struct ClaimCommand {
    #[arg(value_name = "ASSIGNMENT", value_parser = AssignmentRef::parse)]
    assignment: AssignmentRef,
}

impl ClaimCommand {
    pub(crate) fn run(&self, output: CommandOutput, place: &AppContext) -> CommandResult {
        let mut engine = place.engine()?;
        let AssignmentRef { session, id } = &self.assignment;
        let order = Request { session: session.clone(), task: Operation::Claim { assignment: *id } };
        let done = engine.execute(&order)?;
        let Some(claimed) = done.claimed else {
            return Err(CommandError::new(CommandExit::Bug, Code::Bug, "a claim came back without its token"));
        };
        let directory = engine.output_directory(session, *id, claimed.attempt);
        handoff_files::make(&directory, &claimed.whole).map_err(|error| CommandError::output(&directory, &error))?;
        let deadline = claimed.deadline.map(rfc3339);
        if output.json {
            output.document(&json!({
                "assignment": self.assignment.to_string(),
                "role": claimed.role,
                "group": done.group,
                "attempt": claimed.attempt,
                "token": claimed.token.reveal(),
                "prompt": claimed.prompt,
                "output_directory": directory.display().to_string(),
                "deadline": deadline,
            }))?;
            return Ok(CommandExit::Done);
        }
        let mut text = TerminalText::default();
        text.paint(HEADING, "token ");
        text.line(claimed.token.reveal());
        text.push("\n");
        text.push_document(&claimed.prompt);
        if !claimed.prompt.ends_with('\n') {
            text.push("\n");
        }
        output.text(&text)?;
        Ok(CommandExit::Done)
    }
}
