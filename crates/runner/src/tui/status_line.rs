//! One line of the picture: it never gets wider than the terminal, whatever is put into it.

use std::time::Duration;

use anstyle::Style;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use interlock_system::sanitise;

pub(super) struct TerminalLine {
    text: String,
    used: usize,
    columns: usize,
}

impl TerminalLine {
    /// The last column stays free: some terminals go to the next line as soon as it is taken.
    pub(super) fn new(columns: usize) -> Self {
        Self { text: String::new(), used: 0, columns: columns.saturating_sub(1) }
    }

    /// As much of it as there is room for.
    pub(super) fn put(&mut self, style: Style, text: &str) {
        let text = sanitise::line_with_columns(text);
        let shown = cut(&text, self.left());
        if !shown.is_empty() {
            self.used += shown.width();
            self.text.push_str(&format!("{style}{shown}{style:#}"));
        }
    }

    /// In exactly so many columns, and one more between it and what follows.
    pub(super) fn cell(&mut self, style: Style, text: &str, columns: usize) {
        let text = sanitise::line(text);
        let shown = if text.width() > columns {
            format!("{}…", cut(&text, columns.saturating_sub(1)))
        } else {
            text.into_owned()
        };
        let gap = " ".repeat((columns + 1).saturating_sub(shown.width()));
        self.put(style, &shown);
        self.put(Style::new(), &gap);
    }

    pub(super) fn left(&self) -> usize {
        self.columns.saturating_sub(self.used)
    }

    /// The line, and how many columns it takes.
    pub(super) fn done(self) -> (String, usize) {
        (self.text, self.used)
    }
}

/// As much of a text as so many columns hold: some characters take two, some none.
pub(super) fn cut(text: &str, columns: usize) -> &str {
    let mut used = 0;
    let end = text.char_indices().find(|(_, character)| {
        used += character.width().unwrap_or(0);
        used > columns
    });
    text.get(..end.map_or(text.len(), |(at, _)| at)).unwrap_or_default()
}

/// The end of a text that is being typed.
pub(super) fn tail(text: &str, columns: usize) -> &str {
    let mut used = 0;
    let start = text.char_indices().rev().find(|(_, character)| {
        used += character.width().unwrap_or(0);
        used > columns
    });
    text.get(start.map_or(0, |(at, character)| at + character.len_utf8())..).unwrap_or_default()
}

/// Exactly so many columns of it.
pub(super) fn padded(text: &str, columns: usize) -> String {
    let text = sanitise::line(text);
    let shown = cut(&text, columns);
    format!("{shown}{}", " ".repeat(columns.saturating_sub(shown.width())))
}

/// `1:05`, `1:02:03`
pub(crate) fn clock_of(time: Duration) -> String {
    let seconds = time.as_secs();
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    if hours > 0 { format!("{hours}:{minutes:02}:{seconds:02}") } else { format!("{minutes}:{seconds:02}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_characters_take_two_columns() {
        assert_eq!((cut("漢字漢字", 5), cut("abc", 5), cut("", 5)), ("漢字", "abc", ""));
        assert_eq!((tail("漢字漢字", 5), tail("abc", 5), tail("abc", 2)), ("漢字", "abc", "bc"));
        assert_eq!([padded("漢字", 5), padded("abcdef", 5)], ["漢字 ", "abcde"]);
    }

    #[test]
    fn a_line_is_never_wider_than_the_terminal() {
        for columns in 0..60 {
            let mut strip = TerminalLine::new(columns);
            strip.cell(Style::new(), &"漢".repeat(20), 16);
            strip.cell(Style::new().bold(), "developer", 12);
            strip.put(Style::new(), "\u{1b}[2J and more of it");
            let (text, used) = strip.done();
            let plain = anstream::adapter::strip_str(&text).to_string();
            assert_eq!(plain.width(), used, "{plain}");
            assert!(used <= columns.saturating_sub(1), "{used} of {columns}: {plain}");
        }
    }
}
