//! The text of one role reaches the reader that needs it, and prompts promise only what will happen.

use serde_json::json;

use super::play::{PromptTestSession, issue};
use crate::BUDGET;

fn with_description(id: &str, description: &str) -> serde_json::Value {
    let mut finding = issue(id, &format!("Title {id}"), "HIGH", true);
    finding["description"] = json!(description);
    finding
}

/// A session of the delivery team up to a review that asks for changes.
fn reviewed_with(issues: serde_json::Value) -> PromptTestSession {
    let mut play = PromptTestSession::groups(&["login"]);
    play.report("developer", json!({ "status": "READY_FOR_REVIEW" }));
    play.report("tech_lead", json!({ "status": "CHANGES_REQUESTED", "issues": issues }));
    play
}

#[test]
fn finding_listed_without_description_keeps_its_latest_text_fields() {
    let mut first = with_description("R1", "debug.log has the token");
    first["suggestion"] = json!("Mask it");
    let mut play = reviewed_with(json!([first, with_description("R2", "No lock")]));
    let answers = json!([{ "id": "R1", "response": "fixed" }, { "id": "R2", "response": "fixed" }]);
    play.report("developer", json!({ "status": "READY_FOR_REVIEW", "issue_responses": answers }));
    let again = json!([with_description("R1", "trace.log too"), issue("R2", "Title R2", "HIGH", true)]);
    play.report("tech_lead", json!({ "status": "CHANGES_REQUESTED", "issues": again }));
    let prompt = play.prompt("developer", None);
    for text in ["| trace.log too\n", "| suggestion: Mask it\n", "| No lock\n"] {
        assert!(prompt.contains(text), "{text}: {prompt}");
    }
    assert!(prompt.contains("author's last response: fixed; raised again by tech_lead in review 2"), "{prompt}");
}

#[test]
fn overruled_rejection_says_so_in_every_later_prompt() {
    let mut play = reviewed_with(json!([with_description("R1", "The token is logged")]));
    let refused = json!([{ "id": "R1", "response": "rejected", "reason": "by design" }]);
    play.report("developer", json!({ "status": "READY_FOR_REVIEW", "issue_responses": refused }));
    let tracking = json!({ "iteration": 2, "rejections_overruled": ["R1"] });
    play.report("tech_lead", json!({ "status": "CHANGES_REQUESTED", "iteration_tracking": tracking }));
    let says = "author's last response: rejected: by design; rejection overruled by tech_lead in review 2";
    let author = play.open().into_iter().next().expect("an author");
    let prompt = play.prompt(&author, None);
    assert!(prompt.contains(says) && prompt.contains("| The token is logged"), "{prompt}");
    // A new answer is open again.
    let fixed = json!([{ "id": "R1", "response": "fixed" }]);
    play.report(&author, json!({ "status": "READY_FOR_REVIEW", "issue_responses": fixed }));
    let review = play.prompt("tech_lead", None);
    assert!(review.contains("author's last response: fixed\n") && !review.contains("overruled by"), "{review}");
}

#[test]
fn reason_of_a_sibling_is_not_told_to_another_group() {
    let mut play = PromptTestSession::start("delivery-team");
    let groups = json!([
        { "id": "form", "title": "Form" },
        { "id": "keys", "title": "Keys", "security_sensitive": true },
        { "id": "page", "title": "Page" },
    ]);
    play.report("project_manager", json!({ "status": "PLANNING_COMPLETE", "groups": groups }));
    let reason = "security work is the senior's";
    assert!(play.prompt("senior_software_engineer@keys", None).contains(reason));
    for other in ["developer@form", "developer@page"] {
        assert!(!play.prompt(other, None).contains(reason), "{}", play.prompt(other, None));
    }
}

#[test]
fn status_whose_role_is_replaced_names_the_role_that_is_next() {
    let mut play = PromptTestSession::start_with("delivery-team", &[("testing", "disabled")]);
    let groups = json!([{ "id": "login", "title": "Login" }]);
    play.report("project_manager", json!({ "status": "PLANNING_COMPLETE", "groups": groups }));
    let prompt = play.prompt("developer", None);
    let rules = &prompt[prompt.rfind("## Return").expect("the return format")..];
    assert!(!rules.contains("QA can test it"), "{rules}");
    let usual = rules.find("- `").map(|at| &rules[at..]).expect("a status");
    assert!(usual.starts_with("- `READY_FOR_REVIEW`: built, and nothing in it needs QA"), "{rules}");
    let replaced = "- `READY_FOR_QA`: tech_lead is next, not qa_expert (QA is off in this testing mode)";
    assert!(rules.contains(replaced), "{rules}");
    let full = PromptTestSession::groups(&["login"]).prompt("developer", None);
    assert!(full.contains("- `READY_FOR_QA`: built and tested; QA can test it"), "{full}");
}

#[test]
fn group_that_depends_on_another_gets_its_latest_reports() {
    let mut play = PromptTestSession::start("delivery-team");
    let groups = json!([
        { "id": "api", "title": "API" },
        { "id": "page", "title": "Page", "depends_on": ["api"] },
        { "id": "mail", "title": "Mail" },
    ]);
    play.report("project_manager", json!({ "status": "PLANNING_COMPLETE", "groups": groups }));
    let context = |text: &str| json!({ "next_agent": null, "context": text });
    let built = json!({
        "status": "READY_FOR_QA", "summary": "Added POST /login", "files_modified": ["src/api.ts"],
        "handoff": context("It returns 423 when locked"), "notes_for_future": "Rename the route",
    });
    play.report("developer@api", built);
    play.report("developer@mail", json!({ "status": "READY_FOR_QA", "handoff": context("Of the mail") }));
    play.report("qa_expert@api", json!({ "status": "PASS", "handoff": context("Slow under load") }));
    play.report("tech_lead@api", json!({ "status": "APPROVED", "issues": [] }));
    play.report("developer@api", json!({ "status": "MERGE_SUCCESS" }));
    if play.has_open_gate() {
        play.gate(true, "ok");
    }
    let prompt = play.prompt("developer@page", None);
    let texts = ["## Your group depends on `api` (completed)", "Added POST /login", "It returns 423 when locked"];
    for text in texts.into_iter().chain(["- src/api.ts", "Rename the route", "Slow under load"]) {
        assert!(prompt.contains(text), "{text}: {prompt}");
    }
    assert!(!prompt.contains("Of the mail"), "{prompt}");
}

#[test]
fn unknown_status_is_named_to_the_lead_that_decides() {
    let mut play = PromptTestSession::groups(&["login"]);
    play.report("developer", json!({ "status": "DONEISH" }));
    let prompt = play.prompt("tech_lead", None);
    let says = "`developer` reported `DONEISH`, a status that does not exist: you decide how its work goes on.";
    assert!(prompt.contains(says), "{prompt}");
    assert!(!prompt.contains("asked for help") && !prompt.contains("fallback"), "{prompt}");
}

#[test]
fn manager_asked_to_accept_that_nothing_changes_gets_that_choice_first() {
    let mut play = PromptTestSession::groups(&["login"]);
    let context = json!({ "next_agent": null, "context": "The form locks already" });
    play.report("developer", json!({ "status": "NOTHING_TO_DO", "handoff": context }));
    let prompt = play.prompt("project_manager", None);
    assert!(prompt.contains("`developer` states that nothing has to change."), "{prompt}");
    let rules = &prompt[prompt.rfind("## Return").expect("the return format")..];
    let first = rules.find("- `").map(|at| &rules[at..]).expect("a status");
    assert!(first.starts_with("- `GROUP_ACCEPTED`: you accept that nothing has to change"), "{rules}");
    assert!(!rules.contains("in place of a review"), "{rules}");
}

#[test]
fn fields_stand_with_the_first_status_that_takes_them() {
    let mut play = PromptTestSession::groups(&["login"]);
    play.report("developer", json!({ "status": "READY_FOR_REVIEW" }));
    let prompt = play.prompt("tech_lead", None);
    let rules = &prompt[prompt.rfind("## Return").expect("the return format")..];
    let explained = rules.find("Add `\"issues\":").expect("the findings");
    let referred = rules.find("Add `issues` as above.").expect("a reference");
    assert!(explained < referred && !rules.contains("also with"), "{rules}");
}

#[test]
fn superseded_reports_stand_under_a_heading_in_the_managers_prompt() {
    let mut play = PromptTestSession::groups(&["login"]);
    let context = |text: &str| json!({ "next_agent": null, "context": text });
    play.report("developer", json!({ "status": "PARTIAL", "handoff": context("The first half") }));
    play.report("developer", json!({ "status": "PARTIAL", "handoff": context("The second half") }));
    play.report("developer", json!({ "status": "READY_FOR_QA", "handoff": context("All of it") }));
    play.report("qa_expert", json!({ "status": "PASS" }));
    play.report("tech_lead", json!({ "status": "APPROVED", "issues": [] }));
    play.report("developer", json!({ "status": "MERGE_SUCCESS" }));
    if play.has_open_gate() {
        play.gate(true, "ok");
    }
    let prompt = play.prompt("project_manager", None);
    let heading = prompt.find("\n\nEarlier reports of the same roles, newest first:\n").expect("a heading");
    let second = prompt.find("The second half").expect("the second report");
    let first = prompt.find("The first half").expect("the first report");
    assert!(
        prompt.find("All of it").expect("the last report") < heading && heading < second && second < first,
        "{prompt}"
    );
}

/// Thirty groups that await confirmation: their facts and the mission stay, reports give way.
#[test]
fn prompt_of_thirty_open_groups_keeps_the_mission_and_the_facts() {
    let names: Vec<String> = (0..30).map(|number| format!("group-{number:02}")).collect();
    let groups: Vec<&str> = names.iter().map(String::as_str).collect();
    let play = super::confirm::awaiting(&groups, 8);
    let mission = "Lock the account after five wrong passwords. ".repeat(40);
    let (prompt, _) = play.prompts("project_manager", Some(&mission), BUDGET);
    assert!(prompt.text.chars().count() <= BUDGET, "{}", prompt.text.chars().count());
    assert!(prompt.text.contains(mission.trim_end()), "{}", prompt.text);
    assert_eq!(prompt.confirmable, groups, "{}", prompt.text);
    let tight = play.prompts("project_manager", Some(&mission), 12_000).0.text;
    assert!(tight.contains(" not shown: 30\n"), "one note for the reports: {tight}");
    assert!(tight.contains(mission.trim_end()), "{tight}");
    let short = play.prompts("project_manager", Some("m"), 0).0;
    assert!(short.text.contains("```text\nm\n```"), "a text shorter than its note stays: {}", short.text);
    // A mission that no prompt can hold keeps its beginning.
    let long = play.prompts("project_manager", Some(&"word ".repeat(20_000)), BUDGET).0;
    assert!(long.text.contains("```text\nword word"), "{}", long.text);
}
