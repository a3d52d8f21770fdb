//! A state built from what was described.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::code::Code;
use crate::command::Choice;
use crate::decide::{Cx, Outcome, route_answer, route_gate, route_report};
use crate::decision::{Action, Decision, Next, Put};
use crate::event::Cause;
use crate::handoff::{Handoff, PlannedGroup, Tracking};
use crate::id::{AssignmentId, DecisionId, Digest, GateRunId, Name, QuestionId};
use crate::problem::Problem;
use crate::rejection::Rejection;
use crate::route::given::role;
use crate::route::{Facts, Query, Scope, Speaker};
use crate::state::{
    Assignment, GatePurpose, GateRun, Group, Holder, Lane, Part, Progress, Question, Seat, Session, State,
};
use crate::workflow::{Performer, PhaseIx, RoleIx, Rule, Target, Task, Verb, Workflow, normalise_status};

const ID: AssignmentId = AssignmentId(1);

pub(super) struct Scene {
    pub(super) state: State,
    phase: Option<PhaseIx>,
    in_group: bool,
}

impl Scene {
    pub(super) fn build(workflow: &Workflow, query: &Query, facts: &Facts) -> Result<Self, Vec<Problem>> {
        let phase = phase_of(workflow, query).map_err(|problem| vec![problem])?;
        let in_group = in_group(workflow, query, facts, phase);
        let mut state = State::begun(Session {
            id: Name::new("route"),
            title: Name::new("route"),
            workflow: workflow.name.clone(),
            workflow_hash: workflow.hash,
            settings: facts.settings.clone(),
        });
        let mut scene = Self { state: State::default(), phase, in_group };
        let speaker = match &query.source {
            Speaker::Role(name) => Some(role(workflow, name).map_err(|problem| vec![problem])?),
            Speaker::Gate(_) | Speaker::Question(_) => facts.asker.clone(),
        };
        let seed = Seed { workflow, facts, phase, speaker: speaker.as_ref() };
        state.lane.stage = seed.stage().and_then(|stage| u16::try_from(stage).ok());
        let lane = seed.lane();
        if in_group {
            let mut group = seed.group("group", Progress::Working);
            group.author = seed.author();
            group.passed = seed.passed(query);
            group.lane = lane;
            state.groups.push(group);
        } else {
            state.lane = lane;
        }
        for index in 0..facts.pending.min(64) {
            state.groups.push(seed.group(&format!("pending-{index}"), Progress::Pending));
        }
        for index in 0..facts.in_progress.min(64) {
            state.groups.push(seed.group(&format!("running-{index}"), Progress::Working));
        }
        state.reindex();
        scene.state = state;
        if let Speaker::Role(name) = &query.source {
            let assignment = scene.assignment(workflow, name, query, facts);
            scene.state.assignments.insert(ID, assignment);
        }
        Ok(scene)
    }

    fn assignment(&self, workflow: &Workflow, role: &Name, query: &Query, facts: &Facts) -> Assignment {
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
            closed: None,
        }
    }

    fn group(&self) -> Option<Name> {
        self.in_group.then(|| Name::new("group"))
    }

    pub(super) fn decide(&self, cx: &Cx<'_>, query: &Query, facts: &Facts) -> Result<Decision, Rejection> {
        let part = self.part();
        let phase = self.phase.map(|phase| cx.workflow.phase(phase).name.clone());
        let outcome = match &query.source {
            Speaker::Role(name) => {
                let handoff = handoff(cx.workflow, name, phase, query, facts);
                let assignment = cx.assignment(ID)?;
                let draft = route_report(cx, (ID, assignment), &handoff, Some(&facts.loops))?;
                draft.finish(Cause::CompletionAsked { by: Name::new("route") })
            }
            Speaker::Gate(gate) => {
                let purpose = if self.phase.is_some() { GatePurpose::Phase } else { GatePurpose::Completion };
                let run = GateRun { gate: gate.clone(), group: self.group(), part, purpose };
                let passed = normalise_status(&query.status) == "PASS";
                let output = Name::new("");
                let draft = route_gate(cx, (GateRunId(1), &run), passed, &output, Some(&facts.loops))?;
                draft.finish(Cause::CompletionAsked { by: Name::new("route") })
            }
            Speaker::Question(name) => {
                let question = self.question(cx, name, part, query, facts)?;
                let choice = if question.options.contains(&query.status) {
                    Choice::Option { name: query.status.clone(), text: None }
                } else {
                    Choice::Text(query.status.clone())
                };
                let by = Name::new("route");
                let draft = route_answer(cx, (QuestionId(1), &question), &choice, &by, Some(&facts.loops))?;
                draft.finish(Cause::CompletionAsked { by })
            }
        };
        match outcome {
            Outcome::Decided(event) => event.decision.ok_or_else(|| Rejection::new(Code::NotNow, "nothing follows")),
            Outcome::Repeated(_) => Err(Rejection::new(Code::NotNow, "nothing follows")),
        }
    }

    fn question(
        &self,
        cx: &Cx<'_>,
        name: &Name,
        part: u8,
        query: &Query,
        facts: &Facts,
    ) -> Result<Question, Rejection> {
        let Some(ix) = cx.workflow.question_named(name) else {
            return Err(Rejection::new(Code::NoQuestion, format!("there is no question `{name}`")));
        };
        let declared = cx.workflow.question(ix);
        let asker = facts.asker.as_ref().or(facts.author.as_ref()).cloned();
        let asker = asker.map(|role| Seat { role, task: task_of(cx.workflow, "", query, facts), blocked: false });
        Ok(Question {
            name: name.clone(),
            group: self.group(),
            part,
            text: declared.text.clone(),
            options: declared.options.iter().map(|(option, _)| option.clone()).collect(),
            asker,
            stopped: None,
            open: true,
        })
    }

    /// Where in its stage the phase stands.
    fn part(&self) -> u8 {
        let lane =
            if self.in_group { self.state.groups.first().map(|group| &group.lane) } else { Some(&self.state.lane) };
        let parts = lane.map_or(&[][..], |lane| lane.parts.as_slice());
        let found = parts.iter().position(|part| part.holder == Holder::Assignment(ID));
        u8::try_from(found.unwrap_or(0)).unwrap_or(0)
    }
}

/// What a described group is made of.
struct Seed<'a> {
    workflow: &'a Workflow,
    facts: &'a Facts,
    phase: Option<PhaseIx>,
    speaker: Option<&'a Name>,
}

impl Seed<'_> {
    fn stage(&self) -> Option<usize> {
        self.phase.map(|phase| self.workflow.phase(phase).stage)
    }

    fn group(&self, id: &str, progress: Progress) -> Group {
        let mut flags = self.facts.flags.clone();
        if let (Some(guard), None) = (self.workflow.domain_guard, flags.get("domain")) {
            let told = self.speaker.and_then(|role| self.workflow.domain_of(role));
            let domain = told.and_then(|ix| self.workflow.domains.get(ix.index())).map(|domain| domain.name.clone());
            let first = || self.workflow.guard(guard).values.first().cloned();
            flags.extend(domain.or_else(first).map(|domain| (Name::new("domain"), domain)));
        }
        let mut group = Group::planned(&PlannedGroup {
            id: Name::new(id),
            title: Name::new(id),
            flags,
            depends_on: Vec::new(),
            checks: Vec::new(),
        });
        group.progress = progress;
        group.lane.stage = self.stage().and_then(|stage| u16::try_from(stage).ok());
        group
    }

    /// The author that was given, or that a plain group would have.
    fn author(&self) -> Option<Name> {
        if let Some(author) = &self.facts.author {
            return Some(author.clone());
        }
        let workflow = self.workflow;
        let is_author = |ix: &RoleIx| workflow.role(*ix).author;
        let own = self.speaker.and_then(|name| workflow.role_named(name)).filter(is_author);
        let plain = self.group("plain", Progress::Pending);
        let state = State::begun(Session {
            id: Name::new("route"),
            title: Name::new("route"),
            workflow: workflow.name.clone(),
            workflow_hash: workflow.hash,
            settings: self.facts.settings.clone(),
        });
        let inputs = crate::command::Inputs { now: crate::id::Timestamp(0) };
        let cx = Cx { workflow, state: &state, inputs: &inputs };
        let opening = workflow
            .group_begin
            .iter()
            .find(|opening| crate::decide::guards_hold(&cx, &plain, &opening.when))
            // Before overrides: those are for whatever the route arrives at.
            .map(|opening| opening.role);
        let by_phase = || {
            (0..workflow.phases.len())
                .filter_map(|index| crate::decide::role_of_phase(&cx, &plain, PhaseIx::new(index)))
                .find(is_author)
        };
        let found = own.or_else(|| opening.filter(is_author)).or_else(by_phase);
        found.map(|ix| workflow.role(ix).name.clone())
    }

    /// A merge comes after the approvals, so they are there.
    fn passed(&self, query: &Query) -> BTreeSet<Name> {
        let role = self.speaker.map_or("", Name::as_str);
        if task_of(self.workflow, role, query, self.facts) == Task::Merge {
            self.workflow.passes.iter().map(|pass| pass.name.clone()).collect()
        } else {
            BTreeSet::new()
        }
    }

    fn lane(&self) -> Lane {
        let workflow = self.workflow;
        let waiting: Vec<Seat> = self
            .facts
            .blocked_agent
            .iter()
            .map(|role| Seat { role: role.clone(), task: Task::Work, blocked: true })
            .collect();
        let own = Part { phase: None, holder: Holder::Assignment(ID), waiting };
        let mut lane = Lane { stage: self.stage().and_then(|stage| u16::try_from(stage).ok()), ..Lane::default() };
        let stage = self.stage().and_then(|stage| workflow.stages.get(stage));
        match stage {
            None => lane.parts.push(own),
            Some(stage) => {
                for phase in &stage.phases {
                    let name = Some(workflow.phase(*phase).name.clone());
                    if Some(*phase) == self.phase {
                        lane.parts.push(Part { phase: name, ..own.clone() });
                    } else {
                        let holder = if self.facts.outstanding { Holder::Nobody } else { Holder::Done };
                        lane.parts.push(Part { phase: name, holder, waiting: Vec::new() });
                    }
                }
            }
        }
        lane
    }
}

/// The phase that was given, or the only one that fits.
fn phase_of(workflow: &Workflow, query: &Query) -> Result<Option<PhaseIx>, Problem> {
    if !workflow.has_phases() {
        return Ok(None);
    }
    if let Some(name) = &query.phase {
        let by_handoff_name = || workflow.phases.iter().position(|phase| phase.called == *name).map(PhaseIx::new);
        return workflow.phase_named(name).or_else(by_handoff_name).map(Some).ok_or_else(|| {
            let known = workflow.phases.iter().map(|phase| phase.name.as_str());
            let help = crate::suggest::help(name, known.collect::<Vec<_>>());
            Problem::new(Code::UnknownPhase, format!("there is no phase `{name}`")).maybe_help(help)
        });
    }
    let merging = match &query.source {
        Speaker::Role(name) => task_of(workflow, name, query, &Facts::default()) == Task::Merge,
        Speaker::Gate(_) | Speaker::Question(_) => false,
    };
    let fits = |performer: &Performer| match (performer, &query.source) {
        (Performer::Merge, Speaker::Role(_)) => merging,
        (Performer::Role(ix), Speaker::Role(name)) => !merging && workflow.role(*ix).name == *name,
        (Performer::ByDomain(roles), Speaker::Role(name)) => {
            !merging && roles.iter().flatten().any(|ix| workflow.role(*ix).name == *name)
        }
        (Performer::Gate(ix), Speaker::Gate(name)) => workflow.gate(*ix).name == *name,
        (_, Speaker::Question(_)) => {
            let asker = query.given.get("asker");
            asker.is_some_and(|asker| match performer {
                Performer::Role(ix) => workflow.role(*ix).name == *asker,
                Performer::ByDomain(roles) => roles.iter().flatten().any(|ix| workflow.role(*ix).name == *asker),
                Performer::Gate(_) | Performer::Merge => false,
            })
        }
        (Performer::Merge | Performer::Role(_) | Performer::ByDomain(_), Speaker::Gate(_))
        | (Performer::Gate(_), Speaker::Role(_)) => false,
    };
    let found = workflow.phases.iter().position(|phase| fits(&phase.performer));
    let gate = || match &query.source {
        // A question that no role asked stands at the gate whose failure asks it.
        Speaker::Question(_) => workflow.phases.iter().position(|phase| matches!(phase.performer, Performer::Gate(_))),
        Speaker::Role(_) => workflow
            .phases
            .iter()
            .position(|phase| !workflow.stages.get(phase.stage).is_some_and(|stage| stage.per_session)),
        Speaker::Gate(_) => None,
    };
    Ok(found.or_else(gate).map(PhaseIx::new))
}

/// Group scope before session scope, unless the verb or the phase belongs to the session.
fn in_group(workflow: &Workflow, query: &Query, facts: &Facts, phase: Option<PhaseIx>) -> bool {
    if let Some(scope) = query.scope {
        return scope == Scope::Group;
    }
    let stage = phase.and_then(|phase| workflow.stages.get(workflow.phase(phase).stage));
    if let Some(stage) = stage {
        return !stage.per_session;
    }
    let Speaker::Role(name) = &query.source else { return true };
    let rules = workflow.role_named(name).and_then(|role| {
        let status = workflow.status_of(role, &query.status)?;
        workflow.by_report.get(&(role, status))
    });
    let of_session = rules.into_iter().flatten().any(|ix| {
        let rule = workflow.rule(*ix);
        matches!(rule.verb, Verb::Start | Verb::Validate(_) | Verb::End)
    });
    let interlock = workflow.role_named(name).is_some_and(|ix| workflow.role(ix).by_interlock);
    let told = facts.author.is_some() || facts.blocked_agent.is_some();
    !(of_session || interlock) || told
}

/// A merge if only the merge table has the status; help if somebody waits; else work.
fn task_of(workflow: &Workflow, role: &str, query: &Query, facts: &Facts) -> Task {
    match workflow.task_of(role, &query.status) {
        Task::Work if facts.blocked_agent.is_some() => Task::Consult,
        task @ (Task::Work | Task::Consult | Task::Merge) => task,
    }
}

fn handoff(workflow: &Workflow, role: &Name, phase: Option<Name>, query: &Query, facts: &Facts) -> Handoff {
    let status = workflow.role_named(role).and_then(|role| workflow.status_of(role, &query.status));
    Handoff {
        role: role.clone(),
        phase,
        said: query.status.clone(),
        status,
        reason: facts.reason.clone(),
        facts: facts.facts.clone(),
        issues: None,
        tracking: Tracking::default(),
        responses: Vec::new(),
        blocking_summary: None,
        failing_tests: None,
        groups: None,
        questions: Vec::new(),
        acknowledge: Vec::new(),
        accept: Vec::new(),
        digest: Digest::of(b"route"),
        json: Arc::new(serde_json::json!({})),
    }
}

/// The cell of the blocked table, as a decision.
pub(super) fn decision_of_cell(workflow: &Workflow, rule: &Rule) -> Decision {
    let mut decision = Decision {
        id: DecisionId(1),
        action: Action::Ask,
        rule: rule.id.clone(),
        next: Vec::new(),
        question: None,
        gate: None,
        waits_for: None,
        judgement: None,
        context: rule.with.clone(),
        absent: Vec::new(),
        because: Vec::new(),
        overrides: Vec::new(),
        facts: Vec::new(),
        warnings: Vec::new(),
        escalated: false,
    };
    if let Verb::Consult(Target::Role(ix)) = rule.verb {
        let role = workflow.role(ix);
        decision.action = Action::Spawn;
        decision.next.push(Next {
            assignment: ID,
            role: role.name.clone(),
            group: None,
            attempt: 1,
            model: role.model.clone(),
        });
    } else if let Verb::Ask(ix) = rule.verb {
        let question = workflow.question(ix);
        decision.question = Some(Put {
            question: QuestionId(1),
            name: question.name.clone(),
            text: question.text.clone(),
            options: question.options.iter().map(|(name, _)| name.clone()).collect(),
        });
    }
    decision
}
