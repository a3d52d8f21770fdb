//! `interlock why`

use clap::Args;
use interlock_core::code::Code;
use interlock_core::event::Event;
use interlock_core::rejection::Rejection;
use interlock_core::workflow::{Workflow, load_pinned};
use serde_json::{Map, Value as Json, json};

use crate::cli::place::Place;
use crate::cli::{Ending, examples};
use crate::decision;
use crate::engine::DecisionRef;
use crate::failure::{Exit, Failure};
use crate::output::{Output, Text};
use crate::store::{Store as _, View};

/// Explain a decision: the rule that made it, what was overridden, and the facts that were read
///
/// The rule is named with its line in the workflow that the session is pinned to. `interlock log` lists the decisions.
#[derive(Args)]
#[command(after_help = examples!("interlock why add-login-4f2k.d12"))]
pub(crate) struct Why {
    #[arg(value_name = "DECISION", value_parser = DecisionRef::parse)]
    decision: DecisionRef,
}

impl Why {
    pub(crate) fn run(&self, output: Output, place: &Place) -> Ending {
        let (document, text) = explained(place, &self.decision)?;
        if output.json {
            output.document(&document)?;
        } else {
            output.text(&text)?;
        }
        Ok(Exit::Done)
    }
}

/// A decision for scripts, and for people.
pub(crate) fn explained(place: &Place, reference: &DecisionRef) -> Result<(Json, Text), Failure> {
    let mut store = place.store()?;
    let (event, workflow) = find(&mut *store.view()?, reference)?;
    let Some(decided) = &event.decision else { return Err(unknown(reference).into()) };
    let text = decision::text(decided, &workflow);
    let rule = workflow.rules.iter().find(|rule| rule.id == decided.rule);
    let source = rule.map(|rule| json!({ "file": rule.place.file, "line": rule.place.line }));
    let facts: Map<String, Json> = decided.facts.iter().map(|(name, value)| (name.to_string(), json!(value))).collect();
    let plain = anstream::adapter::strip_str(text.as_str()).to_string();
    let document = json!({
        "decision": reference.to_string(),
        "rule": decided.rule,
        "source": source,
        "action": decided.action,
        "because": decided.because,
        "overrides": decided.overrides,
        "facts": facts,
        "text": plain,
    });
    Ok((document, text))
}

fn find(view: &mut dyn View, reference: &DecisionRef) -> Result<(Event, Workflow), Failure> {
    let DecisionRef { session, id } = reference;
    let Some(session) = view.session(session)? else {
        return Err(Rejection::new(Code::NoSession, format!("there is no session `{session}`")).into());
    };
    let Some(row) = view.event_of_decision(session.key, id.0)? else { return Err(unknown(reference).into()) };
    let event: Event = serde_json::from_str(&row.data)
        .map_err(|_| Failure::new(Exit::Refused, Code::ChainBroken, "the event of this decision cannot be read"))?;
    let pinned = view.workflow(session.workflow_hash)?;
    let workflow = pinned.and_then(|pinned| load_pinned(&pinned.sources).workflow);
    let altered = || Failure::new(Exit::Refused, Code::PinnedChanged, "the pinned workflow cannot be read");
    Ok((event, workflow.ok_or_else(altered)?))
}

fn unknown(reference: &DecisionRef) -> Rejection {
    Rejection::new(Code::NoDecision, format!("there is no decision {reference}"))
}
