//! `interlock plugin`

use std::io::{self, BufRead as _, IsTerminal as _, Write as _};
use std::path::PathBuf;

use clap::{Args, Subcommand};
use interlock_core::code::Code;
use serde_json::{Value as Json, json};

use crate::commands::examples;
use crate::commands::hook::client;
use crate::plugin::{self, ClientSetup, SetupChanges, examine};
use interlock_app::context::AppContext;
use interlock_app::doctor_report;
use interlock_app::error::CommandResult;
use interlock_app::error::{CommandError, CommandExit};
use interlock_app::library;
use interlock_app::output::CommandOutput;
use interlock_app::session_start::workflow_name;
use interlock_hooks::HookClient;
use interlock_system::text::{HEADING, NAME, TerminalText};

/// Set a client up: hooks, MCP server, commands, and the roles of the workflow
///
/// For teams whose model orchestrates inside Claude Code, Codex or Gemini CLI: the hooks keep it on the rails, and show what
/// was watched. docs/hooks.md says what they do in each client.
#[derive(Subcommand)]
#[command(after_help = examples!(
    "interlock plugin install claude       # shows what it writes, and asks"
    "interlock plugin doctor codex         # are the hooks in place, agreed to, and able to reach the store?"
    "interlock plugin uninstall gemini     # takes out what is Interlock's, and nothing else"
))]
pub(crate) enum PluginCommand {
    Install(PluginInstallCommand),
    Uninstall(PluginUninstallCommand),
    Doctor(PluginDoctorCommand),
}

/// Write what a client needs to be kept on the rails; shows the diff first
///
/// Hooks, the MCP server, commands and one sub-agent for each role, into the settings of this project. What was there
/// stays. Where the client runs hooks only with its user's consent, the consent to exactly these hooks is written as well,
/// and shown. On a terminal it asks before it writes; in a pipe it does not.
#[derive(Args)]
#[command(after_help = examples!(
    "interlock plugin install claude"
    "interlock plugin install codex --dry-run     # the diff, and nothing written"
    "interlock plugin install gemini --yes"
))]
pub(crate) struct PluginInstallCommand {
    #[command(flatten)]
    of: PluginArgs,
}

/// Take out what `install` has put in, and nothing else; shows the diff first
///
/// Files that held nothing else are removed; in others, everything that somebody else wrote stays as it is.
#[derive(Args)]
#[command(after_help = examples!("interlock plugin uninstall claude"))]
pub(crate) struct PluginUninstallCommand {
    #[command(flatten)]
    of: PluginArgs,
}

#[derive(Args)]
struct PluginArgs {
    /// claude, codex or gemini
    #[arg(value_name = "CLIENT", value_parser = client)]
    client: HookClient,

    /// Whose roles: a built-in workflow or a file; this project's own if left out
    #[arg(long, value_name = "WORKFLOW")]
    workflow: Option<String>,

    /// Shows the diff, and writes nothing
    #[arg(long)]
    dry_run: bool,

    /// Writes without asking
    #[arg(long, short)]
    yes: bool,
}

/// Say whether the hooks of a client are in place, agreed to, and can reach the store
///
/// A hook that does not run says nothing, so a client without hooks looks like one with them. Exit code 5 if something is
/// missing.
#[derive(Args)]
#[command(after_help = examples!("interlock plugin doctor claude"))]
pub(crate) struct PluginDoctorCommand {
    /// claude, codex or gemini
    #[arg(value_name = "CLIENT", value_parser = client)]
    client: HookClient,

    /// Whose roles: a built-in workflow or a file; this project's own if left out
    #[arg(long, value_name = "WORKFLOW")]
    workflow: Option<String>,
}

impl PluginCommand {
    pub(crate) fn run(&self, output: CommandOutput, place: &AppContext) -> CommandResult {
        match self {
            PluginCommand::Install(PluginInstallCommand { of }) => {
                of.run(output, place, "installed", ClientSetup::install)
            }
            PluginCommand::Uninstall(PluginUninstallCommand { of }) => {
                of.run(output, place, "uninstalled", ClientSetup::uninstall)
            }
            PluginCommand::Doctor(doctor) => doctor.run(output, place),
        }
    }
}

impl PluginArgs {
    fn run(
        &self,
        output: CommandOutput,
        place: &AppContext,
        done: &str,
        changes: impl Fn(&ClientSetup) -> Result<SetupChanges, CommandError>,
    ) -> CommandResult {
        let setup = setup(self.client, self.workflow.as_deref(), place)?;
        let changes = changes(&setup)?;
        if !output.json {
            output.text(&shown(&changes, &setup))?;
        }
        let nothing = changes.edits.is_empty();
        let write = !nothing && !self.dry_run && (self.yes || output.json || agreed()?);
        if write {
            for edit in &changes.edits {
                edit.write().map_err(|error| interlock_store::StoreError::unwritable(&edit.path, &error))?;
            }
        }
        if output.json {
            output.document(&document(&setup, &changes, write))?;
            return Ok(CommandExit::Done);
        }
        let client = setup.client.title();
        let said = match (nothing, write) {
            (true, _) => format!("{client}: everything is {done} already\n"),
            (false, true) => format!("{client}: {done}\n{}", advice(setup.client, done)),
            (false, false) => "nothing was written\n".to_owned(),
        };
        let mut text = TerminalText::default();
        text.push_document(&said);
        output.text(&text)?;
        Ok(CommandExit::Done)
    }
}

/// The steps that are left for a person.
fn advice(client: HookClient, done: &str) -> String {
    if done != "installed" {
        return String::new();
    }
    let first = match client {
        HookClient::Claude => {
            "Claude Code loads it in a project that it trusts: start `claude` here, and try /interlock:start"
        }
        HookClient::Codex => "start `codex` here, and ask it to start a session",
        HookClient::Gemini => {
            "Gemini CLI loads it in a folder that it trusts: start `gemini` here, and try /interlock:start"
        }
    };
    format!("{first}\n`interlock plugin doctor {}` checks it\n", client.name())
}

fn setup(client: HookClient, workflow: Option<&str>, place: &AppContext) -> Result<ClientSetup, CommandError> {
    // Without a store there is nothing to watch.
    let project = place.project().or_else(|failure| match place.file() {
        Ok(_) => Err(failure),
        Err(_) => std::env::current_dir()
            .map_err(|error| CommandError::new(CommandExit::Unavailable, Code::NoStore, error.to_string())),
    })?;
    let project: PathBuf = std::fs::canonicalize(&project).unwrap_or(project);
    // Also where the store is gone, which is for `doctor` to say.
    let own = Some(project.join(library::PROJECT_FILE)).filter(|path| path.exists());
    let own = own.map(|path| path.display().to_string());
    let workflow = library::runnable(&workflow_name(workflow.or(own.as_deref()), place)?)?;
    Ok(ClientSetup { client, project, program: plugin::program(), workflow })
}

fn shown(changes: &SetupChanges, setup: &ClientSetup) -> TerminalText {
    let mut text = TerminalText::default();
    for edit in &changes.edits {
        for line in edit.diff(&setup.project).lines() {
            match line.starts_with("---") || line.starts_with("+++") {
                true => text.paint(HEADING, line),
                false => text.put(line),
            }
            text.push("\n");
        }
    }
    for path in &changes.kept {
        text.paint(NAME, "kept");
        text.line(format_args!(" {}: somebody else wrote it", path.display()));
    }
    text
}

/// On a terminal, a person confirms. In a pipe no person can be asked, so the call itself counts as consent.
fn agreed() -> Result<bool, CommandError> {
    if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
        return Ok(true);
    }
    let failed = |error: io::Error| CommandError::new(CommandExit::Unavailable, Code::OutputFailed, error.to_string());
    print!("Write this? [y/N] ");
    io::stdout().flush().map_err(failed)?;
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line).map_err(failed)?;
    Ok(matches!(line.trim(), "y" | "Y" | "yes"))
}

fn document(setup: &ClientSetup, changes: &SetupChanges, written: bool) -> Json {
    let files: Vec<Json> = changes
        .edits
        .iter()
        .map(|edit| {
            let what = match (&edit.before, &edit.after) {
                (None, _) => "new",
                (Some(_), None) => "removed",
                (Some(_), Some(_)) => "changed",
            };
            json!({ "path": edit.path.display().to_string(), "what": what, "diff": edit.diff(&setup.project) })
        })
        .collect();
    let kept: Vec<String> = changes.kept.iter().map(|path| path.display().to_string()).collect();
    json!({ "client": setup.client.name(), "written": written, "files": files, "kept": kept })
}

impl PluginDoctorCommand {
    fn run(&self, output: CommandOutput, place: &AppContext) -> CommandResult {
        let setup = setup(self.client, self.workflow.as_deref(), place)?;
        doctor_report::print_report(&examine(&setup, place), json!({ "client": setup.client.name() }), output)
    }
}
