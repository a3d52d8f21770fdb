//! The fields that every handoff has: role, time, place, and the context for the next role.

use crate::code::Code;
use crate::handoff::check::reader::HandoffReader;
use crate::handoff::check::{ExpectedHandoff, ReportingRole};
use crate::id::Name;
use crate::problem::Problem;
use crate::workflow::{AssignmentTask, PhaseIx, PhasePerformer, Workflow, normalise_status};

impl HandoffReader<'_> {
    pub(super) fn common(&mut self) {
        self.required_text("output_type");
        self.required_text("feature_directory");
        if let Some(text) = self.required_text("timestamp").filter(|text| !is_rfc_3339(text)) {
            let help = "write the time with its offset, such as 2026-01-18T15:42:00Z";
            let message = format!("`timestamp` is \"{text}\", which is not RFC 3339");
            self.problem(Problem::new(Code::BadTimestamp, message).help(help), "timestamp");
        }
        if self.get("skills_invoked").is_none() {
            self.problem(Problem::of_field(Code::FieldMissing, "skills_invoked", "missing"), "skills_invoked");
        }
        self.texts("skills_invoked");
        self.texts("library_skills_read");
        if self.get("handoff").is_none() {
            self.problem(Problem::of_field(Code::FieldMissing, "handoff", "missing"), "handoff");
        }
        self.is_object("handoff");
        self.is_object("verification");
        self.text("handoff.next_agent");
    }

    /// The next role needs context, unless this one is the last.
    pub(super) fn context_present(
        &mut self,
        workflow: Option<&Workflow>,
        expect: &ExpectedHandoff<'_>,
        holder: Option<&ReportingRole>,
    ) {
        let role = holder.map_or("", |holder| holder.name.as_str());
        let may_be = workflow.is_none_or(|workflow| may_be_last(workflow, expect.phase, role));
        let is_final = may_be && self.get("handoff.next_phase").is_some_and(|next| next == "complete");
        let context = self.text("handoff.context");
        if context.is_none_or(|text| text.trim().is_empty()) && !is_final {
            let help = "say what the next one has to know to go on";
            let message = "`handoff.context` is missing or empty";
            self.problem(Problem::new(Code::NoContext, message).help(help), "handoff.context");
        }
        let status = self.get("status").and_then(|status| status.as_str()).unwrap_or_default();
        if let Some(text) = context.filter(|text| says_nothing(text, status)) {
            let message = format!("`handoff.context` is \"{text}\": say what the next role must know to go on");
            self.warn(Code::VagueSummary, "handoff.context", message);
        }
    }

    /// Mandatory skills against those that were invoked.
    pub(super) fn skills(
        &mut self,
        workflow: Option<&Workflow>,
        expect: &ExpectedHandoff<'_>,
        holder: Option<&ReportingRole>,
    ) {
        let Some(workflow) = workflow else { return };
        let role = holder.map_or("", |holder| holder.name.as_str());
        let mandatory = skills_of_task(workflow, role, expect.phase, expect.task);
        let invoked: Vec<String> = self
            .get("skills_invoked")
            .and_then(|value| value.as_array())
            .map(|items| items.iter().filter_map(|item| item.as_str().map(str::to_owned)).collect())
            .unwrap_or_default();
        for skill in mandatory.into_iter().filter(|skill| !invoked.iter().any(|name| name == skill.as_str())) {
            let message = format!("the mandatory skill `{skill}` is not among `skills_invoked`");
            if workflow.handoff.refuse_missing_skills {
                self.wrong(Code::SkillMissing, "skills_invoked", message);
            } else {
                self.warn(Code::SkillMissing, "skills_invoked", message);
            }
        }
    }
}

/// Can this role be the last to work? True if only gates and merges follow the phase. Without a phase, true if that
/// holds for one of the role's phases. Without phases no agent knows that it is the last.
fn may_be_last(workflow: &Workflow, phase: Option<&str>, role: &str) -> bool {
    let all = || (0..workflow.phases.len()).map(PhaseIx::new);
    let by_role =
        |ix: &PhaseIx| matches!(workflow.phase(*ix).performer, PhasePerformer::Role(_) | PhasePerformer::ByDomain(_));
    let last = all().filter(by_role).map(|ix| workflow.phase(ix).stage).max();
    let ends = |ix: PhaseIx| last.is_none_or(|last| workflow.phase(ix).stage >= last);
    match phase.and_then(|name| workflow.phase_named(name)) {
        Some(phase) => ends(phase),
        None => all().any(|ix| workflow.is_phase_of(ix, role) && ends(ix)),
    }
}

/// The skills that a handoff must have invoked: those of every handoff, of the role and of the phase, each once.
pub fn mandatory_skills<'a>(workflow: &'a Workflow, role: &str, phase: Option<&str>) -> Vec<&'a Name> {
    let role = workflow.role_named(role).map(|ix| workflow.role(ix));
    let phase = phase.and_then(|name| workflow.phase_named(name)).map(|ix| workflow.phase(ix));
    let every = workflow.handoff.skills.iter();
    let own = role.iter().flat_map(|role| &role.skills).chain(phase.iter().flat_map(|phase| &phase.skills));
    let mut skills: Vec<&Name> = Vec::new();
    for skill in every.chain(own) {
        if !skills.contains(&skill) {
            skills.push(skill);
        }
    }
    skills
}

/// The mandatory skills of an assignment. A role that helps does not do the work of the phase, so the skills of the phase
/// are not asked of it.
pub fn skills_of_task<'a>(
    workflow: &'a Workflow,
    role: &str,
    phase: Option<&str>,
    task: AssignmentTask,
) -> Vec<&'a Name> {
    mandatory_skills(workflow, role, phase.filter(|_| task != AssignmentTask::Consult))
}

/// The shape is RFC 3339's, narrower than what jiff takes; the values are ones that exist.
fn is_rfc_3339(text: &str) -> bool {
    let (time, offset) = match text.find(['Z', 'z', '+']).or_else(|| text.rfind('-').filter(|at| *at > 10)) {
        Some(at) => text.split_at(at),
        None => return false,
    };
    let like = |text: &str, shape: &str| {
        text.len() == shape.len()
            && text.bytes().zip(shape.bytes()).all(|(byte, wanted)| match wanted {
                b'0' => byte.is_ascii_digit(),
                b'T' => matches!(byte, b'T' | b't'),
                b'+' => matches!(byte, b'+' | b'-'),
                other => byte == other,
            })
    };
    let (seconds, fraction) = time.split_once('.').map_or((time, None), |(seconds, rest)| (seconds, Some(rest)));
    let fraction_fits = fraction.is_none_or(|digits| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()));
    let offset_fits = matches!(offset, "Z" | "z") || like(offset, "+00:00");
    like(seconds, "0000-00-00T00:00:00") && fraction_fits && offset_fits && text.parse::<jiff::Timestamp>().is_ok()
}

/// Words that say nothing about this piece of work: grammar, states of any work, and pointers without a target.
const EMPTY_WORDS: &[&str] = &[
    "a",
    "above",
    "agent",
    "all",
    "am",
    "and",
    "are",
    "as",
    "at",
    "be",
    "been",
    "before",
    "below",
    "block",
    "blocked",
    "blocker",
    "by",
    "can",
    "cannot",
    "change",
    "changed",
    "changes",
    "complete",
    "completed",
    "context",
    "continue",
    "could",
    "details",
    "did",
    "do",
    "does",
    "done",
    "earlier",
    "error",
    "everything",
    "fail",
    "failed",
    "fine",
    "finished",
    "fix",
    "fixed",
    "for",
    "from",
    "go",
    "going",
    "good",
    "group",
    "had",
    "handoff",
    "has",
    "have",
    "help",
    "here",
    "i",
    "implemented",
    "in",
    "info",
    "is",
    "issue",
    "it",
    "job",
    "m",
    "made",
    "me",
    "merge",
    "more",
    "my",
    "n",
    "na",
    "need",
    "needed",
    "needs",
    "next",
    "no",
    "none",
    "not",
    "nothing",
    "now",
    "of",
    "ok",
    "okay",
    "on",
    "or",
    "our",
    "pass",
    "passed",
    "please",
    "previous",
    "problem",
    "progress",
    "proceed",
    "qa",
    "ready",
    "report",
    "review",
    "role",
    "s",
    "same",
    "see",
    "so",
    "status",
    "step",
    "stuck",
    "success",
    "successful",
    "successfully",
    "summary",
    "t",
    "task",
    "tbd",
    "that",
    "the",
    "there",
    "things",
    "this",
    "to",
    "todo",
    "updated",
    "was",
    "we",
    "were",
    "will",
    "with",
    "work",
    "worked",
    "working",
    "works",
    "yes",
    "you",
];

/// No word of the context is about this piece of work: one word alone, the status again, or only empty words.
fn says_nothing(context: &str, status: &str) -> bool {
    let context = context.trim();
    let word = context.trim_end_matches(['.', '!', '?']);
    // Scripts without upper and lower case may write a sentence without spaces.
    let is_cased = |c: char| c.is_lowercase() || c.is_uppercase();
    let is_word = !word.is_empty() && word.chars().all(is_cased);
    let is_status = !status.is_empty() && normalise_status(word) == normalise_status(status);
    // Symbols beside words, as in paths and values, are content.
    let is_split = |c: char| c.is_whitespace() || ".,;:!?/'’\"()-…".contains(c);
    let mut words = context.split(is_split).filter(|word| !word.is_empty());
    let is_empty_word = |word: &str| EMPTY_WORDS.contains(&word.to_lowercase().as_str());
    !context.is_empty() && (is_word || is_status || words.all(is_empty_word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn context_without_a_word_about_the_work_is_vague() {
        for vague in ["blocked", "Done.", "ready for QA", "READY_FOR_QA", "ready-for-qa.", "I am blocked", "I'm stuck!"]
        {
            assert!(says_nothing(vague, "READY_FOR_QA"), "{vague}");
        }
        for vague in
            ["n/a", ".", "...", "-", "see above", "Work is done.", "The group is complete", "All done, please review"]
        {
            assert!(says_nothing(vague, "BLOCKED"), "{vague}");
        }
        for fine in ["", "See architecture.md", "src/login.rs:41", "QA can test it", "12", "Use pandas.", "No secrets."]
        {
            assert!(!says_nothing(fine, "READY_FOR_QA"), "{fine}");
        }
        for fine in
            ["Wrote etl.py.", "All tests pass", "Port 8080 is blocked", "帳號在五次後鎖定", "DNS is down", "<none>"]
        {
            assert!(!says_nothing(fine, "BLOCKED"), "{fine}");
        }
    }

    #[test]
    fn times_have_a_day_a_time_and_an_offset() {
        for good in [
            "2026-01-18T15:42:00Z",
            "2026-01-18t15:42:00z",
            "2026-01-18T15:42:00.123456789Z",
            "2026-01-18T15:42:00+02:00",
            "2026-01-18T15:42:00.5-11:30",
            "2024-02-29T00:00:00Z",
        ] {
            assert!(is_rfc_3339(good), "{good}");
        }
        for bad in [
            "",
            "yesterday",
            "2026-01-18",
            "2026-01-18T15:42:00",
            "2026-01-18 15:42:00Z",
            "2026-01-18T15:42Z",
            "2026-01-18T15:42:00+02",
            "2026-01-18T15:42:00+0200",
            "2026-01-18T15:42:00.Z",
            "20260118T154200Z",
            "2026-01-18T15:42:00Z[UTC]",
            "2026-01-18T15:42:00+02:00[Europe/Berlin]",
            "2026-02-30T15:42:00Z",
            "2026-01-18T25:00:00Z",
            "2026-01-18T15:42:00 Z",
            "+002026-01-18T15:42:00Z",
            "１026-01-18T15:42:00Z",
        ] {
            assert!(!is_rfc_3339(bad), "{bad}");
        }
    }
}
