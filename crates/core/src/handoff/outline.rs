//! The part of a Markdown line that matters to the blocks around it.
//!
//! The beginning of a line decides whether it begins, continues or ends a code block: indentation, quotation and list
//! markers, fences, rules, headings. Everything else is text, whatever its content. The outline of a line keeps the
//! beginning and writes `x` for the text. The Markdown parser thus gets a fraction of the bytes, no inline markup and
//! no unbounded nesting, whatever the agent has written.
//!
//! HTML and link definitions are text as well, on purpose: readers see a fence inside `<details>` or inside a comment
//! as a fence.

/// How much of a line's beginning is looked at. Nesting deeper than this can show is text.
const MAX_MARKERS: usize = 64;

/// Fences longer than this count as this long.
const MAX_FENCE: usize = 200;

/// Is the line text for sure, by its first byte? Nothing that matters begins so.
pub(crate) fn begins_as_text(line: &[u8]) -> bool {
    !matches!(
        line.first(),
        None | Some(b' ' | b'\t' | b'>' | b'-' | b'+' | b'*' | b'_' | b'=' | b'#' | b'`' | b'~' | b'0'..=b'9')
    )
}

/// Appends the outline of one line (given without its line end) to `out`.
pub(crate) fn outline(line: &[u8], out: &mut String) {
    let mut at = 0;
    loop {
        let byte = match line.get(at) {
            None => return,
            Some(byte) => *byte,
        };
        if at >= MAX_MARKERS {
            out.push('x');
            return;
        }
        match byte {
            b' ' | b'\t' | b'>' => {
                out.push(char::from(byte));
                at = at.saturating_add(1);
            }
            b'-' | b'+' | b'*' if space_or_end(line, at.saturating_add(1)) => {
                out.push(char::from(byte));
                at = at.saturating_add(1);
            }
            b'0'..=b'9' => match list_number(line.get(at..).unwrap_or_default()) {
                Some(marker) => {
                    out.extend(marker.iter().copied().map(char::from));
                    at = at.saturating_add(marker.len());
                }
                None => return out.push('x'),
            },
            _ => return leaf(line.get(at..).unwrap_or_default(), byte, out),
        }
    }
}

fn space_or_end(line: &[u8], at: usize) -> bool {
    matches!(line.get(at), None | Some(b' ' | b'\t'))
}

/// `12.` or `12)` at the beginning, up to nine digits, with a space after it.
fn list_number(line: &[u8]) -> Option<&[u8]> {
    let digits = line.iter().take(10).take_while(|byte| byte.is_ascii_digit()).count();
    let marker = line.get(..digits.saturating_add(1))?;
    let ends = matches!(marker.last(), Some(b'.' | b')')) && (1..=9).contains(&digits);
    (ends && space_or_end(line, marker.len())).then_some(marker)
}

/// The outline of a line without its containers.
fn leaf(rest: &[u8], first: u8, out: &mut String) {
    match first {
        b'`' | b'~' => match fence(rest) {
            Some(fence) => {
                out.extend(std::iter::repeat_n(char::from(first), fence.length));
                if !fence.info.is_empty() {
                    out.push('x');
                }
            }
            None => out.push('x'),
        },
        b'#' => {
            let run = run_of(rest, first);
            let heading = run <= 6 && space_or_end(rest, run);
            out.push_str(if heading { "# x" } else { "x" });
        }
        b'-' | b'=' | b'_' | b'*' => rule(rest, first, out),
        _ => out.push('x'),
    }
}

/// A line of one character: a rule, or the underline of a heading.
fn rule(rest: &[u8], first: u8, out: &mut String) {
    let run = run_of(rest, first);
    if rest.iter().skip(run).all(|byte| matches!(byte, b' ' | b'\t')) {
        out.extend(std::iter::repeat_n(char::from(first), run.min(3)));
    } else if first != b'=' && rest.iter().all(|byte| *byte == first || matches!(byte, b' ' | b'\t')) {
        // With spaces inside it is never an underline, and a rule if there are three.
        out.push_str(if rest.iter().filter(|byte| **byte == first).count() >= 3 { "***" } else { "x" });
    } else {
        out.push('x');
    }
}

fn run_of(bytes: &[u8], byte: u8) -> usize {
    bytes.iter().take_while(|other| **other == byte).count()
}

/// The fence that a line opens, its containers taken off.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct FenceLine<'a> {
    pub(crate) marker: u8,
    pub(crate) length: usize,
    pub(crate) info: &'a [u8],
}

pub(crate) fn fence(rest: &[u8]) -> Option<FenceLine<'_>> {
    let marker = *rest.first().filter(|byte| matches!(byte, b'`' | b'~'))?;
    let run = run_of(rest, marker);
    let info = rest.get(run..).unwrap_or_default().trim_ascii();
    let inline = marker == b'`' && memchr::memchr(b'`', info).is_some();
    (run >= 3 && !inline).then_some(FenceLine { marker, length: run.min(MAX_FENCE), info })
}

/// The line without indentation and without the markers of quotations.
pub(crate) fn without_quotes(line: &[u8]) -> &[u8] {
    let before = line.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'>')).count();
    line.get(before..).unwrap_or_default()
}

/// Does the line end a fence? At the top level it may be indented by three spaces at most;
/// inside other blocks their own markers may come before it.
pub(crate) fn closes(line: &[u8], marker: u8, length: usize, at_top: bool) -> bool {
    let rest = if at_top {
        let indent = run_of(line, b' ');
        if indent > 3 {
            return false;
        }
        line.get(indent..).unwrap_or_default()
    } else {
        without_quotes(line)
    };
    let run = run_of(rest, marker);
    run.min(MAX_FENCE) >= length && rest.iter().skip(run).all(|byte| matches!(byte, b' ' | b'\t'))
}
