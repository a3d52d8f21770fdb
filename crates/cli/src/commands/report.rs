//! `interlock report`

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use interlock_core::code::Code;
use interlock_core::handoff;
use interlock_core::id::Digest;

use crate::commands::examples;
use interlock_app::context::AppContext;
use interlock_app::decision;
use interlock_app::error::CommandResult;
use interlock_app::error::{CommandError, CommandExit};
use interlock_app::input;
use interlock_app::output::CommandOutput;
use interlock_engine::{AssignmentRef, Operation, Request, SubmittedHandoff};
use interlock_store::keys::SecretKey;

/// Most bytes read of an agent's report.
const LARGEST_REPORT: u64 = 256 << 20;

/// Submit the handoff of an assignment, and see what follows (takes that assignment's token)
///
/// FILE is what the agent wrote: Markdown whose last JSON block is the metadata, or the JSON itself; - reads stdin.
/// The token comes from INTERLOCK_TOKEN, INTERLOCK_TOKEN_FILE or --token-file, never from an argument. The same report
/// again gets the same decision.
#[derive(Args)]
#[command(after_help = examples!(
    "interlock report --assignment add-login-4f2k.a3 --token-file token output.md"
))]
pub(crate) struct ReportCommand {
    #[arg(long, value_name = "ASSIGNMENT", value_parser = AssignmentRef::parse)]
    assignment: AssignmentRef,

    /// A file that holds the token
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,

    /// What the agent wrote; - reads stdin
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

impl ReportCommand {
    pub(crate) fn run(&self, output: CommandOutput, place: &AppContext) -> CommandResult {
        let bytes = input::bytes(&self.file, LARGEST_REPORT)?;
        let name = self.file.display().to_string();
        let given =
            SubmittedHandoff { digest: Digest::of(&bytes), extracted: handoff::extract(&name, &bytes).map(Arc::new) };
        let AssignmentRef { session, id } = &self.assignment;
        let token = token(self.token_file.as_deref())?;
        let order = Request {
            session: session.clone(),
            task: Operation::Report { assignment: *id, token, given, observed: None },
        };
        let sources = || [(name.clone(), String::from_utf8_lossy(&bytes).into_owned())].into_iter().collect();
        let done = place.engine()?.execute(&order).map_err(|error| CommandError::from(error).sources(sources()))?;
        decision::print_committed(output, &done)
    }
}

/// The token, from wherever secrets may come.
fn token(file: Option<&Path>) -> Result<Option<SecretKey>, CommandError> {
    let named = env::var_os("INTERLOCK_TOKEN_FILE").map(PathBuf::from).filter(|path| !path.as_os_str().is_empty());
    let held = env::var("INTERLOCK_TOKEN").ok().filter(|token| !token.is_empty());
    let text = match (file, held, named) {
        (Some(path), _, _) => Some(read(path)?),
        (None, Some(token), _) => Some(token),
        (None, None, Some(path)) => Some(read(&path)?),
        (None, None, None) => None,
    };
    let Some(text) = text else { return Ok(None) };
    // A malformed token counts as a wrong one.
    Ok(Some(SecretKey::parse(&text).unwrap_or_default()))
}

fn read(path: &Path) -> Result<String, CommandError> {
    fs::read_to_string(path).map_err(|error| {
        CommandError::new(CommandExit::Invalid, Code::FileUnreadable, format!("{}: {error}", path.display()))
    })
}
