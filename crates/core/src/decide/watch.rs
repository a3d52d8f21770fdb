//! What was watched: taken note of, asked for where the workflow requires it, and stated at the end.

use crate::code::Code;
use crate::decide::draft::Draft;
use crate::decide::{Cx, Outcome};
use crate::event::{Cause, Change, Closing};
use crate::id::Name;
use crate::rejection::Rejection;
use crate::state::SessionStatus;
use crate::watch::{Sighting, Via};

pub(super) fn sight(cx: &Cx<'_>, sighting: &Sighting) -> Outcome {
    let mut draft = Draft::new(*cx, Name::new("sight"));
    draft.push(Change::Sighted(sighting.clone()));
    draft.record(Cause::Sighted(sighting.clone()))
}

impl Cx<'_> {
    /// Where the workflow requires it, only a watcher may claim and give in.
    pub(super) fn is_watched(&self, via: Option<&Via>) -> Result<(), Rejection> {
        if !self.workflow.orchestrator.watched || via.is_some_and(Via::watches) {
            return Ok(());
        }
        let message = "this workflow takes only work that was watched, and nobody watches this";
        let help = "let the hooks of the client claim and give in (`interlock plugin install`), or use `interlock run`";
        Err(Rejection::new(Code::NotWatched, message).help(help))
    }
}

impl Draft<'_> {
    /// By which way the report came that is being decided.
    pub(super) fn given_in_via(&mut self, given_in: Option<&Via>) {
        if let Some(Change::Closed { via, .. }) = self.changes.first_mut() {
            *via = given_in.cloned();
        }
    }

    /// A session that completes states what was watched of it, this report included.
    pub(super) fn state_watch(&mut self) {
        let completes = |change: &Change| matches!(change, Change::Session { status: SessionStatus::Completed });
        if !self.changes.iter().any(completes) {
            return;
        }
        let mut watch = self.cx.state.watch.clone();
        if let Some(Change::Closed { assignment, how: Closing::Reported, via, .. }) = self.changes.first()
            && let Some(assignment) = self.cx.state.assignments.get(assignment)
        {
            watch.count(assignment.via.as_ref(), via.as_ref());
        }
        self.because.extend(watch.statement().map(Name::from));
    }
}
