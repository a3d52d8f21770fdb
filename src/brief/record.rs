//! What the state holds of the work: mission, plan, warnings, findings, tests, blockers, groups.

use interlock_core::decide::offers;
use interlock_core::handoff::{Answer, Grade, Response, is_something};
use interlock_core::id::Name;
use interlock_core::state::{Counter, End, Finding, FindingStatus, Group, Progress};
use interlock_core::workflow::{Loop, Measure, Task};
use serde_json::Value as Json;

use crate::brief::piece::{Piece, Section};
use crate::brief::{Brief, data};
use crate::output::counted;
use crate::standing;

/// What is shown of the words to one finding, so that it cannot hide the others.
const DESCRIPTION: usize = 1_500;

impl Brief<'_> {
    pub(super) fn mission(&self, pieces: &mut Vec<Piece>) {
        let mission = self.mission.map(data::text).filter(|mission| !mission.is_empty());
        let title = || self.state.session.as_ref().map(|session| data::text(&session.title));
        if let Some(mission) = mission.or_else(title) {
            pieces.push(Piece::data(Section::Mission, "Mission".to_owned(), mission));
        }
    }

    /// The plan's entry for the group: its title, flags, checks and everything else that the planner wrote.
    pub(super) fn plan(&self, pieces: &mut Vec<Piece>) {
        let Some(group) = self.group() else { return };
        let mut lines = vec![format!("title: {}", data::line(&group.title))];
        lines.extend(group.flags.iter().map(|(flag, value)| format!("{}: {}", data::line(flag), data::line(value))));
        lines.extend((!group.depends_on.is_empty()).then(|| format!("depends on: {}", group.depends_on.join(", "))));
        for (key, value) in self.said.plan().and_then(Json::as_object).into_iter().flatten() {
            let is_shown = ["id", "title", "depends_on", "checks"].contains(&key.as_str());
            if is_shown || group.flags.contains_key(key.as_str()) || !is_something(value) {
                continue;
            }
            let text = data::value(value);
            let gap = if text.contains('\n') { "\n" } else { " " };
            lines.push(format!("{}:{gap}{text}", data::line(key)));
        }
        lines.extend(group.checks.iter().map(|check| format!("check: {}", data::line(&check.join(" ")))));
        let heading = format!("Plan for group `{}`", group.id);
        let piece = Piece::data(Section::Plan, heading, lines.join("\n"));
        pieces.push(match self.workflow.checks_nothing(group) && self.reviews() {
            true => piece.lead(format!("Of this group, {}.", standing::NOTHING_CHECKED)),
            false => piece,
        });
    }

    /// It judges the work of others.
    fn reviews(&self) -> bool {
        let judges =
            || offers(self.workflow, self.state, self.assignment).iter().any(|offer| offer.findings || offer.tests);
        !self.is_author() && self.assignment.task == Task::Work && judges()
    }

    /// Only warnings about the reader's own situation. Remarks on another agent's report are in the log.
    pub(super) fn warnings(&self, pieces: &mut Vec<Piece>) {
        let decisions = || [self.origin, self.lost].into_iter().flatten().filter_map(|event| event.decision.as_ref());
        let mut lines: Vec<String> = Vec::new();
        if decisions().any(|decision| decision.escalated) {
            lines.push("- Escalated to you: the role before you did not get this through.".to_owned());
        }
        let own = decisions().flat_map(|decision| &decision.warnings).filter(|warning| warning.code.is_none());
        lines.extend(own.map(|warning| format!("- {}", data::line(&warning.text))));
        lines.extend(self.lane().counters.iter().filter_map(|counter| self.counter(counter)));
        if !lines.is_empty() {
            pieces.push(Piece::own(Section::Warnings, "Limits and warnings".to_owned(), lines.join("\n")));
        }
    }

    /// A counter of the reader, or of the author that the reader's verdict goes back to.
    fn counter(&self, counter: &Counter) -> Option<String> {
        let item = self.workflow.loops.iter().find(|item| item.name == counter.counted)?;
        let is_own = counter.role == self.assignment.role;
        let is_near = !next_step(item, counter).is_empty();
        if counter.iteration == 0 || item.measure.is_none() && !(is_own && is_near) {
            return None;
        }
        let whose = if is_own { "you".to_owned() } else { format!("`{}`", counter.role) };
        let mut line =
            format!("- `{}`, {whose}: iteration {} of {}", item.name, counter.iteration, item.limit.iteration);
        if let Some(limit) = item.limit.no_progress {
            line.push_str(&format!(", no progress for {} of {limit}", counter.no_progress));
        }
        if let (Some(measure), Some(last)) = (item.measure, counter.measure) {
            line.push_str(&format!(", {} last time", counted(u64::from(last), measured(measure))));
        }
        line.push_str(next_step(item, counter));
        Some(line)
    }

    /// The iteration that this review is.
    pub(super) fn review_iteration(&self) -> u32 {
        let of_findings = |name: &Name| {
            let item = self.workflow.loops.iter().find(|item| item.name == *name);
            item.is_some_and(|item| item.measure == Some(Measure::BlockingFindings))
        };
        let iterations = self.lane().counters.iter().filter(|counter| of_findings(&counter.counted));
        iterations.map(|counter| counter.iteration).max().unwrap_or(0).saturating_add(1)
    }

    pub(super) fn findings(&self, pieces: &mut Vec<Piece>) {
        let Some(group) = self.group() else { return };
        let open = || group.findings.iter().enumerate().filter(|(_, finding)| finding.status == FindingStatus::Open);
        if open().next().is_some() {
            let listed = |most: usize| {
                let lines = open().map(|(index, finding)| open_finding(finding, self.said.of_finding(index), most));
                lines.collect::<Vec<_>>().join("\n")
            };
            let heading = "Open findings, with the author's responses".to_owned();
            let piece = Piece::data(Section::OpenFindings, heading, listed(DESCRIPTION));
            let mut piece = piece.out_of(listed(usize::MAX));
            piece.lead = self.about_findings(group);
            pieces.push(piece);
        }
        let accepted = group.findings.iter().filter(|finding| finding.status == FindingStatus::Accepted);
        let settled: Vec<String> = accepted
            .map(|f| format!("- {} {}: {}", data::line(&f.id), data::line(&f.location), data::line(&f.title)))
            .collect();
        if !settled.is_empty() {
            let heading = "Settled findings: do not raise them again".to_owned();
            pieces.push(Piece::data(Section::SettledFindings, heading, settled.join("\n")));
        }
    }

    fn about_findings(&self, group: &Group) -> Vec<String> {
        let mut lines = Vec::new();
        if group.reviewers.contains(&self.assignment.role) {
            lines.push(
                "You reviewed this before: settle each of your findings. New MEDIUM and LOW findings cannot block."
                    .to_owned(),
            );
        }
        lines
    }

    pub(super) fn is_author(&self) -> bool {
        self.role().is_some_and(|role| role.author)
    }

    /// An author at work while findings are open.
    pub(super) fn answers_findings(&self) -> bool {
        let open = |group: &Group| group.findings.iter().any(|finding| finding.status == FindingStatus::Open);
        self.is_author() && self.assignment.task == Task::Work && self.group().is_some_and(open)
    }

    pub(super) fn failing_tests(&self, pieces: &mut Vec<Piece>) {
        let tests = self.group().map_or(&[][..], |group| group.failing_tests.as_slice());
        let lines: Vec<String> = tests.iter().map(|test| format!("- {}", data::line(test))).collect();
        if !lines.is_empty() {
            let heading = "Failing tests of the last test report".to_owned();
            pieces.push(Piece::data(Section::FailingTests, heading, lines.join("\n")));
        }
    }

    /// Blockers of other roles, for readers that do not help with them: a helper reads of them in its task.
    pub(super) fn blockers(&self, pieces: &mut Vec<Piece>) {
        let is_helper = self.assignment.task == Task::Consult;
        let blocks = self.lane().blocks.iter().filter(|block| !is_helper && block.role != self.assignment.role);
        let lines: Vec<String> = blocks
            .map(|block| match &block.reason {
                Some(reason) => format!("- `{}` is blocked: {}", block.role, data::code(reason)),
                None => format!("- `{}` is blocked", block.role),
            })
            .collect();
        if !lines.is_empty() {
            pieces.push(Piece::own(Section::Blockers, "Open blockers".to_owned(), lines.join("\n")));
        }
    }

    /// The groups of the session, for readers that work on the session as a whole.
    pub(super) fn groups(&self, pieces: &mut Vec<Piece>) {
        if self.assignment.group.is_none() && !self.state.groups.is_empty() || self.hands_on("group_summaries") {
            let lines: Vec<String> = self.state.groups.iter().flat_map(|group| self.group_lines(group)).collect();
            let text = if lines.is_empty() { "none is planned".to_owned() } else { lines.join("\n") };
            pieces.push(Piece::data(Section::Groups, "Groups of the session".to_owned(), text));
        }
    }

    /// The workflow passes this field on.
    fn hands_on(&self, field: &str) -> bool {
        self.decision().is_some_and(|decision| decision.context.iter().any(|own| *own == *field))
    }

    fn group_lines(&self, group: &Group) -> Vec<String> {
        let mut lines = vec![format!("- {} [{}] {}", group.id, group.status().name(), data::line(&group.title))];
        if let Progress::Ended(End::Deferred { why, by, acknowledged }) = &group.progress {
            let state = match acknowledged {
                Some(name) => format!("acknowledged by {}", data::line(name)),
                None => "not acknowledged".to_owned(),
            };
            lines.push(format!("  deferred by {}, {state}: {}", data::line(by), data::line(why)));
        }
        let reviewers: Vec<&str> = group.reviewers.iter().map(Name::as_str).collect();
        if !group.passed.is_empty() {
            let passed: Vec<&str> = group.passed.iter().map(Name::as_str).collect();
            let by =
                if reviewers.is_empty() { String::new() } else { format!(" (reviewed by {})", reviewers.join(", ")) };
            lines.push(format!("  passed: {}{by}", passed.join(", ")));
        }
        let notices = standing::notices(group, self.workflow);
        lines.extend(notices.iter().map(|notice| format!("  {}", data::line(notice))));
        lines.extend(group.notes.iter().map(|note| format!("  note: {}", data::line(note))));
        lines
    }
}

fn grade(grade: Grade) -> &'static str {
    match grade {
        Grade::Critical => "CRITICAL",
        Grade::High => "HIGH",
        Grade::Medium => "MEDIUM",
        Grade::Low => "LOW",
    }
}

fn measured(measure: Measure) -> &'static str {
    match measure {
        Measure::BlockingFindings => "blocking finding",
        Measure::FailingTests => "failing test",
    }
}

/// Whether the next iteration escalates.
fn next_step(item: &Loop, counter: &Counter) -> &'static str {
    let last = counter.iteration.saturating_add(1) >= item.limit.iteration;
    let stuck = item.limit.no_progress.is_some_and(|limit| counter.no_progress.saturating_add(1) >= limit);
    match (last, stuck) {
        (true, _) => "; the next one escalates",
        (false, true) => "; the next one without progress escalates",
        (false, false) => "",
    }
}

/// A finding, with so many characters of what its reviewer wrote of it.
fn open_finding(finding: &Finding, words: Option<&str>, most: usize) -> String {
    let grade = grade(finding.severity);
    let blocking = if finding.blocking { "blocking" } else { "not blocking" };
    let (id, place, title) = (data::line(&finding.id), data::line(&finding.location), data::line(&finding.title));
    let mut line = format!("- {id} [{grade}, {blocking}] {place}: {title} (by {})", finding.raised_by);
    if let Some(words) = words.map(data::text) {
        let shown: String = words.chars().take(most).collect();
        let more = if shown.len() < words.len() { " …" } else { "" };
        for said in format!("{}{more}", shown.trim()).lines() {
            line.push_str(&format!("\n  | {said}"));
        }
    }
    line.push_str(&finding.response.as_ref().map_or_else(|| "\n  no response yet".to_owned(), response));
    line
}

fn response(response: &Response) -> String {
    let word = match response.response {
        Answer::Fixed => "fixed",
        Answer::Rejected => "rejected",
        Answer::Deferred => "deferred",
    };
    let reason = response.reason.as_deref().map(|reason| format!(": {}", data::line(reason)));
    format!("\n  author's last response: {word}{}", reason.unwrap_or_default())
}
