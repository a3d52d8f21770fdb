//! The only way to stdout and stderr.

use std::fmt::{self, Display, Write as _};
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

/// Text for people. Whatever is written into it is made harmless first, so that only
/// [`Text::paint`] and the renderers can bring an escape sequence to a terminal.
#[derive(Default)]
pub(crate) struct Text(String);

impl Text {
    pub(crate) fn paint(&mut self, style: Style, what: impl Display) {
        self.0.push_str(&style.render().to_string());
        // Writing to memory cannot fail.
        let _ = write!(self, "{what}");
        self.0.push_str(&style.render_reset().to_string());
    }

    pub(crate) fn push(&mut self, text: &str) {
        self.0.push_str(&sanitise::text(text));
    }

    /// Takes over what a renderer made of harmless text, its styles included.
    pub(crate) fn push_rendered(&mut self, rendered: &str) {
        self.0.push_str(rendered);
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Write for Text {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.push(text);
        Ok(())
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

/// Text of several lines, each made harmless; all but the first stand in by this much.
pub(crate) fn indented(text: &str, by: &str) -> String {
    text.lines().map(sanitise::line).collect::<Vec<_>>().join(&format!("\n{by}"))
}

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
    fn only_paint_brings_escape_sequences() {
        let mut text = Text::default();
        let hostile = "\u{1b}[2J";
        write!(text, "{hostile}").unwrap();
        text.paint(NAME, "\u{1b}[0m");
        assert_eq!(text.as_str(), "␛[2J\u{1b}[36m␛[0m\u{1b}[0m");
    }
}
