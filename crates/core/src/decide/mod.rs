//! `decide`: what follows a command. Pure, total, deterministic.
//!
//! One file a command; this one only dispatches. `situation` is what rules may
//! read, `choose` finds the rule, `carry` carries it out into a `Draft` of changes.

mod accept;
mod accepted_statuses;
mod acknowledge;
mod answer;
mod apply_rule;
mod ask;
mod author_phase;
mod cancel;
mod changes;
mod choose;
mod claim;
mod complete;
mod defer;
mod draft;
mod effects;
mod facts;
mod failure_notes;
mod findings;
mod findings_ledger;
mod gate;
mod group_lifecycle;
mod held_reports;
mod lease;
mod lost;
mod merged;
mod needs;
mod override_assignment;
mod plan;
mod provenance;
mod recheck;
mod refuse;
mod report;
mod rule_context;
mod start;
mod upgrade;
mod validate;
mod waive;

use crate::code::Code;
use crate::command::{Command, DecisionInputs};
use crate::event::Event;
use crate::id::{AssignmentId, DecisionId, Digest, Name};
use crate::naming;
use crate::rejection::Rejection;
use crate::state::{Group, State};
use crate::workflow::{GuardTest, PhaseIx, RoleIx, Workflow};

pub use accepted_statuses::{
    AcceptedStatus, FactOutcome, ReplacedRole, list_accepted_statuses, missing_evidence, role_after_overrides,
};
pub(crate) use apply_rule::{find_escalation_target, sends_back};
pub(crate) use choose::find_verb_target;
pub use effects::{OptionEffect, option_effects};
pub(crate) use facts::{DOMAIN, REASON};
pub use report::FALLBACK;
pub(crate) use report::{AssumedLoop, RouteAssumptions, route_report};
pub use report::{returned_status, returned_status_of_role};
pub(crate) use rule_context::test_holds;
pub use validate::describe_completion_doubts;
pub(crate) use {answer::route_answer, gate::route_gate};

/// Do settings and flags of a described group let this through?
pub(crate) fn guards_hold(cx: &DecisionContext<'_>, group: &Group, when: &[GuardTest]) -> bool {
    rule_context::applies(cx, Some(group), when)
}

pub(crate) fn role_of_phase(cx: &DecisionContext<'_>, group: &Group, phase: PhaseIx) -> Option<RoleIx> {
    rule_context::phase_role(cx, Some(group), phase)
}

/// The outcome of a command.
#[derive(Clone, Debug, PartialEq)]
pub enum DecideOutcome {
    /// To be appended.
    Decided(Box<Event>),
    /// The same report again: this was decided then, and nothing changes.
    Repeated(DecisionId),
}

pub fn decide(
    workflow: &Workflow,
    state: &State,
    command: &Command,
    inputs: &DecisionInputs,
) -> Result<DecideOutcome, Rejection> {
    decide_on(workflow, state, command, inputs, None)
}

/// Decides where the folder of the session's outputs is known. Questions state it for `{feature_directory}`.
///
/// # Errors
/// The command is refused; nothing changes.
pub fn decide_with_folder(
    workflow: &Workflow,
    state: &State,
    command: &Command,
    inputs: &DecisionInputs,
    feature_directory: &str,
) -> Result<DecideOutcome, Rejection> {
    decide_within(
        &DecisionContext { workflow, state, inputs, tree: None, feature_directory: Some(feature_directory) },
        command,
    )
}

/// Decides with the tree that the project has now. Gates that passed on another tree do not count for the end of a session;
/// without a known tree, none of them does.
///
/// # Errors
/// The command is refused; nothing changes.
pub fn decide_on(
    workflow: &Workflow,
    state: &State,
    command: &Command,
    inputs: &DecisionInputs,
    tree: Option<&Name>,
) -> Result<DecideOutcome, Rejection> {
    decide_within(&DecisionContext { workflow, state, inputs, tree, feature_directory: None }, command)
}

fn decide_within(known: &DecisionContext<'_>, command: &Command) -> Result<DecideOutcome, Rejection> {
    // A gate result is the latest that is known of the tree.
    let tree = if let Command::GateFinished(result) = command { Some(&result.tree) } else { known.tree };
    let cx = DecisionContext { tree: tree.filter(|tree| !tree.is_empty()), ..*known };
    let before = if let Command::Upgrade(upgrade) = command { Some(&*upgrade.from) } else { None };
    let workflows = || std::iter::once(cx.workflow).chain(before);
    let refused = |name: &Name| workflows().find_map(|workflow| naming::check_person_in(workflow, name));
    let person = command.persons().find_map(refused);
    let words = command.words().and_then(|(what, text)| naming::check_words(what, text));
    if let Some(problem) = person.or(words) {
        return Err(Rejection::new(problem.code, problem.message).maybe_help(problem.help));
    }
    if let Command::Start(start) = command {
        return start::start(&cx, start);
    }
    if let Command::Upgrade(by_person) = command {
        return upgrade::upgrade(&cx, by_person);
    }
    if let Command::Report(report) = command
        && let Some(outcome) = report::find_repeated_report(&cx, report)
    {
        return Ok(outcome);
    }
    cx.is_active()?;
    match command {
        Command::Start(start) => start::start(&cx, start),
        Command::Upgrade(by_person) => upgrade::upgrade(&cx, by_person),
        Command::Plan(plan) => plan::plan(&cx, plan),
        Command::Claim(claim) => claim::claim(&cx, claim),
        Command::Report(report) => report::report(&cx, report),
        Command::Lost(lost) => lost::lost(&cx, lost),
        Command::Merged(merged) => merged::merged(&cx, merged),
        Command::Answer(answer) => answer::answer(&cx, answer),
        Command::GateFinished(result) => gate::finished(&cx, result),
        Command::Defer(defer) => defer::defer(&cx, defer),
        Command::Acknowledge(acknowledge) => acknowledge::acknowledge(&cx, acknowledge),
        Command::Override(by_person) => override_assignment::overrule(&cx, by_person),
        Command::Waive(by_person) => waive::waive(&cx, by_person),
        Command::Accept(by_person) => accept::accept(&cx, by_person),
        Command::Complete(complete) => complete::complete(&cx, complete),
        Command::Cancel(cancel) => cancel::cancel(&cx, cancel),
        Command::LeaseExpired(expired) => lease::expired(&cx, expired),
        Command::Allow(by_person) => changes::allow(&cx, by_person),
        Command::Sight(sighting) => Ok(provenance::record_hook_seen(&cx, sighting)),
    }
}

/// Checks whether this token may report for this assignment, before the submitted handoff is read. Returns the decision
/// if the same handoff was submitted before.
///
/// # Errors
/// The token is not the one of this assignment, no agent holds the assignment, or the token has reported something
/// else.
pub fn check_report_token(
    state: &State,
    assignment: AssignmentId,
    token: Digest,
    handoff: Option<Digest>,
) -> Result<Option<DecisionId>, Rejection> {
    report::check_reporter(state, assignment, token, handoff)
}

/// Everything that deciding may look at.
#[derive(Clone, Copy)]
pub(crate) struct DecisionContext<'a> {
    pub(crate) workflow: &'a Workflow,
    pub(crate) state: &'a State,
    pub(crate) inputs: &'a DecisionInputs,
    /// The tree that is there now, where that is known.
    pub(crate) tree: Option<&'a Name>,
    /// The folder of the session's outputs, where that is known.
    pub(crate) feature_directory: Option<&'a str>,
}

impl DecisionContext<'_> {
    fn is_active(&self) -> Result<(), Rejection> {
        let Some(session) = &self.state.session else {
            return Err(Rejection::new(Code::NoSession, "the session has not been started"));
        };
        if session.workflow_hash != self.workflow.hash {
            let message = format!("the session is pinned to `{}` {}", session.workflow, session.workflow_hash);
            return Err(Rejection::new(Code::WorkflowMismatch, message));
        }
        if self.state.ended() {
            let message = format!("the session is {}: nothing can change in it", self.state.status.name());
            return Err(Rejection::new(Code::SessionEnded, message));
        }
        Ok(())
    }
}
