//! Where an author works, as far as it is known: the same rules as `decide/author_phase.rs`.

use crate::bounds::explore::LaneExplorer;
use crate::bounds::lane::LaneState;
use crate::bounds::values::TruthValue;
use crate::workflow::{AssignmentTask, PhaseIx, RoleIx};

impl LaneExplorer<'_> {
    /// The phases that work for this role may go to, unless it may stay in the present one.
    pub(super) fn phases_of_author(&self, state: &LaneState, role: RoleIx) -> Option<Vec<PhaseIx>> {
        let workflow = self.workflow;
        if !state.in_group || !workflow.has_phases() || !workflow.role(role).author {
            return None;
        }
        if state.phase.is_some_and(|phase| !self.authors_of(state, phase, role).is_empty()) {
            return None;
        }
        let now = state.phase.map(|phase| workflow.phase(phase).stage);
        let is_reached = |ix: &PhaseIx| {
            let stage = workflow.phase(*ix).stage;
            let per_session = workflow.stages.get(stage).is_none_or(|stage| stage.per_session);
            !per_session && now.is_none_or(|now| stage <= now)
        };
        let mut found = Vec::new();
        let mut certain = false;
        for phase in (0..workflow.phases.len()).rev().map(PhaseIx::new).filter(is_reached) {
            let applies = self.phase_applies(true, phase, state.author);
            if !certain && applies != TruthValue::No && !self.authors_of(state, phase, role).is_empty() {
                certain = applies == TruthValue::Yes && self.authors_of(state, phase, role).contains(&role);
                found.push(phase);
            }
        }
        Some(found).filter(|found| !found.is_empty())
    }

    /// The author roles of a phase. In a review only the role itself counts: others there judge.
    fn authors_of(&self, state: &LaneState, phase: PhaseIx, role: RoleIx) -> Vec<RoleIx> {
        let workflow = self.workflow;
        let mut roles: Vec<RoleIx> =
            self.phase_roles(phase).into_iter().flat_map(|own| self.overridden(state, own)).collect();
        roles.retain(|own| workflow.role(*own).author && (*own == role || !workflow.reviews(phase)));
        roles
    }

    /// An assignment that a rule gives: work of an author goes to the phase of that author.
    pub(super) fn assign_work(&self, state: &LaneState, role: RoleIx, task: AssignmentTask) -> Vec<LaneState> {
        let phases = self.phases_of_author(state, role).filter(|_| task == AssignmentTask::Work);
        match phases {
            Some(phases) => phases.into_iter().flat_map(|phase| self.go_back(state, phase, Some(role))).collect(),
            None => self.assign(state, role, task),
        }
    }

    /// The role above takes over, where the role that it replaces would have worked.
    pub(super) fn replace(&self, state: &LaneState, target: RoleIx, role: RoleIx, waited: bool) -> Vec<LaneState> {
        match self.phases_of_author(state, target) {
            Some(phases) => phases.into_iter().flat_map(|phase| self.go_back(state, phase, Some(role))).collect(),
            None => self.give(state, role, waited),
        }
    }

    /// The role above one that judges work is an author: a person is asked instead.
    pub(super) fn author_would_judge(&self, state: &LaneState, target: RoleIx, above: RoleIx) -> bool {
        let workflow = self.workflow;
        let judged = state.in_group && workflow.has_phases() && !workflow.role(target).author;
        judged && self.overridden(state, above).iter().all(|role| workflow.role(*role).author)
    }
}
