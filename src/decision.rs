//! How a decision is shown: one JSON shape, one text for people.

use std::fmt::Write as _;

use interlock_core::decision::{Decision, Warning};
use interlock_core::workflow::Workflow;
use serde_json::{Map, Value, json};

use crate::output::{HEADING, NAME, Text};

/// The fields that every decision has, as scripts read them.
pub(crate) fn json(decision: &Decision) -> Map<String, Value> {
    let next: Vec<Value> = decision.next.iter().map(|next| json!({ "role": next.role, "model": next.model })).collect();
    let facts: Map<String, Value> =
        decision.facts.iter().map(|(name, value)| (name.to_string(), json!(value))).collect();
    let mut document = Map::new();
    let mut put = |key: &str, value: Value| document.insert(key.to_owned(), value);
    put("action", json!(decision.action));
    put("next", Value::Array(next));
    put("question", decision.question.as_ref().map_or(Value::Null, question));
    put("gate", decision.gate.as_ref().map_or(Value::Null, |run| json!(run.gate)));
    put("waits_for", json!(decision.waits_for));
    put("context", json!(decision.context));
    put("rule", json!(decision.rule));
    put("because", json!(decision.because));
    put("overrides", json!(decision.overrides));
    put("facts", Value::Object(facts));
    put("warnings", Value::Array(decision.warnings.iter().map(warning).collect()));
    put("escalated", json!(decision.escalated));
    document
}

fn question(put: &interlock_core::decision::Put) -> Value {
    json!({ "name": put.name, "text": put.text, "options": put.options })
}

fn warning(warning: &Warning) -> Value {
    json!({ "code": warning.code, "message": warning.text })
}

/// What follows, who decided it and why.
pub(crate) fn text(decision: &Decision, workflow: &Workflow) -> Text {
    let mut text = Text::default();
    headline(&mut text, decision);
    let rule = workflow.rules.iter().find(|rule| rule.id == decision.rule);
    let place = rule.map(|rule| format!("  {}:{}", rule.place.file, rule.place.line)).unwrap_or_default();
    line(&mut text, "rule", &format!("{}{place}", decision.rule));
    let told_below = |because: &&_| decision.overrides.iter().any(|applied| applied.because == **because);
    for because in decision.because.iter().filter(|because| !told_below(because)) {
        line(&mut text, "because", because);
    }
    for applied in &decision.overrides {
        let told = format!("{} instead of {}: {}", applied.used, applied.instead_of, applied.because);
        line(&mut text, "override", &told);
    }
    if !decision.facts.is_empty() {
        let facts: Vec<String> = decision
            .facts
            .iter()
            .map(|(name, value)| format!("{name}={}", json!(value).to_string().trim_matches('"')))
            .collect();
        line(&mut text, "facts", &facts.join(" "));
    }
    if !decision.context.is_empty() {
        let fields: Vec<&str> = decision.context.iter().map(|field| field.as_str()).collect();
        line(&mut text, "passes on", &fields.join(", "));
    }
    for warning in &decision.warnings {
        let code = warning.code.as_ref().map(|code| format!("{code}: ")).unwrap_or_default();
        line(&mut text, "warning", &format!("{code}{}", warning.text));
    }
    text
}

fn headline(text: &mut Text, decision: &Decision) {
    text.paint(HEADING, decision.action.name());
    let roles: Vec<&str> = decision.next.iter().map(|next| next.role.as_str()).collect();
    if !roles.is_empty() {
        text.push(" ");
        text.paint(NAME, roles.join(", "));
    }
    if let Some(put) = &decision.question {
        text.push(" ");
        text.paint(NAME, &put.name);
        let _ = write!(text, ": {}", put.text);
        if !put.options.is_empty() {
            let options: Vec<&str> = put.options.iter().map(|option| option.as_str()).collect();
            let _ = write!(text, " [{}]", options.join(" | "));
        }
    }
    if let Some(run) = &decision.gate {
        text.push(" ");
        text.paint(NAME, &run.gate);
    }
    if decision.escalated {
        text.push(" (escalated)");
    }
    text.push("\n");
}

fn line(text: &mut Text, label: &str, value: &str) {
    // Writing to memory cannot fail.
    let _ = writeln!(text, "  {label:<10} {value}");
}
