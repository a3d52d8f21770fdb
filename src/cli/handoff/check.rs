use std::path::PathBuf;

use clap::{Args, ValueHint};

use crate::cli::examples;
use crate::cli::values::Context;

/// Find the handoff in an agent's output and check it
///
/// The output may be Markdown with a JSON block at its end, or JSON alone. Every problem is listed with its line. With a
/// workflow, a role and a phase, the handoff is held against what they ask for; without, against what all handoffs have.
/// Exits with 0 if the handoff is valid and with 4 if it is not.
#[derive(Args)]
#[command(after_help = examples!(
    "interlock handoff check output.md --workflow delivery-team --role developer"
    "interlock handoff check output.md --workflow mcp-wrapper --role tool-developer --phase implementation --json"
    "some-agent | interlock handoff check - --workflow feature --role frontend-developer --context direct"
))]
pub(crate) struct Check {
    /// What the agent wrote; `-` reads stdin
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) file: PathBuf,

    /// The name of a built-in workflow, or a file
    #[arg(long, value_name = "NAME or FILE", value_hint = ValueHint::FilePath)]
    pub(crate) workflow: Option<String>,

    /// The role of the assignment; as the handoff says if absent
    #[arg(long)]
    pub(crate) role: Option<String>,

    /// The phase of the assignment, in a workflow with phases
    #[arg(long)]
    pub(crate) phase: Option<String>,

    /// How the agent was started; read from the prompt if absent
    #[arg(long, value_enum)]
    pub(crate) context: Option<Context>,

    /// The prompt that the agent was given: an output directory or an orchestrator named in it tells the context
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) prompt: Option<PathBuf>,
}
