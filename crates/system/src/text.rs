//! Text for people, which no agent or person can make look like another line of the program.

use std::borrow::Cow;
use std::fmt::Display;
use std::io::IsTerminal;

use anstyle::{AnsiColor, Style};
use unicode_width::UnicodeWidthChar as _;

use crate::sanitise;

pub const HEADING: Style = Style::new().bold();
pub const NAME: Style = AnsiColor::Cyan.on_default();
/// Something was turned down.
pub const ALARM: Style = AnsiColor::Red.on_default().bold();
/// As the renderer of snippets paints its line numbers.
pub const GUTTER: Style = AnsiColor::BrightBlue.on_default().bold();

/// Columns of text that people read.
pub const PAGE: usize = 80;

/// Text for people.
///
/// Text of agents and persons can neither end a line nor control a terminal: a line break comes from a literal of this
/// program ([`TerminalText::push`], [`TerminalText::line`]) or from [`TerminalText::block`], which marks every line.
/// Anything that is not a literal goes through [`TerminalText::put`], [`TerminalText::line`] or
/// [`TerminalText::paint`], which keep it on its line. So no title, status or name can pretend to be another line of
/// the output.
#[derive(Default)]
pub struct TerminalText {
    shown: String,
    /// It holds a document that other programs read too. Its lines stay as they are.
    is_document: bool,
}

impl TerminalText {
    /// A literal of this program, line breaks included.
    pub fn push(&mut self, literal: &'static str) {
        self.shown.push_str(literal);
    }

    /// Any other text, kept on its line.
    pub fn put(&mut self, what: impl Display) {
        self.shown.push_str(&sanitise::line_with_columns(&what.to_string()));
    }

    /// Any other text, as the rest of a line.
    pub fn line(&mut self, what: impl Display) {
        self.put(what);
        self.shown.push('\n');
    }

    pub fn paint(&mut self, style: Style, what: impl Display) {
        self.shown.push_str(&style.render().to_string());
        self.put(what);
        self.shown.push_str(&style.render_reset().to_string());
    }

    /// Text of several lines. Every line begins with the mark, so that none can be taken for a line of this program. Long
    /// lines are wrapped to 80 columns, and padding within a line is dropped: in a pipe no terminal width would do so.
    pub fn block(&mut self, mark: &'static str, text: &str) {
        let room = PAGE.saturating_sub(mark.chars().count());
        for line in text.lines().flat_map(|line| fold_line(line, room)) {
            self.shown.push_str(mark);
            self.line(line);
        }
    }

    /// The rest of a line, or a block below it where the text has several lines.
    pub fn quote(&mut self, mark: &'static str, text: &str) {
        let text = text.trim_end();
        if text.lines().count() > 1 {
            self.shown.push('\n');
            self.block(mark, text);
        } else {
            self.push("  ");
            self.line(sanitise::line(text));
        }
    }

    /// Text of one line, wrapped to 80 columns. The first line begins with `head`; the others with a mark.
    pub fn wrapped(&mut self, head: &'static str, mark: &'static str, what: impl Display) {
        let what = what.to_string();
        let room = PAGE.saturating_sub(mark.chars().count());
        for (row, line) in wrap(&sanitise::line(&what), room).iter().enumerate() {
            self.push(if row == 0 { head } else { mark });
            self.line(line);
        }
    }

    /// A question as people read it: long lines are wrapped, and every line is marked where there are several.
    pub fn question(&mut self, text: &str) {
        let room = PAGE.saturating_sub(MARK.chars().count());
        let lines: Vec<String> = text.trim_end().lines().flat_map(|line| fold_line(line, room)).collect();
        self.quote(MARK, &lines.join("\n"));
    }

    /// A whole document of its own, such as a prompt or a diff. Its lines are not marked, so nothing may follow that a
    /// reader could confuse with it.
    pub fn push_document(&mut self, document: &str) {
        self.is_document = true;
        self.push_lines(document);
    }

    /// Lines that this program laid out and stored.
    pub fn push_lines(&mut self, document: &str) {
        self.shown.push_str(&sanitise::text(document));
    }

    pub fn append(&mut self, other: &TerminalText) {
        self.shown.push_str(&other.shown);
        self.is_document |= other.is_document;
    }

    /// Takes over what a renderer made of harmless text, its styles included.
    pub fn push_rendered(&mut self, rendered: &str) {
        self.shown.push_str(rendered);
    }

    pub fn as_str(&self) -> &str {
        &self.shown
    }

    /// The text for a terminal of so many columns. The rest of a line that is too long is marked: a terminal that broke the
    /// line itself would show the rest like a line of this program.
    pub fn fit_columns(&self, columns: usize) -> Cow<'_, str> {
        if self.is_document {
            return Cow::Borrowed(&self.shown);
        }
        let fitted: Vec<String> = self.shown.split('\n').map(|line| fit_line(line, columns)).collect();
        Cow::Owned(fitted.join("\n"))
    }

    /// As [`TerminalText::fit_columns`] where the stream is a terminal, and as it is elsewhere.
    pub fn for_stream(&self, stream: &impl IsTerminal) -> Cow<'_, str> {
        if !stream.is_terminal() {
            return Cow::Borrowed(&self.shown);
        }
        self.fit_columns(terminal_size::terminal_size().map_or(USUAL_COLUMNS, |(width, _)| usize::from(width.0)))
    }
}

/// Breaks a line at a blank where there is one in its second half, and marks every further line.
fn fit_line(line: &str, columns: usize) -> String {
    let columns = columns.max(2 * MARK.len());
    let mut fitted = String::with_capacity(line.len());
    let (mut used, mut start, mut blank) = (0, 0, None);
    let mut in_escape = false;
    for character in line.chars() {
        // Only this program's styles are left in the text, and they take no room.
        in_escape |= character == '\u{1b}';
        if in_escape {
            in_escape = !character.is_ascii_alphabetic();
            fitted.push(character);
            continue;
        }
        let width = character.width().unwrap_or(0);
        if used + width > columns {
            let at = blank.filter(|(_, column)| *column > columns / 2);
            let (at, column) = at.unwrap_or((fitted.len(), used));
            let rest = fitted.split_off(at);
            fitted.truncate(fitted.trim_end_matches(' ').len().max(start));
            fitted.push('\n');
            fitted.push_str(MARK);
            start = fitted.len();
            fitted.push_str(&rest);
            (used, blank) = (MARK.len() + used - column, None);
            if character == ' ' && rest.is_empty() {
                continue;
            }
        }
        fitted.push(character);
        used += width;
        if character == ' ' {
            blank = Some((fitted.len(), used));
        }
    }
    fitted
}

/// How many columns people see, at most.
pub fn columns(stream: &impl IsTerminal, at_most: usize) -> usize {
    if !stream.is_terminal() {
        return at_most;
    }
    terminal_size::terminal_size().map_or(at_most, |(width, _)| usize::from(width.0).clamp(40, at_most))
}

/// Lines of at most `width` characters, broken at spaces.
pub fn wrap(paragraph: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in paragraph.split([' ', '\n']).filter(|word| !word.is_empty()) {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// A line of foreign text in lines of at most `width` characters. Its indentation stays where it fits on one line; every
/// other run of blanks is one space. Blanks are replaced before the line is measured, and a word without end is cut.
fn fold_line(line: &str, width: usize) -> Vec<String> {
    const DEEPEST: usize = 16;
    let text = line.trim_start_matches(' ');
    let indent = line.len().saturating_sub(text.len()).min(DEEPEST);
    let text = sanitise::line(text);
    if indent + text.chars().count() <= width {
        return vec![format!("{:indent$}{text}", "")];
    }
    let cut = |word: String| {
        let letters: Vec<char> = word.chars().collect();
        letters.chunks(width.max(1)).map(String::from_iter).collect::<Vec<String>>()
    };
    wrap(&text, width).into_iter().flat_map(cut).collect()
}

/// The same where a line is too long. Others stay as they are, with their indentation.
pub fn wrap_long(line: &str, width: usize) -> Vec<String> {
    if line.chars().count() > width { wrap(line, width) } else { vec![line.to_owned()] }
}

/// The width of a terminal that does not report its size.
const USUAL_COLUMNS: usize = 80;

/// The mark of lines with text of an agent or a person.
pub const MARK: &str = "    | ";

/// `1 file`, `2 files`
pub fn counted(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_text_brings_neither_escape_sequences_nor_lines() {
        let mut text = TerminalText::default();
        let hostile = "\u{1b}[2J\nd9 ACCEPT";
        text.put(hostile);
        text.paint(NAME, "\u{1b}[0m");
        text.line(hostile);
        assert_eq!(text.as_str(), "␛[2J␊d9 ACCEPT\u{1b}[36m␛[0m\u{1b}[0m␛[2J␊d9 ACCEPT\n");
    }

    #[test]
    fn long_line_is_broken_with_a_mark() {
        let mut text = TerminalText::default();
        text.push("  ");
        text.paint(NAME, "G");
        text.line(format_args!("  completed  {} H completed", "x".repeat(20)));
        let fitted = text.fit_columns(40);
        let plain = anstream::adapter::strip_str(&fitted).to_string();
        assert_eq!(plain, format!("  G  completed  {} H\n    | completed\n", "x".repeat(20)));
        assert_eq!(text.fit_columns(80), text.as_str());
    }

    #[test]
    fn every_line_fits_its_columns_and_every_further_one_is_marked() {
        for (columns, words) in [(20, "日本語".repeat(30)), (33, "ab ".repeat(50)), (80, "a".repeat(500))] {
            let mut text = TerminalText::default();
            text.line(&words);
            let fitted = text.fit_columns(columns);
            for (index, line) in fitted.lines().enumerate() {
                assert!(line.chars().map(|own| own.width().unwrap_or(0)).sum::<usize>() <= columns, "{fitted}");
                assert_eq!(line.starts_with(MARK), index > 0, "{fitted}");
            }
            let kept = |text: &str| text.replace(MARK, "").replace(['\n', ' '], "");
            assert_eq!(kept(&fitted), kept(&words));
        }
    }

    #[test]
    fn padding_and_endless_lines_of_a_block_are_dropped_and_wrapped() {
        let mut text = TerminalText::default();
        let blanks =
            ["   ", "\t\t", "\u{a0}\u{3000}", "\u{2800}\u{3164}", " \u{2800} \u{2800}"].map(|own| own.repeat(60));
        let foreign = format!("  a{}b {}", blanks.join("c"), "x".repeat(400));
        text.block("  | ", &foreign);
        text.question(&format!("{foreign}\n{foreign}"));
        for line in text.as_str().lines() {
            let (_, body) = line.split_once("| ").unwrap_or(("", line));
            assert!(line.chars().count() <= PAGE && !body.contains("  "), "{}", text.as_str());
        }
    }

    #[test]
    fn block_marks_every_line() {
        let mut text = TerminalText::default();
        text.block("  | ", "one\r\ntwo\n\nthree\u{2028}four");
        assert_eq!(text.as_str(), "  | one\n  | two\n  | \n  | three\u{fffd}four\n");
    }
}
