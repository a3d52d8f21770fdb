//! Interlock: decides what follows in a team of coding agents, and keeps it.
//!
//! `core` decides; `store` keeps; `engine` puts the two together; everything else is at the edges.

mod commands;
mod graph;
mod plugin;

use std::panic;
use std::process::ExitCode;

use interlock_core::code::Code;

use interlock_app::error::{CommandError, CommandExit};
use interlock_app::panic_message;

/// The program.
pub fn main() -> ExitCode {
    let mut words = std::env::args_os().skip(1);
    match words.next() {
        Some(word) if word == interlock_system::process::KEEPER => return interlock_system::process::keep(words),
        Some(word) if word == interlock_agents::play::WORD => {
            return interlock_agents::play::main(&words.collect::<Vec<_>>());
        }
        _ => {}
    }
    let arguments: Vec<_> = std::env::args_os().collect();
    let json = arguments.iter().any(|argument| argument == "--json");
    panic_message::keep_panic_message();
    guarded(json, || commands::run(arguments)).into()
}

/// A panic is a bug: it ends the command with a message that asks to report it.
fn guarded(json: bool, run: impl FnOnce() -> CommandExit + panic::UnwindSafe) -> CommandExit {
    panic::catch_unwind(run).unwrap_or_else(|_| bug(&panic_message::last_panic_message()).print_error(json))
}

fn bug(fault: &str) -> CommandError {
    CommandError::new(CommandExit::Bug, Code::Bug, format!("a fault in Interlock itself: {fault}"))
        .help("please report it, with the command and what it was given")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_ends_as_a_bug() {
        assert_eq!(guarded(false, || panic!("a panic that this test wants")), CommandExit::Bug);
        assert_eq!(guarded(false, || CommandExit::Invalid), CommandExit::Invalid);
    }

    #[test]
    fn a_bug_asks_to_be_reported() {
        let text = bug("no such index (src/cli/mod.rs:7)").text();
        let plain = anstream::adapter::strip_str(text.as_str()).to_string();
        assert_eq!(
            plain,
            "error[E0406]: a fault in Interlock itself: no such index (src/cli/mod.rs:7)\n  \
             = help: please report it, with the command and what it was given\n"
        );
    }
}
