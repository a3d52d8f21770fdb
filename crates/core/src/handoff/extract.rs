//! Finds the metadata block in what an agent wrote.

use std::ops::Range;
use std::sync::Arc;

use serde_json::Value as Json;

use crate::code::Code;
use crate::handoff::blocks;
use crate::handoff::candidate::{
    CandidateForm, CandidateSelection, CandidateState, HandoffCandidate, MAX_BLOCK, unquoted,
};
use crate::handoff::digest::digest;
use crate::handoff::extracted::{ExtractedHandoff, OutputExcerpt, is_first_half};
use crate::handoff::fill::FilledFields;
use crate::handoff::json::{self, ByteSpan, JsonFault, JsonFaultKind};
use crate::handoff::json_fault;
use crate::problem::{Place, Problem};

const BYTE_ORDER_MARK: &[u8] = &[0xEF, 0xBB, 0xBF];

/// Finds the metadata of an agent's output: the last JSON object in it that looks like
/// metadata, in a fence or not, or the whole of it. `file` names the output in places.
pub fn extract(file: &str, output: &[u8]) -> Result<ExtractedHandoff, Vec<Problem>> {
    extract_in_parts(file, output, blocks::PART)
}

pub(crate) fn extract_in_parts(file: &str, output: &[u8], part: usize) -> Result<ExtractedHandoff, Vec<Problem>> {
    let output = HandoffOutput { file, bytes: output };
    output.refuse_utf16()?;
    let start = if output.bytes.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 };
    let choice = || CandidateSelection::of(output.bytes, start..output.bytes.len(), part);
    let mut extracted = match output.bare(start) {
        Ok(Some(extracted)) => extracted,
        Ok(None) => output.choose(&choice())?,
        Err(BareJsonFailure::Refused(problems)) => return Err(problems),
        Err(BareJsonFailure::Broken(problems)) => match choice() {
            choice if choice.is_empty() => return Err(problems),
            choice => output.choose(&choice)?,
        },
    };
    extracted.warnings.extend(output.not_text());
    Ok(extracted)
}

struct HandoffOutput<'a> {
    file: &'a str,
    bytes: &'a [u8],
}

/// Why an output that begins as JSON does is not the metadata as a whole.
enum BareJsonFailure {
    /// It is JSON, but not such as can be metadata.
    Refused(Vec<Problem>),
    /// It is not JSON; this is why.
    Broken(Vec<Problem>),
}

type ExtractionResult = Result<ExtractedHandoff, Vec<Problem>>;

impl HandoffOutput<'_> {
    fn refuse_utf16(&self) -> Result<(), Vec<Problem>> {
        if self.bytes.starts_with(&[0xFF, 0xFE]) || self.bytes.starts_with(&[0xFE, 0xFF]) {
            let problem = Problem::new(Code::NotText, "the output is UTF-16").help("write it as UTF-8");
            return Err(vec![problem.at(self.place_at(0))]);
        }
        Ok(())
    }

    /// An output that is JSON from beginning to end is the metadata, whatever it looks like.
    /// `None`: it is something else; what is wrong with it as JSON may still be of use.
    fn bare(&self, start: usize) -> Result<Option<ExtractedHandoff>, BareJsonFailure> {
        let rest = self.bytes.get(start..).unwrap_or_default();
        let text = rest.trim_ascii();
        let is_object = text.starts_with(b"{");
        if !is_object && !matches!(text, [b'[', .., b']'] | [b'"', .., b'"']) {
            return Ok(None);
        }
        let whole = start..start.saturating_add(rest.trim_ascii_end().len());
        let candidate = HandoffCandidate {
            whole: whole.clone(),
            lines: whole,
            object: start,
            form: CandidateForm::Whole,
            quoted: false,
            state: CandidateState::Good,
        };
        if text.len() > MAX_BLOCK {
            let json = serde_json::from_slice::<serde::de::IgnoredAny>(text).is_ok();
            return if json { Err(BareJsonFailure::Refused(vec![self.too_large(&candidate)])) } else { Ok(None) };
        }
        match (self.read(&candidate), is_object) {
            (Ok(extracted), true) => Ok(Some(extracted)),
            (Ok(_), false) => Err(BareJsonFailure::Refused(vec![self.not_an_object(&candidate.whole)])),
            (Err(problems), true) => Err(BareJsonFailure::Broken(problems)),
            (Err(_), false) => Ok(None),
        }
    }

    fn choose(&self, choice: &CandidateSelection) -> ExtractionResult {
        if let Some(last) = &choice.last {
            return self.take(last, choice.earlier.as_ref());
        }
        if let Some(meagre) = &choice.meagre {
            return self.take(meagre, None);
        }
        if let Some(example) = &choice.example {
            let mut extracted = self.take(example, None)?;
            let warning = Problem::warning(
                Code::NoHandoff,
                "the only metadata stands inside another code block, as an example would",
            )
            .help("put the metadata at the end of the output, in a fence of its own");
            extracted.warnings.push(warning.at(self.place_at(example.whole.start)));
            return Ok(extracted);
        }
        let help = "return one JSON object that has `status` and `handoff`, in the way that the task says";
        match &choice.other {
            Some((whole, false)) => Err(vec![self.not_an_object(whole)]),
            Some((whole, true)) => {
                let message =
                    "there is no metadata in the output: its last JSON object has none of the fields of a handoff";
                Err(vec![Problem::new(Code::NoHandoff, message).help(help).at(self.place_at(whole.start))])
            }
            None => Err(vec![
                Problem::new(Code::NoHandoff, "there is no metadata block in the output")
                    .help(help)
                    .at(self.place_at(self.bytes.len())),
            ]),
        }
    }

    fn take(&self, candidate: &HandoffCandidate, earlier: Option<&HandoffCandidate>) -> ExtractionResult {
        match candidate.state {
            CandidateState::TooLarge => return Err(vec![self.too_large(candidate)]),
            CandidateState::Good | CandidateState::Broken => {}
        }
        let mut extracted = match self.read(candidate) {
            Ok(extracted) => extracted,
            Err(mut problems) => {
                if let (Some(earlier), Some(first)) = (earlier, problems.first_mut()) {
                    let line = self.place_at(earlier.whole.start).line;
                    let note = format!("the metadata block at line {line} can be read, but it is not the last");
                    first.help = Some(format!("{}; {note}", first.advice()));
                }
                return Err(problems);
            }
        };
        if let Some(earlier) = earlier {
            self.compare(&mut extracted, candidate, earlier)?;
        }
        Ok(extracted)
    }

    /// An earlier block that says the same is fine. One that says something else is passed over
    /// with a warning, unless the two stand side by side as one agent's word: then neither counts.
    fn compare(
        &self,
        extracted: &mut ExtractedHandoff,
        last: &HandoffCandidate,
        earlier: &HandoffCandidate,
    ) -> Result<(), Vec<Problem>> {
        let Ok(other) = self.read(earlier) else { return Ok(()) };
        if other.json == extracted.json {
            return Ok(());
        }
        let between = self.bytes.get(earlier.whole.end..last.whole.start).unwrap_or_default();
        let agent = |json: &Json| json.get("agent").cloned();
        let place = self.place_at(earlier.whole.start);
        if between.trim_ascii().is_empty() && agent(&other.json) == agent(&extracted.json) {
            let message = format!(
                "this metadata block and the one at line {} differ, and nothing says which one counts",
                place.line
            );
            let problem = Problem::new(Code::TwoHandoffs, message).help("keep one of them");
            return Err(vec![problem.at(self.place_at(last.whole.start))]);
        }
        let message = "another metadata block comes later and differs: the last one counts";
        extracted.warnings.push(Problem::warning(Code::TwoHandoffs, message).at(place));
        Ok(())
    }

    fn read(&self, candidate: &HandoffCandidate) -> ExtractionResult {
        let lines = self.bytes.get(candidate.lines.clone()).unwrap_or_default();
        let cut = lines.get(..lines.len().min(MAX_BLOCK)).unwrap_or_default();
        let text = match String::from_utf8(unquoted(cut, candidate.quoted).into_owned()) {
            Ok(text) => text,
            Err(error) => {
                let at = candidate.lines.start.saturating_add(error.utf8_error().valid_up_to());
                let message = "the metadata block has a byte that is not UTF-8";
                return Err(vec![
                    Problem::new(Code::NotText, message).help("write the output as UTF-8").at(self.place_at(at)),
                ]);
            }
        };
        let source = OutputExcerpt::new(self.file, Arc::from(text), self.line_of(candidate.lines.start));
        let start = candidate.object.saturating_sub(candidate.lines.start);
        let bare = match candidate.form {
            CandidateForm::Fenced | CandidateForm::Whole => false,
            CandidateForm::Bare => true,
        };
        let say = |faults: Vec<JsonFault>| -> Vec<Problem> {
            faults.iter().map(|fault| json_fault::problem(fault, source.place(fault.at))).collect()
        };
        // From the beginning of the block, so that a comment before the object is noted too.
        let parsed = json::parse(&source.text, if bare { start } else { 0 }).map_err(&say)?;
        let mut faults = parsed.faults;
        if !bare {
            let (more, comments) = json::after(&source.text, parsed.end);
            faults.extend(comments);
            if let Some(at) = more {
                let character = source.text.get(at..).and_then(|rest| rest.chars().next()).unwrap_or('?');
                let end = at.saturating_add(character.len_utf8());
                faults.push(JsonFault { kind: JsonFaultKind::Unexpected(character), at: ByteSpan { start: at, end } });
                return Err(say(faults));
            }
        }
        let (problems, warnings) = say(faults).into_iter().partition(Problem::is_error);
        let (digest, json) = (digest(&parsed.value), Arc::new(parsed.value));
        let (submitted, filled_in) = (Arc::clone(&json), FilledFields::new());
        Ok(ExtractedHandoff { json, digest, problems, warnings, submitted, filled_in, source, spans: parsed.spans })
    }

    fn too_large(&self, candidate: &HandoffCandidate) -> Problem {
        let size = candidate.lines.len().div_ceil(1024 * 1024);
        Problem::new(
            Code::HandoffTooLarge,
            format!("the metadata block has {size} MiB, more than the 4 MiB that are read"),
        )
        .help("put what is long into a file and name it in `artifacts`")
        .at(self.place_at(candidate.whole.start))
    }

    fn not_an_object(&self, whole: &Range<usize>) -> Problem {
        Problem::new(Code::NotAnObject, "the JSON of the output is not an object")
            .help("write the metadata as one object: { \"agent\": …, \"status\": …, \"handoff\": … }")
            .at(self.place_at(whole.start))
    }

    /// Bytes that are not text do no harm outside the metadata, but they are reported.
    fn not_text(&self) -> Option<Problem> {
        let at = std::str::from_utf8(self.bytes).err()?.valid_up_to();
        let byte = self.bytes.get(at).copied().unwrap_or_default();
        let message =
            format!("the output is not UTF-8 from byte {at} (0x{byte:02X}) on; the metadata is not touched by it");
        Some(Problem::warning(Code::NotText, message).at(self.place_at(at)))
    }

    fn line_of(&self, at: usize) -> usize {
        let before = self.bytes.get(..at).unwrap_or_default();
        let returns = memchr::memchr_iter(b'\r', before).filter(|at| !is_first_half(self.bytes, *at));
        let breaks = memchr::memchr_iter(b'\n', before).count().saturating_add(returns.count());
        breaks.saturating_add(1)
    }

    fn place_at(&self, at: usize) -> Place {
        let before = self.bytes.get(..at).unwrap_or_default();
        let line = memchr::memrchr2(b'\n', b'\r', before).map_or(0, |at| at.saturating_add(1));
        // Counted without decoding: every byte that is not a continuation begins a character.
        let column = self.bytes.get(line..at).unwrap_or_default().iter().filter(|byte| **byte & 0xC0 != 0x80).count();
        Place {
            file: Arc::from(self.file),
            line: super::extracted::small(self.line_of(at)),
            column: super::extracted::small(column.saturating_add(1)),
            length: 1,
        }
    }
}
