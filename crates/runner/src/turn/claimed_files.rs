//! The files that a handoff claims to have changed, compared with the files that were.
//!
//! A claim is denied only where the diff leaves no doubt: paths outside of the project, paths that git ignores and words that
//! are no path are not denied.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use serde_json::{Map, Value as Json};

use crate::scope::glob_set;
use crate::turn::tests_claim::{PLACES, plain};

/// How deep a claim is looked for.
const DEPTH: u8 = 3;
/// Objects with one of these have lists by kind: `{ "files": { "modified": […] } }`.
const LISTS: &[&str] = &["files", "filechanges", "changes"];
const CHANGED_WORDS: &[&str] =
    &["modified", "changed", "created", "added", "updated", "edited", "touched", "written", "new"];
const DELETED_WORDS: &[&str] = &["deleted", "removed"];
/// Keys of an entry that is an object.
const PATH_KEYS: &[&str] = &["path", "file", "filename", "filepath", "name"];

/// A path that the handoff claims was changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ClaimedFile {
    /// The field that claims it.
    pub(super) field: String,
    pub(super) text: String,
    /// It claims that the file is gone.
    deleted: bool,
}

impl ClaimedFile {
    /// Does the claim name this path, or a folder that it lies in? In doubt it does.
    pub(super) fn names(&self, path: &str) -> bool {
        spellings(&self.text).iter().any(|reading| {
            let reading = reading.trim_start_matches("./").trim_end_matches('/');
            let within = path.strip_prefix(reading).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
            within || reading.ends_with(&format!("/{path}")) || reading.contains('*')
        })
    }
}

/// Every path that a handoff claims was changed, in whatever spelling of the field.
pub(super) fn claimed_files(handoff: &Json) -> Vec<ClaimedFile> {
    let mut found = Vec::new();
    if let Some(said) = handoff.as_object() {
        collect(said, false, DEPTH, &mut found);
    }
    found
}

fn collect(said: &Map<String, Json>, in_list: bool, depth: u8, found: &mut Vec<ClaimedFile>) {
    for (key, value) in said {
        let name = plain(key);
        if let Some(deleted) = kind_of(&name, in_list) {
            paths_in(value).into_iter().for_each(|text| found.push(ClaimedFile { field: key.clone(), text, deleted }));
            continue;
        }
        let is_list = LISTS.contains(&name.as_str());
        if let (Json::Object(within), true) = (value, depth > 1 && (is_list || PLACES.contains(&name.as_str()))) {
            collect(within, is_list, depth - 1, found);
        }
    }
}

/// Whether the field lists changed files, and if so whether deleted ones: `files_modified`, `modifiedFiles`, `new-files`.
fn kind_of(name: &str, in_list: bool) -> Option<bool> {
    let word = match (name.strip_prefix("files"), name.strip_suffix("files")) {
        (Some(word), _) if !word.is_empty() => word,
        (_, Some(word)) if !word.is_empty() => word,
        _ if in_list => name,
        _ => return None,
    };
    match word {
        word if DELETED_WORDS.contains(&word) => Some(true),
        word if CHANGED_WORDS.contains(&word) => Some(false),
        _ => None,
    }
}

fn paths_in(value: &Json) -> Vec<String> {
    match value {
        Json::Array(entries) => entries.iter().flat_map(paths_in).collect(),
        Json::String(text) => {
            text.split(['\n', ',']).map(|path| path.trim().to_owned()).filter(|path| !path.is_empty()).collect()
        }
        Json::Object(entry) => {
            let path = entry.iter().find(|(key, _)| PATH_KEYS.contains(&plain(key).as_str()));
            path.and_then(|(_, value)| value.as_str()).map(|path| vec![path.to_owned()]).unwrap_or_default()
        }
        Json::Null | Json::Bool(_) | Json::Number(_) => Vec::new(),
    }
}

/// The true changes, and where the work lies.
pub(super) struct TrueChanges<'a> {
    /// Of the group as a whole and of this turn, from the top of the project.
    pub(super) files: BTreeSet<String>,
    /// The workspace, and the checkout of the user that it is a copy of.
    pub(super) roots: [&'a Path; 2],
}

impl TrueChanges<'_> {
    /// The path that a claim names wrongly, if the diff denies it. Whether git ignores it is for the caller to find out.
    pub(super) fn denied(&self, claim: &ClaimedFile) -> Option<String> {
        let mut readings = Vec::new();
        for reading in spellings(&claim.text) {
            // Outside of the project, or no path at all: nothing is known of it.
            let path = self.inside(&reading)?;
            if self.has(&path, claim.deleted) {
                return None;
            }
            readings.push(path);
        }
        // The shortest reading is the path without remarks.
        readings.into_iter().min_by_key(String::len).filter(|path| looks_like_path(path))
    }

    fn has(&self, path: &str, deleted: bool) -> bool {
        if deleted && std::fs::symlink_metadata(self.roots[0].join(path)).is_err() {
            return true;
        }
        let within = format!("{}/", path.trim_end_matches('/'));
        let is_glob = path.contains('*');
        self.files.contains(path)
            || path.is_empty()
            || self.files.iter().any(|file| file.starts_with(&within))
            || is_glob && self.files.iter().any(|file| glob_set([path], false).is_match(file))
    }

    /// The path from the top of the project; `None` if it leads elsewhere.
    fn inside(&self, text: &str) -> Option<String> {
        if text.starts_with(['~', '$']) || text.contains("://") {
            return None;
        }
        let mut path = Path::new(text);
        if path.is_absolute() {
            path = self.roots.iter().find_map(|root| path.strip_prefix(root).ok())?;
        }
        let mut plain = PathBuf::new();
        for part in path.components() {
            match part {
                Component::CurDir => {}
                Component::ParentDir if plain.pop() => {}
                Component::Normal(part) => plain.push(part),
                Component::ParentDir | Component::RootDir | Component::Prefix(_) => return None,
            }
        }
        let first = plain.components().next().is_some_and(|part| part.as_os_str() == ".git");
        plain.to_str().filter(|_| !first).map(str::to_owned)
    }
}

/// The ways in which a claim can be read: as written, without quotes, without a remark, a line number or a mark of git.
fn spellings(text: &str) -> Vec<String> {
    let text = text.trim().trim_matches(['`', '"', '\'', '*']).trim();
    let mut all = vec![text.to_owned()];
    let mut add = |reading: &str| {
        let reading = reading.trim().trim_matches(['`', '"', '\'']).trim_end_matches([':', ';']).to_owned();
        if !reading.is_empty() && !all.contains(&reading) {
            all.push(reading);
        }
    };
    for arrow in ["->", "→", "=>"] {
        text.split(arrow).filter(|_| text.contains(arrow)).for_each(&mut add);
    }
    let unmarked = ["A ", "M ", "D ", "R ", "- ", "+ ", "?? "].iter().find_map(|mark| text.strip_prefix(mark));
    let text = unmarked.unwrap_or(text).trim();
    add(text);
    let cut = [" (", " - ", " – ", " — ", " #", ": "].iter().filter_map(|end| text.find(end)).min();
    let text = cut.map_or(text, |end| &text[..end]);
    add(text);
    add(text.split("#L").next().unwrap_or(text));
    add(without_lines(text));
    all
}

/// `src/a.rs:12-30` and `src/a.rs:12:5` without their lines.
fn without_lines(text: &str) -> &str {
    let mut text = text;
    while let Some((path, lines)) = text.rsplit_once(':') {
        let is_lines =
            !lines.is_empty() && lines.chars().all(|one| one.is_ascii_digit() || matches!(one, '-' | 'L' | ','));
        if !is_lines {
            break;
        }
        text = path;
    }
    text
}

fn looks_like_path(text: &str) -> bool {
    let named = text.rsplit('/').next().is_some_and(|name| name.contains('.') || text.contains('/'));
    named
        && !text.contains(char::is_whitespace)
        && !text.contains(['*', '?', '<', '>', '|', '…'])
        && !text.ends_with("...")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn changes() -> TrueChanges<'static> {
        let files = ["src/a.rs", "src/deep/b.rs", "app/[id]/page.tsx", "with space.md", "Makefile"];
        let roots = [Path::new("/work/group"), Path::new("/home/ann/project")];
        TrueChanges { files: files.map(str::to_owned).into(), roots }
    }

    fn denied(text: &str) -> Option<String> {
        let claim = ClaimedFile { field: "files_modified".to_owned(), text: text.to_owned(), deleted: false };
        changes().denied(&claim)
    }

    #[test]
    fn claims_that_the_diff_has_are_accepted_in_every_spelling() {
        for text in [
            "src/a.rs",
            "./src/a.rs",
            "/work/group/src/a.rs",
            "/home/ann/project/src/a.rs",
            "src/a.rs:12",
            "src/a.rs:12-30",
            "src/a.rs:12:5",
            "src/a.rs#L3-L9",
            "`src/a.rs`",
            "src/a.rs (new)",
            "src/a.rs - adds the parser",
            "src/a.rs: adds the parser",
            "M src/a.rs",
            "src/old.rs -> src/a.rs",
            "src",
            "src/",
            "src/deep/",
            "src/**/*.rs",
            "src/x/../a.rs",
            "app/[id]/page.tsx",
            "with space.md",
            "Makefile",
            ".",
        ] {
            assert_eq!(denied(text), None, "{text}");
        }
    }

    #[test]
    fn claims_that_the_diff_cannot_deny_are_accepted() {
        for text in [
            "/tmp/out.txt",
            "~/notes.md",
            "../other/file.rs",
            "$OUTPUT/report.md",
            "https://example.invalid/x.rs",
            ".git/config",
            "none",
            "several files in the parser",
            "docs/**",
            "see above...",
        ] {
            assert_eq!(denied(text), None, "{text}");
        }
    }

    #[test]
    fn claims_that_the_diff_denies_are_found() {
        for (text, path) in [
            ("src/c.rs", "src/c.rs"),
            ("./src/c.rs", "src/c.rs"),
            ("src/c.rs:12", "src/c.rs"),
            ("src/c.rs (new)", "src/c.rs"),
            ("/work/group/src/c.rs", "src/c.rs"),
            ("README.md", "README.md"),
            ("tests/", "tests"),
        ] {
            let path = if path == "tests" { None } else { Some(path.to_owned()) };
            assert_eq!(denied(text), path, "{text}");
        }
    }

    #[test]
    fn claims_are_found_under_every_spelling_of_the_field() {
        for said in [
            json!({ "files_modified": ["a.rs"] }),
            json!({ "filesModified": ["a.rs"] }),
            json!({ "files_changed": "a.rs" }),
            json!({ "modified_files": [{ "path": "a.rs", "lines": 3 }] }),
            json!({ "dev_output": { "files-created": ["a.rs"] } }),
            json!({ "handoff": { "context": "x", "new_files": ["a.rs"] } }),
            json!({ "files": { "modified": ["a.rs"] } }),
        ] {
            let found: Vec<String> = claimed_files(&said).into_iter().map(|claim| claim.text).collect();
            assert_eq!(found, ["a.rs"], "{said}");
        }
        for said in [
            json!({ "files": ["a.rs"] }),
            json!({ "source_files_verified": ["a.rs"] }),
            json!({ "conflicting_files": ["a.rs"] }),
            json!({ "groups": [{ "files_modified": ["a.rs"] }] }),
            json!({ "files_modified": 3 }),
            json!({ "summary": "files_modified: a.rs" }),
        ] {
            assert_eq!(claimed_files(&said), [], "{said}");
        }
    }
}
