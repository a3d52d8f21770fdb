//! The history: the reports, answers and gate results of the dossier, the validator's verdict, and lost attempts.

use std::collections::BTreeSet;

use interlock_core::decision::{CompletionJudgement, CompletionVerdict};
use interlock_core::event::EventCause;
use interlock_core::id::Name;
use interlock_core::state::{Group, RecordKey};
use interlock_core::workflow::{AssignmentTask, WritePermission};

use crate::PromptContext;
use crate::data;
use crate::dossier::{DossierEntry, EntryContent, needs_decision};
use crate::entry::{EntryText, claimed_files};
use crate::section::{Section, SectionKind, SectionPart};

/// The heading of superseded reports.
const EARLIER_REPORTS: &str = "Earlier reports of the same roles, newest first";

impl PromptContext<'_> {
    pub(super) fn history(&self, pieces: &mut Vec<Section>) {
        self.other_groups(pieces);
        self.needed_groups(pieces);
        pieces.extend(self.superseded_piece());
        for entry in self.dossier.entries.iter().filter(|entry| self.is_own(entry)) {
            pieces.push(self.entry_piece(entry));
        }
        if let Some(judgement) = self.decision().and_then(|decision| decision.judgement.as_ref()) {
            pieces.push(verdict(judgement));
        }
        if let Some(EventCause::Lost { note: Some(note), .. }) = self.lost.map(|event| &event.cause) {
            let whose = self.lost_attempts.first().filter(|lost| lost.role != self.assignment.role);
            let whose = whose
                .map_or_else(|| "Your last attempt".to_owned(), |lost| format!("The last attempt of `{}`", lost.role));
            let heading = format!("{whose} ended without a handoff that was accepted");
            pieces.push(Section::data(SectionKind::GateOutput, heading, data::text(note)));
        }
        pieces.extend(self.lost_piece());
    }

    /// On the group of the assignment, or on the session as a whole.
    pub(super) fn is_own(&self, entry: &DossierEntry) -> bool {
        entry.group.is_none() || entry.group == self.assignment.group
    }

    fn entry_piece(&self, entry: &DossierEntry) -> Section {
        let is_latest = self.decision().is_some_and(|decision| decision.id == entry.decision);
        let section = match &entry.content {
            EntryContent::Report { .. } if is_latest || self.is_open_blocker(entry) => SectionKind::LatestReport,
            EntryContent::Report { .. } => SectionKind::EarlierReports,
            EntryContent::Answer { .. } | EntryContent::PersonsReason { .. } => SectionKind::Answer,
            EntryContent::Gate { .. } => SectionKind::GateOutput,
        };
        let unnamed = self.shows_diff(entry).then(|| self.unnamed_files(entry));
        let text = entry.describe(Some(self.assignment.role.as_str()), unnamed.as_ref());
        let piece = Section::of_parts(section, text.heading, text.shown).out_of(text.whole);
        match self.helpers_range(entry) {
            Some(range) => piece.lead(format!("`git diff {range}` shows what it changed to help.")),
            None => piece,
        }
    }

    /// The commits before and after the changes of a role that helped. The observed diff is that of the whole group.
    fn helpers_range(&self, entry: &DossierEntry) -> Option<String> {
        let (_, AssignmentTask::Consult) = entry.reporter()? else { return None };
        let after = entry.observed()?;
        let all = self.dossier.entries.iter().chain(&self.dossier.superseded);
        let earlier = all.filter(|other| other.group == entry.group && other.decision < entry.decision);
        let observed = earlier.filter_map(|other| other.observed().map(|observed| (other.decision, observed)));
        let (_, before) = observed.max_by_key(|(decision, _)| *decision)?;
        let range = || format!("{}..{}", data::code(&before.commit), data::code(&after.commit));
        (before.commit != after.commit).then(range)
    }

    /// The report of a role that is still blocked: helpers and the manager decide by it.
    fn is_open_blocker(&self, entry: &DossierEntry) -> bool {
        let RecordKey::Report { role, blocked: true, .. } = &entry.key else { return false };
        let is_own = entry.group == self.assignment.group;
        is_own && self.lane().blocks.iter().any(|block| block.role == *role)
    }

    /// The superseded reports on the reader's group and on the session, newest first.
    fn superseded_piece(&self) -> Option<Section> {
        let (parts, whole) = self.superseded_texts(|entry| self.is_own(entry));
        let piece = || Section::of_parts(SectionKind::SupersededReports, EARLIER_REPORTS.to_owned(), parts.clone());
        (!parts.is_empty()).then(|| piece().out_of(whole.join("\n\n")))
    }

    /// Superseded reports as they are shown, and whole.
    fn superseded_texts(&self, wanted: impl Fn(&DossierEntry) -> bool) -> (Vec<SectionPart>, Vec<String>) {
        let reader = Some(self.assignment.role.as_str());
        let entries = self.dossier.superseded.iter().filter(|entry| wanted(entry));
        let texts = entries.map(|entry| entry.describe_superseded(reader)).filter(|text| !text.shown.is_empty());
        let (mut parts, mut whole) = (Vec::new(), Vec::new());
        texts.for_each(|text| add_entry(text, &mut parts, &mut whole));
        (parts, whole)
    }

    /// Files that a report on the group of this entry changed without naming them, and that no other report names.
    fn unnamed_files(&self, entry: &DossierEntry) -> BTreeSet<String> {
        let all = self.dossier.entries.iter().chain(&self.dossier.superseded);
        let (mut unnamed, mut named) = (BTreeSet::new(), BTreeSet::new());
        for content in all.filter(|other| other.group == entry.group).map(|other| &other.content) {
            let EntryContent::Report { handoff, observed, .. } = content else { continue };
            let unclaimed = observed.iter().flat_map(|observed| &observed.unclaimed);
            unnamed.extend(unclaimed.map(|path| data::line(path)));
            named.extend(claimed_files(handoff));
        }
        unnamed.difference(&named).cloned().collect()
    }

    /// The observed diff is that of the whole group. The newest one is shown: under the report of the author if the author
    /// made it, otherwise of another role that may change files, such as one that helped.
    fn shows_diff(&self, entry: &DossierEntry) -> bool {
        let rank = |entry: &DossierEntry| {
            let role = entry.reporter().and_then(|(role, _)| self.workflow.role_named(role));
            role.map(|ix| self.workflow.role(ix)).map(|role| (role.author, role.writes != WritePermission::Nothing))
        };
        let of_group = || self.dossier.entries.iter().filter(|other| other.group == entry.group);
        let commit = |other: &DossierEntry| other.observed().map(|observed| observed.commit.clone());
        let newest = of_group().filter(|other| other.observed().is_some()).max_by_key(|other| other.decision);
        let Some(newest) = newest.and_then(commit) else { return false };
        let same = of_group().filter(|other| commit(other).as_ref() == Some(&newest));
        let shown = same.max_by_key(|other| (rank(other), other.decision));
        shown.is_some_and(|shown| shown.decision == entry.decision)
    }

    /// One section for each other group of which the dossier has reports.
    fn other_groups(&self, pieces: &mut Vec<Section>) {
        let mut groups: BTreeSet<&Name> = BTreeSet::new();
        for entry in self.dossier.entries.iter().filter(|entry| !self.is_own(entry)) {
            groups.extend(entry.group.as_ref());
        }
        for group in self.state.groups.iter().filter(|group| groups.contains(&group.id)) {
            pieces.push(self.group_piece(group));
        }
    }

    /// One short section for each group that the reader's group depends on.
    fn needed_groups(&self, pieces: &mut Vec<Section>) {
        let needed = self.group().into_iter().flat_map(|group| &group.depends_on);
        for group in needed.filter_map(|name| self.state.group(name)) {
            let (mut parts, mut whole) = (Vec::new(), Vec::new());
            let mut entries: Vec<&DossierEntry> = self.dossier.dependencies.iter().collect();
            entries.retain(|entry| entry.group.as_ref() == Some(&group.id));
            // The author's delivery comes first.
            entries.sort_by_key(|entry| !self.is_authors_delivery(entry));
            let newest = entries.iter().filter(|entry| entry.observed().is_some()).max_by_key(|entry| entry.decision);
            let newest = newest.map(|entry| entry.decision);
            for entry in &entries {
                add_entry(entry.describe_short(newest == Some(entry.decision)), &mut parts, &mut whole);
            }
            if !group.notes.is_empty() {
                let notes: Vec<String> = group.notes.iter().map(|note| format!("- {}", data::line(note))).collect();
                parts.push(SectionPart {
                    head: "\nnotes:\n".to_owned(),
                    body: notes.join("\n"),
                    ..SectionPart::default()
                });
                whole.push(format!("notes:\n{}", notes.join("\n")));
            }
            if !parts.is_empty() {
                let heading = format!("Your group depends on `{}` ({})", group.id, group.status().name());
                pieces.push(Section::of_parts(SectionKind::GroupReports, heading, parts).out_of(whole.join("\n\n")));
            }
        }
    }

    fn is_authors_delivery(&self, entry: &DossierEntry) -> bool {
        let RecordKey::Report { role, blocked: false, .. } = &entry.key else { return false };
        self.workflow.role_named(role).is_some_and(|ix| self.workflow.role(ix).author)
    }

    fn group_piece(&self, group: &Group) -> Section {
        let section = if needs_decision(group) { SectionKind::OpenGroups } else { SectionKind::GroupReports };
        let (mut parts, mut whole) = (Vec::new(), Vec::new());
        let mut entries: Vec<&DossierEntry> = self.dossier.reports_on(&group.id).collect();
        // The manager knows what was built. How it was judged is cut last.
        entries.sort_by_key(|entry| self.is_authors_delivery(entry));
        for entry in entries {
            let unnamed = self.shows_diff(entry).then(|| self.unnamed_files(entry));
            let text = entry.describe(Some(self.assignment.role.as_str()), unnamed.as_ref());
            add_entry(text, &mut parts, &mut whole);
        }
        let (old, old_whole) = self.superseded_texts(|entry| entry.group.as_ref() == Some(&group.id));
        if !old.is_empty() {
            parts.push(SectionPart { head: format!("\n{EARLIER_REPORTS}:\n"), ..SectionPart::default() });
            whole.push(format!("{EARLIER_REPORTS}:"));
        }
        parts.extend(old);
        whole.extend(old_whole);
        let heading = format!("Reports on group `{}` ({})", group.id, group.status().name());
        Section::of_parts(section, heading, parts).out_of(whole.join("\n\n"))
    }
}

/// One of several records in a section, under a heading of its own.
fn add_entry(text: EntryText, parts: &mut Vec<SectionPart>, whole: &mut Vec<String>) {
    let gap = if parts.last().is_none_or(|last| last.head.ends_with(":\n")) { "" } else { "\n" };
    parts.push(SectionPart { head: format!("{gap}[{}]", text.heading), ..SectionPart::default() });
    parts.extend(text.shown);
    whole.push(format!("[{}]\n{}", text.heading, text.whole));
}

fn verdict(judgement: &CompletionJudgement) -> Section {
    let word = match judgement.verdict {
        CompletionVerdict::Accept => "ACCEPT",
        CompletionVerdict::Reject => "REJECT",
    };
    let line = |reason: &interlock_core::decision::JudgementReason| {
        let group = reason.group.as_ref().map(|group| format!(" {group}:")).unwrap_or_default();
        format!("- {}{group} {}", reason.code, data::line(&reason.text))
    };
    let lines: Vec<String> = judgement.reasons.iter().map(line).collect();
    let text = if lines.is_empty() { "(no reasons)".to_owned() } else { lines.join("\n") };
    let piece = Section::data(SectionKind::Verdict, format!("The validator's verdict: {word}"), text);
    match judgement.verdict {
        CompletionVerdict::Accept => piece,
        CompletionVerdict::Reject => piece.lead("The session ends only when each of these is resolved."),
    }
}
