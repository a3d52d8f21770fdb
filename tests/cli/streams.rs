use std::process::{Command, Stdio};

use crate::harness::{Folder, command, interlock, run};

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

/// The end of a pipe that has no reader.
fn unread() -> Stdio {
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    writer.into()
}

#[test]
fn a_reader_that_stops_is_no_error() {
    for arguments in [
        &["workflow", "schema"][..],
        &["explain"],
        &["explain", "E0104", "--json"],
        &["--help"],
        &["--version"],
        &["completions", "bash"],
    ] {
        let output = command(arguments).stdout(unread()).output().expect("the program starts");
        assert_eq!((output.status.code(), output.stderr), (Some(0), Vec::new()), "{arguments:?}");
    }
}

#[test]
fn a_failure_that_nobody_reads_keeps_its_exit_code() {
    for (arguments, exit) in [(&["explain", "x"][..], 4), (&["explain", "x", "--json"], 4), (&["exlpain"], 2)] {
        let status = command(arguments).stdout(unread()).stderr(unread()).status().expect("the program starts");
        assert_eq!(status.code(), Some(exit), "{arguments:?}");
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

#[test]
fn what_takes_long_to_read_takes_little_to_show() {
    // Ten million lines that might all begin an object: with a word for each of them, this would take hundreds of MB.
    let _ = Folder::new("streams-braces").with("out.md", "{\n".repeat(10_000_000));
    let (program, folder) = (env!("CARGO_BIN_EXE_interlock"), env!("CARGO_TARGET_TMPDIR"));
    let limited = format!("ulimit -v 200000 && exec '{program}' handoff check '{folder}/streams-braces/out.md'");
    let run = run(Command::new("sh").args(["-c", &limited]).stdin(Stdio::null()));
    assert_eq!(run.exit, 4, "{run}");
    assert!(run.stderr.contains("E0201") || run.stderr.contains("E0202"), "{run}");
}
