mod schema;

use clap::Subcommand;

use crate::cli::{Ending, examples};
use crate::output::Output;

/// Look at workflows: the built-in ones, and the schema of the files
///
/// A workflow is a YAML file that declares roles, what follows each status they report, and what completion needs.
#[derive(Subcommand)]
#[command(after_help = examples!(
    "interlock workflow schema > workflow.schema.json"
))]
pub(crate) enum Workflow {
    Schema(schema::Schema),
}

impl Workflow {
    pub(crate) fn run(&self, output: Output) -> Ending {
        match self {
            Self::Schema(command) => command.run(output),
        }
    }
}
