//! What programs print: too much, too long, no text at all.

use std::fs;

use interlock_system::process::{self, OutputListener, OutputStream, ProcessControl, ProcessEnd, ProcessHandle};

use crate::scene::Scene;

const MB: usize = 1 << 20;
/// More than the tests beside this one need, and far less than what is printed.
const LITTLE: usize = 60 * MB;

/// Counts what it hears, and how much memory this process takes while it does.
#[derive(Default)]
struct Counts {
    lines: usize,
    cut: usize,
    bytes: usize,
    longest: usize,
    memory: usize,
}

impl OutputListener for Counts {
    fn line(&mut self, _: OutputStream, line: &[u8], cut: bool, _: &mut ProcessHandle<'_>) {
        self.lines += 1;
        self.cut += usize::from(cut);
        self.bytes += line.len();
        self.longest = self.longest.max(line.len());
        if self.lines % 1000 == 1 {
            self.memory = self.memory.max(memory());
        }
    }
}

/// Resident, in bytes.
fn memory() -> usize {
    let status = fs::read_to_string("/proc/self/statm").unwrap();
    status.split(' ').nth(1).unwrap().parse::<usize>().unwrap() * 4096
}

fn counted(scene: &Scene) -> (ProcessEnd, Counts) {
    let before = memory();
    let mut counts = Counts::default();
    let end = process::run(&scene.spec, &ProcessControl::new(), &mut counts).unwrap();
    counts.memory = counts.memory.max(memory()).saturating_sub(before);
    (end, counts)
}

#[test]
fn a_flood_is_ended_at_the_limit_and_needs_no_memory() {
    let scene = Scene::python("block = (b'x' * 1023 + b'\\n') * 64\nwhile True: os.write(1, block)")
        .limits(|limits| limits.output = 300 * MB as u64);
    let (end, counts) = counted(&scene);
    assert_eq!(end, ProcessEnd::Flooded);
    assert_eq!((counts.lines, counts.bytes), (300 * 1024, 300 * 1024 * 1023));
    assert!(counts.memory < LITTLE, "{} bytes", counts.memory);
}

#[test]
fn what_ends_by_itself_just_after_the_limit_has_flooded_too() {
    let scene = Scene::shell("echo 12345678901234567890").limits(|limits| limits.output = 10);
    let (end, heard) = scene.run();
    assert_eq!((end, heard.out()), (ProcessEnd::Flooded, vec!["1234567890".to_owned()]));
}

#[test]
fn a_line_that_never_ends_is_handed_on_once() {
    let scene = Scene::shell("head -c 104857600 /dev/zero").limits(|limits| limits.line = MB);
    let (end, counts) = counted(&scene);
    assert_eq!(end, ProcessEnd::Exited(0));
    assert_eq!((counts.lines, counts.cut, counts.longest), (1, 1, MB));
    assert!(counts.memory < LITTLE, "{} bytes", counts.memory);
}

#[test]
fn bytes_that_are_no_text_come_as_they_are() {
    let scene = Scene::python(r"os.write(1, b'\xff\xfe\x00\x80\nend'); os.write(2, b'\xc3\n')");
    let (end, heard) = scene.run();
    assert_eq!(end, ProcessEnd::Exited(0));
    assert!(heard.lines.contains(&(OutputStream::Out, b"\xff\xfe\x00\x80".to_vec(), false)));
    assert!(heard.lines.contains(&(OutputStream::Out, b"end".to_vec(), false)));
    assert!(heard.lines.contains(&(OutputStream::Err, b"\xc3".to_vec(), false)));
}

#[test]
fn what_closes_its_stdout_goes_on() {
    let scene = Scene::shell("echo first; exec 1>&-; sleep 0.5; echo later >&2; exec 2>&-; sleep 0.3; exit 4");
    let (end, heard) = scene.run();
    assert_eq!(end, ProcessEnd::Exited(4));
    assert_eq!((heard.out(), heard.err()), (vec!["first".to_owned()], vec!["later".to_owned()]));
}

/// The program has ended long before what it printed is read.
#[test]
fn what_is_printed_last_is_not_lost() {
    #[derive(Default)]
    struct Slow(Vec<usize>);
    impl OutputListener for Slow {
        fn line(&mut self, _: OutputStream, line: &[u8], _: bool, _: &mut ProcessHandle<'_>) {
            if self.0.is_empty() {
                std::thread::sleep(std::time::Duration::from_millis(1500));
            }
            self.0.push(line.len());
        }
    }
    let scene = Scene::shell("echo first; sleep 0.3; head -c 50000 /dev/zero; echo; printf last");
    let mut slow = Slow::default();
    assert_eq!(process::run(&scene.spec, &ProcessControl::new(), &mut slow).unwrap(), ProcessEnd::Exited(0));
    assert_eq!(slow.0, [5, 50_000, 4]);
}

#[test]
fn the_transcript_keeps_the_first_bytes_and_says_so() {
    let mut scene = Scene::shell("echo one; echo two >&2; sleep 0.2; echo three").limits(|limits| limits.kept = 11);
    scene.spec.transcript = Some(scene.file("transcript"));
    fs::write(scene.file("transcript"), "of another run, and longer than what follows: it is replaced").unwrap();
    scene.run();
    let kept = fs::read_to_string(scene.file("transcript")).unwrap();
    let (lines, rest) = kept.split_at(8);
    assert!(lines == "one\ntwo\n" || lines == "two\none\n", "{kept}");
    assert_eq!(rest, "thr\n[Interlock: the rest was not kept]\n");
    scene.spec.limits.kept = 14;
    scene.run();
    assert!(fs::read_to_string(scene.file("transcript")).unwrap().ends_with("three\n"));
}

#[test]
fn a_transcript_that_cannot_be_written_ends_nothing() {
    #[derive(Default)]
    struct Told(usize, usize);
    impl OutputListener for Told {
        fn line(&mut self, _: OutputStream, _: &[u8], _: bool, _: &mut ProcessHandle<'_>) {
            self.0 += 1;
        }
        fn transcript_lost(&mut self, _: &std::io::Error) {
            self.1 += 1;
        }
    }
    let mut scene = Scene::shell("echo one; sleep 0.2; echo two");
    scene.spec.transcript = Some("/dev/full".into());
    let mut told = Told::default();
    assert_eq!(process::run(&scene.spec, &ProcessControl::new(), &mut told).unwrap(), ProcessEnd::Exited(0));
    assert_eq!((told.0, told.1), (2, 1));
}

/// The name of a transcript can be guessed. What a link there leads to is not overwritten.
#[test]
fn a_transcript_is_not_written_through_a_link() {
    let mut scene = Scene::shell("echo one");
    let (precious, link) = (scene.file("precious"), scene.file("transcript"));
    std::fs::write(&precious, "precious").unwrap();
    std::os::unix::fs::symlink(&precious, &link).unwrap();
    scene.spec.transcript = Some(link.clone());
    scene.run();
    assert_eq!(std::fs::read_to_string(&precious).unwrap(), "precious");
    assert_eq!(std::fs::read_to_string(&link).unwrap(), "one\n");
}
