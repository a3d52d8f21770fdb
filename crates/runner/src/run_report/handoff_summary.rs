//! A short form of a report: the reason for its decision.

use interlock_core::decision::Decision;
use interlock_core::event::EventCause;
use interlock_core::handoff::is_something;
use interlock_core::naming::shown_person;
use serde_json::Value as Json;

use crate::run_report::markdown_text::short;

/// The summary of the whole work, or the context for the next agent.
pub(super) fn summary(report: &Json) -> Option<String> {
    ["/summary", "/handoff/context"].iter().find_map(|path| report.pointer(path).and_then(nonempty_text))
}

/// Why, in the words of who caused a decision. The reasons of the workflow and of Interlock come before these.
pub(super) fn reason(cause: &EventCause, decision: &Decision, report: Option<&Json>) -> Option<String> {
    match cause {
        EventCause::Reported { .. } | EventCause::Merged { .. } => {
            report.and_then(|report| of_report(report, decision))
        }
        EventCause::Lost { note, .. } => note.as_deref().map(short),
        EventCause::GateFinished { passed: true, .. } => Some("every command passed".to_owned()),
        EventCause::GateFinished { output, .. } => Some(ending(output)),
        EventCause::Answered { option, text, .. } => {
            let words: Vec<&str> = [option, text].into_iter().flatten().map(|word| word.as_str()).collect();
            Some(format!("the answer: {}", words.join(", ")))
        }
        EventCause::Deferred { why, .. } | EventCause::Overridden { why, .. } | EventCause::Waived { why, .. } => {
            Some(short(why))
        }
        EventCause::Accepted { by, .. } => Some(format!("{by} accepted it", by = shown_person(by))),
        EventCause::Started { .. } => Some("the session was started".to_owned()),
        EventCause::Planned { by } => Some(format!("{by} added groups", by = shown_person(by))),
        EventCause::Acknowledged { by, .. } => Some(format!("{by} acknowledged it by name", by = shown_person(by))),
        EventCause::CompletionAsked { by } => Some(format!("{by} asked for the end", by = shown_person(by))),
        EventCause::Cancelled { by } => Some(format!("{by} cancelled it", by = shown_person(by))),
        EventCause::Claimed { .. }
        | EventCause::LeaseExpired { .. }
        | EventCause::Upgraded { .. }
        | EventCause::Sighted(_)
        | EventCause::Allowed { .. }
        | EventCause::Refused(_) => None,
    }
}

/// The reason for a status: of a blocker or a deferral, the findings, the context that the decision passes on, or a
/// general summary.
fn of_report(report: &Json, decision: &Decision) -> Option<String> {
    let text = |path: &str| report.pointer(path).and_then(nonempty_text);
    let named = || {
        let fields = decision.context.iter().map(|field| format!("/{}", field.replace('.', "/")));
        fields.filter_map(|path| text(&path)).next()
    };
    let because = text("/blocked_reason")
        .map(|reason| text("/handoff/context").map_or(reason.clone(), |context| format!("{reason}: {context}")));
    let because = because.or_else(|| text("/defer_reason")).or_else(|| issues(report));
    let because = because.or_else(|| text("/summary")).or_else(|| text("/completion_summary"));
    because.or_else(named).or_else(|| text("/handoff/context")).map(|words| short(&words))
}

fn issues(report: &Json) -> Option<String> {
    let issues = report.get("issues")?.as_array()?.iter();
    let titles: Vec<String> = issues.filter_map(|issue| issue.get("title").and_then(nonempty_text)).collect();
    (!titles.is_empty()).then(|| format!("found: {}", titles.join("; ")))
}

/// A text, or a list of texts, that says something.
pub(super) fn nonempty_text(value: &Json) -> Option<String> {
    match value {
        value if !is_something(value) => None,
        Json::String(text) => Some(short(text)),
        Json::Array(items) => {
            let texts: Vec<&str> = items.iter().filter_map(Json::as_str).collect();
            (!texts.is_empty()).then(|| short(&texts.join("; ")))
        }
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::Object(_) => None,
    }
}

/// The end of what commands printed: it says what went wrong.
pub(super) fn ending(output: &str) -> String {
    let lines: Vec<&str> = output.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    short(&lines.iter().rev().take(3).rev().copied().collect::<Vec<_>>().join(" / "))
}
