//! The changes of one decision, as they come together.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::checkout::GroupGate;
use crate::decide::facts::{Facts, record};
use crate::decide::needs::must_keep_role;
use crate::decide::situation::Situation;
use crate::decide::{Cx, Outcome};
use crate::decision::*;
use crate::event::{Cause, Change, Closing, Event, Resolution};
use crate::handoff::PlannedGroup;
use crate::id::{AssignmentId, DecisionId, GateRunId, Name, QuestionId};
use crate::observed::ObservedChanges;
use crate::state::{GatePurpose, Group, HeldReport, Holder, Lane, Question, Roster, Seat, SessionStatus, Stopped};
use crate::workflow::*;

/// Whatever role a decision arrives at goes through the overrides once, in order.
pub(crate) fn overridden<'w>(
    workflow: &'w Workflow,
    role: RoleIx,
    mut holds: impl FnMut(&[Test]) -> bool,
    keeps: impl Fn(RoleIx, RoleIx) -> bool,
    mut applied: impl FnMut(&'w Override),
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
pub(crate) struct Slot<'a> {
    pub(crate) group: Option<&'a Group>,
    pub(crate) lane: &'a Lane,
    pub(crate) part: u8,
    pub(crate) phase: Option<PhaseIx>,
    /// The lane was just entered anew: nobody waits in it.
    pub(crate) fresh: bool,
}

impl Slot<'_> {
    fn name(&self) -> Option<Name> {
        self.group.map(|group| group.id.clone())
    }
}

pub(crate) struct Draft<'a> {
    pub(crate) cx: Cx<'a>,
    pub(crate) changes: Vec<Change>,
    pub(crate) action: Action,
    pub(crate) rule: Name,
    pub(crate) next: Vec<Next>,
    pub(crate) question: Option<Put>,
    pub(crate) gate: Option<Run>,
    pub(crate) waits_for: Option<WaitsFor>,
    pub(crate) judgement: Option<Judgement>,
    pub(crate) context: Arc<[Name]>,
    pub(crate) absent: Vec<Name>,
    pub(crate) because: Vec<Name>,
    pub(crate) overrides: Vec<Applied>,
    pub(crate) facts: Facts,
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
    /// What was given in, whole.
    pub(crate) handoff: Option<Arc<serde_json::Value>>,
    /// The diff that came with the report that is being decided.
    pub(crate) observed: Option<&'a ObservedChanges>,
    /// Nobody acts on this one: evidence is taken for granted.
    pub(crate) preview: bool,
    last_assignment: AssignmentId,
    last_question: QuestionId,
    last_gate_run: GateRunId,
}

impl<'a> Draft<'a> {
    pub(crate) fn new(cx: Cx<'a>, rule: Name) -> Self {
        Self {
            cx,
            changes: Vec::with_capacity(8),
            action: Action::Wait,
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
    pub(crate) fn cite(&mut self, rule: &Rule, facts: Facts) {
        self.rule = rule.id.clone();
        self.context = rule.with.clone();
        self.model.clone_from(&rule.model);
        self.because.extend(rule.because.clone());
        if self.facts.is_empty() {
            self.facts = facts;
        } else {
            facts.into_iter().for_each(|(name, value)| record(&mut self.facts, &name, value));
        }
    }

    /// `reported`: the decision that has the plan, where it is not this one.
    pub(crate) fn plan_group(&mut self, group: PlannedGroup, reported: Option<DecisionId>, by: Option<Name>) {
        let planned = Group::planned(&group);
        self.roster.add(self.cx.state.groups.len().saturating_add(self.planned.len()), &planned);
        self.push(Change::GroupPlanned { group, reported, by });
        self.spare_needs(&planned);
        self.planned.push(planned);
    }

    pub(crate) fn push(&mut self, change: Change) {
        self.changes.push(change);
    }

    /// An event without a decision.
    pub(crate) fn record(self, cause: Cause) -> Outcome {
        let at = self.cx.inputs.now;
        Outcome::Decided(Box::new(Event { at, cause, decision: None, changes: self.changes, handoff: None }))
    }

    pub(crate) fn finish(mut self, cause: Cause) -> Outcome {
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
        Outcome::Decided(Box::new(event))
    }

    /// Gives an assignment to a role, after overrides.
    pub(crate) fn assign(&mut self, slot: Slot<'_>, role: RoleIx, task: Task, why: Resolution) {
        let workflow = self.cx.workflow;
        let mut applied: Vec<&Override> = Vec::new();
        let cx = self.cx;
        let keeps = |role, instead| must_keep_role(&cx, slot.group, role, instead);
        let holds = |when: &[Test]| self.lets_through(slot.group, when);
        let role = overridden(workflow, role, holds, keeps, |item| applied.push(item));
        let mut because: Vec<Name> = Vec::new();
        for item in applied {
            because.push(item.because.clone());
            self.because.push(item.because.clone());
            let name = |ix| workflow.role(ix).name.clone();
            let (instead_of, used) = (name(item.instead_of), name(item.takes));
            self.overrides.push(Applied { instead_of, used, because: item.because.clone() });
        }
        let holder = workflow.role(role);
        let group = slot.name();
        if task == Task::Work && holder.author {
            self.author_works(slot, role);
        } else if let Some(from) = self.waits_at(slot, &holder.name) {
            self.end_waiting(slot, from, why);
        }
        let assignment = self.last_assignment.next();
        self.last_assignment = assignment;
        let given = self.next.iter().rev().find(|next| next.group == group && next.role == holder.name);
        let before = given.map_or_else(|| slot.lane.attempts_of(&holder.name), |next| next.attempt);
        let attempt = before.saturating_add(1);
        self.next.push(Next {
            assignment,
            role: holder.name.clone(),
            group: group.clone(),
            attempt,
            model: self.model.clone().or_else(|| holder.model.clone()),
            because,
        });
        let phase = slot.phase.map(|phase| workflow.phase(phase).name.clone());
        self.push(Change::Assigned {
            assignment,
            group,
            part: slot.part,
            phase,
            role: holder.name.clone(),
            task,
            attempt,
        });
    }

    /// Work for an author: it is the author now, nobody waits, and what was passed lapses.
    fn author_works(&mut self, slot: Slot<'_>, role: RoleIx) {
        self.end_waiting(slot, 0, Resolution::Rework);
        let Some(group) = slot.group else { return };
        let name = &self.cx.workflow.role(role).name;
        if group.author.as_ref() != Some(name) {
            self.push(Change::Author { group: group.id.clone(), role: name.clone() });
        }
        if group.has_evidence() || self.passes_in_draft() {
            self.lapse_passes(group);
        }
    }

    /// What was passed says nothing of the work that follows. A failure stays until an author delivers another tree.
    pub(crate) fn lapse_passes(&mut self, group: &Group) {
        let failed = self.failures_now(group);
        self.push(Change::PassesLapsed { group: group.id.clone() });
        for name in failed {
            self.push(Change::EvidenceFailed { group: group.id.clone(), name });
        }
    }

    /// Evidence that is on record as failed, with what this decision says of it.
    pub(crate) fn failures_now(&self, group: &Group) -> Vec<Name> {
        let lapses = |change: &Change| matches!(change, Change::PassesLapsed { group: g } if *g == group.id);
        let lapsed = self.changes.iter().rposition(lapses);
        let earlier = group.failed.iter().filter(|_| lapsed.is_none()).cloned();
        let now = self.changes.iter().skip(lapsed.unwrap_or_default()).filter_map(|change| {
            let Change::EvidenceFailed { group: failed, name } = change else { return None };
            (*failed == group.id).then(|| name.clone())
        });
        earlier.chain(now).collect::<BTreeSet<Name>>().into_iter().collect()
    }

    fn passes_in_draft(&self) -> bool {
        self.changes
            .iter()
            .any(|change| matches!(change, Change::Passed { .. } | Change::GatePassed { .. } | Change::Excused { .. }))
    }

    fn waits_at(&self, slot: Slot<'_>, role: &Name) -> Option<usize> {
        if slot.fresh {
            return None;
        }
        slot.lane.part(slot.part)?.waiting.iter().position(|seat| seat.role == *role)
    }

    /// Ends the waiting of everyone from this place on; each blocker is thereby resolved.
    pub(crate) fn end_waiting(&mut self, slot: Slot<'_>, from: usize, by: Resolution) {
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
            self.push(Change::Unblocked { group: group.clone(), part: slot.part, role: seat.role.clone(), by });
        }
        self.push(Change::WaitEnded { group, part: slot.part, from: u8::try_from(from).unwrap_or(u8::MAX) });
    }

    /// The draft has ended this waiting before.
    pub(crate) fn already_ended(&self, slot: Slot<'_>, from: usize) -> bool {
        let name = slot.name();
        self.changes.iter().any(|change| {
            matches!(change, Change::WaitEnded { group, part, from: earlier }
                if *group == name && *part == slot.part && usize::from(*earlier) <= from)
        })
    }

    pub(crate) fn open_gate(&mut self, slot: Slot<'_>, gate: GateIx, purpose: GatePurpose) {
        self.open_gates(slot, gate, purpose, Vec::new());
    }

    /// `again`: gates of completed groups that the run checks again, instead of the one that names it.
    pub(crate) fn open_gates(&mut self, slot: Slot<'_>, gate: GateIx, purpose: GatePurpose, again: Vec<GroupGate>) {
        let run = self.last_gate_run.next();
        self.last_gate_run = run;
        let gate = self.cx.workflow.gate(gate).name.clone();
        self.gate = Some(Run { run, gate: gate.clone() });
        self.push(Change::GateOpened { run, gate, group: slot.name(), part: slot.part, purpose, again });
    }

    pub(crate) fn ask(
        &mut self,
        slot: Slot<'_>,
        question: QuestionIx,
        (text, options): (Name, Vec<Name>),
        asker: Option<Seat>,
        (stopped, held): (Option<Stopped>, Option<HeldReport>),
    ) {
        let id = self.last_question.next();
        self.last_question = id;
        let name = self.cx.workflow.question(question).name.clone();
        self.action = Action::Ask;
        self.question = Some(Put { question: id, name: name.clone(), text: text.clone(), options: options.clone() });
        let (group, part) = (slot.name(), slot.part);
        self.push(Change::Asked { question: id, name, group, part, text, options, asker, stopped, held });
    }

    /// Takes away whatever is open in a lane, but for one part if that is told.
    pub(crate) fn void_lane(
        &mut self,
        group: Option<&Group>,
        lane: &Lane,
        except: Option<u8>,
        resolved: Option<Resolution>,
    ) {
        for block in lane.blocks.iter().filter(|block| except != Some(block.part)) {
            let (group, role) = (group.map(|group| group.id.clone()), block.role.clone());
            self.changes.extend(resolved.map(|by| Change::Unblocked { group, part: block.part, role, by }));
        }
        for (index, part) in lane.parts.iter().enumerate() {
            if except.is_some_and(|part| usize::from(part) == index) {
                continue;
            }
            match &part.holder {
                Holder::Nobody | Holder::Done => {}
                Holder::Assignment(assignment) => {
                    self.push(Change::Closed {
                        assignment: *assignment,
                        how: Closing::Voided,
                        digest: None,
                        via: None,
                    });
                }
                Holder::Question(question) => self.push(Change::QuestionClosed { question: *question }),
                Holder::Gate(run) => self.push(Change::GateClosed { run: *run }),
            }
            if !part.waiting.is_empty() {
                let group = group.map(|group| group.id.clone());
                let part = u8::try_from(index).unwrap_or(u8::MAX);
                self.push(Change::WaitEnded { group, part, from: 0 });
            }
        }
    }
}

/// A decision that completes the session names everything that the session does without.
fn state_exceptions(cx: &Cx<'_>, event: &mut Event) {
    let completes = |change: &Change| matches!(change, Change::Session { status: SessionStatus::Completed });
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

impl<'a> Situation<'a> {
    pub(crate) fn slot(&self) -> Slot<'a> {
        Slot { group: self.group, lane: self.lane, part: self.part, phase: self.phase, fresh: false }
    }

    pub(crate) fn seat(&self, blocked: bool) -> Option<Seat> {
        let role = self.reporter?;
        Some(Seat { role: self.workflow().role(role).name.clone(), task: self.task, blocked })
    }
}
