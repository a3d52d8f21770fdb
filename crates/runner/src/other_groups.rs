//! The other groups: what is merged must not undo what they have shown.

use interlock_core::id::Name;
use interlock_core::state::{GatePurpose, Group, GroupEnd, GroupProgress, State};

/// Another group, which may be merged before the call is over.
#[derive(Clone, Debug)]
pub(super) struct OtherGroup {
    pub(super) group: Name,
    pub(super) checks: Vec<Vec<Name>>,
    pub(super) domain: Option<Name>,
    /// It is completed, but perhaps for what Interlock runs or a person confirms.
    pub(super) done: bool,
}

/// The groups but one's own, and but for those that were given up.
pub(super) fn neighbours(own: Option<&Name>, state: &State) -> Vec<OtherGroup> {
    let others = state.groups.iter().filter(|group| Some(&group.id) != own);
    let is_dropped = |group: &&Group| {
        matches!(group.progress, GroupProgress::Ended(GroupEnd::Deferred { .. } | GroupEnd::Cancelled { .. }))
    };
    let awaits = |group: &Group| {
        let mut runs = state.gate_runs.values();
        runs.any(|run| run.group.as_ref() == Some(&group.id) && run.purpose == GatePurpose::Completion)
    };
    others
        .filter(|group| !is_dropped(group))
        .map(|group| OtherGroup {
            group: group.id.clone(),
            checks: group.checks.clone(),
            domain: group.flags.get("domain").cloned(),
            done: is_settled(group) || awaits(group),
        })
        .collect()
}

/// Whether the group waits only for other groups, for work of Interlock's own, or for people.
pub(super) fn is_settled(group: &Group) -> bool {
    matches!(group.progress, GroupProgress::Arrived | GroupProgress::AwaitingConfirmation | GroupProgress::Ended(_))
}
