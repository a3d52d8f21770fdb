//! The facts about each group that the manager has to decide on: blocker, attempts, approver and guidance.
//!
//! A report that ends the session confirms the groups whose facts its prompt showed. So these facts stand in a section
//! of their own, which is cut last, and [`AssignmentPrompt::confirmable`](crate::AssignmentPrompt) names the groups
//! that are left in it.

use interlock_core::decide::describe_completion_doubts;
use interlock_core::handoff::is_something;
use interlock_core::id::Name;
use interlock_core::state::{Group, GroupProgress, RecordKey};
use interlock_core::workflow::AssignmentTask;
use serde_json::Value as Json;

use crate::PromptContext;
use crate::data;
use crate::dossier::{DossierEntry, needs_decision};
use crate::entry::{at, first_characters};
use crate::section::{Section, SectionKind};

pub(super) const FACTS_HEADING: &str = "Groups to decide about";
/// Characters of one fact. The report below has all of it.
const LONGEST_FACT: usize = 240;
/// Blocked reports stated for each group, the latest ones.
const MOST_BLOCKERS: usize = 4;

impl PromptContext<'_> {
    pub(super) fn open_groups(&self, pieces: &mut Vec<Section>) {
        if self.assignment.group.is_some() {
            return;
        }
        let open = self.state.groups.iter().filter(|group| needs_decision(group));
        let facts: Vec<(&Group, String, bool)> = open.filter_map(|group| self.group_facts(group)).collect();
        if facts.is_empty() {
            return;
        }
        let text = facts.iter().map(|(_, text, _)| text.as_str()).collect::<Vec<_>>().join("\n");
        let mut piece = Section::data(SectionKind::OpenGroupFacts, FACTS_HEADING.to_owned(), text);
        let awaits = |group: &Group| group.progress == GroupProgress::AwaitingConfirmation;
        let complete = facts.into_iter().filter(|(group, _, complete)| *complete && awaits(group));
        piece.confirms = complete.map(|(group, text, _)| (group.id.clone(), text)).collect();
        pieces.push(piece);
    }

    /// The facts of one group, and whether they are complete: the record of its blocker may be missing in old sessions.
    fn group_facts<'g>(&self, group: &'g Group) -> Option<(&'g Group, String, bool)> {
        let blockers = self.blocker_lines(group);
        let doubts = describe_completion_doubts(group);
        if blockers.is_empty() && doubts.is_empty() {
            return None;
        }
        let complete = !blockers.is_empty() || !group.lane.ever_blocked;
        let mut lines = vec![format!("- {} [{}] {}", group.id, group.status().name(), data::line(&doubts))];
        match blockers.is_empty() {
            true => {
                let attempts = group.author.as_ref().map(|role| (role, group.lane.attempts_of(role)));
                let attempts = attempts.map(|(role, number)| format!("; attempts of {role}: {number}"));
                lines.push(format!("  blocker: none is recorded{}", attempts.unwrap_or_default()));
            }
            false => lines.extend(blockers),
        }
        lines.extend(self.guidance_lines(group));
        lines.push(self.approver_line(group));
        Some((group, lines.join("\n"), complete))
    }

    /// Current and superseded records of a group, oldest first.
    fn records_of<'b>(&'b self, group: &'b Group) -> Vec<&'b DossierEntry> {
        let all = self.dossier.entries.iter().chain(&self.dossier.superseded);
        let mut records: Vec<&DossierEntry> = all.filter(|entry| entry.group.as_ref() == Some(&group.id)).collect();
        records.sort_by_key(|entry| entry.decision);
        records
    }

    fn blocker_lines(&self, group: &Group) -> Vec<String> {
        let records = self.records_of(group);
        let blocked = records.iter().rev().filter(|entry| matches!(entry.key, RecordKey::Report { blocked: true, .. }));
        let mut lines = Vec::new();
        for (entry, handoff) in blocked.take(MOST_BLOCKERS).filter_map(|entry| Some((entry, entry.handoff()?))) {
            let Some((role, _)) = entry.reporter() else { continue };
            let reason = fact(handoff, "blocked_reason").map(|reason| format!(" ({reason})")).unwrap_or_default();
            let what = fact(handoff, "handoff.blockers").or_else(|| fact(handoff, "handoff.context"));
            lines.push(format!("  blocker of {role}{reason}: {}", what.unwrap_or_default()));
            let attempts = group.lane.attempts_of(role);
            let attempted = fact(handoff, "attempted").unwrap_or_else(|| "not stated".to_owned());
            lines.push(format!("  attempts of {role}: {attempts}; tried: {attempted}"));
        }
        lines
    }

    fn guidance_lines(&self, group: &Group) -> Vec<String> {
        let helpers = self.dossier.reports_on(&group.id);
        let of_helper = |entry: &&DossierEntry| {
            entry
                .reporter()
                .is_some_and(|(role, task)| task == AssignmentTask::Consult && *role != self.assignment.role)
        };
        let helpers = helpers.filter(of_helper);
        let line = |entry: &DossierEntry| {
            let (handoff, (role, _)) = (entry.handoff()?, entry.reporter()?);
            // The fields that the decision passes on say more than the context, which may only point to them.
            let named = entry.named.iter().filter(|field| *field != "handoff.context");
            let words = named.filter_map(|field| fact(handoff, field)).next();
            let words = words.or_else(|| fact(handoff, "handoff.context"))?;
            Some(format!("  guidance of {role}: {words}"))
        };
        helpers.filter_map(line).collect()
    }

    /// Each role that passed evidence which still holds. A merge approves nothing.
    fn approver_line(&self, group: &Group) -> String {
        let records = self.records_of(group);
        let approver = |name: &Name| {
            let entry = records.iter().rev().find(|entry| entry.passed.contains(name))?;
            let (role, _) = entry.reporter().filter(|(_, task)| *task != AssignmentTask::Merge)?;
            Some(format!("{role} ({name})"))
        };
        let approvers: Vec<String> = group.passed.iter().filter_map(approver).collect();
        let names = if approvers.is_empty() { "none is recorded".to_owned() } else { approvers.join(", ") };
        format!("  approved by: {names}")
    }
}

/// A field on one line.
fn fact(handoff: &Json, field: &str) -> Option<String> {
    let value = at(handoff, field).filter(|value| is_something(value))?;
    let words = match value {
        Json::Array(items) => items.iter().map(item_words).collect::<Vec<_>>().join("; "),
        other => item_words(other),
    };
    Some(first_characters(&data::line(&words), LONGEST_FACT))
}

/// A blocker is an object: its description and what would resolve it.
fn item_words(item: &Json) -> String {
    let part = |key: &str| item.get(key).and_then(Json::as_str).filter(|words| !words.trim().is_empty());
    match (item.as_str(), part("description"), part("resolution")) {
        (Some(words), _, _) => words.to_owned(),
        (None, Some(description), Some(resolution)) => format!("{description} (resolution: {resolution})"),
        (None, Some(description), None) => description.to_owned(),
        (None, None, _) => item.to_string(),
    }
}
