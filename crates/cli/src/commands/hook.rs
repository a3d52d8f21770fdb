//! `interlock hook`

use std::io::{self, Write as _};
use std::path::Path;

use clap::Args;

use crate::commands::examples;
use interlock_app::context::AppContext;
use interlock_app::error::CommandExit;
use interlock_app::error::CommandResult;
use interlock_app::input;
use interlock_hooks::{HookCall, HookClient, answer};

/// Most bytes read of a client's input: a tool call can hold a whole file.
const LARGEST: u64 = 256 << 20;

/// Answer a hook of a client: JSON on stdin, the answer in the client's own format (takes the spawner key)
///
/// A client calls it; people do not. It claims an assignment when a sub-agent starts, submits its handoff when it ends,
/// and turns down what the workflow does not allow, with the next step. What it cannot judge it holds back.
/// `interlock plugin install` sets a client up to call it.
#[derive(Args)]
#[command(after_help = examples!(
    "interlock hook claude PreToolUse < payload.json"
    "interlock hook codex SubagentStop --hold < payload.json"
    "interlock hook gemini BeforeTool < payload.json"
))]
pub(crate) struct HookCommand {
    /// claude, codex or gemini
    #[arg(value_name = "CLIENT", value_parser = client)]
    client: HookClient,

    /// The event, as the client names it
    #[arg(value_name = "EVENT")]
    event: String,

    /// Holds back as well where no store is to be found
    #[arg(long)]
    hold: bool,

    /// The project whose store it asks, wherever the client has gone meanwhile
    #[arg(long, value_name = "FOLDER")]
    project: Option<String>,
}

impl HookCommand {
    pub(crate) fn run(&self, place: &AppContext) -> CommandResult {
        let payload = input::bytes(Path::new("-"), LARGEST).unwrap_or_default();
        let Self { client, event, project, hold } = self;
        // A variable that the client has not set is no project.
        let project = project.as_deref().filter(|project| !project.is_empty()).map(Path::new);
        let reply = answer(&HookCall { client: *client, event, payload: &payload, place, project, hold: *hold });
        let told = io::stdout().write_all(reply.out.as_bytes()).and_then(|()| io::stdout().flush());
        // A lost answer must not count as approval. Some clients approve if they get no message.
        let unheard =
            if told.is_err() { "Interlock: the client does not take the answer, so this is held back.\n" } else { "" };
        let _ = io::stderr().write_all(format!("{}{unheard}", reply.err).as_bytes());
        Ok(if told.is_err() || reply.code != 0 { CommandExit::Usage } else { CommandExit::Done })
    }
}

pub(crate) fn client(name: &str) -> Result<HookClient, String> {
    HookClient::ALL.into_iter().find(|client| client.name() == name).ok_or_else(|| {
        let names: Vec<&str> = HookClient::ALL.iter().map(|client| client.name()).collect();
        format!("there is no client of this name; there are {}", names.join(", "))
    })
}
