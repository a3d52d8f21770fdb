//! The moves out of a state: which rules can hold, and what each leads to.

use crate::bounds::explore::LaneExplorer;
use crate::bounds::lane::{LaneHolder, LaneState};
use crate::bounds::values::TruthValue;
use crate::decide::{find_escalation_target, find_verb_target, sends_back};
use crate::workflow::*;

/// A rule that can apply in a state, and a state that follows.
pub(super) struct LaneMove {
    pub(super) rule: RuleIx,
    /// A loop counts it, with its escalations; or a person has decided at the end of the line.
    pub(super) bounded: bool,
    pub(super) to: LaneState,
}

impl LaneExplorer<'_> {
    pub(super) fn moves(&self, state: &LaneState) -> Vec<LaneMove> {
        let workflow = self.workflow;
        let mut moves = Vec::new();
        match state.holder {
            LaneHolder::Role(role, _) => {
                let own = workflow.by_report.range((role, StatusIx(0))..=(role, StatusIx(u16::MAX)));
                own.for_each(|(_, rules)| self.take_first(state, rules.iter().copied(), false, &mut moves));
                if !workflow.role(role).by_interlock {
                    self.take_first(state, workflow.unknown.iter().copied(), false, &mut moves);
                }
            }
            LaneHolder::Question(question, _) => {
                // Nothing comes after `stuck` and `unfinished`: a person chose to go on.
                let last = question == workflow.stuck || question == workflow.unfinished;
                let options = workflow.by_answer.range((question, StatusIx(0))..=(question, StatusIx(u16::MAX)));
                options.for_each(|(_, rules)| self.take_first(state, rules.iter().copied(), last, &mut moves));
            }
            LaneHolder::PhaseGate(gate) => {
                for passed in [true, false] {
                    self.take_first(state, self.gate_rules(gate, passed, passed), false, &mut moves);
                }
            }
            // After a pass the next gate runs, or the lane ends. `completion_gates` leads to each of them.
            LaneHolder::CompletionGate(gate) => {
                self.take_first(state, self.gate_rules(gate, false, false), false, &mut moves);
            }
        }
        moves
    }

    fn gate_rules(&self, gate: GateIx, passed: bool, in_phase: bool) -> impl Iterator<Item = RuleIx> {
        let word = self.workflow.status_index.get(if passed { "PASS" } else { "FAIL" }).copied();
        let rules = self.workflow.by_gate.get(&gate).map_or(&[][..], Vec::as_slice);
        rules.iter().copied().filter(move |ix| {
            let rule = self.workflow.rule(*ix);
            rule.status == word && rule.phase.is_some() == in_phase
        })
    }

    /// Rules in order: those after one that certainly holds are never taken.
    fn take_first(
        &self,
        state: &LaneState,
        rules: impl Iterator<Item = RuleIx>,
        by_person_at_the_end: bool,
        moves: &mut Vec<LaneMove>,
    ) {
        for ix in rules {
            let rule = self.workflow.rule(ix);
            let holds = self.rule_holds(state, rule);
            if holds == TruthValue::No {
                continue;
            }
            let bounded = by_person_at_the_end || rule.counted.is_some();
            moves.extend(self.follow(state, rule).into_iter().map(|to| LaneMove { rule: ix, bounded, to }));
            if holds == TruthValue::Yes {
                return;
            }
        }
    }

    pub(super) fn rule_holds(&self, state: &LaneState, rule: &Rule) -> TruthValue {
        let (_, task) = state.reporter();
        let speaks = rule.speaks_of(task) && rule.phase.is_none_or(|phase| state.phase == Some(phase));
        let reason = if rule.reason.is_some() { TruthValue::Maybe } else { TruthValue::Yes };
        let conditions = rule.conditions.iter().map(|condition| self.condition_holds(state, rule, condition));
        conditions.chain([TruthValue::of(speaks), reason]).min().unwrap_or(TruthValue::Yes)
    }

    fn condition_holds(&self, state: &LaneState, rule: &Rule, condition: &RuleCondition) -> TruthValue {
        match condition {
            RuleCondition::When(test) => self.values.test(self.workflow, state.in_group, *test),
            RuleCondition::InGroup => TruthValue::of(state.in_group),
            RuleCondition::InSession => TruthValue::of(!state.in_group),
            RuleCondition::HasAuthor => TruthValue::of(state.author.is_some()),
            RuleCondition::Free(target) => self.is_free(state, &self.resolve(state, *target)),
            RuleCondition::SomebodyWaits if self.may_wait.is_some() => TruthValue::Maybe,
            RuleCondition::SomebodyWaits => TruthValue::of(!state.waiting.is_empty()),
            RuleCondition::Limit | RuleCondition::Open(_) | RuleCondition::Settled | RuleCondition::RaisedAgain => {
                TruthValue::Maybe
            }
            RuleCondition::Outstanding => {
                let stage = state.phase.and_then(|phase| self.workflow.stages.get(self.workflow.phase(phase).stage));
                if stage.is_some_and(|stage| stage.phases.len() > 1) { TruthValue::Maybe } else { TruthValue::No }
            }
            RuleCondition::Reached(phase) => {
                let target = self.workflow.phase(*phase).stage;
                TruthValue::of(state.phase.is_none_or(|now| self.workflow.phase(now).stage >= target))
            }
            RuleCondition::Task(task) => TruthValue::of(state.reporter().1 == *task),
            RuleCondition::Completes if self.may_wait.is_some() => TruthValue::Maybe,
            RuleCondition::Completes => self.completes(state, rule),
            RuleCondition::Lacks(index) => self.lacks(state, rule, *index),
            RuleCondition::ApprovedAlready if self.may_wait.is_some() => TruthValue::Maybe,
            RuleCondition::ApprovedAlready => {
                let approved = state.passed.iter().any(|ix| self.workflow.pass(*ix).approves);
                if approved { TruthValue::Maybe } else { TruthValue::No }
            }
            RuleCondition::Undelivered | RuleCondition::NothingToDo => TruthValue::Maybe,
        }
    }

    /// A need that is not passed may still be excused.
    fn lacks(&self, state: &LaneState, rule: &Rule, index: u16) -> TruthValue {
        let Some(need) = self.workflow.completion.needs.get(usize::from(index)) else { return TruthValue::No };
        let has = |ix: &PassIx| rule.passes.contains(ix) || state.passed.contains(ix);
        if !state.in_group || need.options.iter().any(has) {
            return TruthValue::No;
        }
        self.values.all(self.workflow, state.in_group, &need.when).min(TruthValue::Maybe)
    }

    fn completes(&self, state: &LaneState, rule: &Rule) -> TruthValue {
        let has = |ix: &PassIx| rule.passes.contains(ix) || state.passed.contains(ix);
        let needs = &self.workflow.completion.needs;
        if !state.in_group || needs.is_empty() {
            return TruthValue::No;
        }
        let met = |need: &EvidenceNeed| match self.values.all(self.workflow, state.in_group, &need.when) {
            _ if need.options.iter().any(has) => TruthValue::Yes,
            TruthValue::No => TruthValue::Yes,
            // It may be excused.
            TruthValue::Maybe | TruthValue::Yes if need.asks.is_some() => TruthValue::Maybe,
            TruthValue::Maybe => TruthValue::Maybe,
            TruthValue::Yes => TruthValue::No,
        };
        needs.iter().map(met).min().unwrap_or(TruthValue::Yes)
    }

    /// Neither the reporter nor a role that waits, whichever override applies.
    fn is_free(&self, state: &LaneState, roles: &[RoleIx]) -> TruthValue {
        if self.may_wait.is_some() {
            return TruthValue::Maybe;
        }
        let reporter = state.reporter().0;
        let free = |role: &RoleIx| Some(*role) != reporter && state.waiting.iter().all(|(seat, _)| seat != role);
        let mut all = roles.iter().flat_map(|role| self.overridden(state, *role)).map(|role| free(&role)).peekable();
        if all.peek().is_none() {
            return TruthValue::No;
        }
        let (some, every) = all.fold((false, true), |(some, every), free| (some || free, every && free));
        if every {
            TruthValue::Yes
        } else if some {
            TruthValue::Maybe
        } else {
            TruthValue::No
        }
    }

    /// The roles that a target may mean, before overrides.
    fn resolve(&self, state: &LaneState, target: RoleTarget) -> Vec<RoleIx> {
        match target {
            RoleTarget::Role(role) => vec![role],
            RoleTarget::Author => state.author.into_iter().collect(),
            RoleTarget::Reporter => state.reporter().0.into_iter().collect(),
            RoleTarget::Waiting => match &self.may_wait {
                Some(roles) => roles.clone(),
                None => state.waiting.last().map(|(role, _)| *role).into_iter().collect(),
            },
            RoleTarget::Phase(phase) => {
                let roles = self.phase_roles(phase);
                if roles.is_empty() { state.author.into_iter().collect() } else { roles }
            }
        }
    }

    /// The roles that may get an assignment meant for this one.
    pub(super) fn overridden(&self, state: &LaneState, role: RoleIx) -> Vec<RoleIx> {
        let mut roles = vec![role];
        for item in &self.workflow.overrides {
            let holds = self.values.all(self.workflow, state.in_group, &item.when);
            if holds == TruthValue::No || !roles.contains(&item.instead_of) {
                continue;
            }
            if holds == TruthValue::Yes {
                roles.retain(|role| *role != item.instead_of);
            }
            if !roles.contains(&item.takes) {
                roles.push(item.takes);
            }
        }
        roles
    }

    /// An assignment, after overrides: work of an author ends all waiting and voids what was passed.
    pub(super) fn assign(&self, state: &LaneState, role: RoleIx, task: AssignmentTask) -> Vec<LaneState> {
        let assigned = self.overridden(state, role).into_iter().map(|role| {
            let mut next = state.held_by(LaneHolder::Role(role, task));
            if task == AssignmentTask::Work && self.workflow.role(role).author {
                next.waiting.clear();
                next.passed.clear();
                next.author = if state.in_group { Some(role) } else { None };
            } else if let Some(from) = next.waiting.iter().position(|(seat, _)| *seat == role) {
                next.waiting.truncate(from);
            }
            next
        });
        assigned.collect()
    }

    /// The states that follow from a rule.
    fn follow(&self, state: &LaneState, rule: &Rule) -> Vec<LaneState> {
        let mut after = state.clone();
        if !rule.climbs && !rule.passes.is_empty() && state.in_group {
            after.waiting.clear();
            if self.may_wait.is_none() {
                after.passed.extend(&rule.passes);
            }
        }
        if rule.climbs {
            if sends_back(rule) {
                after.passed.clear();
            }
            return self.climb(&after, rule);
        }
        let waited = !state.waiting.is_empty();
        match rule.verb {
            RuleVerb::Spawn(target) => self.each(&after, target, |role| self.give(&after, role, waited)),
            RuleVerb::Respawn(target) => {
                let task = if target == RoleTarget::Reporter { state.reporter().1 } else { AssignmentTask::Work };
                self.each(&after, target, |role| self.assign_work(&after, role, task))
            }
            RuleVerb::Consult(target) => self.each(&after, target, |role| self.consult(&after, role)),
            RuleVerb::Return => self.resume(&after),
            RuleVerb::Escalate(target) => {
                self.each(&after, target, |role| match self.workflow.role(role).escalates_to {
                    Some(above) if !self.author_would_judge(&after, role, above) => {
                        self.replace(&after, role, above, waited)
                    }
                    Some(_) | None => vec![self.stuck(&after)],
                })
            }
            RuleVerb::Merge => {
                after.waiting.clear();
                self.each(&after, RoleTarget::Author, |role| self.assign(&after, role, AssignmentTask::Merge))
            }
            RuleVerb::Goto(phase) | RuleVerb::Rework(phase) => self.go_back(&after, phase, None),
            RuleVerb::Start => self.start(&after),
            RuleVerb::Ask(question) => vec![after.held_by(LaneHolder::Question(question, asker(state)))],
            RuleVerb::Complete | RuleVerb::End => self.completion_gates(&after),
            RuleVerb::Validate(validator) => vec![after.held_by(LaneHolder::Role(validator, AssignmentTask::Work))],
            RuleVerb::Redo => self.redo(&after),
            RuleVerb::Leave => match after.phase {
                Some(phase) => {
                    let next = self.workflow.phase(phase).stage.saturating_add(1);
                    self.keep_passed(&after, self.enter_stages(after.in_group, next, after.author, None))
                }
                None => Vec::new(),
            },
            RuleVerb::Defer
            | RuleVerb::CancelGroup
            | RuleVerb::CancelSession
            | RuleVerb::Acknowledge
            | RuleVerb::Join => Vec::new(),
        }
    }

    fn each(&self, state: &LaneState, target: RoleTarget, follow: impl Fn(RoleIx) -> Vec<LaneState>) -> Vec<LaneState> {
        self.resolve(state, target).into_iter().flat_map(follow).collect()
    }

    /// While a role waits, an assignment to a role that is no author is to help it.
    pub(super) fn give(&self, state: &LaneState, role: RoleIx, waited: bool) -> Vec<LaneState> {
        let tasks: &[AssignmentTask] = match (waited, self.may_wait.is_some()) {
            (true, false) => &[AssignmentTask::Consult],
            (false, false) => &[AssignmentTask::Work],
            (_, true) => &[AssignmentTask::Work, AssignmentTask::Consult],
        };
        let given = self.overridden(state, role).into_iter().flat_map(|given| {
            if let Some(phases) = self.phases_of_author(state, given) {
                return phases.into_iter().flat_map(|phase| self.go_back(state, phase, Some(given))).collect();
            }
            let author = self.workflow.role(given).author;
            let tasks = if author { &[AssignmentTask::Work][..] } else { tasks };
            tasks.iter().flat_map(|task| self.assign_exactly(state, given, *task)).collect::<Vec<_>>()
        });
        given.collect()
    }

    /// Overrides were applied before.
    fn assign_exactly(&self, state: &LaneState, role: RoleIx, task: AssignmentTask) -> Vec<LaneState> {
        let assigned = self.assign(state, role, task).into_iter();
        assigned.filter(|next| next.reporter().0 == Some(role)).take(1).collect()
    }

    fn consult(&self, state: &LaneState, role: RoleIx) -> Vec<LaneState> {
        let mut next = state.clone();
        if let ((Some(reporter), task), None) = (state.reporter(), &self.may_wait) {
            next.waiting.push((reporter, task));
        }
        self.assign(&next, role, AssignmentTask::Consult)
    }

    fn resume(&self, state: &LaneState) -> Vec<LaneState> {
        if let Some(roles) = &self.may_wait {
            let tasks = [AssignmentTask::Work, AssignmentTask::Consult, AssignmentTask::Merge];
            return roles.iter().flat_map(|role| tasks.map(|task| self.assign(state, *role, task))).flatten().collect();
        }
        let mut next = state.clone();
        match next.waiting.pop() {
            Some((role, task)) => self.assign(&next, role, task),
            None => Vec::new(),
        }
    }

    /// Escalates instead: the limit is reached.
    fn climb(&self, state: &LaneState, rule: &Rule) -> Vec<LaneState> {
        let reporter = state.reporter().0;
        let mut targets = self.resolve(state, find_verb_target(rule.verb));
        if targets.is_empty() {
            targets.extend(reporter);
        }
        if targets.is_empty() {
            return vec![self.stuck(state)];
        }
        let helps = matches!(rule.verb, RuleVerb::Consult(_) | RuleVerb::Return);
        let rungs = targets.into_iter().map(|target| {
            let rung = find_escalation_target(self.workflow, target, reporter);
            (target, rung.filter(|above| helps || !self.author_would_judge(state, target, *above)))
        });
        let climbed = rungs.map(|(target, rung)| match (rung, rule.verb) {
            (None, _) | (Some(_), RuleVerb::Ask(_)) => vec![self.stuck(state)],
            (Some(role), RuleVerb::Consult(_)) => match self.is_free(state, &[role]) {
                TruthValue::No => vec![self.stuck(state)],
                TruthValue::Maybe | TruthValue::Yes => self.consult(state, role),
            },
            (Some(role), RuleVerb::Goto(phase) | RuleVerb::Rework(phase)) => self.go_back(state, phase, Some(role)),
            (Some(role), _) => self.replace(state, target, role, !state.waiting.is_empty()),
        });
        climbed.flatten().collect()
    }

    fn stuck(&self, state: &LaneState) -> LaneState {
        state.held_by(LaneHolder::Question(self.workflow.stuck, asker(state)))
    }

    pub(super) fn go_back(&self, state: &LaneState, phase: PhaseIx, role: Option<RoleIx>) -> Vec<LaneState> {
        let stage = self.workflow.phase(phase).stage;
        self.enter_stages(state.in_group, stage, state.author, role.map(|role| (phase, role)))
    }

    fn start(&self, state: &LaneState) -> Vec<LaneState> {
        if !state.in_group {
            return self.open_lane(&self.workflow.groups_ended, false);
        }
        let mut next = self.resume(state);
        if next.is_empty() || self.may_wait.is_some() {
            next.extend(match state.author {
                Some(author) => self.assign(state, author, AssignmentTask::Work),
                None => self.open_lane(&self.workflow.group_begin, true),
            });
        }
        next
    }

    /// The subject of a question again: the asker, or the gate.
    fn redo(&self, state: &LaneState) -> Vec<LaneState> {
        if let (Some(role), task) = state.reporter() {
            return self.assign(state, role, task);
        }
        match state.phase.map(|phase| &self.workflow.phase(phase).performer) {
            Some(PhasePerformer::Gate(gate)) => vec![state.held_by(LaneHolder::PhaseGate(*gate))],
            Some(PhasePerformer::Role(_) | PhasePerformer::ByDomain(_) | PhasePerformer::Merge) | None => {
                self.completion_gates(state)
            }
        }
    }

    /// The lane is done, but for the gates of completion.
    pub(super) fn completion_gates(&self, state: &LaneState) -> Vec<LaneState> {
        let completion = &self.workflow.completion;
        let gates = if state.in_group { &completion.gates } else { &completion.session_gates };
        let gate = |gate: &GateIx| LaneState { phase: None, ..state.held_by(LaneHolder::CompletionGate(*gate)) };
        gates.iter().map(gate).collect()
    }

    /// Going on to the next phase keeps what was passed, unless an author works again.
    fn keep_passed(&self, before: &LaneState, mut states: Vec<LaneState>) -> Vec<LaneState> {
        for state in &mut states {
            let works = match state.holder {
                LaneHolder::Role(role, AssignmentTask::Work) => self.workflow.role(role).author,
                LaneHolder::Role(..)
                | LaneHolder::Question(..)
                | LaneHolder::PhaseGate(_)
                | LaneHolder::CompletionGate(_) => false,
            };
            if !works {
                state.passed.clone_from(&before.passed);
            }
        }
        states
    }
}

fn asker(state: &LaneState) -> Option<(RoleIx, AssignmentTask)> {
    let (role, task) = state.reporter();
    role.map(|role| (role, task))
}
