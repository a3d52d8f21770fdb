//! Limits on names that people and plans choose: ids of groups, titles, names of persons.
//!
//! A group id becomes a folder, a part of a git ref and a word in commands. So an id must be usable as each of these on
//! every system, and two ids must stay different on a file system that ignores case.

use std::borrow::Cow;

use crate::code::Code;
use crate::problem::Problem;
use crate::workflow::Workflow;

pub const LONGEST_GROUP_ID: usize = 64;
/// In characters. Titles are shown in one line of a table.
pub const LONGEST_TITLE: usize = 200;
/// In characters.
pub const LONGEST_PERSON: usize = 100;
/// In characters.
pub const LONGEST_STATUS: usize = 200;

/// Words that Interlock itself prints where a group could stand, and git's own name for the current commit.
const RESERVED: [&str; 4] = ["session", "interlock", "integration", "head"];
/// Names in the record that stand for Interlock itself, and the words that its own sentences begin with.
const NOT_PERSONS: [&str; 16] = [
    "interlock",
    "validator",
    "session",
    "group",
    "gate",
    "merge",
    "hook",
    "route",
    "rule",
    "question",
    "decision",
    "refused",
    "the",
    "nobody",
    "spawner",
    "system",
];
/// Characters that could end the quotation marks around a name.
pub const QUOTES: [char; 12] = ['"', '`', '\u{b4}', '«', '»', '‹', '›', '“', '”', '„', '‟', '＂'];
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

/// Why this cannot be the name of a person, whatever the workflow is.
pub fn check_person(name: &str) -> Option<Problem> {
    if !has_words(name) {
        return Some(
            Problem::new(Code::TextTooLong, "the name of a person is empty").help("name the person: --as NAME"),
        );
    }
    if name.contains(QUOTES) {
        return Some(refuse_person(name, "it contains a quotation mark"));
    }
    if NOT_PERSONS.contains(&person_key(name).as_str()) {
        return Some(refuse_person(name, "Interlock uses this word itself"));
    }
    check_length("name of a person", name, LONGEST_PERSON)
}

/// Why this cannot be the name of a person in a session of this workflow. The record names roles and persons side by side,
/// so a person with the name of a role would read like an agent.
pub fn check_person_in(workflow: &Workflow, name: &str) -> Option<Problem> {
    let key = person_key(name);
    let is_role = || workflow.roles.iter().any(|role| person_key(&role.name) == key);
    check_person(name).or_else(|| is_role().then(|| refuse_person(name, "it is a role of the workflow")))
}

fn refuse_person(name: &str, reason: &str) -> Problem {
    let shown: String = name.trim().chars().filter(|c| !QUOTES.contains(c)).collect();
    let message = format!("`{}` cannot be the name of a person: {reason}", shorten(&shown));
    Problem::new(Code::PersonName, message)
}

/// Names with the same key read alike. Neither case nor separators make a difference.
fn person_key(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// The name of a person, a role or a client, for a sentence. A name that is not one plain word stands in quotation marks,
/// so that it cannot go on with the sentence. Names of roles are plain words.
pub fn shown_person(name: &str) -> Cow<'_, str> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | '@' | '\'');
    if !name.is_empty() && name.chars().all(is_plain) {
        return Cow::Borrowed(name);
    }
    let inner: String = name.chars().filter(|c| !QUOTES.contains(c)).collect();
    Cow::Owned(format!("\"{inner}\""))
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
    fn name_of_a_person_that_reads_like_interlock_or_ends_its_quotes_is_refused() {
        for name in ["operator", "ann", "Ann Example", "o'neil", "ann@example.org", "José", "operators"] {
            assert_eq!(check_person(name), None, "{name}");
        }
        for name in ["interlock", " Interlock\t", "VALIDATOR", "session", "a\"b", "a`b", "“ann”"] {
            let problem = check_person(name);
            assert_eq!(problem.map(|problem| problem.code), Some(Code::PersonName), "{name}");
        }
    }

    #[test]
    fn shown_person_cannot_go_on_with_a_sentence() {
        assert_eq!(shown_person("ann"), "ann");
        assert_eq!(shown_person("project_manager"), "project_manager");
        assert_eq!(shown_person("operator accepted B: fine; operator"), "\"operator accepted B: fine; operator\"");
        assert_eq!(shown_person("ann\" accepted B; \"bob"), "\"ann accepted B; bob\"");
        assert_eq!(shown_person("ann."), "ann.");
        assert_eq!(shown_person("ann:"), "\"ann:\"");
    }

    #[test]
    fn title_is_counted_in_characters() {
        assert_eq!(check_title(&"ä".repeat(LONGEST_TITLE)), None);
        let problem = check_title(&"ä".repeat(LONGEST_TITLE + 1)).expect("too long");
        assert_eq!(problem.message, "the title has 201 characters; at most 200 are allowed");
    }
}
