//! The remaining processes of a program whose supervisor was killed. They are identified by a variable of their
//! environment.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, WaitOptions, geteuid, getpid, set_child_subreaper, waitpid};

use super::children;
use super::tree::{self, ProcessEntry};

/// The variable that every program finds in its environment, with `ProcessSpec::mark` as its value.
pub const MARK: &str = "INTERLOCK_RUN";

/// How long orphans are searched for.
const LONGEST: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_millis(2);

/// Makes this process the parent of all processes that its programs abandon, in case their supervisor is killed. A
/// process that runs programs calls this once, before it runs the first.
pub fn become_subreaper() -> io::Result<()> {
    Ok(set_child_subreaper(Some(getpid()))?)
}

/// Ends every process of this user whose mark starts with `prefix`: the remains of programs whose supervisor and whose
/// runner were killed. Never ends this process or its ancestors. Returns the number of processes.
///
/// An empty prefix would match the programs of every run, and ends nothing.
pub fn end_marked_processes(prefix: &str) -> usize {
    if prefix.is_empty() {
        return 0;
    }
    let own = tree::line_of(getpid().as_raw_nonzero().get());
    let user = geteuid().as_raw();
    end_all(|| {
        let mut found = tree::all();
        found.retain(|entry| entry.is_alive() && !own.contains(&entry.pid) && is_of(entry.pid, user));
        found.retain(|entry| mark(entry.pid).is_some_and(|mark| mark.starts_with(prefix.as_bytes())));
        found
    })
    .len()
}

/// Ends the processes that a killed supervisor has left to this one: those with its mark, and those still in the
/// supervisor's session. Where this process knows all children that it has started itself, it ends all others too.
/// Processes below the supervisor of another program belong to that one.
pub(super) fn end_orphans(of: &str, keeper: i32) {
    let own = getpid().as_raw_nonzero().get();
    let everything = children::all_are_known();
    let ended = end_all(|| {
        let mut found = children::with_known_children(|known| tree::below(own, known));
        found.retain(|entry| everything || entry.session == keeper || is_marked(entry.pid, of));
        found
    });
    for pid in ended.into_iter().filter_map(Pid::from_raw) {
        // Only those that came to this process; the others are not its to ask for.
        let _ = waitpid(Some(pid), WaitOptions::NOHANG);
    }
}

/// Ends everything with this mark, wherever it is.
pub(super) fn end_marked(mark: &str) {
    let own = tree::line_of(getpid().as_raw_nonzero().get());
    end_all(|| {
        let mut found = tree::all();
        found.retain(|entry| entry.is_alive() && !own.contains(&entry.pid) && is_marked(entry.pid, mark));
        found
    });
}

/// Kills until nothing is found any more. Who was found.
fn end_all(find: impl Fn() -> Vec<ProcessEntry>) -> BTreeSet<i32> {
    let start = Instant::now();
    let mut ended = BTreeSet::new();
    while start.elapsed() < LONGEST {
        let round = tree::end_round(&find);
        if round.found.is_empty() || round.is_refused {
            break;
        }
        ended.extend(round.found.iter().map(|entry| entry.pid));
        thread::sleep(PAUSE);
    }
    ended
}

fn is_marked(pid: i32, with: &str) -> bool {
    !with.is_empty() && mark(pid).is_some_and(|mark| mark == with.as_bytes())
}

fn is_of(pid: i32, user: u32) -> bool {
    fs::metadata(format!("/proc/{pid}")).is_ok_and(|entry| entry.uid() == user)
}

/// The mark that a process was started with.
fn mark(pid: i32) -> Option<Vec<u8>> {
    let environment = fs::read(format!("/proc/{pid}/environ")).ok()?;
    let mut variables = environment.split(|byte| *byte == 0);
    variables.find_map(|variable| Some(variable.strip_prefix(MARK.as_bytes())?.strip_prefix(b"=")?.to_vec()))
}
