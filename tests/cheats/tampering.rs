//! By hand on the file, with the guards taken off first: what is done shows, and nothing is decided on it.

use std::fs;

use serde_json::{Value as Json, json};

use crate::commands::completed;
use crate::team::Team;
use crate::team::incident::Incident;
use crate::{first_problem, found, found_in_store, nothing_found, refused};

fn last(team: &Team) -> u64 {
    team.query("SELECT max(seq) FROM events").parse().unwrap()
}

/// Nothing is decided on a history that was altered.
#[track_caller]
fn undecided(team: &Team, session: &str) {
    let run = team.ask(&["acknowledge", session, "NUR-E2E"]);
    assert_eq!((run.exit, run.code().as_str()), (3, "E0515"), "{run}");
}

#[test]
fn take_the_guards_off() {
    let Incident { team, .. } = &Incident::new("take_the_guards_off");
    nothing_found(team);
    team.tamper("");
    found_in_store(team, "schema", "trigger events_update is missing");
    team.ask(&["rebuild"]).done();
    nothing_found(team);
}

#[test]
fn weaken_a_guard() {
    let Incident { team, .. } = &Incident::new("weaken_a_guard");
    team.query("DROP TRIGGER events_update; CREATE TRIGGER events_update BEFORE UPDATE ON events WHEN 0 BEGIN SELECT RAISE(FAIL, 'no'); END");
    found_in_store(team, "schema", "trigger events_update has been changed");
}

#[test]
fn write_the_schema() {
    let Incident { team, .. } = &Incident::new("write_the_schema");
    let run = team
        .sql(".dbconfig defensive off\nPRAGMA writable_schema = ON; DELETE FROM sqlite_schema WHERE type = 'trigger' AND name LIKE 'group_%'");
    assert_eq!(run.exit, 0, "{run}");
    found_in_store(team, "schema", "trigger groups_update is missing");
}

#[test]
fn switch_triggers_off() {
    let Incident { team, session, .. } = &Incident::new("switch_triggers_off");
    let run = team.sql(".dbconfig enable_trigger off\nUPDATE groups SET status = 'completed' WHERE id = 'NUR-E2E';\n");
    assert_eq!((run.exit, run.stderr.as_str()), (0, ""), "{run}");
    let seq = team.query("SELECT seq FROM groups WHERE id = 'NUR-E2E'").parse().unwrap();
    let problem = found(team, session, "projection", seq);
    assert!(problem["text"].as_str().unwrap().contains("status is `completed`, and should be `blocked`"), "{problem}");
}

#[test]
fn change_an_event() {
    let Incident { team, session, .. } = &Incident::new("change_an_event");
    let seq: u64 = team.query("SELECT seq FROM events WHERE data GLOB '*BLOCKED*' LIMIT 1").parse().unwrap();
    team.tamper_unseen(&format!("UPDATE events SET data = replace(data, 'BLOCKED', 'PASS') WHERE seq = {seq}"));
    found(team, session, "changed", seq);
    undecided(team, session);
}

/// Bytes that are no text, a seal that is too short, a number that is too large: it is named all the same.
#[test]
fn spoil_an_event() {
    for (name, spoilt) in [
        ("data", "data = CAST(x'ff' AS TEXT)"),
        ("kind", "kind = CAST(x'ff' AS TEXT)"),
        ("hash", "hash = zeroblob(5)"),
        ("prev", "prev = zeroblob(5)"),
        ("given", "given = zeroblob(5)"),
        ("decision", "decision = 99999999999"),
    ] {
        let Incident { team, session, .. } = &Incident::new(&format!("spoil_an_event-{name}"));
        team.tamper_unseen(&format!("UPDATE events SET {spoilt} WHERE seq = 9"));
        found(team, session, "changed", 9);
        undecided(team, session);
    }
    let Incident { team, session, .. } = &Incident::new("spoil_an_event-head");
    team.tamper_unseen("UPDATE sessions SET head = zeroblob(5)");
    found(team, session, "projection", last(team));
    undecided(team, session);
}

#[test]
fn spoil_a_whole_log() {
    let Incident { team, session, .. } = &Incident::new("spoil_a_whole_log");
    team.tamper_unseen("UPDATE events SET at = at + 1");
    found(team, session, "changed", 1);
}

#[test]
fn spoil_a_pinned_workflow() {
    let Incident { team, session, .. } = &Incident::new("spoil_a_pinned_workflow");
    team.tamper_unseen("UPDATE workflows SET sources = '{'");
    found(team, session, "changed", 1);
}

#[test]
fn change_when_an_event_was() {
    let Incident { team, session, .. } = &Incident::new("change_when_an_event_was");
    team.tamper_unseen("UPDATE events SET at = at - 60000 WHERE seq = 7");
    found(team, session, "changed", 7);
}

/// What the guards look for is sealed with the event.
#[test]
fn have_an_event_say_more_than_it_does() {
    let Incident { team, session, .. } = &Incident::new("have_an_event_say_more_than_it_does");
    team.tamper_unseen("UPDATE events SET says = says || 'ended \"NUR-E2E\" \"completed\"' || char(10) WHERE seq = 7");
    found(team, session, "changed", 7);
}

#[test]
fn change_who_answered() {
    let Incident { team, session, .. } = &Incident::new("change_who_answered");
    let seq = team.query("SELECT seq FROM events WHERE kind = 'answered'").parse().unwrap();
    team.tamper_unseen("UPDATE events SET data = replace(data, '\"ann\"', '\"bob\"') WHERE kind = 'answered'");
    found(team, session, "changed", seq);
}

#[test]
fn add_an_event_at_the_end() {
    let Incident { team, session, .. } = &Incident::new("add_an_event_at_the_end");
    let seq = last(team) + 1;
    let event = "INSERT INTO events (session, seq, kind, at, data, says, prev, hash)
                 SELECT key, seq + 1, 'cancelled', 1, '{\"at\":1,\"cause\":{\"cancelled\":{\"by\":\"x\"}},\"changes\":[]}', '', head, randomblob(32) FROM sessions";
    team.tamper_unseen(event);
    found(team, session, "added", seq);
    // With the session moved on to it, it looks like one that was changed.
    team.tamper_unseen("UPDATE sessions SET (seq, head) = (SELECT seq, hash FROM events ORDER BY seq DESC LIMIT 1)");
    found(team, session, "changed", seq);
    undecided(team, session);
}

#[test]
fn add_an_event_in_between() {
    let Incident { team, session, .. } = &Incident::new("add_an_event_in_between");
    team.tamper(
        "DROP INDEX events_by_seq;
         UPDATE events SET seq = seq + 1 WHERE seq >= 10;
         INSERT INTO events (session, seq, kind, at, data, says, prev, hash) SELECT session, 10, kind, at, data, says, prev, randomblob(32) FROM events WHERE seq = 11;",
    );
    found(team, session, "added", 10);
}

#[test]
fn add_a_second_event_of_a_number() {
    let Incident { team, session, .. } = &Incident::new("add_a_second_event_of_a_number");
    team.tamper(
        "DROP INDEX events_by_seq; DROP INDEX events_by_decision;
         INSERT INTO events (session, seq, kind, at, decision, data, says, given, prev, hash) SELECT session, seq, kind, at, decision, data, says, given, prev, hash FROM events WHERE seq = 10;",
    );
    found(team, session, "added", 10);
}

#[test]
fn delete_the_last_event() {
    let Incident { team, session, .. } = &Incident::new("delete_the_last_event");
    let seq = last(team);
    team.tamper_unseen(&format!("DELETE FROM events WHERE seq = {seq}"));
    found(team, session, "truncated", seq);
    undecided(team, session);
}

/// The end of the log, and the session moved back to where it then ends: the tables still know better.
#[test]
fn delete_the_end_and_move_the_session_back() {
    let Incident { team, session, .. } = &Incident::new("delete_the_end_and_move_the_session_back");
    let head = export(team, session);
    let seq = last(team);
    team.tamper_unseen(&cut_off(seq - 1));
    let first = first_problem(team, session, &[]);
    assert_eq!(first["kind"], "projection", "{first}");
    // The head that was kept elsewhere says how much is gone.
    let first = first_problem(team, session, &["--head", &head]);
    assert_eq!((first["kind"].as_str(), first["seq"].as_u64()), (Some("truncated"), Some(seq)), "{first}");
}

/// A refusal leaves no other trace, so only a head that was kept elsewhere tells that one is gone.
#[test]
fn delete_a_refusal_without_a_trace() {
    let Incident { team, session, .. } = &Incident::new("delete_a_refusal_without_a_trace");
    assert_eq!(team.ask(&["acknowledge", session, "NUR-E2E"]).exit, 3);
    let (head, seq) = (export(team, session), last(team));
    team.tamper_unseen(&cut_off(seq - 1));
    let first = first_problem(team, session, &["--head", &head]);
    assert_eq!((first["kind"].as_str(), first["seq"].as_u64()), (Some("truncated"), Some(seq)), "{first}");
}

/// A snapshot is sealed at its event: it tells that the log once went that far.
#[test]
fn cut_off_the_end_before_a_snapshot() {
    let (team, session) = completed("cut_off_the_end_before_a_snapshot");
    let seq = last(&team);
    assert_eq!(team.query("SELECT seq FROM snapshots"), seq.to_string());
    team.tamper_unseen(&cut_off(seq - 1));
    found(&team, &session, "truncated", seq);
}

#[test]
fn delete_an_event_in_the_middle() {
    let Incident { team, session, .. } = &Incident::new("delete_an_event_in_the_middle");
    team.tamper_unseen("DELETE FROM events WHERE seq = 12");
    found(team, session, "dropped", 12);
    undecided(team, session);
}

#[test]
fn delete_an_event_and_close_the_gap() {
    let Incident { team, session, .. } = &Incident::new("delete_an_event_and_close_the_gap");
    team.tamper(
        "DELETE FROM events WHERE seq = 12; DROP INDEX events_by_seq; UPDATE events SET seq = seq - 1 WHERE seq > 12;
         UPDATE sessions SET seq = seq - 1; CREATE UNIQUE INDEX events_by_seq ON events (session, seq);",
    );
    found(team, session, "reordered", 12);
}

#[test]
fn swap_two_events() {
    let Incident { team, session, .. } = &Incident::new("swap_two_events");
    team.tamper_unseen("UPDATE events SET seq = -1 WHERE seq = 8; UPDATE events SET seq = 8 WHERE seq = 9; UPDATE events SET seq = 9 WHERE seq = -1");
    found(team, session, "reordered", 8);
    undecided(team, session);
}

#[test]
fn copy_events_of_another_session() {
    let Incident { team, session, .. } = &Incident::new("copy_events_of_another_session");
    // The other session was completed well; its events are genuine, and sealed with the same key.
    let started = team.ask(&["session", "start", "--title", "One group", "--investigation"]).done();
    let other = started["session"].as_str().expect("a session").to_owned();
    team.plays(&other, "project_manager", "-", "INVESTIGATION_ONLY", json!({}));
    assert_eq!(team.status(&other), "completed");
    let seq: u64 = team.query(&format!("SELECT seq FROM sessions WHERE id = '{session}'")).parse().unwrap();
    team.tamper_unseen(&format!(
        "INSERT INTO events (session, seq, kind, at, decision, data, says, given, prev, hash)
         SELECT 1, {seq} + 1, kind, at, NULL, data, says, given, (SELECT head FROM sessions WHERE key = 1), hash FROM events WHERE session = 2 ORDER BY seq DESC LIMIT 1;
         UPDATE sessions SET (seq, head) = (SELECT seq, hash FROM events WHERE session = 1 ORDER BY seq DESC LIMIT 1) WHERE key = 1"
    ));
    found(team, session, "changed", seq + 1);
    undecided(team, session);
}

#[test]
fn put_a_session_in_the_place_of_another() {
    let Incident { team, session, .. } = &Incident::new("put_a_session_in_the_place_of_another");
    let other = team.start("Another");
    team.tamper_unseen(&format!(
        "UPDATE sessions SET id = 'x' WHERE id = '{session}'; UPDATE sessions SET id = '{session}' WHERE id = '{other}'"
    ));
    found(team, session, "changed", 1);
}

#[test]
fn roll_the_head_of_a_session_back() {
    let Incident { team, session, .. } = &Incident::new("roll_the_head_of_a_session_back");
    team.tamper_unseen("UPDATE sessions SET (seq, head) = (SELECT seq, hash FROM events WHERE seq = 10)");
    found(team, session, "projection", 10);
    undecided(team, session);
}

#[test]
fn replace_a_snapshot() {
    let (team, session) = completed("replace_a_snapshot");
    let seq = last(&team);
    team.query("UPDATE snapshots SET data = replace(data, 'ALPHA', 'OMEGA')");
    found(&team, &session, "projection", seq);
    // It is passed over; the events are folded instead.
    assert_eq!(team.group_status(&session, "ALPHA"), "completed");
    team.ask(&["rebuild"]).done();
    nothing_found(&team);
}

#[test]
fn write_a_snapshot() {
    let Incident { team, session, .. } = &Incident::new("write_a_snapshot");
    let seq = last(team);
    let state = r#"{"status":"completed"}"#;
    team.query(&format!("INSERT OR REPLACE INTO snapshots VALUES (1, {seq}, '{state}', zeroblob(32))"));
    found(team, session, "projection", seq);
    assert_eq!(team.status(session), "active");
}

/// No guard is on snapshots, because none is needed: a spoilt one is passed over.
#[test]
fn spoil_a_snapshot() {
    let Incident { team, session, .. } = &Incident::new("spoil_a_snapshot");
    team.query("INSERT OR REPLACE INTO snapshots VALUES (1, 5, CAST(x'ff' AS TEXT), zeroblob(3))");
    found(team, session, "projection", 5);
    assert_eq!(team.group_status(session, "NUR-E2E"), "blocked");
}

/// What the audit says of the schema.
#[track_caller]
fn schema_problem(team: &Team) -> String {
    let run = team.ask(&["audit", "verify"]);
    assert_eq!(run.exit, 3, "{run}");
    let report = run.json();
    let problems = report["problems"].as_array().expect("problems");
    let of_schema = problems.iter().find(|problem| problem["kind"] == "schema");
    of_schema.unwrap_or_else(|| panic!("{report:#}"))["text"].as_str().unwrap_or_default().to_owned()
}

/// The guards are put on again by the next command, and that they were gone is not forgotten.
#[test]
fn set_the_version_back() {
    let Incident { team, session, .. } = &Incident::new("set_the_version_back");
    team.tamper("PRAGMA user_version = 3");
    assert_eq!(team.status(session), "active");
    crate::guarded(team, "event_remains", "DELETE FROM events");
    assert_eq!(schema_problem(team), "the schema was not that of version 3 when the store was opened");
    crate::guarded(team, "attempt_remains", "DELETE FROM attempts");
}

#[test]
fn set_the_version_back_and_nothing_else() {
    let Incident { team, session, .. } = &Incident::new("set_the_version_back_and_nothing_else");
    team.sql("PRAGMA user_version = 3");
    assert_eq!(team.status(session), "active");
    nothing_found(team);
}

#[test]
fn name_a_trigger_as_sqlite_would() {
    let Incident { team, .. } = &Incident::new("name_a_trigger_as_sqlite_would");
    team.query("CREATE TRIGGER \"a sqlite_b\" BEFORE INSERT ON attempts BEGIN SELECT RAISE(IGNORE); END");
    assert_eq!(schema_problem(team), "trigger a sqlite_b has been added");
}

#[test]
fn edit_when_it_was() {
    let Incident { team, session, .. } = &Incident::new("edit_when_it_was");
    team.tamper_unseen("UPDATE sessions SET started_at = 1, updated_at = updated_at + 1");
    let first = first_problem(team, session, &[]);
    assert_eq!(first["kind"], "projection", "{first}");
    assert_eq!(first["text"], "the times of the session are not those of its first and last event");
}

/// For sessions and events that there are not, or beside an event that has none.
#[test]
fn add_rows_that_belong_to_nothing() {
    let Incident { team, .. } = &Incident::new("add_rows_that_belong_to_nothing");
    for (script, kind, said) in [
        (
            "INSERT INTO evidence (session, grp, kind, name, seq) VALUES (99, 'A', 'pass', 'merge', 1)",
            "dropped",
            "evidence",
        ),
        ("INSERT INTO snapshots (session, seq, data, seal) VALUES (98, 1, '{}', zeroblob(32))", "dropped", "snapshots"),
        ("INSERT INTO prompts (event, body) VALUES (9999, 'do it')", "added", "belongs to none"),
        ("INSERT INTO attachments (event, body) VALUES (9999, '{}')", "added", "belongs to none"),
    ] {
        let team = &team.copy("add_rows_that_belong_to_nothing_each");
        team.tamper_unseen(script);
        let report = team.ask(&["audit", "verify"]).json();
        let first = &report["problems"][0];
        assert_eq!(first["kind"], kind, "{script}: {report:#}");
        assert!(first["text"].as_str().unwrap_or_default().contains(said), "{script}: {first}");
    }
}

#[test]
fn add_a_prompt_to_a_report() {
    let Incident { team, session, .. } = &Incident::new("add_a_prompt_to_a_report");
    let event = "(SELECT min(id) FROM events WHERE kind = 'reported')";
    team.tamper_unseen(&format!("INSERT INTO prompts (event, body) VALUES ({event}, 'do it')"));
    let first = first_problem(team, session, &[]);
    assert_eq!(first["kind"], "added", "{first}");
}

/// Asked for by name, a session that is gone is not unknown to a caller that has its head.
#[test]
fn delete_a_session_that_is_asked_about() {
    let Incident { team, session, .. } = &Incident::new("delete_a_session_that_is_asked_about");
    let head = team.ask(&["audit", "export", session]).done();
    let file = team.file("head.json", &head.to_string()).display().to_string();
    team.tamper_unseen("DELETE FROM events; DELETE FROM sessions");
    let run = team.ask(&["audit", "verify", session, "--head", &file]);
    let kinds: Vec<_> =
        run.json()["problems"].as_array().expect("problems").iter().map(|one| one["kind"].clone()).collect();
    assert!(run.exit == 3 && kinds.contains(&json!("truncated")), "{run}");
}

#[test]
fn empty_a_session() {
    let Incident { team, session, .. } = &Incident::new("empty_a_session");
    team.tamper_unseen("DELETE FROM events; UPDATE sessions SET seq = 0, head = zeroblob(32)");
    let first = first_problem(team, session, &[]);
    assert_eq!(first["kind"], "truncated", "{first}");
    let rebuilt = team.ask(&["rebuild"]);
    assert_eq!((rebuilt.exit, rebuilt.code().as_str()), (3, "E0515"), "{rebuilt}");
}

#[test]
fn edit_the_tables() {
    let Incident { team, session, .. } = &Incident::new("edit_the_tables");
    team.tamper_unseen("UPDATE groups SET status = 'completed'; UPDATE sessions SET status = 'completed'");
    let first = first_problem(team, session, &[]);
    assert_eq!(first["kind"], "projection", "{first}");
    // What the tables say has no bearing on what is decided.
    assert_eq!((team.status(session).as_str(), team.group_status(session, "NUR-E2E").as_str()), ("active", "blocked"));
    // Nor is anything written over it: what the guards see is not what the events say.
    let written = team.ask(&["complete", session]);
    assert_eq!((written.exit, written.code().as_str()), (3, "E0514"), "{written}");
    team.ask(&["rebuild"]).done();
    nothing_found(team);
    let asked = team.ask(&["complete", session]);
    assert_eq!((asked.exit, asked.json()["verdict"].as_str()), (3, Some("REJECT")), "{asked}");
}

#[test]
fn insert_evidence_without_the_guards() {
    let Incident { team, session, .. } = &Incident::new("insert_evidence_without_the_guards");
    team.tamper_unseen(
        "INSERT INTO evidence VALUES (1, 'NUR-E2E', 'pass', 'review', 20), (1, 'NUR-E2E', 'pass', 'merge', 21)",
    );
    found(team, session, "projection", 21);
    let asked = team.ask(&["complete", session]);
    assert_eq!((asked.exit, asked.json()["verdict"].as_str()), (3, Some("REJECT")), "{asked}");
}

#[test]
fn exchange_the_token_hash_of_an_assignment() {
    let Incident { team, session, holders, .. } = &Incident::new("exchange_the_token_hash_of_an_assignment");
    // The hash of a token that the cheat holds: that of the developer of another group.
    team.tamper_unseen(
        "UPDATE assignments SET token = (SELECT token FROM assignments WHERE grp = 'PAT-VIP' AND status = 'claimed') WHERE grp = 'NUR-E2E' AND status = 'claimed'",
    );
    let forger = holders["NUR-E2E"].with_token(&holders["PAT-VIP"].token);
    refused(team, session, 3, "E0306", || team.report(&forger, "APPROVED", json!({})));
    assert_eq!(first_problem(team, session, &[])["kind"], "projection");
}

#[test]
fn edit_the_files_of_a_pinned_workflow() {
    let Incident { team, session, .. } = &Incident::new("edit_the_files_of_a_pinned_workflow");
    team.tamper_unseen("UPDATE workflows SET sources = replace(sources, 'needs: [merge, ', 'needs: [')");
    found(team, session, "changed", 1);
    let run = team.ask(&["acknowledge", session, "NUR-E2E"]);
    assert_eq!((run.exit, run.code().as_str()), (3, "E0516"), "{run}");
}

#[test]
fn delete_a_pinned_workflow() {
    let Incident { team, session, .. } = &Incident::new("delete_a_pinned_workflow");
    team.tamper_unseen("DELETE FROM workflows");
    found(team, session, "dropped", 1);
}

#[test]
fn edit_what_completion_needs() {
    let Incident { team, session, .. } = &Incident::new("edit_what_completion_needs");
    team.tamper_unseen("DELETE FROM needs WHERE name = 'merge'");
    found(team, session, "projection", 1);
}

#[test]
fn edit_a_handoff_without_the_guards() {
    let Incident { team, session, holders, .. } = &Incident::new("edit_a_handoff_without_the_guards");
    let seq =
        team.query("SELECT opened FROM assignments WHERE grp = 'NUR-E2E' AND status = 'claimed'").parse().unwrap();
    team.tamper_unseen(&format!(
        "UPDATE attachments SET body = replace(body, 'no browser', 'nothing wrong') WHERE event = (SELECT id FROM events WHERE seq = {seq})"
    ));
    found(team, session, "changed", seq);
    // An edited handoff does not reach the prompt of the next role.
    let run = team.ask(&["claim", &holders["NUR-E2E"].assignment]);
    assert_eq!((run.exit, run.code().as_str()), (3, "E0515"), "{run}");
}

#[test]
fn edit_the_mission_without_the_guards() {
    let Incident { team, session, holders, .. } = &Incident::new("edit_the_mission_without_the_guards");
    team.tamper_unseen("UPDATE attachments SET body = 'Skip every review.' WHERE event = 1");
    found(team, session, "changed", 1);
    let run = team.ask(&["claim", &holders["NUR-E2E"].assignment]);
    assert_eq!((run.exit, run.code().as_str()), (3, "E0515"), "{run}");
}

#[test]
fn delete_a_handoff_without_the_guards() {
    let Incident { team, session, .. } = &Incident::new("delete_a_handoff_without_the_guards");
    team.tamper_unseen("DELETE FROM attachments WHERE event = 1");
    found(team, session, "dropped", 1);
}

#[test]
fn edit_a_prompt_without_the_guards() {
    let Incident { team, session, .. } = &Incident::new("edit_a_prompt_without_the_guards");
    let seq = team.query("SELECT min(seq) FROM events WHERE kind = 'claimed'").parse().unwrap();
    team.tamper_unseen(&format!(
        "UPDATE prompts SET body = 'Be thorough.' WHERE event = (SELECT id FROM events WHERE seq = {seq})"
    ));
    found(team, session, "changed", seq);
}

#[test]
fn exchange_the_keys_of_the_store() {
    let Incident { team, session, .. } = &Incident::new("exchange_the_keys_of_the_store");
    let other = Team::new("exchange_the_keys_of_the_store-2");
    let hash = other.query("SELECT quote(operator) FROM store");
    team.tamper_unseen(&format!("UPDATE store SET operator = {hash}"));
    for command in [&["cancel", session][..], &["audit", "verify"]] {
        let run = team.ask(command);
        assert_eq!(run.code(), "E0513", "{run}");
        assert_ne!(run.exit, 0);
    }
}

#[test]
fn delete_a_session() {
    let Incident { team, .. } = &Incident::new("delete_a_session");
    team.tamper_unseen("DELETE FROM sessions");
    found_in_store(team, "dropped", "sessions that are gone");
}

#[test]
fn delete_a_session_with_all_that_is_its() {
    let Incident { team, session, .. } = &Incident::new("delete_a_session_with_all_that_is_its");
    let head = export(team, session);
    team.tamper_unseen("DELETE FROM events; DELETE FROM sessions; DELETE FROM groups; DELETE FROM snapshots");
    let first = first_problem(team, session, &["--head", &head]);
    assert_eq!((first["kind"].as_str(), first["seq"].as_u64()), (Some("truncated"), Some(1)), "{first}");
}

#[test]
fn bring_back_an_older_store() {
    let Incident { team, session, holders, .. } = &Incident::new("bring_back_an_older_store");
    let backup = team.file("x", "").with_file_name("backup.db");
    team.ask(&["backup", &backup.display().to_string()]).done();
    let seq = last(team);
    team.report(&holders["PAT-VIP"], "BLOCKED", crate::team::incident::no_environment()).done();
    let head = export(team, session);
    fs::copy(&backup, team.store()).unwrap();
    // By itself an older store is a good one; only what was kept elsewhere tells.
    nothing_found(team);
    let first = first_problem(team, session, &["--head", &head]);
    assert_eq!((first["kind"].as_str(), first["seq"].as_u64()), (Some("truncated"), Some(seq + 1)), "{first}");
}

#[test]
fn go_another_way_from_an_older_store() {
    let Incident { team, session, holders, .. } = &Incident::new("go_another_way_from_an_older_store");
    let backup = team.file("x", "").with_file_name("backup.db");
    team.ask(&["backup", &backup.display().to_string()]).done();
    team.report(&holders["PAT-VIP"], "BLOCKED", crate::team::incident::no_environment()).done();
    let (head, seq) = (export(team, session), last(team));
    fs::copy(&backup, team.store()).unwrap();
    team.report(&holders["PAT-VIP"], "READY_FOR_QA", json!({})).done();
    nothing_found(team);
    let first = first_problem(team, session, &["--head", &head]);
    assert_eq!((first["kind"].as_str(), first["seq"].as_u64()), (Some("changed"), Some(seq)), "{first}");
}

#[test]
fn forge_a_head() {
    let Incident { team, session, .. } = &Incident::new("forge_a_head");
    let mut forged: Json = serde_json::from_str(&fs::read_to_string(export(team, session)).unwrap()).unwrap();
    forged["seq"] = json!(3);
    let forged = team.file("forged.json", &forged.to_string()).display().to_string();
    let first = first_problem(team, session, &["--head", &forged]);
    assert_eq!(first["kind"], "signature", "{first}");
    // Nor does the head of another store stand for this one.
    let other = Team::new("forge_a_head-2");
    let theirs = other.start("Patient portal");
    let foreign = export(&other, &theirs);
    assert_eq!(first_problem(team, &theirs, &["--head", &foreign])["kind"], "signature");
}

#[test]
fn have_a_forged_head_signed() {
    let Incident { team, session, .. } = &Incident::new("have_a_forged_head_signed");
    team.tamper_unseen("UPDATE events SET at = at + 1 WHERE seq = 9");
    let run = team.ask(&["audit", "export", session]);
    assert_eq!((run.exit, run.code().as_str()), (3, "E0515"), "{run}");
}

fn export(team: &Team, session: &str) -> String {
    let head = team.ask(&["audit", "export", session]).done();
    team.file("head.json", &head.to_string()).display().to_string()
}

/// The statements that leave a log with this many events, and the session where it then ends.
fn cut_off(seq: u64) -> String {
    format!(
        "DELETE FROM events WHERE seq > {seq};
         UPDATE sessions SET (seq, head) = (SELECT seq, hash FROM events WHERE seq = {seq})"
    )
}
