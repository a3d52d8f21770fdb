//! How others end a program while a thread waits for it.

use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use rustix::event::{EventfdFlags, eventfd};

const STOP: u8 = 1;
const KILL: u8 = 2;

/// A wish that a program end. Clones are the same wish, and it may be wished before the program has started; what was
/// wished once holds for every program that is run with it.
#[derive(Clone, Debug)]
pub struct ProcessControl(Arc<ControlState>);

#[derive(Debug)]
struct ControlState {
    wanted: AtomicU8,
    /// Wakes all waiters. It is never read, so that it stays signalled for each of them.
    bell: Option<OwnedFd>,
}

impl ProcessControl {
    pub fn new() -> Self {
        // Without an eventfd, waiters poll.
        let bell = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK).ok();
        Self(Arc::new(ControlState { wanted: AtomicU8::new(0), bell }))
    }

    /// Asks it to end (SIGTERM), and ends it if it has not done so after `Limits::grace`.
    pub fn stop(&self) {
        self.want(STOP);
    }

    /// Ends it now.
    pub fn kill(&self) {
        self.want(KILL);
    }

    /// Whether it was asked to end, softly or at once.
    pub fn is_stopped(&self) -> bool {
        self.0.wanted.load(Ordering::SeqCst) >= STOP
    }

    pub(super) fn is_killed(&self) -> bool {
        self.0.wanted.load(Ordering::SeqCst) >= KILL
    }

    pub(super) fn bell(&self) -> Option<BorrowedFd<'_>> {
        self.0.bell.as_ref().map(|bell| bell.as_fd())
    }

    fn want(&self, wanted: u8) {
        self.0.wanted.fetch_max(wanted, Ordering::SeqCst);
        if let Some(bell) = self.bell() {
            let _ = rustix::io::write(bell, &1_u64.to_ne_bytes());
        }
    }
}

impl Default for ProcessControl {
    fn default() -> Self {
        Self::new()
    }
}
