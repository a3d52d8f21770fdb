//! The process between Interlock and a program: it starts the program, and ends when nothing of it is left.
//!
//! It is a process of its own because that is the only kind of thing that survives Interlock being killed, and because
//! a process can be the parent of everything its descendants abandon (`PR_SET_CHILD_SUBREAPER`): as long as one of them
//! lives, this process has a child.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::{self, Read as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitOptions, WaitStatus, getpgrp, getpid, getppid, pidfd_open, set_child_subreaper,
    setsid, wait,
};
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM};

use super::tree;

/// The hidden word of the command line that makes Interlock a supervisor.
pub const WORD: &str = "__keep";

/// For remaining processes when the program has ended by itself, or when the parent has gone.
const SHORT: Duration = Duration::from_millis(500);
/// The polling interval for changes that no signal reports.
const LOOK: Duration = Duration::from_secs(1);
/// Rounds in which nothing could be ended, after which it is left to whom it belongs.
const REFUSED: u32 = 100;
/// Ended children that are taken note of at a time: a storm of them must not keep the supervisor from ending it.
const REAPED: usize = 4096;

/// Codes as shells use them.
const NOT_STARTED: u8 = 125;
const NOT_EXECUTED: u8 = 126;
const NOT_FOUND: u8 = 127;

/// The arguments of a supervisor on its command line.
struct SupervisorArguments {
    parent: i32,
    grace: Duration,
    lock: Option<OsString>,
    program: OsString,
    arguments: Vec<OsString>,
}

/// The command line after [`WORD`].
pub(super) fn words(grace: Duration, lock: Option<&Path>, program: &Path, arguments: &[OsString]) -> Vec<OsString> {
    let grace = u64::try_from(grace.as_millis()).unwrap_or(u64::MAX);
    let lock = lock.map_or(OsString::from("-"), |lock| lock.as_os_str().to_owned());
    let mut words = vec![std::process::id().to_string().into(), grace.to_string().into(), lock, "--".into()];
    words.push(program.as_os_str().to_owned());
    words.extend_from_slice(arguments);
    words
}

impl SupervisorArguments {
    fn read(mut words: impl Iterator<Item = OsString>) -> Option<Self> {
        let parent = words.next()?.to_str()?.parse().ok()?;
        let grace = Duration::from_millis(words.next()?.to_str()?.parse().ok()?);
        let lock = Some(words.next()?).filter(|lock| lock != "-");
        words.next().filter(|word| word == "--")?;
        Some(Self { parent, grace, lock, program: words.next()?, arguments: words.collect() })
    }
}

/// Runs a supervisor from start to end. `words`: the command line after [`WORD`].
pub fn main(words: impl Iterator<Item = OsString>) -> ExitCode {
    let Some(order) = SupervisorArguments::read(words) else {
        eprintln!("interlock: {WORD} is for Interlock itself");
        return NOT_STARTED.into();
    };
    let code = keep(&order).unwrap_or_else(|error| {
        eprintln!("interlock: {} cannot be watched over: {error}", order.program.display());
        NOT_STARTED
    });
    code.into()
}

fn keep(order: &SupervisorArguments) -> io::Result<u8> {
    // A session of its own has no terminal: no input arrives from it, and no process is stopped for reading from it.
    let _ = setsid();
    set_child_subreaper(Some(getpid()))?;
    let mut watch = ProcessSupervisor { parent: ParentProcess::of(order.parent), bell: SupervisorSignals::hang()? };
    let lock = order.lock.as_ref().map(|path| OpenOptions::new().create(true).append(true).open(path)).transpose()?;
    if !watch.has_locked(lock.as_ref())? {
        return Ok(NOT_STARTED);
    }
    let started = Command::new(&order.program).args(&order.arguments).process_group(0).spawn();
    let program = match started {
        Ok(child) => child.id(),
        Err(error) => return Ok(not_started(order, &error)),
    };
    leave_pipes()?;
    let mut family = SupervisedProcesses { program: i32::try_from(program).unwrap_or(0), ended: None };
    let patience = watch.until_the_end(&mut family, order.grace);
    watch.end(&mut family, patience);
    drop(lock);
    Ok(family.ended.unwrap_or(128 + 9))
}

fn not_started(order: &SupervisorArguments, error: &io::Error) -> u8 {
    eprintln!("interlock: {} cannot be started: {error}", order.program.display());
    if error.kind() == io::ErrorKind::NotFound { NOT_FOUND } else { NOT_EXECUTED }
}

/// The pipes are the program's alone from here on, so that the other side learns when it closes them.
fn leave_pipes() -> io::Result<()> {
    let nothing = OpenOptions::new().read(true).write(true).open("/dev/null")?;
    rustix::stdio::dup2_stdin(&nothing)?;
    rustix::stdio::dup2_stdout(&nothing)?;
    Ok(())
}

/// The process that started this supervisor.
struct ParentProcess {
    pid: i32,
    /// Readable when it has ended. On systems without pidfd, the supervisor polls.
    process: Option<OwnedFd>,
}

impl ParentProcess {
    fn of(pid: i32) -> Self {
        let process = Pid::from_raw(pid).and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok());
        Self { pid, process }
    }

    fn has_ended(&self) -> bool {
        getppid().map(|pid| pid.as_raw_nonzero().get()) != Some(self.pid)
    }
}

/// The signals that a supervisor handles. It receives those of a terminal too and does nothing: its parent decides on
/// them. They are not ignored, because the program would inherit that.
struct SupervisorSignals {
    rung: UnixStream,
    is_stopped: Arc<AtomicBool>,
    is_killed: Arc<AtomicBool>,
}

impl SupervisorSignals {
    fn hang() -> io::Result<Self> {
        let (rung, signal_writer) = UnixStream::pair()?;
        rung.set_nonblocking(true)?;
        let bell = Self { rung, is_stopped: Arc::default(), is_killed: Arc::default() };
        signal_hook::flag::register(SIGTERM, Arc::clone(&bell.is_stopped))?;
        signal_hook::flag::register(SIGQUIT, Arc::clone(&bell.is_killed))?;
        for signal in [SIGCHLD, SIGTERM, SIGQUIT, SIGINT, SIGHUP] {
            signal_hook::low_level::pipe::register(signal, signal_writer.try_clone()?)?;
        }
        Ok(bell)
    }

    fn is_stopped(&self) -> bool {
        self.is_stopped.load(Ordering::SeqCst)
    }

    fn is_killed(&self) -> bool {
        self.is_killed.load(Ordering::SeqCst)
    }
}

/// The program, and whatever descends from it.
struct SupervisedProcesses {
    program: i32,
    /// The code of the program, once it has ended.
    ended: Option<u8>,
}

impl SupervisedProcesses {
    /// Takes note of everything that has ended. Whether anything is left.
    fn lives(&mut self) -> bool {
        for _ in 0..REAPED {
            match wait(WaitOptions::NOHANG) {
                Ok(Some((pid, status))) if pid.as_raw_nonzero().get() == self.program => {
                    self.ended = Some(code(status));
                }
                Ok(Some(_)) | Err(Errno::INTR) => {}
                Ok(None) => return true,
                Err(_) => return false,
            }
        }
        true
    }

    /// Asks everybody to end; who was stopped is woken to hear it.
    fn ask(&self) {
        for entry in everybody() {
            let _ = entry.send(Signal::TERM);
            let _ = entry.send(Signal::CONT);
        }
    }

    /// Ends all processes. Returns when none is left, or none that this user may end.
    fn kill(&mut self) {
        let own = getpgrp().as_raw_nonzero().get();
        let mut refused = 0;
        while self.lives() {
            let round = tree::end_round(everybody);
            tree::kill_groups(&round.found, own);
            refused = if round.is_refused { refused + 1 } else { 0 };
            if refused > REFUSED {
                eprintln!("interlock: what is left of the program belongs to another user, and cannot be ended");
                return;
            }
            self.kill_quickly();
        }
    }

    /// A process that starts another and ends, over and over, has another pid at every look: one has to be quick.
    fn kill_quickly(&mut self) {
        for pause in [0, 0, 0, 0, 50, 0, 0, 500, 0, 0, 5000] {
            if !self.lives() || tree::kill_children().is_err() {
                return;
            }
            thread::sleep(Duration::from_micros(pause));
        }
    }
}

fn everybody() -> Vec<tree::ProcessEntry> {
    tree::below(getpid().as_raw_nonzero().get(), &BTreeSet::new())
}

fn code(status: WaitStatus) -> u8 {
    let code = status.exit_status().or_else(|| status.terminating_signal().map(|signal| 128 + signal));
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX)
}

/// The supervisor, and the sources of its wake-ups.
struct ProcessSupervisor {
    parent: ParentProcess,
    bell: SupervisorSignals,
}

impl ProcessSupervisor {
    /// Waits for the lock, if there is one. The wait ends when the parent has gone or asks for an end.
    fn has_locked(&mut self, lock: Option<&File>) -> io::Result<bool> {
        while !self.parent.has_ended() && !self.bell.is_stopped() && !self.bell.is_killed() {
            match lock.map(|lock| flock(lock, FlockOperation::NonBlockingLockShared)) {
                None | Some(Ok(())) => return Ok(true),
                Some(Err(Errno::WOULDBLOCK | Errno::INTR)) => self.wait(Duration::from_millis(20)),
                Some(Err(error)) => return Err(error.into()),
            }
        }
        Ok(false)
    }

    /// Waits until the program has ended or should. How much time what is left of it has.
    fn until_the_end(&mut self, family: &mut SupervisedProcesses, grace: Duration) -> Duration {
        loop {
            let is_left = family.lives();
            if !is_left || self.bell.is_killed() {
                return Duration::ZERO;
            }
            if self.bell.is_stopped() {
                return grace;
            }
            if family.ended.is_some() || self.parent.has_ended() {
                return SHORT.min(grace);
            }
            self.wait(LOOK);
        }
    }

    fn end(&mut self, family: &mut SupervisedProcesses, patience: Duration) {
        if !patience.is_zero() {
            family.ask();
        }
        let asked = Instant::now();
        let mut alone = None;
        while family.lives() && !self.bell.is_killed() {
            if family.ended.is_some() || self.parent.has_ended() {
                // The grace was for the program and for its parent, and one of them has ended.
                alone.get_or_insert_with(Instant::now);
            }
            let left = patience.saturating_sub(asked.elapsed());
            let left = alone.map_or(left, |since: Instant| left.min(SHORT.saturating_sub(since.elapsed())));
            if left.is_zero() {
                break;
            }
            self.wait(left.min(LOOK));
        }
        family.kill();
    }

    /// Until something happens, or so long.
    fn wait(&mut self, longest: Duration) {
        let mut fds = vec![PollFd::new(&self.bell.rung, PollFlags::IN)];
        // Readable for ever, once the parent has ended: from then on only time and children count.
        if let Some(parent) = self.parent.process.as_ref().filter(|_| !self.parent.has_ended()) {
            fds.push(PollFd::from_borrowed_fd(parent.as_fd(), PollFlags::IN));
        }
        let longest = Timespec::try_from(longest).ok();
        let _ = poll(&mut fds, longest.as_ref());
        let mut heard = [0; 256];
        while matches!(self.bell.rung.read(&mut heard), Ok(count) if count == heard.len()) {}
    }
}
