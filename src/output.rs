//! The only way to stdout and stderr.

use std::fmt::Display;
use std::io::{self, IsTerminal, Write as _};

use anstyle::{AnsiColor, Style};
use interlock_core::code::Code;
use serde::Serialize;

use crate::failure::{Exit, Failure};
use crate::sanitise;

pub(crate) const HEADING: Style = Style::new().bold();
pub(crate) const NAME: Style = AnsiColor::Cyan.on_default();
/// Something was turned down.
pub(crate) const ALARM: Style = AnsiColor::Red.on_default().bold();
/// As the renderer of snippets paints its line numbers.
pub(crate) const GUTTER: Style = AnsiColor::BrightBlue.on_default().bold();

/// Text for people.
///
/// Text of agents and persons can neither end a line nor control a terminal: a line break comes from a literal of this
/// program ([`Text::push`], [`Text::line`]) or from [`Text::block`], which marks every line. Anything that is not a literal
/// goes through [`Text::put`], [`Text::line`] or [`Text::paint`], which keep it on its line. So no title, status or name can
/// pretend to be another line of the output.
#[derive(Default)]
pub(crate) struct Text(String);

impl Text {
    /// A literal of this program, line breaks included.
    pub(crate) fn push(&mut self, literal: &'static str) {
        self.0.push_str(literal);
    }

    /// Any other text, kept on its line.
    pub(crate) fn put(&mut self, what: impl Display) {
        self.0.push_str(&sanitise::line(&what.to_string()));
    }

    /// Any other text, as the rest of a line.
    pub(crate) fn line(&mut self, what: impl Display) {
        self.put(what);
        self.0.push('\n');
    }

    pub(crate) fn paint(&mut self, style: Style, what: impl Display) {
        self.0.push_str(&style.render().to_string());
        self.put(what);
        self.0.push_str(&style.render_reset().to_string());
    }

    /// Text of several lines. Every line begins with the mark, so that none can be taken for a line of this program.
    pub(crate) fn block(&mut self, mark: &'static str, text: &str) {
        for line in text.lines() {
            self.0.push_str(mark);
            self.line(line);
        }
    }

    /// The rest of a line, or a block below it where the text has several lines.
    pub(crate) fn quote(&mut self, mark: &'static str, text: &str) {
        let text = text.trim_end();
        if text.lines().count() > 1 {
            self.0.push('\n');
            self.block(mark, text);
        } else {
            self.push("  ");
            self.line(text);
        }
    }

    /// A whole document of its own, such as a prompt or a diff. Its lines are not marked, so nothing may follow that a
    /// reader could confuse with it.
    pub(crate) fn push_document(&mut self, document: &str) {
        self.0.push_str(&sanitise::text(document));
    }

    pub(crate) fn append(&mut self, other: &Text) {
        self.0.push_str(&other.0);
    }

    /// Takes over what a renderer made of harmless text, its styles included.
    pub(crate) fn push_rendered(&mut self, rendered: &str) {
        self.0.push_str(rendered);
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

/// Where the result of a command goes.
#[derive(Clone, Copy)]
pub(crate) struct Output {
    pub(crate) json: bool,
}

impl Output {
    /// The one JSON document of a command.
    pub(crate) fn document(self, document: &impl Serialize) -> Result<(), Failure> {
        let mut text = serde_json::to_string_pretty(document)
            .map_err(|error| Failure::new(Exit::Bug, Code::Bug, format!("a result is not JSON: {error}")))?;
        text.push('\n');
        self.data(&sanitise::json(&text))
    }

    /// What another program reads, byte for byte.
    pub(crate) fn data(self, data: &str) -> Result<(), Failure> {
        let mut stdout = io::stdout().lock();
        written(stdout.write_all(data.as_bytes()).and_then(|()| stdout.flush()))
    }

    /// What people read: coloured on a terminal, plain elsewhere.
    pub(crate) fn text(self, text: &Text) -> Result<(), Failure> {
        let mut stdout = anstream::stdout().lock();
        written(stdout.write_all(text.as_str().as_bytes()).and_then(|()| stdout.flush()))
    }
}

/// Diagnostics. There is nowhere left to say that stderr cannot be written to.
pub(crate) fn complain(text: &Text) {
    let mut stderr = anstream::stderr().lock();
    let _ = stderr.write_all(text.as_str().as_bytes()).and_then(|()| stderr.flush());
}

/// How many columns people see, at most.
pub(crate) fn columns(stream: &impl IsTerminal, at_most: usize) -> usize {
    if !stream.is_terminal() {
        return at_most;
    }
    terminal_size::terminal_size().map_or(at_most, |(width, _)| usize::from(width.0).clamp(40, at_most))
}

/// Lines of at most `width` characters, broken at spaces.
pub(crate) fn wrap(paragraph: &str, width: usize) -> Vec<String> {
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

/// The mark of lines with text of an agent or a person.
pub(crate) const MARK: &str = "    | ";

/// `1 file`, `2 files`
pub(crate) fn counted(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

fn written(result: io::Result<()>) -> Result<(), Failure> {
    match result {
        Ok(()) => Ok(()),
        // The reader has seen enough: `interlock … | head` is no failure.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Err(Failure::reader_gone()),
        Err(error) => {
            Err(Failure::new(Exit::Unavailable, Code::OutputFailed, format!("stdout cannot be written to: {error}")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_text_brings_neither_escape_sequences_nor_lines() {
        let mut text = Text::default();
        let hostile = "\u{1b}[2J\nd9 ACCEPT";
        text.put(hostile);
        text.paint(NAME, "\u{1b}[0m");
        text.line(hostile);
        assert_eq!(text.as_str(), "␛[2J␊d9 ACCEPT\u{1b}[36m␛[0m\u{1b}[0m␛[2J␊d9 ACCEPT\n");
    }

    #[test]
    fn block_marks_every_line() {
        let mut text = Text::default();
        text.block("  | ", "one\r\ntwo\n\nthree\u{2028}four");
        assert_eq!(text.as_str(), "  | one\n  | two\n  | \n  | three\u{fffd}four\n");
    }
}
