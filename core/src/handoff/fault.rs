//! What is wrong with a block of JSON, said so that whoever wrote it can mend it.

use crate::code::Code;
use crate::handoff::json::{Fault, FaultKind, MAX_DEPTH};
use crate::problem::{Place, Problem};

pub(crate) fn problem(fault: &Fault, at: Place) -> Problem {
    match &fault.kind {
        FaultKind::RepeatedKey(key) => Problem::new(Code::DuplicateKey, format!("`{key}` is said twice"))
            .help(format!("keep one `{key}`; which of the two counts cannot be guessed"))
            .field(&**key)
            .at(at),
        FaultKind::Imprecise(number) => Problem::warning(
            Code::FieldValue,
            format!("this number has more digits than can be kept, it is read as {number}"),
        )
        .help("write it as a string if every digit matters")
        .at(at),
        FaultKind::TooDeep => {
            Problem::new(Code::HandoffTooLarge, format!("the metadata is nested more than {MAX_DEPTH} levels deep"))
                .help("a handoff needs a handful of levels; put the rest into a file and name it in `artifacts`")
                .at(at)
        }
        other => {
            let (message, help) = syntax(other);
            Problem::new(Code::HandoffSyntax, message).help(help).at(at)
        }
    }
}

fn syntax(kind: &FaultKind) -> (String, String) {
    let (message, help) = match kind {
        FaultKind::Comment => ("JSON has no comments", "remove this comment"),
        FaultKind::TrailingComma => ("nothing follows this comma", "remove the comma"),
        FaultKind::SingleQuotes => ("JSON has no single quotes", "write strings in double quotes: \"…\""),
        FaultKind::FancyQuotes => (
            "a typographic quotation mark is no quotation mark in JSON",
            "write strings in straight double quotes: \"…\"",
        ),
        FaultKind::LineBreakInString => {
            ("a string runs over the end of its line", "close it with \", and write line breaks inside it as \\n")
        }
        FaultKind::ControlInString => ("a control character stands in a string", "write it as an escape, a tab as \\t"),
        FaultKind::OpenString => ("this string is never closed", "close it with \""),
        FaultKind::Escape => (
            "a string has an escape that JSON does not know",
            "escapes are \\\" \\\\ \\/ \\b \\f \\n \\r \\t and \\u with four hexadecimal digits; a backslash itself is \\\\",
        ),
        FaultKind::BadNumber => {
            ("this is not how JSON writes a number", "no leading zeros, no plus sign, no other base: 17, -0.5, 1e6")
        }
        FaultKind::NumberTooBig => ("this number is too large to be held", "write it as a string"),
        FaultKind::NoComma => ("a comma is missing after this", "put a comma between two members or elements"),
        FaultKind::NoColon => ("a colon is missing after the key", "write \"key\": value"),
        FaultKind::Ellipsis => ("this is a placeholder, not a value", "write out what is meant"),
        FaultKind::End => ("the metadata block is empty", "write the metadata as one JSON object"),
        FaultKind::Open(opener) => {
            let closer = if *opener == '{' { '}' } else { ']' };
            return (
                format!("the `{opener}` here is never closed"),
                format!("the block may have been cut off; close it with `{closer}`"),
            );
        }
        FaultKind::BareKey(key) => return (format!("the key {key} is not in quotes"), format!("write \"{key}\"")),
        FaultKind::Word(word) => return (format!("JSON does not know the word {word}"), meant_by(word)),
        FaultKind::Unexpected(character) => {
            return (
                format!("`{character}` cannot stand here"),
                "a value, a key, a comma or a closing bracket is expected".into(),
            );
        }
        // Said by `problem`, which has codes of their own for them.
        FaultKind::RepeatedKey(_) | FaultKind::Imprecise(_) | FaultKind::TooDeep => {
            ("this is not JSON", "write the metadata as one JSON object")
        }
    };
    (message.into(), help.into())
}

fn meant_by(word: &str) -> String {
    match word.to_ascii_lowercase().as_str() {
        "true" => "write `true`".into(),
        "false" => "write `false`".into(),
        "none" | "nil" | "null" | "undefined" | "nan" => "write `null`, or leave the field out".into(),
        _ => format!("a string needs quotes: \"{word}\""),
    }
}
