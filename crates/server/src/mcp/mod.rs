//! MCP for a model that is the orchestrator of a session: over stdin and stdout, or behind `server::http`. For an agent that a
//! run has started there is a small server of its own (`agent`).
//!
//! Every call goes through the engine, as every command does: what the workflow does not allow is refused there, and
//! this module only says so in words that a model can act on. Over stdin and stdout nothing but the protocol is printed.
//! The store is looked for at each call, so that a server that was started before `interlock init` is of use after it.

mod agent;
mod arguments;
mod assignment;
mod elicitation;
mod explain;
mod handoff;
mod next_steps;
mod prompts;
mod resources;
mod session;
mod tool_reply;
mod tools;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use interlock_core::code::Code;
use interlock_core::id::Name;
use interlock_core::provenance::Channel;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ErrorData, GetPromptRequestParams, GetPromptResponse,
    Implementation, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
    PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities, ServerConfig,
};
use rmcp::service::{RequestContext, RoleServer, ServerInitializeError};
use rmcp::{ServerHandler, ServiceExt as _};
use tokio::runtime::Builder;
use tokio::task;

use interlock_app::context::AppContext;
use interlock_app::error::CommandResult;
use interlock_app::error::{CommandError, CommandExit};
use tool_reply::refused;

/// How long a request under way may take to be stored after the client has gone.
const LAST_ORDERS: Duration = Duration::from_secs(10);

/// For a model that reads it before anything else.
const INSTRUCTIONS: &str = "Interlock decides what happens next in this team; you carry it out. Ask whats_next, claim \
an assignment, have an agent of that role do it with the prompt you get, and pass the JSON block at the end of its last \
message unchanged to report_handoff; then do what the decision says. Never do a role's work or write its handoff yourself, and never skip \
one. What is not allowed is refused, with what is. Questions are for a person: ask_person puts them to one.";

/// Serves a client whose model orchestrates, until it closes stdin.
pub fn serve(place: &AppContext) -> CommandResult {
    on_stdio(OrchestratorServer::new(place))
}

/// Serves the client of an agent that hands off into this folder.
pub fn serve_agent(folder: &Path) -> CommandResult {
    on_stdio(agent::AgentServer::new(folder)?)
}

fn on_stdio(server: impl ServerHandler) -> CommandResult {
    let broken = |error: &dyn std::fmt::Display| {
        CommandError::new(CommandExit::Unavailable, Code::OutputFailed, error.to_string())
    };
    let runtime = Builder::new_current_thread().enable_all().build().map_err(|error| broken(&error))?;
    let ended = runtime.block_on(async {
        let running = match server.serve(rmcp::transport::stdio()).await {
            Ok(running) => running,
            Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(CommandExit::Done),
            Err(error) => return Err(broken(&error)),
        };
        running.waiting().await.map(|_| CommandExit::Done).map_err(|error| broken(&error))
    });
    runtime.shutdown_timeout(LAST_ORDERS);
    ended
}

/// The MCP server that answers a client. Clones share the pending questions, because an answer may reach another clone.
#[derive(Clone)]
pub struct OrchestratorServer {
    place: AppContext,
    /// Questions that were put to a person by way of the client, and are not answered yet.
    asked: Arc<elicitation::PendingElicitations>,
}

impl OrchestratorServer {
    pub fn new(place: &AppContext) -> Self {
        Self { place: place.clone(), asked: Arc::default() }
    }

    /// Does what the engine takes its time for, beside the conversation; a panic in it is a bug, and ends one call only.
    async fn run_blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&AppContext) -> Result<T, CommandError> + Send + 'static,
    ) -> Result<T, CommandError> {
        let place = self.place.clone();
        let done = task::spawn_blocking(move || work(&place)).await;
        done.unwrap_or_else(|_| Err(CommandError::new(CommandExit::Bug, Code::Bug, "a fault in Interlock itself")))
    }

    /// Runs a call of a model. The log records the client as its channel.
    async fn carry_out(&self, order: tools::EngineCall, client: &str) -> CallToolResult {
        let session = order.session();
        let via = Channel::Mcp(Name::new(client));
        match self.run_blocking(move |place| order.run(&place.via(via))).await {
            Ok(told) => told.result(),
            Err(failure) => self.refuse(failure, session).await,
        }
    }

    /// A refusal says what is allowed instead, even where the engine had no list of it.
    async fn refuse(&self, failure: CommandError, session: Option<String>) -> CallToolResult {
        let steps =
            self.run_blocking(move |place| Ok(session.and_then(|session| next_steps::of(place, &session).ok())));
        let steps = steps.await.ok().flatten().unwrap_or_default();
        refused(&failure, &steps)
    }
}

impl ServerHandler for OrchestratorServer {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_prompts().enable_resources().enable_tools().build();
        let itself = Implementation::new("interlock", env!("CARGO_PKG_VERSION")).with_title("Interlock");
        ServerConfig::new(capabilities).with_server_info(itself).with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(tools::all()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if !tools::known(&request.name) {
            return Err(ErrorData::invalid_params(format!("there is no tool `{}`", request.name), None));
        }
        match tools::ToolCall::read(&request.name, request.arguments.clone().unwrap_or_default()) {
            Err(failure) => Ok(self.refuse(failure, None).await.into()),
            Ok(tools::ToolCall::AskPerson(ask)) => Ok(self.ask_person(ask, request, context).await),
            Ok(tools::ToolCall::Order(order)) => {
                let client = context.client_info().map(|client| client.name).unwrap_or_default();
                Ok(self.carry_out(order, &client).await.into())
            }
        }
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let listed = self.run_blocking(|place| Ok(resources::list(place))).await;
        Ok(ListResourcesResult::with_all_items(listed.unwrap_or_default()))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::with_all_items(resources::templates()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let uri = request.uri.clone();
        let read = self.run_blocking(move |place| resources::read(place, &request.uri)).await;
        read.map(Into::into).map_err(|failure| tool_reply::unread(&uri, &failure))
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let listed = self.run_blocking(prompts::list).await;
        Ok(ListPromptsResult::with_all_items(listed.unwrap_or_default()))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let prompt = self.run_blocking(move |place| prompts::get(place, &request.name)).await;
        prompt.map(Into::into).map_err(|failure| tool_reply::protocol_error(&failure))
    }
}
