//! `interlock session …`

mod list;
mod next;
mod show;
mod start;
mod upgrade;

use clap::Subcommand;

use crate::cli::Ending;
use crate::cli::place::Place;
use crate::output::Output;

/// Starts sessions, and shows how they stand
#[derive(Subcommand)]
pub(crate) enum Session {
    Start(Box<start::Start>),
    List(list::List),
    Show(show::Show),
    Next(next::Next),
    Upgrade(upgrade::Upgrade),
}

impl Session {
    pub(crate) fn run(&self, output: Output, place: &Place) -> Ending {
        match self {
            Session::Start(command) => command.run(output, place),
            Session::List(command) => command.run(output, place),
            Session::Show(command) => command.run(output, place),
            Session::Next(command) => command.run(output, place),
            Session::Upgrade(command) => command.run(output, place),
        }
    }
}
