//! Placeholders in command lines: `{role}` stands for the role, `{{role}}` for the word in braces.
//!
//! They are filled in inside single arguments, in one pass, so that nothing of what is filled in is looked at again.

use std::ffi::OsString;

use super::{AgentJob, AgentSetup};

const KNOWN: [&str; 6] = ["prompt", "role", "group", "output", "assignment", "attempt"];

enum PlaceholderPart<'a> {
    Text(&'a str),
    Hole(&'a str),
}

/// A whole command line without its program, filled in.
pub(super) fn fill(command: &[String], job: &AgentJob<'_>) -> Vec<OsString> {
    command.iter().skip(1).map(|argument| filled(argument, job)).collect()
}

pub(super) fn uses_prompt(command: &[String]) -> bool {
    holes(command).any(|hole| hole == "prompt")
}

/// Sentences on a command line that cannot be meant.
pub(super) fn check(setup: &AgentSetup) -> Vec<String> {
    let mut problems = Vec::new();
    match setup.command.first() {
        None => problems.push("`command` is empty: say the program and its arguments, as a list".to_owned()),
        Some(program) if program.trim().is_empty() => problems.push("the program in `command` is empty".to_owned()),
        Some(program) if pieces(program).iter().any(|piece| matches!(piece, PlaceholderPart::Hole(_))) => {
            problems
                .push(format!("the program `{program}` has a placeholder: which program runs is not the job's to say"));
        }
        Some(_) => {}
    }
    for hole in holes(&setup.command).filter(|hole| !KNOWN.contains(hole)) {
        let known = KNOWN.map(|name| format!("`{{{name}}}`")).join(", ");
        problems.push(format!(
            "`{{{hole}}}` is no placeholder: there are {known}; for the word in braces, write `{{{{{hole}}}}}`"
        ));
    }
    if setup.program.is_some() {
        problems.push("`program` is the first word of `command` here".to_owned());
    }
    if setup.command.iter().chain(&setup.flags).any(|argument| argument.contains('\0')) {
        problems.push("a zero byte cannot be part of a command".to_owned());
    }
    problems
}

fn holes(command: &[String]) -> impl Iterator<Item = &str> {
    command.iter().skip(1).flat_map(|argument| pieces(argument)).filter_map(|piece| match piece {
        PlaceholderPart::Hole(name) => Some(name),
        PlaceholderPart::Text(_) => None,
    })
}

fn filled(argument: &str, job: &AgentJob<'_>) -> OsString {
    let mut whole = OsString::new();
    for piece in pieces(argument) {
        match piece {
            PlaceholderPart::Text(text) => whole.push(text),
            PlaceholderPart::Hole("prompt") => whole.push(job.prompt),
            PlaceholderPart::Hole("role") => whole.push(job.role),
            PlaceholderPart::Hole("group") => whole.push(job.group.unwrap_or_default()),
            PlaceholderPart::Hole("output") => whole.push(job.output),
            PlaceholderPart::Hole("assignment") => whole.push(job.assignment),
            PlaceholderPart::Hole("attempt") => whole.push(job.attempt.to_string()),
            PlaceholderPart::Hole(other) => whole.push(format!("{{{other}}}")),
        }
    }
    whole
}

/// Takes an argument apart. Braces around anything but small letters and `_` are just braces, as in JSON.
fn pieces(argument: &str) -> Vec<PlaceholderPart<'_>> {
    let mut pieces = Vec::new();
    let mut rest = argument;
    let mut from = 0;
    while let Some(found) = rest.get(from..).and_then(|text| text.find('{')) {
        let start = from + found;
        let after = rest.get(start..).unwrap_or_default();
        let (piece, length) = if let Some(name) = enclosed(after, "{{", "}}") {
            (PlaceholderPart::Text(after.get(1..name.len() + 3).unwrap_or_default()), name.len() + 4)
        } else if let Some(name) = enclosed(after, "{", "}") {
            (PlaceholderPart::Hole(name), name.len() + 2)
        } else {
            from = start + 1;
            continue;
        };
        pieces.push(PlaceholderPart::Text(rest.get(..start).unwrap_or_default()));
        pieces.push(piece);
        rest = rest.get(start + length..).unwrap_or_default();
        from = 0;
    }
    pieces.push(PlaceholderPart::Text(rest));
    pieces
}

fn enclosed<'a>(text: &'a str, open: &str, close: &str) -> Option<&'a str> {
    let inside = text.strip_prefix(open)?;
    let end = inside.find(|c: char| !c.is_ascii_lowercase() && c != '_')?;
    (end > 0 && inside.get(end..)?.starts_with(close)).then(|| inside.get(..end)).flatten()
}
