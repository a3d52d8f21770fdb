//! What the record says of the work: names, mission, warnings, counters, findings, tests, blockers, groups.

use interlock_core::event::Cause;
use interlock_core::handoff::{Answer, Grade, Response};
use interlock_core::state::{Counter, End, Finding, FindingStatus, Group, Progress};
use interlock_core::workflow::{Loop, Measure, Task};

use crate::brief::piece::{Piece, Section};
use crate::brief::{Brief, data};
use crate::output::counted;
use crate::standing;

/// What is shown of the words to one finding, so that it cannot hide the others.
const DESCRIPTION: usize = 1_500;

impl Brief<'_> {
    pub(super) fn titles(&self, pieces: &mut Vec<Piece>) {
        let mut lines = Vec::new();
        lines.extend(self.state.session.as_ref().map(|session| format!("session: {}", data::line(&session.title))));
        if let Some(group) = self.group() {
            lines.push(format!("group: {}", data::line(&group.title)));
            lines
                .extend(group.flags.iter().map(|(flag, value)| format!("{}: {}", data::line(flag), data::line(value))));
            lines
                .extend((!group.depends_on.is_empty()).then(|| format!("depends on: {}", group.depends_on.join(", "))));
            lines.extend(group.checks.iter().map(|check| format!("check: {}", data::line(&check.join(" ")))));
            lines.extend(self.workflow.checks_nothing(group).then(|| standing::NOTHING_CHECKED.to_owned()));
        }
        if !lines.is_empty() {
            let heading = "The work, as people and the plan call it".to_owned();
            pieces.push(Piece::data(Section::Titles, heading, "people and the plan", lines.join("\n")));
        }
    }

    pub(super) fn mission(&self, pieces: &mut Vec<Piece>) {
        let Some(mission) = self.mission.map(data::text).filter(|mission| !mission.is_empty()) else { return };
        let heading = "The mission, as the session was given it".to_owned();
        let lead =
            "It says what the whole session is for. How you work and what you return is said by the rules below.";
        pieces.push(Piece::data(Section::Mission, heading, "whoever started the session", mission).lead(lead));
    }

    /// What the plan says of the group beyond what it is called: for everybody who works on it.
    pub(super) fn plan(&self, pieces: &mut Vec<Piece>) {
        let (Some(group), Some(entry)) = (self.group(), self.said.plan()) else { return };
        let named = |key: &str| ["id", "title", "depends_on", "checks"].contains(&key) || group.flags.contains_key(key);
        if entry.as_object().is_none_or(|entry| entry.keys().all(|key| named(key))) {
            return;
        }
        let who = self.said.planner().and_then(|who| self.workflow.role_named(who));
        let who = who.map_or("the plan", |ix| self.workflow.role(ix).name.as_str());
        let heading = format!("The plan of {who} for group `{}`", group.id);
        pieces.push(Piece::data(Section::Plan, heading, who, data::value(entry)));
    }

    /// Warnings without a code are Interlock's own; those with one quote the report.
    pub(super) fn warnings(&self, pieces: &mut Vec<Piece>) {
        let decisions = || [self.origin, self.lost].into_iter().flatten().filter_map(|event| event.decision.as_ref());
        let (remarks, own): (Vec<_>, Vec<_>) =
            decisions().flat_map(|decision| &decision.warnings).partition(|warning| warning.code.is_some());
        let mut lines: Vec<String> = Vec::new();
        if decisions().any(|decision| decision.escalated) {
            lines.push("- ESCALATED: this did not get through on the rung below, and is yours now.".to_owned());
        }
        lines.extend(own.iter().map(|warning| format!("- {}", data::line(&warning.text))));
        if !lines.is_empty() {
            pieces.push(Piece::own(Section::Warnings, "Warnings".to_owned(), lines.join("\n")));
        }
        let lines: Vec<String> = remarks
            .iter()
            .map(|warning| format!("- {} {}", warning.code.as_deref().unwrap_or_default(), data::line(&warning.text)))
            .collect();
        if !lines.is_empty() {
            let heading = "Remarks of Interlock on the report that led here".to_owned();
            pieces.push(Piece::data(Section::Remarks, heading, "Interlock, quoting that report", lines.join("\n")));
        }
    }

    pub(super) fn counters(&self, pieces: &mut Vec<Piece>) {
        let lines: Vec<String> = self.lane().counters.iter().filter_map(|counter| self.counter(counter)).collect();
        if !lines.is_empty() {
            let heading = "Iterations, and where they end".to_owned();
            let lead = "At a limit the work goes one rung up instead of back.";
            pieces.push(Piece::own(Section::Counters, heading, lines.join("\n")).lead(lead));
        }
    }

    fn counter(&self, counter: &Counter) -> Option<String> {
        let item = self.workflow.loops.iter().find(|item| item.name == counter.counted)?;
        let own = if counter.role == self.assignment.role { " (you)" } else { "" };
        let mut line = format!(
            "- loop `{}` to `{}`{own}: iteration {} of {}",
            item.name, counter.role, counter.iteration, item.limit.iteration
        );
        if let Some(limit) = item.limit.no_progress {
            line.push_str(&format!(", {} of {limit} in a row without progress", counter.no_progress));
        }
        if let (Some(measure), Some(last)) = (item.measure, counter.measure) {
            line.push_str(&format!("; {} at the last passage", counted(u64::from(last), measured(measure))));
        }
        line.push_str(next_step(item, counter));
        Some(line)
    }

    pub(super) fn findings(&self, pieces: &mut Vec<Piece>) {
        let Some(group) = self.group() else { return };
        let open = || group.findings.iter().enumerate().filter(|(_, finding)| finding.status == FindingStatus::Open);
        if open().next().is_some() {
            let listed = |most: usize| {
                let lines = open().map(|(index, finding)| open_finding(finding, self.said.of_finding(index), most));
                lines.collect::<Vec<_>>().join("\n")
            };
            let heading = "Open findings, raised by reviewers, with the author's responses".to_owned();
            let piece = Piece::data(Section::OpenFindings, heading, "reviewers and authors", listed(DESCRIPTION));
            let mut piece = piece.out_of(listed(usize::MAX));
            piece.lead = self.about_findings(group);
            pieces.push(piece);
        }
        let accepted = group.findings.iter().filter(|finding| finding.status == FindingStatus::Accepted);
        let settled: Vec<String> = accepted
            .map(|f| format!("- {} {}: {}", data::line(&f.id), data::line(&f.location), data::line(&f.title)))
            .collect();
        if !settled.is_empty() {
            let heading = "Settled findings, raised by reviewers: not to be raised again".to_owned();
            let lead = "Their rejection was accepted, once and for good. Raised again, they are accepted by themselves and noted for the manager.";
            let piece = Piece::data(Section::SettledFindings, heading, "reviewers", settled.join("\n"));
            pieces.push(piece.lead(lead));
        }
    }

    fn summary(&self, group: &Group) -> Vec<String> {
        let mut lines = vec![format!("- {} [{}] {}", group.id, group.status().name(), data::line(&group.title))];
        lines.extend(standing::notices(group, self.workflow).iter().map(|notice| format!("  {}", data::line(notice))));
        lines.extend(group.notes.iter().map(|note| format!("  note: {}", data::line(note))));
        lines
    }

    fn about_findings(&self, group: &Group) -> Vec<String> {
        let mut lines = Vec::new();
        if self.answers_findings() {
            lines.push("Answer each of them by its id in `issue_responses`: fixed, rejected with a reason, or deferred. What you claim is compared, not counted: the reviewer's next report is what counts.".to_owned());
        }
        if group.reviewers.contains(&self.assignment.role) {
            lines.push("You have reviewed this before. End each finding of yours by its id: `fixes_confirmed` once you have seen the fix, `rejections_accepted` where the author is right, `findings_dropped` with a reason. One that the author answered `fixed` may simply be left out. Everything else stays open, and `rejections_overruled` says that you insist. New MEDIUM and LOW findings cannot block any more.".to_owned());
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
            let heading = "Failing tests, as the last test report has them".to_owned();
            pieces.push(Piece::data(Section::FailingTests, heading, "whoever tested", lines.join("\n")));
        }
    }

    pub(super) fn blockers(&self, pieces: &mut Vec<Piece>) {
        let lines: Vec<String> = self
            .lane()
            .blocks
            .iter()
            .map(|block| match &block.reason {
                Some(reason) => format!("- `{}` is blocked: {}", block.role, data::code(reason)),
                None => format!("- `{}` is blocked; it gave no reason of the workflow's list", block.role),
            })
            .collect();
        if !lines.is_empty() {
            let lead = "Nothing completes before each has its resolution: guidance, an approval, or a person's answer.";
            pieces.push(Piece::own(Section::Blockers, "Open blockers".to_owned(), lines.join("\n")).lead(lead));
        }
    }

    /// For whoever looks after the session, or where the workflow hands it on.
    pub(super) fn groups(&self, pieces: &mut Vec<Piece>) {
        let started = matches!(self.cause(), Some(Cause::Started { .. }));
        if self.hands_on("group_summaries")
            || self.assignment.group.is_none() && !self.state.groups.is_empty() && !started
        {
            let lines: Vec<String> = self.state.groups.iter().flat_map(|group| self.summary(group)).collect();
            let text = if lines.is_empty() { "none has been planned".to_owned() } else { lines.join("\n") };
            let heading = "Groups of the session (`group_summaries`), from Interlock's record".to_owned();
            pieces.push(Piece::data(Section::Groups, heading, "Interlock, with the plan's titles", text));
        }
        let deferred: Vec<String> = self.state.groups.iter().filter_map(deferral).collect();
        if self.hands_on("deferred_groups") || self.assignment.group.is_none() && !deferred.is_empty() {
            let text = if deferred.is_empty() { "none is deferred".to_owned() } else { deferred.join("\n") };
            let heading = "Deferred groups (`deferred_groups`), from Interlock's record".to_owned();
            pieces.push(Piece::data(Section::Groups, heading, "Interlock, with the reasons that were given", text));
        }
    }
}

fn measured(measure: Measure) -> &'static str {
    match measure {
        Measure::BlockingFindings => "blocking finding",
        Measure::FailingTests => "failing test",
    }
}

/// Where the next passage leads, if that is up.
fn next_step(item: &Loop, counter: &Counter) -> &'static str {
    let last = counter.iteration.saturating_add(1) >= item.limit.iteration;
    let stuck = item.limit.no_progress.is_some_and(|limit| counter.no_progress.saturating_add(1) >= limit);
    match (last, stuck) {
        (true, _) => "; the next passage escalates",
        (false, true) => "; the next passage without progress escalates",
        (false, false) => "",
    }
}

/// A finding, with so many characters of what its reviewer wrote of it.
fn open_finding(finding: &Finding, words: Option<&str>, most: usize) -> String {
    let grade = match finding.severity {
        Grade::Critical => "CRITICAL",
        Grade::High => "HIGH",
        Grade::Medium => "MEDIUM",
        Grade::Low => "LOW",
    };
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

fn deferral(group: &Group) -> Option<String> {
    let Progress::Ended(End::Deferred { why, by, acknowledged }) = &group.progress else { return None };
    let acknowledged = match acknowledged {
        Some(name) => format!("acknowledged by {}", data::line(name)),
        None => "not acknowledged yet".to_owned(),
    };
    Some(format!("- {} by {}: {} ({acknowledged})", group.id, data::line(by), data::line(why)))
}
