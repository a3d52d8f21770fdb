//! Whether every cycle of a workflow is counted by a loop, so that each session ends or asks a person; and whether every
//! role that gets work has a status that leads on.
//!
//! The check explores what one lane can come to: who holds the work, who is the author, who waits, what was passed. Findings,
//! limits and facts of handoffs are free choices. A rule with a loop runs out, and so do its escalations; a rule without one
//! is free. A cycle of free rules has no bound.
//!
//! It reads the compiled workflow only. Loading does not pay for it: commands that pin or check a workflow call it.

mod author;
mod cycle;
mod dead_end;
mod explore;
mod lane;
mod moves;
mod values;

use crate::bounds::cycle::{RuleCycle, cycles_of};
use crate::bounds::dead_end::{DeadEnd, confirm_dead_ends, report_dead_end};
use crate::bounds::explore::{LaneExplorer, LaneGraph};
use crate::bounds::values::{GuardValues, valuations};
use crate::code::Code;
use crate::problem::{Place, Problem};
use crate::workflow::Workflow;

/// As many cycles as are reported at once.
const MOST_REPORTED: usize = 10;

/// Every cycle of the workflow that no loop bounds, as errors. None for a sound workflow.
pub fn unbounded_cycles(workflow: &Workflow) -> Vec<Problem> {
    let found = cycles_of(workflow, &LaneGraph::explore(workflow, &GuardValues::unknown()));
    if found.is_empty() {
        return Vec::new();
    }
    // With every value of settings and flags a free choice, a cycle may need two values of one name.
    let confirmed = valuations(workflow).map(|all| confirm_cycles(workflow, &all));
    confirmed.unwrap_or(found).iter().take(MOST_REPORTED).map(|cycle| report_cycle(workflow, cycle)).collect()
}

/// Every state in which the holder can report nothing that leads on, as errors. None for a sound workflow.
pub fn dead_ends(workflow: &Workflow) -> Vec<Problem> {
    let explore = |values: &GuardValues| -> Vec<DeadEnd> {
        let (explorer, graph) = LaneExplorer::explore(workflow, values);
        explorer.dead_ends(&graph.states)
    };
    let found = explore(&GuardValues::unknown());
    if found.is_empty() {
        return Vec::new();
    }
    let found = confirm_dead_ends(found, valuations(workflow).as_deref(), explore);
    found.iter().take(MOST_REPORTED).map(|dead| report_dead_end(workflow, dead)).collect()
}

/// The cycles that some choice of settings and flags allows, each once.
fn confirm_cycles(workflow: &Workflow, valuations: &[GuardValues]) -> Vec<RuleCycle> {
    let mut confirmed: Vec<RuleCycle> = Vec::new();
    for values in valuations {
        for cycle in cycles_of(workflow, &LaneGraph::explore(workflow, values)) {
            if !confirmed.iter().any(|known| known.is_part_of(&cycle)) {
                confirmed.push(cycle);
            }
        }
        if confirmed.len() >= MOST_REPORTED {
            break;
        }
    }
    confirmed
}

fn report_cycle(workflow: &Workflow, cycle: &RuleCycle) -> Problem {
    let message = format!("no loop bounds this cycle: {}", cycle.describe(workflow));
    let mut entries: Vec<(String, Place)> = Vec::new();
    for step in &cycle.steps {
        let rule = workflow.rule(step.rule);
        let id = rule.id.split(['/', '@']).next().unwrap_or_default();
        if !entries.iter().any(|(known, _)| known == id) {
            entries.push((id.to_owned(), rule.place.clone()));
        }
    }
    let listed: Vec<String> =
        entries.iter().map(|(id, place)| format!("`{id}` ({}:{})", place.file, place.line)).collect();
    let help = format!("add `loop: NAME` to one of {}, and declare the loop with its limit", listed.join(", "));
    let problem = Problem::new(Code::UnboundedCycle, message).help(help);
    // Built-ins are sound, so an entry of the file itself closes the cycle.
    let own = entries.iter().rev().find(|(_, place)| !is_shipped(place)).or(entries.last());
    match own {
        Some((_, place)) => problem.at(place.clone()),
        None => problem,
    }
}

fn is_shipped(place: &Place) -> bool {
    crate::workflow::BUILTINS.iter().any(|builtin| *place.file == *builtin.file) || &*place.file == "prelude"
}
