//! What every conversation keeps, whichever client prints it.

use std::collections::VecDeque;

use super::{Outcome, Progress, Tell, Trouble, TroubleKind, Usage, trouble};
use interlock_system::process::End;

/// Characters of what is told to people who watch.
const TOLD: usize = 500;
/// Lines of standard error that are kept, and bytes of each.
const ERRORS: usize = 12;
const ERROR: usize = 600;

pub(super) struct Story {
    tell: Tell,
    pub(super) text: Option<String>,
    pub(super) usage: Usage,
    pub(super) trouble: Option<Trouble>,
    /// What the client was not allowed to do; told only where nothing worse happened.
    denied: Option<String>,
    pub(super) conversation: Option<String>,
    /// The client said that the turn is over: how the process ends says nothing more.
    pub(super) over: bool,
    errors: VecDeque<String>,
}

impl Story {
    pub(super) fn new(tell: Tell) -> Self {
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
            (self.tell)(Progress::Says(line));
        }
    }

    pub(super) fn uses(&mut self, tool: &str, on: &str) {
        (self.tell)(Progress::Uses(first_line(tool), first_line(on)));
    }

    /// What has been used up so far, in place of what was known before.
    pub(super) fn spent(&mut self, usage: Usage) {
        if usage != self.usage {
            self.usage = usage;
            (self.tell)(Progress::Spent(usage));
        }
    }

    /// The first thing that was denied is the one to tell of.
    pub(super) fn denied(&mut self, what: &str) {
        self.denied.get_or_insert_with(|| first_line(what));
    }

    /// A line of standard error: often all that is said by a program that does not start.
    pub(super) fn grumbles(&mut self, line: &[u8]) {
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

    pub(super) fn outcome(mut self, end: End) -> Outcome {
        let trouble = self.trouble.take().or_else(|| self.ended_badly(end)).or_else(|| self.was_denied());
        Outcome { text: self.text, usage: self.usage, trouble, conversation: self.conversation }
    }

    fn was_denied(&mut self) -> Option<Trouble> {
        let message = self.denied.take()?;
        Some(Trouble { kind: TroubleKind::Denied, message, retry_after: None })
    }

    /// An end without the client's word that the turn is over.
    fn ended_badly(&self, end: End) -> Option<Trouble> {
        if self.over {
            return None;
        }
        let failed = |message: &str| Trouble { kind: TroubleKind::Failed, message: message.into(), retry_after: None };
        Some(match end {
            End::Exited(code) => self.exited(code),
            End::TimedOut => failed("it took too long"),
            End::Silent => failed("it said nothing for too long"),
            End::Flooded => failed("it printed too much"),
            End::Stopped => failed("it was stopped"),
        })
    }

    fn exited(&self, code: i32) -> Trouble {
        let said = self.grumbled();
        let how = match code {
            126 | 127 => format!("the program could not be started (exit code {code})"),
            _ => format!("it ended with exit code {code} before its turn was over"),
        };
        let mut trouble = trouble::from_words(&said);
        if matches!(code, 126 | 127) {
            trouble.kind = TroubleKind::Setup;
        }
        trouble.message = if said.is_empty() { how } else { format!("{how}: {said}") };
        trouble
    }
}

/// The first line that says anything, at a length that people can take in.
fn first_line(text: &str) -> String {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    line.chars().take(TOLD).collect()
}
