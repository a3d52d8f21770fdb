//! Every state that a lane can reach, and the moves between them.

use std::collections::{BTreeMap, BTreeSet};

use crate::bounds::lane::{LaneHolder, LaneState};
use crate::bounds::moves::LaneMove;
use crate::bounds::values::{GuardValues, TruthValue};
use crate::decide::find_verb_target;
use crate::workflow::*;

/// With more states the order in which roles wait is left out, which finds every cycle and perhaps one too many.
const MOST_STATES: usize = 20_000;

/// One free step: the rule, and the state that it leads to.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct UncountedMove {
    pub(super) rule: RuleIx,
    pub(super) to: usize,
}

/// The states of all lanes, with the moves that nothing counts.
pub(super) struct LaneGraph {
    pub(super) states: Vec<LaneState>,
    pub(super) free: Vec<Vec<UncountedMove>>,
}

/// Explores the states of a lane, exactly or without the order in which roles wait.
pub(super) struct LaneExplorer<'a> {
    pub(super) workflow: &'a Workflow,
    pub(super) values: &'a GuardValues,
    /// Roles that may wait, where the order of waiting is left out.
    pub(super) may_wait: Option<Vec<RoleIx>>,
}

impl LaneGraph {
    pub(super) fn explore(workflow: &Workflow, values: &GuardValues) -> Self {
        LaneExplorer::explore(workflow, values).1
    }
}

fn roles_that_consult(workflow: &Workflow) -> Vec<RoleIx> {
    let mut found = BTreeSet::new();
    for rule in workflow.rules.iter().filter(|rule| matches!(rule.verb, RuleVerb::Consult(_))) {
        if let RuleSource::Roles { roles, .. } = &rule.source {
            found.extend(roles.iter().map(RoleIx::new));
        }
    }
    found.into_iter().collect()
}

impl<'a> LaneExplorer<'a> {
    /// Exactly where that is possible.
    pub(super) fn explore(workflow: &'a Workflow, values: &'a GuardValues) -> (Self, LaneGraph) {
        let exact = Self { workflow, values, may_wait: None };
        if let Some(graph) = exact.graph() {
            return (exact, graph);
        }
        let coarse = Self { workflow, values, may_wait: Some(roles_that_consult(workflow)) };
        let graph = coarse.graph().unwrap_or(LaneGraph { states: Vec::new(), free: Vec::new() });
        (coarse, graph)
    }
}

impl LaneExplorer<'_> {
    /// `None` where there are too many states to tell them apart by who waits.
    fn graph(&self) -> Option<LaneGraph> {
        let mut places: BTreeMap<LaneState, usize> = BTreeMap::new();
        let mut graph = LaneGraph { states: Vec::new(), free: Vec::new() };
        for state in self.first_states() {
            enter(&mut graph, &mut places, state);
        }
        let mut next = 0;
        while let Some(state) = graph.states.get(next).cloned() {
            if graph.states.len() > MOST_STATES && self.may_wait.is_none() {
                return None;
            }
            let mut free = BTreeSet::new();
            for LaneMove { rule, bounded, to } in self.moves(&state) {
                let to = enter(&mut graph, &mut places, to);
                if !bounded {
                    free.insert(UncountedMove { rule, to });
                }
            }
            if let Some(list) = graph.free.get_mut(next) {
                list.extend(free);
            }
            next = next.saturating_add(1);
        }
        Some(graph)
    }

    /// Where lanes begin: the session, and a group at each stage at which groups start.
    fn first_states(&self) -> Vec<LaneState> {
        let workflow = self.workflow;
        if !workflow.has_phases() {
            let session = self.open_lane(&workflow.begin, false);
            let ended = self.open_lane(&workflow.groups_ended, false);
            return session.into_iter().chain(ended).chain(self.open_lane(&workflow.group_begin, true)).collect();
        }
        let mut first = self.enter_stages(false, 0, None, None);
        for (index, stage) in workflow.stages.iter().enumerate() {
            let before = index.checked_sub(1).and_then(|before| workflow.stages.get(before));
            if stage.per_session || before.is_some_and(|before| !before.per_session) {
                continue;
            }
            first.extend(self.enter_stages(true, index, None, None));
            let authors = workflow.roles.iter().enumerate().filter(|(_, role)| role.author && index > 0);
            for (author, _) in authors {
                first.extend(self.enter_stages(true, index, Some(RoleIx::new(author)), None));
            }
        }
        first
    }

    /// `begin`, `groups.begin` and `groups.ended`: the first that holds.
    pub(super) fn open_lane(&self, openings: &[SpawnRule], in_group: bool) -> Vec<LaneState> {
        let mut states = Vec::new();
        for opening in openings {
            let holds = self.values.all(self.workflow, in_group, &opening.when);
            if holds != TruthValue::No {
                let blank = LaneState::new(in_group, None, LaneHolder::Role(opening.role, AssignmentTask::Work), None);
                states.extend(self.assign(&blank, opening.role, AssignmentTask::Work));
            }
            if holds == TruthValue::Yes {
                break;
            }
        }
        states
    }

    /// The first stage from here on whose phases apply. `stands_in`: the role that takes a phase after an escalation.
    pub(super) fn enter_stages(
        &self,
        in_group: bool,
        from: usize,
        author: Option<RoleIx>,
        stands_in: Option<(PhaseIx, RoleIx)>,
    ) -> Vec<LaneState> {
        let mut states = Vec::new();
        for stage in self.workflow.stages.iter().skip(from) {
            if stage.per_session == in_group {
                // A group waits for the phase of the session and then goes on; the session waits for its groups.
                if in_group && self.counts_leaving(stage) {
                    return states;
                }
                continue;
            }
            let mut applies = TruthValue::No;
            for phase in &stage.phases {
                let own = self.phase_applies(in_group, *phase, author);
                applies = applies.max(own);
                if own != TruthValue::No {
                    states.extend(self.enter_phase(in_group, *phase, author, stands_in));
                }
            }
            if applies == TruthValue::Yes {
                return states;
            }
        }
        let blank = LaneState::new(in_group, None, LaneHolder::Question(self.workflow.unfinished, None), author);
        states.extend(self.completion_gates(&blank));
        states
    }

    /// Every way out of a phase of this stage is counted, so a group does not come by without end.
    fn counts_leaving(&self, stage: &PipelineStage) -> bool {
        stage.phases.iter().any(|phase| {
            let roles = self.roles_within(*phase);
            let leaves = |rule: &&Rule| {
                let of_role = match &rule.source {
                    RuleSource::Roles { roles: own, .. } => roles.iter().any(|role| own.contains(role.index())),
                    RuleSource::Gate(_) | RuleSource::Question(_) => false,
                };
                let moves_on = matches!(rule.verb, RuleVerb::Leave | RuleVerb::Goto(_));
                moves_on && of_role && rule.phase.is_none_or(|own| own == *phase)
            };
            let mut leaving = self.workflow.rules.iter().filter(leaves).peekable();
            let certain = self.phase_applies(false, *phase, None) == TruthValue::Yes;
            certain && leaving.peek().is_some() && leaving.all(|rule| rule.counted.is_some())
        })
    }

    /// The roles that may hold a phase of the session: its own, and every role that one of them hands the work to.
    fn roles_within(&self, phase: PhaseIx) -> BTreeSet<RoleIx> {
        let workflow = self.workflow;
        let mut roles: BTreeSet<RoleIx> = self.phase_roles(phase).into_iter().collect();
        loop {
            let before = roles.len();
            let of_roles = |rule: &&Rule| match &rule.source {
                RuleSource::Roles { roles: own, .. } => roles.iter().any(|role| own.contains(role.index())),
                RuleSource::Gate(_) | RuleSource::Question(_) => false,
            };
            let handed = workflow.rules.iter().filter(of_roles).filter_map(|rule| match find_verb_target(rule.verb) {
                RoleTarget::Role(role) => Some(role),
                RoleTarget::Author | RoleTarget::Reporter | RoleTarget::Waiting | RoleTarget::Phase(_) => None,
            });
            let handed: Vec<RoleIx> = handed.collect();
            roles.extend(handed);
            let taken = workflow.overrides.iter().filter(|item| roles.contains(&item.instead_of));
            let taken: Vec<RoleIx> = taken.map(|item| item.takes).collect();
            roles.extend(taken);
            if roles.len() == before {
                return roles;
            }
        }
    }

    pub(super) fn phase_applies(&self, in_group: bool, phase: PhaseIx, author: Option<RoleIx>) -> TruthValue {
        let phase = self.workflow.phase(phase);
        if phase.performer == PhasePerformer::Merge && author.is_none() {
            return TruthValue::No;
        }
        self.values.all(self.workflow, in_group, &phase.when)
    }

    fn enter_phase(
        &self,
        in_group: bool,
        phase: PhaseIx,
        author: Option<RoleIx>,
        stands_in: Option<(PhaseIx, RoleIx)>,
    ) -> Vec<LaneState> {
        let blank = |holder| LaneState::new(in_group, Some(phase), holder, author);
        match &self.workflow.phase(phase).performer {
            PhasePerformer::Gate(gate) => vec![blank(LaneHolder::PhaseGate(*gate))],
            PhasePerformer::Merge => {
                let author = author.map(|author| blank(LaneHolder::Role(author, AssignmentTask::Merge)));
                author.iter().flat_map(|state| self.assign_holder(state)).collect()
            }
            PhasePerformer::Role(_) | PhasePerformer::ByDomain(_) => {
                let climbed = stands_in.filter(|(own, _)| *own == phase).map(|(_, role)| role);
                let roles = climbed.map_or_else(|| self.phase_roles(phase), |role| vec![role]);
                let held = roles.into_iter().map(|role| blank(LaneHolder::Role(role, AssignmentTask::Work)));
                held.flat_map(|state| self.assign_holder(&state)).collect()
            }
        }
    }

    fn assign_holder(&self, state: &LaneState) -> Vec<LaneState> {
        match state.holder {
            LaneHolder::Role(role, task) => self.assign(state, role, task),
            LaneHolder::Question(..) | LaneHolder::PhaseGate(_) | LaneHolder::CompletionGate(_) => vec![state.clone()],
        }
    }

    /// The roles that a phase may have: one for each domain where the domain is a free choice.
    pub(super) fn phase_roles(&self, phase: PhaseIx) -> Vec<RoleIx> {
        match &self.workflow.phase(phase).performer {
            PhasePerformer::Role(role) => vec![*role],
            PhasePerformer::ByDomain(roles) => {
                let domain = self.workflow.domain_guard.and_then(|guard| self.values.value(guard));
                let mut fitting: Vec<RoleIx> = match domain {
                    Some(domain) => roles.get(domain).copied().flatten().into_iter().collect(),
                    None => roles.iter().flatten().copied().collect(),
                };
                fitting.dedup();
                fitting
            }
            PhasePerformer::Gate(_) | PhasePerformer::Merge => Vec::new(),
        }
    }
}

fn enter(graph: &mut LaneGraph, places: &mut BTreeMap<LaneState, usize>, state: LaneState) -> usize {
    if let Some(place) = places.get(&state) {
        return *place;
    }
    let place = graph.states.len();
    places.insert(state.clone(), place);
    graph.states.push(state);
    graph.free.push(Vec::new());
    place
}
