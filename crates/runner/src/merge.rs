//! Merges, in the author's name, one after the other: tried first, checked on the merged tree, then made the state of
//! things. A merge that a crash interrupted is found in, or not, and never made twice.

use std::sync::Arc;

use interlock_core::code::Code;
use interlock_core::handoff;
use interlock_core::id::{Digest, Name};
use interlock_core::workflow::MergeWords;
use serde_json::{Value as Json, json};

use crate::crew::{Call, Crew, Over, settled};
use crate::git::{Attempt, Conflict, Hash, Message};
use crate::site::listed;
use interlock_app::error::{CommandExit, CommandError};
use interlock_engine::{SubmittedHandoff, Operation as Wish};
use interlock_system::clock;
use interlock_system::process::ProcessControl;

/// What came of trying it.
pub(super) enum Tried {
    /// It is in the result.
    In(Merge),
    /// It is not, and this is to be said of it.
    Out(Json),
    Stopped,
}

/// A merge that was made.
pub(super) struct Merge {
    /// The commit that everything merged is at.
    pub(super) into: Hash,
    /// The work changed nothing that was not merged before.
    pub(super) is_empty: bool,
}

pub(super) fn take(crew: &Crew, call: &Call, control: &ProcessControl) -> Result<Over, CommandError> {
    let Some(group) = &call.group else { return Ok(Over::Gone) };
    let commit = crew.site.head(group, &call.open)?;
    match attempt(crew, call, group, &commit, control)? {
        Tried::In(merge) => {
            let unchanged = crew.site.changes_nothing(group, &commit)?;
            report(crew, call, &success(&crew.workflow.merge_words(), (&commit, &merge), unchanged)?)
        }
        Tried::Out(said) => report(crew, call, &said),
        Tried::Stopped => Ok(Over::Stopped),
    }
}

/// Merges what a group has come to, if it goes together with what was merged before and passes what completion asks for.
pub(super) fn attempt(
    crew: &Crew,
    call: &Call,
    group: &Name,
    commit: &Hash,
    control: &ProcessControl,
) -> Result<Tried, CommandError> {
    let words = crew.workflow.merge_words();
    let _held = crew.site.merging();
    match crew.site.vault.try_merge(group, commit)? {
        Attempt::Contained(into) => {
            crew.site.vault.note_merge(call.id, &into)?;
            Ok(Tried::In(Merge { into, is_empty: false }))
        }
        Attempt::Conflict { onto, conflicts } => {
            crew.site.vault.bring_onto(group, &onto)?;
            let files: Vec<String> = conflicts.iter().flat_map(Conflict::names).collect();
            conflict(&words, &files).map(Tried::Out)
        }
        Attempt::Clean { onto, tree } => checked(crew, call, group, (commit, &onto, &tree), control),
    }
}

/// The merged tree is there: is it sound?
fn checked(
    crew: &Crew,
    call: &Call,
    group: &Name,
    (commit, onto, tree): (&Hash, &Hash, &Hash),
    control: &ProcessControl,
) -> Result<Tried, CommandError> {
    // Before it is known whether it will be one: commands may ask git where they are.
    let message = Message::new(&format!("Merge {group}")).of(call.id);
    let merge = crew.site.vault.commit(tree, &[onto, commit], &crew.site.who(&call.role), &message)?;
    let checks = crew.checks_of_merge(call)?;
    if !checks.is_empty() {
        let Some(result) = crew.check_merge(&merge, &checks, control)? else { return Ok(Tried::Stopped) };
        if !result.passed {
            crew.site.vault.bring_onto(group, onto)?;
            let of = result.other_group(Some(group));
            let words = crew.workflow.merge_words();
            return failure(&words, &result.failed_line, of, &result.output).map(Tried::Out);
        }
    }
    crew.site.vault.publish(group, &merge, onto, Some(call.id))?;
    let is_empty = crew.site.vault.tree(onto)? == *tree;
    Ok(Tried::In(Merge { into: merge, is_empty }))
}

pub(super) fn report(crew: &Crew, call: &Call, said: &Json) -> Result<Over, CommandError> {
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
    settled(crew.order(Wish::Merge { assignment: call.id, given }))
}

fn success(words: &MergeWords, (commit, merge): (&Hash, &Merge), unchanged: bool) -> Result<Json, CommandError> {
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

fn conflict(words: &MergeWords, files: &[String]) -> Result<Json, CommandError> {
    let context = format!(
        "Interlock has tried the merge: it conflicts with what others have merged, in {}. The files that you get hold both sides.",
        listed(files)
    );
    said(words.conflict.as_ref(), &context, json!({ "conflicting_files": files }))
}

/// An agent has changed files while it merged. Its work stays with the group, and has to be tested and approved again.
pub(super) fn resolved(crew: &Crew, call: &Call) -> Result<Over, CommandError> {
    let context = "You changed files to make the merge. Interlock kept them, and has merged nothing: tests and approvals \
                   spoke for the files before. Look at the result, and report it as finished work.";
    let more = json!({ "conflicting_files": [] });
    report(crew, call, &said(crew.workflow.merge_words().conflict.as_ref(), context, more)?)
}

fn failure(words: &MergeWords, command: &str, whose: Option<&Name>, output: &str) -> Result<Json, CommandError> {
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
