//! Carries a chosen rule out.

use crate::code::Code;
use crate::decide::choose::{ChosenRule, apply_role_override, find_verb_target, free_role, reaches_limit};
use crate::decide::draft::DecisionDraft;
use crate::decide::facts::{BLOCKED_AGENT, record_fact};
use crate::decide::refuse;
use crate::decide::rule_context::{LoopIteration, RuleContext};
use crate::decision::{DecisionAction, FactValue, Warning};
use crate::event::{BlockerResolution, StateChange};
use crate::id::Name;
use crate::naming::shown_person;
use crate::rejection::Rejection;
use crate::state::{Finding, Group, GroupEnd, SessionStatus, StoppedMove};
use crate::workflow::*;

/// The name in the record of the person or agent that caused a decision.
pub(crate) struct DecisionActor {
    pub(crate) name: Name,
    /// Resolves blockers as a person, if one speaks.
    pub(crate) resolution: BlockerResolution,
}

impl DecisionDraft<'_> {
    pub(crate) fn apply_chosen_rule(
        &mut self,
        situation: &RuleContext<'_>,
        chosen: ChosenRule<'_>,
        voice: &DecisionActor,
    ) -> Result<(), Rejection> {
        let ChosenRule { rule, passage, facts } = chosen;
        self.about = situation.group_name();
        self.cite(rule, facts);
        self.withdraw_passes(situation, rule);
        if !rule.climbs {
            self.record_passes(situation, rule, voice)?;
            self.excuse_evidence(situation, rule, voice);
            self.explain_missing_evidence(situation, rule);
        }
        if let Some(passage) = passage {
            self.push(StateChange::Counted {
                group: situation.group_name(),
                counted: passage.counted.clone(),
                role: passage.role.clone(),
                iteration: passage.iteration,
                no_progress: passage.no_progress,
                measure: passage.measure,
            });
        }
        if rule.climbs {
            self.climb(situation, rule, passage, voice)?;
        } else {
            self.warn(situation, rule, passage);
            self.apply_verb(situation, rule, voice)?;
        }
        self.note_failure(situation, rule);
        Ok(())
    }

    /// The verb alone: also for a move that was stopped and is made after all.
    pub(crate) fn apply_verb(
        &mut self,
        situation: &RuleContext<'_>,
        rule: &Rule,
        voice: &DecisionActor,
    ) -> Result<(), Rejection> {
        let slot = situation.slot();
        match rule.verb {
            RuleVerb::Spawn(target) => {
                if let Some(role) = situation.resolve(target) {
                    self.action = DecisionAction::Spawn;
                    self.give(situation, role, voice)?;
                }
            }
            RuleVerb::Respawn(target) => {
                if let Some(role) = situation.resolve(target) {
                    self.action = DecisionAction::Respawn;
                    let task = if target == RoleTarget::Reporter { situation.task } else { AssignmentTask::Work };
                    if task != AssignmentTask::Work || !self.goes_to_author_phase(situation, role, role, voice)? {
                        self.assign(slot, role, task, voice.resolution);
                    }
                }
            }
            RuleVerb::Consult(target) => {
                if let Some(role) = situation.resolve(target) {
                    self.consult(situation, role, rule.blocks);
                }
            }
            RuleVerb::Return => self.resume_waiting_role(situation, voice),
            RuleVerb::Escalate(target) => self.escalate(situation, rule, target, voice)?,
            RuleVerb::Merge => {
                if let Some(author) = situation.author() {
                    if let Some(group) = situation.group {
                        self.refuse_unchanged(group)?;
                    }
                    self.action = DecisionAction::Merge;
                    self.end_waiting(slot, 0, voice.resolution);
                    self.assign(slot, author, AssignmentTask::Merge, voice.resolution);
                }
            }
            RuleVerb::Goto(phase) | RuleVerb::Rework(phase) => {
                self.return_to_phase(situation, phase, None, voice)?;
            }
            RuleVerb::Start => self.start(situation, voice)?,
            RuleVerb::Ask(question) => self.put_question(situation, question, rule.blocks, None)?,
            RuleVerb::Complete => self.complete_group(situation)?,
            RuleVerb::Defer => {
                let why = self.deferral_reason(situation);
                self.drop_here(situation, GroupEnd::Deferred { why, by: voice.name.clone(), acknowledged: None })?;
            }
            RuleVerb::Validate(validator) => self.validate(situation, validator, rule, voice)?,
            RuleVerb::End => self.end_session()?,
            RuleVerb::CancelGroup => self.drop_here(situation, GroupEnd::Cancelled { by: voice.name.clone() })?,
            RuleVerb::CancelSession => self.cancel_session(voice),
            RuleVerb::Redo => self.redo(situation, voice)?,
            RuleVerb::Acknowledge => self.acknowledge_all(voice)?,
            RuleVerb::Join => {
                // The stage may be left by another phase, which does not have this plan.
                if situation.phase.is_some_and(|phase| self.cx.workflow.phase(phase).plans) {
                    self.take_plan(situation)?;
                }
                self.action = DecisionAction::Wait;
                self.waits_for = Some(crate::decision::WaitsFor::Phase);
                self.push(StateChange::PartDone { group: situation.group_name(), part: situation.part });
            }
            RuleVerb::Leave => {
                let rework = self.answering.and(rework_of(situation));
                let left = rework.map_or(0, |_| self.settle(situation, voice, situation.reporter));
                match rework {
                    // The asker may not waive findings that other reviewers raised.
                    Some(rework) if left > 0 => self.return_to_phase(situation, rework.goto, None, voice)?,
                    Some(_) | None => self.leave_stage(situation)?,
                }
            }
        }
        Ok(())
    }

    /// The words of the role or the person that defers. Without words, the record says so and repeats what was asked.
    fn deferral_reason(&self, situation: &RuleContext<'_>) -> Name {
        let field = |path| self.reported_text(situation, path).filter(|words| !words.trim().is_empty());
        let answer = || self.answer_text.as_ref().filter(|words| !words.trim().is_empty()).map(ToString::to_string);
        let context = || situation.handoff.and_then(|_| field("handoff.context"));
        if let Some(words) = field("defer_reason").or_else(answer).or_else(context) {
            return Name::from(words);
        }
        match self.answering {
            Some(question) => Name::from(format!("no reason given; the question was: {}", question.text)),
            None => Name::new("no reason given"),
        }
    }

    /// Assigns work to the role. While another role waits, the assignment is to help it.
    fn give(&mut self, situation: &RuleContext<'_>, role: RoleIx, voice: &DecisionActor) -> Result<(), Rejection> {
        if self.goes_to_author_phase(situation, role, role, voice)? {
            return Ok(());
        }
        let author = self.cx.workflow.role(apply_role_override(situation, role)).author;
        let waits = !situation.waiting().is_empty() && !self.already_ended(situation.slot(), 0);
        let helps = !author && waits;
        let task = if helps { AssignmentTask::Consult } else { AssignmentTask::Work };
        self.assign(situation.slot(), role, task, voice.resolution);
        Ok(())
    }

    fn consult(&mut self, situation: &RuleContext<'_>, role: RoleIx, blocks: bool) {
        self.action = DecisionAction::Spawn;
        let group = situation.group_name();
        if let Some(seat) = situation.seat(blocks) {
            if blocks {
                let reason = self.blocked_reason(situation);
                let (part, role) = (situation.part, seat.role.clone());
                self.push(StateChange::Blocked { group: group.clone(), part, role, reason });
            }
            self.push(StateChange::Waits { group, part: situation.part, seat });
        }
        self.assign(situation.slot(), role, AssignmentTask::Consult, BlockerResolution::Guidance);
    }

    /// The last that waits resumes its own task.
    pub(crate) fn resume_waiting_role(&mut self, situation: &RuleContext<'_>, voice: &DecisionActor) {
        let waiting = situation.waiting();
        let Some(seat) = waiting.last() else { return };
        let Some(role) = self.cx.workflow.role_named(&seat.role) else { return };
        self.read_role(&BLOCKED_AGENT, role);
        self.action = DecisionAction::Return;
        self.end_waiting(situation.slot(), waiting.len().saturating_sub(1), voice.resolution);
        self.assign(situation.slot(), role, seat.task, voice.resolution);
    }

    fn escalate(
        &mut self,
        situation: &RuleContext<'_>,
        rule: &Rule,
        target: RoleTarget,
        voice: &DecisionActor,
    ) -> Result<(), Rejection> {
        self.escalated = true;
        let target = situation.resolve(target);
        let rung = target.and_then(|role| self.cx.workflow.role(role).escalates_to);
        let judges = |above: &RoleIx| target.is_some_and(|target| situation.author_would_judge(target, *above));
        match rung.filter(|above| !judges(above)) {
            Some(role) => {
                if target == situation.reporter {
                    self.escalate_findings(situation, role, voice);
                }
                self.replace(situation, target, role, voice)?;
            }
            None => self.ask_person_when_stuck(situation, rule, None)?,
        }
        Ok(())
    }

    /// Escalates instead: the limit is reached.
    fn climb(
        &mut self,
        situation: &RuleContext<'_>,
        rule: &Rule,
        passage: Option<LoopIteration<'_>>,
        voice: &DecisionActor,
    ) -> Result<(), Rejection> {
        self.escalated = true;
        // The stopped report may hold a plan or confirmations. They are kept.
        if rule.verb == RuleVerb::Start {
            self.take_plan(situation)?;
        } else if matches!(rule.verb, RuleVerb::Validate(_)) {
            self.apply_confirmations(situation, voice)?;
        }
        if sends_back(rule) {
            self.void_evidence(situation);
        }
        let limit = rule.counted.map(|counted| self.cx.workflow.loop_at(counted));
        if let (Some(item), Some(passage)) = (limit, passage) {
            self.because.push(Name::from(format!(
                "loop `{}` is at its limit for {}: iteration {} of {}, no progress for {}",
                item.name, passage.role, passage.iteration, item.limit.iteration, passage.no_progress
            )));
        }
        let target = situation.resolve(find_verb_target(rule.verb)).or(situation.reporter);
        let rung = target.and_then(|target| find_escalation_target(self.cx.workflow, target, situation.reporter));
        let helps = matches!(rule.verb, RuleVerb::Consult(_) | RuleVerb::Return);
        // Nothing that the next role could report is the evidence of this one: a person decides.
        let decides = |above: &RoleIx| {
            let replaces =
                |target| situation.stands_alone(target, *above) || situation.author_would_judge(target, *above);
            target.is_some_and(replaces)
        };
        let rung = rung.filter(|above| helps || !decides(above));
        let rung = rung.and_then(|rung| self.count_escalation(situation, rule, rung));
        let counts_findings = limit.is_some_and(|item| item.measure == Some(LoopMeasure::BlockingFindings));
        if let Some(role) = rung.filter(|_| counts_findings) {
            self.escalate_findings(situation, role, voice);
        }
        match (rung, rule.verb) {
            (Some(role), RuleVerb::Consult(_)) if free_role(situation, apply_role_override(situation, role)) => {
                self.consult(situation, role, rule.blocks);
            }
            // A person has been asked often enough that only a person can say how to go on.
            (None, _) | (Some(_), RuleVerb::Consult(_) | RuleVerb::Ask(_)) => {
                let stopped = passage.map(|passage| StoppedMove {
                    rule: Name::new(rule.id.strip_suffix("/limit").unwrap_or(&rule.id)),
                    counted: passage.counted.clone(),
                    role: passage.role.clone(),
                });
                self.ask_person_when_stuck(situation, rule, stopped)?;
            }
            (Some(role), RuleVerb::Goto(phase) | RuleVerb::Rework(phase)) => {
                self.return_to_phase(situation, phase, Some(role), voice)?;
                self.action = DecisionAction::Spawn;
            }
            (Some(role), _) => self.replace(situation, target, role, voice)?,
        }
        Ok(())
    }

    /// The role above takes over, where the role that it replaces would have worked.
    fn replace(
        &mut self,
        situation: &RuleContext<'_>,
        target: Option<RoleIx>,
        role: RoleIx,
        voice: &DecisionActor,
    ) -> Result<(), Rejection> {
        self.action = DecisionAction::Spawn;
        let author = target.filter(|target| self.cx.workflow.role(*target).author);
        match author {
            Some(author) if self.goes_to_author_phase(situation, author, role, voice)? => Ok(()),
            Some(_) | None => self.give(situation, role, voice),
        }
    }

    /// Escalations of a loop are limited as well. Without a limit, work could return to the same role without end.
    /// Returns the first role of the escalation path that was not reached as often as the loop allows; `None` is a
    /// person.
    fn count_escalation(&mut self, situation: &RuleContext<'_>, rule: &Rule, rung: RoleIx) -> Option<RoleIx> {
        let workflow = self.cx.workflow;
        let Some(ix) = rule.counted else { return Some(rung) };
        let item = workflow.loop_at(ix);
        let mut described = situation.given.map(|given| given.of(ix).map_or(0, |given| given.escalated));
        let mut rung = Some(rung);
        while let Some(role) = rung {
            let name = &workflow.role(role).name;
            let counter = situation.lane.counter(&item.escalations, name);
            let before = described.take().or(counter.map(|counter| counter.iteration)).unwrap_or(0);
            if before > 0 {
                record_fact(&mut self.facts, &item.facts.escalated, FactValue::Number(before));
            }
            if before < item.limit.iteration {
                self.push(StateChange::Counted {
                    group: situation.group_name(),
                    counted: item.escalations.clone(),
                    role: name.clone(),
                    iteration: before.saturating_add(1),
                    no_progress: 0,
                    measure: None,
                });
                break;
            }
            self.because.push(Name::from(format!("loop `{}` has escalated to {name} {before} times", item.name)));
            rung = workflow.role(role).escalates_to;
        }
        rung
    }

    /// No role is left to escalate to: a person decides.
    pub(crate) fn ask_person_when_stuck(
        &mut self,
        situation: &RuleContext<'_>,
        rule: &Rule,
        stopped: Option<StoppedMove>,
    ) -> Result<(), Rejection> {
        self.put_question(situation, self.cx.workflow.stuck, rule.blocks, stopped)
    }

    /// Evidence that the rule records.
    pub(crate) fn record_passes(
        &mut self,
        situation: &RuleContext<'_>,
        rule: &Rule,
        voice: &DecisionActor,
    ) -> Result<(), Rejection> {
        let Some(group) = situation.group else { return Ok(()) };
        for ix in &rule.passes {
            let pass = self.cx.workflow.pass(*ix);
            let open = pass.measured.and(pass.forgets).map_or(0, |counted| situation.open(counted));
            if open > 0 {
                return Err(self.still_open(situation, pass, open));
            }
            if pass.settles {
                self.refuse_unanswered(situation, pass, voice)?;
                self.settle(situation, voice, None);
            }
            self.end_waiting(situation.slot(), 0, BlockerResolution::Approval);
            self.push(StateChange::Passed { group: group.id.clone(), name: pass.name.clone() });
            if let Some(forgets) = pass.forgets {
                let counted = self.cx.workflow.loop_at(forgets).name.clone();
                if group.lane.counters.iter().any(|counter| counter.counted == counted) {
                    self.push(StateChange::MeasureForgotten { group: group.id.clone(), counted });
                }
            }
        }
        let names: Vec<Name> = rule.passes.iter().map(|ix| self.cx.workflow.pass(*ix).name.clone()).collect();
        self.accept_unchanged(group, &names, &voice.name);
        let once_blocked = &self.cx.workflow.completion.once_blocked;
        let confirmed = once_blocked.iter().all(|ix| self.has_passed(group, &self.cx.workflow.pass(*ix).name));
        if confirmed && once_blocked.iter().any(|ix| rule.passes.contains(ix)) {
            self.push(StateChange::Confirmed { group: group.id.clone(), by: Some(voice.name.clone()) });
        }
        Ok(())
    }

    fn still_open(&self, situation: &RuleContext<'_>, pass: &Pass, open: u32) -> Rejection {
        let what = match (pass.measured, open) {
            (Some(LoopMeasure::FailingTests), 1) => "failing test is",
            (Some(LoopMeasure::FailingTests), _) => "failing tests are",
            (Some(LoopMeasure::BlockingFindings) | None, 1) => "blocking finding is",
            (Some(LoopMeasure::BlockingFindings) | None, _) => "blocking findings are",
        };
        let message = format!("`{}` cannot pass: {open} {what} open", pass.name);
        let group = situation.group.filter(|_| !self.preview);
        match pass.measured {
            Some(LoopMeasure::FailingTests) => {
                let tests = situation.handoff.filter(|_| !self.preview).and_then(|h| h.failing_tests.as_deref());
                refuse::refuse_failing_tests(situation, message, tests.unwrap_or_default())
            }
            Some(LoopMeasure::BlockingFindings) | None => {
                let findings = group.map(|group| self.findings_of(group)).unwrap_or_default();
                refuse::refuse_open_findings(situation, message, findings.iter().collect())
            }
        }
    }

    /// The findings of a group as this decision would leave them. Known ones keep the ids that they have: the refusal
    /// changes nothing, so the next report must name them by these.
    fn findings_of(&self, group: &Group) -> Vec<Finding> {
        let mut findings = group.findings.clone();
        let moves = self.changes.iter().filter_map(|change| {
            let StateChange::Reviewed { group: reviewed, findings, .. } = change else { return None };
            (*reviewed == group.id).then_some(findings)
        });
        for (index, finding) in moves.flatten() {
            match findings.get_mut(usize::try_from(*index).unwrap_or(usize::MAX)) {
                Some(old) => *old = Finding { id: old.id.clone(), ..finding.clone() },
                None => findings.push(finding.clone()),
            }
        }
        findings
    }

    /// Work goes back, whatever role gets it. Earlier evidence does not cover the new work, and no merge waits for it.
    pub(crate) fn void_evidence(&mut self, situation: &RuleContext<'_>) {
        let Some(group) = situation.group else { return };
        if group.has_evidence() {
            self.lapse_passes(group);
        }
        if let Some(from) = situation.waiting().iter().position(|seat| seat.task == AssignmentTask::Merge) {
            self.end_waiting(situation.slot(), from, BlockerResolution::Rework);
        }
    }

    /// An acceptance in place of the review settles disputes, but not findings that the author never answered: nothing
    /// shows that the author worked on those. A person may accept them all the same.
    fn refuse_unanswered(
        &self,
        situation: &RuleContext<'_>,
        pass: &Pass,
        voice: &DecisionActor,
    ) -> Result<(), Rejection> {
        let Some(group) = situation.group.filter(|_| voice.resolution != BlockerResolution::Person) else {
            return Ok(());
        };
        let unanswered: Vec<&Finding> =
            group.findings.iter().filter(|finding| finding.is_unanswered_for(&voice.name)).collect();
        match unanswered.is_empty() || self.preview {
            true => Ok(()),
            false => Err(refuse::refuse_unanswered_findings(situation, &pass.name, &unanswered)),
        }
    }

    /// The loop leaves open findings to the role above: it decides about them, answered or not.
    fn escalate_findings(&mut self, situation: &RuleContext<'_>, to: RoleIx, voice: &DecisionActor) {
        let workflow = self.cx.workflow;
        let Some(group) = situation.group.filter(|_| !self.preview && !workflow.role(to).author) else { return };
        let to = &workflow.role(to).name;
        let open =
            self.findings_after(group).into_iter().enumerate().filter(|(_, finding)| finding.is_unanswered_for(to));
        let escalated = open.map(|(index, finding)| {
            let finding = Finding { escalated_to: Some(to.clone()), ..finding };
            (u32::try_from(index).unwrap_or(u32::MAX), finding)
        });
        let findings: Vec<(u32, Finding)> = escalated.collect();
        if !findings.is_empty() {
            self.push(StateChange::Reviewed { group: group.id.clone(), by: voice.name.clone(), findings });
        }
    }

    /// The findings of a group as this decision leaves them.
    fn findings_after(&self, group: &Group) -> Vec<Finding> {
        let mut findings = group.findings.clone();
        let moves = self.changes.iter().filter_map(|change| {
            let StateChange::Reviewed { group: reviewed, findings, .. } = change else { return None };
            (*reviewed == group.id).then_some(findings)
        });
        for (index, finding) in moves.flatten() {
            match findings.get_mut(usize::try_from(*index).unwrap_or(usize::MAX)) {
                Some(old) => *old = finding.clone(),
                None => findings.push(finding.clone()),
            }
        }
        findings
    }

    /// Accepted in place of the reviewer: what is open, of one role or of all, is settled by that.
    /// Says how many stay open.
    fn settle(&mut self, situation: &RuleContext<'_>, voice: &DecisionActor, only: Option<RoleIx>) -> u32 {
        let Some(group) = situation.group else { return 0 };
        let raised_by = only.map(|ix| &self.cx.workflow.role(ix).name);
        let concerned = |finding: &Finding| raised_by.is_none_or(|role| finding.raised_by == *role);
        let open = group.findings.iter().enumerate().filter(|(_, finding)| finding.is_blocking());
        let left = open.clone().filter(|(_, finding)| !concerned(finding)).count();
        let left = u32::try_from(left).unwrap_or(u32::MAX);
        let moves: Vec<_> = open
            .filter(|(_, finding)| concerned(finding))
            .map(|(index, finding)| {
                let mut finding = finding.clone();
                finding.status = crate::state::FindingStatus::Accepted;
                finding.accepted_as_is_by = Some(voice.name.clone());
                (u32::try_from(index).unwrap_or(u32::MAX), finding)
            })
            .collect();
        if moves.is_empty() {
            return left;
        }
        let (by, count) = (shown_person(&voice.name), moves.len());
        let findings = if count == 1 { "finding" } else { "findings" };
        let note = format!("{by} accepted the group with {count} blocking {findings} open");
        self.push(StateChange::Noted { group: group.id.clone(), note: Name::from(note.clone()) });
        self.warnings.push(Warning::coded(Code::FindingsOpen, note));
        self.push(StateChange::Reviewed { group: group.id.clone(), by: voice.name.clone(), findings: moves });
        left
    }

    /// Respawns come with a warning one step before the limit.
    fn warn(&mut self, situation: &RuleContext<'_>, rule: &Rule, passage: Option<LoopIteration<'_>>) {
        let (Some(ix), Some(passage)) = (rule.counted, passage) else { return };
        let again =
            matches!(rule.verb, RuleVerb::Respawn(_) | RuleVerb::Rework(_) | RuleVerb::Goto(_) | RuleVerb::Spawn(_));
        let item = situation.workflow().loop_at(ix);
        if !again {
            return;
        }
        let above = || {
            let role = situation.workflow().role_named(passage.role);
            let rung = role.and_then(|role| find_escalation_target(situation.workflow(), role, situation.reporter));
            rung.map_or("a person", |role| situation.workflow().role(role).name.as_str())
        };
        if item.warn.no_progress.is_some_and(|count| passage.no_progress >= count) {
            let above = above();
            let text = format!("HIGH RISK: the next {} iteration without progress escalates to {above}", item.name);
            self.warnings.push(Warning::plain(text));
        }
        if passage.iteration >= item.warn.iteration {
            let above = above();
            let left = item.limit.iteration.saturating_sub(passage.iteration);
            let text = if left <= 1 && item.measure.is_none() {
                format!("FINAL ITERATION of {}: one more escalates to {above}", item.name)
            } else if left <= 1 {
                format!("FINAL ITERATION of {}: resolve everything that blocks, or it escalates to {above}", item.name)
            } else {
                format!("{} iteration {}: {left} more and it escalates to {above}", item.name, passage.iteration)
            };
            self.warnings.push(Warning::plain(text));
        }
        debug_assert!(!reaches_limit(item.limit, passage), "a limit has a rule of its own");
    }

    fn drop_here(&mut self, situation: &RuleContext<'_>, end: GroupEnd) -> Result<(), Rejection> {
        match situation.group {
            Some(group) => self.drop_group(group, Some(situation.part), end),
            None => Ok(()),
        }
    }

    pub(crate) fn cancel_session(&mut self, voice: &DecisionActor) {
        let state = self.cx.state;
        self.action = DecisionAction::End;
        for group in state.groups.iter().filter(|group| !group.ended()) {
            self.void_lane(Some(group), &group.lane, None, None);
            let end = GroupEnd::Cancelled { by: voice.name.clone() };
            self.push(StateChange::GroupEnded { group: group.id.clone(), end });
        }
        self.void_lane(None, &state.lane, None, None);
        self.push(StateChange::Session { status: SessionStatus::Cancelled });
    }
}

/// The rework of a stage whose findings hold work back. A person who approves it settles them.
fn rework_of<'a>(situation: &RuleContext<'a>) -> Option<&'a ReworkRule> {
    let workflow = situation.workflow();
    let stage = situation.phase.and_then(|phase| workflow.stages.get(workflow.phase(phase).stage));
    let rework = stage.and_then(|stage| stage.rework.as_ref());
    rework.filter(|rework| workflow.loop_at(rework.counted).measure == Some(LoopMeasure::BlockingFindings))
}

/// A rule by which the work itself is done again, or a gate that failed.
pub(crate) fn sends_back(rule: &Rule) -> bool {
    let to_author = matches!(
        rule.verb,
        RuleVerb::Respawn(RoleTarget::Author)
            | RuleVerb::Spawn(RoleTarget::Author)
            | RuleVerb::Escalate(RoleTarget::Author)
    );
    to_author
        || matches!(rule.verb, RuleVerb::Goto(_) | RuleVerb::Rework(_))
        || matches!(rule.source, RuleSource::Gate(_))
}

/// The role that the target escalates to. If the reporter is on the same escalation path, the role that the reporter
/// escalates to.
pub(crate) fn find_escalation_target(workflow: &Workflow, target: RoleIx, reporter: Option<RoleIx>) -> Option<RoleIx> {
    let mut rung = Some(target);
    let mut start = target;
    for _ in 0..workflow.roles.len() {
        let Some(role) = rung else { break };
        if Some(role) == reporter {
            start = role;
            break;
        }
        rung = workflow.role(role).escalates_to;
    }
    workflow.role(start).escalates_to
}
