//! A report that ends the session confirms only the groups whose blocker, attempts and approver its prompt stated.

use serde_json::json;

use super::play::PromptTestSession;
use crate::BUDGET;

/// Groups that were blocked once and then merged. Each report is as long as this.
pub(super) fn awaiting(groups: &[&str], length: usize) -> PromptTestSession {
    let mut play = PromptTestSession::groups(groups);
    let words = "details ".repeat(length / 8);
    for group in groups {
        let whose = |role: &str| format!("{role}@{group}");
        let context = |text: &str| json!({ "next_agent": null, "context": format!("{text} of {group} {words}") });
        play.report(&whose("developer"), json!({ "status": "READY_FOR_QA", "handoff": context("The build") }));
        let blocked = json!({
            "status": "BLOCKED", "blocked_reason": "environment", "attempted": [format!("Restarted {group}"), words],
            "handoff": context("No database"),
        });
        play.report(&whose("qa_expert"), blocked);
        let guidance = json!({ "status": "UNBLOCKING_GUIDANCE", "guidance": words, "handoff": context("The way") });
        play.report(&whose("tech_lead"), guidance);
        play.report(&whose("qa_expert"), json!({ "status": "PASS", "handoff": context("The tests") }));
        let approved = json!({ "status": "APPROVED", "issues": [], "handoff": context("The review") });
        play.report(&whose("tech_lead"), approved);
        play.report(&whose("developer"), json!({ "status": "MERGE_SUCCESS", "handoff": context("The merge") }));
        if play.has_open_gate() {
            play.gate(true, "ok");
        }
    }
    play
}

#[test]
fn prompt_of_long_reports_states_the_facts_of_every_group_first() {
    let groups = ["a", "b", "c", "d"];
    let play = awaiting(&groups, 8_000);
    let (prompt, _) = play.prompts("project_manager", None, BUDGET);
    assert_eq!(prompt.confirmable, groups);
    for group in groups {
        for fact in [
            format!(
                "- {group} [awaiting_confirmation] it was once blocked\n  blocker of qa_expert (environment): No database of {group}"
            ),
            format!("attempts of qa_expert: 2; tried: Restarted {group}"),
        ] {
            assert!(prompt.text.contains(&fact), "{fact}: {}", prompt.text);
        }
    }
    assert!(prompt.text.contains("approved by: qa_expert (qa), tech_lead (review)"), "{}", prompt.text);
    let reports = &prompt.whole.iter().find(|(name, _)| name == "whole/open-group.md").expect("the reports").1;
    let place = |text: &str| reports.find(text).unwrap_or_else(|| panic!("{text}: {reports}"));
    assert!(place("No database of a") < place("The build of a"), "{reports}");
}

#[test]
fn group_whose_facts_were_cut_is_confirmed_by_name_only() {
    let mut play = awaiting(&["a", "b"], 80);
    play.budget = (1_000..BUDGET)
        .step_by(20)
        .find(|budget| play.prompts("project_manager", None, *budget).0.confirmable == ["a"])
        .expect("a budget in which one group fits");
    play.report("project_manager", json!({ "status": "BAZINGA" }));
    assert_eq!([play.status_of("a"), play.status_of("b")], ["completed", "awaiting_confirmation"]);
    play.report("project_manager", json!({ "status": "BAZINGA", "accept": ["b"] }));
    assert_eq!(play.status_of("b"), "completed");
}
