//! Groups added to the plan: by a handoff, or by a person.

use std::collections::{BTreeMap, BTreeSet};

use crate::code::Code;
use crate::command::AddPlannedGroups;
use crate::decide::draft::DecisionDraft;
use crate::decide::rule_context::{RuleContext, applies};
use crate::decide::{DecideOutcome, DecisionContext};
use crate::event::EventCause;
use crate::handoff::{PlannedGroup, circle};
use crate::id::{DecisionId, Name};
use crate::naming;
use crate::problem::Problem;
use crate::rejection::Rejection;
use crate::state::Group;
use crate::workflow::GuardSource;

pub(super) fn plan(cx: &DecisionContext<'_>, plan: &AddPlannedGroups) -> Result<DecideOutcome, Rejection> {
    if cx.workflow.has_phases() {
        let planned = cx.workflow.phases.iter().any(|phase| phase.plans);
        let stage = cx.state.lane.stage.and_then(|stage| cx.workflow.stages.get(usize::from(stage)));
        let first = cx.workflow.stages.iter().position(|stage| !stage.per_session);
        let at_first = cx.state.lane.stage.map(usize::from) == first;
        if !planned || stage.is_none_or(|stage| stage.per_session) || !at_first {
            let help = "with phases, groups are added after planning and before the next phase of the session";
            return Err(Rejection::new(Code::PlanRefused, "no group can be added now").help(help));
        }
    }
    let mut draft = DecisionDraft::new(*cx, Name::new("plan"));
    if cx.workflow.has_phases() {
        // The question about unfinished work is about another plan now.
        draft.void_lane(None, &cx.state.lane, None, None);
    }
    draft.take_groups(&plan.groups, None, Some(&plan.by))?;
    draft.start_groups(None)?;
    Ok(draft.finish(EventCause::Planned { by: plan.by.clone() }))
}

impl DecisionDraft<'_> {
    /// The plan that a report brings, or that an answered question kept, if there is one.
    pub(crate) fn take_plan(&mut self, situation: &RuleContext<'_>) -> Result<(), Rejection> {
        let held = self.held_report().and_then(|held| Some((held.groups.as_ref()?, held.reported)));
        let by = situation.reporter.map(|role| &situation.workflow().role(role).name);
        match (situation.handoff, held) {
            (Some(handoff), _) => match &handoff.groups {
                Some(groups) => self.take_groups(groups, None, by),
                None => must_plan(situation),
            },
            (None, Some((groups, reported))) => self.take_groups(groups, Some(reported), by),
            (None, None) if self.answering.is_some() => must_plan(situation),
            (None, None) => Ok(()),
        }
    }

    pub(super) fn refuse_plan(&self, groups: &[PlannedGroup]) -> Result<(), Rejection> {
        let problems = self.plan_problems(groups);
        if !problems.is_empty() {
            let count = problems.len();
            let message = format!("the plan cannot be accepted: {count} problem{}", if count == 1 { "" } else { "s" });
            return Err(Rejection::new(Code::PlanRefused, message).problems(problems));
        }
        Ok(())
    }

    fn take_groups(
        &mut self,
        groups: &[PlannedGroup],
        reported: Option<DecisionId>,
        by: Option<&Name>,
    ) -> Result<(), Rejection> {
        self.refuse_plan(groups)?;
        for group in groups {
            self.plan_group(group.clone(), reported, by.cloned());
        }
        Ok(())
    }

    fn plan_problems(&self, groups: &[PlannedGroup]) -> Vec<Problem> {
        let state = self.cx.state;
        let mut problems = Vec::new();
        if groups.is_empty() {
            problems.push(Problem::new(Code::BadPlan, "a plan has at least one group").field("groups"));
        }
        let names: BTreeSet<&Name> = groups.iter().map(|group| &group.id).collect();
        let mut taken: BTreeMap<String, &Name> =
            state.groups.iter().map(|group| (naming::group_key(&group.id), &group.id)).collect();
        for (index, group) in groups.iter().enumerate() {
            let field = format!("groups[{index}]");
            let mut wrong = |message: String| {
                let problem = Problem::new(Code::BadPlan, message).of_element(format!("group `{}`", group.id));
                problems.push(problem.field(field.clone()));
            };
            if let Some(other) = taken.insert(naming::group_key(&group.id), &group.id) {
                wrong(format!("`{}` is taken: there is a group `{other}`", group.id));
            }
            for dependency in &group.depends_on {
                let known = state.group(dependency).is_some() || names.contains(dependency);
                if !known || *dependency == group.id {
                    wrong(format!("`{}` cannot depend on `{dependency}`", group.id));
                }
            }
            for guard in &self.cx.workflow.guards {
                let value = group.flags.get(&guard.name);
                let fits = value.is_none_or(|value| guard.values.contains(value));
                if guard.source == GuardSource::Flag && (!fits || guard.required && value.is_none()) {
                    let values: Vec<&str> = guard.values.iter().map(Name::as_str).collect();
                    wrong(format!("`{}` of `{}` is one of {}", guard.name, group.id, values.join(", ")));
                }
            }
            if let Some(gate) = self.cx.workflow.gate_that_requires_checks()
                && !Group::planned(group).has_real_checks()
            {
                let (message, checks) = missing_checks(&gate.name, group);
                problems.push(Problem::new(Code::ChecksMissing, message).field(format!("{field}.checks{checks}")));
            }
            let mut wrong = |message: String| {
                problems.push(Problem::new(Code::BadPlan, message).field(field.clone()));
            };
            let opens = |draft: &Self| {
                let openings = &draft.cx.workflow.group_begin;
                let planned = Group::planned(group);
                openings.is_empty() || openings.iter().any(|o| applies(&draft.cx, Some(&planned), &o.when))
            };
            if !opens(self) {
                wrong(format!("no entry of `groups.begin` holds for `{}`", group.id));
            }
        }
        problems.extend(circle(groups));
        let named = groups.iter().enumerate().flat_map(|(index, group)| {
            let id = naming::check_group_id(&group.id).map(|problem| problem.field(format!("groups[{index}].id")));
            let title =
                naming::check_title(&group.title).map(|problem| problem.field(format!("groups[{index}].title")));
            id.into_iter().chain(title)
        });
        problems.extend(named);
        problems
    }
}

/// Refuses to go on without a plan where the phase is there to make one.
pub(super) fn must_plan(situation: &RuleContext<'_>) -> Result<(), Rejection> {
    let plans = situation.phase.is_some_and(|phase| situation.workflow().phase(phase).plans);
    if !plans || situation.given.is_some() {
        return Ok(());
    }
    Err(match situation.handoff {
        Some(_) => Rejection::new(Code::PlanRefused, "this phase plans the groups, and `groups` is not in the handoff"),
        None => Rejection::new(Code::PlanRefused, "the report that this question is about has no `groups` to start")
            .help("choose the option that sends the work back, so that the groups are planned"),
    })
}

/// The fault in the checks of a group, and the index of the check that has it.
fn missing_checks(gate: &Name, group: &PlannedGroup) -> (String, String) {
    match group.checks.first() {
        None => (format!("gate `{gate}` requires checks, and `{}` has none", group.id), String::new()),
        Some(check) => {
            let words: Vec<&str> = check.iter().map(Name::as_str).collect();
            let message = format!("`{}` of `{}` cannot fail, so it checks nothing", words.join(" "), group.id);
            (message, "[0]".to_owned())
        }
    }
}
