//! Questions: put to a person, and the subject taken up again with the answer.

use std::borrow::Cow;

use crate::decide::apply_rule::DecisionActor;
use crate::decide::choose::can_rule_hold;
use crate::decide::draft::DecisionDraft;
use crate::decide::facts::ASKER;
use crate::decide::rule_context::RuleContext;
use crate::decision::DecisionAction;
use crate::event::StateChange;
use crate::handoff::AgentQuestion;
use crate::id::Name;
use crate::rejection::Rejection;
use crate::state::{GatePurpose, StoppedMove};
use crate::workflow::placeholder::substitute;
use crate::workflow::*;

impl DecisionDraft<'_> {
    pub(crate) fn put_question(
        &mut self,
        situation: &RuleContext<'_>,
        question: QuestionIx,
        blocks: bool,
        stopped: Option<StoppedMove>,
    ) -> Result<(), Rejection> {
        let asker = situation.seat(blocks);
        if let (true, Some(seat)) = (blocks, &asker) {
            let (group, reason) = (situation.group_name(), self.blocked_reason(situation));
            self.push(StateChange::Blocked { group, part: situation.part, role: seat.role.clone(), reason });
        }
        let mut question = question;
        let mut options = self.question_options(situation, question);
        if options.is_empty() && self.cx.workflow.question(question).free.is_none() {
            // None of its options can be taken here: a person still decides.
            question = self.cx.workflow.stuck;
            options = self.question_options(situation, question);
        }
        let text = self.question_text(situation, question);
        let held = self.hold_report(situation, question, stopped.as_ref())?;
        self.ask(situation.slot(), question, (text, options), asker, (stopped, held));
        Ok(())
    }

    /// Declared options that can hold here; free answers add what the report offered.
    fn question_options(&self, situation: &RuleContext<'_>, ix: QuestionIx) -> Vec<Name> {
        let workflow = self.cx.workflow;
        let question = workflow.question(ix);
        let mut options: Vec<Name> = question
            .options
            .iter()
            .filter(|(_, status)| {
                let rules = workflow.by_answer.get(&(ix, *status)).map_or(&[][..], Vec::as_slice);
                rules.iter().any(|rule| can_rule_hold(situation, workflow.rule(*rule)))
            })
            .map(|(name, _)| name.clone())
            .collect();
        if question.free.is_some() {
            options.extend(self.offered_options(situation).iter().cloned());
        }
        options
    }

    fn question_text(&self, situation: &RuleContext<'_>, question: QuestionIx) -> Name {
        let template = &self.cx.workflow.question(question).text;
        let mut text = substitute(template, |field| Cow::Owned(self.question_field(situation, field)));
        if text.trim().is_empty() {
            let role = situation.reporter.map_or("Interlock", |role| self.cx.workflow.role(role).name.as_str());
            text = format!("{role} needs an answer to go on");
        }
        Name::from(text)
    }

    fn question_field(&self, situation: &RuleContext<'_>, field: &str) -> String {
        let workflow = self.cx.workflow;
        match field {
            "because" => {
                let because: Vec<&str> = self.because.iter().map(Name::as_str).collect();
                because.join("; ")
            }
            "role" => situation.reporter.map(|role| workflow.role(role).name.to_string()).unwrap_or_default(),
            "phase" => situation.phase.map(|phase| workflow.phase(phase).name.to_string()).unwrap_or_default(),
            "gate_output" => self.gate_output.as_deref().unwrap_or_default().to_owned(),
            "group" => situation.group.map(|group| group.id.to_string()).unwrap_or_default(),
            "session" => self.cx.state.session.as_ref().map(|session| session.id.to_string()).unwrap_or_default(),
            "domain" => {
                let domain = situation.group.and_then(|group| group.flags.get("domain"));
                domain.map(ToString::to_string).unwrap_or_default()
            }
            // The folder that gates get. An agent's claim about it is no source.
            "feature_directory" => self.cx.feature_directory.unwrap_or("{feature_directory}").to_owned(),
            path => self.reported_text(situation, path).unwrap_or_default(),
        }
    }

    /// Starts the question's subject again: the move that was stopped, the asker, or the gate.
    pub(crate) fn redo(&mut self, situation: &RuleContext<'_>, voice: &DecisionActor) -> Result<(), Rejection> {
        let stopped = self.answering.and_then(|question| question.stopped.clone());
        if let Some(stopped) = stopped {
            self.push(StateChange::CounterReset {
                group: situation.group_name(),
                counted: stopped.counted,
                role: stopped.role,
            });
            if let Some(rule) = self.cx.workflow.rule_index.get(&stopped.rule) {
                let rule = self.cx.workflow.rule(*rule);
                self.because.push(Name::from(format!("a person lets the stopped move through: {}", rule.id)));
                self.record_passes(situation, rule, voice)?;
                let reporter = situation.reporter.map(|role| self.cx.workflow.role(role).name.clone());
                let by = DecisionActor {
                    name: reporter.unwrap_or_else(|| voice.name.clone()),
                    resolution: voice.resolution,
                };
                self.excuse_evidence(situation, rule, &by);
                return self.apply_verb(situation, rule, voice);
            }
        }
        if let Some(role) = situation.reporter {
            self.action = DecisionAction::Respawn;
            self.read_role(&ASKER, role);
            self.assign(situation.slot(), role, situation.task, voice.resolution);
            return Ok(());
        }
        let gate = situation.phase.and_then(|phase| match self.cx.workflow.phase(phase).performer {
            PhasePerformer::Gate(gate) => Some(gate),
            PhasePerformer::Role(_) | PhasePerformer::ByDomain(_) | PhasePerformer::Merge => None,
        });
        match (gate, situation.group) {
            (Some(gate), _) => {
                self.action = DecisionAction::Gate;
                self.open_gate(situation.slot(), gate, GatePurpose::Phase);
                Ok(())
            }
            // A gate of completion failed: completion is tried again.
            (None, Some(_)) => self.complete_group(situation),
            (None, None) => self.end_session(),
        }
    }
}

/// Questions as people read them: each with what goes with it on lines of its own. The options of the only one can be taken
/// by their names; those of several are answered in words, and stand here.
pub(super) fn format_agent_questions(questions: &[AgentQuestion]) -> String {
    let mut lines = Vec::new();
    for (index, asked) in questions.iter().enumerate() {
        let several = questions.len() > 1;
        let indent = if several { "   " } else { "" };
        for (row, line) in asked.text.trim().lines().enumerate() {
            lines.push(match (several, row) {
                (true, 0) => format!("{}. {line}", index.saturating_add(1)),
                _ => format!("{indent}{line}"),
            });
        }
        if several && !asked.options.is_empty() {
            let options: Vec<&str> = asked.options.iter().map(Name::as_str).collect();
            lines.push(format!("{indent}options: {}", options.join(" | ")));
        }
        let more = [("category", &asked.category), ("impact", &asked.impact)];
        lines.extend(more.iter().filter_map(|(name, said)| Some(format!("{indent}{name}: {}", said.as_ref()?.trim()))));
    }
    lines.join("\n")
}
