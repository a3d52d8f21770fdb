//! The prompt of an assignment: the task, what the log holds for it, and the return format.
//!
//! A pure function of a [`PromptContext`]. `dossier` holds the entries of the log, `history` and `record` make the
//! sections, `section` defines which one is cut first, `response` is the return format, `prompt.md.j2` is the text.
//! Texts of others are data: see `data`.

mod changed_files;
mod data;
mod dossier;
mod earlier_reports;
mod entry;
pub mod handoff_files;
mod history;
mod lost;
pub mod notices;
mod open_groups;
pub mod outputs;
mod question;
mod record;
mod response;
mod section;
mod template;
#[cfg(test)]
mod tests;

use interlock_core::decision::Decision;
use interlock_core::event::Event;
use interlock_core::id::AssignmentId;
use interlock_core::state::{Assignment, Group, Lane, State};
use interlock_core::workflow::{Role, Workflow};

pub use dossier::{
    ArtifactPlace, ClaimedArtifact, Dossier, DossierEntry, DossierScope, EntryContent, LoggedRecord, output_place,
};
pub use earlier_reports::EarlierReports;
pub use entry::claimed_artifacts;
pub use lost::LostAttempt;
pub use question::{QuestionBrief, QuestionSources};
pub use response::RoleReturnFormat;
pub use section::{AssignmentPrompt, KeptEnd, PRIORITIES, SectionKind, SectionPriority};

/// Words of others within a prompt, in a fence that they cannot close.
pub fn quoted(said_by: &str, words: &str) -> String {
    let text = data::text(words);
    let fence = data::fence(&text);
    format!("Output of {said_by}:\n{fence}text\n{text}\n{fence}\n")
}

/// Lines that quote words of others, each on one line of a list, in a fence that they cannot close.
pub(crate) fn listed(lines: &[String]) -> String {
    let lines: Vec<String> = lines.iter().map(|line| format!("- {}", data::line(line))).collect();
    let text = lines.join("\n");
    let fence = data::fence(&text);
    format!("{fence}text\n{text}\n{fence}\n")
}

/// How many characters a prompt may have.
pub const BUDGET: usize = 24_000;

/// The heading of the return format, which is the last section of every prompt.
const RETURN_HEADING: &str = "\n## Return\n";

/// A prompt before and from its return format, so that a caller can add sections in between.
pub fn split_at_return(prompt: &str) -> (&str, &str) {
    prompt.rfind(RETURN_HEADING).map_or((prompt, ""), |at| prompt.split_at(at))
}

/// How the handoff reaches Interlock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReturnChannel {
    /// `interlock run` starts the agent, submits its handoff, and adds to the prompt how to return it.
    Run,
    /// A hook reads the last message of a sub-agent.
    LastMessage,
    /// The agent runs `interlock report`, or leaves a file for its spawner.
    Command,
}

/// Everything that the prompt of an assignment is made of.
pub struct PromptContext<'a> {
    pub state: &'a State,
    pub workflow: &'a Workflow,
    pub id: AssignmentId,
    pub assignment: &'a Assignment,
    /// The event that led to the assignment. If attempts were lost, the event that led to the first of them.
    pub origin: Option<&'a Event>,
    /// The loss of the last attempt, if there was one.
    pub lost: Option<&'a Event>,
    /// Attempts since the last accepted report that were lost, newest first, with what they left.
    pub lost_attempts: &'a [LostAttempt],
    pub mission: Option<&'a str>,
    /// The plan of its group, and the descriptions of open findings.
    pub said: &'a EarlierReports,
    /// The entries of the log for this reader.
    pub dossier: &'a Dossier,
    pub output_directory: &'a str,
    pub channel: ReturnChannel,
}

impl PromptContext<'_> {
    /// The prompt, within [`BUDGET`].
    pub fn prompt(&self) -> AssignmentPrompt {
        self.prompt_within(BUDGET)
    }

    /// The prompt in this many characters. The assignment and the rules of return are never cut, so it can be longer
    /// where those alone do not fit.
    pub fn prompt_within(&self, budget: usize) -> AssignmentPrompt {
        let template = template::TemplateData::of(self);
        let folder = data::line(self.output_directory);
        let prompt = section::fit(self.pieces(), &folder, budget, |pieces| template.render(pieces));
        let mut earlier = self.dossier.output_places();
        earlier.extend(self.lost_attempts.iter().map(|lost| lost.place.clone()));
        AssignmentPrompt { earlier, ..prompt }
    }

    /// In the order of the prompt.
    fn pieces(&self) -> Vec<section::Section> {
        let mut pieces = Vec::new();
        self.mission(&mut pieces);
        self.plan(&mut pieces);
        self.groups(&mut pieces);
        self.open_groups(&mut pieces);
        self.history(&mut pieces);
        self.failing_tests(&mut pieces);
        self.findings(&mut pieces);
        self.blockers(&mut pieces);
        self.changed_files(&mut pieces);
        self.warnings(&mut pieces);
        pieces
    }

    fn decision(&self) -> Option<&Decision> {
        self.origin?.decision.as_ref()
    }

    fn role(&self) -> Option<&Role> {
        self.workflow.role_named(&self.assignment.role).map(|ix| self.workflow.role(ix))
    }

    fn group(&self) -> Option<&Group> {
        self.assignment.group.as_ref().and_then(|name| self.state.group(name))
    }

    fn lane(&self) -> &Lane {
        self.group().map_or(&self.state.lane, |group| &group.lane)
    }
}
