//! A coded refusal of a command: nothing has changed.

use crate::code::Code;
use crate::decision::JudgementReason;
use crate::problem::Problem;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejection {
    pub code: Code,
    pub message: String,
    /// More exactly than the code can say it.
    pub help: Option<String>,
    /// The statuses or values that would be accepted now.
    pub allowed: Vec<String>,
    pub problems: Vec<Problem>,
    pub reasons: Vec<JudgementReason>,
}

impl Rejection {
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            help: None,
            allowed: Vec::new(),
            problems: Vec::new(),
            reasons: Vec::new(),
        }
    }

    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    #[must_use]
    pub fn maybe_help(mut self, help: Option<String>) -> Self {
        self.help = help.or(self.help);
        self
    }

    /// How to go on: the help of this rejection, or that of the first of its problems, or the general help of the code.
    pub fn advice(&self) -> &str {
        let first = self.problems.first().map(Problem::advice);
        self.help.as_deref().or(first).unwrap_or(self.code.help())
    }

    #[must_use]
    pub fn allowed(mut self, allowed: Vec<String>) -> Self {
        self.allowed = allowed;
        self
    }

    #[must_use]
    pub fn problems(mut self, problems: Vec<Problem>) -> Self {
        self.problems = problems;
        self
    }
}
