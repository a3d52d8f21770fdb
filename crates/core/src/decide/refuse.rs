//! Refusals that say what is allowed now.

use std::collections::BTreeSet;

use crate::code::Code;
use crate::decide::DecisionContext;
use crate::decide::accepted_statuses::AcceptedStatus;
use crate::decide::apply_rule::sends_back;
use crate::decide::choose::{can_rule_hold, list_possible_statuses};
use crate::decide::rule_context::RuleContext;
use crate::handoff::{Handoff, ResponseKind};
use crate::id::{AssignmentId, Name};
use crate::naming;
use crate::problem::Problem;
use crate::rejection::Rejection;
use crate::state::{Assignment, Finding, State};
use crate::suggest;
use crate::workflow::{AssignmentTask, HandoffDemands, LoopMeasure, RoleIx, Rule, RuleVerb, StatusIx, Workflow};

/// A known status for which no alternative holds.
pub(crate) fn refuse_untimely_status(situation: &RuleContext<'_>, status: &str) -> Rejection {
    let allowed = list_possible_statuses(situation);
    let role = situation.reporter.map_or("nobody", |role| situation.workflow().role(role).name.as_str());
    let place = match (situation.group, situation.given) {
        // A described group has no name.
        (Some(_), Some(_)) => "a group in this state".to_owned(),
        (Some(group), None) => format!("group `{}`", group.id),
        (None, _) => "the session".to_owned(),
    };
    let message = format!("`{status}` of {role} is not accepted now for {place}");
    Rejection::new(Code::NotNow, message).help("report one of the allowed statuses instead").allowed(allowed)
}

/// A status that the role does not have, where nothing routes those.
pub(crate) fn reject_unknown_status(situation: &RuleContext<'_>, status: &str) -> Rejection {
    let allowed = list_possible_statuses(situation);
    let role = situation.reporter.map_or("nobody", |role| situation.workflow().role(role).name.as_str());
    let help =
        suggest::closest(status, allowed.iter().map(String::as_str)).map(|near| format!("did you mean `{near}`?"));
    Rejection::new(Code::NoSuchStatus, format!("{role} has no status `{status}`")).allowed(allowed).maybe_help(help)
}

/// As many open findings as a refusal lists; the rest is counted.
const MOST_LISTED: usize = 100;

/// A report that approves or leaves its phase, while findings of its own reviewer are neither ended nor raised again.
pub(crate) fn check_unresolved_findings(situation: &RuleContext<'_>, rule: &Rule) -> Result<(), Rejection> {
    let Some(group) = situation.group.filter(|_| !situation.ledger.unresolved.is_empty()) else { return Ok(()) };
    // A person who is asked to approve settles what is open.
    if !rule.leaves || matches!(rule.verb, RuleVerb::Ask(_)) {
        return Ok(());
    }
    let findings: Vec<&Finding> =
        situation.ledger.unresolved.iter().filter_map(|index| group.findings.get(*index)).collect();
    let (count, are) = (findings.len(), if findings.len() == 1 { "finding is" } else { "findings are" });
    let phase = situation.phase.map_or("this phase", |phase| situation.workflow().phase(phase).name.as_str());
    let message = format!(
        "`{phase}` cannot be left: {count} blocking {are} open that this report neither ends nor lists as blocking"
    );
    Err(refuse_open_findings(situation, message, findings))
}

/// A report that leaves its phase without a word on the tests that are on record as failing.
pub(crate) fn check_unstated_tests(situation: &RuleContext<'_>, rule: &Rule) -> Result<(), Rejection> {
    let unstated = rule.leaves && situation.ledger.tests_unstated;
    let Some(group) = situation.group.filter(|_| unstated) else { return Ok(()) };
    let (count, are) =
        (group.failing_tests.len(), if group.failing_tests.len() == 1 { "test is" } else { "tests are" });
    let phase = situation.phase.map_or("this phase", |phase| situation.workflow().phase(phase).name.as_str());
    let message = format!(
        "`{phase}` cannot be left: {count} {are} on record as failing, and this report does not say which tests fail now"
    );
    let help = "state the tests that fail now in `test_progression.still_failing`; an empty list says that none fails";
    Err(failing(message, &group.failing_tests, "was failing in the last test report", help))
}

/// A pass that says itself which tests fail.
pub(crate) fn refuse_failing_tests(situation: &RuleContext<'_>, message: String, tests: &[Name]) -> Rejection {
    let report = match send_back(situation, LoopMeasure::FailingTests) {
        Some(statuses) => format!("report {statuses} with the tests that fail"),
        None => "report another status".to_owned(),
    };
    let help = format!("{report}, or leave the tests that pass out of `test_progression.still_failing` and `new`");
    failing(message, tests, "fails in this report", &help)
}

fn failing(message: String, tests: &[Name], how: &str, help: &str) -> Rejection {
    let listed = tests.iter().take(MOST_LISTED);
    let problem = |test: &Name| {
        let problem = Problem::new(Code::StillOpen, how).of_element(format!("`{test}`"));
        problem.help(help).field("test_progression.still_failing")
    };
    let mut problems: Vec<Problem> = listed.clone().map(problem).collect();
    if let Some(more) = tests.len().checked_sub(MOST_LISTED).filter(|more| *more > 0) {
        problems.push(Problem::new(Code::StillOpen, format!("and {more} more that are not listed")).help(help));
    }
    let names: Vec<&str> = listed.map(Name::as_str).collect();
    let message = if names.is_empty() { message } else { format!("{message}: {}", names.join(", ")) };
    Rejection::new(Code::StillOpen, message).problems(problems).help(help)
}

/// The statuses by which the reporter sends the work back for this measure, as a refusal names them.
fn send_back(situation: &RuleContext<'_>, measure: LoopMeasure) -> Option<String> {
    let workflow = situation.workflow();
    let role = situation.reporter?;
    let counts = |rule: &Rule| {
        let counted = rule.counted.and_then(|counted| workflow.loop_at(counted).measure);
        counted == Some(measure) && sends_back(rule) && !rule.climbs && can_rule_hold(situation, rule)
    };
    let statuses = workflow
        .by_report
        .range((role, StatusIx(0))..=(role, StatusIx(u16::MAX)))
        .filter(|((_, status), rules)| !workflow.is_loss(*status) && rules.iter().any(|ix| counts(workflow.rule(*ix))))
        .map(|((_, status), _)| format!("`{}`", workflow.status_name(*status)))
        .collect::<Vec<_>>();
    (!statuses.is_empty()).then(|| statuses.join(" or "))
}

/// Lists every open finding with the author's answer, and says how to end each.
pub(crate) fn refuse_open_findings(situation: &RuleContext<'_>, message: String, findings: Vec<&Finding>) -> Rejection {
    let reporter = situation.reporter.map(|role| &situation.workflow().role(role).name);
    let open: Vec<&Finding> = findings.into_iter().filter(|finding| finding.is_blocking()).collect();
    let goes_back = send_back(situation, LoopMeasure::BlockingFindings);
    let list_again = match goes_back {
        Some(statuses) => format!("list it in `issues` as blocking and report {statuses}"),
        None => "list it in `issues` as blocking".to_owned(),
    };
    let mut problems: Vec<Problem> =
        open.iter().take(MOST_LISTED).map(|finding| open_finding(finding, reporter, &list_again)).collect();
    if let Some(more) = open.len().checked_sub(MOST_LISTED).filter(|more| *more > 0) {
        problems.push(Problem::new(Code::StillOpen, format!("and {more} more that are not listed")));
    }
    let ids: Vec<&str> = open.iter().take(MOST_LISTED).map(|finding| finding.id.as_str()).collect();
    let message = if ids.is_empty() { message } else { format!("{message}: {}", ids.join(", ")) };
    Rejection::new(Code::StillOpen, message).problems(problems).help(ways_to_end(&open, reporter, &list_again))
}

/// An acceptance while its author has not answered what blocks the group: who can end each finding, and what may be reported.
pub(crate) fn refuse_unanswered_findings(situation: &RuleContext<'_>, pass: &Name, findings: &[&Finding]) -> Rejection {
    let author = situation.author().map_or("its author", |role| situation.workflow().role(role).name.as_str());
    let (count, are) = (findings.len(), if findings.len() == 1 { "finding is" } else { "findings are" });
    let ids: Vec<&str> = findings.iter().take(MOST_LISTED).map(|finding| finding.id.as_str()).collect();
    let message =
        format!("`{pass}` cannot pass: {count} blocking {are} open that {author} has not answered: {}", ids.join(", "));
    let ways = |finding: &Finding| {
        let reviewer = &finding.raised_by;
        format!(
            "send the work back to {author}, or have {reviewer} confirm the fix, accept a rejection or drop the finding"
        )
    };
    let problem = |finding: &&Finding| {
        let Finding { id, title, location, severity, .. } = finding;
        let state = if finding.response.is_some() { "raised again since it was answered" } else { "not answered" };
        let element = format!("{id} [{}] {title} ({location})", severity.name());
        Problem::new(Code::StillOpen, state).of_element(element).help(ways(finding)).field("status")
    };
    let mut problems: Vec<Problem> = findings.iter().take(MOST_LISTED).map(problem).collect();
    if let Some(more) = findings.len().checked_sub(MOST_LISTED).filter(|more| *more > 0) {
        problems.push(Problem::new(Code::StillOpen, format!("and {more} more that are not listed")));
    }
    let reported = situation.handoff.map(|handoff| handoff.said.to_string());
    let allowed =
        list_possible_statuses(situation).into_iter().filter(|status| Some(status) != reported.as_ref()).collect();
    let reviewers: BTreeSet<&str> = findings.iter().map(|finding| finding.raised_by.as_str()).collect();
    let reviewers = reviewers.into_iter().collect::<Vec<_>>().join(" and ");
    let help = format!(
        "send the work back to {author} with one of the allowed statuses, or have {reviewers} confirm each fix or drop the \
         finding; once {author} has answered, the group can be accepted"
    );
    Rejection::new(Code::StillOpen, message).problems(problems).help(help).allowed(allowed)
}

/// The ways in which the reporter can end the open findings, once for all findings.
fn ways_to_end(open: &[&Finding], reporter: Option<&Name>, list_again: &str) -> String {
    let is_own = |finding: &&&Finding| reporter.is_none_or(|role| *role == finding.raised_by);
    let rejected =
        |finding: &&&Finding| finding.response.as_ref().is_some_and(|r| r.response == ResponseKind::Rejected);
    let ids = |findings: Vec<&&Finding>| {
        findings.into_iter().take(MOST_LISTED).map(|finding| finding.id.as_str()).collect::<Vec<_>>().join(", ")
    };
    let mut parts = Vec::new();
    if open.is_empty() || open.iter().any(|finding| is_own(&finding)) {
        let rejections = ids(open.iter().filter(is_own).filter(rejected).collect());
        let accept = match rejections.is_empty() {
            true => String::new(),
            false => format!(", `rejections_accepted` ({rejections})"),
        };
        parts.push(format!(
            "end each finding by its id in `iteration_tracking`: `fixes_confirmed`{accept} or `findings_dropped` with a reason; or {list_again}"
        ));
    }
    let others: BTreeSet<&str> = open.iter().filter(|f| !is_own(f)).map(|f| f.raised_by.as_str()).collect();
    for role in others {
        let own = ids(open.iter().filter(|finding| finding.raised_by == *role).collect());
        parts.push(format!("only {role}, which raised it, can end {own}"));
    }
    parts.join("; ")
}

fn open_finding(finding: &Finding, reporter: Option<&Name>, list_again: &str) -> Problem {
    let answer = match &finding.response {
        None => "not answered".to_owned(),
        Some(response) => {
            let reason = response.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
            let refuted = if finding.response_refuted { ", and raised again since" } else { "" };
            format!("answered `{}`{reason}{refuted}", response.response.name())
        }
    };
    let Finding { id, title, location, .. } = finding;
    let element = format!("{id} [{}] {title} ({location})", finding.severity.name());
    let rejected = finding.response.as_ref().is_some_and(|response| response.response == ResponseKind::Rejected);
    let help = match reporter {
        Some(role) if *role != finding.raised_by => {
            format!("only {}, who raised it, can end it", finding.raised_by)
        }
        Some(_) | None => {
            let end = match rejected {
                true => "accept the rejection in `iteration_tracking.rejections_accepted`",
                false => "confirm the fix in `iteration_tracking.fixes_confirmed`",
            };
            format!("{end}, drop the finding in `iteration_tracking.findings_dropped` with a reason, or {list_again}")
        }
    };
    Problem::new(Code::StillOpen, answer).of_element(element).help(help).field("iteration_tracking")
}

/// A status that the role does not have, sent back to the agent with what each allowed status means: the usual one first, and that
/// it cannot go on last.
pub(crate) fn refuse_returned_status(
    situation: &RuleContext<'_>,
    offers: &[AcceptedStatus],
    status: &str,
    left: u32,
) -> Rejection {
    let role = situation.reporter.map_or("the role", |role| situation.workflow().role(role).name.as_str());
    let allowed: Vec<String> = offers.iter().map(|offer| offer.status.to_string()).collect();
    let again =
        if left > 1 { "; a handoff with an unknown status comes back twice" } else { "; this is the last time" };
    let message = format!("{role} has no status `{}`{again}", naming::shown_status(status));
    let statuses: Vec<StatusLine<'_>> =
        offers.iter().map(|offer| (&offer.status, offer.means.as_ref(), offer.usual)).collect();
    let help = status_help(status, &statuses);
    let problem = Problem::new(Code::StatusReturned, message.clone()).help(help.clone()).field("status");
    Rejection::new(Code::StatusReturned, message).allowed(allowed).help(help).problems(vec![problem])
}

/// The same for a role alone: every status that it has.
pub(crate) fn returned_status_of_role(workflow: &Workflow, role: RoleIx, status: &str) -> Rejection {
    let meanings = workflow.status_meanings(role);
    let usual = |name: &Name| {
        let ix = workflow.status_of(role, name);
        ix.and_then(|ix| workflow.status_note(role, ix)).is_some_and(|note| note.usual)
    };
    let statuses: Vec<StatusLine<'_>> =
        meanings.iter().map(|(name, means)| (name, means.as_ref(), usual(name))).collect();
    let message = format!("{} has no status `{status}`", workflow.role(role).name);
    let help = status_help(status, &statuses);
    let problem = Problem::new(Code::StatusReturned, message.clone()).help(help.clone()).field("status");
    let allowed = meanings.iter().map(|(name, _)| name.to_string()).collect();
    Rejection::new(Code::StatusReturned, message).allowed(allowed).help(help).problems(vec![problem])
}

/// A status, its meaning, and whether it is the usual one.
type StatusLine<'a> = (&'a Name, Option<&'a Name>, bool);

/// Statuses with their meanings, and which of them was perhaps meant.
fn status_help(status: &str, statuses: &[StatusLine<'_>]) -> String {
    let listed = |wanted: bool| -> Vec<String> {
        let own = statuses.iter().filter(|(_, _, usual)| *usual == wanted);
        own.map(|(name, means, _)| match means {
            Some(means) => format!("`{name}` ({means})"),
            None => format!("`{name}`"),
        })
        .collect()
    };
    let near = suggest::closest(status, statuses.iter().map(|(name, _, _)| name.as_str()));
    let near = near.map(|near| format!("did you mean `{near}`? ")).unwrap_or_default();
    let (usual, others) = (listed(true).join(" or "), listed(false).join(", "));
    match (usual.is_empty(), others.is_empty()) {
        (true, _) => format!("{near}report one of: {others}"),
        (false, true) => format!("{near}report {usual}"),
        (false, false) => format!("{near}usually: {usual}; otherwise: {others}"),
    }
}

/// Checks the fields that the rule, and the phase it leaves, demand of the handoff.
pub(crate) fn check_demands(situation: &RuleContext<'_>, rule: &Rule) -> Result<(), Rejection> {
    let asked_of = |handoff: &&Handoff| situation.given.is_none() && !handoff.is_own_report;
    let Some(handoff) = situation.handoff.filter(asked_of) else { return Ok(()) };
    let mut problems = missing(handoff, &rule.demands);
    if let Some(phase) = situation.phase.filter(|_| rule.leaves && situation.task != AssignmentTask::Consult) {
        problems.extend(missing(handoff, &situation.workflow().phase(phase).demands));
    }
    if problems.is_empty() {
        return Ok(());
    }
    let message = format!("`{}` asks for more than the handoff has", rule.id);
    Err(Rejection::new(Code::FieldMissing, message).problems(problems))
}

fn missing(handoff: &Handoff, demands: &HandoffDemands) -> Vec<Problem> {
    let fields = demands.require.iter().filter(|field| !handoff.has(field)).map(|field| {
        let how = if handoff.field(field).is_some_and(|value| !value.is_null()) { "empty" } else { "missing" };
        Problem::of_field(Code::FieldMissing, field, how)
    });
    let claims = demands.verify.iter().filter(|claim| !handoff.claims(claim)).map(|claim| {
        Problem::of_field(Code::ClaimNotMade, &format!("verification.{claim}"), "not true, and must be here")
    });
    fields.chain(claims).collect()
}

pub(crate) fn find_assignment(state: &State, id: AssignmentId) -> Result<&Assignment, Rejection> {
    state.assignments.get(&id).ok_or_else(|| {
        let allowed = state.open.iter().map(ToString::to_string).collect();
        Rejection::new(Code::NoAssignment, format!("there is no assignment {id}")).allowed(allowed)
    })
}

impl<'a> DecisionContext<'a> {
    pub(crate) fn assignment(&self, id: AssignmentId) -> Result<&'a Assignment, Rejection> {
        find_assignment(self.state, id)
    }

    pub(crate) fn open_assignment(&self, id: AssignmentId) -> Result<&'a Assignment, Rejection> {
        let assignment = self.assignment(id)?;
        if assignment.closed.is_some() {
            return Err(Rejection::new(Code::AssignmentClosed, format!("assignment {id} is closed")));
        }
        Ok(assignment)
    }
}
