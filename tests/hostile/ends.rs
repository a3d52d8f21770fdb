//! Ends of agents, and agents that do not end: hangs, daemons, storms, and attacks on the supervisor.

use std::time::{Duration, Instant};

use crate::scene::Scene;

/// Away from everything: a session of its own, no parent, deaf, an environment without the mark.
const DAEMON: &str = r#"
def daemon(name):
    if os.fork(): os.wait(); return
    os.setsid()
    if os.fork(): os._exit(0)
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT): signal.signal(number, signal.SIG_IGN)
    path = os.path.join(NOTES, name)
    os.execve('/bin/sh', ['sh', '-c', 'trap "" TERM HUP; echo $$ > "$1"; while :; do echo x >> "$1.beat"; sleep 0.05; done', 'sh', path],
              {'PATH': '/usr/bin:/bin'})
def ready(name):
    path = os.path.join(NOTES, name)
    while not (os.path.exists(path) and os.path.getsize(path)): time.sleep(0.01)
"#;

#[test]
fn daemons_are_gone_after_the_turn() {
    let script = format!("{DAEMON}\ndaemon('one'); ready('one'); work(); say('READY_FOR_QA')");
    // The next one looks whether it still lives.
    let next = "pid = int(open(os.path.join(NOTES, 'one')).read())\nnote('alive', str(os.path.exists('/proc/%d' % pid)))\nsay('PASS', test_progression={'still_failing': []})";
    let scene = Scene::new("daemons").agent("developer", &script).agent("qa_expert", next);
    scene.completes();
    assert_eq!(scene.noted("alive"), "False");
}

#[test]
fn whoever_hangs_and_hears_nothing_is_ended_and_the_work_goes_on() {
    let script = format!(
        "{DAEMON}\nif TURN == 1:\n    signal.signal(signal.SIGTERM, signal.SIG_IGN)\n    daemon('one'); ready('one')\n    while True: time.sleep(1)\nwork(); say('READY_FOR_QA')"
    );
    let scene = Scene::new("hangs").agent("developer", &script).with("limits: { time: 2s, grace: 500ms }");
    let start = Instant::now();
    scene.completes();
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
    assert_eq!(scene.said()[1..3], ["developer no_handoff", "developer READY_FOR_QA"]);
    assert!(scene.notes_of_losses()[0].contains("too long"), "{:?}", scene.notes_of_losses());
    assert_eq!(
        scene
            .log()
            .iter()
            .filter(|event| event["data"]["decision"]["rule"].as_str().is_some_and(|rule| rule.contains("no_handoff")))
            .count(),
        1
    );
}

#[test]
fn who_never_ends_by_itself_goes_up_in_the_end() {
    let scene = Scene::new("never").agent("developer", "sys.exit(0)");
    scene.completes();
    let said = scene.said();
    assert_eq!(said.iter().filter(|said| *said == "developer no_handoff").count(), 3, "{said:?}");
    assert!(said.contains(&"senior_software_engineer READY_FOR_QA".to_owned()), "{said:?}");
}

#[test]
fn a_storm_of_processes() {
    let script = r"
if TURN == 1:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    def comet():
        while True:
            if os.fork(): os._exit(0)
            os.setsid()
    for _ in range(40):
        if os.fork() == 0: time.sleep(1000)
    for _ in range(2):
        if os.fork() == 0: comet()
    time.sleep(1000)
work(); say('READY_FOR_QA')";
    let scene = Scene::new("storm").agent("developer", script).with("limits: { time: 2s, grace: 300ms }");
    scene.completes();
    assert_eq!(scene.said()[1..3], ["developer no_handoff", "developer READY_FOR_QA"]);
}

#[test]
fn an_agent_that_kills_its_keeper() {
    let script = format!(
        "{DAEMON}\nif TURN == 1:\n    daemon('one'); ready('one')\n    os.kill(os.getppid(), signal.SIGKILL)\n    time.sleep(1000)\nif TURN == 2:\n    os.kill(os.getppid(), signal.SIGSTOP)\n    time.sleep(1000)\nwork(); say('READY_FOR_QA')"
    );
    let scene = Scene::new("keeper").agent("developer", &script).with("limits: { time: 3s, grace: 300ms }");
    scene.completes();
    assert_eq!(scene.said()[1..4], ["developer no_handoff", "developer no_handoff", "developer READY_FOR_QA"]);
}

/// It kills the run itself; the next run ends what is left of it, and goes on.
#[test]
fn an_agent_that_kills_the_run() {
    let script = r"
if TURN == 1:
    parent = lambda pid: int(open('/proc/%d/stat' % pid).read().rsplit(')', 1)[1].split()[1])
    os.kill(parent(os.getppid()), signal.SIGKILL)
    time.sleep(1000)
work(); say('READY_FOR_QA')";
    let scene = Scene::new("run").agent("developer", script);
    let killed = crate::scene::finish(scene.start());
    assert_eq!(killed.exit, -1, "{}", killed.text());
    scene.completes();
    assert_eq!(scene.said()[1], "developer READY_FOR_QA");
}
