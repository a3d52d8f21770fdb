//! The paths of the server.

use std::net::SocketAddr;

use axum::Router;
use axum::http::Uri;
use axum::middleware::from_fn_with_state;
use axum::routing::get;
use rmcp::ServerHandler;

use super::connections::StopNotice;
use super::request_guard::{self, RequestGuard};
use super::{ServerAccess, health, mcp, refusal};

/// Layers run from the last to the first: nothing is looked at before it is known to be meant for this server.
pub(super) fn router<H: ServerHandler>(
    door: &ServerAccess,
    address: SocketAddr,
    handler: impl Fn() -> H + Send + Sync + 'static,
    stopping: StopNotice,
) -> Router {
    let keeper = RequestGuard::new(door, address);
    let with_token = Router::new()
        .merge(mcp::router(handler, stopping))
        .layer(from_fn_with_state(keeper.clone(), request_guard::with_token));
    Router::new()
        .route("/health", get(health::health).fallback(async |uri: Uri| refusal::only_get(uri.path())))
        .merge(with_token)
        .fallback(async |uri: Uri| refusal::no_such_path(uri.path()))
        .layer(from_fn_with_state(keeper, request_guard::meant_for_us))
}
