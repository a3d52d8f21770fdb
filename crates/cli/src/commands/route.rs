use clap::{Args, ValueHint};
use interlock_core::code::Code;
use interlock_core::id::Name;
use interlock_core::problem::Problem;
use interlock_core::route::{self, RouteError, RouteQuery, RouteSource};
use interlock_core::workflow::{GuardSource, Workflow};
use serde_json::Value;

use crate::commands::examples;
use crate::commands::values::{ContextArg, ScopeArg};
use interlock_app::decision;
use interlock_app::error::CommandResult;
use interlock_app::error::{CommandError, CommandExit, SourceTexts};
use interlock_app::library;
use interlock_app::output::CommandOutput;
use interlock_app::setting::SettingArgument;

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
    "interlock route --workflow delivery-team --role tech_lead --status APPROVED --fact passed.qa=false"
    "interlock route --workflow feature --role frontend-developer --status blocked --reason security_concern"
))]
pub(crate) struct RouteCommand {
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
    pub(crate) context: Option<ContextArg>,

    /// What the assignment belongs to; a group if the status allows both
    #[arg(long, value_enum)]
    pub(crate) scope: Option<ScopeArg>,

    /// A setting of the session, such as testing=minimal; may be repeated
    #[arg(long, value_name = "NAME=VALUE", value_parser = SettingArgument::parse)]
    pub(crate) set: Vec<SettingArgument>,

    /// A part of the state: a flag or fact of the workflow, author, blocked_agent, waiting, task, asker, group.status,
    /// group.nothing_to_do, outstanding, loop.NAME.iteration, loop.NAME.no_progress, loop.NAME.open, loop.NAME.escalated, groups.pending, groups.in_progress,
    /// groups.deferred, passed.NAME=true|false for evidence such as passed.qa=false; may be repeated
    #[arg(long, value_name = "NAME=VALUE", value_parser = SettingArgument::parse)]
    pub(crate) fact: Vec<SettingArgument>,
}

impl RouteCommand {
    pub(crate) fn run(&self, output: CommandOutput) -> CommandResult {
        let workflow = library::runnable(&self.workflow)?;
        let decision = route::route(&workflow, &self.query(&workflow)?).map_err(|refused| match refused {
            RouteError::Query(problems) => CommandError::invalid(problems, SourceTexts::default()),
            RouteError::Workflow(rejection) => CommandError::from(*rejection),
        })?;
        if output.json {
            output.document(&Value::Object(decision::json(&decision)))?;
        } else {
            output.text(&decision::text(&decision, &workflow))?;
        }
        Ok(CommandExit::Done)
    }

    fn query(&self, workflow: &Workflow) -> Result<RouteQuery, CommandError> {
        let settings = || workflow.guards.iter().filter(|guard| guard.source == GuardSource::Setting);
        let unknown: Vec<Problem> = self
            .set
            .iter()
            .filter(|pair| settings().all(|guard| guard.name != pair.name.as_str()))
            .map(|pair| {
                let known: Vec<&str> = settings().map(|guard| guard.name.as_str()).collect();
                let help = interlock_core::suggest::help(&pair.name, known);
                let message = format!("`{}` has no setting `{}`", workflow.name, pair.name);
                Problem::new(Code::BadSetting, message).maybe_help(help).field(&pair.name)
            })
            .collect();
        if !unknown.is_empty() {
            return Err(CommandError::invalid(unknown, SourceTexts::default()));
        }
        let pairs = self.set.iter().chain(&self.fact);
        Ok(RouteQuery {
            source: RouteSource::Role(Name::new(&self.role)),
            status: Name::new(&self.status),
            reason: self.reason.as_deref().map(Name::new),
            phase: self.phase.as_deref().map(Name::new),
            given: pairs.map(|pair| (Name::new(&pair.name), Name::new(&pair.value))).collect(),
            scope: self.scope.map(|scope| match scope {
                ScopeArg::Group => route::RouteScope::Group,
                ScopeArg::Session => route::RouteScope::Session,
            }),
            undeclared_roles: self.context != Some(ContextArg::Orchestrated),
        })
    }
}
