//! `interlock decisions`

use clap::Args;
use interlock_core::code::Code;
use interlock_core::event::Event;
use interlock_core::naming::shown_person;
use interlock_core::rejection::Rejection;
use serde_json::{Value as Json, json};

use crate::commands::examples;
use interlock_app::context::AppContext;
use interlock_app::error::CommandResult;
use interlock_app::error::{CommandError, CommandExit};
use interlock_app::narrative::{EventNarrator, RoutingRecord, consequence, decision_json};
use interlock_app::output::CommandOutput;
use interlock_engine::Engine;
use interlock_system::clock::rfc3339;
use interlock_system::sanitise;
use interlock_system::text::{HEADING, NAME, TerminalText};

/// List the decisions of a session: who reported what on which group, and what followed
///
/// Without a session, the decisions of all sessions. `interlock why` explains one of them; `interlock log` also shows
/// events that decided nothing, such as claims and refusals. With --json, each has session, group, agent, status,
/// next_agent, action, rule and time.
#[derive(Args)]
#[command(after_help = examples!(
    "interlock decisions add-login-4f2k"
    "interlock decisions --json"
))]
pub(crate) struct DecisionsCommand {
    #[arg(value_name = "SESSION")]
    session: Option<String>,
}

impl DecisionsCommand {
    pub(crate) fn run(&self, output: CommandOutput, place: &AppContext) -> CommandResult {
        let mut engine = place.engine()?;
        let mut documents: Vec<Json> = Vec::new();
        let mut text = TerminalText::default();
        for session in self.sessions(&mut engine)? {
            let decided = read_decisions(&mut engine, &session)?;
            documents.extend(decided.iter().filter_map(|(event, record)| decision_json(&session, event, record)));
            if !output.json {
                show_session(&mut text, &session, &decided);
            }
        }
        if output.json {
            output.document(&json!({ "decisions": documents }))?;
        } else {
            output.text(&text)?;
        }
        Ok(CommandExit::Done)
    }

    fn sessions(&self, engine: &mut Engine) -> Result<Vec<String>, CommandError> {
        let mut view = engine.store().view()?;
        let Some(named) = &self.session else {
            // The oldest first, as a log is read.
            return Ok(view.sessions()?.iter().rev().map(|session| session.id.to_string()).collect());
        };
        match view.session(named)? {
            Some(session) => Ok(vec![session.id.to_string()]),
            None => Err(Rejection::new(Code::NoSession, format!("there is no session `{named}`")).into()),
        }
    }
}

/// Every event of a session that decided something, each seal checked.
fn read_decisions(engine: &mut Engine, session: &str) -> Result<Vec<(Event, RoutingRecord)>, CommandError> {
    let mut narrator = EventNarrator::default();
    let mut decided = Vec::new();
    for event in engine.load_history(session)? {
        let record = narrator.record(&event);
        narrator.learn(&event);
        if event.decision.is_some() {
            decided.push((event, record));
        }
    }
    Ok(decided)
}

fn show_session(text: &mut TerminalText, session: &str, decided: &[(Event, RoutingRecord)]) {
    text.paint(HEADING, session);
    text.push("\n");
    let or_dash = |name: &Option<interlock_core::id::Name>| {
        sanitise::line(name.as_ref().map_or("-", |name| name.as_str())).into_owned()
    };
    let agent =
        |record: &RoutingRecord| sanitise::line(&record.agent.as_deref().map_or("-".into(), shown_person)).into_owned();
    let rows: Vec<[String; 3]> =
        decided.iter().map(|(_, record)| [or_dash(&record.group), agent(record), or_dash(&record.status)]).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count().min(24)).max().unwrap_or(0);
    let [group_width, agent_width, status_width] = [0, 1, 2].map(width);
    for ((event, _), [group, agent, status]) in decided.iter().zip(&rows) {
        let Some(decision) = &event.decision else { continue };
        let at = rfc3339(event.at);
        text.push("  ");
        text.paint(NAME, format!("{:<5}", decision.id.to_string()));
        text.put(format_args!(" {}  {group:<group_width$}  ", at.get(11..19).unwrap_or(&at)));
        text.put(format_args!("{agent:<agent_width$}  {status:<status_width$}  "));
        text.line(format_args!("→ {}", sanitise::line(&consequence(event, decision))));
    }
}
