//! A session ends with its last phase, wherever phases of the session stand.

use serde_json::{Value as Json, json};

use crate::cycles::{problems, project};
use crate::team::Team;

/// Phases in this order: `name/group` or `name/session`; `plan/session` plans the groups.
fn workflow(phases: &[&str], more: &str) -> String {
    let phase = |text: &&str| {
        let (name, per) = text.split_once('/').unwrap();
        let plans = if name == "plan" { ", plans: groups" } else { "" };
        let role = if per == "group" { "worker" } else { "lead" };
        format!("  - {{ phase: {name}, per: {per}, role: {role}{plans} }}\n")
    };
    let phases: String = phases.iter().map(phase).collect();
    format!(
        "workflow: mine\nlanguage: 1\nroles: {{ lead: {{}}, worker: {{ is: [author] }} }}\nphases:\n{phases}\
         routes: {{ any: {{ complete: {{ advance: phase }} }} }}\n{more}"
    )
}

fn planned(team: &Team, groups: &[&str]) -> String {
    let session = team.start("T");
    let groups: Vec<Json> = groups.iter().map(|id| json!({ "id": id, "title": id })).collect();
    team.plays(&session, "lead", "-", "complete", json!({ "groups": groups }));
    session
}

#[test]
fn last_phase_of_the_session_ends_the_session() {
    let phases = ["plan/session", "work/group", "final/session"];
    let team = project("last_phase_of_the_session_ends_the_session", &workflow(&phases, ""));
    let s = planned(&team, &["a", "b"]);
    team.plays(&s, "worker", "a", "complete", json!({}));
    let decided = team.plays(&s, "worker", "b", "complete", json!({}));
    assert_eq!(decided["next"][0]["role"], "lead", "{decided}");
    let decided = team.plays(&s, "lead", "-", "complete", json!({}));
    assert_eq!(decided["action"], "end", "{decided}");
    assert_eq!((team.status(&s).as_str(), team.group_status(&s, "a").as_str()), ("completed", "completed"));
}

#[test]
fn two_phases_of_the_session_at_the_end_end_it_after_the_second() {
    let phases = ["plan/session", "work/group", "check/session", "final/session"];
    let team = project("two_phases_of_the_session_at_the_end_end_it_after_the_second", &workflow(&phases, ""));
    let s = planned(&team, &["a"]);
    team.plays(&s, "worker", "a", "complete", json!({}));
    team.plays(&s, "lead", "-", "complete", json!({}));
    assert_eq!(team.status(&s), "active");
    team.plays(&s, "lead", "-", "complete", json!({}));
    assert_eq!((team.status(&s).as_str(), team.group_status(&s, "a").as_str()), ("completed", "completed"));
}

#[test]
fn phase_of_the_session_in_the_middle_lets_groups_go_on() {
    let phases = ["plan/session", "draft/group", "agree/session", "work/group", "final/session"];
    let team = project("phase_of_the_session_in_the_middle_lets_groups_go_on", &workflow(&phases, ""));
    let s = planned(&team, &["a", "b"]);
    for group in ["a", "b"] {
        team.plays(&s, "worker", group, "complete", json!({}));
    }
    team.plays(&s, "lead", "-", "complete", json!({}));
    for group in ["a", "b"] {
        team.plays(&s, "worker", group, "complete", json!({}));
    }
    team.plays(&s, "lead", "-", "complete", json!({}));
    assert_eq!((team.status(&s).as_str(), team.group_status(&s, "b").as_str()), ("completed", "completed"));
}

/// A session without a group that was completed is put to a person, not ended and not asked about for ever.
#[test]
fn last_phase_of_the_session_with_all_groups_deferred_asks_a_person() {
    let phases = ["plan/session", "work/group", "final/session"];
    let team = project("last_phase_of_the_session_with_all_groups_deferred_asks_a_person", &workflow(&phases, ""));
    let s = planned(&team, &["a"]);
    team.ask(&["defer", &s, "a", "--why", "no access"]).done();
    let shown = team.show(&s);
    assert!(shown["questions"][0]["text"].as_str().unwrap_or_default().contains("deferred"), "{shown}");
    let id = shown["questions"][0]["question"].as_str().unwrap().to_owned();
    team.ask(&["answer", &id, "--option", "acknowledge"]).done();
    assert_ne!(team.status(&s), "active", "{}", team.show(&s));
}

/// Gates of completion run before the groups count as completed.
#[test]
fn last_phase_of_the_session_runs_the_gates_of_the_groups_first() {
    let phases = ["plan/session", "work/group", "final/session"];
    let more = "loops: { again: 2 }\ngates: { proof: { run: [\"false\"], fail: { goto: work, loop: again } } }\n\
                completion: { group: { gates: [proof] } }\n";
    let test = "last_phase_of_the_session_runs_the_gates_of_the_groups_first";
    let team = project(test, &workflow(&phases, more));
    let s = planned(&team, &["a"]);
    team.plays(&s, "worker", "a", "complete", json!({}));
    let decided = team.plays(&s, "lead", "-", "complete", json!({}));
    assert_eq!(decided["action"], "gate", "{decided}");
    assert_eq!(team.status(&s), "active");
    assert_ne!(team.group_status(&s, "a"), "completed");
}

#[test]
fn completion_gate_after_the_last_phase_of_the_session_needs_a_loop() {
    let more =
        "gates: { proof: { run: [\"false\"], fail: { goto: work } } }\ncompletion: { group: { gates: [proof] } }\n";
    let test = "completion_gate_after_the_last_phase_of_the_session_needs_a_loop";
    let team = project(test, &workflow(&["work/group", "final/session"], more));
    let check = team.ask(&["check"]);
    assert_eq!((check.exit, check.code().as_str()), (4, "E0142"), "{check}");
    let found = problems(&check.json(), "E0142");
    assert_eq!(found, ["no loop bounds this cycle: worker complete → gate `proof` fail → worker"]);
}

#[test]
fn route_of_the_last_phase_of_the_session_ends_as_the_engine_does() {
    let phases = ["plan/session", "work/group", "final/session"];
    let test = "route_of_the_last_phase_of_the_session_ends_as_the_engine_does";
    let team = project(test, &workflow(&phases, ""));
    let words = ["route", "--workflow", "interlock.yaml", "--role", "lead", "--phase", "final", "--status", "complete"];
    assert_eq!(team.ask(&words).done()["action"], "end");
    let deferred = team.ask(&[words.as_slice(), &["--fact", "groups.deferred=1"]].concat()).done();
    assert_eq!(deferred["action"], "ask", "{deferred}");
}

/// The texts of the exceptions of a session.
fn exceptions(team: &Team, session: &str) -> Vec<String> {
    let complete = team.ask(&["complete", session]).json();
    let all = complete["exceptions"].as_array().unwrap_or_else(|| panic!("{complete}"));
    all.iter().map(|exception| format!("{}: {}", exception["group"], exception["text"])).collect()
}

#[test]
fn acknowledged_deferral_is_an_exception_and_completed_groups_are_not_denied() {
    let test = "acknowledged_deferral_is_an_exception_and_completed_groups_are_not_denied";
    let team = project(test, &workflow(&["plan/session", "work/group"], ""));
    let s = planned(&team, &["a", "b"]);
    team.plays(&s, "worker", "a", "complete", json!({}));
    team.ask(&["defer", &s, "b", "--why", "no access", "--as", "ann"]).done();
    let id = team.show(&s)["questions"][0]["question"].as_str().unwrap().to_owned();
    assert!(exceptions(&team, &s)[0].contains("not acknowledged"));
    team.ask(&["answer", &id, "--option", "acknowledge", "--as", "ann"]).done();
    assert_eq!(team.status(&s), "completed");
    let all = exceptions(&team, &s);
    assert_eq!(all, ["\"b\": \"deferred by ann (no access); acknowledged by ann\""]);
    assert_eq!(team.show(&s)["exceptions"].as_array().map(Vec::len), Some(1));
}

#[test]
fn complete_lists_every_reason_with_its_code() {
    let more = "gates:\n  proof: { run: [\"true\"], fail: { ask: stuck } }\n  whole: { run: [\"true\"], fail: { ask: stuck } }\n\
                completion: { group: { gates: [proof] }, session: { gates: [whole] } }\n";
    let team = project("complete_lists_every_reason_with_its_code", &workflow(&["plan/session", "work/group"], more));
    let empty = team.start("T");
    let codes = |session: &str| -> Vec<String> {
        let complete = team.ask(&["complete", session]).json();
        let reasons = complete["reasons"].as_array().unwrap_or_else(|| panic!("{complete}"));
        reasons.iter().map(|reason| format!("{} {}", reason["code"], reason["text"]).replace('"', "")).collect()
    };
    let found = codes(&empty);
    assert!(found.iter().any(|reason| reason.starts_with("E0354")), "{found:#?}");
    assert!(found.iter().any(|reason| reason.starts_with("E0346 gate `whole`")), "{found:#?}");
    let s = planned(&team, &["a", "b"]);
    team.plays(&s, "worker", "a", "complete", json!({}));
    team.ask(&["defer", &s, "b", "--why", "no access"]).done();
    let found = codes(&s);
    for wanted in ["E0340 a is", "E0346 a: gate `proof`", "E0343 b is deferred", "E0346 gate `whole`"] {
        assert!(found.iter().any(|reason| reason.starts_with(wanted)), "{wanted}: {found:#?}");
    }
}

/// A worker, a reviewer and a tester; the reviewer sends work to its author without naming a phase.
fn reviewed(more: &str) -> String {
    format!(
        "workflow: mine\nlanguage: 1\nroles:\n  worker: {{ is: [author], escalates_to: senior }}\n  senior: {{ is: [author] }}\n  \
         reviewer: {{ escalates_to: senior }}\n  tester: {{}}\nphases:\n  - {{ phase: work, role: worker }}\n{more}\
         routes:\n  any: {{ complete: {{ advance: phase }} }}\n  \
         reviewer: {{ wrong: {{ respawn: author, loop: again }}, up: {{ escalate: self }} }}\n\
         loops:\n  again: 3\n  review: {{ measure: blocking_findings, escalate_at: {{ iteration: 3 }} }}\n  \
         testing: {{ measure: failing_tests, escalate_at: {{ iteration: 1 }} }}\n"
    )
}

fn phase_of(team: &Team, session: &str, role: &str) -> String {
    let next = team.ask(&["session", "next", session]).done();
    let open = next["assignments"].as_array().unwrap_or_else(|| panic!("{next}"));
    let held = open.iter().find(|open| open["role"] == role).unwrap_or_else(|| panic!("{role}: {next}"));
    held["phase"].as_str().unwrap_or("none").to_owned()
}

#[test]
fn author_sent_back_by_a_reviewer_works_in_its_own_phase_and_is_reviewed_again() {
    let test = "author_sent_back_by_a_reviewer_works_in_its_own_phase_and_is_reviewed_again";
    let team = project(test, &reviewed("  - { phase: review, role: reviewer }\n"));
    let s = team.start("T");
    team.plays(&s, "worker", "main", "complete", json!({}));
    team.plays(&s, "reviewer", "main", "wrong", json!({}));
    assert_eq!(phase_of(&team, &s, "worker"), "work");
    team.plays(&s, "worker", "main", "complete", json!({}));
    assert_eq!(phase_of(&team, &s, "reviewer"), "review");
    assert_eq!(team.status(&s), "active", "the author does not end the review");
}

#[test]
fn reviewer_whose_ladder_leads_to_an_author_asks_a_person() {
    let test = "reviewer_whose_ladder_leads_to_an_author_asks_a_person";
    let team = project(test, &reviewed("  - { phase: review, role: reviewer }\n"));
    let s = team.start("T");
    team.plays(&s, "worker", "main", "complete", json!({}));
    let up = team.plays(&s, "reviewer", "main", "up", json!({}));
    assert_eq!((up["action"].as_str(), up["question"]["name"].as_str()), (Some("ask"), Some("stuck")), "{up}");
}

#[test]
fn author_that_would_review_its_own_work_is_put_to_a_person() {
    let phases = "  - { phase: review, role: senior, rework: { goto: work, loop: review } }\n  \
                  - { phase: test, role: tester, rework: { goto: work, loop: testing } }\n";
    let team = project("author_that_would_review_its_own_work_is_put_to_a_person", &reviewed(phases));
    let s = team.start("T");
    team.plays(&s, "worker", "main", "complete", json!({}));
    team.plays(&s, "senior", "main", "complete", json!({}));
    let failing = json!({ "test_progression": { "still_failing": ["login"] } });
    team.plays(&s, "tester", "main", "complete", failing);
    assert_eq!(phase_of(&team, &s, "senior"), "work");
    let asks = team.plays(&s, "senior", "main", "complete", json!({}));
    let text = asks["question"]["text"].as_str().unwrap_or_default();
    assert!(text.contains("senior is the author") && text.contains("would review its own work"), "{asks}");
    assert_eq!(team.status(&s), "active");
}

#[test]
fn phase_that_gives_a_review_to_its_author_is_an_error() {
    let phases = "  - { phase: review, role: worker, rework: { goto: work, loop: review } }\n";
    let team = project("phase_that_gives_a_review_to_its_author_is_an_error", &reviewed(phases));
    let check = team.ask(&["check"]);
    let found = problems(&check.json(), "E0135");
    assert_eq!(found, ["`worker` is the author of phase `work` and would review its own work in `review`"], "{check}");
}

#[test]
fn role_that_cannot_go_on_is_an_error_of_check_and_start() {
    let more =
        "gates: { proof: { run: [\"false\"], fail: { spawn: lead } } }\ncompletion: { group: { gates: [proof] } }\n";
    let test = "role_that_cannot_go_on_is_an_error_of_check_and_start";
    let team = project(test, &workflow(&["plan/session", "work/group"], more));
    for arguments in [&["check"][..], &["session", "start", "--title", "T"]] {
        let run = team.ask(arguments);
        assert_eq!((run.exit, run.code().as_str()), (4, "E0145"), "{run}");
    }
    let found = problems(&team.ask(&["check"]).json(), "E0145");
    assert_eq!(found, ["lead has work outside of every phase and has no status that leads on"]);
}
