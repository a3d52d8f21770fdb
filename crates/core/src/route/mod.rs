//! The pure decision on a state that somebody describes: nothing is stored.
//!
//! A described state is built as a real one and decided by the same code.

mod cell;
mod given;
mod place;
mod scene;
mod seed;

use std::collections::BTreeMap;

use crate::command::Inputs;
use crate::decide::Cx;
use crate::decision::Decision;
use crate::id::{Name, Timestamp};
use crate::problem::Problem;
use crate::rejection::Rejection;
use crate::workflow::*;

pub use cell::{Helper, blocked_answer};
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
            return cell::undeclared_role(workflow, name, query);
        }
    }
    let facts = Facts::read(workflow, query).map_err(Refused::Query)?;
    facts.at_work()?;
    let scene = scene::Scene::build(workflow, query, &facts).map_err(|problem| Refused::Query(vec![problem]))?;
    let inputs = Inputs { now: Timestamp(0) };
    let cx = Cx { workflow, state: &scene.state, inputs: &inputs, tree: None, feature_directory: None };
    let mut decision = scene.decide(&cx, query, &facts)?;
    decision.warnings.extend(facts.idle_reason(workflow, query));
    Ok(decision)
}
