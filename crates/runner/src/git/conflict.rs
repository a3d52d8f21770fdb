//! Git's description of a merge that it cannot make alone.

use std::path::{Path, PathBuf};

use crate::git::{GitError, GitHash, GitResult, path_of};

/// Something that does not go together: the files or folders that it is about, and git's own words on it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct MergeConflict {
    pub(crate) paths: Vec<PathBuf>,
    pub(crate) words: String,
}

/// The result of merging two commits.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct MergedTree {
    pub(crate) tree: GitHash,
    /// None if they go together.
    pub(crate) conflicts: Vec<MergeConflict>,
}

impl MergedTree {
    /// Reads the output of `merge-tree -z`: a tree, the versions of each file in conflict, and messages with the
    /// paths that they are about.
    pub(super) fn read(said: &[u8], clean: bool) -> GitResult<Self> {
        let mut parts = said.split(|byte| *byte == 0);
        let tree = GitHash::parse(&String::from_utf8_lossy(parts.next().unwrap_or_default()))?;
        let mut conflicts = Vec::new();
        if clean {
            return Ok(Self { tree, conflicts });
        }
        let mut files: Vec<PathBuf> = Vec::new();
        for entry in parts.by_ref().take_while(|entry| !entry.is_empty()) {
            let name = entry.iter().position(|byte| *byte == b'\t').and_then(|tab| entry.get(tab + 1..));
            files.extend(name.map(path_of).filter(|path| files.last() != Some(path)));
        }
        while let Some(count) = parts.next().and_then(number) {
            let paths: Vec<PathBuf> = parts.by_ref().take(count).map(path_of).collect();
            let (kind, words) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
            if kind.starts_with(b"CONFLICT") {
                add(&mut conflicts, paths, String::from_utf8_lossy(words).trim_end());
            }
        }
        let untold = files.into_iter().filter(|file| !conflicts.iter().any(|told| told.is_about(file)));
        let untold: Vec<PathBuf> = untold.collect();
        conflicts.extend(untold.into_iter().map(|file| MergeConflict { paths: vec![file], words: String::new() }));
        if conflicts.is_empty() {
            return Err(GitError::odd("git merge-tree found a conflict, and did not say which"));
        }
        Ok(Self { tree, conflicts })
    }
}

impl MergeConflict {
    pub(crate) fn is_about(&self, path: &Path) -> bool {
        self.paths.iter().any(|own| path.starts_with(own))
    }

    /// The paths that the conflict is about, for people.
    pub(crate) fn names(&self) -> impl Iterator<Item = String> {
        self.paths.iter().map(|path| path.to_string_lossy().into_owned())
    }
}

/// Git may have several things to say of the same paths.
fn add(conflicts: &mut Vec<MergeConflict>, paths: Vec<PathBuf>, words: &str) {
    match conflicts.iter_mut().find(|known| known.paths == paths) {
        Some(known) => known.words = format!("{}; {words}", known.words),
        None => conflicts.push(MergeConflict { paths, words: words.to_owned() }),
    }
}

fn number(text: &[u8]) -> Option<usize> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TREE: &str = "fcd397a3ea444f663789f91723424e78e942fbc3";

    /// With a bar for each null byte.
    fn read(rest: &str) -> Vec<(Vec<String>, String)> {
        let both = MergedTree::read(format!("{TREE}|{rest}").replace('|', "\0").as_bytes(), false).unwrap();
        both.conflicts.iter().map(|conflict| (conflict.names().collect(), conflict.words.clone())).collect()
    }

    #[test]
    fn what_is_said_of_one_file_is_one_conflict() {
        let stages = format!("100644 {TREE} 1\tpic|100644 {TREE} 2\tpic|100644 {TREE} 3\tpic|");
        let words = "1|pic|CONFLICT (binary)|warning: no text\n|1|pic|Auto-merging|Auto-merging pic\n|\
                     1|pic|CONFLICT (contents)|CONFLICT (content): in pic\n|";
        let expected = vec![(vec!["pic".to_owned()], "warning: no text; CONFLICT (content): in pic".to_owned())];
        assert_eq!(read(&format!("{stages}|{words}")), expected);
    }

    #[test]
    fn a_conflict_without_files_is_one() {
        let words = "|1|z|CONFLICT(directory rename unclear split)|CONFLICT (directory rename split): z\n|";
        assert_eq!(read(words), [(vec!["z".to_owned()], "CONFLICT (directory rename split): z".to_owned())]);
    }

    #[test]
    fn a_file_that_nothing_is_said_of_is_in_conflict_all_the_same() {
        let stages = format!("100644 {TREE} 2\ta b|100644 {TREE} 3\ta b||");
        assert_eq!(read(&stages), [(vec!["a b".to_owned()], String::new())]);
    }

    #[test]
    fn a_conflict_of_nothing_is_no_clean_merge() {
        assert!(MergedTree::read(format!("{TREE}\0\0").as_bytes(), false).is_err());
    }
}
