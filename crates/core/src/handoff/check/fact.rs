//! The workflow's facts, as this handoff has them.

use crate::code::Code;
use crate::handoff::check::reader::{HandoffReader, kind, scalar};
use crate::id::Name;
use crate::problem::Problem;
use crate::suggest;
use crate::workflow::{Guard, GuardSource, Workflow};

impl HandoffReader<'_> {
    /// For each guard the index of its value; only facts are filled in.
    pub(super) fn facts(&mut self, workflow: Option<&Workflow>) -> Vec<u8> {
        let guards = workflow.map_or(&[][..], |workflow| workflow.guards.as_slice());
        guards.iter().map(|guard| if guard.source == GuardSource::Fact { self.fact(guard) } else { 0 }).collect()
    }

    fn fact(&mut self, guard: &Guard) -> u8 {
        let text = match &guard.expression {
            Some(expression) => match expression.evaluate(self.whole()) {
                Ok(text) => text,
                Err(error) => {
                    let message = format!("`{}` cannot be derived: {error}", guard.name);
                    self.wrong(Code::FactFailed, &guard.name, message);
                    return 0;
                }
            },
            None => {
                let Some(value) = self.get(&guard.name) else { return 0 };
                let Some(text) = scalar(value) else {
                    let message = format!("`{}` is a single value, not {}", guard.name, kind(value));
                    self.wrong(Code::FieldType, &guard.name, message);
                    return 0;
                };
                text
            }
        };
        let found = guard.values.iter().position(|value| *value == text.as_str());
        if found.is_none() {
            let help = suggest::help(&text, guard.values.iter().map(Name::as_str));
            let message = format!("`{}` is never `{text}`", guard.name);
            self.problem(Problem::new(Code::FieldValue, message).maybe_help(help), &guard.name);
        }
        found.and_then(|index| u8::try_from(index).ok()).unwrap_or(0)
    }
}
