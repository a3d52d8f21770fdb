//! The first rule that matches.

use crate::decide::draft;
use crate::decide::facts::{AUTHOR, BLOCKED_AGENT, DOMAIN, OUTSTANDING, REASON, RecordedFacts, record_fact};
use crate::decide::needs::must_keep_role;
use crate::decide::rule_context::{LoopIteration, RuleContext, applies};
use crate::decision::FactValue;
use crate::workflow::*;

/// The rule that decides, and what was found out on the way to it.
pub(crate) struct ChosenRule<'a> {
    pub(crate) rule: &'a Rule,
    /// The iteration of the rule's loop.
    pub(crate) passage: Option<LoopIteration<'a>>,
    pub(crate) facts: RecordedFacts,
}

pub(crate) fn choose_rule<'a>(situation: &RuleContext<'a>, candidates: &[RuleIx]) -> Option<ChosenRule<'a>> {
    let workflow = situation.workflow();
    let mut facts = Vec::new();
    for ix in candidates {
        let rule = workflow.rule(*ix);
        if matches(situation, rule, &mut facts) {
            let passage = rule.counted.and_then(|counted| passage_of(situation, rule, counted));
            if let (Some(passage), Some(counted)) = (passage, rule.counted) {
                let names = &workflow.loop_at(counted).facts;
                record_fact(&mut facts, &names.iteration, FactValue::Number(passage.iteration));
                record_fact(&mut facts, &names.no_progress, FactValue::Number(passage.no_progress));
            }
            read_by(situation, rule, &mut facts);
            return Some(ChosenRule { rule, passage, facts });
        }
    }
    None
}

/// Records the facts that the choice of the rule depends on: the row and column of the blocked table, and the role that
/// its verb targets.
fn read_by(situation: &RuleContext<'_>, rule: &Rule, facts: &mut RecordedFacts) {
    let workflow = situation.workflow();
    if rule.blocks {
        if let Some(reason) = situation.reason {
            record_fact(facts, &REASON, FactValue::Text(reason.clone()));
        }
        let domain = situation.reporter.and_then(|role| workflow.role(role).domain);
        if let Some(domain) = domain.and_then(|ix| workflow.domains.get(ix.index())) {
            record_fact(facts, &DOMAIN, FactValue::Text(domain.name.clone()));
        }
    }
    let target = find_verb_target(rule.verb);
    let name = match target {
        RoleTarget::Author => &AUTHOR,
        RoleTarget::Waiting => &BLOCKED_AGENT,
        RoleTarget::Role(_) | RoleTarget::Reporter | RoleTarget::Phase(_) => return,
    };
    if let Some(role) = situation.resolve(target) {
        record_fact(facts, name, FactValue::Text(workflow.role(role).name.clone()));
    }
}

/// Statuses that this situation would accept, for a refusal that helps.
pub(crate) fn list_possible_statuses(situation: &RuleContext<'_>) -> Vec<String> {
    let workflow = situation.workflow();
    let Some(role) = situation.reporter else { return Vec::new() };
    workflow
        .by_report
        .range((role, StatusIx(0))..=(role, StatusIx(u16::MAX)))
        .filter(|((_, status), rules)| {
            !workflow.is_loss(*status) && rules.iter().any(|ix| can_rule_hold(situation, workflow.rule(*ix)))
        })
        .map(|((_, status), _)| workflow.status_name(*status).to_string())
        .collect()
}

/// Could this rule hold with some handoff?
pub(crate) fn can_rule_hold(situation: &RuleContext<'_>, rule: &Rule) -> bool {
    if !rule.speaks_of(situation.task) || rule.phase.is_some_and(|phase| situation.phase != Some(phase)) {
        return false;
    }
    rule.conditions.iter().all(|condition| match condition {
        RuleCondition::When(test) => {
            situation.workflow().guard(test.guard).source == GuardSource::Fact || situation.holds(*test)
        }
        RuleCondition::Limit
        | RuleCondition::Open(_)
        | RuleCondition::Settled
        | RuleCondition::RaisedAgain
        | RuleCondition::Completes
        | RuleCondition::Lacks(_)
        | RuleCondition::ApprovedAlready
        | RuleCondition::NothingToDo => true,
        RuleCondition::InGroup
        | RuleCondition::InSession
        | RuleCondition::HasAuthor
        | RuleCondition::Free(_)
        | RuleCondition::SomebodyWaits
        | RuleCondition::Outstanding
        | RuleCondition::Reached(_)
        | RuleCondition::Undelivered
        | RuleCondition::Task(_) => holds(situation, rule, condition, &mut Vec::new()),
    })
}

fn matches(situation: &RuleContext<'_>, rule: &Rule, facts: &mut RecordedFacts) -> bool {
    let fits = rule.speaks_of(situation.task)
        && rule.phase.is_none_or(|phase| situation.phase == Some(phase))
        && rule.reason.as_ref().is_none_or(|reason| situation.reason == Some(reason));
    fits && rule.conditions.iter().all(|condition| holds(situation, rule, condition, facts))
}

fn holds(situation: &RuleContext<'_>, rule: &Rule, condition: &RuleCondition, facts: &mut RecordedFacts) -> bool {
    match condition {
        RuleCondition::When(test) => {
            let guard = situation.workflow().guard(test.guard);
            let value = situation.value(test.guard);
            if let Some(text) = guard.values.get(value) {
                record_fact(facts, &guard.name, FactValue::Text(text.clone()));
            }
            situation.holds(*test)
        }
        RuleCondition::InGroup => situation.group.is_some(),
        RuleCondition::InSession => situation.group.is_none(),
        RuleCondition::HasAuthor => situation.author().is_some(),
        RuleCondition::Free(target) => is_free(situation, *target),
        RuleCondition::SomebodyWaits => !situation.waiting().is_empty(),
        RuleCondition::Limit => {
            let Some(ix) = rule.counted else { return false };
            let limit = situation.workflow().loop_at(ix).limit;
            passage_of(situation, rule, ix).is_some_and(|passage| reaches_limit(limit, passage))
        }
        RuleCondition::Open(ix) => {
            let open = situation.open(*ix);
            record_fact(facts, &situation.workflow().loop_at(*ix).facts.open, FactValue::Number(open));
            open > 0
        }
        RuleCondition::Outstanding => {
            let outstanding = situation.outstanding();
            record_fact(facts, &OUTSTANDING, FactValue::Flag(outstanding));
            outstanding
        }
        RuleCondition::Reached(phase) => {
            let stage = situation.workflow().phase(*phase).stage;
            situation.lane.stage.is_some_and(|now| usize::from(now) >= stage)
        }
        RuleCondition::Task(task) => situation.task == *task,
        RuleCondition::Settled => settled(situation),
        RuleCondition::RaisedAgain => situation.ledger.raised_again,
        RuleCondition::Completes => situation.completes_group(rule),
        RuleCondition::Lacks(need) => situation.lacks_need(*need, rule),
        RuleCondition::ApprovedAlready => situation.approved_already(rule),
        RuleCondition::Undelivered => situation.group.is_some_and(|group| !group.delivered),
        RuleCondition::NothingToDo => situation.awaits_acceptance(rule),
    }
}

/// Findings of other reviewers send the work back anyway; those of one who is still to report say nothing yet.
fn settled(situation: &RuleContext<'_>) -> bool {
    let ledger = &situation.ledger;
    ledger.settled && (ledger.count_open(LoopMeasure::BlockingFindings) == 0 || situation.outstanding())
}

pub(crate) fn reaches_limit(limit: LoopLimits, passage: LoopIteration<'_>) -> bool {
    passage.iteration >= limit.iteration || limit.no_progress.is_some_and(|count| passage.no_progress >= count)
}

fn is_free(situation: &RuleContext<'_>, target: RoleTarget) -> bool {
    let Some(role) = situation.resolve(target) else { return false };
    free_role(situation, apply_role_override(situation, role))
}

/// The role is neither the reporter nor waiting for help.
pub(crate) fn free_role(situation: &RuleContext<'_>, role: RoleIx) -> bool {
    let name = &situation.workflow().role(role).name;
    Some(role) != situation.reporter && situation.waiting().iter().all(|seat| seat.role != *name)
}

/// Iterations are counted by loop and target role before overrides; where no role is concerned, by the gate or
/// question.
fn passage_of<'a>(situation: &RuleContext<'a>, rule: &Rule, counted: LoopIx) -> Option<LoopIteration<'a>> {
    let workflow = situation.workflow();
    let name = match (situation.resolve(find_verb_target(rule.verb)).or(situation.reporter), &rule.source) {
        (Some(role), _) => &workflow.role(role).name,
        (None, RuleSource::Gate(gate)) => &workflow.gate(*gate).name,
        (None, RuleSource::Question(question)) => &workflow.question(*question).name,
        (None, RuleSource::Roles { .. }) => return None,
    };
    Some(situation.passage(counted, name))
}

/// The role that a verb targets.
pub(crate) fn find_verb_target(verb: RuleVerb) -> RoleTarget {
    match verb {
        RuleVerb::Spawn(target)
        | RuleVerb::Respawn(target)
        | RuleVerb::Consult(target)
        | RuleVerb::Escalate(target) => target,
        RuleVerb::Return => RoleTarget::Waiting,
        RuleVerb::Merge => RoleTarget::Author,
        RuleVerb::Goto(phase) | RuleVerb::Rework(phase) => RoleTarget::Phase(phase),
        RuleVerb::Start
        | RuleVerb::Ask(_)
        | RuleVerb::Complete
        | RuleVerb::Defer
        | RuleVerb::Validate(_)
        | RuleVerb::End
        | RuleVerb::CancelGroup
        | RuleVerb::CancelSession
        | RuleVerb::Redo
        | RuleVerb::Acknowledge
        | RuleVerb::Join
        | RuleVerb::Leave => RoleTarget::Reporter,
    }
}

/// The role that gets the work after the overrides.
pub(crate) fn apply_role_override(situation: &RuleContext<'_>, role: RoleIx) -> RoleIx {
    let holds = |when: &[GuardTest]| applies(&situation.cx, situation.group, when);
    let keeps = |role, instead| must_keep_role(&situation.cx, situation.group, role, instead);
    draft::apply_overrides(situation.workflow(), role, holds, keeps, |_| ())
}
