//! What is served under which path.

use std::net::SocketAddr;

use axum::Router;
use axum::http::Uri;
use axum::middleware::from_fn_with_state;
use axum::routing::get;
use rmcp::ServerHandler;

use super::connections::Stopping;
use super::door::{self, Keeper};
use super::{Door, health, mcp, refusal};

/// Layers run from the last to the first: nothing is looked at before it is known to be meant for this server.
pub(super) fn router<H: ServerHandler>(
    door: &Door,
    address: SocketAddr,
    handler: impl Fn() -> H + Send + Sync + 'static,
    stopping: Stopping,
) -> Router {
    let keeper = Keeper::new(door, address);
    let with_token =
        Router::new().merge(mcp::router(handler, stopping)).layer(from_fn_with_state(keeper.clone(), door::with_token));
    Router::new()
        .route("/health", get(health::health).fallback(async |uri: Uri| refusal::only_get(uri.path())))
        .merge(with_token)
        .fallback(async |uri: Uri| refusal::no_such_path(uri.path()))
        .layer(from_fn_with_state(keeper, door::meant_for_us))
}
