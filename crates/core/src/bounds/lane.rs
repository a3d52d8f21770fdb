//! The states that one lane can reach: those of a group, or of the session itself, without counters.

use std::collections::BTreeSet;

use crate::workflow::{AssignmentTask, GateIx, PassIx, PhaseIx, QuestionIx, RoleIx};

/// The holder of the work in a lane.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum LaneHolder {
    Role(RoleIx, AssignmentTask),
    /// A person is asked; the role that asked, with its task.
    Question(QuestionIx, Option<(RoleIx, AssignmentTask)>),
    /// Interlock runs the gate of a phase.
    PhaseGate(GateIx),
    /// Interlock runs a gate of completion.
    CompletionGate(GateIx),
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct LaneState {
    /// A group; else the session itself.
    pub(super) in_group: bool,
    pub(super) phase: Option<PhaseIx>,
    pub(super) holder: LaneHolder,
    pub(super) author: Option<RoleIx>,
    /// Roles that consulted and are to be resumed, oldest first.
    pub(super) waiting: Vec<(RoleIx, AssignmentTask)>,
    pub(super) passed: BTreeSet<PassIx>,
}

impl LaneState {
    pub(super) fn new(in_group: bool, phase: Option<PhaseIx>, holder: LaneHolder, author: Option<RoleIx>) -> Self {
        Self { in_group, phase, holder, author, waiting: Vec::new(), passed: BTreeSet::new() }
    }

    /// The role that reported or asked, with its task. A gate has no reporter and counts as work.
    pub(super) fn reporter(&self) -> (Option<RoleIx>, AssignmentTask) {
        match self.holder {
            LaneHolder::Role(role, task) | LaneHolder::Question(_, Some((role, task))) => (Some(role), task),
            LaneHolder::Question(_, None) | LaneHolder::PhaseGate(_) | LaneHolder::CompletionGate(_) => {
                (None, AssignmentTask::Work)
            }
        }
    }

    pub(super) fn held_by(&self, holder: LaneHolder) -> Self {
        Self { holder, ..self.clone() }
    }
}
