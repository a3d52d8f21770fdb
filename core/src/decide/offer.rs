//! What the holder of an assignment may report now, and what each such handoff has to bring.

use crate::command::Inputs;
use crate::decide::Cx;
use crate::decide::choose::possible;
use crate::decide::ledger::Bearing;
use crate::decide::report::{MADE_HERE, bearings};
use crate::decide::situation::Situation;
use crate::id::{Name, Timestamp};
use crate::state::{Assignment, State};
use crate::workflow::*;

/// A status that could be accepted now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    pub status: Name,
    /// It says that the holder cannot go on.
    pub blocked: bool,
    /// Every field and claim that some way on asks for.
    pub demands: Demands,
    /// It says which findings are open.
    pub findings: bool,
    /// It says which tests fail.
    pub tests: bool,
    /// It brings groups.
    pub plans: bool,
    /// It puts a question to a person that takes free text.
    pub asks: bool,
    /// It asks for the end of the session, and may name groups for it.
    pub ends: bool,
    /// Declared facts that its handoff gives as fields.
    pub facts: Vec<Name>,
    /// Fields of its handoff that some way on hands over.
    pub hands_on: Vec<Name>,
}

/// The statuses that the holder of an assignment may report now, always in the same order.
pub fn offers(workflow: &Workflow, state: &State, assignment: &Assignment) -> Vec<Offer> {
    let cx = Cx { workflow, state, inputs: &Inputs { now: Timestamp(0) }, tree: None };
    let Ok(situation) = Situation::of_assignment(&cx, assignment, None, None) else { return Vec::new() };
    let Some(role) = situation.reporter else { return Vec::new() };
    let own = workflow.by_report.range((role, StatusIx(0))..=(role, StatusIx(u16::MAX)));
    own.filter(|((_, status), _)| !workflow.is_loss(*status))
        .filter_map(|((_, status), rules)| offer(&situation, *status, rules))
        .collect()
}

fn offer(situation: &Situation<'_>, status: StatusIx, candidates: &[RuleIx]) -> Option<Offer> {
    let workflow = situation.workflow();
    let rules: Vec<&Rule> =
        candidates.iter().map(|ix| workflow.rule(*ix)).filter(|rule| possible(situation, rule)).collect();
    if rules.is_empty() {
        return None;
    }
    let blocked = workflow.blocked.as_ref().filter(|blocked| blocked.status == status);
    let bearings = bearings(situation, candidates);
    let phase = situation.phase.map(|phase| workflow.phase(phase)).filter(|_| situation.task == Task::Work);
    let plans_here = phase.is_some_and(|phase| phase.plans) && rules.iter().any(|rule| rule.leaves);
    Some(Offer {
        status: workflow.status_name(status).clone(),
        blocked: blocked.is_some(),
        demands: demands(situation, &rules, blocked),
        findings: bearings.findings != Bearing::None,
        tests: bearings.tests != Bearing::None,
        plans: plans_here || rules.iter().any(|rule| rule.verb == Verb::Start),
        asks: blocked.is_none() && rules.iter().all(|rule| asks(workflow, rule)),
        ends: rules.iter().any(|rule| matches!(rule.verb, Verb::Validate(_))),
        facts: facts(workflow, &rules),
        hands_on: hands_on(&rules),
    })
}

fn demands(situation: &Situation<'_>, rules: &[&Rule], blocked: Option<&Blocked>) -> Demands {
    let workflow = situation.workflow();
    let left = situation.phase.filter(|_| situation.task != Task::Consult && rules.iter().any(|rule| rule.leaves));
    let mut all = vec![&workflow.handoff.demands];
    all.extend(blocked.map(|blocked| &blocked.demands));
    all.extend(rules.iter().map(|rule| &rule.demands));
    all.extend(left.map(|phase| &workflow.phase(phase).demands));
    let mut demands = Demands::default();
    for more in all {
        add(&mut demands.require, &more.require);
        add(&mut demands.verify, &more.verify);
    }
    demands
}

fn add(to: &mut Vec<Name>, names: &[Name]) {
    for name in names {
        if !to.contains(name) {
            to.push(name.clone());
        }
    }
}

fn asks(workflow: &Workflow, rule: &Rule) -> bool {
    matches!(rule.verb, Verb::Ask(ix) if workflow.question(ix).free.is_some())
}

fn hands_on(rules: &[&Rule]) -> Vec<Name> {
    let mut fields = Vec::new();
    rules.iter().for_each(|rule| add(&mut fields, &rule.with));
    fields.retain(|field| !MADE_HERE.contains(&field.as_str()));
    fields
}

/// What `when` reads straight from the handoff.
fn facts(workflow: &Workflow, rules: &[&Rule]) -> Vec<Name> {
    let mut facts = Vec::new();
    for condition in rules.iter().flat_map(|rule| &rule.conditions) {
        let Condition::When(test) = condition else { continue };
        let guard = workflow.guard(test.guard);
        if guard.source == GuardSource::Fact && guard.expression.is_none() {
            add(&mut facts, std::slice::from_ref(&guard.name));
        }
    }
    facts
}
