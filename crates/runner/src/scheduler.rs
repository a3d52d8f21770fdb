//! The scheduler: starts the work that may start and handles the work that ended, until the session has ended or a
//! person is needed.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::{Duration, Instant};

use interlock_core::event::{Event, EventCause, StateChange};
use interlock_core::id::{AssignmentId, Name, QuestionId};
use interlock_core::state::{Assignment, SessionStatus, State};
use interlock_core::workflow::AssignmentTask;

use crate::RunOutcome;
use crate::budget::BudgetScope;
use crate::gate;
use crate::merge;
use crate::notify::Notifier;
use crate::questions::QuestionHandler;
use crate::run_context::{AssignmentJob, JobId, JobOutcome, RunContext, SchedulerMessage};
use crate::run_report::RunReport;
use crate::tui::{ActiveWork, RunView, ViewSnapshot};
use crate::turn;
use interlock_app::error::CommandError;
use interlock_engine::{Engine, LoadedSession};
use interlock_system::process::ProcessControl;

/// How often it looks whether others have changed something.
const LOOK: Duration = Duration::from_millis(250);

pub(super) struct Scheduler {
    crew: Arc<RunContext>,
    looking: Engine,
    view: RunView,
    people: QuestionHandler,
    parallel: usize,
    is_paused: bool,
    sender: Sender<SchedulerMessage>,
    receiver: Receiver<SchedulerMessage>,
    at_work: BTreeMap<JobId, RunningJob>,
    stopping: bool,
    failure: Option<CommandError>,
    looked: Instant,
    /// It has decided something itself since.
    is_stale: bool,
}

/// A running job.
struct RunningJob {
    control: ProcessControl,
    /// The workspace that no other job may be in.
    place: WorkspaceSlot,
    row: ActiveWork,
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum WorkspaceSlot {
    Group(Name),
    Session,
    /// Where merges are tried; one at a time.
    Integration,
}

impl Scheduler {
    pub(super) fn new(crew: Arc<RunContext>, looking: Engine, view: RunView, parallel: u32) -> Self {
        let (sender, receiver) = mpsc::channel();
        let teller = Notifier::new(&crew.team.notify, &crew.session, crew.site.root(), sender.clone());
        let people = QuestionHandler::new(&sender, &view, teller);
        let parallel = usize::try_from(parallel).unwrap_or(usize::MAX);
        let (at_work, stopping, failure, looked) = (BTreeMap::new(), false, None, Instant::now());
        Self {
            crew,
            looking,
            view,
            people,
            parallel,
            is_paused: false,
            sender,
            receiver,
            at_work,
            stopping,
            failure,
            looked,
            is_stale: false,
        }
    }

    pub(super) fn conduct(mut self, doubts: Vec<String>) -> Result<RunOutcome, CommandError> {
        let (mut live, _) = self.looking.load_session(&self.crew.session)?;
        self.crew.settle_orphaned_assignments(&live.state)?;
        let history = self.looking.load_history(&self.crew.session)?;
        self.crew.hold_against(&history)?;
        self.crew.count_interrupted_attempts(&history);
        self.crew.checks.passed.learn(&history);
        self.people.remember(&history);
        self.crew.purse.recall(|assignment| turn::asked_by(&history, assignment));
        self.crew.catch_up(&history)?;
        self.looking.refresh_session(&mut live)?;
        self.view.began(&live.state, &self.crew);
        self.warn(doubts);
        let stopped = loop {
            match self.round(&mut live) {
                Ok(None) => {}
                Ok(Some(stopped)) => break stopped,
                // Running jobs are asked to end first.
                Err(failure) => self.fail(failure),
            }
        };
        if self.failure.is_none() {
            self.looking.refresh_session(&mut live)?;
        }
        self.finish(stopped, &live.state)
    }

    /// Starts what may start, and waits until something has changed. `Some`: as of [`Scheduler::step`].
    fn round(&mut self, live: &mut LoadedSession) -> Result<Option<Option<String>>, CommandError> {
        if self.failure.is_none() {
            self.hear_answers(&live.state)?;
        }
        self.crew.purse.keep();
        if let Some(stopped) = self.step(live) {
            return Ok(Some(stopped));
        }
        while !self.listen() {
            self.crew.purse.keep();
            self.draw(&live.state);
        }
        self.looked = Instant::now();
        if self.failure.is_none() {
            self.looking.refresh_session(live)?;
        }
        Ok(None)
    }

    /// Starts what may start. `Some`: the run is over, and why, if the session is not.
    fn step(&mut self, live: &LoadedSession) -> Option<Option<String>> {
        let state = &live.state;
        self.recall(state);
        let over = is_over(state);
        if !over && !self.stopping && self.failure.is_none() {
            if !self.pauses() {
                self.start(state);
            }
            let (looking, workflow) = (&mut self.looking, &self.crew.workflow);
            let mut brief = |id| looking.question_brief(live, workflow, id).ok();
            self.is_stale = self.people.attend(state, &self.crew, &mut self.view, &mut brief);
        }
        self.draw(state);
        if !self.at_work.is_empty() || self.is_stale {
            return None;
        }
        if over {
            return Some(None);
        }
        if self.stopping || self.failure.is_some() {
            return Some(Some("the run was stopped".to_owned()));
        }
        if self.crew.waits || self.people.will_answer_themselves(&self.crew) {
            return None;
        }
        match state.open_questions.len() {
            0 if self.is_paused => Some(Some("the session is paused, until `interlock resume`".to_owned())),
            0 => None,
            1 => Some(Some("1 question waits for a person".to_owned())),
            many => Some(Some(format!("{many} questions wait for a person"))),
        }
    }

    fn draw(&mut self, state: &State) {
        if !self.view.is_due() {
            return;
        }
        let prompt = self.people.prompt(&self.crew);
        let (rows, asked) = (self.at_work.values().map(|worker| &worker.row), prompt.as_ref().map(|prompt| prompt.id));
        let scene = ViewSnapshot { state, crew: &self.crew, rows: rows.collect(), paused: self.is_paused, prompt };
        self.view.draw(&scene);
        self.people.saw(asked);
    }

    /// Warnings that people should see before anything starts, and that are shown nowhere else.
    fn warn(&mut self, doubts: Vec<String>) {
        let strangers = self.crew.team.strangers(&self.crew.workflow).into_iter().map(|problem| problem.message);
        let mut words: Vec<String> = strangers.chain(self.crew.team.untold()).chain(doubts).collect();
        words.extend(self.crew.team.unstructured(&self.crew.workflow));
        words.extend(self.crew.team.notify.wrong().into_iter().map(|wrong| format!("notify: {wrong}")));
        if let Some(files) = self.crew.site.project.uncommitted().ok().filter(|files| *files > 0) {
            let s = if files == 1 { "" } else { "s" };
            words.push(format!("{files} uncommitted change{s} that agents do not see"));
        }
        words.iter().for_each(|words| self.view.note(None, words));
    }

    /// Questions about budgets: where the answer gives the work out again, it may spend the same once more.
    fn hear_answers(&mut self, state: &State) -> Result<(), CommandError> {
        let mut closed = self.crew.purse.awaited();
        closed.retain(|id| !state.open_questions.contains(id));
        if closed.is_empty() {
            return Ok(());
        }
        let history = self.looking.load_history(&self.crew.session)?;
        for question in closed {
            self.crew.purse.answered(question, goes_on(&history, question));
        }
        Ok(())
    }

    /// A pause was requested: nothing new starts, and running jobs go on.
    fn pauses(&mut self) -> bool {
        let paused = self.crew.paused.exists();
        if paused != self.is_paused {
            let word = if paused { "paused: nothing new starts until `interlock resume`" } else { "goes on" };
            self.view.note(None, word);
            self.is_paused = paused;
        }
        paused
    }

    /// Stops jobs whose work another decision took away.
    fn recall(&mut self, state: &State) {
        for (work, worker) in &self.at_work {
            let gone = match work {
                JobId::Turn(id) | JobId::Merge(id) => !state.open.contains(id),
                JobId::Gate(run) => !state.gate_runs.contains_key(run),
            };
            if gone {
                worker.control.stop();
            }
        }
    }

    fn start(&mut self, state: &State) {
        for (id, assignment) in state.open.iter().filter_map(|id| Some((*id, state.assignments.get(id)?))) {
            let merges = assignment.task == AssignmentTask::Merge && !self.crew.team.merge_by_agent;
            if merges {
                self.start_merge(state, id, assignment);
            } else {
                self.start_turn(state, id, assignment);
            }
        }
        for (run, awaited) in &state.gate_runs {
            let work = JobId::Gate(*run);
            if self.at_work.contains_key(&work) || self.is_taken(&WorkspaceSlot::Integration) {
                continue;
            }
            let errand = gate::GateJob::new(*run, awaited, state, &self.crew);
            let row = ActiveWork::new(awaited.group.clone(), errand.title(), 1);
            self.go(work, WorkspaceSlot::Integration, row, move |crew, control, _| {
                gate::run_gate(crew, &errand, control)
            });
        }
    }

    fn start_merge(&mut self, state: &State, id: AssignmentId, assignment: &Assignment) {
        let work = JobId::Merge(id);
        if self.at_work.contains_key(&work) || self.is_taken(&WorkspaceSlot::Integration) {
            return;
        }
        let call = AssignmentJob::new(id, assignment, state, &self.crew.workflow);
        let row = ActiveWork::new(assignment.group.clone(), "merge".to_owned(), assignment.attempt);
        self.go(work, WorkspaceSlot::Integration, row, move |crew, control, _| merge::run_merge(crew, &call, control));
    }

    fn start_turn(&mut self, state: &State, id: AssignmentId, assignment: &Assignment) {
        let work = JobId::Turn(id);
        let place = match (&assignment.group, assignment.task) {
            (_, AssignmentTask::Merge) => WorkspaceSlot::Integration,
            (Some(group), _) => WorkspaceSlot::Group(group.clone()),
            (None, _) => WorkspaceSlot::Session,
        };
        let full = self.turns() >= self.parallel || self.is_taken(&place);
        if full || self.at_work.contains_key(&work) || self.role_is_busy(state, id, &assignment.role) {
            return;
        }
        if self.crew.is_held(&assignment.role, assignment.group.as_ref()) {
            return;
        }
        let call = AssignmentJob::new(id, assignment, state, &self.crew.workflow);
        let mut row = ActiveWork::new(assignment.group.clone(), assignment.role.to_string(), assignment.attempt);
        if assignment.group.is_none() {
            row = row.on(BudgetScope::Assignment(format!("{}.{id}", self.crew.session)));
        }
        self.go(work, place, row, move |crew, control, news| turn::run_turn(crew, &call, control, news));
    }

    /// As the workflow limits the role (the oldest first), and as the team does.
    fn role_is_busy(&self, state: &State, id: AssignmentId, role: &Name) -> bool {
        let declared = self.crew.workflow.role_named(role).and_then(|ix| self.crew.workflow.role(ix).at_most);
        let earlier =
            state.open.range(..id).filter(|id| state.assignments.get(id).is_some_and(|other| other.role == *role));
        if let Some(most) = declared.map(|most| usize::try_from(most).unwrap_or(usize::MAX))
            && earlier.take(most).count() >= most
        {
            return true;
        }
        let own = self.crew.team.part(role).and_then(|part| part.parallel);
        let same = self.at_work.values().filter(|worker| worker.row.what == role.as_str()).count();
        own.is_some_and(|most| same >= usize::try_from(most).unwrap_or(usize::MAX))
    }

    fn turns(&self) -> usize {
        self.at_work.keys().filter(|work| matches!(work, JobId::Turn(_))).count()
    }

    fn is_taken(&self, place: &WorkspaceSlot) -> bool {
        self.at_work.values().any(|worker| worker.place == *place)
    }

    fn go(
        &mut self,
        work: JobId,
        place: WorkspaceSlot,
        row: ActiveWork,
        job: impl FnOnce(&RunContext, &ProcessControl, &Sender<SchedulerMessage>) -> Result<JobOutcome, CommandError>
        + Send
        + 'static,
    ) {
        let control = ProcessControl::new();
        let (crew, news) = (Arc::clone(&self.crew), self.sender.clone());
        self.at_work.insert(work.clone(), RunningJob { control: control.clone(), place, row });
        self.view.touch();
        thread::spawn(move || {
            let over = job(&crew, &control, &news);
            // The run context is dropped first: the receiver of the message may need to be its last holder.
            drop(crew);
            let _ = news.send(SchedulerMessage::Over(work, over));
        });
    }

    /// Waits for messages, and handles all of them. Returns whether the session has to be read again.
    fn listen(&mut self) -> bool {
        if std::mem::take(&mut self.is_stale) {
            return true;
        }
        let look = LOOK.saturating_sub(self.looked.elapsed());
        let first = self.receiver.recv_timeout(self.view.rest().map_or(look, |rest| rest.min(look)));
        let more: Vec<SchedulerMessage> = self.receiver.try_iter().collect();
        let mut changed = false;
        for news in first.into_iter().chain(more) {
            changed |= self.hear(news);
        }
        // Agents that talk all the time must not keep it from seeing what others decide.
        changed || self.looked.elapsed() >= LOOK
    }

    fn hear(&mut self, news: SchedulerMessage) -> bool {
        match news {
            SchedulerMessage::Progress(id, progress) => {
                if let Some(worker) = self.at_work.get_mut(&JobId::Turn(id)) {
                    worker.row.progress(&progress);
                    self.view.touch();
                }
                false
            }
            SchedulerMessage::Note(group, text) => {
                self.view.note(group.as_ref(), &text);
                false
            }
            SchedulerMessage::Typed(bytes) => {
                self.people.typed(&bytes, &self.crew, &mut self.view);
                true
            }
            SchedulerMessage::Resumed => {
                self.view.touch();
                true
            }
            SchedulerMessage::Stop => {
                self.stop();
                true
            }
            SchedulerMessage::Over(work, over) => {
                let worker = self.at_work.remove(&work);
                self.view.touch();
                match over {
                    Ok(JobOutcome::Decided(done)) => {
                        self.view.decided(&done, worker.as_ref().map(|worker| &worker.row));
                    }
                    Ok(JobOutcome::Gone | JobOutcome::Stopped) => {}
                    Err(failure) => self.fail(failure),
                }
                true
            }
        }
    }

    /// Asked once: gently. Asked again: now.
    fn stop(&mut self) {
        for worker in self.at_work.values() {
            if self.stopping { worker.control.kill() } else { worker.control.stop() }
        }
        if !self.stopping {
            self.view.note(None, "stopping: agents are asked to end; the session goes on when you run it again");
        }
        self.stopping = true;
    }

    /// Records a failure outside of the rules, and stops all jobs. Nothing new starts after it.
    fn fail(&mut self, failure: CommandError) {
        if self.failure.is_none() {
            self.failure = Some(failure);
            self.at_work.values().for_each(|worker| worker.control.stop());
        }
    }

    fn finish(mut self, stopped: Option<String>, state: &State) -> Result<RunOutcome, CommandError> {
        self.people.settle();
        for news in self.receiver.try_iter() {
            if let SchedulerMessage::Note(group, text) = news {
                self.view.note(group.as_ref(), &text);
            }
        }
        self.view.close();
        let handed_over = self.crew.site.hand_over();
        if let Some(failure) = self.failure {
            // The first failure explains more than a failed handover.
            return Err(failure);
        }
        let (result, branch) = handed_over?;
        let branch = self.crew.site.give_up(self.crew.team.keep, state.status, (&result, branch));
        let story = RunReport::of(&mut self.looking, state, &self.crew, (branch, &result))?;
        let failed = stopped.is_some() || story.has_trouble();
        let report = self.crew.site.report(&story.markdown());
        let ended = RunOutcome::new(self.crew.site.root(), state.status, stopped, &story, report);
        if is_over(state) {
            // Without the note, the outcome of a run that is killed from here on is not reported. Its work is done
            // all the same.
            let _ = ended.note();
        }
        self.crew.site.clean_up(self.crew.team.keep, failed, state.status);
        Ok(ended)
    }
}

fn is_over(state: &State) -> bool {
    matches!(state.status, SessionStatus::Completed | SessionStatus::Cancelled)
}

/// Whether the answer to a question gave out again what it was asked about.
fn goes_on(history: &[Event], id: QuestionId) -> bool {
    let asked = history.iter().flat_map(|event| &event.changes).find_map(|change| match change {
        StateChange::Asked { question, group, .. } if *question == id => Some(group),
        _ => None,
    });
    let answer = |event: &&Event| matches!(&event.cause, EventCause::Answered { question, .. } if *question == id);
    let given = |change: &StateChange| matches!(change, StateChange::Assigned { group, .. } if Some(group) == asked);
    history.iter().find(answer).is_some_and(|event| event.changes.iter().any(given))
}
