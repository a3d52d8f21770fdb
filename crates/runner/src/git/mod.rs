//! Work on files: where agents work, what they leave, and how it comes together.
//!
//! Agents never work in the user's checkout, nor in a worktree of the user's repository, whose refs, stash and hooks
//! they would share. A session has a repository of its own, the [`Vault`], which borrows the user's objects; each group
//! has a [`Workspace`]: plain files with a `.git` of its own for the agent. What counts is the files: Interlock takes
//! them into the vault through an index of its own, so whatever an agent does to its `.git` has no effect.

mod clean;
mod conflict;
mod customs;
mod ground;
mod large;
mod message;
mod outline;
mod own;
mod program;
mod project;
mod register;
mod submodules;
mod together;
mod untouched;
mod vault;
mod workspace;

#[cfg(test)]
mod tests;

use std::ffi::OsStr;
use std::fmt;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

pub(crate) use clean::{CleanCheckout, Leftovers};
pub(crate) use conflict::{Both, Conflict};
pub(crate) use message::Message;
pub(crate) use program::{Git, set_mark};
pub use project::{Project, files_at_head};
pub(crate) use register::RegisterKey;
pub(crate) use together::Attempt;
pub(crate) use vault::{Vault, Who};
pub(crate) use workspace::{Changes, Workspace};

/// A commit or a tree, by its hash.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Hash(String);

impl Hash {
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// As people write it.
    pub fn short(&self) -> &str {
        self.0.get(..10).unwrap_or(&self.0)
    }

    fn parse(text: &str) -> Result<Self> {
        let text = text.trim();
        let valid = matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        if valid { Ok(Self(text.to_owned())) } else { Err(Error::odd(format!("git printed `{text}`, not a hash"))) }
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Why git could not do something.
#[derive(Clone, Debug)]
pub struct Error {
    pub message: String,
    pub help: Option<String>,
}

impl Error {
    pub(crate) fn odd(message: impl Into<String>) -> Self {
        Self { message: message.into(), help: None }
    }

    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        Self::odd(error.to_string())
    }
}

pub(crate) type Result<T> = std::result::Result<T, Error>;

/// A name as git prints it: bytes, which need not be text.
fn path_of(name: &[u8]) -> PathBuf {
    PathBuf::from(OsStr::from_bytes(name))
}
