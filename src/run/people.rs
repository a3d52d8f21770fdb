//! People: what waits for them is shown, told by other ways, and taken from the terminal.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, BufRead as _, IsTerminal as _};
use std::sync::mpsc::Sender;
use std::thread;
use std::time::Instant;

use interlock_core::command::{Answer, Choice, Command};
use interlock_core::id::{Name, QuestionId};
use interlock_core::state::{Question, State};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::engine::Task as Wish;
use crate::run::crew::{Crew, News};
use crate::run::notify::Teller;
use crate::run::view::View;

pub(super) struct People {
    /// Since when each open question is known.
    asked: BTreeMap<QuestionId, (Instant, Question)>,
    /// Those that were to answer themselves.
    tried: BTreeSet<QuestionId>,
    teller: Teller,
}

impl People {
    pub(super) fn new(news: Sender<News>, view: &View, teller: Teller) -> Self {
        if let Ok(mut signals) = Signals::new([SIGINT, SIGTERM, SIGHUP]) {
            let news = news.clone();
            thread::spawn(move || signals.forever().take_while(|_| news.send(News::Stop).is_ok()).for_each(drop));
        }
        if view.is_live() && io::stdin().is_terminal() {
            thread::spawn(move || {
                let lines = io::stdin().lock().lines().map_while(Result::ok);
                lines.take_while(|line| news.send(News::Typed(line.clone())).is_ok()).for_each(drop);
            });
        }
        Self { asked: BTreeMap::new(), tried: BTreeSet::new(), teller }
    }

    /// Tells of questions that are new, and answers those that answer themselves.
    pub(super) fn attend(&mut self, state: &State, crew: &Crew, view: &mut View) {
        self.asked.retain(|id, _| state.open_questions.contains(id));
        for id in &state.open_questions {
            let Some(question) = state.questions.get(id) else { continue };
            if !self.asked.contains_key(id) {
                self.asked.insert(*id, (Instant::now(), question.clone()));
                view.asked(&crew.session, *id, question);
                self.teller.tell(*id, question);
            }
        }
        let due: Vec<(QuestionId, Name)> = self
            .asked
            .iter()
            .filter_map(|(id, (since, question))| {
                let fallback = crew.team.defaults.get(&question.name)?;
                let due = since.elapsed() >= fallback.after && !self.tried.contains(id);
                due.then(|| (*id, fallback.option.value.clone()))
            })
            .collect();
        for (id, option) in due {
            let choice = Choice::Option { name: option.clone(), text: None };
            // Once: what is refused now will be refused again.
            self.tried.insert(id);
            answer(crew, view, id, choice, "the default of the agents file");
        }
    }

    /// Before the end: messages that are on their way arrive, or it is said that they do not.
    pub(super) fn settle(&mut self) {
        self.teller.settle();
    }

    /// A line from the keyboard answers the first open question: the number of an option, its name, or words.
    pub(super) fn typed(&mut self, line: &str, crew: &Crew, view: &mut View) {
        let line = line.trim();
        let Some((id, (_, question))) = self.asked.first_key_value().filter(|_| !line.is_empty()) else { return };
        let by_number = line.parse::<usize>().ok().and_then(|number| question.options.get(number.checked_sub(1)?));
        let named = question.options.iter().find(|option| option.eq_ignore_ascii_case(line));
        let choice = match by_number.or(named) {
            Some(option) => Choice::Option { name: option.clone(), text: None },
            None => Choice::Text(Name::new(line)),
        };
        let person = crate::cli::person(None);
        answer(crew, view, *id, choice, &person);
    }
}

fn answer(crew: &Crew, view: &mut View, id: QuestionId, choice: Choice, by: &str) {
    let command = Command::Answer(Answer { question: id, choice, by: Name::new(by) });
    match crew.order(Wish::Simple(command)) {
        Ok(done) => view.decided(&done, None),
        Err(error) => view.note(None, &error.to_string()),
    }
}
