//! The facts behind a question to a person, and the effect of each option.

use interlock_core::decide::{OptionEffect, option_effects};
use interlock_core::handoff::{PlannedGroup, is_something};
use interlock_core::id::{DecisionId, Name, QuestionId};
use interlock_core::state::{FindingStatus, Group, Lane, Question, State};
use interlock_core::workflow::Workflow;
use serde_json::{Value as Json, json};

use crate::EarlierReports;
use crate::data;
use crate::dossier::needs_decision;
use crate::dossier::{Dossier, DossierEntry, EntryContent};
use crate::record::{evidence_lines, finding_head, finding_response, group_summary};
use interlock_system::text::{MARK, TerminalText, counted};

/// Records of groups shown, the latest ones.
const MOST_REPORTS: usize = 16;
/// Records of the session itself shown, the latest ones.
const MOST_SESSION_REPORTS: usize = 8;
/// Documents and planned groups listed one by one.
const MOST_DOCUMENTS: usize = 30;
const MOST_PLANNED: usize = 20;
/// Characters shown of one field of a report or a planned group, and of the text of one finding.
const FIELD_LENGTH: usize = 700;

/// Where the facts of a question come from.
#[derive(Clone, Copy)]
pub struct QuestionSources<'a> {
    pub workflow: &'a Workflow,
    pub dossier: &'a Dossier,
    pub said: &'a EarlierReports,
    /// The folder of the session's documents.
    pub documents: &'a str,
}

/// Facts and effects of one open question. Every line is one line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QuestionBrief {
    pub facts: Vec<String>,
    pub effects: Vec<OptionEffect>,
}

impl QuestionBrief {
    pub fn of(state: &State, sources: QuestionSources<'_>, id: QuestionId) -> Self {
        let Some(asked) = state.questions.get(&id) else { return Self::default() };
        let mut facts = FactList { is_cut: false, lines: asker(state, asked).into_iter().collect() };
        if let Some((held, groups)) = asked.held.as_ref().and_then(|held| Some((held, held.groups.as_ref()?))) {
            facts.add_plan(sources.dossier, held.reported, groups);
        }
        let lane = state.lane_of(asked.group.as_ref());
        match asked.group.as_ref().and_then(|name| state.group(name)) {
            Some(group) => facts.add_group(state, group, sources),
            None => facts.lines.extend(state.groups.iter().map(|group| group_line(state, group, sources.workflow))),
        }
        facts.lines.extend(lane.and_then(|lane| attempts(lane, sources.workflow)));
        facts.add_reports(state, sources.dossier, asked);
        facts.add_documents(sources);
        Self { facts: facts.lines, effects: option_effects(sources.workflow, state, id) }
    }

    /// The question, the facts and the effects as one text. The lines of a longer question have a mark, so that words of
    /// an agent or a command cannot look like a fact or an option.
    pub fn text(&self, question: &str) -> String {
        let question = question.trim_end();
        let mut lines: Vec<String> = match question.lines().count() {
            0 | 1 => vec![question.to_owned()],
            _ => question.lines().map(|line| format!("| {line}")).collect(),
        };
        lines.extend(self.facts.iter().map(|fact| format!("- {fact}")));
        let only = self.effects.iter().all(|effect| effect.option.is_none());
        lines.extend(self.effects.iter().enumerate().map(|effect| effect_line(effect, only)));
        lines.join("\n")
    }

    /// The facts and the options, one below the other, for the terminal.
    pub fn print_facts_and_options(&self, options: &[Name], text: &mut TerminalText) {
        for fact in &self.facts {
            text.wrapped("  - ", MARK, fact);
        }
        for (number, option) in options.iter().enumerate() {
            let effect = self.effect_of(option).map(|effect| format!(" -> {effect}")).unwrap_or_default();
            text.wrapped("  ", MARK, format_args!("{}. {}{effect}", number + 1, option.as_str()));
        }
        for effect in self.effects.iter().filter(|effect| effect.option.is_none()) {
            text.wrapped("  ", MARK, format_args!("{} -> {}", own_words(options.is_empty()), effect.effect));
        }
    }

    /// The effect of the option of this name.
    pub fn effect_of(&self, option: &str) -> Option<&str> {
        let own = |effect: &&OptionEffect| effect.option.as_deref() == Some(option);
        self.effects.iter().find(own).map(|effect| effect.effect.as_str())
    }

    pub fn effects_json(&self) -> Json {
        let each = self.effects.iter().map(|effect| json!({ "option": effect.option, "effect": effect.effect }));
        each.collect()
    }
}

/// An answer in free words, as the only way to answer or beside options.
fn own_words(only: bool) -> &'static str {
    if only { "in your own words" } else { "or in your own words" }
}

fn effect_line((index, effect): (usize, &OptionEffect), only: bool) -> String {
    match &effect.option {
        Some(option) => format!("{}. {} -> {}", index.saturating_add(1), data::line(option), effect.effect),
        None => format!("{} -> {}", own_words(only), effect.effect),
    }
}

/// A group with everything that the manager's prompt states of it on one line.
fn group_line(state: &State, group: &Group, workflow: &Workflow) -> String {
    let mut parts = group_summary(group, Some(workflow));
    parts.extend((needs_decision(group) && group.lane.ever_blocked).then(|| "it was once blocked".to_owned()));
    parts.extend(evidence_lines(workflow, state, group));
    format!("group {}", parts.join("; "))
}

fn asker(state: &State, asked: &Question) -> Option<String> {
    let seat = asked.asker.as_ref()?;
    let lane = state.lane_of(asked.group.as_ref())?;
    let block = lane.blocks.iter().rfind(|block| block.part == asked.part && block.role == seat.role);
    let reason = block.and_then(|block| block.reason.as_ref()).map(|reason| format!(" ({})", data::line(reason)));
    let state = if seat.blocked { format!(", blocked{}", reason.unwrap_or_default()) } else { String::new() };
    let on = asked.group.as_ref().map(|group| format!(" on {group}")).unwrap_or_default();
    let stopped = asked.stopped.as_ref().map(|stopped| format!("; limit of `{}` reached", stopped.counted));
    let attempts = lane.attempts_of(&seat.role);
    Some(format!("asked for {}{on}, attempt {attempts}{state}{}", seat.role, stopped.unwrap_or_default()))
}

/// Roles that tried more than once, and loops that went around more than once.
fn attempts(lane: &Lane, workflow: &Workflow) -> Option<String> {
    let mut parts: Vec<String> =
        lane.attempts.iter().filter(|(_, count)| *count > 1).map(|(role, count)| format!("{role} {count}")).collect();
    let limit = |name: &Name| workflow.loops.iter().find(|item| item.name == *name).map(|item| item.limit.iteration);
    parts.extend(lane.counters.iter().filter(|counter| counter.iteration > 1).filter_map(|counter| {
        let limit = limit(&counter.counted)?;
        Some(format!("loop {} of {}: iteration {} of {limit}", counter.counted, counter.role, counter.iteration))
    }));
    (!parts.is_empty()).then(|| format!("attempts so far: {}", parts.join(", ")))
}

/// Facts under way. Texts that are cut are remembered, so that the reader learns where they are whole.
struct FactList {
    lines: Vec<String>,
    is_cut: bool,
}

impl FactList {
    fn shorten(&mut self, text: &str) -> String {
        let text = data::line(text);
        let head: String = text.chars().take(FIELD_LENGTH).collect();
        if head.len() == text.len() {
            return head;
        }
        self.is_cut = true;
        format!("{head} …")
    }

    fn list(&mut self, label: &str, names: impl Iterator<Item = String>) {
        let names: Vec<String> = names.collect();
        if !names.is_empty() {
            self.lines.push(format!("{label}: {}", names.join(", ")));
        }
    }

    /// The groups that start if the answer lets them, as they were planned.
    fn add_plan(&mut self, dossier: &Dossier, reported: DecisionId, groups: &[PlannedGroup]) {
        let report = dossier.entries.iter().find(|entry| entry.decision == reported).and_then(DossierEntry::handoff);
        let entries = report.and_then(|report| report.get("groups")).and_then(Json::as_array);
        let is = |entry: &Json, id: &Name| entry.get("id").and_then(Json::as_str).map(str::trim) == Some(id.as_str());
        for group in groups.iter().take(MOST_PLANNED) {
            let written = entries.into_iter().flatten().find(|entry| is(entry, &group.id)).and_then(Json::as_object);
            let mut parts = vec![format!("planned group {}: {}", group.id, data::line(&group.title))];
            parts.extend(group.flags.iter().map(|(flag, value)| format!("{flag}: {value}")));
            parts
                .extend((!group.depends_on.is_empty()).then(|| format!("depends on: {}", group.depends_on.join(", "))));
            for (key, value) in written.into_iter().flatten() {
                let is_shown = ["id", "title", "depends_on", "checks"].contains(&key.as_str());
                if !is_shown && !group.flags.contains_key(key.as_str()) && is_something(value) {
                    parts.push(format!("{}: {}", data::line(key), self.shorten(&data::value(value))));
                }
            }
            parts.extend(group.checks.iter().map(|check| format!("check: {}", data::line(&check.join(" ")))));
            self.lines.push(parts.join("; "));
        }
        let more: Vec<&str> = groups.iter().skip(MOST_PLANNED).map(|group| group.id.as_str()).collect();
        if !more.is_empty() {
            self.is_cut = true;
            self.lines.push(format!("{} more planned groups: {}", more.len(), more.join(", ")));
        }
    }

    fn add_group(&mut self, state: &State, group: &Group, sources: QuestionSources<'_>) {
        self.lines.push(group_line(state, group, sources.workflow));
        self.list("gates passed", group.gates_passed.iter().map(ToString::to_string));
        self.list("failing tests", group.failing_tests.iter().map(|test| data::line(test)));
        for (index, finding) in group.findings.iter().enumerate() {
            let state = match finding.status {
                FindingStatus::Open => "open",
                FindingStatus::Accepted => "settled",
                FindingStatus::Closed => continue,
            };
            let words = sources.said.of_finding(index).map(|words| format!(": {}", self.shorten(words)));
            let (head, response) = (finding_head(finding), finding_response(group, index, finding));
            self.lines.push(format!("{state} finding {head}{}; {response}", words.unwrap_or_default()));
        }
    }

    /// The records behind the question, and how many are not shown. The session's own have places of their own: the plan
    /// and the common design are old, and later records of groups must not push them out.
    fn add_reports(&mut self, state: &State, dossier: &Dossier, asked: &Question) {
        let latest = |of_group: bool, most: usize| {
            let own = dossier.entries.iter().filter(move |entry| entry.group.is_some() == of_group);
            own.rev().take(most)
        };
        let mut shown: Vec<&DossierEntry> =
            latest(true, MOST_REPORTS).chain(latest(false, MOST_SESSION_REPORTS)).collect();
        shown.sort_by_key(|entry| entry.decision);
        let asker = asked.asker.as_ref().map(|seat| &seat.role);
        for entry in &shown {
            let own = entry.reporter().is_some_and(|(role, _)| Some(role) == asker);
            let (heading, fields) = entry.describe_beside(own.then_some(asked.text.as_str()));
            let fields: Vec<String> = fields.iter().map(|field| self.shorten(field)).collect();
            let text = if fields.is_empty() { "(nothing)".to_owned() } else { fields.join("; ") };
            self.lines.push(format!("{heading}: {text}"));
        }
        let left_out = dossier.entries.len().saturating_sub(shown.len());
        let session = state.session.as_ref().map_or("SESSION", |session| session.id.as_str());
        let log = format!("`interlock log {session} --full`");
        match (left_out, self.is_cut) {
            (0, false) => {}
            (0, true) => self.lines.push(format!("texts that end in … are whole in {log}")),
            (count, _) => {
                let count = counted(u64::try_from(count).unwrap_or(u64::MAX), "earlier record");
                self.lines.push(format!("{count} not shown; every record is whole in {log}"));
            }
        }
    }

    /// The documents that roles left for others, each role's with their paths.
    fn add_documents(&mut self, sources: QuestionSources<'_>) {
        let mut left = MOST_DOCUMENTS;
        let mut lines = Vec::new();
        let mut hidden = 0usize;
        for entry in sources.dossier.entries.iter().rev() {
            let (EntryContent::Report { output_files, .. }, Some((role, _))) = (&entry.content, entry.reporter())
            else {
                continue;
            };
            let shown: Vec<String> = output_files.iter().take(left).map(|file| data::line(file)).collect();
            left = left.saturating_sub(shown.len());
            hidden = hidden.saturating_add(output_files.len().saturating_sub(shown.len()));
            if !shown.is_empty() {
                let on = entry.group.as_ref().map(|group| format!(" on {group}")).unwrap_or_default();
                lines.push(format!("documents of {role}{on}: {}", shown.join(", ")));
            }
        }
        self.lines.extend(lines.into_iter().rev());
        if hidden > 0 {
            let hidden = counted(u64::try_from(hidden).unwrap_or(u64::MAX), "earlier document");
            self.lines.push(format!("{hidden} not listed; all documents are in {}", data::line(sources.documents)));
        }
    }
}
