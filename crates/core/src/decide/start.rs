//! A session begins.

use crate::code::Code;
use crate::command::StartSession;
use crate::decide::apply_rule::DecisionActor;
use crate::decide::draft::DecisionDraft;
use crate::decide::facts::AUTHOR;
use crate::decide::rule_context::RuleContext;
use crate::decide::{DecideOutcome, DecisionContext};
use crate::decision::DecisionAction;
use crate::event::EventCause;
use crate::handoff::PlannedGroup;
use crate::id::Name;
use crate::naming;
use crate::problem::Problem;
use crate::rejection::Rejection;
use crate::state::{Session, State};
use crate::suggest;
use crate::workflow::{GuardSource, Workflow};

pub(super) fn start(cx: &DecisionContext<'_>, start: &StartSession) -> Result<DecideOutcome, Rejection> {
    if cx.state.session.is_some() {
        return Err(Rejection::new(Code::SessionExists, format!("session `{}` has been started", start.session)));
    }
    if let Some(problem) = naming::check_title(&start.title) {
        return Err(Rejection::new(problem.code, problem.message));
    }
    let problems = setting_problems(cx.workflow, start);
    if !problems.is_empty() {
        return Err(Rejection::new(Code::BadSetting, "the settings do not fit the workflow").problems(problems));
    }
    refuse_dropped(cx.workflow, start)?;
    // Guards read settings from the state, which has none yet.
    let state = State::with_session(Session {
        id: start.session.clone(),
        title: start.title.clone(),
        workflow: cx.workflow.name.clone(),
        workflow_hash: cx.workflow.hash,
        settings: start.settings.clone(),
        investigation: start.investigation,
        settings_by: start.by.clone(),
        dropped: start.dropped.clone(),
        allowed: Vec::new(),
    });
    let cx = DecisionContext { state: &state, ..*cx };
    let mut draft = DecisionDraft::new(cx, Name::new("begin"));
    if let Some(allow) = &start.allow {
        draft.allow_paths(&allow.paths, &allow.by)?;
    }
    begin(&mut draft, start)?;
    Ok(draft.finish(EventCause::Started {
        session: start.session.clone(),
        title: start.title.clone(),
        workflow: cx.workflow.name.clone(),
        workflow_hash: cx.workflow.hash,
        settings: start.settings.clone(),
        mission: start.mission,
        investigation: start.investigation,
        by: start.by.clone(),
        dropped: start.dropped.clone(),
    }))
}

fn begin(draft: &mut DecisionDraft<'_>, start: &StartSession) -> Result<(), Rejection> {
    let cx = draft.cx;
    if cx.workflow.has_phases() {
        if !cx.workflow.phases.iter().any(|phase| phase.plans) {
            draft.plan_one_group(&start.title)?;
        }
        return draft.enter_session(0);
    }
    let openings = &cx.workflow.begin;
    let Some(opening) = openings.iter().find(|opening| draft.lets_through(None, &opening.when)) else {
        return Err(Rejection::new(Code::BadSetting, "no entry of `begin` holds with these settings"));
    };
    draft.action = DecisionAction::Spawn;
    draft.rule = opening.id.clone();
    draft.context = opening.with.clone();
    draft.apply_spawn_rule(opening, draft.session_slot());
    Ok(())
}

/// Requirements belong to the project: the orchestrating model may not choose its own.
fn refuse_dropped(workflow: &Workflow, start: &StartSession) -> Result<(), Rejection> {
    let dropped = workflow.dropped_requirements(&start.settings);
    if start.by.is_some() || dropped.is_empty() && start.dropped.is_empty() && !start.investigation {
        return Ok(());
    }
    if !start.dropped.is_empty() {
        let list: Vec<&str> = start.dropped.iter().map(Name::as_str).collect();
        let message =
            format!("`{}` demands less than the workflow of this project: {}", workflow.name, list.join("; "));
        let help = "start it with the operator key, or leave `--workflow` out for the project's own";
        return Err(Rejection::new(Code::RequirementDropped, message).help(help));
    }
    if dropped.is_empty() {
        let message = "only a person may declare an investigation, which may end without any work";
        let help = "start it with the operator key, or leave `--investigation` out: a person confirms it at the end";
        return Err(Rejection::new(Code::RequirementDropped, message).help(help));
    }
    let list: Vec<String> = dropped.iter().map(ToString::to_string).collect();
    let message = format!("only a person may choose this: {}", list.join("; "));
    let help = "start it with the operator key, leave the setting out, or change the default in the workflow file";
    let defaults = dropped.iter().map(|one| format!("{}={}", one.setting, one.default)).collect();
    Err(Rejection::new(Code::RequirementDropped, message).help(help).allowed(defaults))
}

fn setting_problems(workflow: &Workflow, start: &StartSession) -> Vec<Problem> {
    let settings = || workflow.guards.iter().filter(|guard| guard.source == GuardSource::Setting);
    let mut problems = Vec::new();
    for (name, value) in &start.settings {
        match settings().find(|guard| guard.name == *name) {
            None => {
                let known: Vec<&str> = settings().map(|guard| guard.name.as_str()).collect();
                let help = suggest::help(name, known);
                let message = format!("there is no setting `{name}`");
                problems.push(Problem::new(Code::BadSetting, message).maybe_help(help).field(name.to_string()));
            }
            Some(guard) if !guard.values.contains(value) => {
                let help = suggest::help(value, guard.values.iter().map(Name::as_str));
                let message = format!("`{name}` is never `{value}`");
                problems.push(Problem::new(Code::BadSetting, message).maybe_help(help).field(name.to_string()));
            }
            Some(_) => {}
        }
    }
    problems
}

impl DecisionDraft<'_> {
    /// Without a planning phase the session has one group, `main`.
    fn plan_one_group(&mut self, title: &Name) -> Result<(), Rejection> {
        let required = self.cx.workflow.guards.iter().find(|guard| guard.required);
        if let Some(guard) = required {
            let message = format!("`{}` must be planned, and no phase plans groups", guard.name);
            return Err(Rejection::new(Code::PlanRefused, message));
        }
        let group = PlannedGroup {
            id: Name::new("main"),
            title: title.clone(),
            flags: std::collections::BTreeMap::new(),
            depends_on: Vec::new(),
            checks: Vec::new(),
        };
        self.plan_group(group, None, None);
        Ok(())
    }

    /// `start: groups`: in the session what can start; in a group who waits, else its author.
    pub(crate) fn start(&mut self, situation: &RuleContext<'_>, voice: &DecisionActor) -> Result<(), Rejection> {
        let Some(group) = situation.group else {
            self.take_plan(situation)?;
            let described = situation.given.is_some_and(|given| given.groups_described);
            if self.preview && self.cx.state.groups.is_empty() && !described {
                // The query describes no groups, so which groups start depends on a plan that is not known.
                self.because.push(Name::new("no groups are described, so none can be said to start"));
                self.waits_for = Some(crate::decision::WaitsFor::Groups);
                return Ok(());
            }
            return self.start_groups(None);
        };
        if situation.handoff.is_some_and(|handoff| handoff.groups.is_some()) {
            let message = "groups are planned for the session, and this assignment is about one group";
            return Err(Rejection::new(Code::PlanRefused, message).help("leave `groups` out of this report"));
        }
        if !situation.waiting().is_empty() {
            self.resume_waiting_role(situation, voice);
            return Ok(());
        }
        if let Some(author) = situation.author() {
            self.action = DecisionAction::Respawn;
            self.read_role(&AUTHOR, author);
            self.assign(situation.slot(), author, crate::workflow::AssignmentTask::Work, voice.resolution);
            return Ok(());
        }
        let openings = &self.cx.workflow.group_begin;
        if let Some(opening) = openings.iter().find(|opening| self.lets_through(Some(group), &opening.when)) {
            self.action = DecisionAction::Spawn;
            self.apply_spawn_rule(opening, situation.slot());
        }
        Ok(())
    }
}
