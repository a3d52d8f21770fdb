//! `interlock rebuild`

use clap::Args;
use interlock_core::code::Code;
use serde_json::json;

use crate::commands::audit::{sessions, unlocked};
use crate::commands::examples;
use interlock_app::context::AppContext;
use interlock_app::error::CommandResult;
use interlock_app::error::{CommandError, CommandExit};
use interlock_app::output::CommandOutput;
use interlock_store::audit::{self, AuditProblemKind, SessionProjection};
use interlock_store::chain::ChainKey;
use interlock_store::{SessionHead, Store as _, StoreView};
use interlock_system::sanitise;
use interlock_system::text::{HEADING, TerminalText};

/// Rebuild the tables from the events, and list what was different
///
/// The events are checked first: nothing is made from a history that was altered.
#[derive(Args)]
#[command(after_help = examples!("interlock rebuild"))]
pub(crate) struct RebuildCommand {}

impl RebuildCommand {
    #[allow(clippy::unused_self, reason = "every command runs the same way")]
    pub(crate) fn run(&self, output: CommandOutput, place: &AppContext) -> CommandResult {
        let (mut store, _, key) = unlocked(place)?;
        let all = sessions(&mut store, None)?;
        let (found, events) = different(&mut *store.view()?, &key, &all)?;
        let guards = guards(&mut *store.view()?)?;
        let (mut differences, mut rebuilt) = (Vec::new(), 0);
        if !found.is_empty() || guards > 0 {
            // Looked at again with everybody else waiting: what is put in is made of all the events there are.
            let mut tx = store.begin()?;
            let heads: Vec<SessionHead> = found.into_iter().map(|folded| folded.session).collect();
            let (found, _) = different(&mut *tx, &key, &heads)?;
            let rows = found.into_iter().map(|folded| {
                differences.extend(folded.report.problems);
                (folded.session.key, folded.fold, folded.row)
            });
            let rows: Vec<_> = rows.collect();
            rebuilt = rows.len();
            tx.rebuild(&rows)?;
            tx.commit()?;
        }
        if output.json {
            let texts: Vec<_> =
                differences.iter().map(|problem| json!({ "session": problem.session, "text": problem.text })).collect();
            output.document(
                &json!({ "sessions": all.len(), "events": events, "rebuilt": rebuilt, "guards": guards, "differences": texts }),
            )?;
            return Ok(CommandExit::Done);
        }
        let mut text = TerminalText::default();
        text.paint(HEADING, if rebuilt == 0 && guards == 0 { "Nothing was different" } else { "Rebuilt" });
        text.line(format_args!(": {events} events in {} sessions", all.len()));
        if guards > 0 {
            text.line(format_args!("  guards of the database repaired: {guards}"));
        }
        for problem in &differences {
            text.line(format_args!("  {}", sanitise::line(&problem.text)));
        }
        output.text(&text)?;
        Ok(CommandExit::Done)
    }
}

/// The sessions whose tables are not what their events make of them, and how many events were looked at.
fn different(
    view: &mut dyn StoreView,
    key: &ChainKey,
    sessions: &[SessionHead],
) -> Result<(Vec<SessionProjection>, u64), CommandError> {
    let (mut found, mut events) = (Vec::new(), 0);
    for session in sessions {
        let now = view.session(&session.id)?;
        let folded = audit::fold(view, key, now.as_ref().unwrap_or(session), &[])?;
        events += folded.report.events;
        if let Some(problem) =
            folded.report.problems.iter().find(|problem| problem.kind != AuditProblemKind::Projection)
        {
            let message = format!("{}: {}", session.id, problem.text);
            return Err(CommandError::new(CommandExit::Refused, Code::ChainBroken, message)
                .help("nothing was rebuilt; `interlock audit verify` lists everything"));
        }
        if !folded.report.is_valid() {
            found.push(folded);
        }
    }
    Ok((found, events))
}

/// Guards of the database that are not as this version makes them.
fn guards(view: &mut dyn StoreView) -> Result<usize, CommandError> {
    Ok(view.schema()?.into_iter().filter(|text| text.starts_with("trigger ")).count())
}
