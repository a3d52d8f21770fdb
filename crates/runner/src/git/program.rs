//! The git program, called so that nothing of the user's surroundings changes what it does.

use std::env;
use std::ffi::{OsStr, OsString};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::{Arc, OnceLock};

use crate::git::repo_guard::RepoGuard;
use crate::git::{GitError, GitResult};
use interlock_system::process::{HelperProcess, MARK};

/// Hooks, signatures, watchers and clean-ups belong to the user's own work. Quoted paths would have to be unquoted.
const SETTINGS: &[&str] = &[
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.quotePath=false",
    "core.safecrlf=false",
    "core.untrackedCache=false",
    "core.commitGraph=false",
    "core.multiPackIndex=false",
    "core.trustctime=true",
    "core.checkStat=default",
    "core.fileMode=true",
    "commit.gpgSign=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "merge.renames=true",
    "advice.detachedHead=false",
    "advice.addEmbeddedRepo=false",
    "submodule.recurse=false",
    "protocol.file.allow=always",
    "protocol.version=2",
];

/// The mark of git processes on Interlock's own repositories.
static MARKED: OnceLock<String> = OnceLock::new();

/// Sets the mark of git processes on Interlock's own repositories, once.
pub(crate) fn set_mark(mark: String) {
    let _ = MARKED.set(mark);
}

/// One repository, and perhaps files that belong to it.
#[derive(Clone, Debug)]
pub(crate) struct Git {
    folder: PathBuf,
    variables: Vec<(&'static str, OsString)>,
    /// Conditions that must hold before git is started.
    ground: Option<Arc<RepoGuard>>,
}

impl Git {
    /// In a folder, as a person would call it there.
    pub(super) fn within(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), variables: Vec::new(), ground: None }
    }

    /// On a repository without files.
    pub(super) fn bare(repository: &Path) -> Self {
        Self::within(repository).at(repository)
    }

    /// On these files, with an index of one's own: a `.git` among the files has no say.
    pub(super) fn on(repository: &Path, files: &Path, index: &Path) -> Self {
        Self::within(files).at(repository).with("GIT_WORK_TREE", files).with("GIT_INDEX_FILE", index)
    }

    /// On a repository of Interlock's own. Marked, so that what a killed run left is found and ended before the next.
    fn at(self, repository: &Path) -> Self {
        let git = self.with("GIT_DIR", repository);
        match MARKED.get() {
            Some(mark) => git.with(MARK, mark),
            None => git,
        }
    }

    pub(super) fn grounded(self, ground: Option<&Arc<RepoGuard>>) -> Self {
        Self { ground: ground.cloned(), ..self }
    }

    pub(super) fn with(mut self, name: &'static str, value: impl AsRef<OsStr>) -> Self {
        self.variables.push((name, value.as_ref().to_owned()));
        self
    }

    /// Returns the output of git. A failure of git is an error.
    pub(super) fn run_git<A: AsRef<OsStr>>(&self, arguments: &[A]) -> GitResult<String> {
        self.run_with_input(arguments, "")
    }

    /// The same, with something on its standard input.
    pub(super) fn run_with_input<A: AsRef<OsStr>>(
        &self,
        arguments: &[A],
        input: impl AsRef<[u8]>,
    ) -> GitResult<String> {
        let output = self.output(arguments, input.as_ref())?;
        if !output.status.success() {
            return Err(failed(arguments, &output));
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// Returns the output in parts that end with a null byte, because names of files need not be text.
    pub(super) fn run_for_list<A: AsRef<OsStr>>(&self, arguments: &[A]) -> GitResult<Vec<Vec<u8>>> {
        let output = self.run_unchecked(arguments)?;
        if !output.status.success() {
            return Err(failed(arguments, &output));
        }
        let parts = output.stdout.split(|byte| *byte == 0).filter(|part| !part.is_empty());
        Ok(parts.map(<[u8]>::to_vec).collect())
    }

    /// All that it says, whatever its exit code is.
    pub(super) fn run_unchecked<A: AsRef<OsStr>>(&self, arguments: &[A]) -> GitResult<Output> {
        self.output(arguments, &[])
    }

    /// All that it says, with something on its standard input.
    pub(super) fn output<A: AsRef<OsStr>>(&self, arguments: &[A], input: &[u8]) -> GitResult<Output> {
        self.ground.iter().try_for_each(|ground| ground.settle())?;
        let mut command = Command::new("git");
        command.current_dir(&self.folder).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // Variables for a filter of the user's stay set. Variables for git itself are removed.
        let of_git = |name: &[u8]| name.starts_with(b"GIT_") && !name.starts_with(b"GIT_LFS_");
        for (name, _) in env::vars_os().filter(|(name, _)| of_git(name.as_encoded_bytes())) {
            command.env_remove(name);
        }
        command.env("LC_ALL", "C").env("GIT_TERMINAL_PROMPT", "0").env("GIT_OPTIONAL_LOCKS", "0");
        command.env("GIT_NO_REPLACE_OBJECTS", "1");
        command.envs(self.variables.iter().map(|(name, value)| (*name, value)));
        for setting in SETTINGS {
            command.arg("-c").arg(setting);
        }
        command.args(arguments);
        let mut child = HelperProcess::start(&mut command).map_err(|error| self.not_there(&error))?;
        if let Some(mut stdin) = child.stdin() {
            // Git that ends before it has read everything says why itself.
            let _ = stdin.write_all(input);
        }
        Ok(child.output()?)
    }

    fn not_there(&self, error: &std::io::Error) -> GitError {
        if !self.folder.is_dir() {
            return GitError::odd(format!("{} is not there", self.folder.display()));
        }
        GitError::odd(format!("git cannot be started: {error}")).help("install git 2.38 or later")
    }
}

pub(super) fn failed<A: AsRef<OsStr>>(arguments: &[A], output: &Output) -> GitError {
    let words: Vec<_> = arguments.iter().take(2).map(|word| word.as_ref().to_string_lossy()).collect();
    let said = String::from_utf8_lossy(&output.stderr);
    let said = if said.trim().is_empty() { String::from_utf8_lossy(&output.stdout) } else { said };
    GitError::odd(format!("git {} failed: {}", words.join(" "), said.trim()))
}
