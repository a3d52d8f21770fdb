//! An agent submits its handoff.

use std::collections::BTreeMap;

use crate::code::Code;
use crate::command::{DecisionInputs, SubmitReport};
use crate::decide::accepted_statuses::list_accepted_statuses;
use crate::decide::apply_rule::DecisionActor;
use crate::decide::changes::require_changes;
use crate::decide::choose::choose_rule;
use crate::decide::draft::DecisionDraft;
use crate::decide::findings_ledger::{FindingsLedger, MeasureObligation, MeasureObligations};
use crate::decide::needs::refuse_failed;
use crate::decide::rule_context::RuleContext;
use crate::decide::{DecideOutcome, DecisionContext, refuse};
use crate::decision::{DecisionAction, Warning};
use crate::event::{BlockerResolution, ClosureKind, EventCause, StateChange};
use crate::handoff::{Handoff, is_something};
use crate::id::{AssignmentId, DecisionId, Digest, Name, Timestamp};
use crate::naming;
use crate::observed::{ObservedChanges, changes_tree};
use crate::rejection::Rejection;
use crate::state::{Assignment, AssignmentClosure, GatePurpose, GroupEnd, State};
use crate::workflow::*;

/// Characters kept of one note for later.
const LONGEST_NOTE: usize = 300;
/// Notes for later that one report adds.
const MOST_NOTES_OF_REPORT: usize = 10;

/// Loop counters as a described state gives them: the report is counted already.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct AssumedLoop {
    pub(crate) iteration: u32,
    pub(crate) no_progress: u32,
    pub(crate) open: Option<u32>,
    /// Escalations to the role that the loop would escalate to next.
    pub(crate) escalated: u32,
}

/// The assumptions of `route` and of examples about a state that is not stored.
#[derive(Clone, Debug, Default)]
pub(crate) struct RouteAssumptions {
    pub(crate) loops: BTreeMap<LoopIx, AssumedLoop>,
    /// Evidence that is described as passed or not; the rest is assumed to be passed.
    pub(crate) passed: BTreeMap<Name, bool>,
    /// All groups of the session were described, even if there are none.
    pub(crate) groups_described: bool,
}

impl RouteAssumptions {
    pub(crate) fn of(&self, ix: LoopIx) -> Option<AssumedLoop> {
        Some(self.loops.get(&ix).copied().unwrap_or_default())
    }
}

pub(super) fn report(cx: &DecisionContext<'_>, report: &SubmitReport) -> Result<DecideOutcome, Rejection> {
    let id = report.assignment;
    check_reporter(cx.state, id, report.token, None)?;
    cx.is_watched(report.via.as_ref())?;
    let assignment = cx.assignment(id)?;
    if assignment.lease_until.is_some_and(|until| until < cx.inputs.now) {
        let message = format!("the time that {} had for assignment {id} is up", assignment.role);
        return Err(
            Rejection::new(Code::Late, message).help("claim the assignment again, and let the agent do the work again")
        );
    }
    if report.via.is_some() {
        return_unknown_status(cx, assignment, &report.handoff)?;
    }
    let mut draft = route_report(cx, (id, assignment), &report.handoff, report.observed.as_deref(), None)?;
    draft.record_channel(report.via.as_ref());
    draft.handoff = Some(report.handoff.submitted.clone());
    let status = report.handoff.said.clone();
    let (via, observed, filled_in) = (report.via.clone(), report.observed.clone(), report.handoff.filled_in.clone());
    Ok(draft.finish(EventCause::Reported { assignment: id, status, via, observed, filled_in }))
}

/// How often a status that the role does not have goes back to the agent before the workflow's fallback applies.
const STATUS_RETURNS: u32 = 2;

/// How an agent that can still be asked gets this status back. `None`: the role has the status, or the workflow's fallback
/// applies now; without one, the handoff is malformed. For handoffs that other problems keep from being decided on, and for those that are only checked.
pub fn returned_status(workflow: &Workflow, state: &State, id: AssignmentId, status: &str) -> Option<Rejection> {
    let assignment = state.assignments.get(&id)?;
    let role = workflow.role_named(&assignment.role)?;
    if is_reportable(workflow, role, status) || assignment.statuses_returned >= STATUS_RETURNS {
        return None;
    }
    let cx = DecisionContext {
        workflow,
        state,
        inputs: &DecisionInputs { now: Timestamp(0) },
        tree: None,
        feature_directory: None,
    };
    refuse_unknown_status(&cx, assignment, status).ok()
}

/// As [`returned_status`], for a handoff that is checked for a role and belongs to no assignment.
pub fn returned_status_of_role(workflow: &Workflow, role: RoleIx, status: &str) -> Option<Rejection> {
    (!is_reportable(workflow, role, status)).then(|| refuse::returned_status_of_role(workflow, role, status))
}

/// The role has the status, and an agent may report it.
fn is_reportable(workflow: &Workflow, role: RoleIx, status: &str) -> bool {
    workflow.status_of(role, status).is_some_and(|status| !workflow.is_loss(status))
}

fn refuse_unknown_status(
    cx: &DecisionContext<'_>,
    assignment: &Assignment,
    status: &str,
) -> Result<Rejection, Rejection> {
    let situation = RuleContext::of_assignment(cx, assignment, None, None)?;
    let left = STATUS_RETURNS.saturating_sub(assignment.statuses_returned);
    let offers = list_accepted_statuses(cx.workflow, cx.state, assignment);
    Ok(refuse::refuse_returned_status(&situation, &offers, status, left))
}

/// Sends an unknown status back while the agent that wrote it can still be asked: in a run, a hook or a tool call.
/// A script that calls `interlock report` gets the fallback of the workflow at once.
fn return_unknown_status(
    cx: &DecisionContext<'_>,
    assignment: &Assignment,
    handoff: &Handoff,
) -> Result<(), Rejection> {
    if handoff.status.is_some() || assignment.statuses_returned >= STATUS_RETURNS {
        return Ok(());
    }
    Err(refuse_unknown_status(cx, assignment, &handoff.said)?)
}

/// Only the holder of an open assignment may report, or repeat what it has reported.
pub(super) fn check_reporter(
    state: &State,
    id: AssignmentId,
    token: Digest,
    handoff: Option<Digest>,
) -> Result<Option<DecisionId>, Rejection> {
    let assignment = refuse::find_assignment(state, id)?;
    match assignment.token {
        None if assignment.closed.is_none() => {
            let message = format!("assignment {id} has not been claimed: nobody holds it");
            return Err(Rejection::new(Code::NotClaimed, message));
        }
        Some(held) if held == token => {}
        Some(_) | None => {
            let message = format!("the token is not the one of assignment {id}");
            let help = "only the holder may report; a later claim voids earlier tokens";
            return Err(Rejection::new(Code::WrongToken, message).help(help));
        }
    }
    match assignment.closed {
        None => Ok(None),
        Some(AssignmentClosure { how: ClosureKind::Reported, digest, decision })
            if handoff.is_some() && digest == handoff =>
        {
            Ok(Some(decision))
        }
        Some(closed) => Err(already(id, closed)),
    }
}

fn already(id: AssignmentId, closed: AssignmentClosure) -> Rejection {
    match closed.how {
        ClosureKind::Reported => {
            let message = format!("assignment {id} has reported something else ({})", closed.decision);
            Rejection::new(Code::ReportDiffers, message)
        }
        ClosureKind::Voided => {
            let message = format!("assignment {id} was taken away ({})", closed.decision);
            Rejection::new(Code::AssignmentClosed, message)
        }
    }
}

/// The same report again, also after the session has ended: it was decided then.
pub(super) fn find_repeated_report(cx: &DecisionContext<'_>, report: &SubmitReport) -> Option<DecideOutcome> {
    let decision = check_reporter(cx.state, report.assignment, report.token, Some(report.handoff.digest)).ok()?;
    decision.map(DecideOutcome::Repeated)
}

/// Before the reason of a decision on a report whose status does not exist.
pub const FALLBACK: &str = "fallback: ";

/// Fields that are passed on but are in no handoff: the prompt renderer fills them in.
pub(super) const MADE_HERE: [&str; 4] = ["answer", "gate_output", "group_summaries", "deferred_groups"];

/// From a checked handoff to the changes that follow.
pub(crate) fn route_report<'a>(
    cx: &DecisionContext<'a>,
    (id, assignment): (AssignmentId, &'a Assignment),
    handoff: &'a Handoff,
    observed: Option<&'a ObservedChanges>,
    given: Option<&'a RouteAssumptions>,
) -> Result<DecisionDraft<'a>, Rejection> {
    if handoff.role != assignment.role || handoff.phase != assignment.phase {
        let message =
            format!("assignment {id} is {}'s, and the handoff was checked for {}", assignment.role, handoff.role);
        return Err(Rejection::new(Code::HandoffOfAnother, message));
    }
    let mut situation = RuleContext::of_assignment(cx, assignment, Some(handoff), given)?;
    let candidates = candidates(&situation, handoff.status);
    if let Some(group) = situation.group {
        situation.is_stale = observed.is_some_and(|observed| changes_tree(group.diff.as_ref(), observed));
        situation.ledger =
            FindingsLedger::apply_handoff(group, handoff, find_measure_obligations(&situation, candidates));
    }
    let Some(chosen) = choose_rule(&situation, candidates) else {
        return Err(match handoff.status {
            Some(_) => refuse::refuse_untimely_status(&situation, &handoff.said),
            None => refuse::reject_unknown_status(&situation, &handoff.said),
        });
    };
    refuse::check_demands(&situation, chosen.rule)?;
    refuse_failed(&situation, chosen.rule)?;
    let delivers = delivers(&situation, chosen.rule);
    require_changes(&situation, chosen.rule, observed)?;
    refuse::check_unresolved_findings(&situation, chosen.rule)?;
    refuse::check_unstated_tests(&situation, chosen.rule)?;
    let mut draft = DecisionDraft::new(*cx, chosen.rule.id.clone());
    draft.preview = given.is_some();
    draft.observed = observed;
    draft.note_unclaimed(observed);
    // The first change: `given_in_via` looks for it there.
    draft.push(StateChange::Closed {
        assignment: id,
        how: ClosureKind::Reported,
        digest: Some(handoff.digest),
        via: None,
    });
    if !delivers {
        draft.void_changed_work(&situation, observed);
    }
    draft.note_nothing_to_do(situation.group, chosen.rule, &assignment.role);
    draft.note_stated_failures(&situation, chosen.rule, handoff);
    draft.take_ledger(&mut situation, handoff);
    draft.note_status(cx.workflow, handoff);
    let voice = DecisionActor { name: assignment.role.clone(), resolution: BlockerResolution::Guidance };
    if let Some(group) = situation.group.filter(|group| delivers && !group.delivered) {
        draft.push(StateChange::WorkDelivered { group: group.id.clone() });
    }
    if let Some(group) = situation.group.filter(|_| delivers) {
        draft.void_failures(group, observed);
    }
    draft.apply_chosen_rule(&situation, chosen, &voice)?;
    if assignment.task == AssignmentTask::Merge && !draft.preview {
        draft.note_empty_merge(situation.group);
        let empty = observed.is_some_and(|observed| observed.merge_is_empty);
        draft.note_merge_of_nothing_new(empty, assignment.group.as_ref());
    }
    draft.note_handoff(handoff);
    Ok(draft)
}

/// An author reports work, whatever it says of it, unless it says that there is none or that it is blocked.
fn delivers(situation: &RuleContext<'_>, rule: &Rule) -> bool {
    let author = situation.reporter.is_some_and(|role| situation.workflow().role(role).author);
    author && situation.task == AssignmentTask::Work && rule.excuses.is_empty() && !rule.blocks
}

/// Whether a response of this report can end a finding: an author's, or that of the role to which rework goes back.
/// A reviewer that answers its own findings would end them by saying nothing.
fn answers_findings(situation: &RuleContext<'_>) -> bool {
    let workflow = situation.workflow();
    if situation.reporter.is_some_and(|role| workflow.role(role).author) {
        return true;
    }
    let worked_on_again = |phase: PhaseIx| {
        workflow.rules.iter().any(|rule| matches!(rule.verb, RuleVerb::Rework(to) | RuleVerb::Goto(to) if to == phase))
    };
    situation.task == AssignmentTask::Work && situation.phase.is_some_and(worked_on_again)
}

fn candidates<'a>(situation: &RuleContext<'a>, status: Option<StatusIx>) -> &'a [RuleIx] {
    let workflow = situation.workflow();
    match (status, situation.reporter) {
        (Some(status), Some(role)) => workflow.by_report.get(&(role, status)).map_or(&[], Vec::as_slice),
        (None, _) | (_, None) => &workflow.unknown,
    }
}

/// Finds out what a report of this status has to state about findings and tests.
pub(super) fn find_measure_obligations(situation: &RuleContext<'_>, candidates: &[RuleIx]) -> MeasureObligations {
    let workflow = situation.workflow();
    let mut bearings = MeasureObligations::default();
    let mut take = |measure: Option<LoopMeasure>, bearing: MeasureObligation| match measure {
        Some(LoopMeasure::BlockingFindings) => bearings.findings = bearings.findings.max(bearing),
        Some(LoopMeasure::FailingTests) => bearings.tests = bearings.tests.max(bearing),
        None => {}
    };
    let measure_of = |ix: LoopIx| workflow.loop_at(ix).measure;
    // A helper does not judge the work of the phase that it helps in.
    let of_other_task =
        |condition: &RuleCondition| matches!(condition, RuleCondition::Task(task) if *task != situation.task);
    let concerns = |rule: &&Rule| {
        let fits = rule.speaks_of(situation.task) && rule.phase.is_none_or(|p| situation.phase == Some(p));
        fits && !rule.conditions.iter().any(of_other_task)
    };
    for rule in candidates.iter().map(|ix| workflow.rule(*ix)).filter(concerns) {
        rule.passes.iter().for_each(|pass| take(workflow.pass(*pass).measured, MeasureObligation::Restates));
        take(rule.counted.and_then(measure_of), MeasureObligation::Counts);
        if rule.leaves && situation.task == AssignmentTask::Work {
            let stage = situation.phase.and_then(|phase| workflow.stages.get(workflow.phase(phase).stage));
            let rework = stage.and_then(|stage| stage.rework.as_ref());
            let measure = rework.and_then(|rework| measure_of(rework.counted));
            let bearing = match measure {
                Some(LoopMeasure::FailingTests) => MeasureObligation::MustState,
                Some(LoopMeasure::BlockingFindings) | None => MeasureObligation::Restates,
            };
            take(measure, bearing);
        }
    }
    bearings
}

/// Notes that a report leaves for later, each with its role. Reports pile up, so each note and their number are bounded.
fn notes_for_future(handoff: &Handoff) -> Vec<Name> {
    let Some(field) = handoff.field("notes_for_future") else { return Vec::new() };
    let items: Vec<&serde_json::Value> = match field.as_array() {
        Some(items) => items.iter().collect(),
        None => vec![field],
    };
    let words = |item: &serde_json::Value| item.as_str().map_or_else(|| item.to_string(), str::to_owned);
    let texts = items.into_iter().filter(|item| is_something(item)).map(words);
    let note = |text: String| {
        let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let more = if line.chars().count() > LONGEST_NOTE { " …" } else { "" };
        let shown: String = line.chars().take(LONGEST_NOTE).collect();
        Name::from(format!("{}: {shown}{more}", handoff.role))
    };
    texts.map(note).take(MOST_NOTES_OF_REPORT).collect()
}

impl<'a> RuleContext<'a> {
    pub(crate) fn of_assignment(
        cx: &DecisionContext<'a>,
        assignment: &'a Assignment,
        handoff: Option<&'a Handoff>,
        given: Option<&'a RouteAssumptions>,
    ) -> Result<Self, Rejection> {
        let Some(role) = cx.workflow.role_named(&assignment.role) else {
            return Err(Rejection::new(Code::NoRole, format!("the workflow has no role `{}`", assignment.role)));
        };
        let group = assignment.group.as_ref().and_then(|name| cx.state.group(name));
        Ok(Self {
            cx: *cx,
            group,
            lane: group.map_or(&cx.state.lane, |group| &group.lane),
            part: assignment.part,
            reporter: Some(role),
            task: assignment.task,
            phase: assignment.phase.as_ref().and_then(|name| cx.workflow.phase_named(name)),
            handoff,
            reason: handoff.and_then(|handoff| handoff.reason.as_ref()),
            ledger: FindingsLedger::of(group),
            given,
            is_stale: false,
            awaiting: &assignment.awaiting,
        })
    }
}

impl DecisionDraft<'_> {
    fn take_ledger(&mut self, situation: &mut RuleContext<'_>, handoff: &Handoff) {
        let Some(group) = situation.group else { return };
        let answers = !handoff.responses.is_empty() && answers_findings(situation);
        let ledger = &mut situation.ledger;
        if ledger.find_stated_measure(LoopMeasure::BlockingFindings).is_some() {
            let (group, by) = (group.id.clone(), handoff.role.clone());
            self.push(StateChange::Reviewed { group, by, findings: std::mem::take(&mut ledger.moves) });
        }
        if answers {
            self.push(StateChange::Responded { group: group.id.clone(), responses: handoff.responses.clone() });
        } else if !handoff.responses.is_empty() {
            let text =
                format!("`issue_responses` of {} are kept, not counted: the author answers findings", handoff.role);
            self.warnings.push(Warning::coded(Code::AnswerNotByAuthor, text));
        }
        if let Some(tests) = ledger.tests.take() {
            self.push(StateChange::TestsFailing { group: group.id.clone(), tests });
        }
        for note in ledger.notes.drain(..) {
            self.push(StateChange::Noted { group: group.id.clone(), note });
        }
        for note in notes_for_future(handoff) {
            self.push(StateChange::Noted { group: group.id.clone(), note });
        }
        self.warnings.append(&mut ledger.warnings);
    }

    fn note_status(&mut self, workflow: &Workflow, handoff: &Handoff) {
        match handoff.status.map(|status| workflow.status_name(status)) {
            None => {
                let text = format!("{} has no status `{}`", handoff.role, naming::shown_status(&handoff.said));
                let because = format!("{FALLBACK}{text}, so this report is evidence of nothing");
                self.because.push(Name::from(because));
                self.warnings.push(Warning::coded(Code::UnknownStatus, text));
            }
            Some(name) if *name != handoff.said => {
                let text = format!("`{}` was read as `{name}`", handoff.said);
                self.warnings.push(Warning::coded(Code::StatusSpelling, text));
            }
            Some(_) => {}
        }
    }

    /// Notes the fields that the next role will not get, and the agent's suggestions that the decision did not follow.
    fn note_handoff(&mut self, handoff: &Handoff) {
        let context = self.context.clone();
        let absent = context.iter().filter(|field| !MADE_HERE.contains(&field.as_str()) && !handoff.has(field));
        self.absent.extend(absent.cloned());
        let suggested = |path| handoff.field(path).and_then(|value| value.as_str());
        if let Some(name) = suggested("handoff.next_agent") {
            let decided: Vec<Name> = self.next.iter().map(|next| next.role.clone()).collect();
            if decided.iter().all(|role| *role != name) {
                self.note_suggestion(name, &decided);
            }
        }
        if let Some(name) = suggested("handoff.next_phase").filter(|_| self.cx.workflow.has_phases()) {
            let decided = self.phases_that_follow();
            let same = if name == "complete" { self.completes() } else { self.is_among(name, &decided) };
            let undecided = decided.is_empty() && matches!(self.action, DecisionAction::Wait | DecisionAction::Ask);
            if !same && !undecided {
                self.note_suggestion(&format!("phase {name}"), &decided);
            }
        }
    }

    fn note_suggestion(&mut self, suggested: &str, decided: &[Name]) {
        let names: Vec<&str> = decided.iter().map(Name::as_str).collect();
        let decided = if names.is_empty() { self.action.name().to_owned() } else { names.join(", ") };
        let text = format!("the agent suggested {suggested}; the workflow decides: {decided}");
        self.warnings.push(Warning::coded(Code::SuggestionDiffers, text));
    }

    /// The phases that work goes on in, or waits before, each once.
    fn phases_that_follow(&self) -> Vec<Name> {
        let mut follow: Vec<Name> = Vec::new();
        let mut add = |name: &Name| {
            if !follow.contains(name) {
                follow.push(name.clone());
            }
        };
        for change in &self.changes {
            if let StateChange::Entered { phases, .. } = change {
                phases.iter().for_each(&mut add);
            } else if let StateChange::Assigned { phase: Some(phase), .. } = change {
                add(phase);
            } else if let StateChange::Arrived { stage, .. } = change {
                let stage = self.cx.workflow.stages.get(usize::from(*stage));
                let phases = stage.into_iter().flat_map(|stage| &stage.phases);
                phases.for_each(|phase| add(&self.cx.workflow.phase(*phase).name));
            }
        }
        follow
    }

    /// A phase goes by its own name, and by what handoffs call it.
    fn is_among(&self, name: &str, phases: &[Name]) -> bool {
        let called = |phase: &Name| self.cx.workflow.phase_named(phase).map(|ix| &self.cx.workflow.phase(ix).called);
        phases.iter().any(|phase| *phase == name || called(phase).is_some_and(|called| *called == name))
    }

    /// A group has left its last phase: it is completed, or only its gates are left.
    fn completes(&self) -> bool {
        self.changes.iter().any(|change| {
            matches!(change, StateChange::GroupEnded { end: GroupEnd::Completed, .. })
                || matches!(change, StateChange::GateOpened { purpose: GatePurpose::Completion, .. })
        })
    }
}

/// The name of a role, for the record.
pub(crate) fn interlock() -> DecisionActor {
    DecisionActor { name: Name::new("interlock"), resolution: BlockerResolution::Rework }
}
