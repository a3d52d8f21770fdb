use serde_json::json;

use crate::harness::interlock;

#[test]
fn wrong_usage_is_explained() {
    insta::assert_snapshot!(interlock(&["exlpain"]));
    insta::assert_snapshot!(interlock(&["completions", "bsh"]));
    insta::assert_snapshot!(interlock(&["workflow", "show"]));
}

#[test]
fn without_a_command_the_commands_are_shown() {
    let run = interlock(&[]);
    assert_eq!((run.exit, run.stdout.as_str()), (2, ""));
    assert!(run.stderr.contains("Commands:\n"), "{}", run.stderr);
}

#[test]
fn wrong_usage_is_json_when_json_was_asked_for() {
    let run = interlock(&["completions", "bsh", "--json"]);
    assert_eq!(run.exit, 2);
    assert_eq!(
        run.json(),
        json!({ "error": {
            "code": "E0402",
            "message": "invalid value 'bsh' for '<SHELL>'",
            "help": "did you mean `bash`?",
            "allowed": ["bash", "elvish", "fish", "powershell", "zsh"],
        } })
    );
    let run = interlock(&["--json", "exlpain"]);
    assert_eq!(run.exit, 2);
    assert_eq!(run.json()["error"]["help"], "did you mean `explain` or `help`?");
    let run = interlock(&["--json"]);
    assert_eq!(run.exit, 2);
    assert!(run.json()["error"]["allowed"].as_array().unwrap().contains(&json!("explain")));
    let run = interlock(&["--json", "workflow"]);
    assert_eq!(run.exit, 2);
    assert!(run.json()["error"]["allowed"].as_array().unwrap().contains(&json!("schema")));
    let run = interlock(&["--json", "completions"]);
    assert_eq!(run.json()["error"]["message"], "the following required arguments were not provided: <SHELL>");
}

#[test]
fn json_after_two_dashes_is_an_argument_and_not_a_wish() {
    let run = interlock(&["explain", "--", "--json"]);
    assert_eq!((run.exit, run.stdout.as_str()), (4, ""));
    let run = interlock(&["explain", "--wrong", "--", "--json"]);
    assert_eq!((run.exit, run.stdout.as_str()), (2, ""));
}

#[test]
fn arguments_cannot_steer_the_terminal() {
    for arguments in
        [["completions", "\u{1b}[2J"], ["\u{1b}[2J", "x"], ["explain", "--\u{1b}[2J"], ["explain", "\u{1b}[2J"]]
    {
        let run = interlock(&arguments);
        assert!(!run.stderr.contains('\u{1b}'), "{arguments:?}: {:?}", run.stderr);
        assert!(run.stderr.contains("␛[2J"), "{arguments:?}: {:?}", run.stderr);
    }
}

#[cfg(unix)]
#[test]
fn an_argument_that_is_not_text_is_wrong_usage() {
    use std::os::unix::ffi::OsStrExt as _;

    let mut command = crate::harness::command(&["explain", "--json"]);
    let run = crate::harness::run(command.arg(std::ffi::OsStr::from_bytes(b"\xff\x1b[2J")));
    assert_eq!(run.exit, 2);
    assert_eq!(run.json()["error"]["code"], "E0402");
}
