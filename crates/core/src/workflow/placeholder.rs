//! `{name}` in the commands of gates and the texts of questions.
//!
//! A name is lower case letters, digits, `_` and `.`. `{{` and `}}` stand for single braces, and `${name}` is left to the
//! shell. Anything else in braces is plain text, as in `find -exec … {}`.

use std::borrow::Cow;

use crate::id::Name;

/// Names that a gate's command may use.
pub(crate) const GATE_PLACEHOLDERS: &[&str] = &["feature_directory", "session", "group", "domain"];

/// Names that a question's text may use, beside fields of the handoff.
pub(crate) const QUESTION_PLACEHOLDERS: &[&str] =
    &["because", "role", "phase", "gate_output", "feature_directory", "session", "group", "domain"];

/// The values of the placeholders of a gate's command in one run of it.
#[derive(Clone, Copy, Debug)]
pub struct GateValues<'a> {
    /// The directory that all roles of the session share.
    pub feature_directory: &'a str,
    pub session: &'a str,
    /// Empty for a gate of the session.
    pub group: &'a str,
    /// Of the group; empty where the plan gives none.
    pub domain: &'a str,
}

impl GateValues<'_> {
    /// The command with every placeholder filled in. Each word stays one word, whatever its value contains.
    pub fn fill(&self, command: &[Name]) -> Vec<Name> {
        let value = |name: &str| match name {
            "feature_directory" => Cow::Borrowed(self.feature_directory),
            "session" => Cow::Borrowed(self.session),
            "group" => Cow::Borrowed(self.group),
            "domain" => Cow::Borrowed(self.domain),
            // Only files that were pinned before names were checked have others.
            other => Cow::Owned(format!("{{{other}}}")),
        };
        command.iter().map(|word| Name::from(substitute(word, value))).collect()
    }
}

/// A piece of a text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum WorkflowTextPart<'a> {
    Text(&'a str),
    Brace(&'static str),
    Name(&'a str),
}

/// The text in pieces, in order.
fn pieces(text: &str) -> Vec<WorkflowTextPart<'_>> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(index) = rest.find(['{', '}']) {
        let (before, from) = rest.split_at(index);
        pieces.push(WorkflowTextPart::Text(before));
        let (piece, length) = brace(before, from);
        pieces.push(piece);
        rest = from.get(length..).unwrap_or_default();
    }
    pieces.push(WorkflowTextPart::Text(rest));
    pieces
}

/// The part that a brace begins, and its length.
fn brace<'a>(before: &str, from: &'a str) -> (WorkflowTextPart<'a>, usize) {
    for (double, single) in [("{{", "{"), ("}}", "}")] {
        if from.starts_with(double) {
            return (WorkflowTextPart::Brace(single), 2);
        }
    }
    let inner = from.strip_prefix('{').and_then(|inner| inner.split_once('}')).map(|(name, _)| name);
    match inner.filter(|name| is_name(name) && !before.ends_with('$')) {
        Some(name) => (WorkflowTextPart::Name(name), name.len().saturating_add(2)),
        None => (WorkflowTextPart::Text(from.get(..1).unwrap_or_default()), 1),
    }
}

fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_lowercase())
        && text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '_' | '.'))
}

/// The names that a text uses, each once, in order.
pub(crate) fn placeholders(text: &str) -> Vec<&str> {
    let mut names = Vec::new();
    for piece in pieces(text) {
        if let WorkflowTextPart::Name(name) = piece
            && !names.contains(&name)
        {
            names.push(name);
        }
    }
    names
}

/// The text with every name replaced by its value. What a value contains is never read as a placeholder.
pub(crate) fn substitute<'v>(text: &str, value: impl Fn(&str) -> Cow<'v, str>) -> String {
    let mut result = String::with_capacity(text.len());
    for piece in pieces(text) {
        match piece {
            WorkflowTextPart::Text(plain) => result.push_str(plain),
            WorkflowTextPart::Brace(single) => result.push_str(single),
            WorkflowTextPart::Name(name) => result.push_str(&value(name)),
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(text: &str) -> String {
        substitute(text, |name| Cow::Owned(format!("<{name}>")))
    }

    #[test]
    fn named_placeholders_are_replaced() {
        assert_eq!(filled("{feature_directory}/out {handoff.context}"), "<feature_directory>/out <handoff.context>");
        assert_eq!(placeholders("{a} {b.c} {a}"), ["a", "b.c"]);
    }

    #[test]
    fn braces_of_shells_and_awk_stay_as_they_are() {
        for text in ["find . -exec cat {} ;", "${home}/x", "{print $1}", "{A}", "a } b { c", "{", ""] {
            assert_eq!((filled(text).as_str(), placeholders(text).len()), (text, 0));
        }
    }

    #[test]
    fn doubled_braces_stand_for_one() {
        assert_eq!(filled("{{print}} {x}"), "{print} <x>");
    }

    #[test]
    fn values_with_braces_are_not_read_again() {
        assert_eq!(substitute("{a}", |_| Cow::Borrowed("{b}")), "{b}");
    }
}
