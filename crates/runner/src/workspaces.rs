//! Where the work is: the folders of a session, what each group has come to, and what was merged.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use interlock_core::id::{AssignmentId, Name};
use interlock_core::state::SessionStatus;

use crate::conflicts::PendingConflicts;
use crate::git::{
    CommitAuthor, CommitMessage, GitError, GitHash, GitResult, MergeConflict, MergedTree, ProjectRepo, RegisterKey,
    SessionRepo, TrialMerge, Workspace, WorkspaceChanges,
};
use crate::run_context::AssignmentJob;
use crate::turn_workspace::TurnWorkspace;
use crate::user_refs::UserRefs;
use interlock_agents::team::WorkspaceRetention;
use interlock_prompt::handoff_files;
use interlock_system::files::{self, remove};
use interlock_system::sanitise;

/// Groups have names of people's choice; these are no such names.
pub(super) const OF_SESSION: &str = "+session";

/// Bytes read of the end of a transcript.
const MOST_PRINTED: u64 = 1 << 20;
/// A larger handoff is not kept for the next attempt.
const MOST_SUBMITTED: usize = 1 << 20;

pub(super) struct SessionWorkspaces {
    pub(super) project: ProjectRepo,
    pub(super) vault: SessionRepo,
    root: PathBuf,
    session: Name,
    merging: Mutex<()>,
    refs: UserRefs,
}

impl SessionWorkspaces {
    pub(super) fn open(root: &Path, session: &Name, project: ProjectRepo, key: RegisterKey) -> GitResult<Self> {
        for folder in [outputs(root), root.join("transcripts")] {
            interlock_system::files::real_folder(&folder)?;
        }
        let _ = remove(&kept(root));
        let branch = branch(session);
        if !SessionRepo::is_made(&repository(root))? && project.has(&branch)? {
            // A new repository would silently lack everything that was merged.
            let message = format!("the session's repository {} is gone", repository(root).display());
            return Err(GitError::odd(message).help("restore the folder, or cancel the session and start a new one"));
        }
        let vault = SessionRepo::open(&repository(root), &project, key)?;
        // That it cannot have its branch is better known before the work. It also keeps the objects that are borrowed.
        vault.hand_over(&project, &branch)?;
        let (root, session, refs) = (root.to_owned(), session.clone(), UserRefs::open(root, &project, branch)?);
        Ok(Self { project, vault, root, session, merging: Mutex::default(), refs })
    }

    /// The session's own folder.
    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// Held while something is merged: what it is merged with must not change in between.
    pub(super) fn merging(&self) -> MutexGuard<'_, ()> {
        self.merging.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Where what agents print is kept.
    pub(super) fn transcript(&self, name: &str) -> std::io::Result<PathBuf> {
        let folder = self.root.join("transcripts");
        interlock_system::files::real_folder(&folder)?;
        Ok(folder.join(format!("{name}.log")))
    }

    /// The output of an agent in the last conversation of an attempt, only its end if it is long.
    pub(super) fn printed_by(&self, id: AssignmentId, attempt: u32) -> String {
        let name = |number: u32| format!("{id}.{attempt}.{number}");
        let paths = (0..).map_while(|number| self.transcript(&name(number)).ok().filter(|path| path.is_file()));
        let texts = paths.filter_map(|path| files::read_end(&path, MOST_PRINTED).ok());
        let last = texts.filter(|text| !text.is_empty()).last();
        String::from_utf8_lossy(&last.unwrap_or_default()).into_owned()
    }

    /// Notes a handoff before it is judged. Outside of the output folder, which its agent can write.
    pub(super) fn note_submitted(&self, id: AssignmentId, attempt: u32, bytes: &[u8]) {
        if let Ok(path) = self.transcript(&submitted_name(id, attempt))
            && bytes.len() <= MOST_SUBMITTED
        {
            // Only the prompt of a later attempt is poorer without it.
            let _ = remove(&path).and_then(|()| fs::write(&path, bytes));
        }
    }

    /// The last handoff of an attempt.
    pub(super) fn submitted_by(&self, id: AssignmentId, attempt: u32) -> Vec<u8> {
        let noted = self.transcript(&submitted_name(id, attempt)).ok().and_then(|path| files::read_plain(&path).ok());
        let left = || handoff_files::read(&self.output(id, attempt), Path::new("handoff.json")).ok().flatten();
        noted.or_else(left).unwrap_or_default()
    }

    /// Unaccepted changes in the workspace of an attempt, as a patch.
    pub(super) fn unaccepted_changes(&self, call: &AssignmentJob) -> GitResult<Vec<u8>> {
        let name = call.group.as_deref().unwrap_or(OF_SESSION);
        let head = match &call.group {
            Some(group) => self.head(group, &call.open)?,
            None => self.vault.integration()?,
        };
        let begun = match self.vault.merge_target(name)?.filter(|_| call.group.is_some()) {
            Some(onto) if !self.vault.contains(&head, &onto)? => self.vault.merge_trees(&head, &onto, &onto)?.tree,
            Some(_) | None => head,
        };
        let changes = Workspace::open(&self.root, name, &self.vault)?.changes(&begun)?;
        if changes.refused.is_some() {
            return Ok(Vec::new());
        }
        // Accepted work stays, even if its handoff was refused later: the next attempt starts from it.
        let kept = self.vault.left_by(name, call.id)?.unwrap_or(begun);
        self.vault.patch(&self.vault.tree(&kept)?, &changes.tree)
    }

    /// Where the holder of an assignment leaves its handoff.
    pub(super) fn output(&self, id: AssignmentId, attempt: u32) -> PathBuf {
        self.outputs().join(self.session.as_str()).join(format!("{id}.{attempt}"))
    }

    /// The parent of all output folders, as the engine gets it.
    pub(super) fn outputs(&self) -> PathBuf {
        outputs(&self.root)
    }

    /// The workspace of a group, as its last accepted report left it.
    pub(super) fn prepare_workspace(&self, call: &AssignmentJob, writes: bool) -> GitResult<TurnWorkspace> {
        let name = call.group.as_deref().unwrap_or(OF_SESSION).to_owned();
        let head = match &call.group {
            Some(group) => self.head(group, &call.open)?,
            None => self.vault.integration()?,
        };
        let workspace = Workspace::open(&self.root, &name, &self.vault)?;
        workspace.show(&head, &self.project)?;
        let mut bench = TurnWorkspace {
            workspace,
            parents: vec![head.clone()],
            begun: head.clone(),
            head,
            conflicts: None,
            name,
            role: call.role.clone(),
        };
        if writes {
            self.bring_up(&mut bench)?;
        }
        Ok(bench)
    }

    /// After a merge that failed, the author works on what it has to be merged with.
    fn bring_up(&self, bench: &mut TurnWorkspace) -> GitResult<()> {
        let Some(onto) = self.vault.merge_target(&bench.name)? else { return Ok(()) };
        if self.vault.contains(&bench.head, &onto)? {
            return Ok(());
        }
        let head = bench.head.clone();
        self.lay_out_both(bench, &head, onto)
    }

    /// Gives the agent both sides of a merge in its files: what it makes of them will stand on both.
    fn lay_out_both(&self, bench: &mut TurnWorkspace, work: &GitHash, onto: GitHash) -> GitResult<()> {
        let MergedTree { tree, conflicts } = self.vault.merge_trees(work, &onto, &onto)?;
        bench.workspace.lay_out(&tree)?;
        bench.conflicts = PendingConflicts::of(&bench.workspace.folder, work.clone(), onto.clone(), conflicts);
        bench.parents.push(onto);
        bench.begun = tree;
        Ok(())
    }

    /// Is there what an assignment left?
    pub(super) fn has_left(&self, group: Option<&Name>, id: AssignmentId) -> bool {
        self.vault.has_left(group.map_or(OF_SESSION, |group| group.as_str()), id)
    }

    /// The latest commit of a group: the work of its last closed assignment. A lost assignment counts too: its
    /// successor continues from there, and an approver sees the work as it is.
    pub(super) fn head(&self, group: &str, open: &[AssignmentId]) -> GitResult<GitHash> {
        let base = self.vault.group_base(group)?;
        let left = self.vault.all_left(group)?.into_iter();
        let counted = left.filter_map(|(name, commit)| Some((AssignmentId::parse(&name)?, commit)));
        let last = counted.filter(|(id, _)| !open.contains(id)).max_by_key(|(id, _)| *id);
        Ok(last.map_or(base, |(_, commit)| commit))
    }

    /// Stores the work that the agent left, before its report is submitted.
    pub(super) fn commit_work(
        &self,
        bench: &TurnWorkspace,
        id: AssignmentId,
        changes: &WorkspaceChanges,
        message: &CommitMessage,
    ) -> GitResult<GitHash> {
        let unchanged = bench.parents.len() == 1 && self.vault.tree(&bench.head)? == changes.tree;
        let commit = if unchanged {
            bench.head.clone()
        } else {
            let parents: Vec<&GitHash> = bench.parents.iter().collect();
            self.vault.commit(&changes.tree, &parents, &self.who(&bench.role), message)?
        };
        self.vault.record_work(&bench.name, &id.to_string(), &commit)?;
        Ok(commit)
    }

    /// Whether work outside of groups does not go together with what was merged meanwhile. If so, the agent gets both sides,
    /// and has to settle them. To be called while the merges are held.
    pub(super) fn clashes(&self, bench: &mut TurnWorkspace, commit: &GitHash) -> GitResult<bool> {
        match self.vault.try_merge(OF_SESSION, commit)? {
            TrialMerge::Contained(_) | TrialMerge::Clean { .. } => Ok(false),
            TrialMerge::Conflict { onto, .. } => self.lay_out_both(bench, commit, onto).map(|()| true),
        }
    }

    /// The merge of work outside of groups with everything merged: the target commit and the resulting tree. To be
    /// called while the merges are held.
    pub(super) fn own_merge(&self, commit: &GitHash) -> GitResult<Option<(GitHash, GitHash)>> {
        Ok(match self.vault.try_merge(OF_SESSION, commit)? {
            TrialMerge::Clean { onto, tree } => Some((onto, tree)),
            TrialMerge::Contained(_) | TrialMerge::Conflict { .. } => None,
        })
    }

    /// Gives the agent what was merged meanwhile, if its work does not stand on it.
    pub(super) fn catch_up(&self, bench: &mut TurnWorkspace, commit: &GitHash, onto: GitHash) -> GitResult<()> {
        if self.vault.contains(commit, &onto)? { Ok(()) } else { self.lay_out_both(bench, commit, onto) }
    }

    /// Work outside of groups is merged here, because no later step would merge it. To be called while the merges are
    /// held.
    pub(super) fn integrate(&self, role: &Name, commit: &GitHash) -> GitResult<()> {
        match self.vault.try_merge(OF_SESSION, commit)? {
            TrialMerge::Contained(_) => Ok(()),
            TrialMerge::Conflict { conflicts, .. } => {
                let files: Vec<String> = conflicts.iter().flat_map(MergeConflict::names).collect();
                let message =
                    format!("the session's own work conflicts with what was merged, in {}", format_file_list(&files));
                Err(GitError::odd(message).help("somebody else has moved the session's repository"))
            }
            TrialMerge::Clean { onto, tree } => {
                let merge = match self.vault.contains(commit, &onto)? {
                    true => commit.clone(),
                    false => {
                        let message = CommitMessage::new("Merge the session's own work");
                        self.vault.commit(&tree, &[&onto, commit], &self.who(role), &message)?
                    }
                };
                self.vault.publish(OF_SESSION, &merge, &onto, None)
            }
        }
    }

    /// Where commands run in clean checkouts. No agent is given a folder in it.
    pub(crate) fn checkouts(&self) -> PathBuf {
        checkouts(&self.root)
    }

    /// Whether the work of a group is part of what was merged. One that has `done` without changing anything is.
    pub(super) fn is_in(&self, group: &str, open: &[AssignmentId], done: bool) -> GitResult<bool> {
        let has_merged = self.vault.merged(group)?.is_some();
        Ok(has_merged || done && self.head(group, open)? == self.vault.group_base(group)?)
    }

    /// Does a commit of a group have the very files that the group began with?
    pub(super) fn changes_nothing(&self, group: &str, commit: &GitHash) -> GitResult<bool> {
        Ok(self.vault.tree(commit)? == self.vault.tree(&self.vault.group_base(group)?)?)
    }

    pub(super) fn who<'a>(&'a self, role: &'a Name) -> CommitAuthor<'a> {
        CommitAuthor { role, session: &self.session }
    }

    /// Writes down what the run came to. It can be made again from the log at any time.
    pub(super) fn report(&self, text: &str) -> Option<PathBuf> {
        let path = self.root.join("report.md");
        // An agent may have left a link there.
        let written = remove(&path).and_then(|()| fs::write(&path, text));
        written.is_ok().then_some(path)
    }

    /// Removes the files of a session that has ended, unless they are to be kept: the result is in the user's
    /// repository.
    pub(super) fn clean_up(&self, keep: WorkspaceRetention, failed: bool, status: SessionStatus) {
        let ended = matches!(status, SessionStatus::Completed | SessionStatus::Cancelled);
        let wanted = match keep {
            WorkspaceRetention::Always => false,
            WorkspaceRetention::Failed => ended && !failed,
            WorkspaceRetention::Never => ended,
        };
        if !wanted {
            // An agent may have left a link there.
            let _ = remove(&kept(&self.root)).and_then(|()| fs::write(kept(&self.root), ""));
            return;
        }
        remove_session_files(&self.root);
    }

    /// Refs and settings of the user's that have moved since the run began.
    pub(super) fn moved(&self) -> Vec<String> {
        self.refs.moved(&self.project)
    }

    /// Publishes the result, and returns its branch. If the session's own branch is checked out or was changed by
    /// others, it is left as it is, and the result is on another branch beside it.
    pub(super) fn hand_over(&self) -> GitResult<(GitHash, String)> {
        let own = self.branch();
        let failed = match self.vault.hand_over(&self.project, &own) {
            Ok(result) => return Ok((result, own)),
            Err(error) => error,
        };
        let others = (2..10).map(|number| format!("{own}-{number}"));
        let taken = |branch: String| Some((self.vault.hand_over(&self.project, &branch).ok()?, branch));
        others.into_iter().find_map(taken).ok_or(failed)
    }

    /// A session that was given up before anything was merged leaves no branch, unless everything is to be kept.
    pub(super) fn give_up(
        &self,
        keep: WorkspaceRetention,
        status: SessionStatus,
        (result, branch): (&GitHash, String),
    ) -> Option<String> {
        let is_empty = status == SessionStatus::Cancelled && self.vault.base().is_ok_and(|base| base == *result);
        let gone = keep == WorkspaceRetention::Never && is_empty && self.project.drop_branch(&branch, result).is_ok();
        (!gone).then_some(branch)
    }

    /// The branch of the user's repository that gets the result.
    pub(super) fn branch(&self) -> String {
        branch(&self.session)
    }
}

fn submitted_name(id: AssignmentId, attempt: u32) -> String {
    format!("{id}.{attempt}.handoff")
}

fn branch(session: &Name) -> String {
    format!("interlock/{session}")
}

/// The repository of a session.
pub(super) fn repository(root: &Path) -> PathBuf {
    root.join("repository.git")
}

/// A file that says that the repository is kept on purpose.
pub(super) fn kept(root: &Path) -> PathBuf {
    root.join("kept")
}

/// The clean checkouts of a session.
pub fn checkouts(root: &Path) -> PathBuf {
    root.join("checkouts")
}

/// Where agents of a session leave their handoffs.
pub(super) fn outputs(root: &Path) -> PathBuf {
    root.join("output")
}

/// Removes the files that a session no longer needs. Files that cannot be removed do no harm. The repository is
/// removed last and in one step: while it exists, a killed run is not over.
pub(super) fn remove_session_files(root: &Path) {
    let gone = root.join("repository.gone");
    remove_at_once(&root.join("work"));
    let _ = [outputs(root), checkouts(root), root.join("work"), gone.clone()].map(|folder| remove(&folder));
    let _ = fs::rename(repository(root), &gone).and_then(|()| remove(&gone));
}

/// Removes what is in a folder, several at a time: it is the files of as many checkouts as there were groups.
fn remove_at_once(folder: &Path) {
    let is_real = fs::symlink_metadata(folder).is_ok_and(|found| found.is_dir());
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let all: Vec<PathBuf> = entries.filter(|_| is_real).collect();
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while let Some(path) = all.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let _ = remove(path);
                }
            });
        }
    });
}

/// The first few of many.
pub(super) fn format_file_list(files: &[String]) -> String {
    let shown: Vec<String> = files.iter().take(12).map(|file| format!("`{}`", sanitise::line(file))).collect();
    let more = files.len().saturating_sub(shown.len());
    if more == 0 { shown.join(", ") } else { format!("{} and {more} more", shown.join(", ")) }
}
