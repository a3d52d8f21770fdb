//! The end of a sub-agent: its handoff is submitted, or goes back to it with every problem.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use interlock_core::code::Code;
use interlock_core::command::{Command, LossReason, RecordLoss};
use interlock_core::handoff;
use interlock_core::id::{Digest, Name};
use interlock_core::rejection::Rejection;

use crate::event::{HookAnswer, SubAgent, SubAgentEnd};
use crate::memory::ClaimedAssignment;
use crate::policy::{HookDecision, HookPolicy};
use crate::spawn::role_name;
use interlock_app::error::CommandError;
use interlock_engine::{Committed, EngineError, Operation, Request, SubmittedHandoff};
use interlock_prompt::handoff_files;
use interlock_prompt::outputs::AttemptRemains;
use interlock_store::keys::SecretKey;

/// How often a handoff goes back before the attempt counts as lost.
const SENT_BACK: u32 = 3;
/// How much of an agent's transcript is read to find its assignment.
const BEGINNING: u64 = 64 << 10;

impl HookPolicy {
    pub(super) fn handle_end(&mut self, end: &SubAgentEnd) -> Result<HookDecision, CommandError> {
        let Some(agent) = self.scene.agent.clone() else { return Ok(HookDecision::Pass) };
        let Some(index) = self.held_by(&agent, end.transcript.as_deref()) else { return Ok(HookDecision::Pass) };
        let held = self.memory.notes.held[index].clone();
        self.record_hooks_seen(&held.session)?;
        let given = self.given(&held, &end.message);
        let nothing =
            matches!(&given.extracted, Err(problems) if problems.iter().any(|one| one.code == Code::NoHandoff));
        let task = Operation::Report {
            assignment: held.assignment,
            token: SecretKey::parse(&held.token),
            given,
            observed: None,
        };
        match self.engine.execute(&Request { session: held.session.clone(), task }) {
            Ok(done) => {
                self.memory.notes.held.remove(index);
                self.decided(&held, &done, "has handed off");
                Ok(HookDecision::Pass)
            }
            Err(EngineError::Refused(rejection)) if is_over(&rejection) => {
                self.memory.notes.held.remove(index);
                Ok(HookDecision::Pass)
            }
            Err(EngineError::Refused(rejection)) => self.goes_back(index, &rejection, nothing, &end.message),
            Err(error) => Err(error.into()),
        }
    }

    fn goes_back(
        &mut self,
        index: usize,
        rejection: &Rejection,
        nothing: bool,
        message: &str,
    ) -> Result<HookDecision, CommandError> {
        let held = &mut self.memory.notes.held[index];
        // The engine counts statuses that it sends back, and takes the third.
        let is_status = rejection.code == Code::StatusReturned;
        if is_status || held.returned < SENT_BACK {
            held.returned += u32::from(!is_status);
            return Ok(HookDecision::Answer(HookAnswer::SendBack(sent_back(rejection))));
        }
        let held = self.memory.notes.held.remove(index);
        self.keep_remains(&held, message, nothing);
        let loss = if nothing { LossReason::NoHandoff } else { LossReason::BadHandoff };
        let note = Some(Name::from(handoff_files::problems(rejection).join("; ")));
        let lost = Command::Lost(RecordLoss { assignment: held.assignment, loss, note });
        match self.engine.execute(&Request { session: held.session.clone(), task: Operation::Simple(lost) }) {
            Ok(done) => self.decided(&held, &done, "has left without a handoff for"),
            Err(EngineError::Refused(_)) => {}
            Err(error) => return Err(error.into()),
        }
        Ok(HookDecision::Pass)
    }

    /// The handoff: from the last message, or else from the file that agents are asked to write.
    fn given(&self, held: &ClaimedAssignment, message: &str) -> SubmittedHandoff {
        let said = extracted("the last message", message.as_bytes());
        if said.extracted.is_ok() {
            return said;
        }
        match handoff_files::read_left_handoff(&self.output_of(held)) {
            Ok(Some(bytes)) => extracted("the handoff file", &bytes),
            Ok(None) | Err(_) => said,
        }
    }

    fn output_of(&self, held: &ClaimedAssignment) -> PathBuf {
        let course = self.courses.iter().find(|course| course.live.id == held.session);
        let attempt = course.and_then(|course| course.live.state.assignments.get(&held.assignment)?.attempt.into());
        self.engine.output_directory(&held.session, held.assignment, attempt.unwrap_or(1))
    }

    /// Keeps the last message of an agent for the next attempt. If it cannot be kept, the attempt is recorded as lost
    /// all the same.
    fn keep_remains(&self, held: &ClaimedAssignment, message: &str, nothing: bool) {
        let folder = self.output_of(held);
        let left = || handoff_files::read_left_handoff(&folder).ok().flatten().unwrap_or_default();
        let said = handoff::extract("the last message", message.as_bytes()).is_ok();
        let handoff = match (nothing, said) {
            (true, _) => Vec::new(),
            (false, true) => message.as_bytes().to_vec(),
            (false, false) => left(),
        };
        let _ = AttemptRemains { output: message.to_owned(), patch: Vec::new(), handoff }.keep(&folder);
    }

    /// The assignment of this conversation that an agent holds: the one linked to it, or the one that its prompt names.
    fn held_by(&self, agent: &SubAgent, transcript: Option<&Path>) -> Option<usize> {
        let held = &self.memory.notes.held;
        let fitting = self.fitting(agent);
        if fitting.len() < 2 {
            return fitting.first().copied();
        }
        if let Some(told) = transcript.and_then(beginning) {
            let named = |held: &ClaimedAssignment| {
                told.contains(&format!("# Assignment {}.{}:", held.session, held.assignment))
            };
            return fitting.into_iter().find(|index| held.get(*index).is_some_and(named));
        }
        // Those who are gone are not mistaken for the one who is at work.
        let mut at_work = fitting.into_iter().filter(|index| held.get(*index).is_some_and(|held| !held.adrift));
        at_work.next().filter(|_| at_work.next().is_none())
    }

    /// Assignments that may be this agent's: its own, or all of its role that are not linked to an agent yet.
    pub(super) fn fitting(&self, agent: &SubAgent) -> Vec<usize> {
        let held = self.memory.notes.held.iter().enumerate();
        if let Some((own, _)) = held.clone().find(|(_, held)| held.agent.as_ref() == Some(&agent.id)) {
            return vec![own];
        }
        let role = role_name(&agent.kind);
        let fits = |held: &ClaimedAssignment| held.agent.is_none() && role_name(&held.role) == role;
        held.filter(|(_, held)| fits(held)).map(|(index, _)| index).collect()
    }

    /// Keeps a decision until the model can receive it.
    fn decided(&mut self, held: &ClaimedAssignment, done: &Committed, did: &str) {
        let Some(course) = self.courses.iter_mut().find(|course| course.live.id == held.session) else { return };
        let _ = self.engine.refresh_session(&mut course.live);
        let Some(decision) = &done.event.decision else { return };
        let because = decision.because.first().map_or(String::new(), |because| format!(", because {because}"));
        let words = format!(
            "`{}` {did} {}.{}; decision {}.{}: {} by rule {}{because}.",
            held.role,
            held.session,
            held.assignment,
            held.session,
            decision.id,
            decision.action.name(),
            decision.rule
        );
        if let Some(call) = &held.call {
            self.memory.notes.decided.push((call.clone(), words));
        }
    }
}

fn extracted(name: &str, bytes: &[u8]) -> SubmittedHandoff {
    SubmittedHandoff { digest: Digest::of(bytes), extracted: handoff::extract(name, bytes).map(Arc::new) }
}

/// The assignment no longer belongs to this agent, so there is nothing left to fix.
fn is_over(rejection: &Rejection) -> bool {
    let over = [
        Code::AssignmentClosed,
        Code::WrongToken,
        Code::NotClaimed,
        Code::SessionEnded,
        Code::ReportDiffers,
        Code::NoAssignment,
    ];
    over.contains(&rejection.code)
}

fn sent_back(rejection: &Rejection) -> String {
    let mut text = String::from("Interlock has not accepted your handoff. The assignment is still yours.\n\n");
    for problem in handoff_files::problems(rejection) {
        text.push_str(&format!("- {problem}\n"));
    }
    text.push_str(
        "\nFix every one of these, and end with a message whose last JSON block is the whole handoff. Report only what is true.\n",
    );
    text
}

/// The beginning of an agent's conversation, from the client's transcript.
fn beginning(transcript: &Path) -> Option<String> {
    let mut bytes = Vec::new();
    File::open(transcript).ok()?.take(BEGINNING).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}
