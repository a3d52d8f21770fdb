use clap::{Args, ValueHint};
use interlock_core::handoff;

use crate::commands::examples;
use interlock_app::error::CommandExit;
use interlock_app::error::CommandResult;
use interlock_app::library;
use interlock_app::output::CommandOutput;

/// Print the JSON Schema of handoffs
///
/// Agents and clients that take a schema can be given it, so that a handoff is well-formed when it arrives. With a
/// workflow, its statuses, reasons and required fields are part of the schema. It is JSON with and without `--json`.
#[derive(Args)]
#[command(after_help = examples!(
    "interlock handoff schema > handoff.schema.json"
    "interlock handoff schema --workflow delivery-team --filled"
))]
pub(crate) struct HandoffSchemaCommand {
    /// The name of a built-in workflow, or a file
    #[arg(long, value_name = "NAME or FILE", value_hint = ValueHint::FilePath)]
    pub(crate) workflow: Option<String>,

    /// The schema for an agent with an assignment: fields that Interlock fills in may be absent
    #[arg(long, requires = "workflow")]
    pub(crate) filled: bool,
}

impl HandoffSchemaCommand {
    pub(crate) fn run(&self, output: CommandOutput) -> CommandResult {
        let workflow = self.workflow.as_deref().map(library::runnable).transpose()?;
        let schema = match workflow.as_ref().filter(|_| self.filled) {
            Some(workflow) => handoff::schema_for_assignment(workflow),
            None => handoff::schema(workflow.as_ref()),
        };
        output.document(&schema)?;
        Ok(CommandExit::Done)
    }
}
