//! The code blocks of a Markdown document of any size.
//!
//! The Markdown parser builds a tree of all it is given, so it is given the outline
//! of one part after the other, each small. A part can begin wherever the blocks that
//! are open are known: where a block begins that stands in nothing but quotations and
//! lists (their markers are on that very line), and inside a paragraph, which a line of
//! text in front brings back. So the parts give the same blocks as the whole. Only a
//! single list item of more than a part is cut; its fences are then found by their lines.

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

use crate::handoff::outline::{self, FenceLine};

/// The size of a part. The tree of the worst part takes about a hundred times as much.
pub(crate) const PART: usize = 64 * 1024;

/// A fenced code block, all offsets into the document.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct CodeFence {
    /// From the line that opens it to behind the line that closes it.
    pub(crate) whole: Range<usize>,
    /// The lines between.
    pub(crate) content: Range<usize>,
    pub(crate) marker: u8,
    pub(crate) length: usize,
    pub(crate) info: Range<usize>,
    pub(crate) closed: bool,
    /// It stands in a quotation, so `>` stands before its lines.
    pub(crate) quoted: bool,
}

/// The document in order: fenced blocks, and everything between them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum DocumentPiece {
    Text(Range<usize>),
    Fence(CodeFence),
}

/// Visits the pieces of `range`, which begins at the beginning of a line, and says whether every
/// block was read as a whole.
pub(crate) fn walk(bytes: &[u8], range: Range<usize>, part: usize, visit: &mut dyn FnMut(DocumentPiece)) -> bool {
    let mut walker = BlockWalker { bytes, end: range.end, text_from: range.start, exact: true, visit };
    let mut at = range.start;
    let mut in_paragraph = false;
    while at < walker.end {
        (at, in_paragraph) = walker.part(at, in_paragraph, part);
    }
    walker.text_up_to(range.end);
    walker.exact
}

/// The end of the line that begins at `at`, and the beginning of the next.
pub(crate) fn line_end(bytes: &[u8], at: usize, end: usize) -> (usize, usize) {
    let rest = bytes.get(at..end).unwrap_or_default();
    match memchr::memchr2(b'\n', b'\r', rest) {
        None => (end, end),
        Some(found) => {
            let stop = at.saturating_add(found);
            let two = super::extracted::is_first_half(bytes, stop);
            (stop, stop.saturating_add(if two { 2 } else { 1 }).min(end))
        }
    }
}

struct BlockWalker<'a, 'v> {
    bytes: &'a [u8],
    end: usize,
    /// Text from here on has not been visited yet.
    text_from: usize,
    exact: bool,
    visit: &'v mut dyn FnMut(DocumentPiece),
}

/// The outline of some lines.
#[derive(Default)]
struct OutlinePart {
    text: String,
    lines: Vec<OutlineLine>,
    /// Behind the last of the lines, in the document.
    end: usize,
    ends_blank: bool,
    /// A blank line, then one that neither a list nor a quotation can hold: they all end here.
    sealed: bool,
    has_fence: bool,
}

#[derive(Clone, Copy)]
struct OutlineLine {
    /// Where it begins in the outline.
    outline: usize,
    /// Where it begins in the document.
    start: usize,
}

/// The last block of a part that another part could begin with.
#[derive(Clone, Copy)]
struct LastBlock {
    /// Where it begins in the outline.
    at: usize,
    kind: LastBlockKind,
    at_top: bool,
}

impl LastBlock {
    fn is_top_fence(self) -> bool {
        self.at_top && self.kind == LastBlockKind::Fence
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum LastBlockKind {
    Fence,
    Paragraph,
    /// Other lines can follow it as if it were not there.
    Done,
    Container,
}

impl BlockWalker<'_, '_> {
    fn text_up_to(&mut self, end: usize) {
        if self.text_from < end {
            (self.visit)(DocumentPiece::Text(self.text_from..end));
        }
        self.text_from = self.text_from.max(end);
    }

    fn emit(&mut self, fence: CodeFence) {
        self.text_up_to(fence.whole.start);
        self.text_from = fence.whole.end;
        (self.visit)(DocumentPiece::Fence(fence));
    }

    /// Reads one part, and says where the next begins and whether a paragraph is open there.
    fn part(&mut self, at: usize, in_paragraph: bool, size: usize) -> (usize, bool) {
        let (at, in_paragraph) = self.plain(at, in_paragraph);
        let part = self.outline_of(at, in_paragraph, size);
        let everything = part.end;
        if !part.has_fence && (part.sealed || everything == self.end) {
            return (everything, false);
        }
        let (fences, last) = self.fences_of(&part);
        let Some(last) = last.filter(|last| everything < self.end && (!part.sealed || last.is_top_fence())) else {
            fences.into_iter().for_each(|(_, fence)| self.emit(fence));
            return (everything, false);
        };
        let last_line = part.line_at(last.at);
        let begins = part.lines.get(last_line).map_or(at, |line| line.start);
        match last.kind {
            LastBlockKind::Paragraph if last.at_top => {
                fences.into_iter().for_each(|(_, fence)| self.emit(fence));
                (everything, !part.ends_blank)
            }
            LastBlockKind::Done if last.at_top => {
                fences.into_iter().for_each(|(_, fence)| self.emit(fence));
                (everything, false)
            }
            LastBlockKind::Fence if last.at_top => {
                (self.up_to_open_fence(fences, last_line, true).unwrap_or(everything), false)
            }
            LastBlockKind::Fence | LastBlockKind::Paragraph | LastBlockKind::Done | LastBlockKind::Container
                if begins > at =>
            {
                let before = fences.into_iter().filter(|(line, _)| *line < last_line);
                before.for_each(|(_, fence)| self.emit(fence));
                (begins, false)
            }
            LastBlockKind::Fence | LastBlockKind::Paragraph | LastBlockKind::Done | LastBlockKind::Container => {
                self.exact = false;
                let open = fences.last().filter(|(_, fence)| !fence.closed && fence.whole.end == everything);
                let open = open.map(|(line, _)| *line);
                let cut = open.and_then(|line| self.up_to_open_fence(fences.clone(), line, false));
                if cut.is_none() {
                    fences.into_iter().for_each(|(_, fence)| self.emit(fence));
                }
                (cut.unwrap_or(everything), false)
            }
        }
    }

    /// At the top level, text, headings, rules, blank lines and fences need no parser: a fence
    /// goes up to the line that closes it, the others begin or end a paragraph. Most of a long
    /// output is nothing else.
    fn plain(&mut self, from: usize, in_paragraph: bool) -> (usize, bool) {
        let (mut at, mut open) = (from, in_paragraph);
        let mut line = String::new();
        while at < self.end {
            let (stop, mut next) = line_end(self.bytes, at, self.end);
            let bytes = self.bytes.get(at..stop).unwrap_or_default();
            if bytes.is_empty() || outline::begins_as_text(bytes) {
                (at, open) = (next, !bytes.is_empty());
                continue;
            }
            line.clear();
            outline::outline(bytes, &mut line);
            let text = line.trim_start_matches(' ');
            let indent = line.len().saturating_sub(text.len());
            open = match text {
                "" => false,
                // Code, but not in the middle of a paragraph.
                _ if indent > 3 && !open => break,
                _ if indent > 3 => true,
                "x" => true,
                "# x" | "---" | "***" | "___" => false,
                _ if text.starts_with("```") || text.starts_with("~~~") => {
                    let Some(mut fence) = self.fence_on(at..stop, at.saturating_add(indent), next) else { break };
                    self.close(&mut fence, true);
                    next = fence.whole.end;
                    self.emit(fence);
                    false
                }
                _ => break,
            };
            at = next;
        }
        (at, open)
    }

    /// The fence that a line opens, its end still to be found.
    fn fence_on(&self, line: Range<usize>, marker_at: usize, content: usize) -> Option<CodeFence> {
        let opening = self.bytes.get(marker_at..line.end)?;
        let FenceLine { marker, length, info } = outline::fence(opening)?;
        let info_end = marker_at.saturating_add(opening.trim_ascii_end().len());
        Some(CodeFence {
            whole: line.start..content,
            content: content..content,
            marker,
            length,
            info: info_end.saturating_sub(info.len())..info_end,
            closed: false,
            quoted: self.bytes.get(line.start..marker_at)?.contains(&b'>'),
        })
    }

    /// Visits the fences up to the one opened on `line`, whose end is looked for line by line.
    fn up_to_open_fence(&mut self, fences: Vec<(usize, CodeFence)>, line: usize, at_top: bool) -> Option<usize> {
        let mut end = None;
        for (opened, mut fence) in fences {
            if opened == line {
                self.close(&mut fence, at_top);
                end = Some(fence.whole.end);
            }
            self.emit(fence);
        }
        end
    }

    fn close(&self, fence: &mut CodeFence, at_top: bool) {
        let mut at = fence.content.start;
        (fence.closed, fence.content.end) = (false, at);
        while at < self.end && !fence.closed {
            let (stop, next) = line_end(self.bytes, at, self.end);
            let line = self.bytes.get(at..stop).unwrap_or_default();
            fence.closed = outline::closes(line, fence.marker, fence.length, at_top);
            if !fence.closed {
                fence.content.end = next;
            }
            at = next;
        }
        fence.whole.end = at.max(fence.content.end);
    }

    fn outline_of(&self, from: usize, in_paragraph: bool, size: usize) -> OutlinePart {
        let mut part = OutlinePart { end: from, ..OutlinePart::default() };
        if in_paragraph {
            part.lines.push(OutlineLine { outline: 0, start: from });
            part.text.push_str("x\n");
        }
        while part.end < self.end && (part.end == from || part.text.len() < size) {
            let (stop, next) = line_end(self.bytes, part.end, self.end);
            let begins = part.text.len();
            outline::outline(self.bytes.get(part.end..stop).unwrap_or_default(), &mut part.text);
            let line = part.text.get(begins..).unwrap_or_default();
            if part.ends_blank && line.starts_with(['x', '#', '`', '~']) {
                part.text.truncate(begins);
                part.sealed = true;
                break;
            }
            part.ends_blank = line.trim_ascii().is_empty();
            part.has_fence |= line.contains(['`', '~']);
            part.text.push('\n');
            if part.is_third_of_a_kind(begins) {
                part.text.truncate(begins);
            } else {
                part.lines.push(OutlineLine { outline: begins, start: part.end });
            }
            part.end = next;
        }
        part
    }

    /// The fences of a part, each with the line that opens it, and the last block.
    fn fences_of(&self, part: &OutlinePart) -> (Vec<(usize, CodeFence)>, Option<LastBlock>) {
        let mut fences = Vec::new();
        let mut last = None;
        let mut open: Option<Range<usize>> = None;
        let (mut depth, mut items) = (0_usize, 0_usize);
        for (event, range) in Parser::new_ext(&part.text, Options::empty()).into_offset_iter() {
            if let Some(kind) = kind_of(&event).filter(|_| items == 0) {
                last = Some(LastBlock { at: range.start, kind, at_top: depth == 0 });
            }
            if let Event::Start(tag) = event {
                if let Tag::CodeBlock(CodeBlockKind::Fenced(_)) = tag {
                    open = Some(range.start..range.start);
                }
                items = items.saturating_add(usize::from(matches!(tag, Tag::Item)));
                depth = depth.saturating_add(1);
            } else if let Event::End(tag) = event {
                if let Some(text) = open.take() {
                    fences.extend(self.fence_at(part, &range, text.end));
                }
                items = items.saturating_sub(usize::from(matches!(tag, TagEnd::Item)));
                depth = depth.saturating_sub(1);
            } else if matches!(event, Event::Text(_)) {
                open = open.map(|text| text.start..range.end);
            }
        }
        (fences, last)
    }

    /// The fence at `range` of the outline, whose content goes up to `text_end` there.
    fn fence_at(&self, part: &OutlinePart, range: &Range<usize>, text_end: usize) -> Option<(usize, CodeFence)> {
        let opened = part.line_at(range.start);
        let ended = part.line_at(range.end.saturating_sub(1)).max(opened);
        let line = part.lines.get(opened)?;
        let start_of = |index: usize| part.lines.get(index).map_or(part.end, |line| line.start);
        // The outline keeps what stands before a fence byte for byte.
        let marker_at = line.start.saturating_add(range.start.saturating_sub(line.outline));
        let (stop, content) = line_end(self.bytes, line.start, self.end);
        let mut fence = self.fence_on(line.start..stop, marker_at, content)?;
        fence.closed = ended > opened && part.line_at(text_end.saturating_sub(1)) < ended;
        fence.whole.end = start_of(ended.saturating_add(1));
        fence.content.end = if fence.closed { start_of(ended) } else { fence.whole.end }.max(content);
        Some((opened, fence))
    }
}

/// The kind of block that a part could continue; `None` for an event that is no block.
fn kind_of(event: &Event<'_>) -> Option<LastBlockKind> {
    if matches!(event, Event::Rule) {
        return Some(LastBlockKind::Done);
    }
    let Event::Start(tag) = event else { return None };
    if matches!(tag, Tag::CodeBlock(CodeBlockKind::Fenced(_))) {
        Some(LastBlockKind::Fence)
    } else if matches!(tag, Tag::Paragraph) {
        Some(LastBlockKind::Paragraph)
    } else if matches!(tag, Tag::Heading { .. } | Tag::CodeBlock(CodeBlockKind::Indented)) {
        Some(LastBlockKind::Done)
    } else {
        matches!(tag, Tag::BlockQuote(_) | Tag::List(_) | Tag::Item).then_some(LastBlockKind::Container)
    }
}

impl OutlinePart {
    fn line_at(&self, outline: usize) -> usize {
        self.lines.partition_point(|line| line.outline <= outline).saturating_sub(1)
    }

    /// The same outline three times in a row says no more than twice, unless it opens and
    /// closes in turn as fences do, and underlines.
    fn is_third_of_a_kind(&self, begins: usize) -> bool {
        let Some([before, one]) = self.lines.last_chunk::<2>() else { return false };
        let line = self.text.get(begins..);
        line.is_some_and(|line| !line.contains(['`', '~', '=']))
            && self.text.get(one.outline..begins) == line
            && self.text.get(before.outline..one.outline) == line
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The blocks that the Markdown parser finds in the whole text as it is.
    fn whole(text: &str) -> Vec<(String, usize)> {
        let mut found: Vec<(String, usize)> = Vec::new();
        let mut open = false;
        for (event, range) in Parser::new_ext(text, Options::empty()).into_offset_iter() {
            match event {
                Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(info))) => {
                    open = true;
                    let line_start = text[..range.start].rfind('\n').map_or(0, |at| at + 1);
                    found.push((format!("{info}:\n"), line_start));
                }
                Event::End(TagEnd::CodeBlock) => open = false,
                Event::Text(content) if open => found.last_mut().unwrap().0.push_str(&content),
                _ => {}
            }
        }
        found.into_iter().map(|(content, at)| (squeeze(&content), at)).collect()
    }

    fn in_parts(text: &str, part: usize) -> Vec<(String, usize)> {
        exactly_in_parts(text, part).0
    }

    fn exactly_in_parts(text: &str, part: usize) -> (Vec<(String, usize)>, bool) {
        let bytes = text.as_bytes();
        let mut found = Vec::new();
        let mut reached = 0;
        let exact = walk(bytes, 0..bytes.len(), part, &mut |piece| match piece {
            DocumentPiece::Text(range) => {
                assert_eq!(range.start, reached, "nothing is left out and nothing comes twice");
                reached = range.end;
            }
            DocumentPiece::Fence(fence) => {
                assert_eq!(fence.whole.start, reached);
                reached = fence.whole.end;
                let content = crate::handoff::candidate::unquoted(&bytes[fence.content.clone()], fence.quoted);
                let content = format!("{}:\n{}", &text[fence.info], String::from_utf8_lossy(&content));
                found.push((squeeze(&content), fence.whole.start));
            }
        });
        assert_eq!(reached, bytes.len());
        (found, exact)
    }

    /// Indentation is not compared, and no `>`: JSON does not care for the first and has no second.
    fn squeeze(text: &str) -> String {
        text.split(|c: char| c.is_whitespace() || c == '>')
            .filter(|word| !word.is_empty())
            .collect::<Vec<_>>()
            .join(" ")
    }

    #[test]
    fn fences_of_every_kind_are_found() {
        let text =
            "```json\na\n```\n\n~~~ x y\nb\n~~~\n- item\n  ```\n  c\n  ```\n\n> ````md\n> ```\n> d\n> ````\n   ```\ne";
        let found: Vec<String> = in_parts(text, PART).into_iter().map(|(content, _)| content).collect();
        assert_eq!(found, ["json: a", "x y: b", ": c", "md: ``` d", ": e"]);
    }

    #[test]
    fn html_hides_no_fence() {
        let text = "<details>\n```json\na\n```\n</details>\n\n<!-- a long comment that ends here -->\n```\nb\n```\n";
        let found: Vec<String> = in_parts(text, PART).into_iter().map(|(content, _)| content).collect();
        assert_eq!(found, ["json: a", ": b"]);
    }

    #[test]
    fn a_block_longer_than_a_part_is_one_block() {
        let lines = "log line\n- looks like a list\n".repeat(500);
        let text = format!("intro\n\n```\n{lines}```\ntail\n\n```json\nx\n```\n");
        assert_eq!(in_parts(&text, 64), whole(&text));
    }

    #[test]
    fn a_list_item_longer_than_a_part_is_cut_but_its_fences_are_found() {
        let text = format!("1. item\n{}\n   ```json\n   found\n   ```\n", "   - a\n\n   b\n".repeat(100));
        let found = in_parts(&text, 64);
        assert_eq!(found.last().map(|(content, _)| content.as_str()), Some("json: found"));
        let text =
            format!("1. item\n   ```\n{}   ```\n\n   ```json\n   found\n   ```\n", "   log\n   - x\n".repeat(100));
        let found = in_parts(&text, 64);
        assert_eq!(found.len(), 2);
        assert_eq!(found[1].0, "json: found");
    }

    fn line() -> impl Strategy<Value = String> {
        prop_oneof![
            4 => Just(String::new()),
            4 => Just("text".to_owned()),
            4 => "[ >\\-*`~#=_0-9.)x]{0,8}",
            3 => "( {0,5}|\t|> ?|- |1\\. |  ){0,3}(`{3,5}|~{3,4})(json| a b)? ?",
            2 => "( {0,5}|\t|> ?|- |[0-9]{1,3}[.)] |\\* ){1,4}(text|# text|---|===|\\* \\* \\*|)",
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 1500, max_global_rejects: 100_000, ..ProptestConfig::default() })]

        /// The outline, read at once, gives the blocks that the text itself gives.
        #[test]
        fn the_outline_has_the_blocks_of_the_text(lines in prop::collection::vec(line(), 0..30)) {
            let text = lines.join("\n");
            prop_assert_eq!(in_parts(&text, PART), whole(&text));
        }

        /// Read in parts it gives the same, unless one list item is longer than a part.
        #[test]
        fn parts_have_the_blocks_of_the_whole(
            lines in prop::collection::vec(line(), 0..40),
            ends in prop_oneof![Just("\n"), Just("\r\n")],
            part in 8..80_usize,
        ) {
            // The parser takes a quotation indented by a tab to go on, but not to begin: a part cannot.
            prop_assume!(!lines.iter().any(|line| line.contains('\t') && line.contains('>')));
            let text = lines.join(ends);
            let (found, exact) = exactly_in_parts(&text, part);
            if exact {
                prop_assert_eq!(found, in_parts(&text, PART));
            }
        }

        #[test]
        fn any_bytes_are_walked_to_the_end(text in "(.|\\n|\\r|`|~|>){0,200}", part in 1..100_usize) {
            in_parts(&text, part);
        }
    }
}
