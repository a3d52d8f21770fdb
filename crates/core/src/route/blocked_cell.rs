//! The answer of the blocked table to a role on its own.

use crate::code::Code;
use crate::decide::{DOMAIN, REASON};
use crate::decision::{Decision, DecisionAction, DecisionQuestion, FactValue, NextAssignment};
use crate::id::{DecisionId, Name, QuestionId};
use crate::problem::Problem;
use crate::route::described_state::ID;
use crate::route::{DescribedFacts, RouteError, RouteQuery};
use crate::workflow::{RoleTarget, Rule, RuleSource, RuleVerb, Workflow, normalise_status};

/// The helper of a blocked role.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BlockedHelper {
    Role(Name),
    Person,
}

/// The answer of the blocked table, for a role on its own: as an agent without an orchestrator reads it.
pub fn blocked_answer(workflow: &Workflow, role: &str, reason: Option<&str>) -> Option<BlockedHelper> {
    let rule = blocked_rule(workflow, role, reason)?;
    if let RuleVerb::Consult(RoleTarget::Role(ix)) = rule.verb {
        return Some(BlockedHelper::Role(workflow.role(ix).name.clone()));
    }
    Some(BlockedHelper::Person)
}

fn blocked_rule<'a>(workflow: &'a Workflow, role: &str, reason: Option<&str>) -> Option<&'a Rule> {
    let declared = workflow.role_named(role);
    let domain = workflow.domain_of(role);
    workflow.rules.iter().find(|rule| {
        let speaks = match &rule.source {
            RuleSource::Roles { roles, domains } => match declared {
                Some(ix) => roles.contains(ix.index()),
                None => domain.is_some_and(|domain| domains.contains(domain.index())),
            },
            RuleSource::Gate(_) | RuleSource::Question(_) => false,
        };
        let fits = rule.reason.is_none() || rule.reason.as_deref() == reason;
        let free = !matches!(rule.verb, RuleVerb::Consult(RoleTarget::Role(ix)) if workflow.role(ix).name == role);
        rule.blocks && speaks && fits && free && !rule.climbs
    })
}

pub(super) fn undeclared_role(workflow: &Workflow, name: &Name, query: &RouteQuery) -> Result<Decision, RouteError> {
    let facts = DescribedFacts::read(workflow, query).map_err(RouteError::Query)?;
    facts.check_group_open()?;
    let status = workflow.status_index.get(normalise_status(&query.status).as_str()).copied();
    let blocked = workflow.blocked.as_ref().filter(|blocked| status == Some(blocked.status));
    let rule = blocked.and_then(|_| blocked_rule(workflow, name, facts.reason.as_deref()));
    let Some(rule) = rule else {
        let message = format!("the workflow has no role `{name}`; without a declaration it can only be blocked");
        return Err(RouteError::Query(vec![Problem::new(Code::UnknownRole, message)]));
    };
    let mut decision = decision_of_cell(workflow, rule);
    let domain = workflow.domain_of(name).and_then(|ix| workflow.domains.get(ix.index()));
    let domain = domain.map(|domain| (DOMAIN.clone(), FactValue::Text(domain.name.clone())));
    let reason = facts.reason.map(|reason| (REASON.clone(), FactValue::Text(reason)));
    decision.facts.extend(reason.into_iter().chain(domain));
    Ok(decision)
}

/// The cell of the blocked table, as a decision.
fn decision_of_cell(workflow: &Workflow, rule: &Rule) -> Decision {
    let mut decision = Decision {
        id: DecisionId(1),
        action: DecisionAction::Ask,
        rule: rule.id.clone(),
        next: Vec::new(),
        question: None,
        gate: None,
        waits_for: None,
        judgement: None,
        context: rule.with.clone(),
        absent: Vec::new(),
        because: Vec::new(),
        overrides: Vec::new(),
        facts: Vec::new(),
        warnings: Vec::new(),
        escalated: false,
    };
    if let RuleVerb::Consult(RoleTarget::Role(ix)) = rule.verb {
        let role = workflow.role(ix);
        decision.action = DecisionAction::Spawn;
        decision.next.push(NextAssignment {
            assignment: ID,
            role: role.name.clone(),
            group: None,
            attempt: 1,
            model: role.model.clone(),
            because: Vec::new(),
        });
    } else if let RuleVerb::Ask(ix) = rule.verb {
        let question = workflow.question(ix);
        decision.question = Some(DecisionQuestion {
            question: QuestionId(1),
            name: question.name.clone(),
            text: question.text.clone(),
            options: question.options.iter().map(|(name, _)| name.clone()).collect(),
        });
    }
    decision
}
