//! A checkout that holds exactly one tree, for commands that Interlock runs itself.
//!
//! The folder is used again, so that files that did not change keep their times and build tools do not rebuild them. That
//! must not let anything survive: before each use every file is compared with its object by content, and whatever is not in
//! the tree is removed, files that git ignores included. No agent is given this folder.

use std::fs;
use std::path::{Path, PathBuf};

use crate::git::agent_repo::AgentRepo;
use crate::git::{Git, GitError, GitHash, GitResult, ProjectRepo, SessionRepo, path_of};
use interlock_system::files;
use interlock_system::files::{beside, remove};

/// Files that are not part of the tree.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Leftovers {
    /// All are removed.
    Removed,
    /// Those that git ignores stay: what one command builds, the next one of the same gate may use.
    IgnoredStay,
}

/// A file of a tree.
#[derive(Clone, Debug)]
pub(crate) struct TreeEntry {
    pub(crate) mode: String,
    pub(crate) object: String,
    pub(crate) path: PathBuf,
}

impl TreeEntry {
    /// As `git update-index -z --index-info` reads it.
    pub(super) fn index_info(&self) -> Vec<u8> {
        let mut line = format!("{} {}\t", self.mode, self.object).into_bytes();
        line.extend_from_slice(std::os::unix::ffi::OsStrExt::as_bytes(self.path.as_os_str()));
        line.push(0);
        line
    }

    /// The entry that removes a path from an index.
    pub(super) fn absent(path: PathBuf, hash_length: usize) -> Self {
        Self { mode: "0".to_owned(), object: "0".repeat(hash_length), path }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct CleanCheckout {
    pub(crate) folder: PathBuf,
    index: PathBuf,
    git: Git,
    /// Where the objects of the tree are, beside those of the project.
    objects: PathBuf,
    /// Knows the index of the folder as git left it, in this process.
    vault: Option<SessionRepo>,
}

impl CleanCheckout {
    /// For trees of a session's own repository.
    pub(crate) fn of_vault(vault: &SessionRepo, folder: &Path) -> Self {
        let index = beside(folder, "index");
        let git = vault.grounded(Git::on(vault.path(), folder, &index));
        let objects = vault.path().join("objects");
        Self { folder: folder.to_owned(), index, git, objects, vault: Some(vault.clone()) }
    }

    /// For trees of the user's repository. Objects that are not in it lie in the folder `objects`.
    pub(crate) fn of_project(project: &ProjectRepo, objects: &Path, folder: &Path) -> Self {
        let index = beside(folder, "index");
        let git = project.with_objects(Git::on(&project.repository, folder, &index), objects);
        Self { folder: folder.to_owned(), index, git, objects: objects.to_owned(), vault: None }
    }

    /// Makes the folder, if it is not there. A link in its place would lead git to files elsewhere.
    pub(crate) fn make_folder(&self) -> GitResult<()> {
        match fs::symlink_metadata(&self.folder).is_ok_and(|found| found.is_dir()) {
            true => Ok(()),
            false => self.empty(),
        }
    }

    /// Makes the files those of a tree, and nothing else.
    pub(crate) fn lay_out(&self, tree: &GitHash, leftovers: Leftovers) -> GitResult<()> {
        self.make_folder()?;
        if self.try_lay_out(tree, leftovers).is_ok() {
            return Ok(());
        }
        // Commands leave things that git cannot deal with.
        self.empty()?;
        self.try_lay_out(tree, leftovers)
    }

    /// Makes the files those of a tree again, after a command has run on them.
    pub(crate) fn put_back(&self, tree: &GitHash, leftovers: Leftovers) -> GitResult<()> {
        match self.is_index_known() && self.is_exact(leftovers).unwrap_or(false) {
            true => self.empty_submodules(leftovers),
            false => self.lay_out(tree, leftovers),
        }
    }

    fn empty(&self) -> GitResult<()> {
        remove(&self.folder)?;
        Ok(fs::create_dir_all(&self.folder)?)
    }

    fn try_lay_out(&self, tree: &GitHash, leftovers: Leftovers) -> GitResult<()> {
        // A program that opens a pipe waits for ever.
        files::sweep(&self.folder);
        remove(&beside(&self.folder, "index.lock"))?;
        if !self.is_index_known() {
            // A new index knows nothing of the files, so git has to read each of them.
            remove(&self.index)?;
            self.git.run_git(&["read-tree", tree.as_str()])?;
            if fs::read_dir(&self.folder)?.next().is_some() {
                // Its exit code tells whether there are changes.
                self.git.run_unchecked(&["update-index", "-q", "--really-refresh"])?;
            }
        }
        self.git.run_git(&["read-tree", "--reset", "-u", tree.as_str()])?;
        if !self.is_exact(leftovers)? {
            let flags = if leftovers == Leftovers::Removed { "-ffdxq" } else { "-ffdq" };
            self.git.run_git(&["clean", flags, "-e", "/.git"])?;
            if !self.is_exact(leftovers)? {
                return Err(GitError::odd("the files of a checkout are not those of its tree"));
            }
        }
        self.empty_submodules(leftovers)?;
        self.vault.as_ref().map_or(Ok(()), |vault| vault.note_index(&self.index))
    }

    /// The index lies within the reach of agents, and can say of files that they need not be looked at.
    fn is_index_known(&self) -> bool {
        self.vault.as_ref().is_some_and(|vault| vault.is_index_noted(&self.index))
    }

    /// Whether every file is as in the index, and nothing else is there: no file, and no empty folder.
    fn is_exact(&self, leftovers: Leftovers) -> GitResult<bool> {
        files::sweep(&self.folder);
        let mut words = vec!["ls-files", "-z", "--others", "--directory", "--modified", "--deleted"];
        if leftovers == Leftovers::IgnoredStay {
            words.push("--exclude-standard");
        }
        Ok(self.git.run_for_list(&words)?.is_empty())
    }

    /// Git does not clean the folders of submodules.
    fn empty_submodules(&self, leftovers: Leftovers) -> GitResult<()> {
        if leftovers == Leftovers::IgnoredStay || fs::symlink_metadata(self.folder.join(".gitmodules")).is_err() {
            return Ok(());
        }
        for entry in self.entries(&["ls-files", "--stage", "-z"])?.iter().filter(|entry| entry.mode == "160000") {
            let folder = self.folder.join(&entry.path);
            remove(&folder)?;
            fs::create_dir_all(&folder)?;
        }
        Ok(())
    }

    /// A small repository in the folder, for commands that ask git where they are.
    pub(crate) fn add_repository(&self, commit: &GitHash, project: &ProjectRepo) -> GitResult<()> {
        let borrowed = self.objects.parent().unwrap_or(&self.objects);
        AgentRepo::of(&self.folder, project, borrowed).show(commit, &self.index)
    }

    /// Removes the repository in the folder, where there is no commit to show.
    pub(crate) fn remove_repository(&self) -> GitResult<()> {
        Ok(remove(&self.folder.join(".git"))?)
    }

    /// The files of a tree.
    pub(crate) fn files_of(&self, tree: &GitHash) -> GitResult<Vec<TreeEntry>> {
        self.entries(&["ls-tree", "-r", "-z", tree.as_str()])
    }

    /// A tree that has only these of its files.
    pub(crate) fn tree_with(&self, entries: &[TreeEntry]) -> GitResult<GitHash> {
        remove(&self.index)?;
        let listed: Vec<u8> = entries.iter().flat_map(TreeEntry::index_info).collect();
        self.git.run_with_input(&["update-index", "-z", "--index-info"], listed)?;
        GitHash::parse(&self.git.run_git(&["write-tree"])?)
    }

    /// Each line has a mode and an object first, and the path after a tab.
    fn entries(&self, arguments: &[&str]) -> GitResult<Vec<TreeEntry>> {
        let said = self.git.run_for_list(arguments)?;
        said.iter()
            .map(|line| entry_of(line).ok_or_else(|| GitError::odd("git printed a tree that cannot be read")))
            .collect()
    }
}

/// `MODE [TYPE] OBJECT [STAGE]<tab>PATH`
pub(super) fn entry_of(line: &[u8]) -> Option<TreeEntry> {
    let tab = line.iter().position(|byte| *byte == b'\t')?;
    let words = String::from_utf8_lossy(line.get(..tab)?);
    let mode = words.split(' ').next()?.to_owned();
    let object = words.split(' ').find(|word| matches!(word.len(), 40 | 64))?.to_owned();
    Some(TreeEntry { mode, object, path: path_of(line.get(tab + 1..)?) })
}
