//! The role and the group of assignments, questions and gates, from the event log.

use std::collections::BTreeMap;

use interlock_core::event::{EventCause, StateChange};
use interlock_core::id::{AssignmentId, GateRunId, Name, QuestionId};
use interlock_core::naming::shown_person;

#[derive(Default)]
pub(super) struct SubjectIndex {
    assignments: BTreeMap<AssignmentId, (Name, Option<Name>)>,
    questions: BTreeMap<QuestionId, Option<Name>>,
    gates: BTreeMap<GateRunId, Option<Name>>,
}

impl SubjectIndex {
    pub(super) fn learn(&mut self, change: &StateChange) {
        match change {
            StateChange::Assigned { assignment, role, group, .. } => {
                self.assignments.insert(*assignment, (role.clone(), group.clone()));
            }
            StateChange::Asked { question, group, .. } => drop(self.questions.insert(*question, group.clone())),
            StateChange::GateOpened { run, group, .. } => drop(self.gates.insert(*run, group.clone())),
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

    /// The person or role that caused an event, and the group.
    pub(super) fn whose(&self, cause: &EventCause) -> (Option<String>, Option<Name>) {
        let ours = || Some("Interlock".to_owned());
        let group_of = |id: &AssignmentId| self.assignments.get(id).and_then(|(_, group)| group.clone());
        match cause {
            EventCause::Reported { assignment, .. } | EventCause::Lost { assignment, .. } => {
                let role = self.assignments.get(assignment).map(|(role, _)| role.to_string());
                (role, group_of(assignment))
            }
            EventCause::Merged { assignment, .. } => (ours(), group_of(assignment)),
            EventCause::GateFinished { run, .. } => (ours(), self.group_of_gate(*run)),
            EventCause::Answered { question, by, .. } => {
                (Some(shown_person(by).into_owned()), self.group_of_question(*question))
            }
            EventCause::Deferred { group, by, .. }
            | EventCause::Acknowledged { group, by }
            | EventCause::Waived { group, by, .. }
            | EventCause::Accepted { group, by }
            | EventCause::Overridden { group, by, .. } => (Some(shown_person(by).into_owned()), Some(group.clone())),
            EventCause::Planned { by }
            | EventCause::CompletionAsked { by }
            | EventCause::Cancelled { by }
            | EventCause::Allowed { by, .. } => (Some(shown_person(by).into_owned()), None),
            _ => (None, None),
        }
    }
}
