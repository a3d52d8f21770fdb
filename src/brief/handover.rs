//! What was handed over: the fields that the workflow names, an answer, the output of a gate, a verdict.

use interlock_core::decision::{Judgement, Verdict};
use interlock_core::event::Cause;
use interlock_core::handoff::is_something;
use interlock_core::id::{Name, QuestionId};
use interlock_core::workflow::Task;
use serde_json::Value as Json;

use crate::brief::piece::{Piece, Section};
use crate::brief::{Brief, data};

/// What the one before wants the next one to know: always handed on.
const MESSAGE: &str = "handoff.context";
/// What a helper has to know of a blocker, whether the workflow names it or not.
const OF_A_BLOCKER: &[&str] = &["attempted", "handoff.blockers"];

impl Brief<'_> {
    pub(super) fn handed_over(&self, pieces: &mut Vec<Piece>) {
        if let Some(judgement) = self.decision().and_then(|decision| decision.judgement.as_ref()) {
            verdict(judgement, pieces);
        }
        if let Some(Cause::Lost { note: Some(note), .. }) = self.lost.map(|event| &event.cause) {
            let heading = "What Interlock saw of the attempt that was lost".to_owned();
            pieces.push(Piece::data(Section::GateOutput, heading, "Interlock, quoting programs", data::text(note)));
        }
        match self.cause() {
            Some(Cause::Answered { question, option, text, by }) => {
                self.answer(*question, option.as_ref(), text.as_ref(), by, pieces);
            }
            Some(Cause::Overridden { why, by, .. }) => {
                let by = data::code(by);
                let heading = format!("Why {by}, a person, sent the work to you");
                pieces.push(Piece::data(Section::Answer, heading, by, data::text(why)));
            }
            Some(Cause::GateFinished { gate, passed, output, .. }) => {
                let heading = format!("Output of gate `{gate}`, which {}", if *passed { "passed" } else { "failed" });
                let output = said(data::text(output));
                pieces.push(Piece::data(Section::GateOutput, heading, "commands that Interlock ran", output));
            }
            Some(_) | None => {}
        }
        self.fields(pieces);
    }

    fn answer(
        &self,
        question: QuestionId,
        option: Option<&Name>,
        text: Option<&Name>,
        by: &Name,
        pieces: &mut Vec<Piece>,
    ) {
        if let Some(asked) = self.state.questions.get(&question) {
            let heading = format!("The question `{}` ({question}) that a person was asked", asked.name);
            pieces.push(Piece::data(Section::Answer, heading, "whoever asked", said(data::text(&asked.text))));
        }
        let by = data::code(by);
        let mut lines = Vec::new();
        lines.extend(option.map(|option| format!("chosen: {}", data::line(option))));
        lines.extend(text.map(|text| data::text(text)));
        let heading = format!("Answer of {by}, a person");
        pieces.push(Piece::data(Section::Answer, heading, by, said(lines.join("\n"))));
    }

    /// The fields that the decision names, each by itself; those that are absent are said to be.
    fn fields(&self, pieces: &mut Vec<Piece>) {
        let report = self.report();
        let who = self.reporter().map_or("the report", |role| role.as_str());
        let mut absent = Vec::new();
        for field in self.named() {
            let value = report.and_then(|json| at(json, field)).filter(|value| is_something(value));
            match value {
                Some(value) => {
                    let section = if field == MESSAGE { Section::Message } else { Section::Context };
                    let heading = format!("Handed over by {who}: `{field}`");
                    pieces.push(Piece::data(section, heading, who, data::value(value)));
                }
                None if self.is_made_here(field) || !self.hands_on(field) => {}
                None => absent.push(format!("`{field}`")),
            }
        }
        if !absent.is_empty() {
            let text = format!("The workflow hands these on, and nobody gave them: {}.", absent.join(", "));
            pieces.push(Piece::own(Section::Context, "Absent".to_owned(), text));
        }
    }

    /// The message first, then what the workflow names, then what belongs to a blocker.
    fn named(&self) -> Vec<&str> {
        let context = self.decision().map_or(&[][..], |decision| &decision.context);
        let helps = self.assignment.task == Task::Consult && self.report().is_some();
        let more = OF_A_BLOCKER.iter().copied().filter(|_| helps);
        let mut fields = Vec::new();
        for field in [MESSAGE].into_iter().chain(context.iter().map(Name::as_str)).chain(more) {
            if !fields.contains(&field) {
                fields.push(field);
            }
        }
        fields
    }

    /// The workflow names it.
    pub(super) fn hands_on(&self, field: &str) -> bool {
        self.decision().is_some_and(|decision| decision.context.iter().any(|own| *own == *field))
    }

    /// Fields that Interlock fills in, and has filled in here.
    fn is_made_here(&self, field: &str) -> bool {
        match field {
            "answer" => matches!(self.cause(), Some(Cause::Answered { .. })),
            "gate_output" => matches!(self.cause(), Some(Cause::GateFinished { .. })),
            "group_summaries" | "deferred_groups" => true,
            "validator_verdict" | "failed_checks" => {
                self.decision().is_some_and(|decision| decision.judgement.is_some())
            }
            _ => false,
        }
    }
}

fn verdict(judgement: &Judgement, pieces: &mut Vec<Piece>) {
    let word = match judgement.verdict {
        Verdict::Accept => "ACCEPT",
        Verdict::Reject => "REJECT",
    };
    let line = |reason: &interlock_core::decision::Reason| {
        let group = reason.group.as_ref().map(|group| format!(" {group}:")).unwrap_or_default();
        format!("- {}{group} {}", reason.code, data::line(&reason.text))
    };
    let lines: Vec<String> = judgement.reasons.iter().map(line).collect();
    let heading = format!("The validator's verdict: {word}");
    let piece =
        Piece::data(Section::Verdict, heading, "Interlock, with reasons that were given", said(lines.join("\n")));
    pieces.push(match judgement.verdict {
        Verdict::Accept => piece,
        Verdict::Reject => piece
            .lead("The session cannot end before each of these is settled; `interlock explain CODE` says more of one."),
    });
}

/// The value at a dotted path.
fn at<'a>(json: &'a Json, path: &str) -> Option<&'a Json> {
    path.split('.').try_fold(json, |value, key| value.get(key))
}

/// Nothing is said to be nothing.
fn said(text: String) -> String {
    if text.is_empty() { "(nothing)".to_owned() } else { text }
}
