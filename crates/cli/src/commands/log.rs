//! `interlock log`

use std::thread;
use std::time::Duration;

use clap::Args;
use interlock_core::code::Code;
use interlock_core::event::{Event, EventCause};
use interlock_core::rejection::Rejection;
use serde_json::{Value as Json, json};

use crate::commands::examples;
use interlock_app::context::AppContext;
use interlock_app::error::CommandResult;
use interlock_app::error::{CommandError, CommandExit};
use interlock_app::narrative::{EventNarrator, completes_session, consequence, further_problems};
use interlock_app::output::CommandOutput;
use interlock_store::sqlite::SqliteStore;
use interlock_store::{EventRow, SessionHead, Store as _};
use interlock_system::clock::rfc3339;
use interlock_system::sanitise;
use interlock_system::text::{ALARM, TerminalText, wrap};

/// Events read at a time.
const BATCH: usize = 512;
/// The columns before the text of an event. The text gets the rest of 80 columns.
const INDENT: &str = "                            ";
const BELOW: &str = "                            | ";
const WIDTH: usize = 52;
/// How often a follower looks for news.
const PAUSE: Duration = Duration::from_millis(100);

/// Show the log of a session: every event, with its seal
///
/// Reports, decisions, answers, claims, and every command that was refused, in words. `interlock why` explains a
/// decision or, by its number, any other event: `interlock why SESSION.e5`. With --json, each event also has session, group, agent, status, next_agent and action.
#[derive(Args)]
#[command(after_help = examples!(
    "interlock log add-login-4f2k"
    "interlock log add-login-4f2k --follow --json      # JSON Lines, until the session ends"
))]
pub(crate) struct LogCommand {
    #[arg(value_name = "SESSION")]
    session: String,

    /// Goes on with what is added, until the session ends
    #[arg(long)]
    follow: bool,

    /// Adds the rule that decided
    #[arg(short, long)]
    verbose: bool,

    /// Adds what each event was given, whole: handoffs and the mission
    #[arg(long)]
    full: bool,
}

/// An event, and what it was given if that is wanted.
type EventWithInput = (EventRow, Option<String>);

impl LogCommand {
    pub(crate) fn run(&self, output: CommandOutput, place: &AppContext) -> CommandResult {
        let mut store = place.store()?;
        if !self.follow && output.json {
            let (events, _) = self.read(&mut store, 0, usize::MAX)?;
            let mut teller = self.teller(output);
            let events: Vec<Json> =
                events.iter().map(|(event, given)| teller.document(event, given.as_deref())).collect();
            output.document(&json!({ "events": events }))?;
            return Ok(CommandExit::Done);
        }
        let mut seen = 0;
        let mut teller = self.teller(output);
        loop {
            let (events, session) = self.read(&mut store, seen, BATCH)?;
            for (event, given) in &events {
                seen = event.seq;
                teller.tell(event, given.as_deref())?;
            }
            let ended = matches!(session.status.as_str(), "completed" | "cancelled");
            if events.is_empty() && (!self.follow || ended) {
                return Ok(CommandExit::Done);
            }
            if events.is_empty() {
                thread::sleep(PAUSE);
            }
        }
    }

    fn teller(&self, output: CommandOutput) -> EventPrinter<'_> {
        EventPrinter { output, session: &self.session, verbose: self.verbose, narrator: EventNarrator::default() }
    }

    /// The next events, each with what it was given, and how the session stands.
    fn read(
        &self,
        store: &mut SqliteStore,
        after: u64,
        limit: usize,
    ) -> Result<(Vec<EventWithInput>, SessionHead), CommandError> {
        let mut view = store.view()?;
        let Some(session) = view.session(&self.session)? else {
            let message = format!("there is no session `{}`", self.session);
            return Err(Rejection::new(Code::NoSession, message).into());
        };
        let mut events = Vec::new();
        for event in view.events(session.key, after, limit)? {
            let given = if self.full { view.attachment(event.id)? } else { None };
            events.push((event, given));
        }
        Ok((events, session))
    }
}

/// Prints events in their order.
struct EventPrinter<'a> {
    output: CommandOutput,
    session: &'a str,
    verbose: bool,
    narrator: EventNarrator,
}

impl EventPrinter<'_> {
    fn document(&mut self, event: &EventRow, given: Option<&str>) -> Json {
        let data: Json = serde_json::from_str(&event.data).unwrap_or_else(|_| Json::String(event.data.clone()));
        let mut document = json!({
            "seq": event.seq,
            "kind": event.kind,
            "at": rfc3339(event.at),
            "hash": event.hash.to_string(),
            "prev": event.prev.to_string(),
            "data": data,
        });
        if let Ok(read) = serde_json::from_str::<Event>(&event.data)
            && let (Json::Object(fields), Some(document)) =
                (self.narrator.record(&read).fields(self.session), document.as_object_mut())
        {
            document.extend(fields);
            self.narrator.learn(&read);
        }
        if let Some(given) = given {
            document["given"] = serde_json::from_str(given).unwrap_or_else(|_| Json::String(given.to_owned()));
        }
        document
    }

    fn tell(&mut self, event: &EventRow, given: Option<&str>) -> Result<(), CommandError> {
        if self.output.json {
            let document = self.document(event, given);
            return self.output.data(&format!("{}\n", sanitise::json(&document.to_string())));
        }
        let mut text = TerminalText::default();
        let at = rfc3339(event.at);
        let time = at.get(..19).unwrap_or(&at).replace('T', " ");
        text.put(format_args!("{:>5}  {time}  ", event.seq));
        match serde_json::from_str::<Event>(&event.data) {
            Ok(read) => self.tell_event(&mut text, &read),
            Err(_) => text.line(format_args!("{} (cannot be read)", sanitise::line(&event.kind))),
        }
        if let Some(given) = given {
            text.block(BELOW, given);
        }
        self.output.text(&text)
    }

    fn tell_event(&mut self, text: &mut TerminalText, event: &Event) {
        let sentence = self.narrator.sentence(&event.cause);
        self.narrator.learn(event);
        for (index, line) in wrap(&sanitise::line(&sentence), WIDTH - 2).iter().enumerate() {
            // A marked line cannot be taken for the decision that follows.
            text.push(if index == 0 { "" } else { BELOW });
            match (&event.cause, index) {
                (EventCause::Refused(_), 0) => text.paint(ALARM, line),
                _ => text.put(line),
            }
            text.push("\n");
        }
        if let EventCause::Refused(refusal) = &event.cause {
            for problem in further_problems(refusal) {
                for line in wrap(&sanitise::line(&problem), WIDTH - 2) {
                    text.push(BELOW);
                    text.line(line);
                }
            }
        }
        let Some(decision) = &event.decision else { return };
        let rule = if self.verbose { format!("  ({})", decision.rule) } else { String::new() };
        let follows = format!("{}: {}{rule}", decision.id, consequence(event, decision));
        for (index, line) in wrap(&sanitise::line(&follows), WIDTH - 2).iter().enumerate() {
            text.push(INDENT);
            text.push(if index == 0 { "→ " } else { "  " });
            text.line(line);
        }
        // The log itself says under which exceptions a session was completed.
        let because = decision.because.iter().filter(|_| completes_session(event));
        for line in because.flat_map(|because| wrap(&sanitise::line(because), WIDTH - 2)) {
            text.push(BELOW);
            text.line(line);
        }
    }
}
