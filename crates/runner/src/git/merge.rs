//! Two commits put together, without touching any file.

use std::fs;
use std::sync::PoisonError;

use crate::git::conflict::{MergeConflict, MergedTree};
use crate::git::program::failed;
use crate::git::renormalize::lines;
use crate::git::repo_features::ATTRIBUTES;
use crate::git::{Git, GitHash, GitResult, SessionRepo};
use interlock_system::files::remove;

/// The outcome of a trial merge.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum TrialMerge {
    /// It is in already.
    Contained(GitHash),
    /// The tree that it would give, onto this commit.
    Clean { onto: GitHash, tree: GitHash },
    /// These do not go together.
    Conflict { onto: GitHash, conflicts: Vec<MergeConflict> },
}

impl SessionRepo {
    /// Puts what a group has come to together with everything merged.
    pub(crate) fn try_merge(&self, group: &str, commit: &GitHash) -> GitResult<TrialMerge> {
        let onto = self.integration()?;
        let nothing_done = *commit == onto || *commit == self.group_base(group)?;
        // A merge may have been made and not reported: only a group that has one is worth the look.
        if nothing_done || (self.merged(group)?.is_some() && self.contains(&onto, commit)?) {
            return Ok(TrialMerge::Contained(onto));
        }
        let MergedTree { tree, conflicts } = self.merge_trees(&onto, commit, &onto)?;
        Ok(match conflicts.is_empty() {
            true => TrialMerge::Clean { onto, tree },
            false => TrialMerge::Conflict { onto, conflicts },
        })
    }

    /// The tree of both, and what does not go together. Where git can, the files of the tree hold the marks of it. How files
    /// are merged is what `merged` says: what has been merged, and not what is to be.
    pub(crate) fn merge_trees(&self, ours: &GitHash, theirs: &GitHash, merged: &GitHash) -> GitResult<MergedTree> {
        if !self.has_attributes()? {
            return both(&self.git(), ours, theirs);
        }
        // Git reads attributes from files: those of the commit are laid out, by themselves.
        let _held = self.outline.laid_out.lock().unwrap_or_else(PoisonError::into_inner);
        let (folder, index) = (self.path().join("attributes"), self.path().join("attributes-index"));
        let mut attributes = self.files_of(merged)?;
        attributes.retain(|file| file.path.ends_with(ATTRIBUTES) && file.mode.starts_with("100"));
        let git = self.grounded(Git::on(self.path(), &folder, &index));
        // Each time: they lie within the reach of agents.
        let _ = [&folder, &index].map(|path| remove(path));
        fs::create_dir_all(&folder)?;
        git.run_with_input(&["update-index", "-z", "--index-info"], lines(&attributes))?;
        git.run_git(&["checkout-index", "--all", "--quiet", "--force"])?;
        both(&git, ours, theirs)
    }
}

fn both(git: &Git, ours: &GitHash, theirs: &GitHash) -> GitResult<MergedTree> {
    let arguments = ["merge-tree", "--write-tree", "-z", "--allow-unrelated-histories", ours.as_str(), theirs.as_str()];
    let said = git.run_unchecked(&arguments)?;
    match said.status.code() {
        Some(0) => MergedTree::read(&said.stdout, true),
        // It counts what git says of the whole, not what it says of files: not every conflict has some.
        Some(1) => MergedTree::read(&said.stdout, false),
        _ => Err(failed(&arguments, &said)),
    }
}
