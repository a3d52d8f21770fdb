//! The prompt of an assignment.

use interlock_core::event::Event;
use interlock_core::id::AssignmentId;
use interlock_core::state::{Assignment, State};
use interlock_core::workflow::Workflow;
use serde_json::Value as Json;

/// Everything that the holder of an assignment has to know.
pub struct Brief<'a> {
    pub state: &'a State,
    pub workflow: &'a Workflow,
    pub id: AssignmentId,
    pub assignment: &'a Assignment,
    /// The event that gave the assignment.
    pub origin: Option<&'a Event>,
    /// What was handed over in it.
    pub handoff: Option<&'a std::sync::Arc<Json>>,
    pub mission: Option<&'a str>,
    pub output_directory: &'a str,
}

impl Brief<'_> {
    pub fn text(&self) -> String {
        format!("You are {}. OUTPUT_DIRECTORY: {}", self.assignment.role, self.output_directory)
    }
}
