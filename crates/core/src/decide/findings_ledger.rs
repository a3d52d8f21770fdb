//! Findings and failing tests, as this report leaves them.
//!
//! The reviewer's reports move the ledger. What an author claims is kept, compared
//! and warned about, never counted.

use std::borrow::Cow;
use std::collections::BTreeSet;

use crate::code::Code;
use crate::decide::findings::FindingsReview;
use crate::decision::Warning;
use crate::handoff::Handoff;
use crate::id::Name;
use crate::state::{Finding, Group};
use crate::workflow::LoopMeasure;

/// The ledger after the report, before anything is stored.
#[derive(Default)]
pub(crate) struct FindingsLedger {
    blocking: u32,
    failing: u32,
    /// The report stated which findings are open.
    reviewed: bool,
    /// The report stated which tests fail.
    tested: bool,
    /// The report calls findings blocking, and none of them can block.
    pub(crate) settled: bool,
    /// One of those was settled before.
    pub(crate) raised_again: bool,
    /// Blocking findings of the reporter that it neither ended nor raised again, by their place in the ledger.
    pub(crate) unresolved: Vec<usize>,
    /// Tests are on record as failing, and the report would leave the stage without a word on them.
    pub(crate) tests_unstated: bool,
    pub(crate) moves: Vec<(u32, Finding)>,
    pub(crate) tests: Option<Vec<Name>>,
    pub(crate) warnings: Vec<Warning>,
    pub(crate) notes: Vec<Name>,
}

/// The obligation of a report to state a measure.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum MeasureObligation {
    /// Nothing: what it says of it is kept, not counted.
    #[default]
    None,
    /// It counts in the loop; saying nothing leaves the measure as it was.
    Counts,
    /// It approves, or leaves the stage: saying nothing says that nothing is open.
    Restates,
    /// It leaves the stage by a status that does not state the measure, so the recorded value has to be stated.
    MustState,
}

/// The obligations of a report, by measure.
#[derive(Clone, Copy, Default)]
pub(crate) struct MeasureObligations {
    pub(crate) findings: MeasureObligation,
    pub(crate) tests: MeasureObligation,
}

impl FindingsLedger {
    /// The ledger where nothing is reported.
    pub(crate) fn of(group: Option<&Group>) -> Self {
        let failing = group.map_or(0, |group| count(group.failing_tests.len()));
        Self { blocking: group.map_or(0, Group::blocking_findings), failing, ..Self::default() }
    }

    pub(crate) fn count_open(&self, measure: LoopMeasure) -> u32 {
        match measure {
            LoopMeasure::BlockingFindings => self.blocking,
            LoopMeasure::FailingTests => self.failing,
        }
    }

    /// The measure, if this report or the ledger shows one.
    pub(crate) fn find_stated_measure(&self, measure: LoopMeasure) -> Option<u32> {
        let stated = match measure {
            LoopMeasure::BlockingFindings => self.reviewed,
            LoopMeasure::FailingTests => self.tested,
        };
        stated.then(|| self.count_open(measure))
    }

    /// Applies the findings and tests of a report to the ledger of a group.
    pub(crate) fn apply_handoff(group: &Group, handoff: &Handoff, bearings: MeasureObligations) -> Self {
        let mut ledger = Self::of(Some(group));
        let tracks = !handoff.tracking.is_empty();
        let raises = handoff.issues.as_ref().is_some_and(|issues| !issues.is_empty());
        match bearings.findings {
            MeasureObligation::None if tracks || raises => {
                let text =
                    format!("`{}` of {} is no review: its findings are kept, not counted", handoff.said, handoff.role);
                ledger.warnings.push(Warning::coded(Code::NotAReview, text));
            }
            MeasureObligation::None => {}
            MeasureObligation::Counts if handoff.issues.is_none() && !tracks => {}
            MeasureObligation::Counts => ledger.review(group, handoff, handoff.issues.is_some()),
            MeasureObligation::Restates | MeasureObligation::MustState => ledger.review(group, handoff, true),
        }
        let stated = handoff.failing_tests.is_some();
        let tested = match bearings.tests {
            MeasureObligation::None => false,
            MeasureObligation::Counts => stated,
            MeasureObligation::Restates => true,
            MeasureObligation::MustState => stated || group.failing_tests.is_empty(),
        };
        ledger.tests_unstated = bearings.tests == MeasureObligation::MustState && !tested;
        if tested {
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

    fn review(&mut self, group: &Group, handoff: &Handoff, restated: bool) {
        let mut review = FindingsReview::new(group, handoff);
        review.apply_verdicts();
        review.raise_issues();
        review.end_what_is_omitted(restated);
        review.separate_ids();
        self.blocking = count(review.findings.iter().filter(|finding| finding.is_blocking()).count());
        self.reviewed = true;
        let own = |finding: &&Cow<'_, Finding>| finding.is_blocking() && finding.raised_by == handoff.role;
        self.settled = review.held_back > 0 && review.raised_blocking == 0 && !review.findings.iter().any(|f| own(&f));
        self.raised_again = review.raised_again;
        self.unresolved = if review.insists { Vec::new() } else { review.unresolved };
        self.warnings.append(&mut review.warnings);
        self.notes.append(&mut review.notes);
        let moved = review.findings.into_iter().enumerate().filter_map(|(index, finding)| match finding {
            Cow::Owned(new) if group.findings.get(index) != Some(&new) => Some((count(index), new)),
            Cow::Owned(_) | Cow::Borrowed(_) => None,
        });
        self.moves = moved.collect();
    }

    fn compare_claims(&mut self, group: &Group, handoff: &Handoff) {
        let known: BTreeSet<&Name> = match handoff.responses.is_empty() {
            true => BTreeSet::new(),
            false => group.findings.iter().map(|finding| &finding.id).collect(),
        };
        for response in &handoff.responses {
            if !known.contains(&response.id) {
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
