//! Calls that come back once the client has what they need (SEP-2322), as the suite asks for them.

use std::collections::BTreeSet;
use std::sync::Mutex;

use rmcp::model::{CallToolRequestParams, CallToolResponse, ErrorData, GetPromptRequestParams, InputRequiredResult};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::{Map, Value as Json, json};

use super::fixture::{as_is, gives};

pub(super) const PROMPT: &str = "test_input_required_result_prompt";
pub(super) const TOOLS: [&str; 8] = [
    "test_input_required_result_elicitation",
    "test_input_required_result_sampling",
    "test_input_required_result_list_roots",
    "test_input_required_result_request_state",
    "test_input_required_result_multiple_inputs",
    "test_input_required_result_multi_round",
    "test_input_required_result_tampered_state",
    "test_input_required_result_capabilities",
];

type Answer = Result<CallToolResponse, ErrorData>;

/// States that the server issued: any other is forged.
static STATES: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

fn new_state(round: &str) -> String {
    let mut states = STATES.lock().expect("nobody panics here");
    let state = format!("{round}-{}", states.len());
    states.insert(state.clone());
    state
}

fn form(message: &str, field: &str, kind: &str) -> Json {
    let schema = json!({ "type": "object", "properties": { field: { "type": kind } }, "required": [field] });
    json!({ "method": "elicitation/create", "params": { "message": message, "requestedSchema": schema } })
}

fn sampling(asks: &str) -> Json {
    let message = json!({ "role": "user", "content": { "type": "text", "text": asks } });
    json!({ "method": "sampling/createMessage", "params": { "messages": [message], "maxTokens": 100 } })
}

fn roots() -> Json {
    json!({ "method": "roots/list" })
}

fn wants(inputs: Json, state: Option<String>) -> InputRequiredResult {
    InputRequiredResult::new(Some(as_is(inputs)), state)
}

fn text(text: &str) -> CallToolResponse {
    gives(json!([{ "type": "text", "text": text }]))
}

/// `None`: it is none of these.
pub(super) fn call(
    tool: &str,
    request: &CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> Option<Answer> {
    let given = request.input_responses.as_ref();
    let input = |name: &str| given.and_then(|all| all.get(name)).filter(|answer| answer.is_object()).cloned();
    if let Some(state) = &request.request_state
        && !STATES.lock().expect("nobody panics here").contains(state)
    {
        return Some(Err(ErrorData::invalid_params("this state was not handed out here", None)));
    }
    let round = request.request_state.as_deref().unwrap_or_default();
    let answer = match tool {
        "test_input_required_result_elicitation" | "test_streaming_elicitation" => match input("user_name") {
            Some(said) if said["content"]["name"].is_string() => {
                text(&format!("Hello, {}!", said["content"]["name"].as_str().unwrap_or_default()))
            }
            _ => wants(json!({ "user_name": form("What is your name?", "name", "string") }), None).into(),
        },
        "test_input_required_result_sampling" => match input("capital_question") {
            Some(said) => text(&said["content"]["text"].to_string()),
            None => wants(json!({ "capital_question": sampling("What is the capital of France?") }), None).into(),
        },
        "test_input_required_result_list_roots" => match input("client_roots") {
            Some(said) => text(&said["roots"].to_string()),
            None => wants(json!({ "client_roots": roots() }), None).into(),
        },
        "test_input_required_result_request_state" | "test_input_required_result_tampered_state" => {
            match input("confirm") {
                Some(_) if !round.is_empty() => text("state-ok"),
                _ => {
                    wants(json!({ "confirm": form("Please confirm", "ok", "boolean") }), Some(new_state("one"))).into()
                }
            }
        }
        "test_input_required_result_multiple_inputs" => {
            match (input("user_name"), input("greeting"), input("client_roots")) {
                (Some(_), Some(_), Some(_)) if !round.is_empty() => text("All of it is here"),
                _ => {
                    let inputs = json!({
                        "user_name": form("What is your name?", "name", "string"),
                        "greeting": sampling("Generate a greeting"), "client_roots": roots(),
                    });
                    wants(inputs, Some(new_state("one"))).into()
                }
            }
        }
        "test_input_required_result_multi_round" => match (input("step1"), input("step2")) {
            (_, Some(_)) if round.starts_with("two") => text("Three rounds"),
            (Some(_), _) if round.starts_with("one") => {
                let asks = form("Step 2: What is your favorite color?", "color", "string");
                wants(json!({ "step2": asks }), Some(new_state("two"))).into()
            }
            _ => {
                let asks = form("Step 1: What is your name?", "name", "string");
                wants(json!({ "step1": asks }), Some(new_state("one"))).into()
            }
        },
        "test_input_required_result_capabilities" => wants(json!(what_it_can(context)), None).into(),
        _ => return None,
    };
    Some(Ok(answer))
}

/// Only what the client says that it can do.
fn what_it_can(context: &RequestContext<RoleServer>) -> Map<String, Json> {
    let can = serde_json::to_value(context.client_capabilities()).unwrap_or_default();
    let all = [
        ("elicitation", form("What is your name?", "name", "string")),
        ("sampling", sampling("What is the capital of France?")),
        ("roots", roots()),
    ];
    let able = all.into_iter().filter(|(capability, _)| can[capability].is_object());
    able.map(|(capability, asks)| (capability.to_owned(), asks)).collect()
}

pub(super) fn prompt(request: &GetPromptRequestParams) -> Result<String, Box<InputRequiredResult>> {
    let given = request.input_responses.as_ref().and_then(|all| all.get("user_context"));
    let context = given.and_then(|said| said["content"]["context"].as_str());
    let asks =
        || wants(json!({ "user_context": form("What context should the prompt use?", "context", "string") }), None);
    context.map(str::to_owned).ok_or_else(|| Box::new(asks()))
}
