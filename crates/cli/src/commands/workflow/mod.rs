mod graph;
mod list;
mod schema;
mod show;

use clap::Subcommand;

use crate::commands::examples;
use interlock_app::error::CommandResult;
use interlock_app::output::CommandOutput;

/// Look at workflows: the built-in ones, and the schema of the files
///
/// A workflow is a YAML file that declares roles, what follows each status they report, and what completion needs.
#[derive(Subcommand)]
#[command(after_help = examples!(
    "interlock workflow list"
    "interlock workflow show delivery-team > interlock.yaml"
    "interlock workflow graph delivery-team > delivery-team.svg"
    "interlock workflow schema > workflow.schema.json"
))]
pub(crate) enum WorkflowCommand {
    List(list::WorkflowListCommand),
    Show(show::WorkflowShowCommand),
    Graph(graph::WorkflowGraphCommand),
    Schema(schema::WorkflowSchemaCommand),
}

impl WorkflowCommand {
    pub(crate) fn run(&self, output: CommandOutput) -> CommandResult {
        match self {
            Self::List(command) => command.run(output),
            Self::Show(command) => command.run(output),
            Self::Graph(command) => command.run(output),
            Self::Schema(command) => command.run(output),
        }
    }
}
