//! `validateHandoff` of the document: each condition with a handoff that fails it.

use serde_json::{Value as Json, json};

use super::{WRAPPER, whole};
use crate::each;
use crate::program::{merged, orchestrated, without};

fn blocked() -> Json {
    whole("tool-developer", "implementation", json!({ "status": "blocked" }))
}

fn check(handoff: &Json) -> crate::program::Checked {
    orchestrated(WRAPPER, "tool-developer").phase("implementation").check(handoff)
}

#[test]
fn validate_a_blocked_handoff_with_everything_is_valid() {
    check(&blocked()).valid();
}

fn required(field: &str) {
    let handoff = without(blocked(), field);
    orchestrated(WRAPPER, "tool-developer").phase("implementation").check(&handoff).invalid_with("E0210");
}

each! { required:
    validate_phase_is_required("phase");
    validate_summary_is_required("summary");
}

#[test]
fn validate_status_is_required() {
    let handoff = without(whole("tool-developer", "implementation", super::everything()), "status");
    check(&handoff).invalid("E0210", "status");
}

#[test]
fn validate_blocked_needs_its_reason() {
    check(&without(blocked(), "blocked_reason")).invalid("E0217", "blocked_reason");
}

#[test]
fn validate_blocked_needs_what_was_attempted() {
    check(&without(blocked(), "attempted")).invalid("E0216", "attempted");
    check(&merged(blocked(), json!({ "attempted": [] }))).invalid("E0216", "attempted");
}

#[test]
fn validate_blocked_next_agent_must_be_null() {
    let named = merged(blocked(), json!({ "handoff": { "next_agent": "tool-lead" } }));
    check(&named).invalid("E0214", "handoff.next_agent");
}

#[test]
fn validate_blocked_needs_its_blockers() {
    check(&without(blocked(), "handoff.blockers")).invalid("E0218", "handoff.blockers");
    check(&merged(blocked(), json!({ "handoff": { "blockers": [] } }))).invalid("E0218", "handoff.blockers");
}

#[test]
fn validate_context_is_required_unless_nothing_comes_next() {
    check(&without(blocked(), "handoff.context")).invalid("E0219", "handoff.context");
    let reviewed = whole("tool-reviewer", "review", super::everything());
    let silent = without(reviewed, "handoff.context");
    let asked = orchestrated(WRAPPER, "tool-reviewer").phase("review");
    asked.check(&silent).invalid("E0219", "handoff.context");
    asked.check(&merged(silent, json!({ "handoff": { "next_phase": "complete" } }))).valid();
}
