//! The feature directory of a session: one folder for each attempt, with the documents that its agent left for later roles.
//!
//! Agents write these folders, so nothing in them is trusted: links are not followed, and sizes are bounded.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use interlock_core::handoff;
use serde_json::Value as Json;

use crate::handoff_files;

/// Copies of earlier outputs, inside the output directory of an agent that can read only its own.
pub const EARLIER: &str = "earlier";
/// Files of Interlock itself in an output directory.
const OWN_FILES: &[&str] = &["handoff.json", "handoff.json.new", "whole", EARLIER];
/// Prefix of files that Interlock or a client adapter puts beside the documents.
const OWN_PREFIXES: &[&str] = &["handoff.", "contract", "."];
/// Bytes kept of what a lost attempt printed.
const MOST_OUTPUT: usize = 256 << 10;
/// A larger patch of a lost attempt is not kept: a part of it could not be applied.
const MOST_PATCH: usize = 8 << 20;
const MOST_FILES: usize = 200;
const MOST_DEPTH: u8 = 4;
/// Bytes copied from one output directory.
const MOST_BYTES: u64 = 16 << 20;

/// The documents in an output directory, as sorted relative paths.
pub fn list_files(directory: &Path) -> Vec<String> {
    let mut files = Vec::new();
    walk(directory, "", MOST_DEPTH, &mut files);
    files.sort();
    files
}

fn walk(directory: &Path, prefix: &str, depth: u8, files: &mut Vec<String>) {
    let Ok(entries) = fs::read_dir(directory) else { return };
    for entry in entries.flatten() {
        let Ok(name) = entry.file_name().into_string() else { continue };
        let is_top = prefix.is_empty();
        if is_top && (OWN_FILES.contains(&name.as_str()) || OWN_PREFIXES.iter().any(|own| name.starts_with(own))) {
            continue;
        }
        // Does not follow links.
        let Ok(kind) = entry.file_type() else { continue };
        let path = format!("{prefix}{name}");
        if kind.is_file() && files.len() < MOST_FILES {
            files.push(path);
        } else if kind.is_dir() && depth > 1 {
            walk(&entry.path(), &format!("{path}/"), depth - 1, files);
        }
    }
}

/// Copies the documents of earlier attempts into an output directory, where its agent can read them.
pub fn copy_earlier(feature: &Path, places: &[String], output: &Path) -> io::Result<()> {
    for place in places {
        let (from, into) = (feature.join(place), output.join(EARLIER).join(place));
        let mut left = MOST_BYTES;
        for file in list_files(&from) {
            let Some(bytes) = handoff_files::read(&from, Path::new(&file)).ok().flatten() else { continue };
            let size = bytes.len() as u64;
            if size > left {
                continue;
            }
            left -= size;
            let path: PathBuf = into.join(&file);
            if let Some(parent) = path.parent() {
                fs::create_dir_all(parent)?;
            }
            fs::write(&path, bytes)?;
        }
    }
    Ok(())
}

/// The outputs of an attempt that ended without an accepted handoff.
#[derive(Debug, Default)]
pub struct AttemptRemains {
    /// The output of the agent.
    pub output: String,
    /// Its changes of project files that were not kept.
    pub patch: Vec<u8>,
    /// The last handoff that it submitted.
    pub handoff: Vec<u8>,
}

/// Paths of the remains in an output directory.
pub(crate) const LOST_OUTPUT: &str = "lost/output.txt";
pub(crate) const LOST_PATCH: &str = "lost/changes.patch";
pub(crate) const LOST_HANDOFF: &str = "lost/handoff.json";

impl AttemptRemains {
    /// Keeps them in the output directory of the attempt, where the next attempt finds them. Empty ones leave no file.
    pub fn keep(&self, directory: &Path) -> io::Result<()> {
        let output = last_bytes(&self.output, MOST_OUTPUT).as_bytes();
        let patch = self.patch.as_slice();
        let patch = if patch.len() > MOST_PATCH { &[] } else { patch };
        for (file, bytes) in [(LOST_OUTPUT, output), (LOST_PATCH, patch), (LOST_HANDOFF, &self.handoff)] {
            if !bytes.iter().all(u8::is_ascii_whitespace) {
                handoff_files::lay_out_bytes(directory, file, bytes)?;
            }
        }
        Ok(())
    }
}

/// The remains that an attempt has in its output directory, as far as a prompt shows them.
pub fn read_remains(directory: &Path) -> (Option<String>, Option<Json>) {
    let read = |file: &str| handoff_files::read(directory, Path::new(file)).ok().flatten();
    let output = read(LOST_OUTPUT).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    let handoff = read(LOST_HANDOFF).and_then(|bytes| handoff::extract("handoff", &bytes).ok());
    (output, handoff.map(|extracted| (*extracted.json).clone()))
}

/// The text of a client's output. Clients that print events as JSON lines put the agent's words into `text`.
pub fn readable(printed: &str) -> String {
    let mut text = String::new();
    for line in printed.lines() {
        match serde_json::from_str::<Json>(line) {
            Ok(event @ Json::Object(_)) => collect_texts(&event, &mut text),
            Ok(_) | Err(_) => push_line(&mut text, line),
        }
    }
    text
}

fn collect_texts(event: &Json, text: &mut String) {
    match event {
        Json::Object(members) => {
            for (key, value) in members {
                match value {
                    Json::String(words) if matches!(key.as_str(), "text" | "result") => push_line(text, words),
                    other => collect_texts(other, text),
                }
            }
        }
        Json::Array(items) => items.iter().for_each(|item| collect_texts(item, text)),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => {}
    }
}

fn push_line(text: &mut String, line: &str) {
    text.push_str(line);
    text.push('\n');
}

fn last_bytes(text: &str, most: usize) -> &str {
    let mut start = text.len().saturating_sub(most);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    &text[start..]
}
