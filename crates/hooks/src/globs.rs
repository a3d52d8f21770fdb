//! Words that stand for files: which files fit them now, as far as can be looked at in passing.

use std::fs;
use std::path::{Component, Path, PathBuf};

use globset::GlobBuilder;

use crate::path_ownership::expanded;

/// Files that are looked at for one word, and that are taken to fit it.
const LOOKED_AT: usize = 4096;
const FITTING: usize = 256;

/// The paths that a word names: itself, and what fits it. Where that is too much to look at, the folder stands for it.
pub(super) fn fitting(word: &str, from: &Path) -> Vec<PathBuf> {
    let pattern = from.join(expanded(word));
    let mut budget = LOOKED_AT;
    let mut found = vec![PathBuf::new()];
    for part in pattern.components() {
        let text = part.as_os_str().to_string_lossy();
        if !matches!(part, Component::Normal(_)) || !text.contains(['*', '?', '[', '{']) {
            found.iter_mut().for_each(|path| path.push(part));
            continue;
        }
        // A pattern over any depth: whatever lies below may be meant.
        if text == "**" {
            break;
        }
        let Some(next) = in_folders(&found, &text, &mut budget) else { break };
        found = next;
    }
    found.push(pattern);
    found
}

fn in_folders(folders: &[PathBuf], text: &str, budget: &mut usize) -> Option<Vec<PathBuf>> {
    let glob = GlobBuilder::new(text).literal_separator(true).build().ok()?.compile_matcher();
    let mut found = Vec::new();
    for entry in folders.iter().filter_map(|folder| fs::read_dir(folder).ok()).flatten().flatten() {
        *budget = budget.checked_sub(1)?;
        let name = entry.file_name();
        let hidden = name.to_string_lossy().starts_with('.') && !text.starts_with(['.', '[', '{']);
        if !hidden && glob.is_match(&name) {
            found.push(entry.path());
        }
    }
    (found.len() <= FITTING).then_some(found)
}
