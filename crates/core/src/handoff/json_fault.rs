//! A fault in a block of JSON, worded so that the author of the block can fix it.

use crate::code::Code;
use crate::handoff::json::{JsonFault, JsonFaultKind, MAX_DEPTH};
use crate::problem::{Place, Problem};

pub(crate) fn problem(fault: &JsonFault, at: Place) -> Problem {
    let code = match &fault.kind {
        JsonFaultKind::RepeatedKey(_) => Code::DuplicateKey,
        JsonFaultKind::Imprecise(_) => Code::FieldValue,
        JsonFaultKind::TooDeep => Code::HandoffTooLarge,
        JsonFaultKind::Comment
        | JsonFaultKind::TrailingComma
        | JsonFaultKind::SingleQuotes
        | JsonFaultKind::FancyQuotes
        | JsonFaultKind::BareKey(_)
        | JsonFaultKind::Word(_)
        | JsonFaultKind::LineBreakInString
        | JsonFaultKind::ControlInString
        | JsonFaultKind::OpenString
        | JsonFaultKind::Escape
        | JsonFaultKind::BadNumber
        | JsonFaultKind::NumberTooBig
        | JsonFaultKind::NoComma
        | JsonFaultKind::NoColon
        | JsonFaultKind::Open(_)
        | JsonFaultKind::Ellipsis
        | JsonFaultKind::Unexpected(_)
        | JsonFaultKind::End => Code::HandoffSyntax,
    };
    let (message, help) = said(&fault.kind);
    let problem = if let JsonFaultKind::Imprecise(_) = fault.kind {
        Problem::warning(code, message)
    } else if let JsonFaultKind::RepeatedKey(key) = &fault.kind {
        Problem::new(code, message).field(&**key)
    } else {
        Problem::new(code, message)
    };
    problem.help(help).at(at)
}

fn said(kind: &JsonFaultKind) -> (String, String) {
    let (message, help) = match kind {
        JsonFaultKind::Comment => ("JSON has no comments", "remove this comment"),
        JsonFaultKind::TrailingComma => ("nothing follows this comma", "remove the comma"),
        JsonFaultKind::SingleQuotes => ("JSON has no single quotes", "write strings in double quotes: \"…\""),
        JsonFaultKind::FancyQuotes => {
            ("a typographic quotation mark is none in JSON", "write strings in straight double quotes: \"…\"")
        }
        JsonFaultKind::LineBreakInString => {
            ("a string runs over the end of its line", "close it with \", and write line breaks inside it as \\n")
        }
        JsonFaultKind::ControlInString => {
            ("a control character stands in a string", "write it as an escape, a tab as \\t")
        }
        JsonFaultKind::OpenString => ("this string is never closed", "close it with \""),
        JsonFaultKind::Escape => (
            "a string has an escape that JSON does not know",
            "escapes are \\\" \\\\ \\/ \\b \\f \\n \\r \\t and \\u with four hexadecimal digits; a backslash itself is \\\\",
        ),
        JsonFaultKind::BadNumber => (
            "this is not how JSON writes a number",
            "no leading zeros, no plus sign, no other base: 17, -0.5, 1e6; quotes around anything else",
        ),
        JsonFaultKind::NumberTooBig => ("this number is too large to be held", "write it as a string"),
        JsonFaultKind::NoComma => ("a comma is missing after this", "put a comma between two members or elements"),
        JsonFaultKind::NoColon => ("a colon is missing after the key", "write \"key\": value"),
        JsonFaultKind::Ellipsis => ("this is a placeholder, not a value", "write out what is meant"),
        JsonFaultKind::End => ("the metadata block is empty", "write the metadata as one JSON object"),
        JsonFaultKind::RepeatedKey(key) => {
            let help = format!("keep one `{key}`; which of the two counts cannot be guessed");
            return (format!("`{key}` is said twice"), help);
        }
        JsonFaultKind::Imprecise(number) => {
            let message = format!("this number has more digits than can be kept, it is read as {number}");
            return (message, "write it as a string if every digit matters".into());
        }
        JsonFaultKind::TooDeep => {
            let help = "a handoff needs a handful of levels; put the rest into a file and name it in `artifacts`";
            return (format!("the metadata is nested more than {MAX_DEPTH} levels deep"), help.into());
        }
        JsonFaultKind::Open(opener) => {
            let closer = if *opener == '{' { '}' } else { ']' };
            let help = format!("the block may have been cut off; close it with `{closer}`");
            return (format!("the `{opener}` here is never closed"), help);
        }
        JsonFaultKind::BareKey(key) => return (format!("the key {key} is not in quotes"), format!("write \"{key}\"")),
        JsonFaultKind::Word(word) => return (format!("JSON does not know the word {word}"), meant_by(word)),
        JsonFaultKind::Unexpected(character) => {
            let help = "a value, a key, a comma or a closing bracket is expected";
            return (format!("`{character}` cannot stand here"), help.into());
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
