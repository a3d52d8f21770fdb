//! Arguments of the tools, as a model sends them.

use std::collections::BTreeMap;
use std::sync::Arc;

use interlock_core::code::Code;
use interlock_core::handoff;
use interlock_core::id::Digest;
use rmcp::model::JsonObject;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value as Json;

use interlock_app::error::{CommandError, CommandExit};
use interlock_engine::SubmittedHandoff;

/// Reads them strictly: an argument that no tool has is most likely an attempt to do what the tool does not.
pub(super) fn read<T: DeserializeOwned>(arguments: JsonObject) -> Result<T, CommandError> {
    serde_json::from_value(Json::Object(arguments)).map_err(|error| {
        let message = format!("the arguments are not those of this tool: {error}");
        CommandError::new(CommandExit::Usage, Code::BadArgument, message)
            .help("the input schema of the tool has them all")
    })
}

/// An id that cannot be one.
pub(super) fn bad_id(given: &str, how: &str) -> CommandError {
    CommandError::new(CommandExit::Usage, Code::BadArgument, format!("`{given}` is no such id: {how}"))
        .help("whats_next has the ids that are open now")
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StartArguments {
    pub(super) title: String,
    pub(super) mission: Option<String>,
    pub(super) workflow: Option<String>,
    #[serde(default)]
    pub(super) settings: BTreeMap<String, String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SessionArguments {
    pub(super) session: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ClaimArguments {
    pub(super) assignment: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ReportArguments {
    pub(super) assignment: String,
    pub(super) token: String,
    pub(super) handoff: HandoffArgument,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct HandOffArguments {
    pub(super) handoff: HandoffArgument,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CheckArguments {
    pub(super) assignment: Option<String>,
    pub(super) role: Option<String>,
    pub(super) workflow: Option<String>,
    pub(super) phase: Option<String>,
    pub(super) handoff: HandoffArgument,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AskArguments {
    pub(super) question: Option<String>,
    pub(super) session: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ExplainArguments {
    pub(super) decision: String,
}

/// The block itself, or everything that the agent wrote.
#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum HandoffArgument {
    Text(String),
    Object(JsonObject),
}

impl HandoffArgument {
    /// The same as if it had come in a file.
    pub(super) fn bytes(&self) -> Vec<u8> {
        match self {
            HandoffArgument::Text(text) => text.clone().into_bytes(),
            HandoffArgument::Object(object) => serde_json::to_vec_pretty(object).unwrap_or_default(),
        }
    }

    pub(super) fn given(&self) -> SubmittedHandoff {
        let bytes = self.bytes();
        SubmittedHandoff { digest: Digest::of(&bytes), extracted: handoff::extract("handoff", &bytes).map(Arc::new) }
    }
}
