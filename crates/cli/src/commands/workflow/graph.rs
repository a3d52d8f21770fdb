use clap::{Args, ValueEnum, ValueHint};

use crate::commands::examples;
use crate::graph;
use interlock_app::error::CommandResult;
use interlock_app::error::{CommandError, CommandExit};
use interlock_app::library;
use interlock_app::output::CommandOutput;

/// Draw a workflow
///
/// Roles and phases with what leads from one to the other. SVG is a picture for people, Mermaid can stand in Markdown,
/// and DOT is for Graphviz.
#[derive(Args)]
#[command(after_help = examples!(
    "interlock workflow graph delivery-team > delivery-team.svg"
    "interlock workflow graph mine.yaml --format mermaid"
    "interlock workflow graph --format dot | dot -Tpng -o workflow.png   # ./interlock.yaml"
))]
pub(crate) struct WorkflowGraphCommand {
    /// A file, or the name of a built-in workflow; `interlock.yaml` if absent
    #[arg(value_name = "FILE or NAME", value_hint = ValueHint::FilePath)]
    pub(crate) workflow: Option<String>,

    /// What to write
    #[arg(long, value_enum, default_value_t = GraphFormatArg::Svg)]
    pub(crate) format: GraphFormatArg,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum GraphFormatArg {
    /// A picture
    Svg,
    /// Text that Markdown viewers draw
    Mermaid,
    /// Text that Graphviz draws
    Dot,
}

impl WorkflowGraphCommand {
    pub(crate) fn run(&self, output: CommandOutput) -> CommandResult {
        let loaded = library::open_or_project(self.workflow.as_deref())?;
        let Some(workflow) = loaded.workflow else {
            return Err(CommandError::invalid(loaded.problems, loaded.sources.into_iter().collect()));
        };
        let (format, name) = match self.format {
            GraphFormatArg::Svg => (graph::GraphFormat::Svg, "svg"),
            GraphFormatArg::Mermaid => (graph::GraphFormat::Mermaid, "mermaid"),
            GraphFormatArg::Dot => (graph::GraphFormat::Dot, "dot"),
        };
        let picture = graph::render(&workflow, format);
        if output.json {
            output.document(&serde_json::json!({ "workflow": workflow.name, "format": name, "picture": picture }))?;
        } else {
            output.data(&picture)?;
        }
        Ok(CommandExit::Done)
    }
}
