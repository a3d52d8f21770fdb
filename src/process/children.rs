//! The processes that this one has started itself. What else turns up below it was left by a keeper that was killed.

use std::collections::BTreeSet;
use std::io;
use std::process::{Child, ChildStdin, Command, Output};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

static CHILDREN: Mutex<BTreeSet<i32>> = Mutex::new(BTreeSet::new());
static ALL_ARE_KNOWN: AtomicBool = AtomicBool::new(false);

/// Says that this process starts nothing but by [`run`](super::run) and [`Helper`]: then whatever else comes to be below
/// it was abandoned, and may be ended without a further sign.
pub fn own_no_others() {
    ALL_ARE_KNOWN.store(true, Ordering::SeqCst);
}

pub(super) fn all_are_known() -> bool {
    ALL_ARE_KNOWN.load(Ordering::SeqCst)
}

/// Starts a process that is known from its first moment on.
pub(super) fn start(command: &mut Command) -> io::Result<Child> {
    let mut children = children();
    let child = command.spawn()?;
    children.insert(pid_of(&child));
    Ok(child)
}

pub(super) fn forget(child: &Child) {
    children().remove(&pid_of(child));
}

/// Looks at something while none is started.
pub(super) fn look<T>(at: impl FnOnce(&BTreeSet<i32>) -> T) -> T {
    at(&children())
}

pub(super) fn pid_of(child: &Child) -> i32 {
    i32::try_from(child.id()).unwrap_or(0)
}

fn children() -> MutexGuard<'static, BTreeSet<i32>> {
    CHILDREN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A program that Interlock needs itself, such as git: without a keeper, and trusted to end.
pub struct Helper(Option<Child>);

impl Helper {
    /// # Errors
    /// If it cannot be started.
    pub fn start(command: &mut Command) -> io::Result<Self> {
        start(command).map(|child| Self(Some(child)))
    }

    pub fn stdin(&mut self) -> Option<ChildStdin> {
        self.0.as_mut()?.stdin.take()
    }

    /// Waits until it has ended.
    ///
    /// # Errors
    /// If what it prints cannot be read.
    pub fn output(mut self) -> io::Result<Output> {
        let Some(child) = self.0.take() else { return Err(io::Error::other("it was waited for already")) };
        let pid = pid_of(&child);
        let output = child.wait_with_output();
        children().remove(&pid);
        output
    }
}

impl Drop for Helper {
    fn drop(&mut self) {
        if let Some(child) = &mut self.0 {
            let _ = child.wait();
            forget(child);
        }
    }
}
