//! Where a described report stands: in which phase, in a group or in the session, as work or as a merge.

use crate::id::Name;
use crate::route::{DescribedFacts, RouteQuery, RouteScope, RouteSource};
use crate::workflow::{AssignmentTask, PhaseIx, PhasePerformer, RuleVerb, Workflow};

/// The described phase, or the first that fits: of a group before one of the session.
pub(super) fn phase_of(workflow: &Workflow, query: &RouteQuery) -> Option<PhaseIx> {
    let role = match &query.source {
        RouteSource::Role(name) => name.as_str(),
        RouteSource::Gate(_) | RouteSource::Question(_) => query.given.get("asker").map_or("", Name::as_str),
    };
    let in_scope = |ix: &PhaseIx| workflow.is_of_session(*ix) != (query.scope == Some(RouteScope::Session));
    if let Some(name) = &query.phase {
        let meant = workflow.phases_called(name, role);
        let own = meant.iter().filter(|ix| workflow.is_phase_of(**ix, role));
        let found = own.min_by_key(|ix| in_scope(ix)).or_else(|| meant.iter().min_by_key(|ix| in_scope(ix)));
        return found.copied();
    }
    let merging = match &query.source {
        RouteSource::Role(name) => task_of(workflow, name, query, &DescribedFacts::default()) == AssignmentTask::Merge,
        RouteSource::Gate(_) | RouteSource::Question(_) => false,
    };
    let fits = |performer: &PhasePerformer| match (performer, &query.source) {
        (PhasePerformer::Merge, RouteSource::Role(_)) => merging,
        (PhasePerformer::Role(ix), RouteSource::Role(name)) => !merging && workflow.role(*ix).name == *name,
        (PhasePerformer::ByDomain(roles), RouteSource::Role(name)) => {
            !merging && roles.iter().flatten().any(|ix| workflow.role(*ix).name == *name)
        }
        (PhasePerformer::Gate(ix), RouteSource::Gate(name)) => workflow.gate(*ix).name == *name,
        (_, RouteSource::Question(_)) => {
            let asker = query.given.get("asker");
            asker.is_some_and(|asker| match performer {
                PhasePerformer::Role(ix) => workflow.role(*ix).name == *asker,
                PhasePerformer::ByDomain(roles) => roles.iter().flatten().any(|ix| workflow.role(*ix).name == *asker),
                PhasePerformer::Gate(_) | PhasePerformer::Merge => false,
            })
        }
        (PhasePerformer::Merge | PhasePerformer::Role(_) | PhasePerformer::ByDomain(_), RouteSource::Gate(_))
        | (PhasePerformer::Gate(_), RouteSource::Role(_)) => false,
    };
    let all = (0..workflow.phases.len()).map(PhaseIx::new);
    let found = all.filter(|ix| fits(&workflow.phase(*ix).performer)).min_by_key(in_scope);
    let gate = || match &query.source {
        // A question that no role asked stands at the gate whose failure asks it.
        RouteSource::Question(_) => {
            workflow.phases.iter().position(|phase| matches!(phase.performer, PhasePerformer::Gate(_)))
        }
        RouteSource::Role(_) => workflow
            .phases
            .iter()
            .position(|phase| !workflow.stages.get(phase.stage).is_some_and(|stage| stage.per_session)),
        RouteSource::Gate(_) => None,
    };
    found.or_else(|| gate().map(PhaseIx::new))
}

/// Group scope before session scope, unless the verb or the phase belongs to the session.
pub(super) fn in_group(
    workflow: &Workflow,
    query: &RouteQuery,
    facts: &DescribedFacts,
    phase: Option<PhaseIx>,
) -> bool {
    if let Some(scope) = query.scope {
        return scope == RouteScope::Group;
    }
    let stage = phase.and_then(|phase| workflow.stages.get(workflow.phase(phase).stage));
    if let Some(stage) = stage {
        return !stage.per_session;
    }
    let RouteSource::Role(name) = &query.source else { return true };
    let rules = workflow.role_named(name).and_then(|role| {
        let status = workflow.status_of(role, &query.status)?;
        workflow.by_report.get(&(role, status))
    });
    let of_session = rules.into_iter().flatten().any(|ix| {
        let rule = workflow.rule(*ix);
        matches!(rule.verb, RuleVerb::Start | RuleVerb::Validate(_) | RuleVerb::End)
    });
    let interlock = workflow.role_named(name).is_some_and(|ix| workflow.role(ix).by_interlock);
    let told = facts.author.is_some() || facts.blocked_agent.is_some();
    !(of_session || interlock) || told
}

/// A merge if only the merge table has the status; help if a role waits; else work.
pub(super) fn task_of(workflow: &Workflow, role: &str, query: &RouteQuery, facts: &DescribedFacts) -> AssignmentTask {
    if let Some(task) = facts.task {
        return task;
    }
    let waits = facts.blocked_agent.is_some() || facts.waiting.as_ref().is_some_and(|waiting| !waiting.is_empty());
    match workflow.task_of(role, &query.status) {
        AssignmentTask::Work if waits => AssignmentTask::Consult,
        task @ (AssignmentTask::Work | AssignmentTask::Consult | AssignmentTask::Merge) => task,
    }
}
