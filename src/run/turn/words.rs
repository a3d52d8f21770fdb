//! What an agent is told in this run beside its assignment, and what is read from its handoff.

use std::time::Duration;

use serde_json::Value as Json;

use crate::agents::Tool;
use crate::brief;
use crate::checks::Outcome;
use crate::git::{Hash, Message};
use crate::output::counted;
use crate::process::End;
use crate::run::crew::Call;
use crate::sanitise;

/// What an agent that starts among conflicts has to know.
pub(super) fn of_conflicts(files: &[String]) -> String {
    if files.is_empty() {
        return String::new();
    }
    let list: Vec<String> =
        files.iter().map(|file| format!("- `{}`\n", sanitise::line(file).replace('`', "'"))).collect();
    format!(
        "\n\n## Conflicts\n\nYour work was brought together with what others have merged meanwhile. These files hold the marks of \
         conflicts; settle every one, keep what both sides wanted, and leave no mark:\n\n{}",
        list.concat()
    )
}

/// What an agent has to know whose folder could not be made ready, by its own doing or that of others.
pub(super) fn of_preparing(failed: Option<&Outcome>) -> String {
    let Some(failed) = failed else { return String::new() };
    format!(
        "\n\n## The workspace is not ready\n\nA command that makes every workspace ready failed on these files. Merges rest on it: \
         it has to pass before the work can go on.\n\n{}",
        brief::quoted("commands that Interlock ran", &failed.output)
    )
}

/// What people are told, once, of a mission that no prompt can hold.
pub(super) const LONG_MISSION: &str =
    "the mission is longer than a prompt: agents are told its beginning, and get all of it as a file";

/// Where it works, what to compare it with, and how long.
pub(super) fn of_folder(call: &Call, base: &Hash, time: Option<Duration>) -> String {
    let what = call.group.as_ref().map_or("the session", |_| "this group");
    let time = match time {
        Some(time) => {
            format!(" You have {} for this attempt, corrections and all; after that you are ended.", spelt(time))
        }
        None => String::new(),
    };
    format!(
        "\n\n## Your folder\n\nYour working folder is a private copy of the project: a git repository of its own, on branch \
         `work`, without a remote. What counts is the files as you leave them. There is no need to commit, and a push leads \
         nowhere. `git diff {base}` shows all that was done for {what} so far, and what you change yourself.{time}\n"
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

/// How it ends here: not every client may write where the handoff belongs.
pub(super) fn of_ending(tool: bool) -> String {
    let tool = if tool {
        format!(
            "Give the handoff to the tool `{}` of `{}`, if you have it: it says at once what is wrong, and stands for the file. ",
            Tool::NAME,
            Tool::SERVER
        )
    } else {
        String::new()
    };
    format!(
        "\n\n## How it ends\n\n{tool}Write the handoff and end; it is given in for you. Where you cannot write the file, \
         let your last message be the JSON object and nothing else.\n"
    )
}

/// Does a handoff say that tests pass?
pub(super) fn claims_tests(json: &Json) -> bool {
    let says = |object: Option<&Json>| {
        let fields = ["tests_passed", "tests_passing", "all_tests_passing", "tests_pass"];
        fields.iter().any(|field| object.and_then(|object| object.get(field)) == Some(&Json::Bool(true)))
    };
    says(Some(json)) || says(json.get("verification")) || says(json.get("test_results"))
}

/// The message of a commit: of whom, on what, and what it said of it.
pub(super) fn message(call: &Call, json: &Json) -> Message {
    let group = call.group.as_deref().unwrap_or("session");
    let status = json.get("status").and_then(Json::as_str).unwrap_or_default();
    let summary = json.get("summary").and_then(Json::as_str).unwrap_or_default();
    let context = json.pointer("/handoff/context").and_then(Json::as_str).unwrap_or_default();
    let words = if summary.trim().is_empty() { context } else { summary };
    Message::new(&format!("{group}: {} reports {status}", call.role)).quoting(words).of(call.id)
}

pub(super) fn how(end: End) -> String {
    match end {
        End::Exited(code) => format!("the agent ended with exit code {code}"),
        End::TimedOut => "the agent took too long, and was ended".to_owned(),
        End::Silent => "the agent said nothing for too long, and was ended".to_owned(),
        End::Flooded => "the agent printed too much, and was ended".to_owned(),
        End::Stopped => "the agent was stopped".to_owned(),
    }
}
