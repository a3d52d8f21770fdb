//! The feature directory of a session: one folder for each attempt, with the documents that its agent left for later roles.
//!
//! Agents write these folders, so nothing in them is trusted: links are not followed, and sizes are bounded.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::handin;

/// Copies of earlier outputs, inside the output directory of an agent that can read only its own.
pub(crate) const EARLIER: &str = "earlier";
/// Files of Interlock itself in an output directory.
const OWN_FILES: &[&str] = &["handoff.json", "handoff.json.new", "whole", EARLIER];
/// Prefix of files that Interlock or a client adapter puts beside the documents.
const OWN_PREFIXES: &[&str] = &["handoff.", "contract", "."];
const MOST_FILES: usize = 200;
const MOST_DEPTH: u8 = 4;
/// Bytes copied from one output directory.
const MOST_BYTES: u64 = 16 << 20;

/// The documents in an output directory, as sorted relative paths.
pub(crate) fn list_files(directory: &Path) -> Vec<String> {
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
pub(crate) fn copy_earlier(feature: &Path, places: &[String], output: &Path) -> io::Result<()> {
    for place in places {
        let (from, into) = (feature.join(place), output.join(EARLIER).join(place));
        let mut left = MOST_BYTES;
        for file in list_files(&from) {
            let Some(bytes) = handin::read(&from, Path::new(&file)).ok().flatten() else { continue };
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
