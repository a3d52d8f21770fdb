//! One review, applied to the findings of its group.
//!
//! A finding ends explicitly: its reviewer confirms the fix, accepts the rejection or drops it. Leaving it out is enough
//! only where the author answered `fixed`. Everything else stays open, so that no review forgets an unanswered finding.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use crate::code::Code;
use crate::decision::Warning;
use crate::handoff::{Grade, Handoff, Issue};
use crate::id::Name;
use crate::state::{Finding, FindingStatus, Group};

/// The findings while a review is applied. A finding is copied where the review moves it.
pub(super) struct LedgerReview<'g> {
    handoff: &'g Handoff,
    pub(super) findings: Vec<Cow<'g, Finding>>,
    /// Places by `location|title`, so that a review of thousands of findings stays linear.
    by_identity: BTreeMap<(String, String), Vec<usize>>,
    /// Places of the reporter's own findings by id, oldest first.
    own_by_id: BTreeMap<Name, Vec<usize>>,
    /// The role has reviewed this group before.
    later: bool,
    raised: BTreeSet<usize>,
    /// Issues of this review that block.
    pub(super) raised_blocking: u32,
    /// Issues that the review calls blocking and that cannot block.
    pub(super) held_back: u32,
    pub(super) raised_again: bool,
    /// The reviewer says that something of its own is still wrong.
    pub(super) insists: bool,
    pub(super) unresolved: Vec<usize>,
    pub(super) warnings: Vec<Warning>,
    pub(super) notes: Vec<Name>,
}

impl<'g> LedgerReview<'g> {
    pub(super) fn new(group: &'g Group, handoff: &'g Handoff) -> Self {
        let mut by_identity: BTreeMap<_, Vec<usize>> = BTreeMap::new();
        let mut own_by_id: BTreeMap<_, Vec<usize>> = BTreeMap::new();
        for (index, finding) in group.findings.iter().enumerate() {
            by_identity.entry(Finding::identity(&finding.location, &finding.title)).or_default().push(index);
            if finding.raised_by == handoff.role {
                own_by_id.entry(finding.id.clone()).or_default().push(index);
            }
        }
        Self {
            handoff,
            findings: group.findings.iter().map(Cow::Borrowed).collect(),
            by_identity,
            own_by_id,
            later: group.reviewers.contains(&handoff.role),
            raised: BTreeSet::new(),
            raised_blocking: 0,
            held_back: 0,
            raised_again: false,
            insists: false,
            unresolved: Vec::new(),
            warnings: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// What the reviewer says about its earlier findings. Ids are those of this role's reviews: another reviewer's may
    /// be the same.
    pub(super) fn apply_verdicts(&mut self) {
        let handoff = self.handoff;
        for id in &handoff.tracking.rejections_accepted {
            self.accept_rejection(id);
        }
        for id in &handoff.tracking.rejections_overruled {
            let open = self.own_open(id);
            if open.is_empty() {
                self.warn_not_open("rejections_overruled", id);
            }
            for index in open {
                self.refute_response(index);
            }
        }
        for id in &handoff.tracking.fixes_confirmed {
            self.close_own("fixes_confirmed", id);
        }
        for dropped in &handoff.tracking.findings_dropped {
            for index in self.close_own("findings_dropped", &dropped.id) {
                let title = self.findings.get(index).map_or("", |finding| finding.title.as_str());
                let note = format!("{} dropped {} ({title}): {}", handoff.role, dropped.id, dropped.reason);
                self.notes.push(Name::from(note));
            }
        }
    }

    /// An accepted rejection settles the finding for good, also where the reviewer had raised it before.
    fn accept_rejection(&mut self, id: &Name) {
        let Some(last) = self.own_open(id).last().copied() else {
            return self.warn_not_open("rejections_accepted", id);
        };
        let identity = self.findings.get(last).map(|finding| Finding::identity(&finding.location, &finding.title));
        let same = identity.and_then(|identity| self.by_identity.get(&identity)).cloned().unwrap_or_default();
        for index in same {
            if let Some(finding) = self.findings.get_mut(index).filter(|f| f.raised_by == self.handoff.role) {
                finding.to_mut().status = FindingStatus::Accepted;
            }
        }
    }

    fn close_own(&mut self, field: &str, id: &Name) -> Vec<usize> {
        let open = self.own_open(id);
        if open.is_empty() {
            self.warn_not_open(field, id);
        }
        for index in &open {
            if let Some(finding) = self.findings.get_mut(*index) {
                finding.to_mut().status = FindingStatus::Closed;
            }
        }
        open
    }

    /// The reporter's own open findings of this id, oldest first.
    fn own_open(&self, id: &Name) -> Vec<usize> {
        let places = self.own_by_id.get(id).map_or(&[][..], Vec::as_slice);
        let open = |index: &usize| self.findings.get(*index).is_some_and(|f| f.status == FindingStatus::Open);
        places.iter().copied().filter(open).collect()
    }

    fn warn_not_open(&mut self, field: &str, id: &Name) {
        let text = format!("`{field}` names {id}, which is not open in a review of {}", self.handoff.role);
        self.warnings.push(Warning::coded(Code::UnresolvedRejection, text));
    }

    fn refute_response(&mut self, index: usize) {
        if let Some(finding) = self.findings.get_mut(index).filter(|f| f.response.is_some() && !f.response_refuted) {
            finding.to_mut().response_refuted = true;
        }
    }

    pub(super) fn raise_issues(&mut self) {
        for issue in self.handoff.issues.iter().flatten() {
            let place = self.raise(issue);
            self.raised.insert(place);
            if !issue.blocking {
                continue;
            }
            let Some(finding) = self.findings.get(place) else { continue };
            if finding.is_blocking() {
                self.raised_blocking = self.raised_blocking.saturating_add(1);
            } else {
                self.held_back = self.held_back.saturating_add(1);
            }
            self.raised_again |= finding.status == FindingStatus::Accepted;
        }
        self.insists |= self.raised_blocking > 0;
    }

    /// Enters one issue and returns its place. Across reviews `location|title` tells findings apart. An accepted
    /// rejection holds for every reviewer. An open finding belongs to its reviewer, so that no other role can end it.
    fn raise(&mut self, issue: &Issue) -> usize {
        let identity = Finding::identity(&issue.location, &issue.title);
        let same = self.by_identity.get(&identity).map_or(&[][..], Vec::as_slice);
        let is_own = |index: &usize| {
            let own = |finding: &Cow<'_, Finding>| finding.raised_by == self.handoff.role;
            !self.raised.contains(index) && self.findings.get(*index).is_some_and(own)
        };
        let has_status = |index: &usize, status| self.findings.get(*index).is_some_and(|f| f.status == status);
        let stands = same.iter().any(|index| is_own(index) && has_status(index, FindingStatus::Open));
        let settled = same.iter().copied().find(|index| has_status(index, FindingStatus::Accepted));
        let known = same.iter().copied().find(is_own);
        if let Some(index) = settled.filter(|_| !stands) {
            self.note_raised_again(issue);
            return index;
        }
        let blocking = issue.blocking && !self.is_late_and_minor(issue, known);
        let old = known.and_then(|index| self.findings.get(index));
        if let Some(index) = known.filter(|_| old.is_some_and(|old| old.stands_as(issue, blocking))) {
            return index;
        }
        let response = old.and_then(|old| old.response.clone());
        let finding = Cow::Owned(Finding {
            id: issue.id.clone(),
            location: issue.location.clone(),
            title: issue.title.clone(),
            severity: issue.severity,
            blocking,
            raised_by: self.handoff.role.clone(),
            status: FindingStatus::Open,
            response_refuted: response.is_some(),
            response,
        });
        let place = known.unwrap_or(self.findings.len());
        match self.findings.get_mut(place) {
            Some(old) => *old = finding,
            None => self.findings.push(finding),
        }
        place
    }

    fn note_raised_again(&mut self, issue: &Issue) {
        if issue.blocking {
            let note = format!("{} was raised again after its rejection was accepted: {}", issue.id, issue.title);
            self.notes.push(Name::from(note.clone()));
            self.warnings.push(Warning::coded(Code::ReRaised, note));
        }
    }

    fn is_late_and_minor(&mut self, issue: &Issue, known: Option<usize>) -> bool {
        let minor = matches!(issue.severity, Grade::Medium | Grade::Low);
        let late = known.is_none() && self.later && minor && issue.blocking;
        if late {
            let text = format!("{} is new and minor: it cannot block after the first review", issue.id);
            self.warnings.push(Warning::coded(Code::LateNitpick, text));
        }
        late
    }

    /// The reporter's own open findings that this review does not name. `restated`: the review lists what is open.
    pub(super) fn end_what_is_omitted(&mut self, restated: bool) {
        let overruled: BTreeSet<&Name> = self.handoff.tracking.rejections_overruled.iter().collect();
        for (index, finding) in self.findings.iter_mut().enumerate() {
            if finding.status != FindingStatus::Open || finding.raised_by != self.handoff.role {
                continue;
            }
            let named = overruled.contains(&finding.id);
            self.insists |= named && finding.blocking;
            if !restated || named || self.raised.contains(&index) {
                continue;
            }
            if finding.is_answered_fixed() {
                finding.to_mut().status = FindingStatus::Closed;
            } else if finding.blocking {
                self.unresolved.push(index);
            }
        }
    }
}
