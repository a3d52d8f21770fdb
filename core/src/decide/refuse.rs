//! Refusals that say what is allowed now.

use crate::code::Code;
use crate::decide::Cx;
use crate::decide::choose::accepted;
use crate::decide::situation::Situation;
use crate::handoff::Handoff;
use crate::id::AssignmentId;
use crate::problem::Problem;
use crate::rejection::Rejection;
use crate::state::{Assignment, State};
use crate::suggest;
use crate::workflow::{Demands, Rule, Task};

/// A known status for which no alternative holds.
pub(crate) fn not_now(situation: &Situation<'_>, status: &str) -> Rejection {
    let allowed = accepted(situation);
    let role = situation.reporter.map_or("nobody", |role| situation.workflow().role(role).name.as_str());
    let place = match (situation.group, situation.given) {
        // Nobody has told the name of a described group.
        (Some(_), Some(_)) => "a group in this state".to_owned(),
        (Some(group), None) => format!("group `{}`", group.id),
        (None, _) => "the session".to_owned(),
    };
    let message = format!("`{status}` of {role} is not accepted now for {place}");
    Rejection::new(Code::NotNow, message).help("report one of the allowed statuses instead").allowed(allowed)
}

/// A status that the role does not have, where nothing routes those.
pub(crate) fn unknown_status(situation: &Situation<'_>, status: &str) -> Rejection {
    let allowed = accepted(situation);
    let role = situation.reporter.map_or("nobody", |role| situation.workflow().role(role).name.as_str());
    let help =
        suggest::closest(status, allowed.iter().map(String::as_str)).map(|near| format!("did you mean `{near}`?"));
    Rejection::new(Code::NoSuchStatus, format!("{role} has no status `{status}`")).allowed(allowed).maybe_help(help)
}

/// A status that the role does not have, sent back to the agent with what each allowed status means.
pub(crate) fn returned_status(situation: &Situation<'_>, status: &str, left: u32) -> Rejection {
    let workflow = situation.workflow();
    let allowed = accepted(situation);
    let role = situation.reporter.map_or("the role", |role| workflow.role(role).name.as_str());
    let meanings = situation.reporter.map(|role| workflow.status_meanings(role)).unwrap_or_default();
    let listed: Vec<String> = allowed
        .iter()
        .map(|name| match meanings.iter().find(|(known, _)| known.as_str() == name) {
            Some((_, Some(meaning))) => format!("`{name}` ({meaning})"),
            Some((_, None)) | None => format!("`{name}`"),
        })
        .collect();
    let near = suggest::closest(status, allowed.iter().map(String::as_str));
    let near = near.map(|near| format!("did you mean `{near}`? ")).unwrap_or_default();
    let help = format!("{near}report one of: {}", listed.join(", "));
    let again =
        if left > 1 { "; a handoff with an unknown status comes back twice" } else { "; this is the last time" };
    let message = format!("{role} has no status `{status}`{again}");
    Rejection::new(Code::StatusReturned, message).allowed(allowed).help(help)
}

/// What the rule, and the phase it leaves, ask of the handoff.
pub(crate) fn demands(situation: &Situation<'_>, rule: &Rule) -> Result<(), Rejection> {
    let Some(handoff) = situation.handoff.filter(|_| situation.given.is_none()) else { return Ok(()) };
    let mut problems = missing(handoff, &rule.demands);
    if let Some(phase) = situation.phase.filter(|_| rule.leaves && situation.task != Task::Consult) {
        problems.extend(missing(handoff, &situation.workflow().phase(phase).demands));
    }
    if problems.is_empty() {
        return Ok(());
    }
    let message = format!("`{}` asks for more than the handoff has", rule.id);
    Err(Rejection::new(Code::FieldMissing, message).problems(problems))
}

fn missing(handoff: &Handoff, demands: &Demands) -> Vec<Problem> {
    let fields = demands.require.iter().filter(|field| !handoff.has(field)).map(|field| {
        let how = if handoff.field(field).is_some_and(|value| !value.is_null()) { "empty" } else { "missing" };
        Problem::of_field(Code::FieldMissing, field, how)
    });
    let claims = demands.verify.iter().filter(|claim| !handoff.claims(claim)).map(|claim| {
        Problem::of_field(Code::ClaimNotMade, &format!("verification.{claim}"), "not true, and must be here")
    });
    fields.chain(claims).collect()
}

pub(crate) fn assignment(state: &State, id: AssignmentId) -> Result<&Assignment, Rejection> {
    state.assignments.get(&id).ok_or_else(|| {
        let allowed = state.open.iter().map(ToString::to_string).collect();
        Rejection::new(Code::NoAssignment, format!("there is no assignment {id}")).allowed(allowed)
    })
}

impl<'a> Cx<'a> {
    pub(crate) fn assignment(&self, id: AssignmentId) -> Result<&'a Assignment, Rejection> {
        assignment(self.state, id)
    }

    pub(crate) fn open_assignment(&self, id: AssignmentId) -> Result<&'a Assignment, Rejection> {
        let assignment = self.assignment(id)?;
        if assignment.closed.is_some() {
            return Err(Rejection::new(Code::AssignmentClosed, format!("assignment {id} is closed")));
        }
        Ok(assignment)
    }
}
