//! Files that git would store in another form than they are stored, though they were not touched: line ends that were
//! never normalised, large files that were committed as they are. Git sometimes reports them as changed. Here, a file
//! is changed only if it differs from the one that was laid out.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use interlock_core::observed::FileChange;

use crate::git::repo_features::{ATTRIBUTES, TreeFile};
use crate::git::{GitHash, GitResult, Workspace, path_of};
use interlock_system::files::remove;

/// The mode that git prints for a side that does not have the file.
const ABSENT: &str = "000000";

/// A file that is not the same in two trees.
pub(super) struct TreeDifference {
    /// The file before. It may be absent.
    was: TreeFile,
    /// The mode of the file now.
    pub(super) mode: String,
}

impl TreeDifference {
    pub(super) fn path(&self) -> &Path {
        &self.was.path
    }

    pub(super) fn change(&self) -> FileChange {
        match (self.was.mode.as_str(), self.mode.as_str()) {
            (ABSENT, _) => FileChange::Added,
            (_, ABSENT) => FileChange::Deleted,
            (_, _) => FileChange::Modified,
        }
    }
}

impl Workspace {
    pub(super) fn differences(&self, from: &GitHash, to: &GitHash) -> GitResult<Vec<TreeDifference>> {
        let arguments = ["diff-tree", "-r", "-z", "--no-renames", from.as_str(), to.as_str()];
        let mut parts = self.git().run_for_list(&arguments)?.into_iter();
        let mut entries = Vec::new();
        while let (Some(about), Some(name)) = (parts.next(), parts.next()) {
            let about = String::from_utf8_lossy(&about).into_owned();
            let mut words = about.trim_start_matches(':').split(' ').map(str::to_owned);
            let mut next = || words.next().unwrap_or_default();
            let (was, mode, hash) = (next(), next(), next());
            entries.push(TreeDifference { was: TreeFile { mode: was, hash, path: path_of(&name) }, mode });
        }
        Ok(entries)
    }

    /// Leaves in the index what it was, of files that are as they were laid out; these are no differences any more. Whether
    /// there were any. Where nothing says how files are stored there are none, and nothing is looked at.
    pub(super) fn keep_untouched(&self, entries: &mut Vec<TreeDifference>) -> GitResult<bool> {
        if entries.iter().any(|entry| entry.path().ends_with(ATTRIBUTES)) {
            self.vault.convert();
        }
        let is_file = |mode: &str| mode.starts_with("100");
        let (files, mut others): (Vec<TreeDifference>, Vec<TreeDifference>) =
            std::mem::take(entries).into_iter().partition(|entry| is_file(&entry.was.mode) && is_file(&entry.mode));
        if files.is_empty() || !self.vault.converts(&self.folder)? {
            entries.extend(files.into_iter().chain(others));
            return Ok(false);
        }
        // A filter that fails says nothing of what is there: it counts as changed.
        let laid_out = ScratchCheckout::of(self, &files).ok();
        let is_kept = |entry: &TreeDifference| {
            laid_out
                .as_ref()
                .is_some_and(|there| same(&there.folder.join(entry.path()), &self.folder.join(entry.path())))
        };
        let (kept, changed): (Vec<TreeDifference>, Vec<TreeDifference>) = files.into_iter().partition(is_kept);
        if !kept.is_empty() {
            let stored: Vec<TreeFile> =
                kept.iter().map(|entry| TreeFile { mode: entry.mode.clone(), ..entry.was.clone() }).collect();
            self.git().run_with_input(&["update-index", "-z", "--index-info"], lines(&stored))?;
        }
        let is_any = !kept.is_empty();
        others.extend(changed.into_iter().chain(kept.into_iter().filter(|entry| entry.was.mode != entry.mode)));
        others.sort_by(|one, other| one.path().cmp(other.path()));
        *entries = others;
        Ok(is_any)
    }
}

/// Files as they would be laid out now, in a folder of their own, which goes again.
struct ScratchCheckout {
    folder: PathBuf,
    index: PathBuf,
}

impl ScratchCheckout {
    fn of(workspace: &Workspace, entries: &[TreeDifference]) -> GitResult<Self> {
        let name = workspace.folder.file_name().unwrap_or_default().to_string_lossy();
        let place = |what: &str| workspace.vault.path().join(format!("{what}-{name}"));
        let scratch = Self { folder: place("untouched"), index: place("untouched-index") };
        scratch.clear();
        let stored: Vec<TreeFile> = entries.iter().map(|entry| entry.was.clone()).collect();
        let git = workspace.git_with(&scratch.index);
        git.run_with_input(&["update-index", "-z", "--index-info"], lines(&stored))?;
        let prefix = format!("--prefix={}/", scratch.folder.display());
        git.run_git(&["checkout-index", "--all", "--quiet", "--force", &prefix])?;
        Ok(scratch)
    }

    fn clear(&self) {
        let _ = [&self.folder, &self.index].map(|path| remove(path));
    }
}

impl Drop for ScratchCheckout {
    fn drop(&mut self) {
        self.clear();
    }
}

/// The input of `update-index --index-info`.
pub(super) fn lines(files: &[TreeFile]) -> Vec<u8> {
    let mut lines = Vec::new();
    for file in files {
        lines.extend_from_slice(format!("{} {}\t", file.mode, file.hash).as_bytes());
        lines.extend_from_slice(file.path.as_os_str().as_bytes());
        lines.push(0);
    }
    lines
}

/// Have two files the same in them?
fn same(one: &Path, other: &Path) -> bool {
    let about = |path: &Path| fs::symlink_metadata(path).ok().filter(|found| found.is_file()).map(|found| found.len());
    if about(one).is_none() || about(one) != about(other) {
        return false;
    }
    let (Ok(one), Ok(other)) = (File::open(one), File::open(other)) else { return false };
    let (mut one, mut other) = (BufReader::new(one), BufReader::new(other));
    loop {
        let (Ok(left), Ok(right)) = (one.fill_buf(), other.fill_buf()) else { return false };
        let most = left.len().min(right.len());
        if left.get(..most) != right.get(..most) {
            return false;
        }
        if most == 0 {
            return left.is_empty() && right.is_empty();
        }
        one.consume(most);
        other.consume(most);
    }
}
