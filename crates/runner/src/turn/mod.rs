//! One assignment, from its claim to the decision that its report brings.

mod claim_checks;
mod claimed_files;
mod conversation;
mod prompt_text;
mod tests_claim;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::Sender;
use std::time::Duration;

use interlock_core::code::Code;
use interlock_core::command::LossReason;
use interlock_core::handoff;
use interlock_core::id::{Digest, Name};
use interlock_core::observed::ObservedChanges;
use interlock_core::workflow::{AssignmentTask, WritePermission};
use serde_json::Value as Json;

use crate::budget::ExceededBudget;
use crate::git::GitHash;
use crate::run_context::{AssignmentJob, JobOutcome, RunContext, SchedulerMessage, is_gone, wait_unless_stopped};
use crate::turn_workspace::TurnWorkspace;
use interlock_agents::team::{AgentTeam, RoleAgent};
use interlock_agents::{AgentFailure, AgentFailureKind, ConversationOutcome, Usage};
use interlock_app::error::{CommandError, CommandExit};
use interlock_engine::{AssignmentClaim, EngineError, Operation as Wish, SubmittedHandoff};
use interlock_prompt as brief;
use interlock_prompt::handoff_files;
use interlock_prompt::outputs;
use interlock_system::process::{ProcessControl, ProcessEnd};

pub(super) use conversation::asked_by;
use conversation::time_for;
use prompt_text::{LONG_MISSION, clash, how, message, of_conflicts, of_ending, of_folder, of_preparing};

/// How often it looks whether the session is still paused.
const LOOK: Duration = Duration::from_millis(100);

/// Claims the assignment and plays it.
pub(super) fn run_turn(
    crew: &RunContext,
    call: &AssignmentJob,
    control: &ProcessControl,
    news: &Sender<SchedulerMessage>,
) -> Result<JobOutcome, CommandError> {
    let part = crew.part(&call.role)?;
    let done = match crew.submit_operation(Wish::Claim { assignment: call.id }) {
        Ok(done) => done,
        Err(error) if is_gone(error.code()) => return Ok(JobOutcome::Gone),
        Err(error) => return Err(error.into()),
    };
    let Some(claimed) = done.claimed else {
        return Err(CommandError::new(CommandExit::Bug, Code::Bug, "a claim came back without its token"));
    };
    let writes = crew.writes(&call.role);
    if let (AssignmentTask::Merge, Some(group)) = (call.task, &call.group) {
        // The agent gets both sides in its files, and what it makes of them is the merge.
        crew.site.vault.set_merge_target(group, &crew.site.vault.integration()?)?;
    }
    let bench = crew.site.prepare_workspace(call, *writes != WritePermission::Nothing)?;
    let unready = crew.make_ready(&bench.workspace, &bench.begun, control)?;
    if let Some(failed) = unready.as_ref().filter(|_| bench.is_untouched(&crew.site)) {
        // No agent has changed anything yet, so the command itself is wrong.
        return Err(unprepared(failed));
    }
    bench.workspace.note_submodules()?;
    let output = crew.site.output(call.id, claimed.attempt);
    make(&output, &claimed).map_err(|error| unwritable(&output, &error))?;
    if claimed.whole.iter().any(|(file, _)| file.ends_with("/mission.md")) && !crew.told.swap(true, Ordering::Relaxed) {
        let _ = news.send(SchedulerMessage::Note(None, LONG_MISSION.to_owned()));
    }
    let schema = AgentTeam::schema(part, &crew.workflow);
    // An agent that is held to a schema hands off with its last message.
    let tool = part.tool && schema.is_none();
    let base = bench.base(&crew.site)?;
    let sections = [
        of_conflicts(bench.conflicts.as_ref()),
        of_preparing(unready.as_ref()),
        of_folder(call, &base, time_for(crew, part, &call.role)),
    ];
    // The return format comes last.
    let (task, response) = brief::split_at_return(&claimed.prompt);
    let prompt = format!("{}\n{}{response}{}", task.trim_end(), sections.concat(), of_ending(tool, &output));
    let name = format!("{}.{}", crew.session, call.id);
    let told = NextMessage { text: prompt.clone(), resume: None };
    let turn = AgentTurn {
        crew,
        call,
        part,
        writes,
        control,
        news,
        claimed,
        bench,
        base,
        output,
        prompt,
        name,
        schema,
        tool,
        told,
        sent_back: 0,
        denied: 0,
        waited: 0,
        counted: Usage::default(),
        worked: Duration::ZERO,
        overspent: None,
    };
    turn.play()
}

/// The output folder of an attempt: empty, but for what did not fit into the prompt.
fn make(output: &Path, claimed: &AssignmentClaim) -> std::io::Result<()> {
    handoff_files::clear(output)?;
    let feature = output.parent().unwrap_or(output);
    outputs::copy_earlier(feature, &claimed.earlier, output)?;
    handoff_files::lay_out(output, &claimed.whole)
}

/// The next message to the agent.
struct NextMessage {
    text: String,
    /// In this conversation.
    resume: Option<String>,
}

struct AgentTurn<'a> {
    crew: &'a RunContext,
    call: &'a AssignmentJob,
    part: &'a RoleAgent,
    writes: &'a WritePermission,
    control: &'a ProcessControl,
    news: &'a Sender<SchedulerMessage>,
    claimed: AssignmentClaim,
    bench: TurnWorkspace,
    /// The commit that the group's work is compared with.
    base: GitHash,
    output: PathBuf,
    prompt: String,
    /// `SESSION.a3`
    name: String,
    /// The schema that the client holds its model to.
    schema: Option<Json>,
    /// Whether it is given the tool that hands off.
    tool: bool,
    told: NextMessage,
    /// How often a handoff was sent back.
    sent_back: u32,
    /// How often it was because the diff denies what it claims.
    denied: u32,
    /// How often something passing was waited out.
    waited: u32,
    /// The usage of the conversation up to the last turn.
    counted: Usage,
    /// How long agents were at work on this attempt.
    worked: Duration,
    /// A budget that the last conversation came to the end of.
    overspent: Option<ExceededBudget>,
}

/// The outcome of submitting a handoff.
enum SubmissionOutcome {
    Settled(JobOutcome),
    /// Not accepted, for these reasons.
    Back(Vec<String>),
    /// Not accepted because of its status. The engine counts how often, so it is no correction of the team's.
    StatusReturned(Vec<String>),
    /// Not accepted: the diff contradicts its claim. It goes back at most so often, and is a false claim after that.
    Denied {
        problems: Vec<String>,
        most: u32,
    },
}

/// Accepted work, and the diff that it makes.
struct AcceptedWork {
    commit: Option<GitHash>,
    observed: Option<Arc<ObservedChanges>>,
}

impl AgentTurn<'_> {
    fn play(mut self) -> Result<JobOutcome, CommandError> {
        loop {
            if let Some(exceeded) = self.over_budget() {
                return self.halt(exceeded);
            }
            if self.time_left().is_some_and(|left| left.is_zero()) {
                return self.lose(LossReason::NoHandoff, how(ProcessEnd::TimedOut));
            }
            if !self.may_start() {
                return self.let_go();
            }
            let (end, outcome) = self.run_conversation()?;
            if self.control.is_stopped() {
                return Ok(JobOutcome::Stopped);
            }
            if let Some(AgentFailure { kind: AgentFailureKind::Denied, message, .. }) = &outcome.trouble {
                self.note(format!("{}: {message}", self.call.role));
            }
            let overspent = self.overspent.take();
            let step = match self.read_submission(&outcome) {
                Ok(Some(bytes)) => self.submit_handoff(&bytes)?,
                Ok(None) => match overspent {
                    Some(exceeded) => return self.halt(exceeded),
                    None => match self.without_handoff(end, &outcome)? {
                        Some(over) => return Ok(over),
                        None => continue,
                    },
                },
                Err(error) => SubmissionOutcome::Back(vec![format!("the handoff cannot be read: {error}")]),
            };
            match step {
                SubmissionOutcome::Settled(over) => return Ok(over),
                SubmissionOutcome::Back(problems) => {
                    if self.sent_back >= self.crew.team.corrections {
                        return self.lose(LossReason::BadHandoff, problems.join("\n"));
                    }
                    self.sent_back += 1;
                    self.send_back(&problems, outcome.conversation);
                }
                SubmissionOutcome::StatusReturned(problems) => self.send_back(&problems, outcome.conversation),
                SubmissionOutcome::Denied { problems, most } => {
                    if self.denied >= most || self.sent_back >= self.crew.team.corrections {
                        return self.lose(LossReason::FalseClaim, problems.join("\n"));
                    }
                    self.denied += 1;
                    self.sent_back += 1;
                    self.send_back(&problems, outcome.conversation);
                }
            }
        }
    }

    /// The handoff file that the agent left, or its last message.
    fn read_submission(&self, outcome: &ConversationOutcome) -> std::io::Result<Option<Vec<u8>>> {
        let left = handoff_files::read_left_handoff(&self.output)?;
        // Words before an end that the model did not choose are no handoff.
        let cut_short = matches!(
            outcome.trouble,
            Some(AgentFailure {
                kind: AgentFailureKind::Passing | AgentFailureKind::Setup | AgentFailureKind::Forgotten,
                ..
            })
        );
        let text = outcome.text.clone().filter(|text| !cut_short && text.contains('{'));
        Ok(left.or_else(|| text.map(String::into_bytes)))
    }

    fn submit_handoff(&mut self, bytes: &[u8]) -> Result<SubmissionOutcome, CommandError> {
        self.crew.site.note_submitted(self.call.id, self.claimed.attempt, bytes);
        let extracted = handoff::extract("handoff", bytes);
        let (mut own, mut _held, mut observed) = (None, None, None);
        if let Ok(extracted) = &extracted {
            let commit = match self.accept_work(&extracted.json)? {
                Ok(taken) => {
                    observed = taken.observed;
                    taken.commit
                }
                Err(handed) => return Ok(handed),
            };
            if let (None, Some(commit)) = (&self.call.group, commit) {
                // Nothing else is merged until it is in, so that nothing can come in between.
                _held = Some(self.crew.site.merging());
                if self.crew.site.clashes(&mut self.bench, &commit)? {
                    return Ok(SubmissionOutcome::Back(clash(self.bench.conflicts.as_ref())));
                }
                if let Some(handed) = self.undoes(&commit)? {
                    return Ok(handed);
                }
                self.crew.site.vault.note_pending_merge(&self.call.id.to_string(), &commit)?;
                own = Some(commit);
            }
        }
        let given = SubmittedHandoff { digest: Digest::of(bytes), extracted: extracted.map(Arc::new) };
        let token = Some(self.claimed.token.clone());
        let result = self.crew.submit_operation(Wish::Report { assignment: self.call.id, token, given, observed });
        match result {
            Ok(done) => {
                if let Some(commit) = own {
                    self.crew.site.integrate(&self.call.role, &commit)?;
                    self.crew.site.vault.clear_pending_merge(&self.call.id.to_string())?;
                }
                Ok(SubmissionOutcome::Settled(JobOutcome::Decided(Box::new(done))))
            }
            Err(error) if is_gone(error.code()) || error.code() == Code::WrongToken => {
                Ok(SubmissionOutcome::Settled(JobOutcome::Gone))
            }
            // An author that reports work where there is none is asked once more. Reviewers are not accused of it.
            Err(EngineError::Refused(rejection))
                if matches!(rejection.code, Code::NothingChanged | Code::ChangesPresent)
                    && *self.writes != WritePermission::Nothing =>
            {
                Ok(SubmissionOutcome::Denied { problems: handoff_files::problems(&rejection), most: 1 })
            }
            Err(EngineError::Refused(rejection)) => {
                let problems = handoff_files::problems(&rejection);
                // Its own limit bounds it; other problems beside it count as corrections.
                let other = rejection.problems.iter().any(|problem| problem.code != Code::StatusReturned);
                let is_status = rejection.code == Code::StatusReturned && !other;
                Ok(if is_status {
                    SubmissionOutcome::StatusReturned(problems)
                } else {
                    SubmissionOutcome::Back(problems)
                })
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Accepts the work that the agent left, if its role may make these changes and its claims about them are true.
    fn accept_work(&mut self, json: &Json) -> Result<Result<AcceptedWork, SubmissionOutcome>, CommandError> {
        let unwanted = self.unwanted(json);
        if !unwanted.is_empty() {
            return Ok(Err(SubmissionOutcome::Back(unwanted)));
        }
        let changes = self.bench.changes(self.writes)?;
        let protected = self.protected_changes(&changes);
        let trespasses = self.bench.trespasses(&changes, self.writes, &protected);
        if !trespasses.is_empty() {
            let undone = self.bench.undo(&self.crew.site, &changes, self.writes, &protected)?;
            return Ok(Err(SubmissionOutcome::Back(trespasses.into_iter().chain([undone]).collect())));
        }
        let unsettled = self.bench.unsettled(&changes, json);
        if !unsettled.is_empty() {
            return Ok(Err(SubmissionOutcome::Back(unsettled)));
        }
        let mut commit = None;
        if *self.writes != WritePermission::Nothing {
            let message = message(self.call, json);
            commit = Some(self.crew.site.commit_work(&self.bench, self.call.id, &changes, &message)?);
        }
        let observed = match self.observe(json, &changes, commit.as_ref())? {
            Ok(observed) => observed,
            Err(handed) => return Ok(Err(handed)),
        };
        if let Some(seen) = self.false_claim(json, &changes.tree)? {
            return self.lose(LossReason::FalseClaim, seen).map(|over| Err(SubmissionOutcome::Settled(over)));
        }
        if self.control.is_stopped() {
            // The claim may not have been looked into.
            return Ok(Err(SubmissionOutcome::Settled(JobOutcome::Stopped)));
        }
        Ok(match self.false_merge(json, commit.as_ref())? {
            Err(over) => Err(SubmissionOutcome::Settled(over)),
            Ok(is_empty) => {
                let mut observed = observed;
                if let Some(observed) = observed.as_mut().filter(|_| is_empty) {
                    Arc::make_mut(observed).merge_is_empty = true;
                }
                Ok(AcceptedWork { commit, observed })
            }
        })
    }

    /// It ended and left nothing: `None` if it is to be asked again.
    fn without_handoff(
        &mut self,
        end: ProcessEnd,
        outcome: &ConversationOutcome,
    ) -> Result<Option<JobOutcome>, CommandError> {
        match &outcome.trouble {
            Some(AgentFailure { kind: AgentFailureKind::Passing, message, retry_after }) => {
                self.wait_out(message, *retry_after, outcome.conversation.clone())
            }
            Some(AgentFailure { kind: AgentFailureKind::Setup, message, .. }) => {
                let note = format!("agent `{}` cannot work: {message}", self.part.agent);
                self.lose(LossReason::Halted, note).map(Some)
            }
            Some(AgentFailure { kind: AgentFailureKind::Forgotten, .. }) if self.told.resume.is_some() => {
                self.start_over();
                Ok(None)
            }
            trouble => {
                let why = trouble.as_ref().map_or_else(|| how(end), |trouble| trouble.message.clone());
                let resumable = outcome.conversation.is_some() && self.part.client.resumes();
                // Clients are also stopped after they have reported the end of the turn.
                let by_itself = matches!(end, ProcessEnd::Exited(_) | ProcessEnd::Stopped);
                if resumable && by_itself && self.sent_back < self.crew.team.corrections {
                    let said = format!("no handoff was found, neither in a file nor in your last message ({why})");
                    self.sent_back += 1;
                    self.send_back(&[said], outcome.conversation.clone());
                    return Ok(None);
                }
                self.lose(LossReason::NoHandoff, why).map(Some)
            }
        }
    }

    /// Waits out rate limits and network faults. They are not counted as a failure of the agent, and count in no
    /// loop.
    fn wait_out(
        &mut self,
        message: &str,
        told: Option<Duration>,
        conversation: Option<String>,
    ) -> Result<Option<JobOutcome>, CommandError> {
        self.waited += 1;
        if self.waited > self.crew.team.retry.tries {
            let note = format!("agent `{}` was tried {} times: {message}", self.part.agent, self.waited);
            return self.lose(LossReason::Halted, note).map(Some);
        }
        let wait = told.unwrap_or_else(|| self.crew.team.retry.wait(self.waited));
        self.note(format!("{message}; next try in {} s", wait.as_secs_f64().ceil()));
        if !wait_unless_stopped(wait, self.control) {
            return Ok(Some(JobOutcome::Stopped));
        }
        self.told.resume = conversation.filter(|_| self.part.client.resumes()).or_else(|| self.told.resume.take());
        Ok(None)
    }

    /// Nothing new starts while the session is paused, including the next message to the same agent. A run that does
    /// not wait for people does not wait for the end of the pause either.
    fn may_start(&self) -> bool {
        while self.crew.paused.exists() {
            if !self.crew.waits || !wait_unless_stopped(LOOK, self.control) {
                return false;
            }
        }
        true
    }

    /// The conversation is gone, so a new one needs the whole prompt again.
    fn start_over(&mut self) {
        self.note(format!("{}: the conversation is gone, and starts again", self.call.role));
        let last = std::mem::take(&mut self.told.text);
        let text = if last == self.prompt { last } else { self.prompt_with(&last) };
        self.told = NextMessage { text, resume: None };
    }

    /// The prompt with more before its return format, which stays last.
    fn prompt_with(&self, more: &str) -> String {
        let (task, response) = brief::split_at_return(&self.prompt);
        format!("{}\n\n{}\n{response}", task.trim_end(), more.trim_end())
    }

    fn send_back(&mut self, problems: &[String], conversation: Option<String>) {
        self.note(format!("{}: the handoff goes back: {}", self.call.role, problems.join("; ")));
        let resume = conversation.filter(|_| self.part.client.resumes());
        // An agent that cannot resume a conversation needs the whole prompt.
        let text = match resume {
            Some(_) => handoff_files::correction_message(problems, &self.output),
            None => self.prompt_with(&handoff_files::sent_back_section(problems)),
        };
        self.told = NextMessage { text, resume };
        // The documents that it wrote stay.
        if !handoff_files::discard(&self.output) {
            let _ = make(&self.output, &self.claimed);
        }
    }

    fn lose(&self, loss: LossReason, note: impl Into<String>) -> Result<JobOutcome, CommandError> {
        self.crew.keep_remains(self.call, self.claimed.attempt);
        let note = Name::from(note.into());
        self.crew.record_loss(self.call.id, loss, note)
    }

    /// Ends the attempt without counting it as a failure; the assignment is given out again.
    fn let_go(&self) -> Result<JobOutcome, CommandError> {
        self.crew.keep_remains(self.call, self.claimed.attempt);
        self.crew.release_assignment(self.call)
    }

    fn told_times(&self) -> u32 {
        self.sent_back + self.waited
    }

    fn note(&self, text: String) {
        let _ = self.news.send(SchedulerMessage::Note(self.call.group.clone(), text));
    }

    fn cannot_start(&self, error: &std::io::Error) -> CommandError {
        let message = format!("agent `{}` cannot be started: {error}", self.part.agent);
        CommandError::new(CommandExit::Unavailable, Code::ProgramMissing, message)
            .help("`interlock doctor` says what is missing")
    }
}

fn unprepared(failed: &crate::check_command::CheckOutcome) -> CommandError {
    let message = format!("the workspace cannot be made ready: {}", failed.output.trim_end());
    CommandError::new(CommandExit::Unavailable, Code::BadAgent, message).help("fix `prepare` in the agents file")
}

fn unwritable(path: &Path, error: &std::io::Error) -> CommandError {
    CommandError::new(CommandExit::Unavailable, Code::OutputFailed, format!("{}: {error}", path.display()))
}
