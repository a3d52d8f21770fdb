//! Words that readers could not search for do not come back: in comments, in texts of the program, in the documentation.

use std::fs;
use std::path::{Path, PathBuf};

/// Each with the word to use.
const RETIRED: &[(&str, &str)] = &[
    ("give in", "submit"),
    ("gives in", "submits"),
    ("given in", "submitted"),
    ("gave in", "submitted"),
    ("hand in", "submit"),
    ("hands in", "submits"),
    ("handed in", "submitted"),
    ("mend", "fix"),
    ("mends", "fixes"),
    ("mended", "fixed"),
    ("anew", "again"),
    ("put right", "repaired"),
    ("came of it", "the outcome"),
    ("rung", "level, or the role that it escalates to"),
    ("stood in for", "overrode"),
    ("stands in for", "overrides"),
    ("the log is what it was", "event log verified"),
];

/// Pages whose rows are compared with tests by their words, the history of changes, and texts that existing databases hold
/// in their triggers.
const EXEMPT: [&str; 4] = ["docs/cheating.md", "docs/conformance.md", "CHANGELOG.md", "sqlite/guards.rs"];

fn files_below(folder: &Path, ending: &str, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        let name = entry.file_name();
        if path.is_dir() && name != "target" && name != "data" && name != ".git" {
            files_below(&path, ending, found);
        } else if path.extension().is_some_and(|own| own == ending) {
            found.push(path);
        }
    }
}

fn has_word(text: &str, word: &str) -> bool {
    let is_letter = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    text.match_indices(word)
        .any(|(at, _)| !is_letter(text[..at].chars().next_back()) && !is_letter(text[at + word.len()..].chars().next()))
}

/// The parts of a line of Rust that people read: its comment and its string literals.
fn prose_of_code(line: &str) -> String {
    let trimmed = line.trim_start();
    if trimmed.starts_with("//") {
        return trimmed.to_owned();
    }
    line.split('"').skip(1).step_by(2).collect::<Vec<_>>().join(" ")
}

fn retired_words_in(path: &Path, prose: impl Fn(&str) -> String) -> Vec<String> {
    let text = fs::read_to_string(path).expect("text");
    let mut found = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let line = prose(line).to_lowercase();
        for (word, better) in RETIRED.iter().filter(|(word, _)| has_word(&line, word)) {
            found.push(format!("{}:{}: `{word}`; write `{better}`", path.display(), number + 1));
        }
    }
    found
}

#[test]
fn retired_words_do_not_come_back() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (mut code, mut pages) = (Vec::new(), Vec::new());
    files_below(&root.join("crates"), "rs", &mut code);
    files_below(root, "md", &mut pages);
    for files in [&mut code, &mut pages] {
        files.retain(|path| !EXEMPT.iter().any(|exempt| path.ends_with(exempt)));
    }
    let in_code = code.iter().flat_map(|path| retired_words_in(path, prose_of_code));
    let in_pages = pages.iter().flat_map(|path| retired_words_in(path, str::to_owned));
    let found: Vec<String> = in_code.chain(in_pages).collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
}
