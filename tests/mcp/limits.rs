//! What `interlock serve` bears: large requests, many sessions, a store that is busy, streams that break off.

use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::client::NEWEST;
use crate::person::asked;
use crate::serve::Served;
use crate::team::Team;
use crate::wire::{Wire as _, initialize};

/// As `src/server/http/mcp.rs` has it.
const MOST_SESSIONS: usize = 256;
const LARGEST_REQUEST: usize = 16 << 20;

fn begins() -> Vec<u8> {
    initialize(json!({})).to_string().into_bytes()
}

#[test]
fn a_request_that_is_too_large_is_refused_and_no_other() {
    let team = Team::new("mcp_a_request_that_is_too_large");
    let served = Served::new(&team);
    let mut body = begins();
    body.resize(LARGEST_REQUEST, b' ');
    assert_eq!(served.http("2025-11-25").ask("POST", &[], &body).status, 200, "the largest");
    body.push(b' ');
    let refused = served.http("2025-11-25").ask("POST", &[], &body);
    assert_eq!((refused.status, refused.code().as_str()), (413, "E0808"));
    assert_eq!(served.client(NEWEST).close().0, Some(0), "it goes on");
}

#[test]
fn what_is_no_message_is_refused_and_harms_nobody() {
    let team = Team::new("mcp_what_is_no_message");
    let served = Served::new(&team);
    for body in ["", "{", "[]", "null", "\"x\"", "{\"jsonrpc\":\"2.0\"}", "\u{0}\u{1}", "[[[[[[[["] {
        let answer = served.http("2025-11-25").ask("POST", &[], body.as_bytes());
        assert!((400..500).contains(&answer.status), "{body}: {}", answer.status);
    }
    let stranger = served.http("2025-11-25").ask("POST", &[("Mcp-Session-Id", "of-nobody")], &begins());
    assert_eq!(stranger.status, 404, "a session that there is not");
    assert_eq!(served.client("2025-11-25").close().0, Some(0), "it goes on");
}

#[test]
fn sessions_are_kept_up_to_a_number() {
    let team = Team::new("mcp_sessions_are_kept_up_to_a_number");
    let served = Served::new(&team);
    let begin = || {
        let answer = served.http("2025-11-25").ask("POST", &[], &begins());
        (answer.status, answer.header("mcp-session-id").to_owned(), answer)
    };
    let sessions: Vec<String> = (0..MOST_SESSIONS)
        .map(|_| begin())
        .map(|(status, id, _)| {
            assert_eq!(status, 200);
            id
        })
        .collect();
    let (status, _, refused) = begin();
    assert_eq!((status, refused.header("retry-after")), (503, "60"));
    assert_eq!(refused.code(), "E0809");
    served.client(NEWEST).call("start_session", json!({ "title": "The newest version has no sessions" }));
    let ended = served.http("2025-11-25").ask("DELETE", &[("Mcp-Session-Id", &sessions[7])], b"");
    assert_eq!(ended.status, 202);
    assert_eq!(begin().0, 200, "there is room again");
    assert_eq!(begin().0, 503);
    assert_eq!(served.stop(), (Some(0), String::new()));
}

/// While one call waits for the store, others are answered.
#[test]
fn a_call_that_waits_holds_up_nobody() {
    let team = Team::new("mcp_a_call_that_waits");
    let served = Served::new(&team);
    let mut client = served.client("2025-11-25");
    client.call("start_session", json!({ "title": "Add login" }));
    let other = rusqlite::Connection::open(team.store()).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let waiting = thread::spawn(move || {
        let started = Instant::now();
        client.call("start_session", json!({ "title": "Waits for the store" }));
        started.elapsed()
    });
    let held = Instant::now();
    let mut reader = served.client(NEWEST);
    while held.elapsed() < Duration::from_millis(500) {
        assert_eq!(served.get("/health", &[]).status, 200);
        assert_eq!(reader.request("tools/list", json!({}))["tools"].as_array().map(Vec::len), Some(8));
    }
    other.execute_batch("ROLLBACK").unwrap();
    assert!(waiting.join().unwrap() > Duration::from_millis(300), "it waited, and nobody else did");
}

/// The connection breaks while a person is asked; another takes the stream up where it was.
#[test]
fn a_stream_that_broke_off_is_taken_up_again() {
    let team = Team::new("mcp_a_stream_that_broke_off");
    let served = Served::new(&team);
    let (session, _) = asked(&mut served.client("2025-11-25"));
    let mut wire = served.http("2025-11-25").begun(json!({ "elicitation": {} }));
    wire.call("ask_person", &json!({}));
    let from = wire.stream.as_mut().unwrap().primed();
    wire.stream = None;
    let again = wire.ask("GET", &[("Last-Event-ID", &from)], b"");
    assert_eq!(again.status, 200);
    wire.stream = Some(again);
    // From there on, what has gone by comes again.
    let form = loop {
        let message = wire.receive();
        if message["method"] == "elicitation/create" {
            break message;
        }
    };
    let says = json!({ "action": "accept", "content": { "answer": "mail" } });
    let stream = wire.stream.take();
    wire.send(&json!({ "jsonrpc": "2.0", "id": form["id"], "result": says }));
    wire.stream = stream;
    let told = wire.receive();
    assert_eq!(told["result"]["structuredContent"]["answered"], true, "{told}");
    assert_eq!(team.log(&session).iter().filter(|event| event["kind"] == "answered").count(), 1);
}
