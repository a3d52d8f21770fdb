//! Skill accountability: what was mandatory against what was invoked.

use serde_json::{Value as Json, json};

use super::{INTEGRATION, architecture};
use crate::each;
use crate::program::{completed, completed_example, orchestrated, workflow_file};

/// The document's own list of three, as a workflow.
fn three_skills(enforced: &str) -> String {
    let skills = "[persisting-agent-outputs, verifying-before-completion, gateway-integrations]";
    workflow_file(&format!(
        "workflow: mine\nlanguage: 1\nextends: delivery-team\nhandoff: {{ skills: {skills}{enforced} }}\n"
    ))
}

fn returned(skills: &[&str]) -> Json {
    completed("developer", json!({ "status": "READY_FOR_QA", "skills_invoked": skills }))
}

fn discrepancies(checked: &Json) -> Vec<&str> {
    let warnings = checked["warnings"].as_array().expect("a list").iter();
    let missing = warnings.filter(|warning| warning["code"] == "E0220");
    missing.filter_map(|warning| warning["message"].as_str()?.split('`').nth(1)).collect()
}

#[test]
fn verification_all_skills_invoked_is_no_discrepancy() {
    let skills = ["persisting-agent-outputs", "verifying-before-completion", "gateway-integrations"];
    let checked = orchestrated(&three_skills(""), "developer").check(&returned(&skills)).valid();
    assert_eq!(discrepancies(&checked), [""; 0]);
}

#[test]
fn verification_example_misses_verifying_before_completion() {
    let skills = ["persisting-agent-outputs", "gateway-integrations"];
    let checked = orchestrated(&three_skills(""), "developer").check(&returned(&skills)).valid();
    assert_eq!(discrepancies(&checked), ["verifying-before-completion"]);
}

#[test]
fn verification_can_be_enforced() {
    let workflow = three_skills(", missing_skills: refuse");
    let skills = ["persisting-agent-outputs", "gateway-integrations"];
    orchestrated(&workflow, "developer").check(&returned(&skills)).invalid("E0220", "skills_invoked");
}

/// The mandatory skills of a role's prompt, found by invoking none.
fn mandatory(role: &str, phase: Option<&str>, skills: &[&str]) {
    let handoff = completed(role, architecture(json!({ "status": "complete" })));
    let asked = orchestrated(INTEGRATION, role);
    let asked = phase.map_or(asked, |phase| asked.phase(phase));
    let checked = asked.check(&handoff).valid();
    let mut found = discrepancies(&checked);
    found.sort_unstable();
    let mut skills = skills.to_vec();
    skills.sort_unstable();
    assert_eq!(found, skills);
}

each! { mandatory:
    prompt_of_the_developer_has_its_eight_skills("integration-developer", Some("implementation"), &[
        "using-skills", "discovering-reusable-code", "semantic-code-operations", "developing-with-tdd",
        "enforcing-evidence-based-analysis", "persisting-agent-outputs", "verifying-before-completion", "gateway-integrations",
    ]);
    prompt_of_the_lead_has_the_seven_that_it_documents("integration-lead", Some("architecture"), &[
        "using-skills", "discovering-reusable-code", "enforcing-evidence-based-analysis", "gateway-integrations",
        "writing-plans", "persisting-agent-outputs", "verifying-before-completion",
    ]);
    prompt_of_the_test_lead_has_one_skill("test-lead", Some("test_planning"), &["persisting-agent-outputs"]);
    prompt_of_security_has_two_skills("backend-security", None, &["using-skills", "persisting-agent-outputs"]);
}

#[test]
fn library_skills_are_kept() {
    let fragment = crate::program::example("integration-agent-handoffs/library-skills");
    let read = fragment["library_skills_read"].clone();
    let mut handoff = completed_example("integration-agent-handoffs/library-skills", "integration-lead");
    handoff["status"] = json!("complete");
    let checked = orchestrated(INTEGRATION, "integration-lead").check(&handoff).valid();
    assert_eq!(checked["handoff"]["library_skills_read"], read);
}
