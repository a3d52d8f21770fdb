//! The record of a conversation, the same for every client.

use std::collections::VecDeque;

use super::{AgentFailure, AgentFailureKind, AgentProgress, ConversationOutcome, ProgressCallback, Usage, failure};
use interlock_system::process::ProcessEnd;

/// Most characters of a progress message.
const TOLD: usize = 500;
/// Lines of standard error that are kept, and bytes of each.
const ERRORS: usize = 12;
const ERROR: usize = 600;

pub(super) struct ConversationRecord {
    tell: ProgressCallback,
    pub(super) text: Option<String>,
    pub(super) usage: Usage,
    pub(super) trouble: Option<AgentFailure>,
    /// The first action that the client was not allowed to take. It is reported only if nothing worse happened.
    denied: Option<String>,
    pub(super) conversation: Option<String>,
    /// The client reported the end of the turn. The exit code of the process no longer matters.
    pub(super) over: bool,
    errors: VecDeque<String>,
}

impl ConversationRecord {
    pub(super) fn new(tell: ProgressCallback) -> Self {
        Self {
            tell,
            text: None,
            usage: Usage::default(),
            trouble: None,
            denied: None,
            conversation: None,
            over: false,
            errors: VecDeque::new(),
        }
    }

    pub(super) fn says(&mut self, text: &str) {
        let line = first_line(text);
        if !line.is_empty() {
            (self.tell)(AgentProgress::Says(line));
        }
    }

    pub(super) fn uses(&mut self, tool: &str, on: &str) {
        (self.tell)(AgentProgress::Uses(first_line(tool), first_line(on)));
    }

    /// Replaces the usage so far.
    pub(super) fn spent(&mut self, usage: Usage) {
        if usage != self.usage {
            self.usage = usage;
            (self.tell)(AgentProgress::Spent(usage));
        }
    }

    /// The first thing that was denied is the one to tell of.
    pub(super) fn denied(&mut self, what: &str) {
        self.denied.get_or_insert_with(|| first_line(what));
    }

    /// A line of standard error. A program that does not start often prints nothing else.
    pub(super) fn record_stderr(&mut self, line: &[u8]) {
        let line = String::from_utf8_lossy(line.get(..ERROR).unwrap_or(line));
        if line.trim().is_empty() {
            return;
        }
        self.errors.push_back(line.trim_end().to_owned());
        if self.errors.len() > ERRORS {
            self.errors.pop_front();
        }
    }

    pub(super) fn grumbled(&self) -> String {
        self.errors.iter().map(String::as_str).collect::<Vec<_>>().join("\n")
    }

    pub(super) fn outcome(mut self, end: ProcessEnd) -> ConversationOutcome {
        let trouble = self.trouble.take().or_else(|| self.ended_badly(end)).or_else(|| self.was_denied());
        ConversationOutcome { text: self.text, usage: self.usage, trouble, conversation: self.conversation }
    }

    fn was_denied(&mut self) -> Option<AgentFailure> {
        let message = self.denied.take()?;
        Some(AgentFailure { kind: AgentFailureKind::Denied, message, retry_after: None })
    }

    /// An end without the client's word that the turn is over.
    fn ended_badly(&self, end: ProcessEnd) -> Option<AgentFailure> {
        if self.over {
            return None;
        }
        let failed =
            |message: &str| AgentFailure { kind: AgentFailureKind::Failed, message: message.into(), retry_after: None };
        Some(match end {
            ProcessEnd::Exited(code) => self.exited(code),
            ProcessEnd::TimedOut => failed("it took too long"),
            ProcessEnd::Silent => failed("it said nothing for too long"),
            ProcessEnd::Flooded => failed("it printed too much"),
            ProcessEnd::Stopped => failed("it was stopped"),
        })
    }

    fn exited(&self, code: i32) -> AgentFailure {
        let said = self.grumbled();
        let how = match code {
            126 | 127 => format!("the program could not be started (exit code {code})"),
            _ => format!("it ended with exit code {code} before its turn was over"),
        };
        let mut trouble = failure::from_words(&said);
        if matches!(code, 126 | 127) {
            trouble.kind = AgentFailureKind::Setup;
        }
        trouble.message = if said.is_empty() { how } else { format!("{how}: {said}") };
        trouble
    }
}

/// The first line that is not empty, at a length that people can read.
fn first_line(text: &str) -> String {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    line.chars().take(TOLD).collect()
}
