//! Commands that the workflow permits a person: `defer`, `acknowledge`, `accept`, `override`, `cancel`.

use clap::{ArgGroup, Args};
use interlock_core::command::{self, Command};
use interlock_core::id::Name;

use crate::commands::examples;
use crate::commands::run_note;
use interlock_app::context::{AppContext, person};
use interlock_app::decision;
use interlock_app::error::CommandExit;
use interlock_app::error::CommandResult;
use interlock_app::narrative::EventNarrator;
use interlock_app::output::{CommandOutput, print_diagnostics};
use interlock_app::session_view;
use interlock_engine::{Operation, Request};
use interlock_system::sanitise;
use interlock_system::text::TerminalText;

/// Defer a group that waits for something outside (takes the operator key)
///
/// A deferred group is not done: it is acknowledged by name before the session can complete.
#[derive(Args)]
#[command(after_help = examples!("interlock defer add-login-4f2k LOGIN --why \"the vendor's sandbox is down\""))]
pub(crate) struct DeferCommand {
    #[arg(value_name = "SESSION")]
    session: String,
    #[arg(value_name = "GROUP")]
    group: String,
    /// What it waits for
    #[arg(long, value_name = "TEXT")]
    why: String,
    /// Who defers it
    #[arg(long = "as", value_name = "NAME")]
    by: Option<String>,
}

/// Acknowledge a deferred group by name (takes the operator key)
///
/// A session completes only when every deferred group has been acknowledged, each by its own name.
#[derive(Args)]
#[command(after_help = examples!("interlock acknowledge add-login-4f2k LOGIN --as ann"))]
pub(crate) struct AcknowledgeCommand {
    #[arg(value_name = "SESSION")]
    session: String,
    #[arg(value_name = "GROUP")]
    group: String,
    /// Who acknowledges it
    #[arg(long = "as", value_name = "NAME")]
    by: Option<String>,
}

/// Give a group to another role, or waive evidence that it needs (takes the operator key)
///
/// Takes either --to or --waive. Recorded as an override with its reason. With --to it is never a way to completion: what the group passed before is
/// void. With --waive the group does without the evidence for this tree only, and then waits to be accepted.
#[derive(Args)]
#[command(after_help = examples!(
    "interlock override add-login-4f2k LOGIN --to tech_lead --why \"two agents disagree\""
    "interlock override add-login-4f2k LOGIN --waive qa --why \"the test lab is closed until Monday\""
))]
#[command(group = ArgGroup::new("how").args(["to", "waive"]).required(true))]
pub(crate) struct OverrideCommand {
    #[arg(value_name = "SESSION")]
    session: String,
    #[arg(value_name = "GROUP")]
    group: String,
    /// The role that gets it
    #[arg(long, value_name = "ROLE")]
    to: Option<String>,
    /// Evidence that this tree of the group does without
    #[arg(long, value_name = "EVIDENCE")]
    waive: Option<String>,
    /// For the record
    #[arg(long, value_name = "TEXT")]
    why: String,
    /// Who says so
    #[arg(long = "as", value_name = "NAME")]
    by: Option<String>,
}

/// Accept a group that awaits confirmation (takes the operator key)
///
/// A group that was once blocked, or that does without evidence, is completed only once it is accepted.
#[derive(Args)]
#[command(after_help = examples!("interlock accept add-login-4f2k LOGIN --as ann"))]
pub(crate) struct AcceptCommand {
    #[arg(value_name = "SESSION")]
    session: String,
    #[arg(value_name = "GROUP")]
    group: String,
    /// Who accepts it
    #[arg(long = "as", value_name = "NAME")]
    by: Option<String>,
}

/// End a session that nobody wants any more (takes the operator key)
///
/// Everything open in it is void. Its log stays.
#[derive(Args)]
#[command(after_help = examples!("interlock cancel add-login-4f2k --as ann"))]
pub(crate) struct CancelCommand {
    #[arg(value_name = "SESSION")]
    session: String,
    /// Who cancels it
    #[arg(long = "as", value_name = "NAME")]
    by: Option<String>,
}

impl DeferCommand {
    pub(crate) fn run(&self, output: CommandOutput, place: &AppContext) -> CommandResult {
        let (group, why, by) = (Name::new(&self.group), Name::new(&self.why), person(self.by.as_deref()));
        carry_out(output, place, &self.session, Command::Defer(command::DeferGroup { group, why, by }))
    }
}

impl AcknowledgeCommand {
    pub(crate) fn run(&self, output: CommandOutput, place: &AppContext) -> CommandResult {
        let (group, by) = (Name::new(&self.group), person(self.by.as_deref()));
        carry_out(output, place, &self.session, Command::Acknowledge(command::AcknowledgeDeferral { group, by }))
    }
}

impl AcceptCommand {
    pub(crate) fn run(&self, output: CommandOutput, place: &AppContext) -> CommandResult {
        let (group, by) = (Name::new(&self.group), person(self.by.as_deref()));
        carry_out(output, place, &self.session, Command::Accept(command::AcceptGroup { group, by }))
    }
}

impl OverrideCommand {
    pub(crate) fn run(&self, output: CommandOutput, place: &AppContext) -> CommandResult {
        let (group, why, by) = (Name::new(&self.group), Name::new(&self.why), person(self.by.as_deref()));
        let command = match (&self.to, &self.waive) {
            (_, Some(evidence)) => {
                Command::Waive(command::WaiveEvidence { group, evidence: Name::new(evidence), why, by })
            }
            (to, None) => {
                let to = Name::new(to.as_deref().unwrap_or_default());
                Command::Override(command::OverrideAssignment { group, to, why, by })
            }
        };
        carry_out(output, place, &self.session, command)
    }
}

impl CancelCommand {
    pub(crate) fn run(&self, output: CommandOutput, place: &AppContext) -> CommandResult {
        let by = person(self.by.as_deref());
        let exit = carry_out(output, place, &self.session, Command::Cancel(command::CancelSessionByPerson { by }))?;
        if let Some(Err(failure)) = run_note::clear(place, &Name::new(&self.session)) {
            // It is cancelled all the same.
            let mut text = TerminalText::default();
            let again = format!("interlock run --session {}", self.session);
            text.line(format_args!(
                "its workspaces are still there: {}; `{again}` clears them away",
                sanitise::line(failure.message())
            ));
            print_diagnostics(&text);
        }
        Ok(exit)
    }
}

fn carry_out(output: CommandOutput, place: &AppContext, session: &str, command: Command) -> CommandResult {
    let order = Request { session: Name::new(session), task: Operation::Simple(command) };
    let mut engine = place.engine()?;
    let done = engine.execute(&order)?;
    if output.json || done.event.decision.is_some() {
        return decision::print_committed(output, &done);
    }
    // Without a decision there is nothing else to show, and silence looks like a failure.
    let mut text = TerminalText::default();
    text.line(sanitise::line(&EventNarrator::default().sentence(&done.event.cause)));
    let (live, workflow) = engine.load_session(&done.session)?;
    let briefs = session_view::briefs(&mut engine, &live, &workflow)?;
    text.append(&session_view::next(&live, &briefs));
    output.text(&text)?;
    Ok(CommandExit::Done)
}
