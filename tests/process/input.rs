//! What programs read, and those that do not.

use std::time::{Duration, Instant};

use interlock_system::process::{
    self, OutputListener, OutputStream, ProcessControl, ProcessEnd, ProcessHandle, StdinMode,
};

use crate::scene::Scene;

#[test]
fn neither_side_waits_for_the_other() {
    let text = "0123456789abcdef\n".repeat(250_000);
    // Prints more than a pipe holds before it reads anything, then everything that it reads.
    let scene = Scene::shell("head -c 1000000 /dev/zero; echo; cat").stdin(StdinMode::Text(text));
    let (end, heard) = scene.run();
    assert_eq!(end, ProcessEnd::Exited(0));
    assert_eq!(heard.lines.len(), 250_001);
    assert_eq!(heard.lines[0].1.len(), 1_000_000);
    assert!(heard.lines[1..].iter().all(|(_, line, _)| line == b"0123456789abcdef"));
}

#[test]
fn what_does_not_want_to_read_need_not() {
    let text = "x".repeat(4 << 20);
    for script in ["exit 3", "exec 0<&-; sleep 0.3; exit 3", "head -c 10 >&2; sleep 0.3; exit 3"] {
        assert_eq!(
            Scene::shell(script).stdin(StdinMode::Text(text.clone())).run().0,
            ProcessEnd::Exited(3),
            "{script}"
        );
    }
    assert_eq!(Scene::shell("cat; exit 3").stdin(StdinMode::Text(String::new())).run().0, ProcessEnd::Exited(3));
    assert_eq!(Scene::shell("cat; exit 3").run().0, ProcessEnd::Exited(3));
}

/// Greets, answers the first question, and closes after the second.
#[derive(Default)]
struct Answers(Vec<String>);

impl OutputListener for Answers {
    fn started(&mut self, talk: &mut ProcessHandle<'_>) {
        talk.send(b"hello\n");
    }

    fn line(&mut self, _: OutputStream, line: &[u8], _: bool, talk: &mut ProcessHandle<'_>) {
        let line = String::from_utf8_lossy(line).into_owned();
        match line.as_str() {
            "first?" => talk.send(b"one\n"),
            "second?" => {
                talk.send(b"two\n");
                talk.close();
                talk.send(b"not said any more\n");
            }
            _ => {}
        }
        self.0.push(line);
    }
}

#[test]
fn a_conversation_goes_to_and_fro_until_it_is_closed() {
    let script = "read a; echo \"$a\"; echo first?; read a; echo \"$a\"; echo second?; cat; echo closed";
    let scene = Scene::shell(script).stdin(StdinMode::Open);
    let mut answers = Answers::default();
    assert_eq!(process::run(&scene.spec, &ProcessControl::new(), &mut answers).unwrap(), ProcessEnd::Exited(0));
    assert_eq!(answers.0, ["hello", "first?", "one", "second?", "two", "closed"]);
}

#[test]
fn one_that_does_not_end_when_it_is_closed_is_asked_to() {
    let script = "read a; echo first?; read a; echo second?; read a; exec sleep 60";
    let scene = Scene::shell(script).stdin(StdinMode::Open).limits(|limits| limits.grace = Duration::from_millis(200));
    let started = Instant::now();
    assert_eq!(
        process::run(&scene.spec, &ProcessControl::new(), &mut Answers::default()).unwrap(),
        ProcessEnd::Stopped
    );
    assert!(started.elapsed() < Duration::from_secs(30));
}
