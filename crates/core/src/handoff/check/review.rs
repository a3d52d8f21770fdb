//! Findings, answers to them, and the tests that fail.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value as Json;

use crate::code::Code;
use crate::handoff::check::reader::{HandoffReader, kind};
use crate::handoff::test_statements;
use crate::handoff::{
    BlockingSummary, DroppedFinding, FindingResponse, FindingSeverity, ResponseKind, ReviewIssue, ReviewTracking,
};
use crate::id::Name;
use crate::problem::Problem;

#[derive(Default)]
pub(super) struct ReviewFields {
    pub(super) issues: Option<Vec<ReviewIssue>>,
    pub(super) tracking: ReviewTracking,
    pub(super) responses: Vec<FindingResponse>,
    pub(super) summary: Option<BlockingSummary>,
}

impl HandoffReader<'_> {
    pub(super) fn review(&mut self) -> ReviewFields {
        ReviewFields {
            issues: self.issues(),
            tracking: self.tracking(),
            responses: self.responses(),
            summary: self.blocking_summary(),
        }
    }

    fn issues(&mut self) -> Option<Vec<ReviewIssue>> {
        let objects = self.objects("issues")?;
        let mut issues: Vec<ReviewIssue> = Vec::new();
        let mut ids = BTreeSet::new();
        for (path, object) in objects {
            let id = self.member(Code::BadFinding, object, &path, "id");
            let title = self.member(Code::BadFinding, object, &path, "title");
            let location = self.member(Code::BadFinding, object, &path, "location");
            let severity = self.severity(object, &path);
            self.maybe_member(object, &path, "description");
            let blocking = object.get("blocking").and_then(Json::as_bool);
            if blocking.is_none() {
                self.wrong(Code::BadFinding, &path, must_be("blocking", object, "true or false"));
            }
            if let Some(id) = id.filter(|id| !ids.insert(*id)) {
                self.wrong(Code::RepeatedId, &path, format!("`{id}` is the id of another issue of this review"));
            }
            if let (Some(id), Some(title), Some(location), Some(severity), Some(blocking)) =
                (id, title, location, severity, blocking)
            {
                let (id, title, location) = (Name::new(id), Name::new(title), Name::new(location));
                issues.push(ReviewIssue { id, title, location, severity, blocking });
            }
        }
        Some(issues)
    }

    fn severity(&mut self, object: &Json, path: &str) -> Option<FindingSeverity> {
        let text = object.get("severity").and_then(Json::as_str).unwrap_or_default();
        let grade = match text.to_ascii_uppercase().as_str() {
            "CRITICAL" => Some(FindingSeverity::Critical),
            "HIGH" => Some(FindingSeverity::High),
            "MEDIUM" => Some(FindingSeverity::Medium),
            "LOW" => Some(FindingSeverity::Low),
            _ => None,
        };
        if grade.is_none() {
            self.wrong(Code::BadFinding, path, must_be("severity", object, "CRITICAL, HIGH, MEDIUM or LOW"));
        }
        grade
    }

    fn tracking(&mut self) -> ReviewTracking {
        self.is_object("iteration_tracking");
        let path = "iteration_tracking.iteration";
        if self.get(path).is_some_and(|value| value.as_u64().is_none_or(|number| number == 0)) {
            self.wrong(Code::BadFinding, path, "`iteration` must be a whole number from 1");
        }
        let tracking = ReviewTracking {
            rejections_accepted: self.names("iteration_tracking.rejections_accepted").unwrap_or_default(),
            rejections_overruled: self.names("iteration_tracking.rejections_overruled").unwrap_or_default(),
            fixes_confirmed: self.names("iteration_tracking.fixes_confirmed").unwrap_or_default(),
            findings_dropped: self.findings_dropped(),
        };
        self.one_verdict_per_finding(&tracking);
        tracking
    }

    /// Read beside `issues` as well as in `iteration_tracking`: reviewers write it in both places.
    fn findings_dropped(&mut self) -> Vec<DroppedFinding> {
        let mut dropped = Vec::new();
        for list in ["iteration_tracking.findings_dropped", "findings_dropped"] {
            for (path, object) in self.objects(list).unwrap_or_default() {
                let id = self.member(Code::BadFinding, object, &path, "id");
                let reason = self.drop_reason(object, &path);
                if let (Some(id), Some(reason)) = (id, reason) {
                    dropped.push(DroppedFinding { id: Name::new(id), reason });
                }
            }
        }
        dropped
    }

    fn one_verdict_per_finding(&mut self, tracking: &ReviewTracking) {
        let dropped = tracking.findings_dropped.iter().map(|dropped| &dropped.id);
        let verdicts = (tracking.rejections_accepted.iter().map(|id| (id, "has its rejection accepted")))
            .chain(tracking.rejections_overruled.iter().map(|id| (id, "has its rejection overruled")))
            .chain(tracking.fixes_confirmed.iter().map(|id| (id, "is confirmed as fixed")))
            .chain(dropped.map(|id| (id, "is dropped")));
        let mut known: BTreeMap<&Name, &str> = BTreeMap::new();
        for (id, verdict) in verdicts {
            let earlier = *known.entry(id).or_insert(verdict);
            if earlier != verdict {
                let message = format!("`{id}` {earlier} and {verdict}: a finding takes one verdict");
                let help = "name each finding in one of the lists of `iteration_tracking`, the one that holds now";
                self.problem(Problem::new(Code::BadFinding, message).help(help), "iteration_tracking");
            }
        }
    }

    fn responses(&mut self) -> Vec<FindingResponse> {
        let mut responses: Vec<FindingResponse> = Vec::new();
        let mut ids = BTreeSet::new();
        for (path, object) in self.objects("issue_responses").unwrap_or_default() {
            let id = self.member(Code::BadFinding, object, &path, "id");
            let word = object.get("response").and_then(Json::as_str).unwrap_or_default().to_ascii_lowercase();
            let response = match word.as_str() {
                "fixed" => Some(ResponseKind::Fixed),
                "rejected" => Some(ResponseKind::Rejected),
                "deferred" => Some(ResponseKind::Deferred),
                _ => None,
            };
            if response.is_none() {
                self.wrong(Code::BadFinding, &path, must_be("response", object, "fixed, rejected or deferred"));
            }
            let reason = self.maybe_member(object, &path, "reason").filter(|text| !text.trim().is_empty());
            if response == Some(ResponseKind::Rejected) && reason.is_none() {
                let help = "say why the finding does not hold, or fix it";
                self.problem(Problem::new(Code::BadFinding, "a rejection needs its `reason`").help(help), &path);
            }
            if let Some(id) = id.filter(|id| !ids.insert(*id)) {
                self.wrong(Code::RepeatedId, &path, format!("`{id}` is answered twice"));
            }
            if let (Some(id), Some(response)) = (id, response) {
                responses.push(FindingResponse { id: Name::new(id), response, reason: reason.map(Name::new) });
            }
        }
        responses
    }

    fn blocking_summary(&mut self) -> Option<BlockingSummary> {
        self.get("blocking_summary")?;
        self.is_object("blocking_summary");
        let mut number = |key: &str| {
            let path = format!("blocking_summary.{key}");
            let value = self.get(&path)?;
            let number = value.as_u64().and_then(|number| u32::try_from(number).ok());
            if number.is_none() {
                self.wrong(Code::BadFinding, &path, format!("`{key}` must be a whole number from 0"));
            }
            number
        };
        let summary = BlockingSummary {
            total_blocking: number("total_blocking").unwrap_or(0),
            fixed: number("fixed").unwrap_or(0),
            rejected_with_reason: number("rejected_with_reason").unwrap_or(0),
            unaddressed: number("unaddressed").unwrap_or(0),
        };
        let parts = [summary.fixed, summary.rejected_with_reason, summary.unaddressed];
        let sum: u64 = parts.into_iter().map(u64::from).sum();
        if sum > u64::from(summary.total_blocking) {
            let message = format!("{sum} are accounted for, and `total_blocking` is {}", summary.total_blocking);
            self.wrong(Code::BadFinding, "blocking_summary", message);
        }
        Some(summary)
    }

    /// Tests that still fail, or fail again, each once.
    pub(super) fn failing_tests(&mut self) -> Option<Vec<Name>> {
        let elsewhere = test_statements::failures_stated(|path| self.get(path));
        if self.get("test_progression").is_none() {
            return (!elsewhere.is_empty()).then_some(elsewhere);
        }
        self.is_object("test_progression");
        let still = self.names("test_progression.still_failing");
        let new = self.names("test_progression.new");
        self.names("test_progression.fixed");
        if still.is_none() {
            let path = "test_progression.still_failing";
            self.problem(Problem::of_field(Code::FieldMissing, path, "missing"), path);
        }
        let mut seen = BTreeSet::new();
        let all = still.into_iter().flatten().chain(new.into_iter().flatten());
        let listed: Vec<Name> = all.filter(|test| seen.insert(test.clone())).collect();
        // A list without tests beside a count of failures hides them.
        Some(if listed.is_empty() { elsewhere } else { listed })
    }
}

impl<'a> HandoffReader<'a> {
    fn drop_reason(&mut self, object: &'a Json, path: &str) -> Option<Name> {
        let reason = self.maybe_member(object, path, "reason");
        if object.get("reason").is_none_or(|reason| reason.is_null() || reason.as_str().is_some_and(is_blank)) {
            let how = if reason.is_some() { "empty" } else { "missing" };
            let help = "say in `reason` why the finding no longer holds; only then is it dropped";
            self.problem(Problem::new(Code::BadFinding, format!("`reason` is {how}")).help(help), path);
        }
        reason.filter(|text| !is_blank(text)).map(Name::new)
    }
}

/// The value that a field has, and the value that it must have.
fn must_be(key: &str, object: &Json, wanted: &str) -> String {
    match object.get(key) {
        None | Some(Json::Null) => format!("`{key}` is missing; it must be {wanted}"),
        Some(Json::String(text)) => format!("`{key}` is \"{}\"; it must be {wanted}", shortened(text)),
        Some(other) => format!("`{key}` is {}; it must be {wanted}", kind(other)),
    }
}

fn shortened(text: &str) -> String {
    text.chars().take(40).collect()
}

fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}
