//! The changes of one decision, as they come together.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::checkout::GroupGate;
use crate::decide::facts::{RecordedFacts, record_fact};
use crate::decide::needs::must_keep_role;
use crate::decide::rule_context::RuleContext;
use crate::decide::{DecideOutcome, DecisionContext};
use crate::decision::*;
use crate::event::{BlockerResolution, ClosureKind, Event, EventCause, StateChange};
use crate::handoff::PlannedGroup;
use crate::id::{AssignmentId, DecisionId, GateRunId, Name, QuestionId};
use crate::observed::ObservedChanges;
use crate::state::{
    GatePurpose, Group, HeldReport, Lane, PartHolder, Question, RoleTask, Roster, SessionStatus, StoppedMove,
};
use crate::workflow::*;

/// Applies the overrides to the role of a decision, once and in order.
pub(crate) fn apply_overrides<'w>(
    workflow: &'w Workflow,
    role: RoleIx,
    mut holds: impl FnMut(&[GuardTest]) -> bool,
    keeps: impl Fn(RoleIx, RoleIx) -> bool,
    mut applied: impl FnMut(&'w RoleOverride),
) -> RoleIx {
    let mut role = role;
    for item in &workflow.overrides {
        if item.instead_of == role && holds(&item.when) && !keeps(role, item.takes) {
            applied(item);
            role = item.takes;
        }
    }
    role
}

/// Where an assignment goes.
#[derive(Clone, Copy)]
pub(crate) struct AssignmentSlot<'a> {
    pub(crate) group: Option<&'a Group>,
    pub(crate) lane: &'a Lane,
    pub(crate) part: u8,
    pub(crate) phase: Option<PhaseIx>,
    /// The lane was just entered again, so no role waits in it.
    pub(crate) fresh: bool,
}

impl AssignmentSlot<'_> {
    fn name(&self) -> Option<Name> {
        self.group.map(|group| group.id.clone())
    }
}

pub(crate) struct DecisionDraft<'a> {
    pub(crate) cx: DecisionContext<'a>,
    pub(crate) changes: Vec<StateChange>,
    pub(crate) action: DecisionAction,
    pub(crate) rule: Name,
    pub(crate) next: Vec<NextAssignment>,
    pub(crate) question: Option<DecisionQuestion>,
    pub(crate) gate: Option<StartedGateRun>,
    pub(crate) waits_for: Option<WaitsFor>,
    pub(crate) judgement: Option<CompletionJudgement>,
    pub(crate) context: Arc<[Name]>,
    pub(crate) absent: Vec<Name>,
    pub(crate) because: Vec<Name>,
    pub(crate) overrides: Vec<AppliedOverride>,
    pub(crate) facts: RecordedFacts,
    /// The group that it is about: its flags go by their own names.
    pub(crate) about: Option<Name>,
    pub(crate) warnings: Vec<Warning>,
    pub(crate) escalated: bool,
    pub(crate) model: Option<Name>,
    /// Groups that this decision plans: the state does not have them yet.
    pub(crate) planned: Vec<Group>,
    /// Where the groups stand, as far as this decision has moved them.
    pub(crate) roster: Roster<'a>,
    /// The question that is being answered.
    pub(crate) answering: Option<&'a Question>,
    /// The person's own words beside the option, or instead of one.
    pub(crate) answer_text: Option<Name>,
    pub(crate) gate_output: Option<Name>,
    /// The submitted handoff, whole.
    pub(crate) handoff: Option<Arc<serde_json::Value>>,
    /// The diff that came with the report that is being decided.
    pub(crate) observed: Option<&'a ObservedChanges>,
    /// A preview has no effect, so evidence is assumed.
    pub(crate) preview: bool,
    last_assignment: AssignmentId,
    last_question: QuestionId,
    last_gate_run: GateRunId,
}

impl<'a> DecisionDraft<'a> {
    pub(crate) fn new(cx: DecisionContext<'a>, rule: Name) -> Self {
        Self {
            cx,
            changes: Vec::with_capacity(8),
            action: DecisionAction::Wait,
            rule,
            next: Vec::new(),
            question: None,
            gate: None,
            waits_for: None,
            judgement: None,
            context: Arc::default(),
            absent: Vec::new(),
            because: Vec::new(),
            overrides: Vec::new(),
            facts: Vec::new(),
            about: None,
            warnings: Vec::new(),
            escalated: false,
            model: None,
            planned: Vec::new(),
            roster: Roster::over(&cx.state.roster),
            answering: None,
            answer_text: None,
            gate_output: None,
            handoff: None,
            observed: None,
            preview: false,
            last_assignment: cx.state.last_assignment,
            last_question: cx.state.last_question,
            last_gate_run: cx.state.last_gate_run,
        }
    }

    /// Takes over what a rule says of itself, and what it has read.
    pub(crate) fn cite(&mut self, rule: &Rule, facts: RecordedFacts) {
        self.rule = rule.id.clone();
        self.context = rule.with.clone();
        self.model.clone_from(&rule.model);
        self.because.extend(rule.because.clone());
        if self.facts.is_empty() {
            self.facts = facts;
        } else {
            facts.into_iter().for_each(|(name, value)| record_fact(&mut self.facts, &name, value));
        }
    }

    /// `reported`: the decision that has the plan, where it is not this one.
    pub(crate) fn plan_group(&mut self, group: PlannedGroup, reported: Option<DecisionId>, by: Option<Name>) {
        let planned = Group::planned(&group);
        self.roster.add(self.cx.state.groups.len().saturating_add(self.planned.len()), &planned);
        self.push(StateChange::GroupPlanned { group, reported, by });
        self.spare_needs(&planned);
        self.planned.push(planned);
    }

    pub(crate) fn push(&mut self, change: StateChange) {
        self.changes.push(change);
    }

    /// An event without a decision.
    pub(crate) fn record(self, cause: EventCause) -> DecideOutcome {
        let at = self.cx.inputs.now;
        DecideOutcome::Decided(Box::new(Event { at, cause, decision: None, changes: self.changes, handoff: None }))
    }

    pub(crate) fn finish(mut self, cause: EventCause) -> DecideOutcome {
        self.state_watch();
        self.state_changes();
        let decision = Decision {
            id: self.cx.state.last_decision.next(),
            action: self.action,
            rule: self.rule,
            next: self.next,
            question: self.question,
            gate: self.gate,
            waits_for: self.waits_for,
            judgement: self.judgement,
            context: self.context,
            absent: self.absent,
            because: self.because,
            overrides: self.overrides,
            facts: self.facts,
            warnings: self.warnings,
            escalated: self.escalated,
        };
        let at = self.cx.inputs.now;
        let (decision, handoff) = (Some(decision), self.handoff);
        let mut event = Event { at, cause, decision, changes: self.changes, handoff };
        if !self.preview {
            state_exceptions(&self.cx, &mut event);
        }
        DecideOutcome::Decided(Box::new(event))
    }

    /// Gives an assignment to a role, after overrides.
    pub(crate) fn assign(
        &mut self,
        slot: AssignmentSlot<'_>,
        role: RoleIx,
        task: AssignmentTask,
        why: BlockerResolution,
    ) {
        let workflow = self.cx.workflow;
        let mut applied: Vec<&RoleOverride> = Vec::new();
        let cx = self.cx;
        let keeps = |role, instead| must_keep_role(&cx, slot.group, role, instead);
        let holds = |when: &[GuardTest]| self.lets_through(slot.group, when);
        let role = apply_overrides(workflow, role, holds, keeps, |item| applied.push(item));
        let mut because: Vec<Name> = Vec::new();
        for item in applied {
            because.push(item.because.clone());
            self.because.push(item.because.clone());
            let name = |ix| workflow.role(ix).name.clone();
            let (instead_of, used) = (name(item.instead_of), name(item.takes));
            self.overrides.push(AppliedOverride { instead_of, used, because: item.because.clone() });
        }
        let holder = workflow.role(role);
        let group = slot.name();
        if task == AssignmentTask::Work && holder.author {
            self.author_works(slot, role);
        } else if let Some(from) = self.waits_at(slot, &holder.name) {
            self.end_waiting(slot, from, why);
        }
        let assignment = self.last_assignment.next();
        self.last_assignment = assignment;
        let given = self.next.iter().rev().find(|next| next.group == group && next.role == holder.name);
        let before = given.map_or_else(|| slot.lane.attempts_of(&holder.name), |next| next.attempt);
        let attempt = before.saturating_add(1);
        self.next.push(NextAssignment {
            assignment,
            role: holder.name.clone(),
            group: group.clone(),
            attempt,
            model: self.model.clone().or_else(|| holder.model.clone()),
            because,
        });
        let phase = slot.phase.map(|phase| workflow.phase(phase).name.clone());
        self.push(StateChange::Assigned {
            assignment,
            group,
            part: slot.part,
            phase,
            role: holder.name.clone(),
            task,
            attempt,
        });
    }

    /// Work for an author: the role becomes the author, no role waits, and passed evidence lapses.
    fn author_works(&mut self, slot: AssignmentSlot<'_>, role: RoleIx) {
        self.end_waiting(slot, 0, BlockerResolution::Rework);
        let Some(group) = slot.group else { return };
        let name = &self.cx.workflow.role(role).name;
        if group.author.as_ref() != Some(name) {
            self.push(StateChange::Author { group: group.id.clone(), role: name.clone() });
        }
        if group.has_evidence() || self.passes_in_draft() {
            self.lapse_passes(group);
        }
    }

    /// Passed evidence does not cover the work that follows. A failure stays until an author delivers another tree.
    pub(crate) fn lapse_passes(&mut self, group: &Group) {
        let failed = self.failures_now(group);
        self.push(StateChange::PassesLapsed { group: group.id.clone() });
        for name in failed {
            self.push(StateChange::EvidenceFailed { group: group.id.clone(), name });
        }
    }

    /// Evidence that is on record as failed, with what this decision says of it.
    pub(crate) fn failures_now(&self, group: &Group) -> Vec<Name> {
        let lapses = |change: &StateChange| matches!(change, StateChange::PassesLapsed { group: g } if *g == group.id);
        let lapsed = self.changes.iter().rposition(lapses);
        let earlier = group.failed.iter().filter(|_| lapsed.is_none()).cloned();
        let now = self.changes.iter().skip(lapsed.unwrap_or_default()).filter_map(|change| {
            let StateChange::EvidenceFailed { group: failed, name } = change else { return None };
            (*failed == group.id).then(|| name.clone())
        });
        earlier.chain(now).collect::<BTreeSet<Name>>().into_iter().collect()
    }

    fn passes_in_draft(&self) -> bool {
        self.changes.iter().any(|change| {
            matches!(change, StateChange::Passed { .. } | StateChange::GatePassed { .. } | StateChange::Excused { .. })
        })
    }

    fn waits_at(&self, slot: AssignmentSlot<'_>, role: &Name) -> Option<usize> {
        if slot.fresh {
            return None;
        }
        slot.lane.part(slot.part)?.waiting.iter().position(|seat| seat.role == *role)
    }

    /// Ends the waiting of everyone from this place on; each blocker is thereby resolved.
    pub(crate) fn end_waiting(&mut self, slot: AssignmentSlot<'_>, from: usize, by: BlockerResolution) {
        let waiting = match slot.lane.part(slot.part) {
            Some(part) if !slot.fresh => part.waiting.as_slice(),
            Some(_) | None => return,
        };
        let ending = waiting.get(from..).unwrap_or_default();
        if ending.is_empty() || self.already_ended(slot, from) {
            return;
        }
        let group = slot.name();
        for seat in ending.iter().filter(|seat| seat.blocked) {
            self.push(StateChange::Unblocked { group: group.clone(), part: slot.part, role: seat.role.clone(), by });
        }
        self.push(StateChange::WaitEnded { group, part: slot.part, from: u8::try_from(from).unwrap_or(u8::MAX) });
    }

    /// The draft has ended this waiting before.
    pub(crate) fn already_ended(&self, slot: AssignmentSlot<'_>, from: usize) -> bool {
        let name = slot.name();
        self.changes.iter().any(|change| {
            matches!(change, StateChange::WaitEnded { group, part, from: earlier }
                if *group == name && *part == slot.part && usize::from(*earlier) <= from)
        })
    }

    pub(crate) fn open_gate(&mut self, slot: AssignmentSlot<'_>, gate: GateIx, purpose: GatePurpose) {
        self.open_gates(slot, gate, purpose, Vec::new());
    }

    /// `again`: gates of completed groups that the run checks again, instead of the one that names it.
    pub(crate) fn open_gates(
        &mut self,
        slot: AssignmentSlot<'_>,
        gate: GateIx,
        purpose: GatePurpose,
        again: Vec<GroupGate>,
    ) {
        let run = self.last_gate_run.next();
        self.last_gate_run = run;
        let gate = self.cx.workflow.gate(gate).name.clone();
        self.gate = Some(StartedGateRun { run, gate: gate.clone() });
        self.push(StateChange::GateOpened { run, gate, group: slot.name(), part: slot.part, purpose, again });
    }

    pub(crate) fn ask(
        &mut self,
        slot: AssignmentSlot<'_>,
        question: QuestionIx,
        (text, options): (Name, Vec<Name>),
        asker: Option<RoleTask>,
        (stopped, held): (Option<StoppedMove>, Option<HeldReport>),
    ) {
        let id = self.last_question.next();
        self.last_question = id;
        let name = self.cx.workflow.question(question).name.clone();
        self.action = DecisionAction::Ask;
        self.question =
            Some(DecisionQuestion { question: id, name: name.clone(), text: text.clone(), options: options.clone() });
        let (group, part) = (slot.name(), slot.part);
        self.push(StateChange::Asked { question: id, name, group, part, text, options, asker, stopped, held });
    }

    /// Closes everything that is open in a lane, except the given part.
    pub(crate) fn void_lane(
        &mut self,
        group: Option<&Group>,
        lane: &Lane,
        except: Option<u8>,
        resolved: Option<BlockerResolution>,
    ) {
        for block in lane.blocks.iter().filter(|block| except != Some(block.part)) {
            let (group, role) = (group.map(|group| group.id.clone()), block.role.clone());
            self.changes.extend(resolved.map(|by| StateChange::Unblocked { group, part: block.part, role, by }));
        }
        for (index, part) in lane.parts.iter().enumerate() {
            if except.is_some_and(|part| usize::from(part) == index) {
                continue;
            }
            match &part.holder {
                PartHolder::Nobody | PartHolder::Done => {}
                PartHolder::Assignment(assignment) => {
                    self.push(StateChange::Closed {
                        assignment: *assignment,
                        how: ClosureKind::Voided,
                        digest: None,
                        via: None,
                    });
                }
                PartHolder::Question(question) => self.push(StateChange::QuestionClosed { question: *question }),
                PartHolder::Gate(run) => self.push(StateChange::GateClosed { run: *run }),
            }
            if !part.waiting.is_empty() {
                let group = group.map(|group| group.id.clone());
                let part = u8::try_from(index).unwrap_or(u8::MAX);
                self.push(StateChange::WaitEnded { group, part, from: 0 });
            }
        }
    }
}

/// A decision that completes the session names everything that the session does without.
fn state_exceptions(cx: &DecisionContext<'_>, event: &mut Event) {
    let completes = |change: &StateChange| matches!(change, StateChange::Session { status: SessionStatus::Completed });
    if !event.changes.iter().any(completes) {
        return;
    }
    let mut after = cx.state.clone();
    after.apply(event);
    let Some(decision) = &mut event.decision else { return };
    decision.because.extend(after.completion_record(cx.workflow).into_iter().map(|exception| {
        let group = exception.group.map_or(String::new(), |group| format!("{group}: "));
        Name::from(format!("exception: {group}{}", exception.text))
    }));
}

impl<'a> RuleContext<'a> {
    pub(crate) fn slot(&self) -> AssignmentSlot<'a> {
        AssignmentSlot { group: self.group, lane: self.lane, part: self.part, phase: self.phase, fresh: false }
    }

    pub(crate) fn seat(&self, blocked: bool) -> Option<RoleTask> {
        let role = self.reporter?;
        Some(RoleTask { role: self.workflow().role(role).name.clone(), task: self.task, blocked })
    }
}
