//! `interlock serve`: the same as over the pipes.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::{Child, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value as Json, json};

use crate::client::{Client, NEWEST};
use crate::http::{Answer, ask};
use crate::protocol::VERSIONS;
use crate::team::Team;
use crate::wire::Http;

/// A server under way.
pub(crate) struct Served {
    child: Option<Child>,
    pub(crate) told: Json,
    pub(crate) address: SocketAddr,
    pub(crate) token: String,
}

impl Served {
    pub(crate) fn new(team: &Team) -> Self {
        Self::with(team, &["--listen", "127.0.0.1:0"])
    }

    pub(crate) fn with(team: &Team, arguments: &[&str]) -> Self {
        let mut command = team.command(&["serve", "--json"]);
        let mut child =
            command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
        let lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
        let mut document = String::new();
        for line in lines.map_while(Result::ok) {
            document.push_str(&line);
            if line == "}" {
                break;
            }
        }
        let told: Json = serde_json::from_str(&document).unwrap_or_else(|error| panic!("{error}: {document}"));
        let address = told["address"].as_str().expect("an address").parse().expect("an address");
        let token = fs::read_to_string(told["token_file"].as_str().expect("a file")).expect("the token can be read");
        Self { child: Some(child), told, address, token: token.trim().to_owned() }
    }

    pub(crate) fn http(&self, version: &str) -> Http {
        Http::new(self.address, &self.token, version)
    }

    pub(crate) fn client(&self, version: &str) -> Client {
        Client::over(self.http(version), version, None)
    }

    pub(crate) fn with_person(&self, version: &str, says: Json) -> Client {
        Client::over(self.http(version), version, Some(says))
    }

    pub(crate) fn get(&self, path: &str, headers: &[(&str, &str)]) -> Answer {
        ask(self.address, "GET", path, headers, b"")
    }

    pub(crate) fn signal(&self, signal: Signal) {
        let child = self.child.as_ref().expect("it runs");
        kill_process(Pid::from_child(child), signal).expect("it runs");
    }

    /// As a supervisor does: how it ended, and what it left on stderr.
    pub(crate) fn stop(self) -> (Option<i32>, String) {
        self.signal(Signal::TERM);
        self.ended()
    }

    pub(crate) fn ended(mut self) -> (Option<i32>, String) {
        let output = self.child.take().expect("it runs").wait_with_output().expect("it ends");
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

#[test]
fn every_version_is_spoken_over_http() {
    let team = Team::new("mcp_every_version_is_spoken_over_http");
    let served = Served::new(&team);
    let over_pipes = Client::new(&team, "2025-11-25").request("tools/list", json!({}));
    for version in VERSIONS {
        let mut client = served.client(version);
        let tools = client.request("tools/list", json!({}));
        assert_eq!(tools["tools"], over_pipes["tools"], "{version}: the same tools");
        assert!(client.request("prompts/list", json!({}))["prompts"].as_array().is_some_and(|all| all.len() > 4));
        let resources = client.request("resources/list", json!({}));
        let first = resources["resources"][0]["uri"].clone();
        assert!(client.request("resources/read", json!({ "uri": first }))["contents"][0]["text"].is_string());
        assert_eq!(client.close().0, Some(0), "{version}");
    }
    assert_eq!(served.stop(), (Some(0), String::new()));
}

#[test]
fn a_whole_session_over_http() {
    for version in ["2025-03-26", "2025-11-25", NEWEST] {
        let team = Team::new(&format!("mcp_a_whole_session_over_http_{version}"));
        let served = Served::new(&team);
        let says = json!({ "action": "accept", "content": { "answer": "mail" } });
        let mut client = served.with_person(version, says);
        let started = client.call("start_session", json!({ "title": "Add login" }));
        let session = started["session"].as_str().unwrap().to_owned();
        let questions = json!([{ "text": "By mail or by name?", "options": ["mail", "name"] }]);
        client.plays(&session, "project_manager", None, "NEEDS_CLARIFICATION", json!({ "questions": questions }));
        let answered = client.call("ask_person", json!({}));
        assert_eq!(answered["answered"], true, "{answered}");
        assert_eq!(client.forms.len(), 1);
        let groups = json!([{ "id": "LOGIN", "title": "Log in" }]);
        client.plays(&session, "project_manager", None, "PLANNING_COMPLETE", json!({ "groups": groups }));
        let login = Some("LOGIN");
        client.plays(&session, "developer", login, "READY_FOR_QA", json!({}));
        // Another client goes on, where this one has lost its memory.
        let mut client = served.client("2025-06-18");
        client.plays(&session, "qa_expert", login, "PASS", json!({}));
        client.plays(&session, "tech_lead", login, "APPROVED", json!({}));
        client.refused("report_handoff", json!({ "assignment": format!("{session}.a1"), "token": "x", "handoff": {} }));
        client.plays(&session, "developer", login, "MERGE_SUCCESS", json!({}));
        let last = client.plays(&session, "project_manager", None, "BAZINGA", json!({}));
        assert_eq!(last["judgement"]["verdict"], "ACCEPT", "{last}");
        assert_eq!(team.status(&session), "completed");
        assert!(team.ask(&["audit", "verify"]).done()["valid"].as_bool().unwrap());
        assert_eq!(served.stop(), (Some(0), String::new()));
    }
}

#[test]
fn what_it_serves_is_said_and_the_token_is_not() {
    let team = Team::new("mcp_what_it_serves_is_said");
    let served = Served::new(&team);
    assert_ne!(served.address.port(), 0, "the real port");
    assert_eq!(served.told["mcp"], format!("http://{}/mcp", served.address));
    let file = PathBuf::from(served.told["token_file"].as_str().unwrap());
    assert!(file.starts_with(team.config()), "{}", file.display());
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(served.token.len(), 64);
    assert!(!served.told.to_string().contains(&served.token));
    let health = served.get("/health", &[]);
    assert_eq!(health.status, 200);
    assert_eq!(health.json()["status"], "ok");
    let before = served.token.clone();
    assert_eq!(served.stop(), (Some(0), String::new()));
    assert_eq!(Served::new(&team).token, before, "the next start has the same");
    fs::remove_file(&file).unwrap();
    assert_ne!(Served::new(&team).token, before, "a new one is another one");
}

#[test]
fn a_token_that_others_may_have_read_is_not_used() {
    let team = Team::new("mcp_a_token_that_others_may_have_read");
    let file = PathBuf::from(Served::new(&team).told["token_file"].as_str().unwrap());
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    let refused = team.ask(&["serve", "--listen", "127.0.0.1:0"]);
    assert_eq!((refused.exit, refused.code().as_str()), (5, "E0804"));
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    fs::write(&file, "\n").unwrap();
    let refused = team.ask(&["serve", "--listen", "127.0.0.1:0"]);
    assert_eq!(
        (refused.exit, refused.code().as_str()),
        (5, "E0804"),
        "an empty file is no token that anybody can send"
    );
}

#[test]
fn without_a_store_nothing_is_served() {
    let team = Team::new("mcp_without_a_store_nothing_is_served");
    fs::rename(team.project().join(".interlock"), team.project().join("away")).unwrap();
    let refused = team.ask(&["serve", "--listen", "127.0.0.1:0"]);
    assert_eq!((refused.exit, refused.code().as_str()), (5, "E0501"));
}
