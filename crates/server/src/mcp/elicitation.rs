//! Questions for a person: shown to the model, put to the person by way of the client, and never answered by a call.
//!
//! The answer comes back beside the arguments of a tool, in a part of the protocol that the client fills and the model
//! does not: as the result of a request of ours, or (since 2026-07-28) with the handle that we gave to the client.

use std::collections::BTreeMap;
use std::sync::Mutex;

use interlock_core::code::Code;
use interlock_core::command::{self, AnswerChoice, Command};
use interlock_core::id::Name;
use interlock_core::naming;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ClientResult, ElicitRequest, ElicitRequestParams, ElicitResult,
    ElicitationAction, ElicitationSchema, InputRequest, InputRequiredResult, ProtocolVersion, ServerRequest,
};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::{Value as Json, json};

use crate::mcp::arguments::{AskArguments, bad_id};
use crate::mcp::tool_reply::{ToolReply, ToolResult};
use crate::mcp::{OrchestratorServer, handoff, next_steps, session};
use interlock_app::context::{AppContext, person};
use interlock_app::error::{CommandError, CommandExit};
use interlock_app::session_view;
use interlock_engine::{Operation, QuestionRef, Request};
use interlock_system::clock;

/// The one thing that is asked for with a question.
const INPUT: &str = "answer";
/// Of the name of a client, for the record.
const LONGEST_CLIENT: usize = 40;
/// Handles that are kept: clients need not come back.
const MOST_ASKED: usize = 64;

/// Questions under way, by the handle that the client has to bring back. Each handle counts once.
#[derive(Default)]
pub(super) struct PendingElicitations(Mutex<BTreeMap<String, QuestionRef>>);

impl PendingElicitations {
    fn put(&self, question: QuestionRef) -> String {
        let handle = clock::suffix(32);
        if let Ok(mut asked) = self.0.lock() {
            // One that is dropped is asked again.
            while asked.len() >= MOST_ASKED {
                asked.pop_first();
            }
            asked.insert(handle.clone(), question);
        }
        handle
    }

    fn take(&self, handle: &str) -> Option<QuestionRef> {
        self.0.lock().ok()?.remove(handle)
    }
}

/// An open question, as it is put to a person.
struct QuestionForm {
    reference: QuestionRef,
    text: String,
    options: Vec<Name>,
    /// Words of the person's own are an answer as well.
    free: bool,
    /// All that are open, for the model.
    all: Vec<Json>,
}

enum QuestionLookup {
    Nothing(ToolReply),
    Question(Box<QuestionForm>),
}

impl OrchestratorServer {
    pub(super) async fn ask_person(
        &self,
        ask: AskArguments,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> CallToolResponse {
        let named = ask.session.clone().or_else(|| session_of(ask.question.as_deref()));
        if let Some(handle) = &request.request_state {
            let outcome = self.brought_back(handle, request.input_responses.as_ref(), &context).await;
            return self.told(outcome, named).await;
        }
        let open = match self.run_blocking(move |place| find(&ask, place)).await {
            Ok(QuestionLookup::Question(open)) => open,
            Ok(QuestionLookup::Nothing(told)) => return told.result().into(),
            Err(failure) => return self.refuse(failure, named).await.into(),
        };
        if !can_ask(&context) {
            return waits(&open, "this client cannot ask a person").result().into();
        }
        let Ok(elicit) = open.request() else {
            return waits(&open, "the question cannot be shown as a form").result().into();
        };
        if context.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2026_07_28) {
            let handle = self.asked.put(open.reference);
            let inputs = [(INPUT.to_owned(), InputRequest::Elicitation(elicit))].into_iter().collect();
            return InputRequiredResult::new(Some(inputs), Some(handle)).into();
        }
        let outcome = match context.peer.send_request(ServerRequest::ElicitRequest(elicit)).await {
            Ok(ClientResult::ElicitResult(result)) => self.settle(open.reference, result, &context).await,
            Ok(_) | Err(_) => Ok(waits(&open, "the client could not ask a person")),
        };
        self.told(outcome, named).await
    }

    async fn told(&self, outcome: ToolResult, session: Option<String>) -> CallToolResponse {
        match outcome {
            Ok(told) => told.result().into(),
            Err(failure) => self.refuse(failure, session).await.into(),
        }
    }

    /// Continues when the client returns with the person's answer.
    async fn brought_back(
        &self,
        handle: &str,
        responses: Option<&BTreeMap<String, Json>>,
        context: &RequestContext<RoleServer>,
    ) -> ToolResult {
        let Some(question) = self.asked.take(handle) else {
            let message = "this answer belongs to no question that was put to a person";
            return Err(
                CommandError::new(CommandExit::Refused, Code::BadArgument, message).help("call ask_person again")
            );
        };
        let answer = responses.and_then(|responses| responses.get(INPUT)).cloned();
        let answer = answer.and_then(|answer| serde_json::from_value::<ElicitResult>(answer).ok());
        let answer = answer.unwrap_or_else(|| ElicitResult::new(ElicitationAction::Cancel));
        self.settle(question, answer, context).await
    }

    /// Records the person's answer. This needs the operator key, as every answer does.
    async fn settle(
        &self,
        question: QuestionRef,
        said: ElicitResult,
        context: &RequestContext<RoleServer>,
    ) -> ToolResult {
        let client = context.client_info().map(|client| client.name).unwrap_or_default();
        let by = recorded_as(&person(None), &client);
        self.run_blocking(move |place| match said.action {
            ElicitationAction::Accept => answer(&question, &said.content.unwrap_or_default(), &by, place),
            _ => Ok(unanswered(&question)),
        })
        .await
    }
}

impl QuestionForm {
    /// The form that a client shows.
    fn request(&self) -> Result<ElicitRequest, serde_json::Error> {
        let mut fields = json!({});
        if !self.options.is_empty() {
            fields["answer"] = json!({ "type": "string", "title": "Answer", "enum": self.options });
        }
        let about = if self.options.is_empty() { "Your answer" } else { "What goes with it, in your own words" };
        fields["text"] = json!({ "type": "string", "title": "Text", "description": about });
        let required: &[&str] = match (self.options.is_empty(), self.free) {
            (true, _) => &["text"],
            (false, true) => &[],
            (false, false) => &["answer"],
        };
        let form = json!({ "type": "object", "properties": fields, "required": required });
        let requested_schema: ElicitationSchema = serde_json::from_value(form)?;
        let message = format!("Interlock asks a person ({}): {}", self.reference, self.text);
        Ok(ElicitRequest::new(ElicitRequestParams::FormElicitationParams { meta: None, message, requested_schema }))
    }
}

fn session_of(reference: Option<&str>) -> Option<String> {
    reference.and_then(|id| id.rsplit_once('.')).map(|(session, _)| session.to_owned())
}

/// Whether the client shows forms. One that does not say which kind it shows, shows forms.
fn can_ask(context: &RequestContext<RoleServer>) -> bool {
    let elicitation = context.client_capabilities().and_then(|capabilities| capabilities.elicitation);
    elicitation.is_some_and(|can| can.form.is_some() || can.url.is_none())
}

/// The person who answered and the client that passed the answer on. The client is recorded because it could answer by
/// itself.
fn recorded_as(who: &Name, client: &str) -> Name {
    let client: String = client
        .chars()
        .filter(|letter| !letter.is_control() && !naming::QUOTES.contains(letter))
        .take(LONGEST_CLIENT)
        .collect();
    Name::from(format!("{who} by way of {}", if client.is_empty() { "an MCP client" } else { &client }))
}

/// The question that is named, or the first that is open.
fn find(ask: &AskArguments, place: &AppContext) -> Result<QuestionLookup, CommandError> {
    let named = match &ask.question {
        Some(id) => Some(QuestionRef::parse(id).map_err(|how| bad_id(id, &how))?),
        None => None,
    };
    let session = match &named {
        Some(named) => named.session.to_string(),
        None => session::resolve_session(ask.session.as_deref(), place)?,
    };
    let mut engine = place.engine()?;
    let (live, workflow) = engine.load_session(&session)?;
    let briefs = session_view::briefs(&mut engine, &live, &workflow)?;
    let mut open = live.state.open_questions.iter();
    let id = match &named {
        Some(named) => open.find(|id| **id == named.id),
        None => open.next(),
    };
    let Some((id, asked)) = id.and_then(|id| live.state.questions.get(id).map(|asked| (id, asked))) else {
        let what = named.map_or_else(|| "No question".to_owned(), |named| format!("{named} is not open: no question"));
        let facts = json!({ "answered": false, "questions": session_view::questions(&live, &briefs) });
        return Ok(QuestionLookup::Nothing(ToolReply::new(
            facts,
            format!("{what} waits for a person here. {}", next_steps::line(&live)),
        )));
    };
    let declared = workflow.questions.iter().find(|question| question.name == asked.name);
    Ok(QuestionLookup::Question(Box::new(QuestionForm {
        reference: QuestionRef { session: live.id.clone(), id: *id },
        text: briefs.get(id).map_or_else(|| asked.text.to_string(), |brief| brief.text(&asked.text)),
        options: asked.options.clone(),
        free: declared.is_some_and(|question| question.free.is_some()),
        all: session_view::questions(&live, &briefs),
    })))
}

fn answer(question: &QuestionRef, content: &Json, by: &Name, place: &AppContext) -> ToolResult {
    let word = |name: &str| content[name].as_str().map(str::trim).filter(|text| !text.is_empty()).map(Name::new);
    let choice = match (word("answer"), word("text")) {
        (Some(name), text) => AnswerChoice::Option { name, text },
        (None, Some(text)) => AnswerChoice::Text(text),
        (None, None) => return Ok(unanswered(question)),
    };
    let command = command::AnswerQuestion { question: question.id, choice, by: by.clone(), allow: Vec::new() };
    let order = Request { session: question.session.clone(), task: Operation::Simple(Command::Answer(command)) };
    let mut engine = place.engine()?;
    let done = engine.execute(&order)?;
    let (live, workflow) = engine.load_session(&done.session)?;
    let briefs = session_view::briefs(&mut engine, &live, &workflow)?;
    let mut facts = handoff::decided(&done);
    facts["answered"] = json!(true);
    facts["asked"] = json!(question.to_string());
    facts["by"] = json!(by);
    facts["questions"] = json!(session_view::questions(&live, &briefs));
    Ok(ToolReply::new(facts, next_steps::line(&live)))
}

fn unanswered(question: &QuestionRef) -> ToolReply {
    let facts = json!({ "answered": false, "asked": question.to_string(), "how": how(question) });
    ToolReply::new(
        facts,
        format!("The person did not answer; {question} waits. Go on with what else whats_next lists."),
    )
}

/// The question stays, and a person answers it elsewhere.
fn waits(open: &QuestionForm, why: &str) -> ToolReply {
    let how = how(&open.reference);
    let next = format!("{} waits for a person, and {why}: tell them to run `{how}`.", open.reference);
    let facts = json!({ "answered": false, "asked": open.reference.to_string(), "how": how, "questions": open.all });
    ToolReply::new(facts, next)
}

fn how(question: &QuestionRef) -> String {
    format!("interlock answer {question} --option NAME")
}
