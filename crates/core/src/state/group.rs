//! A group: a unit of work inside a session.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::handoff::{FindingResponse, FindingSeverity, PlannedGroup, ResponseKind, ReviewIssue};
use crate::id::{DecisionId, Name};
use crate::naming::shown_person;
use crate::observed::GroupDiff;
use crate::state::lane::Lane;

/// Notes kept for each group.
const MOST_NOTES: usize = 100;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "end", rename_all = "snake_case")]
pub enum GroupEnd {
    Completed,
    Deferred { why: Name, by: Name, acknowledged: Option<Name> },
    Cancelled { by: Name },
}

/// Why a group may be completed without evidence that it needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExcuseKind {
    /// A person waived it for this tree.
    Waived,
    /// The role that passes it was blocked on this tree, and an approval came afterwards.
    Blocked,
    /// The author reported that there is nothing to do.
    NothingToDo,
}

impl ExcuseKind {
    pub const fn name(self) -> &'static str {
        match self {
            ExcuseKind::Waived => "waived",
            ExcuseKind::Blocked => "blocked",
            ExcuseKind::NothingToDo => "nothing_to_do",
        }
    }
}

/// Evidence that a group does without. It counts only once the group is accepted, and for one tree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Excuse {
    /// The evidence, by its name.
    pub evidence: Name,
    pub kind: ExcuseKind,
    pub by: Name,
    pub why: Name,
}

impl std::fmt::Display for Excuse {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { evidence, kind, by, why } = self;
        // A reason with line breaks must not look like a line of its own.
        let why = why.split_whitespace().collect::<Vec<_>>().join(" ");
        match kind {
            ExcuseKind::Waived => write!(f, "`{evidence}` was waived by {by} ({why})", by = shown_person(by)),
            ExcuseKind::Blocked => {
                write!(f, "`{evidence}` was not passed ({why}); {by} approved without it", by = shown_person(by))
            }
            ExcuseKind::NothingToDo => write!(f, "nothing to do, reported by {by} ({why})", by = shown_person(by)),
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GroupProgress {
    #[default]
    Pending,
    Working,
    /// Done with its phases; waits for the other groups before a phase of the session.
    Arrived,
    AwaitingConfirmation,
    Ended(GroupEnd),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FindingStatus {
    Open,
    /// Ended by who raised it: the fix is confirmed, or the finding is dropped.
    Closed,
    /// Its rejection was accepted: settled once and for good.
    Accepted,
}

/// Failing tests that a report stated although its status lets the work go on, and that no measure counts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailureStatement {
    pub by: Name,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub phase: Option<Name>,
    pub status: Name,
    pub tests: Vec<Name>,
}

/// As `tool-developer with `complete`: login > locks`, on one line.
impl std::fmt::Display for FailureStatement {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let tests = self.tests.iter().take(MOST_TESTS_SHOWN).map(Name::as_str).collect::<Vec<_>>().join(", ");
        let more = self.tests.len().saturating_sub(MOST_TESTS_SHOWN);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let text = format!("{} with `{}`: {tests}{more}", self.by, self.status);
        // Line breaks in the name of a test must not look like a line of their own.
        f.write_str(&text.split_whitespace().collect::<Vec<_>>().join(" "))
    }
}

const MOST_TESTS_SHOWN: usize = 20;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// As last raised; ids change from one review to the next.
    pub id: Name,
    pub location: Name,
    pub title: Name,
    pub severity: FindingSeverity,
    pub blocking: bool,
    pub raised_by: Name,
    pub status: FindingStatus,
    pub response: Option<FindingResponse>,
    /// The reviewer raised it again after this response, so the response ends nothing.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub response_refuted: bool,
    /// The role or person that accepted the group while this blocked. `None` where its reviewer settled it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub accepted_as_is_by: Option<Name>,
    /// The role that decides about it: the review loop escalated to it while this was open.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub escalated_to: Option<Name>,
    /// Why its reviewer dropped it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub dropped_because: Option<Name>,
}

impl Finding {
    /// Identity across reviews: `location|title`.
    pub fn same_as(&self, location: &str, title: &str) -> bool {
        same_words(&self.location, location) && same_words(&self.title, title)
    }

    /// It is open, just as it is raised again, and no response has to be refuted.
    pub(crate) fn stands_as(&self, issue: &ReviewIssue, blocking: bool) -> bool {
        self.status == FindingStatus::Open
            && self.blocking == blocking
            && self.severity == issue.severity
            && self.id == issue.id
            && self.location == issue.location
            && self.title == issue.title
            && self.escalated_to.is_none()
            && (self.response.is_none() || self.response_refuted)
    }

    pub fn is_blocking(&self) -> bool {
        self.status == FindingStatus::Open && self.blocking
    }

    /// It blocks, and neither its author has answered since it was last raised nor was it escalated to this role.
    pub fn is_unanswered_for(&self, role: &Name) -> bool {
        let answered = self.response.is_some() && !self.response_refuted;
        self.is_blocking() && !answered && self.escalated_to.as_ref() != Some(role)
    }

    /// Open and serious, although its reviewer lets the work pass: the manager has to know of it.
    pub fn is_serious_remark(&self) -> bool {
        let serious = matches!(self.severity, FindingSeverity::Critical | FindingSeverity::High);
        self.status == FindingStatus::Open && !self.blocking && serious
    }

    /// The author's last word on it is `fixed`, and its reviewer has not contradicted that.
    pub fn is_answered_fixed(&self) -> bool {
        let fixed = self.response.as_ref().is_some_and(|response| response.response == ResponseKind::Fixed);
        fixed && !self.response_refuted
    }

    /// `location|title`, with one space between the words: equal for findings that are the same.
    pub(crate) fn identity(location: &str, title: &str) -> (String, String) {
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        (words(location), words(title))
    }
}

/// Compares two texts by their words, ignoring whitespace. A first difference inside a word settles it early.
fn same_words(a: &str, b: &str) -> bool {
    if a == b {
        return true;
    }
    match a.chars().zip(b.chars()).find(|(a, b)| a != b) {
        Some((a, b)) if !a.is_whitespace() && !b.is_whitespace() => false,
        None | Some(_) => a.split_whitespace().eq(b.split_whitespace()),
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GroupStatus {
    Pending,
    InProgress,
    Blocked,
    AwaitingPerson,
    AwaitingConfirmation,
    DeferredExternal,
    Merging,
    Completed,
    Cancelled,
}

impl GroupStatus {
    pub const ALL: &'static [GroupStatus] = &[
        GroupStatus::Pending,
        GroupStatus::InProgress,
        GroupStatus::Blocked,
        GroupStatus::AwaitingPerson,
        GroupStatus::AwaitingConfirmation,
        GroupStatus::DeferredExternal,
        GroupStatus::Merging,
        GroupStatus::Completed,
        GroupStatus::Cancelled,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            GroupStatus::Pending => "pending",
            GroupStatus::InProgress => "in_progress",
            GroupStatus::Blocked => "blocked",
            GroupStatus::AwaitingPerson => "awaiting_person",
            GroupStatus::AwaitingConfirmation => "awaiting_confirmation",
            GroupStatus::DeferredExternal => "deferred_external",
            GroupStatus::Merging => "merging",
            GroupStatus::Completed => "completed",
            GroupStatus::Cancelled => "cancelled",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Group {
    pub id: Name,
    pub title: Name,
    pub flags: BTreeMap<Name, Name>,
    pub depends_on: Vec<Name>,
    pub checks: Vec<Vec<Name>>,
    /// The role or person that planned it; unknown in sessions of older versions.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub planned_by: Option<Name>,
    pub progress: GroupProgress,
    pub lane: Lane,
    /// The author role that last had work on it.
    pub author: Option<Name>,
    /// Evidence, for the tree as it is.
    pub passed: BTreeSet<Name>,
    pub gates_passed: BTreeSet<Name>,
    /// For each gate that passed, the tree it passed on.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub gate_trees: BTreeMap<Name, Name>,
    pub findings: Vec<Finding>,
    /// Roles that have reviewed it.
    pub reviewers: BTreeSet<Name>,
    /// Accepted since it was last blocked.
    pub confirmed: bool,
    /// The role or person that accepted it; unknown in sessions of older versions.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub accepted_by: Option<Name>,
    /// Evidence that this tree does without.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub excused: Vec<Excuse>,
    /// Evidence whose role sent this tree back.
    #[serde(skip_serializing_if = "BTreeSet::is_empty", default)]
    pub failed: BTreeSet<Name>,
    /// Trees that were sent back, with the evidence: their author may come back to one of them. The oldest are forgotten.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub failed_trees: Vec<(Name, Name)>,
    /// An author has delivered work on it.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub delivered: bool,
    pub failing_tests: Vec<Name>,
    /// Failing tests stated with a status of success, and not stated to pass since.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub stated_failures: Vec<FailureStatement>,
    /// A merge or a gate is on its way.
    pub merging: bool,
    /// For the manager.
    pub notes: Vec<Name>,
    /// The diff that Interlock observed with the last report; `None` where it did not start the author.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub diff: Option<GroupDiff>,
    /// It was merged, and everything in it was merged before.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub merge_is_empty: bool,
    /// The author that stated in its last report that nothing has to change.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub nothing_to_do: Option<Name>,
    /// The role that accepted that the group changes no file.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub accepted_unchanged: Option<Name>,
    /// Where the words lie that are not kept here.
    #[serde(default)]
    pub words: GroupTextSources,
}

/// The decisions whose reports have what agents wrote of a group. The words themselves lie beside the events, so that the
/// state does not grow with them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupTextSources {
    /// Of the plan.
    pub plan: DecisionId,
    /// For each finding, of the report that raised it as it stands.
    pub raised: Vec<DecisionId>,
    /// For each reviewer, of its last review.
    pub reviews: BTreeMap<Name, DecisionId>,
    /// For each reviewer, of the reviews before the last one, oldest first. The oldest are forgotten.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub earlier_reviews: BTreeMap<Name, Vec<DecisionId>>,
    /// How many reviews each reviewer has made.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub review_counts: BTreeMap<Name, u32>,
    /// For each finding whose response was refuted, in which review of its reviewer.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub refuted_in: BTreeMap<usize, u32>,
}

/// Reviews of one reviewer that a group remembers beside the last one.
const MOST_EARLIER_REVIEWS: usize = 16;

impl GroupTextSources {
    /// The decisions whose reports may have the words to a finding, newest first. A review that lists a finding without a
    /// description, or does not list it, leaves the earlier words in force.
    pub fn of_finding(&self, index: usize, raised_by: &str) -> impl Iterator<Item = DecisionId> {
        let last = self.reviews.get(raised_by).copied();
        let earlier = self.earlier_reviews.get(raised_by).into_iter().flatten().rev().copied();
        let raised = self.raised.get(index).copied();
        last.into_iter().chain(earlier).chain(raised).filter(|decision| *decision != DecisionId::default())
    }

    pub(super) fn review(&mut self, by: &Name, decision: DecisionId) {
        let last = self.reviews.insert(by.clone(), decision);
        if last == Some(decision) {
            return;
        }
        if let Some(last) = last {
            let earlier = self.earlier_reviews.entry(by.clone()).or_default();
            earlier.push(last);
            let forgotten = earlier.len().saturating_sub(MOST_EARLIER_REVIEWS);
            earlier.drain(..forgotten);
        }
        let count = self.review_counts.entry(by.clone()).or_default();
        *count = count.saturating_add(1);
    }

    pub(super) fn raise(&mut self, index: usize, decision: DecisionId) {
        if self.raised.len() <= index {
            self.raised.resize(index.saturating_add(1), DecisionId::default());
        }
        if let Some(raised) = self.raised.get_mut(index) {
            *raised = decision;
        }
    }
}

/// Trees with a failure that a group remembers.
const MOST_FAILED_TREES: usize = 32;

impl Group {
    pub fn planned(plan: &PlannedGroup) -> Self {
        Self {
            id: plan.id.clone(),
            title: plan.title.clone(),
            flags: plan.flags.clone(),
            depends_on: plan.depends_on.clone(),
            checks: plan.checks.clone(),
            planned_by: None,
            progress: GroupProgress::Pending,
            lane: Lane::default(),
            author: None,
            passed: BTreeSet::new(),
            gates_passed: BTreeSet::new(),
            gate_trees: BTreeMap::new(),
            findings: Vec::new(),
            reviewers: BTreeSet::new(),
            confirmed: false,
            accepted_by: None,
            excused: Vec::new(),
            failed: BTreeSet::new(),
            failed_trees: Vec::new(),
            delivered: false,
            failing_tests: Vec::new(),
            stated_failures: Vec::new(),
            merging: false,
            notes: Vec::new(),
            diff: None,
            merge_is_empty: false,
            nothing_to_do: None,
            accepted_unchanged: None,
            words: GroupTextSources::default(),
        }
    }

    pub fn status(&self) -> GroupStatus {
        match &self.progress {
            GroupProgress::Ended(GroupEnd::Completed) => GroupStatus::Completed,
            GroupProgress::Ended(GroupEnd::Deferred { .. }) => GroupStatus::DeferredExternal,
            GroupProgress::Ended(GroupEnd::Cancelled { .. }) => GroupStatus::Cancelled,
            GroupProgress::AwaitingConfirmation => GroupStatus::AwaitingConfirmation,
            GroupProgress::Pending => GroupStatus::Pending,
            GroupProgress::Working | GroupProgress::Arrived if self.lane.asks() => GroupStatus::AwaitingPerson,
            GroupProgress::Working | GroupProgress::Arrived if !self.lane.blocks.is_empty() => GroupStatus::Blocked,
            GroupProgress::Working if self.merging => GroupStatus::Merging,
            GroupProgress::Working | GroupProgress::Arrived => GroupStatus::InProgress,
        }
    }

    pub fn ended(&self) -> bool {
        matches!(self.progress, GroupProgress::Ended(_))
    }

    /// Keeps a note for the manager. The same note again adds nothing; the oldest are dropped first.
    pub(super) fn note(&mut self, note: &Name) {
        if self.notes.contains(note) {
            return;
        }
        let excess = self.notes.len().saturating_add(1).saturating_sub(MOST_NOTES);
        self.notes.drain(..excess);
        self.notes.push(note.clone());
    }

    pub(super) fn pass_evidence(&mut self, name: &Name) {
        self.passed.insert(name.clone());
        self.failed.remove(name);
        if let Some(diff) = &self.diff {
            self.failed_trees.retain(|(failed, tree)| failed != name || *tree != diff.tree);
        }
    }

    /// The acceptance of the group relied on this evidence, so it is withdrawn as well.
    pub(super) fn void_pass(&mut self, name: &Name) {
        self.passed.remove(name);
        self.withdraw_confirmation();
    }

    pub(super) fn fail_evidence(&mut self, name: &Name) {
        self.failed.insert(name.clone());
        let Some(tree) = self.diff.as_ref().map(|diff| diff.tree.clone()) else { return };
        let failed = (name.clone(), tree);
        if !self.failed_trees.contains(&failed) {
            let excess = self.failed_trees.len().saturating_sub(MOST_FAILED_TREES.saturating_sub(1));
            self.failed_trees.drain(..excess);
            self.failed_trees.push(failed);
        }
    }

    /// Evidence that failed on this tree before.
    pub(crate) fn failures_of_tree<'a>(&'a self, tree: &'a Name) -> impl Iterator<Item = &'a Name> {
        self.failed_trees.iter().filter(move |(_, failed)| failed == tree).map(|(name, _)| name)
    }

    /// An acceptance does not cover evidence that is excused after it.
    pub(super) fn excuse(&mut self, excuse: &Excuse) {
        self.excused.retain(|known| known.evidence != excuse.evidence);
        self.excused.push(excuse.clone());
        self.withdraw_confirmation();
    }

    pub(super) fn confirm(&mut self, by: Option<&Name>) {
        self.confirmed = true;
        self.accepted_by = by.cloned();
    }

    pub(super) fn withdraw_confirmation(&mut self) {
        self.confirmed = false;
        self.accepted_by = None;
    }

    /// Nothing that is recorded about this tree says anything of the next one.
    pub(super) fn lapse_evidence(&mut self) {
        self.passed.clear();
        self.gates_passed.clear();
        self.gate_trees.clear();
        self.excused.clear();
        self.failed.clear();
        self.accepted_unchanged = None;
        self.withdraw_confirmation();
    }

    /// Something is recorded about this tree that does not apply to the next one.
    pub(crate) fn has_evidence(&self) -> bool {
        let judged = !self.excused.is_empty() || !self.failed.is_empty();
        judged || !self.passed.is_empty() || !self.gates_passed.is_empty()
    }

    /// The report that there is nothing to do, if that is why the group has no changes.
    pub fn nothing_to_do(&self) -> Option<&Excuse> {
        self.excused.iter().find(|excuse| excuse.kind == ExcuseKind::NothingToDo)
    }

    /// CRITICAL and HIGH findings that do not block, for the manager and the summary.
    pub fn serious_remarks(&self) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(|finding| finding.is_serious_remark())
    }

    pub fn blocking_findings(&self) -> u32 {
        u32::try_from(self.findings.iter().filter(|finding| finding.is_blocking()).count()).unwrap_or(u32::MAX)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::same_words;

    proptest! {
        #[test]
        fn words_are_compared_whatever_stands_between(a in "[ab\u{a0}\u{e9} \t]{0,6}", b in "[ab\u{a0}\u{e9} \t]{0,6}") {
            prop_assert_eq!(same_words(&a, &b), a.split_whitespace().eq(b.split_whitespace()));
        }
    }
}
