//! The command line: one file for each command; this one only dispatches.

mod check;
mod completions;
mod explain;
mod handoff;
mod import;
mod route;
mod usage;
mod values;
mod workflow;

use std::ffi::OsString;

use clap::{Parser, Subcommand};

use crate::failure::{Exit, Failure};
use crate::output::Output;

/// How a command ends: done, or a result that is itself a refusal, or a failure.
pub(crate) type Ending = Result<Exit, Failure>;

/// Starts the part of a help text that shows how a command is used.
macro_rules! examples {
    ($($line:literal)+) => {
        concat!("\u{1b}[1m\u{1b}[4mExamples:\u{1b}[0m", $("\n  ", $line),+)
    };
}
pub(crate) use examples;

/// What the help of the program itself shows, short and long.
macro_rules! first_steps {
    () => {
        examples!(
            "interlock workflow list                              # what is built in"
            "interlock workflow show delivery-team > interlock.yaml"
            "interlock check interlock.yaml                       # every problem, with its place"
            "interlock explain E0104                              # what a code means, and how to mend it"
        )
    };
}

/// Makes it impossible for a team of coding agents to skip a review, bury a blocker or call unfinished work done
///
/// A workflow file declares who may do what, and when. Agents report; Interlock decides what follows, and refuses
/// what the workflow does not allow. The commands below need no store: they look at workflows and handoffs, and say
/// what would be decided.
#[derive(Parser)]
#[command(
    name = "interlock",
    version,
    arg_required_else_help = true,
    subcommand_required = true,
    after_help = first_steps!(),
    after_long_help = concat!(
        first_steps!(),
        "\n\n\u{1b}[1m\u{1b}[4mExit codes:\u{1b}[0m\n",
        "  0  done\n",
        "  1  a fault in Interlock itself\n",
        "  2  the command line cannot be understood\n",
        "  3  refused by the workflow\n",
        "  4  a workflow, a handoff or an answer is not valid\n",
        "  5  the store or something else outside is not available"
    ),
)]
pub(crate) struct Cli {
    /// Print one JSON document on stdout and nothing else; errors too
    #[arg(long, global = true)]
    json: bool,

    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    #[command(subcommand)]
    Workflow(workflow::Workflow),
    Check(check::Check),
    Route(Box<route::Route>),
    #[command(subcommand)]
    Handoff(handoff::Handoff),
    #[command(subcommand)]
    Import(import::Import),
    Explain(explain::Explain),
    Completions(completions::Completions),
}

/// Runs the command line and says how it ended.
pub(crate) fn run(arguments: Vec<OsString>) -> Exit {
    match usage::parse(arguments) {
        Ok(Cli { json, command }) => match dispatch(&command, Output { json }) {
            Ok(exit) => exit,
            Err(failure) => failure.tell(json),
        },
        Err(exit) => exit,
    }
}

fn dispatch(command: &Command, output: Output) -> Ending {
    match command {
        Command::Workflow(command) => command.run(output),
        Command::Check(command) => command.run(output),
        Command::Route(command) => command.run(output),
        Command::Handoff(command) => command.run(output),
        Command::Import(command) => command.run(output),
        Command::Explain(command) => command.run(output),
        Command::Completions(command) => command.run(output),
    }
}
