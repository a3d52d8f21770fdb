//! Where an author works in a pipeline: in its own phase, so that the phases after it judge the work again.
//!
//! An author that worked inside a review could end that review itself, and one that worked after the last phase would have
//! no phase to end.

use crate::decide::apply_rule::DecisionActor;
use crate::decide::choose::apply_role_override;
use crate::decide::draft::{AssignmentSlot, DecisionDraft};
use crate::decide::rule_context::{RuleContext, applies, phase_role};
use crate::id::Name;
use crate::rejection::Rejection;
use crate::state::{Group, RoleTask};
use crate::workflow::{AssignmentTask, PhaseIx, RoleIx, Workflow};

impl RuleContext<'_> {
    /// The phase that work for this role belongs to, where that is another phase than the present one.
    fn phase_of_author(&self, role: RoleIx) -> Option<PhaseIx> {
        let (workflow, group) = (self.workflow(), self.group?);
        if !workflow.role(role).author {
            return None;
        }
        let author_of = |phase: PhaseIx| {
            let own = phase_role(&self.cx, Some(group), phase).map(|own| apply_role_override(self, own));
            own.filter(|own| workflow.role(*own).author && (*own == role || !workflow.reviews(phase)))
        };
        if self.phase.is_some_and(|phase| author_of(phase).is_some()) {
            return None;
        }
        let now = self.phase.map(|phase| workflow.phase(phase).stage);
        let is_reached = |ix: &PhaseIx| {
            let phase = workflow.phase(*ix);
            let per_session = workflow.stages.get(phase.stage).is_none_or(|stage| stage.per_session);
            !per_session && now.is_none_or(|now| phase.stage <= now) && applies(&self.cx, Some(group), &phase.when)
        };
        let phases = (0..workflow.phases.len()).rev().map(PhaseIx::new).filter(is_reached);
        let mut held = phases.filter_map(|phase| Some((phase, author_of(phase)?)));
        let own = held.clone().find(|(_, author)| *author == role);
        own.or_else(|| held.next()).map(|(phase, _)| phase)
    }

    /// The role above a role that judges work is an author: its verdict would be on work of its own kind.
    pub(crate) fn author_would_judge(&self, target: RoleIx, above: RoleIx) -> bool {
        let workflow = self.workflow();
        let judged = self.group.is_some() && workflow.has_phases() && !workflow.role(target).author;
        judged && workflow.role(apply_role_override(self, above)).author
    }
}

impl DecisionDraft<'_> {
    /// Sends work for an author to its own phase. Returns whether it did. `role` gets the work: the author itself, or the role
    /// above it after an escalation.
    pub(crate) fn goes_to_author_phase(
        &mut self,
        situation: &RuleContext<'_>,
        author: RoleIx,
        role: RoleIx,
        voice: &DecisionActor,
    ) -> Result<bool, Rejection> {
        let Some(phase) = situation.phase_of_author(apply_role_override(situation, author)) else { return Ok(false) };
        let workflow = self.cx.workflow;
        let (author, name) = (&workflow.role(role).name, &workflow.phase(phase).name);
        self.because.push(Name::from(format!("{author} works in phase `{name}`; the phases after it follow again")));
        let action = self.action;
        self.return_to_phase(situation, phase, Some(role), voice)?;
        self.action = action;
        Ok(true)
    }

    /// A person decides who reviews work whose author has the role of the reviewer. Returns whether one is asked.
    pub(crate) fn asks_for_other_reviewer(
        &mut self,
        group: Option<&Group>,
        slot: AssignmentSlot<'_>,
        phase: PhaseIx,
        role: RoleIx,
    ) -> bool {
        let workflow = self.cx.workflow;
        let (Some(group), true) = (group, workflow.reviews(phase)) else { return false };
        let name = &workflow.role(role).name;
        if group.author.as_ref() != Some(name) {
            return false;
        }
        let question = workflow.question(workflow.stuck);
        let options = question.options.iter().map(|(option, _)| option.clone()).collect();
        let phase = &workflow.phase(phase).name;
        let text = format!("{name} is the author of group `{}` and would review its own work in `{phase}`", group.id);
        self.because.push(Name::from(text.clone()));
        let asker = RoleTask { role: name.clone(), task: AssignmentTask::Work, blocked: false };
        self.ask(slot, workflow.stuck, (Name::from(text), options), Some(asker), (None, None));
        true
    }
}

impl Workflow {
    /// A phase whose verdict can send work back.
    pub(crate) fn reviews(&self, phase: PhaseIx) -> bool {
        self.stages.get(self.phase(phase).stage).is_some_and(|stage| stage.rework.is_some())
    }
}
