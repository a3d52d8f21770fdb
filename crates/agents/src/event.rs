//! Events of clients: JSON from another program, so no field can be relied on.

use serde_json::Value as Json;

/// A line as JSON. What is none, or is nested too deeply for serde_json, is no event. Bytes that are not UTF-8 cost the
/// character, not the event.
pub(super) fn parse(line: &[u8]) -> Option<Json> {
    let start = line.iter().position(|byte| !byte.is_ascii_whitespace())?;
    if line.get(start) != Some(&b'{') {
        return None;
    }
    match std::str::from_utf8(line) {
        Ok(text) => serde_json::from_str(text).ok(),
        Err(_) => serde_json::from_str(&String::from_utf8_lossy(line)).ok(),
    }
}

/// Text at a path of keys.
pub(super) fn text<'a>(event: &'a Json, path: &[&str]) -> Option<&'a str> {
    at(event, path)?.as_str()
}

/// A number of things: whole, and never less than none.
pub(super) fn count(event: &Json, path: &[&str]) -> u64 {
    at(event, path).and_then(number).unwrap_or(0)
}

/// An amount of money.
pub(super) fn amount(event: &Json, path: &[&str]) -> Option<f64> {
    at(event, path)?.as_f64().filter(|amount| amount.is_finite() && *amount >= 0.0)
}

pub(super) fn at<'a>(event: &'a Json, path: &[&str]) -> Option<&'a Json> {
    path.iter().try_fold(event, |value, key| value.get(key)).filter(|value| !value.is_null())
}

pub(super) fn list<'a>(event: &'a Json, path: &[&str]) -> &'a [Json] {
    at(event, path).and_then(Json::as_array).map_or(&[], Vec::as_slice)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a cast from f64 saturates")]
fn number(value: &Json) -> Option<u64> {
    value.as_u64().or_else(|| value.as_f64().map(|number| number as u64))
}

/// The subject of a tool use: the most telling field of its arguments.
pub(super) fn subject(input: &Json) -> String {
    const TELLING: [&str; 12] = [
        "command",
        "file_path",
        "absolute_path",
        "notebook_path",
        "path",
        "dir_path",
        "pattern",
        "query",
        "url",
        "description",
        "skill",
        "prompt",
    ];
    let telling = TELLING.iter().find_map(|key| text(input, &[key]));
    telling.map_or_else(|| whole(input), str::to_owned)
}

fn whole(input: &Json) -> String {
    match input {
        Json::Null => String::new(),
        Json::Object(fields) if fields.is_empty() => String::new(),
        Json::String(text) => text.clone(),
        other => other.to_string(),
    }
}
