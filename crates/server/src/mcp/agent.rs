//! MCP for an agent that a run has started: one tool, with which it hands off.
//!
//! It takes no key and no token. What it takes lies in the agent's own folder until the agent has ended, and the run gives it in.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use interlock_core::code::Code;
use rmcp::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ErrorData, Implementation, ListToolsResult, PaginatedRequestParams,
    ServerCapabilities, ServerConfig,
};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::json;

use crate::mcp::arguments::{self, HandOffArguments};
use crate::mcp::tool_reply::{ToolReply, ToolResult, refused};
use crate::mcp::tools;
use interlock_agents::HandoffServer;
use interlock_app::contract::HandoffContract;
use interlock_app::error::{CommandError, CommandExit, SourceTexts};
use interlock_app::handoff_check::document;
use interlock_prompt::handoff_files;

#[derive(Clone)]
pub(super) struct AgentServer {
    folder: PathBuf,
    contract: Arc<HandoffContract>,
}

impl AgentServer {
    pub(super) fn new(folder: &Path) -> Result<Self, CommandError> {
        let contract = HandoffContract::read(folder).map_err(|error| {
            let message = format!("{} is not the output folder of an agent: {error}", folder.display());
            CommandError::new(CommandExit::Invalid, Code::BadArgument, message)
                .help("`interlock run` says it to the clients it starts")
        })?;
        Ok(Self { folder: folder.to_owned(), contract: Arc::new(contract) })
    }

    fn hand_off(&self, HandOffArguments { handoff }: &HandOffArguments) -> ToolResult {
        let bytes = handoff.bytes();
        let checked = self.contract.check(&bytes);
        if !checked.is_valid() {
            return Err(CommandError::invalid(checked.problems, SourceTexts::default()));
        }
        handoff_files::write_handoff(&self.folder, &bytes).map_err(|error| {
            let message = format!("the handoff cannot be written: {error}");
            CommandError::new(CommandExit::Unavailable, Code::OutputFailed, message)
                .help("let your last message be the JSON object alone")
        })?;
        let document = document(&checked, None);
        let facts = json!({ "taken": true, "status": document["status"], "warnings": document["warnings"] });
        Ok(ToolReply::new(facts, "It is submitted when you end. End your turn now."))
    }
}

impl ServerHandler for AgentServer {
    fn get_info(&self) -> ServerConfig {
        let itself = Implementation::new("interlock", env!("CARGO_PKG_VERSION")).with_title("Interlock");
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(itself)
            .with_instructions("When your assignment is done or blocked, submit its handoff with hand_off, and end.")
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(vec![tools::hand_off(&self.contract.statuses())]))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if request.name != HandoffServer::NAME {
            return Err(ErrorData::invalid_params(format!("there is no tool `{}`", request.name), None));
        }
        let outcome = arguments::read(request.arguments.unwrap_or_default()).and_then(|given| self.hand_off(&given));
        Ok(match outcome {
            Ok(told) => told.result(),
            Err(failure) => refused(&failure, &[]),
        }
        .into())
    }
}
