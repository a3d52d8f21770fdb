//! Why a decision was made, or what an event of the log was.

use crate::mcp::arguments::{ExplainArguments, bad_id};
use crate::mcp::tool_reply::{ToolReply, ToolResult};
use interlock_app::context::AppContext;
use interlock_app::explain::{self, ExplainSubject};

pub(super) fn explain(explain: &ExplainArguments, place: &AppContext) -> ToolResult {
    let subject = ExplainSubject::parse(&explain.decision).map_err(|how| bad_id(&explain.decision, &how))?;
    let (facts, _) = explain::explain_subject(place, &subject)?;
    let session = subject.session();
    let next = match facts["rule"].as_str() {
        Some(rule) => format!("Rule `{rule}` decided it, and it stands: go on with whats_next {session}."),
        None => format!("This event led to no decision: go on with whats_next {session}."),
    };
    Ok(ToolReply::new(facts, next))
}
