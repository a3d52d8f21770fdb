//! The diff of a group's work, as Interlock sees it with each report.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use globset::GlobSet;
use interlock_core::id::Name;
use interlock_core::observed::{ChangedFile, FileChange, ObservedChanges};
use interlock_core::workflow::Workflow;

use crate::gates::GateFiles;
use crate::git::{GitHash, GitResult, WorkspaceChanges};
use crate::scope::{GroupLimit, INSTRUCTIONS, ProtectedPaths, files_in_project, glob_set};
use crate::turn_workspace::TurnWorkspace;
use crate::workspaces::{OF_SESSION, SessionWorkspaces};

/// A diff, and the two commits that it lies between.
#[derive(Clone)]
pub(super) struct WorkDiff {
    base: GitHash,
    commit: GitHash,
    pub(super) files: Arc<Vec<(PathBuf, FileChange)>>,
}

/// The patterns and files that all turns of a run compare the work with.
pub(super) struct ChangeObserver {
    pub(super) protected: ProtectedPaths,
    test_files: GlobSet,
    instructions: GlobSet,
    /// Files that gates run or read their commands from.
    gate_files: BTreeSet<String>,
    /// The last diff of each workspace. Reviewers report on the commit that the author left: it is not computed again.
    last: Mutex<BTreeMap<String, WorkDiff>>,
}

impl ChangeObserver {
    /// `sources`: the files of the workflow, and the agents file. `prepare`: commands of the agents file.
    pub(super) fn new(
        workflow: &Workflow,
        sources: &[(String, String)],
        prepare: &[Vec<String>],
        project: &Path,
    ) -> Self {
        let gate_files = GateFiles::of(workflow, prepare, project);
        Self {
            protected: ProtectedPaths::new(workflow, &files_in_project(sources, project), &gate_files.scripts),
            instructions: glob_set(INSTRUCTIONS.iter().copied(), true),
            test_files: glob_set(workflow.test_files.iter().map(Name::as_str), true),
            gate_files: gate_files.scripts.into_iter().chain(gate_files.configuration).collect(),
            last: Mutex::default(),
        }
    }

    /// The diff from where the work began to a commit. `changes` is what this turn did.
    pub(super) fn diff(
        &self,
        site: &SessionWorkspaces,
        bench: &TurnWorkspace,
        base: &GitHash,
        commit: &GitHash,
        changes: Option<&WorkspaceChanges>,
    ) -> GitResult<WorkDiff> {
        if let Some(known) = self.known(&bench.name).filter(|known| known.base == *base && known.commit == *commit) {
            return Ok(known);
        }
        let mut files: Vec<(PathBuf, FileChange)> = match changes {
            // The turn began where the group did: its changes are the diff.
            Some(changes) if bench.begun == *base => {
                changes.entries.iter().map(|entry| (entry.path.clone(), entry.change)).collect()
            }
            _ if base == commit => Vec::new(),
            _ => site.vault.diff(base, commit)?,
        };
        files.sort_by(|(one, _), (other, _)| one.cmp(other));
        let diff = WorkDiff { base: base.clone(), commit: commit.clone(), files: Arc::new(files) };
        if bench.name != OF_SESSION {
            let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
            last.insert(bench.name.clone(), diff.clone());
        }
        Ok(diff)
    }

    fn known(&self, name: &str) -> Option<WorkDiff> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner).get(name).cloned()
    }

    /// As it is recorded with a report.
    pub(super) fn record(
        &self,
        site: &SessionWorkspaces,
        diff: &WorkDiff,
        unclaimed: Vec<Name>,
        limits: &[GroupLimit],
    ) -> GitResult<Arc<ObservedChanges>> {
        let listed = diff.files.iter().take(ObservedChanges::MOST_FILES);
        let files: Vec<ChangedFile> = listed
            .map(|(path, change)| ChangedFile {
                path: Name::from(path.to_string_lossy().into_owned()),
                change: *change,
                test: self.test_files.is_match(path),
                instructions: self.instructions.is_match(path),
                gate: path.to_str().is_some_and(|path| self.gate_files.contains(path)),
            })
            .collect();
        let is_outside = |(path, _): &&(PathBuf, FileChange)| limits.iter().any(|limit| !limit.covers(path));
        let outside = diff.files.iter().filter(is_outside).take(ObservedChanges::MOST_OUTSIDE);
        let outside = outside.map(|(path, _)| Name::from(path.to_string_lossy().into_owned())).collect();
        Ok(Arc::new(ObservedChanges {
            outside,
            merge_is_empty: false,
            base: Name::new(diff.base.as_str()),
            commit: Name::new(diff.commit.as_str()),
            tree: Name::new(site.vault.tree(&diff.commit)?.as_str()),
            omitted: u32::try_from(diff.files.len().saturating_sub(files.len())).unwrap_or(u32::MAX),
            files,
            unclaimed,
        }))
    }
}
