//! The status, read without regard to case, spaces and hyphens.

use crate::code::Code;
use crate::handoff::check::ReportingRole;
use crate::handoff::check::reader::HandoffReader;
use crate::id::Name;
use crate::naming;
use crate::problem::Problem;
use crate::suggest;
use crate::workflow::{AssignmentTask, Rule, RuleVerb, StatusIx, Workflow, normalise_status};

/// The status of a handoff, as reported.
pub(super) struct ReportedStatus {
    pub(super) said: Name,
    pub(super) ix: Option<StatusIx>,
    /// By its declared name.
    pub(super) meant: Option<Name>,
    pub(super) blocked: bool,
    pub(super) reason: Option<Name>,
}

impl ReportedStatus {
    /// Does the status put a question to a person that takes free text?
    pub(super) fn asks(&self, workflow: Option<&Workflow>, holder: Option<&ReportingRole>) -> bool {
        let (Some(workflow), Some(role), Some(status)) = (workflow, holder.and_then(|holder| holder.ix), self.ix)
        else {
            return false;
        };
        let free = |rule: &Rule| matches!(rule.verb, RuleVerb::Ask(ix) if workflow.question(ix).free.is_some());
        !self.blocked && workflow.rules_of(role, status).any(free)
    }
}

impl HandoffReader<'_> {
    pub(super) fn status(
        &mut self,
        workflow: Option<&Workflow>,
        holder: Option<&ReportingRole>,
        task: AssignmentTask,
    ) -> ReportedStatus {
        let text = self.required_text("status").unwrap_or_default();
        let normal = normalise_status(text);
        let reason = self.text("blocked_reason").map(Name::new);
        let mut said = ReportedStatus { said: Name::new(text), ix: None, meant: None, blocked: false, reason };
        if text.is_empty() {
            return said;
        }
        let Some(workflow) = workflow else {
            said.blocked = normal == "BLOCKED";
            said.meant = Some(said.said.clone());
            return said;
        };
        said.ix = match holder.and_then(|holder| holder.ix) {
            Some(role) => workflow.status_of(role, text),
            None => workflow.status_index.get(normal.as_str()).copied(),
        };
        let by_interlock = said.ix.is_some_and(|ix| workflow.is_loss(ix));
        if by_interlock {
            said.ix = None;
        }
        let declared = said.ix.map(|ix| workflow.status_name(ix).clone());
        said.blocked = workflow.blocked.as_ref().is_some_and(|blocked| said.ix == Some(blocked.status));
        match &declared {
            Some(name) if *name != text => {
                self.warn(Code::StatusSpelling, "status", format!("`{text}` was read as `{name}`"));
            }
            Some(_) => {}
            None => self.unknown_status(workflow, (holder, task), text, by_interlock),
        }
        said.meant = declared;
        said
    }

    fn unknown_status(
        &mut self,
        workflow: &Workflow,
        (holder, task): (Option<&ReportingRole>, AssignmentTask),
        text: &str,
        by_interlock: bool,
    ) {
        let Some(holder) = holder else { return };
        let known = holder.ix.map(|ix| workflow.status_meanings_for(ix, task)).unwrap_or_default();
        let help = suggest::help(text, known.iter().map(|(name, _)| name.as_str()));
        if let Some(problem) = naming::check_status(text) {
            return self.problem(problem, "status");
        }
        let message = format!("{} has no status `{}`", holder.name, naming::shown_status(text));
        if workflow.unknown.is_empty() || by_interlock {
            self.problem(Problem::new(Code::UnknownStatus, message).maybe_help(help), "status");
        } else {
            self.warning(Problem::warning(Code::UnknownStatus, message).maybe_help(help), "status");
        }
    }
}
