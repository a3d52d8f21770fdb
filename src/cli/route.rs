use clap::{Args, ValueHint};

use crate::cli::examples;
use crate::cli::values::{Context, Pair, Scope};

/// Say what would follow a report, without storing anything
///
/// The decision is a pure function of the workflow, the state and the report: what is not said about the state has its
/// default (nobody waits, counters at 0, no other groups). Facts describe the state with this report already counted.
/// The answer names the rule that decided and why. A role that the workflow does not have is an error; a status that it
/// does not have takes the declared fallback, with a warning.
#[derive(Args)]
#[command(after_help = examples!(
    "interlock route --workflow delivery-team --role developer --status READY_FOR_QA"
    "interlock route --workflow delivery-team --role developer --status READY_FOR_QA --set testing=minimal"
    "interlock route --workflow delivery-team --role tech_lead --status CHANGES_REQUESTED \\"
    "    --fact author=developer --fact loop.review.no_progress=2 --json"
    "interlock route --workflow feature --role frontend-developer --status blocked --reason security_concern"
))]
pub(crate) struct Route {
    /// The name of a built-in workflow, or a file
    #[arg(long, value_name = "NAME or FILE", value_hint = ValueHint::FilePath)]
    pub(crate) workflow: String,

    /// The role that reports
    #[arg(long)]
    pub(crate) role: String,

    /// The status that it reports; case, spaces and hyphens do not matter
    #[arg(long)]
    pub(crate) status: String,

    /// Why it is blocked: the `blocked_reason`
    #[arg(long)]
    pub(crate) reason: Option<String>,

    /// The phase of the assignment, in a workflow with phases
    #[arg(long)]
    pub(crate) phase: Option<String>,

    /// How the agent was started
    #[arg(long, value_enum)]
    pub(crate) context: Option<Context>,

    /// What the assignment belongs to; a group if the status allows both
    #[arg(long, value_enum)]
    pub(crate) scope: Option<Scope>,

    /// A setting of the session, such as testing=minimal; may be repeated
    #[arg(long, value_name = "NAME=VALUE", value_parser = Pair::parse)]
    pub(crate) set: Vec<Pair>,

    /// A part of the state: a flag or fact of the workflow, author, blocked_agent, asker, group.status, outstanding,
    /// loop.NAME.iteration, loop.NAME.no_progress, loop.NAME.open, groups.pending, groups.in_progress; may be repeated
    #[arg(long, value_name = "NAME=VALUE", value_parser = Pair::parse)]
    pub(crate) fact: Vec<Pair>,
}
