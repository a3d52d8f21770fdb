//! What happened before: the reports, answers and gate results of the dossier, the validator's verdict, and lost attempts.

use std::collections::BTreeSet;

use interlock_core::decision::{Judgement, Verdict};
use interlock_core::event::Cause;
use interlock_core::id::Name;
use interlock_core::state::Group;

use crate::brief::dossier::{DossierEntry, EntryContent, needs_decision};
use crate::brief::piece::{Piece, Section};
use crate::brief::{Brief, data};

impl Brief<'_> {
    pub(super) fn history(&self, pieces: &mut Vec<Piece>) {
        self.other_groups(pieces);
        for entry in self.dossier.entries.iter().filter(|entry| self.is_own(entry)) {
            pieces.push(self.entry_piece(entry));
        }
        if let Some(judgement) = self.decision().and_then(|decision| decision.judgement.as_ref()) {
            pieces.push(verdict(judgement));
        }
        if let Some(Cause::Lost { note: Some(note), .. }) = self.lost.map(|event| &event.cause) {
            let heading = "Your last attempt ended without a handoff that was accepted".to_owned();
            pieces.push(Piece::data(Section::GateOutput, heading, data::text(note)));
        }
    }

    /// On the group of the assignment, or on the session as a whole.
    fn is_own(&self, entry: &DossierEntry) -> bool {
        entry.group.is_none() || entry.group == self.assignment.group
    }

    fn entry_piece(&self, entry: &DossierEntry) -> Piece {
        let is_latest = self.decision().is_some_and(|decision| decision.id == entry.decision);
        let section = match &entry.content {
            EntryContent::Report { .. } if is_latest => Section::LatestReport,
            EntryContent::Report { .. } => Section::EarlierReports,
            EntryContent::Answer { .. } | EntryContent::PersonsReason { .. } => Section::Answer,
            EntryContent::Gate { .. } => Section::GateOutput,
        };
        let text = entry.describe(Some(self.assignment.role.as_str()));
        Piece::data(section, text.heading, text.shown).out_of(text.whole)
    }

    /// One piece for each other group of which the dossier has reports.
    fn other_groups(&self, pieces: &mut Vec<Piece>) {
        let mut groups: BTreeSet<&Name> = BTreeSet::new();
        for entry in self.dossier.entries.iter().filter(|entry| !self.is_own(entry)) {
            groups.extend(entry.group.as_ref());
        }
        for group in self.state.groups.iter().filter(|group| groups.contains(&group.id)) {
            pieces.push(self.group_piece(group));
        }
    }

    fn group_piece(&self, group: &Group) -> Piece {
        let section = if needs_decision(group) { Section::OpenGroups } else { Section::GroupReports };
        let (mut shown, mut whole) = (Vec::new(), Vec::new());
        for entry in self.dossier.reports_on(&group.id) {
            let text = entry.describe(Some(self.assignment.role.as_str()));
            shown.push(format!("[{}]\n{}", text.heading, text.shown));
            whole.push(format!("[{}]\n{}", text.heading, text.whole));
        }
        let heading = format!("Reports on group `{}` ({})", group.id, group.status().name());
        Piece::data(section, heading, shown.join("\n\n")).out_of(whole.join("\n\n"))
    }
}

fn verdict(judgement: &Judgement) -> Piece {
    let word = match judgement.verdict {
        Verdict::Accept => "ACCEPT",
        Verdict::Reject => "REJECT",
    };
    let line = |reason: &interlock_core::decision::Reason| {
        let group = reason.group.as_ref().map(|group| format!(" {group}:")).unwrap_or_default();
        format!("- {}{group} {}", reason.code, data::line(&reason.text))
    };
    let lines: Vec<String> = judgement.reasons.iter().map(line).collect();
    let text = if lines.is_empty() { "(no reasons)".to_owned() } else { lines.join("\n") };
    let piece = Piece::data(Section::Verdict, format!("The validator's verdict: {word}"), text);
    match judgement.verdict {
        Verdict::Accept => piece,
        Verdict::Reject => piece.lead("The session ends only when each of these is resolved."),
    }
}
