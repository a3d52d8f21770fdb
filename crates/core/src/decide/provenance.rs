//! Provenance of handoffs: recorded, enforced where the workflow requires it, and stated at the end.

use crate::code::Code;
use crate::decide::draft::DecisionDraft;
use crate::decide::{DecideOutcome, DecisionContext};
use crate::event::{ClosureKind, EventCause, StateChange};
use crate::id::Name;
use crate::provenance::{Channel, HookSeen};
use crate::rejection::Rejection;
use crate::state::SessionStatus;

pub(super) fn record_hook_seen(cx: &DecisionContext<'_>, sighting: &HookSeen) -> DecideOutcome {
    let mut draft = DecisionDraft::new(*cx, Name::new("sight"));
    draft.push(StateChange::Sighted(sighting.clone()));
    draft.record(EventCause::Sighted(sighting.clone()))
}

impl DecisionContext<'_> {
    /// Where the workflow requires it, only a channel that watches may claim and submit.
    pub(super) fn is_watched(&self, via: Option<&Channel>) -> Result<(), Rejection> {
        if !self.workflow.orchestrator.watched || via.is_some_and(Channel::watches) {
            return Ok(());
        }
        let message = "this workflow takes only work that was watched, and nobody watches this";
        let help = "let the hooks of the client claim and submit (`interlock plugin install`), or use `interlock run`";
        Err(Rejection::new(Code::NotWatched, message).help(help))
    }
}

impl DecisionDraft<'_> {
    /// By which way the report came that is being decided.
    pub(super) fn record_channel(&mut self, given_in: Option<&Channel>) {
        if let Some(StateChange::Closed { via, .. }) = self.changes.first_mut() {
            *via = given_in.cloned();
        }
    }

    /// A session that completes states what was watched of it, this report included.
    pub(super) fn state_watch(&mut self) {
        let completes =
            |change: &StateChange| matches!(change, StateChange::Session { status: SessionStatus::Completed });
        if !self.changes.iter().any(completes) {
            return;
        }
        let mut watch = self.cx.state.watch.clone();
        if let Some(StateChange::Closed { assignment, how: ClosureKind::Reported, via, .. }) = self.changes.first()
            && let Some(assignment) = self.cx.state.assignments.get(assignment)
        {
            watch.count_handoff(assignment.via.as_ref(), via.as_ref());
        }
        self.because.extend(watch.statement().map(Name::from));
    }
}
