//! The user's repository: read, and given one branch with the result. Its checkout is never touched.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::git::{Error, Git, Hash, Result};

/// The git that can merge without files.
const OLDEST: (u32, u32) = (2, 38);

#[derive(Clone, Debug)]
pub(crate) struct Project {
    /// The root of the checkout.
    pub root: PathBuf,
    /// Where its objects and refs are.
    pub(super) repository: PathBuf,
    pub(super) format: String,
}

impl Project {
    /// The repository that a folder belongs to.
    pub(crate) fn of(folder: &Path) -> Result<Self> {
        new_enough(folder)?;
        let git = Git::within(folder);
        let arguments =
            ["rev-parse", "--path-format=absolute", "--git-common-dir", "--show-object-format", "--show-toplevel"];
        let said = git.ask(&arguments).map_err(|error| {
            if git.ask(&["rev-parse", "--is-bare-repository"]).is_ok_and(|said| said.trim() == "true") {
                let message = format!("{} is a bare repository, without files to work on", folder.display());
                return Error::odd(message).help("run it in a checkout: `git clone` makes one, or `git worktree add`");
            }
            let message = format!("{} is not in a git repository", folder.display());
            let cause = error.message;
            Error::odd(format!("{message} ({cause})"))
                .help("agents work on copies that git makes: run `git init`, and commit")
        })?;
        let mut lines = said.lines();
        let mut next = || lines.next().unwrap_or_default().to_owned();
        let (repository, format, root) = (PathBuf::from(next()), next(), PathBuf::from(next()));
        Ok(Self { root, repository, format })
    }

    /// What is checked out now, as it was committed.
    pub(crate) fn head(&self) -> Result<Hash> {
        let said = self.git().ask(&["rev-parse", "--verify", "HEAD^{commit}"]).map_err(|_| {
            Error::odd("the repository has no commit yet").help("agents start from a commit: make a first one")
        })?;
        Hash::parse(&said)
    }

    /// The branches and tags, but for results of sessions, and where they are.
    pub(crate) fn refs(&self) -> Result<BTreeMap<String, String>> {
        let said = self.git().ask(&["for-each-ref", "--format=%(objectname) %(refname)", "refs/heads", "refs/tags"])?;
        let refs =
            said.lines().filter_map(|line| line.split_once(' ')).map(|(hash, name)| (name.to_owned(), hash.to_owned()));
        Ok(refs.filter(|(name, _)| !name.starts_with("refs/heads/interlock/")).collect())
    }

    /// Takes a branch away that nobody has added anything to, and nobody has checked out.
    pub(crate) fn drop_branch(&self, branch: &str, at: &Hash) -> Result<()> {
        let there = self.git().ask(&["rev-parse", "--verify", &format!("refs/heads/{branch}")])?;
        if Hash::parse(&there)? != *at {
            return Err(Error::odd(format!("the branch {branch} was changed")));
        }
        self.git().ask(&["branch", "--delete", "--force", "--quiet", branch]).map(|_| ())
    }

    pub(crate) fn has(&self, branch: &str) -> Result<bool> {
        let name = format!("refs/heads/{branch}");
        Ok(self.git().answer(&["show-ref", "--verify", "--quiet", &name])?.0 == Some(0))
    }

    /// Files that were changed and not committed: agents do not see these changes.
    pub(crate) fn uncommitted(&self) -> Result<usize> {
        let said = Git::within(&self.root).ask(&["status", "--porcelain", "--untracked-files=normal"])?;
        Ok(said.lines().filter(|line| !line.ends_with(".interlock/")).count())
    }

    /// The tree of the files as they are now, what is not committed among them. Nothing is written to the repository: what
    /// git makes for it lies in a folder of its own, which goes again.
    pub(crate) fn tree_now(&self, scratch: &Path) -> Result<Hash> {
        let objects = scratch.join("objects");
        std::fs::create_dir_all(&objects)?;
        let git = self
            .git()
            .with("GIT_INDEX_FILE", scratch.join("index"))
            .with("GIT_OBJECT_DIRECTORY", &objects)
            .with("GIT_ALTERNATE_OBJECT_DIRECTORIES", self.repository.join("objects"));
        git.ask(&["add", "--all"])?;
        git.ask(&["rm", "--cached", "-r", "--quiet", "--ignore-unmatch", "--", ".interlock"])?;
        Hash::parse(&git.ask(&["write-tree"])?)
    }

    /// Brings a commit of another repository in, and a branch onto it.
    pub(super) fn take(&self, from: &Path, commit: &Hash, branch: &str) -> Result<()> {
        // Not by force: the result only ever grows, and what a person has added to it is not to be lost.
        let spec = format!("{commit}:refs/heads/{branch}");
        let from = from.as_os_str();
        let words = ["fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules"];
        let mut arguments: Vec<&std::ffi::OsStr> = words.iter().map(|word| word.as_ref()).collect();
        arguments.extend([from, spec.as_ref()]);
        let taken = self.git().with("GIT_ALLOW_PROTOCOL", "file").ask(&arguments);
        taken.map(|_| ()).map_err(|error| {
            error.help(format!(
                "the branch {branch} gets the result: if it was changed, or is checked out, rename it, and run again"
            ))
        })
    }

    fn git(&self) -> Git {
        Git::within(&self.root)
    }
}

fn new_enough(folder: &Path) -> Result<()> {
    let said = Git::within(folder).ask(&["version"])?;
    let mut numbers = said.split(|character: char| !character.is_ascii_digit()).filter_map(|part| part.parse().ok());
    let version = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    if version < OLDEST {
        let (major, minor) = OLDEST;
        return Err(
            Error::odd(format!("this is {}", said.trim())).help(format!("install git {major}.{minor} or later"))
        );
    }
    Ok(())
}
