//! The answer of the blocked table to a role on its own.

use crate::code::Code;
use crate::decide::{DOMAIN, REASON};
use crate::decision::{Action, Decision, FactValue, Next, Put};
use crate::id::{DecisionId, Name, QuestionId};
use crate::problem::Problem;
use crate::route::scene::ID;
use crate::route::{Facts, Query, Refused};
use crate::workflow::{Rule, Source, Target, Verb, Workflow, normalise_status};

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

pub(super) fn undeclared_role(workflow: &Workflow, name: &Name, query: &Query) -> Result<Decision, Refused> {
    let facts = Facts::read(workflow, query).map_err(Refused::Query)?;
    facts.at_work()?;
    let status = workflow.status_index.get(normalise_status(&query.status).as_str()).copied();
    let blocked = workflow.blocked.as_ref().filter(|blocked| status == Some(blocked.status));
    let rule = blocked.and_then(|_| blocked_rule(workflow, name, facts.reason.as_deref()));
    let Some(rule) = rule else {
        let message = format!("the workflow has no role `{name}`; without a declaration it can only be blocked");
        return Err(Refused::Query(vec![Problem::new(Code::UnknownRole, message)]));
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
        action: Action::Ask,
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
    if let Verb::Consult(Target::Role(ix)) = rule.verb {
        let role = workflow.role(ix);
        decision.action = Action::Spawn;
        decision.next.push(Next {
            assignment: ID,
            role: role.name.clone(),
            group: None,
            attempt: 1,
            model: role.model.clone(),
            because: Vec::new(),
        });
    } else if let Verb::Ask(ix) = rule.verb {
        let question = workflow.question(ix);
        decision.question = Some(Put {
            question: QuestionId(1),
            name: question.name.clone(),
            text: question.text.clone(),
            options: question.options.iter().map(|(name, _)| name.clone()).collect(),
        });
    }
    decision
}
