//! Versions, and what is no request.

use std::fs;

use serde_json::{Value as Json, json};

use crate::client::{Client, NEWEST};
use crate::team::Team;

pub(crate) const VERSIONS: [&str; 5] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", NEWEST];

#[test]
fn every_version_is_spoken() {
    let team = Team::new("mcp_every_version_is_spoken");
    for version in VERSIONS {
        let mut client = Client::new(&team, version);
        let tools = client.request("tools/list", json!({}));
        assert_eq!(tools["tools"].as_array().map(Vec::len), Some(8), "{version}");
        assert_eq!(client.close(), (Some(0), String::new()), "{version}");
    }
}

#[test]
fn the_tools_are_these() {
    let team = Team::new("mcp_the_tools_are_these");
    let tools = Client::new(&team, "2025-11-25").request("tools/list", json!({}))["tools"].take();
    for tool in tools.as_array().unwrap() {
        let name = &tool["name"];
        assert_eq!(tool["inputSchema"]["type"], "object", "{name}");
        assert_eq!(tool["inputSchema"]["additionalProperties"], false, "{name}");
        assert_eq!(tool["outputSchema"]["type"], "object", "{name}");
        assert!(tool["outputSchema"]["properties"]["do_next"].is_object(), "{name}");
        assert!(tool["description"].as_str().is_some_and(|about| about.len() > 40), "{name}");
    }
    insta::assert_snapshot!(format!("{tools:#}"));
}

#[test]
fn what_is_no_request_does_not_end_it() {
    let team = Team::new("mcp_what_is_no_request_does_not_end_it");
    let mut client = Client::new(&team, "2025-11-25");
    for line in ["", "not json", "{", "\u{0}", "{\"jsonrpc\":\"2.0\",\"id\":", "\"text\"", &"x".repeat(100_000)] {
        client.raw(line);
    }
    client.raw("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/of_no_kind\"}");
    client.skip_complaints();
    let unknown = client.answer("tools/forget", json!({}));
    assert_eq!(unknown["error"]["code"], -32601, "{unknown}");
    let nameless = client.answer("tools/call", json!({ "name": "complete_session", "arguments": {} }));
    assert_eq!(nameless["error"]["code"], -32602, "{nameless}");
    let shapeless = client.answer("resources/read", json!({ "uri": "file:///etc/passwd" }));
    assert!(shapeless["error"]["code"].is_i64(), "{shapeless}");
    client.call("start_session", json!({ "title": "Still here" }));
    assert_eq!(client.close().0, Some(0));
}

/// A client starts its servers before a person has thought of `interlock init`.
#[test]
fn without_a_store_every_call_says_what_is_missing() {
    let team = Team::new("mcp_without_a_store");
    let away = team.project().join(".interlock-away");
    fs::rename(team.project().join(".interlock"), &away).unwrap();
    let mut client = Client::new(&team, "2025-11-25");
    for (tool, arguments) in [
        ("start_session", json!({ "title": "T" })),
        ("whats_next", json!({})),
        ("session_status", json!({ "session": "s-1" })),
        ("claim_assignment", json!({ "assignment": "s-1.a1" })),
        ("ask_person", json!({})),
        ("explain_decision", json!({ "decision": "s-1.d1" })),
    ] {
        let refusal = client.refused(tool, arguments);
        assert_eq!(refusal["code"], "E0501", "{tool}");
        assert!(refusal["help"].as_str().is_some_and(|help| help.contains("interlock init")), "{refusal}");
    }
    let listed: Json = client.request("resources/list", json!({}));
    assert!(listed["resources"].as_array().is_some_and(|all| !all.is_empty()), "what ships can be read");
    fs::rename(&away, team.project().join(".interlock")).unwrap();
    client.call("start_session", json!({ "title": "Now there is one" }));
}

#[test]
fn a_client_that_says_nothing_ends_it() {
    let team = Team::new("mcp_a_client_that_says_nothing");
    let run = crate::team::run(&mut team.command(&["mcp"]), "");
    assert_eq!((run.exit, run.stdout.as_str(), run.stderr.as_str()), (0, "", ""));
}
