//! A group: a unit of work inside a session.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::handoff::{Answer, Grade, Issue, PlannedGroup, Response};
use crate::id::{DecisionId, Name};
use crate::state::lane::Lane;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "end", rename_all = "snake_case")]
pub enum End {
    Completed,
    Deferred { why: Name, by: Name, acknowledged: Option<Name> },
    Cancelled { by: Name },
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Progress {
    #[default]
    Pending,
    Working,
    /// Done with its phases; waits for the other groups before a phase of the session.
    Arrived,
    AwaitingConfirmation,
    Ended(End),
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

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// As last raised; ids change from one review to the next.
    pub id: Name,
    pub location: Name,
    pub title: Name,
    pub severity: Grade,
    pub blocking: bool,
    pub raised_by: Name,
    pub status: FindingStatus,
    pub response: Option<Response>,
    /// The reviewer raised it again after this response, so the response ends nothing.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub response_refuted: bool,
}

impl Finding {
    /// Identity across reviews: `location|title`.
    pub fn same_as(&self, location: &str, title: &str) -> bool {
        same_words(&self.location, location) && same_words(&self.title, title)
    }

    /// It is open, just as it is raised again, and no response has to be refuted.
    pub(crate) fn stands_as(&self, issue: &Issue, blocking: bool) -> bool {
        self.status == FindingStatus::Open
            && self.blocking == blocking
            && self.severity == issue.severity
            && self.id == issue.id
            && self.location == issue.location
            && self.title == issue.title
            && (self.response.is_none() || self.response_refuted)
    }

    pub fn is_blocking(&self) -> bool {
        self.status == FindingStatus::Open && self.blocking
    }

    /// Open and serious, although its reviewer lets the work pass: the manager has to know of it.
    pub fn is_serious_remark(&self) -> bool {
        let serious = matches!(self.severity, Grade::Critical | Grade::High);
        self.status == FindingStatus::Open && !self.blocking && serious
    }

    /// The author's last word on it is `fixed`, and its reviewer has not contradicted that.
    pub fn is_answered_fixed(&self) -> bool {
        let fixed = self.response.as_ref().is_some_and(|response| response.response == Answer::Fixed);
        fixed && !self.response_refuted
    }

    /// `location|title`, with one space between the words: equal for findings that are the same.
    pub(crate) fn identity(location: &str, title: &str) -> (String, String) {
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        (words(location), words(title))
    }
}

/// Whatever stands between the words. Two texts that first differ inside a word are told apart there.
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
    pub progress: Progress,
    pub lane: Lane,
    /// The author role that last had work on it.
    pub author: Option<Name>,
    /// Evidence, for the tree as it is.
    pub passed: BTreeSet<Name>,
    pub gates_passed: BTreeSet<Name>,
    pub findings: Vec<Finding>,
    /// Roles that have reviewed it.
    pub reviewers: BTreeSet<Name>,
    /// Accepted since it was last blocked.
    pub confirmed: bool,
    pub failing_tests: Vec<Name>,
    /// A merge or a gate is on its way.
    pub merging: bool,
    /// For the manager.
    pub notes: Vec<Name>,
    /// Where the words lie that are not kept here.
    #[serde(default)]
    pub words: Words,
}

/// The decisions whose reports have what agents wrote of a group. The words themselves lie beside the events, so that the
/// state does not grow with them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Words {
    /// Of the plan.
    pub plan: DecisionId,
    /// For each finding, of the report that raised it as it stands.
    pub raised: Vec<DecisionId>,
    /// For each reviewer, of its last review.
    pub reviews: BTreeMap<Name, DecisionId>,
}

impl Words {
    /// The decisions whose reports may have the words to a finding: the last review first, which may say it anew.
    pub fn of_finding(&self, index: usize, raised_by: &str) -> impl Iterator<Item = DecisionId> {
        let last = self.reviews.get(raised_by).copied();
        let raised = self.raised.get(index).copied();
        last.into_iter().chain(raised).filter(|decision| *decision != DecisionId::default())
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

impl Group {
    pub(crate) fn planned(plan: &PlannedGroup) -> Self {
        Self {
            id: plan.id.clone(),
            title: plan.title.clone(),
            flags: plan.flags.clone(),
            depends_on: plan.depends_on.clone(),
            checks: plan.checks.clone(),
            progress: Progress::Pending,
            lane: Lane::default(),
            author: None,
            passed: BTreeSet::new(),
            gates_passed: BTreeSet::new(),
            findings: Vec::new(),
            reviewers: BTreeSet::new(),
            confirmed: false,
            failing_tests: Vec::new(),
            merging: false,
            notes: Vec::new(),
            words: Words::default(),
        }
    }

    pub fn status(&self) -> GroupStatus {
        match &self.progress {
            Progress::Ended(End::Completed) => GroupStatus::Completed,
            Progress::Ended(End::Deferred { .. }) => GroupStatus::DeferredExternal,
            Progress::Ended(End::Cancelled { .. }) => GroupStatus::Cancelled,
            Progress::AwaitingConfirmation => GroupStatus::AwaitingConfirmation,
            Progress::Pending => GroupStatus::Pending,
            Progress::Working | Progress::Arrived if self.lane.asks() => GroupStatus::AwaitingPerson,
            Progress::Working | Progress::Arrived if !self.lane.blocks.is_empty() => GroupStatus::Blocked,
            Progress::Working if self.merging => GroupStatus::Merging,
            Progress::Working | Progress::Arrived => GroupStatus::InProgress,
        }
    }

    pub fn ended(&self) -> bool {
        matches!(self.progress, Progress::Ended(_))
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
