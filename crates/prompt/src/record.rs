//! The state of the work: mission, plan, warnings, findings, tests, blockers, groups.

use interlock_core::decide::{AcceptedStatus, list_accepted_statuses, missing_evidence, role_after_overrides};
use interlock_core::handoff::{FindingSeverity, ResponseKind, is_something};
use interlock_core::id::Name;
use interlock_core::naming::shown_person;
use interlock_core::state::{Finding, FindingStatus, Group, GroupEnd, GroupProgress, LoopCounter, State};
use interlock_core::workflow::{AssignmentTask, Loop, LoopMeasure, Workflow};
use serde_json::Value as Json;

use crate::PromptContext;
use crate::data;
use crate::entry::first_characters;
use crate::notices;
use crate::section::{Section, SectionKind, SectionPart};
use interlock_system::text::counted;

/// Characters that are shown of the texts on one finding, so that it cannot hide the others.
const DESCRIPTION: usize = 1_500;
/// Characters of a group's description in the list of groups.
const DESCRIPTION_IN_LIST: usize = 200;

impl PromptContext<'_> {
    pub(super) fn mission(&self, pieces: &mut Vec<Section>) {
        let mission = self.mission.map(data::text).filter(|mission| !mission.is_empty());
        let title = || self.state.session.as_ref().map(|session| data::text(&session.title));
        if let Some(mission) = mission.or_else(title) {
            pieces.push(Section::data(SectionKind::Mission, "Mission".to_owned(), mission));
        }
    }

    /// The plan's entry for the group: its title, flags, checks and everything else that the planner wrote.
    pub(super) fn plan(&self, pieces: &mut Vec<Section>) {
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
        let notice = notices::check_notice(group, self.workflow).filter(|_| self.judges_group());
        // A workflow without a plan makes one group, which has the title of the session.
        let session = self.state.session.as_ref().map(|session| &session.title);
        if lines.len() == 1 && Some(&group.title) == session && self.mission.is_some() && notice.is_none() {
            return;
        }
        let heading = format!("Plan for group `{}`", group.id);
        let piece = Section::data(SectionKind::Plan, heading, lines.join("\n"));
        pieces.push(match notice {
            Some(notice) => piece.lead(format!("Of this group, {notice}.")),
            None => piece,
        });
    }

    /// It judges the work of others, or decides whether the group is accepted or deferred.
    fn judges_group(&self) -> bool {
        let is_work = self.assignment.task == AssignmentTask::Work;
        let judges = |offer: &AcceptedStatus| match offer.findings || offer.tests {
            true => is_work,
            false => offer.settles_group && !offer.blocked,
        };
        let may_judge = !self.is_author() && self.assignment.task != AssignmentTask::Merge;
        may_judge && list_accepted_statuses(self.workflow, self.state, self.assignment).iter().any(judges)
    }

    /// Only warnings about the reader's own situation. Remarks on another agent's report are in the log.
    pub(super) fn warnings(&self, pieces: &mut Vec<Section>) {
        let decisions = || [self.origin, self.lost].into_iter().flatten().filter_map(|event| event.decision.as_ref());
        let mut lines: Vec<String> = Vec::new();
        if decisions().any(|decision| decision.escalated) {
            lines.push("- Escalated to you: the role before you did not get this through.".to_owned());
        }
        let own = decisions().flat_map(|decision| &decision.warnings).filter(|warning| warning.code.is_none());
        lines.extend(own.map(|warning| format!("- {}", data::line(&warning.text))));
        lines.extend(self.lane().counters.iter().filter_map(|counter| self.counter(counter)));
        if !lines.is_empty() {
            pieces.push(Section::own(SectionKind::Warnings, "Limits and warnings".to_owned(), lines.join("\n")));
        }
    }

    /// A counter of the reader, or of the author that the reader's verdict goes back to.
    fn counter(&self, counter: &LoopCounter) -> Option<String> {
        let item = self.workflow.loops.iter().find(|item| item.name == counter.counted)?;
        let holder = role_after_overrides(self.workflow, self.state, self.group(), &counter.role);
        let is_own = holder.as_ref() == Some(&self.assignment.role);
        let is_near = !next_step(item, counter).is_empty();
        // A measured loop matters while something in it is open, any other only just before it escalates.
        let open = self.open_measure(item);
        if counter.iteration == 0 || open.is_none() && !(is_own && is_near) {
            return None;
        }
        let whose = if is_own { "you".to_owned() } else { format!("`{}`", holder.as_ref().unwrap_or(&counter.role)) };
        let mut line =
            format!("- `{}`, {whose}: iteration {} of {}", item.name, counter.iteration, item.limit.iteration);
        if let Some(limit) = item.limit.no_progress.filter(|_| counter.no_progress > 0) {
            line.push_str(&format!(", no progress for {} of {limit}", counter.no_progress));
        }
        if let Some((measure, open)) = open {
            line.push_str(&format!(", {} now", counted(open, measured(measure))));
        }
        line.push_str(next_step(item, counter));
        Some(line)
    }

    /// The measure that is open now in a measured loop. The counter holds its value of the last time the work
    /// went back.
    fn open_measure(&self, item: &Loop) -> Option<(LoopMeasure, u64)> {
        let (measure, group) = item.measure.zip(self.group())?;
        let open = match measure {
            LoopMeasure::BlockingFindings => u64::from(group.blocking_findings()),
            LoopMeasure::FailingTests => group.failing_tests.len() as u64,
        };
        (open > 0).then_some((measure, open))
    }

    /// The iteration that this review is.
    pub(super) fn review_iteration(&self) -> u32 {
        let of_findings = |name: &Name| {
            let item = self.workflow.loops.iter().find(|item| item.name == *name);
            item.is_some_and(|item| item.measure == Some(LoopMeasure::BlockingFindings))
        };
        let iterations = self.lane().counters.iter().filter(|counter| of_findings(&counter.counted));
        iterations.map(|counter| counter.iteration).max().unwrap_or(0).saturating_add(1)
    }

    pub(super) fn findings(&self, pieces: &mut Vec<Section>) {
        let Some(group) = self.group().filter(|_| self.assignment.task != AssignmentTask::Merge) else { return };
        let open = || group.findings.iter().enumerate().filter(|(_, finding)| finding.status == FindingStatus::Open);
        if open().next().is_some() {
            let listed = |most: usize| {
                let lines = open().map(|(index, _)| open_finding(group, index, self.said.of_finding(index), most));
                lines.collect::<Vec<_>>().join("\n")
            };
            let heading = "Open findings, with the author's responses".to_owned();
            let piece = Section::data(SectionKind::OpenFindings, heading, listed(DESCRIPTION));
            let is_extract = listed(DESCRIPTION) != listed(usize::MAX);
            let mut piece = piece.out_of(listed(usize::MAX)).extract(is_extract);
            piece.lead = self.about_findings(group);
            pieces.push(piece);
        }
        pieces.extend(self.settled_findings(group));
    }

    /// A line for each finding that ended: its reviewer and its author must not take it up again unaware.
    fn settled_findings(&self, group: &Group) -> Option<Section> {
        let settled = group.findings.iter().enumerate().filter(|(_, finding)| finding.status != FindingStatus::Open);
        let part = |(index, finding)| SectionPart {
            body: format!("- {}", settled_finding(group, index, finding)),
            ..SectionPart::default()
        };
        let parts: Vec<SectionPart> = settled.map(part).collect();
        if parts.is_empty() {
            return None;
        }
        let heading = if self.is_author() { "Settled findings: nothing to do" } else { "Settled findings" };
        let mut piece = Section::of_parts(SectionKind::SettledFindings, heading.to_owned(), parts);
        if !group.findings.iter().any(|finding| finding.status == FindingStatus::Open) {
            piece.lead = self.about_findings(group);
        }
        Some(piece)
    }

    fn about_findings(&self, group: &Group) -> Vec<String> {
        if !group.reviewers.contains(&self.assignment.role) {
            return Vec::new();
        }
        let settle = if self.has_own_findings() { "Settle each of your findings. " } else { "" };
        vec![format!("{settle}New MEDIUM and LOW findings cannot block.")]
    }

    /// The reader raised findings that are open.
    pub(super) fn has_own_findings(&self) -> bool {
        let own =
            |finding: &Finding| finding.status == FindingStatus::Open && finding.raised_by == self.assignment.role;
        self.group().is_some_and(|group| group.findings.iter().any(own))
    }

    pub(super) fn is_author(&self) -> bool {
        self.role().is_some_and(|role| role.author)
    }

    /// An author at work while findings are open.
    pub(super) fn answers_findings(&self) -> bool {
        let open = |group: &Group| group.findings.iter().any(|finding| finding.status == FindingStatus::Open);
        self.is_author() && self.assignment.task == AssignmentTask::Work && self.group().is_some_and(open)
    }

    pub(super) fn failing_tests(&self, pieces: &mut Vec<Section>) {
        let group = self.group().filter(|_| self.assignment.task != AssignmentTask::Merge);
        let tests = group.map_or(&[][..], |group| group.failing_tests.as_slice());
        let lines: Vec<String> = tests.iter().map(|test| format!("- {}", data::line(test))).collect();
        if !lines.is_empty() {
            let heading = "Failing tests of the last test report".to_owned();
            pieces.push(Section::data(SectionKind::FailingTests, heading, lines.join("\n")));
        }
        let stated = self.group().map_or(&[][..], |group| group.stated_failures.as_slice());
        let lines: Vec<String> = stated.iter().map(|one| format!("- {}", data::line(&one.to_string()))).collect();
        if !lines.is_empty() {
            let heading = "Failing tests reported with a status of success".to_owned();
            let mut piece = Section::data(SectionKind::FailingTests, heading, lines.join("\n"));
            let lead = "No later report states that these tests pass. Check them before you rely on the work.";
            piece.lead = vec![lead.to_owned()];
            pieces.push(piece);
        }
    }

    /// Blockers of other roles, for readers that do not help with them: a helper reads of them in its task.
    pub(super) fn blockers(&self, pieces: &mut Vec<Section>) {
        let is_helper = self.assignment.task == AssignmentTask::Consult;
        let blocks = self.lane().blocks.iter().filter(|block| !is_helper && block.role != self.assignment.role);
        let lines: Vec<String> = blocks
            .map(|block| match &block.reason {
                Some(reason) => format!("- `{}` is blocked: {}", block.role, data::code(reason)),
                None => format!("- `{}` is blocked", block.role),
            })
            .collect();
        if !lines.is_empty() {
            pieces.push(Section::own(SectionKind::Blockers, "Open blockers".to_owned(), lines.join("\n")));
        }
    }

    /// The groups of the session, for readers that work on the session as a whole.
    pub(super) fn groups(&self, pieces: &mut Vec<Section>) {
        if self.assignment.group.is_none() && !self.state.groups.is_empty() || self.hands_on("group_summaries") {
            let listed = |group: &Group| {
                let mut lines = group_summary(group, None);
                lines.splice(1..1, self.plan_line(group));
                lines.extend(evidence_lines(self.workflow, self.state, group));
                let looking = !self.workflow.checks_nothing(group);
                lines.extend(
                    notices::check_notice(group, self.workflow).filter(|_| looking).map(|notice| data::line(&notice)),
                );
                lines.extend(open_points(group));
                lines.join("\n  ")
            };
            let lines: Vec<String> = self.state.groups.iter().map(|group| format!("- {}", listed(group))).collect();
            let text = if lines.is_empty() { "none is planned".to_owned() } else { lines.join("\n") };
            let piece = Section::data(SectionKind::Groups, "Groups of the session".to_owned(), text);
            let unchecked = self.state.groups.iter().filter(|group| self.workflow.checks_nothing(group));
            let unchecked: Vec<String> = unchecked.map(|group| format!("`{}`", group.id)).collect();
            pieces.push(match unchecked.is_empty() {
                true => piece,
                false => piece.lead(format!("In {}, {}.", unchecked.join(", "), notices::NOTHING_CHECKED)),
            });
        }
    }

    /// The workflow passes this field on.
    fn hands_on(&self, field: &str) -> bool {
        self.decision().is_some_and(|decision| decision.context.iter().any(|own| *own == *field))
    }

    fn plan_line(&self, group: &Group) -> Option<String> {
        let words = self.said.description_of(&group.id)?;
        Some(format!("plan: {}", first_characters(&data::line(words), DESCRIPTION_IN_LIST)))
    }
}

/// Evidence that a group was excused from, failed, or does not have although its work was delivered.
pub(super) fn evidence_lines(workflow: &Workflow, state: &State, group: &Group) -> Vec<String> {
    let mut lines: Vec<String> = group.excused.iter().map(|excuse| data::line(&excuse.to_string())).collect();
    lines.extend(state.plan_exceptions(workflow, group).iter().map(|exception| data::line(exception)));
    if !group.failed.is_empty() {
        let failed: Vec<&str> = group.failed.iter().map(Name::as_str).collect();
        lines.push(format!("failed: {}", failed.join(", ")));
    }
    let missing = missing_evidence(workflow, state, group);
    if group.delivered && !group.ended() && !missing.is_empty() {
        lines.push(format!("not passed: {}", missing.join(", ")));
    }
    lines
}

/// A group in lines, for everyone who decides about the session: a role or a person. The first is the group itself.
/// With the workflow, also whether nothing is checked.
pub(super) fn group_summary(group: &Group, workflow: Option<&Workflow>) -> Vec<String> {
    let mut lines = vec![format!("{} [{}] {}", group.id, group.status().name(), data::line(&group.title))];
    if let GroupProgress::Ended(GroupEnd::Deferred { why, by, acknowledged }) = &group.progress {
        let state = match acknowledged {
            Some(name) => format!("acknowledged by {}", data::line(&shown_person(name))),
            None => "not acknowledged".to_owned(),
        };
        lines.push(format!("deferred by {}, {state}: {}", data::line(&shown_person(by)), data::line(why)));
    }
    lines.extend(group.lane.blocks.iter().map(|block| {
        let reason = block.reason.as_ref().map(|reason| format!(": {}", data::line(reason)));
        format!("{} is blocked{}", block.role, reason.unwrap_or_default())
    }));
    let reviewers: Vec<&str> = group.reviewers.iter().map(Name::as_str).collect();
    if !group.passed.is_empty() {
        let passed: Vec<&str> = group.passed.iter().map(Name::as_str).collect();
        let by = if reviewers.is_empty() { String::new() } else { format!(" (reviewed by {})", reviewers.join(", ")) };
        lines.push(format!("passed: {}{by}", passed.join(", ")));
    }
    lines.extend(notices::serious_findings(group).map(|notice| data::line(&notice)));
    lines
        .extend(workflow.and_then(|workflow| notices::check_notice(group, workflow)).map(|notice| data::line(&notice)));
    let stated = group.stated_failures.iter();
    lines.extend(stated.map(|one| format!("failing tests reported by {}", data::line(&one.to_string()))));
    lines.extend(group.notes.iter().map(|note| format!("note: {}", data::line(note))));
    lines
}

/// Failing tests and open findings of a group. Severe findings that do not block have a line of their own.
fn open_points(group: &Group) -> Vec<String> {
    let mut lines = Vec::new();
    if !group.failing_tests.is_empty() {
        let tests: Vec<String> = group.failing_tests.iter().map(|test| data::line(test)).collect();
        lines.push(format!("failing tests: {}", tests.join("; ")));
    }
    let open = group.findings.iter().enumerate().filter(|(_, finding)| finding.status == FindingStatus::Open);
    let open = open.filter(|(_, finding)| !finding.is_serious_remark());
    lines.extend(open.map(|(index, finding)| {
        format!("open finding {}; {}", finding_head(finding), finding_response(group, index, finding))
    }));
    lines
}

fn grade(grade: FindingSeverity) -> &'static str {
    match grade {
        FindingSeverity::Critical => "CRITICAL",
        FindingSeverity::High => "HIGH",
        FindingSeverity::Medium => "MEDIUM",
        FindingSeverity::Low => "LOW",
    }
}

fn measured(measure: LoopMeasure) -> &'static str {
    match measure {
        LoopMeasure::BlockingFindings => "blocking finding",
        LoopMeasure::FailingTests => "failing test",
    }
}

/// Whether the next iteration escalates.
fn next_step(item: &Loop, counter: &LoopCounter) -> &'static str {
    let is_stuck = item.limit.no_progress.is_some_and(|limit| counter.no_progress >= limit);
    if is_stuck || counter.iteration >= item.limit.iteration {
        return "; the limit is reached";
    }
    let last = counter.iteration.saturating_add(1) >= item.limit.iteration;
    let stuck = item.limit.no_progress.is_some_and(|limit| counter.no_progress.saturating_add(1) >= limit);
    match (last, stuck) {
        (true, _) => "; the next one escalates",
        (false, true) => "; the next one without progress escalates",
        (false, false) => "",
    }
}

/// A finding, with so many characters of what its reviewer wrote of it.
fn open_finding(group: &Group, index: usize, words: Option<&str>, most: usize) -> String {
    let Some(finding) = group.findings.get(index) else { return String::new() };
    let mut line = format!("- {}", finding_head(finding));
    if let Some(words) = words.map(data::text) {
        let shown: String = words.chars().take(most).collect();
        let more = if shown.len() < words.len() { " …" } else { "" };
        for said in format!("{}{more}", shown.trim()).lines() {
            line.push_str(&format!("\n  | {said}"));
        }
    }
    line.push_str(&format!("\n  {}", finding_response(group, index, finding)));
    line
}

/// A finding that ended: how, and what its author answered.
fn settled_finding(group: &Group, index: usize, finding: &Finding) -> String {
    let is_fixed = finding.response.as_ref().is_some_and(|response| response.response == ResponseKind::Fixed);
    let state = match (&finding.accepted_as_is_by, &finding.dropped_because, finding.status) {
        (Some(by), _, _) => format!("not resolved; {} accepted the group as it is", data::line(&shown_person(by))),
        (None, Some(reason), _) => format!("dropped: {}", data::line(reason)),
        (None, None, FindingStatus::Accepted) => "rejection accepted, do not raise it again".to_owned(),
        (None, None, FindingStatus::Closed | FindingStatus::Open) if is_fixed => "fix confirmed".to_owned(),
        (None, None, FindingStatus::Closed | FindingStatus::Open) => "ended by its reviewer".to_owned(),
    };
    let response = finding.response.as_ref().map(|_| format!("; {}", finding_response(group, index, finding)));
    format!("{}: {state}{}", finding_head(finding), response.unwrap_or_default())
}

pub(super) fn finding_head(finding: &Finding) -> String {
    let grade = grade(finding.severity);
    let blocking = if finding.blocking { "blocking" } else { "not blocking" };
    let (id, place, title) = (data::line(&finding.id), data::line(&finding.location), data::line(&finding.title));
    format!("{id} [{grade}, {blocking}] {place}: {title} (by {})", finding.raised_by)
}

/// The author's response, and whether the reviewer refuted it.
pub(super) fn finding_response(group: &Group, index: usize, finding: &Finding) -> String {
    let Some(response) = &finding.response else { return "no response yet".to_owned() };
    let word = match response.response {
        ResponseKind::Fixed => "fixed",
        ResponseKind::Rejected => "rejected",
        ResponseKind::Deferred => "deferred",
    };
    let reason = response.reason.as_deref().map(|reason| format!(": {}", data::line(reason)));
    let refuted = finding.response_refuted && finding.status == FindingStatus::Open;
    let refuted = if refuted { refutation(group, index, finding, response.response) } else { String::new() };
    format!("author's last response: {word}{}{refuted}", reason.unwrap_or_default())
}

/// The reviewer insists on a finding that the author answered.
fn refutation(group: &Group, index: usize, finding: &Finding, response: ResponseKind) -> String {
    let how = match response {
        ResponseKind::Rejected => "rejection overruled",
        ResponseKind::Fixed | ResponseKind::Deferred => "raised again",
    };
    let review = group.words.refuted_in.get(&index).map(|number| format!(" in review {number}"));
    format!("; {how} by {}{}", finding.raised_by, review.unwrap_or_default())
}
