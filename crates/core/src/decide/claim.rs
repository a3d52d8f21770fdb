//! The spawner claims an assignment, and the holder gets a secret token.

use crate::code::Code;
use crate::command::ClaimAssignment;
use crate::decide::draft::DecisionDraft;
use crate::decide::{DecideOutcome, DecisionContext};
use crate::event::{EventCause, StateChange};
use crate::id::Name;
use crate::rejection::Rejection;
use crate::state::{Group, GroupProgress};

pub(super) fn claim(cx: &DecisionContext<'_>, claim: &ClaimAssignment) -> Result<DecideOutcome, Rejection> {
    let assignment = cx.open_assignment(claim.assignment)?;
    let role = cx.workflow.role_named(&assignment.role).map(|ix| cx.workflow.role(ix));
    if let Some((role, most)) = role.and_then(|role| role.at_most.map(|most| (role, most))) {
        // The oldest assignments go first, so none of them waits forever.
        let earlier = cx.state.open.range(..claim.assignment);
        let ahead = earlier.filter(|id| cx.state.assignments.get(id).is_some_and(|other| other.role == role.name));
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        if ahead.take(most).count() == most {
            let message = format!("{most} of {} may be at work at once, and as many are", role.name);
            let help = "claim it when an earlier assignment of this role has reported";
            return Err(Rejection::new(Code::RoleBusy, message).help(help));
        }
    }
    cx.is_watched(claim.via.as_ref())?;
    let mut draft = DecisionDraft::new(*cx, Name::new("claim"));
    let (assignment, token, lease_until) = (claim.assignment, claim.token, claim.lease_until);
    let awaiting = cx.groups_awaiting(claim);
    draft.push(StateChange::Claimed { assignment, token, lease_until, via: claim.via.clone(), awaiting });
    let prompt = claim.prompt.as_ref().map(|prompt| prompt.digest);
    Ok(draft.record(EventCause::Claimed { assignment, prompt, via: claim.via.clone() }))
}

impl DecisionContext<'_> {
    /// The groups that the holder of an assignment of the session is asked to confirm. They are recorded with the claim,
    /// because a report that names none confirms what the prompt listed, and nothing that came later.
    fn groups_awaiting(&self, claim: &ClaimAssignment) -> Vec<Name> {
        let of_session = self.state.assignments.get(&claim.assignment).is_some_and(|given| given.group.is_none());
        let is_listed =
            |group: &Group| claim.prompt.as_ref().is_none_or(|prompt| prompt.confirmable.contains(&group.id));
        let awaits = |group: &&Group| group.progress == GroupProgress::AwaitingConfirmation && is_listed(group);
        let groups = self.state.groups.iter().filter(|group| of_session && awaits(group));
        groups.map(|group| group.id.clone()).collect()
    }
}
