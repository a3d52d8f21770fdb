//! `interlock log`

use std::fmt::Write as _;
use std::thread;
use std::time::Duration;

use clap::Args;
use interlock_core::code::Code;
use interlock_core::rejection::Rejection;
use serde_json::{Value as Json, json};

use crate::cli::place::Place;
use crate::cli::{Ending, examples};
use crate::clock::rfc3339;
use crate::failure::{Exit, Failure};
use crate::output::{NAME, Output, Text};
use crate::sanitise;
use crate::store::sqlite::Sqlite;
use crate::store::{EventRow, SessionHead, Store as _};

/// Events read at a time.
const BATCH: usize = 512;
/// How often a follower looks for news.
const PAUSE: Duration = Duration::from_millis(100);

/// Show the log of a session: every event, with its seal
///
/// Reports, decisions, answers, claims, and every command that was refused.
#[derive(Args)]
#[command(after_help = examples!(
    "interlock log add-login-4f2k"
    "interlock log add-login-4f2k --follow --json      # JSON Lines, until the session ends"
))]
pub(crate) struct Log {
    #[arg(value_name = "SESSION")]
    session: String,

    /// Goes on with what is added, until the session ends
    #[arg(long)]
    follow: bool,

    /// Adds what each event was given, whole: handoffs and the mission
    #[arg(long)]
    full: bool,
}

/// An event, and what it was given if that is wanted.
type Told = (EventRow, Option<String>);

impl Log {
    pub(crate) fn run(&self, output: Output, place: &Place) -> Ending {
        let mut store = place.store()?;
        if !self.follow && output.json {
            let (events, _) = self.read(&mut store, 0, usize::MAX)?;
            let events: Vec<Json> = events.iter().map(|(event, given)| json_of(event, given.as_deref())).collect();
            output.document(&json!({ "events": events }))?;
            return Ok(Exit::Done);
        }
        let mut seen = 0;
        loop {
            let (events, session) = self.read(&mut store, seen, BATCH)?;
            for (event, given) in &events {
                seen = event.seq;
                tell(output, event, given.as_deref())?;
            }
            let ended = matches!(session.status.as_str(), "completed" | "cancelled");
            if events.is_empty() && (!self.follow || ended) {
                return Ok(Exit::Done);
            }
            if events.is_empty() {
                thread::sleep(PAUSE);
            }
        }
    }

    /// The next events, each with what it was given, and how the session stands.
    fn read(&self, store: &mut Sqlite, after: u64, limit: usize) -> Result<(Vec<Told>, SessionHead), Failure> {
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

fn json_of(event: &EventRow, given: Option<&str>) -> Json {
    let data: Json = serde_json::from_str(&event.data).unwrap_or_else(|_| Json::String(event.data.clone()));
    let mut document = json!({
        "seq": event.seq,
        "kind": event.kind,
        "at": rfc3339(event.at),
        "hash": event.hash.to_string(),
        "prev": event.prev.to_string(),
        "data": data,
    });
    if let Some(given) = given {
        document["given"] = serde_json::from_str(given).unwrap_or_else(|_| Json::String(given.to_owned()));
    }
    document
}

fn tell(output: Output, event: &EventRow, given: Option<&str>) -> Result<(), Failure> {
    let document = json_of(event, given);
    if output.json {
        return output.data(&format!("{}\n", sanitise::json(&document.to_string())));
    }
    let mut text = Text::default();
    let _ = write!(text, "{:>5}  {}  ", event.seq, rfc3339(event.at));
    text.paint(NAME, format!("{:<16}", event.kind));
    let _ = writeln!(text, "  {}", summary(&document["data"]));
    output.text(&text)
}

/// An event in one line.
pub(crate) fn summary(data: &Json) -> String {
    let cause = data["cause"].as_object().and_then(|cause| cause.values().next());
    let said = |name: &str| cause.and_then(|cause| cause.get(name)).and_then(Json::as_str).unwrap_or_default();
    let number = |name: &str| cause.and_then(|cause| cause.get(name)).and_then(Json::as_u64);
    let mut parts = Vec::new();
    parts.extend(number("assignment").map(|id| format!("a{id}")));
    parts.extend(number("question").map(|id| format!("q{id}")));
    for name in
        ["title", "group", "status", "command", "code", "option", "text", "why", "message", "by", "client", "hook"]
    {
        parts.extend(Some(said(name)).filter(|text| !text.is_empty()).map(str::to_owned));
    }
    if let Some(action) = data["decision"]["action"].as_str() {
        let next = data["decision"]["next"].as_array();
        let roles: Vec<&str> = next.into_iter().flatten().filter_map(|next| next["role"].as_str()).collect();
        parts.push(format!("-> d{} {action} {}", data["decision"]["id"], roles.join(", ")).trim_end().to_owned());
    }
    parts.join("  ")
}
