//! The command line: one file for each command; this one only dispatches.

mod answer;
mod audit;
mod backup;
mod check;
mod claim;
mod complete;
mod completions;
mod decisions;
mod doctor;
mod explain;
mod gate;
pub(crate) mod handoff;
mod hook;
mod import;
mod init;
mod leave;
pub(crate) mod log;
mod mcp;
mod pause;
mod people;
mod plugin;
mod question;
mod rebuild;
mod report;
mod route;
mod run;
mod serve;
pub(crate) mod session;
mod usage;
pub(crate) mod values;
mod watch;
pub(crate) mod why;
mod workflow;

use std::ffi::OsString;

use clap::{Parser, Subcommand};

use interlock_app::error::CommandResult;
use interlock_app::error::CommandExit;
use interlock_app::output::CommandOutput;
use interlock_app::context::AppContext;

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
            "interlock init                                       # a workflow to edit, a store, keys"
            "interlock session start --title \"Add login\"          # what is next, to be claimed"
            "interlock workflow list                              # what is built in"
            "interlock check interlock.yaml                       # every problem, with its place"
            "interlock explain E0104                              # what a code means, and how to mend it"
        )
    };
}

/// Makes it impossible for a team of coding agents to skip a review, bury a blocker or call unfinished work done
///
/// A workflow file declares who may do what, and when. Agents report; Interlock decides what follows, and refuses
/// what the workflow does not allow, keeps a log that cannot be quietly changed, and completes nothing without its
/// evidence. workflow, check, route, handoff, import and explain need no store.
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

    /// The store: a path; .interlock/interlock.db here or in a folder above if none is named
    #[arg(long, global = true, value_name = "PATH")]
    store: Option<String>,

    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Init(init::Init),
    Run(run::Run),
    Mcp(mcp::Mcp),
    Serve(serve::Serve),
    Hook(hook::Hook),
    #[command(subcommand)]
    Plugin(plugin::Plugin),
    Doctor(doctor::Doctor),
    Pause(pause::Pause),
    Resume(pause::Resume),
    #[command(subcommand)]
    Session(session::Session),
    Claim(claim::Claim),
    Report(report::Report),
    #[command(subcommand)]
    Question(question::Question),
    Answer(answer::Answer),
    Defer(people::Defer),
    Acknowledge(people::Acknowledge),
    Accept(people::Accept),
    Override(people::Override),
    Cancel(people::Cancel),
    Complete(complete::Complete),
    Gate(gate::Gate),
    Decisions(decisions::Decisions),
    Why(why::Why),
    Log(log::Log),
    Watch(watch::Watch),
    #[command(subcommand)]
    Audit(audit::Audit),
    Rebuild(rebuild::Rebuild),
    Backup(backup::Backup),
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
pub(crate) fn run(arguments: Vec<OsString>) -> CommandExit {
    match usage::parse(arguments) {
        Ok(Cli { json, store, command }) => match dispatch(&command, CommandOutput { json }, &AppContext::new(store)) {
            Ok(exit) => exit,
            Err(failure) => failure.print_error(json),
        },
        Err(exit) => exit,
    }
}

fn dispatch(command: &Command, output: CommandOutput, place: &AppContext) -> CommandResult {
    match command {
        Command::Init(command) => command.run(output, place),
        Command::Run(command) => command.run(output, place),
        Command::Mcp(command) => command.run(place),
        Command::Serve(command) => command.run(output, place),
        Command::Hook(command) => command.run(place),
        Command::Plugin(command) => command.run(output, place),
        Command::Doctor(command) => command.run(output, place),
        Command::Pause(command) => command.run(output, place),
        Command::Resume(command) => command.run(output, place),
        Command::Session(command) => command.run(output, place),
        Command::Claim(command) => command.run(output, place),
        Command::Report(command) => command.run(output, place),
        Command::Question(command) => command.run(output, place),
        Command::Answer(command) => command.run(output, place),
        Command::Defer(command) => command.run(output, place),
        Command::Acknowledge(command) => command.run(output, place),
        Command::Accept(command) => command.run(output, place),
        Command::Override(command) => command.run(output, place),
        Command::Cancel(command) => command.run(output, place),
        Command::Complete(command) => command.run(output, place),
        Command::Gate(command) => command.run(output, place),
        Command::Decisions(command) => command.run(output, place),
        Command::Why(command) => command.run(output, place),
        Command::Log(command) => command.run(output, place),
        Command::Watch(command) => command.run(output, place),
        Command::Audit(command) => command.run(output, place),
        Command::Rebuild(command) => command.run(output, place),
        Command::Backup(command) => command.run(output, place),
        Command::Workflow(command) => command.run(output),
        Command::Check(command) => command.run(output),
        Command::Route(command) => command.run(output),
        Command::Handoff(command) => command.run(output),
        Command::Import(command) => command.run(output),
        Command::Explain(command) => command.run(output),
        Command::Completions(command) => command.run(output),
    }
}
