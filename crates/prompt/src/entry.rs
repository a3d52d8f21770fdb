//! One record of the dossier as text: a heading, what is shown, and all of it.

use std::collections::BTreeSet;

use interlock_core::handoff::is_something;
use interlock_core::naming::shown_status;
use interlock_core::observed::{FileChange, ObservedChanges};
use interlock_core::state::RecordKey;
use interlock_core::workflow::AssignmentTask;
use serde_json::Value as Json;

use crate::data;
use crate::dossier::{ArtifactPlace, ClaimedArtifact, DossierEntry, EntryContent};
use crate::section::{SectionPart, join_parts};

/// Characters shown of a field that is not handed on by the workflow.
const MINOR_FIELD: usize = 300;
/// The same of a report on a group that the reader's group depends on.
const SHORT_FIELD: usize = 600;
/// Files listed before the rest is counted.
const MOST_FILES: usize = 60;

/// The facts of a blocker, before everything else.
const BLOCKER_FIELDS: &[&str] = &["blocked_reason", "handoff.blockers", "attempted", "handoff.options"];
/// Words for later.
const NOTES: &str = "notes_for_future";
/// Fields that every reader needs whole, and that may be long.
const MAIN_FIELDS: &[&str] = &["summary", "handoff.context", COMMAND_OUTPUT];
/// Commands say at the end of their output what went wrong.
const COMMAND_OUTPUT: &str = "verification.command_output";
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
    pub(super) shown: Vec<SectionPart>,
    pub(super) whole: String,
}

/// The paths that a report claims to have changed, each once.
pub(super) fn claimed_files(handoff: &Json) -> Vec<String> {
    let mut claimed: Vec<String> = Vec::new();
    for path in FILE_FIELDS.iter().flat_map(|field| texts(handoff, field)) {
        let path = path.strip_prefix("./").map_or(path.clone(), str::to_owned);
        if !claimed.contains(&path) {
            claimed.push(path);
        }
    }
    claimed
}

impl DossierEntry {
    /// The record as a reader of this role gets it. The files of the observed diff stand under one report of a group,
    /// with the files in it that no report on the group names.
    pub(super) fn describe(&self, reader: Option<&str>, diff: Option<&BTreeSet<String>>) -> EntryText {
        let report = |most: usize| match &self.content {
            EntryContent::Report { handoff, observed, output_files, artifacts, .. } => {
                let style = ReportStyle { most, question: None, one_line: false };
                let files = match (observed, diff) {
                    (Some(_), None) => Vec::new(),
                    (Some(observed), Some(unnamed)) => observed_parts(handoff, observed, Some(unnamed), style),
                    (None, _) => claimed_part(handoff, style),
                };
                self.report_parts(handoff, files, (output_files, artifacts), style)
            }
            EntryContent::Answer { .. } | EntryContent::Gate { .. } | EntryContent::PersonsReason { .. } => {
                self.other_parts()
            }
        };
        let (mut shown, whole) = (report(MINOR_FIELD), report(usize::MAX));
        if shown.is_empty() {
            shown.push(SectionPart { body: "(nothing)".to_owned(), ..SectionPart::default() });
        }
        EntryText { heading: self.heading(reader), shown, whole: join_parts(&whole) }
    }

    /// The record for the reader of a question: a heading, and each field on one line, whole. A value that is the question
    /// is not repeated, and documents are listed elsewhere.
    pub(super) fn describe_beside(&self, question: Option<&str>) -> (String, Vec<String>) {
        let lines = match &self.content {
            EntryContent::Report { handoff, observed, artifacts, .. } => {
                let style = ReportStyle { most: usize::MAX, question, one_line: true };
                let files = match observed {
                    Some(observed) => observed_parts(handoff, observed, None, style),
                    None => claimed_part(handoff, style),
                };
                self.report_parts(handoff, files, (&[], artifacts), style)
            }
            EntryContent::Answer { .. } | EntryContent::Gate { .. } | EntryContent::PersonsReason { .. } => {
                self.other_parts()
            }
        };
        let lines = lines.iter().map(|part| data::line(&part.text())).filter(|line| !line.is_empty());
        (self.heading(None).replace('`', ""), lines.collect())
    }

    /// Everything but a report.
    fn other_parts(&self) -> Vec<SectionPart> {
        let part = |head: &str, body: String| SectionPart { head: head.to_owned(), body, ..SectionPart::default() };
        match &self.content {
            EntryContent::Report { .. } => Vec::new(),
            EntryContent::Answer { question, option, text, .. } => {
                let mut parts = Vec::new();
                parts.extend(question.as_ref().map(|question| part("question: ", data::text(question))));
                parts.extend(option.as_ref().map(|option| part("chosen: ", data::line(option))));
                parts.extend(text.as_ref().map(|text| part("answer: ", data::text(text))));
                parts
            }
            EntryContent::Gate { output, .. } => vec![part("", data::text(output))],
            EntryContent::PersonsReason { why, .. } => vec![part("", data::text(why))],
        }
    }

    /// A report that a later one replaced: its documents and claimed files, and the beginning of the rest.
    pub(super) fn describe_superseded(&self, reader: Option<&str>) -> EntryText {
        let EntryText { heading, whole, shown: all } = self.describe(reader, None);
        let EntryContent::Report { handoff, observed, output_files, artifacts, .. } = &self.content else {
            return EntryText { heading, shown: all, whole };
        };
        let style = ReportStyle { most: MINOR_FIELD, question: None, one_line: false };
        let mut parts = Vec::new();
        let artifacts = artifact_paths(output_files, artifacts);
        if !artifacts.is_empty() {
            parts.push(style.list("artifacts", &artifacts));
        }
        if observed.is_none() {
            parts.extend(claimed_part(handoff, style));
        }
        let named = self.named.iter().map(interlock_core::id::Name::as_str);
        let mut shown: BTreeSet<&str> = FILE_FIELDS.iter().copied().chain(["artifacts"]).collect();
        let one_line = ReportStyle { one_line: true, ..style };
        for field in ["handoff.context", "summary"].into_iter().chain(named).chain([NOTES]) {
            let value = at(handoff, field).filter(|value| is_something(value));
            if let Some(value) = value.filter(|_| shown.insert(field)) {
                parts.push(labelled(field, &data::line(&one_line.value(value))).shortened(MINOR_FIELD));
            }
        }
        EntryText { heading, shown: parts, whole }
    }

    /// A report for the reader of another group, which builds on what it states: summary, context and files.
    pub(super) fn describe_short(&self, shows_diff: bool) -> EntryText {
        let unnamed = BTreeSet::new();
        let EntryText { heading, whole, shown: all } = self.describe(None, shows_diff.then_some(&unnamed));
        let EntryContent::Report { handoff, observed, output_files, artifacts, .. } = &self.content else {
            return EntryText { heading, shown: all, whole };
        };
        let style = ReportStyle { most: SHORT_FIELD, question: None, one_line: false };
        let mut parts = Vec::new();
        for field in ["summary", "handoff.context"] {
            if let Some(value) = at(handoff, field).filter(|value| is_something(value)) {
                parts.push(labelled(field, &data::line(&style.value(value))).shortened(SHORT_FIELD));
            }
        }
        let artifacts = artifact_paths(output_files, artifacts);
        if !artifacts.is_empty() {
            parts.push(style.list("artifacts", &artifacts));
        }
        match observed {
            Some(observed) if shows_diff => parts.extend(observed_parts(handoff, observed, None, style)),
            Some(_) => {}
            None => parts.extend(claimed_part(handoff, style)),
        }
        EntryText { heading, shown: parts, whole }
    }

    fn heading(&self, reader: Option<&str>) -> String {
        let group = self.group.as_ref().map(|group| format!(" on `{group}`")).unwrap_or_default();
        match (&self.key, &self.content) {
            (RecordKey::Report { phase, role, task, helped, .. }, EntryContent::Report { status, .. }) => {
                let helped = helped.as_ref().map(|helped| match reader == Some(helped.as_str()) {
                    true => " to help you".to_owned(),
                    false => format!(" to help `{helped}`"),
                });
                let who = match self.by_interlock {
                    true => "Interlock".to_owned(),
                    false if reader == Some(role.as_str()) => "You".to_owned(),
                    false => format!("`{role}`"),
                };
                let task = match (task, helped) {
                    (AssignmentTask::Work, _) => String::new(),
                    (AssignmentTask::Consult, Some(helped)) => helped,
                    (AssignmentTask::Consult, None) => " when asked for help".to_owned(),
                    (AssignmentTask::Merge, _) => " for the merge".to_owned(),
                };
                let phase = phase.as_ref().map(|phase| format!(", phase `{phase}`")).unwrap_or_default();
                format!("{who} reported `{}`{group}{phase}{task}", shown_status(status))
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
            (_, EntryContent::Report { status, .. }) => format!("`{}` was reported{group}", shown_status(status)),
            (_, EntryContent::Gate { .. }) => format!("A gate ran{group}"),
        }
    }

    /// Short facts come first: blocker, fields that the decision passes on, documents, notes. Long text follows.
    fn report_parts(
        &self,
        handoff: &Json,
        files: Vec<SectionPart>,
        (output_files, claimed): (&[String], &[ClaimedArtifact]),
        style: ReportStyle<'_>,
    ) -> Vec<SectionPart> {
        let mut parts = Vec::new();
        let known = LEFT_OUT.iter().chain(FILE_FIELDS).chain(&["artifacts"]);
        let mut shown: BTreeSet<String> = known.map(|field| (*field).to_owned()).collect();
        let add = |parts: &mut Vec<SectionPart>, shown: &mut BTreeSet<String>, field: &str| {
            let value = at(handoff, field).filter(|value| is_something(value));
            if let Some(value) = value.filter(|_| shown.insert(field.to_owned())) {
                parts.push(SectionPart { keeps_end: field == COMMAND_OUTPUT, ..labelled(field, &style.value(value)) });
            }
        };
        let named = self.named.iter().map(interlock_core::id::Name::as_str);
        let named = named.filter(|field| !MAIN_FIELDS.contains(field));
        for field in BLOCKER_FIELDS.iter().copied().chain(named).chain([NOTES]) {
            add(&mut parts, &mut shown, field);
        }
        let artifacts = artifact_paths(output_files, claimed);
        if !artifacts.is_empty() {
            parts.push(style.list("artifacts", &artifacts));
        }
        for field in MAIN_FIELDS {
            add(&mut parts, &mut shown, field);
        }
        parts.extend(files);
        minor_fields(handoff, "", &mut shown, style, &mut parts);
        parts
    }
}

/// How a report is written out.
#[derive(Clone, Copy)]
struct ReportStyle<'q> {
    /// Characters of a field that the workflow does not hand on.
    most: usize,
    /// The question beside which the report stands.
    question: Option<&'q str>,
    /// Lists stand on the line of their label.
    one_line: bool,
}

impl ReportStyle<'_> {
    fn value(self, value: &Json) -> String {
        let repeats = |words: &str| self.question.is_some_and(|question| question.trim() == words.trim());
        match value {
            Json::String(words) if repeats(words) => "as in the question".to_owned(),
            Json::Array(items) if self.one_line && items.iter().all(Json::is_string) => {
                items.iter().filter_map(Json::as_str).map(data::line).collect::<Vec<_>>().join("; ")
            }
            other => data::value(other),
        }
    }

    /// Only the shown text counts the entries of a long list: the whole text has all of them.
    fn list(self, label: &str, items: &[String]) -> SectionPart {
        if self.one_line {
            return labelled(label, &items.join(", "));
        }
        let most = if self.most == usize::MAX { usize::MAX } else { MOST_FILES };
        let mut lines: Vec<String> = items.iter().take(most).map(|item| format!("- {item}")).collect();
        let more = items.len().saturating_sub(lines.len());
        lines.extend((more > 0).then(|| format!("- and {more} more")));
        SectionPart { is_extract: more > 0, ..labelled(label, &lines.join("\n")) }
    }
}

impl SectionPart {
    /// The beginning of its text.
    fn shortened(mut self, most: usize) -> Self {
        let short = first_characters(&self.body, most);
        self.is_extract |= short != self.body;
        self.body = short;
        self
    }
}

/// Every other field, on a line of its own.
fn minor_fields(
    json: &Json,
    path: &str,
    shown: &mut BTreeSet<String>,
    style: ReportStyle<'_>,
    parts: &mut Vec<SectionPart>,
) {
    for (key, value) in json.as_object().into_iter().flatten() {
        let field = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        if shown.contains(&field) || !is_something(value) {
            continue;
        }
        let within = format!("{field}.");
        let partly_shown = shown.iter().any(|other| other.starts_with(&within));
        if value.is_object() && partly_shown {
            minor_fields(value, &field, shown, style, parts);
            continue;
        }
        if style.most == usize::MAX && !style.one_line {
            parts.push(labelled(&field, &data::value(value)));
            continue;
        }
        let text = match style.one_line {
            true => style.value(value),
            false => value.as_str().map_or_else(|| value.to_string(), str::to_owned),
        };
        let head = format!("{}: ", data::code(&field));
        parts.push(SectionPart { head, body: data::line(&text), ..SectionPart::default() }.shortened(style.most));
    }
}

pub(super) fn first_characters(text: &str, most: usize) -> String {
    let head: String = text.chars().take(most).collect();
    let more = if head.len() < text.len() { " …" } else { "" };
    format!("{head}{more}")
}

/// The files that a report names, where Interlock did not observe a diff.
fn claimed_part(handoff: &Json, style: ReportStyle<'_>) -> Vec<SectionPart> {
    let claimed = claimed_files(handoff);
    (!claimed.is_empty()).then(|| style.list("files, as claimed", &claimed)).into_iter().collect()
}

/// The true diff, and where the claims differ from it.
fn observed_parts(
    handoff: &Json,
    observed: &ObservedChanges,
    unnamed: Option<&BTreeSet<String>>,
    style: ReportStyle<'_>,
) -> Vec<SectionPart> {
    let mut parts = Vec::new();
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
    parts.push(match files.is_empty() {
        true => labelled("files changed", "none"),
        false => style.list(&format!("files changed ({range})"), &files),
    });
    let is_observed = |path: &String| observed.files.iter().any(|file| data::line(&file.path) == *path);
    let claimed = claimed_files(handoff);
    let denied: Vec<String> = claimed.into_iter().filter(|path| !is_observed(path) && observed.omitted == 0).collect();
    if !denied.is_empty() {
        parts.push(style.list("claimed as changed, but not changed", &denied));
    }
    let unclaimed: Vec<String> = unnamed.into_iter().flatten().filter(|path| is_observed(path)).cloned().collect();
    if !unclaimed.is_empty() {
        let body = unclaimed.join(", ");
        parts.push(labelled("changed, but named in no report", &body).shortened(style.most));
    }
    parts
}

/// The documents of the output directory, and every claimed artifact that they do not stand for.
fn artifact_paths(output_files: &[String], claimed: &[ClaimedArtifact]) -> Vec<String> {
    let mut paths: Vec<String> = output_files.iter().map(|file| data::line(file)).collect();
    for artifact in claimed {
        let path = &artifact.path;
        paths.extend(match &artifact.found {
            ArtifactPlace::Output(file) if output_files.contains(file) => match is_part_of(path, file) {
                true => None,
                false => Some(format!("{path} ({})", data::line(file))),
            },
            ArtifactPlace::Output(_) | ArtifactPlace::Elsewhere => Some(path.clone()),
            ArtifactPlace::Nowhere { same_name } if same_name.is_empty() => {
                Some(format!("{path} (claimed, but not found)"))
            }
            ArtifactPlace::Nowhere { same_name } => {
                let name = path.rsplit('/').next().unwrap_or(path);
                let files: Vec<String> = same_name.iter().map(|file| data::line(file)).collect();
                Some(format!("{path} (claimed; {name} is in {})", files.join(" and ")))
            }
        });
    }
    paths
}

/// The listed file ends with the claimed path, or the claim is the whole path of the output directory.
fn is_part_of(claimed: &str, file: &str) -> bool {
    let claimed = claimed.trim_start_matches("./");
    claimed.starts_with('/') || file == claimed || file.ends_with(&format!("/{claimed}"))
}

/// Artifacts that a handoff names, each on one line.
pub fn claimed_artifacts(handoff: &Json) -> Vec<String> {
    texts(handoff, "artifacts")
}

fn texts(json: &Json, field: &str) -> Vec<String> {
    let items = at(json, field).and_then(Json::as_array).into_iter().flatten();
    items
        .map(|item| item.as_str().map_or_else(|| item.to_string(), str::to_owned))
        .map(|text| data::line(&text))
        .collect()
}

/// Short values stand beside their label, long ones below it.
fn labelled(label: &str, text: &str) -> SectionPart {
    let label = data::code(label.strip_prefix("handoff.").unwrap_or(label));
    let gap = if text.contains('\n') || text.starts_with("- ") { "\n" } else { " " };
    SectionPart { head: format!("{label}:{gap}"), body: text.to_owned(), ..SectionPart::default() }
}

/// The value at a dotted path.
pub(super) fn at<'a>(json: &'a Json, path: &str) -> Option<&'a Json> {
    path.split('.').try_fold(json, |value, key| value.get(key))
}
