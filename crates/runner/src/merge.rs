//! Merges, in the author's name, one after the other: tried first, checked on the merged tree, then made the state of
//! things. A merge that a crash interrupted is found in, or not, and never made twice.

use std::sync::Arc;

use interlock_core::code::Code;
use interlock_core::handoff;
use interlock_core::id::{Digest, Name};
use interlock_core::workflow::MergeStatuses;
use serde_json::{Value as Json, json};

use crate::git::{CommitMessage, GitHash, MergeConflict, TrialMerge};
use crate::run_context::{AssignmentJob, JobOutcome, RunContext, job_outcome};
use crate::workspaces::format_file_list;
use interlock_app::error::{CommandError, CommandExit};
use interlock_engine::{Operation as Wish, SubmittedHandoff};
use interlock_system::clock;
use interlock_system::process::ProcessControl;

/// The outcome of trying a merge.
pub(super) enum MergeOutcome {
    /// It is in the result.
    In(PublishedMerge),
    /// It is not in the result. The report says why.
    Out(Json),
    Stopped,
}

/// A merge that was made.
pub(super) struct PublishedMerge {
    /// The commit that everything merged is at.
    pub(super) into: GitHash,
    /// The work changed nothing that was not merged before.
    pub(super) is_empty: bool,
}

pub(super) fn run_merge(
    crew: &RunContext,
    call: &AssignmentJob,
    control: &ProcessControl,
) -> Result<JobOutcome, CommandError> {
    let Some(group) = &call.group else { return Ok(JobOutcome::Gone) };
    let commit = crew.site.head(group, &call.open)?;
    match try_group_merge(crew, call, group, &commit, control)? {
        MergeOutcome::In(merge) => {
            let unchanged = crew.site.changes_nothing(group, &commit)?;
            report(crew, call, &success(&crew.workflow.find_merge_statuses(), (&commit, &merge), unchanged)?)
        }
        MergeOutcome::Out(said) => report(crew, call, &said),
        MergeOutcome::Stopped => Ok(JobOutcome::Stopped),
    }
}

/// Merges what a group has come to, if it goes together with what was merged before and passes what completion asks for.
pub(super) fn try_group_merge(
    crew: &RunContext,
    call: &AssignmentJob,
    group: &Name,
    commit: &GitHash,
    control: &ProcessControl,
) -> Result<MergeOutcome, CommandError> {
    let words = crew.workflow.find_merge_statuses();
    let _held = crew.site.merging();
    match crew.site.vault.try_merge(group, commit)? {
        TrialMerge::Contained(into) => {
            crew.site.vault.note_merge(call.id, &into)?;
            Ok(MergeOutcome::In(PublishedMerge { into, is_empty: false }))
        }
        TrialMerge::Conflict { onto, conflicts } => {
            crew.site.vault.set_merge_target(group, &onto)?;
            let files: Vec<String> = conflicts.iter().flat_map(MergeConflict::names).collect();
            conflict(&words, &files).map(MergeOutcome::Out)
        }
        TrialMerge::Clean { onto, tree } => checked(crew, call, group, (commit, &onto, &tree), control),
    }
}

/// The merged tree is there: is it sound?
fn checked(
    crew: &RunContext,
    call: &AssignmentJob,
    group: &Name,
    (commit, onto, tree): (&GitHash, &GitHash, &GitHash),
    control: &ProcessControl,
) -> Result<MergeOutcome, CommandError> {
    // Before it is known whether it will be one: commands may ask git where they are.
    let message = CommitMessage::new(&format!("Merge {group}")).of(call.id);
    let merge = crew.site.vault.commit(tree, &[onto, commit], &crew.site.who(&call.role), &message)?;
    let checks = crew.checks_of_merge(call)?;
    if !checks.is_empty() {
        let Some(result) = crew.check_merge(&merge, &checks, control)? else { return Ok(MergeOutcome::Stopped) };
        if !result.passed {
            crew.site.vault.set_merge_target(group, onto)?;
            let of = result.other_group(Some(group));
            let words = crew.workflow.find_merge_statuses();
            return failure(&words, &result.failed_line, of, &result.output).map(MergeOutcome::Out);
        }
    }
    crew.site.vault.publish(group, &merge, onto, Some(call.id))?;
    let is_empty = crew.site.vault.tree(onto)? == *tree;
    Ok(MergeOutcome::In(PublishedMerge { into: merge, is_empty }))
}

pub(super) fn report(crew: &RunContext, call: &AssignmentJob, said: &Json) -> Result<JobOutcome, CommandError> {
    let mut document = json!({
        "agent": call.role,
        "output_type": "merge",
        "timestamp": clock::rfc3339(clock::now()),
        "feature_directory": ".",
        "skills_invoked": [],
    });
    if let (Some(document), Some(said)) = (document.as_object_mut(), said.as_object()) {
        document.extend(said.clone());
    }
    let bytes = document.to_string().into_bytes();
    let extracted = handoff::extract("merge", &bytes).map(Arc::new);
    let given = SubmittedHandoff { digest: Digest::of(&bytes), extracted };
    job_outcome(crew.submit_operation(Wish::Merge { assignment: call.id, given }))
}

fn success(
    words: &MergeStatuses,
    (commit, merge): (&GitHash, &PublishedMerge),
    unchanged: bool,
) -> Result<Json, CommandError> {
    let into = &merge.into;
    let context = match (unchanged, merge.is_empty) {
        (true, _) => {
            format!("There was nothing to merge: the group changes no file; everything merged is at {}", into.short())
        }
        (false, true) => format!(
            "Interlock has merged {}, and the merge changed nothing: the same changes were merged before; everything that was merged is at {}",
            commit.short(),
            into.short()
        ),
        (false, false) => {
            format!("Interlock has merged {}; everything that was merged is now at {}", commit.short(), into.short())
        }
    };
    let mut more = json!({ "commit": into.as_str() });
    if merge.is_empty && !unchanged {
        more["merge_is_empty"] = json!(true);
    }
    said(words.success.as_ref(), &context, more)
}

fn conflict(words: &MergeStatuses, files: &[String]) -> Result<Json, CommandError> {
    let context = format!(
        "Interlock has tried the merge: it conflicts with what others have merged, in {}. The files that you get hold both sides.",
        format_file_list(files)
    );
    said(words.conflict.as_ref(), &context, json!({ "conflicting_files": files }))
}

/// An agent has changed files while it merged. Its work stays with the group, and has to be tested and approved again.
pub(super) fn resolved(crew: &RunContext, call: &AssignmentJob) -> Result<JobOutcome, CommandError> {
    let context = "You changed files to make the merge. Interlock kept them, and has merged nothing: tests and approvals \
                   spoke for the files before. Look at the result, and report it as finished work.";
    let more = json!({ "conflicting_files": [] });
    report(crew, call, &said(crew.workflow.find_merge_statuses().conflict.as_ref(), context, more)?)
}

fn failure(words: &MergeStatuses, command: &str, whose: Option<&Name>, output: &str) -> Result<Json, CommandError> {
    let of = whose.map(|group| format!(", a check of {group}, which is merged already,")).unwrap_or_default();
    let context = format!(
        "Interlock has tried the merge: `{command}`{of} fails on the merged files, which are those that you get"
    );
    said(words.failure.as_ref(), &context, json!({ "failing_tests": [command], "test_output": output }))
}

fn said(status: Option<&Name>, context: &str, mut more: Json) -> Result<Json, CommandError> {
    let Some(status) = status else {
        let message = "the merge table of the workflow has no status for this outcome";
        let help = "add the row, or leave merges to agents with `merge: agent` in the agents file";
        return Err(CommandError::new(CommandExit::Invalid, Code::Unrunnable, message).help(help));
    };
    more["status"] = json!(status);
    more["handoff"] = json!({ "next_agent": null, "context": context });
    Ok(more)
}
