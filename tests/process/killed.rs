//! Any process may be killed: the supervisor, the runner, or both.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use interlock_system::process::{self, KEEPER, ProcessControl, ProcessEnd};
use rustix::process::{Pid, Signal, kill_process};

use crate::left::DAEMON;
use crate::scene::{Heard, Scene, is_there, left, until};

/// What a runner is told by its environment: the folder, then the mark.
const FOLDER: &str = "INTERLOCK_TEST_FOLDER";
const NAMED: &str = "INTERLOCK_TEST_MARK";

/// Ignores being asked, with a daemon of its own that has no mark, and a child that has.
fn stubborn() -> String {
    format!(
        "import os, signal, sys, time\n{DAEMON}\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\ndaemon('one')\n\
         if os.fork() == 0:\n    os.setsid()\n    time.sleep(1000)\n\
         ready('one')\nopen('ready', 'w').write('x')\ntime.sleep(1000)"
    )
}

/// Started by the tests below, to be killed.
#[test]
#[ignore = "started by the tests that kill it"]
fn runs_a_program() {
    let Some(folder) = std::env::var_os(FOLDER) else { return };
    let mark = std::env::var(NAMED).unwrap();
    let mut scene = Scene::at(PathBuf::from(folder), mark, "python3", &["-c", &stubborn()]);
    scene.spec.lock = Some(scene.file("lock"));
    process::become_subreaper().unwrap();
    let _ = process::run(&scene.spec, &ProcessControl::new(), &mut Heard::default());
}

/// This program again, running one that does not want to end.
fn runner(scene: &Scene) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["killed::runs_a_program", "--exact", "--ignored", "--nocapture"]);
    command.env(FOLDER, &scene.folder).env(NAMED, &scene.mark);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let runner = command.spawn().unwrap();
    until(Duration::from_secs(30), "ready", || is_there(&scene.file("ready")));
    runner
}

fn is_free(lock: &Path) -> bool {
    File::open(lock).unwrap().try_lock().is_ok()
}

fn keeper_of(runner: &Child) -> i32 {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let arguments = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let mut words = arguments.split(|byte| *byte == 0).skip(1);
        let is_keeper = words.next() == Some(KEEPER.as_bytes());
        if is_keeper && words.next() == Some(runner.id().to_string().as_bytes()) {
            found.push(entry.file_name().to_str().unwrap().parse().unwrap());
        }
    }
    assert_eq!(found.len(), 1, "{found:?}");
    found[0]
}

fn kill(pid: i32) {
    kill_process(Pid::from_raw(pid).unwrap(), Signal::KILL).unwrap();
}

#[test]
fn a_runner_that_is_killed_takes_everything_with_it() {
    let scene = Scene::new("sh", &[]);
    let mut runner = runner(&scene);
    assert!(!is_free(&scene.file("lock")));
    assert!(left(&scene.mark).len() >= 5, "{:?}", left(&scene.mark));
    runner.kill().unwrap();
    let killed = Instant::now();
    runner.wait().unwrap();
    until(Duration::from_secs(2), "nothing is left", || left(&scene.mark).is_empty());
    until(Duration::from_secs(2).saturating_sub(killed.elapsed()), "the lock is free", || is_free(&scene.file("lock")));
}

#[test]
fn strays_of_a_runner_and_a_keeper_that_were_both_killed_are_found_by_their_mark() {
    let scene = Scene::new("sh", &[]);
    let bystander = Scene::new("sh", &[]);
    let mut runners = [runner(&scene), runner(&bystander)];
    let keeper = keeper_of(&runners[0]);
    // First the runner is stopped, so that it cannot do anything about its supervisor.
    let first = Pid::from_raw(runners[0].id().try_into().unwrap()).unwrap();
    kill_process(first, Signal::STOP).unwrap();
    kill(keeper);
    runners[0].kill().unwrap();
    runners[0].wait().unwrap();
    thread::sleep(Duration::from_millis(200));
    let before = left(&scene.mark);
    assert!(before.len() >= 3, "{before:?}");
    assert_eq!(process::end_marked_processes(""), 0);
    assert_eq!(
        process::end_marked_processes(&scene.mark[..scene.mark.len() - 1]),
        2,
        "the program and its child: {before:?}"
    );
    // A process that took the mark off, and has no supervisor any more, is the one thing that gets away.
    let away = left(&scene.mark);
    assert!(away.iter().all(|process| process.contains("sleep 0.1")), "{away:?}");
    for process in away {
        let _ = Pid::from_raw(process.split(':').next().unwrap().parse().unwrap())
            .map(|pid| kill_process(pid, Signal::KILL));
    }
    assert!(left(&bystander.mark).len() >= 5, "strays of another run are not touched");
    runners[1].kill().unwrap();
    runners[1].wait().unwrap();
    until(Duration::from_secs(4), "nothing is left", || left(&bystander.mark).is_empty());
}

/// The program kills its supervisor. A process that took its mark off is in the supervisor's session; one that left the
/// session has the mark.
#[test]
fn a_program_that_kills_its_keeper_gets_nothing_from_it() {
    process::become_subreaper().unwrap();
    let scene = Scene::python(
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n\
         if os.fork() == 0:\n    os.execve('/bin/sh', ['sh', '-c', 'echo x > one; sleep 1000; :', *sys.argv[1:]], \
             {'PATH': os.environ['PATH']})\n\
         if os.fork() == 0:\n    os.setsid()\n    open('two', 'w').write('x')\n    time.sleep(1000)\n\
         while not (os.path.exists('one') and os.path.exists('two')): time.sleep(0.01)\n\
         os.kill(os.getppid(), signal.SIGKILL)\ntime.sleep(1000)",
    );
    let start = Instant::now();
    assert_eq!(scene.run().0, ProcessEnd::Exited(137));
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
}

#[test]
fn a_program_that_stops_its_keeper_is_ended_all_the_same() {
    let scene = Scene::python("os.kill(os.getppid(), signal.SIGSTOP)\ntime.sleep(1000)")
        .limits(|limits| limits.time = Some(Duration::from_millis(500)));
    let start = Instant::now();
    assert_eq!(scene.run().0, ProcessEnd::TimedOut);
    assert!(start.elapsed() < Duration::from_secs(8), "the keeper was not woken: {:?}", start.elapsed());
}

/// Whenever the supervisor is continued, it is stopped again: the runner has to do its work.
#[test]
fn a_program_that_keeps_its_keeper_stopped_is_ended_by_the_runner() {
    let scene = Scene::python(
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n\
         keeper = os.getppid()\nwhile os.getppid() == keeper: os.kill(keeper, signal.SIGSTOP)\ntime.sleep(1000)",
    )
    .limits(|limits| {
        limits.time = Some(Duration::from_millis(300));
        limits.grace = Duration::from_millis(100);
    });
    assert_eq!(scene.run().0, ProcessEnd::TimedOut);
}
