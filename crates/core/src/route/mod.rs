//! The pure decision on a described state: nothing is stored.
//!
//! A described state is built as a real one and decided by the same code.

mod blocked_cell;
mod described_facts;
mod described_position;
mod described_state;
mod state_builder;

use std::collections::BTreeMap;

use crate::command::DecisionInputs;
use crate::decide::DecisionContext;
use crate::decision::Decision;
use crate::id::{Name, Timestamp};
use crate::problem::Problem;
use crate::rejection::Rejection;
use crate::workflow::*;

pub use blocked_cell::{BlockedHelper, blocked_answer};
pub use described_facts::DescribedFacts;

/// The reporter, the status and the state that a query describes.
#[derive(Clone, Debug)]
pub struct RouteQuery {
    pub source: RouteSource,
    /// The status, the option chosen, or `pass` and `fail`.
    pub status: Name,
    pub reason: Option<Name>,
    pub phase: Option<Name>,
    /// Settings, flags, facts and the rest of the state, by name.
    pub given: BTreeMap<Name, Name>,
    pub scope: Option<RouteScope>,
    /// A role that is not declared still gets answers from `blocked` if its name tells a domain.
    pub undeclared_roles: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RouteSource {
    Role(Name),
    Gate(Name),
    Question(Name),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RouteScope {
    Group,
    Session,
}

/// Why there is no decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RouteError {
    /// The question makes no sense for this workflow.
    Query(Vec<Problem>),
    /// The workflow refuses the report.
    Workflow(Box<Rejection>),
}

impl From<Rejection> for RouteError {
    fn from(rejection: Rejection) -> Self {
        RouteError::Workflow(Box::new(rejection))
    }
}

/// The decision that would follow.
pub fn route(workflow: &Workflow, query: &RouteQuery) -> Result<Decision, RouteError> {
    if let RouteSource::Role(name) = &query.source {
        let undeclared = workflow.role_named(name).is_none();
        if undeclared && query.undeclared_roles && workflow.domain_of(name).is_some() {
            return blocked_cell::undeclared_role(workflow, name, query);
        }
    }
    let facts = DescribedFacts::read(workflow, query).map_err(RouteError::Query)?;
    facts.check_group_open()?;
    let scene = described_state::DescribedState::build(workflow, query, &facts)
        .map_err(|problem| RouteError::Query(vec![problem]))?;
    let inputs = DecisionInputs { now: Timestamp(0) };
    let cx = DecisionContext { workflow, state: &scene.state, inputs: &inputs, tree: None, feature_directory: None };
    let mut decision = scene.decide(&cx, query, &facts)?;
    decision.warnings.extend(facts.idle_reason(workflow, query));
    Ok(decision)
}
