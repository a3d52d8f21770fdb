//! What people are asked, and where their answers lead.

use super::build::{Builder, Spot};
use super::label::Said;
use super::rules::is_drawn;
use super::{EdgeKind, Mark};
use crate::workflow::*;

impl Builder<'_> {
    /// A question, with its way back if an answer starts the same work again.
    pub(super) fn ask(&mut self, node: usize, spot: Spot, question: QuestionIx, said: Said) {
        self.arrow(node, spot, EdgeKind::Question, said);
        let redoes = self.workflow.rules.iter().any(|rule| {
            rule.source == Source::Question(question) && rule.verb == Verb::Redo && is_drawn(self.workflow, rule)
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
            let concerns = (rule.phase.is_none() || rule.phase == phase) && rule.verb != Verb::Return;
            if rule.source != Source::Question(question) || !concerns || !is_drawn(self.workflow, rule) {
                continue;
            }
            let mut said = Said::rule(self.workflow, rule, IxSet::default());
            match rule.verb {
                Verb::Leave => self.leave(node, phase, &said),
                Verb::Redo => {
                    said.details.push("the same work again".to_owned());
                    self.inside(node, Mark::Back, said);
                }
                Verb::CancelGroup => self.stop(node, said, "cancels the group"),
                Verb::CancelSession => self.stop(node, said, "cancels the session"),
                Verb::Defer => self.stop(node, said, "defers the group"),
                Verb::Acknowledge => {
                    said.details.push("deferred groups".to_owned());
                    self.inside(node, Mark::Note, said);
                }
                Verb::Spawn(_)
                | Verb::Respawn(_)
                | Verb::Consult(_)
                | Verb::Return
                | Verb::Escalate(_)
                | Verb::Merge
                | Verb::Goto(_)
                | Verb::Start
                | Verb::Ask(_)
                | Verb::Complete
                | Verb::Validate(_)
                | Verb::End
                | Verb::Join
                | Verb::Rework(_) => self.lead(node, rule, said),
            }
        }
    }

    fn stop(&mut self, node: usize, mut said: Said, does: &str) {
        said.details.push(does.to_owned());
        self.inside(node, Mark::Stop, said);
    }

    /// `advance` of a person is past rework and checkpoints.
    fn leave(&mut self, node: usize, phase: Option<PhaseIx>, said: &Said) {
        let Some(phase) = phase else { return };
        let stage = self.workflow.phase(phase).stage;
        self.go_on(node, stage, said);
    }
}
