//! A blocked handoff: why, what was tried, and who decides who helps.

use crate::code::Code;
use crate::handoff::check::reader::{HandoffReader, at};
use crate::handoff::check::status::ReportedStatus;
use crate::handoff::check::{ExpectedHandoff, OrchestrationMode, ReportingRole};
use crate::id::Name;
use crate::problem::Problem;
use crate::route::{BlockedHelper, blocked_answer};
use crate::suggest;
use crate::workflow::Workflow;

/// The reasons that handoffs give where no workflow says otherwise.
const REASONS: &[&str] =
    &["security_concern", "architecture_decision", "missing_requirements", "test_failures", "out_of_scope", "unknown"];

impl HandoffReader<'_> {
    pub(super) fn blocked(
        &mut self,
        workflow: Option<&Workflow>,
        expect: &ExpectedHandoff<'_>,
        holder: Option<&ReportingRole>,
        status: &ReportedStatus,
    ) {
        self.texts("attempted");
        // An entry that is empty is a mistake of its own.
        let tried = self.get("attempted").and_then(|list| list.as_array()).is_some_and(|list| !list.is_empty());
        self.blockers();
        if !status.blocked {
            if self.has("handoff.blockers") {
                let message = "blockers are listed, and the status is not a blocked one";
                self.warn(Code::NoBlockers, "handoff.blockers", message);
            }
            if status.reason.is_some() {
                self.warn(Code::NoReason, "blocked_reason", "a reason is given, and the status is not a blocked one");
            }
            return;
        }
        if !tried {
            let help = "list at least one thing that was tried before giving up";
            let message = "a blocked handoff needs `attempted`";
            self.problem(Problem::new(Code::NothingAttempted, message).help(help), "attempted");
        }
        self.reason(workflow, status);
        self.blocked_next_agent(workflow, expect, holder, status);
    }

    fn reason(&mut self, workflow: Option<&Workflow>, status: &ReportedStatus) {
        let declared: Vec<&str> = match workflow.and_then(|workflow| workflow.blocked.as_ref()) {
            Some(blocked) => blocked.reasons.iter().map(Name::as_str).collect(),
            None => REASONS.to_vec(),
        };
        let needed = workflow.is_none_or(|workflow| workflow.blocked.as_ref().is_some_and(|blocked| blocked.by_reason));
        match &status.reason {
            None if needed => {
                let help = format!("one of: {}", declared.join(", "));
                let message = "a blocked handoff needs its `blocked_reason`";
                self.problem(Problem::new(Code::NoReason, message).help(help), "blocked_reason");
            }
            Some(reason) if workflow.is_some() && !declared.contains(&reason.as_str()) => {
                let help = suggest::help(reason, declared);
                let message = format!("`{reason}` is not a reason that this workflow knows");
                self.problem(Problem::new(Code::FieldValue, message).maybe_help(help), "blocked_reason");
            }
            Some(_) | None => {}
        }
    }

    fn blocked_next_agent(
        &mut self,
        workflow: Option<&Workflow>,
        expect: &ExpectedHandoff<'_>,
        holder: Option<&ReportingRole>,
        status: &ReportedStatus,
    ) {
        let path = "handoff.next_agent";
        let named = self.get(path).and_then(|value| value.as_str()).map(str::to_owned);
        match expect.context {
            OrchestrationMode::Orchestrated => {
                if let Some(name) = named {
                    let help = "set it to null; the workflow decides who helps";
                    let message = format!("a blocked agent does not choose who helps, and this names `{name}`");
                    self.problem(Problem::new(Code::NextAgent, message).help(help), path);
                }
            }
            OrchestrationMode::Direct => {
                let (Some(workflow), Some(holder)) = (workflow, holder) else { return };
                let answer = blocked_answer(workflow, &holder.name, status.reason.as_deref());
                let wanted = match &answer {
                    Some(BlockedHelper::Role(role)) => Some(role.as_str()),
                    Some(BlockedHelper::Person) | None => None,
                };
                if named.as_deref() == wanted {
                    return;
                }
                let (message, help) = match wanted {
                    Some(role) => (format!("the table names `{role}`"), format!("set it to \"{role}\"")),
                    None => ("a person has to settle this, not an agent".to_owned(), "set it to null".to_owned()),
                };
                self.problem(Problem::new(Code::NextAgent, message).help(help), path);
            }
        }
    }

    /// `handoff.blockers`, wherever it is given.
    fn blockers(&mut self) {
        let path = "handoff.blockers";
        let Some(blockers) = self.objects(path) else { return };
        for (index, (_, blocker)) in blockers.into_iter().enumerate() {
            for key in ["type", "description", "resolution"] {
                self.member(Code::NoBlockers, blocker, &at(path, index), key);
            }
        }
    }
}
