//! The stdin of a program. It is written as the program reads it, so that neither side waits for the other.

use std::fs::File;
use std::io::{ErrorKind, Write as _};
use std::os::fd::{AsFd as _, BorrowedFd};
use std::time::{Duration, Instant};

/// Written at once, before output is looked at again.
const AT_ONCE: usize = 64 << 10;

/// The writing end of a program's stdin, and what it has not taken yet.
pub(super) struct StdinWriter {
    pipe: Option<File>,
    waiting: Vec<u8>,
    /// Bytes of `waiting` that the program has taken.
    taken: usize,
    is_last: bool,
    /// When a listener closed it: the program is to end by that.
    closed: Option<Instant>,
}

impl StdinWriter {
    /// A pipe that does not block, or none.
    pub(super) fn new(pipe: Option<File>) -> Self {
        Self { pipe, waiting: Vec::new(), taken: 0, is_last: false, closed: None }
    }

    pub(super) fn add(&mut self, bytes: &[u8]) {
        if self.pipe.is_some() && !self.is_last {
            self.waiting.extend_from_slice(bytes);
        }
    }

    /// Closes it when everything is written.
    pub(super) fn end(&mut self) {
        self.is_last = true;
        if self.is_written() {
            self.pipe = None;
        }
    }

    /// As [`StdinWriter::end`], by a listener.
    fn close(&mut self) {
        self.closed.get_or_insert_with(Instant::now);
        self.end();
    }

    /// How long ago a listener closed it.
    pub(super) fn closed_for(&self) -> Option<Duration> {
        self.closed.map(|at| at.elapsed())
    }

    /// To be polled, while there is something to write.
    pub(super) fn pending(&self) -> Option<BorrowedFd<'_>> {
        self.pipe.as_ref().filter(|_| !self.is_written()).map(|pipe| pipe.as_fd())
    }

    /// Writes what the program takes now. A program that does not want to read is no error.
    pub(super) fn flush(&mut self) {
        let Some(pipe) = self.pipe.as_mut().filter(|_| self.taken < self.waiting.len()) else { return };
        let rest = &self.waiting[self.taken..];
        match pipe.write(&rest[..rest.len().min(AT_ONCE)]) {
            Ok(count) => self.taken += count,
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {}
            Err(_) => self.give_up(),
        }
        if self.is_written() {
            self.waiting = Vec::new();
            self.taken = 0;
            self.pipe.take_if(|_| self.is_last);
        }
    }

    fn is_written(&self) -> bool {
        self.taken == self.waiting.len()
    }

    fn give_up(&mut self) {
        self.pipe = None;
        self.taken = self.waiting.len();
    }
}

/// The actions of a listener on the program.
pub struct ProcessHandle<'a>(HandleTarget<'a>);

enum HandleTarget<'a> {
    Program {
        input: &'a mut StdinWriter,
        is_unwanted: &'a mut bool,
    },
    /// There is none: for tests of listeners.
    Record(&'a mut Vec<u8>),
}

impl<'a> ProcessHandle<'a> {
    pub(super) fn new(input: &'a mut StdinWriter, is_unwanted: &'a mut bool) -> Self {
        Self(HandleTarget::Program { input, is_unwanted })
    }

    /// Without a program: the input is recorded.
    pub fn recorded(record: &'a mut Vec<u8>) -> Self {
        Self(HandleTarget::Record(record))
    }

    /// Says something, if the program has its stdin open (`Stdin::Open`). Does not wait until it is read.
    pub fn send(&mut self, bytes: &[u8]) {
        match &mut self.0 {
            HandleTarget::Program { input, .. } => input.add(bytes),
            HandleTarget::Record(record) => record.extend_from_slice(bytes),
        }
    }

    /// Ends the input: closes stdin after what was sent. A program that has not ended by that after `Limits::grace` is
    /// asked to.
    pub fn close(&mut self) {
        match &mut self.0 {
            HandleTarget::Program { input, .. } => input.close(),
            HandleTarget::Record(record) => record.extend_from_slice(b"<closed>\n"),
        }
    }

    /// Asks this program to end, as [`ProcessControl::stop`](super::ProcessControl::stop) does. Other programs with the
    /// same control are not affected.
    pub fn stop(&mut self) {
        match &mut self.0 {
            HandleTarget::Program { is_unwanted, .. } => **is_unwanted = true,
            HandleTarget::Record(record) => record.extend_from_slice(b"<stopped>\n"),
        }
    }
}
