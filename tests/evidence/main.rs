//! Nothing completes without its evidence: the tests of QA, and everything that may take their place.

mod acceptance;
mod nothing_done;
mod settings;
#[path = "../team/mod.rs"]
mod team;
mod tested;
mod waiver;

use serde_json::{Value as Json, json};
use team::Team;
use team::incident::plan;

/// A session with these groups, each held by a developer.
fn planned(test: &str, groups: &[&str]) -> (Team, String) {
    let team = Team::new(test);
    let session = team.start("Evidence");
    team.plays(&session, "project_manager", "-", "PLANNING_COMPLETE", plan(groups));
    (team, session)
}

/// The roles that the decision starts.
fn next_roles(decision: &Json) -> Vec<&str> {
    decision["next"].as_array().expect("a list").iter().map(|next| next["role"].as_str().expect("a role")).collect()
}

/// QA was blocked on this tree.
fn no_lab() -> Json {
    json!({ "attempted": ["npm test: no browser"], "blocked_reason": "environment" })
}

/// Reports are sent back with this code.
#[track_caller]
fn refused(team: &Team, session: &str, role: &str, group: &str, status: &str, code: &str) -> Json {
    let holder = team.claim(session, role, group);
    let run = team.report(&holder, status, json!({}));
    assert_eq!((run.exit, run.code().as_str()), (3, code), "{run}");
    run.json()["error"].clone()
}
