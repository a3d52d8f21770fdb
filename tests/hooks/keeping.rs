//! What hooks keep from one call to the next, and who can see it.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value as Json, json};

use crate::scene::{CLIENTS, Client, Talk, age, message, plan, planned};
use crate::team::{Run, Team};

fn mode(path: &std::path::Path) -> u32 {
    fs::metadata(path).expect("a file").permissions().mode() & 0o777
}

fn notes(path: &std::path::Path) -> Json {
    serde_json::from_slice(&fs::read(path).expect("readable")).expect("JSON")
}

#[test]
fn what_hooks_know_is_the_users_alone() {
    for client in CLIENTS {
        let team = Team::new(&format!("hooks_private_{}", client.name()));
        team.start("Add login");
        let talk = Talk::begun(&team, client, "../../c-1\n");
        talk.starts("project_manager", "Plan it.");
        let known = talk.known();
        assert_eq!(known.len(), 1, "one file for a conversation, whatever it is called: {known:?}");
        assert_eq!((mode(&known[0]), mode(&team.keys().join("hooks"))), (0o600, 0o700));
        assert_eq!(notes(&known[0])["held"].as_array().map(Vec::len), Some(1));
    }
}

/// The token is in the file of the hooks and nowhere else: in no answer, no prompt, no log.
#[test]
fn a_token_is_never_shown() {
    for client in CLIENTS {
        let team = Team::new(&format!("hooks_token_{}", client.name()));
        let session = team.start("Add login");
        let talk = Talk::begun(&team, client, "c-1");
        let seen = std::cell::RefCell::new(Vec::<String>::new());
        let hook = |event: &str, payload: &Json| {
            let Run { stdout, stderr, .. } = talk.raw(event, &payload.to_string());
            seen.borrow_mut().extend([stdout, stderr]);
        };
        let event = client.before_tool();
        let (tool, input) = match client {
            Client::Claude => {
                ("Agent", json!({ "description": "d", "prompt": "p", "subagent_type": "project_manager" }))
            }
            Client::Codex => ("spawn_agent", json!({ "message": "p", "agent_type": "project_manager" })),
            Client::Gemini => ("invoke_agent", json!({ "agent_name": "project_manager", "prompt": "p" })),
        };
        let spawn = talk.tool_payload(event, tool, &input, None);
        hook(event, &spawn);
        let held = notes(&talk.known()[0])["held"][0].clone();
        let token = held["token"].as_str().expect("a token").to_owned();
        assert_eq!(token.len(), 64);
        assert!(!held["prompt"].as_str().expect("a prompt").contains(&token), "no token in a prompt");
        // The same call again, a start, edits, bad ends, a good one, and what the model is told then.
        hook(event, &spawn);
        let of_agent = |event: &str, message: &str| {
            let mut payload = talk.payload(event);
            (payload["agent_id"], payload["agent_type"]) = (json!("a-1"), json!("project_manager"));
            payload["last_assistant_message"] = json!(message);
            hook(event, &payload);
        };
        let good = message("project_manager", "PLANNING_COMPLETE", plan(&["LOGIN"]));
        if client == Client::Gemini {
            for result in ["nothing", &good] {
                hook(event, &talk.tool_payload(event, "complete_task", &json!({ "result": result }), None));
            }
        } else {
            of_agent("SubagentStart", "");
            of_agent("SubagentStop", "nothing");
            of_agent("SubagentStop", &good);
        }
        hook(event, &talk.tool_payload(event, client.write("a.rs").0, &client.write("a.rs").1, None));
        hook(client.stop(), &talk.payload(client.stop()));
        hook(client.begin(), &talk.payload(client.begin()));
        assert_eq!(team.open(&session), [("developer".to_owned(), "LOGIN".to_owned())], "it was played to its end");
        let seen = seen.into_inner();
        assert!(seen.iter().any(|text| text.contains("# Assignment")), "{seen:?}");
        assert!(!seen.iter().any(|text| text.contains(&token)), "a token in an answer");
        for arguments in
            [&["log", &session, "--full"][..], &["session", "show", &session], &["session", "next", &session]]
        {
            let run = team.ask(arguments);
            assert!(!run.stdout.contains(&token), "a token in {arguments:?}");
        }
        let prompts = team.query("SELECT * FROM prompts; SELECT data FROM events;");
        assert!(!prompts.contains(&token), "a token in the store");
        assert!(!fs::read_to_string(&talk.known()[0]).unwrap().contains(&token), "a token that is of no use any more");
    }
}

/// A hook that the client calls again for the same call gets the same answer, and claims nothing again.
#[test]
fn the_same_call_is_answered_alike() {
    for client in [Client::Claude, Client::Codex] {
        let team = Team::new(&format!("hooks_same_call_{}", client.name()));
        let session = team.start("Add login");
        let talk = Talk::begun(&team, client, "c-1");
        let (first, payload) = talk.asks_for("project_manager", "Plan it.", None);
        let events = team.log(&session).len();
        assert_eq!(talk.hook("PreToolUse", &payload), first);
        assert_eq!(team.log(&session).len(), events);
    }
}

/// A file of the hooks that a crash damaged is no claim, and it is created again.
#[test]
fn a_damaged_file_of_the_hooks_is_made_anew() {
    for client in CLIENTS {
        let team = Team::new(&format!("hooks_damaged_notes_{}", client.name()));
        let (talk, session) = planned(&team, client, &["LOGIN"]);
        let developer = talk.starts("developer", "Build LOGIN.");
        fs::write(&talk.known()[0], "{\"held\":[{\"ses").unwrap();
        let again = talk.starts("developer", "Build LOGIN.");
        assert_eq!(again.assignment(), developer.assignment());
        talk.ends(&again, &message("developer", "READY_FOR_QA", json!({}))).passes();
        assert_eq!(team.open(&session), [("qa_expert".to_owned(), "LOGIN".to_owned())]);
    }
}

/// Files of conversations that ended long ago go when a new one begins; others stay.
#[test]
fn files_of_old_conversations_are_cleared_away() {
    let team = Team::new("hooks_old_files");
    for id in ["old", "recent"] {
        Talk::begun(&team, Client::Claude, id);
    }
    let talk = Talk::new(&team, Client::Claude, "new");
    let known = talk.known();
    assert_eq!(known.len(), 2);
    age(&known[0], 31 * 24 * 60);
    age(&known[1], 29 * 24 * 60);
    talk.hook("SessionStart", &talk.payload("SessionStart"));
    assert!(!known[0].exists() && known[1].exists());
}
