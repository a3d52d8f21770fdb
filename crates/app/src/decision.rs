//! How a decision is shown: one JSON shape, one text for people.

use interlock_core::decision::{Decision, NextAssignment, Warning};
use interlock_core::workflow::Workflow;
use serde_json::{Map, Value, json};

use crate::error::CommandExit;
use crate::error::CommandResult;
use crate::output::CommandOutput;
use interlock_engine::Committed;
use interlock_system::sanitise;
use interlock_system::text::{HEADING, NAME, TerminalText};

/// The fields that every decision has, as scripts read them.
pub fn json(decision: &Decision) -> Map<String, Value> {
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

/// An assignment that follows, by its id.
pub fn next_json(next: &NextAssignment, session: &str) -> Value {
    json!({
        "assignment": format!("{session}.{}", next.assignment),
        "role": next.role,
        "group": next.group,
        "attempt": next.attempt,
        "model": next.model,
    })
}

/// A decision that was stored, by its ids.
pub fn done_json(done: &Committed) -> Value {
    let session = &done.session;
    let Some(decision) = &done.event.decision else {
        return json!({ "session": session, "seq": done.seq, "kind": done.event.cause.kind() });
    };
    let mut document = json(decision);
    document.insert("next".to_owned(), decision.next.iter().map(|next| next_json(next, session)).collect());
    if let (Some(put), Some(Value::Object(asked))) = (&decision.question, document.get_mut("question")) {
        asked.insert("question".to_owned(), json!(format!("{session}.{}", put.question)));
    }
    if let Some(run) = &decision.gate {
        document.insert("gate".to_owned(), json!({ "gate": run.gate, "run": format!("{session}.{}", run.run) }));
    }
    if let Some(judgement) = &decision.judgement {
        document.insert("judgement".to_owned(), json!(judgement));
    }
    document.insert("decision".to_owned(), json!(format!("{session}.{}", decision.id)));
    document.insert("session".to_owned(), json!(session));
    document.insert("group".to_owned(), json!(done.group));
    document.insert("seq".to_owned(), json!(done.seq));
    document.insert("repeated".to_owned(), json!(done.repeated));
    Value::Object(document)
}

/// Says what was decided and stored.
pub fn print_committed(output: CommandOutput, done: &Committed) -> CommandResult {
    if output.json {
        output.document(&done_json(done))?;
        return Ok(CommandExit::Done);
    }
    let mut text = TerminalText::default();
    if let Some(decision) = &done.event.decision {
        headline(&mut text, decision);
        line(&mut text, "decision", &format!("{}.{}", done.session, decision.id));
        line(&mut text, "rule", &decision.rule);
        for because in &decision.because {
            line(&mut text, "because", because);
        }
        for reason in decision.judgement.iter().flat_map(|judgement| &judgement.reasons) {
            line(&mut text, "reason", &format!("{}: {}", reason.code, reason.text));
        }
        for warning in &decision.warnings {
            let code = warning.code.as_ref().map(|code| format!("{code}: ")).unwrap_or_default();
            line(&mut text, "warning", &format!("{code}{}", warning.text));
        }
    }
    if done.repeated {
        line(&mut text, "note", "the same was reported before; nothing has changed");
    }
    next_text(&mut text, done.event.decision.as_ref(), &done.session);
    output.text(&text)?;
    Ok(CommandExit::Done)
}

/// The next steps, with the ids that commands accept.
pub fn next_text(text: &mut TerminalText, decision: Option<&Decision>, session: &str) {
    for next in decision.iter().flat_map(|decision| &decision.next) {
        let group = next.group.as_ref().map_or(String::new(), |group| format!(" on {group}"));
        let told = format!("{session}.{}  {}{group}, attempt {}", next.assignment, next.role, next.attempt);
        columns(text, "next", &told);
    }
    if let Some(put) = decision.and_then(|decision| decision.question.as_ref()) {
        line(text, "asked", &format!("{session}.{}", put.question));
    }
    if let Some(run) = decision.and_then(|decision| decision.gate.as_ref()) {
        columns(text, "gate", &format!("{session}.{}  {}", run.run, run.gate));
    }
}

fn question(put: &interlock_core::decision::DecisionQuestion) -> Value {
    json!({ "name": put.name, "text": put.text, "options": put.options })
}

fn warning(warning: &Warning) -> Value {
    json!({ "code": warning.code, "message": warning.text })
}

/// The next steps, the deciding rule and the reason.
pub fn text(decision: &Decision, workflow: &Workflow) -> TerminalText {
    let mut text = TerminalText::default();
    headline(&mut text, decision);
    let rule = workflow.rules.iter().find(|rule| rule.id == decision.rule);
    let place = rule.map(|rule| format!("  {}:{}", rule.place.file, rule.place.line)).unwrap_or_default();
    columns(&mut text, "rule", &format!("{}{place}", sanitise::line(&decision.rule)));
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

fn headline(text: &mut TerminalText, decision: &Decision) {
    text.paint(HEADING, decision.action.name());
    let roles: Vec<&str> = decision.next.iter().map(|next| next.role.as_str()).collect();
    if !roles.is_empty() {
        text.push(" ");
        text.paint(NAME, roles.join(", "));
    }
    if let Some(put) = &decision.question {
        text.push(" ");
        text.paint(NAME, &put.name);
        text.put(format_args!(": {}", sanitise::line(&put.text)));
        if !put.options.is_empty() {
            let options: Vec<&str> = put.options.iter().map(|option| option.as_str()).collect();
            text.put(format_args!(" [{}]", sanitise::line(&options.join(" | "))));
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

fn line(text: &mut TerminalText, label: &str, value: &str) {
    columns(text, label, &sanitise::line(value));
}

/// A value in which the program made columns.
fn columns(text: &mut TerminalText, label: &str, value: &str) {
    text.line(format_args!("  {label:<10} {value}"));
}
