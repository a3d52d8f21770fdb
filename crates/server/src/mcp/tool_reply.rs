//! Replies of tools: a line with the next step, and the same facts as JSON.

use interlock_core::code::Code;
use rmcp::model::{CallToolResult, ContentBlock, ErrorData};
use serde_json::{Value as Json, json};

use crate::mcp::next_steps;
use interlock_app::error::CommandError;
use interlock_system::sanitise;

pub(super) type ToolResult = Result<ToolReply, CommandError>;

/// The result of a call.
pub(super) struct ToolReply {
    facts: Json,
    next: String,
}

impl ToolReply {
    /// The line is among the facts as well: there are clients that show one, and clients that show the other.
    pub(super) fn new(mut facts: Json, next: impl Into<String>) -> Self {
        let next = next.into();
        facts["do_next"] = json!(next);
        Self { facts, next }
    }

    pub(super) fn result(self) -> CallToolResult {
        let mut result = CallToolResult::structured(self.facts);
        // Clients from before structured results read it as text.
        result.content.insert(0, ContentBlock::text(self.next));
        result
    }
}

/// A refusal, with what is allowed instead.
pub(super) fn refused(failure: &CommandError, steps: &[String]) -> CallToolResult {
    let mut error = failure.json()["error"].take();
    // Which assignments there are, the steps say better: with what can be done with them.
    let lists_ids = error["code"] == json!(Code::NoAssignment);
    if !steps.is_empty() && (lists_ids || error.get("allowed").is_none()) {
        error["allowed"] = json!(steps);
    }
    let line = line(&error);
    if !steps.is_empty() {
        error["do_next"] = json!(next_steps::sentence(steps));
    }
    let mut result = CallToolResult::structured_error(error);
    result.content.insert(0, ContentBlock::text(line));
    result
}

/// The error and its help as one line.
fn line(error: &Json) -> String {
    let word = |name: &str| error[name].as_str().unwrap_or_default().to_owned();
    let mut line = format!("Refused ({}): {}.", word("code"), word("message"));
    let count = error["problems"].as_array().map_or(0, Vec::len);
    if count > 1 {
        line.push_str(&format!(" {count} problems in all, listed below."));
    }
    if let Some(help) = error["help"].as_str() {
        line.push_str(&format!(" Help: {help}."));
    }
    let allowed: Vec<&str> = error["allowed"].as_array().into_iter().flatten().filter_map(Json::as_str).collect();
    if !allowed.is_empty() {
        line.push_str(&format!(" Allowed now: {}.", allowed.join("; ")));
    }
    // Messages quote what agents wrote, and this stays one line.
    sanitise::line(&line).into_owned()
}

/// Where the protocol has no room for a refusal: what is not there, or cannot be read.
pub(super) fn protocol_error(failure: &CommandError) -> ErrorData {
    let mut error = failure.json()["error"].take();
    let message = error["message"].as_str().unwrap_or_default().to_owned();
    let missing = [Code::NoSession, Code::UnknownWorkflow, Code::NoRole, Code::BadArgument].map(|code| json!(code));
    match missing.contains(&error["code"]) {
        true => ErrorData::resource_not_found(message, Some(error.take())),
        false => ErrorData::internal_error(message, Some(error.take())),
    }
}

/// The same error for a resource. It names the resource.
pub(super) fn unread(uri: &str, failure: &CommandError) -> ErrorData {
    let mut error = protocol_error(failure);
    if let Some(data) = &mut error.data {
        data["uri"] = json!(uri);
    }
    error
}
