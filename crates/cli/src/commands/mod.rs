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
pub(crate) mod log;
mod mcp;
mod pause;
mod person_commands;
mod plugin;
mod question;
mod rebuild;
mod report;
mod route;
mod run;
mod run_note;
mod serve;
pub(crate) mod session;
mod usage;
pub(crate) mod values;
mod watch;
pub(crate) mod why;
mod workflow;

use std::ffi::OsString;

use clap::{Parser, Subcommand};

use interlock_app::context::AppContext;
use interlock_app::error::CommandExit;
use interlock_app::error::CommandResult;
use interlock_app::output::CommandOutput;

/// Starts the part of a help text that shows how a command is used.
macro_rules! examples {
    ($($line:literal)+) => {
        concat!("\u{1b}[1m\u{1b}[4mExamples:\u{1b}[0m", $("\n  ", $line),+)
    };
}
pub(crate) use examples;

/// Examples in the help of the program itself, short and long.
macro_rules! first_steps {
    () => {
        examples!(
            "interlock init                                       # a workflow to edit, a store, keys"
            "interlock session start --title \"Add login\"          # what is next, to be claimed"
            "interlock workflow list                              # what is built in"
            "interlock check interlock.yaml                       # every problem, with its place"
            "interlock explain E0104                              # what a code means, and how to fix it"
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
    command: CliCommand,
}

#[derive(Subcommand)]
enum CliCommand {
    Init(init::InitCommand),
    Run(run::RunCommand),
    Mcp(mcp::McpCommand),
    Serve(serve::ServeCommand),
    Hook(hook::HookCommand),
    #[command(subcommand)]
    Plugin(plugin::PluginCommand),
    Doctor(doctor::DoctorCommand),
    Pause(pause::PauseCommand),
    Resume(pause::ResumeCommand),
    #[command(subcommand)]
    Session(session::SessionCommand),
    Claim(claim::ClaimCommand),
    Report(report::ReportCommand),
    #[command(subcommand)]
    Question(question::QuestionCommand),
    Answer(answer::AnswerCommand),
    Defer(person_commands::DeferCommand),
    Acknowledge(person_commands::AcknowledgeCommand),
    Accept(person_commands::AcceptCommand),
    Override(person_commands::OverrideCommand),
    Cancel(person_commands::CancelCommand),
    Complete(complete::CompleteCommand),
    Gate(gate::GateRunCommand),
    Decisions(decisions::DecisionsCommand),
    Why(why::WhyCommand),
    Log(log::LogCommand),
    Watch(watch::WatchCommand),
    #[command(subcommand)]
    Audit(audit::AuditCommand),
    Rebuild(rebuild::RebuildCommand),
    Backup(backup::BackupCommand),
    #[command(subcommand)]
    Workflow(workflow::WorkflowCommand),
    Check(check::CheckCommand),
    Route(Box<route::RouteCommand>),
    #[command(subcommand)]
    Handoff(handoff::HandoffCommand),
    #[command(subcommand)]
    Import(import::ImportCommand),
    Explain(explain::ExplainCommand),
    Completions(completions::CompletionsCommand),
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

fn dispatch(command: &CliCommand, output: CommandOutput, place: &AppContext) -> CommandResult {
    match command {
        CliCommand::Init(command) => command.run(output, place),
        CliCommand::Run(command) => command.run(output, place),
        CliCommand::Mcp(command) => command.run(place),
        CliCommand::Serve(command) => command.run(output, place),
        CliCommand::Hook(command) => command.run(place),
        CliCommand::Plugin(command) => command.run(output, place),
        CliCommand::Doctor(command) => command.run(output, place),
        CliCommand::Pause(command) => command.run(output, place),
        CliCommand::Resume(command) => command.run(output, place),
        CliCommand::Session(command) => command.run(output, place),
        CliCommand::Claim(command) => command.run(output, place),
        CliCommand::Report(command) => command.run(output, place),
        CliCommand::Question(command) => command.run(output, place),
        CliCommand::Answer(command) => command.run(output, place),
        CliCommand::Defer(command) => command.run(output, place),
        CliCommand::Acknowledge(command) => command.run(output, place),
        CliCommand::Accept(command) => command.run(output, place),
        CliCommand::Override(command) => command.run(output, place),
        CliCommand::Cancel(command) => command.run(output, place),
        CliCommand::Complete(command) => command.run(output, place),
        CliCommand::Gate(command) => command.run(output, place),
        CliCommand::Decisions(command) => command.run(output, place),
        CliCommand::Why(command) => command.run(output, place),
        CliCommand::Log(command) => command.run(output, place),
        CliCommand::Watch(command) => command.run(output, place),
        CliCommand::Audit(command) => command.run(output, place),
        CliCommand::Rebuild(command) => command.run(output, place),
        CliCommand::Backup(command) => command.run(output, place),
        CliCommand::Workflow(command) => command.run(output),
        CliCommand::Check(command) => command.run(output),
        CliCommand::Route(command) => command.run(output),
        CliCommand::Handoff(command) => command.run(output),
        CliCommand::Import(command) => command.run(output),
        CliCommand::Explain(command) => command.run(output),
        CliCommand::Completions(command) => command.run(output),
    }
}
