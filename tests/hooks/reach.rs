//! Hooks that cannot judge: what must be held is held, in the way that every client takes for a no.

use std::fs;
use std::process::Stdio;
use std::time::{Duration, Instant};

use interlock_store::keys::Keyring;
use serde_json::{Value as Json, json};

use crate::scene::{CLIENTS, Client, Talk};
use crate::team::{Run, Team, run};

/// Claims what is open for the manager as `interlock run` does.
pub(crate) fn claim_as_run(team: &Team, session: &str) {
    use interlock_engine::{Engine, Operation, Request};
    let store = interlock_store::sqlite::SqliteStore::open(&team.store()).expect("a store");
    let keyring = Keyring::new(team.config().join("interlock"), None);
    let engine = Engine::open(Box::new(store), keyring, String::new()).expect("an engine");
    let number = team.assignment(session, "project_manager", "-").rsplit(".a").next().unwrap().parse().unwrap();
    let task = Operation::Claim { assignment: interlock_core::id::AssignmentId(number) };
    let order = Request { session: session.into(), task };
    engine.via(interlock_core::provenance::Channel::Run).execute(&order).expect("a claim");
}

/// Events, each with its payload.
type Sent = Vec<(&'static str, Json)>;

/// What a client sends that must be held if it cannot be judged, and what need not.
fn sent(talk: &Talk<'_>) -> (Sent, Sent) {
    let (client, before, after) = (talk.client, talk.client.before_tool(), talk.client.after_tool());
    let tool = |event, (tool, input): (&str, Json)| (event, talk.tool_payload(event, tool, &input, None));
    let spawn = match client {
        Client::Claude => ("Agent", json!({ "prompt": "p", "subagent_type": "developer" })),
        Client::Codex => ("spawn_agent", json!({ "message": "p", "agent_type": "developer" })),
        Client::Gemini => ("invoke_agent", json!({ "agent_name": "developer", "prompt": "p" })),
    };
    let mut held = vec![
        tool(before, spawn.clone()),
        tool(before, client.write("src/a.rs")),
        tool(before, client.shell("ls")),
        (client.stop(), talk.payload(client.stop())),
    ];
    // Who was held once and ends again would be held for ever.
    let again = |event: &'static str| {
        let mut payload = talk.payload(event);
        payload["stop_hook_active"] = json!(true);
        (event, payload)
    };
    let mut passed = vec![(client.begin(), talk.payload(client.begin())), tool(after, spawn), again(client.stop())];
    match client {
        Client::Claude | Client::Codex => {
            if client == Client::Claude {
                let key = talk.team.config().join("interlock/s/operator.key");
                held.push(tool(before, ("Read", json!({ "file_path": key }))));
            }
            held.push(("SubagentStop", talk.payload("SubagentStop")));
            passed.push(again("SubagentStop"));
            passed.push(("SubagentStart", talk.payload("SubagentStart")));
            passed.push(("UserPromptSubmit", talk.payload("UserPromptSubmit")));
        }
        Client::Gemini => held.push(tool(before, ("complete_task", json!({ "result": "done" })))),
    }
    (held, passed)
}

fn asked(talk: &Talk<'_>, event: &str, payload: &Json, more: &[&str]) -> Run {
    run(&mut talk.command(event, more), &payload.to_string())
}

/// In all of these, what must be held is held with this code and with help for a person, and the rest passes with a word.
#[track_caller]
fn held_with(talk: &Talk<'_>, code: &str, more: &[&str]) {
    let (held, passed) = sent(talk);
    for (event, payload) in held {
        let reason = talk.read(event, &asked(talk, event, &payload, more)).held();
        assert!(reason.starts_with("Interlock (E0706): this cannot be judged, so it is held back: "), "{reason}");
        assert!(reason.contains(&format!("({code})")) && reason.contains("interlock plugin doctor"), "{reason}");
    }
    for (event, payload) in passed {
        let run = asked(talk, event, &payload, more);
        assert_eq!((run.exit, run.stdout.as_str()), (0, ""), "{event}: {run}");
        assert!(run.stderr.contains(code), "it is only said: {run}");
    }
}

#[test]
fn without_a_store_hooks_pass_unless_they_are_told_to_hold() {
    for client in CLIENTS {
        let team = Team::new(&format!("hooks_no_store_{}", client.name()));
        team.start("Add login");
        let talk = Talk::new(&team, client, "c-1");
        fs::remove_dir_all(team.project().join(".interlock")).unwrap();
        let (held, passed) = sent(&talk);
        for (event, payload) in held.into_iter().chain(passed) {
            let run = asked(&talk, event, &payload, &[]);
            assert_eq!((run.exit, run.stdout.as_str(), run.stderr.as_str()), (0, "", ""), "{event}");
        }
        held_with(&talk, "E0501", &["--hold"]);
        let (event, payload) =
            (client.before_tool(), talk.tool_payload(client.before_tool(), "WebSearch", &json!({}), None));
        talk.read(event, &asked(&talk, event, &payload, &["--hold"])).passes();
    }
}

/// A store that is named and not there is none: it holds where hooks are told to hold.
#[test]
fn a_store_that_is_named_and_not_there_is_none() {
    let team = Team::new("hooks_named_store");
    let talk = Talk::new(&team, Client::Claude, "c-1");
    let payload = talk.tool_payload("PreToolUse", "Bash", &json!({ "command": "ls" }), None).to_string();
    let answer = |more: &[&str]| {
        let mut command = talk.command("PreToolUse", more);
        talk.read("PreToolUse", &run(command.env("INTERLOCK_STORE", team.project().join("nowhere.db")), &payload))
    };
    answer(&[]).passes();
    assert!(answer(&["--hold"]).held().contains("(E0501)"));
}

#[test]
fn a_store_that_is_damaged_holds() {
    for client in CLIENTS {
        let team = Team::new(&format!("hooks_damaged_{}", client.name()));
        team.start("Add login");
        let talk = Talk::new(&team, client, "c-1");
        fs::write(team.store(), b"this is no store".repeat(4096)).unwrap();
        for more in [&[][..], &["--hold"]] {
            held_with(&talk, "E0502", more);
        }
    }
}

#[test]
fn a_store_whose_keys_are_gone_holds() {
    for client in CLIENTS {
        let team = Team::new(&format!("hooks_keyless_{}", client.name()));
        team.start("Add login");
        let talk = Talk::new(&team, client, "c-1");
        fs::remove_dir_all(team.keys()).unwrap();
        for more in [&[][..], &["--hold"]] {
            held_with(&talk, "E0511", more);
        }
    }
}

/// A folder that cannot be written is no reason to let anything through.
#[test]
fn what_cannot_be_kept_holds() {
    let team = Team::new("hooks_unkept");
    team.start("Add login");
    let talk = Talk::new(&team, Client::Claude, "c-1");
    fs::write(team.keys().join("hooks"), "in the way").unwrap();
    let payload = talk.tool_payload("PreToolUse", "Bash", &json!({ "command": "ls" }), None);
    let reason = talk.hook("PreToolUse", &payload).held();
    assert!(reason.contains("what the hooks know cannot be kept"), "{reason}");
}

#[test]
fn what_is_no_json_is_held() {
    for client in CLIENTS {
        let team = Team::new(&format!("hooks_no_json_{}", client.name()));
        let talk = Talk::new(&team, client, "c-1");
        for text in ["", "nonsense", "[]", "null", "\"x\"", "{\"a\":", "{} {}", "\u{feff}{}"] {
            for event in [client.before_tool(), client.stop(), "Whatever"] {
                let reason = talk.read(event, &talk.raw(event, text)).held();
                assert!(reason.starts_with("Interlock (E0707): what "), "{reason}");
                assert!(reason.contains(event), "{reason}");
            }
        }
    }
}

/// Clients give up after a minute, and some of them let pass then what they asked about.
#[test]
fn what_others_keep_busy_holds_long_before_the_client_gives_up() {
    let team = Team::new("hooks_busy");
    team.start("Add login");
    let talk = Talk::begun(&team, Client::Codex, "c-1");
    let soon = |what: &str, held: &dyn Fn()| {
        let begun = Instant::now();
        held();
        assert!(begun.elapsed() < Duration::from_secs(20), "{what}: {:?}", begun.elapsed());
    };
    let edit = || talk.tool(talk.client.write("src/a.rs"), None).held();
    let connection = rusqlite::Connection::open(team.store()).unwrap();
    for lock in ["BEGIN IMMEDIATE", "BEGIN EXCLUSIVE"] {
        connection.execute_batch(lock).unwrap();
        soon(lock, &|| assert!(edit().contains("(E0508)")));
        connection.execute_batch("ROLLBACK").unwrap();
    }
    let notes = fs::File::options().write(true).open(&talk.known()[0]).unwrap();
    notes.lock().unwrap();
    soon("the notes", &|| assert!(edit().contains("other hooks hold it for too long")));
    notes.unlock().unwrap();
    let claims = fs::File::create(team.keys().join("hooks/claims")).unwrap();
    claims.lock().unwrap();
    soon("claims", &|| assert!(talk.asks_for("project_manager", "Plan it.", None).0.held().contains("(E0")));
    claims.unlock().unwrap();
    assert!(talk.writes("src/a.rs", None).denied().contains("E0702"));
}

/// A tool that acts, without what says on what, is not let through because nothing was found in it.
#[test]
fn a_tool_with_nothing_to_judge_it_by_is_held() {
    for client in CLIENTS {
        let team = Team::new(&format!("hooks_unclear_{}", client.name()));
        team.start("Add login");
        let talk = Talk::new(&team, client, "c-1");
        let (write, run) = (client.write("a").0, client.shell("ls").0);
        let event = client.before_tool();
        for (tool, input) in [
            (write, json!({})),
            (write, json!({ "file_path": 3, "command": 3 })),
            (write, json!(null)),
            (run, json!({})),
            (run, json!({ "command": "" })),
            (run, json!({ "command": { "a": "rm x" } })),
            (run, json!({ "command": ["rm", 3] })),
            ("", json!({})),
        ] {
            let reason = talk.hook(event, &talk.tool_payload(event, tool, &input, None)).held();
            assert!(reason.starts_with("Interlock (E0707): ") && reason.contains(event), "{reason}");
        }
        talk.read(event, &talk.raw(event, "{}")).held();
        // Words are a command as well as a line is.
        let words = json!({ "command": ["bash", "-lc", "rm -rf src"] });
        assert!(talk.tool((run, words), None).denied().contains("E0702"));
    }
}

/// Agents of `interlock run` are watched by the run.
#[test]
fn agents_of_a_run_are_let_through() {
    for client in CLIENTS {
        let team = Team::new(&format!("hooks_of_run_{}", client.name()));
        team.start("Add login");
        let talk = Talk::new(&team, client, "c-1");
        let (held, _) = sent(&talk);
        for (event, payload) in held {
            let payload = payload.to_string();
            for text in [payload.as_str(), "nonsense"] {
                let mut command = talk.command(event, &["--hold"]);
                let run = run(command.env("INTERLOCK_RUN", "r-1"), text);
                assert_eq!((run.exit, run.stdout.as_str(), run.stderr.as_str()), (0, "", ""), "{event}");
            }
        }
        assert!(talk.known().is_empty(), "nothing is noted of them");
    }
}

/// An answer that does not reach the client must not pass for a yes.
#[test]
fn an_answer_that_nobody_hears_is_a_no() {
    let team = Team::new("hooks_unheard");
    team.start("Add login");
    let talk = Talk::new(&team, Client::Claude, "c-1");
    let payload = talk.team.file(
        "payload.json",
        &talk.tool_payload("PreToolUse", "Write", &json!({ "file_path": "a" }), None).to_string(),
    );
    let mut command = talk.command("PreToolUse", &[]);
    command.stdin(fs::File::open(payload).unwrap()).stdout(fs::File::options().write(true).open("/dev/full").unwrap());
    let output = command.stderr(Stdio::piped()).spawn().unwrap().wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(!output.stderr.is_empty(), "exit 2 without a word passes in some clients");
}

/// A client whose shell has gone to another folder is still in its project.
#[test]
fn a_project_is_found_from_another_folder() {
    for (client, variable) in [(Client::Claude, "CLAUDE_PROJECT_DIR"), (Client::Gemini, "GEMINI_PROJECT_DIR")] {
        let team = Team::new(&format!("hooks_elsewhere_{}", client.name()));
        team.start("Add login");
        let talk = Talk::new(&team, client, "c-1");
        let event = client.before_tool();
        let (tool, input) = client.write(&team.project().join("src/a.rs").display().to_string());
        let mut payload = talk.tool_payload(event, tool, &input, None);
        // Another project with a store of its own is no way out.
        let other = Team::new(&format!("hooks_other_{}", client.name()));
        for folder in [json!("/"), json!("/nowhere"), json!(""), json!(null), json!("project"), json!(other.project())]
        {
            payload["cwd"] = folder;
            let mut command = talk.command(event, &[]);
            command.current_dir("/").env(variable, team.project());
            let reason = talk.read(event, &run(&mut command, &payload.to_string())).denied();
            assert!(reason.contains("E0702"), "{reason}");
        }
        let inside = team.project().join("src/deep");
        fs::create_dir_all(&inside).unwrap();
        payload["cwd"] = json!(inside);
        assert!(talk.hook(event, &payload).denied().contains("E0702"), "found from a folder inside");
    }
}

/// A command line that cannot be understood is a no as well.
#[test]
fn a_hook_that_is_called_wrongly_holds() {
    let team = Team::new("hooks_called_wrongly");
    for arguments in
        [&["hook"][..], &["hook", "claude"], &["hook", "cursor", "Stop"], &["hook", "claude", "Stop", "--now"]]
    {
        let run = run(&mut team.command(arguments), "{}");
        assert_eq!((run.exit, run.stdout.as_str()), (2, ""), "{run}");
        assert!(!run.stderr.is_empty());
    }
}
