//! The repository of one session: what was handed in, and what it came to.
//!
//! It borrows the objects of the user's repository and has refs of its own:
//! `refs/interlock/base`: where the session began; `refs/heads/integration`: everything that was merged;
//! `refs/interlock/GROUP/…`: the `base` of a group, what each assignment `aN` left, what it was `merged` as, and `onto`
//! what it has to be brought before it is merged again.

use std::fs;
use std::path::{Path, PathBuf};

use crate::git::{Error, Git, Hash, Project, Result};

const BASE: &str = "refs/interlock/base";
const INTEGRATION: &str = "refs/heads/integration";

/// In whose name something is committed.
#[derive(Clone, Debug)]
pub struct Who<'a> {
    pub role: &'a str,
    pub session: &'a str,
}

/// What came of trying a merge.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Attempt {
    /// It is in already.
    Contained(Hash),
    /// The tree that it would give, onto this commit.
    Clean { onto: Hash, tree: Hash },
    /// These files do not go together.
    Conflict { onto: Hash, files: Vec<String> },
}

#[derive(Clone, Debug)]
pub struct Vault {
    path: PathBuf,
}

impl Vault {
    /// The vault of a session, made if it is not there yet: from what the user has checked out.
    pub fn open(path: &Path, project: &Project) -> Result<Self> {
        let vault = Self { path: path.to_owned() };
        if vault.find(BASE)?.is_none() {
            let base = project.head()?;
            bare(path, project)?;
            vault.update(INTEGRATION, &base, None)?;
            vault.update(BASE, &base, None)?;
        }
        Ok(vault)
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where the session began.
    pub fn base(&self) -> Result<Hash> {
        self.get(BASE)
    }

    /// Everything that was merged so far.
    pub fn integration(&self) -> Result<Hash> {
        self.get(INTEGRATION)
    }

    /// Where a group began: from what was merged when its first agent started.
    pub fn group_base(&self, group: &str) -> Result<Hash> {
        let name = of_group(group, "base");
        if let Some(base) = self.find(&name)? {
            return Ok(base);
        }
        let base = self.integration()?;
        self.update(&name, &base, None)?;
        Ok(base)
    }

    /// What an assignment left.
    pub fn left(&self, group: &str, assignment: &str) -> Result<Option<Hash>> {
        self.find(&of_group(group, assignment))
    }

    /// Every assignment that left something, and what.
    pub fn all_left(&self, group: &str) -> Result<Vec<(String, Hash)>> {
        let prefix = of_group(group, "");
        let said = self.git().ask(&["for-each-ref", "--format=%(refname) %(objectname)", &prefix])?;
        let lines = said.lines().filter_map(|line| line.split_once(' '));
        let left = lines.filter_map(|(name, hash)| Some((name.strip_prefix(&prefix)?.to_owned(), hash)));
        left.filter(|(name, _)| name.starts_with('a')).map(|(name, hash)| Ok((name, Hash::parse(hash)?))).collect()
    }

    pub fn leave(&self, group: &str, assignment: &str, commit: &Hash) -> Result<()> {
        self.update(&of_group(group, assignment), commit, None)
    }

    /// What a group was merged as.
    pub fn merged(&self, group: &str) -> Result<Option<Hash>> {
        self.find(&of_group(group, "merged"))
    }

    /// What a group has to be brought onto before it can be merged.
    pub fn onto(&self, group: &str) -> Result<Option<Hash>> {
        self.find(&of_group(group, "onto"))
    }

    pub fn bring_onto(&self, group: &str, commit: &Hash) -> Result<()> {
        self.update(&of_group(group, "onto"), commit, None)
    }

    pub fn tree(&self, commit: &Hash) -> Result<Hash> {
        Hash::parse(&self.git().ask(&["rev-parse", "--verify", &format!("{commit}^{{tree}}")])?)
    }

    pub fn contains(&self, newer: &Hash, older: &Hash) -> Result<bool> {
        let (code, _) = self.git().answer(&["merge-base", "--is-ancestor", older.as_str(), newer.as_str()])?;
        match code {
            Some(0) => Ok(true),
            Some(1) => Ok(false),
            _ => Err(Error::odd("git cannot tell whether one commit contains another")),
        }
    }

    pub fn commit(&self, tree: &Hash, parents: &[&Hash], who: &Who<'_>, message: &str) -> Result<Hash> {
        let mut arguments = vec!["commit-tree", tree.as_str()];
        for parent in parents {
            arguments.extend(["-p", parent.as_str()]);
        }
        let email = format!("{}@{}.interlock.invalid", plain(who.role), plain(who.session));
        let git = self.git();
        let git = git.with("GIT_AUTHOR_NAME", plain(who.role)).with("GIT_AUTHOR_EMAIL", &email);
        let git =
            git.with("GIT_COMMITTER_NAME", "Interlock").with("GIT_COMMITTER_EMAIL", "interlock@interlock.invalid");
        Hash::parse(&git.tell(&arguments, message)?)
    }

    /// Puts two commits together without touching any file.
    pub fn try_merge(&self, commit: &Hash) -> Result<Attempt> {
        let onto = self.integration()?;
        if self.contains(&onto, commit)? {
            return Ok(Attempt::Contained(onto));
        }
        let (tree, files) = self.together(&onto, commit)?;
        Ok(if files.is_empty() { Attempt::Clean { onto, tree } } else { Attempt::Conflict { onto, files } })
    }

    /// The tree of both, with the marks of what does not go together, and the files that have such marks.
    pub fn together(&self, ours: &Hash, theirs: &Hash) -> Result<(Hash, Vec<String>)> {
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
    pub fn publish(&self, group: &str, merge: &Hash, onto: &Hash) -> Result<()> {
        // Both or none: a merge that is known as one is in, and one that is in is known.
        let merged = of_group(group, "merged");
        let orders = format!("start\nupdate {INTEGRATION} {merge} {onto}\nupdate {merged} {merge}\nprepare\ncommit\n");
        self.git().tell(&["update-ref", "--stdin"], &orders).map(|_| ())
    }

    /// The branch of the user's repository that has the result.
    pub fn hand_over(&self, project: &Project, branch: &str) -> Result<Hash> {
        let result = self.integration()?;
        project.take(&self.path, &result, branch)?;
        Ok(result)
    }

    /// Files that differ between two commits.
    pub fn changed(&self, from: &Hash, to: &Hash) -> Result<Vec<String>> {
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

    fn find(&self, name: &str) -> Result<Option<Hash>> {
        if !self.path.join("HEAD").exists() {
            return Ok(None);
        }
        let (code, said) = self.git().answer(&["rev-parse", "--verify", "--quiet", &format!("{name}^{{commit}}")])?;
        if code == Some(0) { Hash::parse(&said).map(Some) } else { Ok(None) }
    }

    fn update(&self, name: &str, to: &Hash, from: Option<&Hash>) -> Result<()> {
        let mut arguments = vec!["update-ref", name, to.as_str()];
        arguments.extend(from.map(Hash::as_str));
        self.git().ask(&arguments).map(|_| ())
    }

    pub(super) fn git(&self) -> Git {
        Git::bare(&self.path)
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
    let (version, extension) = match project.format.as_str() {
        "sha1" => (0, String::new()),
        format => (1, format!("[extensions]\n\tobjectFormat = {format}\n")),
    };
    let core = format!("[core]\n\trepositoryFormatVersion = {version}\n\t{kind}\n\thooksPath = /dev/null\n");
    fs::write(path.join("config"), format!("{core}[gc]\n\tauto = 0\n{extension}"))?;
    Ok(())
}
