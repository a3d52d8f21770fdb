//! What programs leave behind when they end, or would like to.

use std::fs::{self, File};
use std::thread;
use std::time::{Duration, Instant};

use interlock_system::process::{ProcessControl, ProcessEnd};

use crate::scene::{Scene, is_there, until};

/// Away from everything: a session of its own, no parent, deaf to being asked, an environment without the mark.
pub(crate) const DAEMON: &str = "
def daemon(name):
    if os.fork():
        os.wait()
        return
    os.setsid()
    if os.fork():
        os._exit(0)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    os.execve('/bin/sh', ['sh', '-c', 'trap \"\" TERM HUP; echo x > \"$1\"; while :; do sleep 0.1; done', name] \
              + [name] + sys.argv[1:], {'PATH': os.environ['PATH']})
def ready(*names):
    while not all(os.path.exists(name) and os.path.getsize(name) for name in names): time.sleep(0.01)
";

#[test]
fn daemons_end_with_their_program() {
    let scene = Scene::python(&format!("{DAEMON}\ndaemon('one'); daemon('two'); ready('one', 'two'); sys.exit(3)"));
    let (end, heard) = scene.run();
    assert_eq!(end, ProcessEnd::Exited(3), "{:?}", heard.err());
    assert!(is_there(&scene.file("one")) && is_there(&scene.file("two")));
}

#[test]
fn what_is_left_behind_is_asked_first() {
    let scene = Scene::shell(
        "(trap 'echo x > asked; exit' TERM; echo x > ready; while :; do sleep 0.05; done) & \
                              while ! test -s ready; do sleep 0.02; done; exit 0",
    );
    assert_eq!(scene.run().0, ProcessEnd::Exited(0));
    assert!(is_there(&scene.file("asked")));
}

#[test]
fn daemons_end_when_their_program_is_stopped() {
    let scene =
        Scene::python(&format!("{DAEMON}\ndaemon('one'); ready('one'); open('ready', 'w').write('x')\ntime.sleep(99)"))
            .limits(|limits| limits.grace = Duration::from_millis(300));
    assert_eq!(stopped_when_ready(&scene), ProcessEnd::Stopped);
}

fn stopped_when_ready(scene: &Scene) -> ProcessEnd {
    let control = ProcessControl::new();
    thread::scope(|scope| {
        scope.spawn(|| {
            until(Duration::from_secs(20), "ready", || is_there(&scene.file("ready")));
            thread::sleep(Duration::from_millis(300));
            control.stop();
        });
        scene.run_with(&control).0
    })
}

/// Processes that start others all the time: two hundred that stay, and some that are gone at every look because each
/// starts the next, in a session of its own, and ends.
#[test]
fn a_storm_of_processes_is_ended() {
    let storm = "
signal.signal(signal.SIGTERM, signal.SIG_IGN)
def comet():
    os.execvp('perl', ['perl', '-MPOSIX', '-e', '$SIG{TERM} = \"IGNORE\"; while (1) { POSIX::_exit(0) if fork; setsid }']
              + sys.argv[1:])
def swarm():
    while True:
        child = os.fork()
        if child == 0: time.sleep(1000)
        children.append(child)
        if len(children) > 60: os.kill(children.pop(0), signal.SIGKILL); os.wait()
for _ in range(3):
    children = []
    if os.fork() == 0: swarm()
for _ in range(2):
    if os.fork() == 0: comet()
open('ready', 'w').write('x')
time.sleep(1000)
";
    let scene = Scene::python(storm).limits(|limits| limits.grace = Duration::from_millis(200));
    let start = Instant::now();
    assert_eq!(stopped_when_ready(&scene), ProcessEnd::Stopped);
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
}

#[test]
fn the_lock_is_held_as_long_as_anything_lives() {
    let mut scene =
        Scene::shell("(trap '' TERM; echo x > ready; sleep 1000) & while ! test -s ready; do sleep 0.02; done");
    let lock = scene.file("lock");
    scene.spec.lock = Some(lock.clone());
    thread::scope(|scope| {
        scope.spawn(|| {
            until(Duration::from_secs(20), "ready", || is_there(&scene.file("ready")));
            assert!(File::open(&lock).unwrap().try_lock().is_err(), "nobody holds the lock");
            File::open(&lock).unwrap().try_lock_shared().unwrap();
        });
        assert_eq!(scene.run().0, ProcessEnd::Exited(0));
    });
    File::open(&lock).unwrap().try_lock().unwrap();
}

#[test]
fn the_program_starts_when_the_lock_is_free() {
    let mut scene = Scene::shell("echo x > ready");
    let lock = scene.file("lock");
    scene.spec.lock = Some(lock.clone());
    fs::write(&lock, "").unwrap();
    let held = File::open(&lock).unwrap();
    held.lock().unwrap();
    thread::scope(|scope| {
        scope.spawn(|| {
            thread::sleep(Duration::from_millis(300));
            assert!(!scene.file("ready").exists(), "started under the lock of another");
            held.unlock().unwrap();
        });
        assert_eq!(scene.run().0, ProcessEnd::Exited(0));
    });
    assert!(is_there(&scene.file("ready")));
}
