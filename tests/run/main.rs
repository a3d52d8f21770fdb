//! `interlock run`, with scripted agents: real processes, real files, real git.

mod budgets;
mod changes;
mod conflicts;
mod evidence;
mod example;
mod keeping;
mod keys;
mod live;
mod lost_attempts;
mod merging;
mod own_reports;
mod people;
mod proof;
mod protected;
mod questions;
mod repositories;
mod storing;
mod team_file;
mod telling;
mod times;
mod tty;
mod yard;

use yard::{Yard, script};

#[test]
fn a_rehearsal_needs_nothing_but_a_repository() {
    let yard = Yard::new("a_rehearsal", &[("a.txt", "a\n")]);
    let before = yard.git(&["status", "--porcelain", "--branch"]);
    let ended = yard.run(&["--agents", "scripted"]);
    assert_eq!(ended["status"], "completed");
    let session = ended["session"].as_str().expect("a session");
    assert_eq!(yard.result(session, "rehearsal/first.md"), "# first\n\nDone by developer.");
    assert_eq!(yard.git(&["status", "--porcelain", "--branch"]), before, "the checkout is the user's");
    assert_eq!(yard.git(&["rev-parse", "main"]), ended["base"], "and so is the branch");
    assert_eq!(yard.json(&["audit", "verify"])["valid"], true);
}

#[test]
fn a_store_that_a_killed_run_had_only_begun_is_made() {
    let yard = Yard::new("begun", &[("a.txt", "a\n"), (".interlock/interlock.db", "")]);
    assert_eq!(yard.run(&["--agents", "scripted", "--no-wait"])["status"], "completed");
    assert_eq!(yard.json(&["audit", "verify"])["valid"], true);
}

#[test]
fn a_merge_whose_tests_fail_goes_back_to_its_author_with_both_sides() {
    let groups = "{ id: one, title: One, checks: [[python3, check.py]] }, { id: two, title: Two, checks: [[python3, check.py]] }";
    // Each group is sound by itself; together they are not, until one of them gives way.
    let check = "import os, sys\nsys.exit(os.path.exists('one.txt') and os.path.exists('two.txt') and not os.path.exists('peace'))\n";
    let more = "  - { role: developer, attempt: 3, does: [{ write: peace, text: x }, { run: [test, -f, one.txt], expect: pass }, { run: [test, -f, two.txt], expect: pass }], says: { status: READY_FOR_QA } }";
    let yard = Yard::new(
        "a_merge_whose_tests_fail",
        &[("check.py", check), ("scripted.yaml", &script(groups, more)), ("m.md", "# Both\n")],
    );
    let ended = yard.run(&["m.md", "--agents", "scripted"]);
    assert_eq!(ended["status"], "completed");
    let statuses = yard.statuses(ended["session"].as_str().expect("a session"));
    assert_eq!(statuses.iter().filter(|status| *status == "MERGE_TEST_FAILURE").count(), 1, "{statuses:?}");
    assert_eq!(statuses.iter().filter(|status| *status == "MERGE_SUCCESS").count(), 2, "{statuses:?}");
}

#[test]
fn an_agent_may_merge_where_the_team_says_so() {
    let more = "  - { role: developer, attempt: 2, does: [{ append: one.txt, text: \"merged\\n\" }], says: { status: MERGE_SUCCESS } }\n  \
                - { role: developer, attempt: 3, says: { status: READY_FOR_QA } }\n  \
                - { role: developer, attempt: 4, says: { status: MERGE_SUCCESS } }";
    let yard = Yard::new(
        "an_agent_may_merge",
        &[
            ("scripted.yaml", &script("{ id: one, title: One }", more)),
            ("agents.yaml", "agents: { s: { client: scripted } }\nroles: { any: s }\nmerge: agent\n"),
            ("m.md", "# One\n"),
        ],
    );
    let ended = yard.run(&["m.md", "--no-wait"]);
    assert_eq!(ended["status"], "completed");
    let session = ended["session"].as_str().expect("a session");
    assert_eq!(yard.result(session, "one.txt"), "one\nmerged");
    let statuses = yard.statuses(session);
    let again = ["MERGE_CONFLICT", "READY_FOR_QA", "PASS", "APPROVED", "MERGE_SUCCESS"];
    assert!(statuses.windows(5).any(|said| said == again), "a change while merging is approved again: {statuses:?}");
}

#[test]
fn what_a_later_group_builds_on_is_there() {
    let groups = "{ id: one, title: One }, { id: two, title: Two, depends_on: [one] }";
    let more = "  - { role: developer, group: two, does: [{ run: [grep, one, one.txt], expect: pass }, { write: two.txt, text: x }], says: { status: READY_FOR_QA } }";
    let yard =
        Yard::new("what_a_later_group_builds_on", &[("scripted.yaml", &script(groups, more)), ("m.md", "# Two\n")]);
    assert_eq!(yard.run(&["m.md", "--agents", "scripted"])["status"], "completed");
}

#[test]
fn a_false_claim_is_on_the_record_and_goes_back() {
    let groups = "{ id: one, title: One, checks: [[test, -f, right]] }";
    let more = "  - { role: developer, attempt: 1, does: [{ write: wrong, text: x }], says: { status: READY_FOR_QA, verification: { tests_passed: true } } }\n  - { role: developer, attempt: 2, does: [{ write: right, text: x }], says: { status: READY_FOR_QA, verification: { tests_passed: true } } }";
    let yard = Yard::new("a_false_claim", &[("scripted.yaml", &script(groups, more)), ("m.md", "# One\n")]);
    let ended = yard.run(&["m.md", "--agents", "scripted"]);
    assert_eq!(ended["status"], "completed");
    let session = ended["session"].as_str().expect("a session");
    assert!(yard.statuses(session).contains(&"false_claim".to_owned()));
    let log = yard.json(&["log", session]).to_string();
    assert!(log.contains("test -f right"), "what Interlock ran is on the record");
}

#[test]
fn a_role_is_held_to_what_it_may_write() {
    let workflow = "workflow: ours\nlanguage: 1\nextends: delivery-team\nroles:\n  qa_expert: { escalates_to: tech_lead, writes: [\"tests/**\"] }\n";
    let more = "  - { role: qa_expert, attempt: 1, does: [{ write: src/x, text: x }, { write: tests/y, text: y }], says: { status: PASS, test_progression: { still_failing: [] } } }\n  - { role: qa_expert, attempt: 2, does: [{ write: tests/y, text: y }], says: { status: PASS, test_progression: { still_failing: [] } } }";
    let yard = Yard::new(
        "a_role_is_held",
        &[
            ("scripted.yaml", &script("{ id: one, title: One }", more)),
            ("agents.yaml", "agents: { s: { client: scripted } }\nroles: { any: s }\ncorrections: 0\n"),
            ("interlock.yaml", workflow),
            ("m.md", "# One\n"),
        ],
    );
    let ended = yard.run(&["m.md"]);
    let session = ended["session"].as_str().expect("a session");
    let log = yard.json(&["log", session]).to_string();
    assert!(log.contains("qa_expert may change `tests/**`, and you changed `src/x`"), "{log}");
    let files = yard.git(&["ls-tree", "-r", "--name-only", &format!("interlock/{session}")]);
    assert!(files.contains("tests/y") && !files.contains("src/x"), "{files}");
}

#[test]
fn a_mission_that_is_started_twice_at_once_is_one_session() {
    let more =
        "  - { role: developer, does: [{ wait: 1s }, { write: one.txt, text: x }], says: { status: READY_FOR_QA } }";
    let script = script("{ id: one, title: One }", more);
    let yard = Yard::new("twice_at_once", &[("scripted.yaml", &script), ("m.md", "# One\n")]);
    let runs: Vec<_> = (0..4).map(|_| yard.start(&["m.md", "--agents", "scripted"])).collect();
    let ended: Vec<_> = runs.into_iter().map(|run| run.wait_with_output().expect("it ends")).collect();
    let count = |code: i32| ended.iter().filter(|output| output.status.code() == Some(code)).count();
    let said = |output: &std::process::Output| String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!((count(0), count(3)), (1, 3), "{:?}", ended.iter().map(said).collect::<Vec<_>>());
    assert!(ended.iter().filter(|output| output.status.code() == Some(3)).all(|output| said(output).contains("E0606")));
    assert_eq!(yard.json(&["session", "list"])["sessions"].as_array().map(Vec::len), Some(1));
}

/// That one which has not ended goes on is shown in `people`.
#[test]
fn a_mission_that_has_ended_begins_anew() {
    let script = script("{ id: one, title: One }", "");
    let yard = Yard::new("a_mission_begins_anew", &[("scripted.yaml", &script), ("m.md", "# One\n")]);
    let [first, second] = [0, 1].map(|_| yard.run(&["m.md", "--agents", "scripted"]));
    assert_eq!((&first["status"], &second["status"]), (&"completed".into(), &"completed".into()));
    assert_ne!(first["session"], second["session"]);
}
