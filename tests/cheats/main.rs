//! Ways to cheat, each tried for real: by command, by report, by SQL, by hand on the file.
//!
//! Each is refused, with nothing changed and the try on the record, or it is found by `audit verify`. The table in
//! `docs/cheating.md` lists them all.

mod commands;
mod page;
mod reports;
mod secrets;
mod sql;
mod tampering;
#[path = "../team/mod.rs"]
mod team;

use serde_json::Value as Json;
use team::{Run, Team};

/// Tries a command: refused with this code, on the record, and nothing else has changed.
#[track_caller]
fn refused(team: &Team, session: &str, exit: i32, code: &str, attempt: impl FnOnce() -> Run) -> Json {
    let (before, known) = (team.standing(), team.refusals(session).len());
    let run = attempt();
    assert_eq!((run.exit, run.code().as_str()), (exit, code), "{run}");
    assert!(team.standing() == before, "what is refused changes nothing");
    let refusals = team.refusals(session);
    assert_eq!(refusals.len(), known + 1, "a refusal is on the record");
    assert_eq!(refusals.last().map(|(_, code)| code.as_str()), Some(code));
    run.json()["error"].clone()
}

/// Tries to write round the program: this guard refuses it and writes it down, and nothing else has changed.
#[track_caller]
fn guarded(team: &Team, guard: &str, script: &str) {
    let noted = || team.query("SELECT count(*) FROM attempts").parse::<u32>().expect("a number");
    let (before, tried) = (team.standing(), noted());
    let run = team.sql(script);
    assert_ne!(run.exit, 0, "{script} was not refused");
    let said = format!("(E0514, {guard})");
    assert!(run.stderr.contains(&said), "{script} was not refused by {guard}: {run}");
    assert!(team.standing() == before, "{script} changed something");
    // Writes to the record of refused writes are not recorded themselves.
    assert!(noted() > tried || guard == "attempt_is_new", "what was tried is written down");
}

/// What the audit finds first in this session, with the number of the event.
#[track_caller]
fn found(team: &Team, session: &str, kind: &str, seq: u64) -> Json {
    let first = first_problem(team, session, &[]);
    assert_eq!((first["kind"].as_str(), first["seq"].as_u64()), (Some(kind), Some(seq)), "{first}");
    first
}

/// The first problem that the audit names for a session.
#[track_caller]
fn first_problem(team: &Team, session: &str, more: &[&str]) -> Json {
    let run = team.ask(&[&["audit", "verify"], more].concat());
    assert_eq!(run.exit, 3, "{run}");
    let report = run.json();
    assert_eq!(report["valid"], false);
    let problems = report["problems"].as_array().expect("problems");
    let of_session = problems.iter().find(|problem| problem["session"] == session);
    of_session.unwrap_or_else(|| panic!("nothing found in {session}: {report}")).clone()
}

/// Whether the audit finds something of this kind in the store as a whole.
#[track_caller]
fn found_in_store(team: &Team, kind: &str, text: &str) {
    let run = team.ask(&["audit", "verify"]);
    assert_eq!(run.exit, 3, "{run}");
    let report = run.json();
    let problems = report["problems"].as_array().expect("problems");
    let says = |problem: &Json| problem["text"].as_str().is_some_and(|said| said.contains(text));
    let known = problems.iter().any(|problem| problem["session"].is_null() && problem["kind"] == kind && says(problem));
    assert!(known, "no {kind} that says {text}: {report}");
}

#[track_caller]
fn nothing_found(team: &Team) {
    let run = team.ask(&["audit", "verify"]);
    assert_eq!(run.exit, 0, "{run}");
}
