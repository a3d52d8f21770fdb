//! The user's repository: read, and given one branch with the result. Its checkout is never touched.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use crate::git::storage_config::StorageConfig;
use crate::git::{Git, GitError, GitHash, GitResult};

/// The git that can merge without files.
const OLDEST: (u32, u32) = (2, 38);
/// How often a branch that another process is updating is tried, and the delay between tries.
const TRIES: u32 = 20;
const AGAIN: Duration = Duration::from_millis(100);

/// Files and folders of a repository that say what git does there, and what is stashed.
const OBEYED: &[&str] = &["config", "config.worktree", "hooks", "info/attributes", "info/exclude", "logs/refs/stash"];

#[derive(Clone, Debug)]
pub struct ProjectRepo {
    /// The root of the checkout.
    pub root: PathBuf,
    /// Where its objects and refs are.
    pub(super) repository: PathBuf,
    pub(super) format: String,
    /// How it stores files.
    pub(super) customs: StorageConfig,
}

/// Those of the paths, from the folder, that the last commit has.
pub fn files_at_head(folder: &Path, paths: &[String]) -> GitResult<Vec<String>> {
    let mut words = vec!["ls-tree", "-r", "--name-only", "-z", "HEAD", "--"];
    words.extend(paths.iter().map(String::as_str));
    let names = Git::within(folder).run_for_list(&words)?;
    let names: Vec<String> = names.into_iter().filter_map(|name| String::from_utf8(name).ok()).collect();
    Ok(paths.iter().filter(|path| names.contains(path)).cloned().collect())
}

impl ProjectRepo {
    /// The repository that a folder belongs to.
    pub fn of(folder: &Path) -> GitResult<Self> {
        new_enough(folder)?;
        let git = Git::within(folder);
        let arguments =
            ["rev-parse", "--path-format=absolute", "--git-common-dir", "--show-object-format", "--show-toplevel"];
        let said = git.run_git(&arguments).map_err(|error| {
            if git.run_git(&["rev-parse", "--is-bare-repository"]).is_ok_and(|said| said.trim() == "true") {
                let message = format!("{} is a bare repository, without files to work on", folder.display());
                return GitError::odd(message)
                    .help("run it in a checkout: `git clone` makes one, or `git worktree add`");
            }
            let message = format!("{} is not in a git repository", folder.display());
            let cause = error.message;
            GitError::odd(format!("{message} ({cause})"))
                .help("agents work on copies that git makes: run `git init`, and commit")
        })?;
        let mut lines = said.lines();
        let mut next = || lines.next().unwrap_or_default().to_owned();
        let (repository, format, root) = (PathBuf::from(next()), next(), PathBuf::from(next()));
        let customs = StorageConfig::of(&root, &repository)?;
        Ok(Self { root, repository, format, customs })
    }

    /// A clone that was cut short is known to be one, or its missing history would be taken for damage.
    pub(super) fn shallow(&self) -> Option<Vec<u8>> {
        fs::read(self.repository.join("shallow")).ok()
    }

    /// The commit that is checked out now.
    pub fn head(&self) -> GitResult<GitHash> {
        let said = self.git().run_git(&["rev-parse", "--verify", "HEAD^{commit}"]).map_err(|_| {
            GitError::odd("the repository has no commit yet").help("agents start from a commit: make a first one")
        })?;
        let head = GitHash::parse(&said)?;
        if self.customs.partial {
            self.is_whole(&head)?;
        }
        Ok(head)
    }

    /// A partial clone gets what it has not got from its remote. A session's repository has none: all files must be here.
    fn is_whole(&self, commit: &GitHash) -> GitResult<()> {
        let tree = format!("{commit}^{{tree}}");
        let said = self.git().run_git(&["rev-list", "--objects", "--no-walk", "--missing=print", &tree])?;
        let missing = said.lines().filter(|line| line.starts_with('?')).count();
        if missing == 0 {
            return Ok(());
        }
        let message = format!("this is a partial clone, and {missing} of the files of its commit are not here");
        Err(GitError::odd(message).help("get them with `git fetch --refetch --no-filter`, and run again"))
    }

    /// State of the user's repository: branches, tags, results of other sessions, the stash, the checked-out commit,
    /// and the settings that git obeys here.
    pub(crate) fn standing(&self, result: &str) -> GitResult<BTreeMap<String, String>> {
        let words = ["for-each-ref", "--format=%(objectname) %(refname)", "refs/heads", "refs/tags", "refs/stash"];
        let said = self.git().run_git(&words)?;
        let refs = said.lines().filter_map(|line| line.split_once(' '));
        let refs = refs.map(|(hash, name)| (name.to_owned(), hash.to_owned()));
        let own = format!("refs/heads/{result}");
        let mut all: BTreeMap<String, String> = refs.filter(|(name, _)| *name != own).collect();
        // The branch, also one that has no commit; else the commit.
        let head = self.git().run_git(&["symbolic-ref", "--quiet", "HEAD"]);
        let head = head.or_else(|_| self.git().run_git(&["rev-parse", "--verify", "--quiet", "HEAD"]));
        all.insert("HEAD".to_owned(), head.map_or("nothing that git knows".to_owned(), |head| head.trim().to_owned()));
        for name in OBEYED {
            all.extend(digest(&self.repository.join(name)).map(|digest| (format!(".git/{name}"), digest)));
        }
        Ok(all)
    }

    /// Has a branch only grown?
    pub(crate) fn grew(&self, from: &str, to: &str) -> GitResult<bool> {
        Ok(self.git().run_unchecked(&["merge-base", "--is-ancestor", from, to])?.status.success())
    }

    /// Removes a branch that has no new commits and is not checked out.
    pub(crate) fn drop_branch(&self, branch: &str, at: &GitHash) -> GitResult<()> {
        if self.tip(branch).is_none_or(|tip| tip != *at) {
            return Err(GitError::odd(format!("the branch {branch} was changed")));
        }
        self.git().run_git(&["branch", "--delete", "--force", "--quiet", branch]).map(|_| ())
    }

    fn tip(&self, branch: &str) -> Option<GitHash> {
        let said = self.git().run_git(&["rev-parse", "--verify", "--quiet", &format!("refs/heads/{branch}")]);
        said.and_then(|said| GitHash::parse(&said)).ok()
    }

    pub(crate) fn has(&self, branch: &str) -> GitResult<bool> {
        let name = format!("refs/heads/{branch}");
        Ok(self.git().run_unchecked(&["show-ref", "--verify", "--quiet", &name])?.status.success())
    }

    /// Files that were changed and not committed: agents do not see these changes.
    pub fn uncommitted(&self) -> GitResult<usize> {
        let said = Git::within(&self.root).run_git(&["status", "--porcelain", "--untracked-files=normal"])?;
        Ok(said.lines().filter(|line| !line.ends_with(".interlock/")).count())
    }

    /// The tree of the files as they are now, what is not committed among them. Nothing is written to the repository: what
    /// git makes for it lies in a folder of its own, which goes again.
    pub fn tree_now(&self, scratch: &Path) -> GitResult<GitHash> {
        let objects = scratch.join("objects");
        fs::create_dir_all(&objects)?;
        let git = self.with_objects(self.git().with("GIT_INDEX_FILE", scratch.join("index")), &objects);
        git.run_git(&["add", "--all"])?;
        git.run_git(&["rm", "--cached", "-r", "--quiet", "--ignore-unmatch", "--", ".interlock"])?;
        GitHash::parse(&git.run_git(&["write-tree"])?)
    }

    /// Git that puts new objects into a folder of their own, and reads those of the repository.
    pub(super) fn with_objects(&self, git: Git, objects: &Path) -> Git {
        let own = self.repository.join("objects");
        git.with("GIT_OBJECT_DIRECTORY", objects).with("GIT_ALTERNATE_OBJECT_DIRECTORIES", own)
    }

    /// Files that are changed or untracked, each by its name. Those that git ignores are not among them.
    pub fn uncommitted_files(&self) -> GitResult<Vec<String>> {
        let words = ["status", "--porcelain", "-z", "--untracked-files=all", "--no-renames"];
        let listed = self.git().run_for_list(&words)?;
        let names = listed.iter().map(|line| String::from_utf8_lossy(line.get(3..).unwrap_or_default()).into_owned());
        Ok(names.filter(|name| !name.starts_with(".interlock/")).collect())
    }

    /// The commit that is checked out, if there is one.
    pub fn head_if_any(&self) -> Option<GitHash> {
        let said = self.git().run_git(&["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]).ok()?;
        GitHash::parse(&said).ok()
    }

    /// Brings a commit of another repository in, and a branch onto it.
    pub(super) fn take(&self, from: &Path, commit: &GitHash, branch: &str) -> GitResult<()> {
        // Not by force: the result only ever grows, and what a person has added to it is not to be lost.
        let spec = format!("{commit}:refs/heads/{branch}");
        let from = from.as_os_str();
        let words = ["fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules"];
        let mut arguments: Vec<&std::ffi::OsStr> = words.iter().map(|word| word.as_ref()).collect();
        arguments.extend([from, spec.as_ref()]);
        let git = self.git().with("GIT_ALLOW_PROTOCOL", "file");
        let mut taken = git.run_git(&arguments);
        for _ in 0..TRIES {
            // The git of a run that was killed may be at the same branch for a moment. It is not ended: its lock would stay.
            if !taken.as_ref().is_err_and(|error| error.message.contains("cannot lock ref")) {
                break;
            }
            thread::sleep(AGAIN);
            taken = git.run_git(&arguments);
        }
        if taken.is_err() && self.tip(branch).is_some_and(|tip| tip == *commit) {
            // Git says no to a branch that is checked out, even if it is there already.
            return Ok(());
        }
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

fn new_enough(folder: &Path) -> GitResult<()> {
    let said = Git::within(folder).run_git(&["version"])?;
    let mut numbers = said.split(|character: char| !character.is_ascii_digit()).filter_map(|part| part.parse().ok());
    let version = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    if version < OLDEST {
        let (major, minor) = OLDEST;
        return Err(
            GitError::odd(format!("this is {}", said.trim())).help(format!("install git {major}.{minor} or later"))
        );
    }
    Ok(())
}

/// A digest of a file's content, or of the files in a folder.
fn digest(path: &Path) -> Option<String> {
    let Ok(entries) = fs::read_dir(path) else { return digest_of_file(path) };
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    files.sort();
    let mut all = blake3::Hasher::new();
    for file in files {
        let mode = fs::metadata(&file).map(|about| about.mode()).unwrap_or_default();
        all.update(format!("{}\0{mode:o}\0{:?}\0", file.display(), digest_of_file(&file)).as_bytes());
    }
    Some(all.finalize().to_hex().to_string())
}

/// Of a plain file: anything else may never end.
fn digest_of_file(path: &Path) -> Option<String> {
    if !fs::metadata(path).is_ok_and(|about| about.is_file()) {
        return None;
    }
    fs::read(path).ok().map(|text| blake3::hash(&text).to_hex().to_string())
}
