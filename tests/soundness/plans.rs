//! Plans that check nothing: shown to people and reviewers, and refused where the workflow requires checks.

use serde_json::{Value as Json, json};

use crate::cycles::{problems, project};
use crate::team::{Team, run};

const REQUIRED: &str =
    "workflow: mine\nlanguage: 1\nextends: delivery-team\ngates: { checks: { run: plan, required: true } }\n";

fn plan(checks: Json) -> Json {
    json!({ "groups": [{ "id": "a", "title": "A", "checks": checks }] })
}

#[test]
fn plan_without_real_checks_is_refused_where_checks_are_required() {
    let team = project("plan_without_real_checks_is_refused_where_checks_are_required", REQUIRED);
    let s = team.start("T");
    let manager = team.claim(&s, "project_manager", "-");
    for vacuous in [
        json!([]),
        json!([["true"]]),
        json!([[":"]]),
        json!([["sh", "-c", "cargo test || true"]]),
        json!([["echo", "ok"], ["true"]]),
    ] {
        let refused = team.report(&manager, "PLANNING_COMPLETE", plan(vacuous.clone()));
        assert_eq!(refused.exit, 4, "{vacuous}: {refused}");
        assert_eq!(problems(&refused.json(), "E0245").len(), 1, "{refused}");
    }
    team.report(&manager, "PLANNING_COMPLETE", plan(json!([["true"], ["test", "-f", "a"]]))).done();
}

#[test]
fn group_that_nothing_checks_is_shown_to_people_and_reviewers() {
    let team = Team::new("group_that_nothing_checks_is_shown_to_people_and_reviewers");
    let s = team.start("T");
    let groups = json!({ "groups": [
        { "id": "bare", "title": "A" },
        { "id": "empty", "title": "B", "checks": [["true"]] },
        { "id": "real", "title": "C", "checks": [["cargo", "test"]] },
    ] });
    team.plays(&s, "project_manager", "-", "PLANNING_COMPLETE", groups);
    let checked = |group| team.group(&s, group)["checked"].clone();
    assert_eq!([checked("bare"), checked("empty"), checked("real")], [json!(false), json!(false), json!(true)]);
    let shown = run(&mut team.command(&["session", "show", &s]), "").stdout;
    assert!(shown.contains("groups without a check: bare, empty\n"), "{shown}");
    for (group, says) in [("empty", true), ("real", false)] {
        team.plays(&s, "developer", group, "READY_FOR_REVIEW", json!({}));
        let assignment = team.assignment(&s, "tech_lead", group);
        let claimed = team.ask(&["claim", &assignment]).done();
        assert_eq!(claimed.to_string().contains("nothing is checked"), says, "{claimed}");
    }
}
