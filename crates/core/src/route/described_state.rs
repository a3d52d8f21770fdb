//! A state built from what was described.

use std::sync::Arc;

use crate::code::Code;
use crate::command::AnswerChoice;
use crate::decide::{DecideOutcome, DecisionContext, route_answer, route_gate, route_report};
use crate::decision::Decision;
use crate::event::EventCause;
use crate::handoff::{Handoff, ReviewTracking};
use crate::id::{AssignmentId, Digest, GateRunId, Name, QuestionId};
use crate::problem::Problem;
use crate::rejection::Rejection;
use crate::route::described_facts::role;
use crate::route::described_position::{in_group, phase_of, task_of};
use crate::route::state_builder::StateBuilder;
use crate::route::{DescribedFacts, RouteQuery, RouteSource};
use crate::state::{
    Assignment, GatePurpose, GateRun, GroupEnd, GroupProgress, PartHolder, Question, RoleTask, Session, State,
};
use crate::workflow::{PhaseIx, Workflow, normalise_status};

pub(super) const ID: AssignmentId = AssignmentId(1);

/// The most of anything that a described state holds, whatever number the query gives.
pub(super) const MOST_DESCRIBED: u32 = 64;

pub(super) struct DescribedState {
    pub(super) state: State,
    phase: Option<PhaseIx>,
    in_group: bool,
}

impl DescribedState {
    pub(super) fn build(workflow: &Workflow, query: &RouteQuery, facts: &DescribedFacts) -> Result<Self, Problem> {
        let speaker = match &query.source {
            RouteSource::Role(name) => Some(role(workflow, name)?),
            RouteSource::Gate(_) | RouteSource::Question(_) => facts.asker.clone(),
        };
        let phase = phase_of(workflow, query);
        let in_group = in_group(workflow, query, facts, phase);
        let mut state = State::with_session(Session {
            id: Name::new("route"),
            title: Name::new("route"),
            workflow: workflow.name.clone(),
            workflow_hash: workflow.hash,
            settings: facts.settings.clone(),
            investigation: false,
            settings_by: None,
            dropped: Vec::new(),
            allowed: Vec::new(),
        });
        let mut scene = Self { state: State::default(), phase, in_group };
        let seed = StateBuilder { workflow, facts, phase, speaker: speaker.as_ref() };
        state.lane.stage = seed.stage().and_then(|stage| u16::try_from(stage).ok());
        if in_group {
            state.groups.push(seed.subject(query));
        } else {
            state.lane = seed.lane(None);
        }
        for index in 0..facts.pending.min(MOST_DESCRIBED) {
            state.groups.push(seed.group(&format!("pending-{index}"), GroupProgress::Pending));
        }
        for index in 0..facts.in_progress.min(MOST_DESCRIBED) {
            state.groups.push(seed.group(&format!("running-{index}"), GroupProgress::Working));
        }
        for index in 0..facts.deferred.min(MOST_DESCRIBED) {
            let end = GroupEnd::Deferred { why: Name::new("described"), by: Name::new("route"), acknowledged: None };
            state.groups.push(seed.group(&format!("deferred-{index}"), GroupProgress::Ended(end)));
        }
        state.reindex();
        scene.state = state;
        if let RouteSource::Role(name) = &query.source {
            let assignment = scene.assignment(workflow, name, query, facts);
            scene.state.assignments.insert(ID, assignment);
        }
        Ok(scene)
    }

    fn assignment(&self, workflow: &Workflow, role: &Name, query: &RouteQuery, facts: &DescribedFacts) -> Assignment {
        Assignment {
            group: self.group(),
            part: self.part(),
            phase: self.phase.map(|phase| workflow.phase(phase).name.clone()),
            role: role.clone(),
            task: task_of(workflow, role, query, facts),
            attempt: 1,
            token: None,
            lease_until: None,
            via: None,
            awaiting: Vec::new(),
            statuses_returned: 0,
            closed: None,
        }
    }

    fn group(&self) -> Option<Name> {
        self.in_group.then(|| Name::new("group"))
    }

    pub(super) fn decide(
        &self,
        cx: &DecisionContext<'_>,
        query: &RouteQuery,
        facts: &DescribedFacts,
    ) -> Result<Decision, Rejection> {
        let part = self.part();
        let phase = self.phase.map(|phase| cx.workflow.phase(phase).name.clone());
        let outcome = match &query.source {
            RouteSource::Role(name) => {
                let handoff = handoff(cx.workflow, name, phase, query, facts);
                let assignment = cx.assignment(ID)?;
                let draft = route_report(cx, (ID, assignment), &handoff, None, Some(&facts.loops))?;
                draft.finish(EventCause::CompletionAsked { by: Name::new("route") })
            }
            RouteSource::Gate(gate) => {
                let purpose = if self.phase.is_some() { GatePurpose::Phase } else { GatePurpose::Completion };
                let run = GateRun { gate: gate.clone(), group: self.group(), part, purpose, again: Vec::new() };
                let passed = normalise_status(&query.status) == "PASS";
                let output = Name::new("");
                let draft = route_gate(cx, (GateRunId(1), &run), passed, (&output, None), Some(&facts.loops))?;
                draft.finish(EventCause::CompletionAsked { by: Name::new("route") })
            }
            RouteSource::Question(name) => {
                let question = self.question(cx, name, part, query, facts)?;
                let choice = if question.options.contains(&query.status) {
                    AnswerChoice::Option { name: query.status.clone(), text: None }
                } else {
                    AnswerChoice::Text(query.status.clone())
                };
                let by = Name::new("route");
                let draft = route_answer(cx, (QuestionId(1), &question), &choice, &by, Some(&facts.loops))?;
                draft.finish(EventCause::CompletionAsked { by })
            }
        };
        match outcome {
            DecideOutcome::Decided(event) => {
                event.decision.ok_or_else(|| Rejection::new(Code::NotNow, "nothing follows"))
            }
            DecideOutcome::Repeated(_) => Err(Rejection::new(Code::NotNow, "nothing follows")),
        }
    }

    fn question(
        &self,
        cx: &DecisionContext<'_>,
        name: &Name,
        part: u8,
        query: &RouteQuery,
        facts: &DescribedFacts,
    ) -> Result<Question, Rejection> {
        let Some(ix) = cx.workflow.question_named(name) else {
            return Err(Rejection::new(Code::NoQuestion, format!("there is no question `{name}`")));
        };
        let declared = cx.workflow.question(ix);
        let asker = facts.asker.as_ref().or(facts.author.as_ref()).cloned();
        let asker = asker.map(|role| RoleTask { role, task: task_of(cx.workflow, "", query, facts), blocked: false });
        Ok(Question {
            name: name.clone(),
            group: self.group(),
            part,
            text: declared.text.clone(),
            options: declared.options.iter().map(|(option, _)| option.clone()).collect(),
            asker,
            stopped: None,
            held: None,
            open: true,
        })
    }

    /// Where in its stage the phase stands.
    fn part(&self) -> u8 {
        let lane =
            if self.in_group { self.state.groups.first().map(|group| &group.lane) } else { Some(&self.state.lane) };
        let parts = lane.map_or(&[][..], |lane| lane.parts.as_slice());
        let found = parts.iter().position(|part| part.holder == PartHolder::Assignment(ID));
        u8::try_from(found.unwrap_or(0)).unwrap_or(0)
    }
}

fn handoff(
    workflow: &Workflow,
    role: &Name,
    phase: Option<Name>,
    query: &RouteQuery,
    facts: &DescribedFacts,
) -> Handoff {
    let status = workflow.role_named(role).and_then(|role| workflow.status_of(role, &query.status));
    Handoff {
        role: role.clone(),
        phase,
        said: query.status.clone(),
        status,
        reason: facts.reason.clone(),
        facts: facts.facts.clone(),
        issues: None,
        tracking: ReviewTracking::default(),
        responses: Vec::new(),
        blocking_summary: None,
        failing_tests: facts.failing_tests(workflow),
        groups: None,
        questions: Vec::new(),
        acknowledge: Vec::new(),
        accept: Vec::new(),
        digest: Digest::of(b"route"),
        submitted: Arc::default(),
        filled_in: crate::handoff::FilledFields::new(),
        is_own_report: false,
        json: Arc::new(serde_json::json!({})),
    }
}
