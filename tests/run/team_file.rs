//! `agents.yaml` and `interlock doctor`: what is wrong is known before anything starts.

use crate::yard::Yard;

#[test]
fn every_problem_of_an_agents_file_is_told_at_once() {
    let file = "agents:\n  a: { client: cluade }\n  b: { client: claude, flags: [--output-format, text] }\n  c: { client: command }\nroles:\n  any: d\n  developer: { agent: b, budget: { cost: lots } }\nparallel: 0\nkeep: some\nmerges: agent\n";
    let yard = Yard::new("agents_file", &[("agents.yaml", file), ("m.md", "# M\n")]);
    let output = yard.ask(&["run", "m.md"]);
    assert_eq!(output.status.code(), Some(4));
    let text = String::from_utf8_lossy(&output.stderr).replace(&*yard.project().to_string_lossy(), "PROJECT");
    insta::assert_snapshot!(text);
}

#[test]
fn the_doctor_says_what_is_missing() {
    let file = "agents: { a: { client: codex, program: no-such-codex } }\nroles: { any: a }\n";
    let yard = Yard::new("doctor", &[("agents.yaml", file)]);
    let output = yard.ask(&["doctor"]);
    assert_eq!(output.status.code(), Some(5));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("missing agent a") && text.contains("the program `no-such-codex` is not there"), "{text}");
    yard.write("agents.yaml", "agents: { a: { client: scripted } }\nroles: { any: a }\n");
    assert_eq!(yard.ask(&["doctor"]).status.code(), Some(0));
}

#[test]
fn a_folder_without_git_is_refused_with_help() {
    // Outside of this project, whose repository would be found.
    let folder = std::env::temp_dir().join(format!("interlock-no-git-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let yard = Yard::new("no_git", &[]);
    let run = |folder: &std::path::Path| {
        let output = yard.command(&["run", "--agents", "scripted"]).current_dir(folder).output().expect("it runs");
        assert_eq!(output.status.code(), Some(5));
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let text = run(&folder);
    assert!(text.contains("E0605") && text.contains("git init"), "{text}");
    std::process::Command::new("git").args(["init", "-q"]).current_dir(&folder).status().expect("git");
    let text = run(&folder);
    std::fs::remove_dir_all(&folder).expect("it is ours");
    assert!(text.contains("E0605") && text.contains("no commit yet"), "{text}");
}
