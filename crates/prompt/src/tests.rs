//! Prompts of states that real commands led to.

#![allow(clippy::needless_pass_by_value, reason = "json!({…}) reads better without a reference")]

mod confirm;
mod findings;
mod frame;
mod generated;
mod hostile;
mod play;
mod reach;

use serde_json::json;

use crate::BUDGET;
use crate::PRIORITIES;
use crate::SectionKind;
use play::{PromptTestSession, issue};

const MISSION: &str = "# Login\n\nPeople sign in with a password. Lock the account after five wrong ones.\n";

#[test]
fn the_first_prompt_of_the_manager() {
    let play = PromptTestSession::start("delivery-team");
    insta::assert_snapshot!(play.prompt("project_manager", Some(MISSION)));
}

#[test]
fn a_developer_after_changes_were_requested_twice() {
    let mut play = PromptTestSession::groups(&["login"]);
    play.report("developer", json!({ "status": "READY_FOR_REVIEW" }));
    let first = [issue("R1-1", "Token is logged", "HIGH", true), issue("R1-2", "Name says little", "LOW", false)];
    let second = issue("R1-3", "No test for the lock", "MEDIUM", true);
    let issues = json!([first[0], first[1], second]);
    play.report("tech_lead", json!({ "status": "CHANGES_REQUESTED", "issues": issues }));
    let responses = json!([
        { "id": "R1-1", "response": "fixed" },
        { "id": "R1-2", "response": "rejected", "reason": "It is the protocol's own name" },
        { "id": "R1-3", "response": "rejected", "reason": "login.test.ts:88 has one" },
    ]);
    let dev = "Session tokens are no longer logged.";
    play.report("developer", json!({ "status": "READY_FOR_REVIEW", "dev_output": dev, "issue_responses": responses }));
    let issues =
        json!([issue("R2-1", "Token is logged", "HIGH", true), issue("R2-2", "Lock is never lifted", "HIGH", true)]);
    play.report(
        "tech_lead",
        json!({
            "status": "CHANGES_REQUESTED", "issues": issues, "tl_feedback": "The token is still in the debug log.",
            "iteration_tracking": { "iteration": 2, "rejections_accepted": ["R1-3"], "rejections_overruled": ["R1-2"] },
        }),
    );
    let prompt = play.prompt("developer", Some(MISSION));
    assert!(prompt.contains("- `review`, you: iteration 2 of 5, no progress for 1 of 2"), "{prompt}");
    assert!(
        prompt.contains("HIGH RISK: the next review iteration without progress escalates to senior_software_engineer")
    );
    insta::assert_snapshot!(prompt);
    play.report("developer", json!({ "status": "READY_FOR_REVIEW" }));
    let again = play.prompt("tech_lead", None);
    assert!(again.contains("Settle each of your findings.") && again.contains(r#""iteration":3"#), "{again}");
    assert!(
        again.contains("rejection accepted, do not raise it again") && again.contains("No test for the lock"),
        "{again}"
    );
}

#[test]
fn a_lead_is_consulted_on_a_block() {
    let mut play = PromptTestSession::groups(&["login"]);
    play.report("developer", json!({ "status": "READY_FOR_QA" }));
    let blocked = json!({
        "status": "BLOCKED", "blocked_reason": "environment", "blocker_details": "Port 5432 is taken.",
        "attempted": ["Started the database by hand", "Ran the tests without it: 9 of 14 need it"],
        "handoff": { "next_agent": null, "context": "The test database does not start." },
    });
    play.report("qa_expert", blocked);
    insta::assert_snapshot!(play.prompt("tech_lead", Some(MISSION)));
}

#[test]
fn a_merge() {
    let mut play = PromptTestSession::groups(&["login"]);
    play.report("developer", json!({ "status": "READY_FOR_QA" }));
    play.report("qa_expert", json!({ "status": "PASS" }));
    play.report("tech_lead", json!({ "status": "APPROVED", "issues": [], "approval_notes": "Small and tested." }));
    insta::assert_snapshot!(play.prompt("developer", None));
}

#[test]
fn the_manager_after_the_validator_rejected() {
    let mut play = PromptTestSession::groups(&["login", "sms"]);
    for group in ["login", "sms"] {
        play.report(&format!("developer@{group}"), json!({ "status": "READY_FOR_QA" }));
        play.report(&format!("qa_expert@{group}"), json!({ "status": "PASS" }));
    }
    play.report("tech_lead@login", json!({ "status": "APPROVED", "issues": [] }));
    play.report("developer@login", json!({ "status": "MERGE_SUCCESS" }));
    play.report("tech_lead@sms", json!({ "status": "BLOCKED" }));
    let why = "The provider has no test account yet";
    play.report("project_manager@sms", json!({ "status": "DEFERRED_EXTERNAL", "defer_reason": why }));
    play.report("project_manager", json!({ "status": "BAZINGA", "completion_summary": "All done." }));
    insta::assert_snapshot!(play.prompt("project_manager", Some(MISSION)));
}

#[test]
fn a_phase_with_its_skills() {
    let mut play = PromptTestSession::start("feature");
    let skills = json!(["persisting-agent-outputs", "writing-plans"]);
    let group = json!({ "id": "login", "title": "Login form", "domain": "frontend", "goal": "Lock after five tries" });
    play.report("planner", json!({ "status": "complete", "skills_invoked": skills, "groups": [group] }));
    let plan = play.prompt("frontend-lead", None);
    assert!(plan.contains("Lock after five tries"), "{plan}");
    let context = json!({ "next_agent": null, "context": "Follow sections 1 to 5 of architecture.md." });
    let done =
        json!({ "status": "complete", "skills_invoked": skills, "artifacts": ["architecture.md"], "handoff": context });
    play.report("frontend-lead", done);
    insta::assert_snapshot!(play.prompt("frontend-developer", Some(MISSION)));
}

#[test]
fn an_answer_comes_with_its_question() {
    let mut play = PromptTestSession::start("delivery-team");
    let question = json!([{ "text": "Lock after how many tries?", "options": ["3", "5"] }]);
    play.report("project_manager", json!({ "status": "NEEDS_CLARIFICATION", "questions": question }));
    play.choose("5", Some("and tell\nthe person"));
    let prompt = play.prompt("project_manager", None);
    assert!(prompt.contains("## ada answered a question"), "{prompt}");
    assert!(prompt.contains("\nquestion: Lock after how many tries?"), "{prompt}");
    assert!(prompt.contains("\nchosen: 5\nanswer: and tell\nthe person\n"), "{prompt}");
    assert!(prompt.contains("## You reported `NEEDS_CLARIFICATION`"), "the earlier report stays: {prompt}");
}

#[test]
fn the_output_of_a_gate_is_handed_on() {
    let mut play = PromptTestSession::start("delivery-team");
    let group = json!({ "id": "login", "title": "Login", "checks": ["npm test"] });
    play.report("project_manager", json!({ "status": "PLANNING_COMPLETE", "groups": [group] }));
    play.report("developer", json!({ "status": "READY_FOR_QA" }));
    play.report("qa_expert", json!({ "status": "PASS" }));
    play.report("tech_lead", json!({ "status": "APPROVED", "issues": [] }));
    play.report("developer", json!({ "status": "MERGE_SUCCESS" }));
    play.gate(false, "1 test failed\nlogin > locks");
    let prompt = play.prompt("developer", None);
    assert!(prompt.contains("## Gate `checks` failed on `login`\n"), "{prompt}");
    assert!(prompt.contains("1 test failed\nlogin > locks\n```"), "{prompt}");
}

#[test]
fn an_attempt_that_was_lost_hands_on_what_it_had_got() {
    let mut play = PromptTestSession::groups(&["login"]);
    play.report("developer", json!({ "status": "READY_FOR_REVIEW" }));
    let issues = json!([issue("R1-1", "Token is logged", "HIGH", true)]);
    play.report(
        "tech_lead",
        json!({ "status": "CHANGES_REQUESTED", "issues": issues, "tl_feedback": "Do not log it." }),
    );
    play.lose("developer", None);
    play.lose("developer", None);
    let prompt = play.prompt("developer", None);
    assert!(prompt.contains("tl_feedback: Do not log it."), "{prompt}");
    assert!(prompt.contains("an attempt ended without an accepted handoff (`no_handoff`)"), "{prompt}");
    assert!(prompt.contains("- `retry`, you: iteration 2 of 3; the next one escalates"), "{prompt}");
    assert!(prompt.contains("FINAL ITERATION of retry"), "{prompt}");
}

#[test]
fn every_section_has_its_priority() {
    let mut sections: Vec<SectionKind> = PRIORITIES.iter().map(|priority| priority.section).collect();
    sections.sort();
    let all = [
        SectionKind::Mission,
        SectionKind::Plan,
        SectionKind::Warnings,
        SectionKind::Verdict,
        SectionKind::Answer,
        SectionKind::LatestReport,
        SectionKind::EarlierReports,
        SectionKind::SupersededReports,
        SectionKind::GroupReports,
        SectionKind::OpenGroups,
        SectionKind::OpenGroupFacts,
        SectionKind::GateOutput,
        SectionKind::LostAttempt,
        SectionKind::OpenFindings,
        SectionKind::SettledFindings,
        SectionKind::FailingTests,
        SectionKind::Blockers,
        SectionKind::Groups,
    ];
    assert_eq!(sections, all);
    let page = include_str!("../../../docs/prompts.md");
    let mut from = 0;
    for priority in PRIORITIES {
        let row = format!("| {} | {} |", priority.section.name(), crate::data::thousands(priority.floor));
        let at = page[from..].find(&row).unwrap_or_else(|| panic!("docs/prompts.md, in this order: {row}"));
        from += at;
    }
    assert!(page.contains(&crate::data::thousands(BUDGET)));
}

#[test]
fn prompt_over_budget_is_cut_by_priority_and_says_so() {
    let mut play = PromptTestSession::groups(&["login"]);
    let message = json!({ "next_agent": null, "context": "m".repeat(1_500) });
    let output = vec!["a line of output"; 500].join("\n");
    play.report("developer", json!({ "status": "PARTIAL", "handoff": { "next_agent": null, "context": output } }));
    play.report("developer", json!({ "status": "READY_FOR_QA", "handoff": message }));
    play.report("qa_expert", json!({ "status": "FAIL", "test_progression": { "still_failing": ["t"] } , "handoff": { "next_agent": null, "context": output } }));
    play.report("developer", json!({ "status": "READY_FOR_REVIEW", "handoff": message }));
    let mission = "word ".repeat(20_000);
    let whole = play.prompt_within("tech_lead", Some(&mission), usize::MAX);
    let cut = play.prompt_within("tech_lead", Some(&mission), BUDGET);
    let cut_only = whole.replace("left out: superseded reports", "");
    assert!(whole.chars().count() > 100_000 && !cut_only.contains("left out"));
    assert!(cut.chars().count() <= BUDGET && cut.chars().count() > BUDGET * 9 / 10, "{}", cut.chars().count());
    // Earlier reports are cut before the mission. The latest report is whole.
    let place = |name: &str| format!("; all of it is in `.interlock/output/s1/a6.1/whole/{name}.md`]");
    assert!(cut.contains(&format!(" characters left out: earlier report{}", place("earlier-report-2"))), "{cut}");
    assert!(cut.contains(&format!("of 99,999 characters left out: mission{}", place("mission"))), "{cut}");
    assert!(cut.contains(&"m".repeat(1_500)) && !cut.contains("left out: latest report"));
    let least = play.prompt_within("tech_lead", Some(&mission), 0);
    assert!(least.contains("characters left out: latest report; "), "{least}");
    for kept in
        ["# Assignment s1.a6: you are tech_lead", "\nOUTPUT_DIRECTORY: .interlock/output/s1/a6.1\n", "## Return"]
    {
        assert!(least.contains(kept), "{least}");
    }
    // The files that are named hold the whole text, and there are no other files.
    let files = play.prompts("tech_lead", Some(&mission), BUDGET).0.whole;
    let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["whole/mission.md", "whole/superseded-reports.md", "whole/earlier-report-2.md"]);
    assert!(files[0].1.trim_end() == mission.trim_end() && files[2].1.contains(&output));
    let uncut = play.prompts("tech_lead", Some(MISSION), usize::MAX).0.whole;
    assert!(uncut.iter().all(|(name, _)| name == "whole/superseded-reports.md"), "{uncut:?}");
    let rules = whole.find("## Return").expect("the return format");
    assert!(least.ends_with(&whole[rules..]), "the return format is whole");
}

#[test]
fn the_end_of_a_gates_output_is_what_stays() {
    let mut play = PromptTestSession::start("delivery-team");
    let group = json!({ "id": "login", "title": "Login", "checks": ["npm test"] });
    play.report("project_manager", json!({ "status": "PLANNING_COMPLETE", "groups": [group] }));
    play.report("developer", json!({ "status": "READY_FOR_QA" }));
    play.report("qa_expert", json!({ "status": "PASS" }));
    play.report("tech_lead", json!({ "status": "APPROVED", "issues": [] }));
    play.report("developer", json!({ "status": "MERGE_SUCCESS" }));
    play.gate(false, &format!("{}the last word", "passed\n".repeat(10_000)));
    let prompt = play.prompt("developer", None);
    assert!(prompt.chars().count() <= BUDGET && prompt.contains("the last word\n```"), "{prompt}");
    assert!(
        prompt.contains("of 70,013 characters left out: gate output; all of it is in ")
            && prompt.contains("]\n```text\n"),
        "{prompt}"
    );
}

/// The texts of the planner and the reviewers reach every role that works on the group, and not only the first.
#[test]
fn the_plan_and_the_words_to_findings_reach_everybody_on_the_group() {
    let mut play = PromptTestSession::start("delivery-team");
    let group = json!({ "id": "login", "title": "Login", "description": "Lock after five.", "acceptance": ["A test shows it"] });
    let other = json!({ "id": "sms", "title": "Sms", "description": "Of the other group.", "depends_on": ["login"] });
    play.report("project_manager", json!({ "status": "PLANNING_COMPLETE", "groups": [group, other] }));
    let tells_plan = |play: &PromptTestSession, whose: &str| {
        let prompt = play.prompt(whose, None);
        assert!(prompt.contains("## Plan for group `login`"), "{whose}: {prompt}");
        assert!(prompt.contains("Lock after five.") && prompt.contains("A test shows it"), "{whose}: {prompt}");
        assert!(!prompt.contains("Of the other group."), "{whose}: {prompt}");
        prompt
    };
    tells_plan(&play, "developer");
    play.report("developer", json!({ "status": "READY_FOR_QA" }));
    tells_plan(&play, "qa_expert");
    play.report("qa_expert", json!({ "status": "PASS", "test_progression": { "still_failing": [] } }));
    tells_plan(&play, "tech_lead");
    let mut finding = issue("R1", "Token is logged", "HIGH", true);
    finding["description"] = json!("debug.log has it\n## in line 3");
    let mut long = issue("R2", "No lock", "HIGH", true);
    long["description"] = json!("x".repeat(4_000));
    play.report("tech_lead", json!({ "status": "CHANGES_REQUESTED", "issues": [finding.clone(), long] }));
    let back = tells_plan(&play, "developer");
    assert!(back.contains("Token is logged (by tech_lead)\n  | debug.log has it\n  | ## in line 3\n"), "{back}");
    assert!(
        back.contains(" …\n  no response yet") && back.contains("characters left out: open findings; all of it"),
        "{back}"
    );
    let files = play.prompts("developer", None, BUDGET).0.whole;
    assert!(files.len() == 1 && files[0].1.contains(&"x".repeat(4_000)), "{files:?}");
    // Raised again as it is, with other words: the last ones count.
    let fixed = json!([{ "id": "R2", "response": "fixed" }]);
    play.report("developer", json!({ "status": "READY_FOR_REVIEW", "issue_responses": fixed }));
    finding["description"] = json!("trace.log as well");
    play.report("tech_lead", json!({ "status": "CHANGES_REQUESTED", "issues": [finding] }));
    play.lose("developer", None);
    let again = tells_plan(&play, "developer");
    assert!(again.contains("| trace.log as well\n") && !again.contains("debug.log"), "{again}");
    // A review that only rules on rejections leaves the words where they were.
    play.report("developer", json!({ "status": "READY_FOR_REVIEW" }));
    let tracking = json!({ "iteration": 3, "rejections_overruled": ["R1"] });
    play.report("tech_lead", json!({ "status": "CHANGES_REQUESTED", "iteration_tracking": tracking }));
    assert!(tells_plan(&play, "developer").contains("| trace.log as well\n"), "the latest words stay");
}

#[test]
fn prompt_states_the_role_and_what_it_may_change() {
    let mut play = PromptTestSession::groups(&["login"]);
    let developer = play.prompts("developer", None, BUDGET).1.text;
    assert!(developer.contains("You build what the plan says and no more"), "{developer}");
    assert!(developer.contains("\nChange only the files of your group.\n"), "{developer}");
    play.report("developer", json!({ "status": "READY_FOR_QA" }));
    let qa = play.prompts("qa_expert", None, BUDGET).1.text;
    assert!(qa.contains("\nChange no project files.\n"), "{qa}");
    let mut feature = PromptTestSession::start("feature");
    let skills = json!(["persisting-agent-outputs", "writing-plans"]);
    let group = json!({ "id": "login", "title": "Login form", "domain": "frontend" });
    feature.report("planner", json!({ "status": "complete", "skills_invoked": skills, "groups": [group] }));
    assert!(feature.prompt("frontend-lead", None).contains("You design the frontend part"));
}

/// `interlock run` submits the handoff for the agent, and adds how to return it.
#[test]
fn prompt_of_a_run_names_no_command() {
    let play = PromptTestSession::groups(&["login"]);
    let (own, of_run) = play.prompts("developer", None, BUDGET);
    assert!(own.text.contains("interlock report --assignment s1.a2"), "{}", own.text);
    for absent in ["interlock report", "INTERLOCK_TOKEN", "handoff.json", "last message"] {
        assert!(!of_run.text.contains(absent), "{absent}: {}", of_run.text);
    }
    assert!(own.text.starts_with(of_run.text.trim_end()), "{}", of_run.text);
}
