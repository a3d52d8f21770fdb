//! What is wrong with a block of JSON, said so that whoever wrote it can mend it.

use crate::code::Code;
use crate::handoff::json::{Fault, FaultKind, MAX_DEPTH};
use crate::problem::{Place, Problem};

pub(crate) fn problem(fault: &Fault, at: Place) -> Problem {
    let code = match &fault.kind {
        FaultKind::RepeatedKey(_) => Code::DuplicateKey,
        FaultKind::Imprecise(_) => Code::FieldValue,
        FaultKind::TooDeep => Code::HandoffTooLarge,
        FaultKind::Comment
        | FaultKind::TrailingComma
        | FaultKind::SingleQuotes
        | FaultKind::FancyQuotes
        | FaultKind::BareKey(_)
        | FaultKind::Word(_)
        | FaultKind::LineBreakInString
        | FaultKind::ControlInString
        | FaultKind::OpenString
        | FaultKind::Escape
        | FaultKind::BadNumber
        | FaultKind::NumberTooBig
        | FaultKind::NoComma
        | FaultKind::NoColon
        | FaultKind::Open(_)
        | FaultKind::Ellipsis
        | FaultKind::Unexpected(_)
        | FaultKind::End => Code::HandoffSyntax,
    };
    let (message, help) = said(&fault.kind);
    let problem = if let FaultKind::Imprecise(_) = fault.kind {
        Problem::warning(code, message)
    } else if let FaultKind::RepeatedKey(key) = &fault.kind {
        Problem::new(code, message).field(&**key)
    } else {
        Problem::new(code, message)
    };
    problem.help(help).at(at)
}

fn said(kind: &FaultKind) -> (String, String) {
    let (message, help) = match kind {
        FaultKind::Comment => ("JSON has no comments", "remove this comment"),
        FaultKind::TrailingComma => ("nothing follows this comma", "remove the comma"),
        FaultKind::SingleQuotes => ("JSON has no single quotes", "write strings in double quotes: \"…\""),
        FaultKind::FancyQuotes => {
            ("a typographic quotation mark is none in JSON", "write strings in straight double quotes: \"…\"")
        }
        FaultKind::LineBreakInString => {
            ("a string runs over the end of its line", "close it with \", and write line breaks inside it as \\n")
        }
        FaultKind::ControlInString => ("a control character stands in a string", "write it as an escape, a tab as \\t"),
        FaultKind::OpenString => ("this string is never closed", "close it with \""),
        FaultKind::Escape => (
            "a string has an escape that JSON does not know",
            "escapes are \\\" \\\\ \\/ \\b \\f \\n \\r \\t and \\u with four hexadecimal digits; a backslash itself is \\\\",
        ),
        FaultKind::BadNumber => (
            "this is not how JSON writes a number",
            "no leading zeros, no plus sign, no other base: 17, -0.5, 1e6; quotes around anything else",
        ),
        FaultKind::NumberTooBig => ("this number is too large to be held", "write it as a string"),
        FaultKind::NoComma => ("a comma is missing after this", "put a comma between two members or elements"),
        FaultKind::NoColon => ("a colon is missing after the key", "write \"key\": value"),
        FaultKind::Ellipsis => ("this is a placeholder, not a value", "write out what is meant"),
        FaultKind::End => ("the metadata block is empty", "write the metadata as one JSON object"),
        FaultKind::RepeatedKey(key) => {
            let help = format!("keep one `{key}`; which of the two counts cannot be guessed");
            return (format!("`{key}` is said twice"), help);
        }
        FaultKind::Imprecise(number) => {
            let message = format!("this number has more digits than can be kept, it is read as {number}");
            return (message, "write it as a string if every digit matters".into());
        }
        FaultKind::TooDeep => {
            let help = "a handoff needs a handful of levels; put the rest into a file and name it in `artifacts`";
            return (format!("the metadata is nested more than {MAX_DEPTH} levels deep"), help.into());
        }
        FaultKind::Open(opener) => {
            let closer = if *opener == '{' { '}' } else { ']' };
            let help = format!("the block may have been cut off; close it with `{closer}`");
            return (format!("the `{opener}` here is never closed"), help);
        }
        FaultKind::BareKey(key) => return (format!("the key {key} is not in quotes"), format!("write \"{key}\"")),
        FaultKind::Word(word) => return (format!("JSON does not know the word {word}"), meant_by(word)),
        FaultKind::Unexpected(character) => {
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
