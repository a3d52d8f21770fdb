//! `interlock watch`

use std::thread;
use std::time::Duration;

use clap::Args;
use interlock_core::decision::Decision;
use interlock_core::event::{Event, EventCause};
use interlock_core::id::Name;
use interlock_core::naming::shown_person;
use interlock_core::state::SessionStatus;
use serde_json::{Value as Json, json};

use crate::commands::examples;
use interlock_app::context::AppContext;
use interlock_app::error::CommandResult;
use interlock_app::error::{CommandError, CommandExit};
use interlock_app::narrative::EventNarrator;
use interlock_app::output::{CommandOutput, print_diagnostics};
use interlock_engine::Engine;
use interlock_system::clock::rfc3339;
use interlock_system::sanitise;
use interlock_system::text::{ALARM, HEADING, NAME, TerminalText};

/// How often news are looked for.
const PAUSE: Duration = Duration::from_millis(100);

/// Follow a session: each decision, and each shortcut that was refused, as it happens
///
/// For a second terminal beside a client whose model orchestrates. Without a session it waits for the next one that is
/// under way. Ends with the session, and says then what was watched. With --json, one line of JSON for each.
#[derive(Args)]
#[command(after_help = examples!(
    "interlock watch                       # whatever is under way, or starts next"
    "interlock watch add-login-4f2k --json"
))]
pub(crate) struct WatchCommand {
    #[arg(value_name = "SESSION")]
    session: Option<String>,
}

impl WatchCommand {
    pub(crate) fn run(&self, output: CommandOutput, place: &AppContext) -> CommandResult {
        let mut engine = place.engine()?;
        let session = match &self.session {
            Some(session) => session.clone(),
            None => under_way(&mut engine, output)?,
        };
        let key = engine.load_session(&session)?.0.key;
        let mut follower = SessionFollower { output, narrator: EventNarrator::default(), seq: 0 };
        loop {
            let events = engine.events_after(&session, key, follower.seq)?;
            for event in &events {
                follower.tell(event)?;
            }
            if !events.is_empty() {
                continue;
            }
            let (live, _) = engine.load_session(&session)?;
            if live.state.ended() && live.state.seq == follower.seq {
                follower.end(live.state.status, live.state.watch.statement().as_deref())?;
                return Ok(CommandExit::Done);
            }
            thread::sleep(PAUSE);
        }
    }
}

/// The newest session that has not ended, once there is one.
fn under_way(engine: &mut Engine, output: CommandOutput) -> Result<String, CommandError> {
    let mut told = false;
    loop {
        let newest = engine.store().view()?.sessions_under_way(1)?.pop();
        if let Some(session) = newest {
            return Ok(session.id.to_string());
        }
        if !told && !output.json {
            let mut text = TerminalText::default();
            text.push("no session is under way; waiting for one\n");
            print_diagnostics(&text);
            told = true;
        }
        thread::sleep(PAUSE);
    }
}

struct SessionFollower {
    output: CommandOutput,
    narrator: EventNarrator,
    seq: u64,
}

impl SessionFollower {
    fn tell(&mut self, event: &Event) -> Result<(), CommandError> {
        self.seq += 1;
        self.narrator.learn(event);
        if self.output.json {
            return self.line(&self.document(event));
        }
        let at = rfc3339(event.at);
        let mut text = TerminalText::default();
        text.put(format_args!("{}  ", at.get(11..19).unwrap_or(&at)));
        match &event.cause {
            EventCause::Refused(refusal) => {
                text.paint(ALARM, "refused");
                let by = refusal.by.as_ref().map_or(String::new(), |by| format!("{by}, ", by = shown_person(by)));
                let message = sanitise::line(&refusal.message);
                text.line(format_args!("  {}: {message} ({}{})", refusal.code, sanitise::line(&by), refusal.command));
            }
            cause => {
                text.put(sanitise::line(&self.narrator.sentence(cause)));
                if let Some(decision) = &event.decision {
                    decided(&mut text, decision);
                }
                text.push("\n");
            }
        }
        self.output.text(&text)
    }

    fn document(&self, event: &Event) -> Json {
        let mut document = json!({ "seq": self.seq, "at": rfc3339(event.at), "kind": event.cause.kind() });
        match &event.cause {
            EventCause::Refused(refusal) => document["refused"] = json!(refusal),
            cause => document["happened"] = json!(sanitise::line(&self.narrator.sentence(cause))),
        }
        if let Some(decision) = &event.decision {
            let next: Vec<&Name> = decision.next.iter().map(|next| &next.role).collect();
            document["decision"] = json!({ "id": decision.id.to_string(), "action": decision.action.name(), "rule": decision.rule, "next": next });
        }
        document
    }

    fn line(&self, document: &Json) -> Result<(), CommandError> {
        self.output.data(&format!("{}\n", sanitise::json(&document.to_string())))
    }

    /// The last line: how it ended, and what was watched.
    fn end(&self, status: SessionStatus, statement: Option<&str>) -> Result<(), CommandError> {
        if self.output.json {
            return self
                .line(&json!({ "seq": self.seq, "kind": "ended", "status": status.name(), "watched": statement }));
        }
        let mut text = TerminalText::default();
        text.paint(HEADING, status.name());
        text.push("\n");
        if let Some(statement) = statement {
            text.line(sanitise::line(statement));
        }
        self.output.text(&text)
    }
}

/// The decision, and the rule that made it.
fn decided(text: &mut TerminalText, decision: &Decision) {
    text.push("  → ");
    text.paint(NAME, decision.action.name());
    let mut roles: Vec<&str> = decision.next.iter().map(|next| next.role.as_str()).collect();
    roles.dedup();
    if !roles.is_empty() {
        text.put(format_args!(" {}", roles.join(", ")));
    }
    if let Some(put) = &decision.question {
        text.put(format_args!(" {}", put.name));
    }
    if let Some(judgement) = &decision.judgement {
        text.put(format_args!(" {:?}", judgement.verdict));
    }
    text.put(format_args!("  ({}, {})", decision.id, decision.rule));
}
