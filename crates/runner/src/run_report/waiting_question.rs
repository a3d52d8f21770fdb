//! Questions that wait for a person when a run ends before its session.

use interlock_core::id::{Name, QuestionId};
use interlock_core::state::{Question, State};
use serde_json::{Value as Json, json};

use crate::questions::command;
use interlock_system::sanitise;
use interlock_system::text::{NAME, TerminalText};

pub(super) struct WaitingQuestion {
    id: QuestionId,
    question: Question,
}

impl WaitingQuestion {
    pub(super) fn all(state: &State) -> Vec<Self> {
        let ended = state.ended();
        let open = state.open_questions.iter().filter(|_| !ended);
        open.filter_map(|id| Some(Self { id: *id, question: state.questions.get(id)?.clone() })).collect()
    }

    /// As `question list` has it.
    pub(super) fn json(&self, session: &Name) -> Json {
        json!({
            "question": format!("{session}.{}", self.id), "group": self.question.group, "text": self.question.text,
            "options": self.question.options,
        })
    }

    /// With how to answer it.
    pub(super) fn text(&self, session: &Name, text: &mut TerminalText) {
        let group = self.question.group.as_ref().map_or(String::new(), |group| format!(" {}", sanitise::line(group)));
        text.push("  waits    ");
        text.paint(NAME, format!("{}{group}", self.id));
        text.quote("           | ", &self.question.text);
        for (index, option) in self.question.options.iter().enumerate() {
            text.line(format_args!("           {}  {}", index + 1, sanitise::line(option.as_str())));
        }
        text.line(format_args!("           {}", command(session, self.id, &self.question)));
    }

    pub(super) fn markdown(&self, session: &Name, plain: impl Fn(&str) -> String) -> String {
        let options: Vec<String> = self.question.options.iter().map(|option| plain(option)).collect();
        let options = if options.is_empty() { String::new() } else { format!(" ({})", options.join(", ")) };
        format!("- {}{options}: `{}`\n", plain(&self.question.text), command(session, self.id, &self.question))
    }
}
