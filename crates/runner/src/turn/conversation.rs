//! One conversation with the client: started, watched, and accounted for.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use interlock_core::command::LossReason;
use interlock_core::event::{Event, EventCause, StateChange};
use interlock_core::id::{AssignmentId, QuestionId};
use interlock_core::workflow::WritePermission;

use crate::budget::{BudgetLedger, BudgetScope, ExceededBudget};
use crate::run_context::{AssignmentJob, JobOutcome, RunContext, SchedulerMessage};
use crate::turn::AgentTurn;
use interlock_agents::team::{BudgetLimit, RoleAgent};
use interlock_agents::{
    AgentConversation, AgentJob, AgentProgress, ConversationOutcome, HandoffServer, ProgressCallback, Usage,
};
use interlock_app::contract::HandoffContract;
use interlock_app::error::CommandError;
use interlock_system::process::{self, OutputListener, OutputStream, ProcessEnd, ProcessHandle, ProcessLimits};

/// Between two words to people of what an agent is at.
const TELL: Duration = Duration::from_millis(50);

/// A conversation that is ended when a budget is used up, by itself or by others at the same time.
struct BudgetedConversation<'a> {
    conversation: Box<dyn AgentConversation>,
    purse: &'a BudgetLedger,
    turn: u64,
    /// The latest reported usage, if it is not recorded yet.
    told: Arc<Mutex<Option<Usage>>>,
    budgets: Vec<(BudgetScope, BudgetLimit)>,
}

impl BudgetedConversation<'_> {
    fn exceeded(&self) -> Option<ExceededBudget> {
        self.budgets.iter().find_map(|(whose, allowance)| self.purse.exceeded(whose, allowance))
    }
}

impl OutputListener for BudgetedConversation<'_> {
    fn started(&mut self, talk: &mut ProcessHandle<'_>) {
        self.conversation.started(talk);
    }

    fn line(&mut self, from: OutputStream, line: &[u8], cut: bool, talk: &mut ProcessHandle<'_>) {
        self.conversation.line(from, line, cut, talk);
        if let Some(usage) = self.told.lock().unwrap_or_else(PoisonError::into_inner).take() {
            self.purse.record_usage(self.turn, &usage);
        }
        if self.exceeded().is_some() {
            talk.stop();
        }
    }

    fn transcript_lost(&mut self, error: &std::io::Error) {
        self.conversation.transcript_lost(error);
    }
}

impl AgentTurn<'_> {
    /// Starts the client and waits until it has ended.
    pub(super) fn run_conversation(&mut self) -> Result<(ProcessEnd, ConversationOutcome), CommandError> {
        let resume = self.told.resume.clone();
        let tool = self.tool.then(|| self.tool()).transpose().map_err(|error| self.cannot_start(&error))?;
        let job = AgentJob {
            assignment: &self.name,
            role: &self.call.role,
            group: self.call.group.as_deref(),
            attempt: self.claimed.attempt,
            prompt: &self.told.text,
            folder: &self.bench.workspace.folder,
            output: &self.output,
            read_only: *self.writes == WritePermission::Nothing,
            resume: resume.as_deref(),
            schema: self.schema.as_ref(),
            tool: tool.as_ref(),
        };
        let (client, setup) = (self.part.client, &self.part.setup);
        let mut spec = client.start(setup, &job).map_err(|error| self.cannot_start(&error))?;
        spec.limits = self.limits();
        // An agent that has lost its own repository would come upon one that its folder happens to lie in.
        let above = self.bench.workspace.folder.parent().unwrap_or(Path::new("/"));
        spec.environment.insert("GIT_CEILING_DIRECTORIES".into(), above.into());
        spec.environment
            .insert("INTERLOCK_ROUND".into(), self.crew.effective_attempt(self.call, self.claimed.attempt).into());
        let transcript = format!("{}.{}.{}", self.call.id, self.claimed.attempt, self.told_times());
        spec.transcript = self.crew.site.transcript(&transcript).ok();
        spec.lock = Some(self.crew.lock.clone());
        spec.mark = format!("{}/{}", self.crew.mark, self.call.id);
        let before = (client.counts_whole_conversations() && resume.is_some()).then_some(self.counted);
        let told = Arc::default();
        let conversation = client.conversation(setup, &job, self.tell(Arc::clone(&told), before));
        let purse = &self.crew.purse;
        let turn = purse.begin(&self.name, &self.call.role, self.call.group.as_ref());
        let mut watched = BudgetedConversation { conversation, purse, turn, told, budgets: self.budgets() };
        let end = process::run(&spec, self.control, &mut watched);
        self.overspent = watched.exceeded();
        let end = end.map_err(|error| {
            purse.end(turn, &Usage::default());
            self.cannot_start(&error)
        })?;
        let mut outcome = watched.conversation.finish(end);
        if let Some(before) = &before {
            outcome.usage = since(&outcome.usage, before);
        }
        self.counted = plus(&outcome.usage, &self.counted, resume.is_some());
        self.worked = self.worked.saturating_add(purse.end(turn, &outcome.usage));
        Ok((end, outcome))
    }

    /// This program once more, as the server with the tool that the agent may hand off with.
    fn tool(&self) -> std::io::Result<HandoffServer> {
        let AssignmentJob { role, phase, task, groups, .. } = self.call.clone();
        let outputs = self.crew.site.outputs().join(self.crew.session.as_str()).display().to_string();
        HandoffContract { role, phase, task, groups, outputs, workflow: self.crew.sources.clone() }
            .write(&self.output)?;
        let program = std::env::current_exe()?.display().to_string();
        Ok(HandoffServer {
            program,
            arguments: vec!["mcp".into(), "--handoff".into(), self.output.display().to_string()],
        })
    }

    /// Reports the agent's progress to people, and keeps count of its usage.
    fn tell(&self, spent: Arc<Mutex<Option<Usage>>>, before: Option<Usage>) -> ProgressCallback {
        let (news, id) = (self.news.clone(), self.call.id);
        // An agent may print faster than the scheduler reads, and unread messages stay in memory.
        let mut told = None::<Instant>;
        Box::new(move |progress| {
            if let AgentProgress::Spent(usage) = progress {
                let own = before.as_ref().map_or(usage, |before| since(&usage, before));
                *spent.lock().unwrap_or_else(PoisonError::into_inner) = Some(own);
            }
            if told.is_none_or(|told| told.elapsed() >= TELL) {
                told = Some(Instant::now());
                let _ = news.send(SchedulerMessage::Progress(id, progress));
            }
        })
    }

    /// A person has to decide whether it may spend more. If the question was asked already, this waits for the same
    /// answer.
    pub(super) fn halt(&self, ExceededBudget { whose, why }: ExceededBudget) -> Result<JobOutcome, CommandError> {
        let purse = &self.crew.purse;
        if !purse.claim_question(&whose, self.call.id) {
            self.note(format!("{}: {why}; it waits for the answer that is asked for already", self.call.role));
            return self.let_go();
        }
        let over = self.lose(LossReason::Halted, why);
        let question = match &over {
            Ok(JobOutcome::Decided(done)) => asked_by(std::slice::from_ref(&done.event), self.call.id),
            _ => None,
        };
        purse.record_question(&whose, question);
        over
    }

    /// The budgets of the session, the role, the group and the assignment that have a limit.
    fn budgets(&self) -> Vec<(BudgetScope, BudgetLimit)> {
        let (team, part) = (&self.crew.team, self.part);
        let mut all = vec![
            (BudgetScope::Session, team.session_budget),
            (BudgetScope::Role(self.call.role.clone()), part.budget),
            (BudgetScope::Assignment(self.name.clone()), part.each),
        ];
        all.extend(self.call.group.clone().map(|group| (BudgetScope::Group(group), team.group_budget)));
        all.retain(|(_, allowance)| *allowance != BudgetLimit::default());
        all
    }

    pub(super) fn over_budget(&self) -> Option<ExceededBudget> {
        self.budgets().iter().find_map(|(whose, allowance)| self.crew.purse.exceeded(whose, allowance))
    }

    /// How long it may still work on this attempt, waiting not counted.
    pub(super) fn time_left(&self) -> Option<Duration> {
        time_for(self.crew, self.part, &self.call.role).map(|time| time.saturating_sub(self.worked))
    }

    /// The limits of the client. A silent client is also ended when a budget of time is used up.
    fn limits(&self) -> ProcessLimits {
        let purse = &self.crew.purse;
        let budgets = self.budgets();
        let left = budgets.iter().filter_map(|(whose, allowance)| purse.time_left(whose, allowance)).min();
        // A little more than that, so that a later check sees the budget used up.
        let left = left.map(|left| left.saturating_add(Duration::from_millis(5)));
        ProcessLimits { time: [self.time_left(), left].into_iter().flatten().min(), ..self.crew.team.limits }
    }
}

/// How long a role may work on one attempt: as the workflow, its part and the team say.
pub(super) fn time_for(crew: &RunContext, part: &RoleAgent, role: &str) -> Option<Duration> {
    let role = crew.workflow.role_named(role).and_then(|ix| crew.workflow.role(ix).deadline);
    let role = role.map(|deadline| Duration::from_millis(deadline.milliseconds()));
    [role, part.deadline, crew.team.limits.time].into_iter().flatten().min()
}

/// The question that the loss of an assignment has put to a person.
pub(crate) fn asked_by(events: &[Event], id: AssignmentId) -> Option<QuestionId> {
    let is_its = |event: &&Event| matches!(&event.cause, EventCause::Lost { assignment, .. } if *assignment == id);
    events.iter().find(is_its)?.changes.iter().find_map(|change| match change {
        StateChange::Asked { question, .. } => Some(*question),
        _ => None,
    })
}

/// The usage since an earlier count, for clients that count from the beginning of the conversation.
fn since(now: &Usage, before: &Usage) -> Usage {
    Usage {
        input_tokens: now.input_tokens.saturating_sub(before.input_tokens),
        output_tokens: now.output_tokens.saturating_sub(before.output_tokens),
        cached_tokens: now.cached_tokens.saturating_sub(before.cached_tokens),
        cost: now.cost.map(|cost| (cost - before.cost.unwrap_or(0.0)).max(0.0)),
    }
}

/// The usage of a conversation, this turn included.
fn plus(turn: &Usage, before: &Usage, resumed: bool) -> Usage {
    if !resumed {
        return *turn;
    }
    Usage {
        input_tokens: turn.input_tokens.saturating_add(before.input_tokens),
        output_tokens: turn.output_tokens.saturating_add(before.output_tokens),
        cached_tokens: turn.cached_tokens.saturating_add(before.cached_tokens),
        cost: turn.cost.map(|cost| cost + before.cost.unwrap_or(0.0)).or(before.cost),
    }
}
