//! Selects the JSON of an output that is the metadata.
//!
//! An object looks like metadata if it has two of the six fields that every handoff has. The last such object counts. A
//! later one that is broken counts as well, and is reported: a silent fallback to an earlier example would be a guess.
//!
//! A fence inside a longer fence, or inside one of the other kind, is quoted. It is an example, used only if there is
//! nothing else, with a warning. A fence inside one of its own length cannot be quoted in Markdown: the author forgot a
//! longer fence outside, so it counts like any other.

use std::borrow::Cow;
use std::ops::Range;

use crate::handoff::blocks::{self, CodeFence, DocumentPiece};
use crate::handoff::marks::{MarkLookahead, skim};
use crate::handoff::outline;

/// The largest metadata block.
pub(crate) const MAX_BLOCK: usize = 4 * 1024 * 1024;

/// How deep fences inside fences are looked at.
const MAX_NESTING: usize = 3;

/// A piece of JSON that may be the metadata.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct HandoffCandidate {
    /// With its fence.
    pub(crate) whole: Range<usize>,
    /// The lines of the JSON, from the beginning of a line.
    pub(crate) lines: Range<usize>,
    /// Where the object begins.
    pub(crate) object: usize,
    pub(crate) form: CandidateForm,
    /// `>` stands before its lines.
    pub(crate) quoted: bool,
    pub(crate) state: CandidateState,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum CandidateForm {
    Fenced,
    /// In the text, without a fence.
    Bare,
    /// All there is.
    Whole,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum CandidateState {
    Good,
    Broken,
    TooLarge,
}

/// The candidates found, of each kind only those that can still matter.
#[derive(Default, Debug)]
pub(crate) struct CandidateSelection {
    /// The last that looks like metadata, good or not.
    pub(crate) last: Option<HandoffCandidate>,
    /// The last good one before it.
    pub(crate) earlier: Option<HandoffCandidate>,
    /// The last object with one of the fields only.
    pub(crate) meagre: Option<HandoffCandidate>,
    /// The last one inside a longer fence.
    pub(crate) example: Option<HandoffCandidate>,
    /// The last JSON that is no metadata at all, and whether it is an object.
    pub(crate) other: Option<(Range<usize>, bool)>,
}

impl CandidateSelection {
    pub(crate) fn of(bytes: &[u8], range: Range<usize>, part: usize) -> Self {
        let mut finder = CandidateFinder { bytes, part, choice: Self::default() };
        finder.pieces(range, CandidateNesting { nesting: 0, example: false, fence: None });
        finder.choice
    }

    /// Nothing in the output can be the metadata.
    pub(crate) fn is_empty(&self) -> bool {
        self.last.is_none() && self.meagre.is_none() && self.example.is_none()
    }

    fn offer(&mut self, candidate: HandoffCandidate, example: bool) {
        if example {
            self.example = Some(candidate);
            return;
        }
        if let Some(before) = self.last.replace(candidate).filter(|before| before.state == CandidateState::Good) {
            self.earlier = Some(before);
        }
    }
}

/// Where the pieces stand that are being looked at.
#[derive(Clone, Copy)]
struct CandidateNesting {
    nesting: usize,
    example: bool,
    /// The kind and length of the fence around, and whether it is closed.
    fence: Option<(u8, usize, bool)>,
}

struct CandidateFinder<'a> {
    bytes: &'a [u8],
    part: usize,
    choice: CandidateSelection,
}

impl CandidateFinder<'_> {
    fn pieces(&mut self, range: Range<usize>, inside: CandidateNesting) {
        let bytes = self.bytes;
        // A list item that had to be cut is no reason to refuse: its fences are found all the same.
        let _ = blocks::walk(bytes, range, self.part, &mut |piece| match piece {
            // In a closed fence loose objects are what the fence shows, not what the agent says.
            DocumentPiece::Text(text) => {
                if inside.fence.is_none_or(|(_, _, closed)| !closed) {
                    self.text(&text, inside.example);
                }
            }
            DocumentPiece::Fence(fence) => self.fence(&fence, inside),
        });
    }

    /// A line inside a fence that would open one of the same kind cannot stand there in good
    /// Markdown: the fence is taken to end before it, and another to begin with it.
    fn fence(&mut self, fence: &CodeFence, inside: CandidateNesting) {
        if !has_fence(slice(self.bytes, &fence.content)) {
            return self.single(fence, inside);
        }
        let mut part = fence.clone();
        let mut at = fence.content.start;
        while at < fence.content.end {
            let (stop, next) = blocks::line_end(self.bytes, at, fence.content.end);
            let line = slice(self.bytes, &(at..stop));
            let opens = outline::fence(outline::without_quotes(line))
                .filter(|opens| opens.marker == fence.marker && opens.length >= fence.length && !opens.info.is_empty());
            if let Some(opens) = opens {
                let info_end = at.saturating_add(line.trim_ascii_end().len());
                let begun = CodeFence {
                    whole: at..fence.whole.end,
                    content: next..fence.content.end,
                    length: opens.length,
                    info: info_end.saturating_sub(opens.info.len())..info_end,
                    ..fence.clone()
                };
                let mut ended = std::mem::replace(&mut part, begun);
                (ended.whole.end, ended.content.end) = (at, at);
                self.single(&ended, inside);
            }
            at = next;
        }
        self.single(&part, inside);
    }

    fn single(&mut self, fence: &CodeFence, inside: CandidateNesting) {
        let example = inside.example
            || inside.fence.is_some_and(|(marker, length, _)| marker != fence.marker || length > fence.length);
        let content = slice(self.bytes, &fence.content);
        let info = slice(self.bytes, &fence.info);
        let word =
            info.split(|byte| byte.is_ascii_whitespace() || matches!(byte, b',' | b'{')).next().unwrap_or_default();
        let json = [&b"json"[..], b"jsonc", b"json5"].iter().any(|name| word.eq_ignore_ascii_case(name));
        let lines = unquoted(content, fence.quoted);
        let first = lines.iter().position(|byte| !byte.is_ascii_whitespace());
        let object_at = match first.and_then(|at| lines.get(at)) {
            Some(b'{') => first,
            Some(b'/' | b'#') if json => memchr::memchr(b'{', &lines),
            _ => None,
        };
        if let Some(at) = object_at {
            let candidate = HandoffCandidate {
                whole: fence.whole.clone(),
                lines: fence.content.clone(),
                object: fence.content.start.saturating_add(at),
                form: CandidateForm::Fenced,
                quoted: fence.quoted,
                state: CandidateState::Good,
            };
            return self.object(candidate, &lines, json || info.is_empty(), example);
        }
        if json && first.is_some() {
            self.choice.other = Some((fence.whole.clone(), false));
        }
        let inner = inside.nesting < MAX_NESTING && memchr::memchr(b'{', content).is_some();
        if inner && (!fence.closed || has_fence(content)) {
            let around = Some((fence.marker, fence.length, fence.closed));
            self.pieces(
                fence.content.clone(),
                CandidateNesting { nesting: inside.nesting.saturating_add(1), example, fence: around },
            );
        }
    }

    /// A fence whose content begins with `{`.
    fn object(&mut self, mut candidate: HandoffCandidate, lines: &[u8], json: bool, example: bool) {
        let at = candidate.object.saturating_sub(candidate.lines.start);
        if lines.len() > MAX_BLOCK {
            candidate.state = CandidateState::TooLarge;
        } else {
            let begins_with_it = lines.get(..at).is_some_and(|before| before.trim_ascii().is_empty());
            match skim(lines, at) {
                Ok((end, marks)) if begins_with_it && slice(lines, &(end..lines.len())).trim_ascii().is_empty() => {
                    return self.good(candidate, marks, example);
                }
                Ok(_) | Err(_) => candidate.state = CandidateState::Broken,
            }
        }
        if json && MarkLookahead::new(lines, lines.len()).within(0) >= 1 {
            self.choice.offer(candidate, example);
        }
    }

    fn good(&mut self, candidate: HandoffCandidate, marks: usize, example: bool) {
        match marks {
            0 => self.choice.other = Some((candidate.whole, true)),
            1 if !example => self.choice.meagre = Some(candidate),
            1 => {}
            _ => self.choice.offer(candidate, example),
        }
    }

    /// Objects without a fence: they begin a line and end one, or end the text. Every byte is
    /// looked at a fixed number of times: after an object that ends or breaks, the search goes
    /// on behind it, for what begins inside it is part of it.
    fn text(&mut self, text: &Range<usize>, example: bool) {
        let mut named = MarkLookahead::new(self.bytes, text.end);
        let (mut at, mut line, mut seen) = (text.start, text.start, text.start);
        while let Some(found) = memchr::memchr(b'{', slice(self.bytes, &(at..text.end))) {
            let start = at.saturating_add(found);
            at = start.saturating_add(1);
            // Most braces end here: whatever more there is to know about them is not asked before.
            if !self.may_begin(start) {
                continue;
            }
            let since = slice(self.bytes, &(seen..start));
            line = memchr::memrchr2(b'\n', b'\r', since)
                .map_or(line, |found| seen.saturating_add(found).saturating_add(1));
            seen = start;
            let mut candidate = HandoffCandidate {
                whole: start..text.end,
                lines: line..text.end,
                object: start,
                form: CandidateForm::Bare,
                quoted: false,
                state: CandidateState::Good,
            };
            let begins_line = slice(self.bytes, &(line..start)).iter().all(|byte| matches!(byte, b' ' | b'\t'));
            match skim(slice(self.bytes, &(start..text.end)), 0) {
                Ok((length, marks)) => {
                    let end = start.saturating_add(length);
                    at = end;
                    (candidate.whole.end, candidate.lines.end) = (end, end);
                    if length > MAX_BLOCK {
                        candidate.state = CandidateState::TooLarge;
                    }
                    if self.ends_line(end, text.end) && (begins_line || self.ends_text(end)) {
                        self.good(candidate, marks, example);
                    }
                }
                Err(stopped) => {
                    at = start.saturating_add(stopped).max(at);
                    if begins_line && named.within(start) >= 2 {
                        candidate.state = CandidateState::Broken;
                        at = self.behind_broken(start, line, text.end).max(at);
                        (candidate.whole.end, candidate.lines.end) = (at, at);
                        self.choice.offer(candidate, example);
                    }
                }
            }
        }
    }

    /// An object of fields begins with a key, or a comment: this rules out most braces of prose and code.
    fn may_begin(&self, start: usize) -> bool {
        let rest = self.bytes.get(start.saturating_add(1)..).unwrap_or_default();
        let next = rest.iter().find(|byte| !byte.is_ascii_whitespace());
        matches!(next, Some(b'"' | b'\'' | b'/' | b'#' | b'a'..=b'z' | 0x80..))
    }

    fn ends_line(&self, at: usize, end: usize) -> bool {
        let rest = slice(self.bytes, &(at..end));
        rest.iter().find(|byte| !matches!(byte, b' ' | b'\t')).is_none_or(|byte| matches!(byte, b'\n' | b'\r'))
    }

    fn ends_text(&self, at: usize) -> bool {
        self.bytes.get(at..).unwrap_or_default().iter().all(u8::is_ascii_whitespace)
    }

    /// Where a broken object that begins on `line` can be taken to end: at a closing brace no
    /// further right than its opening one, or with the text.
    fn behind_broken(&self, start: usize, line: usize, end: usize) -> usize {
        let indent = start.saturating_sub(line);
        let mut at = line;
        while at < end {
            let (stop, next) = blocks::line_end(self.bytes, at, end);
            let text = slice(self.bytes, &(at..stop));
            let left = text.iter().position(|byte| !byte.is_ascii_whitespace());
            if at > line && left.is_some_and(|left| left <= indent && text.get(left) == Some(&b'}')) {
                return stop;
            }
            at = next;
        }
        end
    }
}

fn slice<'a>(bytes: &'a [u8], range: &Range<usize>) -> &'a [u8] {
    bytes.get(range.clone()).unwrap_or_default()
}

fn has_fence(content: &[u8]) -> bool {
    memchr::memchr2_iter(b'`', b'~', content).any(|at| {
        let run = content.get(at..at.saturating_add(3)).unwrap_or_default();
        matches!(run, b"```" | b"~~~")
    })
}

/// The lines with the `>` before them blanked, so that offsets stay what they are.
pub(crate) fn unquoted(lines: &[u8], quoted: bool) -> Cow<'_, [u8]> {
    if !quoted || lines.len() > MAX_BLOCK {
        return Cow::Borrowed(lines);
    }
    let mut before = true;
    let blanked = lines.iter().map(|byte| {
        match byte {
            b'\n' | b'\r' => before = true,
            b'>' if before => return b' ',
            b' ' | b'\t' => {}
            _ => before = false,
        }
        *byte
    });
    Cow::Owned(blanked.collect())
}
