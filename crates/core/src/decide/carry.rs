//! Carries a chosen rule out.

use crate::code::Code;
use crate::decide::choose::{Chosen, aim, free_role, overridden, reached};
use crate::decide::draft::Draft;
use crate::decide::facts::{BLOCKED_AGENT, record};
use crate::decide::refuse;
use crate::decide::situation::{Passage, Situation};
use crate::decision::{Action, FactValue, Warning};
use crate::event::{Change, Resolution};
use crate::id::Name;
use crate::naming::shown_person;
use crate::rejection::Rejection;
use crate::state::{End, Finding, Group, SessionStatus, Stopped};
use crate::workflow::*;

/// What the person or agent behind a decision is called in the record.
pub(crate) struct Voice {
    pub(crate) name: Name,
    /// Resolves blockers as a person, if one speaks.
    pub(crate) resolution: Resolution,
}

impl Draft<'_> {
    pub(crate) fn carry(
        &mut self,
        situation: &Situation<'_>,
        chosen: Chosen<'_>,
        voice: &Voice,
    ) -> Result<(), Rejection> {
        let Chosen { rule, passage, facts } = chosen;
        self.about = situation.group_name();
        self.cite(rule, facts);
        self.withdraw_passes(situation, rule);
        if !rule.climbs {
            self.pass(situation, rule, voice)?;
            self.excuse_evidence(situation, rule, voice);
            self.explain_missing_evidence(situation, rule);
        }
        if let Some(passage) = passage {
            self.push(Change::Counted {
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
            self.verb(situation, rule, voice)?;
        }
        self.note_failure(situation, rule);
        Ok(())
    }

    /// The verb alone: also for a move that was stopped and is made after all.
    pub(crate) fn verb(&mut self, situation: &Situation<'_>, rule: &Rule, voice: &Voice) -> Result<(), Rejection> {
        let slot = situation.slot();
        match rule.verb {
            Verb::Spawn(target) => {
                if let Some(role) = situation.resolve(target) {
                    self.action = Action::Spawn;
                    self.give(situation, role, voice)?;
                }
            }
            Verb::Respawn(target) => {
                if let Some(role) = situation.resolve(target) {
                    self.action = Action::Respawn;
                    let task = if target == Target::Reporter { situation.task } else { Task::Work };
                    if task != Task::Work || !self.goes_to_author_phase(situation, role, role, voice)? {
                        self.assign(slot, role, task, voice.resolution);
                    }
                }
            }
            Verb::Consult(target) => {
                if let Some(role) = situation.resolve(target) {
                    self.consult(situation, role, rule.blocks);
                }
            }
            Verb::Return => self.resume(situation, voice),
            Verb::Escalate(target) => self.escalate(situation, rule, target, voice)?,
            Verb::Merge => {
                if let Some(author) = situation.author() {
                    if let Some(group) = situation.group {
                        self.refuse_unchanged(group)?;
                    }
                    self.action = Action::Merge;
                    self.end_waiting(slot, 0, voice.resolution);
                    self.assign(slot, author, Task::Merge, voice.resolution);
                }
            }
            Verb::Goto(phase) | Verb::Rework(phase) => {
                self.back_to(situation, phase, None, voice)?;
            }
            Verb::Start => self.start(situation, voice)?,
            Verb::Ask(question) => self.put_question(situation, question, rule.blocks, None)?,
            Verb::Complete => self.complete_group(situation)?,
            Verb::Defer => {
                let why = self.deferral_reason(situation);
                self.drop_here(situation, End::Deferred { why, by: voice.name.clone(), acknowledged: None })?;
            }
            Verb::Validate(validator) => self.validate(situation, validator, rule, voice)?,
            Verb::End => self.end_session()?,
            Verb::CancelGroup => self.drop_here(situation, End::Cancelled { by: voice.name.clone() })?,
            Verb::CancelSession => self.cancel_session(voice),
            Verb::Redo => self.redo(situation, voice)?,
            Verb::Acknowledge => self.acknowledge_all(voice)?,
            Verb::Join => {
                // The stage may be left by another phase, which does not have this plan.
                if situation.phase.is_some_and(|phase| self.cx.workflow.phase(phase).plans) {
                    self.take_plan(situation)?;
                }
                self.action = Action::Wait;
                self.waits_for = Some(crate::decision::WaitsFor::Phase);
                self.push(Change::PartDone { group: situation.group_name(), part: situation.part });
            }
            Verb::Leave => {
                let rework = self.answering.and(rework_of(situation));
                let left = rework.map_or(0, |_| self.settle(situation, voice, situation.reporter));
                match rework {
                    // What other reviewers raised is not the asker's to have waived.
                    Some(rework) if left > 0 => self.back_to(situation, rework.goto, None, voice)?,
                    Some(_) | None => self.leave(situation)?,
                }
            }
        }
        Ok(())
    }

    /// The words of the role or the person that defers. Without words, the record says so and repeats what was asked.
    fn deferral_reason(&self, situation: &Situation<'_>) -> Name {
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

    /// An assignment; while somebody waits, it is to help them.
    fn give(&mut self, situation: &Situation<'_>, role: RoleIx, voice: &Voice) -> Result<(), Rejection> {
        if self.goes_to_author_phase(situation, role, role, voice)? {
            return Ok(());
        }
        let author = self.cx.workflow.role(overridden(situation, role)).author;
        let waits = !situation.waiting().is_empty() && !self.already_ended(situation.slot(), 0);
        let helps = !author && waits;
        let task = if helps { Task::Consult } else { Task::Work };
        self.assign(situation.slot(), role, task, voice.resolution);
        Ok(())
    }

    fn consult(&mut self, situation: &Situation<'_>, role: RoleIx, blocks: bool) {
        self.action = Action::Spawn;
        let group = situation.group_name();
        if let Some(seat) = situation.seat(blocks) {
            if blocks {
                let reason = self.blocked_reason(situation);
                let (part, role) = (situation.part, seat.role.clone());
                self.push(Change::Blocked { group: group.clone(), part, role, reason });
            }
            self.push(Change::Waits { group, part: situation.part, seat });
        }
        self.assign(situation.slot(), role, Task::Consult, Resolution::Guidance);
    }

    /// The last that waits resumes its own task.
    pub(crate) fn resume(&mut self, situation: &Situation<'_>, voice: &Voice) {
        let waiting = situation.waiting();
        let Some(seat) = waiting.last() else { return };
        let Some(role) = self.cx.workflow.role_named(&seat.role) else { return };
        self.read_role(&BLOCKED_AGENT, role);
        self.action = Action::Return;
        self.end_waiting(situation.slot(), waiting.len().saturating_sub(1), voice.resolution);
        self.assign(situation.slot(), role, seat.task, voice.resolution);
    }

    fn escalate(
        &mut self,
        situation: &Situation<'_>,
        rule: &Rule,
        target: Target,
        voice: &Voice,
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
            None => self.stuck(situation, rule, None)?,
        }
        Ok(())
    }

    /// One rung up instead: the limit is reached.
    fn climb(
        &mut self,
        situation: &Situation<'_>,
        rule: &Rule,
        passage: Option<Passage<'_>>,
        voice: &Voice,
    ) -> Result<(), Rejection> {
        self.escalated = true;
        // What the stopped report brings is not lost.
        if rule.verb == Verb::Start {
            self.take_plan(situation)?;
        } else if matches!(rule.verb, Verb::Validate(_)) {
            self.confirmations(situation, voice)?;
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
        let target = situation.resolve(aim(rule.verb)).or(situation.reporter);
        let rung = target.and_then(|target| rung_above(self.cx.workflow, target, situation.reporter));
        let helps = matches!(rule.verb, Verb::Consult(_) | Verb::Return);
        // Nothing that the next role could report is the evidence of this one: a person decides.
        let decides = |above: &RoleIx| {
            let replaces =
                |target| situation.stands_alone(target, *above) || situation.author_would_judge(target, *above);
            target.is_some_and(replaces)
        };
        let rung = rung.filter(|above| helps || !decides(above));
        let rung = rung.and_then(|rung| self.count_escalation(situation, rule, rung));
        let counts_findings = limit.is_some_and(|item| item.measure == Some(Measure::BlockingFindings));
        if let Some(role) = rung.filter(|_| counts_findings) {
            self.escalate_findings(situation, role, voice);
        }
        match (rung, rule.verb) {
            (Some(role), Verb::Consult(_)) if free_role(situation, overridden(situation, role)) => {
                self.consult(situation, role, rule.blocks);
            }
            // A person has been asked often enough that only a person can say how to go on.
            (None, _) | (Some(_), Verb::Consult(_) | Verb::Ask(_)) => {
                let stopped = passage.map(|passage| Stopped {
                    rule: Name::new(rule.id.strip_suffix("/limit").unwrap_or(&rule.id)),
                    counted: passage.counted.clone(),
                    role: passage.role.clone(),
                });
                self.stuck(situation, rule, stopped)?;
            }
            (Some(role), Verb::Goto(phase) | Verb::Rework(phase)) => {
                self.back_to(situation, phase, Some(role), voice)?;
                self.action = Action::Spawn;
            }
            (Some(role), _) => self.replace(situation, target, role, voice)?,
        }
        Ok(())
    }

    /// The role above takes over, where the role that it replaces would have worked.
    fn replace(
        &mut self,
        situation: &Situation<'_>,
        target: Option<RoleIx>,
        role: RoleIx,
        voice: &Voice,
    ) -> Result<(), Rejection> {
        self.action = Action::Spawn;
        let author = target.filter(|target| self.cx.workflow.role(*target).author);
        match author {
            Some(author) if self.goes_to_author_phase(situation, author, role, voice)? => Ok(()),
            Some(_) | None => self.give(situation, role, voice),
        }
    }

    /// Escalations of a loop run out as well, or work could come back to the same rung without end. Returns the first rung
    /// that has not been reached as often as the loop allows, or a person.
    fn count_escalation(&mut self, situation: &Situation<'_>, rule: &Rule, rung: RoleIx) -> Option<RoleIx> {
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
                record(&mut self.facts, &item.facts.escalated, FactValue::Number(before));
            }
            if before < item.limit.iteration {
                self.push(Change::Counted {
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

    /// Nobody above: a person decides.
    pub(crate) fn stuck(
        &mut self,
        situation: &Situation<'_>,
        rule: &Rule,
        stopped: Option<Stopped>,
    ) -> Result<(), Rejection> {
        self.put_question(situation, self.cx.workflow.stuck, rule.blocks, stopped)
    }

    /// Evidence that the rule records.
    pub(crate) fn pass(&mut self, situation: &Situation<'_>, rule: &Rule, voice: &Voice) -> Result<(), Rejection> {
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
            self.end_waiting(situation.slot(), 0, Resolution::Approval);
            self.push(Change::Passed { group: group.id.clone(), name: pass.name.clone() });
            if let Some(forgets) = pass.forgets {
                let counted = self.cx.workflow.loop_at(forgets).name.clone();
                if group.lane.counters.iter().any(|counter| counter.counted == counted) {
                    self.push(Change::MeasureForgotten { group: group.id.clone(), counted });
                }
            }
        }
        let names: Vec<Name> = rule.passes.iter().map(|ix| self.cx.workflow.pass(*ix).name.clone()).collect();
        self.accept_unchanged(group, &names, &voice.name);
        let once_blocked = &self.cx.workflow.completion.once_blocked;
        let confirmed = once_blocked.iter().all(|ix| self.has_passed(group, &self.cx.workflow.pass(*ix).name));
        if confirmed && once_blocked.iter().any(|ix| rule.passes.contains(ix)) {
            self.push(Change::Confirmed { group: group.id.clone(), by: Some(voice.name.clone()) });
        }
        Ok(())
    }

    fn still_open(&self, situation: &Situation<'_>, pass: &Pass, open: u32) -> Rejection {
        let what = match (pass.measured, open) {
            (Some(Measure::FailingTests), 1) => "failing test is",
            (Some(Measure::FailingTests), _) => "failing tests are",
            (Some(Measure::BlockingFindings) | None, 1) => "blocking finding is",
            (Some(Measure::BlockingFindings) | None, _) => "blocking findings are",
        };
        let message = format!("`{}` cannot pass: {open} {what} open", pass.name);
        let group = situation.group.filter(|_| !self.preview);
        match pass.measured {
            Some(Measure::FailingTests) => {
                let tests = situation.handoff.filter(|_| !self.preview).and_then(|h| h.failing_tests.as_deref());
                refuse::still_failing(situation, message, tests.unwrap_or_default())
            }
            Some(Measure::BlockingFindings) | None => {
                let findings = group.map(|group| self.findings_of(group)).unwrap_or_default();
                refuse::still_open(situation, message, findings.iter().collect())
            }
        }
    }

    /// The findings of a group as this decision would leave them. Known ones keep the ids that they have: the refusal
    /// changes nothing, so the next report must name them by these.
    fn findings_of(&self, group: &Group) -> Vec<Finding> {
        let mut findings = group.findings.clone();
        let moves = self.changes.iter().filter_map(|change| {
            let Change::Reviewed { group: reviewed, findings, .. } = change else { return None };
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

    /// Work goes back, whoever gets it: what was passed says nothing of what comes, and no merge waits for it.
    pub(crate) fn void_evidence(&mut self, situation: &Situation<'_>) {
        let Some(group) = situation.group else { return };
        if group.has_evidence() {
            self.lapse_passes(group);
        }
        if let Some(from) = situation.waiting().iter().position(|seat| seat.task == Task::Merge) {
            self.end_waiting(situation.slot(), from, Resolution::Rework);
        }
    }

    /// An acceptance in place of the review ends disputes, not findings that nobody has looked at: an author that never
    /// answered one has not worked on it. A person decides as they see fit.
    fn refuse_unanswered(&self, situation: &Situation<'_>, pass: &Pass, voice: &Voice) -> Result<(), Rejection> {
        let Some(group) = situation.group.filter(|_| voice.resolution != Resolution::Person) else { return Ok(()) };
        let unanswered: Vec<&Finding> =
            group.findings.iter().filter(|finding| finding.is_unanswered_for(&voice.name)).collect();
        match unanswered.is_empty() || self.preview {
            true => Ok(()),
            false => Err(refuse::unanswered(situation, &pass.name, &unanswered)),
        }
    }

    /// The loop leaves open findings to the role above: it decides about them, answered or not.
    fn escalate_findings(&mut self, situation: &Situation<'_>, to: RoleIx, voice: &Voice) {
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
            self.push(Change::Reviewed { group: group.id.clone(), by: voice.name.clone(), findings });
        }
    }

    /// The findings of a group as this decision leaves them.
    fn findings_after(&self, group: &Group) -> Vec<Finding> {
        let mut findings = group.findings.clone();
        let moves = self.changes.iter().filter_map(|change| {
            let Change::Reviewed { group: reviewed, findings, .. } = change else { return None };
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
    fn settle(&mut self, situation: &Situation<'_>, voice: &Voice, only: Option<RoleIx>) -> u32 {
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
        self.push(Change::Noted { group: group.id.clone(), note: Name::from(note.clone()) });
        self.warnings.push(Warning::coded(Code::FindingsOpen, note));
        self.push(Change::Reviewed { group: group.id.clone(), by: voice.name.clone(), findings: moves });
        left
    }

    /// Respawns come with a warning one step before the limit.
    fn warn(&mut self, situation: &Situation<'_>, rule: &Rule, passage: Option<Passage<'_>>) {
        let (Some(ix), Some(passage)) = (rule.counted, passage) else { return };
        let again = matches!(rule.verb, Verb::Respawn(_) | Verb::Rework(_) | Verb::Goto(_) | Verb::Spawn(_));
        let item = situation.workflow().loop_at(ix);
        if !again {
            return;
        }
        let above = || {
            let role = situation.workflow().role_named(passage.role);
            let rung = role.and_then(|role| rung_above(situation.workflow(), role, situation.reporter));
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
        debug_assert!(!reached(item.limit, passage), "a limit has a rule of its own");
    }

    fn drop_here(&mut self, situation: &Situation<'_>, end: End) -> Result<(), Rejection> {
        match situation.group {
            Some(group) => self.drop_group(group, Some(situation.part), end),
            None => Ok(()),
        }
    }

    pub(crate) fn cancel_session(&mut self, voice: &Voice) {
        let state = self.cx.state;
        self.action = Action::End;
        for group in state.groups.iter().filter(|group| !group.ended()) {
            self.void_lane(Some(group), &group.lane, None, None);
            let end = End::Cancelled { by: voice.name.clone() };
            self.push(Change::GroupEnded { group: group.id.clone(), end });
        }
        self.void_lane(None, &state.lane, None, None);
        self.push(Change::Session { status: SessionStatus::Cancelled });
    }
}

/// The rework of a stage whose findings hold work back. A person who approves it settles them.
fn rework_of<'a>(situation: &Situation<'a>) -> Option<&'a Rework> {
    let workflow = situation.workflow();
    let stage = situation.phase.and_then(|phase| workflow.stages.get(workflow.phase(phase).stage));
    let rework = stage.and_then(|stage| stage.rework.as_ref());
    rework.filter(|rework| workflow.loop_at(rework.counted).measure == Some(Measure::BlockingFindings))
}

/// A rule by which the work itself is done again, or a gate that failed.
pub(crate) fn sends_back(rule: &Rule) -> bool {
    let to_author = matches!(
        rule.verb,
        Verb::Respawn(Target::Author) | Verb::Spawn(Target::Author) | Verb::Escalate(Target::Author)
    );
    to_author || matches!(rule.verb, Verb::Goto(_) | Verb::Rework(_)) || matches!(rule.source, Source::Gate(_))
}

/// One rung above the target, or above the reporter where it stands on that ladder already.
pub(crate) fn rung_above(workflow: &Workflow, target: RoleIx, reporter: Option<RoleIx>) -> Option<RoleIx> {
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
