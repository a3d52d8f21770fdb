//! The statuses that the holder of an assignment may report now, and the fields that each such handoff needs.

use crate::command::DecisionInputs;
use crate::decide::DecisionContext;
use crate::decide::choose::can_rule_hold;
use crate::decide::draft::apply_overrides;
use crate::decide::findings_ledger::MeasureObligation;
use crate::decide::needs::{is_excused, must_keep_role, needs_of};
use crate::decide::report::{MADE_HERE, find_measure_obligations};
use crate::decide::rule_context::{RuleContext, applies, test_holds};
use crate::id::{Name, Timestamp};
use crate::state::{Assignment, Group, State};
use crate::workflow::*;

/// A status that could be accepted now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AcceptedStatus {
    pub status: Name,
    /// It says that the holder cannot go on.
    pub blocked: bool,
    /// Every field and claim that some way on asks for.
    pub demands: HandoffDemands,
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
    /// The outcome from this assignment, unless a limit is reached.
    pub leads_to: Option<String>,
    /// It completes, merges or defers the group.
    pub settles_group: bool,
    /// For a blocked status: the reasons that this role has a way for.
    pub reasons: Vec<Name>,
    /// It goes back to a role that waits for help, and none waits now.
    pub lacks_waiting_role: bool,
    /// It states that nothing has to change, so it is refused while the group changes files.
    pub needs_empty_diff: bool,
    /// The phase that the work goes back to while this measure is not zero.
    pub rework: Option<(LoopMeasure, Name)>,
    /// An override replaces the role that the workflow names for it, so its meaning may promise the wrong role.
    pub replaced: Option<ReplacedRole>,
    /// The holder was asked to accept that nothing has to change, and this accepts it.
    pub accepts_nothing_to_do: bool,
    /// It defers the group.
    pub defers: bool,
}

/// Another role gets the work than the one that the workflow names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplacedRole {
    pub instead_of: Name,
    pub takes: Name,
    pub because: Option<Name>,
}

/// The outcome of one value of a declared fact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FactOutcome {
    pub fact: Name,
    pub value: Name,
    /// `project_manager decides`, `back to qa_expert`.
    pub leads_to: String,
    /// The value that counts where the handoff does not have the field.
    pub is_default: bool,
    /// Fields of the handoff that are passed on with this value, and not with the others.
    pub fields: Vec<Name>,
}

/// The statuses that the holder of an assignment may report now, always in the same order.
pub fn list_accepted_statuses(workflow: &Workflow, state: &State, assignment: &Assignment) -> Vec<AcceptedStatus> {
    let cx = DecisionContext {
        workflow,
        state,
        inputs: &DecisionInputs { now: Timestamp(0) },
        tree: None,
        feature_directory: None,
    };
    let Ok(situation) = RuleContext::of_assignment(&cx, assignment, None, None) else { return Vec::new() };
    let Some(role) = situation.reporter else { return Vec::new() };
    let own = workflow.by_report.range((role, StatusIx(0))..=(role, StatusIx(u16::MAX)));
    let mut ways: Vec<(AcceptedStatus, Option<&Rule>)> = own
        .filter(|((_, status), _)| !workflow.is_loss(*status))
        .filter_map(|((_, status), rules)| offer(&situation, *status, rules))
        .collect();
    prefer_fitting_status(&situation, &mut ways);
    let mut offers: Vec<AcceptedStatus> = ways.into_iter().map(|(offer, _)| offer).collect();
    let helps = assignment.task == AssignmentTask::Consult;
    // The role that plans the session decides about one group here: first what ends its part in it.
    let manages = assignment.group.is_some() && offers.iter().any(|offer| offer.plans);
    let unchanged = offers.iter().any(|offer| offer.accepts_nothing_to_do);
    let rank = |offer: &AcceptedStatus| match (manages, offer.settles_group, offer.plans) {
        (false, _, _) => (!(helps && offer.returns), !offer.usual),
        // The question is whether nothing has to change: deferring answers another one.
        (true, true, _) if unchanged && offer.defers => (true, true),
        (true, true, _) => (false, false),
        (true, false, true) => (false, true),
        (true, false, false) => (true, true),
    };
    offers.sort_by_key(|offer| (offer.blocked, rank(offer)));
    offers
}

/// Where an override replaces the role that the usual status leads to, a status that leads to the other role by itself, with
/// the same demands, is the usual one.
fn prefer_fitting_status(situation: &RuleContext<'_>, ways: &mut [(AcceptedStatus, Option<&Rule>)]) {
    let Some(usual) = ways.iter().position(|(offer, _)| offer.usual && offer.replaced.is_some()) else { return };
    let Some((offer, Some(rule))) = ways.get(usual) else { return };
    let Some(takes) = offer.replaced.as_ref().map(|replaced| replaced.takes.clone()) else { return };
    let demands = (offer.demands.clone(), rule.demands.clone());
    let passed_on = rule.with.clone();
    let fits = |(offer, rule): &(AcceptedStatus, Option<&Rule>)| {
        let Some(rule) = rule.filter(|_| !offer.blocked && offer.replaced.is_none()) else { return false };
        let RuleVerb::Spawn(target) = rule.verb else { return false };
        let role = situation.resolve(target).map(|ix| &situation.workflow().role(ix).name);
        role == Some(&takes) && (&offer.demands, &rule.demands) == (&demands.0, &demands.1)
    };
    let shared = |rule: Option<&Rule>| {
        rule.map_or(0, |rule| rule.with.iter().filter(|field| passed_on.contains(*field)).count())
    };
    let fitting = ways.iter().enumerate().rev().filter(|(_, way)| fits(way)).max_by_key(|(_, (_, rule))| shared(*rule));
    let Some(fitting) = fitting.map(|(index, _)| index) else { return };
    for (index, (offer, _)) in ways.iter_mut().enumerate() {
        offer.usual = index == fitting;
    }
}

/// The role that an override replaces on this way.
fn replaced_role(situation: &RuleContext<'_>, rule: &Rule) -> Option<ReplacedRole> {
    let (RuleVerb::Spawn(target) | RuleVerb::Respawn(target) | RuleVerb::Consult(target)) = rule.verb else {
        return None;
    };
    let named = situation.resolve(target)?;
    let mut because = None;
    let (cx, group) = (&situation.cx, situation.group);
    let takes = override_role(cx, group, named, |item| because = Some(item.because.clone()));
    let name = |ix| situation.workflow().role(ix).name.clone();
    (takes != named).then(|| ReplacedRole { instead_of: name(named), takes: name(takes), because })
}

fn offer<'r>(
    situation: &RuleContext<'r>,
    status: StatusIx,
    candidates: &[RuleIx],
) -> Option<(AcceptedStatus, Option<&'r Rule>)> {
    let workflow = situation.workflow();
    let rules: Vec<&Rule> =
        candidates.iter().map(|ix| workflow.rule(*ix)).filter(|rule| can_rule_hold(situation, rule)).collect();
    if rules.is_empty() {
        return None;
    }
    let blocked = workflow.blocked.as_ref().filter(|blocked| blocked.status == status);
    let bearings = find_measure_obligations(situation, candidates);
    let phase = situation.phase.map(|phase| workflow.phase(phase)).filter(|_| situation.task == AssignmentTask::Work);
    let plans_here = phase.is_some_and(|phase| phase.plans) && rules.iter().any(|rule| rule.leaves);
    let note = situation.reporter.and_then(|role| workflow.status_note(role, status));
    let likely = likely_rule(situation, &rules, None);
    let settles = |rule: &&Rule| matches!(rule.verb, RuleVerb::Merge | RuleVerb::Complete | RuleVerb::Defer);
    let unchanged = situation.group.is_some_and(|group| group.nothing_to_do.is_some());
    let accepts = |rule: &&Rule| matches!(rule.verb, RuleVerb::Merge | RuleVerb::Complete) && !rule.passes.is_empty();
    let offer = AcceptedStatus {
        status: workflow.status_name(status).clone(),
        blocked: blocked.is_some(),
        demands: demands(situation, &rules, blocked),
        findings: bearings.findings != MeasureObligation::None,
        tests: bearings.tests != MeasureObligation::None,
        plans: plans_here || rules.iter().any(|rule| rule.verb == RuleVerb::Start),
        asks: blocked.is_none() && rules.iter().all(|rule| asks(workflow, rule)),
        ends: rules.iter().any(|rule| matches!(rule.verb, RuleVerb::Validate(_))),
        without_groups: rules.iter().any(|rule| rule.without_groups),
        facts: fact_outcomes(situation, &rules),
        hands_on: hands_on(&rules),
        means: note.map(|note| note.means.clone()),
        usual: note.is_some_and(|note| note.usual),
        returns: rules.iter().any(|rule| rule.verb == RuleVerb::Return),
        reaches_person: rules.iter().any(|rule| asks(workflow, rule)),
        leads_to: likely.map(|rule| rule_outcome(situation, rule)),
        settles_group: rules.iter().any(settles),
        reasons: blocked.map(|blocked| reasons(blocked, &rules)).unwrap_or_default(),
        lacks_waiting_role: lacks_waiting_role(situation, candidates, &rules),
        needs_empty_diff: rules.iter().all(|rule| rule.demands.changes == ChangesDemand::Nothing),
        rework: rework(workflow, &rules),
        replaced: likely.and_then(|rule| replaced_role(situation, rule)),
        accepts_nothing_to_do: unchanged && likely.as_ref().is_some_and(accepts),
        defers: rules.iter().any(|rule| rule.verb == RuleVerb::Defer),
    };
    Some((offer, likely))
}

/// Rules that return help of another task, such as those behind `complete` of a phase, say nothing of this one.
fn lacks_waiting_role(situation: &RuleContext<'_>, candidates: &[RuleIx], possible: &[&Rule]) -> bool {
    let of_other_task =
        |condition: &RuleCondition| matches!(condition, RuleCondition::Task(task) if *task != situation.task);
    let returns = |rule: &Rule| rule.verb == RuleVerb::Return && !rule.conditions.iter().any(of_other_task);
    let mut rules = candidates.iter().map(|ix| situation.workflow().rule(*ix));
    rules.any(returns) && !possible.iter().any(|rule| returns(rule))
}

fn demands(situation: &RuleContext<'_>, rules: &[&Rule], blocked: Option<&BlockedStatus>) -> HandoffDemands {
    let workflow = situation.workflow();
    let left =
        situation.phase.filter(|_| situation.task != AssignmentTask::Consult && rules.iter().any(|rule| rule.leaves));
    let mut all = vec![&workflow.handoff.demands];
    all.extend(blocked.map(|blocked| &blocked.demands));
    all.extend(rules.iter().map(|rule| &rule.demands));
    all.extend(left.map(|phase| &workflow.phase(phase).demands));
    let mut demands = HandoffDemands::default();
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
    matches!(rule.verb, RuleVerb::Ask(ix) if workflow.question(ix).free.is_some())
}

fn hands_on(rules: &[&Rule]) -> Vec<Name> {
    let mut fields = Vec::new();
    rules.iter().for_each(|rule| add(&mut fields, &rule.with));
    fields.retain(|field| !MADE_HERE.contains(&field.as_str()));
    fields
}

/// The facts that `when` reads straight from the handoff, with the outcome of each value.
fn fact_outcomes(situation: &RuleContext<'_>, rules: &[&Rule]) -> Vec<FactOutcome> {
    let workflow = situation.workflow();
    let mut guards: Vec<GuardIx> = Vec::new();
    for condition in rules.iter().flat_map(|rule| &rule.conditions) {
        let RuleCondition::When(test) = condition else { continue };
        let guard = workflow.guard(test.guard);
        if guard.source == GuardSource::Fact && guard.expression.is_none() && !guards.contains(&test.guard) {
            guards.push(test.guard);
        }
    }
    let mut outcomes = Vec::new();
    for ix in guards {
        let values = workflow.guard(ix).values.iter().enumerate();
        let ways: Vec<(usize, &Name, &Rule)> = values
            .filter_map(|(index, value)| Some((index, value, likely_rule(situation, rules, Some((ix, index)))?)))
            .collect();
        for (index, value, rule) in &ways {
            let others = ways.iter().filter(|(other, _, _)| other != index);
            let is_own = |field: &&Name| others.clone().all(|(_, _, other)| !other.with.contains(field));
            outcomes.push(FactOutcome {
                fact: workflow.guard(ix).name.clone(),
                value: (*value).clone(),
                leads_to: rule_outcome(situation, rule),
                is_default: *index == 0,
                fields: rule.with.iter().filter(is_own).cloned().collect(),
            });
        }
    }
    outcomes
}

/// The rule that decides while no limit is reached and nothing is open. A fact has this value, the others their default.
fn likely_rule<'r>(
    situation: &RuleContext<'_>,
    rules: &[&'r Rule],
    fact: Option<(GuardIx, usize)>,
) -> Option<&'r Rule> {
    let allows = |rule: &Rule, condition: &RuleCondition| match condition {
        RuleCondition::When(test) => match fact {
            Some((guard, value)) if test.guard == guard => test_holds(*test, value),
            Some(_) | None => situation.holds(*test),
        },
        RuleCondition::Lacks(need) => situation.lacks_need(*need, rule),
        RuleCondition::ApprovedAlready => situation.approved_already(rule),
        RuleCondition::NothingToDo => situation.awaits_acceptance(rule),
        RuleCondition::Limit
        | RuleCondition::Open(_)
        | RuleCondition::Settled
        | RuleCondition::RaisedAgain
        | RuleCondition::Completes => false,
        // These hold: the rule would not be possible here otherwise.
        RuleCondition::InGroup
        | RuleCondition::InSession
        | RuleCondition::HasAuthor
        | RuleCondition::Free(_)
        | RuleCondition::SomebodyWaits
        | RuleCondition::Outstanding
        | RuleCondition::Reached(_)
        | RuleCondition::Undelivered
        | RuleCondition::Task(_) => true,
    };
    rules.iter().copied().find(|rule| rule.conditions.iter().all(|condition| allows(rule, condition)))
}

/// Reasons that have a row of the table for this role. Where none has one, all of them.
fn reasons(blocked: &BlockedStatus, rules: &[&Rule]) -> Vec<Name> {
    let routes = |reason: &&Name| rules.iter().any(|rule| rule.reason.as_ref() == Some(*reason));
    let own: Vec<Name> = blocked.reasons.iter().filter(routes).cloned().collect();
    if own.is_empty() { blocked.reasons.clone() } else { own }
}

fn rework(workflow: &Workflow, rules: &[&Rule]) -> Option<(LoopMeasure, Name)> {
    rules.iter().find_map(|rule| {
        let RuleVerb::Rework(phase) = rule.verb else { return None };
        let measure = workflow.loop_at(rule.counted?).measure?;
        Some((measure, workflow.phase(phase).name.clone()))
    })
}

/// The role that works where a decision on this group arrives at the named one.
pub fn role_after_overrides(workflow: &Workflow, state: &State, group: Option<&Group>, role: &str) -> Option<Name> {
    let cx = DecisionContext {
        workflow,
        state,
        inputs: &DecisionInputs { now: Timestamp(0) },
        tree: None,
        feature_directory: None,
    };
    let role = workflow.role_named(role)?;
    Some(workflow.role(overridden_role(&cx, group, role)).name.clone())
}

fn overridden_role(cx: &DecisionContext<'_>, group: Option<&Group>, role: RoleIx) -> RoleIx {
    override_role(cx, group, role, |_| {})
}

fn override_role(
    cx: &DecisionContext<'_>,
    group: Option<&Group>,
    role: RoleIx,
    applied: impl FnMut(&RoleOverride),
) -> RoleIx {
    let keeps = |role, instead| must_keep_role(cx, group, role, instead);
    apply_overrides(cx.workflow, role, |when| applies(cx, group, when), keeps, applied)
}

/// Evidence that completion needs, and that a group neither has nor is excused from.
pub fn missing_evidence(workflow: &Workflow, state: &State, group: &Group) -> Vec<String> {
    let cx = DecisionContext {
        workflow,
        state,
        inputs: &DecisionInputs { now: Timestamp(0) },
        tree: None,
        feature_directory: None,
    };
    let name = |ix: &PassIx| workflow.pass(*ix).name.clone();
    let has = |ix: &PassIx| group.passed.contains(&name(ix)) || is_excused(group, &name(ix));
    let missing = needs_of(&cx, group).filter(|(_, need)| !need.options.iter().any(has));
    missing.map(|(_, need)| need.options.iter().map(name).collect::<Vec<_>>().join(" or ")).collect()
}

/// Where a rule leads, in a few words.
fn rule_outcome(situation: &RuleContext<'_>, rule: &Rule) -> String {
    let workflow = situation.workflow();
    let role = |target: RoleTarget| {
        let resolved = situation.resolve(target).map(|ix| overridden_role(&situation.cx, situation.group, ix));
        resolved.map_or_else(|| "the author".to_owned(), |ix| workflow.role(ix).name.to_string())
    };
    let place = match rule.verb {
        RuleVerb::Spawn(target) | RuleVerb::Respawn(target) => format!("{} is next", role(target)),
        RuleVerb::Consult(target) => format!("{} is asked for help", role(target)),
        RuleVerb::Return => format!("back to {}", role(RoleTarget::Waiting)),
        RuleVerb::Escalate(target) => format!("escalates from {}", role(target)),
        RuleVerb::Merge => "the work is merged".to_owned(),
        RuleVerb::Goto(phase) | RuleVerb::Rework(phase) => format!("back to phase {}", workflow.phase(phase).name),
        RuleVerb::Start => match situation.group {
            None => "the groups start".to_owned(),
            Some(_) if !situation.waiting().is_empty() => format!("back to {}", role(RoleTarget::Waiting)),
            Some(_) if situation.author().is_some() => format!("back to {}", role(RoleTarget::Author)),
            Some(_) => "the group starts".to_owned(),
        },
        RuleVerb::Ask(_) => "a person is asked".to_owned(),
        RuleVerb::Complete => "the group completes".to_owned(),
        RuleVerb::Defer => "the group is deferred".to_owned(),
        RuleVerb::Validate(_) => "the validator judges the session".to_owned(),
        RuleVerb::End => "the session ends".to_owned(),
        RuleVerb::CancelGroup => "the group is cancelled".to_owned(),
        RuleVerb::CancelSession => "the session is cancelled".to_owned(),
        RuleVerb::Redo => "the work is done again".to_owned(),
        RuleVerb::Acknowledge => "deferred groups are acknowledged".to_owned(),
        RuleVerb::Join => "waits for the other phases".to_owned(),
        RuleVerb::Leave => "the phase is done".to_owned(),
    };
    match &rule.because {
        Some(because) => format!("{place} ({because})"),
        None => place,
    }
}
