//! Whether a team fits a workflow, and what it says that can never come to pass.

use std::collections::BTreeSet;

use interlock_core::code::Code;
use interlock_core::id::Name;
use interlock_core::problem::Problem;
use interlock_core::suggest;
use interlock_core::workflow::Workflow;

use crate::agents::Tells;
use crate::team::{Allowance, Part, Reply, Team};

impl Team {
    /// Roles of a workflow that nobody plays.
    pub(crate) fn unplayed(&self, workflow: &Workflow) -> Vec<Name> {
        roles(workflow).filter(|role| self.part(role).is_none()).cloned().collect()
    }

    /// Roles of the file that the workflow does not have. It may be written for several workflows.
    pub(crate) fn strangers(&self, workflow: &Workflow) -> Vec<Problem> {
        let known = || roles(workflow).map(Name::as_str);
        let strange = self.named.iter().filter(|named| known().all(|role| role != named.value.as_str()));
        strange
            .map(|named| {
                let message = format!("workflow `{}` has no role `{}`", workflow.name, named.value);
                let help = suggest::help(&named.value, known().collect::<Vec<_>>());
                Problem::new(Code::UnknownRole, message).maybe_help(help).at(named.place.clone())
            })
            .collect()
    }

    /// Answers to questions that the workflow does not ask, or that it does not take.
    pub(crate) fn wrong_defaults(&self, workflow: &Workflow) -> Vec<Problem> {
        let mut problems = Vec::new();
        for (name, fallback) in &self.defaults {
            let Some(question) = workflow.questions.iter().find(|question| question.name == *name) else {
                let message = format!("workflow `{}` has no question `{name}`", workflow.name);
                let known: Vec<&str> = workflow.questions.iter().map(|question| question.name.as_str()).collect();
                let problem = Problem::new(Code::BadAgent, message).maybe_help(suggest::help(name, known));
                problems.push(problem.at(fallback.place.clone()));
                continue;
            };
            let option = match &fallback.answer {
                Reply::Option(option) => option,
                Reply::Text(text) => {
                    if question.free.is_none() {
                        let message = format!("question `{name}` takes no text");
                        let known: Vec<&str> = question.options.iter().map(|(option, _)| option.as_str()).collect();
                        let help = format!("give it an `option`: {}", known.join(", "));
                        problems.push(Problem::new(Code::BadAgent, message).help(help).at(text.place.clone()));
                    }
                    continue;
                }
            };
            // Where a handoff may bring options of its own, they are known only when it is there.
            if question.free.is_none() && question.options.iter().all(|(known, _)| *known != option.value) {
                let message = format!("question `{name}` has no option `{}`", option.value);
                let known: Vec<&str> = question.options.iter().map(|(option, _)| option.as_str()).collect();
                let problem = Problem::new(Code::BadAgent, message).maybe_help(suggest::help(&option.value, known));
                problems.push(problem.at(option.place.clone()));
            }
        }
        problems
    }

    /// Budgets that an agent may never reach, because it does not tell what they are in.
    pub(crate) fn untold(&self) -> BTreeSet<String> {
        let everybody = self.parts.values().chain(self.any.as_ref());
        everybody
            .filter_map(|part| untold(part, [&self.session_budget, &self.group_budget, &part.budget, &part.each]))
            .collect()
    }
}

fn roles(workflow: &Workflow) -> impl Iterator<Item = &Name> + Clone {
    workflow.roles.iter().filter(|role| !role.by_interlock).map(|role| &role.name)
}

fn untold(part: &Part, budgets: [&Allowance; 4]) -> Option<String> {
    let Tells { tokens, cost } = part.client.tells();
    let has_cost = !cost && budgets.iter().any(|budget| budget.cost.is_some());
    let has_tokens = !tokens && budgets.iter().any(|budget| budget.tokens.is_some());
    let what = match (has_cost, has_tokens) {
        (false, false) => return None,
        (true, false) => "its cost",
        (false, true) => "its tokens",
        (true, true) => "its cost and its tokens",
    };
    let instead = if tokens { "`tokens` or `time`" } else { "`time`" };
    Some(format!(
        "agent `{}` is not known to tell {what}: a budget of that may never be reached; give it {instead} as well",
        part.agent
    ))
}
