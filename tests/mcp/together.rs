//! Two clients on one session at the same time.

use std::thread;

use serde_json::json;

use crate::client::{Client, NEWEST};
use crate::serve::Served;
use crate::team::{Team, handoff};

const GROUPS: usize = 12;

#[test]
fn no_decision_is_lost_or_doubled() {
    let team = Team::new("mcp_no_decision_is_lost_or_doubled");
    let two = Client::new(&team, NEWEST);
    both_report(&team, Client::new(&team, "2025-11-25"), two);
}

/// One is started by its client, the other serves over HTTP.
#[test]
fn no_decision_is_lost_or_doubled_between_a_pipe_and_http() {
    for version in ["2025-11-25", NEWEST] {
        let team = Team::new(&format!("mcp_between_a_pipe_and_http_{version}"));
        let served = Served::new(&team);
        both_report(&team, Client::new(&team, "2025-11-25"), served.client(version));
        assert_eq!(served.stop(), (Some(0), String::new()));
    }
}

/// Two clients of one server.
#[test]
fn no_decision_is_lost_or_doubled_over_http() {
    let team = Team::new("mcp_no_decision_is_lost_or_doubled_over_http");
    let served = Served::new(&team);
    both_report(&team, served.client("2025-11-25"), served.client(NEWEST));
}

/// Both report every handoff, at once. Each is decided once; both are told the same.
fn both_report(team: &Team, mut one: Client, two: Client) {
    let started = one.call("start_session", json!({ "title": "Many" }));
    let session = started["session"].as_str().unwrap().to_owned();
    let groups: Vec<_> = (1..=GROUPS).map(|n| json!({ "id": format!("G{n}"), "title": "a group" })).collect();
    one.plays(&session, "project_manager", None, "PLANNING_COMPLETE", json!({ "groups": groups }));
    let next = one.call("whats_next", json!({ "session": session }));
    let open = next["assignments"].as_array().unwrap().iter().filter(|given| given["role"] == "developer");
    let ids: Vec<String> = open.map(|given| given["assignment"].as_str().unwrap().to_owned()).collect();
    assert!(ids.len() > 1, "{next}");
    let held: Vec<(String, String)> = ids
        .into_iter()
        .map(|id| {
            let claimed = one.call("claim_assignment", json!({ "assignment": id }));
            (id, claimed["token"].as_str().unwrap().to_owned())
        })
        .collect();
    let both: Vec<_> = [one, two]
        .into_iter()
        .map(|mut client| {
            let held = held.clone();
            thread::spawn(move || {
                let ready = handoff("developer", "READY_FOR_QA", json!({}));
                let decisions: Vec<(String, bool)> = held
                    .iter()
                    .map(|(id, token)| {
                        let report = json!({ "assignment": id, "token": token, "handoff": ready });
                        let told = client.call("report_handoff", report);
                        (told["decision"].as_str().unwrap().to_owned(), told["repeated"] == true)
                    })
                    .collect();
                assert_eq!(client.close().0, Some(0));
                decisions
            })
        })
        .collect();
    let told: Vec<Vec<(String, bool)>> = both.into_iter().map(|client| client.join().unwrap()).collect();
    for (left, right) in told[0].iter().zip(&told[1]) {
        assert_eq!(left.0, right.0, "both are told the same decision");
        assert_ne!(left.1, right.1, "one of them was first");
    }
    let reported = team.log(&session).iter().filter(|event| event["kind"] == "reported").count();
    assert_eq!(reported, 1 + held.len());
    assert!(team.ask(&["audit", "verify"]).done()["valid"].as_bool().unwrap());
}
