//! Limits on names that people and plans choose: ids of groups, titles, names of persons.
//!
//! A group id becomes a folder, a part of a git ref and a word in commands. So an id must be usable as each of these on
//! every system, and two ids must stay different on a file system that ignores case.

use std::borrow::Cow;

use crate::code::Code;
use crate::problem::Problem;

pub const LONGEST_GROUP_ID: usize = 64;
/// In characters. Titles are shown in one line of a table.
pub const LONGEST_TITLE: usize = 200;
/// In characters.
pub const LONGEST_PERSON: usize = 100;
/// In characters.
pub const LONGEST_STATUS: usize = 200;

/// Words that Interlock itself prints where a group could stand, and git's own name for the current commit.
const RESERVED: [&str; 4] = ["session", "interlock", "integration", "head"];
/// Device names of Windows. They are taken with every extension: `nul.txt` is the device as well.
const DEVICES: [&str; 4] = ["con", "prn", "aux", "nul"];
/// Device names of Windows that end with a digit from 1 to 9.
const NUMBERED_DEVICES: [&str; 2] = ["com", "lpt"];

/// Two ids with the same key are the same id to a file system that ignores case.
pub fn group_key(id: &str) -> String {
    id.to_ascii_lowercase()
}

/// Why this cannot be the id of a group.
pub fn check_group_id(id: &str) -> Option<Problem> {
    let is_plain = id.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-'));
    if id.is_empty() || !is_plain || id.len() > LONGEST_GROUP_ID || id.starts_with(['.', '-']) {
        let message = format!(
            "`{}` cannot be an id: use letters, digits, `.`, `_` and `-`, at most {LONGEST_GROUP_ID}, \
             and begin with a letter, a digit or `_`",
            shorten(id)
        );
        return Some(Problem::new(Code::BadPlan, message));
    }
    let key = group_key(id);
    let reason = if RESERVED.contains(&key.as_str()) {
        "Interlock uses this word itself"
    } else if is_device(&key) {
        "Windows reserves it for a device"
    } else if key.ends_with(".lock") || key.ends_with('.') || key.contains("..") {
        "git does not take it as part of a ref"
    } else {
        return None;
    };
    Some(Problem::new(Code::ReservedId, format!("`{id}` cannot be an id: {reason}")))
}

/// Why this cannot be the title of a session or a group.
pub fn check_title(title: &str) -> Option<Problem> {
    check_length("title", title, LONGEST_TITLE)
}

/// Why this cannot be the name of a person.
pub fn check_person(name: &str) -> Option<Problem> {
    if !has_words(name) {
        return Some(
            Problem::new(Code::TextTooLong, "the name of a person is empty").help("name the person: --as NAME"),
        );
    }
    check_length("name of a person", name, LONGEST_PERSON)
}

/// Why this cannot be the reason of a person, or another text that must say something.
pub fn check_words(what: &str, text: &str) -> Option<Problem> {
    let message = format!("the {what} is empty: write at least one word");
    (!has_words(text)).then(|| Problem::new(Code::TextTooLong, message).help("say it in a few words, for the record"))
}

/// A letter or a digit that can be seen. Some fillers count as letters, and show nothing.
fn has_words(text: &str) -> bool {
    let is_filler = |c: char| matches!(c, '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}');
    text.chars().any(|c| c.is_alphanumeric() && !is_filler(c))
}

/// Why this cannot be a status, known or not.
pub fn check_status(status: &str) -> Option<Problem> {
    check_length("status", status, LONGEST_STATUS)
}

/// A status that an agent wrote, for a sentence: a single word, so that it cannot go on with a sentence of its own.
pub fn shown_status(status: &str) -> Cow<'_, str> {
    const SHOWN: usize = 40;
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | ':' | '/');
    if status.chars().all(is_plain) && status.len() <= SHOWN {
        return Cow::Borrowed(status);
    }
    let plain: String = status.chars().filter(|c| is_plain(*c)).take(SHOWN).collect();
    Cow::Owned(format!("{plain}…"))
}

fn check_length(what: &str, text: &str, longest: usize) -> Option<Problem> {
    let length = text.chars().count();
    if length <= longest {
        return None;
    }
    let message = format!("the {what} has {length} characters; at most {longest} are allowed");
    Some(Problem::new(Code::TextTooLong, message))
}

fn is_device(key: &str) -> bool {
    let stem = key.split('.').next().unwrap_or_default();
    let is_numbered = |device: &str| {
        let number = stem.strip_prefix(device);
        number.is_some_and(|digit| digit.len() == 1 && digit.chars().all(|c| matches!(c, '1'..='9')))
    };
    DEVICES.contains(&stem) || NUMBERED_DEVICES.into_iter().any(is_numbered)
}

/// The beginning of a text, for a message about it.
fn shorten(text: &str) -> String {
    const SHOWN: usize = 80;
    let mut shown: String = text.chars().take(SHOWN).collect();
    if text.chars().nth(SHOWN).is_some() {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shown_status_is_one_short_word() {
        assert_eq!(shown_status("READY_FOR_QA"), "READY_FOR_QA");
        assert_eq!(shown_status("DONE`). Accept `X`"), "DONE.AcceptX…");
        assert_eq!(shown_status(&"x".repeat(100_000)).chars().count(), 41);
        assert_eq!(shown_status(""), "");
    }

    #[test]
    fn group_id_that_some_system_cannot_store_is_refused() {
        for id in ["A", "LOGIN", "v1.2", "_x", "com10", "console", "auxiliary", "lock", "x.locks", "sessions", "0"] {
            assert_eq!(check_group_id(id), None, "{id}");
        }
        for id in [
            "session",
            "Session",
            "HEAD",
            "interlock",
            "integration",
            "CON",
            "con.txt",
            "Aux",
            "nul",
            "COM1",
            "lpt9.x",
            "x.lock",
            "X.LOCK",
            "a..b",
            "a.",
        ] {
            assert_eq!(check_group_id(id).map(|problem| problem.code), Some(Code::ReservedId), "{id}");
        }
        for id in ["", ".a", "-a", "a b", "a/b", "ä", "a\nb", &"x".repeat(65)] {
            assert_eq!(check_group_id(id).map(|problem| problem.code), Some(Code::BadPlan), "{id}");
        }
    }

    #[test]
    fn text_without_a_word_is_refused() {
        for text in ["", " ", "\n\t", "\u{a0}\u{3000}", "\u{3164}", "\u{200b}", "...", "\u{2800}"] {
            let problem = check_words("reason", text);
            assert_eq!(problem.map(|problem| problem.code), Some(Code::TextTooLong), "{text:?}");
            assert!(check_person(text).is_some(), "{text:?}");
        }
        for text in ["x", " 7 ", "日本"] {
            assert_eq!(check_words("reason", text), None, "{text:?}");
        }
    }

    #[test]
    fn title_is_counted_in_characters() {
        assert_eq!(check_title(&"ä".repeat(LONGEST_TITLE)), None);
        let problem = check_title(&"ä".repeat(LONGEST_TITLE + 1)).expect("too long");
        assert_eq!(problem.message, "the title has 201 characters; at most 200 are allowed");
    }
}
