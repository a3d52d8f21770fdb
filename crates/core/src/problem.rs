//! A problem in a file or a handoff: its message, its place, and how to fix it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use crate::code::Code;

/// A place in a source text. Lines and columns count from 1, columns in characters.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
pub struct Place {
    pub file: Arc<str>,
    pub line: u32,
    pub column: u32,
    /// How many characters to underline, at least 1.
    #[serde(skip)]
    pub length: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    Error,
    Warning,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Problem {
    pub code: Code,
    pub message: String,
    /// More exactly than the code can say it.
    pub help: Option<String>,
    /// The dotted path of the field, for handoffs.
    pub field: Option<String>,
    pub at: Option<Place>,
    pub severity: Severity,
    /// Which element it is about, where the same can be wrong with several.
    pub subject: Option<Box<ProblemSubject>>,
}

/// An element, and what is wrong with it. Several elements with the same predicate are one mistake.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProblemSubject {
    /// Such as "group `titles`".
    pub element: String,
    /// Such as "`title` is missing".
    pub predicate: String,
}

/// As scripts read it: there always is a help.
impl Serialize for Problem {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("code", &self.code)?;
        map.serialize_entry("message", &self.message)?;
        map.serialize_entry("help", self.advice())?;
        if let Some(field) = &self.field {
            map.serialize_entry("field", field)?;
        }
        if let Some(subject) = &self.subject {
            map.serialize_entry("element", &subject.element)?;
        }
        if let Some(at) = &self.at {
            map.serialize_entry("at", at)?;
        }
        map.end()
    }
}

impl Problem {
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        let (help, field, at, subject) = (None, None, None, None);
        Self { code, message: message.into(), help, field, at, severity: Severity::Error, subject }
    }

    /// A field that is missing, or that must be as the predicate says.
    pub fn of_field(code: Code, field: &str, predicate: &str) -> Self {
        let element = format!("`{field}`");
        let message = format!("{element} is {predicate}");
        let subject = Some(Box::new(ProblemSubject { element, predicate: predicate.to_owned() }));
        Self { subject, ..Self::new(code, message) }.field(field)
    }

    /// The same problem, stated about an element of a list.
    #[must_use]
    pub fn of_element(mut self, element: String) -> Self {
        let predicate = self.message;
        self.message = format!("{element}: {predicate}");
        self.subject = Some(Box::new(ProblemSubject { element, predicate }));
        self
    }

    pub fn warning(code: Code, message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::new(code, message) }
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

    #[must_use]
    pub fn field(mut self, field: impl Into<String>) -> Self {
        self.field = Some(field.into());
        self
    }

    #[must_use]
    pub fn at(mut self, place: Place) -> Self {
        self.at = Some(place);
        self
    }

    /// How to go on: the help of this problem, or else the general help of its code.
    pub fn advice(&self) -> &str {
        self.help.as_deref().unwrap_or(self.code.help())
    }

    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

/// Problems that are one mistake: the same code, the same predicate, the same advice.
#[derive(Clone, Debug)]
pub struct ProblemGroup<'a> {
    pub first: &'a Problem,
    pub others: Vec<&'a Problem>,
    /// The help to show with it: its own, or that of its code where no group before it has shown that.
    pub help: Option<&'a str>,
}

/// How many elements a message names. The places of the others are listed below it.
const NAMED_ELEMENTS: usize = 12;

impl<'a> ProblemGroup<'a> {
    /// A problem that stands alone. Only its own help is shown with it.
    pub fn alone(problem: &'a Problem) -> Self {
        Self { first: problem, others: Vec::new(), help: problem.help.as_deref() }
    }

    pub fn members(&self) -> impl Iterator<Item = &'a Problem> {
        std::iter::once(self.first).chain(self.others.iter().copied())
    }

    /// One sentence for all of them.
    pub fn message(&self) -> String {
        let Some(subject) = self.first.subject.as_ref().filter(|_| !self.others.is_empty()) else {
            return self.first.message.clone();
        };
        let elements: Vec<&str> =
            self.members().filter_map(|problem| problem.subject.as_ref()).map(|own| own.element.as_str()).collect();
        let named = elements.iter().take(NAMED_ELEMENTS).copied().collect::<Vec<_>>().join(", ");
        match elements.len().saturating_sub(NAMED_ELEMENTS) {
            0 => format!("{}: {named}", subject.predicate),
            more => format!("{}: {named} and {more} more", subject.predicate),
        }
    }
}

/// One group for each mistake, in the order of the first problem of each.
pub fn group_problems(problems: &[Problem]) -> Vec<ProblemGroup<'_>> {
    let mut groups: Vec<ProblemGroup<'_>> = Vec::new();
    // A handoff can have thousands of problems, so groups are found by their key.
    let mut known: BTreeMap<_, usize> = BTreeMap::new();
    // The general help of a code is worth reading once.
    let mut said: BTreeSet<Code> = BTreeSet::new();
    for problem in problems {
        let predicate = problem.subject.as_ref().map(|subject| subject.predicate.as_str());
        let message = predicate.unwrap_or(&problem.message);
        let key = (problem.code, problem.severity, problem.advice(), predicate.is_some(), message);
        match known.get(&key).and_then(|index| groups.get_mut(*index)) {
            Some(group) => group.others.push(problem),
            None => {
                known.insert(key, groups.len());
                let general = || said.insert(problem.code).then(|| problem.code.help());
                let help = problem.help.as_deref().or_else(general);
                groups.push(ProblemGroup { first: problem, others: Vec::new(), help });
            }
        }
    }
    groups
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code, self.message)
    }
}
