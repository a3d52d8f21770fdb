//! One review, applied to the findings of its group.
//!
//! A finding ends explicitly: its reviewer confirms the fix, accepts the rejection or drops it. Leaving it out is enough
//! only where the author answered `fixed`. Everything else stays open, so that no review forgets an unanswered finding.
//! A restatement with `blocking: false` ends nothing: otherwise a reviewer could end a finding by lowering it.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use crate::code::Code;
use crate::decision::Warning;
use crate::handoff::{FindingResponse, FindingSeverity, Handoff, ResponseKind, ReviewIssue};
use crate::id::Name;
use crate::state::{Finding, FindingStatus, Group};

/// The findings while a review is applied. A finding is copied where the review moves it.
pub(super) struct FindingsReview<'g> {
    handoff: &'g Handoff,
    group: &'g Group,
    pub(super) findings: Vec<Cow<'g, Finding>>,
    /// Places by `location|title`, so that a review of thousands of findings stays linear.
    by_identity: BTreeMap<(String, String), Vec<usize>>,
    /// Places of the reporter's own findings by id, oldest first.
    own_by_id: BTreeMap<Name, Vec<usize>>,
    /// The role has reviewed this group before.
    later: bool,
    raised: BTreeSet<usize>,
    /// Places that this review lists, also those that it would only lower.
    listed: BTreeSet<usize>,
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

impl<'g> FindingsReview<'g> {
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
            group,
            findings: group.findings.iter().map(Cow::Borrowed).collect(),
            by_identity,
            own_by_id,
            later: group.reviewers.contains(&handoff.role),
            raised: BTreeSet::new(),
            listed: BTreeSet::new(),
            raised_blocking: 0,
            held_back: 0,
            raised_again: false,
            insists: false,
            unresolved: Vec::new(),
            warnings: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// Applies the reviewer's verdicts on its earlier findings. Ids belong to the reviews of this role: another
    /// reviewer may use the same ids.
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
                let Some(finding) = self.findings.get_mut(index) else { continue };
                let title = &finding.title;
                let note = format!("{} dropped {} ({title}): {}", handoff.role, dropped.id, dropped.reason);
                self.notes.push(Name::from(note));
                finding.to_mut().dropped_because = Some(dropped.reason.clone());
            }
        }
    }

    /// An accepted rejection settles the finding for good, also where the reviewer had raised it before. Without an answer
    /// that can be accepted the finding stays open: otherwise a reviewer could end one that its author never looked at.
    fn accept_rejection(&mut self, id: &Name) {
        let Some(last) = self.own_open(id).last().copied() else {
            return self.warn_not_open("rejections_accepted", id);
        };
        let answer = self.findings.get(last).and_then(|finding| finding.response.as_ref());
        let is_acceptable =
            |answer: &FindingResponse| matches!(answer.response, ResponseKind::Rejected | ResponseKind::Deferred);
        if !answer.is_some_and(is_acceptable) {
            let state = answer.map_or("did not answer it".to_owned(), |a| format!("answered `{}`", a.response.name()));
            let text =
                format!("`rejections_accepted` names {id}, and its author {state}: there is no rejection to accept");
            return self.warnings.push(Warning::coded(Code::UnresolvedRejection, text));
        }
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
            self.listed.insert(place);
            if !issue.blocking {
                let lowered = self.findings.get(place).is_some_and(|finding| finding.is_blocking());
                if !lowered {
                    self.raised.insert(place);
                }
                continue;
            }
            self.raised.insert(place);
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
    fn raise(&mut self, issue: &ReviewIssue) -> usize {
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
        let blocks = |index: &usize| self.findings.get(*index).is_some_and(|finding| finding.is_blocking());
        if let Some(index) = known.filter(|index| !issue.blocking && blocks(index)) {
            self.keep_blocking(index, issue);
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
            accepted_as_is_by: None,
            escalated_to: None,
            dropped_because: None,
        });
        let place = known.unwrap_or(self.findings.len());
        match self.findings.get_mut(place) {
            Some(old) => *old = finding,
            None => self.findings.push(finding),
        }
        place
    }

    /// The review restates an open blocking finding with `blocking: false`. Its severity and id change, no more. A
    /// finding that is listed is there, so an answer `fixed` no longer lets the review leave it out.
    fn keep_blocking(&mut self, index: usize, issue: &ReviewIssue) {
        self.refute_response(index);
        let Some(finding) = self.findings.get_mut(index) else { return };
        let finding = finding.to_mut();
        finding.severity = issue.severity;
        finding.id = issue.id.clone();
        let text = format!(
            "{} stays blocking: `blocking: false` does not end it; end it by its id in `fixes_confirmed` or `findings_dropped`",
            issue.id
        );
        self.warnings.push(Warning::plain(text));
    }

    fn note_raised_again(&mut self, issue: &ReviewIssue) {
        if issue.blocking {
            let note = format!("{} was raised again after its rejection was accepted: {}", issue.id, issue.title);
            self.notes.push(Name::from(note.clone()));
            self.warnings.push(Warning::coded(Code::ReRaised, note));
        }
    }

    fn is_late_and_minor(&mut self, issue: &ReviewIssue, known: Option<usize>) -> bool {
        let minor = matches!(issue.severity, FindingSeverity::Medium | FindingSeverity::Low);
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

    /// Gives a finding of this review an id of its own where another open finding has that id. Answers and verdicts name
    /// findings by id, so one id for two findings would end both at once.
    pub(super) fn separate_ids(&mut self) {
        let is_open = |finding: &Finding| finding.status == FindingStatus::Open;
        let others = self.findings.iter().enumerate().filter(|(index, f)| is_open(f) && !self.listed.contains(index));
        let others: BTreeMap<Name, usize> = others.map(|(index, finding)| (finding.id.clone(), index)).collect();
        let clashes = self.listed.iter().copied().filter_map(|index| {
            let finding = self.findings.get(index).filter(|finding| is_open(finding))?;
            others.get(&finding.id).map(|other| (index, *other))
        });
        let clashes: Vec<(usize, usize)> = clashes.collect();
        if clashes.is_empty() {
            return;
        }
        let listed = self.handoff.issues.iter().flatten().map(|issue| &issue.id);
        let mut taken: BTreeSet<Name> = listed.chain(others.keys()).cloned().collect();
        for (index, other) in clashes {
            let stored = self.group.findings.get(index).map(|finding| &finding.id);
            let kept = stored.filter(|id| !taken.contains(*id)).cloned();
            let Some(finding) = self.findings.get(index) else { continue };
            let id = kept.unwrap_or_else(|| unused_id(&finding.id, &taken, &self.group.findings));
            taken.insert(id.clone());
            self.rename(index, other, &id);
        }
    }

    fn rename(&mut self, index: usize, other: usize, id: &Name) {
        let known = self.findings.get(other).map(|finding| format!("{} ({})", finding.title, finding.location));
        let (Some(known), Some(finding)) = (known, self.findings.get_mut(index)) else { return };
        let finding = finding.to_mut();
        let old = std::mem::replace(&mut finding.id, id.clone());
        let text = format!(
            "`{old}` is the id of an open finding: {known}; {} ({}) gets the id `{id}`",
            finding.title, finding.location
        );
        self.warnings.push(Warning::coded(Code::RepeatedId, text));
    }
}

/// `F1-2`, or the next number that no finding of the group and no issue of the review has.
fn unused_id(id: &Name, taken: &BTreeSet<Name>, findings: &[Finding]) -> Name {
    let known: BTreeSet<&Name> = findings.iter().map(|finding| &finding.id).collect();
    let mut number: u32 = 2;
    loop {
        let candidate = Name::from(format!("{id}-{number}"));
        if number == u32::MAX || !taken.contains(&candidate) && !known.contains(&candidate) {
            return candidate;
        }
        number = number.saturating_add(1);
    }
}
