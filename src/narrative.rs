//! Events in words, and the routing record of each decision: session, group, agent, status, next agent, action, time.

use std::collections::BTreeMap;

use interlock_core::decision::Decision;
use interlock_core::event::{Cause, Change, Event};
use interlock_core::id::{AssignmentId, Digest, GateRunId, Name, QuestionId};
use serde_json::{Value as Json, json};

use crate::clock::rfc3339;

/// Knows who holds which assignment, and what questions and gates belong to, from the events that it has read.
#[derive(Default)]
pub(crate) struct Narrator {
    holders: BTreeMap<AssignmentId, (Name, Option<Name>)>,
    questions: BTreeMap<QuestionId, Option<Name>>,
    gates: BTreeMap<GateRunId, Option<Name>>,
    /// The workflow that the session was pinned to by then.
    pub(crate) workflow_hash: Option<Digest>,
}

/// What one event says about the routing of work.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct RoutingRecord {
    pub(crate) group: Option<Name>,
    /// The role that reported, the person who acted, or `interlock`.
    pub(crate) agent: Option<Name>,
    /// The status that was reported, or what was done instead of a report.
    pub(crate) status: Option<Name>,
    /// The roles that are asked next, each once.
    pub(crate) next_agent: Option<String>,
    pub(crate) action: Option<&'static str>,
}

impl RoutingRecord {
    /// The fields of the record, for every form that has one.
    pub(crate) fn fields(&self, session: &str) -> Json {
        json!({
            "session": session, "group": self.group, "agent": self.agent, "status": self.status,
            "next_agent": self.next_agent, "action": self.action,
        })
    }
}

impl Narrator {
    pub(crate) fn learn(&mut self, event: &Event) {
        if let Cause::Started { workflow_hash, .. } | Cause::Upgraded { workflow_hash, .. } = &event.cause {
            self.workflow_hash = Some(*workflow_hash);
        }
        for change in &event.changes {
            if let Change::Assigned { assignment, role, group, .. } = change {
                self.holders.insert(*assignment, (role.clone(), group.clone()));
            } else if let Change::Asked { question, group, .. } = change {
                self.questions.insert(*question, group.clone());
            } else if let Change::GateOpened { run, group, .. } = change {
                self.gates.insert(*run, group.clone());
            }
        }
    }

    pub(crate) fn record(&self, event: &Event) -> RoutingRecord {
        let (agent, status, group) = self.actor(&event.cause);
        let decision = event.decision.as_ref();
        RoutingRecord {
            group,
            agent,
            status,
            next_agent: decision.and_then(next_agents),
            action: decision.map(|decision| decision.action.name()),
        }
    }

    /// Who did what, on which group.
    fn actor(&self, cause: &Cause) -> (Option<Name>, Option<Name>, Option<Name>) {
        let held = |id: &AssignmentId| self.holders.get(id).cloned().map_or((None, None), |(who, on)| (Some(who), on));
        let word = |text: &str| Some(Name::new(text));
        let of = |id: &AssignmentId, status: Option<Name>| {
            let (role, group) = held(id);
            (role, status, group)
        };
        match cause {
            Cause::Started { .. } => (None, word("started"), None),
            Cause::Planned { by } => (Some(by.clone()), word("planned"), None),
            Cause::Claimed { assignment, .. } => of(assignment, word("claimed")),
            Cause::Reported { assignment, status, .. }
            | Cause::Lost { assignment, status, .. }
            | Cause::Merged { assignment, status } => of(assignment, Some(status.clone())),
            Cause::Answered { question, option, by, .. } => {
                let status = option.clone().or_else(|| word("answered"));
                (Some(by.clone()), status, self.questions.get(question).cloned().flatten())
            }
            Cause::GateFinished { run, passed, .. } => {
                let status = word(if *passed { "passed" } else { "failed" });
                (word("interlock"), status, self.gates.get(run).cloned().flatten())
            }
            Cause::Deferred { group, by, .. } => (Some(by.clone()), word("deferred"), Some(group.clone())),
            Cause::Acknowledged { group, by } => (Some(by.clone()), word("acknowledged"), Some(group.clone())),
            Cause::Overridden { group, by, .. } => (Some(by.clone()), word("overridden"), Some(group.clone())),
            Cause::Waived { group, by, .. } => (Some(by.clone()), word("waived"), Some(group.clone())),
            Cause::Accepted { group, by } => (Some(by.clone()), word("accepted"), Some(group.clone())),
            Cause::CompletionAsked { by } => (Some(by.clone()), word("completion_asked"), None),
            Cause::Cancelled { by } => (Some(by.clone()), word("cancelled"), None),
            Cause::LeaseExpired { assignment, .. } => of(assignment, word("lease_expired")),
            Cause::Upgraded { by, .. } => (Some(by.clone()), word("upgraded"), None),
            Cause::Allowed { by, .. } => (Some(by.clone()), word("allowed"), None),
            Cause::Sighted(sighting) => (Some(sighting.client.clone()), word("seen"), None),
            Cause::Refused(refusal) => (refusal.by.clone(), word("refused"), None),
        }
    }

    /// The holder of an assignment and its group, as people read it.
    pub(crate) fn holder(&self, id: AssignmentId) -> String {
        match self.holders.get(&id) {
            Some((role, Some(group))) => format!("{role} on {group}"),
            Some((role, None)) => role.to_string(),
            None => id.to_string(),
        }
    }

    /// The event in one sentence without a full stop.
    pub(crate) fn sentence(&self, cause: &Cause) -> String {
        match cause {
            Cause::Started { title, workflow, .. } => format!("session started with workflow {workflow}: {title}"),
            Cause::Planned { by } => format!("{by} added groups to the plan"),
            Cause::Claimed { assignment, via, .. } => {
                let via = via.as_ref().map_or(String::new(), |via| format!(" ({via})"));
                format!("{} started work on {assignment}{via}", self.holder(*assignment))
            }
            Cause::Reported { assignment, status, .. } => format!("{} reported {status}", self.holder(*assignment)),
            Cause::Lost { assignment, status, note } => {
                let note = note.as_ref().map_or(String::new(), |note| format!(": {note}"));
                format!("the attempt of {} was lost, {status}{note}", self.holder(*assignment))
            }
            Cause::Merged { assignment, status } => format!("merge for {}: {status}", self.holder(*assignment)),
            Cause::Answered { question, option, text, by } => {
                let answer = option.iter().chain(text).map(Name::as_str).collect::<Vec<_>>().join(": ");
                format!("{by} answered {question}: {answer}")
            }
            Cause::GateFinished { gate, passed, .. } => {
                format!("gate {gate} {}", if *passed { "passed" } else { "failed" })
            }
            Cause::Deferred { group, why, by } => format!("{by} deferred {group}: {why}"),
            Cause::Acknowledged { group, by } => format!("{by} acknowledged that {group} is deferred"),
            Cause::Overridden { group, to, why, by } => format!("{by} gave {group} to {to}: {why}"),
            Cause::Waived { group, evidence, why, by } => {
                format!("{by} waived {evidence} for this tree of {group}: {why}")
            }
            Cause::Accepted { group, by } => format!("{by} accepted {group}"),
            Cause::CompletionAsked { by } => format!("{by} asked for completion"),
            Cause::Cancelled { by } => format!("{by} cancelled the session"),
            Cause::LeaseExpired { assignment, holder_gone: true } => {
                format!("{} was cut short; {assignment} can be claimed again", self.holder(*assignment))
            }
            Cause::LeaseExpired { assignment, .. } => format!("{} ran out of time", self.holder(*assignment)),
            Cause::Upgraded { workflow, by, .. } => format!("{by} moved the session to workflow {workflow}"),
            Cause::Allowed { paths, by } => {
                let paths: Vec<&str> = paths.iter().map(Name::as_str).collect();
                format!("{by} allowed protected paths: {}", paths.join(", "))
            }
            Cause::Sighted(sighting) => format!("hook {} of {} was seen", sighting.hook, sighting.client),
            Cause::Refused(refusal) => {
                let by = refusal.by.as_ref().map_or(String::new(), |by| format!(" by {by}"));
                let about = refusal.about.as_ref().map_or(String::new(), |about| format!(" for {about}"));
                format!("refused {}: {}{by}{about}: {}", refusal.code, refusal.command, refusal.message)
            }
        }
    }
}

/// What follows a decision, in a few words.
pub(crate) fn consequence(decision: &Decision) -> String {
    let mut words = vec![decision.action.name().to_owned()];
    words.extend(decision.judgement.as_ref().map(|judgement| {
        let verdict = format!("{:?}", judgement.verdict).to_uppercase();
        if decision.next.is_empty() { verdict } else { format!("{verdict}, then") }
    }));
    let targets: Vec<String> = decision
        .next
        .iter()
        .map(|next| match &next.group {
            Some(group) => format!("{} on {group}", next.role),
            None => next.role.to_string(),
        })
        .collect();
    words.extend((!targets.is_empty()).then(|| targets.join(", ")));
    words.extend(decision.gate.as_ref().map(|run| run.gate.to_string()));
    words.extend(decision.question.as_ref().map(|put| format!("a person ({}, {})", put.question, put.name)));
    words.extend(decision.escalated.then(|| "(escalated)".to_owned()));
    words.join(" ")
}

/// Each role once, in the order of the decision.
fn next_agents(decision: &Decision) -> Option<String> {
    let mut roles: Vec<&str> = Vec::new();
    for next in &decision.next {
        if !roles.contains(&next.role.as_str()) {
            roles.push(&next.role);
        }
    }
    (!roles.is_empty()).then(|| roles.join(", "))
}

/// The record of one decision, as `decisions --json` lists it.
pub(crate) fn decision_json(session: &str, event: &Event, record: &RoutingRecord) -> Option<Json> {
    let decision = event.decision.as_ref()?;
    let mut document = record.fields(session);
    document["decision"] = json!(format!("{session}.{}", decision.id));
    document["rule"] = json!(decision.rule);
    document["at"] = json!(rfc3339(event.at));
    Some(document)
}
