//! `interlock serve` ends when it is told to, and loses nothing.

use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::json;

use crate::person::asked;
use crate::serve::Served;
use crate::team::Team;
use crate::wire::Wire as _;

/// Well below what an answer may take at the end.
const SOON: Duration = Duration::from_secs(4);

#[test]
fn it_ends_at_once_while_clients_listen() {
    for signal in [Signal::TERM, Signal::INT] {
        let team = Team::new(&format!("mcp_it_ends_at_once_{}", signal.as_raw()));
        let served = Served::new(&team);
        let wire = served.http("2025-11-25").begun(json!({}));
        let mut listening = wire.ask("GET", &[], b"");
        assert_eq!(listening.status, 200);
        let started = Instant::now();
        served.signal(signal);
        while listening.event().is_some() {}
        assert_eq!(served.ended(), (Some(0), String::new()));
        assert!(started.elapsed() < SOON, "{:?}", started.elapsed());
    }
}

#[test]
fn what_is_under_way_is_answered_first() {
    let team = Team::new("mcp_what_is_under_way_is_answered_first");
    let served = Served::new(&team);
    let mut wire = served.http("2025-11-25").begun(json!({ "elicitation": {} }));
    let other = rusqlite::Connection::open(team.store()).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    wire.call("start_session", &json!({ "title": "Just before the end" }));
    served.signal(Signal::TERM);
    // From some moment on no new connection is accepted; until then it may not have heard the signal.
    while std::net::TcpStream::connect(served.address).is_ok() {}
    other.execute_batch("ROLLBACK").unwrap();
    let told = wire.receive();
    let session = told["result"]["structuredContent"]["session"].as_str().expect("an answer").to_owned();
    assert_eq!(served.ended(), (Some(0), String::new()));
    assert_eq!(team.status(&session), "active");
}

#[test]
fn told_twice_it_waits_for_nobody() {
    let team = Team::new("mcp_told_twice");
    let served = Served::new(&team);
    asked(&mut served.client("2025-11-25"));
    // A form that is never filled in.
    let mut wire = served.http("2025-11-25").begun(json!({ "elicitation": {} }));
    wire.call("ask_person", &json!({}));
    assert_eq!(wire.receive()["method"], "elicitation/create");
    let started = Instant::now();
    served.signal(Signal::TERM);
    while std::net::TcpStream::connect(served.address).is_ok() {}
    served.signal(Signal::INT);
    assert_eq!(served.ended(), (Some(0), String::new()));
    assert!(started.elapsed() < SOON, "{:?}", started.elapsed());
}
