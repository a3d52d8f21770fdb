//! The pure decision on a state that somebody describes: nothing is stored.
//!
//! A described state is built as a real one and decided by the same code.

mod given;
mod scene;

use std::collections::BTreeMap;

use crate::code::Code;
use crate::command::Inputs;
use crate::decide::Cx;
use crate::decision::Decision;
use crate::id::{Name, Timestamp};
use crate::problem::Problem;
use crate::rejection::Rejection;
use crate::workflow::*;

pub use given::Facts;

/// Who reports, what, in which circumstances.
#[derive(Clone, Debug)]
pub struct Query {
    pub source: Speaker,
    /// The status, the option chosen, or `pass` and `fail`.
    pub status: Name,
    pub reason: Option<Name>,
    pub phase: Option<Name>,
    /// Settings, flags, facts and the rest of the state, by name.
    pub given: BTreeMap<Name, Name>,
    pub scope: Option<Scope>,
    /// A role that is not declared still gets answers from `blocked` if its name tells a domain.
    pub undeclared_roles: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Speaker {
    Role(Name),
    Gate(Name),
    Question(Name),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    Group,
    Session,
}

/// Why there is no decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// The question makes no sense for this workflow.
    Query(Vec<Problem>),
    /// The workflow refuses the report.
    Workflow(Box<Rejection>),
}

impl From<Rejection> for Refused {
    fn from(rejection: Rejection) -> Self {
        Refused::Workflow(Box::new(rejection))
    }
}

/// What would follow.
pub fn route(workflow: &Workflow, query: &Query) -> Result<Decision, Refused> {
    if let Speaker::Role(name) = &query.source {
        let undeclared = workflow.role_named(name).is_none();
        if undeclared && query.undeclared_roles && workflow.domain_of(name).is_some() {
            return undeclared_role(workflow, name, query);
        }
    }
    let facts = Facts::read(workflow, query).map_err(Refused::Query)?;
    if facts.ended {
        let message = "the group has ended: nothing can be reported on it";
        return Err(Rejection::new(Code::GroupEnded, message).into());
    }
    let scene = scene::Scene::build(workflow, query, &facts).map_err(Refused::Query)?;
    let inputs = Inputs { now: Timestamp(0) };
    let cx = Cx { workflow, state: &scene.state, inputs: &inputs };
    Ok(scene.decide(&cx, query, &facts)?)
}

/// Who helps a blocked role.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Helper {
    Role(Name),
    Person,
}

/// The answer of the blocked table, for a role on its own: as an agent without an orchestrator reads it.
pub fn blocked_answer(workflow: &Workflow, role: &str, reason: Option<&str>) -> Option<Helper> {
    let rule = blocked_rule(workflow, role, reason)?;
    if let Verb::Consult(Target::Role(ix)) = rule.verb {
        return Some(Helper::Role(workflow.role(ix).name.clone()));
    }
    Some(Helper::Person)
}

fn blocked_rule<'a>(workflow: &'a Workflow, role: &str, reason: Option<&str>) -> Option<&'a Rule> {
    let declared = workflow.role_named(role);
    let domain = workflow.domain_of(role);
    workflow.rules.iter().find(|rule| {
        let speaks = match &rule.source {
            Source::Roles { roles, domains } => match declared {
                Some(ix) => roles.contains(ix.index()),
                None => domain.is_some_and(|domain| domains.contains(domain.index())),
            },
            Source::Gate(_) | Source::Question(_) => false,
        };
        let fits = rule.reason.is_none() || rule.reason.as_deref() == reason;
        let free = !matches!(rule.verb, Verb::Consult(Target::Role(ix)) if workflow.role(ix).name == role);
        rule.blocks && speaks && fits && free && !rule.climbs
    })
}

fn undeclared_role(workflow: &Workflow, name: &Name, query: &Query) -> Result<Decision, Refused> {
    let status = workflow.status_index.get(normalise_status(&query.status).as_str()).copied();
    let blocked = workflow.blocked.as_ref().filter(|blocked| status == Some(blocked.status));
    let reason = query.reason.as_ref().or_else(|| query.given.get("reason"));
    let rule = blocked.and_then(|_| blocked_rule(workflow, name, reason.map(Name::as_str)));
    let Some(rule) = rule else {
        let message = format!("the workflow has no role `{name}`; without a declaration it can only be blocked");
        return Err(Refused::Query(vec![Problem::new(Code::UnknownRole, message)]));
    };
    Ok(scene::decision_of_cell(workflow, rule))
}
