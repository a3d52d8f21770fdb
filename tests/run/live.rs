//! The live view, on a terminal of its own.

use std::process::{Command, Stdio};
use std::time::Instant;

use crate::yard::{Yard, script};

/// What the program writes to a terminal.
fn on_a_terminal(yard: &Yard, line: &str) -> (String, f64) {
    let mut command = Command::new("script");
    command.args(["-q", "-e", "-f", "-c", &format!("exec {} {line}", env!("CARGO_BIN_EXE_interlock")), "/dev/null"]);
    command.current_dir(yard.project()).env("HOME", yard.path("..")).env("TERM", "xterm").stdin(Stdio::null());
    let began = Instant::now();
    let output = command.output().expect("script");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    assert!(output.status.success(), "{text}");
    (text, began.elapsed().as_secs_f64())
}

#[test]
fn who_is_at_work_is_drawn_and_not_too_often() {
    let groups: Vec<String> = (0..12).map(|n| format!("{{ id: g{n}, title: G{n} }}")).collect();
    // An agent that would clear the screen if it could.
    let more = "  - { role: qa_expert, does: [{ say: \"\\e[2Jgone\", wait: 150ms }], says: { status: PASS, test_progression: { still_failing: [] } } }";
    let yard = Yard::new("live", &[("scripted.yaml", &script(&groups.join(", "), more)), ("m.md", "# Live\n")]);
    let (text, seconds) = on_a_terminal(&yard, "run m.md --agents scripted --parallel 8");
    let pictures = text.matches("groups done").count();
    assert!(pictures >= 3, "it draws: {text}");
    assert!((pictures as f64) < 15.0 * seconds + 1.0, "{pictures} pictures in {seconds} s");
    assert!(text.contains("␛[2Jgone") && !text.contains("\u{1b}[2J"), "words of agents are no commands: {text}");
    let last = text.rsplit("\u{1b}[J").next().expect("the end");
    assert!(last.contains("completed") && !last.contains("groups done"), "the last picture goes: {last}");
}
