//! The phase, and the report on the work done in it.

use crate::code::Code;
use crate::handoff::check::ExpectedHandoff;
use crate::handoff::check::reader::HandoffReader;
use crate::id::Name;
use crate::workflow::Workflow;

impl HandoffReader<'_> {
    /// The phase of the assignment. What the handoff calls it must be what the workflow calls it.
    pub(super) fn phase(&mut self, workflow: Option<&Workflow>, expect: &ExpectedHandoff<'_>) -> Option<Name> {
        let (written, next) = (self.text("phase"), self.text("handoff.next_phase"));
        if let Some(text) = self.text("summary").filter(|text| !text.trim().is_empty() && is_vague(text)) {
            let message = format!("\"{text}\" says too little: what, how many, with what result?");
            self.warn(Code::VagueSummary, "summary", message);
        }
        let workflow = workflow.filter(|workflow| workflow.has_phases())?;
        if let Some(next) = next {
            self.next_phase(workflow, next);
        }
        let expected = expect.phase.and_then(|name| workflow.phase_named(name)).map(|ix| workflow.phase(ix));
        match (expected, written) {
            (Some(phase), Some(text)) if phase.called != text && phase.name != text => {
                let message = format!("`phase` is `{text}`, and the assignment is of `{}`", phase.called);
                self.wrong(Code::WrongPhase, "phase", message);
            }
            (None, Some(text)) if workflow.phases.iter().all(|phase| phase.called != text && phase.name != text) => {
                let known: Vec<&str> = workflow.phases.iter().map(|phase| phase.called.as_str()).collect();
                let message = format!("there is no phase `{text}`; there is: {}", known.join(", "));
                self.wrong(Code::WrongPhase, "phase", message);
            }
            (Some(_) | None, _) => {}
        }
        expected.map(|phase| phase.name.clone())
    }

    fn next_phase(&mut self, workflow: &Workflow, text: &str) {
        let known = workflow.phases.iter().any(|phase| phase.called == text || phase.name == text);
        if !known && text != "complete" {
            self.warn(Code::FieldValue, "handoff.next_phase", format!("there is no phase `{text}`"));
        }
    }
}

/// Too short, or without anything that is specific to this piece of work.
fn is_vague(summary: &str) -> bool {
    let words: Vec<&str> = summary.split_whitespace().collect();
    let concrete = |word: &&str| {
        let inner = word.trim_matches(|c: char| !c.is_alphanumeric());
        let joined = inner.contains(['-', '_', '/', '.', ':', '(', '`']);
        let cased = inner.chars().skip(1).any(char::is_uppercase);
        word.chars().any(|c| c.is_ascii_digit()) || joined || cased
    };
    words.len() < 4 || words.len() < 12 && !words.iter().any(concrete)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_good_and_bad_examples_are_told_apart() {
        for good in [
            "Discovered schema for get-issue tool: 5 required inputs, 850-token response, 97% filterable",
            "Designed shared architecture using Result pattern with 95% token reduction via progressive loading",
            "Implemented get-issue wrapper with Zod validation, achieved 89% test coverage",
            "Fixed XSS in UserInput.tsx:87",
        ] {
            assert!(!is_vague(good), "{good}");
        }
        for bad in
            ["Completed schema discovery", "Wrote some architecture", "Added wrapper", "All of the work is now done"]
        {
            assert!(is_vague(bad), "{bad}");
        }
    }
}
