use std::io;

use clap::Args;
use interlock_core::code::Code;
use serde_json::json;

use crate::commands::examples;
use interlock_app::error::CommandResult;
use interlock_app::error::{CommandError, CommandExit};
use interlock_app::markdown;
use interlock_app::output::CommandOutput;
use interlock_app::pages;
use interlock_system::text::{NAME, TerminalText, columns};

/// Explain a code: what happened, an example, and how to fix it
///
/// Every refusal and every warning has a code that never changes its meaning. Without a code, all of them are listed.
#[derive(Args)]
#[command(after_help = examples!(
    "interlock explain E0104"
    "interlock explain 104          # the same"
    "interlock explain              # all codes"
    "interlock explain E0104 --json # {\"code\",\"title\",\"text\"}"
))]
pub(crate) struct ExplainCommand {
    /// The code, such as E0104; `e0104` and `104` will do
    code: Option<String>,
}

impl ExplainCommand {
    pub(crate) fn run(&self, output: CommandOutput) -> CommandResult {
        match &self.code {
            None => list(output),
            Some(wanted) => page(find(wanted)?, output),
        }
    }
}

fn page(code: Code, output: CommandOutput) -> CommandResult {
    let page = pages::of(code);
    if output.json {
        output.document(&json!({ "code": code, "title": code.title(), "text": page }))?;
    } else {
        output.text(&markdown::render(page, columns(&io::stdout(), 100)))?;
    }
    Ok(CommandExit::Done)
}

fn list(output: CommandOutput) -> CommandResult {
    if output.json {
        let codes: Vec<_> = Code::ALL.iter().map(|code| json!({ "code": code, "title": code.title() })).collect();
        output.document(&json!({ "codes": codes }))?;
        return Ok(CommandExit::Done);
    }
    let mut text = TerminalText::default();
    let mut hundred = "";
    for code in Code::ALL {
        let of_this = code.number().get(..3).unwrap_or_default();
        if of_this != hundred {
            text.push(if hundred.is_empty() { "" } else { "\n" });
            hundred = of_this;
        }
        text.paint(NAME, code);
        text.line(format_args!("  {}", code.title()));
    }
    output.text(&text)?;
    Ok(CommandExit::Done)
}

/// `E0104`, `e0104`, `0104`, `E104` and `104` are one code.
fn find(wanted: &str) -> Result<Code, CommandError> {
    let digits = wanted.trim().trim_start_matches(['E', 'e']);
    let number = digits.parse::<u32>().ok().filter(|_| !digits.starts_with('+'));
    let Some(number) = number else {
        return Err(unknown(wanted).maybe_help(titles_with(wanted)));
    };
    Code::parse(&format!("{number:04}")).ok_or_else(|| unknown(wanted).maybe_help(nearest(number)))
}

fn unknown(wanted: &str) -> CommandError {
    CommandError::new(CommandExit::Invalid, Code::UnknownCode, format!("there is no code `{wanted}`"))
}

/// For a word instead of a code: the codes whose titles have it.
fn titles_with(word: &str) -> Option<String> {
    let word = word.to_lowercase();
    let found: Vec<String> = Code::ALL
        .iter()
        .filter(|code| !word.is_empty() && code.title().to_lowercase().contains(&word))
        .take(5)
        .map(|code| format!("{code} ({})", code.title()))
        .collect();
    match found.len() {
        0 => Some("`interlock explain` lists all codes".to_owned()),
        _ => Some(format!("codes that speak of it: {}", found.join("; "))),
    }
}

/// For a number that is no code: the last two digits exchanged, or else its neighbours.
fn nearest(wanted: u32) -> Option<String> {
    let exchanged = wanted / 100 * 100 + wanted % 10 * 10 + wanted / 10 % 10;
    if let Some(code) = Code::parse(&format!("{exchanged:04}")) {
        return Some(format!("did you mean {code} ({})?", code.title()));
    }
    let number = |code: &&Code| code.number().trim_start_matches('E').parse::<u32>().unwrap_or_default();
    let below = Code::ALL.iter().rfind(|code| number(code) < wanted);
    let above = Code::ALL.iter().find(|code| number(code) > wanted);
    let near: Vec<String> = below.into_iter().chain(above).map(|code| format!("{code} ({})", code.title())).collect();
    Some(format!("the nearest: {}", near.join("; ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_found_however_it_is_written() {
        for wanted in ["E0104", "e0104", "0104", "104", "E104", " E0104 "] {
            assert_eq!(find(wanted).ok(), Some(Code::UnknownKey), "{wanted}");
        }
        for wanted in ["", "E", "E9999", "+104", "-104", "E0104x", "99999999999999999999"] {
            assert!(find(wanted).is_err(), "{wanted}");
        }
    }

    #[test]
    fn codes_stand_in_the_order_of_their_numbers() {
        assert!(Code::ALL.is_sorted_by_key(|code| code.number()));
    }

    #[test]
    fn a_wrong_number_gets_a_suggestion() {
        assert!(nearest(140).unwrap().starts_with("did you mean E0104"));
        assert!(nearest(326).unwrap().starts_with("the nearest: E0325"));
        let last = Code::ALL.last().expect("there are codes");
        assert!(nearest(9999).unwrap().starts_with(&format!("the nearest: {last}")));
    }
}
