//! Which phase a name means.

use crate::id::Name;
use crate::problem::Problem;
use crate::suggest;
use crate::workflow::{Phase, PhaseIx, PhasePerformer, Workflow};

impl Workflow {
    /// The phases that go by a name: the one that has it, else those that handoffs call so (`as`), first those that are
    /// this role's, and of these those of a group.
    pub fn phases_called(&self, name: &str, role: &str) -> Vec<PhaseIx> {
        if let Some(phase) = self.phase_named(name) {
            return vec![phase];
        }
        let called = |phase: &Phase| phase.called == name;
        let mut found: Vec<PhaseIx> =
            self.phases.iter().enumerate().filter(|(_, phase)| called(phase)).map(|(at, _)| PhaseIx::new(at)).collect();
        found.sort_by_key(|ix| (!self.is_phase_of(*ix, role), self.is_of_session(*ix)));
        found
    }

    /// Does this role, or what it does as the author, hold the phase?
    pub fn is_phase_of(&self, phase: PhaseIx, role: &str) -> bool {
        let Some(role) = self.role_named(role) else { return false };
        match &self.phase(phase).performer {
            PhasePerformer::Role(own) => *own == role,
            PhasePerformer::ByDomain(roles) => roles.iter().flatten().any(|own| *own == role),
            PhasePerformer::Merge => self.role(role).author,
            PhasePerformer::Gate(_) => false,
        }
    }

    pub fn is_of_session(&self, phase: PhaseIx) -> bool {
        self.stages.get(self.phase(phase).stage).is_some_and(|stage| stage.per_session)
    }

    pub fn phase_name(&self, phase: PhaseIx) -> &Name {
        &self.phase(phase).name
    }

    /// The problem for a name that no phase has.
    pub fn no_phase(&self, name: &str) -> Problem {
        let code = crate::code::Code::UnknownPhase;
        if !self.has_phases() {
            let help = "leave the phase out; `interlock workflow show` prints what a workflow has";
            return Problem::new(code, format!("`{}` has no phases", self.name)).help(help).field("phase");
        }
        let known: Vec<&str> = self.phases.iter().flat_map(|phase| [&*phase.name, &*phase.called]).collect();
        let message = format!("`{}` has no phase `{name}`", self.name);
        Problem::new(code, message).maybe_help(suggest::help(name, known)).field("phase")
    }
}
