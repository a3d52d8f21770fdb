//! The processes that this one has started itself. Other children were left by a supervisor that was killed.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::process::{Child, ChildStdin, Command, Output};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

/// The time limit of a helper. Helpers work on files that agents can reach, and agents could make them wait for ever.
const LONGEST: Duration = Duration::from_secs(10 * 60);
/// Between two looks at helpers.
const LOOK: Duration = Duration::from_secs(1);

static CHILDREN: Mutex<BTreeSet<i32>> = Mutex::new(BTreeSet::new());
/// Helpers, and until when each may take.
static HELPERS: Mutex<BTreeMap<i32, Instant>> = Mutex::new(BTreeMap::new());
static WATCH: Once = Once::new();
static ALL_ARE_KNOWN: AtomicBool = AtomicBool::new(false);

/// Declares that this process starts children only by [`run`](super::run) and [`HelperProcess`]. Then every other child
/// was abandoned, and may be ended without a further sign.
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
pub(super) fn with_known_children<T>(at: impl FnOnce(&BTreeSet<i32>) -> T) -> T {
    at(&children())
}

pub(super) fn pid_of(child: &Child) -> i32 {
    i32::try_from(child.id()).unwrap_or(0)
}

fn children() -> MutexGuard<'static, BTreeSet<i32>> {
    CHILDREN.lock().unwrap_or_else(PoisonError::into_inner)
}

fn helpers() -> MutexGuard<'static, BTreeMap<i32, Instant>> {
    HELPERS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Ends helpers that take too long. One that was waited for is not among them any more.
fn watch() {
    loop {
        thread::sleep(LOOK);
        let (helpers, now) = (helpers(), Instant::now());
        for pid in helpers.iter().filter(|(_, until)| **until <= now).filter_map(|(pid, _)| Pid::from_raw(*pid)) {
            let _ = kill_process(pid, Signal::KILL);
        }
    }
}

/// A program that Interlock needs itself, such as git: without a supervisor, and ended only if it takes far too long.
pub struct HelperProcess(Option<Child>);

impl HelperProcess {
    /// # Errors
    /// If it cannot be started.
    pub fn start(command: &mut Command) -> io::Result<Self> {
        Self::start_for(command, LONGEST)
    }

    fn start_for(command: &mut Command, longest: Duration) -> io::Result<Self> {
        WATCH.call_once(|| drop(thread::spawn(watch)));
        let child = start(command)?;
        helpers().insert(pid_of(&child), Instant::now() + longest);
        Ok(Self(Some(child)))
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
        helpers().remove(&pid);
        children().remove(&pid);
        output
    }
}

impl Drop for HelperProcess {
    fn drop(&mut self) {
        if let Some(child) = &mut self.0 {
            let _ = child.wait();
            helpers().remove(&pid_of(child));
            forget(child);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_helper_that_never_ends_is_ended() {
        let began = Instant::now();
        let helper =
            HelperProcess::start_for(Command::new("sleep").arg("60"), Duration::from_millis(100)).expect("it starts");
        let ended = helper.output().expect("it is waited for");
        assert!(!ended.status.success() && began.elapsed() < Duration::from_secs(30));
    }
}
