//! Work on files: where agents work, the files that they leave, and how these are merged.
//!
//! Agents never work in the user's checkout, nor in a worktree of the user's repository, whose refs, stash and hooks
//! they would share. A session has a repository of its own, the [`SessionRepo`], which borrows the user's objects.
//! Each group has a [`Workspace`]: plain files with a `.git` of its own for the agent. Only the files count:
//! Interlock stores them in the session repository through an index of its own, so changes of an agent to its `.git`
//! have no effect.

mod agent_repo;
mod clean_checkout;
mod commit_message;
mod conflict;
mod lfs;
mod merge;
mod program;
mod project;
mod register;
mod renormalize;
mod repo_features;
mod repo_guard;
mod session_repo;
mod storage_config;
mod submodules;
mod workspace;

#[cfg(test)]
mod tests;

use std::ffi::OsStr;
use std::fmt;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

pub(crate) use clean_checkout::{CleanCheckout, Leftovers};
pub(crate) use commit_message::CommitMessage;
pub(crate) use conflict::{MergeConflict, MergedTree};
pub(crate) use merge::TrialMerge;
pub(crate) use program::{Git, set_mark};
pub use project::{ProjectRepo, files_at_head};
pub(crate) use register::RegisterKey;
pub(crate) use session_repo::{CommitAuthor, SessionRepo};
pub(crate) use workspace::{Workspace, WorkspaceChanges};

/// A commit or a tree, by its hash.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct GitHash(String);

impl GitHash {
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// As people write it.
    pub fn short(&self) -> &str {
        self.0.get(..10).unwrap_or(&self.0)
    }

    fn parse(text: &str) -> GitResult<Self> {
        let text = text.trim();
        let valid = matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        if valid { Ok(Self(text.to_owned())) } else { Err(GitError::odd(format!("git printed `{text}`, not a hash"))) }
    }
}

impl fmt::Display for GitHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Why git could not do something.
#[derive(Clone, Debug)]
pub struct GitError {
    pub message: String,
    pub help: Option<String>,
}

impl GitError {
    pub(crate) fn odd(message: impl Into<String>) -> Self {
        Self { message: message.into(), help: None }
    }

    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

impl fmt::Display for GitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for GitError {}

impl From<io::Error> for GitError {
    fn from(error: io::Error) -> Self {
        Self::odd(error.to_string())
    }
}

pub(crate) type GitResult<T> = std::result::Result<T, GitError>;

/// A name as git prints it: bytes, which need not be text.
fn path_of(name: &[u8]) -> PathBuf {
    PathBuf::from(OsStr::from_bytes(name))
}
