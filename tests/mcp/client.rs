//! A client as small as one can be: JSON-RPC with the real program.

use std::process::Command;

use serde_json::{Value as Json, json};

use crate::team::Team;
use crate::wire::{Pipes, Wire};

/// The version that has no handshake: every request says what it is itself.
pub(crate) const NEWEST: &str = "2026-07-28";

pub(crate) struct Client {
    wire: Box<dyn Wire>,
    next: u64,
    /// Sent with each request, where the version wants that.
    meta: Option<Json>,
    /// What the person at this client says to a form, if it can show one.
    person: Option<Json>,
    /// The forms that were shown.
    pub(crate) forms: Vec<Json>,
}

impl Client {
    /// A client that cannot ask anybody.
    pub(crate) fn new(team: &Team, version: &str) -> Self {
        Self::start(team.command(&["mcp"]), version, None)
    }

    /// A client with a person at it, who answers every form like this.
    pub(crate) fn with_person(team: &Team, version: &str, says: Json) -> Self {
        Self::start(team.command(&["mcp"]), version, Some(says))
    }

    pub(crate) fn start(command: Command, version: &str, person: Option<Json>) -> Self {
        Self::over(Pipes::new(command), version, person)
    }

    pub(crate) fn over(wire: impl Wire + 'static, version: &str, person: Option<Json>) -> Self {
        let mut client = Self { wire: Box::new(wire), next: 0, meta: None, person, forms: Vec::new() };
        client.greet(version);
        client
    }

    fn greet(&mut self, version: &str) {
        let can = if self.person.is_some() { json!({ "elicitation": {} }) } else { json!({}) };
        let itself = json!({ "name": "a-test", "version": "1" });
        if version == NEWEST {
            self.meta = Some(json!({
                "io.modelcontextprotocol/protocolVersion": version,
                "io.modelcontextprotocol/clientInfo": itself,
                "io.modelcontextprotocol/clientCapabilities": can,
            }));
            let found = self.request("server/discover", json!({}));
            assert!(found["supportedVersions"].as_array().unwrap().contains(&json!(version)), "{found}");
            return;
        }
        let hello = json!({ "protocolVersion": version, "capabilities": can, "clientInfo": itself });
        let welcome = self.request("initialize", hello);
        assert_eq!(welcome["protocolVersion"], version);
        assert_eq!(welcome["serverInfo"]["name"], "interlock");
        self.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    }

    fn send(&mut self, message: &Json) {
        self.wire.send(message);
    }

    pub(crate) fn raw(&mut self, line: &str) {
        self.wire.raw(line);
    }

    fn receive(&mut self) -> Json {
        self.wire.receive()
    }

    /// The whole answer: a result or an error.
    pub(crate) fn answer(&mut self, method: &str, mut params: Json) -> Json {
        self.next += 1;
        let id = self.next;
        if let Some(meta) = &self.meta {
            params["_meta"] = meta.clone();
        }
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        loop {
            let message = self.receive();
            match message["method"].as_str() {
                Some("elicitation/create") => self.fill(&message),
                Some(other) => panic!("the server asks for {other}"),
                None => {
                    assert_eq!(message["id"], id, "{message}");
                    return message;
                }
            }
        }
    }

    /// The person fills the form.
    fn fill(&mut self, message: &Json) {
        self.forms.push(message["params"].clone());
        let says = self.person.clone().expect("only a client that can is asked to");
        self.send(&json!({ "jsonrpc": "2.0", "id": message["id"], "result": says }));
    }

    /// What was sent that is JSON and no message is answered, with no id: passes over that.
    pub(crate) fn skip_complaints(&mut self) {
        self.send(&json!({ "jsonrpc": "2.0", "id": "marker", "method": "ping" }));
        loop {
            let message = self.receive();
            if message["id"] == "marker" {
                return;
            }
            assert!(message["id"].is_null() && message["error"]["code"].is_i64(), "{message}");
        }
    }

    #[track_caller]
    pub(crate) fn request(&mut self, method: &str, params: Json) -> Json {
        let answer = self.answer(method, params);
        assert!(answer.get("error").is_none(), "{method}: {answer}");
        answer["result"].clone()
    }

    /// The result of a tool, whatever it is. A form comes back filled, as clients do it since 2026-07-28.
    #[track_caller]
    pub(crate) fn tool(&mut self, name: &str, arguments: &Json) -> Json {
        let mut params = json!({ "name": name, "arguments": arguments });
        let result = self.request("tools/call", params.clone());
        if result["resultType"] != "input_required" {
            return result;
        }
        self.forms.push(result["inputRequests"]["answer"]["params"].clone());
        params["inputResponses"] = json!({ "answer": self.person.clone().expect("a person") });
        params["requestState"] = result["requestState"].clone();
        self.request("tools/call", params)
    }

    /// What a tool says when it does what was asked.
    #[track_caller]
    #[allow(clippy::needless_pass_by_value, reason = "calls are written out where they are made")]
    pub(crate) fn call(&mut self, name: &str, arguments: Json) -> Json {
        let result = self.tool(name, &arguments);
        assert_eq!(result["isError"], false, "{name}: {result}");
        let told = result["structuredContent"].clone();
        assert_eq!(result["content"][0]["text"], told["do_next"], "the line says what to do next");
        assert_eq!(result["content"][1]["text"], told.to_string(), "clients without structured results read the same");
        told
    }

    /// What a tool says when it refuses.
    #[track_caller]
    #[allow(clippy::needless_pass_by_value, reason = "calls are written out where they are made")]
    pub(crate) fn refused(&mut self, name: &str, arguments: Json) -> Json {
        let result = self.tool(name, &arguments);
        assert_eq!(result["isError"], true, "{name}: {result}");
        let told = result["structuredContent"].clone();
        assert!(told["code"].as_str().is_some_and(|code| code.starts_with('E')), "{result}");
        let line = result["content"][0]["text"].as_str().expect("a line");
        assert!(line.starts_with("Refused (E"), "{line}");
        assert!(!line.contains('\n'), "one line: {line}");
        told
    }

    /// Claims what is open for this role and group, and reports this.
    #[track_caller]
    pub(crate) fn plays(&mut self, session: &str, role: &str, group: Option<&str>, status: &str, more: Json) -> Json {
        let (assignment, token) = self.claims(session, role, group);
        let handoff = crate::team::handoff(role, status, more);
        self.call("report_handoff", json!({ "assignment": assignment, "token": token, "handoff": handoff }))
    }

    #[track_caller]
    pub(crate) fn claims(&mut self, session: &str, role: &str, group: Option<&str>) -> (String, String) {
        let next = self.call("whats_next", json!({ "session": session }));
        let open = next["assignments"].as_array().expect("a list").iter();
        let wanted = |given: &&Json| given["role"] == role && given["group"].as_str() == group;
        let given = open.clone().find(wanted).unwrap_or_else(|| panic!("no {role} on {group:?}: {next}"));
        let claimed = self.call("claim_assignment", json!({ "assignment": given["assignment"] }));
        let text = |value: &Json| value.as_str().expect("text").to_owned();
        assert!(claimed["prompt"].as_str().is_some_and(|prompt| prompt.contains(role)), "a prompt for {role}");
        (text(&claimed["assignment"]), text(&claimed["token"]))
    }

    /// Ends it as a client does that is done: how the program ended, and what it left on stderr.
    pub(crate) fn close(self) -> (Option<i32>, String) {
        self.wire.close()
    }
}
