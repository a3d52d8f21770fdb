//! What the holder of an assignment may report now, and what each such handoff has to bring.

use crate::command::Inputs;
use crate::decide::Cx;
use crate::decide::choose::possible;
use crate::decide::ledger::Bearing;
use crate::decide::report::{MADE_HERE, bearings};
use crate::decide::situation::{Situation, test_holds};
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
    /// It may end a session that has no groups.
    pub without_groups: bool,
    /// Declared facts that its handoff gives as fields, and what each of their values leads to.
    pub facts: Vec<FactOutcome>,
    /// Fields of its handoff that some way on hands over.
    pub hands_on: Vec<Name>,
    /// When to report it, in the workflow's words.
    pub means: Option<Name>,
    /// The status of work that went well.
    pub usual: bool,
    /// The role that waits for help goes on.
    pub returns: bool,
    /// It may end in a question to a person, who can choose from options of the handoff.
    pub reaches_person: bool,
}

/// What a value of a declared fact leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FactOutcome {
    pub fact: Name,
    pub value: Name,
    /// `project_manager decides`, `back to qa_expert`.
    pub leads_to: String,
    /// The value that counts where the handoff does not have the field.
    pub is_default: bool,
}

/// The statuses that the holder of an assignment may report now, always in the same order.
pub fn offers(workflow: &Workflow, state: &State, assignment: &Assignment) -> Vec<Offer> {
    let cx = Cx { workflow, state, inputs: &Inputs { now: Timestamp(0) }, tree: None };
    let Ok(situation) = Situation::of_assignment(&cx, assignment, None, None) else { return Vec::new() };
    let Some(role) = situation.reporter else { return Vec::new() };
    let own = workflow.by_report.range((role, StatusIx(0))..=(role, StatusIx(u16::MAX)));
    let mut offers: Vec<Offer> = own
        .filter(|((_, status), _)| !workflow.is_loss(*status))
        .filter_map(|((_, status), rules)| offer(&situation, *status, rules))
        .collect();
    let helps = assignment.task == Task::Consult;
    offers.sort_by_key(|offer| (offer.blocked, !(helps && offer.returns), !offer.usual));
    offers
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
    let note = situation.reporter.and_then(|role| workflow.status_note(role, status));
    Some(Offer {
        status: workflow.status_name(status).clone(),
        blocked: blocked.is_some(),
        demands: demands(situation, &rules, blocked),
        findings: bearings.findings != Bearing::None,
        tests: bearings.tests != Bearing::None,
        plans: plans_here || rules.iter().any(|rule| rule.verb == Verb::Start),
        asks: blocked.is_none() && rules.iter().all(|rule| asks(workflow, rule)),
        ends: rules.iter().any(|rule| matches!(rule.verb, Verb::Validate(_))),
        without_groups: rules.iter().any(|rule| rule.without_groups),
        facts: fact_outcomes(situation, &rules),
        hands_on: hands_on(&rules),
        means: note.map(|note| note.means.clone()),
        usual: note.is_some_and(|note| note.usual),
        returns: rules.iter().any(|rule| rule.verb == Verb::Return),
        reaches_person: rules.iter().any(|rule| asks(workflow, rule)),
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

/// What `when` reads straight from the handoff, and which way each value takes.
fn fact_outcomes(situation: &Situation<'_>, rules: &[&Rule]) -> Vec<FactOutcome> {
    let workflow = situation.workflow();
    let mut guards: Vec<GuardIx> = Vec::new();
    for condition in rules.iter().flat_map(|rule| &rule.conditions) {
        let Condition::When(test) = condition else { continue };
        let guard = workflow.guard(test.guard);
        if guard.source == GuardSource::Fact && guard.expression.is_none() && !guards.contains(&test.guard) {
            guards.push(test.guard);
        }
    }
    let mut outcomes = Vec::new();
    for ix in guards {
        for (index, value) in workflow.guard(ix).values.iter().enumerate() {
            let allows = |condition: &Condition| match condition {
                Condition::When(test) if test.guard == ix => test_holds(*test, index),
                // The way while no limit is reached, nothing is open and no evidence is missing.
                Condition::Limit
                | Condition::Open(_)
                | Condition::Settled
                | Condition::RaisedAgain
                | Condition::Lacks(_)
                | Condition::ApprovedAlready
                | Condition::Undelivered => false,
                Condition::When(_)
                | Condition::Completes
                | Condition::InGroup
                | Condition::InSession
                | Condition::HasAuthor
                | Condition::Free(_)
                | Condition::SomebodyWaits
                | Condition::Outstanding
                | Condition::Reached(_)
                | Condition::Task(_) => true,
            };
            let Some(rule) = rules.iter().find(|rule| rule.conditions.iter().all(allows)) else { continue };
            outcomes.push(FactOutcome {
                fact: workflow.guard(ix).name.clone(),
                value: value.clone(),
                leads_to: rule_outcome(situation, rule),
                is_default: index == 0,
            });
        }
    }
    outcomes
}

/// Where a rule leads, in a few words.
fn rule_outcome(situation: &Situation<'_>, rule: &Rule) -> String {
    let workflow = situation.workflow();
    let role = |target: Target| {
        situation.resolve(target).map_or_else(|| "the author".to_owned(), |ix| workflow.role(ix).name.to_string())
    };
    let place = match rule.verb {
        Verb::Spawn(target) | Verb::Respawn(target) => format!("{} is next", role(target)),
        Verb::Consult(target) => format!("{} is asked for help", role(target)),
        Verb::Return => format!("back to {}", role(Target::Waiting)),
        Verb::Escalate(target) => format!("escalates from {}", role(target)),
        Verb::Merge => "the work is merged".to_owned(),
        Verb::Goto(phase) | Verb::Rework(phase) => format!("back to phase {}", workflow.phase(phase).name),
        Verb::Start => "the groups start".to_owned(),
        Verb::Ask(_) => "a person is asked".to_owned(),
        Verb::Complete => "the group completes".to_owned(),
        Verb::Defer => "the group is deferred".to_owned(),
        Verb::Validate(_) => "the validator judges the session".to_owned(),
        Verb::End => "the session ends".to_owned(),
        Verb::CancelGroup => "the group is cancelled".to_owned(),
        Verb::CancelSession => "the session is cancelled".to_owned(),
        Verb::Redo => "the work is done again".to_owned(),
        Verb::Acknowledge => "deferred groups are acknowledged".to_owned(),
        Verb::Join => "waits for the other phases".to_owned(),
        Verb::Leave => "the phase is done".to_owned(),
    };
    match &rule.because {
        Some(because) => format!("{place} ({because})"),
        None => place,
    }
}
