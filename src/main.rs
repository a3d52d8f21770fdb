//! The program `interlock`.

mod cli;
mod failure;
mod markdown;
mod output;
mod pages;
mod report;
mod sanitise;

use std::panic;
use std::process::ExitCode;
use std::sync::Mutex;

use interlock_core::code::Code;

use crate::failure::{Exit, Failure};

/// What a panic said and where, for the one message that people get to see.
static FAULT: Mutex<Option<String>> = Mutex::new(None);

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().collect();
    let json = arguments.iter().any(|argument| argument == "--json");
    panic::set_hook(Box::new(|fault| {
        let said = fault.payload_as_str().unwrap_or("no message");
        let place = fault.location().map(|at| format!(" ({}:{})", at.file(), at.line())).unwrap_or_default();
        if let Ok(mut last) = FAULT.lock() {
            *last = Some(format!("{said}{place}"));
        }
    }));
    let exit = panic::catch_unwind(|| cli::run(arguments)).unwrap_or_else(|_| {
        let fault = FAULT.lock().ok().and_then(|mut last| last.take()).unwrap_or_default();
        bug(&fault).tell(json)
    });
    exit.into()
}

fn bug(fault: &str) -> Failure {
    Failure::new(Exit::Bug, Code::Bug, format!("a fault in Interlock itself: {fault}"))
        .help("please report it, with the command and what it was given")
}
