//! "MCP wrapper agent handoffs": one format for every phase, checked before it is routed.

mod fields;
mod flow;
mod rules;

use serde_json::{Value as Json, json};

use crate::each;
use crate::program::{completed, direct, example, merged, orchestrated, route, route_blocked, without};

pub(crate) const WRAPPER: &str = "mcp-wrapper";

pub(crate) fn of(name: &str) -> Json {
    example(&format!("mcp-wrapper-agent-handoffs/{name}"))
}

/// A fragment with the fewest fields added that make it a handoff of this document.
pub(crate) fn whole(role: &str, phase: &str, fragment: Json) -> Json {
    let status = fragment.get("status").cloned().unwrap_or(json!("complete"));
    let least = json!({ "status": status, "phase": phase, "summary": "Wrapped get-issue with Zod: 18 tests, 97% fewer tokens" });
    let blocked = json!({
        "blocked_reason": "unknown",
        "handoff": { "blockers": [{ "type": "other", "description": "It stopped", "resolution": "Somebody has a look" }] },
    });
    let least = if status == "blocked" { merged(least, blocked) } else { least };
    completed(role, merged(least, fragment))
}

// ---- Standard format and key rules -------------------------------------------------------

/// The template with one of its statuses, and what its phase asks for beyond it.
fn template(status: &str) -> Json {
    let phase = json!({
        "files_modified": [".claude/tools/linear/get-issue.ts"],
        "verification": { "tests_passed": true, "build_success": true, "lint_passed": true, "coverage_percent": 89 },
    });
    let handoff = merged(of("standard-format"), merged(phase, json!({ "status": status })));
    let handoff = if status == "blocked" {
        merged(handoff, json!({ "blocked_reason": "test_failures" }))
    } else {
        without(without(handoff, "blocked_reason"), "attempted")
    };
    whole("tool-developer", "implementation", handoff)
}

fn format(status: &str) {
    let checked = orchestrated(WRAPPER, "tool-developer").check(&template(status)).valid();
    assert_eq!(checked["status"], status);
    assert_eq!(checked["handoff"], template(status), "nothing is lost");
}

each! { format:
    format_with_status_complete("complete");
    format_with_status_blocked("blocked");
    format_with_status_needs_review("needs_review");
}

#[test]
fn format_has_no_other_status() {
    let handoff = merged(template("complete"), json!({ "status": "needs_clarification" }));
    orchestrated(WRAPPER, "tool-developer").check(&handoff).invalid("E0227", "status");
}

#[test]
fn format_asks_for_the_skill_that_defines_it() {
    let check = |skills: Json| {
        let handoff = merged(template("complete"), json!({ "skills_invoked": skills }));
        orchestrated(WRAPPER, "tool-developer").check(&handoff)
    };
    check(json!(["persisting-agent-outputs", "gateway-typescript", "developing-with-tdd"])).not_warned("E0220");
    check(json!(["gateway-typescript", "developing-with-tdd"])).warned("E0220");
}

#[test]
fn key_rule_blocked_has_a_reason_and_what_was_attempted() {
    let check = |field: &str| orchestrated(WRAPPER, "tool-developer").check(&without(template("blocked"), field));
    check("blocked_reason").invalid("E0217", "blocked_reason");
    check("attempted").invalid("E0216", "attempted");
}

#[test]
fn key_rule_blocked_leaves_next_agent_null() {
    let named = merged(template("blocked"), json!({ "handoff": { "next_agent": "tool-tester" } }));
    orchestrated(WRAPPER, "tool-developer").check(&named).invalid("E0214", "handoff.next_agent");
}

#[test]
fn key_rule_complete_may_suggest_the_next_agent() {
    let named = merged(template("complete"), json!({ "handoff": { "next_agent": "tool-reviewer" } }));
    orchestrated(WRAPPER, "tool-developer").check(&named).valid();
    direct(WRAPPER, "tool-developer").check(&named).valid();
}

#[test]
fn key_rule_the_phase_that_a_handoff_names_says_what_it_must_have() {
    let bare = without(without(template("complete"), "verification"), "files_modified");
    let codes = |checked: &Json| -> Vec<String> {
        let problems = checked["problems"].as_array().expect("a list");
        problems.iter().map(|problem| format!("{} {}", problem["code"], problem["field"]).replace('"', "")).collect()
    };
    let missing = [
        "E0210 files_modified",
        "E0210 verification.coverage_percent",
        "E0226 verification.tests_passed",
        "E0226 verification.build_success",
        "E0226 verification.lint_passed",
    ];
    assert_eq!(codes(&orchestrated(WRAPPER, "tool-developer").check(&bare).any()), missing);
    // Another role may write of a phase that is not its own: it is helping there.
    let helper = merged(bare, json!({ "agent": "tool-tester" }));
    orchestrated(WRAPPER, "tool-tester").check(&helper).valid();
    let nowhere = merged(template("complete"), json!({ "phase": "nosuch" }));
    orchestrated(WRAPPER, "tool-developer").check(&nowhere).invalid("E0225", "phase");
}

#[test]
fn key_rule_a_phase_goes_by_the_name_that_handoffs_use() {
    let shared = json!({
        "status": "complete", "artifacts": ["shared.md"],
        "verification": {
            "patterns_referenced": true, "decisions_documented": true,
            "shared_utilities_identified": true, "token_strategy_defined": true,
        },
    });
    let tool = json!({
        "status": "complete", "artifacts": ["tool.md"],
        "verification": {
            "patterns_referenced": true, "shared_patterns_applied": true,
            "tool_specific_decisions": true, "token_target_calculated": true,
        },
    });
    let lead = orchestrated(WRAPPER, "tool-lead");
    for fragment in [&shared, &tool] {
        let handoff = whole("tool-lead", "architecture", fragment.clone());
        lead.phase("architecture").check(&handoff).valid();
        lead.check(&handoff).valid();
    }
    lead.phase("shared_architecture").check(&whole("tool-lead", "architecture", shared)).valid();
    let neither = whole("tool-lead", "architecture", json!({ "status": "complete" }));
    assert_eq!(lead.phase("architecture").check(&neither).any()["valid"], false);
    route(WRAPPER, "tool-lead", "complete", &["--phase", "architecture"]).goes("spawn", &["tool-tester"]);
    let session = ["--phase", "architecture", "--scope", "session", "--fact", "groups.pending=3"];
    route(WRAPPER, "tool-lead", "complete", &session).goes("batch", &["tool-lead", "tool-lead", "tool-lead"]);
    route(WRAPPER, "tool-lead", "complete", &["--phase", "architectur"]).refused(4, "E0112");
}

// ---- status ------------------------------------------------------------------------------

#[test]
fn status_complete_goes_to_the_next_phase() {
    route(WRAPPER, "tool-developer", "complete", &[]).goes("spawn", &["tool-reviewer"]);
}

#[test]
fn status_blocked_is_routed_by_its_reason() {
    route_blocked(WRAPPER, "tool-developer", "test_failures", "orchestrated").goes("spawn", &["tool-tester"]);
}

#[test]
fn status_needs_review_asks_for_approval() {
    let decision = route(WRAPPER, "tool-lead", "needs_review", &["--phase", "shared_architecture"]).asks();
    assert_eq!(decision["question"]["options"], json!(["approve", "reject"]));
}

// ---- blocked_reason ----------------------------------------------------------------------

/// A reason is taken, and routed: to a role, or to a person.
fn reason(reason: &str, target: Option<&str>) {
    let handoff = merged(template("blocked"), json!({ "blocked_reason": reason }));
    orchestrated(WRAPPER, "tool-developer").check(&handoff).valid();
    let routed = route_blocked(WRAPPER, "tool-developer", reason, "orchestrated");
    match target {
        Some(role) => routed.goes("spawn", &[role]),
        None => routed.asks(),
    };
}

each! { reason:
    reason_security_concern_goes_to_the_reviewer("security_concern", Some("tool-reviewer"));
    reason_architecture_decision_goes_to_the_lead("architecture_decision", Some("tool-lead"));
    reason_missing_requirements_goes_to_a_person("missing_requirements", None);
    reason_test_failures_goes_to_the_tester("test_failures", Some("tool-tester"));
    reason_out_of_scope_goes_to_a_person("out_of_scope", None);
    reason_schema_discovery_failed_goes_to_a_person("schema_discovery_failed", None);
    reason_unknown_goes_to_a_person("unknown", None);
}

#[test]
fn reason_is_one_of_the_seven() {
    let handoff = merged(template("blocked"), json!({ "blocked_reason": "mcp_down" }));
    orchestrated(WRAPPER, "tool-developer").check(&handoff).invalid("E0212", "blocked_reason");
}

// ---- phase -------------------------------------------------------------------------------

/// The phase in the handoff is the one of the assignment.
fn phase(role: &str, assigned: &str, written: &str) {
    let asked = orchestrated(WRAPPER, role).phase(assigned);
    let handoff = |name: &str| whole(role, name, json!({ "status": "needs_review" }));
    let review = merged(handoff(written), everything());
    asked.check(&review).valid();
    let other = if written == "review" { "testing" } else { "review" };
    asked.check(&merged(handoff(other), everything())).invalid("E0225", "phase");
    asked.check(&without(review, "phase")).invalid("E0210", "phase");
}

/// The fields that any phase requires.
pub(crate) fn everything() -> Json {
    let claims = ["verification-implementation", "verification-schema-discovery", "verification-architecture"];
    let claims = claims.into_iter().fold(json!({}), |all, name| merged(all, of(name)));
    let more = json!({ "verification": {
        "shared_patterns_applied": true, "tool_specific_decisions": true, "token_target_calculated": true,
        "architecture_adherence": true, "typescript_patterns": true, "documentation_present": true,
        "security_implemented": true, "tests_verified": true, "build_verified": true,
    } });
    merged(merged(merged(claims, more), of("files-modified")), of("artifacts"))
}

each! { phase:
    phase_schema_discovery_is_from_the_discovery_agents("claude", "schema_discovery", "schema_discovery");
    phase_architecture_is_from_tool_lead_for_all_tools("tool-lead", "shared_architecture", "architecture");
    phase_architecture_is_from_tool_lead_for_one_tool("tool-lead", "tool_architecture", "architecture");
    phase_testing_is_from_tool_tester("tool-tester", "testing", "testing");
    phase_implementation_is_from_tool_developer("tool-developer", "implementation", "implementation");
    phase_review_is_from_tool_reviewer("tool-reviewer", "review", "review");
}
