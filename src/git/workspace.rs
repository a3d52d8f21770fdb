//! The files of one group, as its agents see them.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use crate::git::vault::skeleton;
use crate::git::{Git, Hash, Project, Result, Vault};

/// What an agent did to the files.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Changes {
    pub tree: Hash,
    pub files: Vec<String>,
    /// Links that lead out of the project.
    pub astray: Vec<String>,
}

#[derive(Clone, Debug)]
pub struct Workspace {
    pub folder: PathBuf,
    vault: Vault,
    index: PathBuf,
}

impl Workspace {
    /// The workspace of this name, made if it is not there yet.
    pub fn open(root: &Path, name: &str, vault: &Vault) -> Result<Self> {
        let name = folder_name(name);
        let workspace = Self {
            folder: root.join("work").join(&name),
            vault: vault.clone(),
            index: vault.path().join(format!("index-{name}")),
        };
        if !fs::symlink_metadata(&workspace.folder).is_ok_and(|found| found.is_dir()) {
            remove(&workspace.folder)?;
            // What the index remembers of files is not so any more.
            remove(&workspace.index)?;
            fs::create_dir_all(&workspace.folder)?;
            workspace.vault.forget(&workspace.folder);
        }
        Ok(workspace)
    }

    /// A repository for the agent's own use: `git status`, `git diff` and `git log` work, and push leads nowhere.
    fn furnish(&self, project: &Project) -> Result<()> {
        let own = self.folder.join(".git");
        skeleton(&own, project, "bare = false")?;
        // Also what the vault has: the commits of other groups that were merged.
        let borrowed = [&project.repository, self.vault.path()].map(|path| path.join("objects").display().to_string());
        fs::write(own.join("objects/info/alternates"), format!("{}\n", borrowed.join("\n")))?;
        fs::write(own.join("HEAD"), "ref: refs/heads/work\n")?;
        Ok(())
    }

    /// Makes the files those of a commit; what git ignores stays, as what was built does in anybody's checkout.
    pub fn show(&self, commit: &Hash, project: &Project) -> Result<()> {
        if self.vault.known(&self.folder) != Some(self.vault.tree(commit)?) {
            self.lay_out(commit)?;
        }
        // From now on an agent is at them.
        self.vault.forget(&self.folder);
        // Made anew each time: what an earlier agent did to it, links that lead elsewhere too, is gone.
        let own = self.folder.join(".git");
        remove(&own)?;
        self.furnish(project)?;
        fs::write(own.join("refs/heads/work"), format!("{commit}\n"))?;
        fs::copy(&self.index, own.join("index"))?;
        Ok(())
    }

    /// Makes the files those of a tree or a commit.
    pub fn lay_out(&self, tree: &Hash) -> Result<()> {
        let _ = fs::remove_file(self.lock());
        self.vault.forget(&self.folder);
        let is_new = !self.index.exists();
        self.git().ask(&["read-tree", "--reset", "-u", tree.as_str()])?;
        if !is_new {
            self.git().ask(&["clean", "-ffdq", "-e", "/.git"])?;
        }
        Ok(())
    }

    /// That nothing was changed since a commit was laid out, if so. Cheaper than [`Workspace::changes`], for roles that
    /// change nothing.
    pub fn unchanged(&self, since: &Hash) -> Result<Option<Changes>> {
        let _ = fs::remove_file(self.lock());
        let words =
            ["status", "--porcelain", "-z", "--untracked-files=all", "--no-renames", "--ignore-submodules=none"];
        let said = self.git().ask(&words)?;
        // The second letter is of the files against the index, which has what was laid out.
        let clean = said.split('\0').filter(|line| !line.is_empty()).all(|line| line.get(1..2) == Some(" "));
        if !clean {
            return Ok(None);
        }
        let tree = self.vault.tree(since)?;
        self.vault.know(&self.folder, &tree);
        Ok(Some(Changes { tree, files: Vec::new(), astray: Vec::new() }))
    }

    /// The files as they are now, against a commit.
    pub fn changes(&self, since: &Hash) -> Result<Changes> {
        let _ = fs::remove_file(self.lock());
        self.git().ask(&["add", "--all", "--", "."])?;
        let tree = Hash::parse(&self.git().ask(&["write-tree"])?)?;
        self.vault.know(&self.folder, &tree);
        let known = self.vault.tree(since)?;
        if known == tree {
            return Ok(Changes { tree, files: Vec::new(), astray: Vec::new() });
        }
        let arguments = ["diff-tree", "-r", "-z", "--no-renames", known.as_str(), tree.as_str()];
        let (mut files, mut astray) = (Vec::new(), Vec::new());
        let said = self.git().ask(&arguments)?;
        let mut parts = said.split('\0').filter(|part| !part.is_empty());
        while let (Some(modes), Some(path)) = (parts.next(), parts.next()) {
            if modes.split(' ').nth(1) == Some("120000") && leads_out(&self.folder, path) {
                astray.push(path.to_owned());
            }
            files.push(path.to_owned());
        }
        Ok(Changes { tree, files, astray })
    }

    /// A lock that a killed git left: nobody else uses this index.
    fn lock(&self) -> PathBuf {
        let mut name = self.index.clone().into_os_string();
        name.push(".lock");
        PathBuf::from(name)
    }

    fn git(&self) -> Git {
        Git::on(self.vault.path(), &self.folder, &self.index)
    }
}

/// Removes whatever is there, without following links.
fn remove(path: &Path) -> Result<()> {
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_dir() => Ok(fs::remove_dir_all(path)?),
        Ok(_) => Ok(fs::remove_file(path)?),
        Err(_) => Ok(()),
    }
}

/// Does a link lead to somewhere outside of the folder?
fn leads_out(folder: &Path, path: &str) -> bool {
    let Ok(target) = fs::read_link(folder.join(path)) else { return false };
    if target.is_absolute() {
        return true;
    }
    let mut depth = Path::new(path).components().count().saturating_sub(1);
    for part in target.components() {
        match part {
            std::path::Component::ParentDir if depth == 0 => return true,
            std::path::Component::ParentDir => depth -= 1,
            std::path::Component::Normal(_) => depth += 1,
            _ => {}
        }
    }
    false
}

/// A name for a folder or a ref, one for each group: what is not plain is written out in hex.
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

impl AsRef<OsStr> for Hash {
    fn as_ref(&self) -> &OsStr {
        self.0.as_ref()
    }
}
