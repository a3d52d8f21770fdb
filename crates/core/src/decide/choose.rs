//! The first rule that matches.

use crate::decide::draft;
use crate::decide::facts::{AUTHOR, BLOCKED_AGENT, DOMAIN, Facts, OUTSTANDING, REASON, record};
use crate::decide::needs::must_keep_role;
use crate::decide::situation::{Passage, Situation, applies};
use crate::decision::FactValue;
use crate::workflow::*;

/// The rule that decides, and what was found out on the way to it.
pub(crate) struct Chosen<'a> {
    pub(crate) rule: &'a Rule,
    /// The passage through the rule's loop.
    pub(crate) passage: Option<Passage<'a>>,
    pub(crate) facts: Facts,
}

pub(crate) fn choose<'a>(situation: &Situation<'a>, candidates: &[RuleIx]) -> Option<Chosen<'a>> {
    let workflow = situation.workflow();
    let mut facts = Vec::new();
    for ix in candidates {
        let rule = workflow.rule(*ix);
        if matches(situation, rule, &mut facts) {
            let passage = rule.counted.and_then(|counted| passage_of(situation, rule, counted));
            if let (Some(passage), Some(counted)) = (passage, rule.counted) {
                let names = &workflow.loop_at(counted).facts;
                record(&mut facts, &names.iteration, FactValue::Number(passage.iteration));
                record(&mut facts, &names.no_progress, FactValue::Number(passage.no_progress));
            }
            read_by(situation, rule, &mut facts);
            return Some(Chosen { rule, passage, facts });
        }
    }
    None
}

/// What the rule itself hangs on: the row and column of the blocked table, and the roles that its verb means.
fn read_by(situation: &Situation<'_>, rule: &Rule, facts: &mut Facts) {
    let workflow = situation.workflow();
    if rule.blocks {
        if let Some(reason) = situation.reason {
            record(facts, &REASON, FactValue::Text(reason.clone()));
        }
        let domain = situation.reporter.and_then(|role| workflow.role(role).domain);
        if let Some(domain) = domain.and_then(|ix| workflow.domains.get(ix.index())) {
            record(facts, &DOMAIN, FactValue::Text(domain.name.clone()));
        }
    }
    let target = aim(rule.verb);
    let name = match target {
        Target::Author => &AUTHOR,
        Target::Waiting => &BLOCKED_AGENT,
        Target::Role(_) | Target::Reporter | Target::Phase(_) => return,
    };
    if let Some(role) = situation.resolve(target) {
        record(facts, name, FactValue::Text(workflow.role(role).name.clone()));
    }
}

/// Statuses that this situation would accept, for a refusal that helps.
pub(crate) fn accepted(situation: &Situation<'_>) -> Vec<String> {
    let workflow = situation.workflow();
    let Some(role) = situation.reporter else { return Vec::new() };
    workflow
        .by_report
        .range((role, StatusIx(0))..=(role, StatusIx(u16::MAX)))
        .filter(|((_, status), rules)| {
            !workflow.is_loss(*status) && rules.iter().any(|ix| possible(situation, workflow.rule(*ix)))
        })
        .map(|((_, status), _)| workflow.status_name(*status).to_string())
        .collect()
}

/// Could this rule hold with some handoff?
pub(crate) fn possible(situation: &Situation<'_>, rule: &Rule) -> bool {
    if !rule.speaks_of(situation.task) || rule.phase.is_some_and(|phase| situation.phase != Some(phase)) {
        return false;
    }
    rule.conditions.iter().all(|condition| match condition {
        Condition::When(test) => {
            situation.workflow().guard(test.guard).source == GuardSource::Fact || situation.holds(*test)
        }
        Condition::Limit
        | Condition::Open(_)
        | Condition::Settled
        | Condition::RaisedAgain
        | Condition::Completes
        | Condition::Lacks(_)
        | Condition::ApprovedAlready
        | Condition::NothingToDo => true,
        Condition::InGroup
        | Condition::InSession
        | Condition::HasAuthor
        | Condition::Free(_)
        | Condition::SomebodyWaits
        | Condition::Outstanding
        | Condition::Reached(_)
        | Condition::Undelivered
        | Condition::Task(_) => holds(situation, rule, condition, &mut Vec::new()),
    })
}

fn matches(situation: &Situation<'_>, rule: &Rule, facts: &mut Facts) -> bool {
    let fits = rule.speaks_of(situation.task)
        && rule.phase.is_none_or(|phase| situation.phase == Some(phase))
        && rule.reason.as_ref().is_none_or(|reason| situation.reason == Some(reason));
    fits && rule.conditions.iter().all(|condition| holds(situation, rule, condition, facts))
}

fn holds(situation: &Situation<'_>, rule: &Rule, condition: &Condition, facts: &mut Facts) -> bool {
    match condition {
        Condition::When(test) => {
            let guard = situation.workflow().guard(test.guard);
            let value = situation.value(test.guard);
            if let Some(text) = guard.values.get(value) {
                record(facts, &guard.name, FactValue::Text(text.clone()));
            }
            situation.holds(*test)
        }
        Condition::InGroup => situation.group.is_some(),
        Condition::InSession => situation.group.is_none(),
        Condition::HasAuthor => situation.author().is_some(),
        Condition::Free(target) => is_free(situation, *target),
        Condition::SomebodyWaits => !situation.waiting().is_empty(),
        Condition::Limit => {
            let Some(ix) = rule.counted else { return false };
            let limit = situation.workflow().loop_at(ix).limit;
            passage_of(situation, rule, ix).is_some_and(|passage| reached(limit, passage))
        }
        Condition::Open(ix) => {
            let open = situation.open(*ix);
            record(facts, &situation.workflow().loop_at(*ix).facts.open, FactValue::Number(open));
            open > 0
        }
        Condition::Outstanding => {
            let outstanding = situation.outstanding();
            record(facts, &OUTSTANDING, FactValue::Flag(outstanding));
            outstanding
        }
        Condition::Reached(phase) => {
            let stage = situation.workflow().phase(*phase).stage;
            situation.lane.stage.is_some_and(|now| usize::from(now) >= stage)
        }
        Condition::Task(task) => situation.task == *task,
        Condition::Settled => settled(situation),
        Condition::RaisedAgain => situation.ledger.raised_again,
        Condition::Completes => situation.completes(rule),
        Condition::Lacks(need) => situation.lacks(*need, rule),
        Condition::ApprovedAlready => situation.approved_already(rule),
        Condition::Undelivered => situation.group.is_some_and(|group| !group.delivered),
        Condition::NothingToDo => situation.awaits_acceptance(rule),
    }
}

/// Findings of other reviewers send the work back anyway; those of one who is still to report say nothing yet.
fn settled(situation: &Situation<'_>) -> bool {
    let ledger = &situation.ledger;
    ledger.settled && (ledger.open(Measure::BlockingFindings) == 0 || situation.outstanding())
}

pub(crate) fn reached(limit: Limits, passage: Passage<'_>) -> bool {
    passage.iteration >= limit.iteration || limit.no_progress.is_some_and(|count| passage.no_progress >= count)
}

fn is_free(situation: &Situation<'_>, target: Target) -> bool {
    let Some(role) = situation.resolve(target) else { return false };
    free_role(situation, overridden(situation, role))
}

/// Neither the reporter nor somebody who waits.
pub(crate) fn free_role(situation: &Situation<'_>, role: RoleIx) -> bool {
    let name = &situation.workflow().role(role).name;
    Some(role) != situation.reporter && situation.waiting().iter().all(|seat| seat.role != *name)
}

/// Passages are counted by loop and target role before overrides; where no role is concerned, by the gate or question.
fn passage_of<'a>(situation: &Situation<'a>, rule: &Rule, counted: LoopIx) -> Option<Passage<'a>> {
    let workflow = situation.workflow();
    let name = match (situation.resolve(aim(rule.verb)).or(situation.reporter), &rule.source) {
        (Some(role), _) => &workflow.role(role).name,
        (None, Source::Gate(gate)) => &workflow.gate(*gate).name,
        (None, Source::Question(question)) => &workflow.question(*question).name,
        (None, Source::Roles { .. }) => return None,
    };
    Some(situation.passage(counted, name))
}

/// Who a verb is aimed at.
pub(crate) fn aim(verb: Verb) -> Target {
    match verb {
        Verb::Spawn(target) | Verb::Respawn(target) | Verb::Consult(target) | Verb::Escalate(target) => target,
        Verb::Return => Target::Waiting,
        Verb::Merge => Target::Author,
        Verb::Goto(phase) | Verb::Rework(phase) => Target::Phase(phase),
        Verb::Start
        | Verb::Ask(_)
        | Verb::Complete
        | Verb::Defer
        | Verb::Validate(_)
        | Verb::End
        | Verb::CancelGroup
        | Verb::CancelSession
        | Verb::Redo
        | Verb::Acknowledge
        | Verb::Join
        | Verb::Leave => Target::Reporter,
    }
}

/// Who would get it, after the overrides.
pub(crate) fn overridden(situation: &Situation<'_>, role: RoleIx) -> RoleIx {
    let holds = |when: &[Test]| applies(&situation.cx, situation.group, when);
    let keeps = |role, instead| must_keep_role(&situation.cx, situation.group, role, instead);
    draft::overridden(situation.workflow(), role, holds, keeps, |_| ())
}
