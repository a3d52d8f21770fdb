//! One conversation with the client: started, watched, and accounted for.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use interlock_core::command::Loss;
use interlock_core::handoff;
use interlock_core::workflow::Writes;

use crate::agents::{Conversation, Job, Outcome, Progress, Tell, Tool, Usage};
use crate::clock;
use crate::contract::Contract;
use crate::failure::Failure;
use crate::process::{self, End, Listener, Stream, Talk};
use crate::run::crew::{Call, News, Over};
use crate::run::purse::{Entry, Exceeded, Spent};
use crate::run::turn::Turn;
use crate::team::Allowance;

/// Between two words to people of what an agent is at.
const TELL: Duration = Duration::from_millis(50);

/// A conversation that is ended when what it may spend is used up.
struct Watched {
    conversation: Box<dyn Conversation>,
    spent: Arc<Mutex<Usage>>,
    allowances: Vec<(Allowance, Spent, u32)>,
    began: Instant,
}

impl Watched {
    fn is_over_budget(&self) -> bool {
        let now = *self.spent.lock().unwrap_or_else(PoisonError::into_inner);
        let time = self.began.elapsed();
        self.allowances.iter().any(|(allowance, before, granted)| {
            let usage = plus(&now, &before.usage, true);
            allowance.exceeded(&usage, before.time.saturating_add(time), *granted).is_some()
        })
    }
}

impl Listener for Watched {
    fn started(&mut self, talk: &mut Talk<'_>) {
        self.conversation.started(talk);
    }

    fn line(&mut self, from: Stream, line: &[u8], cut: bool, talk: &mut Talk<'_>) {
        self.conversation.line(from, line, cut, talk);
        if self.is_over_budget() {
            talk.stop();
        }
    }

    fn transcript_lost(&mut self, error: &std::io::Error) {
        self.conversation.transcript_lost(error);
    }
}

impl Turn<'_> {
    /// Starts the client and waits until it has ended.
    pub(super) fn converse(&mut self) -> Result<(End, Outcome), Failure> {
        let resume = self.told.resume.clone();
        let schema = self.part.structured.then(|| handoff::schema(Some(&self.crew.workflow)));
        let tool = self.part.tool.then(|| self.tool()).transpose().map_err(|error| self.cannot_start(&error))?;
        let job = Job {
            assignment: &self.name,
            role: &self.call.role,
            group: self.call.group.as_deref(),
            attempt: self.claimed.attempt,
            prompt: &self.told.text,
            folder: &self.bench.workspace.folder,
            output: &self.output,
            read_only: *self.writes == Writes::Nothing,
            resume: resume.as_deref(),
            schema: schema.as_ref(),
            tool: tool.as_ref(),
        };
        let (client, setup) = (self.part.client, &self.part.setup);
        let mut spec = client.start(setup, &job).map_err(|error| self.cannot_start(&error))?;
        spec.limits = self.crew.limits(self.part, self.time_left());
        spec.transcript = self.crew.site.transcript(&format!("{}.{}", self.call.id, self.told_times())).ok();
        spec.lock = Some(self.crew.lock.clone());
        spec.mark = format!("{}/{}", self.crew.mark, self.call.id);
        let spent = Arc::new(Mutex::new(Usage::default()));
        let conversation = client.conversation(setup, &job, self.tell(Arc::clone(&spent)));
        let began = Instant::now();
        let mut watched = Watched { conversation, spent, allowances: self.allowances(), began };
        let end = process::run(&spec, self.control, &mut watched).map_err(|error| self.cannot_start(&error))?;
        self.overspent = watched.is_over_budget();
        let mut outcome = watched.conversation.finish(end);
        if client.counts_whole_conversations() && resume.is_some() {
            outcome.usage = since(&outcome.usage, &self.counted);
        }
        self.counted = plus(&outcome.usage, &self.counted, resume.is_some());
        self.spend(&outcome, began.elapsed());
        Ok((end, outcome))
    }

    /// This program once more, as the server with the tool that the agent may hand off with.
    fn tool(&self) -> std::io::Result<Tool> {
        let Call { role, phase, task, groups, .. } = self.call.clone();
        Contract { role, phase, task, groups, workflow: self.crew.sources.clone() }.write(&self.output)?;
        let program = std::env::current_exe()?.display().to_string();
        Ok(Tool { program, arguments: vec!["mcp".into(), "--handoff".into(), self.output.display().to_string()] })
    }

    /// Tells people what the agent is at, and keeps count of what it has used up.
    fn tell(&self, spent: Arc<Mutex<Usage>>) -> Tell {
        let (news, id) = (self.news.clone(), self.call.id);
        // An agent may print faster than anybody reads, and what nobody has read yet is kept in memory.
        let mut told = None::<Instant>;
        Box::new(move |progress| {
            if let Progress::Spent(usage) = progress {
                *spent.lock().unwrap_or_else(PoisonError::into_inner) = usage;
            }
            if told.is_none_or(|told| told.elapsed() >= TELL) {
                told = Some(Instant::now());
                let _ = news.send(News::Progress(id, progress));
            }
        })
    }

    /// A person has to say whether it may spend more.
    pub(super) fn halt(&self, Exceeded { whose, why }: Exceeded) -> Result<Over, Failure> {
        let over = self.lose(Loss::Halted, why)?;
        self.crew.purse.asked(whose);
        Ok(over)
    }

    /// What the assignment, its group and the session may still spend, and have spent before this conversation.
    fn allowances(&self) -> Vec<(Allowance, Spent, u32)> {
        let (team, purse) = (&self.crew.team, &self.crew.purse);
        let granted = |whose: &str| purse.granted(whose);
        let mut all = vec![
            (team.session_budget, purse.session(), granted("the session")),
            (self.part.budget, purse.assignment(&self.name), granted(&self.name)),
        ];
        if let Some(group) = &self.call.group {
            all.push((team.group_budget, purse.group(group), granted(&format!("group {group}"))));
        }
        all
    }

    pub(super) fn over_budget(&self) -> Option<Exceeded> {
        let (crew, purse) = (self.crew, &self.crew.purse);
        let session = purse.exceeded("the session", &crew.team.session_budget, &purse.session());
        let group = self.call.group.as_ref();
        let group = || {
            let group = group?;
            purse.exceeded(&format!("group {group}"), &crew.team.group_budget, &purse.group(group))
        };
        let own = || purse.exceeded(&self.name, &self.part.budget, &purse.assignment(&self.name));
        session.or_else(group).or_else(own)
    }

    fn spend(&self, outcome: &Outcome, time: Duration) {
        self.crew.purse.add(Entry {
            assignment: self.name.clone(),
            role: self.call.role.clone(),
            group: self.call.group.clone(),
            input_tokens: outcome.usage.input_tokens,
            output_tokens: outcome.usage.output_tokens,
            cost: outcome.usage.cost,
            milliseconds: u64::try_from(time.as_millis()).unwrap_or(u64::MAX),
        });
    }

    /// Until the deadline that the workflow gives the role.
    fn time_left(&self) -> Option<Duration> {
        let until = self.claimed.deadline?;
        Some(Duration::from_millis(u64::try_from(until.0.saturating_sub(clock::now().0)).unwrap_or(0)))
    }
}

/// What was used up since, where a client counts from the beginning.
fn since(now: &Usage, before: &Usage) -> Usage {
    Usage {
        input_tokens: now.input_tokens.saturating_sub(before.input_tokens),
        output_tokens: now.output_tokens.saturating_sub(before.output_tokens),
        cached_tokens: now.cached_tokens.saturating_sub(before.cached_tokens),
        cost: now.cost.map(|cost| (cost - before.cost.unwrap_or(0.0)).max(0.0)),
    }
}

/// What a conversation has used up with this turn.
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
