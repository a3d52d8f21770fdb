//! Answers to refused requests: they have a reason and a code, as errors of commands do.

use axum::body::Body;
use axum::http::header::{ALLOW, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::Response;
use interlock_core::code::Code;

use interlock_app::error::{CommandError, CommandExit};

/// The same JSON that a command prints with `--json`.
pub(super) fn refusal(status: StatusCode, failure: &CommandError) -> Response {
    json(status, &failure.json())
}

pub(super) fn json(status: StatusCode, document: &serde_json::Value) -> Response {
    let mut response = Response::new(Body::from(format!("{document}\n")));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

fn refused(status: StatusCode, code: Code, message: impl Into<String>, help: impl Into<String>) -> Response {
    refusal(status, &CommandError::new(CommandExit::Refused, code, message).help(help))
}

fn with(mut response: Response, name: HeaderName, value: &'static str) -> Response {
    response.headers_mut().insert(name, HeaderValue::from_static(value));
    response
}

pub(super) fn no_token(headers: &HeaderMap) -> Response {
    let message = match headers.contains_key(axum::http::header::AUTHORIZATION) {
        true => "the token is not the one of this server",
        false => "the request has no token",
    };
    let help = "send the header `Authorization: Bearer TOKEN`; `interlock serve` says which file has the token";
    with(refused(StatusCode::UNAUTHORIZED, Code::Unauthenticated, message, help), WWW_AUTHENTICATE, "Bearer")
}

pub(super) fn foreign_host(host: Option<&str>) -> Response {
    let message = match host {
        Some(host) => format!("the request was meant for `{host}`, which is no name of this server"),
        None => "the request does not say which host it is meant for".to_owned(),
    };
    let help = "call it as localhost or by the address that it listens on; `interlock serve --host NAME` adds a name";
    refused(StatusCode::FORBIDDEN, Code::ForeignHost, message, help)
}

pub(super) fn foreign_origin(origin: &str) -> Response {
    let message = format!("the request comes from a page of `{origin}`, which is not this server");
    let help = "pages of other servers cannot use this one; programs send no Origin";
    refused(StatusCode::FORBIDDEN, Code::ForeignOrigin, message, help)
}

pub(super) fn too_large(limit: usize) -> Response {
    let message = format!("the request is larger than {} MiB", limit >> 20);
    let help = "submit the handoff alone, without everything else that the agent printed";
    refused(StatusCode::PAYLOAD_TOO_LARGE, Code::RequestTooLarge, message, help)
}

pub(super) fn sessions_full(most: usize) -> Response {
    let message = format!("{most} MCP sessions are open, and this server keeps no more");
    let help =
        "end sessions that nobody uses (DELETE), or wait: sessions end by themselves after hours without a request";
    with(refused(StatusCode::SERVICE_UNAVAILABLE, Code::SessionsFull, message, help), RETRY_AFTER, "60")
}

pub(super) fn no_such_path(path: &str) -> Response {
    let message = format!("nothing is served under `{path}`");
    refused(
        StatusCode::NOT_FOUND,
        Code::NoSuchPath,
        message,
        "MCP is served under /mcp, and /health says that it is up",
    )
}

pub(super) fn only_get(path: &str) -> Response {
    let message = format!("`{path}` can only be asked for with GET");
    with(refused(StatusCode::METHOD_NOT_ALLOWED, Code::NoSuchPath, message, "ask with GET"), ALLOW, "GET")
}
