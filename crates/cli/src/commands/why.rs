//! `interlock why`

use clap::Args;

use crate::commands::examples;
use interlock_app::context::AppContext;
use interlock_app::error::{CommandExit, CommandResult};
use interlock_app::explain::{ExplainSubject, explain_subject};
use interlock_app::output::CommandOutput;

/// Explain a decision: who reported what, the rule that decided, the facts that it read
///
/// Names the rule with its line in the workflow that the session is pinned to, what was overridden, every reason of a
/// verdict with its code, and the fields that Interlock filled in. `interlock decisions` lists the decisions. An event
/// of `interlock log` is explained by its number: for a refusal, who was refused, every problem and what to do.
#[derive(Args)]
#[command(after_help = examples!(
    "interlock why add-login-4f2k.d12"
    "interlock why add-login-4f2k.e5      # event 5 of the log"
))]
pub(crate) struct WhyCommand {
    #[arg(value_name = "DECISION or EVENT", value_parser = ExplainSubject::parse)]
    subject: ExplainSubject,
}

impl WhyCommand {
    pub(crate) fn run(&self, output: CommandOutput, place: &AppContext) -> CommandResult {
        let (document, text) = explain_subject(place, &self.subject)?;
        if output.json {
            output.document(&document)?;
        } else {
            output.text(&text)?;
        }
        Ok(CommandExit::Done)
    }
}
