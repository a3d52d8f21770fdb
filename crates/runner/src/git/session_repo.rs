//! The repository of one session: submitted work, and the merges of it.
//!
//! It borrows the objects of the user's repository. Its names are those of a register (`register.rs`): `base`: where
//! the session began; `integration`: everything that was merged; `pending/aN`: work that waits for its report;
//! `groups/GROUP/…`: the `base` of a group, the commit that each assignment `aN` left, the commit that it was
//! `merged` as, and `onto`, the commit that it must include before it is merged again.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use interlock_core::id::AssignmentId;
use interlock_core::observed::FileChange;

use crate::git::lfs;
use crate::git::register::{self, RefRegister, RegisterKey};
use crate::git::repo_features::RepoFeatures;
use crate::git::repo_guard::RepoGuard;
use crate::git::{CommitMessage, Git, GitError, GitHash, GitResult, ProjectRepo, path_of};
use interlock_system::files;
use interlock_system::files::remove;

const BASE: &str = "base";
/// Commits that wait for the report of their assignment.
const PENDING: &str = "pending/";
const INTEGRATION: &str = "integration";
/// Results of merges, by the assignment that made each.
const MERGES: &str = "merges/";
const REGISTER: &str = "register";
/// Where `git-crypt` has its keys.
const KEYS: &str = "git-crypt";

/// How long a file is, and the hash of it.
type IndexFingerprint = (u64, blake3::Hash);

/// In whose name something is committed.
#[derive(Clone, Debug)]
pub(crate) struct CommitAuthor<'a> {
    pub role: &'a str,
    pub session: &'a str,
}

#[derive(Clone, Debug)]
pub struct SessionRepo {
    path: PathBuf,
    /// Trees of commits that were looked at: a commit never gets another.
    trees: Arc<Mutex<BTreeMap<GitHash, GitHash>>>,
    /// Known trees of the files of workspaces, while no agent works in them.
    files: Arc<Mutex<BTreeMap<PathBuf, GitHash>>>,
    /// The indexes of workspaces as git left them.
    indexes: Arc<Mutex<BTreeMap<PathBuf, IndexFingerprint>>>,
    pub(super) outline: Arc<RepoFeatures>,
    register: Arc<Mutex<RefRegister>>,
    ground: Arc<RepoGuard>,
}

impl SessionRepo {
    /// Opens the repository of a session. If it is not there yet, it is made from the user's checked-out commit.
    pub(crate) fn open(path: &Path, project: &ProjectRepo, key: RegisterKey) -> GitResult<Self> {
        if fs::symlink_metadata(path).is_ok_and(|found| !found.is_dir()) {
            let message = format!("{} is not a folder", path.display());
            return Err(GitError::odd(message).help("somebody has put something else there: take it away"));
        }
        let names = path.join(REGISTER);
        if !register::exists(&names)? {
            bare(path)?;
        }
        unlock(path);
        let vault = Self {
            ground: Arc::new(RepoGuard::of(path, project)?),
            register: Arc::new(Mutex::new(RefRegister::open(&names, key)?)),
            path: path.to_owned(),
            trees: Arc::default(),
            files: Arc::default(),
            indexes: Arc::default(),
            outline: Arc::new(RepoFeatures::new(project.customs.converts)),
        };
        if vault.find(BASE).is_none() {
            let base = project.head()?;
            vault.register().set(&[(INTEGRATION, Some(&base)), (BASE, Some(&base))])?;
        }
        vault.lend_keys(project)?;
        Ok(vault)
    }

    /// Has there been one?
    pub(crate) fn is_made(path: &Path) -> GitResult<bool> {
        register::exists(&path.join(REGISTER))
    }

    /// Filters that encrypt look for their keys beside the repository that they are called for.
    fn lend_keys(&self, project: &ProjectRepo) -> GitResult<()> {
        let (keys, own) = (project.repository.join(KEYS), self.path.join(KEYS));
        remove(&own)?;
        if keys.is_dir() {
            std::os::unix::fs::symlink(&keys, &own)?;
        }
        Ok(())
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Where the session began.
    pub(crate) fn base(&self) -> GitResult<GitHash> {
        self.get(BASE)
    }

    /// Everything that was merged so far.
    pub(crate) fn integration(&self) -> GitResult<GitHash> {
        self.get(INTEGRATION)
    }

    /// Where a group began: from what was merged when its first agent started.
    pub(crate) fn group_base(&self, group: &str) -> GitResult<GitHash> {
        let name = of_group(group, "base");
        if let Some(base) = self.find(&name) {
            return Ok(base);
        }
        let base = self.integration()?;
        self.update(&name, &base)?;
        Ok(base)
    }

    /// Every assignment that left something, and what.
    pub(crate) fn all_left(&self, group: &str) -> GitResult<Vec<(String, GitHash)>> {
        let mut left = self.below(&of_group(group, ""));
        left.retain(|(name, _)| name.starts_with('a'));
        Ok(left)
    }

    pub(crate) fn has_left(&self, group: &str, assignment: AssignmentId) -> bool {
        self.find(&of_group(group, &assignment.to_string())).is_some()
    }

    pub(crate) fn record_work(&self, group: &str, assignment: &str, commit: &GitHash) -> GitResult<()> {
        self.update(&of_group(group, assignment), commit)
    }

    /// The commit that a group was merged as.
    pub(crate) fn merged(&self, group: &str) -> GitResult<Option<GitHash>> {
        Ok(self.find(&of_group(group, "merged")))
    }

    /// The commit that a group must include before it can be merged.
    pub(crate) fn merge_target(&self, group: &str) -> GitResult<Option<GitHash>> {
        Ok(self.find(&of_group(group, "onto")))
    }

    pub(crate) fn set_merge_target(&self, group: &str, commit: &GitHash) -> GitResult<()> {
        self.update(&of_group(group, "onto"), commit)
    }

    pub(crate) fn tree(&self, commit: &GitHash) -> GitResult<GitHash> {
        if let Some(tree) = self.trees().get(commit) {
            return Ok(tree.clone());
        }
        let tree = GitHash::parse(&self.git().run_git(&["rev-parse", "--verify", &format!("{commit}^{{tree}}")])?)?;
        self.trees().insert(commit.clone(), tree.clone());
        Ok(tree)
    }

    pub(super) fn known(&self, folder: &Path) -> Option<GitHash> {
        self.files().get(folder).cloned()
    }

    pub(super) fn know(&self, folder: &Path, tree: &GitHash) {
        self.files().insert(folder.to_owned(), tree.clone());
    }

    pub(super) fn forget(&self, folder: &Path) {
        self.files().remove(folder);
    }

    fn files(&self) -> MutexGuard<'_, BTreeMap<PathBuf, GitHash>> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes an index as it is now.
    pub(super) fn note_index(&self, index: &Path) -> GitResult<()> {
        let bytes = files::read_plain(index)?;
        self.indexes().insert(index.to_owned(), (bytes.len() as u64, blake3::hash(&bytes)));
        Ok(())
    }

    /// Is an index as git left it?
    pub(super) fn is_index_noted(&self, index: &Path) -> bool {
        let Some((length, hash)) = self.indexes().get(index).copied() else { return false };
        let is_as_long = fs::symlink_metadata(index).is_ok_and(|found| found.len() == length);
        is_as_long && files::read_plain(index).is_ok_and(|bytes| blake3::hash(&bytes) == hash)
    }

    fn indexes(&self) -> MutexGuard<'_, BTreeMap<PathBuf, IndexFingerprint>> {
        self.indexes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn trees(&self) -> MutexGuard<'_, BTreeMap<GitHash, GitHash>> {
        self.trees.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn contains(&self, newer: &GitHash, older: &GitHash) -> GitResult<bool> {
        let said = self.git().run_unchecked(&["merge-base", "--is-ancestor", older.as_str(), newer.as_str()])?;
        match said.status.code() {
            Some(0) => Ok(true),
            Some(1) => Ok(false),
            _ => Err(GitError::odd("git cannot tell whether one commit contains another")),
        }
    }

    pub(crate) fn commit(
        &self,
        tree: &GitHash,
        parents: &[&GitHash],
        who: &CommitAuthor<'_>,
        message: &CommitMessage,
    ) -> GitResult<GitHash> {
        let mut arguments = vec!["commit-tree", tree.as_str()];
        for parent in parents {
            arguments.extend(["-p", parent.as_str()]);
        }
        let email = format!("{}@{}.interlock.invalid", plain(who.role), plain(who.session));
        let git = self.git();
        let git = git.with("GIT_AUTHOR_NAME", plain(who.role)).with("GIT_AUTHOR_EMAIL", &email);
        let git =
            git.with("GIT_COMMITTER_NAME", "Interlock").with("GIT_COMMITTER_EMAIL", "interlock@interlock.invalid");
        let commit = GitHash::parse(&git.run_with_input(&arguments, message.to_string())?)?;
        self.trees().insert(commit.clone(), tree.clone());
        Ok(commit)
    }

    /// Makes a merge the state of things, unless something else was merged in between.
    pub(crate) fn publish(
        &self,
        group: &str,
        merge: &GitHash,
        onto: &GitHash,
        by: Option<AssignmentId>,
    ) -> GitResult<()> {
        if self.integration()? != *onto {
            return Err(GitError::odd("something else was merged in between"));
        }
        let (merged, by) = (of_group(group, "merged"), by.map(|id| format!("{MERGES}{id}")));
        let names = [merged.as_str(), INTEGRATION].into_iter().chain(by.as_deref());
        self.register().set(&names.map(|name| (name, Some(merge))).collect::<Vec<_>>())
    }

    /// Nothing was to be merged, or it had been.
    pub(crate) fn note_merge(&self, by: AssignmentId, into: &GitHash) -> GitResult<()> {
        let name = format!("{MERGES}{by}");
        if self.find(&name).is_some() { Ok(()) } else { self.update(&name, into) }
    }

    /// Was the merge made that an assignment was given? What was reported and is not known here was taken away.
    pub(crate) fn knows_merge(&self, by: AssignmentId) -> bool {
        self.find(&format!("{MERGES}{by}")).is_some()
    }

    /// The branch of the user's repository that has the result.
    pub(crate) fn hand_over(&self, project: &ProjectRepo, branch: &str) -> GitResult<GitHash> {
        let result = self.integration()?;
        self.ground.settle()?;
        // First: a result whose files are not there is none.
        lfs::hand_over(&self.path.join("lfs"), &project.customs.large)?;
        project.take(&self.path, &result, branch)?;
        Ok(result)
    }

    /// Files that differ between two commits, and how.
    pub(crate) fn diff(&self, from: &GitHash, to: &GitHash) -> GitResult<Vec<(PathBuf, FileChange)>> {
        let arguments = ["diff-tree", "-r", "-z", "--name-status", "--no-renames", from.as_str(), to.as_str()];
        let mut parts = self.git().run_for_list(&arguments)?.into_iter();
        let mut files = Vec::new();
        while let (Some(letter), Some(name)) = (parts.next(), parts.next()) {
            let change = match letter.first() {
                Some(b'A') => FileChange::Added,
                Some(b'D') => FileChange::Deleted,
                _ => FileChange::Modified,
            };
            files.push((path_of(&name), change));
        }
        Ok(files)
    }

    /// The difference between two trees or commits, as a patch that git can apply.
    pub(crate) fn patch(&self, from: &GitHash, to: &GitHash) -> GitResult<Vec<u8>> {
        let arguments =
            ["diff-tree", "-p", "--binary", "--full-index", "--no-renames", "--no-ext-diff", "--no-textconv"];
        let output = self.git().run_unchecked(&[&arguments[..], &[from.as_str(), to.as_str()]].concat())?;
        Ok(if output.status.success() { output.stdout } else { Vec::new() })
    }

    /// The commit that an assignment left, if its work was accepted.
    pub(crate) fn left_by(&self, group: &str, assignment: AssignmentId) -> GitResult<Option<GitHash>> {
        let name = assignment.to_string();
        Ok(self.all_left(group)?.into_iter().find_map(|(left, commit)| (left == name).then_some(commit)))
    }

    /// Files that differ between two commits.
    pub(crate) fn changed(&self, from: &GitHash, to: &GitHash) -> GitResult<Vec<String>> {
        let said = self.git().run_git(&[
            "diff-tree",
            "-r",
            "-z",
            "--name-only",
            "--no-renames",
            from.as_str(),
            to.as_str(),
        ])?;
        Ok(said.split('\0').filter(|name| !name.is_empty()).map(str::to_owned).collect())
    }

    fn get(&self, name: &str) -> GitResult<GitHash> {
        self.find(name).ok_or_else(|| {
            let message = format!("the session's repository {} has no {name}", self.path.display());
            GitError::odd(message).help("what agents have done lies there: restore the folder, or start a new session")
        })
    }

    fn find(&self, name: &str) -> Option<GitHash> {
        self.register().get(name).cloned()
    }

    fn below(&self, folder: &str) -> Vec<(String, GitHash)> {
        self.register().below(folder).map(|(name, hash)| (name.to_owned(), hash.clone())).collect()
    }

    fn update(&self, name: &str, to: &GitHash) -> GitResult<()> {
        self.register().set(&[(name, Some(to))])
    }

    fn register(&self) -> MutexGuard<'_, RefRegister> {
        self.register.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn git(&self) -> Git {
        self.grounded(Git::bare(&self.path))
    }

    /// Git that is started on this repository only if it is what Interlock made.
    pub(super) fn grounded(&self, git: Git) -> Git {
        git.grounded(Some(&self.ground))
    }

    /// Notes what is to be merged as soon as the report of an assignment is in: a crash in between would forget it.
    pub(crate) fn note_pending_merge(&self, assignment: &str, commit: &GitHash) -> GitResult<()> {
        self.update(&format!("{PENDING}{assignment}"), commit)
    }

    /// Commits that were to be merged and are not merged yet.
    pub(crate) fn pending_merges(&self) -> GitResult<Vec<(String, GitHash)>> {
        Ok(self.below(PENDING))
    }

    pub(crate) fn clear_pending_merge(&self, assignment: &str) -> GitResult<()> {
        self.register().set(&[(&format!("{PENDING}{assignment}"), None)])
    }
}

/// The name of something of a group. Groups have names that people choose.
fn of_group(group: &str, what: &str) -> String {
    format!("groups/{}/{what}", super::workspace::folder_name(group))
}

/// A name in the form that git accepts: no line ends, no angle brackets.
fn plain(text: &str) -> String {
    text.chars()
        .map(|character| if character.is_alphanumeric() || "-_.".contains(character) { character } else { '-' })
        .collect()
}

/// A repository without files that borrows the objects of another: the least that git takes for one. Written by hand: no
/// template of the user's with its hooks.
fn bare(path: &Path) -> GitResult<()> {
    for folder in ["objects/info", "objects/pack", "refs/heads"] {
        fs::create_dir_all(path.join(folder))?;
    }
    Ok(())
}

/// Removes the locks of a git that was killed. Only one run uses the repository, and no process of the last run
/// lives.
fn unlock(folder: &Path) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    for entry in entries.filter(|entry| entry.file_name().to_string_lossy().ends_with(".lock")) {
        let _ = fs::remove_file(entry.path());
    }
}
