//! Gemini's `generateContent` and `streamGenerateContent`, as Gemini CLI speaks them.

use serde_json::{Value as Json, json};

use super::http::{Reply, Request};
use super::{Protocol, Step, Turn, names, text_of};

pub(super) const PROTOCOL: Protocol = Protocol { turn, reply, error };

fn turn(request: &Request) -> Turn {
    let body = &request.body;
    let declared = |tool: &Json| names(&tool["functionDeclarations"], "name");
    let mut turn = Turn {
        system: text_of(&body["systemInstruction"]["parts"]),
        model: model(&request.path).to_owned(),
        tools: body["tools"].as_array().into_iter().flatten().flat_map(declared).collect(),
        ..Turn::default()
    };
    for content in body["contents"].as_array().into_iter().flatten() {
        for part in content["parts"].as_array().into_iter().flatten() {
            take(&mut turn, &content["role"], part);
        }
    }
    turn
}

/// `/v1beta/models/MODEL:streamGenerateContent?alt=sse`.
fn model(path: &str) -> &str {
    path.rsplit_once("/models/").and_then(|(_, rest)| rest.split_once(':')).map_or("", |(model, _)| model)
}

fn take(turn: &mut Turn, role: &Json, part: &Json) {
    if let Some(response) = part.get("functionResponse") {
        turn.tool_gave(response["response"].to_string());
    }
    if role == "model" {
        turn.spoke();
    }
    let Some(text) = part["text"].as_str() else { return };
    if role == "user" {
        turn.user_said(text);
    } else {
        turn.said.push(text.to_owned());
    }
}

fn reply(request: &Request, turn: &Turn, step: &Step, number: usize) -> Reply {
    let response = json!({
        "candidates": [{
            "content": { "role": "model", "parts": [part(step)] }, "finishReason": "STOP", "index": 0,
        }],
        "usageMetadata": { "promptTokenCount": 100, "candidatesTokenCount": 20, "totalTokenCount": 120 },
        "modelVersion": turn.model, "responseId": format!("response_{number}"),
    });
    if request.path.contains(":stream") { Reply::events(&[response]) } else { Reply::json(200, &response) }
}

fn part(step: &Step) -> Json {
    match step {
        Step::Tool { name, input } => json!({ "functionCall": { "name": name, "args": input } }),
        Step::Say(text) => json!({ "text": text }),
        Step::Error { .. } | Step::After(..) => unreachable!("carried out before"),
    }
}

/// How long to wait is said in the body here.
fn error(status: u16, message: &str, retry_after: Option<u32>) -> Json {
    let name = match status {
        401 => "UNAUTHENTICATED",
        429 => "RESOURCE_EXHAUSTED",
        400..500 => "INVALID_ARGUMENT",
        503 | 529 => "UNAVAILABLE",
        _ => "INTERNAL",
    };
    let retry =
        |seconds| json!([{ "@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": format!("{seconds}s") }]);
    json!({ "error": { "code": status, "message": message, "status": name, "details": retry_after.map(retry) } })
}
