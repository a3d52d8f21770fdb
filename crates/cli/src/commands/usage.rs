//! Parses the arguments into a command, and prints help or a usage error if that fails.

use std::ffi::OsString;

use clap::Parser as _;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use interlock_core::code::Code;

use crate::commands::Cli;
use interlock_app::error::{CommandError, CommandExit};
use interlock_app::output::CommandOutput;
use interlock_system::sanitise;
use interlock_system::text::TerminalText;

/// The command, or how the program ends because help was asked for or the usage is wrong.
pub(crate) fn parse(arguments: Vec<OsString>) -> Result<Cli, CommandExit> {
    let json = arguments.iter().skip(1).take_while(|argument| *argument != "--").any(|argument| argument == "--json");
    Cli::try_parse_from(arguments).map_err(|error| {
        let failure = match error.kind() {
            ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => match print_help(&error) {
                Ok(()) => return CommandExit::Done,
                Err(failure) => failure,
            },
            _ => failure(error),
        };
        failure.print_error(json)
    })
}

fn print_help(error: &clap::Error) -> Result<(), CommandError> {
    let mut text = TerminalText::default();
    text.push_rendered(&error.render().ansi().to_string());
    CommandOutput { json: false }.text(&text)
}

fn failure(mut error: clap::Error) -> CommandError {
    let allowed = strings(error.get(ContextKind::ValidValue).or_else(|| error.get(ContextKind::ValidSubcommand)));
    let help = suggestion(&error);
    make_harmless(&mut error);
    let mut text = TerminalText::default();
    // Clap knows no codes; every error of this program has one.
    let rendered = error.render().ansi().to_string();
    let coded = format!("error[{}]:", Code::BadArgument.number());
    text.push_rendered(&match rendered.lines().next().is_some_and(|first| first.contains("error:")) {
        true => rendered.replacen("error:", &coded, 1),
        false => rendered,
    });
    let (message, allowed) = if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        ("a command is missing".to_owned(), commands(&error.render().to_string()))
    } else {
        (first_line(&error), allowed)
    };
    CommandError::new(CommandExit::Usage, Code::BadArgument, message).maybe_help(help).allowed(allowed).printed(text)
}

/// Clap quotes arguments as they are, and they can come out of an agent's text.
fn make_harmless(error: &mut clap::Error) {
    let quoted: Vec<(ContextKind, ContextValue)> = error
        .context()
        .filter_map(|(kind, value)| match value {
            ContextValue::String(text) => Some((kind, ContextValue::String(sanitise::line(text).into_owned()))),
            _ => None,
        })
        .collect();
    for (kind, value) in quoted {
        error.insert(kind, value);
    }
}

fn first_line(error: &clap::Error) -> String {
    let text = error.render().to_string();
    // Lines in brackets list what is allowed, which has a field of its own.
    let paragraph: Vec<&str> =
        text.lines().map(str::trim).take_while(|line| !line.is_empty()).filter(|line| !line.starts_with('[')).collect();
    paragraph.join(" ").trim_start_matches("error: ").to_owned()
}

fn suggestion(error: &clap::Error) -> Option<String> {
    let kinds = [ContextKind::SuggestedValue, ContextKind::SuggestedSubcommand, ContextKind::SuggestedArg];
    let near = kinds.into_iter().find_map(|kind| error.get(kind))?;
    // Clap puts the most likely one last.
    let near: Vec<String> = strings(Some(near)).into_iter().rev().map(|word| format!("`{word}`")).collect();
    Some(format!("did you mean {}?", near.join(" or ")))
}

fn strings(value: Option<&ContextValue>) -> Vec<String> {
    match value {
        Some(ContextValue::String(one)) => vec![one.clone()],
        Some(ContextValue::Strings(many)) => many.clone(),
        _ => Vec::new(),
    }
}

/// The commands that a help text lists.
fn commands(help: &str) -> Vec<String> {
    let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    // A description that was wrapped is indented further.
    let names = listed.filter(|line| !line.starts_with("   ")).filter_map(|line| line.split_whitespace().next());
    names.map(str::to_owned).collect()
}
