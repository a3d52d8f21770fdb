//! Texts of agents and people, made safe to quote: they can end no fence, start no heading and hide nothing.

use std::borrow::Cow;

use serde_json::Value as Json;

use interlock_system::sanitise;

/// Text of several lines. Control characters are gone but for line breaks and tabs; what cannot be seen is made visible.
pub(super) fn text(text: &str) -> String {
    let plain: String =
        text.chars().filter(|character| matches!(character, '\n' | '\t') || !character.is_control()).collect();
    sanitise::text(&plain).trim_end().to_owned()
}

/// The same on one line.
pub(super) fn line(words: &str) -> String {
    text(words).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A word or a path that stands in code marks within a sentence.
pub(super) fn code(words: &str) -> String {
    line(words).replace('`', "'")
}

/// A value of a handoff: texts as they are, lists of lines as lists, everything else as JSON.
pub(super) fn value(value: &Json) -> String {
    let is_line = |item: &Json| item.as_str().is_some_and(|words| !words.contains(['\n', '\r']));
    match value {
        Json::String(words) => text(words),
        Json::Array(items) if items.iter().all(is_line) => items
            .iter()
            .filter_map(Json::as_str)
            .map(|words| format!("- {}", text(words)))
            .collect::<Vec<_>>()
            .join("\n"),
        other => text(&serde_json::to_string_pretty(other).unwrap_or_default()),
    }
}

/// A fence that nothing in the text can close: longer than any run of backticks in it.
pub(super) fn fence(text: &str) -> String {
    let mut longest = 0usize;
    let mut run = 0usize;
    for character in text.chars() {
        run = if character == '`' { run.saturating_add(1) } else { 0 };
        longest = longest.max(run);
    }
    "`".repeat(longest.saturating_add(1).max(3))
}

/// A word of a command line, quoted where a shell would read more than a word.
pub(super) fn shell(word: &str) -> Cow<'_, str> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-/@%+=:,".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return Cow::Borrowed(word);
    }
    Cow::Owned(format!("'{}'", word.replace('\'', r"'\''")))
}

/// `12,345`
pub(super) fn thousands(number: usize) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && digits.len().saturating_sub(index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_gone_and_hidden_ones_show() {
        assert_eq!(text("a\u{1b}[31m\r\n\tb\u{0}\u{9b}c\u{7f}"), "a[31m\n\tbc");
        assert_eq!(text("left\u{202e}right\u{e0041}"), "left\u{fffd}right\u{fffd}");
        assert_eq!(line("a\n# b\t\u{7}c "), "a # b c");
        assert_eq!(code("a`b\n`"), "a'b '");
    }

    #[test]
    fn a_fence_is_longer_than_what_it_holds() {
        assert_eq!(fence(""), "```");
        assert_eq!(fence("a `b` c"), "```");
        assert_eq!(fence("```json\n{}\n```"), "````");
        assert_eq!(fence("x``````y"), "```````");
    }

    #[test]
    fn words_of_a_command_line_stay_words() {
        assert_eq!(shell("s-1.a3"), "s-1.a3");
        assert_eq!(shell("/tmp/my work/$x"), "'/tmp/my work/$x'");
        assert_eq!(shell("it's"), r"'it'\''s'");
        assert_eq!(shell(""), "''");
    }

    #[test]
    fn numbers_are_read_in_threes() {
        assert_eq!([0, 999, 1_000, 1_234_567].map(thousands), ["0", "999", "1,000", "1,234,567"]);
    }
}
