//! The example handoffs, checked one by one and played from the first phase to the end.

use interlock_core::decision::Decision;
use serde_json::json;

use super::{WRAPPER, everything, of, whole};
use crate::each;
use crate::program::{merged, orchestrated, route};
use crate::session::{Play, follows, warns};

/// A session of these tools, in schema discovery.
fn discovering(tools: &[&str]) -> Play {
    let mut play = Play::start(WRAPPER);
    let groups: Vec<_> = tools.iter().map(|tool| json!({ "id": tool, "title": format!("Wrap {tool}") })).collect();
    let handoff = whole("claude", "tool_selection", json!({ "groups": groups }));
    let decision = play.report("claude", handoff);
    assert_eq!((decision.action.name(), decision.next.len()), ("batch", tools.len()));
    play
}

/// One tool, up to its implementation.
fn implementing() -> Play {
    let mut play = discovering(&["get-issue"]);
    play.report("claude", of("schema-discovery"));
    play.report("tool-lead", of("shared-architecture"));
    play.report("tool-lead", of("tool-architecture"));
    play.report("tool-tester", whole("tool-tester", "testing", of("files-modified")));
    play
}

fn valid(example: &str, role: &str, phase: &str) {
    let handoff = of(example);
    let checked = orchestrated(WRAPPER, role).phase(phase).check(&handoff).not_warned("E0228");
    assert_eq!(checked["handoff"], handoff);
}

each! { valid:
    example_schema_discovery_is_valid("schema-discovery", "claude", "schema_discovery");
    example_shared_architecture_is_valid("shared-architecture", "tool-lead", "shared_architecture");
    example_tool_architecture_is_valid("tool-architecture", "tool-lead", "tool_architecture");
    example_implementation_is_valid("implementation", "tool-developer", "implementation");
    example_review_is_valid("review", "tool-reviewer", "review");
    example_blocked_schema_discovery_is_valid("blocked-schema-discovery", "claude", "schema_discovery");
    example_blocked_architecture_decision_is_valid("blocked-architecture-decision", "tool-lead", "shared_architecture");
    example_blocked_test_failures_is_valid("blocked-test-failures", "tool-developer", "implementation");
}

// ---- From phase to phase -----------------------------------------------------------------

#[test]
fn flow_schema_discovery_goes_to_the_shared_architecture() {
    let mut play = discovering(&["get-issue"]);
    follows(&play.report("claude", of("schema-discovery")), "spawn", &["tool-lead"]);
    assert_eq!(play.open(), ["tool-lead"], "one architecture for all tools: a phase of the session");
}

#[test]
fn flow_the_shared_architecture_waits_for_every_schema() {
    let mut play = discovering(&["get-issue", "list-issues"]);
    follows(&play.report("claude@get-issue", of("schema-discovery")), "wait", &[]);
    follows(&play.report("claude@list-issues", of("schema-discovery")), "spawn", &["tool-lead"]);
}

#[test]
fn flow_shared_architecture_goes_to_each_tools_own() {
    let mut play = discovering(&["get-issue", "list-issues"]);
    play.report("claude@get-issue", of("schema-discovery"));
    play.report("claude@list-issues", of("schema-discovery"));
    let decision = play.report("tool-lead", of("shared-architecture"));
    follows(&decision, "batch", &["tool-lead", "tool-lead"]);
    assert_eq!(play.open(), ["tool-lead@get-issue", "tool-lead@list-issues"]);
}

/// Tests first; that the lead suggested the developer is noted.
#[test]
fn flow_tool_architecture_goes_to_testing_and_then_implementation() {
    let mut play = discovering(&["get-issue"]);
    play.report("claude", of("schema-discovery"));
    play.report("tool-lead", of("shared-architecture"));
    let decision = play.report("tool-lead", of("tool-architecture"));
    follows(&decision, "spawn", &["tool-tester"]);
    warns(&decision, "the agent suggested tool-developer; the workflow decides: tool-tester");
    warns(&decision, "the agent suggested phase implementation; the workflow decides: testing");
    let decision = play.report("tool-tester", whole("tool-tester", "testing", of("files-modified")));
    follows(&decision, "spawn", &["tool-developer"]);
}

/// `next_phase` is not obeyed; a warning notes where the workflow decides otherwise, and only there.
#[test]
fn flow_next_phase_is_compared_with_what_is_decided() {
    let noted = |decision: &Decision| decision.warnings.iter().any(|warning| warning.text.contains("suggested phase"));
    let mut play = discovering(&["get-issue", "list-issues"]);
    assert!(!noted(&play.report("claude@get-issue", of("schema-discovery"))), "it waits before that phase");
    assert!(!noted(&play.report("claude@list-issues", of("schema-discovery"))));
    assert!(!noted(&play.report("tool-lead", of("shared-architecture"))), "two phases are called architecture");
    let mut play = implementing();
    let skips = merged(of("implementation"), json!({ "handoff": { "next_phase": "complete" } }));
    let decision = play.report("tool-developer", skips);
    follows(&decision, "spawn", &["tool-reviewer"]);
    warns(&decision, "the agent suggested phase complete; the workflow decides: review");
    warns(
        &play.report("tool-reviewer", of("review")),
        "the agent suggested phase complete; the workflow decides: merge",
    );
    let merge = json!({ "status": "MERGE_SUCCESS", "handoff": { "next_phase": "complete" } });
    assert!(!noted(&play.report("tool-developer", whole("tool-developer", "merge", merge))));
}

#[test]
fn flow_implementation_goes_to_review() {
    let mut play = implementing();
    let decision = play.report("tool-developer", of("implementation"));
    follows(&decision, "spawn", &["tool-reviewer"]);
}

#[test]
fn flow_review_completes_the_wrapper() {
    let mut play = implementing();
    play.report("tool-developer", of("implementation"));
    follows(&play.report("tool-reviewer", of("review")), "merge", &["tool-developer"]);
    let merge = whole("tool-developer", "merge", json!({ "status": "MERGE_SUCCESS" }));
    follows(&play.report("tool-developer", merge), "end", &[]);
    assert_eq!((play.status("get-issue"), play.state.status.name()), ("completed", "completed"));
}

#[test]
fn flow_a_claim_that_is_not_made_does_not_leave_the_phase() {
    let play = implementing();
    let untested = merged(of("implementation"), json!({ "verification": { "tests_passed": false } }));
    let problems = play.handoff_problems("tool-developer", untested);
    assert_eq!(problems, ["E0226 verification.tests_passed"]);
}

#[test]
fn flow_needs_review_waits_for_a_person() {
    let mut play = implementing();
    let handoff = whole("tool-developer", "implementation", merged(everything(), json!({ "status": "needs_review" })));
    follows(&play.report("tool-developer", handoff), "ask", &[]);
    assert_eq!(play.status("get-issue"), "awaiting_person");
    follows(&play.choose("approve"), "spawn", &["tool-reviewer"]);
}

// ---- Blocked -----------------------------------------------------------------------------

#[test]
fn blocked_schema_discovery_asks_a_person_and_goes_on_with_the_answer() {
    let mut play = discovering(&["get-issue"]);
    let decision = play.report("claude", of("blocked-schema-discovery"));
    follows(&decision, "ask", &[]);
    assert_eq!(decision.rule, "blocked.schema_discovery_failed.any");
    let text = of("blocked-schema-discovery")["handoff"]["context"].clone();
    assert_eq!(json!(decision.question.expect("a question").text), text);
    follows(&play.say("The server runs again"), "respawn", &["claude"]);
    follows(&play.report("claude", of("schema-discovery")), "spawn", &["tool-lead"]);
}

/// The lead itself is the one to decide, so a person is asked.
#[test]
fn blocked_architecture_decision_of_the_lead_asks_a_person() {
    let mut play = discovering(&["get-issue"]);
    play.report("claude", of("schema-discovery"));
    follows(&play.report("tool-lead", of("blocked-architecture-decision")), "ask", &[]);
    follows(&play.say("Paginate"), "respawn", &["tool-lead"]);
    follows(&play.report("tool-lead", of("shared-architecture")), "batch", &["tool-lead"]);
}

#[test]
fn blocked_test_failures_are_debugged_by_the_tester_and_return() {
    let mut play = implementing();
    follows(&play.report("tool-developer", of("blocked-test-failures")), "spawn", &["tool-tester"]);
    assert_eq!(play.status("get-issue"), "blocked");
    let helped = whole("tool-tester", "implementation", json!({ "status": "complete" }));
    follows(&play.report("tool-tester", helped), "return", &["tool-developer"]);
    follows(&play.report("tool-developer", of("implementation")), "spawn", &["tool-reviewer"]);
}

// ---- On receiving a handoff --------------------------------------------------------------

#[test]
fn receiving_the_next_agent_gets_context_files_and_artifacts() {
    let decision = route(WRAPPER, "tool-developer", "complete", &[]).json();
    let mut context: Vec<&str> =
        decision["context"].as_array().unwrap().iter().filter_map(|field| field.as_str()).collect();
    context.sort_unstable();
    assert_eq!(context, ["artifacts", "files_modified", "handoff.context"]);
}

/// The recovery agent is given the handoff, with what blocks and what was attempted.
#[test]
fn receiving_a_blocked_handoff_passes_on_what_was_attempted() {
    let mut play = implementing();
    let decision = play.report("tool-developer", of("blocked-test-failures"));
    for field in ["handoff.context", "attempted"] {
        assert!(decision.context.iter().any(|passed| *passed == field), "{field}: {:?}", decision.context);
    }
    assert!(decision.absent.is_empty());
}

#[test]
fn receiving_a_blocked_handoff_passes_on_the_blockers() {
    let mut play = implementing();
    let decision = play.report("tool-developer", of("blocked-test-failures"));
    assert!(decision.context.iter().any(|passed| *passed == "handoff.blockers"), "{:?}", decision.context);
}
