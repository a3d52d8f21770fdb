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
use crate::output::Output;
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
        let mut store = place.store()?;
        let (event, workflow) = self.find(&mut *store.view()?)?;
        let Some(decided) = &event.decision else { return Err(self.unknown().into()) };
        let text = decision::text(decided, &workflow);
        if !output.json {
            output.text(&text)?;
            return Ok(Exit::Done);
        }
        let rule = workflow.rules.iter().find(|rule| rule.id == decided.rule);
        let source = rule.map(|rule| json!({ "file": rule.place.file, "line": rule.place.line }));
        let facts: Map<String, Json> =
            decided.facts.iter().map(|(name, value)| (name.to_string(), json!(value))).collect();
        let plain = anstream::adapter::strip_str(text.as_str()).to_string();
        output.document(&json!({
            "decision": self.decision.to_string(),
            "rule": decided.rule,
            "source": source,
            "action": decided.action,
            "because": decided.because,
            "overrides": decided.overrides,
            "facts": facts,
            "text": plain,
        }))?;
        Ok(Exit::Done)
    }

    fn find(&self, view: &mut dyn View) -> Result<(Event, Workflow), Failure> {
        let DecisionRef { session, id } = &self.decision;
        let Some(session) = view.session(session)? else {
            return Err(Rejection::new(Code::NoSession, format!("there is no session `{session}`")).into());
        };
        let Some(row) = view.event_of_decision(session.key, id.0)? else { return Err(self.unknown().into()) };
        let event: Event = serde_json::from_str(&row.data)
            .map_err(|_| Failure::new(Exit::Refused, Code::ChainBroken, "the event of this decision cannot be read"))?;
        let pinned = view.workflow(session.workflow_hash)?;
        let workflow = pinned.and_then(|pinned| load_pinned(&pinned.sources).workflow);
        let altered = || Failure::new(Exit::Refused, Code::PinnedChanged, "the pinned workflow cannot be read");
        Ok((event, workflow.ok_or_else(altered)?))
    }

    fn unknown(&self) -> Rejection {
        Rejection::new(Code::NoDecision, format!("there is no decision {}", self.decision))
    }
}
