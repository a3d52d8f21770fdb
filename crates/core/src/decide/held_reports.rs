//! Reports that a question holds. A person stands between the report and its effect: the question keeps what the answer may
//! still need, in the event that asks it.

use std::collections::{BTreeMap, BTreeSet};

use crate::code::Code;
use crate::decide::apply_rule::DecisionActor;
use crate::decide::ask::format_agent_questions;
use crate::decide::draft::DecisionDraft;
use crate::decide::plan::must_plan;
use crate::decide::rule_context::RuleContext;
use crate::event::StateChange;
use crate::handoff::Handoff;
use crate::id::Name;
use crate::rejection::Rejection;
use crate::state::{GroupEnd, GroupProgress, HeldReport, StoppedMove};
use crate::workflow::placeholder::placeholders;
use crate::workflow::{QuestionIx, RuleVerb, StatusIx, Workflow};

/// Fields that are quoted without a question that names them.
const QUOTED: [&str; 2] = ["handoff.context", "defer_reason"];

impl<'a> DecisionDraft<'a> {
    /// The report that the answered question holds.
    pub(crate) fn held_report(&self) -> Option<&'a HeldReport> {
        self.answering.and_then(|question| question.held.as_ref())
    }

    /// The report as far as an answer to this question can act on it. Its plan is checked now, while the planner can still
    /// repair it.
    pub(super) fn hold_report(
        &self,
        situation: &RuleContext<'_>,
        question: QuestionIx,
        stopped: Option<&StoppedMove>,
    ) -> Result<Option<HeldReport>, Rejection> {
        let workflow = self.cx.workflow;
        let uses = HeldReportUses::of_answers(workflow, question, stopped);
        let holds_groups = uses.groups && situation.group.is_none() && self.planned.is_empty();
        let Some(handoff) = situation.handoff else {
            let held = self.held_report().map(|held| held.limit_to(holds_groups, uses));
            return Ok(held.filter(holds_something));
        };
        let mut held = HeldReport::empty(self.cx.state.last_decision.next());
        if holds_groups {
            match &handoff.groups {
                Some(groups) => self.refuse_plan(groups)?,
                None => must_plan(situation)?,
            }
            held.groups.clone_from(&handoff.groups);
        }
        if uses.confirmations {
            self.refuse_unknown_groups(handoff)?;
            held.accept = accepted_by(situation, handoff).to_vec();
            held.acknowledge.clone_from(&handoff.acknowledge);
        }
        if uses.words {
            self.hold_words(situation, &mut held);
        }
        Ok(Some(held).filter(holds_something))
    }

    fn hold_words(&self, situation: &RuleContext<'_>, held: &mut HeldReport) {
        held.reason = situation.reason.cloned();
        held.options = self.offered_options(situation).to_vec();
        let questions = self.cx.workflow.questions.iter();
        let mut paths: BTreeSet<&str> = questions.flat_map(|question| placeholders(&question.text)).collect();
        paths.extend(QUOTED);
        for path in paths {
            if let Some(text) = self.reported_text(situation, path).filter(|text| !text.trim().is_empty()) {
                held.texts.insert(Name::new(path), Name::from(text));
            }
        }
    }

    /// A field of the report in words: of the one that is decided about, or of the one that the answered question holds.
    pub(crate) fn reported_text(&self, situation: &RuleContext<'_>, path: &str) -> Option<String> {
        let Some(handoff) = situation.handoff else {
            return self.held_report().and_then(|held| held.texts.get(path)).map(ToString::to_string);
        };
        if path == "handoff.context" && !handoff.questions.is_empty() {
            return Some(format_agent_questions(&handoff.questions));
        }
        handoff.field(path).map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned))
    }

    pub(crate) fn blocked_reason(&self, situation: &RuleContext<'_>) -> Option<Name> {
        situation.reason.cloned().or_else(|| self.held_report().and_then(|held| held.reason.clone()))
    }

    /// Options of the only question of a report. Those of several questions are answered in words.
    pub(super) fn offered_options<'s>(&'s self, situation: &RuleContext<'s>) -> &'s [Name] {
        match situation.handoff.map(|handoff| handoff.questions.as_slice()) {
            Some([only]) => &only.options,
            Some(_) => &[],
            None => self.held_report().map_or(&[], |held| held.options.as_slice()),
        }
    }

    pub(super) fn refuse_unknown_groups(&self, handoff: &Handoff) -> Result<(), Rejection> {
        let state = self.cx.state;
        let named = handoff.accept.iter().chain(&handoff.acknowledge);
        let Some(name) = named.into_iter().find(|name| state.group(name).is_none()) else { return Ok(()) };
        let known = state.groups.iter().map(|group| group.id.to_string()).collect();
        Err(Rejection::new(Code::NoGroup, format!("there is no group `{name}`")).allowed(known))
    }

    /// Confirms what the held report confirms. A group that changed meanwhile is left as it is.
    pub(super) fn held_confirmations(&mut self, voice: &DecisionActor) {
        let Some(held) = self.held_report() else { return };
        let state = self.cx.state;
        for group in held.accept.iter().filter_map(|name| state.group(name)) {
            if group.progress == GroupProgress::AwaitingConfirmation {
                self.accept(group, &voice.name);
            }
        }
        for group in held.acknowledge.iter().filter_map(|name| state.group(name)) {
            if matches!(&group.progress, GroupProgress::Ended(GroupEnd::Deferred { acknowledged: None, .. })) {
                self.push(StateChange::DeferralNamed { group: group.id.clone(), by: voice.name.clone() });
            }
        }
    }
}

/// Groups that the report accepts: those that it names, or those that its prompt listed.
pub(super) fn accepted_by<'s>(situation: &RuleContext<'s>, handoff: &'s Handoff) -> &'s [Name] {
    if handoff.field("accept").is_some() { handoff.accept.as_slice() } else { situation.awaiting }
}

impl HeldReport {
    fn empty(reported: crate::id::DecisionId) -> Self {
        Self {
            reported,
            groups: None,
            reason: None,
            accept: Vec::new(),
            acknowledge: Vec::new(),
            options: Vec::new(),
            texts: BTreeMap::new(),
        }
    }

    /// The parts that the next question can act on.
    fn limit_to(&self, groups: bool, uses: HeldReportUses) -> Self {
        let mut held = if uses.words { self.clone() } else { Self::empty(self.reported) };
        held.groups = self.groups.clone().filter(|_| groups);
        let confirmed =
            if uses.confirmations { (self.accept.clone(), self.acknowledge.clone()) } else { Default::default() };
        (held.accept, held.acknowledge) = confirmed;
        held
    }
}

fn holds_something(held: &HeldReport) -> bool {
    *held != HeldReport::empty(held.reported)
}

/// The parts of a report that an answer can act on.
#[derive(Clone, Copy, Default)]
struct HeldReportUses {
    groups: bool,
    confirmations: bool,
    words: bool,
}

impl HeldReportUses {
    fn of_answers(workflow: &Workflow, question: QuestionIx, stopped: Option<&StoppedMove>) -> Self {
        let stopped = stopped.and_then(|stopped| workflow.rule_index.get(&stopped.rule));
        let stopped = stopped.map(|ix| workflow.rule(*ix).verb);
        let mut uses = Self { words: stopped.is_some(), ..Self::default() };
        uses.add_answers(workflow, question, stopped, workflow.questions.len());
        uses
    }

    /// A question can lead to another one, at most once through each.
    fn add_answers(&mut self, workflow: &Workflow, question: QuestionIx, stopped: Option<RuleVerb>, most: usize) {
        let Some(most) = most.checked_sub(1) else { return };
        let answers = workflow.by_answer.range((question, StatusIx(0))..=(question, StatusIx(u16::MAX)));
        for verb in answers.flat_map(|(_, rules)| rules).map(|ix| workflow.rule(*ix).verb) {
            match (verb, stopped) {
                (RuleVerb::Redo, Some(stopped)) => self.add_verb(workflow, stopped, most),
                (verb, _) => self.add_verb(workflow, verb, most),
            }
        }
    }

    fn add_verb(&mut self, workflow: &Workflow, verb: RuleVerb, most: usize) {
        match verb {
            RuleVerb::Leave | RuleVerb::Join | RuleVerb::Start => self.groups = true,
            RuleVerb::Ask(next) => {
                self.words = true;
                self.add_answers(workflow, next, None, most);
            }
            RuleVerb::Validate(_) => self.confirmations = true,
            RuleVerb::Consult(_) => self.words = true,
            RuleVerb::Spawn(_)
            | RuleVerb::Respawn(_)
            | RuleVerb::Return
            | RuleVerb::Escalate(_)
            | RuleVerb::Merge
            | RuleVerb::Goto(_)
            | RuleVerb::Complete
            | RuleVerb::Defer
            | RuleVerb::End
            | RuleVerb::CancelGroup
            | RuleVerb::CancelSession
            | RuleVerb::Redo
            | RuleVerb::Acknowledge
            | RuleVerb::Rework(_) => {}
        }
    }
}
