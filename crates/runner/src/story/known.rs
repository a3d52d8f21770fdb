//! What assignments, questions and gates belong to, as the log is told.

use std::collections::BTreeMap;

use interlock_core::event::{Cause, Change};
use interlock_core::id::{AssignmentId, GateRunId, Name, QuestionId};
use interlock_core::naming::shown_person;

#[derive(Default)]
pub(super) struct Known {
    assignments: BTreeMap<AssignmentId, (Name, Option<Name>)>,
    questions: BTreeMap<QuestionId, Option<Name>>,
    gates: BTreeMap<GateRunId, Option<Name>>,
}

impl Known {
    pub(super) fn learn(&mut self, change: &Change) {
        match change {
            Change::Assigned { assignment, role, group, .. } => {
                self.assignments.insert(*assignment, (role.clone(), group.clone()));
            }
            Change::Asked { question, group, .. } => drop(self.questions.insert(*question, group.clone())),
            Change::GateOpened { run, group, .. } => drop(self.gates.insert(*run, group.clone())),
            _ => {}
        }
    }

    /// Whose an assignment is, and on which group.
    pub(super) fn assignment(&self, id: AssignmentId) -> Option<(Name, Option<Name>)> {
        self.assignments.get(&id).cloned()
    }

    pub(super) fn group_of_question(&self, id: QuestionId) -> Option<Name> {
        self.questions.get(&id).cloned().flatten()
    }

    pub(super) fn group_of_gate(&self, id: GateRunId) -> Option<Name> {
        self.gates.get(&id).cloned().flatten()
    }

    /// Who did it, and on which group.
    pub(super) fn whose(&self, cause: &Cause) -> (Option<String>, Option<Name>) {
        let ours = || Some("Interlock".to_owned());
        let group_of = |id: &AssignmentId| self.assignments.get(id).and_then(|(_, group)| group.clone());
        match cause {
            Cause::Reported { assignment, .. } | Cause::Lost { assignment, .. } => {
                let role = self.assignments.get(assignment).map(|(role, _)| role.to_string());
                (role, group_of(assignment))
            }
            Cause::Merged { assignment, .. } => (ours(), group_of(assignment)),
            Cause::GateFinished { run, .. } => (ours(), self.group_of_gate(*run)),
            Cause::Answered { question, by, .. } => {
                (Some(shown_person(by).into_owned()), self.group_of_question(*question))
            }
            Cause::Deferred { group, by, .. }
            | Cause::Acknowledged { group, by }
            | Cause::Waived { group, by, .. }
            | Cause::Accepted { group, by }
            | Cause::Overridden { group, by, .. } => (Some(shown_person(by).into_owned()), Some(group.clone())),
            Cause::Planned { by }
            | Cause::CompletionAsked { by }
            | Cause::Cancelled { by }
            | Cause::Allowed { by, .. } => (Some(shown_person(by).into_owned()), None),
            _ => (None, None),
        }
    }
}
