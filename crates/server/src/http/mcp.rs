//! MCP over streamable HTTP: the transport is rmcp's; what it does without, limits and codes, is here.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::Response;
use rmcp::ServerHandler;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{
    SessionId, SessionManager as _, StreamableHttpServerConfig, StreamableHttpService,
};

use super::connections::StopNotice;
use super::refusal;

pub(super) const PATH: &str = "/mcp";
/// A handoff with everything that an agent wrote.
const LARGEST_REQUEST: usize = 16 << 20;
/// Clients need not end theirs.
const MOST_SESSIONS: usize = 256;
/// Longest time that a session may be idle. It is longer than a person takes to answer a form.
const IDLE: Duration = Duration::from_secs(4 * 60 * 60);
const SESSION: &str = "mcp-session-id";

pub(super) fn router<H: ServerHandler>(
    handler: impl Fn() -> H + Send + Sync + 'static,
    stopping: StopNotice,
) -> Router {
    let mut sessions = LocalSessionManager::default();
    sessions.session_config.keep_alive = Some(IDLE);
    let sessions = Arc::new(sessions);
    // `request_guard` has checked Host and Origin already, and knows more names.
    let config = StreamableHttpServerConfig::default()
        .with_max_request_body_bytes(LARGEST_REQUEST)
        .disable_allowed_hosts()
        .disable_allowed_origins();
    let service = StreamableHttpService::new(move || Ok(handler()), sessions.clone(), config);
    let around = McpMiddleware { sessions, stopping };
    Router::new().route_service(PATH, service).layer(from_fn_with_state(around, around_each))
}

#[derive(Clone)]
struct McpMiddleware {
    sessions: Arc<LocalSessionManager>,
    stopping: StopNotice,
}

async fn around_each(State(around): State<McpMiddleware>, request: Request, next: Next) -> Response {
    let (method, begun) = (request.method().clone(), session(request.headers()));
    let response = next.run(request).await;
    if response.status() == StatusCode::PAYLOAD_TOO_LARGE {
        return refusal::too_large(LARGEST_REQUEST);
    }
    if begun.is_none()
        && let Some(new) = session(response.headers())
        && around.sessions.sessions.read().await.len() > MOST_SESSIONS
    {
        // Only what is gone already cannot be closed.
        let _ = around.sessions.close_session(&new).await;
        return refusal::sessions_full(MOST_SESSIONS);
    }
    // The event stream of a client would never end by itself, so it is ended when the server stops.
    if method == Method::GET { response.map(|body| around.stopping.ends(body)) } else { response }
}

fn session(headers: &HeaderMap) -> Option<SessionId> {
    headers.get(SESSION).and_then(|id| id.to_str().ok()).map(SessionId::from)
}
