//! Fields that Interlock knows itself, filled in where an agent left them out.
//!
//! An agent that holds an assignment need not repeat its role, the time or its folder. Only fields that are absent or
//! `null` are filled in. Values that an agent gives stay as they are, and are checked.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value as Json};

use crate::handoff::{ExtractedHandoff, skills_of_task};
use crate::id::{Name, Timestamp};
use crate::workflow::{AssignmentTask, Workflow};

/// The values that were filled in, by the dotted path of their field.
pub type FilledFields = BTreeMap<Name, Json>;

/// The fields of an assignment that Interlock knows.
#[derive(Clone, Copy, Debug)]
pub struct KnownFields<'a> {
    pub role: &'a str,
    pub phase: Option<&'a str>,
    pub task: AssignmentTask,
    pub now: Timestamp,
    /// The folder of the session's outputs.
    pub directory: &'a str,
}

/// Fields of the top level that can be filled in. The schema for assignments leaves them optional.
pub(super) const FILLED: [&str; 6] =
    ["agent", "output_type", "timestamp", "feature_directory", "skills_invoked", "phase"];

const NEXT_AGENT: &str = "handoff.next_agent";

impl ExtractedHandoff {
    /// The same block with the fields that Interlock knows. The digest stays that of what was submitted.
    #[must_use]
    pub fn fill_in(&self, workflow: &Workflow, known: &KnownFields<'_>) -> Self {
        let mut filled = self.clone();
        let Json::Object(given) = &*self.json else { return filled };
        let mut whole = given.clone();
        for (field, value) in known.values(workflow) {
            if is_absent(&whole, field) {
                filled.filled_in.insert(Name::new(field), value.clone());
                whole.insert(field.to_owned(), value);
            }
        }
        if let Some(Json::Object(handoff)) = whole.get_mut("handoff")
            && !handoff.contains_key("next_agent")
        {
            handoff.insert("next_agent".to_owned(), Json::Null);
            filled.filled_in.insert(Name::new(NEXT_AGENT), Json::Null);
        }
        filled.json = Arc::new(Json::Object(whole));
        filled
    }
}

impl KnownFields<'_> {
    fn values(&self, workflow: &Workflow) -> Vec<(&'static str, Json)> {
        let phase = self.phase.and_then(|name| workflow.phase_named(name)).map(|ix| workflow.phase(ix));
        let kind = phase.map_or("report", |phase| phase.called.as_str());
        let mut values = vec![
            ("agent", Json::from(self.role)),
            ("output_type", Json::from(kind)),
            ("feature_directory", Json::from(self.directory)),
        ];
        if let Ok(now) = jiff::Timestamp::from_millisecond(self.now.0) {
            values.push(("timestamp", Json::from(now.to_string())));
        }
        if let Some(phase) = phase {
            values.push(("phase", Json::from(phase.called.as_str())));
        }
        // Only the agent knows which skills it used, so it must say so where some are mandatory.
        if skills_of_task(workflow, self.role, self.phase, self.task).is_empty() {
            values.push(("skills_invoked", Json::Array(Vec::new())));
        }
        values
    }
}

fn is_absent(whole: &Map<String, Json>, field: &str) -> bool {
    whole.get(field).is_none_or(Json::is_null)
}
