//! `interlock watch`

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::thread;
use std::time::Duration;

use clap::Args;
use interlock_core::decision::Decision;
use interlock_core::event::{Cause, Change, Event};
use interlock_core::id::{AssignmentId, Name};
use interlock_core::state::SessionStatus;
use serde_json::{Value as Json, json};

use crate::cli::place::Place;
use crate::cli::{Ending, examples};
use crate::clock::rfc3339;
use crate::engine::Engine;
use crate::failure::{Exit, Failure};
use crate::output::{ALARM, HEADING, NAME, Output, Text, complain};
use crate::sanitise;

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
pub(crate) struct Watch {
    #[arg(value_name = "SESSION")]
    session: Option<String>,
}

impl Watch {
    pub(crate) fn run(&self, output: Output, place: &Place) -> Ending {
        let mut engine = place.engine()?;
        let session = match &self.session {
            Some(session) => session.clone(),
            None => under_way(&mut engine, output)?,
        };
        let key = engine.look(&session)?.0.key;
        let mut follower = Follower { output, roles: BTreeMap::new(), seq: 0 };
        loop {
            let events = engine.events_after(&session, key, follower.seq)?;
            for event in &events {
                follower.tell(event)?;
            }
            if !events.is_empty() {
                continue;
            }
            let (live, _) = engine.look(&session)?;
            if live.state.ended() && live.state.seq == follower.seq {
                follower.end(live.state.status, live.state.watch.statement().as_deref())?;
                return Ok(Exit::Done);
            }
            thread::sleep(PAUSE);
        }
    }
}

/// The newest session that has not ended, once there is one.
fn under_way(engine: &mut Engine, output: Output) -> Result<String, Failure> {
    let mut told = false;
    loop {
        let newest = engine.store().view()?.sessions_under_way(1)?.pop();
        if let Some(session) = newest {
            return Ok(session.id.to_string());
        }
        if !told && !output.json {
            let mut text = Text::default();
            text.push("no session is under way; waiting for one\n");
            complain(&text);
            told = true;
        }
        thread::sleep(PAUSE);
    }
}

struct Follower {
    output: Output,
    /// Who has which assignment, and on which group.
    roles: BTreeMap<AssignmentId, (Name, Option<Name>)>,
    seq: u64,
}

impl Follower {
    fn tell(&mut self, event: &Event) -> Result<(), Failure> {
        self.seq += 1;
        for change in &event.changes {
            if let Change::Assigned { assignment, role, group, .. } = change {
                self.roles.insert(*assignment, (role.clone(), group.clone()));
            }
        }
        if self.output.json {
            return self.line(&self.document(event));
        }
        let at = rfc3339(event.at);
        let mut text = Text::default();
        let _ = write!(text, "{}  ", at.get(11..19).unwrap_or(&at));
        match &event.cause {
            Cause::Refused(refusal) => {
                text.paint(ALARM, "refused");
                let by = refusal.by.as_ref().map_or(String::new(), |by| format!("{by}, "));
                let _ = writeln!(
                    text,
                    "  {}: {} ({by}{})",
                    refusal.code,
                    sanitise::line(&refusal.message),
                    refusal.command
                );
            }
            cause => {
                text.push(&self.happened(cause));
                if let Some(decision) = &event.decision {
                    decided(&mut text, decision);
                }
                text.push("\n");
            }
        }
        self.output.text(&text)
    }

    fn who(&self, id: AssignmentId) -> String {
        match self.roles.get(&id) {
            Some((role, Some(group))) => format!("{role} on {group}"),
            Some((role, None)) => role.to_string(),
            None => id.to_string(),
        }
    }

    /// What has happened, in a few words.
    fn happened(&self, cause: &Cause) -> String {
        let words = match cause {
            Cause::Started { title, .. } => format!("started: {title}"),
            Cause::Planned { by } => format!("{by} has added to the plan"),
            Cause::Claimed { assignment, via, .. } => {
                let via = via.as_ref().map_or(String::new(), |via| format!(" ({via})"));
                format!("{} is at work{via}", self.who(*assignment))
            }
            Cause::Reported { assignment, status, .. } => format!("{} reports {status}", self.who(*assignment)),
            Cause::Lost { assignment, status, .. } => format!("{} is lost: {status}", self.who(*assignment)),
            Cause::Merged { assignment, status } => format!("merge for {}: {status}", self.who(*assignment)),
            Cause::Answered { option, text, by, .. } => {
                let said = option.iter().chain(text).map(|said| said.as_str()).collect::<Vec<_>>().join(": ");
                format!("{by} answers: {said}")
            }
            Cause::GateFinished { gate, passed, .. } => {
                format!("gate {gate} has {}", if *passed { "passed" } else { "failed" })
            }
            Cause::Deferred { group, by, .. } => format!("{by} defers {group}"),
            Cause::Acknowledged { group, by } => format!("{by} acknowledges that {group} is deferred"),
            Cause::Overridden { group, to, by, .. } => format!("{by} sends {group} to {to}"),
            Cause::CompletionAsked { by } => format!("{by} asks for the end"),
            Cause::Cancelled { by } => format!("{by} cancels"),
            Cause::LeaseExpired { assignment, holder_gone: true } => {
                format!("{} was cut short, and is free again", self.who(*assignment))
            }
            Cause::LeaseExpired { assignment, .. } => format!("{} has run out of time", self.who(*assignment)),
            Cause::Upgraded { workflow, by, .. } => format!("{by} moves the session to {workflow}"),
            Cause::Sighted(sighting) => format!("hook {} of {} was seen", sighting.hook, sighting.client),
            Cause::Refused(refusal) => format!("refused {}", refusal.code),
        };
        sanitise::line(&words).into_owned()
    }

    fn document(&self, event: &Event) -> Json {
        let mut document = json!({ "seq": self.seq, "at": rfc3339(event.at), "kind": event.cause.kind() });
        match &event.cause {
            Cause::Refused(refusal) => document["refused"] = json!(refusal),
            cause => document["happened"] = json!(self.happened(cause)),
        }
        if let Some(decision) = &event.decision {
            let next: Vec<&Name> = decision.next.iter().map(|next| &next.role).collect();
            document["decision"] = json!({ "id": decision.id.to_string(), "action": decision.action.name(), "rule": decision.rule, "next": next });
        }
        document
    }

    fn line(&self, document: &Json) -> Result<(), Failure> {
        self.output.data(&format!("{}\n", sanitise::json(&document.to_string())))
    }

    /// The last line: how it ended, and what was watched.
    fn end(&self, status: SessionStatus, statement: Option<&str>) -> Result<(), Failure> {
        if self.output.json {
            return self
                .line(&json!({ "seq": self.seq, "kind": "ended", "status": status.name(), "watched": statement }));
        }
        let mut text = Text::default();
        text.paint(HEADING, status.name());
        text.push("\n");
        if let Some(statement) = statement {
            let _ = writeln!(text, "{statement}");
        }
        self.output.text(&text)
    }
}

/// What was decided, and by which rule.
fn decided(text: &mut Text, decision: &Decision) {
    text.push("  → ");
    text.paint(NAME, decision.action.name());
    let mut roles: Vec<&str> = decision.next.iter().map(|next| next.role.as_str()).collect();
    roles.dedup();
    if !roles.is_empty() {
        let _ = write!(text, " {}", roles.join(", "));
    }
    if let Some(put) = &decision.question {
        let _ = write!(text, " {}", put.name);
    }
    if let Some(judgement) = &decision.judgement {
        let _ = write!(text, " {:?}", judgement.verdict);
    }
    let _ = write!(text, "  ({}, {})", decision.id, decision.rule);
}
