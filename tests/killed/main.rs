//! `interlock run` is killed at random moments, again and again, and comes to the same end as if nothing had happened.

#[path = "../hostile/scene.rs"]
#[allow(dead_code, reason = "shared with the hostile agents")]
mod scene;

use std::collections::BTreeMap;
use std::fs;
use std::process::Child;
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value as Json;

use scene::{Scene, finish};

const KILLS: u32 = 100;

/// Only one for each assignment may live: who finds the lock taken says so. What it writes is the same each time.
const AUTHOR: &str = r"
import fcntl
lock = open(os.path.join(NOTES, 'lock-' + E['INTERLOCK_ASSIGNMENT']), 'a')
try: fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
except OSError: note('error', E['INTERLOCK_ASSIGNMENT'] + ' has two agents\n')
os.set_inheritable(lock.fileno(), True)
note('attempts', '%s %d\n' % (E['INTERLOCK_ASSIGNMENT'], ATTEMPT))
if GROUP == 'g3':
    # A daemon that keeps the lock, deaf to being asked.
    subprocess.Popen(['/bin/sh', '-c', 'trap \x22\x22 TERM HUP; while :; do sleep 0.1; done'], start_new_session=True, pass_fds=[lock.fileno()])
time.sleep(0.02 * (sum(map(ord, GROUP)) % 4))
work('the work of %s\n' % GROUP)
say('READY_FOR_QA')";

const GROUPS: &str = "[{ id: g1, title: T }, { id: g2, title: T }, { id: g3, title: T }, { id: g4, title: T }, \
                      { id: g5, title: T, depends_on: [g1] }, { id: g6, title: T }, { id: g7, title: T, depends_on: [g2] }, \
                      { id: g8, title: T, checks: [[\"grep\", \"-q\", \"work\", \"work/g8.txt\"]] }]";

/// The manager writes too: outside of groups, where no later merge happens.
const WORKFLOW: &str =
    "workflow: with-plan\nlanguage: 1\nextends: delivery-team\nroles:\n  project_manager: { writes: all }\n";

fn session(name: &str) -> Scene {
    let scene = Scene::new(name).agent("developer", AUTHOR).workflow(WORKFLOW).with("limits: { grace: 100ms }");
    scene.plan(GROUPS);
    let script = fs::read_to_string(scene.path("script.yaml")).unwrap();
    let says = |status: &str| format!("says: {{ status: {status}");
    let writes =
        |file: &str, status: &str| format!("does: [{{ write: {file}, text: \"by {{role}}\" }}], {}", says(status));
    let script = script.replace(&says("PLANNING_COMPLETE"), &writes("plan.md", "PLANNING_COMPLETE"));
    let script = script.replace(&says("BAZINGA"), &writes("end.md", "BAZINGA"));
    let script = script.replace("role: qa_expert, says", "role: qa_expert, does: [{ wait: 30ms }], says");
    scene.put("script.yaml", &script);
    scene
}

fn tree(scene: &Scene) -> String {
    scene.git(&["rev-parse", &format!("interlock/{}^{{tree}}", scene.session())])
}

/// Numbers that are the same each time.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, below: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % below
    }
}

#[test]
fn a_run_that_is_killed_a_hundred_times_ends_as_one_that_is_not() {
    let calm = session("killed-never");
    calm.completes();
    let expected = (tree(&calm), counted(&calm.log()));
    let (mut dice, mut kills, mut sessions) = (Dice(0x5eed_1234_5678_9abc), 0, 0);
    while kills < KILLS {
        sessions += 1;
        let scene = session(&format!("killed-{sessions}"));
        let before = scene.standing();
        kills += torment(&scene, &mut dice);
        assert_sound(&scene, &expected);
        assert_eq!(scene.standing(), before);
    }
}

/// Starts it and kills it until it has ended before it could be killed. How often it was killed.
fn torment(scene: &Scene, dice: &mut Dice) -> u32 {
    for kills in 0.. {
        assert!(kills < 400, "it does not come to an end");
        let mut run = scene.start();
        // Now and then it is let be for longer: a turn with a daemon that has to be waited for takes its time.
        let longest = if dice.roll(4) == 0 { 1200 } else { 350 };
        let moment = Duration::from_millis(20 + dice.roll(longest));
        let way = dice.roll(5);
        if is_over(&mut run, moment) {
            let ran = finish(run);
            assert_eq!(ran.exit, 0, "after {kills} kills: {}", ran.text());
            return kills;
        }
        kill(scene, run, way);
        if has_ended(scene) {
            return kills + 1;
        }
    }
    0
}

/// What is in the folder of a session that has ended well, and nothing else.
const LEFT: [&str; 5] = ["agents.lock", "report.md", "run.lock", "spent.jsonl", "transcripts"];

fn in_site(scene: &Scene) -> Vec<String> {
    let entries = scene.find_site().and_then(|site| fs::read_dir(site).ok()).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort_unstable();
    names
}

/// Everything was done and told by then, and only the process was left to end.
fn has_ended(scene: &Scene) -> bool {
    in_site(scene) == LEFT
}

fn sessions(scene: &Scene) -> usize {
    let ran = scene.ask(&["session", "list", "--json"]);
    let list: Json = serde_json::from_slice(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {}", ran.text()));
    list["sessions"].as_array().unwrap().len()
}

fn is_over(run: &mut Child, moment: Duration) -> bool {
    thread::sleep(moment);
    run.try_wait().unwrap().is_some()
}

/// Kills the run alone, or with its supervisors, or with everything that it has started.
fn kill(scene: &Scene, mut run: Child, way: u64) {
    let others: Vec<i32> = match way {
        0 => of_scene(scene, |arguments| arguments.starts_with("interlock\0")),
        1 => of_scene(scene, |_| true),
        _ => Vec::new(),
    };
    run.kill().unwrap();
    for pid in others.into_iter().filter_map(Pid::from_raw) {
        let _ = kill_process(pid, Signal::KILL);
    }
    run.wait().unwrap();
}

fn of_scene(scene: &Scene, wanted: impl Fn(&str) -> bool) -> Vec<i32> {
    let pids = scene.left().into_iter().filter_map(|line| line.split(':').next()?.parse().ok());
    pids.filter(|pid| {
        let arguments = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        wanted(&String::from_utf8_lossy(&arguments))
    })
    .collect()
}

fn assert_sound(scene: &Scene, (expected, counters): &(String, Vec<String>)) {
    assert_eq!(scene.noted("error"), "");
    assert_eq!(scene.left(), Vec::<String>::new());
    assert_eq!(scene.ask(&["audit", "verify"]).exit, 0);
    assert_eq!(tree(scene), *expected, "{:?}", scene.result());
    assert_eq!(in_site(scene), LEFT);
    assert_eq!(sessions(scene), 1, "the mission was begun again");
    assert_told_once(&scene.log());
    assert_eq!(counted(&scene.log()), *counters, "what died with a run counts in no loop");
    assert_new_attempts(scene);
}

/// Every step of a counter.
fn counted(log: &[Json]) -> Vec<String> {
    let changes = log.iter().flat_map(|event| event["data"]["changes"].as_array().cloned().unwrap_or_default());
    let mut steps: Vec<String> = changes.filter_map(|change| Some(change.get("counted")?.to_string())).collect();
    steps.sort_unstable();
    steps
}

/// An agent that died with its run was another attempt when it was started again, with another token.
fn assert_new_attempts(scene: &Scene) {
    let (mut tokens, mut held) = (Vec::new(), BTreeMap::new());
    for event in &scene.log() {
        let changes = event["data"]["changes"].as_array().cloned().unwrap_or_default();
        if let Some(cause) = event["data"]["cause"].get("lease_expired") {
            assert_eq!(cause["holder_gone"], true, "{event}");
            assert_eq!(changes.len(), 1, "{event}");
        }
        for change in changes {
            if let Some(claimed) = change.get("claimed") {
                tokens.push(claimed["token"].to_string());
                let before = held.insert(claimed["assignment"].as_u64(), ());
                assert!(before.is_none(), "claimed twice in one attempt: {event}");
            }
            held.remove(&change["unclaimed"]["assignment"].as_u64());
        }
    }
    let all = tokens.len();
    tokens.sort_unstable();
    tokens.dedup();
    assert_eq!(tokens.len(), all, "a token was used again");
    let started = scene.noted("attempts");
    let mut attempts: Vec<&str> = started.lines().collect();
    let all = attempts.len();
    attempts.sort_unstable();
    attempts.dedup();
    assert_eq!(attempts.len(), all, "an attempt was started twice: {started}");
}

/// Every assignment that was given out was settled, and by one event; nothing was lost, and nothing was refused.
fn assert_told_once(log: &[Json]) {
    let mut settled: BTreeMap<u64, u32> = BTreeMap::new();
    let mut given = Vec::new();
    for event in log {
        for change in event["data"]["changes"].as_array().into_iter().flatten() {
            given.extend(change["assigned"]["assignment"].as_u64());
        }
        let cause = &event["data"]["cause"];
        assert!(cause["refused"].is_null() && cause["lost"].is_null(), "{event}");
        for kind in ["reported", "merged"] {
            if let Some(id) = cause[kind]["assignment"].as_u64() {
                *settled.entry(id).or_default() += 1;
            }
        }
    }
    given.sort_unstable();
    given.dedup();
    assert_eq!(given, settled.keys().copied().collect::<Vec<_>>());
    assert!(settled.values().all(|times| *times == 1), "{settled:?}");
    let numbers: Vec<u64> = log.iter().filter_map(|event| event["seq"].as_u64()).collect();
    assert_eq!(numbers, (1..=log.len() as u64).collect::<Vec<_>>());
}

/// Fills the session's repository, so that it takes its time to go.
const HOARDER: &str = r"
hoard = os.path.abspath('../../repository.git/hoard')
os.makedirs(hoard, exist_ok=True)
for number in range(20000): open(os.path.join(hoard, str(number)), 'w').close()
work()
say('READY_FOR_QA')";

/// The end of a run is more than its last decision: what is taken away when it is killed there, the next one takes away,
/// and says what the killed one would have said.
#[test]
fn a_run_that_is_killed_while_it_clears_away_is_brought_to_its_end_by_the_next() {
    for (test, file, by_session) in [
        ("killed-noted", "ended.json", false),
        ("killed-clearing", "repository.gone", false),
        ("killed-clearing-session", "repository.gone", true),
    ] {
        let scene = Scene::new(test).agent("developer", HOARDER);
        let mut run = scene.start();
        while !scene.find_site().is_some_and(|site| site.join(file).exists()) {
            assert!(run.try_wait().unwrap().is_none(), "{test}: it has ended: {:?}", in_site(&scene));
        }
        run.kill().unwrap();
        run.wait().unwrap();
        assert_ne!(in_site(&scene), LEFT, "{test}: killed too late");
        let session = scene.session();
        let agents = scene.path("agents.yaml").display().to_string();
        let ran = match by_session {
            true => scene.ask(&["run", "--session", &session, "--agents", &agents]),
            false => finish(scene.start()),
        };
        assert_eq!(ran.exit, 0, "{test}: {}", ran.text());
        let text = ran.text();
        assert!(text.contains("The mission: completed") && text.contains("report.md"), "{test}: {text}");
        assert!(text.contains(&format!("git merge interlock/{session}")), "{test}: {text}");
        assert_eq!((in_site(&scene), sessions(&scene)), (LEFT.map(str::to_owned).to_vec(), 1), "{test}");
        assert_eq!(scene.said().iter().filter(|said| said.starts_with("developer READY")).count(), 1, "{test}");
        // What is told is over: the same mission is then another session.
        assert_eq!(scene.ask(&["run", "--session", &session, "--agents", &agents]).exit, 3, "{test}");
    }
}

/// A message that had no reader is printed again.
#[test]
fn an_end_that_was_not_told_is_told_by_the_next_run() {
    let scene = Scene::new("killed-untold");
    let mut run = scene.start();
    drop(run.stdout.take());
    run.wait().unwrap();
    assert_eq!(in_site(&scene), ["agents.lock", "ended.json", "report.md", "run.lock", "spent.jsonl", "transcripts"]);
    let ran = scene.completes();
    assert!(ran.text().contains("The mission: completed"), "{}", ran.text());
    assert_eq!((in_site(&scene), sessions(&scene)), (LEFT.map(str::to_owned).to_vec(), 1));
}

/// A git that kills its caller: before its work or after it, by the lines of a list, each once.
const DEADLY_GIT: &str = r#"#!/bin/sh
list=NOTES/list
word=; skip=
for argument in "$@"; do
    if test -n "$skip"; then skip=; elif test "$argument" = -c; then skip=x; else word=$argument; break; fi
done
if ! grep -q "^$word " $list || ! mkdir NOTES/deadly 2> /dev/null; then exec /usr/bin/git "$@"; fi
when=$(sed -n "s/^$word //p" $list | head -n 1)
number=$(grep -n "^$word " $list | head -n 1 | cut -d: -f1)
sed -i "${number}d" $list
rmdir NOTES/deadly
test "$when" = after && /usr/bin/git "$@"
kill -9 $PPID
"#;

/// Between any two steps that Interlock takes on files there is a moment in which it can be killed.
#[test]
fn a_run_that_is_killed_at_each_step_on_files_ends_as_one_that_is_not() {
    use std::os::unix::fs::PermissionsExt as _;
    let calm = session("killed-calm");
    calm.completes();
    let scene = session("killed-steps").with_path("bin");
    let words = [
        "fetch",
        "update-ref",
        "read-tree",
        "clean",
        "ls-files",
        "add",
        "write-tree",
        "diff-tree",
        "commit-tree",
        "update-ref",
        "merge-base",
        "merge-tree",
        "commit-tree",
        "update-ref",
        "for-each-ref",
        "rev-parse",
    ];
    let lines: Vec<String> =
        (0..2).flat_map(|_| words).flat_map(|word| [format!("{word} before\n"), format!("{word} after\n")]).collect();
    scene.put("notes/list", &lines.concat());
    let notes = scene.path("notes").display().to_string();
    scene.put("bin/git", &DEADLY_GIT.replace("NOTES", &notes));
    fs::set_permissions(scene.path("bin/git"), fs::Permissions::from_mode(0o755)).unwrap();
    let mut kills = 0;
    loop {
        let ran = finish(scene.start());
        if ran.exit != -1 {
            assert_eq!(ran.exit, 0, "after {kills} kills: {}", ran.text());
            break;
        }
        if has_ended(&scene) {
            break;
        }
        kills += 1;
        assert!(kills < 200, "it does not come to an end: {}", scene.noted("list"));
    }
    assert!(kills > 30, "{kills}, and left of the list:\n{}", scene.noted("list"));
    assert_sound(&scene, &(tree(&calm), counted(&calm.log())));
}
