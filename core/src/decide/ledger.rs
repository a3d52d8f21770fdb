//! Findings and failing tests, as this report leaves them.
//!
//! The reviewer's reports move the ledger. What an author claims is kept, compared
//! and warned about, never counted.

use std::borrow::Cow;

use crate::code::Code;
use crate::decision::Warning;
use crate::handoff::{Grade, Handoff, Issue};
use crate::id::Name;
use crate::state::{Finding, FindingStatus, Group};
use crate::workflow::Measure;

/// The ledger after the report, before anything is stored.
#[derive(Default)]
pub(crate) struct Ledger {
    blocking: u32,
    failing: u32,
    /// The report said which findings are open.
    reviewed: bool,
    /// The report said which tests fail.
    tested: bool,
    /// The report calls findings blocking, and none of them can block.
    pub(crate) settled: bool,
    /// One of those was settled before.
    pub(crate) raised_again: bool,
    pub(crate) moves: Vec<(u32, Finding)>,
    pub(crate) tests: Option<Vec<Name>>,
    pub(crate) warnings: Vec<Warning>,
    pub(crate) notes: Vec<Name>,
}

/// What a report has to do with a measure.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Bearing {
    /// Nothing: what it says of it is kept, not counted.
    #[default]
    None,
    /// It counts in the loop; saying nothing leaves the measure as it was.
    Counts,
    /// It approves, or leaves the stage: saying nothing says that nothing is open.
    Restates,
}

/// What a report has to do with each measure.
#[derive(Clone, Copy, Default)]
pub(crate) struct Bearings {
    pub(crate) findings: Bearing,
    pub(crate) tests: Bearing,
}

impl Ledger {
    /// The ledger where nothing is reported.
    pub(crate) fn of(group: Option<&Group>) -> Self {
        let failing = group.map_or(0, |group| count(group.failing_tests.len()));
        Self { blocking: group.map_or(0, Group::blocking_findings), failing, ..Self::default() }
    }

    pub(crate) fn open(&self, measure: Measure) -> u32 {
        match measure {
            Measure::BlockingFindings => self.blocking,
            Measure::FailingTests => self.failing,
        }
    }

    /// The measure, if this report or the ledger shows one.
    pub(crate) fn measured(&self, measure: Measure) -> Option<u32> {
        let stated = match measure {
            Measure::BlockingFindings => self.reviewed,
            Measure::FailingTests => self.tested,
        };
        stated.then(|| self.open(measure))
    }

    /// Takes in what a report says of a group.
    pub(crate) fn after(group: &Group, handoff: &Handoff, bearings: Bearings) -> Self {
        let mut ledger = Self::of(Some(group));
        let verdicts = &handoff.tracking;
        let tracks = !verdicts.rejections_accepted.is_empty() || !verdicts.rejections_overruled.is_empty();
        let raises = handoff.issues.as_ref().is_some_and(|issues| !issues.is_empty());
        match bearings.findings {
            Bearing::None if tracks || raises => {
                let text =
                    format!("`{}` of {} is no review: its findings are kept, not counted", handoff.said, handoff.role);
                ledger.warnings.push(Warning::coded(Code::NotAReview, text));
            }
            Bearing::None => {}
            Bearing::Counts if handoff.issues.is_none() && !tracks => {}
            Bearing::Counts => ledger.review(group, handoff, handoff.issues.is_some()),
            Bearing::Restates => ledger.review(group, handoff, true),
        }
        let says = handoff.failing_tests.is_some() && bearings.tests != Bearing::None;
        if says || bearings.tests == Bearing::Restates {
            let tests = handoff.failing_tests.clone().unwrap_or_default();
            ledger.failing = count(tests.len());
            ledger.tested = true;
            if tests != group.failing_tests {
                ledger.tests = Some(tests);
            }
        }
        ledger.compare_claims(group, handoff);
        ledger
    }

    /// A finding is copied where the report moves it; the others are looked at where they are.
    fn review(&mut self, group: &Group, handoff: &Handoff, restated: bool) {
        let mut findings: Vec<Cow<'_, Finding>> = group.findings.iter().map(Cow::Borrowed).collect();
        self.verdicts(&mut findings, handoff);
        let later = group.reviewers.contains(&handoff.role);
        let mut raised: Vec<usize> = Vec::new();
        let mut blocked_anew = 0u32;
        let mut held_back = 0u32;
        for issue in handoff.issues.iter().flatten() {
            let place = self.raise(&mut findings, &raised, issue, handoff, later);
            raised.push(place);
            if !issue.blocking {
                continue;
            }
            match findings.get(place).is_some_and(|finding| finding.is_blocking()) {
                true => blocked_anew = blocked_anew.saturating_add(1),
                false => held_back = held_back.saturating_add(1),
            }
            self.raised_again |= findings.get(place).is_some_and(|finding| finding.status == FindingStatus::Accepted);
        }
        let overruled = &handoff.tracking.rejections_overruled;
        for (index, finding) in findings.iter_mut().enumerate().filter(|_| restated) {
            let own = finding.status == FindingStatus::Open && finding.raised_by == handoff.role;
            if own && !raised.contains(&index) && !overruled.contains(&finding.id) {
                finding.to_mut().status = FindingStatus::Closed;
            }
        }
        self.blocking = count(findings.iter().filter(|finding| finding.is_blocking()).count());
        self.reviewed = true;
        let own = |finding: &&Cow<'_, Finding>| finding.is_blocking() && finding.raised_by == handoff.role;
        self.settled = held_back > 0 && blocked_anew == 0 && findings.iter().find(own).is_none();
        let moved = findings.into_iter().enumerate().filter_map(|(index, finding)| match finding {
            Cow::Owned(new) if group.findings.get(index) != Some(&new) => Some((count(index), new)),
            Cow::Owned(_) | Cow::Borrowed(_) => None,
        });
        self.moves = moved.collect();
    }

    /// Rejections that the reviewer accepts or overrules, by the ids of the last review.
    fn verdicts(&mut self, findings: &mut [Cow<'_, Finding>], handoff: &Handoff) {
        // Ids are those of this role's last review: another reviewer's may be the same.
        let open = |finding: &Finding, id: &Name| {
            finding.raised_by == handoff.role && finding.id == *id && finding.status == FindingStatus::Open
        };
        for id in &handoff.tracking.rejections_accepted {
            let Some(finding) = findings.iter().rfind(|finding| open(finding, id)).cloned() else {
                let text =
                    format!("`rejections_accepted` names {id}, which is not open in a review of {}", handoff.role);
                self.warnings.push(Warning::coded(Code::UnresolvedRejection, text));
                continue;
            };
            let same = |other: &&mut Cow<'_, Finding>| {
                other.raised_by == handoff.role && other.same_as(&finding.location, &finding.title)
            };
            for finding in findings.iter_mut().filter(same) {
                finding.to_mut().status = FindingStatus::Accepted;
            }
        }
        for id in &handoff.tracking.rejections_overruled {
            if !findings.iter().any(|finding| open(finding, id)) {
                let text =
                    format!("`rejections_overruled` names {id}, which is not open in a review of {}", handoff.role);
                self.warnings.push(Warning::coded(Code::UnresolvedRejection, text));
            }
        }
    }

    /// Enters one issue and says where it stands. Across reviews `location|title` tells findings apart. What was settled
    /// is settled whoever raises it; what is open belongs to who raised it, so that nobody can play it down but them.
    fn raise(
        &mut self,
        findings: &mut Vec<Cow<'_, Finding>>,
        raised: &[usize],
        issue: &Issue,
        handoff: &Handoff,
        later: bool,
    ) -> usize {
        let same = |finding: &Finding| finding.same_as(&issue.location, &issue.title);
        let own = |(index, finding): &(usize, &Cow<'_, Finding>)| {
            !raised.contains(index) && finding.raised_by == handoff.role && same(finding)
        };
        let stands = findings.iter().enumerate().any(|it| own(&it) && it.1.status == FindingStatus::Open);
        let settled = findings.iter().position(|finding| finding.status == FindingStatus::Accepted && same(finding));
        if let Some(index) = settled.filter(|_| !stands) {
            if issue.blocking {
                let note = format!("{} was raised again after its rejection was accepted: {}", issue.id, issue.title);
                self.notes.push(Name::from(note.clone()));
                self.warnings.push(Warning::coded(Code::ReRaised, note));
            }
            return index;
        }
        let known = findings.iter().enumerate().find(own);
        let minor = matches!(issue.severity, Grade::Medium | Grade::Low);
        let mut blocking = issue.blocking;
        if known.is_none() && later && minor && blocking {
            blocking = false;
            let text = format!("{} is new and minor: it cannot block after the first review", issue.id);
            self.warnings.push(Warning::coded(Code::LateNitpick, text));
        }
        if let Some((index, _)) = known.filter(|(_, old)| old.stands_as(issue, blocking)) {
            return index;
        }
        let finding = Cow::Owned(Finding {
            id: issue.id.clone(),
            location: issue.location.clone(),
            title: issue.title.clone(),
            severity: issue.severity,
            blocking,
            raised_by: handoff.role.clone(),
            status: FindingStatus::Open,
            response: known.and_then(|(_, old)| old.response.clone()),
        });
        let place = known.map_or(findings.len(), |(index, _)| index);
        match findings.get_mut(place) {
            Some(old) => *old = finding,
            None => findings.push(finding),
        }
        place
    }

    fn compare_claims(&mut self, group: &Group, handoff: &Handoff) {
        for response in &handoff.responses {
            if !group.findings.iter().any(|finding| finding.id == response.id) {
                let text = format!("`issue_responses` answers {}, which no review has raised", response.id);
                self.warnings.push(Warning::coded(Code::UnresolvedRejection, text));
            }
        }
        let Some(claim) = handoff.blocking_summary else { return };
        let open = group.blocking_findings();
        if claim.total_blocking != open {
            let text = format!("the author counts {} blocking findings, the ledger {open}", claim.total_blocking);
            self.warnings.push(Warning::coded(Code::ClaimDiffers, text));
        }
    }
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
