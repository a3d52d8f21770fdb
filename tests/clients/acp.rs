//! Agents that speak ACP: JSON-RPC over stdio, one message a line.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout};
use std::sync::mpsc::{self, Receiver};
use std::thread;

use serde_json::{Value as Json, json};

use crate::client::Client::{self, CodexAcp, Gemini};
use crate::models::Step;
use crate::scene::{self, Scene};
use crate::{handoff, prompt, refuses, worker};

const GEMINI: [&str; 4] = ["--acp", "--skip-trust", "--model", "gemini-2.5-flash"];

/// The editor's side of a conversation.
struct Editor {
    child: Child,
    stdin: ChildStdin,
    lines: Receiver<String>,
    calls: u32,
    folder: String,
}

/// What came back for a call: the answer, and what was said before it.
#[derive(Debug)]
struct Answer {
    message: Json,
    updates: Vec<Json>,
    /// How often the agent asked for a permission.
    asked: usize,
}

impl Answer {
    #[track_caller]
    fn result(&self) -> &Json {
        assert!(self.message["error"].is_null(), "{self:#?}");
        &self.message["result"]
    }

    fn words(&self) -> String {
        let said = self.updates.iter().filter(|update| update["sessionUpdate"] == "agent_message_chunk");
        said.filter_map(|update| update["content"]["text"].as_str()).collect()
    }
}

impl Editor {
    /// Starts an agent and shakes hands.
    fn start(scene: &Scene, client: Client, arguments: &[&str]) -> Self {
        let mut child = scene.start(client, arguments);
        let stdin = child.stdin.take().expect("stdin is piped");
        let lines = lines(child.stdout.take().expect("stdout is piped"));
        scene::drain(child.stderr.take().expect("stderr is piped"));
        let folder = scene.repository().display().to_string();
        let mut editor = Self { child, stdin, lines, calls: 0, folder };
        let nothing = json!({ "fs": { "readTextFile": false, "writeTextFile": false }, "terminal": false });
        let hello = json!({ "protocolVersion": 1, "clientCapabilities": nothing });
        assert_eq!(editor.call("initialize", &hello).result()["protocolVersion"], json!(1));
        editor
    }

    fn send(&mut self, message: &Json) {
        writeln!(self.stdin, "{message}").expect("the agent listens");
    }

    /// Calls a method. Until the answer arrives, each permission request of the agent is allowed once.
    fn call(&mut self, method: &str, params: &Json) -> Answer {
        self.calls += 1;
        let id = self.calls;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        let (mut updates, mut asked) = (Vec::new(), 0);
        loop {
            let line = self.lines.recv_timeout(scene::LONGEST).expect("the agent answers, and before it ends");
            let message: Json = serde_json::from_str(&line).expect("a message a line");
            match message["method"].as_str() {
                Some("session/request_permission") => {
                    asked += 1;
                    self.allow(&message);
                }
                Some(_) => updates.push(message["params"]["update"].clone()),
                None if message["id"] == json!(id) => return Answer { message, updates, asked },
                None => {}
            }
        }
    }

    fn allow(&mut self, request: &Json) {
        let options = request["params"]["options"].as_array().expect("there is a choice");
        let once = options.iter().find(|option| option["kind"] == "allow_once").expect("it can be allowed once");
        let outcome = json!({ "outcome": "selected", "optionId": once["optionId"] });
        self.send(&json!({ "jsonrpc": "2.0", "id": request["id"], "result": { "outcome": outcome } }));
    }

    fn new_session(&mut self) -> String {
        let params = json!({ "cwd": self.folder, "mcpServers": [] });
        let answer = self.call("session/new", &params);
        answer.result()["sessionId"].as_str().expect("a session has an id").to_owned()
    }

    fn prompt(&mut self, session: &str, text: &str) -> Answer {
        self.call("session/prompt", &json!({ "sessionId": session, "prompt": [{ "type": "text", "text": text }] }))
    }

    /// The end of stdin is the end of the agent.
    fn close(self) {
        let Self { mut child, stdin, .. } = self;
        drop(stdin);
        assert_eq!(scene::end(&mut child), Some(0));
    }
}

/// Lines as they come, so that one can stop waiting for them.
fn lines(stdout: ChildStdout) -> Receiver<String> {
    let (sender, lines) = mpsc::channel();
    thread::spawn(move || BufReader::new(stdout).lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
    lines
}

#[test]
fn gemini_asks_for_permission_works_and_goes_on() {
    let Some(scene) = Scene::new(worker()) else { return };
    let mut editor = Editor::start(&scene, Gemini, &GEMINI);
    let session = editor.new_session();
    let first = editor.prompt(&session, &prompt("s.a1", "developer", "Do it."));
    assert_eq!((&first.result()["stopReason"], first.asked), (&json!("end_turn"), 1));
    assert_eq!(first.words(), handoff("s.a1", "developer", 0));
    let second = editor.prompt(&session, &prompt("s.a2", "developer", "Once more."));
    assert_eq!(second.words(), handoff("s.a2", "developer", 1));
    editor.close();
    assert_eq!(scene.file("work.txt"), "s.a1\ns.a2\n");
    scene.nobody_else_was_asked();
}

#[test]
fn gemini_in_yolo_mode_does_not_ask() {
    let Some(scene) = Scene::new(worker()) else { return };
    let mut editor = Editor::start(&scene, Gemini, &[&GEMINI[..], &["--approval-mode", "yolo"]].concat());
    let session = editor.new_session();
    assert_eq!(editor.prompt(&session, &prompt("s.a1", "developer", "Do it.")).asked, 0);
    editor.close();
    assert_eq!(scene.file("work.txt"), "s.a1\n");
}

#[test]
fn gemini_gives_the_status_of_its_provider_as_the_code_of_the_error() {
    let Some(scene) = Scene::new(refuses(Step::rate_limited(7))) else { return };
    let mut editor = Editor::start(&scene, Gemini, &GEMINI);
    let session = editor.new_session();
    let limited = editor.prompt(&session, &prompt("s.a1", "developer", "Do it."));
    assert_eq!(limited.message["error"]["code"], json!(429), "{limited:#?}");
    assert!(limited.message["error"]["message"].to_string().contains("retry after 7s"), "{limited:#?}");
    editor.close();
}

/// Its own warnings come as words too, but without the id of a message.
#[test]
fn codex_works_without_asking_and_is_loaded_by_another_process() {
    let Some(scene) = Scene::new(worker()) else { return };
    let mut editor = Editor::start(&scene, CodexAcp, &[]);
    let session = editor.new_session();
    let first = editor.prompt(&session, &prompt("s.a1", "developer", "Do it."));
    assert_eq!((&first.result()["stopReason"], first.asked), (&json!("end_turn"), 0));
    assert!(first.words().ends_with(&handoff("s.a1", "developer", 0)), "{first:#?}");
    editor.close();

    let mut editor = Editor::start(&scene, CodexAcp, &[]);
    let params = json!({ "sessionId": session, "cwd": editor.folder, "mcpServers": [] });
    let loaded = editor.call("session/load", &params);
    assert!(loaded.words().contains(&handoff("s.a1", "developer", 0)), "what was said is said again: {loaded:#?}");
    let second = editor.prompt(&session, &prompt("s.a2", "developer", "Once more."));
    assert!(second.words().ends_with(&handoff("s.a2", "developer", 1)), "{second:#?}");
    editor.close();
    assert_eq!(scene.file("work.txt"), "s.a1\ns.a2\n");
    scene.nobody_else_was_asked();
}

/// The turn ends as if all were well. What tells: no usage, and a state of the thread that is not ACP's.
#[test]
fn codex_hides_that_its_provider_refuses() {
    let Some(scene) = Scene::new(refuses(Step::rate_limited(1))) else { return };
    let mut editor = Editor::start(&scene, CodexAcp, &[]);
    let session = editor.new_session();
    let limited = editor.prompt(&session, &prompt("s.a1", "developer", "Do it."));
    assert_eq!(limited.result()["stopReason"], json!("end_turn"));
    assert!(limited.result()["usage"].is_null(), "{limited:#?}");
    let state = |update: &Json| update["_meta"]["codex"]["threadStatus"]["type"] == "systemError";
    assert!(limited.updates.iter().any(state), "{limited:#?}");
    assert!(limited.words().contains("429 Too Many Requests"), "{limited:#?}");
    editor.close();
}
