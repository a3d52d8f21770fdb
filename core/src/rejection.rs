//! A coded refusal of a command: nothing has changed.

use serde::Serialize;

use crate::code::Code;
use crate::decision::Reason;
use crate::problem::Problem;

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Rejection {
    pub code: Code,
    pub message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
    /// What would be accepted now.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub allowed: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<Problem>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<Reason>,
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
