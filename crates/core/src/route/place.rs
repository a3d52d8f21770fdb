//! Where a described report stands: in which phase, in a group or in the session, as work or as a merge.

use crate::id::Name;
use crate::route::{Facts, Query, Scope, Speaker};
use crate::workflow::{Performer, PhaseIx, Task, Verb, Workflow};

/// The phase that was given, or the first that fits: of a group before one of the session.
pub(super) fn phase_of(workflow: &Workflow, query: &Query) -> Option<PhaseIx> {
    let role = match &query.source {
        Speaker::Role(name) => name.as_str(),
        Speaker::Gate(_) | Speaker::Question(_) => query.given.get("asker").map_or("", Name::as_str),
    };
    let in_scope = |ix: &PhaseIx| workflow.is_of_session(*ix) != (query.scope == Some(Scope::Session));
    if let Some(name) = &query.phase {
        let meant = workflow.phases_called(name, role);
        let own = meant.iter().filter(|ix| workflow.is_phase_of(**ix, role));
        let found = own.min_by_key(|ix| in_scope(ix)).or_else(|| meant.iter().min_by_key(|ix| in_scope(ix)));
        return found.copied();
    }
    let merging = match &query.source {
        Speaker::Role(name) => task_of(workflow, name, query, &Facts::default()) == Task::Merge,
        Speaker::Gate(_) | Speaker::Question(_) => false,
    };
    let fits = |performer: &Performer| match (performer, &query.source) {
        (Performer::Merge, Speaker::Role(_)) => merging,
        (Performer::Role(ix), Speaker::Role(name)) => !merging && workflow.role(*ix).name == *name,
        (Performer::ByDomain(roles), Speaker::Role(name)) => {
            !merging && roles.iter().flatten().any(|ix| workflow.role(*ix).name == *name)
        }
        (Performer::Gate(ix), Speaker::Gate(name)) => workflow.gate(*ix).name == *name,
        (_, Speaker::Question(_)) => {
            let asker = query.given.get("asker");
            asker.is_some_and(|asker| match performer {
                Performer::Role(ix) => workflow.role(*ix).name == *asker,
                Performer::ByDomain(roles) => roles.iter().flatten().any(|ix| workflow.role(*ix).name == *asker),
                Performer::Gate(_) | Performer::Merge => false,
            })
        }
        (Performer::Merge | Performer::Role(_) | Performer::ByDomain(_), Speaker::Gate(_))
        | (Performer::Gate(_), Speaker::Role(_)) => false,
    };
    let all = (0..workflow.phases.len()).map(PhaseIx::new);
    let found = all.filter(|ix| fits(&workflow.phase(*ix).performer)).min_by_key(in_scope);
    let gate = || match &query.source {
        // A question that no role asked stands at the gate whose failure asks it.
        Speaker::Question(_) => workflow.phases.iter().position(|phase| matches!(phase.performer, Performer::Gate(_))),
        Speaker::Role(_) => workflow
            .phases
            .iter()
            .position(|phase| !workflow.stages.get(phase.stage).is_some_and(|stage| stage.per_session)),
        Speaker::Gate(_) => None,
    };
    found.or_else(|| gate().map(PhaseIx::new))
}

/// Group scope before session scope, unless the verb or the phase belongs to the session.
pub(super) fn in_group(workflow: &Workflow, query: &Query, facts: &Facts, phase: Option<PhaseIx>) -> bool {
    if let Some(scope) = query.scope {
        return scope == Scope::Group;
    }
    let stage = phase.and_then(|phase| workflow.stages.get(workflow.phase(phase).stage));
    if let Some(stage) = stage {
        return !stage.per_session;
    }
    let Speaker::Role(name) = &query.source else { return true };
    let rules = workflow.role_named(name).and_then(|role| {
        let status = workflow.status_of(role, &query.status)?;
        workflow.by_report.get(&(role, status))
    });
    let of_session = rules.into_iter().flatten().any(|ix| {
        let rule = workflow.rule(*ix);
        matches!(rule.verb, Verb::Start | Verb::Validate(_) | Verb::End)
    });
    let interlock = workflow.role_named(name).is_some_and(|ix| workflow.role(ix).by_interlock);
    let told = facts.author.is_some() || facts.blocked_agent.is_some();
    !(of_session || interlock) || told
}

/// A merge if only the merge table has the status; help if somebody waits; else work.
pub(super) fn task_of(workflow: &Workflow, role: &str, query: &Query, facts: &Facts) -> Task {
    if let Some(task) = facts.task {
        return task;
    }
    let waits = facts.blocked_agent.is_some() || facts.waiting.as_ref().is_some_and(|waiting| !waiting.is_empty());
    match workflow.task_of(role, &query.status) {
        Task::Work if waits => Task::Consult,
        task @ (Task::Work | Task::Consult | Task::Merge) => task,
    }
}
