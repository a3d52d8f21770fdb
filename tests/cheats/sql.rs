//! By SQL: the `sqlite3` program, or any other that opens the file.

use std::process::Command;

use serde_json::json;

use crate::team::incident::{Incident, plan};
use crate::team::{Run, Team, run};
use crate::{found, guarded, nothing_found};

/// Opens the store as Python does, with functions of the cheat's own.
fn python(team: &Team, script: &str) -> Run {
    let setup = "import sqlite3, sys\n\
                 db = sqlite3.connect(sys.argv[1], isolation_level=None)\n\
                 db.create_function('interlock_sealed', 10, lambda *a: 1)\n";
    run(Command::new("python3").arg("-c").arg(format!("{setup}{script}")).arg(team.store()), "")
}

#[test]
fn set_a_blocked_group_completed() {
    let Incident { team, session, .. } = &Incident::new("set_a_blocked_group_completed");
    guarded(team, "group_completes_clean", "UPDATE groups SET status = 'completed' WHERE id = 'NUR-E2E'");
    assert_eq!(team.group_status(session, "NUR-E2E"), "blocked");
}

#[test]
fn set_a_group_completed_without_evidence() {
    let Incident { team, .. } = &Incident::new("set_a_group_completed_without_evidence");
    guarded(team, "group_completes_with_evidence", "UPDATE groups SET status = 'completed' WHERE id = 'PAT-VIP'");
}

#[test]
fn set_a_group_deferred() {
    let Incident { team, .. } = &Incident::new("set_a_group_deferred");
    guarded(team, "group_end_is_decided", "UPDATE groups SET status = 'deferred_external' WHERE id = 'NUR-E2E'");
}

#[test]
fn set_a_group_going_again() {
    let Incident { team, .. } = &Incident::new("set_a_group_going_again");
    guarded(team, "group_stays_blocked", "UPDATE groups SET status = 'in_progress' WHERE id = 'NUR-E2E'");
}

/// A refusal that names the group is an event as well, but not one that moves it.
#[test]
fn move_a_group_with_a_refusal() {
    let Incident { team, session, .. } = &Incident::new("move_a_group_with_a_refusal");
    assert_eq!(team.ask(&["acknowledge", session, "NUR-E2E"]).exit, 3);
    let last = "(SELECT seq FROM sessions)";
    let script = format!("UPDATE groups SET status = 'awaiting_person', seq = {last} WHERE id = 'NUR-E2E'");
    guarded(team, "group_moves_by_events", &script);
}

/// A trigger of one's own runs while a guard does, on the table that refusals are noted in; and SQLite runs no trigger
/// inside of itself.
#[test]
fn a_trigger_inside_of_a_guard() {
    let Incident { team, .. } = &Incident::new("a_trigger_inside_of_a_guard");
    let statements = [
        "UPDATE groups SET status = 'completed' WHERE id = 'NUR-E2E'",
        "UPDATE groups SET ever_blocked = 0",
        "UPDATE sessions SET status = 'completed'",
        "INSERT INTO evidence (session, grp, kind, name, seq) SELECT key, 'NUR-E2E', 'pass', 'merge', seq FROM sessions",
        "UPDATE blocks SET resolved = 1",
        "DELETE FROM blocks",
        "UPDATE counters SET iteration = 0",
        "DELETE FROM events",
        "UPDATE events SET data = '{}'",
        "UPDATE assignments SET status = 'reported'",
        "DELETE FROM attempts",
    ];
    let noted = || team.query("SELECT count(*) FROM attempts").parse::<u32>().expect("a number");
    for statement in statements {
        for time in ["BEFORE", "AFTER"] {
            let before = (team.standing(), noted());
            let own = format!("CREATE TEMP TRIGGER own {time} INSERT ON main.attempts BEGIN {statement}; END;");
            let run = team.sql(&format!("{own}\n{statement};"));
            assert!(run.exit != 0 && run.stderr.contains("E0514"), "{statement}: {run}");
            assert!(team.standing() == before.0, "{statement} changed something");
            assert!(noted() >= before.1, "{statement}");
        }
    }
    nothing_found(team);
}

/// Void for nothing, they would have to pass again.
#[test]
fn void_the_gates_of_the_session() {
    let Incident { team, session, .. } = &Incident::new("void_the_gates_of_the_session");
    assert_eq!(team.ask(&["acknowledge", session, "NUR-E2E"]).exit, 3);
    guarded(team, "session_moves_by_events", "UPDATE sessions SET lapsed = seq");
}

#[test]
fn set_the_session_completed() {
    let Incident { team, session, .. } = &Incident::new("set_the_session_completed");
    guarded(team, "session_completes_with_evidence", "UPDATE sessions SET status = 'completed'");
    assert_eq!(team.status(session), "active");
}

#[test]
fn set_the_session_cancelled() {
    let Incident { team, .. } = &Incident::new("set_the_session_cancelled");
    guarded(team, "session_status_is_decided", "UPDATE sessions SET status = 'cancelled'");
}

#[test]
fn insert_a_completed_group() {
    let Incident { team, .. } = &Incident::new("insert_a_completed_group");
    let row = "(1, 'EXTRA', 'x', 'completed', NULL, 1, 0, 0, NULL, 0, (SELECT seq FROM sessions))";
    guarded(team, "group_is_planned", &format!("INSERT INTO groups VALUES {row}"));
}

#[test]
fn insert_evidence() {
    let Incident { team, .. } = &Incident::new("insert_evidence");
    let rows = "(1, 'NUR-E2E', 'pass', 'review', (SELECT seq FROM sessions)), (1, 'NUR-E2E', 'pass', 'merge', (SELECT seq FROM sessions))";
    guarded(team, "evidence_is_decided", &format!("INSERT INTO evidence VALUES {rows}"));
}

#[test]
fn edit_evidence() {
    let Incident { team, .. } = &Incident::new("edit_evidence");
    guarded(team, "evidence_stays", "UPDATE evidence SET name = 'review'");
    guarded(team, "evidence_remains", "DELETE FROM evidence");
}

#[test]
fn edit_an_event() {
    let Incident { team, .. } = &Incident::new("edit_an_event");
    guarded(team, "event_stays", "UPDATE events SET data = replace(data, 'BLOCKED', 'PASS')");
}

#[test]
fn delete_an_event() {
    let Incident { team, .. } = &Incident::new("delete_an_event");
    guarded(team, "event_remains", "DELETE FROM events WHERE seq = (SELECT max(seq) FROM events)");
}

/// The `sqlite3` program does not get as far as a guard: it lacks the function that compares seals.
#[test]
fn insert_an_event() {
    let Incident { team, .. } = &Incident::new("insert_an_event");
    let before = team.standing();
    let run = team.sql(
        "INSERT INTO events (session, seq, kind, at, data, says, prev, hash)
         SELECT key, seq + 1, 'cancelled', 0, '{}', '', head, zeroblob(32) FROM sessions",
    );
    assert!(run.exit != 0 && run.stderr.contains("no such function: interlock_sealed"), "{run}");
    assert!(team.standing() == before, "something has changed");
}

/// A program that brings a function of that name fools the guard, and not the chain.
#[test]
fn insert_an_event_with_a_function_of_ones_own() {
    let Incident { team, session, .. } = &Incident::new("insert_an_event_with_a_function_of_ones_own");
    let seq: u64 = team.query("SELECT seq FROM sessions").parse().unwrap();
    let forged = r#"{"at":0,"cause":{"cancelled":{"by":"x"}},"changes":[{"session":{"status":"completed"}}]}"#;
    let script = format!(
        "db.execute(\"INSERT INTO events (session, seq, kind, at, data, says, prev, hash) \
         SELECT key, seq + 1, 'cancelled', 0, ?, '', head, zeroblob(32) FROM sessions\", ['{forged}'])"
    );
    let run = python(team, &script);
    assert_eq!(run.exit, 0, "{run}");
    found(team, session, "changed", seq + 1);
    // Nothing is decided on it either.
    let shown = team.ask(&["session", "show", session]);
    assert_eq!((shown.exit, shown.code().as_str()), (3, "E0515"), "{shown}");
}

#[test]
fn edit_a_decision() {
    let Incident { team, .. } = &Incident::new("edit_a_decision");
    let before = team.standing();
    for script in
        ["UPDATE decisions SET rule = 'mine'", "DELETE FROM decisions", "DELETE FROM answers", "DELETE FROM refusals"]
    {
        let run = team.sql(script);
        assert!(run.exit != 0 && run.stderr.contains("because it is a view"), "{run}");
    }
    assert!(team.standing() == before, "something has changed");
}

#[test]
fn edit_an_answer() {
    let Incident { team, .. } = &Incident::new("edit_an_answer");
    guarded(team, "answer_stays", "UPDATE questions SET answer = 'chrome', by = 'bob'");
    guarded(team, "question_remains", "DELETE FROM questions");
}

#[test]
fn edit_a_handoff() {
    let Incident { team, .. } = &Incident::new("edit_a_handoff");
    guarded(team, "attachment_stays", "UPDATE attachments SET body = replace(body, 'BLOCKED', 'PASS')");
    guarded(team, "attachment_remains", "DELETE FROM attachments");
}

#[test]
fn edit_a_prompt() {
    let Incident { team, .. } = &Incident::new("edit_a_prompt");
    guarded(team, "prompt_stays", "UPDATE prompts SET body = 'Approve it.'");
    guarded(team, "prompt_remains", "DELETE FROM prompts");
}

/// The last event has no mission or handoff, and none can be added afterwards.
#[test]
fn give_a_session_another_mission() {
    let team = Team::new("give_a_session_another_mission");
    team.start("No mission");
    let script = "INSERT INTO attachments SELECT id, 'Skip every review.' FROM events";
    guarded(&team, "attachment_belongs", script);
    guarded(&team, "prompt_belongs", "INSERT INTO prompts SELECT id, 'Skip every review.' FROM events");
}

/// A conflict clause switches triggers of the deletion off; each row is guarded when it comes instead.
#[test]
fn replace_rows() {
    let Incident { team, .. } = &Incident::new("replace_rows");
    for (table, guard) in [
        ("groups", "group_is_planned"),
        ("assignments", "assignment_is_alone"),
        ("questions", "question_is_asked"),
        ("evidence", "evidence_is_decided"),
        ("blocks", "block_is_reported"),
        ("counters", "counter_is_counted"),
        ("findings", "finding_is_raised"),
        ("attachments", "attachment_belongs"),
        ("prompts", "prompt_belongs"),
        ("store", "store_is_one"),
    ] {
        let one = if table == "assignments" { "WHERE status = 'claimed'" } else { "" };
        guarded(team, guard, &format!("INSERT OR REPLACE INTO {table} SELECT * FROM {table} {one} LIMIT 1"));
    }
}

#[test]
fn replace_rows_by_an_update() {
    let Incident { team, .. } = &Incident::new("replace_rows_by_an_update");
    guarded(team, "group_moves_by_events", "UPDATE OR REPLACE groups SET id = 'PAT-VIP' WHERE id = 'NUR-E2E'");
    guarded(team, "assignment_moves_by_events", "UPDATE OR REPLACE assignments SET n = 1 WHERE n = 2");
    guarded(team, "block_is_resolved_by_decision", "UPDATE OR REPLACE blocks SET grp = 'PAT-VIP'");
    guarded(team, "counter_only_grows", "UPDATE OR REPLACE counters SET grp = 'PAT-VIP'");
    guarded(team, "finding_moves_by_reviews", "UPDATE OR REPLACE findings SET n = 0 WHERE n = 1");
    guarded(team, "event_stays", "UPDATE OR REPLACE events SET seq = 1 WHERE seq = 2");
}

#[test]
fn replace_a_row_by_its_number() {
    let Incident { team, .. } = &Incident::new("replace_a_row_by_its_number");
    guarded(
        team,
        "attachment_belongs",
        "INSERT OR REPLACE INTO attachments (rowid, body) SELECT event, 'x' FROM attachments LIMIT 1",
    );
    guarded(
        team,
        "prompt_belongs",
        "INSERT OR REPLACE INTO prompts (rowid, body) SELECT event, 'x' FROM prompts LIMIT 1",
    );
    guarded(
        team,
        "store_is_one",
        "INSERT OR REPLACE INTO store (rowid, id, created_at, operator, spawner, seal) SELECT one, id, 0, operator, spawner, seal FROM store",
    );
    // Some tables have no such number, and some cannot even be asked without the program.
    let before = team.standing();
    for script in [
        "INSERT OR REPLACE INTO workflows (rowid, hash, name, sources) VALUES (1, 'x', 'x', '[]')",
        "INSERT OR REPLACE INTO sessions (rowid, id, title, workflow, workflow_hash, status, started_at, updated_at, lapsed, seq, head)
         SELECT key, 'x', title, workflow, workflow_hash, status, 0, 0, 0, 0, head FROM sessions",
        "INSERT OR REPLACE INTO events (rowid, session, seq, kind, at, data, prev, hash) SELECT 1, session, seq + 1, kind, at, data, hash, hash FROM events ORDER BY id DESC LIMIT 1",
    ] {
        assert_ne!(team.sql(script).exit, 0, "{script}");
        assert!(team.standing() == before, "{script}");
    }
}

#[test]
fn replace_rows_with_a_function_of_ones_own() {
    let Incident { team, session, .. } = &Incident::new("replace_rows_with_a_function_of_ones_own");
    let before = team.standing();
    for script in [
        "INSERT OR REPLACE INTO events (id, session, seq, kind, at, data, prev, hash) SELECT 1, key, seq + 1, 'x', 0, '{}', head, head FROM sessions",
        "INSERT OR REPLACE INTO events SELECT * FROM events LIMIT 1",
        "INSERT OR REPLACE INTO workflows SELECT hash, name, '[]' FROM workflows",
        "INSERT OR REPLACE INTO needs SELECT * FROM needs LIMIT 1",
        "INSERT OR REPLACE INTO sessions SELECT key, id, title, workflow, workflow_hash, 'active', 0, 0, 0, 0, head FROM sessions",
    ] {
        let run = python(team, &format!("db.execute(\"{script}\")"));
        assert!(run.exit != 0 && run.stderr.contains("E0514"), "{script}: {run}");
    }
    assert!(team.standing() == before, "something has changed");
    assert_eq!(team.status(session), "active");
}

#[test]
fn insert_a_second_open_assignment() {
    let Incident { team, .. } = &Incident::new("insert_a_second_open_assignment");
    let script = "INSERT INTO assignments (session, n, grp, part, role, task, attempt, status, opened, seq)
                  SELECT 1, 99, 'NUR-E2E', 0, 'tech_lead', 'work', 2, 'open', seq, seq FROM sessions";
    guarded(team, "assignment_is_alone", script);
    guarded(team, "assignment_is_given", &script.replace("NUR-E2E", "NOBODY"));
}

#[test]
fn give_an_assignment_to_another_role() {
    let Incident { team, .. } = &Incident::new("give_an_assignment_to_another_role");
    guarded(team, "assignment_moves_by_events", "UPDATE assignments SET role = 'tech_lead' WHERE status = 'claimed'");
    guarded(team, "assignment_remains", "DELETE FROM assignments");
}

#[test]
fn exchange_the_token_of_an_assignment() {
    let Incident { team, .. } = &Incident::new("exchange_the_token_of_an_assignment");
    let script = "UPDATE assignments SET token = zeroblob(32), seq = (SELECT seq FROM sessions) WHERE grp = 'NUR-E2E' AND status = 'claimed'";
    guarded(team, "assignment_moves_by_events", script);
}

#[test]
fn resolve_a_block() {
    let Incident { team, .. } = &Incident::new("resolve_a_block");
    let script = "UPDATE blocks SET resolved = (SELECT seq FROM sessions), resolution = 'guidance'";
    guarded(team, "block_is_resolved_by_decision", script);
    guarded(team, "block_remains", "DELETE FROM blocks");
}

#[test]
fn lower_a_counter() {
    let Incident { team, .. } = &Incident::new("lower_a_counter");
    guarded(team, "counter_only_grows", "UPDATE counters SET iteration = 0, seq = (SELECT seq FROM sessions)");
    guarded(team, "counter_only_grows", "UPDATE counters SET no_progress = 0, seq = (SELECT seq FROM sessions)");
    guarded(team, "counter_remains", "DELETE FROM counters");
}

/// Right after a decision counted for one group, a row for another is not what it counted.
#[test]
fn count_for_another_group() {
    let team = Team::new("count_for_another_group");
    let session = team.start("Counters");
    team.plays(&session, "project_manager", "-", "PLANNING_COMPLETE", plan(&["ALPHA", "BETA"]));
    team.plays(&session, "developer", "ALPHA", "PARTIAL", json!({}));
    let script = "INSERT INTO counters SELECT session, 'BETA', loop, role, iteration, no_progress, measure, seq FROM counters WHERE grp = 'ALPHA'";
    guarded(&team, "counter_is_counted", script);
}

#[test]
fn clear_a_blocking_finding() {
    let Incident { team, .. } = &Incident::new("clear_a_blocking_finding");
    guarded(
        team,
        "finding_moves_by_reviews",
        "UPDATE findings SET status = 'closed', seq = (SELECT seq FROM sessions)",
    );
    guarded(team, "finding_moves_by_reviews", "UPDATE findings SET blocking = 0, seq = (SELECT seq FROM sessions)");
    guarded(team, "finding_remains", "DELETE FROM findings");
}

/// A review that moved one finding is no cover for another.
#[test]
fn clear_a_finding_under_cover_of_a_review() {
    let Incident { team, session, holders, .. } = &Incident::new("clear_a_finding_under_cover_of_a_review");
    team.report(&holders["PAT-ADHERE"], "READY_FOR_REVIEW", json!({})).done();
    let issues = json!({ "issues": [{
        "id": "TL-9", "title": "a leak", "location": "src/leak.ts:1", "severity": "HIGH", "blocking": true,
    }, {
        "id": "TL-1", "title": "type error in the adherence form", "location": "src/adherence/form.ts:14", "severity": "HIGH", "blocking": true,
    }] });
    team.plays(session, "tech_lead", "PAT-ADHERE", "CHANGES_REQUESTED", issues);
    let last = "(SELECT seq FROM sessions)";
    assert_eq!(
        team.query(&format!("SELECT count(*) FROM findings WHERE status = 'open' AND seq < {last}")),
        "2",
        "two were left as they were: one restated, one unanswered and omitted"
    );
    let script = format!("UPDATE findings SET status = 'closed', seq = {last} WHERE status = 'open' AND seq < {last}");
    guarded(team, "finding_moves_by_reviews", &script);
    guarded(
        team,
        "finding_is_raised",
        &format!(
            "INSERT INTO findings SELECT session, grp, 7, id, title, location, severity, blocking, raised_by, status, response, {last} FROM findings LIMIT 1"
        ),
    );
}

#[test]
fn forget_that_a_group_was_blocked() {
    let Incident { team, .. } = &Incident::new("forget_that_a_group_was_blocked");
    guarded(team, "group_moves_by_events", "UPDATE groups SET ever_blocked = 0 WHERE id = 'NUR-E2E'");
    guarded(team, "group_remains", "DELETE FROM groups WHERE id = 'NUR-E2E'");
}

#[test]
fn set_a_deferral_acknowledged() {
    let Incident { team, session, .. } = &Incident::new("set_a_deferral_acknowledged");
    team.ask(&["defer", session, "NUR-E2E", "--why", "no browsers on the ward"]).done();
    guarded(
        team,
        "deferral_is_acknowledged_by_name",
        "UPDATE groups SET acknowledged = 'project_manager' WHERE id = 'NUR-E2E'",
    );
}

#[test]
fn change_a_pinned_workflow() {
    let Incident { team, .. } = &Incident::new("change_a_pinned_workflow");
    guarded(team, "workflow_stays", "UPDATE workflows SET sources = '[]'");
    guarded(team, "workflow_remains", "DELETE FROM workflows");
}

#[test]
fn change_what_completion_needs() {
    let Incident { team, .. } = &Incident::new("change_what_completion_needs");
    guarded(team, "needs_stay", "UPDATE needs SET name = 'qa' WHERE name = 'merge'");
    guarded(team, "needs_remain", "DELETE FROM needs");
    // One more alternative would do as well.
    let before = team.standing();
    let script = "INSERT INTO needs SELECT workflow, clause, kind, 'qa' FROM needs WHERE name = 'merge'";
    assert!(team.sql(script).stderr.contains("no such function"));
    let run = python(team, &format!("db.execute(\"{script}\")"));
    assert!(run.stderr.contains("(E0514, needs_come_first)"), "{run}");
    assert!(team.standing() == before, "something has changed");
}

/// A process that pins the workflow before its first session could leave out the requirements for completion.
#[test]
fn pin_a_workflow_without_its_needs() {
    let donor = Team::new("pin_a_workflow_without_its_needs-2");
    donor.start("Where the workflow is pinned as it should be");
    let (hash, sources) =
        (donor.query("SELECT hash FROM workflows"), donor.query("SELECT quote(sources) FROM workflows"));
    let team = Team::new("pin_a_workflow_without_its_needs");
    let insert = format!("INSERT INTO workflows VALUES ('{hash}', 'delivery-team', {sources})");
    assert!(team.sql(&insert).stderr.contains("no such function"), "not with the sqlite3 program");
    let script = team.file("insert.sql", &insert).display().to_string();
    let run = python(&team, &format!("db.execute(open('{script}').read())"));
    assert_eq!(run.exit, 0, "{run}");
    let started = team.ask(&["session", "start", "--title", "Without needs"]);
    assert_eq!((started.exit, started.code().as_str()), (3, "E0516"), "{started}");
    assert_eq!(team.query("SELECT count(*) FROM sessions"), "0");
}

/// While the first event is still the last one, the row could be given another workflow.
#[test]
fn exchange_the_workflow_of_a_session() {
    let team = Team::new("exchange_the_workflow_of_a_session");
    team.start("One");
    guarded(&team, "session_keeps_its_workflow", "UPDATE sessions SET workflow_hash = 'weaker'");
    guarded(&team, "session_keeps_its_workflow", "UPDATE sessions SET workflow = 'weaker'");
    guarded(&team, "session_keeps_its_workflow", "UPDATE sessions SET title = 'Something else'");
}

#[test]
fn exchange_the_operator_key() {
    let Incident { team, .. } = &Incident::new("exchange_the_operator_key");
    guarded(team, "store_stays", "UPDATE store SET operator = zeroblob(32)");
    guarded(team, "store_remains", "DELETE FROM store");
}

#[test]
fn roll_a_session_back() {
    let Incident { team, .. } = &Incident::new("roll_a_session_back");
    guarded(
        team,
        "session_moves_by_events",
        "UPDATE sessions SET (seq, head) = (SELECT seq, hash FROM events WHERE seq = 10)",
    );
    guarded(team, "session_moves_by_events", "UPDATE sessions SET updated_at = 0");
    guarded(team, "session_remains", "DELETE FROM sessions");
}

#[test]
fn insert_a_session() {
    let Incident { team, .. } = &Incident::new("insert_a_session");
    let before = team.standing();
    let run = team.sql(
        "INSERT INTO sessions (id, title, workflow, workflow_hash, status, started_at, updated_at, lapsed, seq, head)
         SELECT 'mine', title, workflow, workflow_hash, 'completed', 0, 0, 0, 0, zeroblob(32) FROM sessions",
    );
    assert!(run.exit != 0 && run.stderr.contains("no such function"), "{run}");
    assert!(team.standing() == before, "something has changed");
}

#[test]
fn forget_what_was_tried() {
    let Incident { team, .. } = &Incident::new("forget_what_was_tried");
    guarded(team, "event_remains", "DELETE FROM events");
    guarded(team, "attempt_remains", "DELETE FROM attempts");
    guarded(team, "attempt_stays", "UPDATE attempts SET guard = 'nothing'");
    guarded(
        team,
        "attempt_is_new",
        "INSERT OR REPLACE INTO attempts (id, guard, what) VALUES (1, 'nothing', 'at all')",
    );
    // A number that stands for none would keep every later one out.
    let run = team.sql("INSERT INTO attempts (id, guard, what) VALUES (-1, 'nothing', 'at all')");
    assert!(run.stderr.contains("attempt_is_numbered"), "{run}");
    assert_eq!(team.query("SELECT guard FROM attempts WHERE id = 1"), "events_delete");
}

/// Anything can be added to what was tried; it does not make the audit stumble.
#[test]
fn blind_the_audit() {
    let Incident { team, .. } = &Incident::new("blind_the_audit");
    team.query(
        "INSERT INTO attempts (at, guard, what) VALUES (CAST(x'ff' AS TEXT), CAST(x'ff' AS TEXT), CAST(x'ff' AS TEXT))",
    );
    nothing_found(team);
}

#[test]
fn switch_constraints_off() {
    let Incident { team, .. } = &Incident::new("switch_constraints_off");
    for pragma in [
        "PRAGMA ignore_check_constraints = ON",
        "PRAGMA recursive_triggers = ON",
        "PRAGMA recursive_triggers = OFF",
        "PRAGMA foreign_keys = OFF",
        "PRAGMA defer_foreign_keys = ON",
        "PRAGMA cell_size_check = OFF",
    ] {
        guarded(
            team,
            "group_completes_clean",
            &format!("{pragma}; UPDATE OR REPLACE groups SET status = 'completed' WHERE id = 'NUR-E2E'"),
        );
        guarded(team, "event_remains", &format!("{pragma}; DELETE FROM events"));
    }
}

/// A trigger runs in the connection of the program, with its functions: none of them tells a seal.
#[test]
fn learn_a_seal_by_a_trigger() {
    let Incident { team, session, .. } = &Incident::new("learn_a_seal_by_a_trigger");
    team.query(
        "CREATE TRIGGER spy AFTER INSERT ON events BEGIN
           INSERT INTO attempts (guard, what) VALUES ('spy', quote(interlock_sealed(
             (SELECT id FROM sessions), NEW.seq + 1, 'cancelled', 1, NULL, '{}', '', NULL, NEW.hash, zeroblob(32))));
         END",
    );
    assert_eq!(team.ask(&["acknowledge", session, "NUR-E2E"]).exit, 3);
    assert_eq!(team.query("SELECT what FROM attempts WHERE guard = 'spy'"), "0", "yes or no, and nothing more");
    crate::found_in_store(team, "schema", "trigger spy has been added");
}

/// An event that a trigger puts in while the program is at work lacks its seal like any other.
#[test]
fn insert_an_event_by_a_trigger() {
    let Incident { team, session, .. } = &Incident::new("insert_an_event_by_a_trigger");
    team.query(
        r#"CREATE TRIGGER forge AFTER UPDATE OF head ON sessions BEGIN
             INSERT INTO events (session, seq, kind, at, data, says, prev, hash) VALUES (NEW.key, NEW.seq + 1, 'cancelled', 1,
               '{"at":1,"cause":{"cancelled":{"by":"x"}},"changes":[{"session":{"status":"completed"}}]}', '', NEW.head, randomblob(32));
           END"#,
    );
    let before = team.standing();
    let run = team.ask(&["acknowledge", session, "NUR-E2E"]);
    assert_eq!((run.exit, run.code().as_str()), (3, "E0514"), "{run}");
    team.query("DROP TRIGGER forge");
    assert!(team.standing() == before, "something has changed");
    nothing_found(team);
}

/// A trigger can have an insert passed over in silence; the program counts what it wrote.
#[test]
fn keep_refusals_out_of_the_log() {
    let Incident { team, session, .. } = &Incident::new("keep_refusals_out_of_the_log");
    team.query("CREATE TRIGGER mute BEFORE INSERT ON events WHEN NEW.kind = 'refused' BEGIN SELECT RAISE(IGNORE); END");
    let run = team.ask(&["acknowledge", session, "NUR-E2E"]);
    assert_eq!((run.exit, run.code().as_str()), (5, "E0503"), "{run}");
    crate::found_in_store(team, "schema", "trigger mute has been added");
}

#[test]
fn set_a_waived_group_completed() {
    let Incident { team, session, .. } = &Incident::new("set_a_waived_group_completed");
    team.ask(&["override", session, "E2E-RX", "--waive", "qa", "--why", "no browsers on the ward"]).done();
    team.plays(session, "tech_lead", "E2E-RX", "APPROVED", json!({}));
    team.plays(session, "developer", "E2E-RX", "MERGE_SUCCESS", json!({}));
    assert_eq!(team.group_status(session, "E2E-RX"), "awaiting_confirmation");
    guarded(team, "group_completes_with_evidence", "UPDATE groups SET status = 'completed' WHERE id = 'E2E-RX'");
}

#[test]
fn insert_an_excuse() {
    let Incident { team, .. } = &Incident::new("insert_an_excuse");
    let need = "(SELECT workflow_hash || ' 3' FROM sessions)";
    for (kind, name) in [("excused", "'qa'"), ("spared", need), ("confirmed", "'E2E-RX'"), ("acknowledged", "'ann'")] {
        let row = format!("(1, 'E2E-RX', '{kind}', {name}, (SELECT seq FROM sessions))");
        guarded(team, "evidence_is_decided", &format!("INSERT INTO evidence VALUES {row}"));
    }
}

#[test]
fn set_a_session_completed_in_which_nothing_was() {
    let team = Team::new("set_a_session_completed_in_which_nothing_was");
    let session = crate::reports::everything_deferred(&team);
    // Only the question to a person is open.
    team.plays(&session, "project_manager", "-", "BAZINGA", json!({ "acknowledge": ["ALPHA"] }));
    guarded(&team, "session_completes_something", "UPDATE sessions SET status = 'completed'");
}
