use clap::{Args, CommandFactory as _, ValueEnum as _};
use clap_complete::Shell;
use serde_json::json;

use crate::commands::{Cli, examples};
use interlock_app::error::CommandExit;
use interlock_app::error::CommandResult;
use interlock_app::output::CommandOutput;

/// Print the completions of a shell
///
/// The script completes commands, options and their values. Where it has to go differs between shells; the examples
/// show the usual places.
#[derive(Args)]
#[command(after_help = examples!(
    "interlock completions bash > ~/.local/share/bash-completion/completions/interlock"
    "interlock completions zsh  > ~/.zfunc/_interlock"
    "interlock completions fish > ~/.config/fish/completions/interlock.fish"
    "interlock completions powershell >> $PROFILE"
))]
pub(crate) struct CompletionsCommand {
    /// The shell
    shell: Shell,
}

impl CompletionsCommand {
    pub(crate) fn run(&self, output: CommandOutput) -> CommandResult {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Cli::command(), "interlock", &mut script);
        let script = String::from_utf8_lossy(&script);
        if output.json {
            let shell = self.shell.to_possible_value().map(|value| value.get_name().to_owned());
            output.document(&json!({ "shell": shell, "script": script }))?;
        } else {
            output.data(&script)?;
        }
        Ok(CommandExit::Done)
    }
}
