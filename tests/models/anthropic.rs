//! Anthropic's Messages, as Claude Code speaks them.

use serde_json::{Value as Json, json};

use super::http::{Reply, Request};
use super::{Protocol, Step, Turn, names, text_of};

pub(super) const PROTOCOL: Protocol = Protocol { turn, reply, error };

fn turn(request: &Request) -> Turn {
    let body = &request.body;
    let mut turn = Turn {
        system: text_of(&body["system"]),
        model: body["model"].as_str().unwrap_or_default().to_owned(),
        tools: names(&body["tools"], "name"),
        ..Turn::default()
    };
    for message in body["messages"].as_array().into_iter().flatten() {
        match &message["content"] {
            Json::Array(blocks) => blocks.iter().for_each(|block| take(&mut turn, &message["role"], block)),
            text => take(&mut turn, &message["role"], &json!({ "type": "text", "text": text })),
        }
    }
    turn
}

fn take(turn: &mut Turn, role: &Json, block: &Json) {
    let text = block["text"].as_str().unwrap_or_default();
    match (role.as_str(), block["type"].as_str()) {
        (Some("user"), Some("tool_result")) => turn.tool_gave(text_of(&block["content"])),
        (Some("user"), Some("text")) => turn.user_said(text),
        (Some("system"), Some("text")) => turn.client_said(text),
        (Some("assistant"), Some("text")) => {
            turn.said.push(text.to_owned());
            turn.spoke();
        }
        (Some("assistant"), Some("tool_use")) => turn.spoke(),
        _ => {}
    }
}

fn reply(request: &Request, turn: &Turn, step: &Step, number: usize) -> Reply {
    let (block, reason) = block(step, number);
    let message = json!({
        "id": format!("msg_{number}"), "type": "message", "role": "assistant", "model": turn.model,
        "content": [], "stop_reason": null, "stop_sequence": null,
        "usage": { "input_tokens": 100, "output_tokens": 1 },
    });
    if request.body["stream"] != json!(true) {
        let mut whole = message;
        whole["content"] = json!([block]);
        whole["stop_reason"] = json!(reason);
        return Reply::json(200, &whole);
    }
    let (start, delta) = in_two(block);
    Reply::events(&[
        json!({ "type": "message_start", "message": message }),
        json!({ "type": "content_block_start", "index": 0, "content_block": start }),
        json!({ "type": "content_block_delta", "index": 0, "delta": delta }),
        json!({ "type": "content_block_stop", "index": 0 }),
        json!({
            "type": "message_delta",
            "delta": { "stop_reason": reason, "stop_sequence": null },
            "usage": { "output_tokens": 20 },
        }),
        json!({ "type": "message_stop" }),
    ])
}

fn block(step: &Step, number: usize) -> (Json, &'static str) {
    match step {
        Step::Tool { name, input } => {
            (json!({ "type": "tool_use", "id": format!("toolu_{number}"), "name": name, "input": input }), "tool_use")
        }
        Step::Say(text) => (json!({ "type": "text", "text": text }), "end_turn"),
        Step::Error { .. } | Step::After(..) => unreachable!("carried out before"),
    }
}

/// A stream opens a block empty, and what is in it comes after.
fn in_two(mut block: Json) -> (Json, Json) {
    if block["type"] == "text" {
        let text = std::mem::replace(&mut block["text"], json!(""));
        return (block, json!({ "type": "text_delta", "text": text }));
    }
    let input = std::mem::replace(&mut block["input"], json!({}));
    (block, json!({ "type": "input_json_delta", "partial_json": input.to_string() }))
}

fn error(status: u16, message: &str, _retry_after: Option<u32>) -> Json {
    let kind = match status {
        401 => "authentication_error",
        429 => "rate_limit_error",
        529 => "overloaded_error",
        400..500 => "invalid_request_error",
        _ => "api_error",
    };
    json!({ "type": "error", "error": { "type": kind, "message": message }, "request_id": "req_scripted" })
}
