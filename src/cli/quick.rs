//! Commands that scripts and hooks call again and again: to describe the whole command line to clap takes longer than some
//! of them take to run. Whatever this does not understand goes to the whole, which also says what is wrong.

use std::ffi::OsString;

use clap::{Parser, Subcommand};

use crate::cli::{Cli, Command, check, claim, report, route};

#[derive(Parser)]
#[command(name = "interlock", disable_help_flag = true, disable_help_subcommand = true, disable_version_flag = true)]
struct Quick {
    #[arg(long, global = true)]
    json: bool,

    #[arg(long, global = true)]
    store: Option<String>,

    #[command(subcommand)]
    command: Often,
}

#[derive(Subcommand)]
enum Often {
    Route(Box<route::Route>),
    Check(check::Check),
    Claim(claim::Claim),
    Report(report::Report),
}

/// The command, if it is one of these and nothing is wrong with it.
pub(super) fn parse(arguments: &[OsString]) -> Option<Cli> {
    let named = arguments.get(1)?.to_str()?;
    if !matches!(named, "route" | "check" | "claim" | "report") {
        return None;
    }
    let Quick { json, store, command } = Quick::try_parse_from(arguments).ok()?;
    let command = match command {
        Often::Route(command) => Command::Route(command),
        Often::Check(command) => Command::Check(command),
        Often::Claim(command) => Command::Claim(command),
        Often::Report(command) => Command::Report(command),
    };
    Some(Cli { json, store, command })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<OsString> {
        line.split(' ').map(OsString::from).collect()
    }

    #[test]
    fn what_is_called_often_is_understood_as_by_the_whole() {
        for line in [
            "interlock route --workflow delivery-team --role developer --status BLOCKED --json",
            "interlock check --store here delivery-team",
            "interlock claim add-login-4f2k.a3",
            "interlock report --assignment add-login-4f2k.a3 --token-file t out.md --json",
        ] {
            let (quick, whole) = (parse(&words(line)).expect(line), Cli::try_parse_from(words(line)).expect(line));
            assert_eq!((quick.json, quick.store), (whole.json, whole.store), "{line}");
            assert_eq!(std::mem::discriminant(&quick.command), std::mem::discriminant(&whole.command), "{line}");
        }
    }

    #[test]
    fn whatever_is_not_plain_goes_to_the_whole() {
        for line in [
            "interlock",
            "interlock --json route",
            "interlock route --help",
            "interlock claim",
            "interlock route --rol x",
            "interlock log s",
        ] {
            assert!(parse(&words(line)).is_none(), "{line}");
        }
    }
}
