//! `interlock rebuild`

use std::fmt::Write as _;

use clap::Args;
use interlock_core::code::Code;
use serde_json::json;

use crate::audit::{self, Kind, Problem};
use crate::cli::audit::{sessions, unlocked};
use crate::cli::place::Place;
use crate::cli::{Ending, examples};
use crate::failure::{Exit, Failure};
use crate::output::{HEADING, Output, Text};
use crate::store::Store as _;

/// Makes the tables anew from the events, and says what was different
///
/// The events are checked first: nothing is made from a history that was altered.
#[derive(Args)]
#[command(after_help = examples!("interlock rebuild"))]
pub(crate) struct Rebuild {}

impl Rebuild {
    #[allow(clippy::unused_self, reason = "every command runs the same way")]
    pub(crate) fn run(&self, output: Output, place: &Place) -> Ending {
        let (mut store, _, key) = unlocked(place)?;
        let (mut wrong, mut differences, mut events) = (Vec::new(), Vec::new(), 0);
        let all = sessions(&mut store, None)?;
        for session in &all {
            let folded = audit::fold(&mut *store.view()?, &key, session, &[])?;
            events += folded.report.events;
            let (tables, broken): (Vec<Problem>, Vec<Problem>) =
                folded.report.problems.into_iter().partition(|problem| problem.kind == Kind::Projection);
            if let Some(problem) = broken.first() {
                let message = format!("{}: {}", session.id, problem.text);
                return Err(Failure::new(Exit::Refused, Code::ChainBroken, message)
                    .help("nothing was rebuilt; `interlock audit verify` lists everything"));
            }
            if !tables.is_empty() {
                differences.extend(tables);
                wrong.push((session.key, folded.fold, folded.row));
            }
        }
        let guards = store.view()?.schema()?.into_iter().filter(|text| text.starts_with("trigger ")).count();
        if !wrong.is_empty() || guards > 0 {
            store.rebuild(&wrong)?;
        }
        if output.json {
            let texts: Vec<_> =
                differences.iter().map(|problem| json!({ "session": problem.session, "text": problem.text })).collect();
            output.document(
                &json!({ "sessions": all.len(), "events": events, "rebuilt": wrong.len(), "guards": guards, "differences": texts }),
            )?;
            return Ok(Exit::Done);
        }
        let mut text = Text::default();
        text.paint(HEADING, if wrong.is_empty() && guards == 0 { "Nothing was different" } else { "Rebuilt" });
        let _ = writeln!(text, ": {events} events in {} sessions", all.len());
        if guards > 0 {
            let _ = writeln!(text, "  guards of the database put right: {guards}");
        }
        for problem in &differences {
            let _ = writeln!(text, "  {}", problem.text);
        }
        output.text(&text)?;
        Ok(Exit::Done)
    }
}
