//! Refusals that say what is allowed now.

use crate::code::Code;
use crate::decide::Cx;
use crate::decide::choose::accepted;
use crate::decide::situation::Situation;
use crate::handoff::{Answer, Handoff};
use crate::id::{AssignmentId, Name};
use crate::problem::Problem;
use crate::rejection::Rejection;
use crate::state::{Assignment, Finding, State};
use crate::suggest;
use crate::workflow::{Demands, Rule, Task, Verb};

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

/// As many open findings as a refusal lists; the rest is counted.
const MOST_LISTED: usize = 100;

/// A report that approves or leaves its phase, while findings of its own reviewer are neither ended nor raised again.
pub(crate) fn unresolved(situation: &Situation<'_>, rule: &Rule) -> Result<(), Rejection> {
    let Some(group) = situation.group.filter(|_| !situation.ledger.unresolved.is_empty()) else { return Ok(()) };
    // A person who is asked to approve settles what is open.
    if !rule.leaves || matches!(rule.verb, Verb::Ask(_)) {
        return Ok(());
    }
    let findings: Vec<&Finding> =
        situation.ledger.unresolved.iter().filter_map(|index| group.findings.get(*index)).collect();
    let (count, are) = (findings.len(), if findings.len() == 1 { "finding is" } else { "findings are" });
    let phase = situation.phase.map_or("this phase", |phase| situation.workflow().phase(phase).name.as_str());
    let message = format!("`{phase}` cannot be left: {count} blocking {are} open that this report does not mention");
    Err(still_open(situation, message, findings))
}

/// Lists every open finding with the author's answer, and says how to end each.
pub(crate) fn still_open(situation: &Situation<'_>, message: String, findings: Vec<&Finding>) -> Rejection {
    let reporter = situation.reporter.map(|role| &situation.workflow().role(role).name);
    let open: Vec<&Finding> = findings.into_iter().filter(|finding| finding.is_blocking()).collect();
    let mut problems: Vec<Problem> =
        open.iter().take(MOST_LISTED).map(|finding| open_finding(finding, reporter)).collect();
    if let Some(more) = open.len().checked_sub(MOST_LISTED).filter(|more| *more > 0) {
        problems.push(Problem::new(Code::StillOpen, format!("and {more} more that are not listed")));
    }
    let ids: Vec<&str> = open.iter().take(MOST_LISTED).map(|finding| finding.id.as_str()).collect();
    let message = if ids.is_empty() { message } else { format!("{message}: {}", ids.join(", ")) };
    Rejection::new(Code::StillOpen, message).problems(problems)
}

fn open_finding(finding: &Finding, reporter: Option<&Name>) -> Problem {
    let answer = match &finding.response {
        None => "not answered".to_owned(),
        Some(response) => {
            let reason = response.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
            let refuted = if finding.response_refuted { ", and raised again since" } else { "" };
            format!("answered `{}`{reason}{refuted}", response.response.name())
        }
    };
    let Finding { id, title, location, .. } = finding;
    let message = format!("{id} [{}] {title} ({location}): {answer}", finding.severity.name());
    let rejected = finding.response.as_ref().is_some_and(|response| response.response == Answer::Rejected);
    let help = match reporter {
        Some(role) if *role != finding.raised_by => {
            format!("only {}, who raised it, can end it", finding.raised_by)
        }
        Some(_) | None if rejected => "accept the rejection in `iteration_tracking.rejections_accepted`, drop the finding in `iteration_tracking.findings_dropped` with a reason, or list it in `issues` and request changes".to_owned(),
        Some(_) | None => "confirm the fix in `iteration_tracking.fixes_confirmed`, drop the finding in `iteration_tracking.findings_dropped` with a reason, or list it in `issues` and request changes".to_owned(),
    };
    Problem::new(Code::StillOpen, message).help(help).field("iteration_tracking")
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
