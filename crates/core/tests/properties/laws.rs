//! The laws that must hold under every command.

use std::collections::{BTreeMap, BTreeSet};

use interlock_core::code::Code;
use interlock_core::command::Command;
use interlock_core::decide::DecideOutcome;
use interlock_core::event::{Event, EventCause, StateChange};
use interlock_core::handoff::ResponseKind;
use interlock_core::id::Name;
use interlock_core::state::{
    Finding, FindingStatus, Group, GroupEnd, GroupProgress, Lane, PartHolder, SessionStatus, State,
};
use interlock_core::workflow::Workflow;

use crate::driver::DriverStep;

/// The evidence that the history of a group shows, derived without the code that decides.
#[derive(Default)]
struct ExpectedEvidence {
    approved: bool,
    accepted: bool,
    merged: bool,
    blocked: bool,
    tested: TestVerdict,
    /// Reported by its author, or waived by a person, for this tree.
    excused: bool,
}

/// QA's verdict on this tree, as its own latest report has it.
#[derive(Default, Clone, Copy, PartialEq, Eq, Debug)]
enum TestVerdict {
    #[default]
    Never,
    Passed,
    Failed,
    /// QA was blocked, and no approval came since.
    Blocked,
    /// QA was blocked, and the tree was approved afterwards.
    BlockedThenApproved,
}

/// The roles and statuses that show each kind of evidence, where a workflow needs it to complete a group.
#[derive(Default)]
struct EvidenceStatuses {
    approve: &'static [(&'static str, &'static str)],
    accept: &'static [(&'static str, &'static str)],
    /// Accepting may stand for approving.
    acceptance_approves: bool,
    merged: Option<&'static str>,
    /// The evidence that an acceptance passes.
    acceptance: Option<&'static str>,
}

impl EvidenceStatuses {
    fn of(workflow: &Workflow) -> Self {
        match workflow.name.as_str() {
            "delivery-team" => Self {
                approve: &[("tech_lead", "APPROVED"), ("tech_lead", "APPROVED_WITH_NOTES")],
                accept: &[("project_manager", "GROUP_ACCEPTED")],
                acceptance_approves: true,
                merged: Some("MERGE_SUCCESS"),
                acceptance: Some("acceptance"),
            },
            "odd" => Self {
                approve: &[("helper", "OK")],
                accept: &[("boss", "GOOD")],
                acceptance_approves: false,
                merged: Some("MERGED"),
                acceptance: Some("good"),
            },
            // The pipelines ask for no more than that every phase was passed.
            _ => Self::default(),
        }
    }
}

const SESSION: &str = "the session itself";

#[derive(Default)]
pub(crate) struct Laws {
    evidence: BTreeMap<Name, ExpectedEvidence>,
    /// By group and `location|title`: who had raised what was settled.
    settled: BTreeMap<(Name, String), BTreeSet<Name>>,
    /// A person spoke about the end of a session in which nothing was completed.
    acknowledged: bool,
    /// By group and gate: the tree that it last passed on, read from the causes of events alone.
    passed_on: BTreeMap<(Name, Name), Name>,
    /// By group: the trees that QA's latest verdict failed.
    failed_on: BTreeSet<(Name, Name)>,
    /// How often sequences came to the states that the laws are about.
    pub(crate) reached: BTreeMap<&'static str, u64>,
}

/// As often as sequences have to reach a state that a law is about.
const OFTEN: u64 = 20;

/// The same, for a state that takes three rounds of work on one group: random sequences seldom get there.
const RARE: u64 = 3;

/// States without which the laws on failed trees, findings and gates would hold over nothing, and how often at least.
pub(crate) const STATES: &[(&str, u64)] = &[
    (APPROVAL_OVER_FINDING, OFTEN),
    (FINDING_LOWERED, OFTEN),
    (ID_REUSED, OFTEN),
    (ACCEPTANCE_OVER_FAILURE, OFTEN),
    (AUTHOR_BACK_ON_FAILED_TREE, RARE),
    (PASS_WITHDRAWN, OFTEN),
    (COMPLETED_AFTER_FAILURE, OFTEN),
    (COMPLETED_AFTER_FINDING, OFTEN),
    (COMPLETED_AS_IS, RARE),
    (COMPLETED_WITH_GATE, OFTEN),
    (GATE_ON_OTHER_TREE, OFTEN),
];

const APPROVAL_OVER_FINDING: &str = "a report that would pass is refused while a finding is open";
const FINDING_LOWERED: &str = "a reviewer lists an open blocking finding as one that does not block";
const ID_REUSED: &str = "a reviewer uses the id of an open finding for another";
const ACCEPTANCE_OVER_FAILURE: &str = "a report is refused because QA failed the tree";
const PASS_WITHDRAWN: &str = "QA reports again on a tree that it passed, and does not pass it";
const AUTHOR_BACK_ON_FAILED_TREE: &str = "an author delivers a tree that QA failed before";
const COMPLETED_AFTER_FAILURE: &str = "a group completes after QA failed another tree of it";
const COMPLETED_AFTER_FINDING: &str = "a group completes after a blocking finding ended";
const COMPLETED_AS_IS: &str = "a group completes with a finding that was accepted as it is";
const COMPLETED_WITH_GATE: &str = "a session completes whose groups have gates";
const GATE_ON_OTHER_TREE: &str = "a session has passed its gates on another tree than the present one";

impl Laws {
    pub(crate) fn hold(&mut self, workflow: &Workflow, step: &DriverStep, after: &State) {
        match &step.result {
            Err(_) | Ok(DecideOutcome::Repeated(_)) => {
                self.count_refusal(step);
                assert_eq!(step.before, *after, "a refusal or a repeat must change nothing");
            }
            Ok(DecideOutcome::Decided(event)) => {
                self.gather(workflow, step, event);
                self.gather_gates(event, &step.before);
                self.count_states(step, event, after);
                self.no_group_completes_on_a_failed_tree(workflow, step, event, after);
                self.no_settled_finding_blocks(event, &step.before, after);
                findings_end_explicitly(&step.command, event, &step.before);
                ids_name_one_open_finding(after);
                counters_only_grow(event, &step.before, after);
                self.completion_has_evidence(workflow, after);
                self.completed_session_has_gates_of_its_tree(workflow, step, after);
                somebody_holds_every_open_thing(after, event);
                work_goes_on(after, event);
                what_ended_stays_ended(event, &step.before, after);
                what_must_be_watched_was(workflow, after);
                what_is_kept_beside_the_groups_agrees_with_them(after);
            }
        }
    }

    /// QA's latest verdict on a tree holds wherever the author goes in between.
    fn no_group_completes_on_a_failed_tree(
        &mut self,
        workflow: &Workflow,
        step: &DriverStep,
        event: &Event,
        after: &State,
    ) {
        if let EventCause::Reported { assignment, status, .. } = &event.cause {
            let assignment = step.before.assignments.get(assignment).unwrap();
            let group = assignment.group.as_ref().and_then(|group| after.group(group));
            let tree = group.and_then(|group| Some((group.id.clone(), group.diff.as_ref()?.tree.clone())));
            match (assignment.role.as_str(), status.as_str(), tree) {
                ("qa_expert", "PASS", Some(tree)) => self.failed_on.remove(&tree),
                ("qa_expert", "FAIL" | "FAIL_ESCALATE", Some(tree)) => self.failed_on.insert(tree),
                ("qa_expert", _, Some(tree)) if lists_failing_tests(&step.command) => self.failed_on.insert(tree),
                _ => false,
            };
        }
        for group in completed_now(event, after).filter(|group| tests_are_needed(workflow, after, group)) {
            let tree = group.diff.as_ref().map(|diff| (group.id.clone(), diff.tree.clone()));
            let failed = tree.as_ref().is_some_and(|tree| self.failed_on.contains(tree));
            assert!(!failed, "{} completed on {tree:?}, which QA failed", group.id);
        }
    }

    fn count(&mut self, state: &'static str) {
        *self.reached.entry(state).or_default() += 1;
    }

    fn count_refusal(&mut self, step: &DriverStep) {
        let Err(rejection) = &step.result else { return };
        match rejection.code {
            Code::StillOpen => self.count(APPROVAL_OVER_FINDING),
            Code::EvidenceFailed => self.count(ACCEPTANCE_OVER_FAILURE),
            _ => {}
        }
    }

    fn count_states(&mut self, step: &DriverStep, event: &Event, after: &State) {
        if let EventCause::Reported { assignment, .. } = &event.cause
            && let Command::Report(report) = &step.command
            && let Some(assignment) = step.before.assignments.get(assignment)
            && let Some(group) = assignment.group.as_ref().and_then(|group| step.before.group(group))
        {
            let open = || group.findings.iter().filter(|f| f.is_blocking() && f.raised_by == assignment.role);
            for issue in report.handoff.issues.iter().flatten() {
                let same = |finding: &Finding| finding.same_as(&issue.location, &issue.title);
                if !issue.blocking && open().any(same) {
                    self.count(FINDING_LOWERED);
                }
                if open().any(|finding| finding.id == issue.id && !same(finding)) {
                    self.count(ID_REUSED);
                }
            }
            let tree = report.observed.as_ref().map(|observed| (group.id.clone(), observed.tree.clone()));
            let is_author = group.author.as_ref() == Some(&assignment.role);
            let moved = |tree: &(Name, Name)| group.diff.as_ref().is_some_and(|diff| diff.tree != tree.1);
            if tree.is_some_and(|tree| is_author && moved(&tree) && self.failed_on.contains(&tree)) {
                self.count(AUTHOR_BACK_ON_FAILED_TREE);
            }
        }
        for group in completed_now(event, after) {
            if self.failed_on.iter().any(|(failed, _)| *failed == group.id) {
                self.count(COMPLETED_AFTER_FAILURE);
            }
            if group.findings.iter().any(|finding| finding.blocking && finding.accepted_as_is_by.is_none()) {
                self.count(COMPLETED_AFTER_FINDING);
            }
            if group.findings.iter().any(|finding| finding.accepted_as_is_by.is_some()) {
                self.count(COMPLETED_AS_IS);
            }
        }
        if self.passed_on.values().any(|tree| *tree != step.tree) {
            self.count(GATE_ON_OTHER_TREE);
        }
        if after.status == SessionStatus::Completed && !self.passed_on.is_empty() {
            self.count(COMPLETED_WITH_GATE);
        }
    }

    fn gather_gates(&mut self, event: &Event, before: &State) {
        let EventCause::GateFinished { run, passed: true, tree, .. } = &event.cause else { return };
        let run = before.gate_runs.get(run).unwrap();
        let group = run.group.clone().unwrap_or_else(|| Name::new(SESSION));
        let own = Some((group, run.gate.clone())).filter(|_| run.again.is_empty()).into_iter();
        let again = run.again.iter().map(|again| (again.group.clone(), again.gate.clone()));
        self.passed_on.extend(own.chain(again).map(|gate| (gate, tree.clone())));
    }

    /// No sequence completes a session while a gate of a completed group has not passed on the tree that is there.
    fn completed_session_has_gates_of_its_tree(&self, workflow: &Workflow, step: &DriverStep, after: &State) {
        if after.status != SessionStatus::Completed {
            return;
        }
        for gate in workflow.requirements().session_gates {
            let passed_on = self.passed_on.get(&(Name::new(SESSION), gate.clone()));
            assert_eq!(passed_on, Some(&step.tree), "`{gate}` of the session on {}", step.tree);
        }
        let completed = after.groups.iter().filter(|group| group.progress == GroupProgress::Ended(GroupEnd::Completed));
        for group in completed {
            for (gate, by_plan) in workflow.requirements().gates {
                if by_plan && group.checks.is_empty() {
                    continue;
                }
                let passed_on = self.passed_on.get(&(group.id.clone(), gate.clone()));
                let told = format!("{} of {}: `{gate}` on {}", group.id, workflow.name, step.tree);
                assert_eq!(passed_on, Some(&step.tree), "{told}");
            }
        }
    }

    fn gather(&mut self, workflow: &Workflow, step: &DriverStep, event: &Event) {
        let handoff_of = |id| step.before.assignments.get(id);
        let works =
            |id| handoff_of(id).is_some_and(|given| given.task == interlock_core::workflow::AssignmentTask::Work);
        let mut passes_withdrawn = 0;
        if let EventCause::Reported { assignment, status, .. } | EventCause::Merged { assignment, status, .. } =
            &event.cause
        {
            let works = works(assignment);
            let assignment = handoff_of(assignment).unwrap();
            if let Some(group) = &assignment.group {
                let evidence = self.evidence.entry(group.clone()).or_default();
                let (role, status) = (assignment.role.as_str(), status.as_str());
                let words = EvidenceStatuses::of(workflow);
                let before = evidence.tested;
                evidence.tested = match (role, status) {
                    ("qa_expert", "PASS") => TestVerdict::Passed,
                    ("qa_expert", "FAIL" | "FAIL_ESCALATE") => TestVerdict::Failed,
                    ("qa_expert", _) if lists_failing_tests(&step.command) => TestVerdict::Failed,
                    ("qa_expert", "BLOCKED") if evidence.tested != TestVerdict::Failed => TestVerdict::Blocked,
                    ("qa_expert", _) if works && evidence.tested == TestVerdict::Passed => TestVerdict::Never,
                    _ if evidence.tested == TestVerdict::Blocked && words.approve.contains(&(role, status)) => {
                        TestVerdict::BlockedThenApproved
                    }
                    _ => evidence.tested,
                };
                passes_withdrawn += u64::from(before == TestVerdict::Passed && evidence.tested != before);
                evidence.excused |= status == "NOTHING_TO_DO";
                evidence.approved |= words.approve.contains(&(role, status));
                evidence.accepted |= words.accept.contains(&(role, status));
                let approved = evidence.approved || evidence.accepted && words.acceptance_approves;
                evidence.merged |= approved && words.merged == Some(status);
                let blocked = workflow.blocked.as_ref().map(|blocked| workflow.status_name(blocked.status).as_str());
                evidence.blocked |= Some(status) == blocked;
            }
        }
        *self.reached.entry(PASS_WITHDRAWN).or_default() += passes_withdrawn;
        if let EventCause::Waived { group, .. } = &event.cause {
            self.evidence.entry(group.clone()).or_default().excused = true;
        }
        for change in &event.changes {
            match change {
                // The author works again: earlier evidence does not cover the new tree.
                StateChange::Assigned {
                    group: Some(group),
                    role,
                    task: interlock_core::workflow::AssignmentTask::Work,
                    ..
                } => {
                    let author = workflow.role_named(role).is_some_and(|role| workflow.role(role).author);
                    if author {
                        let blocked = self.evidence.get(group).is_some_and(|evidence| evidence.blocked);
                        self.evidence
                            .insert(group.clone(), ExpectedEvidence { blocked, ..ExpectedEvidence::default() });
                    }
                }
                StateChange::GroupPlanned { .. } => self.acknowledged = false,
                StateChange::NothingCompletedAcknowledged { .. } => {
                    assert!(matches!(
                        event.cause,
                        EventCause::Answered { .. } | EventCause::Acknowledged { .. } | EventCause::Accepted { .. }
                    ));
                    self.acknowledged = true;
                }
                StateChange::Passed { group, name }
                    if Some(name.as_str()) == EvidenceStatuses::of(workflow).acceptance =>
                {
                    self.evidence.entry(group.clone()).or_default().accepted = true;
                }
                _ => {}
            }
        }
    }

    fn completion_has_evidence(&self, workflow: &Workflow, after: &State) {
        for group in after.groups.iter().filter(|group| group.progress == GroupProgress::Ended(GroupEnd::Completed)) {
            let none = ExpectedEvidence::default();
            let evidence = self.evidence.get(&group.id).unwrap_or(&none);
            let told = format!("{} of {}", group.id, workflow.name);
            let words = EvidenceStatuses::of(workflow);
            assert!(evidence.merged || words.merged.is_none(), "{told} completed without approval and then merge");
            if tests_are_needed(workflow, after, group) {
                assert_ne!(evidence.tested, TestVerdict::Failed, "{told} completed with failing tests");
                let excused = evidence.excused || evidence.tested == TestVerdict::BlockedThenApproved;
                let tested = evidence.tested == TestVerdict::Passed || excused && evidence.accepted;
                assert!(tested, "{told} completed without tests: {:?}", evidence.tested);
            }
            let confirmed = !evidence.blocked || evidence.accepted || words.acceptance.is_none();
            assert!(confirmed, "{told} completed after a block without acceptance");
            assert!(group.lane.blocks.is_empty(), "{told} completed with a block that nothing resolved");
            assert_eq!(group.blocking_findings(), 0, "{told} completed with findings open");
            let empty = group.diff.as_ref().is_some_and(|diff| diff.is_empty());
            let code = workflow.name == "delivery-team" && group.flags.get("kind").is_none_or(|kind| kind == "code");
            let accepted = group.accepted_unchanged.is_some() && evidence.accepted;
            assert!(!(empty && code) || accepted, "{told} completed with an empty diff that was not accepted");
            assert!(
                group.checks.is_empty() || group.gates_passed.contains("checks"),
                "{told} completed without its gate"
            );
        }
        if after.status == SessionStatus::Completed {
            for group in &after.groups {
                let fine = match &group.progress {
                    GroupProgress::Ended(GroupEnd::Deferred { acknowledged, .. }) => acknowledged.is_some(),
                    GroupProgress::Ended(GroupEnd::Completed | GroupEnd::Cancelled { .. }) => true,
                    GroupProgress::Pending
                    | GroupProgress::Working
                    | GroupProgress::Arrived
                    | GroupProgress::AwaitingConfirmation => false,
                };
                assert!(fine, "the session completed with {} {:?}", group.id, group.progress);
            }
            assert!(after.open.is_empty(), "the session completed with assignments open");
            let is_completed = |group: &Group| group.progress == GroupProgress::Ended(GroupEnd::Completed);
            let worked = after.groups.iter().any(|group| is_completed(group) && is_work(workflow, group));
            let declared = after.session.as_ref().is_some_and(|session| session.investigation);
            let fine = worked || self.acknowledged || declared && after.groups.iter().all(is_completed);
            assert!(fine, "the session completed with nothing done, and no person knows");
        }
    }

    /// Only a finding that another reviewer had open before, and keeps open, may still block.
    fn no_settled_finding_blocks(&mut self, event: &Event, before: &State, after: &State) {
        for change in &event.changes {
            let StateChange::Reviewed { group, findings, .. } = change else { continue };
            for (_, finding) in findings.iter().filter(|(_, finding)| finding.status == FindingStatus::Accepted) {
                let raised_by = self.settled.entry((group.clone(), identity(finding))).or_default();
                raised_by.insert(finding.raised_by.clone());
            }
        }
        for group in &after.groups {
            for finding in group.findings.iter().filter(|finding| finding.is_blocking()) {
                let Some(raised_by) = self.settled.get(&(group.id.clone(), identity(finding))) else { continue };
                let same = |old: &Finding| {
                    old.is_blocking() && old.raised_by == finding.raised_by && identity(old) == identity(finding)
                };
                let stood = before.group(&group.id).is_some_and(|group| group.findings.iter().any(same));
                let fine = stood && !raised_by.contains(&finding.raised_by);
                assert!(fine, "{finding:?} blocks again after its rejection was accepted");
            }
        }
    }
}

/// The report names tests that fail, whatever its status.
fn lists_failing_tests(command: &Command) -> bool {
    let Command::Report(report) = command else { return false };
    report.handoff.failing_tests.as_ref().is_some_and(|tests| !tests.is_empty())
}

/// The groups that this event completes.
fn completed_now<'a>(event: &'a Event, after: &'a State) -> impl Iterator<Item = &'a Group> {
    event.changes.iter().filter_map(|change| match change {
        StateChange::GroupEnded { group, end: GroupEnd::Completed } => after.group(group),
        _ => None,
    })
}

/// Whether a completed group counts as a result of the session, written a second time without the deciding code.
fn is_work(workflow: &Workflow, group: &Group) -> bool {
    let has_changes = group.diff.as_ref().is_some_and(|diff| !diff.is_empty());
    let is_code = group.flags.get("kind").is_none_or(|kind| kind == "code");
    group.nothing_to_do.is_none() && (workflow.name != "delivery-team" || is_code || has_changes)
}

/// The condition of the need `qa`, written a second time. Research that changes code counts as code.
fn tests_are_needed(workflow: &Workflow, state: &State, group: &Group) -> bool {
    let set = |name: &str, value: &str| {
        let session = state.session.as_ref();
        let chosen = session.and_then(|session| session.settings.get(name)).or_else(|| group.flags.get(name));
        chosen.is_none_or(|chosen| chosen.as_str() == value)
    };
    let beyond = group.diff.as_ref().is_some_and(|diff| !diff.outside.is_empty());
    workflow.name.as_str() == "delivery-team" && set("testing", "full") && (beyond || set("kind", "code"))
}

/// A blocking finding stops blocking only by its own reviewer: by name, or left out after the author answered `fixed`.
/// Otherwise a group is accepted with it, and it says by whom. No finding takes the place of another.
fn findings_end_explicitly(command: &Command, event: &Event, before: &State) {
    let handoff = match command {
        Command::Report(report) => Some(&report.handoff),
        Command::Merged(merged) => Some(&merged.handoff),
        _ => None,
    };
    for change in &event.changes {
        let StateChange::Reviewed { group, by, findings } = change else { continue };
        let old = before.group(group).map_or(&[][..], |group| group.findings.as_slice());
        for (index, finding) in findings {
            let Some(was) = old.get(*index as usize).filter(|was| was.is_blocking()) else { continue };
            assert!(was.same_as(&finding.location, &finding.title), "{finding:?} took the place of {was:?}");
            if finding.is_blocking() {
                continue;
            }
            if finding.accepted_as_is_by.is_some() {
                assert_eq!((finding.accepted_as_is_by.as_ref(), finding.status), (Some(by), FindingStatus::Accepted));
                let answered = was.response.is_some() && !was.response_refuted;
                let counters = before.group(group).map_or(&[][..], |group| group.lane.counters.as_slice());
                let escalated = counters.iter().any(|c| c.counted.ends_with("/escalated") && c.role == *by);
                let by_role = matches!(event.cause, EventCause::Reported { .. });
                assert!(
                    !by_role || answered || escalated,
                    "{by} accepted over {was:?}, which its author never answered"
                );
                continue;
            }
            assert_eq!(by, &was.raised_by, "another role ended {was:?}");
            let tracking = &handoff.expect("a review is a report").tracking;
            let answered = |finding: &Finding, answer| finding.response.as_ref().is_some_and(|r| r.response == answer);
            let ended = match finding.status {
                FindingStatus::Accepted => old.iter().any(|named| {
                    let same = named.raised_by == was.raised_by && identity(named) == identity(was);
                    let rejected = answered(named, ResponseKind::Rejected) || answered(named, ResponseKind::Deferred);
                    same && rejected && tracking.rejections_accepted.contains(&named.id)
                }),
                FindingStatus::Closed | FindingStatus::Open => {
                    let confirmed = tracking.fixes_confirmed.contains(&was.id);
                    let dropped = tracking.findings_dropped.iter().any(|dropped| dropped.id == was.id);
                    // Findings can share location and title; each issue of the review stands for one of them.
                    let listed = handoff.iter().flat_map(|handoff| handoff.issues.iter().flatten());
                    let listed = listed.filter(|issue| was.same_as(&issue.location, &issue.title)).count();
                    let twins = old
                        .iter()
                        .filter(|twin| twin.raised_by == was.raised_by && twin.same_as(&was.location, &was.title));
                    let omitted = listed < twins.count();
                    confirmed || dropped || omitted && answered(was, ResponseKind::Fixed) && !was.response_refuted
                }
            };
            assert!(ended, "{was:?} ended without a word: {finding:?}");
        }
    }
}

/// Answers and verdicts name findings by id, so no two open findings of a group share one.
fn ids_name_one_open_finding(after: &State) {
    for group in &after.groups {
        let open = group.findings.iter().filter(|finding| finding.status == FindingStatus::Open);
        let mut ids = BTreeSet::new();
        for finding in open {
            assert!(ids.insert(&finding.id), "`{}` names two open findings of {}", finding.id, group.id);
        }
    }
}

fn identity(finding: &Finding) -> String {
    format!("{}|{}", finding.location, finding.title)
}

fn what_ended_stays_ended(event: &Event, before: &State, after: &State) {
    let ended_now = event.changes.iter().filter_map(|change| match change {
        StateChange::GroupEnded { group, .. } => Some(group),
        _ => None,
    });
    let ended_before = before.groups.iter().filter(|group| group.ended()).map(|group| &group.id);
    for name in ended_now.chain(ended_before) {
        assert!(after.group(name).unwrap().ended(), "{name} ended and is at work again");
    }
}

fn what_is_kept_beside_the_groups_agrees_with_them(after: &State) {
    let mut made_anew = after.clone();
    made_anew.reindex();
    assert_eq!(made_anew, *after);
}

fn counters_only_grow(event: &Event, before: &State, after: &State) {
    let lanes = |state: &State| -> BTreeMap<(Option<Name>, Name, Name), u32> {
        let own = state.lane.counters.iter().map(|counter| (None, counter));
        let groups = state
            .groups
            .iter()
            .flat_map(|group| group.lane.counters.iter().map(|counter| (Some(group.id.clone()), counter)));
        own.chain(groups)
            .map(|(group, counter)| ((group, counter.counted.clone(), counter.role.clone()), counter.iteration))
            .collect()
    };
    let (old, new) = (lanes(before), lanes(after));
    for (key, count) in old {
        let reset = event.changes.iter().any(|change| {
            matches!(change, StateChange::CounterReset { group, counted, role }
                if (group.clone(), counted.clone(), role.clone()) == key)
        });
        assert!(reset || new.get(&key).is_some_and(|now| *now >= count), "{key:?} went down without a reset");
    }
}

/// Every open assignment, question and gate is held by exactly one part.
fn somebody_holds_every_open_thing(state: &State, event: &Event) {
    let lanes = || std::iter::once(&state.lane).chain(state.groups.iter().map(|group| &group.lane));
    let parts = || lanes().flat_map(|lane: &Lane| &lane.parts);
    for id in &state.open {
        let holders = parts().filter(|part| part.holder == PartHolder::Assignment(*id)).count();
        assert_eq!(holders, 1, "assignment {id} is held by {holders} parts, after {event:#?}");
    }
    for id in &state.open_questions {
        let holders = parts().filter(|part| part.holder == PartHolder::Question(*id)).count();
        assert_eq!(holders, 1, "question {id} is held by {holders} parts, after {event:#?}");
    }
    for part in parts() {
        if let PartHolder::Assignment(id) = &part.holder {
            assert!(state.open.contains(id), "{id} is held and not open");
        }
        let roles: BTreeSet<_> = part.waiting.iter().map(|seat| &seat.role).collect();
        assert_eq!(roles.len(), part.waiting.len(), "a role waits twice");
    }
}

/// No dead end: a session that is not over has an action that an agent or a person can take.
fn work_goes_on(state: &State, event: &Event) {
    if state.ended() {
        assert!(state.open.is_empty() && state.open_questions.is_empty(), "the session ended with work open");
        return;
    }
    let open = !state.open.is_empty() || !state.open_questions.is_empty() || !state.gate_runs.is_empty();
    assert!(open, "nothing is open and the session is not over, after {event:#?}");
    for group in state.groups.iter().filter(|group: &&Group| group.progress == GroupProgress::Working) {
        assert!(group.lane.is_open(), "{} works and nobody holds it, after {event:#?}", group.id);
    }
}

fn what_must_be_watched_was(workflow: &Workflow, after: &State) {
    let unwatched = after.watch.unwatched();
    assert!(!workflow.orchestrator.watched || unwatched == 0, "{unwatched} handoffs were taken that nobody watched");
}
