//! Questions to people: they are shown, sent as notifications, and answered from the terminal.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::thread;
use std::time::Duration;

use interlock_core::command::{AnswerChoice, AnswerQuestion, Command};
use interlock_core::event::{Event, StateChange};
use interlock_core::id::{Name, QuestionId, Timestamp};
use interlock_core::state::{Question, State};

use crate::line_editor::LineEditor;
use crate::notify::Notifier;
use crate::run_context::{RunContext, SchedulerMessage};
use crate::terminal;
use crate::tui::RunView;
use interlock_engine::{EngineError, Operation as Wish};
use interlock_prompt::QuestionBrief;
use interlock_system::clock;

/// A question that is open.
struct PendingQuestion {
    at: Timestamp,
    question: Question,
    /// Facts, and what each option does.
    brief: QuestionBrief,
    /// Words will do for an answer.
    takes_text: bool,
}

pub(super) struct QuestionHandler {
    asked: BTreeMap<QuestionId, PendingQuestion>,
    /// When the questions of earlier runs were asked.
    before: BTreeMap<QuestionId, Timestamp>,
    /// Those that were to answer themselves.
    tried: BTreeSet<QuestionId>,
    /// The text that is being typed, and the question that was shown when typing began.
    line: LineEditor,
    meant: Option<QuestionId>,
    /// The one that a person wants to see.
    chosen: Option<QuestionId>,
    /// The one that is to be seen.
    shown: Option<QuestionId>,
    /// Why the last line was no answer.
    reply: Option<String>,
    teller: Notifier,
}

/// A question as a person sees it.
pub(super) struct QuestionPrompt<'a> {
    pub(super) session: &'a Name,
    pub(super) id: QuestionId,
    pub(super) question: &'a Question,
    pub(super) brief: &'a QuestionBrief,
    pub(super) takes_text: bool,
    /// The first, the second … of so many that are open, and another one of them.
    pub(super) place: usize,
    pub(super) open: usize,
    pub(super) other: Option<QuestionId>,
    pub(super) typed: &'a str,
    pub(super) reply: Option<&'a str>,
}

impl QuestionPrompt<'_> {
    /// The answers that can be typed.
    pub(super) fn possible(&self) -> String {
        possible(&self.question.options, self.takes_text)
    }

    /// An option with what it does.
    pub(super) fn option(&self, option: &Name) -> String {
        let effect = self.brief.effect_of(option).map(|effect| format!(" -> {effect}"));
        format!("{option}{}", effect.unwrap_or_default())
    }

    /// How it is answered from anywhere.
    pub(super) fn command(&self) -> String {
        command(self.session, self.id, self.question)
    }
}

/// How a question is answered from anywhere.
pub(super) fn command(session: &Name, id: QuestionId, question: &Question) -> String {
    let example = if question.options.is_empty() { "--text \"…\"" } else { "--option N" };
    format!("interlock answer {session}.{id} {example}")
}

fn possible(options: &[Name], takes_text: bool) -> String {
    match (options.len(), takes_text) {
        (0, _) => "type an answer".to_owned(),
        (1, false) => "type 1".to_owned(),
        (1, true) => "type 1, or words of your own".to_owned(),
        (many, false) => format!("type 1–{many}"),
        (many, true) => format!("type 1–{many}, or words of your own"),
    }
}

impl QuestionHandler {
    pub(super) fn new(news: &Sender<SchedulerMessage>, view: &RunView, teller: Notifier) -> Self {
        let terminal = view.terminal().cloned();
        terminal::watch(terminal.clone(), news.clone());
        if let Some(terminal) = terminal.filter(|terminal| terminal.has_keys) {
            let (news, terminal) = (news.clone(), Arc::clone(&terminal));
            thread::spawn(move || terminal.listen(&news));
        }
        Self {
            asked: BTreeMap::new(),
            before: BTreeMap::new(),
            tried: BTreeSet::new(),
            line: LineEditor::default(),
            meant: None,
            chosen: None,
            shown: None,
            reply: None,
            teller,
        }
    }

    /// When the questions were asked that are open from earlier.
    pub(super) fn remember(&mut self, history: &[Event]) {
        for event in history {
            for change in &event.changes {
                match change {
                    StateChange::Asked { question, .. } => drop(self.before.insert(*question, event.at)),
                    StateChange::QuestionClosed { question } => drop(self.before.remove(question)),
                    _ => {}
                }
            }
        }
    }

    /// Reports new questions, and gives those that are due their default answers. Returns whether any were due.
    pub(super) fn attend(
        &mut self,
        state: &State,
        crew: &RunContext,
        view: &mut RunView,
        brief: &mut dyn FnMut(QuestionId) -> Option<QuestionBrief>,
    ) -> bool {
        self.asked.retain(|id, _| state.open_questions.contains(id));
        for id in &state.open_questions {
            let Some(question) = state.questions.get(id).filter(|_| !self.asked.contains_key(id)) else { continue };
            let at = self.before.remove(id).unwrap_or_else(clock::now);
            let declared = crew.workflow.questions.iter().find(|declared| declared.name == question.name);
            let takes_text = declared.is_some_and(|declared| declared.free.is_some());
            let brief = brief(*id).unwrap_or_default();
            self.teller.tell(*id, question, &brief);
            self.asked.insert(*id, PendingQuestion { at, question: question.clone(), brief, takes_text });
            if let Some(prompt) = self.prompt_for(*id, crew) {
                view.asked(&prompt);
            }
        }
        let now = clock::now();
        let is_due = |id: &&QuestionId| self.default_in(**id, crew, now).is_some_and(|left| left.is_zero());
        let due: Vec<QuestionId> = self.asked.keys().filter(is_due).copied().collect();
        for id in &due {
            // Once: what is refused now will be refused again.
            self.tried.insert(*id);
            self.answer_by_default(*id, crew, view);
        }
        !due.is_empty()
    }

    /// Whether a question gets its default answer, if no person answers.
    pub(super) fn will_answer_themselves(&self, crew: &RunContext) -> bool {
        let now = clock::now();
        self.asked.keys().any(|id| self.default_in(*id, crew, now).is_some())
    }

    /// How long until a question answers itself.
    fn default_in(&self, id: QuestionId, crew: &RunContext, now: Timestamp) -> Option<Duration> {
        let asked = self.asked.get(&id).filter(|_| !self.tried.contains(&id))?;
        let fallback = crew.team.defaults.get(&asked.question.name)?;
        let passed = u64::try_from(now.0.saturating_sub(asked.at.0)).unwrap_or(0);
        Some(fallback.after.saturating_sub(Duration::from_millis(passed)))
    }

    fn answer_by_default(&mut self, id: QuestionId, crew: &RunContext, view: &mut RunView) {
        let Some(name) = self.asked.get(&id).map(|asked| asked.question.name.clone()) else { return };
        let Some(fallback) = crew.team.defaults.get(&name) else { return };
        if let Err(why) = answer(crew, view, id, fallback.choice(), "the default of the agents file") {
            let group = self.asked.get(&id).and_then(|asked| asked.question.group.clone());
            let words = format!("{id}: the default of `{name}` in the agents file, `{}`, was refused", fallback.word());
            view.note(group.as_ref(), &format!("{words}: {why}"));
        }
    }

    /// Before the end: waits for messages that are on their way, and reports those that do not arrive.
    pub(super) fn settle(&mut self) {
        self.teller.settle();
    }

    /// The question that is to be answered here.
    pub(super) fn prompt<'a>(&'a self, crew: &'a RunContext) -> Option<QuestionPrompt<'a>> {
        let wanted = self.meant.or(self.chosen).filter(|id| self.asked.contains_key(id));
        self.prompt_for(wanted.or_else(|| self.asked.keys().next().copied())?, crew)
    }

    fn prompt_for<'a>(&'a self, id: QuestionId, crew: &'a RunContext) -> Option<QuestionPrompt<'a>> {
        let asked = self.asked.get(&id)?;
        Some(QuestionPrompt {
            session: &crew.session,
            id,
            question: &asked.question,
            brief: &asked.brief,
            takes_text: asked.takes_text,
            place: self.asked.range(..=id).count(),
            open: self.asked.len(),
            other: self.asked.keys().find(|other| **other != id).copied(),
            typed: self.line.as_str(),
            reply: self.reply.as_deref(),
        })
    }

    /// It has been drawn.
    pub(super) fn saw(&mut self, id: Option<QuestionId>) {
        self.shown = id;
    }

    /// Keys. What is typed while no question is to be seen is no answer to any.
    pub(super) fn typed(&mut self, bytes: &[u8], crew: &RunContext, view: &mut RunView) {
        let is_live = view.terminal().is_some_and(|terminal| terminal.is_live);
        for byte in bytes {
            if is_live && self.meant.is_none() {
                self.line.clear();
                self.meant = self.shown;
                if self.meant.is_none() {
                    continue;
                }
            }
            if let Some(line) = self.line.take(*byte) {
                let meant = self.meant.take();
                self.reply = None;
                if let Err(why) = self.entered(line.trim(), meant, crew, view) {
                    if is_live {
                        self.reply = Some(why);
                    } else {
                        view.note(None, &why);
                    }
                }
            } else if self.line.as_str().is_empty() {
                self.meant = None;
            }
        }
        view.touch();
    }

    /// A line: an answer to the question that was to be seen, or to the one that it names.
    fn entered(
        &mut self,
        line: &str,
        meant: Option<QuestionId>,
        crew: &RunContext,
        view: &mut RunView,
    ) -> Result<(), String> {
        let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let (id, line) = match QuestionId::parse(word) {
            Some(id) => (Some(id), rest.trim()),
            None => (meant.or_else(|| self.only()), line),
        };
        let open = || self.asked.keys().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        let asked = match id {
            Some(id) => self.asked.get(&id).map(|asked| (id, asked)).ok_or_else(|| match self.asked.len() {
                0 => format!("{id} is not open any more"),
                _ => format!("{id} is not open any more; these are: {}", open()),
            })?,
            None if line.is_empty() || self.asked.is_empty() => return Ok(()),
            None => return Err(format!("which of {}? Type its name and then the answer", open())),
        };
        let (id, asked) = asked;
        if line.is_empty() {
            self.chosen = Some(id);
            return Ok(());
        }
        let choice = choice(asked, line)?;
        answer(crew, view, id, choice, &interlock_app::context::person(None))?;
        // Until the next question is to be seen, nothing is an answer to it.
        self.asked.remove(&id);
        (self.shown, self.chosen) = (None, None);
        Ok(())
    }

    /// The only question, if there is but one.
    fn only(&self) -> Option<QuestionId> {
        self.asked.keys().next().copied().filter(|_| self.asked.len() == 1)
    }
}

/// An option by its name or its number, or words.
fn choice(asked: &PendingQuestion, line: &str) -> Result<AnswerChoice, String> {
    let options = &asked.question.options;
    let number = line.parse::<usize>().ok();
    let numbered = number.and_then(|number| options.get(number.checked_sub(1)?));
    let named = options.iter().find(|option| option.eq_ignore_ascii_case(line));
    if let Some(option) = named.or(numbered) {
        return Ok(AnswerChoice::Option { name: option.clone(), text: None });
    }
    let names = options.iter().map(Name::as_str).collect::<Vec<_>>().join(", ");
    match number {
        Some(number) if !options.is_empty() => Err(format!("there is no option {number}: {names}")),
        _ if asked.takes_text => Ok(AnswerChoice::Text(Name::new(line))),
        _ => Err(format!("`{line}` is none of the options: {names}")),
    }
}

/// Gives an answer. Why not, if it is refused.
fn answer(crew: &RunContext, view: &mut RunView, id: QuestionId, choice: AnswerChoice, by: &str) -> Result<(), String> {
    let command = Command::Answer(AnswerQuestion { question: id, choice, by: Name::new(by), allow: Vec::new() });
    let done = crew.submit_operation(Wish::Simple(command)).map_err(|error| match error {
        EngineError::Refused(rejection) if !rejection.allowed.is_empty() => {
            format!("{}: {}; possible: {}", rejection.code, rejection.message, rejection.allowed.join(", "))
        }
        other => other.to_string(),
    })?;
    view.decided(&done, None);
    Ok(())
}
