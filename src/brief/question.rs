//! What a person should know who is asked: the facts behind the question, and what each option does.

use interlock_core::decide::{OptionEffect, option_effects};
use interlock_core::id::QuestionId;
use interlock_core::state::{Group, Question, State};
use interlock_core::workflow::Workflow;
use serde_json::{Value as Json, json};

use crate::brief::data;
use crate::brief::dossier::Dossier;

/// Reports shown, the latest ones.
const MOST_REPORTS: usize = 8;
/// Characters shown of one report.
const REPORT_LENGTH: usize = 700;

/// Facts and effects of one open question. Every line is one line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QuestionBrief {
    pub facts: Vec<String>,
    pub effects: Vec<OptionEffect>,
}

impl QuestionBrief {
    pub fn of(state: &State, workflow: &Workflow, dossier: &Dossier, id: QuestionId) -> Self {
        let Some(asked) = state.questions.get(&id) else { return Self::default() };
        let mut facts: Vec<String> = asker(state, asked).into_iter().collect();
        facts.extend(reports(dossier, asked));
        let group = asked.group.as_ref().and_then(|name| state.group(name));
        match group {
            Some(group) => facts.extend(evidence(group)),
            None => {
                let line = |group: &Group| {
                    format!("group {}: {}, {}", group.id, group.status().name(), data::line(&group.title))
                };
                facts.extend(state.groups.iter().map(line));
            }
        }
        Self { facts, effects: option_effects(workflow, state, id) }
    }

    /// The question, the facts and the effects as one text.
    pub fn text(&self, question: &str) -> String {
        let mut lines = vec![self.text_with_facts(question)];
        lines.extend(self.effects.iter().map(effect_line));
        lines.join("\n")
    }

    /// The question and the facts, where the options stand beside it.
    pub fn text_with_facts(&self, question: &str) -> String {
        let mut lines = vec![question.to_owned()];
        lines.extend(self.facts.iter().map(|fact| format!("- {fact}")));
        lines.join("\n")
    }

    /// What the option of this name does.
    pub fn effect_of(&self, option: &str) -> Option<&str> {
        let own = |effect: &&OptionEffect| effect.option.as_deref() == Some(option);
        self.effects.iter().find(own).map(|effect| effect.effect.as_str())
    }

    pub fn effects_json(&self) -> Json {
        let each = self.effects.iter().map(|effect| json!({ "option": effect.option, "effect": effect.effect }));
        each.collect()
    }
}

fn effect_line(effect: &OptionEffect) -> String {
    let option = effect.option.as_deref().map_or_else(|| "answer in your own words".to_owned(), data::line);
    format!("{option} -> {}", effect.effect)
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

fn reports(dossier: &Dossier, asked: &Question) -> Vec<String> {
    let entries = dossier.entries.iter().filter(|entry| asked.group.is_none() || entry.group.is_some());
    let mut lines: Vec<String> = entries
        .rev()
        .take(MOST_REPORTS)
        .map(|entry| {
            let text = entry.describe(None);
            // The question may quote the report already.
            let shown = text.shown.replace(asked.text.as_str(), "(see the question)");
            let shown = data::line(&shown);
            let head: String = shown.chars().take(REPORT_LENGTH).collect();
            let more = if head.len() < shown.len() { " …" } else { "" };
            format!("{}: {head}{more}", text.heading.replace('`', ""))
        })
        .collect();
    lines.reverse();
    lines
}

fn evidence(group: &Group) -> Vec<String> {
    let mut lines = Vec::new();
    let passed: Vec<&str> = group.passed.iter().chain(&group.gates_passed).map(|name| name.as_str()).collect();
    lines.push(format!("evidence: {}", if passed.is_empty() { "none".to_owned() } else { passed.join(", ") }));
    let blocking: Vec<String> = group
        .findings
        .iter()
        .filter(|finding| finding.is_blocking())
        .map(|finding| data::line(&finding.title))
        .collect();
    if !blocking.is_empty() {
        lines.push(format!("open blocking findings: {}", blocking.join("; ")));
    }
    if !group.failing_tests.is_empty() {
        let tests: Vec<String> = group.failing_tests.iter().map(|test| data::line(test)).collect();
        lines.push(format!("failing tests: {}", tests.join(", ")));
    }
    lines
}
