//! The history of each group, and of the session itself, in words: work, findings, obstacles, and how they were
//! settled.

use std::collections::BTreeMap;

use interlock_core::command::LossReason;
use interlock_core::event::{BlockerResolution, Event, EventCause, StateChange};
use interlock_core::handoff::ResponseKind;
use interlock_core::id::{AssignmentId, Name};
use interlock_core::naming::shown_person;
use interlock_core::state::{Finding, FindingStatus, GroupEnd};
use interlock_core::workflow::Workflow;
use serde_json::{Value as Json, json};

use crate::run_report::handoff_summary::{ending, nonempty_text, reason, summary};
use crate::run_report::markdown_text::{code, plain, short};
use crate::run_report::subject_index::SubjectIndex;

/// Something worth telling: who did it or what it is, and what there is to say.
#[derive(Debug)]
struct NarrativeEntry {
    what: String,
    words: String,
}

/// The history of one group, or of the session itself.
#[derive(Debug, Default)]
pub(super) struct GroupNarrative {
    /// The summary of its last author.
    done: Option<String>,
    turns: Vec<NarrativeEntry>,
}

/// The histories of all groups, collected from the event log.
#[derive(Default)]
pub(super) struct GroupNarratives {
    tales: BTreeMap<Option<Name>, GroupNarrative>,
    known: SubjectIndex,
}

impl GroupNarratives {
    pub(super) fn take(&mut self, group: Option<&Name>) -> GroupNarrative {
        self.tales.remove(&group.cloned()).unwrap_or_default()
    }

    pub(super) fn hear(&mut self, event: &Event, report: Option<&Json>, workflow: &Workflow) {
        event.changes.iter().for_each(|change| self.known.learn(change));
        self.caused(event, report, workflow);
        for change in &event.changes {
            self.changed(change, report);
        }
        if let Some(judgement) = event.decision.as_ref().and_then(|decision| decision.judgement.as_ref()) {
            let verdict = json!(judgement.verdict).as_str().unwrap_or_default().to_owned();
            let reasons: Vec<String> = judgement.reasons.iter().map(|reason| format!("; {}", reason.text)).collect();
            self.tell(None, "validator", format!("{verdict}{}", reasons.concat()));
        }
    }

    fn tell(&mut self, group: Option<&Name>, what: &str, words: impl Into<String>) {
        let turn = NarrativeEntry { what: what.to_owned(), words: words.into() };
        self.tales.entry(group.cloned()).or_default().turns.push(turn);
    }

    fn caused(&mut self, event: &Event, report: Option<&Json>, workflow: &Workflow) {
        match &event.cause {
            // The deferral has an entry of its own.
            EventCause::Reported { .. } if event.changes.iter().any(defers) => {}
            EventCause::Reported { assignment, status, .. } => {
                let why = event.decision.as_ref().and_then(|decision| reason(&event.cause, decision, report));
                self.reported(*assignment, (status, why), report, workflow);
            }
            EventCause::Lost { assignment, status, note } => {
                let Some((role, group)) = self.known.assignment(*assignment) else { return };
                let what = if **status == *LossReason::FalseClaim.status() { "false claim" } else { "lost attempt" };
                let note = note.as_deref().map(short).unwrap_or_default();
                self.tell(group.as_ref(), what, format!("{role} ({status}): {note}"));
            }
            EventCause::Merged { assignment, status, .. } => {
                let group = self.known.assignment(*assignment).and_then(|(_, group)| group);
                let files = report.and_then(|report| report.get("conflicting_files")).and_then(nonempty_text);
                let tests = report.and_then(|report| report.get("failing_tests")).and_then(nonempty_text);
                match (files, tests) {
                    (Some(files), _) => self.tell(group.as_ref(), "conflict", format!("{status} in {files}")),
                    (None, Some(tests)) => self.tell(group.as_ref(), "merge", format!("{status}: {tests} fails")),
                    (None, None) => self.tell(group.as_ref(), "merge", status.to_string()),
                }
            }
            EventCause::GateFinished { run, gate, passed, output, .. } => {
                let group = self.known.group_of_gate(*run);
                let words = if *passed { "passed".to_owned() } else { format!("failed: {}", ending(output)) };
                self.tell(group.as_ref(), "gate", format!("{gate} {words}"));
            }
            EventCause::Answered { question, option, text, by } => {
                let group = self.known.group_of_question(*question);
                let answer: Vec<&str> = [option, text].into_iter().flatten().map(|word| word.as_str()).collect();
                self.tell(group.as_ref(), "answer", format!("{by}: {}", answer.join(", "), by = shown_person(by)));
            }
            EventCause::Overridden { group, to, why, by } => {
                self.tell(Some(group), "override", format!("{by} gave it to {to}: {why}", by = shown_person(by)));
            }
            EventCause::Waived { group, evidence, why, by } => {
                self.tell(
                    Some(group),
                    "waiver",
                    format!("{by} waived {evidence} for this tree: {why}", by = shown_person(by)),
                );
            }
            EventCause::Accepted { group, by } => {
                self.tell(Some(group), "accepted", format!("by {by}", by = shown_person(by)));
            }
            _ => {}
        }
    }

    /// The words of an author describe the work done. The words of other roles are their opinion of it.
    fn reported(
        &mut self,
        assignment: AssignmentId,
        (status, why): (&Name, Option<String>),
        report: Option<&Json>,
        workflow: &Workflow,
    ) {
        let Some((role, group)) = self.known.assignment(assignment) else { return };
        if report.is_some_and(|report| report.get("blocked_reason").is_some()) {
            return;
        }
        if workflow.role_named(&role).is_none_or(|ix| !workflow.role(ix).author) {
            let why = why.map(|why| format!(": {why}")).unwrap_or_default();
            self.tell(group.as_ref(), &role, format!("{status}{why}"));
        } else if let Some(words) = report.and_then(summary) {
            self.tales.entry(group).or_default().done = Some(format!("{role}: {words}"));
        }
    }

    fn changed(&mut self, change: &StateChange, report: Option<&Json>) {
        match change {
            StateChange::Blocked { group, role, reason, .. } => {
                let reason = reason.as_deref().map(|reason| format!(" ({reason})")).unwrap_or_default();
                let words = report.and_then(summary).map(|words| format!(": {words}")).unwrap_or_default();
                self.tell(group.as_ref(), "blocked", format!("{role}{reason}{words}"));
            }
            StateChange::Unblocked { group, role, by, .. } => {
                let how = match by {
                    BlockerResolution::Guidance => "by guidance",
                    BlockerResolution::Approval => "by an approval",
                    BlockerResolution::Rework => "by assigning the work again",
                    BlockerResolution::Person => "by a person",
                };
                self.tell(group.as_ref(), "unblocked", format!("{role}, {how}"));
            }
            StateChange::TestsFailing { group, tests } if !tests.is_empty() => {
                self.tell(Some(group), "failing tests", tests.join("; "));
            }
            StateChange::Asked { group, text, .. } => self.tell(group.as_ref(), "question", text.to_string()),
            StateChange::GroupEnded { group, end: GroupEnd::Deferred { why, by, .. } } => {
                self.tell(Some(group), "deferred", format!("by {by}: {why}", by = shown_person(by)));
            }
            StateChange::GroupEnded { group, end: GroupEnd::Cancelled { by } } => {
                self.tell(Some(group), "cancelled", format!("by {by}", by = shown_person(by)));
            }
            StateChange::DeferralNamed { group, by } => {
                self.tell(Some(group), "acknowledged", format!("by {by}", by = shown_person(by)));
            }
            StateChange::Noted { group, note } => self.tell(Some(group), "note", note.to_string()),
            _ => {}
        }
    }
}

fn defers(change: &StateChange) -> bool {
    matches!(change, StateChange::GroupEnded { end: GroupEnd::Deferred { .. }, .. })
}

impl GroupNarrative {
    pub(super) fn json(&self, findings: &[Finding]) -> Json {
        let turns: Vec<Json> =
            self.turns.iter().map(|turn| json!({ "what": turn.what, "words": turn.words })).collect();
        let findings: Vec<Json> = findings
            .iter()
            .map(|found| {
                json!({ "id": found.id, "title": found.title, "location": found.location, "raised_by": found.raised_by,
                    "severity": found.severity, "blocking": found.blocking, "outcome": outcome(found) })
            })
            .collect();
        json!({ "done": self.done, "happened": turns, "findings": findings })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.done.is_none() && self.turns.is_empty()
    }

    pub(super) fn markdown(&self, findings: &[Finding]) -> String {
        let mut text = String::new();
        if let Some(done) = &self.done {
            text.push_str(&format!("{}\n\n", plain(done)));
        }
        for turn in &self.turns {
            text.push_str(&format!("- **{}**: {}\n", plain(&turn.what), plain(&turn.words)));
        }
        if !findings.is_empty() {
            text.push_str("\n| finding | severity | where | by | outcome |\n|---|---|---|---|---|\n");
        }
        for found in findings {
            let severity = json!(found.severity).as_str().unwrap_or_default().to_lowercase();
            let severity = if found.blocking { format!("{severity}, blocking") } else { severity };
            let (what, place, by) =
                (plain(&format!("{}: {}", found.id, found.title)), code(&found.location), &found.raised_by);
            text.push_str(&format!("| {what} | {severity} | {place} | {} | {} |\n", plain(by), plain(&outcome(found))));
        }
        text
    }
}

/// The outcome of a finding, with the author's reason if it was rejected.
fn outcome(found: &Finding) -> String {
    let response = found.response.as_ref();
    let reason = response.and_then(|response| response.reason.as_deref()).map(|reason| format!(": {reason}"));
    let reason = reason.unwrap_or_default();
    match (found.status, response.map(|response| response.response)) {
        (FindingStatus::Open, Some(ResponseKind::Rejected)) => format!("open; the author rejects it{reason}"),
        (FindingStatus::Open, Some(ResponseKind::Deferred)) => format!("open; the author defers it{reason}"),
        (FindingStatus::Open, _) => "open".to_owned(),
        (FindingStatus::Closed, Some(ResponseKind::Fixed)) => "fixed".to_owned(),
        (FindingStatus::Closed, _) => "ended by its reviewer".to_owned(),
        (FindingStatus::Accepted, Some(ResponseKind::Rejected)) => {
            format!("rejected, and the rejection accepted{reason}")
        }
        (FindingStatus::Accepted, _) => "accepted as it is".to_owned(),
    }
}
