//! The pieces of a prompt that can be cut, and what gives way to what.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::brief::data;

/// What a piece of the prompt is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Section {
    Mission,
    /// What the plan says of the group.
    Plan,
    Warnings,
    Verdict,
    Answer,
    /// The report that led to the assignment.
    LatestReport,
    /// Other reports on the group and on the session.
    EarlierReports,
    /// Reports on other groups.
    GroupReports,
    /// Reports on groups that are blocked, deferred or await confirmation.
    OpenGroups,
    GateOutput,
    OpenFindings,
    SettledFindings,
    FailingTests,
    Blockers,
    Groups,
}

impl Section {
    /// What is left out, in the line that says so.
    pub const fn name(self) -> &'static str {
        match self {
            Section::Mission => "mission",
            Section::Plan => "plan",
            Section::Warnings => "warnings",
            Section::Verdict => "verdict",
            Section::Answer => "answer",
            Section::LatestReport => "latest report",
            Section::EarlierReports => "earlier report",
            Section::GroupReports => "group reports",
            Section::OpenGroups => "open group",
            Section::GateOutput => "gate output",
            Section::OpenFindings => "open findings",
            Section::SettledFindings => "settled findings",
            Section::FailingTests => "failing tests",
            Section::Blockers => "blockers",
            Section::Groups => "groups",
        }
    }
}

/// Which end of a piece stays when it is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    Beginning,
    /// Output of commands says at its end what went wrong.
    End,
}

#[derive(Clone, Copy, Debug)]
pub struct Priority {
    pub section: Section,
    /// Each of its pieces keeps this many characters, as long as cutting all others to theirs is enough.
    pub floor: usize,
    pub keep: Keep,
}

const fn priority(section: Section, floor: usize, keep: Keep) -> Priority {
    Priority { section, floor, keep }
}

/// What gives way to what: the first is cut first. Every piece is cut to its floor before any is cut below.
/// The task, the skills and the return format are not in it: they are never cut.
pub const PRIORITIES: &[Priority] = &[
    priority(Section::SettledFindings, 1_000, Keep::Beginning),
    priority(Section::GroupReports, 300, Keep::Beginning),
    priority(Section::Groups, 1_500, Keep::Beginning),
    priority(Section::EarlierReports, 1_000, Keep::Beginning),
    priority(Section::Mission, 3_000, Keep::Beginning),
    priority(Section::Plan, 3_000, Keep::Beginning),
    priority(Section::GateOutput, 2_000, Keep::End),
    priority(Section::FailingTests, 1_500, Keep::Beginning),
    priority(Section::OpenGroups, 1_000, Keep::Beginning),
    priority(Section::LatestReport, 3_000, Keep::Beginning),
    priority(Section::OpenFindings, 3_000, Keep::Beginning),
    priority(Section::Answer, 2_000, Keep::Beginning),
    priority(Section::Verdict, 2_000, Keep::Beginning),
    priority(Section::Blockers, 500, Keep::Beginning),
    priority(Section::Warnings, 1_000, Keep::Beginning),
];

/// Cutting is not worth its while below this: the line that says so needs room too, beside the name of a file.
const NOTE: usize = 100;

#[derive(Clone, Debug, Serialize)]
pub(super) struct Piece {
    #[serde(skip)]
    pub(super) section: Section,
    pub(super) heading: String,
    /// Lines of Interlock's own before it.
    pub(super) lead: Vec<String>,
    /// Written by agents, people or programs: stands in a fence.
    pub(super) is_data: bool,
    pub(super) text: String,
    pub(super) fence: String,
    /// What was cut, before and after what is left.
    pub(super) cut_before: Option<String>,
    pub(super) cut_after: Option<String>,
    /// All of it, before anything was cut.
    #[serde(skip)]
    whole: String,
    /// Where all of it lies, if something was cut.
    #[serde(skip)]
    file: String,
}

impl Piece {
    /// Words of agents, people or programs.
    pub(super) fn data(section: Section, heading: String, text: String) -> Self {
        Self { is_data: true, ..Self::own(section, heading, text) }
    }

    /// Said by Interlock, in its own words and names of the workflow.
    pub(super) fn own(section: Section, heading: String, text: String) -> Self {
        let (fence, lead, whole, file) = (data::fence(&text), Vec::new(), text.clone(), String::new());
        Self { section, heading, lead, is_data: false, text, fence, cut_before: None, cut_after: None, whole, file }
    }

    /// What is shown is an extract of this.
    pub(super) fn out_of(mut self, whole: String) -> Self {
        self.whole = whole;
        self
    }

    pub(super) fn lead(mut self, line: impl Into<String>) -> Self {
        self.lead.push(line.into());
        self
    }

    /// Cuts so many characters, and not below the floor. Says whether anything was cut.
    fn shorten(&mut self, by: usize, floor: usize, keep: Keep) -> bool {
        let now = self.text.chars().count();
        let note = NOTE.saturating_add(self.file.len());
        let least = if floor == 0 { 0 } else { floor.saturating_add(note) };
        if now <= least {
            return false;
        }
        let mut kept = now.saturating_sub(by).saturating_sub(note).max(floor);
        if kept < note {
            kept = 0;
        }
        self.text = match keep {
            Keep::Beginning => beginning(&self.text, kept),
            Keep::End => ending(&self.text, kept),
        };
        self.fence = data::fence(&self.text);
        self.say_what_is_left_out(keep);
        true
    }

    /// Nothing is left out in silence, nor out of reach.
    fn say_what_is_left_out(&mut self, keep: Keep) {
        let (whole, shown) = (self.whole.chars().count(), self.text.chars().count());
        if whole <= shown {
            return;
        }
        let (left_out, whole) = (data::thousands(whole.saturating_sub(shown)), data::thousands(whole));
        let (name, file) = (self.section.name(), &self.file);
        let note = Some(format!("[{left_out} of {whole} characters left out: {name}; all of it is in `{file}`]"));
        match keep {
            Keep::Beginning => self.cut_after = note,
            Keep::End => self.cut_before = note,
        }
    }

    fn is_cut(&self) -> bool {
        self.cut_before.is_some() || self.cut_after.is_some()
    }
}

/// At most so many characters from the beginning, to the end of a line if one is near.
fn beginning(text: &str, characters: usize) -> String {
    let end = text.char_indices().nth(characters).map_or(text.len(), |(at, _)| at);
    let (head, _) = text.split_at(end);
    let line = head.rfind('\n').filter(|at| *at > end / 2).unwrap_or(end);
    head.get(..line).unwrap_or_default().trim_end().to_owned()
}

/// At most so many characters from the end, from the beginning of a line if one is near.
fn ending(text: &str, characters: usize) -> String {
    let skip = text.chars().count().saturating_sub(characters);
    let start = text.char_indices().nth(skip).map_or(text.len(), |(at, _)| at);
    let (_, tail) = text.split_at(start);
    let line = tail.find('\n').filter(|at| *at < tail.len() / 2).map_or(0, |at| at.saturating_add(1));
    tail.get(line..).unwrap_or_default().to_owned()
}

/// A prompt, and what did not fit into it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prompt {
    pub text: String,
    /// All of what was cut: for each a file of the output directory, and its text.
    pub whole: Vec<(String, String)>,
    /// Folders of the feature directory with documents that it names.
    pub earlier: Vec<String>,
}

/// The prompt in so many characters, or in the fewest that can be. What is cut is to lie in this folder.
pub(super) fn fit(mut pieces: Vec<Piece>, folder: &str, budget: usize, render: impl Fn(&[Piece]) -> String) -> Prompt {
    let names = names(&pieces);
    for (piece, name) in pieces.iter_mut().zip(&names) {
        piece.file = format!("{}/{name}", folder.trim_end_matches('/'));
        piece.say_what_is_left_out(Keep::Beginning);
    }
    let text = cut(&mut pieces, budget, render);
    let is_cut = pieces.into_iter().zip(names).filter(|(piece, _)| piece.is_cut());
    Prompt {
        text,
        earlier: Vec::new(),
        whole: is_cut.map(|(piece, name)| (name, format!("{}\n", piece.whole))).collect(),
    }
}

fn cut(pieces: &mut [Piece], budget: usize, render: impl Fn(&[Piece]) -> String) -> String {
    let mut text = render(pieces);
    for to_floor in [true, false] {
        for priority in PRIORITIES {
            // The oldest first.
            for index in 0..pieces.len() {
                let over = text.chars().count().saturating_sub(budget);
                if over == 0 {
                    return text;
                }
                let floor = if to_floor { priority.floor } else { 0 };
                let piece = pieces.get_mut(index).filter(|piece| piece.section == priority.section);
                if piece.is_some_and(|piece| piece.shorten(over, floor, priority.keep)) {
                    text = render(pieces);
                }
            }
        }
    }
    text
}

/// A file for each piece: in a folder of their own, where none of them is taken for a handoff.
fn names(pieces: &[Piece]) -> Vec<String> {
    let mut counts: BTreeMap<Section, usize> = BTreeMap::new();
    let name = |piece: &Piece| {
        let count = counts.entry(piece.section).and_modify(|count| *count = count.saturating_add(1)).or_insert(1);
        let number = if *count == 1 { String::new() } else { format!("-{count}") };
        format!("whole/{}{number}.md", piece.section.name().replace(' ', "-"))
    };
    pieces.iter().map(name).collect()
}
