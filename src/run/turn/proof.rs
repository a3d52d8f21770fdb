//! What an agent says of its work, held against what Interlock sees for itself.

use interlock_core::workflow::{Task, normalise_status};
use serde_json::{Value as Json, json};

use crate::brief;
use crate::failure::Failure;
use crate::git::{Hash, Message};
use crate::run::crew::Over;
use crate::run::merge::{self, Tried};
use crate::run::turn::claim::claims_tests;
use crate::run::turn::{Handed, Turn};
use crate::sanitise;

impl Turn<'_> {
    /// An agent that says that it has merged: Interlock makes that merge now. Files that the agent changed meanwhile are not
    /// those that were tested and approved, so they are not merged yet.
    pub(super) fn false_merge(&self, json: &Json, commit: Option<&Hash>) -> Result<Option<Over>, Failure> {
        let (Task::Merge, Some(group)) = (self.call.task, &self.call.group) else { return Ok(None) };
        let said = json.get("status").and_then(Json::as_str).map(normalise_status);
        let success = self.crew.workflow.merge_words().success;
        if said.is_none() || said != success.map(|word| normalise_status(&word)) {
            return Ok(None);
        }
        let commit = match commit {
            Some(commit) => commit.clone(),
            None => self.crew.site.head(group, &self.call.open)?,
        };
        if self.crew.site.vault.tree(&commit)? != self.crew.site.vault.tree(&self.bench.begun)? {
            return merge::resolved(self.crew, self.call).map(Some);
        }
        match merge::attempt(self.crew, self.call, group, &commit, self.control)? {
            Tried::In(_) => Ok(None),
            Tried::Out(said) => merge::report(self.crew, self.call, &said).map(Some),
            Tried::Stopped => Ok(Some(Over::Stopped)),
        }
    }

    /// What the commands that completion will ask for say to a handoff that claims that tests pass; `None` if it is true,
    /// or nothing is known.
    pub(super) fn false_claim(&self, json: &Json, tree: &Hash) -> Result<Option<String>, Failure> {
        if !claims_tests(json) {
            return Ok(None);
        }
        let checks = self.crew.checks_of_claim(self.call, json.get("groups").is_some())?;
        if checks.is_empty() {
            return Ok(None);
        }
        let result = self.crew.check_work(tree, &self.bench.head, &checks, self.control)?;
        Ok(result.filter(|result| !result.passed).map(|result| {
            format!("The handoff claims that tests pass. Interlock ran them on the same files:\n{}", result.output)
        }))
    }

    /// Commands of a plan, where the team wants none: what they would do is the planner's choice alone.
    pub(super) fn unwanted(&self, json: &Json) -> Vec<String> {
        let groups = json.get("groups").and_then(Json::as_array).filter(|_| !self.crew.team.checks.by_plan);
        let brings = |group: &Json| group.get("checks").is_some_and(|checks| !checks.is_null() && *checks != json!([]));
        let wanting = groups.into_iter().flatten().enumerate().filter(|(_, group)| brings(group));
        wanting
            .map(|(index, _)| {
                format!("`groups[{index}].checks`: here a plan brings no commands (`checks.plan` of the agents file is false); leave them out")
            })
            .collect()
    }

    /// Work outside of groups that undoes what groups have shown is not merged. To be called while the merges are held.
    pub(super) fn undoes(&mut self, commit: &Hash) -> Result<Option<Handed>, Failure> {
        let site = &self.crew.site;
        let Some((onto, tree)) = site.own_merge(commit)? else { return Ok(None) };
        let checks = self.crew.checks_of_merge(self.call)?;
        if checks.is_empty() || site.vault.tree(&onto)? == tree {
            return Ok(None);
        }
        let who = site.who(&self.call.role);
        let merge = site.vault.commit(&tree, &[&onto, commit], &who, &Message::new("The session's own work"))?;
        let Some(result) = self.crew.check_merge(&merge, &checks, self.control)? else {
            return Ok(Some(Handed::Settled(Over::Stopped)));
        };
        if result.passed {
            return Ok(None);
        }
        site.catch_up(&mut self.bench, commit, onto)?;
        let of = result.other_group(None).map(|group| format!(", a check of {group},")).unwrap_or_default();
        let output = brief::quoted("commands that Interlock ran", &result.output);
        Ok(Some(Handed::Back(vec![format!(
            "`{}`{of} passes on what is merged, and fails with what you changed; your folder has the merged files\n\n{output}",
            sanitise::line(&result.failed_line)
        )])))
    }
}
