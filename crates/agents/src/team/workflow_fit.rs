//! Whether a team fits a workflow, and what it says that can never come to pass.

use std::collections::BTreeSet;
use std::env;

use interlock_core::code::Code;
use interlock_core::handoff;
use interlock_core::id::Name;
use interlock_core::problem::Problem;
use interlock_core::suggest;
use interlock_core::workflow::Workflow;
use serde_json::Value as Json;

use crate::UsageReporting;
use crate::find_program;
use crate::team::{AgentTeam, BudgetLimit, DefaultReply, NotificationSettings, RoleAgent};

/// The programs that tell people.
pub const DESKTOP: &str = "notify-send";
pub const WEBHOOK: &str = "curl";

impl AgentTeam {
    /// Roles of a workflow that no agent plays.
    pub fn unplayed(&self, workflow: &Workflow) -> Vec<Name> {
        roles(workflow).filter(|role| self.part(role).is_none()).cloned().collect()
    }

    /// Roles of the file that the workflow does not have. It may be written for several workflows.
    pub fn strangers(&self, workflow: &Workflow) -> Vec<Problem> {
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
    pub fn wrong_defaults(&self, workflow: &Workflow) -> Vec<Problem> {
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
                DefaultReply::Option(option) => option,
                DefaultReply::Text(text) => {
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

    /// The schema that the agent of a role must follow, if its client accepts it.
    pub fn schema(part: &RoleAgent, workflow: &Workflow) -> Option<Json> {
        let schema = part.structured.then(|| handoff::schema_for_assignment(workflow))?;
        part.client.takes_schema(&schema).then_some(schema)
    }

    /// Agents that cannot be held to the schema of this workflow's handoffs.
    pub fn unstructured(&self, workflow: &Workflow) -> Vec<String> {
        let loose = |part: &&RoleAgent| part.structured && Self::schema(part, workflow).is_none();
        let all = self.everybody().into_iter().filter(|(_, part)| loose(part));
        all.map(|(name, part)| {
            let client = part.client.name();
            format!(
                "agent `{name}`: {client} does not take the schema of these handoffs, so `structured` has no effect"
            )
        })
        .collect()
    }

    /// Budgets that an agent may never reach, because it does not tell what they are in.
    pub fn untold(&self) -> BTreeSet<String> {
        let everybody = self.parts.values().chain(self.any.as_ref());
        everybody
            .filter_map(|part| untold(part, [&self.session_budget, &self.group_budget, &part.budget, &part.each]))
            .collect()
    }
}

impl NotificationSettings {
    /// Ways of telling people that cannot work here.
    pub fn wrong(&self) -> Vec<String> {
        let path = env::var("PATH").unwrap_or_default();
        let command = self.command.iter().filter_map(|line| line.first().map(String::as_str));
        let desktop = self.desktop.then_some(DESKTOP).into_iter();
        let webhook = self.webhook_env.is_some().then_some(WEBHOOK).into_iter();
        let missing = |program: &&str| find_program(program, Some(&path)).is_none();
        let programs = command.chain(desktop).chain(webhook).filter(missing);
        let mut wrong: Vec<String> = programs.map(|program| format!("the program `{program}` is not there")).collect();
        let unset =
            self.webhook_env.iter().filter(|name| env::var_os(name.as_str()).is_none_or(|value| value.is_empty()));
        wrong.extend(unset.map(|name| format!("the variable `{name}` is not set: no webhook is told")));
        wrong
    }

    pub fn is_any(&self) -> bool {
        self.desktop || self.command.is_some() || self.webhook_env.is_some()
    }
}

fn roles(workflow: &Workflow) -> impl Iterator<Item = &Name> + Clone {
    workflow.roles.iter().filter(|role| !role.by_interlock).map(|role| &role.name)
}

fn untold(part: &RoleAgent, budgets: [&BudgetLimit; 4]) -> Option<String> {
    let UsageReporting { tokens, cost } = part.client.tells();
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
