//! Folders for checkouts, each in use by one check at a time.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use interlock_system::files::beside;

/// Most checkouts that are in use at once.
const MOST_SLOTS: u32 = 1024;

/// The lock ends with the process, however it ends.
pub(super) struct CheckoutSlot {
    pub(super) number: u32,
    pub(super) folder: PathBuf,
    _held: File,
}

impl CheckoutSlot {
    /// The first that is free: build tools find the results of earlier runs in the same folder.
    pub(super) fn take(root: &Path) -> io::Result<Self> {
        interlock_system::files::real_folder(root)?;
        for number in 1..=MOST_SLOTS {
            let folder = root.join(number.to_string());
            let lock = beside(&folder, "lock");
            if fs::symlink_metadata(&lock).is_ok_and(|found| !found.is_file()) {
                interlock_system::files::remove(&lock)?;
            }
            let held = OpenOptions::new().create(true).truncate(false).write(true).open(&lock)?;
            match held.try_lock() {
                Ok(()) => return Ok(Self { number, folder, _held: held }),
                Err(TryLockError::WouldBlock) => {}
                Err(TryLockError::Error(error)) => return Err(error),
            }
        }
        Err(io::Error::other("every checkout is in use"))
    }
}
