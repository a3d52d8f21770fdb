//! The questions to people, and where their answers lead.

use super::build::{GraphBuilder, NodeKey};
use super::label::LabelDraft;
use super::rules::is_drawn;
use super::{EdgeKind, NodeLineMark};
use crate::workflow::*;

impl GraphBuilder<'_> {
    /// A question, with its way back if an answer starts the same work again.
    pub(super) fn ask(&mut self, node: usize, spot: NodeKey, question: QuestionIx, said: LabelDraft) {
        self.arrow(node, spot, EdgeKind::Question, said);
        let redoes = self.workflow.rules.iter().any(|rule| {
            rule.source == RuleSource::Question(question)
                && rule.verb == RuleVerb::Redo
                && is_drawn(self.workflow, rule)
        });
        if redoes {
            self.returns(node, spot, EdgeKind::Question);
        }
    }

    pub(super) fn checkpoint_answers(&mut self, node: usize, stage: usize, which: usize) {
        let Some(stage) = self.workflow.stages.get(stage) else { return };
        let question = stage.checkpoints.get(which).map(|checkpoint| checkpoint.question);
        if let Some(question) = question {
            self.answers(node, question, stage.phases.first().copied());
        }
    }

    /// Arrows for answers that lead on, lines for those that end it or start the work again.
    pub(super) fn answers(&mut self, node: usize, question: QuestionIx, phase: Option<PhaseIx>) {
        for rule in &self.workflow.rules {
            // An approval that ends a consultation is the ordinary way back to who waits.
            let concerns = (rule.phase.is_none() || rule.phase == phase) && rule.verb != RuleVerb::Return;
            if rule.source != RuleSource::Question(question) || !concerns || !is_drawn(self.workflow, rule) {
                continue;
            }
            let mut said = LabelDraft::rule(self.workflow, rule, IndexBitSet::default());
            match rule.verb {
                RuleVerb::Leave => self.leave(node, phase, &said),
                RuleVerb::Redo => {
                    said.details.push("the same work again".to_owned());
                    self.inside(node, NodeLineMark::Back, said);
                }
                RuleVerb::CancelGroup => self.stop(node, said, "cancels the group"),
                RuleVerb::CancelSession => self.stop(node, said, "cancels the session"),
                RuleVerb::Defer => self.stop(node, said, "defers the group"),
                RuleVerb::Acknowledge => {
                    said.details.push("deferred groups".to_owned());
                    self.inside(node, NodeLineMark::Note, said);
                }
                RuleVerb::Spawn(_)
                | RuleVerb::Respawn(_)
                | RuleVerb::Consult(_)
                | RuleVerb::Return
                | RuleVerb::Escalate(_)
                | RuleVerb::Merge
                | RuleVerb::Goto(_)
                | RuleVerb::Start
                | RuleVerb::Ask(_)
                | RuleVerb::Complete
                | RuleVerb::Validate(_)
                | RuleVerb::End
                | RuleVerb::Join
                | RuleVerb::Rework(_) => self.lead(node, rule, said),
            }
        }
    }

    fn stop(&mut self, node: usize, mut said: LabelDraft, does: &str) {
        said.details.push(does.to_owned());
        self.inside(node, NodeLineMark::Stop, said);
    }

    /// `advance` of a person is past rework and checkpoints.
    fn leave(&mut self, node: usize, phase: Option<PhaseIx>, said: &LabelDraft) {
        let Some(phase) = phase else { return };
        let stage = self.workflow.phase(phase).stage;
        self.go_on(node, stage, said);
    }
}
