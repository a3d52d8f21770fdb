//! Evidence that completion needs: whether a group has it, does without it, or must be asked for it.

use crate::code::Code;
use crate::decide::DecisionContext;
use crate::decide::apply_rule::{DecisionActor, sends_back};
use crate::decide::choose::can_rule_hold;
use crate::decide::draft::DecisionDraft;
use crate::decide::rule_context::{RuleContext, applies, guard_value, test_holds};
use crate::event::StateChange;
use crate::id::Name;
use crate::rejection::Rejection;
use crate::state::{Excuse, ExcuseKind, Group};
use crate::workflow::*;

/// Reasons are shown in lists, so they stay short.
const LONGEST_REASON: usize = 300;

/// The needs that apply to a group, each with its place in the list.
pub(crate) fn needs_of<'a>(
    cx: &DecisionContext<'a>,
    group: &'a Group,
) -> impl Iterator<Item = (usize, &'a EvidenceNeed)> {
    let cx = *cx;
    let needs = cx.workflow.completion.needs.iter().enumerate();
    needs.filter(move |(_, need)| applies(&cx, Some(group), &need.when))
}

/// Does this role pass one of the options?
pub(crate) fn passes_need(workflow: &Workflow, need: &EvidenceNeed, role: RoleIx) -> bool {
    need.options.iter().any(|ix| workflow.pass(*ix).roles.contains(role.index()))
}

/// An override may not put a role in the place of the only one that passes needed evidence. An author does not pass the
/// evidence of its own work.
pub(crate) fn must_keep_role(cx: &DecisionContext<'_>, group: Option<&Group>, role: RoleIx, instead: RoleIx) -> bool {
    let Some(group) = group.filter(|_| !cx.workflow.role(role).author) else { return false };
    needs_of(cx, group)
        .any(|(_, need)| passes_need(cx.workflow, need, role) && !passes_need(cx.workflow, need, instead))
}

impl RuleContext<'_> {
    /// The group has passed it on the tree of this report, and the report does not take that back.
    fn is_passed(&self, group: &Group, ix: PassIx, rule: Option<&Rule>) -> bool {
        let passed = !self.is_stale && group.passed.contains(&self.workflow().pass(ix).name);
        passed && !rule.is_some_and(|rule| self.withdraws(rule, ix))
    }

    /// No excuse covers a failure of the same tree.
    fn is_excused(&self, group: &Group, ix: PassIx, rule: Option<&Rule>) -> bool {
        let pass = self.workflow().pass(ix);
        let excused = !self.is_stale && is_excused(group, &pass.name);
        excused && !rule.is_some_and(|rule| self.reports_failure(rule, ix))
    }

    /// The role that passes it reports a failure of this tree: the work goes back, or tests are listed that fail.
    fn reports_failure(&self, rule: &Rule, ix: PassIx) -> bool {
        let pass = self.workflow().pass(ix);
        let own = self.reporter.is_some_and(|role| pass.roles.contains(role.index()));
        let reports = own && self.handoff.is_some() && self.task != AssignmentTask::Merge && !rule.passes.contains(&ix);
        reports && (sends_back(rule) || lists_failures(self, rule, pass))
    }

    /// The latest verdict of a role counts. A report that could have passed the evidence and passes nothing, such as one of
    /// a role that is blocked, leaves no pass of an earlier one in force.
    fn withdraws(&self, rule: &Rule, ix: PassIx) -> bool {
        let Some(role) = self.reporter.filter(|_| self.handoff.is_some()) else { return false };
        let workflow = self.workflow();
        let could_pass = || {
            let own = workflow.by_report.range((role, StatusIx(0))..=(role, StatusIx(u16::MAX)));
            let mut rules = own.flat_map(|(_, rules)| rules).map(|ix| workflow.rule(*ix));
            rules.any(|rule| rule.passes.contains(&ix) && can_rule_hold(self, rule))
        };
        let passes_nothing = self.task == AssignmentTask::Work && rule.passes.is_empty();
        self.reports_failure(rule, ix) || passes_nothing && could_pass()
    }

    /// Is the need met, with what the rule passes?
    fn meets(&self, group: &Group, need: &EvidenceNeed, rule: Option<&Rule>) -> bool {
        need.options.iter().any(|ix| {
            let name = &self.workflow().pass(*ix).name;
            let passes = rule.is_some_and(|rule| rule.passes.contains(ix));
            let here = match self.given {
                // A described group has passed the evidence unless the description states that it lacks it.
                Some(given) if need.asks.is_some() => given.passed.get(name) != Some(&false),
                Some(_) | None => self.is_passed(group, *ix, rule),
            };
            passes
                || here
                || self.is_excused(group, *ix, rule)
                || rule.is_some_and(|rule| self.excepts(group, rule, *ix))
        })
    }

    /// The role that passes it was blocked on this tree, and this rule approves the tree all the same.
    fn excepts(&self, group: &Group, rule: &Rule, ix: PassIx) -> bool {
        let workflow = self.workflow();
        let pass = workflow.pass(ix);
        let once_blocked = &workflow.completion.once_blocked;
        let approves = rule.passes.iter().any(|own| workflow.pass(*own).approves && !once_blocked.contains(own));
        let passer = |name: &Name| workflow.role_named(name).is_some_and(|role| pass.roles.contains(role.index()));
        let blocked = self.waiting().iter().any(|seat| seat.blocked && passer(&seat.role));
        approves && blocked && !pass.approves && !group.failed.contains(&pass.name) && !once_blocked.is_empty()
    }

    /// The need applies, and neither the group nor the rule has it.
    pub(crate) fn lacks_need(&self, index: u16, rule: &Rule) -> bool {
        let Some(group) = self.group else { return false };
        let mut needs = needs_of(&self.cx, group);
        needs.any(|(at, need)| at == usize::from(index) && !self.meets(group, need, Some(rule)))
    }

    /// With what the rule passes, nothing is missing but gates and confirmation.
    pub(crate) fn completes_group(&self, rule: &Rule) -> bool {
        let Some(group) = self.group else { return false };
        let mut needs = needs_of(&self.cx, group).peekable();
        let met = |need: &EvidenceNeed| {
            let has = |ix: &PassIx| {
                rule.passes.contains(ix)
                    || self.is_passed(group, *ix, Some(rule))
                    || self.is_excused(group, *ix, Some(rule))
                    || self.excepts(group, rule, *ix)
            };
            need.options.iter().any(has)
        };
        needs.peek().is_some() && needs.all(|(_, need)| met(need))
    }

    /// An approval of this tree is recorded, and with what the rule passes only the merge is missing.
    pub(crate) fn approved_already(&self, rule: &Rule) -> bool {
        let Some(group) = self.group else { return false };
        let passed = |ix: PassIx| match self.given {
            Some(given) => given.passed.get(&self.workflow().pass(ix).name) == Some(&true),
            None => self.is_passed(group, ix, Some(rule)),
        };
        let mut approvals = all_passes(self.workflow()).filter(|ix| self.workflow().pass(*ix).approves);
        let approved = approvals.any(passed);
        let mut asked = needs_of(&self.cx, group).filter(|(_, need)| need.asks.is_some());
        approved && asked.all(|(_, need)| self.meets(group, need, Some(rule)))
    }

    /// Its author states that nothing has to change, and no role that may accept that has done so, this rule included.
    pub(crate) fn awaits_acceptance(&self, rule: &Rule) -> bool {
        let Some(group) = self.group.filter(|group| group.nothing_to_do.is_some()) else { return false };
        let accepts = |ix: PassIx| rule.passes.contains(&ix) || self.is_passed(group, ix, Some(rule));
        !self.workflow().completion.accepting().any(accepts)
    }

    /// The role holds evidence that is missing now, and the one above it could not pass it.
    pub(crate) fn stands_alone(&self, role: RoleIx, above: RoleIx) -> bool {
        let Some(group) = self.group else { return false };
        let workflow = self.workflow();
        let alone = |need: &EvidenceNeed| passes_need(workflow, need, role) && !passes_need(workflow, need, above);
        needs_of(&self.cx, group).any(|(_, need)| !self.meets(group, need, None) && alone(need))
    }
}

fn all_passes(workflow: &Workflow) -> impl Iterator<Item = PassIx> {
    (0..workflow.passes.len()).map(PassIx::new)
}

/// The group does without this evidence, and it did not fail on this tree.
pub(crate) fn is_excused(group: &Group, name: &Name) -> bool {
    !group.failed.contains(name) && group.excused.iter().any(|excuse| excuse.evidence == *name)
}

/// The report names failing tests, and this evidence is about tests.
fn lists_failures(situation: &RuleContext<'_>, rule: &Rule, pass: &Pass) -> bool {
    let workflow = situation.workflow();
    let tests = situation.handoff.and_then(|handoff| handoff.failing_tests.as_ref());
    let about_tests = match pass.measured {
        Some(measure) => measure == LoopMeasure::FailingTests,
        None => !pass.approves,
    };
    let passed_by = |rule: &Rule| rule.passes.iter().any(|own| workflow.pass(*own).name == pass.name);
    // A merge is not undone by what a later report says of tests.
    let outside_merge = |rule: &Rule| rule.speaks_of(AssignmentTask::Work) || rule.speaks_of(AssignmentTask::Consult);
    let judged = || workflow.rules.iter().any(|rule| passed_by(rule) && outside_merge(rule));
    about_tests && !passed_by(rule) && judged() && tests.is_some_and(|tests| !tests.is_empty())
}

/// Nothing makes up for evidence that failed on this tree: not an approval, not an acceptance.
pub(crate) fn refuse_failed(situation: &RuleContext<'_>, rule: &Rule) -> Result<(), Rejection> {
    let Some(group) = situation.group else { return Ok(()) };
    let workflow = situation.workflow();
    for condition in &rule.conditions {
        let RuleCondition::Lacks(index) = condition else { continue };
        let Some(need) = workflow.completion.needs.get(usize::from(*index)) else { continue };
        let names = need.options.iter().map(|ix| &workflow.pass(*ix).name);
        if let Some(name) = names.clone().find(|name| group.failed.contains(*name)) {
            let said = situation.handoff.map(|handoff| handoff.said.to_string());
            let allowed = super::choose::list_possible_statuses(situation)
                .into_iter()
                .filter(|status| Some(status) != said.as_ref());
            return Err(failed_evidence(workflow, group, name).allowed(allowed.collect()));
        }
    }
    Ok(())
}

/// Says who sent the tree back.
pub(crate) fn failed_evidence(workflow: &Workflow, group: &Group, name: &Name) -> Rejection {
    let pass = workflow.passes.iter().find(|pass| pass.name == *name);
    let roles =
        pass.map(|pass| pass.roles.iter().filter_map(|ix| workflow.roles.get(ix)).map(|role| role.name.as_str()));
    let roles: Vec<&str> = roles.into_iter().flatten().collect();
    let message = format!(
        "group `{}` needs `{name}`, and the latest report of {} on this tree is a failure",
        group.id,
        roles.join(" or ")
    );
    Rejection::new(Code::EvidenceFailed, message)
        .help("send the work back to its author: a failure is not accepted or waived, and a new tree is tested again")
}

impl DecisionDraft<'_> {
    /// Needs of completion that are neither passed nor excused.
    pub(crate) fn missing_needs(&self, group: &Group) -> Vec<String> {
        let workflow = self.cx.workflow;
        let name = |ix: &PassIx| workflow.pass(*ix).name.to_string();
        let has = |ix: &PassIx| {
            let name = &workflow.pass(*ix).name;
            self.has_passed(group, name) || self.has_excuse(group, Some(name))
        };
        let judged = self.as_observed(group);
        let missing = needs_of(&self.cx, &judged).filter(|(_, need)| !need.options.iter().any(has));
        missing.map(|(_, need)| need.options.iter().map(name).collect::<Vec<_>>().join(" or ")).collect()
    }

    /// Whether this decision voids the evidence of a group.
    pub(crate) fn lapses_now(&self, group: &Group) -> bool {
        self.changes.iter().any(|change| matches!(change, StateChange::PassesLapsed { group: g } if *g == group.id))
    }

    pub(crate) fn has_passed(&self, group: &Group, name: &Name) -> bool {
        let now = |change: &StateChange| matches!(change, StateChange::Passed { group: g, name: n } if *g == group.id && n == name);
        let voided = |change: &StateChange| matches!(change, StateChange::PassVoided { group: g, name: n } if *g == group.id && n == name);
        let lapsed = || self.lapses_now(group) || self.changes.iter().any(voided);
        self.changes.iter().any(now) || group.passed.contains(name) && !lapsed()
    }

    /// An excuse for this evidence, or for any. None covers a failure of the same tree.
    pub(crate) fn has_excuse(&self, group: &Group, name: Option<&Name>) -> bool {
        let failed = self.failures_now(group);
        let fits =
            |excuse: &Excuse| name.is_none_or(|name| excuse.evidence == *name) && !failed.contains(&excuse.evidence);
        let now = |change: &StateChange| matches!(change, StateChange::Excused { group: g, excuse } if *g == group.id && fits(excuse));
        self.changes.iter().any(now) || !self.lapses_now(group) && group.excused.iter().any(fits)
    }

    pub(crate) fn excuses_now(&self, group: &Group) -> bool {
        self.changes.iter().any(|change| matches!(change, StateChange::Excused { group: g, .. } if *g == group.id))
    }

    /// Records what a report says about evidence beside passing it.
    pub(crate) fn excuse_evidence(&mut self, situation: &RuleContext<'_>, rule: &Rule, voice: &DecisionActor) {
        let Some(group) = situation.group else { return };
        let workflow = self.cx.workflow;
        for ix in &rule.excuses {
            let why = self.reported_text(situation, "handoff.context").unwrap_or_default();
            self.record_excuse(group, *ix, ExcuseKind::NothingToDo, &voice.name, &why);
        }
        let cx = self.cx;
        for (_, need) in needs_of(&cx, group) {
            let met = need.options.iter().any(|ix| {
                let name = &workflow.pass(*ix).name;
                self.has_passed(group, name) || self.has_excuse(group, Some(name))
            });
            let excepted = need.options.iter().find(|ix| situation.excepts(group, rule, **ix));
            if let Some(ix) = excepted.filter(|_| !met) {
                let passer = |role: &Name| {
                    workflow.role_named(role).is_some_and(|r| workflow.pass(*ix).roles.contains(r.index()))
                };
                let block = group.lane.blocks.iter().find(|block| passer(&block.role));
                let why = block.map_or_else(String::new, |block| {
                    let reason = block.reason.as_ref().map_or("no reason given", Name::as_str);
                    format!("{} was blocked: {reason}", block.role)
                });
                self.record_excuse(group, *ix, ExcuseKind::Blocked, &voice.name, &why);
            }
        }
    }

    /// An approval that goes on without evidence says why it is not needed.
    pub(crate) fn explain_missing_evidence(&mut self, situation: &RuleContext<'_>, rule: &Rule) {
        let Some(group) = situation.group.filter(|_| !self.preview) else { return };
        let (cx, workflow) = (self.cx, self.cx.workflow);
        if !rule.passes.iter().any(|ix| workflow.pass(*ix).approves) {
            return;
        }
        for need in &workflow.completion.needs {
            let names: Vec<&Name> = need.options.iter().map(|ix| &workflow.pass(*ix).name).collect();
            if names.iter().any(|name| self.has_passed(group, name)) {
                continue;
            }
            let off = need.when.iter().filter_map(|test| {
                let guard = workflow.guard(test.guard);
                let value = guard_value(&cx, Some(group), test.guard);
                let off = !test_holds(*test, value);
                off.then(|| format!("{} is {}", guard.name, guard.values.get(value).map_or("not set", Name::as_str)))
            });
            let off: Vec<String> = off.collect();
            if !off.is_empty() {
                let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
                let text = format!("{} is not needed: {}", names.join(" or "), off.join(" and "));
                self.because.push(Name::from(text));
                continue;
            }
            let now = self.changes.iter().filter_map(|change| {
                let StateChange::Excused { group: of, excuse } = change else { return None };
                (*of == group.id).then_some(excuse)
            });
            let before = group.excused.iter().filter(|_| !self.lapses_now(group));
            let excuses = before.chain(now).filter(|excuse| names.contains(&&excuse.evidence));
            let excuses: Vec<Name> = excuses.map(|excuse| Name::from(excuse.to_string())).collect();
            self.because.extend(excuses);
        }
    }

    pub(crate) fn record_excuse(&mut self, group: &Group, ix: PassIx, kind: ExcuseKind, by: &Name, why: &str) {
        let evidence = self.cx.workflow.pass(ix).name.clone();
        let why = Name::from(why.chars().take(LONGEST_REASON).collect::<String>());
        let excuse = Excuse { evidence, kind, by: by.clone(), why };
        self.push(StateChange::Excused { group: group.id.clone(), excuse });
    }

    /// Voids what the role of this report passed earlier on the same tree, and fails it where the report names failing tests:
    /// before the verb, so that nothing completes with evidence that this report takes back.
    pub(crate) fn withdraw_passes(&mut self, situation: &RuleContext<'_>, rule: &Rule) {
        let (Some(group), Some(reporter)) = (situation.group, situation.reporter) else { return };
        let workflow = self.cx.workflow;
        for ix in all_passes(workflow) {
            let name = &workflow.pass(ix).name;
            if self.has_passed(group, name) && situation.withdraws(rule, ix) {
                let role = &workflow.role(reporter).name;
                let text = format!("{role} passed `{name}` on this tree before, and this report takes that back");
                self.because.push(Name::from(text));
                self.push(StateChange::PassVoided { group: group.id.clone(), name: name.clone() });
            }
            let fails = !sends_back(rule) && situation.reports_failure(rule, ix);
            if fails && !self.failures_now(group).contains(name) {
                self.push(StateChange::EvidenceFailed { group: group.id.clone(), name: name.clone() });
            }
        }
    }

    /// Work that goes back leaves the tree with a failure on record, until its author delivers another one. So does a report
    /// that lists failing tests, whatever its status: a tester that is blocked has still seen them fail.
    pub(crate) fn note_failure(&mut self, situation: &RuleContext<'_>, rule: &Rule) {
        let (Some(group), Some(reporter)) = (situation.group, situation.reporter) else { return };
        let fails = |pass: &Pass| sends_back(rule) || lists_failures(situation, rule, pass);
        if situation.task == AssignmentTask::Merge {
            return;
        }
        let known = self.failures_now(group);
        let own = self.cx.workflow.passes.iter().filter(|pass| pass.roles.contains(reporter.index()));
        for pass in own.filter(|pass| fails(pass) && !known.contains(&pass.name)) {
            self.push(StateChange::EvidenceFailed { group: group.id.clone(), name: pass.name.clone() });
        }
    }

    /// The database learns of each need whether it applies to a group: settings and flags are fixed by then.
    pub(crate) fn spare_needs(&mut self, group: &Group) {
        let workflow = self.cx.workflow;
        for (index, need) in workflow.completion.needs.iter().enumerate() {
            if applies(&self.cx, Some(group), &need.when) {
                continue;
            }
            let clause = u16::try_from(index.saturating_add(1)).unwrap_or(u16::MAX);
            let names = need.options.iter().map(|ix| workflow.pass(*ix).name.clone()).collect();
            self.push(StateChange::NeedSpared { group: group.id.clone(), clause, names });
        }
    }
}
