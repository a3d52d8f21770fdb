//! How a client's messages go to the server and come back: over pipes, or over HTTP.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::SocketAddr;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value as Json, json};

use crate::client::NEWEST;
use crate::http::{Answer, ask};

pub(crate) trait Wire: Send {
    fn send(&mut self, message: &Json);
    /// The next message for the request that was sent last.
    fn receive(&mut self) -> Json;
    /// Ends it as a client does that is done: how the program ended, if that is its end, and what it left on stderr.
    fn close(self: Box<Self>) -> (Option<i32>, String);
    /// Sends a line, valid or not.
    fn raw(&mut self, line: &str);
}

pub(crate) struct Pipes {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Pipes {
    pub(crate) fn new(mut command: Command) -> Self {
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program starts");
        let (input, output) = (child.stdin.take(), BufReader::new(child.stdout.take().expect("a pipe")));
        Self { child, input, output }
    }
}

impl Wire for Pipes {
    fn send(&mut self, message: &Json) {
        self.raw(&message.to_string());
    }

    fn receive(&mut self) -> Json {
        let mut line = String::new();
        assert_ne!(self.output.read_line(&mut line).expect("UTF-8"), 0, "the server has gone");
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: not the protocol: {line}"))
    }

    fn close(mut self: Box<Self>) -> (Option<i32>, String) {
        drop(self.input.take());
        let output = self.child.wait_with_output().expect("the program ends");
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    }

    fn raw(&mut self, line: &str) {
        let input = self.input.as_mut().expect("open");
        input.write_all(format!("{line}\n").as_bytes()).expect("the server reads");
        input.flush().expect("the server reads");
    }
}

/// What a client begins with, in the versions that have sessions.
#[allow(clippy::needless_pass_by_value, reason = "what it can is written out where it begins")]
pub(crate) fn initialize(can: Json) -> Json {
    let itself = json!({ "name": "a-test", "version": "1" });
    let hello = json!({ "protocolVersion": "2025-11-25", "capabilities": can, "clientInfo": itself });
    json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello })
}

pub(crate) struct Http {
    pub(crate) address: SocketAddr,
    authorization: String,
    version: String,
    pub(crate) session: String,
    /// What comes back for the request that was sent last.
    pub(crate) stream: Option<Answer>,
}

impl Http {
    pub(crate) fn new(address: SocketAddr, token: &str, version: &str) -> Self {
        let authorization = format!("Bearer {token}");
        Self { address, authorization, version: version.to_owned(), session: String::new(), stream: None }
    }

    /// Past the handshake, for tests that look at each message.
    pub(crate) fn begun(mut self, can: Json) -> Self {
        self.send(&initialize(can));
        assert_eq!(self.receive()["id"], 0);
        self.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        self
    }

    pub(crate) fn call(&mut self, tool: &str, arguments: &Json) {
        let params = json!({ "name": tool, "arguments": arguments });
        self.send(&json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }));
    }

    pub(crate) fn ask(&self, method: &str, more: &[(&str, &str)], body: &[u8]) -> Answer {
        let mut headers = vec![
            ("Authorization", self.authorization.as_str()),
            ("Accept", if method == "GET" { "text/event-stream" } else { "application/json, text/event-stream" }),
            ("Content-Type", "application/json"),
            ("Mcp-Session-Id", &self.session),
        ];
        headers.extend(more);
        ask(self.address, method, "/mcp", &headers, body)
    }

    fn post(&self, message: &Json) -> Answer {
        let word = |value: &Json| value.as_str().unwrap_or_default().to_owned();
        let (method, params) = (word(&message["method"]), &message["params"]);
        let greets = method == "initialize";
        let mut headers = vec![("MCP-Protocol-Version", if greets { String::new() } else { self.version.clone() })];
        if self.version == NEWEST {
            // What stands between may decide by these, without reading the body.
            let name = if method == "resources/read" { word(&params["uri"]) } else { word(&params["name"]) };
            headers.extend([("Mcp-Method", method), ("Mcp-Name", name)]);
        }
        let headers: Vec<(&str, &str)> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
        self.ask("POST", &headers, message.to_string().as_bytes())
    }
}

impl Wire for Http {
    fn send(&mut self, message: &Json) {
        let answer = self.post(message);
        let is_request = message.get("method").is_some() && message.get("id").is_some();
        if !is_request {
            let status = answer.status;
            assert_eq!(status, 202, "{message}: {}", answer.text());
            return;
        }
        // Since 2026-07-28 the status says some of what the error says.
        let statuses: &[u16] = if self.version == NEWEST { &[200, 400, 404] } else { &[200] };
        if !statuses.contains(&answer.status) {
            let status = answer.status;
            panic!("{message}: {status} {}", answer.text());
        }
        if let Some(session) = answer.headers.get("mcp-session-id") {
            self.session.clone_from(session);
        }
        self.stream = Some(answer);
    }

    fn receive(&mut self) -> Json {
        let stream = self.stream.as_mut().expect("something was asked");
        if stream.header("content-type") == "application/json" {
            return self.stream.take().expect("there").json();
        }
        stream.event().expect("an answer before the stream ends").1
    }

    fn close(self: Box<Self>) -> (Option<i32>, String) {
        if !self.session.is_empty() {
            assert_eq!(self.ask("DELETE", &[], b"").status, 202);
            let gone = self.post(&json!({ "jsonrpc": "2.0", "id": "late", "method": "ping" }));
            assert_eq!(gone.status, 404, "the session is over");
        }
        (Some(0), String::new())
    }

    fn raw(&mut self, _: &str) {
        panic!("there are no lines here");
    }
}
