//! Resources and prompts.

use serde_json::{Value as Json, json};

use crate::client::{Client, NEWEST};
use crate::team::Team;

fn read(client: &mut Client, uri: &str) -> String {
    let contents = client.request("resources/read", json!({ "uri": uri }))["contents"].take();
    assert_eq!((contents.as_array().map(Vec::len), &contents[0]["uri"]), (Some(1), &json!(uri)));
    contents[0]["text"].as_str().unwrap().to_owned()
}

#[test]
fn workflows_and_sessions_can_be_read() {
    let team = Team::new("mcp_workflows_and_sessions_can_be_read");
    let mut client = Client::new(&team, "2025-11-25");
    let started = client.call("start_session", json!({ "title": "Add login" }));
    let session = started["session"].as_str().unwrap();
    let listed = client.request("resources/list", json!({}))["resources"].take();
    let uris: Vec<&str> = listed.as_array().unwrap().iter().filter_map(|one| one["uri"].as_str()).collect();
    for uri in ["interlock://workflow/project", "interlock://workflow/delivery-team"] {
        assert!(uris.contains(&uri), "{uris:?}");
        assert!(read(&mut client, uri).contains("roles:"), "{uri}");
    }
    for uri in &uris {
        read(&mut client, uri);
    }
    let whole: Json = serde_json::from_str(&read(&mut client, &format!("interlock://session/{session}"))).unwrap();
    assert_eq!((&whole["session"], &whole["status"]), (&json!(session), &json!("active")));
    assert_eq!(client.request("resources/templates/list", json!({}))["resourceTemplates"].as_array().unwrap().len(), 3);
}

#[test]
fn a_log_is_read_page_by_page() {
    let team = Team::new("mcp_a_log_is_read_page_by_page");
    let mut client = Client::new(&team, "2025-11-25");
    let session = client.call("start_session", json!({ "title": "Add login" }))["session"].take();
    let session = session.as_str().unwrap();
    for _ in 0..110 {
        client.call("claim_assignment", json!({ "assignment": format!("{session}.a1") }));
    }
    let mut uri = format!("interlock://session/{session}/log");
    let (mut seen, mut pages) = (Vec::new(), 0);
    loop {
        let text = read(&mut client, &uri);
        assert!(!text.contains("token\":"), "{text}");
        let page: Json = serde_json::from_str(&text).unwrap();
        seen.extend(page["events"].as_array().unwrap().iter().map(|event| event["seq"].as_u64().unwrap()));
        pages += 1;
        match page["next"].as_str() {
            Some(next) => next.clone_into(&mut uri),
            None => break,
        }
    }
    assert_eq!((seen, pages), ((1..=111).collect(), 2));
}

#[test]
fn what_is_not_there_is_said() {
    let team = Team::new("mcp_what_is_not_there_is_said");
    for (version, code) in [("2025-11-25", -32002), (NEWEST, -32602)] {
        let mut client = Client::new(&team, version);
        for uri in [
            "interlock://session/none",
            "interlock://session/none/log",
            "interlock://workflow/none",
            "interlock://workflow/..%2f..%2fetc%2fpasswd",
            "interlock://workflow/../../etc/passwd",
            "interlock://session/none/log?after=x",
            "interlock://session/none/log?before=1",
            "interlock://",
            "file:///etc/passwd",
        ] {
            let answer = client.answer("resources/read", json!({ "uri": uri }));
            assert_eq!(answer["error"]["code"], code, "{uri}: {answer}");
        }
        let answer = client.answer("prompts/get", json!({ "name": "hacker" }));
        assert!(answer["error"]["data"]["allowed"].as_array().is_some(), "{answer}");
    }
}

#[test]
fn every_role_has_its_prompt() {
    let team = Team::new("mcp_every_role_has_its_prompt");
    let mut client = Client::new(&team, "2025-11-25");
    let prompts = client.request("prompts/list", json!({}))["prompts"].take();
    let names: Vec<&str> = prompts.as_array().unwrap().iter().filter_map(|prompt| prompt["name"].as_str()).collect();
    assert!(names.contains(&"developer") && names.contains(&"tech_lead"), "{names:?}");
    assert!(!names.contains(&"validator"), "what Interlock plays itself is nobody's: {names:?}");
    for name in &names {
        let prompt = client.request("prompts/get", json!({ "name": name }));
        let text = prompt["messages"][0]["content"]["text"].as_str().unwrap();
        assert!(text.contains(&format!("You are `{name}`")), "{text}");
        let filled_in = ["output_type", "timestamp", "feature_directory", "next_agent"];
        assert!(!filled_in.iter().any(|field| text.contains(field)), "Interlock fills these in: {text}");
    }
    let developer = client.request("prompts/get", json!({ "name": "developer" }));
    insta::assert_snapshot!(developer["messages"][0]["content"]["text"].as_str().unwrap());
}
