//! The sections of a prompt that can be cut, and the order in which they are.

use std::collections::BTreeMap;

use interlock_core::id::Name;
use serde::Serialize;

use crate::data;

/// The subject of a section of the prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SectionKind {
    Mission,
    /// The plan of the group.
    Plan,
    Warnings,
    Verdict,
    Answer,
    /// The report that led to the assignment.
    LatestReport,
    /// Other reports on the group and on the session.
    EarlierReports,
    /// Reports that later ones of the same role replaced.
    SupersededReports,
    /// Reports on other groups.
    GroupReports,
    /// Reports on groups that are blocked, deferred or await confirmation.
    OpenGroups,
    /// Blocker, attempts and approver of each of them.
    OpenGroupFacts,
    GateOutput,
    /// The outputs of a lost attempt.
    LostAttempt,
    OpenFindings,
    SettledFindings,
    FailingTests,
    Blockers,
    Groups,
}

impl SectionKind {
    /// The name of the section, for the line that reports a cut.
    pub const fn name(self) -> &'static str {
        match self {
            SectionKind::Mission => "mission",
            SectionKind::Plan => "plan",
            SectionKind::Warnings => "warnings",
            SectionKind::Verdict => "verdict",
            SectionKind::Answer => "answer",
            SectionKind::LatestReport => "latest report",
            SectionKind::EarlierReports => "earlier report",
            SectionKind::SupersededReports => "superseded reports",
            SectionKind::GroupReports => "group reports",
            SectionKind::OpenGroups => "open group",
            SectionKind::OpenGroupFacts => "groups to decide about",
            SectionKind::GateOutput => "gate output",
            SectionKind::LostAttempt => "lost attempt",
            SectionKind::OpenFindings => "open findings",
            SectionKind::SettledFindings => "settled findings",
            SectionKind::FailingTests => "failing tests",
            SectionKind::Blockers => "blockers",
            SectionKind::Groups => "groups",
        }
    }
}

/// The end of a section that is kept when it is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeptEnd {
    Beginning,
    /// Output of commands says at its end what went wrong.
    End,
}

#[derive(Clone, Copy, Debug)]
pub struct SectionPriority {
    pub section: SectionKind,
    /// Each of its sections keeps this many characters, as long as cutting all others to theirs is enough.
    pub floor: usize,
    pub keep: KeptEnd,
}

const fn priority(section: SectionKind, floor: usize, keep: KeptEnd) -> SectionPriority {
    SectionPriority { section, floor, keep }
}

/// The order in which sections are cut, the first one first. Every section is cut to its floor before any is cut below,
/// so the mission and the plan keep their floors until everything else is gone. The task, the skills and the return
/// format are not in it: they are never cut.
pub const PRIORITIES: &[SectionPriority] = &[
    priority(SectionKind::SettledFindings, 1_000, KeptEnd::Beginning),
    priority(SectionKind::SupersededReports, 600, KeptEnd::Beginning),
    priority(SectionKind::GroupReports, 300, KeptEnd::Beginning),
    priority(SectionKind::Groups, 1_500, KeptEnd::Beginning),
    priority(SectionKind::EarlierReports, 1_000, KeptEnd::Beginning),
    priority(SectionKind::GateOutput, 2_000, KeptEnd::End),
    priority(SectionKind::LostAttempt, 2_500, KeptEnd::Beginning),
    priority(SectionKind::FailingTests, 1_500, KeptEnd::Beginning),
    priority(SectionKind::OpenGroups, 1_000, KeptEnd::Beginning),
    priority(SectionKind::LatestReport, 3_000, KeptEnd::Beginning),
    priority(SectionKind::OpenFindings, 3_000, KeptEnd::Beginning),
    priority(SectionKind::Answer, 2_000, KeptEnd::Beginning),
    priority(SectionKind::Verdict, 2_000, KeptEnd::Beginning),
    priority(SectionKind::Blockers, 500, KeptEnd::Beginning),
    priority(SectionKind::Warnings, 1_000, KeptEnd::Beginning),
    priority(SectionKind::OpenGroupFacts, 18_000, KeptEnd::Beginning),
    priority(SectionKind::Plan, 6_000, KeptEnd::Beginning),
    priority(SectionKind::Mission, 9_000, KeptEnd::Beginning),
];

/// Cutting is not worth its while below this: the line that says so needs room too, beside the name of a file.
const NOTE: usize = 100;

/// Parts of a section that would get fewer characters than this are left out instead, the last ones first.
const LEAST_PART: usize = 60;

/// A part of a section, such as a field of a report. A cut shortens the longest parts: short facts stay.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct SectionPart {
    /// The label, which is never cut.
    pub(super) head: String,
    pub(super) body: String,
    pub(super) keeps_end: bool,
    /// It is the beginning of something longer already.
    pub(super) is_extract: bool,
}

impl SectionPart {
    pub(super) fn text(&self) -> String {
        format!("{}{}", self.head, self.body)
    }

    /// With the line break after it.
    fn size(&self) -> usize {
        self.head.chars().count().saturating_add(self.body.chars().count()).saturating_add(1)
    }

    fn within(&self, characters: usize) -> String {
        if self.size() <= characters {
            return self.text();
        }
        let room = characters.saturating_sub(self.head.chars().count()).saturating_sub(3);
        match self.keeps_end {
            true => format!("{}… {}", self.head, ending(&self.body, room)),
            false => format!("{}{} …", self.head, beginning(&self.body, room)),
        }
    }
}

pub(super) fn join_parts(parts: &[SectionPart]) -> String {
    parts.iter().map(SectionPart::text).collect::<Vec<_>>().join("\n")
}

/// The parts in so many characters: each gets the same share at most, so that one long part cannot displace the others.
fn fit_parts(parts: &[SectionPart], characters: usize) -> String {
    let mut shown = parts;
    while let Some((_, rest)) = shown.split_last() {
        let share = largest_share(shown, characters);
        if share >= LEAST_PART {
            return shown.iter().map(|part| part.within(share)).collect::<Vec<_>>().join("\n");
        }
        shown = rest;
    }
    String::new()
}

/// The most characters that each part may have so that all of them fit.
fn largest_share(parts: &[SectionPart], characters: usize) -> usize {
    let mut sizes: Vec<usize> = parts.iter().map(SectionPart::size).collect();
    sizes.sort_unstable();
    let mut room = characters;
    for (index, size) in sizes.iter().enumerate() {
        let share = room.checked_div(sizes.len().saturating_sub(index)).unwrap_or(0);
        if *size > share {
            return share;
        }
        room = room.saturating_sub(*size);
    }
    usize::MAX
}

#[derive(Clone, Debug, Serialize)]
pub(super) struct Section {
    #[serde(skip)]
    pub(super) section: SectionKind,
    pub(super) heading: String,
    /// Lines of Interlock's own before it.
    pub(super) lead: Vec<String>,
    /// Written by agents, people or programs: stands in a fence.
    pub(super) is_data: bool,
    pub(super) text: String,
    pub(super) fence: String,
    /// The notes on what was cut, before and after the text that is left.
    pub(super) cut_before: Option<String>,
    pub(super) cut_after: Option<String>,
    /// It is folded into another section of its kind, whose note covers all of them.
    pub(super) is_folded: bool,
    /// Groups awaiting confirmation, with the part of the text that has to be shown before they are confirmed.
    #[serde(skip)]
    pub(super) confirms: Vec<(Name, String)>,
    /// Where it has parts, the longest of them are cut first.
    #[serde(skip)]
    parts: Vec<SectionPart>,
    /// The text is an extract before anything is cut for the budget.
    #[serde(skip)]
    is_extract: bool,
    /// All of it, before anything was cut.
    #[serde(skip)]
    whole: String,
    /// Where all of it lies, if something was cut.
    #[serde(skip)]
    file: String,
}

impl Section {
    /// Words of agents, people or programs.
    pub(super) fn data(section: SectionKind, heading: String, text: String) -> Self {
        Self { is_data: true, ..Self::own(section, heading, text) }
    }

    /// Said by Interlock, in its own words and names of the workflow.
    pub(super) fn own(section: SectionKind, heading: String, text: String) -> Self {
        let (fence, lead, whole, file) = (data::fence(&text), Vec::new(), text.clone(), String::new());
        Self {
            section,
            heading,
            lead,
            is_data: false,
            text,
            fence,
            cut_before: None,
            cut_after: None,
            is_folded: false,
            confirms: Vec::new(),
            parts: Vec::new(),
            is_extract: false,
            whole,
            file,
        }
    }

    /// Words of others in parts, each of which may be cut.
    pub(super) fn of_parts(section: SectionKind, heading: String, parts: Vec<SectionPart>) -> Self {
        let is_extract = parts.iter().any(|part| part.is_extract);
        let piece = Self::data(section, heading, join_parts(&parts));
        Self { parts, is_extract, ..piece }
    }

    /// The whole text, in its own layout. Whether the shown text is an extract of it is a separate fact.
    pub(super) fn out_of(self, whole: String) -> Self {
        Self { whole, ..self }
    }

    pub(super) fn extract(self, is_extract: bool) -> Self {
        Self { is_extract, ..self }
    }

    pub(super) fn lead(mut self, line: impl Into<String>) -> Self {
        self.lead.push(line.into());
        self
    }

    /// Cuts so many characters, and not below the floor. Says whether anything was cut.
    fn shorten(&mut self, by: usize, floor: usize, keep: KeptEnd) -> bool {
        let now = self.text.chars().count();
        let note = NOTE.saturating_add(self.file.len());
        // A text that is shorter than the note in its place stays.
        if now <= floor.saturating_add(note) {
            return false;
        }
        let mut kept = now.saturating_sub(by).saturating_sub(note).max(floor);
        if kept < note {
            kept = 0;
        }
        self.text = match keep {
            KeptEnd::Beginning if !self.parts.is_empty() => fit_parts(&self.parts, kept),
            KeptEnd::Beginning => beginning(&self.text, kept),
            KeptEnd::End => ending(&self.text, kept),
        };
        self.fence = data::fence(&self.text);
        self.say_what_is_left_out(keep);
        true
    }

    /// Nothing is left out in silence, nor out of reach.
    fn say_what_is_left_out(&mut self, keep: KeptEnd) {
        let (whole, shown) = (self.whole.chars().count(), self.text.chars().count());
        if whole <= shown {
            return;
        }
        let (left_out, whole) = (data::thousands(whole.saturating_sub(shown)), data::thousands(whole));
        let (name, file) = (self.section.name(), &self.file);
        let note = Some(format!("[{left_out} of {whole} characters left out: {name}; all of it is in `{file}`]"));
        match keep {
            KeptEnd::Beginning => self.cut_after = note,
            KeptEnd::End => self.cut_before = note,
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
pub struct AssignmentPrompt {
    pub text: String,
    /// All of what was cut: for each a file of the output directory, and its text.
    pub whole: Vec<(String, String)>,
    /// Folders of the feature directory with documents that it names.
    pub earlier: Vec<String>,
    /// Groups awaiting confirmation whose blocker, attempts and approver it states.
    pub confirmable: Vec<Name>,
}

/// The prompt in so many characters, or in the fewest that can be. What is cut is to lie in this folder.
pub(super) fn fit(
    mut pieces: Vec<Section>,
    folder: &str,
    budget: usize,
    render: impl Fn(&[Section]) -> String,
) -> AssignmentPrompt {
    let names = names(&pieces);
    for (piece, name) in pieces.iter_mut().zip(&names) {
        piece.file = format!("{}/{name}", folder.trim_end_matches('/'));
        if piece.is_extract {
            piece.say_what_is_left_out(KeptEnd::Beginning);
        }
    }
    let text = cut(&mut pieces, budget, render);
    let shown = |piece: &Section| -> Vec<Name> {
        let is_shown = |(_, facts): &&(Name, String)| piece.text.contains(facts.as_str());
        piece.confirms.iter().filter(is_shown).map(|(group, _)| group.clone()).collect()
    };
    let confirmable = pieces.iter().flat_map(shown).collect();
    let is_cut = pieces.into_iter().zip(names).filter(|(piece, _)| piece.is_cut() && !piece.is_folded);
    AssignmentPrompt {
        text,
        earlier: Vec::new(),
        confirmable,
        whole: is_cut.map(|(piece, name)| (name, format!("{}\n", piece.whole))).collect(),
    }
}

fn cut(pieces: &mut [Section], budget: usize, render: impl Fn(&[Section]) -> String) -> String {
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
            if !to_floor && text.chars().count() > budget && fold(pieces, priority.section) {
                text = render(pieces);
            }
        }
    }
    text
}

/// Merges the sections of a kind of which nothing or little is shown into one, with one note and one file: many
/// headings and notes would displace more important text. Returns whether there were several.
fn fold(pieces: &mut [Section], section: SectionKind) -> bool {
    let little = |piece: &Section| piece.text.chars().count() <= NOTE.saturating_add(piece.file.len());
    let is_part = |piece: &Section| piece.section == section && little(piece);
    let parts: Vec<&Section> = pieces.iter().filter(|piece| is_part(piece)).collect();
    if parts.len() < 2 {
        return false;
    }
    let heading = format!("{} not shown: {}", section.name(), parts.len());
    let whole: Vec<String> = parts.iter().map(|piece| format!("## {}\n\n{}", piece.heading, piece.whole)).collect();
    let mut first = true;
    for piece in pieces.iter_mut().filter(|piece| is_part(piece)) {
        piece.is_folded = !first;
        piece.text.clear();
        piece.lead.clear();
        if first {
            (piece.heading, piece.whole) = (heading.clone(), whole.join("\n\n"));
            (piece.cut_before, piece.cut_after) = (None, None);
            piece.say_what_is_left_out(KeptEnd::Beginning);
        }
        first = false;
    }
    true
}

/// A file for each section: in a folder of their own, where none of them is mistaken for a handoff.
fn names(pieces: &[Section]) -> Vec<String> {
    let mut counts: BTreeMap<SectionKind, usize> = BTreeMap::new();
    let name = |piece: &Section| {
        let count = counts.entry(piece.section).and_modify(|count| *count = count.saturating_add(1)).or_insert(1);
        let number = if *count == 1 { String::new() } else { format!("-{count}") };
        format!("whole/{}{number}.md", piece.section.name().replace(' ', "-"))
    };
    pieces.iter().map(name).collect()
}
