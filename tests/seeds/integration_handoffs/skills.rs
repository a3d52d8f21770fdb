//! Skill accountability: what was mandatory against what was invoked.

use interlock_core::code::Code;
use serde_json::{Value as Json, json};

use super::{INTEGRATION, architecture, in_implementation};
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

/// The mandatory skills that the check of a handoff asks for, found by invoking none.
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
    handoff_of_the_developer_is_checked_for_its_eight_skills("integration-developer", Some("implementation"), &[
        "using-skills", "discovering-reusable-code", "semantic-code-operations", "developing-with-tdd",
        "enforcing-evidence-based-analysis", "persisting-agent-outputs", "verifying-before-completion", "gateway-integrations",
    ]);
    handoff_of_the_lead_is_checked_for_the_seven_that_it_documents("integration-lead", Some("architecture"), &[
        "using-skills", "discovering-reusable-code", "enforcing-evidence-based-analysis", "gateway-integrations",
        "writing-plans", "persisting-agent-outputs", "verifying-before-completion",
    ]);
    handoff_of_the_test_lead_is_checked_for_one_skill("test-lead", Some("test_planning"), &["persisting-agent-outputs"]);
    handoff_of_security_is_checked_for_two_skills("backend-security", None, &["using-skills", "persisting-agent-outputs"]);
}

/// A helper works for the blocked role, not in its phase.
#[test]
fn help_of_security_is_not_checked_for_the_skills_of_the_phase() {
    let mut play = in_implementation();
    play.report(
        "integration-developer",
        crate::program::example("integration-agent-handoffs/blocked-security-concern"),
    );
    let checked = play.examine("backend-security", json!({ "status": "complete", "skills_invoked": [] }));
    let missing = checked.warnings.iter().filter(|warning| warning.code == Code::SkillMissing);
    let mut skills: Vec<&str> = missing.filter_map(|warning| warning.message.split('`').nth(1)).collect();
    skills.sort_unstable();
    assert_eq!(skills, ["persisting-agent-outputs", "using-skills"]);
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
