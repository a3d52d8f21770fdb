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

/// The template with one of its statuses.
fn template(status: &str) -> Json {
    let handoff = merged(of("standard-format"), json!({ "status": status }));
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
    check(json!(["persisting-agent-outputs"])).not_warned("E0220");
    check(json!(["gateway-typescript"])).warned("E0220");
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

/// Whatever any phase asks for.
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
