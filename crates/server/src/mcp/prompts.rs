//! A prompt for each role of the project's workflow: how that role works, and what it returns.
//!
//! It is general; the prompt of an assignment is what `claim_assignment` gives.

use interlock_core::workflow::{Role, Workflow};
use rmcp::model::{GetPromptResult, Prompt, PromptArgument, PromptMessage, Role as Speaker};

use crate::mcp::handoff::known_role;
use interlock_app::context::AppContext;
use interlock_app::error::CommandError;
use interlock_app::library;
use interlock_app::roles::{held, text};
use interlock_app::session_start::workflow_name;

pub(super) fn list(place: &AppContext) -> Result<Vec<Prompt>, CommandError> {
    let workflow = project(place)?;
    Ok(held(&workflow).map(|role| Prompt::new(role.name.to_string(), Some(about(&workflow, role)), none())).collect())
}

pub(super) fn get(place: &AppContext, name: &str) -> Result<GetPromptResult, CommandError> {
    let workflow = project(place)?;
    known_role(&workflow, name)?;
    let Some(role) = held(&workflow).find(|role| role.name == *name) else {
        return known_role(&workflow, "").map(|()| GetPromptResult::default());
    };
    let message = PromptMessage::new_text(Speaker::User, text(&workflow, role));
    Ok(GetPromptResult::new(vec![message]).with_description(about(&workflow, role)))
}

fn none() -> Option<Vec<PromptArgument>> {
    None
}

fn project(place: &AppContext) -> Result<Workflow, CommandError> {
    library::runnable(&workflow_name(None, place)?)
}

fn about(workflow: &Workflow, role: &Role) -> String {
    format!("How `{}` works in `{}`, and what it returns", role.name, workflow.name)
}
