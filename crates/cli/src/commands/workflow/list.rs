use std::io;

use clap::Args;
use interlock_core::workflow::{BUILTINS, load_builtin};
use serde_json::json;

use crate::commands::examples;
use interlock_app::error::CommandExit;
use interlock_app::error::CommandResult;
use interlock_app::output::CommandOutput;
use interlock_system::text::{NAME, TerminalText, columns, wrap};

/// List the built-in workflows
///
/// They are part of the program. Each can be used by its name wherever a workflow is asked for, and extended by a file
/// of your own; an abstract one can only be extended.
#[derive(Args)]
#[command(after_help = examples!(
    "interlock workflow list"
    "interlock workflow list --json | jq -r '.workflows[].name'"
))]
pub(crate) struct WorkflowListCommand {}

impl WorkflowListCommand {
    pub(crate) fn run(&self, output: CommandOutput) -> CommandResult {
        let all = BUILTINS.iter().filter_map(|builtin| load_builtin(builtin.name).map(|loaded| (builtin, loaded)));
        if output.json {
            let workflows: Vec<_> = all
                .map(|(builtin, loaded)| {
                    json!({
                        "name": builtin.name,
                        "about": loaded.workflow.as_ref().and_then(|workflow| workflow.about.clone()),
                        "abstract": loaded.is_abstract,
                        "hash": loaded.workflow.as_ref().map(|workflow| workflow.hash),
                    })
                })
                .collect();
            output.document(&json!({ "workflows": workflows }))?;
            return Ok(CommandExit::Done);
        }
        let mut text = TerminalText::default();
        let width = BUILTINS.iter().map(|builtin| builtin.name.len()).max().unwrap_or_default();
        for (builtin, loaded) in all {
            let about = loaded.workflow.and_then(|workflow| workflow.about);
            let kind = if loaded.is_abstract { "(abstract) " } else { "" };
            let about = format!("{kind}{}", about.as_deref().unwrap_or_default());
            text.paint(NAME, format_args!("{:width$}", builtin.name));
            let lines = wrap(&about, columns(&io::stdout(), 100).saturating_sub(width + 2));
            for (index, line) in lines.iter().enumerate() {
                let indent = if index == 0 { 2 } else { width + 2 };
                text.line(format_args!("{:indent$}{line}", ""));
            }
        }
        output.text(&text)?;
        Ok(CommandExit::Done)
    }
}
