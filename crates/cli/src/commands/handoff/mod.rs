pub(crate) mod check;
mod schema;

use clap::Subcommand;

use crate::commands::examples;
use interlock_app::error::CommandResult;
use interlock_app::output::CommandOutput;

/// Look at handoffs: the structured results that agents give at the end
///
/// A handoff is the JSON object at the end of what an agent wrote. It says who reports, with what status, and what the
/// next one has to know.
#[derive(Subcommand)]
#[command(after_help = examples!(
    "interlock handoff check output.md --workflow delivery-team --role developer"
    "interlock handoff schema > handoff.schema.json"
))]
pub(crate) enum HandoffCommand {
    Check(check::HandoffCheckCommand),
    Schema(schema::HandoffSchemaCommand),
}

impl HandoffCommand {
    pub(crate) fn run(&self, output: CommandOutput) -> CommandResult {
        match self {
            Self::Check(command) => command.run(output),
            Self::Schema(command) => command.run(output),
        }
    }
}
