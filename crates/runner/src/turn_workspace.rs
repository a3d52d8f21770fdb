//! The workspace of one agent, and the changes that it makes there.

use std::collections::BTreeSet;
use std::path::PathBuf;

use interlock_core::code::Code;
use interlock_core::id::Name;
use interlock_core::workflow::WritePermission;
use serde_json::Value as Json;

use crate::conflicts::PendingConflicts;
use crate::git::{GitHash, GitResult, Workspace, WorkspaceChanges};
use crate::scope::{RefusedPath, files_outside_of};
use crate::workspaces::{OF_SESSION, SessionWorkspaces, format_file_list};
use interlock_system::sanitise;

/// Protected paths that one message names.
const MOST_REFUSED: usize = 12;

/// A workspace, ready for an agent.
pub(super) struct TurnWorkspace {
    pub(super) workspace: Workspace,
    /// The latest commit of the group.
    pub(super) head: GitHash,
    /// The parents of the agent's commit.
    pub(super) parents: Vec<GitHash>,
    /// The files that it was given.
    pub(super) begun: GitHash,
    /// Conflicts for the agent to settle.
    pub(super) conflicts: Option<PendingConflicts>,
    pub(super) name: String,
    pub(super) role: Name,
}

impl TurnWorkspace {
    /// Whether no agent has changed anything in it yet.
    pub(super) fn is_untouched(&self, site: &SessionWorkspaces) -> bool {
        self.begun == self.head && site.vault.base().is_ok_and(|base| base == self.head)
    }

    /// The commit that its work is compared with: where the group began, or the merged work that it was last combined
    /// with.
    pub(super) fn base(&self, site: &SessionWorkspaces) -> GitResult<GitHash> {
        if self.name == OF_SESSION {
            return site.vault.base();
        }
        if let Some(onto) = site.vault.merge_target(&self.name)?
            && (self.parents.contains(&onto) || site.vault.contains(&self.head, &onto)?)
        {
            return Ok(onto);
        }
        site.vault.group_base(&self.name)
    }

    /// Changes that the agent made to the files.
    pub(super) fn changes(&self, writes: &WritePermission) -> GitResult<WorkspaceChanges> {
        let unchanged = match writes {
            WritePermission::Nothing => self.workspace.unchanged(&self.head)?,
            WritePermission::Everything | WritePermission::Only(_) => None,
        };
        match unchanged {
            Some(unchanged) => Ok(unchanged),
            // Merged work of others is not a change of the agent's.
            None => self.workspace.changes(&self.begun),
        }
    }

    /// As if the agent had done nothing.
    pub(super) fn restore(&self, site: &SessionWorkspaces) -> GitResult<()> {
        self.workspace.show(&self.head, &site.project)?;
        if self.begun == self.head { Ok(()) } else { self.workspace.lay_out(&self.begun) }
    }

    /// Undoes what the role may not do. Other work of an author stays, unless nothing of the folder can be read. Says what was
    /// undone.
    pub(super) fn undo(
        &self,
        site: &SessionWorkspaces,
        changes: &WorkspaceChanges,
        writes: &WritePermission,
        protected: &[RefusedPath],
    ) -> GitResult<String> {
        let files: Vec<String> = changes.files.iter().map(|file| file.to_string_lossy().into_owned()).collect();
        let refused: BTreeSet<String> = files_outside_of(&files, writes)
            .into_iter()
            .chain(protected.iter().map(|refused| refused.path.clone()))
            .chain(changes.astray.iter().cloned())
            .collect();
        let is_known = changes.refused.is_none() && changes.repositories.is_empty();
        if *writes == WritePermission::Nothing || !is_known || refused.len() == files.len() {
            self.restore(site)?;
            return Ok("all that you changed was undone: the files are as they were when you began".to_owned());
        }
        // A name that is not UTF-8 is shown with replacements, so the paths come from the changes themselves.
        let is_refused = |file: &&PathBuf| refused.contains(file.to_string_lossy().as_ref());
        let paths = changes.files.iter().filter(is_refused).cloned().collect();
        self.workspace.undo(&changes.tree, &paths, &self.begun)?;
        let refused: Vec<String> = refused.into_iter().collect();
        Ok(format!("these changes were undone, and your other changes are still there: {}", format_file_list(&refused)))
    }

    /// Changes that the role of the agent may not make.
    pub(super) fn trespasses(
        &self,
        changes: &WorkspaceChanges,
        writes: &WritePermission,
        protected: &[RefusedPath],
    ) -> Vec<String> {
        if let Some(why) = &changes.refused {
            return vec![format!("the files in your folder cannot be accepted: {why}")];
        }
        let mut problems = Vec::new();
        if !changes.repositories.is_empty() {
            let list = format_file_list(&changes.repositories);
            problems.push(format!("repositories within the project cannot be accepted, only their files: {list}"));
        }
        let files: Vec<String> = changes.files.iter().map(|file| file.to_string_lossy().into_owned()).collect();
        let outside = files_outside_of(&files, writes);
        if !outside.is_empty() {
            let may = match writes {
                WritePermission::Everything => "everything".to_owned(),
                WritePermission::Nothing => "no file".to_owned(),
                WritePermission::Only(patterns) => {
                    patterns.iter().map(|pattern| format!("`{pattern}`")).collect::<Vec<_>>().join(", ")
                }
            };
            problems.push(format!("{} may change {may}, and you changed {}", self.role, format_file_list(&outside)));
        }
        let (of_plan, of_workflow): (Vec<&RefusedPath>, Vec<&RefusedPath>) =
            protected.iter().partition(|refused| refused.is_by_plan());
        if !of_workflow.is_empty() {
            problems.push(refused_message(&self.role, &of_workflow));
        }
        if !of_plan.is_empty() {
            problems.push(beyond_plan_message(&of_plan));
        }
        if !changes.astray.is_empty() {
            problems.push(format!("links must not lead out of the project: {}", format_file_list(&changes.astray)));
        }
        problems
    }

    /// Conflicts that the agent has not settled, and files that it left where they would be lost.
    pub(super) fn unsettled(&self, changes: &WorkspaceChanges, handoff: &Json) -> Vec<String> {
        let folder = &self.workspace.folder;
        let all = self.conflicts.as_ref().map(|all| all.unsettled(folder, &changes.files, handoff));
        let mut problems = all.unwrap_or_default();
        if !changes.strays.is_empty() {
            let strays: Vec<String> = changes.strays.iter().map(|file| file.to_string_lossy().into_owned()).collect();
            problems.push(format!(
                "files written into submodules cannot be accepted, and are lost: put them elsewhere in the project, or do without: {}",
                format_file_list(&strays)
            ));
        }
        problems
    }
}

/// Says which pattern protects each path, which role owns it, and how a person allows it.
/// The plan frees this group from requirements, so it may not change what they are for.
fn beyond_plan_message(refused: &[&RefusedPath]) -> String {
    let names: Vec<String> = refused.iter().map(|refused| refused.path.clone()).collect();
    let why = refused.first().map(|refused| refused.why()).unwrap_or_default();
    let patterns: BTreeSet<String> = refused.iter().take(MOST_REFUSED).map(|refused| refused.allowing()).collect();
    let allow: Vec<String> = patterns.iter().map(|pattern| format!("--allow '{}'", sanitise::line(pattern))).collect();
    let allow = allow.join(" ");
    format!(
        "{}: {why}, and you changed {}. If the work needs the change, report that you are blocked and name the paths: the manager \
         plans a group without that flag, or a person allows them with `interlock answer QUESTION {allow}`",
        Code::ProtectedPath,
        format_file_list(&names)
    )
}

fn refused_message(role: &str, refused: &[&RefusedPath]) -> String {
    let shown = refused.iter().take(MOST_REFUSED);
    let mut names: Vec<String> =
        shown.map(|refused| format!("`{}` ({})", sanitise::line(&refused.path), refused.why())).collect();
    if refused.len() > names.len() {
        names.push(format!("{} more", refused.len() - names.len()));
    }
    let patterns: BTreeSet<String> = refused.iter().take(MOST_REFUSED).map(|refused| refused.allowing()).collect();
    let allow: Vec<String> = patterns.iter().map(|pattern| format!("--allow '{}'", sanitise::line(pattern))).collect();
    let allow = allow.join(" ");
    format!(
        "{}: these paths are protected, because they judge or configure the work, and {role} does not own them: {}. If the work \
         needs the change, report that you are blocked and name the paths. A person allows them with `interlock run {allow}`, \
         or with `interlock answer QUESTION {allow}`",
        Code::ProtectedPath,
        names.join(", ")
    )
}
