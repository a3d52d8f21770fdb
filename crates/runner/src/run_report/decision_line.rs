//! Each decision of a session, from its event log: role or person, status, group, consequence and reason.

use interlock_core::decision::Decision;
use interlock_core::event::{Event, EventCause};
use interlock_core::id::Name;
use serde_json::{Value as Json, json};

use crate::run_report::handoff_summary::reason;
use crate::run_report::subject_index::SubjectIndex;
use crate::tui::said;

/// One decision.
pub(super) struct DecisionLine {
    pub(super) decision: String,
    pub(super) who: Option<String>,
    pub(super) group: Option<Name>,
    pub(super) what: String,
    pub(super) follows: String,
    pub(super) rule: Name,
    pub(super) because: Vec<Name>,
    /// Why the validator rejected.
    pub(super) reasons: Vec<Name>,
    /// The words of the person or agent that caused it, shortened.
    pub(super) said: Option<String>,
}

impl DecisionLine {
    pub(super) fn json(&self) -> Json {
        json!({
            "decision": self.decision, "who": self.who, "group": self.group, "what": self.what,
            "follows": self.follows, "rule": self.rule, "because": self.because, "reasons": self.reasons,
            "said": self.said,
        })
    }

    /// The reason in words: of the workflow and Interlock, else of the person or agent that caused the decision.
    pub(super) fn why(&self) -> String {
        let given: Vec<&str> = self.because.iter().chain(&self.reasons).map(Name::as_str).collect();
        if given.is_empty() { self.said.clone().unwrap_or_default() } else { given.join("; ") }
    }
}

/// The decisions, collected from the event log.
#[derive(Default)]
pub(super) struct DecisionHistory {
    pub(super) all: Vec<DecisionLine>,
    /// How many commands were refused.
    pub(super) refusals: usize,
    known: SubjectIndex,
}

impl DecisionHistory {
    pub(super) fn hear(&mut self, event: &Event, report: Option<&Json>, session: &Name) {
        self.refusals += usize::from(matches!(event.cause, EventCause::Refused(_)));
        event.changes.iter().for_each(|change| self.known.learn(change));
        let Some(decision) = &event.decision else { return };
        let (who, group) = self.known.whose(&event.cause);
        let judgement = decision.judgement.as_ref();
        self.all.push(DecisionLine {
            decision: format!("{session}.{}", decision.id),
            who,
            group,
            what: said("", &event.cause).trim().to_owned(),
            follows: follows(decision),
            rule: decision.rule.clone(),
            because: decision.because.clone(),
            reasons: judgement.iter().flat_map(|judged| &judged.reasons).map(|reason| reason.text.clone()).collect(),
            said: reason(&event.cause, decision, report),
        });
    }
}

fn follows(decision: &Decision) -> String {
    let mut words = vec![decision.action.name().to_owned()];
    for next in &decision.next {
        let group = next.group.as_ref().map_or(String::new(), |group| format!(" on {group}"));
        words.push(format!("{}{group}", next.role));
    }
    words.extend(decision.question.as_ref().map(|put| put.name.to_string()));
    words.extend(decision.gate.as_ref().map(|gate| gate.gate.to_string()));
    words.extend(decision.judgement.as_ref().map(|judged| format!("{:?}", judged.verdict).to_uppercase()));
    words.join(" ")
}
