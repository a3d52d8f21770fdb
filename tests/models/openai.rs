//! OpenAI's Responses, as Codex speaks them.

use serde_json::{Value as Json, json};

use super::http::{Reply, Request};
use super::{Protocol, Step, Turn, names, text_of};

pub(super) const PROTOCOL: Protocol = Protocol { turn, reply, error };

fn turn(request: &Request) -> Turn {
    let body = &request.body;
    let mut turn = Turn {
        system: body["instructions"].as_str().unwrap_or_default().to_owned(),
        model: body["model"].as_str().unwrap_or_default().to_owned(),
        tools: names(&body["tools"], "name"),
        ..Turn::default()
    };
    for group in body["tools"].as_array().into_iter().flatten().filter(|tool| tool["type"] == "namespace") {
        let named = |tool: String| format!("{}::{tool}", group["name"].as_str().unwrap_or_default());
        turn.tools.extend(names(&group["tools"], "name").into_iter().map(named));
    }
    // The newest models have their tools among what was said.
    for item in body["input"].as_array().into_iter().flatten().filter(|item| item["type"] == "additional_tools") {
        turn.tools
            .extend(item["tools"].as_array().into_iter().flatten().flat_map(|group| names(&group["tools"], "name")));
    }
    for item in body["input"].as_array().into_iter().flatten() {
        let text = text_of(&item["content"]);
        match (item["type"].as_str(), item["role"].as_str()) {
            (Some("function_call_output" | "custom_tool_call_output"), _) => turn.tool_gave(output(item)),
            (Some("function_call" | "custom_tool_call"), _) => turn.spoke(),
            (_, Some("user")) => turn.user_said(&text),
            (_, Some("developer")) => turn.client_said(&text),
            (_, Some("assistant")) => {
                turn.said.push(text);
                turn.spoke();
            }
            _ => {}
        }
    }
    turn
}

fn output(item: &Json) -> String {
    text_of(&item["output"])
}

fn reply(request: &Request, turn: &Turn, step: &Step, number: usize) -> Reply {
    let item = item(step, number);
    let response = json!({
        "id": format!("resp_{number}"), "object": "response", "model": turn.model, "status": "completed",
        "output": [item],
        "usage": {
            "input_tokens": 100, "input_tokens_details": { "cached_tokens": 0 },
            "output_tokens": 20, "output_tokens_details": { "reasoning_tokens": 0 }, "total_tokens": 120,
        },
    });
    if request.body["stream"] != json!(true) {
        return Reply::json(200, &response);
    }
    Reply::events(&[
        json!({ "type": "response.created", "response": { "id": response["id"] } }),
        json!({ "type": "response.output_item.done", "output_index": 0, "item": item }),
        json!({ "type": "response.completed", "response": response }),
    ])
}

fn item(step: &Step, number: usize) -> Json {
    match step {
        Step::Tool { name, input: Json::String(input) } => json!({
            "type": "custom_tool_call", "id": format!("ctc_{number}"), "call_id": format!("call_{number}"),
            "name": name, "input": input, "status": "completed",
        }),
        Step::Tool { name, input } => {
            let mut call = json!({
                "type": "function_call", "id": format!("fc_{number}"), "call_id": format!("call_{number}"),
                "name": name, "arguments": input.to_string(),
            });
            if let Some((group, name)) = name.split_once("::") {
                call["namespace"] = json!(group);
                call["name"] = json!(name);
            }
            call
        }
        Step::Say(text) => json!({
            "type": "message", "id": format!("msg_{number}"), "role": "assistant", "status": "completed",
            "content": [{ "type": "output_text", "text": text, "annotations": [] }],
        }),
        Step::Error { .. } | Step::After(..) => unreachable!("carried out before"),
    }
}

fn error(status: u16, message: &str, _retry_after: Option<u32>) -> Json {
    let kind = match status {
        401 => "invalid_api_key",
        429 => "rate_limit_exceeded",
        400..500 => "invalid_request_error",
        _ => "server_error",
    };
    json!({ "error": { "type": kind, "code": kind, "message": message } })
}
