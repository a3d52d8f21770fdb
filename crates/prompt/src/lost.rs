//! Attempts that ended without an accepted handoff, and what they left for the next one.

use interlock_core::id::Name;
use serde_json::Value as Json;

use crate::PromptContext;
use crate::data;
use crate::entry;
use crate::outputs;
use crate::section::{Section, SectionKind};

/// Characters shown of the end of what a lost attempt printed.
const MOST_OUTPUT: usize = 2_000;
/// Characters shown of one field of a handoff that was not accepted.
const MOST_FIELD: usize = 2_000;
/// Documents listed of one attempt.
const MOST_DOCUMENTS: usize = 40;
/// Fields shown of a handoff that was not accepted.
const FIELDS: &[&str] =
    &["status", "handoff.context", "summary", "blocked_reason", "attempted", "handoff.blockers", "notes_for_future"];

/// An attempt that ended without an accepted handoff.
#[derive(Clone, Debug)]
pub struct LostAttempt {
    pub role: Name,
    pub attempt: u32,
    /// Its holder or its run was gone, or its time was up: no decision says how it was lost.
    pub unreported: bool,
    /// Its folder in the feature directory.
    pub place: String,
    /// The documents in that folder, as the reader sees them.
    pub files: Vec<String>,
    /// The last output of the agent.
    pub output: Option<String>,
    /// The last handoff that it submitted.
    pub handoff: Option<Json>,
}

impl LostAttempt {
    fn path_of(&self, file: &str) -> Option<&String> {
        self.files.iter().find(|path| path.ends_with(&format!("/{file}")))
    }

    fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if let Some(handoff) = &self.handoff {
            lines.push("handoff that was not accepted:".to_owned());
            for field in FIELDS {
                let Some(value) = entry::at(handoff, field).filter(|value| !value.is_null()) else { continue };
                let name = field.strip_prefix("handoff.").unwrap_or(field);
                lines.push(format!("{name}: {}", entry::first_characters(&data::value(value), MOST_FIELD)));
            }
        }
        lines.extend(self.document_lines());
        if let Some(output) = self.output.as_deref().map(data::text).filter(|output| !output.trim().is_empty()) {
            let output = output.trim_end();
            let skipped = output.chars().count().saturating_sub(MOST_OUTPUT);
            let from = if skipped == 0 { "" } else { "the end of " };
            lines.push(format!("{from}its output:"));
            lines.push(output.chars().skip(skipped).collect());
        }
        lines
    }

    fn document_lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if !self.files.is_empty() {
            lines.push("documents:".to_owned());
            lines.extend(self.files.iter().take(MOST_DOCUMENTS).map(|file| format!("- {}", data::line(file))));
            let more = self.files.len().saturating_sub(MOST_DOCUMENTS);
            lines.extend((more > 0).then(|| format!("- and {more} more")));
        }
        lines
    }
}

impl PromptContext<'_> {
    /// The outputs of the last lost attempt, and the documents of those before it.
    pub(super) fn lost_piece(&self) -> Option<Section> {
        let (last, before) = self.lost_attempts.split_first()?;
        let is_own = last.role == self.assignment.role;
        let whose =
            if is_own { "your last attempt".to_owned() } else { format!("the last attempt of `{}`", last.role) };
        let mut lines = last.lines();
        for lost in before.iter().filter(|lost| !lost.files.is_empty()) {
            lines.push(format!("[attempt {} of {}, also lost]", lost.attempt, lost.role));
            lines.extend(lost.document_lines());
        }
        if lines.is_empty() {
            return None;
        }
        let mut piece = Section::data(SectionKind::LostAttempt, format!("What {whose} left"), lines.join("\n"));
        if last.unreported {
            piece = piece.lead("It ended before it reported: its run was stopped, or its time was up.");
        }
        if let Some(patch) = last.path_of(outputs::LOST_PATCH) {
            piece = piece.lead(format!(
                "Its last changes are not in your files. `{}` has them: check it, and apply what is right.",
                data::code(patch)
            ));
        }
        Some(piece)
    }
}
