//! Any command: a script, or a client that Interlock does not know.
//!
//! Its output is its message. Its exit code is its outcome: 0 for done, and three codes of `sysexits.h` for outcomes
//! that no other code expresses.

use std::ffi::OsString;
use std::io;

use super::conversation_record::ConversationRecord;
use super::start::{spec, variables};
use super::{
    AgentClient, AgentConversation, AgentFailure, AgentFailureKind, AgentJob, AgentSetup, ConversationOutcome,
    ProgressCallback, placeholder,
};
use interlock_system::process::{OutputListener, OutputStream, ProcessEnd, ProcessHandle, ProcessSpec, StdinMode};

pub(super) struct CommandAgent;

/// Bytes of what it prints that are kept: the end of it, where the handoff is.
const KEPT: usize = 8 << 20;

const TEMPORARY: i32 = 75;
const NOT_ALLOWED: i32 = 77;
const MISCONFIGURED: i32 = 78;

impl AgentClient for CommandAgent {
    fn name(&self) -> &'static str {
        "command"
    }

    fn program<'a>(&self, setup: &'a AgentSetup) -> &'a str {
        setup.command.first().map_or("", String::as_str)
    }

    fn variables(&self) -> &'static [&'static str] {
        variables![]
    }

    fn check(&self, setup: &AgentSetup) -> Vec<String> {
        let mut problems = placeholder::check(setup);
        if setup.model.is_some() {
            problems.push("`model` is for clients that Interlock knows: put it into `command`".to_owned());
        }
        problems
    }

    fn start(&self, setup: &AgentSetup, job: &AgentJob<'_>) -> io::Result<ProcessSpec> {
        let mut arguments: Vec<OsString> = placeholder::fill(&setup.command, job);
        arguments.extend(setup.flags.iter().map(Into::into));
        let stdin = match placeholder::uses_prompt(&setup.command) {
            true => StdinMode::Nothing,
            false => StdinMode::Text(job.prompt.to_owned()),
        };
        spec(self.program(setup), arguments, setup, job, stdin)
    }

    fn conversation(&self, _: &AgentSetup, _: &AgentJob<'_>, tell: ProgressCallback) -> Box<dyn AgentConversation> {
        Box::new(CommandConversation { story: ConversationRecord::new(tell), printed: Vec::new() })
    }

    fn resumes(&self) -> bool {
        false
    }
}

struct CommandConversation {
    story: ConversationRecord,
    printed: Vec<u8>,
}

impl OutputListener for CommandConversation {
    fn line(&mut self, from: OutputStream, line: &[u8], _: bool, _: &mut ProcessHandle<'_>) {
        if from == OutputStream::Err {
            return self.story.record_stderr(line);
        }
        self.story.says(&String::from_utf8_lossy(line.get(..4096).unwrap_or(line)));
        self.printed.extend_from_slice(line);
        self.printed.push(b'\n');
        if self.printed.len() > 2 * KEPT {
            self.drop_the_beginning();
        }
    }
}

impl CommandConversation {
    fn drop_the_beginning(&mut self) {
        let surplus = self.printed.len().saturating_sub(KEPT);
        self.printed.drain(..surplus);
    }
}

impl AgentConversation for CommandConversation {
    fn finish(mut self: Box<Self>, end: ProcessEnd) -> ConversationOutcome {
        self.drop_the_beginning();
        let printed = String::from_utf8_lossy(&self.printed);
        self.story.text = Some(printed.trim_end()).filter(|text| !text.is_empty()).map(str::to_owned);
        self.story.over = end == ProcessEnd::Exited(0);
        if let Some(kind) = told(end) {
            self.story.trouble = Some(AgentFailure { kind, message: said(&self.story, end), retry_after: None });
        }
        self.story.outcome(end)
    }
}

/// The failure that an exit code stands for.
fn told(end: ProcessEnd) -> Option<AgentFailureKind> {
    match end {
        ProcessEnd::Exited(0) => None,
        ProcessEnd::Exited(TEMPORARY) => Some(AgentFailureKind::Passing),
        ProcessEnd::Exited(NOT_ALLOWED) => Some(AgentFailureKind::Denied),
        ProcessEnd::Exited(126 | 127 | MISCONFIGURED) => Some(AgentFailureKind::Setup),
        ProcessEnd::Exited(_) => Some(AgentFailureKind::Failed),
        _ => None,
    }
}

fn said(story: &ConversationRecord, end: ProcessEnd) -> String {
    let how = match end {
        ProcessEnd::Exited(code) => format!("it ended with exit code {code}"),
        _ => String::new(),
    };
    match story.grumbled() {
        said if said.is_empty() => how,
        said => format!("{how}: {said}"),
    }
}
