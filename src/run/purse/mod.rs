//! What agents have used up, and whether there is something left to use. Kept in a file, so that a run that goes on
//! knows what was spent before.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use interlock_core::id::Name;
use serde::{Deserialize, Serialize};

use crate::agents::Usage;
use crate::team::Allowance;

/// One turn of one agent.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Entry {
    pub(super) assignment: String,
    pub(super) role: Name,
    pub(super) group: Option<Name>,
    pub(super) input_tokens: u64,
    pub(super) output_tokens: u64,
    pub(super) cost: Option<f64>,
    pub(super) milliseconds: u64,
}

/// A line of the file.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Line {
    Spent(Entry),
    /// A person was asked whether somebody may go on.
    Asked {
        asked: String,
    },
}

/// An allowance that is used up.
pub(super) struct Exceeded {
    pub(super) whose: String,
    pub(super) why: String,
}

/// What was used up by somebody.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Spent {
    pub(crate) usage: Usage,
    pub(crate) time: Duration,
    pub(crate) turns: u32,
}

impl Spent {
    fn add(&mut self, entry: &Entry) {
        self.usage.input_tokens = self.usage.input_tokens.saturating_add(entry.input_tokens);
        self.usage.output_tokens = self.usage.output_tokens.saturating_add(entry.output_tokens);
        if let Some(cost) = entry.cost {
            self.usage.cost = Some(self.usage.cost.unwrap_or(0.0) + cost);
        }
        self.time = self.time.saturating_add(Duration::from_millis(entry.milliseconds));
        self.turns = self.turns.saturating_add(1);
    }
}

#[derive(Default)]
struct Book {
    session: Spent,
    groups: BTreeMap<Name, Spent>,
    assignments: BTreeMap<String, Spent>,
    /// How often a person has granted an allowance once more: by whom it is for.
    granted: BTreeMap<String, u32>,
}

pub(super) struct Purse {
    path: PathBuf,
    book: Mutex<Book>,
}

impl Purse {
    /// Reads what was spent so far; a line that a crash cut short is passed over.
    pub(super) fn open(path: &Path) -> Self {
        let mut book = Book::default();
        let text = fs::read_to_string(path).unwrap_or_default();
        for line in text.lines().filter_map(|line| serde_json::from_str::<Line>(line).ok()) {
            match line {
                Line::Spent(entry) => book.add(&entry),
                Line::Asked { asked } => book.grant(asked),
            }
        }
        Self { path: path.to_owned(), book: Mutex::new(book) }
    }

    pub(super) fn add(&self, entry: Entry) {
        self.book().add(&entry);
        self.write(&Line::Spent(entry));
    }

    /// A person is asked: if the work goes on, it has the same once more. To be called when the question is put, so that
    /// nobody goes on without it.
    pub(super) fn asked(&self, whose: String) {
        self.book().grant(whose.clone());
        self.write(&Line::Asked { asked: whose });
    }

    fn write(&self, line: &Line) {
        let Ok(mut line) = serde_json::to_string(line) else { return };
        line.push('\n');
        // What cannot be written down still counts for this run.
        let opened = OpenOptions::new().create(true).append(true).open(&self.path);
        let _ = opened.and_then(|mut file| file.write_all(line.as_bytes()));
    }

    pub(super) fn session(&self) -> Spent {
        self.book().session
    }

    pub(super) fn group(&self, group: &str) -> Spent {
        self.book().groups.get(group).copied().unwrap_or_default()
    }

    pub(super) fn assignment(&self, assignment: &str) -> Spent {
        self.book().assignments.get(assignment).copied().unwrap_or_default()
    }

    /// How often somebody's allowance was given.
    pub(super) fn granted(&self, whose: &str) -> u32 {
        self.book().granted.get(whose).copied().unwrap_or(0).saturating_add(1)
    }

    /// Whether somebody's allowance is used up.
    pub(super) fn exceeded(&self, whose: &str, allowance: &Allowance, spent: &Spent) -> Option<Exceeded> {
        let exceeded = allowance.exceeded(&spent.usage, spent.time, self.granted(whose))?;
        Some(Exceeded { whose: whose.to_owned(), why: format!("the budget of {whose} is used up: {exceeded}") })
    }

    fn book(&self) -> std::sync::MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Book {
    fn grant(&mut self, whose: String) {
        let times = self.granted.entry(whose).or_default();
        *times = times.saturating_add(1);
    }

    fn add(&mut self, entry: &Entry) {
        self.session.add(entry);
        self.assignments.entry(entry.assignment.clone()).or_default().add(entry);
        if let Some(group) = &entry.group {
            self.groups.entry(group.clone()).or_default().add(entry);
        }
    }
}
