use clap::{Args, ValueHint};
use serde_json::json;

use crate::commands::examples;
use interlock_app::diagnostics;
use interlock_app::error::CommandResult;
use interlock_app::error::{CommandError, CommandExit, SourceTexts};
use interlock_app::library;
use interlock_app::output::{CommandOutput, print_diagnostics};
use interlock_system::text::{NAME, TerminalText};

/// Load a workflow and report everything that is wrong with it
///
/// Every problem is shown at once, with its place, its code and, where there is one, what was probably meant. The
/// examples in the file are checked too. Exits with 4 if there is an error.
#[derive(Args)]
#[command(after_help = examples!(
    "interlock check                    # ./interlock.yaml"
    "interlock check workflows/mine.yaml"
    "interlock check delivery-team      # a built-in workflow"
    "interlock check mine.yaml --json | jq '.error.problems[].at'"
))]
pub(crate) struct CheckCommand {
    /// A file, or the name of a built-in workflow; `interlock.yaml` if absent
    #[arg(value_name = "FILE or NAME", value_hint = ValueHint::FilePath)]
    workflow: Option<String>,
}

impl CheckCommand {
    pub(crate) fn run(&self, output: CommandOutput) -> CommandResult {
        let loaded = library::open_or_project(self.workflow.as_deref())?;
        let sources: SourceTexts = loaded.sources.into_iter().collect();
        let Some(workflow) = loaded.workflow else {
            return Err(CommandError::invalid(loaded.problems, sources));
        };
        let mut warnings = loaded.problems;
        diagnostics::sort(&mut warnings);
        if output.json {
            output.document(&json!({
                "valid": true,
                "workflow": workflow.name,
                "hash": workflow.hash,
                "abstract": loaded.is_abstract,
                "rules": workflow.rules.len(),
                "problems": [],
                "warnings": warnings,
            }))?;
            return Ok(CommandExit::Done);
        }
        if !warnings.is_empty() {
            print_diagnostics(&diagnostics::problems(&warnings, &sources));
        }
        let mut text = TerminalText::default();
        text.paint(NAME, &workflow.name);
        text.line(format_args!(": no errors; {} roles, {} rules", workflow.roles.len(), workflow.rules.len()));
        output.text(&text)?;
        Ok(CommandExit::Done)
    }
}
