//! What the README shows of `examples/incident/run.sh` is what it prints.

use std::process::Command;

use crate::team::run;

const SCRIPT: &str = "examples/incident/run.sh";

/// The transcript that the README shows.
fn shown() -> String {
    let readme = include_str!("../../README.md");
    let start = format!("```console\n$ sh {SCRIPT}\n");
    let block = readme.split(&start).nth(1).and_then(|rest| rest.split("```").next());
    block.expect("the README shows the incident").trim().to_owned()
}

/// Names that are drawn, hashes of workflows and times are different every time.
fn steady(text: &str) -> String {
    let words = text.split_inclusive([' ', '\n']).map(|word| {
        let bare = word.trim_end();
        let gap = &word[bare.len()..];
        let hash = bare.len() == 12 && bare.bytes().all(|byte| byte.is_ascii_hexdigit());
        let time = bare.len() == 24 && bare.ends_with('Z') && bare.contains('T');
        match bare.strip_prefix("patient-portal-") {
            Some(rest) => format!("patient-portal-4f2k{}{gap}", rest.get(4..).unwrap_or_default()),
            None if hash => format!("0123456789ab{gap}"),
            None if time => format!("2025-12-24T10:00:00.000Z{gap}"),
            None => word.to_owned(),
        }
    });
    words.collect::<String>().trim().to_owned()
}

#[test]
fn the_transcript_of_the_incident_is_true() {
    let mut script = Command::new("sh");
    script.arg(SCRIPT).current_dir(env!("CARGO_MANIFEST_DIR")).env("INTERLOCK", env!("CARGO_BIN_EXE_interlock"));
    let run = run(&mut script, "");
    assert_eq!((run.exit, run.stderr.as_str()), (0, ""), "{run}");
    assert_eq!(steady(&run.stdout), steady(&shown()), "what it prints, and what the README shows");
}
