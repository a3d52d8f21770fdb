//! One program, from its start until nothing of it is left: one thread that waits for everything at once.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::ioctl_fionbio;
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};

use super::children::{self, pid_of};
use super::input::{ProcessHandle, StdinWriter};
use super::line_splitter::LineSplitter;
use super::transcript::OutputTranscript;
use super::{
    MARK, OutputListener, OutputStream, ProcessControl, ProcessEnd, ProcessSpec, StdinMode, orphans, resolve,
    supervisor, tree,
};

/// Read at a time.
const CHUNK: usize = 64 << 10;
/// Between two looks, while a program is being ended or nothing would wake who waits.
const TICK: Duration = Duration::from_millis(50);
/// The time that a supervisor has, beyond the grace, before the runner ends the processes itself.
const SLACK: Duration = Duration::from_secs(5);
/// How long remaining output is read after all processes have ended.
const DRAIN: Duration = Duration::from_secs(2);

/// The file that `set_keeper` named.
static BINARY: OnceLock<PathBuf> = OnceLock::new();

/// Sets the program that acts as supervisor, for programs that use this library and are not Interlock themselves.
/// Returns whether this was the first call.
pub fn set_supervisor(path: PathBuf) -> bool {
    BINARY.set(path).is_ok()
}

/// Runs a program and waits until nothing of it is left.
///
/// # Errors
/// If it could not be started: `NotFound` or `PermissionDenied`, if the program or its folder is why.
pub fn run(spec: &ProcessSpec, control: &ProcessControl, listener: &mut dyn OutputListener) -> io::Result<ProcessEnd> {
    let mut command = command(spec)?;
    if control.is_stopped() {
        return Ok(ProcessEnd::Stopped);
    }
    let transcript =
        spec.transcript.as_deref().map(|path| OutputTranscript::create(path, spec.limits.kept)).transpose()?;
    let mut running = RunningProcess::start(spec, control, &mut command)?;
    running.transcript = transcript;
    running.attend(listener);
    Ok(running.finish(listener))
}

/// The supervisor's command line.
fn command(spec: &ProcessSpec) -> io::Result<Command> {
    let folder = std::path::absolute(&spec.folder)?;
    if !folder.is_dir() {
        return Err(io::Error::new(ErrorKind::NotFound, format!("{} is no folder", folder.display())));
    }
    let path = spec.environment.get(OsStr::new("PATH")).map(|path| path.as_os_str());
    let program = resolve::program(&spec.program, &folder, path)?;
    let lock = spec.lock.as_deref().map(lock_file).transpose()?;
    // Not a path that an update may have put another version at: the very file that this process was started from.
    let binary = BINARY.get().map_or(Path::new("/proc/self/exe"), |path| path);
    let mut command = Command::new(binary);
    command.arg0("interlock").arg(supervisor::WORD);
    command.args(supervisor::words(spec.limits.grace, lock.as_deref(), &program, &spec.arguments));
    command.env_clear().envs(&spec.environment).env(MARK, &spec.mark).current_dir(folder);
    command.stdin(if matches!(spec.stdin, StdinMode::Nothing) { Stdio::null() } else { Stdio::piped() });
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    Ok(command)
}

/// The path of the lock, for a process in another folder. What is wrong with it is known before anything starts.
fn lock_file(path: &Path) -> io::Result<PathBuf> {
    OpenOptions::new().create(true).append(true).open(path)?;
    std::path::absolute(path)
}

/// One of the two streams that a program prints to.
struct OutputPipe {
    pipe: Option<File>,
    lines: LineSplitter,
}

impl OutputPipe {
    fn new(pipe: Option<OwnedFd>, limit: usize) -> io::Result<Self> {
        Ok(Self { pipe: pipe.map(unblocked).transpose()?, lines: LineSplitter::new(limit) })
    }

    /// Reads the output that is available now; `None` when there is none, now or ever.
    fn read<'a>(&mut self, chunk: &'a mut [u8]) -> Option<&'a [u8]> {
        loop {
            match self.pipe.as_mut()?.read(chunk) {
                Ok(0) => self.pipe = None,
                Ok(count) => return Some(&chunk[..count]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return None,
                Err(_) => self.pipe = None,
            }
        }
    }
}

/// Our end of a pipe; the program's end blocks as it always did.
fn unblocked(pipe: OwnedFd) -> io::Result<File> {
    ioctl_fionbio(&pipe, true)?;
    Ok(File::from(pipe))
}

/// The last signal sent to the supervisor, and when.
#[derive(Clone, Copy)]
enum SentSignal {
    Nothing,
    Stop(Instant),
    Kill(Instant),
}

struct RunningProcess<'a> {
    spec: &'a ProcessSpec,
    control: &'a ProcessControl,
    keeper: Child,
    /// Readable when the supervisor has ended.
    ended: Option<OwnedFd>,
    status: Option<ExitStatus>,
    out: OutputPipe,
    err: OutputPipe,
    input: StdinWriter,
    transcript: Option<OutputTranscript>,
    printed: u64,
    started: Instant,
    heard: Instant,
    /// The listener wants it to end.
    is_unwanted: bool,
    /// Why it is being ended, if it does not end by itself.
    end: Option<ProcessEnd>,
    told: SentSignal,
}

impl<'a> RunningProcess<'a> {
    fn start(spec: &'a ProcessSpec, control: &'a ProcessControl, command: &mut Command) -> io::Result<Self> {
        let mut keeper = children::start(command)?;
        let now = Instant::now();
        let pipes = (keeper.stdin.take(), keeper.stdout.take(), keeper.stderr.take());
        let mut running = Self {
            spec,
            control,
            ended: Pid::from_raw(pid_of(&keeper)).and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok()),
            keeper,
            status: None,
            out: OutputPipe::new(None, spec.limits.line)?,
            err: OutputPipe::new(None, spec.limits.line)?,
            input: StdinWriter::new(None),
            transcript: None,
            printed: 0,
            started: now,
            heard: now,
            is_unwanted: false,
            end: None,
            told: SentSignal::Nothing,
        };
        // From here on, any failure ends the supervisor too.
        running.input = StdinWriter::new(pipes.0.map(|pipe| unblocked(pipe.into())).transpose()?);
        running.out = OutputPipe::new(pipes.1.map(OwnedFd::from), spec.limits.line)?;
        running.err = OutputPipe::new(pipes.2.map(OwnedFd::from), spec.limits.line)?;
        if let StdinMode::Text(text) = &spec.stdin {
            running.input.add(text.as_bytes());
            running.input.end();
        }
        Ok(running)
    }

    /// Until the supervisor has ended.
    fn attend(&mut self, listener: &mut dyn OutputListener) {
        let mut chunk = vec![0; CHUNK];
        listener.started(&mut ProcessHandle::new(&mut self.input, &mut self.is_unwanted));
        while !self.has_ended() {
            self.heed();
            self.wait();
            self.input.flush();
            self.read(OutputStream::Out, &mut chunk, listener);
            self.read(OutputStream::Err, &mut chunk, listener);
        }
    }

    /// Reads the supervisor's exit status, if it has ended.
    fn has_ended(&mut self) -> bool {
        if self.status.is_none()
            && let Ok(Some(status)) = self.keeper.try_wait()
        {
            self.status = Some(status);
            children::forget(&self.keeper);
        }
        self.status.is_some()
    }

    /// Until something happens, or a limit is near.
    fn wait(&self) {
        let mut fds = Vec::with_capacity(5);
        for pipe in [&self.out.pipe, &self.err.pipe].into_iter().flatten() {
            fds.push(PollFd::new(pipe, PollFlags::IN));
        }
        fds.extend(self.ended.as_ref().map(|ended| PollFd::from_borrowed_fd(ended.as_fd(), PollFlags::IN)));
        fds.extend(self.input.pending().map(|pipe| PollFd::from_borrowed_fd(pipe, PollFlags::OUT)));
        // It rings for ever once it rang.
        let bell = self.control.bell().filter(|_| !self.control.is_stopped());
        fds.extend(bell.map(|bell| PollFd::from_borrowed_fd(bell, PollFlags::IN)));
        let longest = self.patience().and_then(|patience| Timespec::try_from(patience).ok());
        // A signal that came in between is as good as a time-out.
        let _ = poll(&mut fds, longest.as_ref());
    }

    /// How long nothing may happen before something has to be done.
    fn patience(&self) -> Option<Duration> {
        if self.end.is_some() || self.is_unwanted || self.control.is_stopped() {
            return Some(TICK);
        }
        let limits = &self.spec.limits;
        let time = limits.time.map(|limit| limit.saturating_sub(self.started.elapsed()));
        let silence = limits.silence.map(|limit| limit.saturating_sub(self.heard.elapsed()));
        let closed = self.input.closed_for().map(|closed| limits.grace.saturating_sub(closed));
        let deaf = (self.ended.is_none() || self.control.bell().is_none()).then_some(TICK);
        // The clock of a poll may be a little ahead of ours: a whole round for nothing would follow.
        [time, silence, closed, deaf].into_iter().flatten().min().map(|patience| patience + Duration::from_millis(1))
    }

    /// Ends the program if anything says so.
    fn heed(&mut self) {
        if self.end.is_none() {
            self.end = self.reason();
        }
        let now = Instant::now();
        match self.told {
            SentSignal::Nothing | SentSignal::Stop(_) if self.control.is_killed() => {
                self.tell(Signal::QUIT);
                self.told = SentSignal::Kill(now);
            }
            SentSignal::Nothing if self.end.is_some() => {
                self.tell(Signal::TERM);
                self.told = SentSignal::Stop(now);
            }
            SentSignal::Stop(at) if at.elapsed() > self.spec.limits.grace.saturating_add(SLACK) => self.force(),
            SentSignal::Kill(at) if at.elapsed() > SLACK => self.force(),
            SentSignal::Nothing | SentSignal::Stop(_) | SentSignal::Kill(_) => {}
        }
    }

    fn reason(&self) -> Option<ProcessEnd> {
        let limits = &self.spec.limits;
        let lingers = self.input.closed_for().is_some_and(|closed| closed >= limits.grace);
        if self.control.is_stopped() || self.is_unwanted || lingers {
            Some(ProcessEnd::Stopped)
        } else if self.printed > limits.output {
            Some(ProcessEnd::Flooded)
        } else if limits.time.is_some_and(|limit| self.started.elapsed() >= limit) {
            Some(ProcessEnd::TimedOut)
        } else if limits.silence.is_some_and(|limit| self.heard.elapsed() >= limit) {
            Some(ProcessEnd::Silent)
        } else {
            None
        }
    }

    /// The supervisor has not been waited for yet, so its pid is not reused. The program may have stopped it.
    fn tell(&self, signal: Signal) {
        if let Some(keeper) = Pid::from_raw(pid_of(&self.keeper)) {
            let _ = kill_process(keeper, signal);
            let _ = kill_process(keeper, Signal::CONT);
        }
    }

    /// Ends the processes in place of the supervisor, which was stopped or did not succeed.
    fn force(&self) {
        let keeper = pid_of(&self.keeper);
        let start = Instant::now();
        while start.elapsed() < Duration::from_secs(1) {
            let round = tree::end_round(|| tree::below(keeper, &BTreeSet::new()));
            if round.found.is_empty() || round.is_refused {
                break;
            }
        }
        self.tell(Signal::KILL);
    }

    /// Reads one chunk, if there is one. Whether there was.
    fn read(&mut self, from: OutputStream, chunk: &mut [u8], listener: &mut dyn OutputListener) -> bool {
        let source = match from {
            OutputStream::Out => &mut self.out,
            OutputStream::Err => &mut self.err,
        };
        let Some(bytes) = source.read(chunk) else { return false };
        self.heard = Instant::now();
        if let Some(Err(error)) = self.transcript.as_mut().map(|transcript| transcript.keep(bytes)) {
            self.transcript = None;
            listener.transcript_lost(&error);
        }
        let room = usize::try_from(self.spec.limits.output.saturating_sub(self.printed)).unwrap_or(usize::MAX);
        self.printed = self.printed.saturating_add(bytes.len() as u64);
        let mut talk = ProcessHandle::new(&mut self.input, &mut self.is_unwanted);
        source.lines.feed(&bytes[..bytes.len().min(room)], |line, cut| listener.line(from, line, cut, &mut talk));
        true
    }

    /// The supervisor has ended: makes sure that no process is left, and reads the remaining output.
    fn finish(&mut self, listener: &mut dyn OutputListener) -> ProcessEnd {
        let status = self.status.unwrap_or_default();
        let killed = status.signal().is_some();
        // A supervisor that ends by itself has seen every other process end.
        if killed {
            orphans::end_orphans(&self.spec.mark, pid_of(&self.keeper));
            orphans::end_marked(&self.spec.mark);
        }
        let mut chunk = vec![0; CHUNK];
        let start = Instant::now();
        while start.elapsed() < DRAIN {
            let out = self.read(OutputStream::Out, &mut chunk, listener);
            if !self.read(OutputStream::Err, &mut chunk, listener) && !out {
                break;
            }
        }
        let mut talk = ProcessHandle::new(&mut self.input, &mut self.is_unwanted);
        self.out.lines.finish(|line, cut| listener.line(OutputStream::Out, line, cut, &mut talk));
        self.err.lines.finish(|line, cut| listener.line(OutputStream::Err, line, cut, &mut talk));
        let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
        let flooded = (self.printed > self.spec.limits.output).then_some(ProcessEnd::Flooded);
        self.end.or(flooded).unwrap_or(ProcessEnd::Exited(code.unwrap_or(-1)))
    }
}

/// A listener that panics, or a pipe that fails, leaves nothing behind either.
impl Drop for RunningProcess<'_> {
    fn drop(&mut self) {
        if self.has_ended() {
            return;
        }
        self.tell(Signal::QUIT);
        let start = Instant::now();
        while !self.has_ended() {
            if start.elapsed() > SLACK {
                self.force();
            }
            thread::sleep(Duration::from_millis(5));
        }
    }
}
