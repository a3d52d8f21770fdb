//! `interlock audit …`

use std::path::PathBuf;

use clap::{Args, Subcommand};
use interlock_core::code::Code;
use interlock_core::id::Name;
use interlock_core::rejection::Rejection;
use serde_json::json;

use crate::commands::examples;
use interlock_app::context::{AppContext, keyring};
use interlock_app::error::CommandResult;
use interlock_app::error::{CommandError, CommandExit};
use interlock_app::input;
use interlock_app::output::CommandOutput;
use interlock_store::audit::{self, AuditReport, ChainHead};
use interlock_store::chain::ChainKey;
use interlock_store::sqlite::SqliteStore;
use interlock_store::{RefusedWrite, SessionHead, Store, StoreIdentity};
use interlock_system::sanitise;
use interlock_system::text::{HEADING, NAME, TerminalText};

/// A head is a few lines.
const LARGEST_HEAD: u64 = 1 << 16;

/// Verify the event log, and export its heads
///
/// Each event is sealed with a keyed hash over its bytes and the seal before it. docs/security.md says what that
/// protects against.
#[derive(Subcommand)]
#[command(after_help = examples!("interlock audit verify"))]
pub(crate) enum AuditCommand {
    Verify(AuditVerifyCommand),
    Export(AuditExportCommand),
}

/// Check every seal, every number, what events were given, the tables and the schema
///
/// Names the first event that was changed, added, dropped or moved. What was cut off at the end without a trace shows
/// only against a head that was exported before and kept elsewhere.
#[derive(Args)]
#[command(after_help = examples!(
    "interlock audit verify"
    "interlock audit verify add-login-4f2k --head ../heads/add-login.json"
))]
pub(crate) struct AuditVerifyCommand {
    /// Only this session
    #[arg(value_name = "SESSION")]
    session: Option<String>,

    /// A head that `audit export` wrote; may be repeated
    #[arg(long, value_name = "FILE")]
    head: Vec<PathBuf>,
}

/// Write the head of a session's chain, signed, to be kept elsewhere
///
/// Keep it where nobody who can write the store can write: `audit verify --head` then shows whether anything was cut
/// off or replaced since. The signature (ed25519) can be checked without Interlock.
#[derive(Args)]
#[command(after_help = examples!("interlock audit export add-login-4f2k > ../heads/add-login.json"))]
pub(crate) struct AuditExportCommand {
    #[arg(value_name = "SESSION")]
    session: String,
}

impl AuditCommand {
    pub(crate) fn run(&self, output: CommandOutput, place: &AppContext) -> CommandResult {
        match self {
            AuditCommand::Verify(command) => command.run(output, place),
            AuditCommand::Export(command) => command.run(output, place),
        }
    }
}

/// The store with its key. An audit needs the key to recompute seals.
pub(crate) fn unlocked(place: &AppContext) -> Result<(SqliteStore, StoreIdentity, ChainKey), CommandError> {
    let mut store = place.store()?;
    let identity = store.view()?.identity()?;
    let key = keyring()?.chain(&identity)?;
    Ok((store, identity, key))
}

/// One session, or all.
pub(crate) fn sessions(store: &mut SqliteStore, only: Option<&str>) -> Result<Vec<SessionHead>, CommandError> {
    let mut view = store.view()?;
    match only {
        None => Ok(view.sessions()?),
        Some(id) => match view.session(id)? {
            Some(session) => Ok(vec![session]),
            None => Err(Rejection::new(Code::NoSession, format!("there is no session `{id}`")).into()),
        },
    }
}

impl AuditVerifyCommand {
    fn run(&self, output: CommandOutput, place: &AppContext) -> CommandResult {
        let (mut store, identity, key) = unlocked(place)?;
        let (heads, mut signatures) = self.heads(&key)?;
        let only = self.session.as_deref();
        let sessions = match sessions(&mut store, only) {
            // That a session is gone, its head tells.
            Err(_) if heads.iter().any(|head| Some(head.session.as_str()) == only) => Vec::new(),
            found => found?,
        };
        let path = store.path().to_owned();
        let open = || Ok(Box::new(SqliteStore::open(&path)?) as Box<dyn Store>);
        let mut report = audit::verify(&open, &key, &sessions, &heads)?;
        report.problems.append(&mut signatures);
        let attempts = store.view()?.attempts()?;
        if output.json {
            let attempts: Vec<_> = attempts
                .iter()
                .map(|tried| json!({ "at": tried.at, "session": tried.session, "guard": tried.guard, "what": tried.what }))
                .collect();
            output.document(&json!({
                "valid": report.is_valid(), "events": report.events, "sessions": sessions.len(),
                "store": identity.id, "problems": report.problems, "attempts": attempts,
            }))?;
        } else {
            output.text(&text(&report, sessions.len(), &attempts))?;
        }
        Ok(if report.is_valid() { CommandExit::Done } else { CommandExit::Refused })
    }

    fn heads(&self, key: &ChainKey) -> Result<(Vec<ChainHead>, Vec<audit::AuditProblem>), CommandError> {
        let (mut heads, mut problems) = (Vec::new(), Vec::new());
        for path in &self.head {
            match ChainHead::read(&input::text(path, LARGEST_HEAD)?, key)? {
                Ok(head) => heads.push(head),
                Err(problem) => problems.push(problem),
            }
        }
        Ok((heads, problems))
    }
}

fn text(report: &AuditReport, sessions: usize, attempts: &[RefusedWrite]) -> TerminalText {
    let mut text = TerminalText::default();
    let verdict = if report.is_valid() { "Event log verified" } else { "The event log was changed" };
    text.paint(HEADING, verdict);
    let sessions = if sessions == 1 { "1 session".to_owned() } else { format!("{sessions} sessions") };
    text.line(format_args!(": {} events in {sessions}", report.events));
    for problem in &report.problems {
        let place = problem.session.as_ref().map_or("store", Name::as_str);
        text.push("  ");
        text.paint(NAME, format!("{:<10}", format!("{:?}", problem.kind).to_lowercase()));
        text.line(format_args!("  {}: {}", sanitise::line(place), sanitise::line(&problem.text)));
    }
    if !attempts.is_empty() {
        text.push("\n");
        text.line(format_args!("Writes that went round Interlock and were refused: {}", attempts.len()));
        for tried in attempts.iter().rev().take(5) {
            text.line(format_args!("  {}  {} ({})", tried.at, sanitise::line(&tried.what), tried.guard));
        }
    }
    text
}

impl AuditExportCommand {
    fn run(&self, output: CommandOutput, place: &AppContext) -> CommandResult {
        let (mut store, identity, key) = unlocked(place)?;
        let session = sessions(&mut store, Some(&self.session))?;
        let Some(session) = session.first() else { return Ok(CommandExit::Bug) };
        // A head that is not true must not be signed.
        let folded = audit::fold(&mut *store.view()?, &key, session, &[])?;
        if let Some(problem) = folded.report.problems.first() {
            let message = format!("nothing is signed: {}", problem.text);
            return Err(CommandError::new(CommandExit::Refused, Code::ChainBroken, message)
                .help("`interlock audit verify` says what was done"));
        }
        output.document(&ChainHead::of(&identity.id, session).export(&key))?;
        Ok(CommandExit::Done)
    }
}
