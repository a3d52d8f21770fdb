//! Any command: a script, or a client that Interlock does not know.
//!
//! What it prints is its message. Its exit code is its own word on how it went: 0 for done, and three codes of
//! `sysexits.h` for what cannot be said by any other.

use std::ffi::OsString;
use std::io;

use super::start::{spec, variables};
use super::story::Story;
use super::{Client, Conversation, Job, Outcome, Setup, Tell, Trouble, TroubleKind, placeholder};
use interlock_system::process::{End, Listener, Spec, Stdin, Stream, Talk};

pub(super) struct Command;

/// Bytes of what it prints that are kept: the end of it, where the handoff is.
const KEPT: usize = 8 << 20;

const TEMPORARY: i32 = 75;
const NOT_ALLOWED: i32 = 77;
const MISCONFIGURED: i32 = 78;

impl Client for Command {
    fn name(&self) -> &'static str {
        "command"
    }

    fn program<'a>(&self, setup: &'a Setup) -> &'a str {
        setup.command.first().map_or("", String::as_str)
    }

    fn variables(&self) -> &'static [&'static str] {
        variables![]
    }

    fn check(&self, setup: &Setup) -> Vec<String> {
        let mut problems = placeholder::check(setup);
        if setup.model.is_some() {
            problems.push("`model` is for clients that Interlock knows: put it into `command`".to_owned());
        }
        problems
    }

    fn start(&self, setup: &Setup, job: &Job<'_>) -> io::Result<Spec> {
        let mut arguments: Vec<OsString> = placeholder::fill(&setup.command, job);
        arguments.extend(setup.flags.iter().map(Into::into));
        let stdin = match placeholder::uses_prompt(&setup.command) {
            true => Stdin::Nothing,
            false => Stdin::Text(job.prompt.to_owned()),
        };
        spec(self.program(setup), arguments, setup, job, stdin)
    }

    fn conversation(&self, _: &Setup, _: &Job<'_>, tell: Tell) -> Box<dyn Conversation> {
        Box::new(Reading { story: Story::new(tell), printed: Vec::new() })
    }

    fn resumes(&self) -> bool {
        false
    }
}

struct Reading {
    story: Story,
    printed: Vec<u8>,
}

impl Listener for Reading {
    fn line(&mut self, from: Stream, line: &[u8], _: bool, _: &mut Talk<'_>) {
        if from == Stream::Err {
            return self.story.grumbles(line);
        }
        self.story.says(&String::from_utf8_lossy(line.get(..4096).unwrap_or(line)));
        self.printed.extend_from_slice(line);
        self.printed.push(b'\n');
        if self.printed.len() > 2 * KEPT {
            self.drop_the_beginning();
        }
    }
}

impl Reading {
    fn drop_the_beginning(&mut self) {
        let surplus = self.printed.len().saturating_sub(KEPT);
        self.printed.drain(..surplus);
    }
}

impl Conversation for Reading {
    fn finish(mut self: Box<Self>, end: End) -> Outcome {
        self.drop_the_beginning();
        let printed = String::from_utf8_lossy(&self.printed);
        self.story.text = Some(printed.trim_end()).filter(|text| !text.is_empty()).map(str::to_owned);
        self.story.over = end == End::Exited(0);
        if let Some(kind) = told(end) {
            self.story.trouble = Some(Trouble { kind, message: said(&self.story, end), retry_after: None });
        }
        self.story.outcome(end)
    }
}

/// What the exit code says.
fn told(end: End) -> Option<TroubleKind> {
    match end {
        End::Exited(0) => None,
        End::Exited(TEMPORARY) => Some(TroubleKind::Passing),
        End::Exited(NOT_ALLOWED) => Some(TroubleKind::Denied),
        End::Exited(126 | 127 | MISCONFIGURED) => Some(TroubleKind::Setup),
        End::Exited(_) => Some(TroubleKind::Failed),
        _ => None,
    }
}

fn said(story: &Story, end: End) -> String {
    let how = match end {
        End::Exited(code) => format!("it ended with exit code {code}"),
        _ => String::new(),
    };
    match story.grumbled() {
        said if said.is_empty() => how,
        said => format!("{how}: {said}"),
    }
}
