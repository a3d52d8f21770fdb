//! Claiming an assignment.

use interlock_core::code::Code;
use serde_json::json;

use crate::mcp::arguments::{ClaimArguments, bad_id};
use crate::mcp::tool_reply::{ToolReply, ToolResult};
use interlock_app::context::AppContext;
use interlock_app::error::{CommandError, CommandExit};
use interlock_engine::{AssignmentRef, Operation, Request};
use interlock_prompt::handoff_files;
use interlock_system::clock::rfc3339;

/// Same as `interlock claim`: the caller gets the token. If hooks claim, a model never sees a token.
pub(super) fn claim(claim: &ClaimArguments, place: &AppContext) -> ToolResult {
    let reference = AssignmentRef::parse(&claim.assignment).map_err(|how| bad_id(&claim.assignment, &how))?;
    let AssignmentRef { session, id } = &reference;
    let mut engine = place.engine()?;
    let done = engine.execute(&Request { session: session.clone(), task: Operation::Claim { assignment: *id } })?;
    let Some(claimed) = done.claimed else {
        return Err(CommandError::new(CommandExit::Bug, Code::Bug, "a claim came back without its token"));
    };
    let directory = engine.output_directory(session, *id, claimed.attempt);
    handoff_files::make(&directory, &claimed.whole).map_err(|error| CommandError::output(&directory, &error))?;
    let facts = json!({
        "assignment": reference.to_string(),
        "role": claimed.role,
        "group": done.group,
        "attempt": claimed.attempt,
        "token": claimed.token.reveal(),
        "prompt": claimed.prompt,
        "output_directory": directory.display().to_string(),
        "deadline": claimed.deadline.map(rfc3339),
    });
    let next = format!(
        "Start one agent as {} with `prompt`. Its last message ends with its handoff, a JSON block: pass that unchanged to \
         report_handoff {reference} with this token.",
        claimed.role
    );
    Ok(ToolReply::new(facts, next))
}
