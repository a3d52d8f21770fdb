//! Cycles of free moves, and how people read them.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::bounds::explore::{LaneGraph, UncountedMove};
use crate::bounds::lane::{LaneHolder, LaneState};
use crate::workflow::{AssignmentTask, RuleIx, RuleVerb, Workflow};

/// As many moves of one knot as are tried for the shortest cycle through them.
const MOST_TRIED: usize = 64;

/// One step of a cycle: the state it leaves, and the rule that leaves it.
#[derive(Clone)]
pub(super) struct CycleStep {
    state: LaneState,
    pub(super) rule: RuleIx,
}

#[derive(Clone)]
pub(super) struct RuleCycle {
    pub(super) steps: Vec<CycleStep>,
}

impl RuleCycle {
    /// A loop on any entry of this cycle bounds the other one too, for any author and any waiting role.
    pub(super) fn is_part_of(&self, other: &RuleCycle) -> bool {
        let rules: BTreeSet<RuleIx> = other.steps.iter().map(|step| step.rule).collect();
        self.steps.iter().all(|step| rules.contains(&step.rule))
    }

    /// Steps of roles that help: the plain cycle is easier to read.
    fn helpers(&self) -> usize {
        self.steps
            .iter()
            .filter(|step| matches!(step.state.holder, LaneHolder::Role(_, AssignmentTask::Consult)))
            .count()
    }

    /// `developer READY_FOR_REVIEW → tech_lead POLISH → developer`.
    pub(super) fn describe(&self, workflow: &Workflow) -> String {
        let mut words: Vec<String> = Vec::new();
        for step in &self.steps {
            let rule = workflow.rule(step.rule);
            let said = rule.status.map_or("an unknown status", |status| workflow.status_name(status).as_str());
            words.push(format!("{} {said}", holder_words(workflow, &step.state)));
        }
        words.extend(self.steps.first().map(|step| holder_words(workflow, &step.state)));
        words.join(" → ")
    }
}

fn holder_words(workflow: &Workflow, state: &LaneState) -> String {
    match state.holder {
        LaneHolder::Role(role, task) => {
            let task = match task {
                AssignmentTask::Work => "",
                AssignmentTask::Consult => " (helping)",
                AssignmentTask::Merge => " (merging)",
            };
            format!("{}{task}", workflow.role(role).name)
        }
        LaneHolder::Question(question, _) => format!("question `{}`", workflow.question(question).name),
        LaneHolder::PhaseGate(gate) | LaneHolder::CompletionGate(gate) => {
            format!("gate `{}`", workflow.gate(gate).name)
        }
    }
}

/// The shortest cycle through each rule of each knot of free moves, without those that contain another.
///
/// A role waits at most once, so consults alone run out: another move belongs to every cycle.
pub(super) fn cycles_of(workflow: &Workflow, graph: &LaneGraph) -> Vec<RuleCycle> {
    let mut cycles: Vec<RuleCycle> = Vec::new();
    for knot in knots(graph) {
        let members: BTreeSet<usize> = knot.iter().copied().collect();
        let starts = starts_by_rule(workflow, graph, &members);
        let tried = starts.into_iter().filter_map(|(from, step)| shortest_cycle(graph, (from, step), &members));
        let mut found: Vec<RuleCycle> = tried.collect();
        found.sort_by_key(|cycle| (cycle.steps.len(), cycle.helpers()));
        for cycle in found {
            if !cycles.iter().any(|known| known.is_part_of(&cycle)) {
                cycles.push(cycle);
            }
        }
    }
    cycles
}

/// Moves within a knot: one of each rule before a second of any, so that no rule hides another.
fn starts_by_rule(workflow: &Workflow, graph: &LaneGraph, members: &BTreeSet<usize>) -> Vec<(usize, UncountedMove)> {
    let mut seen: BTreeMap<RuleIx, usize> = BTreeMap::new();
    let mut starts: Vec<(usize, (usize, UncountedMove))> = Vec::new();
    for from in members {
        for step in moves_from(graph, *from) {
            if members.contains(&step.to) && !matches!(workflow.rule(step.rule).verb, RuleVerb::Consult(_)) {
                let nth = seen.entry(step.rule).or_default();
                starts.push((*nth, (*from, *step)));
                *nth = nth.saturating_add(1);
            }
        }
    }
    starts.sort_by_key(|(nth, _)| *nth);
    starts.into_iter().map(|(_, start)| start).take(MOST_TRIED).collect()
}

fn moves_from(graph: &LaneGraph, state: usize) -> &[UncountedMove] {
    graph.free.get(state).map_or(&[], Vec::as_slice)
}

/// Breadth first from where a move leads, back to where it started.
fn shortest_cycle(
    graph: &LaneGraph,
    (from, first): (usize, UncountedMove),
    members: &BTreeSet<usize>,
) -> Option<RuleCycle> {
    let mut came_from: BTreeMap<usize, (usize, RuleIx)> = BTreeMap::from([(first.to, (from, first.rule))]);
    let mut queue = VecDeque::from([first.to]);
    while let Some(state) = queue.pop_front() {
        if state == from {
            return Some(retrace(graph, from, &came_from));
        }
        for step in moves_from(graph, state).iter().filter(|step| members.contains(&step.to)) {
            if let std::collections::btree_map::Entry::Vacant(free) = came_from.entry(step.to) {
                free.insert((state, step.rule));
                queue.push_back(step.to);
            }
        }
    }
    None
}

/// Starts with the state that the exploration found first: people read a cycle from its earliest role.
fn retrace(graph: &LaneGraph, start: usize, came_from: &BTreeMap<usize, (usize, RuleIx)>) -> RuleCycle {
    let mut places = Vec::new();
    let mut at = came_from.get(&start).copied();
    while let Some((state, rule)) = at {
        places.push((state, rule));
        at = if state == start { None } else { came_from.get(&state).copied() };
    }
    places.reverse();
    let first = places.iter().enumerate().min_by_key(|(_, (state, _))| *state).map_or(0, |(at, _)| at);
    places.rotate_left(first);
    let step =
        |(state, rule)| graph.states.get(state).map(|state: &LaneState| CycleStep { state: state.clone(), rule });
    RuleCycle { steps: places.into_iter().filter_map(step).collect() }
}

/// Sets of states that free moves connect in both directions: Tarjan's algorithm, without recursion.
fn knots(graph: &LaneGraph) -> Vec<Vec<usize>> {
    let mut search = StrongComponentSearch::new(graph.states.len());
    for state in 0..graph.states.len() {
        if search.order.get(state).is_some_and(Option::is_none) {
            search.visit(graph, state);
        }
    }
    let is_cycle = |knot: &Vec<usize>| match knot.as_slice() {
        [only] => moves_from(graph, *only).iter().any(|step| step.to == *only),
        _ => true,
    };
    let mut knots: Vec<Vec<usize>> = search.found.into_iter().filter(is_cycle).collect();
    knots.iter_mut().for_each(|knot| knot.sort_unstable());
    knots.sort();
    knots
}

struct StrongComponentSearch {
    order: Vec<Option<usize>>,
    low: Vec<usize>,
    on_stack: Vec<bool>,
    stack: Vec<usize>,
    visited: usize,
    found: Vec<Vec<usize>>,
}

impl StrongComponentSearch {
    fn new(states: usize) -> Self {
        Self {
            order: vec![None; states],
            low: vec![0; states],
            on_stack: vec![false; states],
            stack: Vec::new(),
            visited: 0,
            found: Vec::new(),
        }
    }

    fn enter(&mut self, state: usize) {
        if let (Some(order), Some(low), Some(on_stack)) =
            (self.order.get_mut(state), self.low.get_mut(state), self.on_stack.get_mut(state))
        {
            *order = Some(self.visited);
            *low = self.visited;
            *on_stack = true;
        }
        self.visited = self.visited.saturating_add(1);
        self.stack.push(state);
    }

    fn lower(&mut self, state: usize, to: usize) {
        if let Some(low) = self.low.get_mut(state) {
            *low = (*low).min(to);
        }
    }

    fn low_of(&self, state: usize) -> usize {
        self.low.get(state).copied().unwrap_or_default()
    }

    fn visit(&mut self, graph: &LaneGraph, root: usize) {
        let mut path = vec![(root, 0_usize)];
        self.enter(root);
        while let Some((state, next)) = path.last_mut() {
            let state = *state;
            let Some(step) = moves_from(graph, state).get(*next) else {
                path.pop();
                if let Some((parent, _)) = path.last() {
                    self.lower(*parent, self.low_of(state));
                }
                self.close(state);
                continue;
            };
            *next = next.saturating_add(1);
            match self.order.get(step.to).copied().flatten() {
                None => {
                    self.enter(step.to);
                    path.push((step.to, 0));
                }
                Some(order) if self.on_stack.get(step.to) == Some(&true) => self.lower(state, order),
                Some(_) => {}
            }
        }
    }

    /// A state that reaches nothing earlier closes its knot.
    fn close(&mut self, state: usize) {
        if self.order.get(state).copied().flatten() != Some(self.low_of(state)) {
            return;
        }
        let mut knot = Vec::new();
        while let Some(member) = self.stack.pop() {
            if let Some(on_stack) = self.on_stack.get_mut(member) {
                *on_stack = false;
            }
            knot.push(member);
            if member == state {
                break;
            }
        }
        self.found.push(knot);
    }
}
