//! `interlock session …`

mod list;
mod next;
mod show;
pub(crate) mod start;
mod upgrade;

use clap::Subcommand;

use interlock_app::context::AppContext;
use interlock_app::error::CommandResult;
use interlock_app::output::CommandOutput;

/// Start sessions, and see how they stand
///
/// A session is one run of a workflow: a feature, an integration, a bug fix. Everything in it goes by the id of the
/// session and a number: SESSION.a3 is an assignment, SESSION.q1 a question, SESSION.d12 a decision.
#[derive(Subcommand)]
#[command(after_help = crate::commands::examples!("interlock session start --title \"Add login\"" "interlock session next add-login-4f2k"))]
pub(crate) enum SessionCommand {
    Start(Box<start::SessionStartCommand>),
    List(list::SessionListCommand),
    Show(show::SessionShowCommand),
    Next(next::SessionNextCommand),
    Upgrade(upgrade::SessionUpgradeCommand),
}

impl SessionCommand {
    pub(crate) fn run(&self, output: CommandOutput, place: &AppContext) -> CommandResult {
        match self {
            SessionCommand::Start(command) => command.run(output, place),
            SessionCommand::List(command) => command.run(output, place),
            SessionCommand::Show(command) => command.run(output, place),
            SessionCommand::Next(command) => command.run(output, place),
            SessionCommand::Upgrade(command) => command.run(output, place),
        }
    }
}
