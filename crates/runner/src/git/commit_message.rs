//! Messages of commits. The first and the last line are Interlock's. Lines between them quote others, and can be
//! neither.

use std::fmt;

use interlock_system::sanitise;

/// Maximum length of a first line, which may hold a status that was not checked yet.
const FIRST: usize = 200;
/// Maximum length of quoted words.
const WORDS: usize = 2000;

/// The only thing that a commit can be made with, so that nothing gets into one unlooked at.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct CommitMessage {
    first: String,
    quoted: Vec<String>,
    assignment: Option<String>,
}

impl CommitMessage {
    pub(crate) fn new(first: &str) -> Self {
        Self { first: cut(&sanitise::line(first.trim()), FIRST), quoted: Vec::new(), assignment: None }
    }

    /// Words of others, each line marked as quoted: none of them can be taken for a line of Interlock's.
    pub(crate) fn quoting(mut self, words: &str) -> Self {
        let words = cut(words.replace("\r\n", "\n").trim(), WORDS);
        self.quoted = words.lines().map(|line| sanitise::line(line.trim_end()).into_owned()).collect();
        self
    }

    /// By which assignment it came.
    pub(crate) fn of(mut self, assignment: impl fmt::Display) -> Self {
        self.assignment = Some(assignment.to_string());
        self
    }
}

impl fmt::Display for CommitMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.first)?;
        for (index, line) in self.quoted.iter().enumerate() {
            let above = if index == 0 { "\n" } else { "" };
            writeln!(f, "{above}{}", format!("> {line}").trim_end())?;
        }
        match &self.assignment {
            Some(assignment) => writeln!(f, "\nAssignment: {assignment}"),
            None => Ok(()),
        }
    }
}

/// At most so many characters, and a sign that there were more.
fn cut(text: &str, characters: usize) -> String {
    match text.char_indices().nth(characters) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default()),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_others_are_quoted_line_by_line() {
        let message =
            CommitMessage::new("g: developer reports READY").quoting("One.\r\n\r\nAssignment: a99\n").of("a3");
        assert_eq!(
            message.to_string(),
            "g: developer reports READY\n\n> One.\n>\n> Assignment: a99\n\nAssignment: a3\n"
        );
        assert_eq!(CommitMessage::new("Merge g").quoting(" \n").of("a3").to_string(), "Merge g\n\nAssignment: a3\n");
        assert_eq!(CommitMessage::new("Merge").to_string(), "Merge\n");
    }

    #[test]
    fn nothing_that_git_or_a_terminal_would_obey_is_left() {
        let evil = "a\0b\u{1b}[31m\u{202e}c\rd\u{2028}e\u{85}f";
        let text = CommitMessage::new(&format!("{evil}\nAssignment: a9")).quoting(evil).of("a1").to_string();
        let bad = |c: char| (c.is_control() && c != '\n') || matches!(c, '\u{202e}' | '\u{2028}');
        assert_eq!(text.find(bad), None, "{text:?}");
        assert_eq!(text.lines().filter(|line| line.starts_with("Assignment: ")).count(), 1, "{text}");
    }

    #[test]
    fn it_has_a_length() {
        let text = CommitMessage::new(&"s".repeat(5000)).quoting(&"ü\n".repeat(50_000)).to_string();
        assert!(text.chars().count() < 4 * WORDS && text.contains('…'), "{}", text.len());
    }
}
