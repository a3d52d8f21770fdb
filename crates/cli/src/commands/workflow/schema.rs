use clap::Args;

use crate::commands::examples;
use interlock_app::failure::Ending;
use interlock_app::failure::Exit;
use interlock_app::output::Output;

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
pub(crate) struct Schema {}

impl Schema {
    pub(crate) fn run(&self, output: Output) -> Ending {
        output.document(&interlock_core::workflow::schema())?;
        Ok(Exit::Done)
    }
}
