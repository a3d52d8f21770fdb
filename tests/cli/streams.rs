use std::io::Read as _;
use std::process::{Command, Stdio};

use crate::harness::{command, interlock, run};

#[test]
fn a_pipe_gets_plain_text() {
    for arguments in [&["explain", "E0104"][..], &["explain"], &["--help"], &["workflow", "list"], &["explain", "x"]] {
        let run = interlock(arguments);
        assert!(!run.stdout.contains('\u{1b}') && !run.stderr.contains('\u{1b}'), "{arguments:?}");
    }
}

#[test]
fn colour_is_a_matter_of_the_environment() {
    let forced = run(command(&["explain", "E0104"]).env("CLICOLOR_FORCE", "1"));
    assert!(forced.stdout.contains("\u{1b}[1mE0104: "), "{}", forced.stdout);
    let refused = run(command(&["explain", "E0140"]).env("CLICOLOR_FORCE", "1").env("NO_COLOR", "1"));
    assert!(!refused.stderr.contains('\u{1b}'), "{}", refused.stderr);
    let forced = run(command(&["explain", "E0140"]).env("CLICOLOR_FORCE", "1"));
    assert!(forced.stderr.contains("\u{1b}["), "{}", forced.stderr);
}

#[test]
fn json_has_no_colour_even_when_colour_is_forced() {
    let forced = run(command(&["explain", "E0140", "--json"]).env("CLICOLOR_FORCE", "1"));
    assert!(!forced.stdout.contains('\u{1b}'));
    assert_eq!(forced.json()["error"]["code"], "E0403");
}

/// Starts the program and stops reading after `bytes`.
fn stop_reading(command: &mut Command, bytes: usize) -> (i32, String) {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program starts");
    let mut stdout = child.stdout.take().expect("a pipe");
    let mut some = vec![0; bytes];
    stdout.read_exact(&mut some).expect("some output");
    drop(stdout);
    let output = child.wait_with_output().expect("the program ends");
    (output.status.code().expect("the program was not killed"), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[cfg(unix)]
#[test]
fn a_reader_that_stops_is_no_error() {
    // More than a pipe holds, so that the program is still writing when its reader goes.
    let schema = interlock(&["completions", "zsh"]).stdout.len() + interlock(&["workflow", "schema"]).stdout.len();
    assert!(schema > 10_000);
    for arguments in [&["workflow", "schema"][..], &["explain"], &["--help"], &["completions", "bash"]] {
        assert_eq!(stop_reading(&mut command(arguments), 1), (0, String::new()), "{arguments:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn output_that_cannot_be_written_is_said() {
    use std::fs::File;

    let full = || File::options().write(true).open("/dev/full").expect("the device that is always full");
    for arguments in [&["explain", "E0104"][..], &["workflow", "schema"], &["--help"]] {
        let output = command(arguments).stdout(full()).output().expect("the program starts");
        assert_eq!(output.status.code(), Some(5), "{arguments:?}");
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.starts_with("error[E0405]: stdout cannot be written to: No space left"), "{said}");
    }
}
