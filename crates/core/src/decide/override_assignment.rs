//! A person sends a group's work elsewhere. It is recorded as that, and never completes anything.

use crate::code::Code;
use crate::command::OverrideAssignment;
use crate::decide::draft::{AssignmentSlot, DecisionDraft};
use crate::decide::rule_context::{applies, phase_role};
use crate::decide::{DecideOutcome, DecisionContext};
use crate::decision::DecisionAction;
use crate::event::{BlockerResolution, EventCause};
use crate::id::Name;
use crate::rejection::Rejection;
use crate::state::{Group, GroupProgress};
use crate::suggest;
use crate::workflow::{AssignmentTask, PhaseIx, RoleIx};

pub(super) fn overrule(cx: &DecisionContext<'_>, by_person: &OverrideAssignment) -> Result<DecideOutcome, Rejection> {
    let group = cx.open_group(&by_person.group)?;
    let role = holder(cx, &by_person.to)?;
    if matches!(group.progress, GroupProgress::Pending | GroupProgress::Arrived) {
        let message = format!("group `{}` is not at work", group.id);
        return Err(Rejection::new(Code::OverrideImpossible, message));
    }
    let mut draft = DecisionDraft::new(*cx, Name::new("override"));
    draft.about = Some(group.id.clone());
    draft.void_lane(Some(group), &group.lane, None, Some(BlockerResolution::Person));
    draft.action = DecisionAction::Spawn;
    draft.because.push(by_person.why.clone());
    if cx.workflow.has_phases() {
        let stage = phase_of(cx, group, role)?;
        draft.enter_stage(Some(group), &group.lane, stage, None);
    } else {
        let slot = AssignmentSlot { group: Some(group), lane: &group.lane, part: 0, phase: None, fresh: true };
        draft.assign(slot, role, AssignmentTask::Work, BlockerResolution::Person);
    }
    let (group, to) = (by_person.group.clone(), by_person.to.clone());
    let (why, by) = (by_person.why.clone(), by_person.by.clone());
    Ok(draft.finish(EventCause::Overridden { group, to, why, by }))
}

fn holder(cx: &DecisionContext<'_>, name: &Name) -> Result<RoleIx, Rejection> {
    let found = cx.workflow.role_named(name).filter(|ix| !cx.workflow.role(*ix).by_interlock);
    found.ok_or_else(|| {
        let known: Vec<&str> =
            cx.workflow.roles.iter().filter(|role| !role.by_interlock).map(|role| role.name.as_str()).collect();
        Rejection::new(Code::NoRole, format!("the workflow has no role `{name}` that can be assigned"))
            .maybe_help(suggest::help(name, known))
    })
}

/// With phases, work goes back to a stage that this role has: never forward over what is not done.
fn phase_of(cx: &DecisionContext<'_>, group: &Group, role: RoleIx) -> Result<usize, Rejection> {
    let now = group.lane.stage.map_or(0, usize::from);
    let reachable = |index: usize| {
        let phase = PhaseIx::new(index);
        let own = cx.workflow.phase(phase);
        let stage = cx.workflow.stages.get(own.stage);
        let open = own.stage <= now && stage.is_some_and(|stage| !stage.per_session);
        (open && applies(cx, Some(group), &own.when)).then_some((phase, own.stage))
    };
    let phases: Vec<(PhaseIx, usize)> = (0..cx.workflow.phases.len()).filter_map(reachable).collect();
    let found = phases.iter().rev().find(|(phase, _)| phase_role(cx, Some(group), *phase) == Some(role));
    found.map(|(_, stage)| *stage).ok_or_else(|| {
        let names = phases.iter().filter_map(|(phase, _)| phase_role(cx, Some(group), *phase));
        let message = format!("{} has no phase up to where `{}` is", cx.workflow.role(role).name, group.id);
        Rejection::new(Code::OverrideImpossible, message)
            .allowed(names.map(|role| cx.workflow.role(role).name.to_string()).collect())
    })
}
