//! A person moves a session to another version of its workflow.
//!
//! Only if the new one has a place for all that is going on: nothing is lost on the way, and nothing that was done
//! becomes worthless.

use std::collections::BTreeSet;

use crate::code::Code;
use crate::command::UpgradeWorkflow;
use crate::decide::choose::list_possible_statuses;
use crate::decide::draft::DecisionDraft;
use crate::decide::rule_context::RuleContext;
use crate::decide::{DecideOutcome, DecisionContext};
use crate::event::EventCause;
use crate::id::Name;
use crate::problem::Problem;
use crate::rejection::Rejection;
use crate::state::{Group, GroupEnd, GroupProgress, Lane};
use crate::workflow::{GuardSource, Workflow, dropped_requirements};

pub(super) fn upgrade(cx: &DecisionContext<'_>, upgrade: &UpgradeWorkflow) -> Result<DecideOutcome, Rejection> {
    let Some(session) = cx.state.session.as_ref() else {
        return Err(Rejection::new(Code::NoSession, "the session has not been started"));
    };
    if cx.state.ended() {
        let message = format!("the session is {}: nothing can change in it", cx.state.status.name());
        return Err(Rejection::new(Code::SessionEnded, message));
    }
    let workflow = cx.workflow;
    if session.workflow_hash == workflow.hash {
        let message = format!("the session runs this very workflow: `{}` {}", workflow.name, workflow.hash);
        return Err(Rejection::new(Code::UpgradeImpossible, message));
    }
    let misfits = UpgradeConflicts::of(cx, &upgrade.from).0;
    if !misfits.is_empty() {
        let message = format!("`{}` cannot hold the state of the session", workflow.name);
        let help = "keep what the session uses, or let what is open finish first";
        return Err(Rejection::new(Code::UpgradeImpossible, message).help(help).problems(misfits));
    }
    let dropped = dropped_requirements(&upgrade.from, workflow);
    if !dropped.is_empty() && !upgrade.weaker {
        return Err(demands_less(&dropped));
    }
    let mut draft = DecisionDraft::new(*cx, Name::new("upgrade"));
    cx.state.groups.iter().filter(|group| !group.ended()).for_each(|group| draft.spare_needs(group));
    Ok(draft.record(EventCause::Upgraded {
        workflow: workflow.name.clone(),
        workflow_hash: workflow.hash,
        from: session.workflow_hash,
        by: upgrade.by.clone(),
        dropped,
    }))
}

/// Requirements do not go by accident: each is named, and a person has to ask for it.
fn demands_less(dropped: &[Name]) -> Rejection {
    let are = if dropped.len() == 1 { "requirement is" } else { "requirements are" };
    let message = format!("the new workflow demands less: {} {are} dropped", dropped.len());
    let problems = dropped.iter().map(|requirement| Problem::new(Code::WeakerWorkflow, requirement.to_string()));
    Rejection::new(Code::WeakerWorkflow, message).problems(problems.collect())
}

/// Everything of the state that the new workflow has no place for.
#[derive(Default)]
struct UpgradeConflicts(Vec<Problem>);

impl UpgradeConflicts {
    fn of(cx: &DecisionContext<'_>, old: &Workflow) -> Self {
        let mut misfits = Self::default();
        misfits.values(cx);
        misfits.names(cx);
        misfits.stages(cx, old);
        misfits.assignments(cx);
        misfits.questions(cx);
        misfits.evidence(cx);
        misfits.checks(cx);
        misfits
    }

    /// Groups that were planned before checks were required.
    fn checks(&mut self, cx: &DecisionContext<'_>) {
        let Some(gate) = cx.workflow.gate_that_requires_checks() else { return };
        for group in cx.state.groups.iter().filter(|group| !group.ended() && !group.has_real_checks()) {
            self.say(format!(
                "gate `{}` requires checks, and {} was planned without one that can fail",
                gate.name, group.id
            ));
        }
    }

    fn say(&mut self, message: String) {
        self.0.push(Problem::new(Code::UpgradeImpossible, message));
    }

    /// Settings of the session and flags of its groups.
    fn values(&mut self, cx: &DecisionContext<'_>) {
        let settings = cx.state.session.iter().flat_map(|session| &session.settings);
        let settings = settings.map(|(name, value)| (GuardSource::Setting, name, value));
        let flags = cx.state.groups.iter().filter(|group| !group.ended()).flat_map(|group| &group.flags);
        let flags = flags.map(|(name, value)| (GuardSource::Flag, name, value));
        for (source, name, value) in settings.chain(flags) {
            let guard = cx.workflow.guards.iter().find(|guard| guard.source == source && guard.name == *name);
            match guard {
                None => self.say(format!("there is no `{name}` any more, and the session has `{name}={value}`")),
                Some(guard) if !guard.values.contains(value) => {
                    self.say(format!("`{name}` cannot be `{value}` any more, as it is in the session"));
                }
                Some(_) => {}
            }
        }
    }

    /// Roles, loops and gates that something in the state names.
    fn names(&mut self, cx: &DecisionContext<'_>) {
        let (workflow, state) = (cx.workflow, cx.state);
        let open: Vec<&Group> = state.groups.iter().filter(|group| !group.ended()).collect();
        let lanes: Vec<&Lane> = open.iter().map(|group| &group.lane).chain([&state.lane]).collect();
        let counters = || lanes.iter().flat_map(|lane| &lane.counters);
        let mut roles: BTreeSet<&Name> = counters().map(|counter| &counter.role).collect();
        roles.extend(open.iter().filter_map(|group| group.author.as_ref()));
        for lane in &lanes {
            roles.extend(lane.parts.iter().flat_map(|part| &part.waiting).map(|seat| &seat.role));
            roles.extend(lane.blocks.iter().map(|block| &block.role));
        }
        // Gates and questions without a role are counted by their own names.
        let known = |name: &str| {
            workflow.role_named(name).is_some()
                || workflow.gate_named(name).is_some()
                || workflow.question_named(name).is_some()
        };
        for role in roles.into_iter().filter(|role| !known(role)) {
            self.say(format!("there is no role `{role}` any more, and work of it is under way"));
        }
        let loops: BTreeSet<&Name> = counters().map(|counter| &counter.counted).collect();
        let is_known = |name: &&Name| {
            workflow.loops.iter().any(|declared| declared.name == **name || declared.escalations == **name)
        };
        for name in loops.into_iter().filter(|name| !is_known(name)) {
            self.say(format!("there is no loop `{name}` any more, and it has been counted"));
        }
        let gates: BTreeSet<&Name> = state.gate_runs.values().map(|run| &run.gate).collect();
        for gate in gates.into_iter().filter(|gate| workflow.gate_named(gate).is_none()) {
            self.say(format!("there is no gate `{gate}` any more, and its result is awaited"));
        }
    }

    /// Stages are known by their place: what was passed or is under way must be the same.
    fn stages(&mut self, cx: &DecisionContext<'_>, old: &Workflow) {
        let lanes = cx.state.groups.iter().filter(|group| !group.ended()).map(|group| &group.lane);
        let Some(last) = lanes.chain([&cx.state.lane]).filter_map(|lane| lane.stage).max() else { return };
        let names = |workflow: &Workflow, stage: usize| -> Vec<Name> {
            let stage = workflow.stages.get(stage).map_or(&[][..], |stage| stage.phases.as_slice());
            stage.iter().map(|phase| workflow.phase(*phase).name.clone()).collect()
        };
        for stage in 0..=usize::from(last) {
            let (before, after) = (names(old, stage), names(cx.workflow, stage));
            if before != after {
                let (before, after) = (listed(&before), listed(&after));
                self.say(format!("work is under way in or after {before}, where the new workflow has {after}"));
            }
        }
    }

    /// The holder of an open assignment must have a status to report.
    fn assignments(&mut self, cx: &DecisionContext<'_>) {
        for id in &cx.state.open {
            let Some(given) = cx.state.assignments.get(id) else { continue };
            let accepts =
                RuleContext::of_assignment(cx, given, None, None).map(|situation| list_possible_statuses(&situation));
            let phase = given.phase.as_ref().is_none_or(|phase| cx.workflow.phase_named(phase).is_some());
            if !phase || !accepts.is_ok_and(|statuses| !statuses.is_empty()) {
                self.say(format!("{id} is open for {}, which could report nothing", given.role));
            }
        }
    }

    fn questions(&mut self, cx: &DecisionContext<'_>) {
        for id in &cx.state.open_questions {
            let Some(asked) = cx.state.questions.get(id) else { continue };
            let question = cx.workflow.questions.iter().find(|question| question.name == asked.name);
            let answered = |option: &Name| {
                question.is_some_and(|question| {
                    question.free.is_some() || question.options.iter().any(|(name, _)| name == option)
                })
            };
            let rule = asked.stopped.as_ref().is_none_or(|stopped| cx.workflow.rule_index.contains_key(&stopped.rule));
            if question.is_none() || !rule || !asked.options.iter().all(answered) {
                self.say(format!("{id} is open, and the new workflow has no place for its answer (`{}`)", asked.name));
            }
        }
    }

    /// Completed groups that could not be completed again under the new workflow.
    fn evidence(&mut self, cx: &DecisionContext<'_>) {
        let draft = DecisionDraft::new(*cx, Name::new("upgrade"));
        for group in cx.state.groups.iter().filter(|group| group.progress == GroupProgress::Ended(GroupEnd::Completed))
        {
            let missing = draft.missing_needs(group);
            if !missing.is_empty() {
                self.say(format!("{} is completed, and the new workflow needs {} of it", group.id, missing.join(", ")));
            }
        }
    }
}

fn listed(names: &[Name]) -> String {
    let names: Vec<&str> = names.iter().map(Name::as_str).collect();
    if names.is_empty() { "no phase".to_owned() } else { names.join(" and ") }
}
