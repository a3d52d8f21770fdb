//! Whether the session may complete: every reason against it, or none.

use crate::code::Code;
use crate::decide::apply_rule::DecisionActor;
use crate::decide::choose::choose_rule;
use crate::decide::draft::{AssignmentSlot, DecisionDraft};
use crate::decide::findings_ledger::FindingsLedger;
use crate::decide::held_reports::accepted_by;
use crate::decide::rule_context::RuleContext;
use crate::decision::{CompletionJudgement, CompletionVerdict, DecisionAction, JudgementReason, Warning};
use crate::event::{BlockerResolution, StateChange};
use crate::id::Name;
use crate::naming::shown_person;
use crate::rejection::Rejection;
use crate::state::{GatePurpose, Group, GroupEnd, GroupPosition, GroupProgress, SessionStatus};
use crate::workflow::*;

impl DecisionDraft<'_> {
    /// The validator judges, and its verdict takes its own row at once.
    pub(crate) fn validate(
        &mut self,
        situation: &RuleContext<'_>,
        validator: RoleIx,
        rule: &Rule,
        voice: &DecisionActor,
    ) -> Result<(), Rejection> {
        if self.preview {
            self.action = DecisionAction::Validate;
            return Ok(());
        }
        self.apply_confirmations(situation, voice)?;
        if self.accepted_lets_others_start()? {
            return Ok(());
        }
        let mut reasons = self.judge_end(rule.without_groups);
        if only_nothing_completed(&reasons) {
            return self.ask_nothing_completed(situation, &reasons);
        }
        let purpose = GatePurpose::Validation(self.cx.workflow.role(validator).name.clone());
        if reasons.is_empty() && self.opens_final_gate(purpose) {
            return Ok(());
        }
        reasons.extend(self.open_session_gates().iter().map(|gate| self.gate_reason(*gate)));
        self.apply_verdict(situation, validator, reasons, voice)
    }

    /// After a gate of the session has passed: the next gate, or the verdict.
    pub(crate) fn judge_again(
        &mut self,
        situation: &RuleContext<'_>,
        validator: RoleIx,
        voice: &DecisionActor,
    ) -> Result<(), Rejection> {
        let reasons = self.judge_end(true);
        let purpose = GatePurpose::Validation(self.cx.workflow.role(validator).name.clone());
        if reasons.is_empty() && self.opens_final_gate(purpose) {
            return Ok(());
        }
        self.apply_verdict(situation, validator, reasons, voice)
    }

    pub(crate) fn apply_verdict(
        &mut self,
        situation: &RuleContext<'_>,
        validator: RoleIx,
        reasons: Vec<JudgementReason>,
        voice: &DecisionActor,
    ) -> Result<(), Rejection> {
        let workflow = self.cx.workflow;
        let verdict = if reasons.is_empty() { CompletionVerdict::Accept } else { CompletionVerdict::Reject };
        let word = match verdict {
            CompletionVerdict::Accept => "ACCEPT",
            CompletionVerdict::Reject => "REJECT",
        };
        self.judgement = Some(CompletionJudgement { verdict, reasons });
        let judged = RuleContext {
            cx: self.cx,
            group: None,
            lane: &self.cx.state.lane,
            part: situation.part,
            reporter: Some(validator),
            task: AssignmentTask::Work,
            phase: None,
            handoff: situation.handoff,
            reason: None,
            ledger: FindingsLedger::default(),
            given: None,
            is_stale: false,
            awaiting: &[],
        };
        let status = workflow.status_of(validator, word);
        let candidates = status.and_then(|status| workflow.by_report.get(&(validator, status)));
        let chosen = candidates.and_then(|candidates| choose_rule(&judged, candidates));
        let Some(chosen) = chosen else {
            let message = format!("the validator says {word}, and no row of it holds now");
            return Err(Rejection::new(Code::NotNow, message));
        };
        let (rule, context) = (self.rule.clone(), self.context.clone());
        let decided_by = chosen.rule;
        self.apply_chosen_rule(&judged, chosen, voice)?;
        self.because.push(Name::from(format!("validator: {word}, by {}", decided_by.id)));
        self.rule = rule;
        if verdict == CompletionVerdict::Accept {
            self.context = context;
        }
        self.action = DecisionAction::Validate;
        Ok(())
    }

    /// `accept` and `acknowledge` of the report: each group by its name.
    pub(crate) fn apply_confirmations(
        &mut self,
        situation: &RuleContext<'_>,
        voice: &DecisionActor,
    ) -> Result<(), Rejection> {
        let Some(handoff) = situation.handoff else {
            self.held_confirmations(voice);
            return Ok(());
        };
        self.refuse_unknown_groups(handoff)?;
        let state = self.cx.state;
        // Without `accept`, the report confirms what its prompt listed.
        let named = handoff.field("accept").is_some();
        let accept = accepted_by(situation, handoff);
        let awaits = |group: &Group| group.progress == GroupProgress::AwaitingConfirmation;
        if !named && accept.iter().filter_map(|name| state.group(name)).any(awaits) {
            self.because
                .push(Name::new("the report names no group to accept, so it accepts those that its prompt listed"));
        }
        for group in accept.iter().filter_map(|name| state.group(name)) {
            if group.progress == GroupProgress::AwaitingConfirmation {
                self.accept(group, &voice.name);
            } else if named {
                let text = format!("`accept` names {}, which is {}", group.id, group.status().name());
                self.warnings.push(Warning::plain(text));
            }
        }
        for group in handoff.acknowledge.iter().filter_map(|name| state.group(name)) {
            if matches!(&group.progress, GroupProgress::Ended(GroupEnd::Deferred { acknowledged: None, .. })) {
                self.push(StateChange::DeferralNamed { group: group.id.clone(), by: voice.name.clone() });
            } else {
                let text = format!("`acknowledge` names {}, which has no deferral to acknowledge", group.id);
                self.warnings.push(Warning::plain(text));
            }
        }
        Ok(())
    }

    /// A group that was accepted may be what others waited for: they start, and the verdict can wait.
    fn accepted_lets_others_start(&mut self) -> Result<bool, Rejection> {
        let waited_for = |change: &StateChange| matches!(change, StateChange::GroupEnded { group, .. } if self.roster.is_waited_for(group));
        if !self.changes.iter().any(waited_for) {
            return Ok(false);
        }
        self.because.push(Name::new("groups that waited for what was accepted come first"));
        self.start_groups(None)?;
        Ok(true)
    }

    /// Everything but the confirmation was there when the group began to await it.
    pub(crate) fn accept(&mut self, group: &Group, by: &Name) {
        let workflow = self.cx.workflow;
        self.because.push(Name::from(format!(
            "{by} accepted {}: {}",
            group.id,
            describe_completion_doubts(group),
            by = shown_person(by)
        )));
        for ix in &workflow.completion.once_blocked {
            self.push(StateChange::Passed { group: group.id.clone(), name: workflow.pass(*ix).name.clone() });
        }
        self.push(StateChange::Confirmed { group: group.id.clone(), by: Some(by.clone()) });
        self.push(StateChange::GroupEnded { group: group.id.clone(), end: GroupEnd::Completed });
        self.set_group_position(group, GroupPosition::Completed);
    }

    /// Every reason against completion that a group gives.
    pub(crate) fn judge_groups(&self, without_groups: bool) -> Vec<JudgementReason> {
        let state = self.cx.state;
        let mut reasons = Vec::new();
        if state.groups.is_empty() && self.planned.is_empty() && !without_groups {
            reasons.push(JudgementReason::new(Code::NothingPlanned, None, "no group was ever planned"));
        }
        for group in state.groups.iter().chain(&self.planned) {
            self.judge_group(group, &mut reasons);
        }
        reasons
    }

    /// The same, and whether anything was completed at all.
    pub(crate) fn judge_end(&self, without_groups: bool) -> Vec<JudgementReason> {
        let mut reasons = self.judge_groups(without_groups);
        reasons.extend(self.judge_result(&reasons));
        reasons
    }

    /// A session that ends with nothing completed ends so because a person says so, not because its own team does.
    pub(crate) fn judge_result(&self, reasons: &[JudgementReason]) -> Option<JudgementReason> {
        let state = self.cx.state;
        let unfinished = |reason: &JudgementReason| {
            let codes = [Code::GroupUnfinished, Code::NotConfirmed, Code::NothingPlanned];
            codes.iter().any(|code| reason.code == code.number())
        };
        let acknowledged = |change: &StateChange| matches!(change, StateChange::NothingCompletedAcknowledged { .. });
        let workflow = self.cx.workflow;
        let all = || state.groups.iter().chain(&self.planned);
        let completed: Vec<&Group> = all().filter(|group| self.is_completed(group)).collect();
        let result = completed.iter().any(|group| state.is_result(workflow, group));
        let groups = all().next().is_some();
        // An investigation may end with its answers alone, but not with work that was given up.
        let declared =
            state.session.as_ref().is_some_and(|session| session.investigation) && completed.len() == all().count();
        let settled = result || declared || state.nothing_completed.is_some() || self.changes.iter().any(acknowledged);
        if settled || reasons.iter().any(unfinished) {
            return None;
        }
        let text = match (completed.as_slice(), groups) {
            ([], true) => {
                "no group was completed: all are deferred or cancelled, and no person has acknowledged that".to_owned()
            }
            ([], false) => "no group was planned, and no person has declared or confirmed an investigation".to_owned(),
            (idle, _) => {
                let idle: Vec<&str> = idle.iter().map(|group| group.id.as_str()).collect();
                let idle = idle.join(", ");
                format!(
                    "no work was completed, only groups without required changes ({idle}), and no person has acknowledged that"
                )
            }
        };
        Some(JudgementReason::new(Code::NothingCompleted, None, text))
    }

    /// As this decision leaves the group.
    fn is_completed(&self, group: &Group) -> bool {
        let ended = self.changes.iter().rev().find_map(|change| {
            let StateChange::GroupEnded { group: ended, end } = change else { return None };
            (*ended == group.id).then_some(*end == GroupEnd::Completed)
        });
        ended.unwrap_or(group.progress == GroupProgress::Ended(GroupEnd::Completed))
    }

    fn ask_nothing_completed(
        &mut self,
        situation: &RuleContext<'_>,
        reasons: &[JudgementReason],
    ) -> Result<(), Rejection> {
        self.because
            .extend(reasons.iter().map(|reason| Name::from(format!("The session would end, but {}", reason.text))));
        self.put_question(situation, self.cx.workflow.nothing_completed, false, None)
    }

    fn judge_group(&self, group: &Group, reasons: &mut Vec<JudgementReason>) {
        let name = Some(&group.id);
        let ended_now = self.changes.iter().rev().find_map(|change| {
            let StateChange::GroupEnded { group: other, end } = change else { return None };
            (*other == group.id).then_some(end)
        });
        let named_now =
            |change: &StateChange| matches!(change, StateChange::DeferralNamed { group: g, .. } if *g == group.id);
        let end = match (&group.progress, ended_now) {
            (_, Some(end)) | (GroupProgress::Ended(end), None) => Some(end),
            (
                GroupProgress::Pending
                | GroupProgress::Working
                | GroupProgress::Arrived
                | GroupProgress::AwaitingConfirmation,
                None,
            ) => None,
        };
        match end {
            Some(GroupEnd::Cancelled { .. }) => return,
            Some(GroupEnd::Deferred { why, acknowledged, .. }) => {
                if acknowledged.is_none() && !self.changes.iter().any(named_now) {
                    let text = format!("{} is deferred ({why}) and has not been acknowledged by name", group.id);
                    reasons.push(JudgementReason::new(Code::DeferralNotNamed, name, text));
                }
                return;
            }
            Some(GroupEnd::Completed) => {}
            None if group.progress == GroupProgress::AwaitingConfirmation => {
                let text =
                    format!("{} is merged and awaits confirmation: {}", group.id, describe_completion_doubts(group));
                reasons.push(JudgementReason::new(Code::NotConfirmed, name, text));
            }
            None => {
                let text = format!("{} is {}", group.id, group.status().name());
                reasons.push(JudgementReason::new(Code::GroupUnfinished, name, text));
            }
        }
        self.judge_evidence(group, end.is_some(), reasons);
    }

    fn judge_evidence(&self, group: &Group, completed: bool, reasons: &mut Vec<JudgementReason>) {
        let name = Some(&group.id);
        let missing = self.missing_needs(group);
        if !missing.is_empty() {
            let text = format!("{} has not passed: {}", group.id, missing.join(", "));
            reasons.push(JudgementReason::new(Code::NoValidPath, name, text));
        }
        if self.lacks_changes(group) {
            let text = {
                let author = group.author.as_ref().map_or("its author", Name::as_str);
                format!("{} changes no file, and that was not accepted: {author} delivered none", group.id)
            };
            reasons.push(JudgementReason::new(Code::NothingChanged, name, text));
        }
        if completed && !self.is_confirmed(group) {
            let text =
                format!("{} was completed without being accepted: {}", group.id, describe_completion_doubts(group));
            reasons.push(JudgementReason::new(Code::NotConfirmed, name, text));
        }
        for block in &group.lane.blocks {
            let reason = block.reason.as_ref().map_or("no reason given", Name::as_str);
            let text = format!("{}: {} was blocked ({reason}) and nothing resolved it", group.id, block.role);
            reasons.push(JudgementReason::new(Code::BlockUnresolved, name, text));
        }
        let open = group.blocking_findings();
        if open > 0 {
            let findings = if open == 1 { "finding" } else { "findings" };
            let text = format!("{} has {open} blocking {findings} open", group.id);
            reasons.push(JudgementReason::new(Code::FindingsOpen, name, text));
        }
        for gate in self.cx.workflow.completion.gates.iter().filter(|gate| !self.gate_done(group, **gate)) {
            let gate = &self.cx.workflow.gate(*gate).name;
            let text = format!("{}: gate `{gate}` has not passed on this tree", group.id);
            reasons.push(JudgementReason::new(Code::GateMissing, name, text));
        }
    }

    pub(crate) fn open_session_gates(&self) -> Vec<GateIx> {
        let workflow = self.cx.workflow;
        // One that passed on another tree, or on one that is not known to be this, has not passed.
        let passed = |gate: &Name| self.cx.tree.is_some() && self.tree_of_pass(None, gate) == self.cx.tree;
        let gates = workflow.completion.session_gates.iter().copied();
        gates
            .filter(|ix| {
                let gate = workflow.gate(*ix);
                !matches!(gate.run, GateCommandSource::Plan) && !passed(&gate.name)
            })
            .collect()
    }

    pub(crate) fn gate_reason(&self, gate: GateIx) -> JudgementReason {
        let text = format!("gate `{}` has not passed on the session's tree", self.cx.workflow.gate(gate).name);
        JudgementReason::new(Code::GateMissing, None, text)
    }

    pub(crate) fn session_slot(&self) -> AssignmentSlot<'static> {
        static EMPTY: std::sync::LazyLock<crate::state::Lane> = std::sync::LazyLock::new(Default::default);
        AssignmentSlot { group: None, lane: &EMPTY, part: 0, phase: None, fresh: true }
    }

    /// `end: session`, under the same condition as any end.
    pub(crate) fn end_session(&mut self) -> Result<(), Rejection> {
        let mut reasons = if self.preview { Vec::new() } else { self.judge_end(true) };
        if !self.preview && reasons.is_empty() && self.opens_final_gate(GatePurpose::Completion) {
            return Ok(());
        }
        let gates = if self.preview { Vec::new() } else { self.open_session_gates() };
        reasons.extend(gates.iter().map(|gate| self.gate_reason(*gate)));
        if reasons.is_empty() {
            self.action = DecisionAction::End;
            self.push(StateChange::Session { status: SessionStatus::Completed });
            return Ok(());
        }
        let mut rejection = Rejection::new(Code::CompletionRejected, "the session cannot complete yet");
        rejection.reasons = reasons;
        Err(rejection)
    }

    /// With phases the session ends with its last group; deferred ones are put to a person first.
    pub(crate) fn finish_session(&mut self) -> Result<(), Rejection> {
        // A described session names the groups that are not done; all others are completed.
        let reasons = if self.preview { self.judge_groups(true) } else { self.judge_end(true) };
        if reasons.is_empty() {
            return self.end_session();
        }
        self.ask_about_the_end(&reasons);
        Ok(())
    }

    /// Puts to a person what keeps the session from its end. An answer has the end tried again.
    pub(crate) fn ask_about_the_end(&mut self, reasons: &[JudgementReason]) {
        let list: Vec<&str> = reasons.iter().map(|reason| reason.text.as_str()).collect();
        let text = Name::from(format!("The session is done but for: {}", list.join("; ")));
        let workflow = self.cx.workflow;
        let question = workflow.question(workflow.unfinished);
        let options = question.options.iter().map(|(name, _)| name.clone()).collect();
        self.because.push(text.clone());
        self.ask(self.session_slot(), workflow.unfinished, (text, options), None, (None, None));
    }

    /// A person has seen every deferred group; the end is asked for again.
    pub(crate) fn acknowledge_all(&mut self, voice: &DecisionActor) -> Result<(), Rejection> {
        for group in &self.cx.state.groups {
            if matches!(&group.progress, GroupProgress::Ended(GroupEnd::Deferred { acknowledged: None, .. })) {
                self.push(StateChange::DeferralNamed { group: group.id.clone(), by: voice.name.clone() });
            }
        }
        // Only what is so is on the record: other groups may have been completed.
        if self.judge_result(&[]).is_some() {
            self.push(StateChange::NothingCompletedAcknowledged { by: voice.name.clone() });
        }
        self.finish_session()
    }
}

/// Why a group cannot be completed by its merge alone; empty where it can.
pub fn describe_completion_doubts(group: &Group) -> String {
    let blocked = group.lane.ever_blocked.then(|| "it was once blocked".to_owned());
    let excused = group.excused.iter().map(ToString::to_string);
    blocked.into_iter().chain(excused).collect::<Vec<_>>().join("; ")
}

/// Nothing else stands against the end.
pub(crate) fn only_nothing_completed(reasons: &[JudgementReason]) -> bool {
    !reasons.is_empty() && reasons.iter().all(|reason| reason.code == Code::NothingCompleted.number())
}

/// A person speaks.
pub(crate) fn person(name: &Name) -> DecisionActor {
    DecisionActor { name: name.clone(), resolution: BlockerResolution::Person }
}
