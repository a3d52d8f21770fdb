//! What the README shows is what the program prints.

use crate::harness::interlock;

/// A command of a transcript, and what it says that comes out.
struct Shown {
    arguments: Vec<String>,
    output: String,
}

/// The first transcript of the README: commands begin with `$`, and go on after a backslash.
fn transcript() -> Vec<Shown> {
    let readme = include_str!("../../README.md");
    let block = readme
        .split("```console\n")
        .find(|block| block.starts_with("$ interlock route"))
        .and_then(|rest| rest.split("```").next())
        .expect("a transcript");
    let block = block.replace("\\\n", " ");
    block
        .split("$ interlock ")
        .skip(1)
        .map(|part| {
            let (line, output) = part.split_once('\n').expect("a command and its output");
            let arguments = line.split_whitespace().map(str::to_owned).collect();
            Shown { arguments, output: output.trim_end().to_owned() }
        })
        .collect()
}

#[test]
fn the_transcript_of_the_readme_is_true() {
    let shown = transcript();
    assert!(shown.len() >= 4, "the README shows {} commands", shown.len());
    for Shown { arguments, output } in shown {
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let run = interlock(&arguments);
        assert_eq!(format!("{}{}", run.stdout, run.stderr).trim_end(), output, "interlock {}", arguments.join(" "));
    }
}
