//! Ends of programs: by themselves, because of a limit, or on request.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt as _;
use std::panic::{self, AssertUnwindSafe};
use std::thread;
use std::time::{Duration, Instant};

use interlock_system::process::{self, OutputListener, OutputStream, ProcessControl, ProcessEnd, ProcessHandle};

use crate::scene::{Scene, is_there, left, until};

#[test]
fn codes_and_signals() {
    for (script, code) in [("exit 0", 0), ("exit 7", 7), ("exit 255", 255)] {
        assert_eq!(Scene::shell(script).run().0, ProcessEnd::Exited(code), "{script}");
    }
    for (signal, code) in [("KILL", 137), ("TERM", 143), ("INT", 130), ("PIPE", 141)] {
        assert_eq!(Scene::shell(&format!("kill -{signal} $$; exit 1")).run().0, ProcessEnd::Exited(code), "{signal}");
    }
}

#[test]
fn what_cannot_be_started_is_an_error() {
    let mut scene = Scene::new("no-such-program", &[]);
    assert_eq!(scene.error().kind(), ErrorKind::NotFound);
    fs::write(scene.file("plain"), "no program").unwrap();
    scene.spec.program = "./plain".into();
    let error = scene.error();
    assert_eq!((error.kind(), error.to_string()), (ErrorKind::PermissionDenied, "./plain cannot be executed".into()));
    scene.spec.program = "sh".into();
    scene.spec.folder = scene.file("nowhere");
    assert_eq!(scene.error().kind(), ErrorKind::NotFound);
    scene.spec.folder = scene.folder.clone();
    scene.spec.lock = Some(scene.file("nowhere/lock"));
    assert_eq!(scene.error().kind(), ErrorKind::NotFound);
    scene.spec.lock = None;
    scene.spec.environment.insert("PATH".into(), "/nowhere".into());
    assert_eq!(scene.error().kind(), ErrorKind::NotFound);
}

#[test]
fn a_script_without_its_interpreter_is_code_127_and_a_message() {
    let mut scene = Scene::new("./script", &[]);
    fs::write(scene.file("script"), "#!/no/such/interpreter\n").unwrap();
    fs::set_permissions(scene.file("script"), fs::Permissions::from_mode(0o755)).unwrap();
    scene.spec.limits.grace = Duration::ZERO;
    let (end, heard) = scene.run();
    assert_eq!(end, ProcessEnd::Exited(127));
    assert!(heard.err()[0].contains("script cannot be started"), "{:?}", heard.err());
}

#[test]
fn it_sees_its_environment_and_arguments_and_nothing_else() {
    let mut scene = Scene::new("env", &[]);
    scene.spec.arguments.clear();
    scene.spec.environment.insert("LC_ALL".into(), "C".into());
    let (_, heard) = scene.run();
    let mut names: Vec<_> = heard.out().iter().map(|line| line.split('=').next().unwrap().to_owned()).collect();
    names.sort();
    assert_eq!(names, ["INTERLOCK_RUN", "LC_ALL", "PATH"]);
    let scene = Scene::new("printf", &["[%s]", "--", "two words\n", "", "$HOME;*"]);
    assert_eq!(scene.run().1.out().join("\n"), format!("[--][two words\n][][$HOME;*][{}]", scene.mark));
    let scene = Scene::shell("pwd");
    assert_eq!(scene.run().1.out(), [scene.folder.display().to_string()]);
}

/// It inherits what any program gets: no signal is ignored or held back, no file of the supervisor's is open, and there
/// is no terminal.
#[test]
fn it_inherits_nothing_that_programs_do_not_expect() {
    let mut scene = Scene::shell(
        "grep -E '^Sig(Blk|Ign)' /proc/self/status | cut -f2; readlink /proc/self/fd/*; \
         (: < /dev/tty) 2>/dev/null || echo no terminal",
    );
    scene.spec.lock = Some(scene.file("lock"));
    let out = scene.run().1.out();
    let [blocked, ignored] = [0, 1].map(|at| u64::from_str_radix(&out[at], 16).unwrap());
    assert_eq!(blocked, 0);
    // Those after the thirty-first are the C library's; SIGPIPE is the thirteenth, and this process ignores it.
    assert_eq!(ignored & 0x7fff_ffff & (!own_ignored() | 1 << 12), 0, "{ignored:x}");
    assert_eq!(out.last().unwrap(), "no terminal");
    let lock = scene.file("lock").display().to_string();
    let of_keeper = |file: &String| *file == lock || file.contains("pidfd") || file.contains("eventfd");
    assert!(!out.iter().any(of_keeper), "{out:?}");
}

fn own_ignored() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap();
    u64::from_str_radix(line.trim(), 16).unwrap()
}

#[test]
fn what_hangs_silently_is_ended() {
    let scene = Scene::shell("echo begun; exec sleep 1000").limits(|limits| {
        limits.silence = Some(Duration::from_millis(400));
    });
    let (end, heard) = scene.run();
    assert_eq!((end, heard.out()), (ProcessEnd::Silent, vec!["begun".to_owned()]));
}

#[test]
fn what_talks_is_not_silent_but_may_take_too_long() {
    let scene = Scene::shell("while :; do echo x; sleep 0.1; done").limits(|limits| {
        limits.silence = Some(Duration::from_secs(2));
        limits.time = Some(Duration::from_millis(2600));
    });
    assert_eq!(scene.run().0, ProcessEnd::TimedOut);
}

/// Stops the program as soon as it has written the file `ready`.
fn stopped(scene: &Scene, stop: impl FnOnce(&ProcessControl) + Send) -> (ProcessEnd, Vec<String>, Duration) {
    let control = ProcessControl::new();
    let ready = scene.file("ready");
    thread::scope(|scope| {
        let stopper = scope.spawn(|| {
            until(Duration::from_secs(20), "ready", || is_there(&ready));
            stop(&control);
            Instant::now()
        });
        let (end, heard) = scene.run_with(&control);
        assert!(control.is_stopped());
        (end, heard.out(), stopper.join().unwrap().elapsed())
    })
}

#[test]
fn it_is_asked_first_and_may_say_good_bye() {
    let scene = Scene::shell("trap 'echo bye; exit 0' TERM; echo > ready x; while :; do sleep 0.05; done")
        .limits(|limits| limits.grace = Duration::from_secs(50));
    let (end, out, took) = stopped(&scene, ProcessControl::stop);
    assert_eq!((end, out), (ProcessEnd::Stopped, vec!["bye".to_owned()]));
    assert!(took < Duration::from_secs(20), "{took:?}");
}

const STUBBORN: &str = "signal.signal(signal.SIGTERM, signal.SIG_IGN)\nopen('ready', 'w').write('x')\ntime.sleep(1000)";

#[test]
fn what_ignores_being_asked_is_ended_after_the_grace() {
    let scene = Scene::python(STUBBORN).limits(|limits| limits.grace = Duration::from_millis(800));
    let (end, _, took) = stopped(&scene, ProcessControl::stop);
    assert_eq!(end, ProcessEnd::Stopped);
    assert!(took >= Duration::from_millis(750) && took < Duration::from_secs(4), "{took:?}");
}

#[test]
fn killing_does_not_wait_even_if_it_was_asked_before() {
    for asked in [false, true] {
        let scene = Scene::python(STUBBORN).limits(|limits| limits.grace = Duration::from_secs(50));
        let (end, _, took) = stopped(&scene, |control| {
            if asked {
                control.stop();
                thread::sleep(Duration::from_millis(200));
            }
            control.kill();
        });
        assert_eq!(end, ProcessEnd::Stopped);
        assert!(took < Duration::from_secs(4), "{took:?}");
    }
}

#[test]
fn what_has_stopped_itself_is_ended() {
    let scene = Scene::shell("echo > ready x; kill -STOP $$; exec sleep 1000");
    let (end, _, took) = stopped(&scene, ProcessControl::stop);
    assert_eq!(end, ProcessEnd::Stopped);
    assert!(took < Duration::from_secs(4), "{took:?}");
}

#[test]
fn what_is_not_wanted_any_more_is_not_started() {
    let mut scene = Scene::shell("echo > ready x");
    scene.spec.transcript = Some(scene.file("transcript"));
    let control = ProcessControl::new();
    control.stop();
    assert_eq!(scene.run_with(&control).0, ProcessEnd::Stopped);
    assert!(!scene.file("ready").exists() && !scene.file("transcript").exists());
}

#[test]
fn a_listener_can_stop_its_program_and_only_that() {
    struct Stops;
    impl OutputListener for Stops {
        fn line(&mut self, _: OutputStream, _: &[u8], _: bool, talk: &mut ProcessHandle<'_>) {
            talk.stop();
        }
    }
    let scene = Scene::shell("echo enough; exec sleep 1000");
    let control = ProcessControl::new();
    assert_eq!(process::run(&scene.spec, &control, &mut Stops).unwrap(), ProcessEnd::Stopped);
    assert!(!control.is_stopped());
}

#[test]
fn a_listener_that_panics_leaves_nothing_behind() {
    struct Panics;
    impl OutputListener for Panics {
        fn line(&mut self, _: OutputStream, _: &[u8], _: bool, _: &mut ProcessHandle<'_>) {
            panic!("a panic that this test wants");
        }
    }
    let scene = Scene::shell("echo enough; sleep 1000 & wait");
    let run = || process::run(&scene.spec, &ProcessControl::new(), &mut Panics);
    assert!(panic::catch_unwind(AssertUnwindSafe(run)).is_err());
    assert_eq!(left(&scene.mark), Vec::<String>::new());
}
