//! One record of the dossier as text: a heading, what is shown, and all of it.

use std::collections::BTreeSet;

use interlock_core::handoff::is_something;
use interlock_core::observed::{FileChange, ObservedChanges};
use interlock_core::state::RecordKey;
use interlock_core::workflow::Task;
use serde_json::Value as Json;

use crate::brief::data;
use crate::brief::dossier::{DossierEntry, EntryContent};

/// Characters shown of a field that is not handed on by the workflow.
const MINOR_FIELD: usize = 300;
/// Files listed before the rest is counted.
const MOST_FILES: usize = 60;

/// Fields that every reader needs whole, in this order.
const MAIN_FIELDS: &[&str] = &["handoff.context", "summary"];
/// Fields of a blocker, and words for later: whole wherever they are given.
const WHOLE_FIELDS: &[&str] =
    &["blocked_reason", "attempted", "handoff.blockers", "verification.command_output", "notes_for_future"];
const FILE_FIELDS: &[&str] = &["files_modified", "files_changed", "files_created"];
/// Known from elsewhere in the prompt, or of no use to another role.
const LEFT_OUT: &[&str] = &[
    "agent",
    "output_type",
    "timestamp",
    "feature_directory",
    "phase",
    "status",
    "skills_invoked",
    "handoff.next_agent",
    "handoff.next_phase",
    "groups",
    "issues",
    "issue_responses",
    "blocking_summary",
    "iteration_tracking",
    "test_progression",
    "questions",
    "accept",
    "acknowledge",
];

/// A record in words.
pub(super) struct EntryText {
    pub(super) heading: String,
    pub(super) shown: String,
    pub(super) whole: String,
}

impl DossierEntry {
    /// The record as a reader of this role gets it.
    pub(super) fn describe(&self, reader: Option<&str>) -> EntryText {
        let lines = |most: usize| match &self.content {
            EntryContent::Report { handoff, observed, output_files, .. } => {
                self.report_lines(handoff, observed.as_deref(), output_files, most)
            }
            EntryContent::Answer { question, option, text, .. } => {
                let mut lines = Vec::new();
                lines.extend(question.as_ref().map(|question| format!("question: {}", data::text(question))));
                lines.extend(option.as_ref().map(|option| format!("chosen: {}", data::line(option))));
                lines.extend(text.as_ref().map(|text| format!("answer: {}", data::text(text))));
                lines
            }
            EntryContent::Gate { output, .. } => vec![data::text(output)],
            EntryContent::PersonsReason { why, .. } => vec![data::text(why)],
        };
        let text = |most: usize| {
            let text = lines(most).join("\n");
            if text.is_empty() { "(nothing)".to_owned() } else { text }
        };
        EntryText { heading: self.heading(reader), shown: text(MINOR_FIELD), whole: text(usize::MAX) }
    }

    fn heading(&self, reader: Option<&str>) -> String {
        let group = self.group.as_ref().map(|group| format!(" on `{group}`")).unwrap_or_default();
        match (&self.key, &self.content) {
            (RecordKey::Report { phase, role, task, .. }, EntryContent::Report { status, .. }) => {
                let who = if reader == Some(role.as_str()) { "You".to_owned() } else { format!("`{role}`") };
                let task = match task {
                    Task::Work => "",
                    Task::Consult => " when asked for help",
                    Task::Merge => " for the merge",
                };
                let phase = phase.as_ref().map(|phase| format!(", phase `{phase}`")).unwrap_or_default();
                format!("{who} reported `{}`{group}{phase}{task}", data::code(status))
            }
            (RecordKey::Gate { gate }, EntryContent::Gate { passed, .. }) => {
                format!("Gate `{gate}` {}{group}", if *passed { "passed" } else { "failed" })
            }
            (_, EntryContent::Answer { by, .. }) => format!("{} answered a question{group}", data::code(by)),
            (RecordKey::Waiver { evidence }, EntryContent::PersonsReason { by, .. }) => {
                format!("{} waived `{evidence}` for this tree{group}", data::code(by))
            }
            (_, EntryContent::PersonsReason { by, .. }) => {
                format!("{} sent the work to another role{group}", data::code(by))
            }
            (_, EntryContent::Report { status, .. }) => format!("`{}` was reported{group}", data::code(status)),
            (_, EntryContent::Gate { .. }) => format!("A gate ran{group}"),
        }
    }

    fn report_lines(
        &self,
        handoff: &Json,
        observed: Option<&ObservedChanges>,
        output_files: &[String],
        most: usize,
    ) -> Vec<String> {
        let mut lines = Vec::new();
        let mut shown: BTreeSet<String> = LEFT_OUT.iter().map(|field| (*field).to_owned()).collect();
        let named = self.named.iter().map(interlock_core::id::Name::as_str);
        for field in MAIN_FIELDS.iter().copied().chain(named).chain(WHOLE_FIELDS.iter().copied()) {
            if FILE_FIELDS.contains(&field) || field == "artifacts" || !shown.insert(field.to_owned()) {
                continue;
            }
            if let Some(value) = at(handoff, field).filter(|value| is_something(value)) {
                lines.push(labelled(field, &data::value(value)));
            }
        }
        lines.extend(file_lines(handoff, observed));
        shown.extend(FILE_FIELDS.iter().map(|field| (*field).to_owned()));
        let artifacts = artifact_paths(handoff, output_files);
        shown.insert("artifacts".to_owned());
        if !artifacts.is_empty() {
            lines.push(labelled("artifacts", &listed(&artifacts)));
        }
        minor_fields(handoff, "", &mut shown, most, &mut lines);
        lines
    }
}

/// Every other field, on a line of its own.
fn minor_fields(json: &Json, path: &str, shown: &mut BTreeSet<String>, most: usize, lines: &mut Vec<String>) {
    for (key, value) in json.as_object().into_iter().flatten() {
        let field = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        if shown.contains(&field) || !is_something(value) {
            continue;
        }
        let within = format!("{field}.");
        let partly_shown = shown.iter().any(|other| other.starts_with(&within));
        if value.is_object() && partly_shown {
            minor_fields(value, &field, shown, most, lines);
            continue;
        }
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let text = data::line(&text);
        let head: String = text.chars().take(most).collect();
        let more = if head.len() < text.len() { " …" } else { "" };
        lines.push(format!("{}: {head}{more}", data::code(&field)));
    }
}

/// The true diff where Interlock saw it; otherwise what was claimed, marked as that.
fn file_lines(handoff: &Json, observed: Option<&ObservedChanges>) -> Vec<String> {
    let claimed: Vec<String> = FILE_FIELDS.iter().flat_map(|field| texts(handoff, field)).collect();
    let Some(observed) = observed else {
        return match claimed.is_empty() {
            true => Vec::new(),
            false => vec![labelled("files, as claimed", &listed(&claimed))],
        };
    };
    let mut lines = Vec::new();
    let range = format!("{}..{}", data::code(&observed.base), data::code(&observed.commit));
    let file = |file: &interlock_core::observed::ChangedFile| {
        let how = match file.change {
            FileChange::Added => "added",
            FileChange::Modified => "modified",
            FileChange::Deleted => "deleted",
        };
        format!("{} ({how})", data::line(&file.path))
    };
    let mut files: Vec<String> = observed.files.iter().map(file).collect();
    if observed.omitted > 0 {
        files.push(format!("and {} more", observed.omitted));
    }
    lines.push(match files.is_empty() {
        true => format!("files changed ({range}): none"),
        false => labelled(&format!("files changed ({range})"), &listed(&files)),
    });
    let is_observed = |path: &String| observed.files.iter().any(|file| file.path == path.as_str());
    let denied: Vec<String> =
        claimed.iter().filter(|path| !is_observed(path) && observed.omitted == 0).cloned().collect();
    if !denied.is_empty() {
        lines.push(labelled("claimed as changed, but not changed", &listed(&denied)));
    }
    lines
}

/// Artifacts as they were named, and the files that the output directory really has.
fn artifact_paths(handoff: &Json, output_files: &[String]) -> Vec<String> {
    let mut paths: Vec<String> = output_files.iter().map(|file| data::line(file)).collect();
    for artifact in texts(handoff, "artifacts") {
        let name = artifact.rsplit('/').next().unwrap_or(&artifact).to_owned();
        let is_there = output_files.iter().any(|file| file.ends_with(&format!("/{name}")));
        if !is_there {
            paths.push(artifact);
        }
    }
    paths
}

fn texts(json: &Json, field: &str) -> Vec<String> {
    let items = at(json, field).and_then(Json::as_array).into_iter().flatten();
    items
        .map(|item| item.as_str().map_or_else(|| item.to_string(), str::to_owned))
        .map(|text| data::line(&text))
        .collect()
}

fn listed(items: &[String]) -> String {
    let mut lines: Vec<String> = items.iter().take(MOST_FILES).map(|item| format!("- {item}")).collect();
    if items.len() > MOST_FILES {
        lines.push(format!("- and {} more", items.len().saturating_sub(MOST_FILES)));
    }
    lines.join("\n")
}

/// Short values stand beside their label, long ones below it.
fn labelled(label: &str, text: &str) -> String {
    let label = label.strip_prefix("handoff.").unwrap_or(label);
    match text.contains('\n') || text.starts_with("- ") {
        true => format!("{}:\n{text}", data::code(label)),
        false => format!("{}: {text}", data::code(label)),
    }
}

/// The value at a dotted path.
pub(super) fn at<'a>(json: &'a Json, path: &str) -> Option<&'a Json> {
    path.split('.').try_fold(json, |value, key| value.get(key))
}
