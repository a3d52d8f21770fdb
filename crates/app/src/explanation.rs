//! A decision explained to a person, in lines of at most 80 columns.

use interlock_core::code::Code;
use interlock_core::decision::{CompletionVerdict, Decision};
use interlock_core::event::{Event, EventCause};
use interlock_core::workflow::Workflow;
use serde_json::{Map, Value as Json, json};

use crate::narrative::{EventNarrator, consequence, further_problems};
use interlock_system::clock::rfc3339;
use interlock_system::sanitise;
use interlock_system::text::{HEADING, NAME, TerminalText, wrap};

const WIDTH: usize = 80;
const LABEL: usize = 12;
/// Lines that are shown of the output of a failed gate.
const OUTPUT_LINES: usize = 10;

/// The decision of an event, with everything that was read and recorded for it.
pub(crate) struct DecisionExplanation<'a> {
    pub(crate) session: &'a str,
    pub(crate) event: &'a Event,
    pub(crate) decision: &'a Decision,
    pub(crate) workflow: &'a Workflow,
    /// Has read every event before this one.
    pub(crate) narrator: &'a EventNarrator,
}

impl DecisionExplanation<'_> {
    pub(crate) fn json(&self) -> Json {
        let decision = self.decision;
        let mut document = self.narrator.record(self.event).fields(self.session);
        let facts: Map<String, Json> =
            decision.facts.iter().map(|(name, value)| (name.to_string(), json!(value))).collect();
        let source = self.source().map(|(file, line)| json!({ "file": file, "line": line }));
        let warnings: Vec<Json> =
            decision.warnings.iter().map(|own| json!({ "code": own.code, "message": own.text })).collect();
        let mut put = |name: &str, value: Json| document[name] = value;
        put("decision", json!(format!("{}.{}", self.session, decision.id)));
        put("at", json!(rfc3339(self.event.at)));
        put("rule", json!(decision.rule));
        put("source", json!(source));
        put("because", json!(decision.because));
        put("overrides", json!(decision.overrides));
        put("facts", Json::Object(facts));
        put("warnings", Json::Array(warnings));
        put("judgement", json!(decision.judgement));
        if let EventCause::Reported { filled_in, .. } = &self.event.cause {
            put("filled_in", json!(filled_in));
        }
        put("text", json!(anstream::adapter::strip_str(self.text().as_str()).to_string()));
        document
    }

    pub(crate) fn text(&self) -> TerminalText {
        let decision = self.decision;
        let mut text = TerminalText::default();
        text.paint(NAME, format_args!("{}.{}", self.session, decision.id));
        text.line(format_args!("  {}", rfc3339(self.event.at)));
        text.push("\n");
        // The sentence can quote a title or an answer. A marked line cannot be taken for what Interlock decided.
        paragraph(&mut text, "| ", &format!("{}.", capitalise(&self.narrator.sentence(&self.event.cause))));
        paragraph(&mut text, "  ", &format!("Interlock decided: {}.", consequence(self.event, decision)));
        text.push("\n");
        let source = self.source().map(|(file, line)| format!(" ({}:{line})", file_name(file))).unwrap_or_default();
        labelled(&mut text, "rule", &[format!("{}{source}", decision.rule)]);
        let shown = |because: &&_| decision.overrides.iter().any(|applied| applied.because == **because);
        let because: Vec<String> =
            decision.because.iter().filter(|because| !shown(because)).map(ToString::to_string).collect();
        labelled(&mut text, "because", &because);
        let overrides = decision.overrides.iter();
        let overrides = overrides.map(|own| format!("{} instead of {}: {}", own.used, own.instead_of, own.because));
        labelled(&mut text, "override", &overrides.collect::<Vec<_>>());
        let facts = decision.facts.iter().map(|(name, value)| format!("{name} = {}", plain(&json!(value))));
        labelled(&mut text, "facts", &facts.collect::<Vec<_>>());
        self.verdict(&mut text);
        if !decision.context.is_empty() {
            let fields: Vec<&str> = decision.context.iter().map(|field| field.as_str()).collect();
            labelled(&mut text, "passes on", &wrap(&fields.join(", "), WIDTH - LABEL - 2));
        }
        self.handoff(&mut text);
        self.gate(&mut text);
        let warnings = decision.warnings.iter().map(|own| match &own.code {
            Some(code) => format!("{code}: {}", own.text),
            None => own.text.to_string(),
        });
        labelled(&mut text, "warning", &warnings.collect::<Vec<_>>());
        text
    }

    /// Every reason of a verdict, with its code.
    fn verdict(&self, text: &mut TerminalText) {
        let Some(judgement) = &self.decision.judgement else { return };
        let word = match judgement.verdict {
            CompletionVerdict::Accept => "ACCEPT",
            CompletionVerdict::Reject => "REJECT",
        };
        labelled(text, "verdict", &[word.to_owned()]);
        let reasons = judgement.reasons.iter().map(|reason| format!("{}: {}", reason.code, reason.text));
        labelled(text, "reason", &reasons.collect::<Vec<_>>());
    }

    /// Notes on the handoff itself.
    fn handoff(&self, text: &mut TerminalText) {
        let EventCause::Reported { filled_in, observed, .. } = &self.event.cause else { return };
        if !filled_in.is_empty() {
            let fields: Vec<&str> = filled_in.keys().map(|field| field.as_str()).collect();
            labelled(text, "filled in", &wrap(&fields.join(", "), WIDTH - LABEL - 2));
        }
        if let Some(observed) = observed {
            let count = observed.files.len() + usize::try_from(observed.omitted).unwrap_or(usize::MAX);
            let tree = observed.tree.get(..12).unwrap_or(&observed.tree);
            labelled(text, "observed", &[format!("{count} changed files, tree {tree}")]);
        }
    }

    /// The tree that a gate ran on, and the end of what its command printed.
    fn gate(&self, text: &mut TerminalText) {
        let EventCause::GateFinished { tree, output, passed, .. } = &self.event.cause else { return };
        // The warnings about uncommitted files name the tree as well.
        if !tree.is_empty() && self.decision.warnings.is_empty() {
            labelled(text, "tree", &[tree.get(..12).unwrap_or(tree).to_owned()]);
        }
        let lines: Vec<String> = output.lines().filter(|line| !line.trim().is_empty()).map(str::to_owned).collect();
        if !passed {
            labelled(text, "output", lines.get(lines.len().saturating_sub(OUTPUT_LINES)..).unwrap_or_default());
        }
    }

    /// The line of the rule in the workflow that the session is pinned to.
    fn source(&self) -> Option<(&str, u32)> {
        let place = self.workflow.place_of_rule(&self.decision.rule)?;
        Some((&place.file, place.line))
    }
}

/// An event that decided nothing: a claim, a hook, a refusal.
pub(crate) struct EventExplanation<'a> {
    pub(crate) session: &'a str,
    pub(crate) seq: u64,
    pub(crate) event: &'a Event,
    pub(crate) narrator: &'a EventNarrator,
}

impl EventExplanation<'_> {
    pub(crate) fn json(&self) -> Json {
        let mut document = self.narrator.record(self.event).fields(self.session);
        document["event"] = json!(format!("{}.e{}", self.session, self.seq));
        document["kind"] = json!(self.event.cause.kind());
        document["at"] = json!(rfc3339(self.event.at));
        if let EventCause::Refused(refusal) = &self.event.cause {
            document["refused"] = json!(refusal);
        }
        document["text"] = json!(anstream::adapter::strip_str(self.text().as_str()).to_string());
        document
    }

    pub(crate) fn text(&self) -> TerminalText {
        let mut text = TerminalText::default();
        text.paint(NAME, format_args!("{}.e{}", self.session, self.seq));
        text.line(format_args!("  {}", rfc3339(self.event.at)));
        text.push("\n");
        let EventCause::Refused(refusal) = &self.event.cause else {
            paragraph(&mut text, "| ", &format!("{}.", capitalise(&self.narrator.sentence(&self.event.cause))));
            text.push("Interlock recorded it; it led to no decision.\n");
            return text;
        };
        paragraph(&mut text, "| ", &format!("{}.", capitalise(&self.narrator.attempt(refusal))));
        text.push("Interlock refused it; nothing changed.\n\n");
        let first = format!("{}: {}", refusal.code, refusal.message);
        let problems: Vec<String> = std::iter::once(first).chain(further_problems(refusal)).collect();
        labelled(&mut text, "problem", &problems);
        if let Some(code) = Code::parse(&refusal.code) {
            labelled(&mut text, "help", &[code.help().to_owned(), format!("`interlock explain {code}` says more")]);
        }
        text
    }
}

/// One line for each value, and more where a value is too long for one. Only the first has the label.
fn labelled(text: &mut TerminalText, label: &'static str, values: &[String]) {
    for (number, value) in values.iter().enumerate() {
        for (index, line) in wrap(&sanitise::line(value), WIDTH - LABEL - 2).iter().enumerate() {
            match (number, index) {
                (0, 0) => text.paint(HEADING, format_args!("{label:<LABEL$}")),
                _ => text.put(format_args!("{:LABEL$}", "")),
            }
            // The rest of a value is marked, so that no text can pretend to be the next value.
            text.push(if index == 0 { "" } else { "| " });
            text.line(line);
        }
    }
}

fn paragraph(text: &mut TerminalText, below: &'static str, words: &str) {
    for (index, line) in wrap(&sanitise::line(words), WIDTH - 2).iter().enumerate() {
        text.push(if index == 0 { "" } else { below });
        text.line(line);
    }
}

fn capitalise(sentence: &str) -> String {
    // A role or a name at the beginning is written as it is declared.
    match sentence.split_once(' ') {
        Some((first @ ("the" | "session" | "merge" | "gate" | "hook" | "refused"), rest)) => {
            let (head, tail) = first.split_at(1);
            format!("{}{tail} {rest}", head.to_ascii_uppercase())
        }
        Some(_) | None => sentence.to_owned(),
    }
}

/// A whole path leaves no room for the rule; JSON has it.
fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn plain(value: &Json) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
