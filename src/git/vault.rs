//! The repository of one session: what was handed in, and what it came to.
//!
//! It borrows the objects of the user's repository and has refs of its own:
//! `refs/interlock/base`: where the session began; `refs/heads/integration`: everything that was merged;
//! `refs/interlock/groups/GROUP/…`: the `base` of a group, what each assignment `aN` left, what it was `merged` as, and `onto`
//! what it has to be brought before it is merged again.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::git::{Error, Git, Hash, Message, Project, Result, remove};

const BASE: &str = "refs/interlock/base";
/// Commits that wait for the report of their assignment.
const PENDING: &str = "refs/interlock/pending/";
const INTEGRATION: &str = "refs/heads/integration";

/// In whose name something is committed.
#[derive(Clone, Debug)]
pub(crate) struct Who<'a> {
    pub role: &'a str,
    pub session: &'a str,
}

/// What came of trying a merge.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Attempt {
    /// It is in already.
    Contained(Hash),
    /// The tree that it would give, onto this commit.
    Clean { onto: Hash, tree: Hash },
    /// These files do not go together.
    Conflict { onto: Hash, files: Vec<String> },
}

#[derive(Clone, Debug)]
pub(crate) struct Vault {
    path: PathBuf,
    /// Trees of commits that were looked at: a commit never gets another.
    trees: Arc<Mutex<BTreeMap<Hash, Hash>>>,
    /// What the files of workspaces are known to be, while nobody is at them.
    files: Arc<Mutex<BTreeMap<PathBuf, Hash>>>,
    submodules: Arc<Mutex<Option<Arc<Vec<String>>>>>,
    /// What its configuration has to be.
    config: String,
}

impl Vault {
    /// The vault of a session, made if it is not there yet: from what the user has checked out.
    pub(crate) fn open(path: &Path, project: &Project) -> Result<Self> {
        let config = config(project, "bare = true");
        let vault = Self {
            path: path.to_owned(),
            trees: Arc::default(),
            files: Arc::default(),
            submodules: Arc::default(),
            config,
        };
        unlock(path);
        if vault.find(BASE)?.is_none() {
            let base = project.head()?;
            bare(path, project)?;
            vault.update(INTEGRATION, &base)?;
            vault.update(BASE, &base)?;
        }
        Ok(vault)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Where the session began.
    pub(crate) fn base(&self) -> Result<Hash> {
        self.get(BASE)
    }

    /// Everything that was merged so far.
    pub(crate) fn integration(&self) -> Result<Hash> {
        self.get(INTEGRATION)
    }

    /// Where a group began: from what was merged when its first agent started.
    pub(crate) fn group_base(&self, group: &str) -> Result<Hash> {
        let name = of_group(group, "base");
        if let Some(base) = self.find(&name)? {
            return Ok(base);
        }
        let base = self.integration()?;
        self.update(&name, &base)?;
        Ok(base)
    }

    /// Every assignment that left something, and what.
    pub(crate) fn all_left(&self, group: &str) -> Result<Vec<(String, Hash)>> {
        let mut left = self.refs(&of_group(group, ""))?;
        left.retain(|(name, _)| name.starts_with('a'));
        Ok(left)
    }

    pub(crate) fn leave(&self, group: &str, assignment: &str, commit: &Hash) -> Result<()> {
        self.update(&of_group(group, assignment), commit)
    }

    /// What a group was merged as.
    pub(crate) fn merged(&self, group: &str) -> Result<Option<Hash>> {
        self.find(&of_group(group, "merged"))
    }

    /// What a group has to be brought onto before it can be merged.
    pub(crate) fn onto(&self, group: &str) -> Result<Option<Hash>> {
        self.find(&of_group(group, "onto"))
    }

    pub(crate) fn bring_onto(&self, group: &str, commit: &Hash) -> Result<()> {
        self.update(&of_group(group, "onto"), commit)
    }

    pub(crate) fn tree(&self, commit: &Hash) -> Result<Hash> {
        if let Some(tree) = self.trees().get(commit) {
            return Ok(tree.clone());
        }
        let tree = Hash::parse(&self.git().ask(&["rev-parse", "--verify", &format!("{commit}^{{tree}}")])?)?;
        self.trees().insert(commit.clone(), tree.clone());
        Ok(tree)
    }

    pub(super) fn known(&self, folder: &Path) -> Option<Hash> {
        self.files().get(folder).cloned()
    }

    pub(super) fn know(&self, folder: &Path, tree: &Hash) {
        self.files().insert(folder.to_owned(), tree.clone());
    }

    pub(super) fn forget(&self, folder: &Path) {
        self.files().remove(folder);
    }

    fn files(&self) -> MutexGuard<'_, BTreeMap<PathBuf, Hash>> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Where the project has submodules. The same for the whole session: nobody can add any.
    pub(super) fn submodules(&self) -> Result<Arc<Vec<String>>> {
        let mut held = self.submodules.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = &*held {
            return Ok(Arc::clone(known));
        }
        let said = self.git().ask(&["ls-tree", "-r", "-z", self.base()?.as_str()])?;
        let links = said.split('\0').filter(|entry| entry.starts_with("160000 "));
        let paths = links.filter_map(|entry| entry.split_once('\t')).map(|(_, path)| path.to_owned()).collect();
        Ok(Arc::clone(held.insert(Arc::new(paths))))
    }

    fn trees(&self) -> MutexGuard<'_, BTreeMap<Hash, Hash>> {
        self.trees.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn contains(&self, newer: &Hash, older: &Hash) -> Result<bool> {
        let (code, _) = self.git().answer(&["merge-base", "--is-ancestor", older.as_str(), newer.as_str()])?;
        match code {
            Some(0) => Ok(true),
            Some(1) => Ok(false),
            _ => Err(Error::odd("git cannot tell whether one commit contains another")),
        }
    }

    pub(crate) fn commit(&self, tree: &Hash, parents: &[&Hash], who: &Who<'_>, message: &Message) -> Result<Hash> {
        let mut arguments = vec!["commit-tree", tree.as_str()];
        for parent in parents {
            arguments.extend(["-p", parent.as_str()]);
        }
        let email = format!("{}@{}.interlock.invalid", plain(who.role), plain(who.session));
        let git = self.git();
        let git = git.with("GIT_AUTHOR_NAME", plain(who.role)).with("GIT_AUTHOR_EMAIL", &email);
        let git =
            git.with("GIT_COMMITTER_NAME", "Interlock").with("GIT_COMMITTER_EMAIL", "interlock@interlock.invalid");
        let commit = Hash::parse(&git.tell(&arguments, &message.to_string())?)?;
        self.trees().insert(commit.clone(), tree.clone());
        Ok(commit)
    }

    /// Puts what a group has come to together with everything merged, without touching any file.
    pub(crate) fn try_merge(&self, group: &str, commit: &Hash) -> Result<Attempt> {
        let onto = self.integration()?;
        let nothing_done = *commit == onto || *commit == self.group_base(group)?;
        // A merge may have been made and not reported: only a group that has one is worth the look.
        if nothing_done || (self.merged(group)?.is_some() && self.contains(&onto, commit)?) {
            return Ok(Attempt::Contained(onto));
        }
        let (tree, files) = self.together(&onto, commit)?;
        Ok(if files.is_empty() { Attempt::Clean { onto, tree } } else { Attempt::Conflict { onto, files } })
    }

    /// The tree of both, with the marks of what does not go together, and the files that have such marks.
    pub(crate) fn together(&self, ours: &Hash, theirs: &Hash) -> Result<(Hash, Vec<String>)> {
        let words = ["merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", "--allow-unrelated-histories"];
        let mut arguments = words.to_vec();
        arguments.extend([ours.as_str(), theirs.as_str()]);
        let (code, said) = self.git().answer(&arguments)?;
        if !matches!(code, Some(0 | 1)) {
            return Err(Error::odd(format!("git merge-tree failed: {}", said.trim())));
        }
        let mut parts = said.split('\0').filter(|part| !part.is_empty());
        let tree = Hash::parse(parts.next().unwrap_or_default())?;
        Ok((tree, parts.map(str::to_owned).collect()))
    }

    /// Makes a merge the state of things, unless something else was merged in between.
    pub(crate) fn publish(&self, group: &str, merge: &Hash, onto: &Hash) -> Result<()> {
        if self.integration()? != *onto {
            return Err(Error::odd("something else was merged in between"));
        }
        // In this order: one that is in is known to be; one that is known and not in is made again.
        self.update(&of_group(group, "merged"), merge)?;
        self.update(INTEGRATION, merge)
    }

    /// The branch of the user's repository that has the result.
    pub(crate) fn hand_over(&self, project: &Project, branch: &str) -> Result<Hash> {
        let result = self.integration()?;
        project.take(&self.path, &result, branch)?;
        Ok(result)
    }

    /// Files that differ between two commits.
    pub(crate) fn changed(&self, from: &Hash, to: &Hash) -> Result<Vec<String>> {
        let said =
            self.git().ask(&["diff-tree", "-r", "-z", "--name-only", "--no-renames", from.as_str(), to.as_str()])?;
        Ok(said.split('\0').filter(|name| !name.is_empty()).map(str::to_owned).collect())
    }

    fn get(&self, name: &str) -> Result<Hash> {
        self.find(name)?.ok_or_else(|| {
            let message = format!("the session's repository {} has no {name}", self.path.display());
            Error::odd(message).help("what agents have done lies there: restore the folder, or start a new session")
        })
    }

    /// A ref is a file with a hash in it. Nobody but this process writes here and nothing packs them, so no program has to
    /// be started to read or write one.
    fn find(&self, name: &str) -> Result<Option<Hash>> {
        match fs::read_to_string(self.path.join(name)) {
            Ok(text) => Hash::parse(&text).map(Some),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// The refs whose names begin with a folder.
    fn refs(&self, folder: &str) -> Result<Vec<(String, Hash)>> {
        let entries = match fs::read_dir(self.path.join(folder)) {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error.into()),
        };
        let mut refs = Vec::new();
        for entry in entries {
            let Ok(name) = entry?.file_name().into_string() else { continue };
            if let Some(commit) = self.find(&format!("{folder}{name}"))? {
                refs.push((name, commit));
            }
        }
        Ok(refs)
    }

    /// There whole or not at all, whenever the machine stops.
    fn update(&self, name: &str, to: &Hash) -> Result<()> {
        let path = self.path.join(name);
        fs::create_dir_all(path.parent().unwrap_or(&self.path))?;
        let partial = self.path.join(format!("new-{}", name.replace('/', "+")));
        let mut file = File::create(&partial)?;
        file.write_all(format!("{to}\n").as_bytes())?;
        file.sync_data()?;
        Ok(fs::rename(&partial, &path)?)
    }

    pub(super) fn git(&self) -> Git {
        self.settle();
        Git::bare(&self.path)
    }

    /// The vault lies within an agent's reach. What git would obey there is what Interlock wrote.
    pub(super) fn settle(&self) {
        // It would name another repository, with other refs and another configuration.
        let _ = remove(&self.path.join("commondir"));
        let path = self.path.join("config");
        if self.path.join("HEAD").exists() && fs::read(&path).ok().as_deref() != Some(self.config.as_bytes()) {
            // If it cannot be written, git says more of why than could be said here.
            let partial = crate::files::partial(&path);
            let _ = fs::write(&partial, &self.config).and_then(|()| fs::rename(&partial, &path));
        }
    }

    /// Notes what is to be merged as soon as the report of an assignment is in: a crash in between would forget it.
    pub(crate) fn intend(&self, assignment: &str, commit: &Hash) -> Result<()> {
        self.update(&format!("{PENDING}{assignment}"), commit)
    }

    /// What was to be merged, and has not been.
    pub(crate) fn intended(&self) -> Result<Vec<(String, Hash)>> {
        self.refs(PENDING)
    }

    pub(crate) fn settled(&self, assignment: &str) -> Result<()> {
        Ok(remove(&self.path.join(format!("{PENDING}{assignment}")))?)
    }
}

/// The name of a ref of a group. Groups have names that people choose.
fn of_group(group: &str, what: &str) -> String {
    format!("refs/interlock/groups/{}/{what}", super::workspace::folder_name(group))
}

/// What git takes as a name: no line ends, no angle brackets.
fn plain(text: &str) -> String {
    text.chars()
        .map(|character| if character.is_alphanumeric() || "-_.".contains(character) { character } else { '-' })
        .collect()
}

/// A repository without files that borrows the objects of another.
fn bare(path: &Path, project: &Project) -> Result<()> {
    skeleton(path, project, "bare = true")?;
    fs::write(path.join("HEAD"), "ref: refs/heads/integration\n")?;
    Ok(())
}

/// The least that git takes for a repository. Written by hand: one program less to start for each group, and no template
/// of the user's with its hooks.
pub(super) fn skeleton(path: &Path, project: &Project, kind: &str) -> Result<()> {
    for folder in ["objects/info", "objects/pack", "refs/heads", "refs/tags", "info"] {
        fs::create_dir_all(path.join(folder))?;
    }
    let objects = project.repository.join("objects");
    fs::write(path.join("objects/info/alternates"), format!("{}\n", objects.display()))?;
    // A clone that was cut short is known to be one, or its missing history would be taken for damage.
    let shallow = project.repository.join("shallow");
    if shallow.exists() {
        fs::copy(&shallow, path.join("shallow"))?;
    }
    fs::write(path.join("config"), config(project, kind))?;
    Ok(())
}

fn config(project: &Project, kind: &str) -> String {
    let (version, extension) = match project.format.as_str() {
        "sha1" => (0, String::new()),
        format => (1, format!("[extensions]\n\tobjectFormat = {format}\n")),
    };
    let core = format!("[core]\n\trepositoryFormatVersion = {version}\n\t{kind}\n\thooksPath = /dev/null\n");
    format!("{core}[gc]\n\tauto = 0\n{extension}")
}

/// Takes the locks away that a git left that was killed. Only one run has the vault, and nothing of the last one lives.
fn unlock(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if is_folder && name != "objects" {
            unlock(&entry.path());
        } else if !is_folder && name.to_string_lossy().ends_with(".lock") {
            let _ = fs::remove_file(entry.path());
        }
    }
}
