//! A scripted agent: a real process that does what a file says. For trying a workflow out, and for tests; no model and
//! no account is needed.
//!
//! It is this program in a role of its own ([`WORD`]), started like any other agent's: it edits files, runs commands,
//! and leaves a handoff. It knows no more than an agent does, and holds no key.

mod act;
mod script;

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

pub(crate) use script::{Script, read};

/// The name in `agents.yaml`.
pub const CLIENT: &str = "scripted";
/// The hidden first argument.
pub const WORD: &str = "__play";
/// Where a project has its script.
const FILES: [&str; 2] = ["scripted.yaml", "agents/scripted.yaml"];
/// For a project that has none: every role does its part at once.
const REHEARSAL: &str = include_str!("rehearsal.yaml");

/// The script of a project, if it has one.
pub(crate) fn find(folder: &Path) -> Option<PathBuf> {
    FILES.iter().map(|file| folder.join(file)).find(|path| path.is_file())
}

/// The command line of an agent that plays a script.
pub(crate) fn command(script: Option<&Path>) -> Vec<String> {
    let program = env::current_exe().unwrap_or_else(|_| PathBuf::from("interlock"));
    let script = script.map(|path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned()));
    let script = script.map_or_else(|| "-".to_owned(), |path| path.display().to_string());
    vec![program.display().to_string(), WORD.to_owned(), script]
}

/// The agent.
pub fn main(arguments: &[OsString]) -> ExitCode {
    let path = arguments.first().and_then(|argument| argument.to_str()).unwrap_or("-");
    let played = load(path).and_then(|script| act::play(&script));
    match played {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

fn load(path: &str) -> Result<Script, String> {
    let text = match path {
        "-" => REHEARSAL.to_owned(),
        path => std::fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?,
    };
    read(path, &text).map_err(|problems| {
        let lines: Vec<String> =
            problems.iter().map(|problem| format!("{}: {}", problem.code, problem.message)).collect();
        lines.join("\n")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rehearsal_can_be_read() {
        assert!(read("rehearsal.yaml", REHEARSAL).is_ok());
    }
}
