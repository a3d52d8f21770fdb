use clap::Args;

use crate::commands::examples;
use interlock_app::error::CommandExit;
use interlock_app::error::CommandResult;
use interlock_app::output::CommandOutput;

/// Print the JSON Schema of workflow files
///
/// Editors that know it complete keys and mark mistakes while a workflow is written. It is generated from the types
/// that read the files, so the two cannot differ. It is JSON with and without `--json`.
#[derive(Args)]
#[command(after_help = examples!(
    "interlock workflow schema > workflow.schema.json"
    ""
    "# Then, as the first line of a workflow file, for editors with the YAML language server:"
    "# yaml-language-server: $schema=workflow.schema.json"
))]
pub(crate) struct WorkflowSchemaCommand {}

impl WorkflowSchemaCommand {
    pub(crate) fn run(&self, output: CommandOutput) -> CommandResult {
        output.document(&interlock_core::workflow::schema())?;
        Ok(CommandExit::Done)
    }
}
