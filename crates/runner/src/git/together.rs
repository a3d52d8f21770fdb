//! Two commits put together, without touching any file.

use std::fs;
use std::sync::PoisonError;

use crate::git::conflict::{Both, Conflict};
use crate::git::outline::ATTRIBUTES;
use crate::git::program::failed;
use crate::git::untouched::lines;
use crate::git::{Git, Hash, Result, Vault};
use interlock_system::files::remove;

/// What came of trying a merge.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Attempt {
    /// It is in already.
    Contained(Hash),
    /// The tree that it would give, onto this commit.
    Clean { onto: Hash, tree: Hash },
    /// These do not go together.
    Conflict { onto: Hash, conflicts: Vec<Conflict> },
}

impl Vault {
    /// Puts what a group has come to together with everything merged.
    pub(crate) fn try_merge(&self, group: &str, commit: &Hash) -> Result<Attempt> {
        let onto = self.integration()?;
        let nothing_done = *commit == onto || *commit == self.group_base(group)?;
        // A merge may have been made and not reported: only a group that has one is worth the look.
        if nothing_done || (self.merged(group)?.is_some() && self.contains(&onto, commit)?) {
            return Ok(Attempt::Contained(onto));
        }
        let Both { tree, conflicts } = self.together(&onto, commit, &onto)?;
        Ok(match conflicts.is_empty() {
            true => Attempt::Clean { onto, tree },
            false => Attempt::Conflict { onto, conflicts },
        })
    }

    /// The tree of both, and what does not go together. Where git can, the files of the tree hold the marks of it. How files
    /// are merged is what `merged` says: what has been merged, and not what is to be.
    pub(crate) fn together(&self, ours: &Hash, theirs: &Hash, merged: &Hash) -> Result<Both> {
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
        git.tell(&["update-index", "-z", "--index-info"], lines(&attributes))?;
        git.ask(&["checkout-index", "--all", "--quiet", "--force"])?;
        both(&git, ours, theirs)
    }
}

fn both(git: &Git, ours: &Hash, theirs: &Hash) -> Result<Both> {
    let arguments = ["merge-tree", "--write-tree", "-z", "--allow-unrelated-histories", ours.as_str(), theirs.as_str()];
    let said = git.answer(&arguments)?;
    match said.status.code() {
        Some(0) => Both::read(&said.stdout, true),
        // It counts what git says of the whole, not what it says of files: not every conflict has some.
        Some(1) => Both::read(&said.stdout, false),
        _ => Err(failed(&arguments, &said)),
    }
}
