//! Health check for process supervisors. It needs no token, and reveals nothing of sessions.

use axum::http::StatusCode;
use axum::response::Response;
use serde_json::json;

use super::refusal;

pub(super) async fn health() -> Response {
    let itself = json!({ "name": "interlock", "version": env!("CARGO_PKG_VERSION"), "status": "ok" });
    refusal::json(StatusCode::OK, &itself)
}
