//! The files of one group, as its agents see them.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Component, Path, PathBuf};

use interlock_core::observed::FileChange;

use crate::git::agent_repo::AgentRepo;
use crate::git::clean_checkout::{TreeEntry, entry_of};
use crate::git::{Git, GitHash, GitResult, ProjectRepo, SessionRepo};
use interlock_system::files;
use interlock_system::files::{beside, remove};

/// Changes that an agent made to the files.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct WorkspaceChanges {
    pub tree: GitHash,
    pub files: Vec<PathBuf>,
    /// The same files, with how each was changed.
    pub entries: Vec<ChangedPath>,
    /// Links that lead out of the project.
    pub astray: Vec<String>,
    /// Repositories within the project. Git would keep their name, and not what is in them.
    pub repositories: Vec<String>,
    /// Files within submodules, which cannot be accepted. Each change is reported once.
    pub strays: Vec<PathBuf>,
    /// Why none of the changes can be accepted.
    pub refused: Option<String>,
}

/// A file that differs from what was laid out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct ChangedPath {
    pub path: PathBuf,
    pub change: FileChange,
    /// A link or a repository: other paths lead through it.
    pub leads_on: bool,
}

impl WorkspaceChanges {
    fn none(tree: GitHash) -> Self {
        let (files, strays, entries) = (Vec::new(), Vec::new(), Vec::new());
        Self { tree, files, entries, astray: Vec::new(), repositories: Vec::new(), strays, refused: None }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Workspace {
    pub folder: PathBuf,
    pub(super) vault: SessionRepo,
    index: PathBuf,
}

impl Workspace {
    /// The workspace of this name, made if it is not there yet.
    pub(crate) fn open(root: &Path, name: &str, vault: &SessionRepo) -> GitResult<Self> {
        let name = folder_name(name);
        let workspace = Self {
            folder: root.join("work").join(&name),
            vault: vault.clone(),
            index: vault.path().join(format!("index-{name}")),
        };
        if !workspace.is_there() {
            workspace.recreate_folder()?;
        }
        Ok(workspace)
    }

    /// Whether it is a folder in a real folder. A link would lead git, which cleans it, to files elsewhere.
    fn is_there(&self) -> bool {
        let above = self.folder.parent().unwrap_or(Path::new(""));
        [above, &self.folder].iter().all(|path| is_folder(path))
    }

    /// An empty folder in the place of whatever is there.
    pub(crate) fn recreate_folder(&self) -> GitResult<()> {
        let above = self.folder.parent().unwrap_or(Path::new(""));
        if !is_folder(above) {
            remove(above)?;
        }
        self.vault.forget(&self.folder);
        remove(&self.folder)?;
        for file in [&self.index, &self.ready()] {
            remove(file)?;
        }
        Ok(fs::create_dir_all(&self.folder)?)
    }

    /// A file beside it that says that it was made ready: not in it, where an agent could forget it.
    pub(crate) fn ready(&self) -> PathBuf {
        let name = self.folder.file_name().unwrap_or_default().to_string_lossy();
        self.vault.path().join(format!("ready-{name}"))
    }

    /// Makes the files those of a commit. Files that git ignores stay, as build output does in any checkout.
    pub(crate) fn show(&self, commit: &GitHash, project: &ProjectRepo) -> GitResult<()> {
        if self.vault.known(&self.folder) != Some(self.vault.tree(commit)?) {
            self.lay_out(commit)?;
        }
        // From now on an agent is at them.
        self.vault.forget(&self.folder);
        AgentRepo::of(&self.folder, project, self.vault.path()).show(commit, &self.index)
    }

    /// Makes the files those of a tree or a commit.
    pub(crate) fn lay_out(&self, tree: &GitHash) -> GitResult<()> {
        if self.is_there() && self.try_lay_out(tree).is_ok() {
            return Ok(());
        }
        // Agents leave things that git cannot deal with.
        self.recreate_folder()?;
        self.try_lay_out(tree)
    }

    /// Restores the files to the tree that was laid out, if they were changed.
    pub(crate) fn put_back(&self, tree: &GitHash) -> GitResult<()> {
        let is_so = matches!(self.unchanged(tree), Ok(Some(_)));
        // The next one may be at them at once.
        self.vault.forget(&self.folder);
        if is_so { Ok(()) } else { self.lay_out(tree) }
    }

    fn try_lay_out(&self, tree: &GitHash) -> GitResult<()> {
        self.clear_the_way();
        self.vault.forget(&self.folder);
        let is_empty = fs::read_dir(&self.folder)?.next().is_none();
        if is_empty {
            remove(&self.index)?;
        } else {
            self.repair_index(tree)?;
        }
        self.git().run_git(&["read-tree", "--reset", "-u", tree.as_str()])?;
        if !is_empty {
            self.git().run_git(&["clean", "-ffdq", "-e", "/.git"])?;
        }
        self.vault.note_index(&self.index)
    }

    /// Agents can reach the index, which can make git skip files. An index that differs from the one that git left is
    /// rebuilt from the files.
    fn repair_index(&self, tree: &GitHash) -> GitResult<()> {
        if self.vault.is_index_noted(&self.index) {
            return Ok(());
        }
        remove(&self.index)?;
        self.git().run_git(&["read-tree", tree.as_str()])?;
        // Its exit code tells whether there are changes.
        self.git().run_unchecked(&["update-index", "-q", "--refresh"])?;
        self.vault.note_index(&self.index)
    }

    /// That nothing was changed since a commit was laid out, if so. Cheaper than [`Workspace::changes`], for roles that
    /// change nothing.
    pub(crate) fn unchanged(&self, since: &GitHash) -> GitResult<Option<WorkspaceChanges>> {
        if !self.is_there() {
            return Ok(None);
        }
        self.clear_the_way();
        self.repair_index(since)?;
        // Git would look into submodules, and run what is configured there.
        let words = ["status", "--porcelain", "-z", "--untracked-files=all", "--no-renames", "--ignore-submodules=all"];
        let said = self.git().run_git(&words)?;
        // The second letter is of the files against the index, which has what was laid out.
        let clean = said.split('\0').filter(|line| !line.is_empty()).all(|line| line.get(1..2) == Some(" "));
        if !clean {
            return Ok(None);
        }
        let tree = self.vault.tree(since)?;
        self.vault.know(&self.folder, &tree);
        Ok(Some(WorkspaceChanges::none(tree)))
    }

    /// The files as they are now, against a commit.
    pub(crate) fn changes(&self, since: &GitHash) -> GitResult<WorkspaceChanges> {
        let known = self.vault.tree(since)?;
        let refused =
            |why: String| Ok(WorkspaceChanges { refused: Some(why), ..WorkspaceChanges::none(known.clone()) });
        if !self.is_there() {
            return refused("the folder is gone, or something else is in its place".to_owned());
        }
        self.clear_the_way();
        self.repair_index(since)?;
        // Names that git does not accept and unreadable files come from the agent: its work is refused, and the run
        // does not fail.
        if let Err(error) = self.add() {
            return refused(error.message);
        }
        let mut changes = WorkspaceChanges { strays: self.strays()?, ..WorkspaceChanges::none(self.write_tree()?) };
        self.vault.know(&self.folder, &changes.tree);
        if known == changes.tree {
            return Ok(changes);
        }
        let mut entries = self.differences(&known, &changes.tree)?;
        if self.keep_untouched(&mut entries)? {
            changes.tree = self.write_tree()?;
            self.vault.know(&self.folder, &changes.tree);
        }
        for entry in entries {
            let shown = entry.path().to_string_lossy().into_owned();
            match entry.mode.as_str() {
                "120000" if leads_out(&self.folder, entry.path()) => changes.astray.push(shown),
                "160000" => changes.repositories.push(shown),
                _ => {}
            }
            changes.files.push(entry.path().to_owned());
            changes.entries.push(ChangedPath {
                path: entry.path().to_owned(),
                change: entry.change(),
                leads_on: matches!(entry.mode.as_str(), "120000" | "160000"),
            });
        }
        Ok(changes)
    }

    /// Those of the paths that git ignores, or that lie in a submodule: no diff has them.
    pub(crate) fn untracked_by_rule(&self, paths: &[String]) -> GitResult<Vec<String>> {
        let submodules = self.vault.submodules()?;
        let in_submodule =
            |path: &&String| submodules.iter().any(|one| Path::new(path.as_str()).starts_with(&one.path));
        let (mut found, asked): (Vec<String>, Vec<String>) =
            paths.iter().cloned().partition(|path| in_submodule(&path));
        if asked.is_empty() {
            return Ok(found);
        }
        let input: String = asked.iter().flat_map(|path| [path.as_str(), "\0"]).collect();
        let said = self.git().output(&["check-ignore", "-z", "--stdin"], input.as_bytes())?;
        // Exit code 1 means that it ignores none of them; anything else that it could not say.
        match said.status.code() {
            Some(0 | 1) => found
                .extend(said.stdout.split(|byte| *byte == 0).map(|path| String::from_utf8_lossy(path).into_owned())),
            _ => found.extend(asked),
        }
        Ok(found)
    }

    /// Puts these paths back to what they are in an earlier tree, and leaves all other files as `changed` has them.
    pub(crate) fn undo(&self, changed: &GitHash, paths: &BTreeSet<PathBuf>, earlier: &GitHash) -> GitResult<()> {
        let index = beside(&self.folder, "undone");
        remove(&index)?;
        let git = self.git_with(&index);
        git.run_git(&["read-tree", changed.as_str()])?;
        let entries = git.run_for_list(&["ls-tree", "-r", "-z", earlier.as_str()])?;
        let before = entries.iter().filter_map(|line| entry_of(line)).filter(|entry| paths.contains(&entry.path));
        let absent = paths.iter().map(|path| TreeEntry::absent(path.clone(), changed.as_str().len()));
        let listed: Vec<u8> = absent.chain(before).flat_map(|entry| entry.index_info()).collect();
        git.run_with_input(&["update-index", "-z", "--index-info"], listed)?;
        let tree = GitHash::parse(&git.run_git(&["write-tree"])?)?;
        remove(&index)?;
        self.lay_out(&tree)
    }

    pub(super) fn write_tree(&self) -> GitResult<GitHash> {
        let tree = GitHash::parse(&self.git().run_git(&["write-tree"])?)?;
        // It notes in the index what it has found.
        self.vault.note_index(&self.index)?;
        Ok(tree)
    }

    /// Takes the files into the index, but for submodules: git would look into them, and run what is configured there.
    fn add(&self) -> GitResult<()> {
        let mut arguments: Vec<OsString> = ["add", "--all", "--", "."].map(OsString::from).to_vec();
        for submodule in self.vault.submodules()?.iter() {
            let mut but = OsString::from(":(exclude,literal)");
            but.push(&submodule.path);
            arguments.push(but);
        }
        self.git().run_git(&arguments).map(|_| ())
    }

    /// Removes files that would make git wait: pipes that agents left anywhere, and the lock of a git that was
    /// killed.
    fn clear_the_way(&self) {
        files::sweep(&self.folder);
        let _ = remove(&self.lock());
    }

    /// The lock file of the index. Only this workspace uses the index.
    fn lock(&self) -> PathBuf {
        let mut name = self.index.clone().into_os_string();
        name.push(".lock");
        PathBuf::from(name)
    }

    pub(super) fn git(&self) -> Git {
        self.git_with(&self.index)
    }

    pub(super) fn git_with(&self, index: &Path) -> Git {
        self.vault.grounded(Git::on(self.vault.path(), &self.folder, index))
    }
}

fn is_folder(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| found.is_dir())
}

/// Does a link lead to somewhere outside of the folder? One that cannot be read is taken to.
fn leads_out(folder: &Path, path: &Path) -> bool {
    let Ok(target) = fs::read_link(folder.join(path)) else { return true };
    let mut depth = path.components().count().saturating_sub(1);
    let mut is_down = false;
    for part in target.components() {
        match part {
            Component::ParentDir if depth == 0 => return true,
            // Below may be another link, and what is above that one only the disk knows.
            Component::ParentDir if is_down => return true,
            Component::ParentDir => depth -= 1,
            Component::Normal(_) => is_down = true,
            Component::CurDir => {}
            Component::RootDir | Component::Prefix(_) => return true,
        }
    }
    false
}

/// A name for a folder, one for each group: what is not plain is written out in hex.
pub(super) fn folder_name(group: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    if !group.is_empty() && group.len() <= 60 && group.bytes().all(plain) {
        return group.to_owned();
    }
    let mut name: String = group.chars().filter(char::is_ascii_alphanumeric).take(20).collect();
    name.push('.');
    name.push_str(&blake3::hash(group.as_bytes()).to_hex()[..16]);
    name
}

impl AsRef<OsStr> for GitHash {
    fn as_ref(&self) -> &OsStr {
        self.0.as_ref()
    }
}
