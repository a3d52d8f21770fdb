//! Claims of an agent about its work, compared with Interlock's own observations.

use std::sync::Arc;

use interlock_core::code::Code;
use interlock_core::id::Name;
use interlock_core::observed::ObservedChanges;
use interlock_core::workflow::{AssignmentTask, normalise_status};
use serde_json::{Value as Json, json};

use crate::git::{CommitMessage, GitHash, WorkspaceChanges};
use crate::merge::{self, MergeOutcome};
use crate::observe::WorkDiff;
use crate::run_context::JobOutcome;
use crate::scope::RefusedPath;
use crate::turn::claimed_files::{ClaimedFile, TrueChanges, claimed_files};
use crate::turn::tests_claim::claims_tests;
use crate::turn::{AgentTurn, SubmissionOutcome};
use crate::workspaces::format_file_list;
use interlock_app::error::CommandError;
use interlock_prompt as brief;
use interlock_system::sanitise;

/// Names of denied or unclaimed files in one message.
const MOST_NAMED: usize = 20;

impl AgentTurn<'_> {
    /// Protected paths that this turn changed, though its role does not own them and no person allowed them.
    pub(super) fn protected_changes(&self, changes: &WorkspaceChanges) -> Vec<RefusedPath> {
        let paths: Vec<(String, bool)> =
            changes.entries.iter().map(|entry| (entry.path.to_string_lossy().into_owned(), entry.leads_on)).collect();
        let workflow = &self.crew.workflow;
        let role = workflow.role_named(&self.call.role).map(|ix| workflow.role(ix));
        let paths = paths.iter().map(|(path, leads_on)| (path.as_str(), *leads_on));
        let mut refused = self.crew.observer.protected.refused(paths.clone(), role, &self.call.allowed);
        refused.extend(
            self.call
                .limits
                .iter()
                .flat_map(|limit| limit.refused(paths.clone().map(|(path, _)| path), &self.call.allowed)),
        );
        refused
    }

    /// The diff of the work with this turn in it. A handoff that names files which the diff denies goes back.
    pub(super) fn observe(
        &self,
        json: &Json,
        changes: &WorkspaceChanges,
        commit: Option<&GitHash>,
    ) -> Result<Result<Option<Arc<ObservedChanges>>, SubmissionOutcome>, CommandError> {
        let (site, observer) = (&self.crew.site, &self.crew.observer);
        let in_group = self.call.group.is_some();
        if !in_group && commit.is_none() {
            return Ok(Ok(None));
        }
        // Outside of groups, what others have merged since the session began is not this work.
        let base = if in_group { &self.base } else { &self.bench.head };
        let head = commit.unwrap_or(&self.bench.head);
        let diff = observer.diff(site, &self.bench, base, head, commit.map(|_| changes))?;
        let claims = if commit.is_some() { claimed_files(json) } else { Vec::new() };
        let denied = self.denied_claims(&claims, &diff, changes)?;
        if !denied.is_empty() {
            return Ok(Err(SubmissionOutcome::Denied {
                problems: vec![denied_message(&denied, &diff)],
                most: u32::MAX,
            }));
        }
        let unclaimed = unclaimed(&claims, changes);
        Ok(Ok(Some(observer.record(site, &diff, unclaimed, &self.call.limits)?)))
    }

    /// Claimed paths that the diff denies, each with the field that claims it and whether the file exists at all.
    fn denied_claims(
        &self,
        claims: &[ClaimedFile],
        diff: &WorkDiff,
        changes: &WorkspaceChanges,
    ) -> Result<Vec<DeniedClaim>, CommandError> {
        let paths = diff.files.iter().map(|(path, _)| path).chain(&changes.files);
        let files = paths.map(|path| path.to_string_lossy().into_owned()).collect();
        let folder = self.bench.workspace.folder.as_path();
        let known = TrueChanges { files, roots: [folder, &self.crew.site.project.root] };
        let mut denied: Vec<DeniedClaim> = Vec::new();
        for claim in claims {
            if let Some(path) = known.denied(claim) {
                let exists = folder.join(&path).exists();
                denied.push(DeniedClaim { field: claim.field.clone(), path, exists });
            }
        }
        if denied.is_empty() {
            return Ok(denied);
        }
        let paths: Vec<String> = denied.iter().map(|claim| claim.path.clone()).collect();
        let ignored = self.bench.workspace.untracked_by_rule(&paths)?;
        denied.retain(|claim| !ignored.contains(&claim.path));
        Ok(denied)
    }

    /// An agent that says that it has merged: Interlock makes that merge now. Files that the agent changed meanwhile are not
    /// those that were tested and approved, so they are not merged yet.
    /// Else, whether the merge was empty.
    pub(super) fn false_merge(
        &self,
        json: &Json,
        commit: Option<&GitHash>,
    ) -> Result<Result<bool, JobOutcome>, CommandError> {
        let (AssignmentTask::Merge, Some(group)) = (self.call.task, &self.call.group) else { return Ok(Ok(false)) };
        let said = json.get("status").and_then(Json::as_str).map(normalise_status);
        let success = self.crew.workflow.find_merge_statuses().success;
        if said.is_none() || said != success.map(|word| normalise_status(&word)) {
            return Ok(Ok(false));
        }
        let commit = match commit {
            Some(commit) => commit.clone(),
            None => self.crew.site.head(group, &self.call.open)?,
        };
        if self.crew.site.vault.tree(&commit)? != self.crew.site.vault.tree(&self.bench.begun)? {
            return merge::resolved(self.crew, self.call).map(Err);
        }
        match merge::try_group_merge(self.crew, self.call, group, &commit, self.control)? {
            MergeOutcome::In(merge) => Ok(Ok(merge.is_empty)),
            MergeOutcome::Out(said) => merge::report(self.crew, self.call, &said).map(Err),
            MergeOutcome::Stopped => Ok(Err(JobOutcome::Stopped)),
        }
    }

    /// The output of the commands for completion that contradicts the claim of a handoff that tests pass. `None`: the
    /// claim is true, or nothing is known.
    pub(super) fn false_claim(&self, json: &Json, tree: &GitHash) -> Result<Option<String>, CommandError> {
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
    pub(super) fn undoes(&mut self, commit: &GitHash) -> Result<Option<SubmissionOutcome>, CommandError> {
        let site = &self.crew.site;
        let Some((onto, tree)) = site.own_merge(commit)? else { return Ok(None) };
        let checks = self.crew.checks_of_merge(self.call)?;
        if checks.is_empty() || site.vault.tree(&onto)? == tree {
            return Ok(None);
        }
        let who = site.who(&self.call.role);
        let merge = site.vault.commit(&tree, &[&onto, commit], &who, &CommitMessage::new("The session's own work"))?;
        let Some(result) = self.crew.check_merge(&merge, &checks, self.control)? else {
            return Ok(Some(SubmissionOutcome::Settled(JobOutcome::Stopped)));
        };
        if result.passed {
            return Ok(None);
        }
        site.catch_up(&mut self.bench, commit, onto)?;
        let of = result.other_group(None).map(|group| format!(", a check of {group},")).unwrap_or_default();
        let output = brief::quoted("commands that Interlock ran", &result.output);
        Ok(Some(SubmissionOutcome::Back(vec![format!(
            "`{}`{of} passes on what is merged, and fails with what you changed; your folder has the merged files\n\n{output}",
            sanitise::line(&result.failed_line)
        )])))
    }
}

/// A path that a handoff names as changed and that the diff does not have.
struct DeniedClaim {
    field: String,
    path: String,
    exists: bool,
}

fn denied_message(denied: &[DeniedClaim], diff: &WorkDiff) -> String {
    let named = denied.iter().take(MOST_NAMED).map(|claim| {
        let missing = if claim.exists { "" } else { ", which does not exist" };
        format!("`{}` in `{}`{missing}", sanitise::line(&claim.path), sanitise::line(&claim.field))
    });
    let mut names: Vec<String> = named.collect();
    if denied.len() > names.len() {
        names.push(format!("{} more", denied.len() - names.len()));
    }
    let files: Vec<String> = diff.files.iter().map(|(path, _)| path.to_string_lossy().into_owned()).collect();
    let has = if files.is_empty() { "is empty".to_owned() } else { format!("has {}", format_file_list(&files)) };
    format!(
        "{}: the handoff names files that were not changed: {}. The diff of the work {has}. Name only files of the diff, or make \
         the changes",
        Code::FilesNotChanged,
        names.join("; ")
    )
}

/// Files that this turn changed and that the handoff does not name, where it names any.
fn unclaimed(claims: &[ClaimedFile], changes: &WorkspaceChanges) -> Vec<Name> {
    if claims.is_empty() {
        return Vec::new();
    }
    let is_named = |path: &str| claims.iter().any(|claim| claim.names(path));
    let paths = changes.files.iter().map(|path| path.to_string_lossy().into_owned());
    paths.filter(|path| !is_named(path)).take(ObservedChanges::MOST_UNCLAIMED).map(Name::from).collect()
}
