//! "Blocked agent routing": who helps a blocked agent, by reason and domain, in both contexts.

use serde_json::{Value as Json, json};

use crate::each;
use crate::program::{
    completed, completed_example, direct, example, merged, orchestrated, prompted, route_blocked, without,
};
use crate::session::{Play, follows};

const FEATURE: &str = "feature";

/// A cell of the table. `user` is a person.
fn cell(role: &str, reason: &str, target: &str) {
    for context in ["orchestrated", "direct"] {
        let routed = route_blocked(FEATURE, role, reason, context);
        if target == "user" {
            assert_eq!(routed.asks()["question"]["name"], "clarify");
        } else {
            routed.goes("spawn", &[target]);
        }
    }
}

each! { cell:
    table_security_concern_frontend_goes_to_frontend_security("frontend-developer", "security_concern", "frontend-security");
    table_security_concern_backend_goes_to_backend_security("backend-developer", "security_concern", "backend-security");
    table_security_concern_capability_goes_to_capability_reviewer("capability-developer", "security_concern", "capability-reviewer");
    table_security_concern_tool_goes_to_tool_reviewer("tool-developer", "security_concern", "tool-reviewer");
    table_architecture_decision_frontend_goes_to_frontend_lead("frontend-developer", "architecture_decision", "frontend-lead");
    table_architecture_decision_backend_goes_to_backend_lead("backend-developer", "architecture_decision", "backend-lead");
    table_architecture_decision_capability_goes_to_capability_lead("capability-developer", "architecture_decision", "capability-lead");
    table_architecture_decision_tool_goes_to_tool_lead("tool-developer", "architecture_decision", "tool-lead");
    table_missing_requirements_frontend_goes_to_a_person("frontend-developer", "missing_requirements", "user");
    table_missing_requirements_backend_goes_to_a_person("backend-developer", "missing_requirements", "user");
    table_missing_requirements_capability_goes_to_a_person("capability-developer", "missing_requirements", "user");
    table_missing_requirements_tool_goes_to_a_person("tool-developer", "missing_requirements", "user");
    table_test_failures_frontend_goes_to_frontend_tester("frontend-developer", "test_failures", "frontend-tester");
    table_test_failures_backend_goes_to_backend_tester("backend-developer", "test_failures", "backend-tester");
    table_test_failures_capability_goes_to_capability_tester("capability-developer", "test_failures", "capability-tester");
    table_test_failures_tool_goes_to_tool_tester("tool-developer", "test_failures", "tool-tester");
    table_out_of_scope_frontend_goes_to_a_person("frontend-developer", "out_of_scope", "user");
    table_out_of_scope_backend_goes_to_a_person("backend-developer", "out_of_scope", "user");
    table_out_of_scope_capability_goes_to_a_person("capability-developer", "out_of_scope", "user");
    table_out_of_scope_tool_goes_to_a_person("tool-developer", "out_of_scope", "user");
    table_unknown_frontend_goes_to_a_person("frontend-developer", "unknown", "user");
    table_unknown_backend_goes_to_a_person("backend-developer", "unknown", "user");
    table_unknown_capability_goes_to_a_person("capability-developer", "unknown", "user");
    table_unknown_tool_goes_to_a_person("tool-developer", "unknown", "user");
}

/// What an agent writes for a cell: null when orchestrated, the table's answer without an orchestrator.
fn next_agent(role: &str, reason: &str, target: &Json) {
    let blocked = |next: &Json| {
        completed(role, json!({ "status": "blocked", "blocked_reason": reason, "handoff": { "next_agent": next } }))
    };
    orchestrated(FEATURE, role).check(&blocked(&Json::Null)).valid();
    direct(FEATURE, role).check(&blocked(target)).valid();
    let somebody = json!("frontend-reviewer");
    orchestrated(FEATURE, role).check(&blocked(&somebody)).invalid("E0214", "handoff.next_agent");
    direct(FEATURE, role).check(&blocked(&somebody)).invalid("E0214", "handoff.next_agent");
}

each! { next_agent:
    next_agent_security_concern_frontend("frontend-developer", "security_concern", &json!("frontend-security"));
    next_agent_security_concern_backend("backend-developer", "security_concern", &json!("backend-security"));
    next_agent_security_concern_capability("capability-developer", "security_concern", &json!("capability-reviewer"));
    next_agent_security_concern_tool("tool-developer", "security_concern", &json!("tool-reviewer"));
    next_agent_architecture_decision_frontend("frontend-developer", "architecture_decision", &json!("frontend-lead"));
    next_agent_architecture_decision_backend("backend-developer", "architecture_decision", &json!("backend-lead"));
    next_agent_architecture_decision_capability("capability-developer", "architecture_decision", &json!("capability-lead"));
    next_agent_architecture_decision_tool("tool-developer", "architecture_decision", &json!("tool-lead"));
    next_agent_missing_requirements_frontend("frontend-developer", "missing_requirements", &json!(null));
    next_agent_missing_requirements_backend("backend-developer", "missing_requirements", &json!(null));
    next_agent_missing_requirements_capability("capability-developer", "missing_requirements", &json!(null));
    next_agent_missing_requirements_tool("tool-developer", "missing_requirements", &json!(null));
    next_agent_test_failures_frontend("frontend-developer", "test_failures", &json!("frontend-tester"));
    next_agent_test_failures_backend("backend-developer", "test_failures", &json!("backend-tester"));
    next_agent_test_failures_capability("capability-developer", "test_failures", &json!("capability-tester"));
    next_agent_test_failures_tool("tool-developer", "test_failures", &json!("tool-tester"));
    next_agent_out_of_scope_frontend("frontend-developer", "out_of_scope", &json!(null));
    next_agent_out_of_scope_backend("backend-developer", "out_of_scope", &json!(null));
    next_agent_out_of_scope_capability("capability-developer", "out_of_scope", &json!(null));
    next_agent_out_of_scope_tool("tool-developer", "out_of_scope", &json!(null));
    next_agent_unknown_frontend("frontend-developer", "unknown", &json!(null));
    next_agent_unknown_backend("backend-developer", "unknown", &json!(null));
    next_agent_unknown_capability("capability-developer", "unknown", &json!(null));
    next_agent_unknown_tool("tool-developer", "unknown", &json!(null));
}

// ---- The two contexts -------------------------------------------------------------------

#[test]
fn orchestrated_the_router_passes_on_what_the_agent_said() {
    let decision = route_blocked(FEATURE, "frontend-developer", "security_concern", "orchestrated")
        .goes("spawn", &["frontend-security"]);
    assert_eq!(decision["context"], json!(["handoff.context", "attempted"]));
    assert_eq!(decision["rule"], "blocked.security_concern.frontend");
}

/// The workflow's own rows are the context that overrides the table: a role beats its domain.
#[test]
fn orchestrated_a_workflow_overrides_the_table_for_its_own_role() {
    route_blocked("integration", "integration-developer", "architecture_decision", "orchestrated")
        .goes("spawn", &["integration-lead"]);
    route_blocked("integration", "integration-developer", "test_failures", "orchestrated")
        .goes("spawn", &["backend-tester"]);
}

#[test]
fn direct_nobody_overrides_the_table() {
    route_blocked(FEATURE, "integration-developer", "architecture_decision", "direct").goes("spawn", &["backend-lead"]);
}

// ---- Decision logic ---------------------------------------------------------------------

/// An agent learns its context from its prompt.
fn told_by(prompt: &str, is_orchestrated: bool) {
    let named = completed_example("blocked-agent-routing/logic-direct", "frontend-developer");
    let silent = completed_example("blocked-agent-routing/logic-orchestrated", "frontend-developer");
    let (good, bad) = if is_orchestrated { (silent, named) } else { (named, silent) };
    prompted(FEATURE, "frontend-developer", prompt).check(&good).valid();
    prompted(FEATURE, "frontend-developer", prompt).check(&bad).invalid("E0214", "handoff.next_agent");
}

each! { told_by:
    context_an_output_directory_in_the_prompt_is_orchestrated("Build it.\n\nOUTPUT_DIRECTORY: .claude/.output/features/form\n", true);
    context_an_orchestrator_named_in_the_prompt_is_orchestrated("Spawned by orchestrating-feature-development.\n", true);
    context_neither_in_the_prompt_is_direct("Build the user input form.\n", false);
}

/// The domain as the name tells it, for a role that no workflow declares; orchestrated, it could hold no assignment.
fn domain(role: &str, security: &str) {
    route_blocked(FEATURE, role, "security_concern", "direct").goes("spawn", &[security]);
}

each! { domain:
    domain_of_frontend_names("frontend-architect", "frontend-security");
    domain_of_backend_names("backend-architect", "backend-security");
    domain_of_capability_names("capability-architect", "capability-reviewer");
    domain_of_tool_names("tool-architect", "tool-reviewer");
    domain_of_integration_names_is_backend("integration-developer", "backend-security");
    domain_of_python_names_is_backend("python-developer", "backend-security");
    domain_example_frontend_developer("frontend-developer", "frontend-security");
    domain_example_backend_reviewer("backend-reviewer", "backend-security");
    domain_example_capability_tester("capability-tester", "capability-reviewer");
    domain_example_tool_lead("tool-lead", "tool-reviewer");
}

#[test]
fn domain_is_never_guessed() {
    route_blocked(FEATURE, "debugger", "security_concern", "direct").refused(4, "E0110");
    route_blocked(FEATURE, "python-analyst", "security_concern", "orchestrated").refused(4, "E0110");
    // Declared, but of no domain: the declared answer for that is a person.
    route_blocked(FEATURE, "test-lead", "security_concern", "orchestrated").asks();
}

#[test]
fn a_route_to_the_blocked_role_itself_goes_to_a_person() {
    route_blocked(FEATURE, "frontend-lead", "architecture_decision", "orchestrated").asks();
    route_blocked(FEATURE, "backend-tester", "test_failures", "orchestrated").asks();
    route_blocked(FEATURE, "tool-reviewer", "security_concern", "direct").asks();
}

#[test]
fn logic_orchestrated_leaves_next_agent_null() {
    let handoff = completed_example("blocked-agent-routing/logic-orchestrated", "frontend-developer");
    orchestrated(FEATURE, "frontend-developer").check(&handoff).valid();
    direct(FEATURE, "frontend-developer").check(&handoff).invalid("E0214", "handoff.next_agent");
}

#[test]
fn logic_direct_fills_next_agent_from_the_table() {
    let handoff = completed_example("blocked-agent-routing/logic-direct", "frontend-developer");
    direct(FEATURE, "frontend-developer").check(&handoff).valid();
    orchestrated(FEATURE, "frontend-developer").check(&handoff).invalid("E0214", "handoff.next_agent");
}

// ---- Examples ---------------------------------------------------------------------------

/// A feature of one group, in implementation.
fn in_implementation(domain: &str) -> Play {
    let mut play = Play::start(FEATURE);
    let groups = json!([{ "id": "main", "title": "The feature", "domain": domain }]);
    play.report("planner", json!({ "status": "complete", "groups": groups }));
    play.report(&format!("{domain}-lead"), json!({ "status": "complete" }));
    play
}

#[test]
fn example_1_orchestrated_security_concern_spawns_frontend_security_with_the_context() {
    let handoff = example("blocked-agent-routing/example-1-security-concern");
    orchestrated(FEATURE, "frontend-developer").phase("implementation").check(&handoff).valid();
    let mut play = in_implementation("frontend");
    let decision = play.report("frontend-developer", handoff);
    follows(&decision, "spawn", &["frontend-security"]);
    assert_eq!(decision.absent, [""; 0], "the context and what was attempted are there to pass on");
    assert_eq!(play.status("main"), "blocked");
    // Resolved, the agent that was blocked goes on.
    let decision = play.report("frontend-security", json!({ "status": "complete" }));
    follows(&decision, "return", &["frontend-developer"]);
    assert_eq!((decision.next[0].attempt, play.status("main")), (2, "in_progress"));
}

#[test]
fn example_2_direct_architecture_decision_names_backend_lead() {
    let handoff = example("blocked-agent-routing/example-2-architecture-decision");
    direct(FEATURE, "backend-developer").check(&handoff).valid();
    let wrong = merged(handoff, json!({ "handoff": { "next_agent": "frontend-lead" } }));
    direct(FEATURE, "backend-developer").check(&wrong).invalid("E0214", "handoff.next_agent");
    route_blocked(FEATURE, "backend-developer", "architecture_decision", "direct").goes("spawn", &["backend-lead"]);
}

#[test]
fn example_3_orchestrated_missing_requirements_asks_and_respawns_with_the_answer() {
    let handoff = example("blocked-agent-routing/example-3-missing-requirements");
    orchestrated(FEATURE, "capability-developer").phase("implementation").check(&handoff).valid();
    let options = json!(["public-read ACL", "any anonymous access policy", "unauthenticated GetObject"]);
    let question = json!([{ "text": "What is an exposed S3 bucket?", "options": options }]);
    let mut play = in_implementation("capability");
    let decision = play.report("capability-developer", merged(handoff, json!({ "questions": question })));
    follows(&decision, "ask", &[]);
    assert_eq!(json!(decision.question.expect("a question").options), options);
    assert_eq!(play.status("main"), "awaiting_person");
    let decision = play.choose("any anonymous access policy");
    follows(&decision, "respawn", &["capability-developer"]);
    assert_eq!(decision.next[0].attempt, 2);
    assert_eq!(*decision.context, ["answer"]);
}

#[test]
fn example_4_direct_test_failures_names_tool_tester() {
    let handoff = example("blocked-agent-routing/example-4-test-failures");
    direct(FEATURE, "tool-developer").check(&handoff).valid();
    let silent = merged(handoff, json!({ "handoff": { "next_agent": null } }));
    direct(FEATURE, "tool-developer").check(&silent).invalid("E0214", "handoff.next_agent");
    route_blocked(FEATURE, "tool-developer", "test_failures", "direct").goes("spawn", &["tool-tester"]);
}

// ---- Validation rules -------------------------------------------------------------------

fn blocked() -> Json {
    completed("frontend-developer", json!({ "status": "blocked", "blocked_reason": "unknown" }))
}

fn rule_1(reason: &str) {
    let handoff = merged(blocked(), json!({ "blocked_reason": reason }));
    orchestrated(FEATURE, "frontend-developer").check(&handoff).valid();
}

each! { rule_1:
    rule_1_security_concern_is_a_reason("security_concern");
    rule_1_architecture_decision_is_a_reason("architecture_decision");
    rule_1_missing_requirements_is_a_reason("missing_requirements");
    rule_1_test_failures_is_a_reason("test_failures");
    rule_1_out_of_scope_is_a_reason("out_of_scope");
    rule_1_unknown_is_a_reason("unknown");
}

#[test]
fn rule_1_anything_else_is_no_reason() {
    let check = |handoff: Json| orchestrated(FEATURE, "frontend-developer").check(&handoff);
    check(merged(blocked(), json!({ "blocked_reason": "environment" }))).invalid("E0212", "blocked_reason");
    check(without(blocked(), "blocked_reason")).invalid("E0217", "blocked_reason");
    route_blocked(FEATURE, "frontend-developer", "environment", "orchestrated").refused(4, "E0212");
}

#[test]
fn rule_2_something_was_attempted() {
    let check = |handoff: Json| orchestrated(FEATURE, "frontend-developer").check(&handoff);
    check(blocked()).valid();
    check(merged(blocked(), json!({ "attempted": [] }))).invalid("E0216", "attempted");
    check(without(blocked(), "attempted")).invalid("E0216", "attempted");
}

#[test]
fn rule_3_the_context_describes_the_blocker() {
    let check = |handoff: Json| orchestrated(FEATURE, "frontend-developer").check(&handoff);
    check(blocked()).valid();
    check(merged(blocked(), json!({ "handoff": { "context": " " } }))).invalid("E0219", "handoff.context");
    check(without(blocked(), "handoff.context")).invalid("E0219", "handoff.context");
}

#[test]
fn rule_4_next_agent_is_null_when_orchestrated() {
    let named = merged(blocked(), json!({ "handoff": { "next_agent": "frontend-lead" } }));
    orchestrated(FEATURE, "frontend-developer").check(&blocked()).valid();
    orchestrated(FEATURE, "frontend-developer").check(&named).invalid("E0214", "handoff.next_agent");
}

#[test]
fn rule_4_next_agent_is_the_tables_answer_without_an_orchestrator() {
    let handoff = |next: &str| {
        let said = json!({ "blocked_reason": "test_failures", "handoff": { "next_agent": next } });
        direct(FEATURE, "frontend-developer").check(&merged(blocked(), said))
    };
    handoff("frontend-tester").valid();
    handoff("frontend-lead").invalid("E0214", "handoff.next_agent");
}

#[test]
fn rule_5_the_domain_is_the_agents_own() {
    let handoff = |next: &str| {
        let said = json!({ "blocked_reason": "security_concern", "handoff": { "next_agent": next } });
        direct(FEATURE, "frontend-developer").check(&merged(blocked(), said))
    };
    handoff("frontend-security").valid();
    handoff("backend-security").invalid("E0214", "handoff.next_agent");
}
