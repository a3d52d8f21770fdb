//! A model that says what a test tells it to: a server on loopback that speaks the protocols of the real clients.
//!
//! Anthropic's Messages, OpenAI's Responses and Gemini's `generateContent`, each as a stream of events. One server
//! answers any number of clients at the same time, so what it says is a function of what it is asked: [`Turn`] is a
//! request with the protocol taken off it, [`Step`] is the answer before a protocol is put on.

#![allow(dead_code, reason = "each suite that shares this uses a part of it")]

mod anthropic;
mod gemini;
mod http;
mod openai;

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};

use http::{Reply, Request};

/// What a client asks of the model, whichever protocol it speaks.
#[derive(Clone, Debug, Default)]
pub(crate) struct Turn {
    /// All that the user's side has said in this conversation, each message on lines of its own.
    pub(crate) prompt: String,
    /// What tools gave back in this conversation, the newest last.
    pub(crate) tool_results: Vec<String>,
    /// How many of those came since the user's side spoke last: a resumed conversation holds the old ones too.
    pub(crate) fresh_results: usize,
    /// What the model has said in this conversation: shows that a resumed one goes on.
    pub(crate) said: Vec<String>,
    pub(crate) system: String,
    /// What the client has put in between, in its own name: where hooks speak to the model.
    pub(crate) told: String,
    /// All that came since the model spoke last, from whomever.
    pub(crate) newest: String,
    pub(crate) model: String,
    /// The names of the tools that the client offers.
    pub(crate) tools: Vec<String>,
}

/// What the tools that run a command are called, and which field of theirs holds it.
const SHELLS: [(&str, &str); 4] =
    [("Bash", "command"), ("exec_command", "cmd"), ("run_shell_command", "command"), ("bash", "command")];

impl Turn {
    /// The assignment that Interlock's prompt is about, like `add-login-4f2k.a3`; of several, the newest.
    pub(crate) fn assignment(&self) -> Option<&str> {
        Some(self.heading()?.split_once(": you are ")?.0)
    }

    /// The role that Interlock's prompt gives to the agent.
    pub(crate) fn role(&self) -> Option<&str> {
        Some(self.heading()?.split_once(": you are ")?.1)
    }

    /// The group that Interlock's prompt is about; none if it is about the session itself.
    pub(crate) fn group(&self) -> Option<&str> {
        let (_, newest) = self.assigned()?.rsplit_once("# Assignment ")?;
        newest.lines().take(3).find_map(|line| line.split_once("group `")?.1.split('`').next())
    }

    fn heading(&self) -> Option<&str> {
        self.assigned()?.rsplit_once("# Assignment ")?.1.lines().next()
    }

    /// Where Interlock's prompt stands: some clients are asked with it, others are told of it.
    fn assigned(&self) -> Option<&str> {
        [&self.prompt, &self.told].into_iter().find(|text| text.contains("# Assignment ")).map(String::as_str)
    }

    /// Has the client run a command, with the tool that it has for that.
    #[track_caller]
    pub(crate) fn run(&self, command: &str) -> Step {
        let offered = SHELLS.iter().find(|(tool, _)| self.tools.iter().any(|name| name == tool));
        let (tool, field) = offered.unwrap_or_else(|| panic!("no tool runs commands among {:?}", self.tools));
        let mut input = json!({ *field: command });
        if *tool != "exec_command" {
            input["description"] = json!("what the test asks for");
        }
        Step::Tool { name: (*tool).to_owned(), input }
    }

    fn hears(&mut self, text: &str) {
        self.newest.push_str(text);
        self.newest.push('\n');
    }

    /// The model has spoken, or called a tool.
    fn spoke(&mut self) {
        self.newest.clear();
    }

    fn client_said(&mut self, text: &str) {
        self.hears(text);
        self.told.push_str(text);
        self.told.push('\n');
    }

    fn user_said(&mut self, text: &str) {
        self.hears(text);
        if !self.prompt.is_empty() {
            self.prompt.push('\n');
        }
        self.prompt.push_str(text);
        // Clients put reminders of their own behind the results of tools: they are no new request.
        if !text.trim_start().starts_with("<system-reminder>") {
            self.fresh_results = 0;
        }
    }

    fn tool_gave(&mut self, text: String) {
        self.hears(&text);
        self.tool_results.push(text);
        self.fresh_results += 1;
    }
}

/// What the model does next.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// It says this, and its turn is over.
    Say(String),
    /// It calls a tool. Where a client has its tools in groups, the name is `GROUP::TOOL`; a tool that
    /// takes a text has one for its input.
    Tool { name: String, input: Json },
    /// The provider refuses the request. `retry_after` is in seconds.
    Error { status: u16, message: String, retry_after: Option<u32> },
    /// It takes its time first.
    After(Duration, Box<Step>),
}

impl Step {
    pub(crate) fn say(text: impl Into<String>) -> Self {
        Self::Say(text.into())
    }

    pub(crate) fn rate_limited(retry_after: u32) -> Self {
        let message = "This request would exceed your rate limit".to_owned();
        Self::Error { status: 429, message, retry_after: Some(retry_after) }
    }

    pub(crate) fn overloaded(status: u16) -> Self {
        Self::Error { status, message: "Overloaded".to_owned(), retry_after: None }
    }
}

/// The rule by which the model answers.
#[derive(Clone)]
pub(crate) struct Script(Arc<dyn Fn(&Turn) -> Step + Send + Sync>);

impl Script {
    pub(crate) fn new(next: impl Fn(&Turn) -> Step + Send + Sync + 'static) -> Self {
        Self(Arc::new(next))
    }
}

/// One request as it came in, and what it was taken for.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) at: Instant,
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Json,
    /// `None`: it asked nothing of the model (which models there are, how many tokens a text has).
    pub(crate) turn: Option<Turn>,
}

/// The server. It ends when dropped.
pub(crate) struct Models {
    address: SocketAddr,
    shared: Arc<Shared>,
}

struct Shared {
    script: Script,
    asked: Mutex<Vec<Asked>>,
    answers: AtomicUsize,
    over: AtomicBool,
}

impl Models {
    /// Listens on a free port of loopback.
    pub(crate) fn start(script: Script) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("loopback has a free port");
        let address = listener.local_addr().expect("a listener has an address");
        let shared = Arc::new(Shared {
            script,
            asked: Mutex::default(),
            answers: AtomicUsize::new(0),
            over: AtomicBool::new(false),
        });
        let serving = Arc::clone(&shared);
        thread::spawn(move || serve(&listener, &serving));
        Self { address, shared }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Every request so far.
    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.shared.asked.lock().expect("no request panicked while it was written down").clone()
    }

    /// The requests that were put to the script, in order.
    pub(crate) fn turns(&self) -> Vec<Turn> {
        self.asked().into_iter().filter_map(|asked| asked.turn).filter(|turn| !turn.tools.is_empty()).collect()
    }
}

impl Drop for Models {
    fn drop(&mut self) {
        self.shared.over.store(true, Ordering::Relaxed);
        // Wakes the thread that waits for a client, so that it sees that it is over.
        let _woken = TcpStream::connect(self.address);
    }
}

fn serve(listener: &TcpListener, shared: &Arc<Shared>) {
    for stream in listener.incoming() {
        if shared.over.load(Ordering::Relaxed) {
            return;
        }
        let Ok(mut stream) = stream else { continue };
        let shared = Arc::clone(shared);
        // A client that goes away in the middle is killed or has given up: that is for its own test to notice.
        thread::spawn(move || -> std::io::Result<()> {
            let Some(request) = http::read(&stream)? else { return Ok(()) };
            shared.answer(&request).write(&mut stream)
        });
    }
}

/// One of the protocols: how its requests are read, and how its answers are put.
struct Protocol {
    turn: fn(&Request) -> Turn,
    /// What goes out for words or a tool call; the number makes ids.
    reply: fn(&Request, &Turn, &Step, usize) -> Reply,
    error: fn(u16, &str, Option<u32>) -> Json,
}

impl Shared {
    fn answer(&self, request: &Request) -> Reply {
        let protocol = protocol(request);
        let turn = protocol.as_ref().map(|protocol| (protocol.turn)(request));
        self.write_down(request, turn.clone());
        match (protocol, turn) {
            (Some(protocol), Some(turn)) => self.carry_out(&protocol, request, &turn, self.next(&turn)),
            _ => aside(request),
        }
    }

    /// Without tools it is no agent that asks, but a client that wants a title or a summary.
    fn next(&self, turn: &Turn) -> Step {
        if turn.tools.is_empty() { Step::say("A short text") } else { (self.script.0)(turn) }
    }

    fn carry_out(&self, protocol: &Protocol, request: &Request, turn: &Turn, step: Step) -> Reply {
        match step {
            Step::After(time, step) => {
                thread::sleep(time);
                self.carry_out(protocol, request, turn, *step)
            }
            Step::Error { status, message, retry_after } => {
                let reply = Reply::json(status, &(protocol.error)(status, &message, retry_after));
                retry_after.map_or(reply.clone(), |seconds| reply.with("retry-after", &seconds.to_string()))
            }
            step => (protocol.reply)(request, turn, &step, self.answers.fetch_add(1, Ordering::Relaxed)),
        }
    }

    fn write_down(&self, request: &Request, turn: Option<Turn>) {
        let Request { method, path, headers, body } = request.clone();
        let asked = Asked { at: Instant::now(), method, path, headers, body, turn };
        self.asked.lock().expect("no request panicked while it was written down").push(asked);
    }
}

fn protocol(request: &Request) -> Option<Protocol> {
    let (path, _) = request.path.split_once('?').unwrap_or((&request.path, ""));
    match (request.method.as_str(), path) {
        ("POST", path) if path.ends_with("/messages") => Some(anthropic::PROTOCOL),
        ("POST", path) if path.ends_with("/responses") => Some(openai::PROTOCOL),
        ("POST", path) if path.ends_with("enerateContent") => Some(gemini::PROTOCOL),
        _ => None,
    }
}

/// What clients ask besides, before or between their turns.
fn aside(request: &Request) -> Reply {
    let path = request.path.as_str();
    if path.contains("count_tokens") {
        Reply::json(200, &json!({ "input_tokens": 100 }))
    } else if path.contains(":countTokens") {
        Reply::json(200, &json!({ "totalTokens": 100 }))
    } else if request.method == "HEAD" {
        Reply::json(200, &Json::Null)
    } else if request.method == "GET" && path.contains("/models") {
        Reply::json(200, &json!({ "object": "list", "data": [], "models": [] }))
    } else {
        Reply::json(404, &json!({ "error": { "message": format!("nothing is at {path}") } }))
    }
}

/// The text of a message: a string, or a list of blocks of which some hold text.
fn text_of(content: &Json) -> String {
    match content {
        Json::String(text) => text.clone(),
        Json::Array(blocks) => blocks.iter().filter_map(|block| block["text"].as_str()).collect::<Vec<_>>().join("\n"),
        _ => String::new(),
    }
}

/// The strings at a key of each of a list.
fn names(list: &Json, key: &str) -> Vec<String> {
    list.as_array().into_iter().flatten().filter_map(|tool| tool[key].as_str()).map(str::to_owned).collect()
}
