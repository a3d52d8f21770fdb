//! Events in words, and the routing record of each decision: session, group, agent, status, next agent, action, time.

use std::collections::BTreeMap;

use interlock_core::decision::{Decision, DecisionAction};
use interlock_core::event::{Event, EventCause, RefusedCommand, RefusedProblem, StateChange};
use interlock_core::id::{AssignmentId, Digest, GateRunId, Name, QuestionId};
use interlock_core::naming::{shown_person, shown_status};
use interlock_core::state::{GroupEnd, SessionStatus};
use serde_json::{Value as Json, json};

use interlock_system::clock::rfc3339;

/// Characters of a gate's output that a sentence quotes.
const LONGEST_OUTPUT: usize = 160;
/// Files in conflict that a sentence names.
const MOST_CONFLICTS: usize = 8;

/// Knows who holds which assignment, and what questions and gates belong to, from the events that it has read.
#[derive(Default)]
pub struct EventNarrator {
    holders: BTreeMap<AssignmentId, (Name, Option<Name>)>,
    /// The name of each question, and its group.
    questions: BTreeMap<QuestionId, (Name, Option<Name>)>,
    gates: BTreeMap<GateRunId, (Name, Option<Name>)>,
    /// The workflow that the session was pinned to by then.
    pub(crate) workflow_hash: Option<Digest>,
}

/// The routing of work by one event.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RoutingRecord {
    pub group: Option<Name>,
    /// The role that reported, the person who acted, or `interlock`.
    pub agent: Option<Name>,
    /// The status that was reported, or what was done instead of a report.
    pub status: Option<Name>,
    /// The roles that are asked next, each once.
    pub(crate) next_agent: Option<String>,
    pub(crate) action: Option<&'static str>,
}

impl RoutingRecord {
    /// The fields of the record, for every form that has one.
    pub fn fields(&self, session: &str) -> Json {
        json!({
            "session": session, "group": self.group, "agent": self.agent, "status": self.status,
            "next_agent": self.next_agent, "action": self.action,
        })
    }
}

impl EventNarrator {
    pub fn learn(&mut self, event: &Event) {
        if let EventCause::Started { workflow_hash, .. } | EventCause::Upgraded { workflow_hash, .. } = &event.cause {
            self.workflow_hash = Some(*workflow_hash);
        }
        for change in &event.changes {
            if let StateChange::Assigned { assignment, role, group, .. } = change {
                self.holders.insert(*assignment, (role.clone(), group.clone()));
            } else if let StateChange::Asked { question, name, group, .. } = change {
                self.questions.insert(*question, (name.clone(), group.clone()));
            } else if let StateChange::GateOpened { run, gate, group, .. } = change {
                self.gates.insert(*run, (gate.clone(), group.clone()));
            }
        }
    }

    pub fn record(&self, event: &Event) -> RoutingRecord {
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

    /// The role or person that acted, its status, and the group.
    fn actor(&self, cause: &EventCause) -> (Option<Name>, Option<Name>, Option<Name>) {
        let held = |id: &AssignmentId| self.holders.get(id).cloned().map_or((None, None), |(who, on)| (Some(who), on));
        let word = |text: &str| Some(Name::new(text));
        let of = |id: &AssignmentId, status: Option<Name>| {
            let (role, group) = held(id);
            (role, status, group)
        };
        match cause {
            EventCause::Started { .. } => (None, word("started"), None),
            EventCause::Planned { by } => (Some(by.clone()), word("planned"), None),
            EventCause::Claimed { assignment, .. } => of(assignment, word("claimed")),
            EventCause::Reported { assignment, status, .. }
            | EventCause::Lost { assignment, status, .. }
            | EventCause::Merged { assignment, status, .. } => of(assignment, Some(status.clone())),
            EventCause::Answered { question, option, by, .. } => {
                let status = option.clone().or_else(|| word("answered"));
                (Some(by.clone()), status, self.questions.get(question).and_then(|(_, group)| group.clone()))
            }
            EventCause::GateFinished { run, passed, .. } => {
                let status = word(if *passed { "passed" } else { "failed" });
                (word("interlock"), status, self.gates.get(run).and_then(|(_, group)| group.clone()))
            }
            EventCause::Deferred { group, by, .. } => (Some(by.clone()), word("deferred"), Some(group.clone())),
            EventCause::Acknowledged { group, by } => (Some(by.clone()), word("acknowledged"), Some(group.clone())),
            EventCause::Overridden { group, by, .. } => (Some(by.clone()), word("overridden"), Some(group.clone())),
            EventCause::Waived { group, by, .. } => (Some(by.clone()), word("waived"), Some(group.clone())),
            EventCause::Accepted { group, by } => (Some(by.clone()), word("accepted"), Some(group.clone())),
            EventCause::CompletionAsked { by } => (Some(by.clone()), word("completion_asked"), None),
            EventCause::Cancelled { by } => (Some(by.clone()), word("cancelled"), None),
            EventCause::LeaseExpired { assignment, .. } => of(assignment, word("lease_expired")),
            EventCause::Upgraded { by, .. } => (Some(by.clone()), word("upgraded"), None),
            EventCause::Allowed { by, .. } => (Some(by.clone()), word("allowed"), None),
            EventCause::Sighted(sighting) => (Some(sighting.client.clone()), word("seen"), None),
            EventCause::Refused(refusal) => self.refused_actor(refusal),
        }
    }

    /// The role that was refused, and the group: the holder of the assignment, where the refusal names one.
    fn refused_actor(&self, refusal: &RefusedCommand) -> (Option<Name>, Option<Name>, Option<Name>) {
        let status = Some(Name::new("refused"));
        let Some(about) = &refusal.about else { return (refusal.by.clone(), status, None) };
        if let Some((role, group)) = AssignmentId::parse(about).and_then(|id| self.holders.get(&id)) {
            return (refusal.by.clone().or_else(|| Some(role.clone())), status, group.clone());
        }
        let of_question = QuestionId::parse(about).and_then(|id| self.questions.get(&id));
        let of_gate = GateRunId::parse(about).and_then(|id| self.gates.get(&id));
        let group = match of_question.or(of_gate) {
            Some((_, group)) => group.clone(),
            None => self.is_group(about).then(|| about.clone()),
        };
        (refusal.by.clone(), status, group)
    }

    /// Is it a group that some assignment was for?
    fn is_group(&self, name: &Name) -> bool {
        self.holders.values().any(|(_, group)| group.as_ref() == Some(name))
    }

    /// The subject of a refusal, as people read it.
    fn subject(&self, about: &Name) -> String {
        let of = |(name, group): &(Name, Option<Name>)| match group {
            Some(group) => format!("{name} of {group}"),
            None => name.to_string(),
        };
        if let Some(id) = AssignmentId::parse(about).filter(|id| self.holders.contains_key(id)) {
            return self.holder(id);
        }
        let gate = GateRunId::parse(about).and_then(|id| self.gates.get(&id)).map(of);
        let question = QuestionId::parse(about).and_then(|id| self.questions.get(&id)).map(of);
        gate.or(question).unwrap_or_else(|| about.to_string())
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
    pub fn sentence(&self, cause: &EventCause) -> String {
        match cause {
            EventCause::Started { title, workflow, by, dropped, .. } => {
                let less: Vec<&str> = dropped.iter().map(Name::as_str).collect();
                let chosen = match by {
                    Some(by) if !less.is_empty() => {
                        format!(
                            "; {by} chose a workflow that demands less than the project's: {}",
                            less.join("; "),
                            by = shown_person(by)
                        )
                    }
                    Some(_) | None => String::new(),
                };
                format!("session started with workflow {workflow}: {title}{chosen}")
            }
            EventCause::Planned { by } => format!("{by} added groups to the plan", by = shown_person(by)),
            EventCause::Claimed { assignment, via, .. } => {
                let via = via.as_ref().map_or(String::new(), |via| format!(" ({via})"));
                format!("{} started work on {assignment}{via}", self.holder(*assignment))
            }
            EventCause::Reported { assignment, status, .. } => {
                format!("{} reported {}", self.holder(*assignment), shown_status(status))
            }
            EventCause::Lost { assignment, status, note } => {
                let note = note.as_ref().map_or(String::new(), |note| format!(": {note}"));
                format!("the attempt of {} was lost, {status}{note}", self.holder(*assignment))
            }
            EventCause::Merged { assignment, status, conflicts, .. } => {
                let files = conflicting_files(conflicts);
                match self.holders.get(assignment) {
                    Some((role, Some(group))) => format!("merge of {group} (work of {role}): {status}{files}"),
                    Some((role, None)) => format!("merge of the work of {role}: {status}{files}"),
                    None => format!("merge of {assignment}: {status}{files}"),
                }
            }
            EventCause::Answered { question, option, text, by } => {
                let answer = option.iter().chain(text).map(Name::as_str).collect::<Vec<_>>().join(": ");
                match self.questions.get(question) {
                    Some((name, Some(group))) => {
                        format!("{by} answered {name} for {group}: {answer}", by = shown_person(by))
                    }
                    Some((name, None)) => format!("{by} answered {name}: {answer}", by = shown_person(by)),
                    None => format!("{by} answered {question}: {answer}", by = shown_person(by)),
                }
            }
            EventCause::GateFinished { run, gate, passed, output, .. } => {
                let group = self.gates.get(run).and_then(|(_, group)| group.as_ref());
                let group = group.map_or(String::new(), |group| format!(" of {group}"));
                match passed {
                    true => format!("gate {gate}{group} passed"),
                    false => format!("gate {gate}{group} failed{}", failure_of(output)),
                }
            }
            EventCause::Deferred { group, why, by } => format!("{by} deferred {group}: {why}", by = shown_person(by)),
            EventCause::Acknowledged { group, by } => {
                format!("{by} acknowledged that {group} is deferred", by = shown_person(by))
            }
            EventCause::Overridden { group, to, why, by } => {
                format!("{by} moved {group} to {to}: {why}", by = shown_person(by))
            }
            EventCause::Waived { group, evidence, why, by } => {
                format!("{by} waived {evidence} for this tree of {group}: {why}", by = shown_person(by))
            }
            EventCause::Accepted { group, by } => format!("{by} accepted {group}", by = shown_person(by)),
            EventCause::CompletionAsked { by } => format!("{by} asked for completion", by = shown_person(by)),
            EventCause::Cancelled { by } => format!("{by} cancelled the session", by = shown_person(by)),
            EventCause::LeaseExpired { assignment, holder_gone: true } => {
                format!("{} was cut short; {assignment} can be claimed again", self.holder(*assignment))
            }
            EventCause::LeaseExpired { assignment, .. } => format!("{} ran out of time", self.holder(*assignment)),
            EventCause::Upgraded { workflow, workflow_hash, from, by, dropped } => {
                let short = |hash: &Digest| hash.to_string().get(..12).unwrap_or_default().to_owned();
                let (from, to) = (short(from), short(workflow_hash));
                let dropped: Vec<&str> = dropped.iter().map(Name::as_str).collect();
                let less = if dropped.is_empty() {
                    String::new()
                } else {
                    format!("; it demands less: {}", dropped.join("; "))
                };
                format!("{by} moved the session from {from} to workflow {workflow} {to}{less}", by = shown_person(by))
            }
            EventCause::Allowed { paths, by } => {
                let paths: Vec<&str> = paths.iter().map(Name::as_str).collect();
                format!("{by} allowed protected paths: {}", paths.join(", "), by = shown_person(by))
            }
            EventCause::Sighted(sighting) => format!("hook {} of {} was seen", sighting.hook, sighting.client),
            EventCause::Refused(refusal) => {
                format!("refused {}: {}: {}", refusal.code, self.attempt(refusal), refusal.message)
            }
        }
    }

    /// The refused action, with its role and its subject.
    pub(crate) fn attempt(&self, refusal: &RefusedCommand) -> String {
        let held = refusal.about.as_ref().and_then(|about| AssignmentId::parse(about));
        let held = held.filter(|id| refusal.command == "report" && self.holders.contains_key(id));
        if let Some(id) = held {
            let status = refusal.status.as_ref().map(|status| shown_status(status));
            return format!(
                "{} reported {}",
                self.holder(id),
                status.as_deref().unwrap_or("a handoff without a status")
            );
        }
        let by = refusal.by.as_ref().map_or(String::new(), |by| format!(" by {by}", by = shown_person(by)));
        let about = refusal.about.as_ref();
        let about = about.map_or(String::new(), |about| format!(" for {}", self.subject(about)));
        format!("{}{by}{about}", refusal.command)
    }
}

/// The problems of a refusal that its message does not name, each with its code.
pub fn further_problems(refusal: &RefusedCommand) -> Vec<String> {
    let named = |problem: &&RefusedProblem| problem.code == refusal.code && problem.message == refusal.message;
    let further = refusal.problems.iter().filter(|problem| !named(problem));
    further.map(|problem| format!("{}: {}", problem.code, problem.message)).collect()
}

/// The files in conflict. Of many, the first ones and the number of the others.
fn conflicting_files(files: &[Name]) -> String {
    let shown: Vec<&str> = files.iter().take(MOST_CONFLICTS).map(Name::as_str).collect();
    match files.len().saturating_sub(shown.len()) {
        0 if shown.is_empty() => String::new(),
        0 => format!(", in {}", shown.join(", ")),
        more => format!(", in {} and {more} more", shown.join(", ")),
    }
}

/// The command of a gate that failed, and its last line.
fn failure_of(output: &str) -> String {
    let lines = || output.lines().rev().map(str::trim).filter(|line| !line.is_empty());
    let command = lines().find_map(|line| line.strip_prefix("$ ")).map(|command| format!("`{command}`"));
    let last = lines().next().filter(|line| !line.starts_with("$ "));
    let last = last.map(|line| line.strip_prefix("failed: ").unwrap_or(line).to_owned());
    let short = |text: String| text.chars().take(LONGEST_OUTPUT).collect::<String>();
    command.into_iter().chain(last).map(short).fold(String::new(), |all, part| format!("{all}: {part}"))
}

/// The consequence of a decision, in a few words.
pub fn consequence(event: &Event, decision: &Decision) -> String {
    // A verdict says more than that nothing follows.
    let says_nothing = decision.judgement.is_some() && decision.action == DecisionAction::Wait;
    let mut words: Vec<String> = (!says_nothing).then(|| decision.action.name().to_owned()).into_iter().collect();
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
    words.extend(decision.question.as_ref().map(|put| format!("a person: {} ({})", put.name, put.question)));
    words.extend(decision.escalated.then(|| "(escalated)".to_owned()));
    words.extend(reached(&event.changes));
    words.join(" ")
}

/// Groups and the session, where they are completed or wait for a confirmation: the action alone does not say so.
fn reached(changes: &[StateChange]) -> Option<String> {
    let mut words: Vec<String> = Vec::new();
    for change in changes {
        if let StateChange::GroupEnded { group, end: GroupEnd::Completed } = change {
            words.push(format!("{group} is completed"));
        } else if let StateChange::AwaitsConfirmation { group } = change {
            words.push(format!("{group} awaits confirmation"));
        } else if let StateChange::Session { status: SessionStatus::Completed } = change {
            words.push("the session is completed".to_owned());
        }
    }
    (!words.is_empty()).then(|| format!("({})", words.join(", ")))
}

/// Does the event complete its session?
pub fn completes_session(event: &Event) -> bool {
    let completes = |change: &StateChange| matches!(change, StateChange::Session { status: SessionStatus::Completed });
    event.changes.iter().any(completes)
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
pub fn decision_json(session: &str, event: &Event, record: &RoutingRecord) -> Option<Json> {
    let decision = event.decision.as_ref()?;
    let mut document = record.fields(session);
    document["decision"] = json!(format!("{session}.{}", decision.id));
    document["rule"] = json!(decision.rule);
    document["at"] = json!(rfc3339(event.at));
    Some(document)
}

/// An event in one line, without what came before it.
pub fn summary(data: &Json) -> String {
    let cause = data["cause"].as_object().and_then(|cause| cause.values().next());
    let said = |name: &str| cause.and_then(|cause| cause.get(name)).and_then(Json::as_str).unwrap_or_default();
    let number = |name: &str| cause.and_then(|cause| cause.get(name)).and_then(Json::as_u64);
    let mut parts = Vec::new();
    parts.extend(number("assignment").map(|id| format!("a{id}")));
    parts.extend(number("question").map(|id| format!("q{id}")));
    for name in
        ["title", "group", "status", "command", "code", "option", "text", "why", "message", "by", "client", "hook"]
    {
        parts.extend(Some(said(name)).filter(|text| !text.is_empty()).map(|text| match name {
            "by" => shown_person(text).into_owned(),
            _ => text.to_owned(),
        }));
    }
    if let Some(action) = data["decision"]["action"].as_str() {
        let next = data["decision"]["next"].as_array();
        let roles: Vec<&str> = next.into_iter().flatten().filter_map(|next| next["role"].as_str()).collect();
        parts.push(format!("-> d{} {action} {}", data["decision"]["id"], roles.join(", ")).trim_end().to_owned());
    }
    parts.join("  ")
}
