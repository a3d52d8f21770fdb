//! The record of a session, through the program: little ceremony for agents, one message for one mistake, ids and titles,
//! and a story that `log`, `why` and `decisions` tell without forged lines.

mod ceremony;
mod forging;
mod naming;
mod problems;
mod story;
#[path = "../team/mod.rs"]
mod team;
#[path = "../run/tty.rs"]
#[expect(dead_code, reason = "these tests type nothing")]
mod tty;

use serde_json::{Value as Json, json};
use team::{Holder, Run, Team, run};

/// A session of `delivery-team` with these groups planned.
fn planned(test: &str, groups: &[&str]) -> (Team, String) {
    let team = Team::new(&format!("record-{test}"));
    let session = team.start("Add login");
    let groups: Vec<Json> = groups.iter().map(|id| json!({ "id": id, "title": format!("Build {id}") })).collect();
    team.plays(&session, "project_manager", "-", "PLANNING_COMPLETE", json!({ "groups": groups }));
    (team, session)
}

/// Submits a handoff and reads the answer as a person does.
fn submit_for_people(team: &Team, holder: &Holder, text: &str) -> Run {
    let mut command = team.command(&["report", "--assignment", &holder.assignment, "-"]);
    run(command.env("INTERLOCK_TOKEN", &holder.token), text)
}
