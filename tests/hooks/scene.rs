//! A conversation in a client: what the client would call the hooks with, in the order in which it does.

use std::cell::Cell;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

use serde_json::{Value as Json, json};

use crate::team::{Run, Team, handoff, run};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Client {
    Claude,
    Codex,
    Gemini,
}

pub(crate) const CLIENTS: [Client; 3] = [Client::Claude, Client::Codex, Client::Gemini];

/// What the clients have really sent.
const CAPTURED: [&str; 3] = [
    include_str!("../data/clients/claude/hooks-tools-and-subagent.jsonl"),
    include_str!("../data/clients/codex/hooks-tools-and-subagent.jsonl"),
    include_str!("../data/clients/gemini/hooks-tools.jsonl"),
];

impl Client {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Client::Claude => "claude",
            Client::Codex => "codex",
            Client::Gemini => "gemini",
        }
    }

    pub(crate) fn captured(self) -> Vec<Json> {
        CAPTURED[self as usize].lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
    }

    /// A payload of this event as it was captured; of a tool, if the event is about one.
    fn template(self, event: &str) -> Json {
        let captured = self.captured();
        let of_event = captured.iter().find(|payload| payload["hook_event_name"] == event);
        of_event.unwrap_or_else(|| panic!("{self:?} has never sent {event}")).clone()
    }

    pub(crate) fn before_tool(self) -> &'static str {
        match self {
            Client::Claude | Client::Codex => "PreToolUse",
            Client::Gemini => "BeforeTool",
        }
    }

    pub(crate) fn after_tool(self) -> &'static str {
        match self {
            Client::Claude | Client::Codex => "PostToolUse",
            Client::Gemini => "AfterTool",
        }
    }

    pub(crate) fn stop(self) -> &'static str {
        match self {
            Client::Claude | Client::Codex => "Stop",
            Client::Gemini => "AfterAgent",
        }
    }

    /// The hook with which a model can be told how things stand.
    pub(crate) fn begin(self) -> &'static str {
        match self {
            Client::Claude | Client::Codex => "SessionStart",
            Client::Gemini => "BeforeAgent",
        }
    }

    /// The tool that writes a file, and what it is called with.
    pub(crate) fn write(self, path: &str) -> (&'static str, Json) {
        match self {
            Client::Claude => ("Write", json!({ "file_path": path, "content": "x\n" })),
            Client::Codex => {
                let patch = format!("*** Begin Patch\n*** Add File: {path}\n+x\n*** End Patch");
                ("apply_patch", json!({ "command": patch }))
            }
            Client::Gemini => ("write_file", json!({ "file_path": path, "content": "x\n" })),
        }
    }

    /// The tool that runs a command.
    pub(crate) fn shell(self, command: &str) -> (&'static str, Json) {
        match self {
            Client::Claude => ("Bash", json!({ "command": command, "description": "d" })),
            Client::Codex => ("Bash", json!({ "command": command })),
            Client::Gemini => ("run_shell_command", json!({ "command": command, "description": "d" })),
        }
    }

    /// The tool that starts a sub-agent.
    fn spawn(self, role: &str, said: &str) -> (&'static str, Json) {
        match self {
            Client::Claude => ("Agent", json!({ "description": "work", "prompt": said, "subagent_type": role })),
            Client::Codex => ("spawn_agent", json!({ "message": said, "agent_type": role })),
            Client::Gemini => ("invoke_agent", json!({ "agent_name": role, "prompt": said })),
        }
    }
}

/// What a hook has answered, in the client's own format and with nothing else.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Answer {
    Pass,
    /// It is not done, or goes on.
    Deny(String),
    /// It is done with this in the place of what the tool was given.
    Input(Json),
    Tell(String),
    /// Exit 2, with this on stderr: what every client takes for a no.
    Held(String),
}

impl Answer {
    #[track_caller]
    pub(crate) fn denied(self) -> String {
        match self {
            Answer::Deny(reason) => reason,
            other => panic!("not denied: {other:?}"),
        }
    }

    #[track_caller]
    pub(crate) fn told(self) -> String {
        match self {
            Answer::Tell(words) => words,
            other => panic!("nothing told: {other:?}"),
        }
    }

    #[track_caller]
    pub(crate) fn held(self) -> String {
        match self {
            Answer::Held(reason) => reason,
            other => panic!("not held back: {other:?}"),
        }
    }

    #[track_caller]
    pub(crate) fn passes(self) {
        assert_eq!(self, Answer::Pass);
    }

    /// Reads the program's output as the client does. Output that the client would not understand is an error.
    pub(crate) fn of(client: Client, event: &str, run: &Run) -> Result<Self, String> {
        match (run.exit, run.stdout.as_str(), run.stderr.as_str()) {
            (0, "", _) => Ok(Answer::Pass),
            (0, text, "") => {
                let answer = serde_json::from_str(text).map_err(|error| format!("{error}: {text}"))?;
                understood(client, event, &answer).ok_or_else(|| format!("{client:?} does not understand {answer}"))
            }
            (2, "", reason) if !reason.trim().is_empty() => Ok(Answer::Held(reason.to_owned())),
            _ => Err(format!("no answer to {event}: {run}")),
        }
    }
}

fn understood(client: Client, event: &str, answer: &Json) -> Option<Answer> {
    let text = |value: &Json| value.as_str().map(str::to_owned);
    let fields: Vec<&str> = answer.as_object()?.keys().map(String::as_str).collect();
    let before_tool = event == client.before_tool();
    if fields == ["decision", "reason"] {
        let word = if client == Client::Gemini { "deny" } else { "block" };
        let known = answer["decision"] == word && !(before_tool && client != Client::Gemini);
        return text(&answer["reason"]).filter(|_| known).map(Answer::Deny);
    }
    let specific = answer["hookSpecificOutput"].as_object().filter(|_| fields == ["hookSpecificOutput"])?;
    if specific["hookEventName"] != event {
        return None;
    }
    let fields: Vec<&str> = specific.keys().skip(1).map(String::as_str).collect();
    match fields.as_slice() {
        ["additionalContext"] => text(&specific["additionalContext"]).map(Answer::Tell),
        ["permissionDecision", "permissionDecisionReason"] if before_tool && client != Client::Gemini => {
            let denies = specific["permissionDecision"] == "deny";
            text(&specific["permissionDecisionReason"]).filter(|_| denies).map(Answer::Deny)
        }
        ["permissionDecision", "updatedInput"] if before_tool && client != Client::Gemini => {
            (specific["permissionDecision"] == "allow").then(|| Answer::Input(specific["updatedInput"].clone()))
        }
        ["tool_input"] if before_tool && client == Client::Gemini => {
            Some(Answer::Input(specific["tool_input"].clone()))
        }
        _ => None,
    }
}

/// A sub-agent as its client knows it.
#[derive(Clone, Debug)]
pub(crate) struct Agent {
    pub(crate) id: String,
    pub(crate) kind: String,
    /// The prompt that it received, by either way.
    pub(crate) prompt: String,
    pub(crate) call: String,
    /// What the tool was called with in the end.
    input: Json,
    transcript: PathBuf,
}

impl Agent {
    /// The assignment that its prompt names first.
    pub(crate) fn assignment(&self) -> &str {
        let named = self.prompt.strip_prefix("# Assignment ").and_then(|rest| rest.split_once(':'));
        named.unwrap_or_else(|| panic!("no assignment in {}", self.prompt)).0
    }

    /// Writes down what it was told, as its client does.
    fn keep_transcript(&self) {
        fs::create_dir_all(self.transcript.parent().expect("a folder")).expect("a folder for transcripts");
        let first = json!({ "type": "user", "message": { "role": "user", "content": self.prompt } });
        fs::write(&self.transcript, format!("{first}\n{{\"type\":\"assistant\"}}\n")).expect("a transcript");
    }
}

/// A conversation in a client, in the project of a team.
pub(crate) struct Talk<'t> {
    pub(crate) team: &'t Team,
    pub(crate) client: Client,
    pub(crate) id: String,
    calls: Cell<u32>,
}

impl<'t> Talk<'t> {
    /// A conversation that has begun, as far as hooks see.
    pub(crate) fn begun(team: &'t Team, client: Client, id: &str) -> Self {
        let talk = Self::new(team, client, id);
        talk.hook("SessionStart", &talk.payload("SessionStart"));
        if client == Client::Gemini {
            talk.hook("BeforeAgent", &talk.payload("BeforeAgent"));
        }
        talk
    }

    pub(crate) fn new(team: &'t Team, client: Client, id: &str) -> Self {
        Self { team, client, id: id.to_owned(), calls: Cell::new(0) }
    }

    /// A payload as captured, but of this conversation and in this project.
    pub(crate) fn payload(&self, event: &str) -> Json {
        let mut payload = self.client.template(event);
        payload["session_id"] = json!(self.id);
        payload["cwd"] = json!(self.team.project());
        payload["transcript_path"] = json!(self.transcripts().join(format!("{}.jsonl", self.id)));
        payload
    }

    fn transcripts(&self) -> PathBuf {
        self.team.project().parent().expect("a root").join("transcripts")
    }

    /// A payload of something that happens in a sub-agent.
    pub(crate) fn payload_of(&self, event: &str, agent: Option<&Agent>) -> Json {
        let mut payload = self.payload(event);
        if let Some(agent) = agent.filter(|_| self.client != Client::Gemini) {
            payload["agent_id"] = json!(agent.id);
            payload["agent_type"] = json!(agent.kind);
        }
        payload
    }

    pub(crate) fn tool_payload(&self, event: &str, tool: &str, input: &Json, agent: Option<&Agent>) -> Json {
        let mut payload = self.payload_of(event, agent);
        payload["tool_name"] = json!(tool);
        payload["tool_input"] = input.clone();
        if self.client != Client::Gemini {
            payload["tool_use_id"] = json!(self.call());
        }
        payload
    }

    fn call(&self) -> String {
        self.calls.set(self.calls.get() + 1);
        format!("call-{}-{}", self.id, self.calls.get())
    }

    pub(crate) fn command(&self, event: &str, more: &[&str]) -> Command {
        self.team.command(&[&["hook", self.client.name(), event], more].concat())
    }

    pub(crate) fn raw(&self, event: &str, input: &str) -> Run {
        run(&mut self.command(event, &[]), input)
    }

    #[track_caller]
    pub(crate) fn read(&self, event: &str, run: &Run) -> Answer {
        Answer::of(self.client, event, run).unwrap_or_else(|error| panic!("{error}"))
    }

    #[track_caller]
    pub(crate) fn hook(&self, event: &str, payload: &Json) -> Answer {
        let run = self.raw(event, &payload.to_string());
        if run.exit == 0 {
            assert_eq!(run.stderr, "", "a hook that could judge has nothing to complain about");
        }
        self.read(event, &run)
    }

    /// A tool is about to be called.
    #[track_caller]
    pub(crate) fn tool(&self, (tool, input): (&str, Json), agent: Option<&Agent>) -> Answer {
        let event = self.client.before_tool();
        self.hook(event, &self.tool_payload(event, tool, &input, agent))
    }

    #[track_caller]
    pub(crate) fn writes(&self, path: &str, agent: Option<&Agent>) -> Answer {
        let path = match self.client {
            // Claude names whole paths, the others may not.
            Client::Claude => self.team.project().join(path).display().to_string(),
            Client::Codex | Client::Gemini => path.to_owned(),
        };
        self.tool(self.client.write(&path), agent)
    }

    #[track_caller]
    pub(crate) fn runs(&self, command: &str, agent: Option<&Agent>) -> Answer {
        self.tool(self.client.shell(command), agent)
    }

    /// A tool of Interlock's own server is about to be called.
    #[track_caller]
    pub(crate) fn calls(&self, tool: &str, agent: Option<&Agent>) -> Answer {
        let event = self.client.before_tool();
        let payload = match self.client {
            Client::Claude => {
                let server = "mcp__plugin_interlock_interlock__";
                self.tool_payload(event, &format!("{server}{tool}"), &json!({}), agent)
            }
            Client::Codex => self.tool_payload(event, &format!("mcp__interlock__{tool}"), &json!({}), agent),
            Client::Gemini => {
                let mut payload = self.tool_payload(event, &format!("mcp_interlock_{tool}"), &json!({}), agent);
                payload["mcp_context"] = json!({ "server_name": "interlock", "tool_name": tool });
                payload
            }
        };
        self.hook(event, &payload)
    }

    /// The call that asks for a sub-agent: what the client is answered, and the payload.
    #[track_caller]
    pub(crate) fn asks_for(&self, role: &str, said: &str, by: Option<&Agent>) -> (Answer, Json) {
        let event = self.client.before_tool();
        let (tool, input) = self.client.spawn(role, said);
        let payload = self.tool_payload(event, tool, &input, by);
        (self.hook(event, &payload), payload)
    }

    /// A sub-agent that may not start: why.
    #[track_caller]
    pub(crate) fn cannot_start(&self, role: &str, said: &str) -> String {
        self.asks_for(role, said, None).0.denied()
    }

    /// Starts a sub-agent, by all the hooks that a client sends for it.
    #[track_caller]
    pub(crate) fn starts(&self, role: &str, said: &str) -> Agent {
        let mut agent = self.asked(role, said);
        self.begins(&mut agent);
        agent
    }

    /// A sub-agent that is about to start.
    #[track_caller]
    pub(crate) fn asked(&self, role: &str, said: &str) -> Agent {
        let (answer, payload) = self.asks_for(role, said, None);
        let id = format!("a-{}-{}", self.id, self.calls.get());
        let transcript = self.transcripts().join(&self.id).join(format!("subagents/agent-{id}.jsonl"));
        let call = payload["tool_use_id"].as_str().unwrap_or_default().to_owned();
        let (prompt, input) = match (self.client, answer) {
            (Client::Codex, Answer::Pass) => (String::new(), payload["tool_input"].clone()),
            (Client::Claude | Client::Gemini, Answer::Input(input)) => {
                let whole = payload["tool_input"].as_object().expect("an object");
                let kept =
                    whole.iter().filter(|(name, _)| *name != "prompt").all(|(name, value)| input[name] == *value);
                assert!(kept, "what replaces the input is whole: {input}");
                (input["prompt"].as_str().expect("a prompt").to_owned(), input)
            }
            (_, other) => panic!("{role} does not start: {other:?}"),
        };
        Agent { id, kind: role.to_owned(), prompt, call, input, transcript }
    }

    /// The sub-agent that a call has started with this prompt, as it stands in its transcript.
    pub(crate) fn with_prompt(&self, role: &str, call: &str, prompt: String) -> Agent {
        let id = format!("a-{call}");
        let transcript = self.transcripts().join(&self.id).join(format!("subagents/agent-{id}.jsonl"));
        let agent = Agent { id, kind: role.to_owned(), prompt, call: call.to_owned(), input: json!({}), transcript };
        agent.keep_transcript();
        agent
    }

    /// The sub-agent is there.
    #[track_caller]
    pub(crate) fn begins(&self, agent: &mut Agent) {
        match self.client {
            Client::Claude => {
                self.hook("SubagentStart", &self.payload_of("SubagentStart", Some(agent))).passes();
                agent.keep_transcript();
            }
            Client::Codex => {
                let started = self.hook("SubagentStart", &self.payload_of("SubagentStart", Some(agent)));
                agent.prompt = started.told();
                self.names(agent);
            }
            Client::Gemini => {}
        }
    }

    /// Codex says which sub-agent a call has started: before that one starts, or after it.
    #[track_caller]
    pub(crate) fn names(&self, agent: &Agent) {
        let mut payload = self.tool_payload("PostToolUse", "spawn_agent", &agent.input, None);
        payload["tool_use_id"] = json!(agent.call);
        payload["tool_response"] = json!(json!({ "agent_id": agent.id, "nickname": "Hegel" }).to_string());
        self.hook("PostToolUse", &payload).passes();
    }

    /// What a client sends when a sub-agent is about to end like this.
    pub(crate) fn ending(&self, agent: &Agent, message: &str) -> (&'static str, Json) {
        match self.client {
            Client::Claude | Client::Codex => {
                let mut payload = self.payload_of("SubagentStop", Some(agent));
                payload["last_assistant_message"] = json!(message);
                payload["agent_transcript_path"] = json!(agent.transcript);
                ("SubagentStop", payload)
            }
            Client::Gemini => {
                ("BeforeTool", self.tool_payload("BeforeTool", "complete_task", &json!({ "result": message }), None))
            }
        }
    }

    /// The sub-agent is about to end with this message.
    #[track_caller]
    pub(crate) fn ends(&self, agent: &Agent, message: &str) -> Answer {
        let (event, payload) = self.ending(agent, message);
        self.hook(event, &payload)
    }

    /// The main conversation has the sub-agent back.
    #[track_caller]
    pub(crate) fn back(&self, agent: &Agent) -> Answer {
        let event = self.client.after_tool();
        let payload = match self.client {
            Client::Claude => {
                let mut payload = self.tool_payload(event, "Agent", &agent.input, None);
                payload["tool_use_id"] = json!(agent.call);
                payload["tool_response"] = json!({ "status": "completed", "agentId": agent.id });
                payload
            }
            Client::Codex => {
                let targets = json!({ "targets": [agent.id] });
                let mut payload = self.tool_payload(event, "multi_agent_v1wait_agent", &targets, None);
                let status = json!({ "status": { &agent.id: { "completed": "ok" } }, "timed_out": false });
                payload["tool_response"] = json!(status.to_string());
                payload
            }
            Client::Gemini => {
                let mut payload = self.tool_payload(event, "invoke_agent", &agent.input, None);
                let said = format!("Subagent '{}' finished.\nTermination Reason: GOAL\nResult:\nok", agent.kind);
                payload["tool_response"] = json!({ "llmContent": [{ "text": said }], "returnDisplay": "ok" });
                payload
            }
        };
        // Codex has no other place for words after a tool than that of what the tool has said.
        match self.hook(event, &payload) {
            Answer::Deny(words) if self.client == Client::Codex => Answer::Tell(words),
            answer => answer,
        }
    }

    /// A sub-agent starts, works and ends with this handoff; what the model is told then.
    #[track_caller]
    pub(crate) fn plays(&self, role: &str, said: &str, status: &str, more: Json) -> String {
        let agent = self.starts(role, said);
        self.ends(&agent, &message(role, status, more)).passes();
        self.back(&agent).told()
    }

    #[track_caller]
    pub(crate) fn stops(&self, again: bool) -> Answer {
        let event = self.client.stop();
        let mut payload = self.payload(event);
        payload["stop_hook_active"] = json!(again);
        self.hook(event, &payload)
    }

    /// Where the hooks keep what they know.
    pub(crate) fn known(&self) -> Vec<PathBuf> {
        let folder = self.team.keys().join("hooks");
        let files = fs::read_dir(folder).into_iter().flatten().map(|entry| entry.expect("readable").path());
        files.filter(|path| path.extension().is_some_and(|ending| ending == "json")).collect()
    }
}

/// The last message of an agent that hands off.
pub(crate) fn message(role: &str, status: &str, more: Json) -> String {
    format!("I am done.\n\n```json\n{:#}\n```\n", handoff(role, status, more))
}

pub(crate) fn plan(groups: &[&str]) -> Json {
    let groups: Vec<Json> = groups.iter().map(|id| json!({ "id": id, "title": "a group" })).collect();
    json!({ "groups": groups })
}

/// A team of its own for each client, with a session that has these groups planned, in a conversation that has begun.
pub(crate) fn planned<'t>(team: &'t Team, client: Client, groups: &[&str]) -> (Talk<'t>, String) {
    let session = team.start("Add login");
    let talk = Talk::begun(team, client, "c-1");
    talk.plays("project_manager", "Plan it.", "PLANNING_COMPLETE", plan(groups));
    (talk, session)
}

/// Sets the time of a file back.
pub(crate) fn age(path: &Path, minutes: u64) {
    let file = fs::File::options().write(true).open(path).expect("a file");
    file.set_modified(SystemTime::now() - Duration::from_secs(minutes * 60)).expect("a time");
}
