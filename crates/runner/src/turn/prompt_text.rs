//! Texts for an agent in this run beside its assignment, and the fields that are read from its handoff.

use std::path::Path;
use std::time::Duration;

use serde_json::Value as Json;

use crate::check_command::CheckOutcome;
use crate::conflicts::{PendingConflicts, SETTLED};
use crate::git::{CommitMessage, GitHash};
use crate::run_context::AssignmentJob;
use interlock_agents::HandoffServer;
use interlock_prompt as brief;
use interlock_system::process::ProcessEnd;
use interlock_system::text::counted;

/// Instructions for an agent that starts with conflicts.
pub(super) fn of_conflicts(conflicts: Option<&PendingConflicts>) -> String {
    let Some(conflicts) = conflicts else { return String::new() };
    let list: Vec<String> = conflicts.describe_all().iter().map(|told| format!("- {told}\n")).collect();
    format!(
        "\n\n## Conflicts\n\nYour work was brought together with what others have merged meanwhile. Settle every conflict, and keep \
         what both sides wanted:\n\n{}\n{}",
        list.concat(),
        of_settling(conflicts)
    )
}

/// How conflicts are settled.
fn of_settling(conflicts: &PendingConflicts) -> String {
    let (yours, theirs) = (&conflicts.yours, &conflicts.theirs);
    let sides =
        format!("`git show {theirs}:PATH` shows a file as others have it, `git show {yours}:PATH` as you had it.");
    if !conflicts.hides() {
        return format!("Leave no mark. {sides}\n");
    }
    format!(
        "Leave no mark. Where there are no marks, git could not put both sides together, and what lies there may be one side alone. \
         {sides} Make of it what both sides wanted; if it is right as it lies there, name it in your handoff: \
         `\"{SETTLED}\": [\"PATH\"]`. What is neither changed nor named goes back to you.\n"
    )
}

/// Problems of work outside of groups that conflicts with merged work.
pub(super) fn clash(conflicts: Option<&PendingConflicts>) -> Vec<String> {
    let intro = "what you did conflicts with what others have merged meanwhile. Your folder now holds both sides: settle every \
                 conflict, keep what both sides wanted, and hand off again";
    let told = conflicts.map(|conflicts| [conflicts.describe_all(), vec![of_settling(conflicts)]].concat());
    [vec![intro.to_owned()], told.unwrap_or_default()].concat()
}

/// Instructions for an agent whose folder could not be prepared, because of its own changes or those of others.
pub(super) fn of_preparing(failed: Option<&CheckOutcome>) -> String {
    let Some(failed) = failed else { return String::new() };
    format!(
        "\n\n## The workspace is not ready\n\nA command that makes every workspace ready failed on these files. Merges rest on it: \
         it has to pass before the work can go on.\n\n{}",
        brief::quoted("commands that Interlock ran", &failed.output)
    )
}

/// The notice, shown once, that a mission is too long for a prompt.
pub(super) const LONG_MISSION: &str =
    "the mission is longer than a prompt: agents are told its beginning, and get all of it as a file";

/// Where it works, what to compare it with, and how long.
pub(super) fn of_folder(call: &AssignmentJob, base: &GitHash, time: Option<Duration>) -> String {
    let what = call.group.as_ref().map_or("session", |_| "group");
    let time = time.map(|time| format!(" You have {} in all.", spelt(time))).unwrap_or_default();
    format!(
        "\n## Your folder\n\nA private git copy; its files count, commits do not. `git diff {base}` shows the changes of this \
         {what}.{time}\n"
    )
}

/// `1 hour 30 minutes`
fn spelt(time: Duration) -> String {
    let seconds = time.as_secs();
    let units = [(seconds / 3600, "hour"), (seconds / 60 % 60, "minute"), (seconds % 60, "second")];
    let told = units.iter().filter(|(count, _)| *count > 0).take(2).map(|(count, unit)| counted(*count, unit));
    let told: Vec<String> = told.collect();
    if told.is_empty() { "less than a second".to_owned() } else { told.join(" ") }
}

/// How the agent returns its handoff: one way, the one that works here.
pub(super) fn of_ending(tool: bool, output: &Path) -> String {
    if tool {
        return format!(
            "\nCall the tool `{}` of `{}` with it, then end.\n",
            HandoffServer::NAME,
            HandoffServer::SERVER
        );
    }
    let file = output.join("handoff.json");
    format!(
        "\nWrite it to `{}`, then end. If you cannot write files, end with it as your last message.\n",
        file.display()
    )
}

/// The commit message of an assignment: its group, role and status, and the summary of its handoff.
pub(super) fn message(call: &AssignmentJob, json: &Json) -> CommitMessage {
    let group = call.group.as_deref().unwrap_or("session");
    let status = json.get("status").and_then(Json::as_str).unwrap_or_default();
    let summary = json.get("summary").and_then(Json::as_str).unwrap_or_default();
    let context = json.pointer("/handoff/context").and_then(Json::as_str).unwrap_or_default();
    let words = if summary.trim().is_empty() { context } else { summary };
    CommitMessage::new(&format!("{group}: {} reports {status}", call.role)).quoting(words).of(call.id)
}

pub(super) fn how(end: ProcessEnd) -> String {
    match end {
        ProcessEnd::Exited(code) => format!("the agent ended with exit code {code}"),
        ProcessEnd::TimedOut => "the agent took too long, and was ended".to_owned(),
        ProcessEnd::Silent => "the agent said nothing for too long, and was ended".to_owned(),
        ProcessEnd::Flooded => "the agent printed too much, and was ended".to_owned(),
        ProcessEnd::Stopped => "the agent was stopped".to_owned(),
    }
}
