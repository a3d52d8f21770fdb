//! Every cycle has a bound: one without a loop is refused at load, and rounds with people end in a question.

use serde_json::{Value as Json, json};

use crate::team::{Team, run};

const POLISH: &str =
    "workflow: mine\nlanguage: 1\nextends: delivery-team\nroutes:\n  tech_lead:\n    POLISH: { respawn: author }\n";

/// A project whose workflow is this.
pub(crate) fn project(test: &str, workflow: &str) -> Team {
    let team = Team::new(test);
    std::fs::write(team.project().join("interlock.yaml"), workflow).expect("a file");
    team
}

#[track_caller]
pub(crate) fn problems(error: &Json, code: &str) -> Vec<String> {
    let problems = error["error"]["problems"].as_array().unwrap_or_else(|| panic!("{error}"));
    let own = problems.iter().filter(|problem| problem["code"] == code);
    own.map(|problem| problem["message"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn cycle_without_loop_is_an_error_of_check_start_and_upgrade() {
    let team = project("cycle_without_loop_is_an_error_of_check_start_and_upgrade", POLISH);
    let check = team.ask(&["check"]);
    assert_eq!((check.exit, check.code().as_str()), (4, "E0142"), "{check}");
    let found = problems(&check.json(), "E0142");
    assert!(found.iter().any(|message| message.ends_with("→ tech_lead POLISH → developer")), "{found:#?}");
    assert_eq!(check.json()["error"]["at"]["line"], 6, "{check}");
    let start = team.ask(&["session", "start", "--title", "T"]);
    assert_eq!((start.exit, start.code().as_str()), (4, "E0142"), "{start}");
    let init = team.ask(&["init", "--workflow", "interlock.yaml"]);
    assert_eq!((init.exit, init.code().as_str()), (4, "E0142"), "{init}");
    let session = team.ask(&["session", "start", "--title", "T", "--workflow", "delivery-team"]).done();
    let session = session["session"].as_str().unwrap();
    let upgrade = team.ask(&["session", "upgrade", session, "--workflow", "interlock.yaml"]);
    assert_eq!((upgrade.exit, upgrade.code().as_str()), (4, "E0142"), "{upgrade}");
}

#[test]
fn cycle_is_shown_to_people_with_its_entries_and_places() {
    let team = project("cycle_is_shown_to_people_with_its_entries_and_places", POLISH);
    let check = run(&mut team.command(&["check"]), "");
    assert!(check.stderr.contains("no loop bounds this cycle: "), "{check}");
    assert!(check.stderr.contains("add `loop: NAME` to one of "), "{check}");
    assert!(check.stderr.contains("`routes.tech_lead.POLISH` (interlock.yaml:6)"), "{check}");
}

#[test]
fn route_does_not_pay_for_the_check_of_cycles() {
    let team = project("route_does_not_pay_for_the_check_of_cycles", POLISH);
    let routed = team.ask(&["route", "--workflow", "interlock.yaml", "--role", "tech_lead", "--status", "POLISH"]);
    assert_eq!(routed.done()["action"], "respawn");
}

#[test]
fn cycle_with_loop_is_accepted() {
    let counted = POLISH.replace("respawn: author", "respawn: author, loop: polishing") + "loops: { polishing: 2 }\n";
    let team = project("cycle_with_loop_is_accepted", &counted);
    assert_eq!(team.ask(&["check"]).done()["valid"], true);
}

/// The open question of a session.
fn question(team: &Team, session: &str) -> Json {
    team.show(session)["questions"][0].clone()
}

#[test]
fn rounds_of_clarification_end_in_the_question_stuck() {
    let short = "workflow: mine\nlanguage: 1\nextends: delivery-team\nloops: { clarifying: 3 }\n";
    let team = project("rounds_of_clarification_end_in_the_question_stuck", short);
    let session = team.start("T");
    for round in 1..=2 {
        team.plays(&session, "project_manager", "-", "NEEDS_CLARIFICATION", json!({}));
        let asked = question(&team, &session);
        assert_eq!(asked["name"], "clarify", "round {round}: {asked}");
        let id = asked["question"].as_str().unwrap().to_owned();
        team.ask(&["answer", &id, "--text", "As you like"]).done();
    }
    team.plays(&session, "project_manager", "-", "NEEDS_CLARIFICATION", json!({}));
    let asked = question(&team, &session);
    assert_eq!(asked["name"], "stuck", "{asked}");
    assert!(asked["text"].as_str().unwrap().contains("loop `clarifying` is at its limit"), "{asked}");
    // A person decides to go on, and the rounds are counted from the start.
    let id = asked["question"].as_str().unwrap().to_owned();
    team.ask(&["answer", &id, "--option", "retry"]).done();
    assert_eq!(question(&team, &session)["name"], "clarify");
}

#[test]
fn rounds_of_approval_end_in_the_question_stuck() {
    let short = "workflow: mine\nlanguage: 1\nextends: feature\nloops: { clarifying: 2 }\n";
    let team = project("rounds_of_approval_end_in_the_question_stuck", short);
    let session = team.start("T");
    let group = json!({ "groups": [{ "id": "a", "title": "A", "domain": "tool" }] });
    team.plays(&session, "planner", "-", "needs_review", group.clone());
    let asked = question(&team, &session);
    assert_eq!(asked["name"], "approval", "{asked}");
    team.ask(&["answer", asked["question"].as_str().unwrap(), "--option", "reject", "--text", "Again"]).done();
    team.plays(&session, "planner", "-", "needs_review", group);
    assert_eq!(question(&team, &session)["name"], "stuck");
}
