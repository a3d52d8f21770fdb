//! The process tree according to `/proc`, and signals that reach only the intended process.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::thread;
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, kill_process_group, pidfd_open, pidfd_send_signal};

/// Looks before what is still moving is killed as it is.
const LOOKS: usize = 20;

/// A process as it was when it was looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ProcessEntry {
    pub(super) pid: i32,
    pub(super) parent: i32,
    pub(super) group: i32,
    pub(super) session: i32,
    state: u8,
    /// With the pid, this tells a process from a later one that was given the same pid.
    started: u64,
}

impl ProcessEntry {
    fn read(pid: i32) -> Option<Self> {
        Self::parse(pid, &fs::read(format!("/proc/{pid}/stat")).ok()?)
    }

    /// The name in parentheses may be anything, with spaces and parentheses too: what counts comes after the last one.
    fn parse(pid: i32, stat: &[u8]) -> Option<Self> {
        let after = memchr::memrchr(b')', stat)? + 1;
        let fields: Vec<&str> = std::str::from_utf8(&stat[after..]).ok()?.split_ascii_whitespace().collect();
        let number = |at: usize| fields.get(at).and_then(|field| field.parse().ok());
        Some(Self {
            pid,
            state: *fields.first()?.as_bytes().first()?,
            parent: number(1)?,
            group: number(2)?,
            session: number(3)?,
            started: fields.get(19)?.parse().ok()?,
        })
    }

    /// It has not ended. A zombie has, even if its parent has not waited for it.
    pub(super) fn is_alive(&self) -> bool {
        !matches!(self.state, b'Z' | b'X' | b'x')
    }

    fn is_frozen(&self) -> bool {
        matches!(self.state, b'T' | b't')
    }

    /// Sends a signal to this process, and to no other that has its pid by now.
    pub(super) fn send(&self, signal: Signal) -> Result<(), Errno> {
        let pid = Pid::from_raw(self.pid).ok_or(Errno::SRCH)?;
        match pidfd_open(pid, PidfdFlags::empty()) {
            Ok(_) if !self.is_still_there() => Err(Errno::SRCH),
            Ok(process) => pidfd_send_signal(process, signal),
            Err(Errno::SRCH) => Err(Errno::SRCH),
            Err(_) if !self.is_still_there() => Err(Errno::SRCH),
            Err(_) => kill_process(pid, signal),
        }
    }

    fn is_still_there(&self) -> bool {
        Self::read(self.pid).is_some_and(|now| now.started == self.started)
    }
}

/// Every process there is.
pub(super) fn all() -> Vec<ProcessEntry> {
    let Ok(folder) = fs::read_dir("/proc") else { return Vec::new() };
    let pids = folder.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter_map(ProcessEntry::read).collect()
}

/// Every living process that descends from `root`, without `root`, and without `except` and what descends from those.
pub(super) fn below(root: i32, except: &BTreeSet<i32>) -> Vec<ProcessEntry> {
    let mut children: BTreeMap<i32, Vec<ProcessEntry>> = BTreeMap::new();
    for entry in all() {
        children.entry(entry.parent).or_default().push(entry);
    }
    let mut found = Vec::new();
    let mut open = vec![root];
    while let Some(parent) = open.pop() {
        // Taken out, so that a picture that was taken while things moved has no circles.
        for child in children.remove(&parent).unwrap_or_default() {
            if !except.contains(&child.pid) {
                open.push(child.pid);
                found.push(child);
            }
        }
    }
    found.retain(ProcessEntry::is_alive);
    found
}

/// This process and everything it descends from.
pub(super) fn line_of(pid: i32) -> BTreeSet<i32> {
    let mut line = BTreeSet::new();
    let mut next = pid;
    while next > 0 && line.insert(next) {
        next = ProcessEntry::read(next).map_or(0, |entry| entry.parent);
    }
    line
}

/// The result of one round of killing.
pub(super) struct KillRound {
    /// The processes that were killed, or would have been.
    pub(super) found: Vec<ProcessEntry>,
    /// No process could be killed: they belong to another user.
    pub(super) is_refused: bool,
}

/// Kills everything that `find` finds. All of it is frozen first, and looked for again, so that what starts processes
/// faster than one can kill them stands still; what nevertheless got away is for the next round.
pub(super) fn end_round(find: impl Fn() -> Vec<ProcessEntry>) -> KillRound {
    for _ in 0..LOOKS {
        let moving: Vec<ProcessEntry> = find().into_iter().filter(|entry| !entry.is_frozen()).collect();
        let reached = moving.iter().filter(|entry| entry.send(Signal::STOP).is_ok()).count();
        if reached == 0 {
            break;
        }
        thread::sleep(Duration::from_micros(200));
    }
    let found = find();
    let refused = found.iter().filter(|entry| entry.send(Signal::KILL) == Err(Errno::PERM)).count();
    KillRound { is_refused: refused > 0 && refused == found.len(), found }
}

/// Kills whole groups at once: the one signal that a process cannot get away from by starting another and ending.
pub(super) fn kill_groups(of: &[ProcessEntry], own: i32) {
    let groups: BTreeSet<i32> =
        of.iter().map(|entry| entry.group).filter(|group| *group != own && *group > 1).collect();
    for group in groups.into_iter().filter_map(Pid::from_raw) {
        let _ = kill_process_group(group, Signal::KILL);
    }
}

/// Continues the children of this process that a terminal has stopped together with it. A child that was stopped
/// between its start and its program would block the thread that started it, and then this process could not be stopped
/// as a whole.
pub fn wake_children() {
    let own = i32::try_from(std::process::id()).unwrap_or(0);
    wake(own, rustix::process::getpgrp().as_raw_nonzero().get());
}

fn wake(parent: i32, group: i32) {
    for child in all().iter().filter(|entry| entry.parent == parent && entry.group == group) {
        let _ = child.send(Signal::CONT);
    }
}

/// Kills the children of this process, without a look at anything else. For a process with one thread, that reaps its
/// children itself: until it does, their pids are theirs.
pub(super) fn kill_children() -> io::Result<()> {
    let own = std::process::id();
    let children = fs::read_to_string(format!("/proc/{own}/task/{own}/children"))?;
    for child in children.split_ascii_whitespace().filter_map(|pid| Pid::from_raw(pid.parse().ok()?)) {
        let _ = kill_process(child, Signal::KILL);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_may_look_like_the_fields_that_follow_it() {
        let stat = b"77 (a) R 1 (b) Z) S 5 6 7 0 -1 4194560 9 0 0 0 0 0 0 0 20 0 1 0 123456 0 0\n";
        let entry = ProcessEntry::parse(77, stat).unwrap();
        assert_eq!((entry.parent, entry.group, entry.session, entry.started), (5, 6, 7, 123_456));
        assert!(entry.is_alive() && !entry.is_frozen());
        assert_eq!(ProcessEntry::parse(77, b"77 (cut short"), None);
    }

    #[test]
    fn this_process_descends_from_its_parent() {
        let own = i32::try_from(std::process::id()).unwrap();
        let parent = ProcessEntry::read(own).unwrap().parent;
        assert!(line_of(own).contains(&parent));
        assert!(below(parent, &BTreeSet::new()).iter().any(|entry| entry.pid == own));
        assert!(!below(parent, &BTreeSet::from([own])).iter().any(|entry| entry.pid == own));
    }

    #[test]
    fn a_signal_is_not_for_a_later_process_with_the_same_pid() {
        let own = i32::try_from(std::process::id()).unwrap();
        let other = ProcessEntry { started: 1, ..ProcessEntry::read(own).unwrap() };
        assert_eq!(other.send(Signal::KILL), Err(Errno::SRCH));
    }

    #[test]
    fn children_that_a_terminal_has_stopped_go_on() {
        let mut shell = std::process::Command::new("sh");
        let mut shell = shell.args(["-c", "sleep 20 & sleep 20 & wait"]).spawn().unwrap();
        let pid = i32::try_from(shell.id()).unwrap();
        let children = || below(pid, &BTreeSet::new());
        let until = |is_so: &dyn Fn(&[ProcessEntry]) -> bool| {
            let met = (0..500).any(|_| {
                thread::sleep(Duration::from_millis(10));
                is_so(&children())
            });
            assert!(met, "{:?}", children());
        };
        until(&|children| children.len() == 2);
        children().iter().for_each(|child| child.send(Signal::STOP).unwrap());
        until(&|children| children.iter().all(ProcessEntry::is_frozen));
        wake(pid, 1);
        assert!(children().iter().all(ProcessEntry::is_frozen), "not those of other groups");
        wake(pid, rustix::process::getpgrp().as_raw_nonzero().get());
        until(&|children| !children.iter().any(ProcessEntry::is_frozen));
        children().iter().for_each(|child| child.send(Signal::KILL).unwrap());
        shell.wait().unwrap();
    }
}
