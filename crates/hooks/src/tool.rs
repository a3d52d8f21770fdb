//! Tools of clients: their arguments, and the effects that these show.

use std::path::PathBuf;

use serde_json::Value as Json;

use crate::client::text;
use crate::event::{CommandRun, HookEvent};

/// The tools of Interlock's own server, by whatever name a client knows the server.
const OWN: &[&str] = &[
    "start_session",
    "whats_next",
    "claim_assignment",
    "report_handoff",
    "check_handoff",
    "ask_person",
    "explain_decision",
    "session_status",
];
/// Words in the name of a tool that changes files, and of one that runs commands.
const CHANGES: &[&str] = &[
    "append", "apply", "copy", "create", "delete", "edit", "insert", "mkdir", "move", "patch", "put", "remove",
    "rename", "replace", "save", "update", "write",
];
const RUNS: &[&str] = &["bash", "command", "exec", "execute", "run", "shell", "terminal"];
/// Parts of names of fields that hold paths.
const PATHS: &[&str] = &["path", "file", "dir", "folder", "uri", "target", "source", "destination", "root"];
/// Names of fields that hold a command.
const COMMANDS: &[&str] = &["command", "cmd", "script", "code"];

/// The paths in these fields, each a text or a list of texts.
pub(super) fn paths(input: &Json, names: &[&str]) -> Vec<PathBuf> {
    names.iter().flat_map(|name| texts(&input[*name])).map(PathBuf::from).collect()
}

/// A tool that changes the files that these fields name.
pub(super) fn edits(tool: &str, input: &Json, names: &[&str]) -> HookEvent {
    let paths = paths(input, names);
    if paths.is_empty() { HookEvent::Unclear(tool.to_owned()) } else { HookEvent::Edits(paths) }
}

/// A tool that runs a command, in the folder that one of these fields names.
pub(super) fn runs(tool: &str, input: &Json, folders: &[&str]) -> HookEvent {
    match command(input) {
        Some(command) => {
            let folder = folders.iter().find_map(|name| text(input, name)).map(PathBuf::from);
            HookEvent::Runs(CommandRun { command, folder, patch: Vec::new() })
        }
        None => HookEvent::Unclear(tool.to_owned()),
    }
}

/// The command that a tool is given: a line, or words.
fn command(input: &Json) -> Option<String> {
    let given = COMMANDS.iter().map(|name| &input[*name]).find(|given| !given.is_null())?;
    if let Some(words) = given.as_array() {
        let words: Option<Vec<String>> = words.iter().map(|word| word.as_str().map(quoted)).collect();
        return words.filter(|words| !words.is_empty()).map(|words| words.join(" "));
    }
    given.as_str().filter(|line| !line.is_empty()).map(str::to_owned)
}

fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// A tool of a server, ours or another's.
pub(super) fn of_server(name: &str, input: &Json) -> HookEvent {
    if OWN.contains(&name) {
        return HookEvent::Calls(name.to_owned());
    }
    let name = name.to_lowercase();
    let says = |words: &[&str]| name.split(['_', '-', '.']).any(|part| words.contains(&part));
    if says(RUNS) && command(input).is_some() {
        return runs(&name, input, &["cwd", "workdir", "directory"]);
    }
    let mut paths = Vec::new();
    named(input, &mut paths);
    match (paths.is_empty(), says(CHANGES)) {
        (true, _) => HookEvent::Other,
        (false, true) => HookEvent::Edits(paths),
        (false, false) => HookEvent::Touches(paths),
    }
}

/// Collects everything in the arguments of a tool that looks like a path.
fn named(input: &Json, paths: &mut Vec<PathBuf>) {
    match input {
        Json::Object(fields) => {
            for (name, value) in fields {
                let name = name.to_lowercase();
                if PATHS.iter().any(|part| name.contains(part)) {
                    paths.extend(texts(value).map(|text| PathBuf::from(text.strip_prefix("file://").unwrap_or(text))));
                }
                named(value, paths);
            }
        }
        Json::Array(items) => items.iter().for_each(|item| named(item, paths)),
        _ => {}
    }
}

fn texts(value: &Json) -> impl Iterator<Item = &str> {
    let one = value.as_str().into_iter();
    one.chain(value.as_array().into_iter().flatten().filter_map(Json::as_str)).filter(|text| !text.is_empty())
}
