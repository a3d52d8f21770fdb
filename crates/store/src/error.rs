//! Errors of a store.

use std::path::Path;
use std::{fmt, io};

use interlock_core::code::Code;

/// The store could not do it: nothing has changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreError {
    pub code: Code,
    pub message: String,
    pub help: Option<String>,
}

impl StoreError {
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), help: None }
    }

    /// A file or folder of the store that this process could not write.
    pub fn unwritable(path: &Path, error: &io::Error) -> Self {
        let message = format!("{} cannot be written: {error}", path.display());
        match error.kind() {
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                Self::new(Code::StoreReadOnly, message).help("this user must be allowed to write there")
            }
            _ => Self::new(Code::StoreIo, message).help("make room, or look at the disk, and try again"),
        }
    }

    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code, self.message)
    }
}

impl std::error::Error for StoreError {}
