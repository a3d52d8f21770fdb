//! Starting, claiming and reporting: the requests that carry more than their command.

use std::sync::Arc;

use interlock_core::code::Code;
use interlock_core::command::{
    ClaimAssignment, ClaimedPrompt, Command, DecisionInputs, RecordMerge, StartSession, SubmitReport, UpgradeWorkflow,
};
use interlock_core::decide::{self, DecideOutcome};
use interlock_core::decision::Warning;
use interlock_core::handoff::{
    self, CheckedHandoff, ExpectedHandoff, ExtractedHandoff, Handoff, KnownFields, OrchestrationMode,
};
use interlock_core::id::{AssignmentId, Digest, Name, Timestamp};
use interlock_core::observed::ObservedChanges;
use interlock_core::problem::{Problem, ProblemGroup, group_problems};
use interlock_core::provenance::Channel;
use interlock_core::rejection::Rejection;
use interlock_core::state::State;
use interlock_core::workflow::Workflow;
use serde_json::Value as Json;

use crate::AssignmentClaim;
use crate::Committed;
use crate::EngineResult;
use crate::Request;
use crate::TxContext;
use crate::prompt;
use crate::record::RecordExtras;
use crate::request::SubmittedHandoff;
use interlock_prompt::AssignmentPrompt;
use interlock_store::PinnedSources;
use interlock_store::keys::SecretKey;
use interlock_system::clock;

impl TxContext<'_> {
    pub(super) fn start(
        &mut self,
        order: &Request,
        workflow: &Workflow,
        start: StartSession,
        mission: Option<&str>,
    ) -> EngineResult<Committed> {
        let now = clock::now();
        let taken = self.tx.session(&order.session)?.is_some();
        let state = if taken { self.load_session(&order.session)?.state.clone() } else { State::default() };
        let command = Command::Start(start);
        let outputs = prompt::outputs_of_session(self.output, &order.session);
        let decided = decide::decide_with_folder(workflow, &state, &command, &DecisionInputs { now }, &outputs)?;
        let DecideOutcome::Decided(event) = decided else {
            return Err(super::EngineError::internal_error());
        };
        self.tx.begin_session(&order.session, now)?;
        self.load_session(&order.session)?;
        self.record(order, event, RecordExtras { mission, claimed: None })
    }

    pub(super) fn upgrade(
        &mut self,
        order: &Request,
        pinned: &PinnedSources,
        workflow: &Arc<Workflow>,
        weaker: bool,
        by: &Name,
    ) -> EngineResult<Committed> {
        let hash = self.load_session(&order.session)?.workflow_hash();
        let upgrade = UpgradeWorkflow { from: self.load_workflow(hash)?, weaker, by: by.clone() };
        let inputs = DecisionInputs { now: clock::now() };
        let state = &self.cached_session(&order.session)?.state;
        let DecideOutcome::Decided(event) = decide::decide(workflow, state, &Command::Upgrade(upgrade), &inputs)?
        else {
            return Err(super::EngineError::internal_error());
        };
        self.tx.pin_workflow(workflow.hash, pinned, &workflow.requirements())?;
        self.memory.cache_workflow(workflow);
        self.record(order, event, RecordExtras::default())
    }

    pub(super) fn claim(&mut self, order: &Request, assignment: AssignmentId) -> EngineResult<Committed> {
        self.load_session(&order.session)?;
        self.rehydrate_assignment(&order.session, assignment)?;
        let live = self.cached_session(&order.session)?;
        let hash = live.workflow_hash();
        let workflow = self.load_workflow(hash)?;
        let token = SecretKey::new();
        let text = self.prompt(&order.session, assignment, &workflow)?;
        let deadline = self.deadline(&order.session, assignment, &workflow)?;
        let command = Command::Claim(ClaimAssignment {
            assignment,
            token: token.digest(),
            prompt: text.as_ref().map(|prompt| ClaimedPrompt {
                digest: Digest::of(prompt.text.as_bytes()),
                confirmable: prompt.confirmable.clone(),
            }),
            // A run keeps the time itself, and does not count what it waits for a service.
            lease_until: deadline.filter(|_| self.via != Some(&Channel::Run)),
            via: self.via.cloned(),
        });
        let given = self.cached_session(&order.session)?.state.assignments.get(&assignment);
        let given = given.map(|given| (given.role.clone(), given.attempt));
        let claimed =
            text.zip(given).map(|(AssignmentPrompt { text: prompt, whole, earlier, .. }, (role, attempt))| {
                AssignmentClaim { role, attempt, token, prompt, whole, earlier, deadline }
            });
        self.run(order, &workflow, &command, RecordExtras { mission: None, claimed })
    }

    pub(super) fn report(
        &mut self,
        order: &Request,
        assignment: AssignmentId,
        token: Option<&SecretKey>,
        given: &SubmittedHandoff,
        observed: Option<&Arc<ObservedChanges>>,
    ) -> EngineResult<Committed> {
        self.load_session(&order.session)?;
        self.rehydrate_assignment(&order.session, assignment)?;
        let Some(token) = token.map(SecretKey::digest) else {
            let help = "set INTERLOCK_TOKEN or INTERLOCK_TOKEN_FILE, or name a file with --token-file";
            let message = format!("a report for {assignment} takes the token of that assignment");
            return Err(Rejection::new(Code::TokenMissing, message).help(help).into());
        };
        let live = self.cached_session(&order.session)?;
        let digest = given.extracted.as_ref().ok().map(|extracted| extracted.digest);
        if let Some(decision) = decide::check_report_token(&live.state, assignment, token, digest)? {
            return self.repeated(order, decision);
        }
        let hash = live.workflow_hash();
        let workflow = self.load_workflow(hash)?;
        let via = self.via.cloned();
        let outputs = prompt::outputs_of_session(self.output, &order.session);
        let live = self.cached_session(&order.session)?;
        let extracted = given.extracted.as_ref().map_err(|problems| invalid(problems.clone()))?;
        let now = clock::now();
        let surroundings = ReportContext { now, outputs: &outputs };
        let checked = checked(&workflow, &live.state, assignment, extracted, surroundings);
        // One answer names everything: other problems do not hide a status that would come back next.
        let (handoff, warnings) = checked.map_err(|error| match (&via, error) {
            (Some(_), super::EngineError::Refused(rejection)) => {
                with_returned_status(&workflow, &live.state, assignment, extracted, *rejection).into()
            }
            (_, error) => error,
        })?;
        let command = Command::Report(SubmitReport {
            assignment,
            token,
            handoff: Arc::new(handoff),
            observed: observed.cloned(),
            via,
        });
        let inputs = DecisionInputs { now };
        match decide::decide_with_folder(&workflow, &live.state, &command, &inputs, &outputs)? {
            DecideOutcome::Repeated(decision) => self.repeated(order, decision),
            DecideOutcome::Decided(mut event) => {
                if let Some(decision) = &mut event.decision {
                    // The check and the decision both note how a status was read.
                    let fresh: Vec<Warning> =
                        warnings.into_iter().filter(|warning| !decision.warnings.contains(warning)).collect();
                    decision.warnings.extend(fresh);
                }
                self.record(order, event, RecordExtras::default())
            }
        }
    }

    /// Records a merge that Interlock made. Its report is routed like an agent's, without the fields that a workflow asks
    /// of agents: a refused report would stop the run with the work merged and not recorded.
    pub(super) fn merge(
        &mut self,
        order: &Request,
        assignment: AssignmentId,
        given: &SubmittedHandoff,
    ) -> EngineResult<Committed> {
        let hash = self.load_session(&order.session)?.workflow_hash();
        self.rehydrate_assignment(&order.session, assignment)?;
        let workflow = self.load_workflow(hash)?;
        let extracted = given.extracted.as_ref().map_err(|problems| invalid(problems.clone()))?;
        let outputs = prompt::outputs_of_session(self.output, &order.session);
        let surroundings = ReportContext { now: clock::now(), outputs: &outputs };
        let state = &self.cached_session(&order.session)?.state;
        let checked = examine_by(handoff::check_own_report, &workflow, state, assignment, extracted, surroundings)?;
        let Some(handoff) = checked.handoff else { return Err(invalid(checked.problems).into()) };
        let command = Command::Merged(RecordMerge { assignment, handoff: Arc::new(handoff) });
        self.run(order, &workflow, &command, RecordExtras::default())
    }

    fn deadline(&mut self, session: &Name, id: AssignmentId, workflow: &Workflow) -> EngineResult<Option<Timestamp>> {
        let state = &self.cached_session(session)?.state;
        let role = state.assignments.get(&id).and_then(|assignment| workflow.role_named(&assignment.role));
        Ok(role.and_then(|role| prompt::deadline(workflow.role(role), clock::now())))
    }
}

/// The time and the place of a report, for the fields that Interlock fills in.
#[derive(Clone, Copy, Debug)]
pub struct ReportContext<'a> {
    pub now: Timestamp,
    /// The folder of the session's outputs.
    pub outputs: &'a str,
}

/// Holds a handoff against the assignment that it is for; nothing is stored, and the token is not asked for.
pub fn check_submitted(
    workflow: &Workflow,
    state: &State,
    id: AssignmentId,
    extracted: &ExtractedHandoff,
    surroundings: ReportContext<'_>,
) -> EngineResult<CheckedHandoff> {
    let check = |workflow: &Workflow, expect: &ExpectedHandoff<'_>, extracted: &ExtractedHandoff| {
        handoff::check(Some(workflow), expect, extracted)
    };
    examine_by(check, workflow, state, id, extracted, surroundings)
}

fn examine_by(
    check: impl FnOnce(&Workflow, &ExpectedHandoff<'_>, &ExtractedHandoff) -> CheckedHandoff,
    workflow: &Workflow,
    state: &State,
    id: AssignmentId,
    extracted: &ExtractedHandoff,
    surroundings: ReportContext<'_>,
) -> EngineResult<CheckedHandoff> {
    let Some(assignment) = state.assignments.get(&id) else {
        return Err(Rejection::new(Code::NoAssignment, format!("there is no assignment {id}")).into());
    };
    // Only a plan may depend on groups that are there.
    let plans = extracted.json.get("groups").is_some();
    let groups: Vec<Name> = state.groups.iter().filter(|_| plans).map(|group| group.id.clone()).collect();
    let expect = ExpectedHandoff {
        role: Some(&assignment.role),
        phase: assignment.phase.as_deref(),
        task: assignment.task,
        context: OrchestrationMode::Orchestrated,
        groups: &groups,
    };
    let known = KnownFields {
        role: &assignment.role,
        phase: assignment.phase.as_deref(),
        task: assignment.task,
        now: surroundings.now,
        directory: surroundings.outputs,
    };
    Ok(check(workflow, &expect, &extracted.fill_in(workflow, &known)))
}

/// The submitted handoff, if it is valid for its assignment.
fn checked(
    workflow: &Workflow,
    state: &State,
    id: AssignmentId,
    extracted: &ExtractedHandoff,
    surroundings: ReportContext<'_>,
) -> EngineResult<(Handoff, Vec<Warning>)> {
    let checked = check_submitted(workflow, state, id, extracted, surroundings)?;
    let warning =
        |problem: &Problem| Warning { code: Some(Name::new(problem.code.number())), text: Name::new(&problem.message) };
    match checked.handoff {
        Some(handoff) => Ok((handoff, checked.warnings.iter().map(warning).collect())),
        None => Err(invalid(checked.problems).into()),
    }
}

/// The rejection of a handoff, with the status that its role does not have first.
fn with_returned_status(
    workflow: &Workflow,
    state: &State,
    id: AssignmentId,
    extracted: &ExtractedHandoff,
    rejection: Rejection,
) -> Rejection {
    let status = reported_status(extracted);
    match status.and_then(|status| decide::returned_status(workflow, state, id, status)) {
        Some(mut returned) => {
            // A workflow without a fallback lists the status as a problem of its own.
            let others = rejection.problems.into_iter().filter(|problem| problem.code != Code::UnknownStatus);
            returned.problems.extend(others);
            returned
        }
        None => rejection,
    }
}

/// The status of a handoff as it was written.
pub(crate) fn reported_status(extracted: &ExtractedHandoff) -> Option<&str> {
    extracted.json.get("status").and_then(Json::as_str).filter(|status| !status.trim().is_empty())
}

fn invalid(problems: Vec<Problem>) -> Rejection {
    let first = problems.first();
    let code = first.map_or(Code::NoHandoff, |problem| problem.code);
    let grouped = group_problems(&problems);
    let message = grouped.first().map_or_else(|| "there is no handoff".to_owned(), ProblemGroup::message);
    Rejection::new(code, message).problems(problems)
}
