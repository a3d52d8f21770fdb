//! Classifies the errors of clients, so that the caller can decide whether to try again.
//!
//! Codes come first. The text is read only if a client sends no code. The phrases are those of the services behind the
//! clients, and of the libraries that the clients reach them with.

use std::time::Duration;

use super::{AgentFailure, AgentFailureKind};

/// A longer wait is most likely a misreading, so it is cut to this.
const LONGEST: Duration = Duration::from_secs(31 * 24 * 60 * 60);

/// No credit or no permission. Some services send these with the code of a rate limit, so they are checked first.
const SETUP: [&str; 34] = [
    "insufficient_quota",
    "credit balance is too low",
    "insufficient credit",
    "insufficient balance",
    "billing_error",
    "billing_hard_limit",
    "payment required",
    "check your plan and billing",
    "invalid api key",
    "invalid x-api-key",
    "incorrect api key",
    "api key not valid",
    "api_key_invalid",
    "missing api key",
    "api key is missing",
    "no api key",
    "authentication_error",
    "authentication_failed",
    "authentication required",
    "unauthorized",
    "unauthenticated",
    "permission_error",
    "please run /login",
    "not logged in",
    "oauth token has expired",
    "please set an auth method",
    "environment variable and try again",
    "missing environment variable",
    "model_not_found",
    "model not found",
    "unknown model",
    "is not found for api version",
    "issue with the selected model",
    "does not exist or you do not have access",
];

/// A conversation to go on with that the client does not have.
const FORGOTTEN: [&str; 4] = [
    "no conversation found with session id",
    "no rollout found for thread id",
    "error resuming session",
    "no previous sessions found",
];

const PASSING: [&str; 40] = [
    "rate limit",
    "rate_limit",
    "rate-limit",
    "too many requests",
    "usage limit",
    "limit reached",
    "quota",
    "overloaded",
    "resource_exhausted",
    "resource exhausted",
    "at capacity",
    "no capacity",
    "capacity available",
    "service unavailable",
    "service_unavailable",
    "temporarily unavailable",
    "server_error",
    "internal server error",
    "bad gateway",
    "gateway timeout",
    "request timed out",
    "deadline exceeded",
    "stream disconnected",
    "error sending request",
    "connection error",
    "connection reset",
    "connection refused",
    "connection closed",
    "unable to connect",
    "network error",
    "fetch failed",
    "socket hang up",
    "econnreset",
    "econnrefused",
    "etimedout",
    "enotfound",
    "eai_again",
    "epipe",
    "dns error",
    "premature close",
];

/// Trouble of which the service's status is known.
pub(super) fn from_status(status: u64, message: &str) -> AgentFailure {
    let said = from_words(message);
    let kind = match said.kind {
        // Some services report missing credit as status 429.
        AgentFailureKind::Setup => AgentFailureKind::Setup,
        said => of_status(status).unwrap_or(said),
    };
    AgentFailure { kind, ..said }
}

/// Trouble of which there are only words.
pub(super) fn from_words(message: &str) -> AgentFailure {
    let retry_after = wait(message);
    AgentFailure { kind: kind(message, retry_after), message: message.trim().to_owned(), retry_after }
}

/// A failure of the agent itself.
pub(super) fn failed(message: impl Into<String>) -> AgentFailure {
    AgentFailure { kind: AgentFailureKind::Failed, message: message.into(), retry_after: None }
}

pub(super) fn setup(message: impl Into<String>) -> AgentFailure {
    AgentFailure { kind: AgentFailureKind::Setup, message: message.into(), retry_after: None }
}

/// The conversation to go on with is not there.
pub(super) fn forgotten(message: impl Into<String>) -> AgentFailure {
    AgentFailure { kind: AgentFailureKind::Forgotten, message: message.into(), retry_after: None }
}

pub(super) fn is_forgotten(message: &str) -> bool {
    let words = message.to_lowercase();
    FORGOTTEN.iter().any(|known| words.contains(known))
}

fn kind(message: &str, retry_after: Option<Duration>) -> AgentFailureKind {
    let words = message.to_lowercase();
    let any = |list: &[&str]| list.iter().any(|known| words.contains(known));
    if retry_after.is_some() {
        return AgentFailureKind::Passing;
    }
    if is_forgotten(message) {
        return AgentFailureKind::Forgotten;
    }
    if any(&SETUP) {
        return AgentFailureKind::Setup;
    }
    if any(&PASSING) {
        return AgentFailureKind::Passing;
    }
    status_in(&words).and_then(of_status).unwrap_or(AgentFailureKind::Failed)
}

fn of_status(status: u64) -> Option<AgentFailureKind> {
    match status {
        401..=404 => Some(AgentFailureKind::Setup),
        408 | 425 | 429 | 500..=599 => Some(AgentFailureKind::Passing),
        _ => None,
    }
}

/// A status of HTTP in a sentence: `API Error: 529 …`, `last status: 429`, `"code": 503`.
fn status_in(words: &str) -> Option<u64> {
    ["status", "error", "code"].iter().find_map(|word| {
        words.match_indices(word).find_map(|(start, _)| {
            let rest = words.get(start..)?.get(word.len()..)?;
            let rest = rest.strip_prefix("_code").or_else(|| rest.strip_prefix(" code")).unwrap_or(rest);
            let rest = rest.trim_start_matches(['"', ':', '=', ' ', '[', '(']);
            let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
            if digits == 3 { rest.get(..3)?.parse().ok() } else { None }
        })
    })
}

/// How long to wait, where a message says: `try again in 6m0s`, `retryDelay":"32s"`, `retry after 5 minutes`.
pub(super) fn wait(message: &str) -> Option<Duration> {
    const BEFORE: [&str; 7] =
        ["try again in", "retry in", "retry after", "retry-after", "retry_after", "retrydelay", "resets in"];
    let words = message.to_lowercase();
    BEFORE.iter().find_map(|before| {
        let (_, rest) = words.split_once(before)?;
        length(rest.trim_start_matches(['"', ':', '=', ' ']))
    })
}

/// A length of time at the beginning of a text: numbers, each with a unit; seconds if it has none.
fn length(mut text: &str) -> Option<Duration> {
    let mut total = None;
    while let Some((seconds, rest)) = part(text) {
        total = Some(total.unwrap_or(0.0) + seconds);
        text = rest;
    }
    Duration::try_from_secs_f64(total?).ok().map(|length| length.min(LONGEST))
}

fn part(text: &str) -> Option<(f64, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let number: f64 = text.get(..end)?.trim_end_matches('.').parse().ok()?;
    let rest = text.get(end..)?.trim_start();
    let letters = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
    let unit = match rest.get(..letters)? {
        "ms" | "millisecond" | "milliseconds" => 0.001,
        "m" | "min" | "mins" | "minute" | "minutes" => 60.0,
        "h" | "hour" | "hours" => 3600.0,
        "d" | "day" | "days" => 86400.0,
        _ => 1.0,
    };
    Some((number * unit, rest.get(letters..)?.trim_start_matches([' ', ','])))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_the_services_are_known() {
        use AgentFailureKind::{Failed, Forgotten, Passing, Setup};
        for (message, expected) in [
            ("API Error: 529 {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\"}}", Passing),
            ("exceeded retry limit, last status: 429 Too Many Requests", Passing),
            ("You exceeded your current quota, please check your plan and billing details.", Setup),
            ("You exceeded your current quota, please check your plan and billing. Please retry in 32.5s.", Passing),
            ("You've hit your usage limit.", Passing),
            ("unexpected status 401 : nope", Setup),
            ("unexpected status 503", Passing),
            ("Credit balance is too low", Setup),
            ("Invalid API key · Please run /login", Setup),
            ("request to http://127.0.0.1:1 failed, reason: connect ECONNREFUSED", Passing),
            ("No conversation found with session ID: 5d6f1c7e", Forgotten),
            ("Error: thread/resume: thread/resume failed: no rollout found for thread id 5d6f1c7e", Forgotten),
            ("Error resuming session: Invalid session identifier", Forgotten),
            ("the model gave up", Failed),
            ("error 12345", Failed),
            ("status", Failed),
            ("", Failed),
        ] {
            assert_eq!(from_words(message).kind, expected, "{message}");
        }
    }

    #[test]
    fn a_status_is_believed_before_words_but_for_credit() {
        assert_eq!(from_status(429, "slow down").kind, AgentFailureKind::Passing);
        assert_eq!(from_status(429, "insufficient_quota").kind, AgentFailureKind::Setup);
        assert_eq!(from_status(401, "rate limit").kind, AgentFailureKind::Setup);
        assert_eq!(from_status(400, "what is this").kind, AgentFailureKind::Failed);
    }

    #[test]
    fn lengths_of_time_are_read() {
        for (message, seconds) in [
            ("Please try again in 11.054s.", Some(11.054)),
            ("try again in 6m0s", Some(360.0)),
            ("Try again in 2 days 3 hours 4 minutes.", Some(183_840.0)),
            ("\"retryDelay\": \"32s\"", Some(32.0)),
            ("retry-after: 30", Some(30.0)),
            ("retry after 500ms", Some(0.5)),
            ("retry after lunch", None),
            ("retry in 99999999999999999999999999999999s", None),
            ("retry in 9999999999s", Some(2_678_400.0)),
            ("retry in ...", None),
        ] {
            assert_eq!(wait(message).map(|wait| wait.as_secs_f64()), seconds, "{message}");
        }
    }
}
