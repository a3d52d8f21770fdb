//! The tools: what each is for, what it takes, what it gives back.

use std::borrow::Cow;
use std::sync::Arc;

use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::{Value as Json, json};

use crate::mcp::arguments::{
    self, AskArguments, CheckArguments, ClaimArguments, ExplainArguments, ReportArguments, SessionArguments,
    StartArguments,
};
use crate::mcp::tool_reply::ToolResult;
use crate::mcp::{assignment, explain, handoff, session};
use interlock_agents as agents;
use interlock_app::context::AppContext;
use interlock_app::error::CommandError;

/// A call, with its arguments read.
pub(super) enum ToolCall {
    /// The only call that may have to wait for a person.
    AskPerson(AskArguments),
    Order(EngineCall),
}

/// Calls that the engine answers at once.
pub(super) enum EngineCall {
    Start(StartArguments),
    Next(SessionArguments),
    Claim(ClaimArguments),
    Report(ReportArguments),
    Check(CheckArguments),
    Explain(ExplainArguments),
    Status(SessionArguments),
}

impl ToolCall {
    pub(super) fn read(tool: &str, given: JsonObject) -> Result<Self, CommandError> {
        Ok(ToolCall::Order(match tool {
            "ask_person" => return Ok(ToolCall::AskPerson(arguments::read(given).map_err(only_a_person)?)),
            "start_session" => EngineCall::Start(arguments::read(given)?),
            "whats_next" => EngineCall::Next(arguments::read(given)?),
            "claim_assignment" => EngineCall::Claim(arguments::read(given)?),
            "report_handoff" => EngineCall::Report(arguments::read(given)?),
            "check_handoff" => EngineCall::Check(arguments::read(given)?),
            "explain_decision" => EngineCall::Explain(arguments::read(given)?),
            _ => EngineCall::Status(arguments::read(given)?),
        }))
    }
}

impl EngineCall {
    /// Which session it is about, for the steps that a refusal shows.
    pub(super) fn session(&self) -> Option<String> {
        let of = |id: &str| id.rsplit_once('.').map(|(session, _)| session.to_owned());
        match self {
            EngineCall::Start(_) => None,
            EngineCall::Next(asked) | EngineCall::Status(asked) => asked.session.clone(),
            EngineCall::Claim(claim) => of(&claim.assignment),
            EngineCall::Report(report) => of(&report.assignment),
            EngineCall::Check(check) => check.assignment.as_deref().and_then(of),
            EngineCall::Explain(explain) => of(&explain.decision),
        }
    }

    pub(super) fn run(self, place: &AppContext) -> ToolResult {
        match self {
            EngineCall::Start(start) => session::start(start, place),
            EngineCall::Next(of) => session::whats_next(&of, place),
            EngineCall::Claim(claim) => assignment::claim(&claim, place),
            EngineCall::Report(report) => handoff::report(&report, place),
            EngineCall::Check(check) => handoff::check(&check, place),
            EngineCall::Explain(explain) => explain::explain(&explain, place),
            EngineCall::Status(of) => session::status(&of, place),
        }
    }
}

/// Adds help, because the likely cause is a model that tried to answer.
fn only_a_person(failure: CommandError) -> CommandError {
    failure.help("only a person can answer a question; call ask_person without an answer, and it is put to one")
}

pub(super) fn known(tool: &str) -> bool {
    all().iter().any(|known| known.name == tool)
}

pub(super) fn all() -> Vec<Tool> {
    vec![
        start_session(),
        whats_next(),
        claim_assignment(),
        report_handoff(),
        check_handoff(),
        ask_person(),
        explain_decision(),
        session_status(),
    ]
}

/// The tool of an agent that a run has started. No other client gets it.
pub(super) fn hand_off(statuses: &str) -> Tool {
    let about = format!(
        "Submits the result of your assignment. Call it last, then end your turn. An invalid handoff is refused with everything \
         that is wrong with it: fix all of it and call again.{statuses}"
    );
    tool(
        agents::HandoffServer::NAME,
        "Hand off",
        about,
        &ToolEffect::AddsOnce,
        takes(&json!({ "handoff": a_handoff() }), &["handoff"]),
        gives(
            json!({
                "taken": truth("it is submitted when you end"),
                "status": maybe("what it says, in the workflow's own words"),
                "warnings": objects("what was noted"),
            }),
            &["taken"],
        ),
    )
}

/// How a tool touches the world.
enum ToolEffect {
    Reads,
    Adds,
    /// The same again changes nothing.
    AddsOnce,
}

fn tool(
    name: &'static str,
    title: &str,
    about: impl Into<Cow<'static, str>>,
    touch: &ToolEffect,
    input: Json,
    output: Json,
) -> Tool {
    let hints = ToolAnnotations::with_title(title).open_world(false);
    let hints = match touch {
        ToolEffect::Reads => hints.read_only(true),
        ToolEffect::Adds => hints.read_only(false).destructive(false),
        ToolEffect::AddsOnce => hints.read_only(false).destructive(false).idempotent(true),
    };
    Tool::new(name, about, object(input))
        .with_title(title)
        .with_raw_output_schema(object(output))
        .with_annotations(hints)
}

fn object(schema: Json) -> Arc<JsonObject> {
    Arc::new(match schema {
        Json::Object(object) => object,
        _ => JsonObject::new(),
    })
}

/// Arguments: those that must be there, and the others.
fn takes(properties: &Json, required: &[&str]) -> Json {
    json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
}

/// Output schema of a tool: these properties, or those of a refusal. One schema has both, because some clients validate
/// refusals against it too.
fn gives(mut properties: Json, required: &[&str]) -> Json {
    properties["do_next"] = json!({ "type": "string", "description": "what to do next, in a line" });
    properties["code"] = json!({ "type": "string", "description": "of a refusal: E and four digits" });
    properties["message"] = json!({ "type": "string", "description": "of a refusal: what was wrong" });
    properties["help"] = json!({ "type": "string", "description": "of a refusal: how to fix it" });
    properties["allowed"] = strings("of a refusal: what is allowed now");
    if properties.get("problems").is_none() {
        properties["problems"] = objects("of a refusal: everything that is wrong with the handoff");
    }
    let mut needed = required.to_vec();
    needed.push("do_next");
    json!({
        "type": "object", "properties": properties,
        "anyOf": [{ "required": needed }, { "required": ["code", "message"] }],
    })
}

fn text(about: &str) -> Json {
    json!({ "type": "string", "description": about })
}

fn maybe(about: &str) -> Json {
    json!({ "type": ["string", "null"], "description": about })
}

fn number(about: &str) -> Json {
    json!({ "type": "integer", "description": about })
}

fn truth(about: &str) -> Json {
    json!({ "type": "boolean", "description": about })
}

fn strings(about: &str) -> Json {
    json!({ "type": "array", "items": { "type": "string" }, "description": about })
}

fn objects(about: &str) -> Json {
    json!({ "type": "array", "items": { "type": "object" }, "description": about })
}

fn list(about: &str, properties: &Json, required: &[&str]) -> Json {
    let items = json!({ "type": "object", "properties": properties, "required": required });
    json!({ "type": "array", "items": items, "description": about })
}

fn a_handoff() -> Json {
    json!({
        "anyOf": [{ "type": "object" }, { "type": "string" }],
        "description": "what the agent handed off: the JSON object, or all that it wrote, whose last JSON block is it",
    })
}

fn assignments(about: &str, required: &[&str]) -> Json {
    let properties = json!({
        "assignment": text("SESSION.aN"), "role": text("who does it"), "group": maybe("the unit of work"),
        "attempt": number("from 1"), "claimed": truth("somebody has its token"),
    });
    list(about, &properties, required)
}

fn questions() -> Json {
    let properties = json!({
        "question": text("SESSION.qN"), "group": maybe("the unit of work"), "text": text("what is asked"),
        "options": strings("what can be answered"),
        "facts": strings("what led to the question"),
        "effects": objects("what each option does"),
    });
    list("what waits for a person", &properties, &["question", "text", "options"])
}

/// Schema of a decision, wherever a tool returns one.
fn decision() -> Json {
    json!({
        "decision": text("SESSION.dN, for explain_decision"),
        "session": text("the session"),
        "group": maybe("the unit of work"),
        "seq": number("the event in the log"),
        "action": text("spawn, respawn, return, batch, merge, gate, ask, validate, end or wait"),
        "next": assignments("to be claimed now", &["assignment", "role", "attempt"]),
        "question": { "type": ["object", "null"], "description": "what a person is asked now" },
        "gate": { "type": ["object", "null"], "description": "what Interlock has to run itself now" },
        "rule": text("the rule that decided"),
        "because": strings("why, in words"),
        "warnings": objects("what was noted"),
        "escalated": truth("it went up the ladder"),
        "judgement": { "type": "object", "description": "of the final validation: the verdict, and every reason" },
        "repeated": truth("the same was reported before, and nothing has changed"),
    })
}

fn start_session() -> Tool {
    tool(
        "start_session",
        "Start a session",
        "Starts a session of a workflow and returns the assignments that can be claimed first. One session is one piece \
         of work: a feature, an integration, a bug fix.",
        &ToolEffect::Adds,
        takes(
            &json!({
                "title": text("what is to be done, in a few words"),
                "mission": text("all of what is to be done; every agent reads it"),
                "workflow": text("a built-in workflow; the project's own if left out, which is what you want"),
                "settings": {
                    "type": "object", "additionalProperties": { "type": "string" },
                    "description": "settings of the workflow, by name; a value that drops a requirement is refused: a person starts such a session",
                },
            }),
            &["title"],
        ),
        gives(
            json!({
                "session": text("its id, for every other tool"),
                "workflow": text("what it runs by"),
                "workflow_hash": text("the version that it is pinned to"),
                "next": assignments("to be claimed now", &["assignment", "role", "attempt"]),
            }),
            &["session", "workflow", "next"],
        ),
    )
}

fn whats_next() -> Tool {
    tool(
        "whats_next",
        "What may happen now",
        "Lists what may happen now in a session: assignments to claim or to report for, questions that wait for a person, \
         gates. Whatever is not listed would be refused. Call it first, after every decision, and whenever you have \
         lost track.",
        &ToolEffect::Reads,
        takes(&json!({ "session": text("the session; the only one under way if left out") }), &[]),
        gives(
            json!({
                "session": text("the session"),
                "status": text("active, validating, completed or cancelled"),
                "assignments": assignments("open ones", &["assignment", "role", "attempt", "claimed"]),
                "questions": questions(),
                "gates": objects("what Interlock has to run itself"),
            }),
            &["session", "status", "assignments", "questions", "gates"],
        ),
    )
}

fn claim_assignment() -> Tool {
    tool(
        "claim_assignment",
        "Claim an assignment",
        "Takes an open assignment for an agent that you are about to start, and returns the prompt to start it with, and \
         the token that its handoff is given in with. Whoever has the token can report for this assignment, and you \
         have it now: pass on what the agent writes, never what you would have written. Claiming again voids the \
         earlier token. Where Interlock's hooks are installed they claim and report, and you need not.",
        &ToolEffect::Adds,
        takes(&json!({ "assignment": text("SESSION.aN, from whats_next") }), &["assignment"]),
        gives(
            json!({
                "assignment": text("SESSION.aN"),
                "role": text("who the agent is"),
                "group": maybe("the unit of work"),
                "attempt": number("from 1"),
                "token": text("for report_handoff, and for nothing else; keep it out of files and logs"),
                "prompt": text("what to start the agent with, whole and unchanged"),
                "output_directory": text("where the agent leaves its files"),
                "deadline": maybe("until when"),
            }),
            &["assignment", "role", "attempt", "token", "prompt", "output_directory"],
        ),
    )
}

fn report_handoff() -> Tool {
    tool(
        "report_handoff",
        "Submit a handoff",
        "Submits the JSON block that ends an agent's last message, and returns the decision: what happens next, \
         and by which rule. The same handoff again gets the same decision. A handoff that is not valid is refused with \
         everything that is wrong with it: send that back to the agent, and submit what it writes then.",
        &ToolEffect::AddsOnce,
        takes(
            &json!({
                "assignment": text("SESSION.aN"),
                "token": text("from claim_assignment"),
                "handoff": a_handoff(),
            }),
            &["assignment", "token", "handoff"],
        ),
        gives(decision(), &["decision", "session", "action", "next", "rule"]),
    )
}

fn check_handoff() -> Tool {
    tool(
        "check_handoff",
        "Check a handoff",
        "Says whether a handoff would be taken, and lists everything that is wrong with it. Nothing is stored. Name the \
         assignment that it is for; or else a role, and its phase where the workflow has phases.",
        &ToolEffect::Reads,
        takes(
            &json!({
                "assignment": text("SESSION.aN"),
                "role": text("without an assignment: the role"),
                "workflow": text("without an assignment: a built-in workflow; the project's own if left out"),
                "phase": text("without an assignment: the phase"),
                "handoff": a_handoff(),
            }),
            &["handoff"],
        ),
        gives(
            json!({
                "valid": truth("it would be taken"),
                "status": maybe("what it says, in the workflow's own words"),
                "problems": objects("everything that is wrong, each with its field and how to fix it"),
                "warnings": objects("what would be noted"),
            }),
            &["valid", "problems", "warnings"],
        ),
    )
}

fn ask_person() -> Tool {
    let mut properties = decision();
    properties["answered"] = truth("a person has answered just now");
    properties["asked"] = text("SESSION.qN");
    properties["by"] = text("who answered, as it is recorded");
    properties["how"] = text("how a person answers elsewhere");
    properties["questions"] = questions();
    tool(
        "ask_person",
        "Ask a person",
        "Puts an open question to the person at this client, and returns what they decided; where the client cannot ask, \
         it says how a person answers. It takes no answer: nobody but a person can give one.",
        &ToolEffect::Adds,
        takes(
            &json!({
                "question": text("SESSION.qN, from whats_next; the first that is open if left out"),
                "session": text("the session; the only one under way if left out"),
            }),
            &[],
        ),
        gives(properties, &["answered"]),
    )
}

fn explain_decision() -> Tool {
    tool(
        "explain_decision",
        "Explain a decision",
        "Explains a decision: the rule with its place in the workflow, the overrides, and the facts that were read. Also \
         explains any other event of the log by its number, such as a refusal with all of its problems.",
        &ToolEffect::Reads,
        takes(&json!({ "decision": text("SESSION.dN, or SESSION.eN for event N of the log") }), &["decision"]),
        gives(
            json!({
                "decision": maybe("SESSION.dN; absent for an event without a decision"),
                "event": text("SESSION.eN, for an event without a decision"),
                "kind": text("the kind of the event"),
                "refused": { "type": "object", "description": "for a refusal: its code, its message and every problem" },
                "rule": maybe("the rule that decided"),
                "source": { "type": ["object", "null"], "description": "its file and line" },
                "action": maybe("what followed"),
                "because": strings("why, in words"),
                "overrides": objects("overrides that were applied"),
                "facts": { "type": "object", "description": "what was read" },
                "text": text("all of it, to be read"),
            }),
            &["text"],
        ),
    )
}

fn session_status() -> Tool {
    let groups = json!({
        "id": text("the group"), "title": text("what it is"), "status": text("where it stands"),
        "role": maybe("who has it"), "attempt": number("from 1"), "evidence": strings("what it has passed"),
        "ever_blocked": truth("it was blocked once"), "findings": number("raised by reviews"),
        "failing_tests": number("as QA reported"),
    });
    tool(
        "session_status",
        "How a session stands",
        "Shows how a session stands: each group with its status, who has it, and the evidence so far. The resource \
         interlock://session/ID has everything.",
        &ToolEffect::Reads,
        takes(&json!({ "session": text("the session; the only one under way if left out") }), &[]),
        gives(
            json!({
                "session": text("the session"),
                "title": text("what is to be done"),
                "status": text("active, validating, completed or cancelled"),
                "workflow": text("what it runs by"),
                "groups": list("units of work", &groups, &["id", "title", "status"]),
                "open": { "type": "object", "description": "how much is open of what" },
                "events": number("in the log so far"),
            }),
            &["session", "title", "status", "workflow", "groups", "open"],
        ),
    )
}
