//! `interlock run` against a bare script that makes the same worktrees, starts the same processes and merges the same
//! branches: 200 groups, 32 agents at a time, agents that take no time of their own. And what the live view costs, while
//! 32 agents work for some seconds and talk.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

const GROUPS: usize = 200;
const PARALLEL: usize = 32;
const FILES: usize = 300;

const WORKFLOW: &str = "\
workflow: wide
language: 1
roles: { lead: {}, developer: { is: [author] }, reviewer: {}, validator: { by: interlock } }
begin: { spawn: lead }
groups: { at_most: 200, begin: { spawn: developer }, ended: { spawn: lead } }
routes:
  lead:
    PLANNED:  { start: groups, loop: planning, require: [groups] }
    FINISHED: { validate: validator, loop: ending }
  developer: { READY: { spawn: reviewer } }
  reviewer:  { APPROVED: { merge: author, passes: [review] } }
  validator: { ACCEPT: { end: session }, REJECT: { spawn: lead } }
merge: { MERGED: { complete: group, passes: [merge] }, CONFLICT: { respawn: author, loop: merging } }
blocked: { status: BLOCKED, table: { any: { any: user } } }
loops: { planning: 5, ending: 3, merging: 3 }
completion: { group: { needs: [review, merge] } }
";

/// The measured cost of one way.
struct Took {
    wall: Duration,
    own_cpu: Duration,
    memory_kb: u64,
}

fn main() {
    let root = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("bench-run");
    let _ = fs::remove_dir_all(&root);
    let script = instant(&root);
    rest();
    let assignments = GROUPS * 3 + 2;
    let for_each = |cpu: Duration| cpu.as_secs_f64() * 1000.0 / assignments as f64;
    let before = waited_for();
    let bare = bare(&root.join("bare"), &script);
    let of_bare = waited_for().saturating_sub(before);
    println!("a bare script:   {:>6.2} s", bare.as_secs_f64());
    rest();
    let before = waited_for();
    let plain = interlock(&root.join("plain"), &script, false);
    let of_plain = waited_for().saturating_sub(before);
    let ratio = plain.wall.as_secs_f64() / bare.as_secs_f64();
    let each = for_each(plain.own_cpu);
    let keeper = keeper().as_secs_f64() * 1000.0;
    println!("interlock run:   {:>6.2} s, {ratio:.2} times the script (goal 1.3)", plain.wall.as_secs_f64());
    println!(
        "its own CPU:     {:>6.2} ms for each of {assignments} assignments (goal 5): {each:.2} the run, {keeper:.2} the keeper of an agent",
        each + keeper
    );
    println!(
        "with all it runs:{:>6.2} ms (git, agents and keepers as well); the script {:.2} ms",
        for_each(of_plain),
        for_each(of_bare)
    );
    println!("its memory:      {:>6.1} MB at most (goal 150)", plain.memory_kb as f64 / 1024.0);
    let script = talking(&root);
    let unseen = interlock(&root.join("unseen"), &script, false);
    let seen = interlock(&root.join("seen"), &script, true);
    let more = seen.own_cpu.as_secs_f64() - unseen.own_cpu.as_secs_f64();
    println!(
        "the live view:   {:>6.2} % of a CPU (goal 3), {PARALLEL} agents that talk for {:.0} s",
        100.0 * more.max(0.0) / seen.wall.as_secs_f64(),
        seen.wall.as_secs_f64()
    );
    let _ = fs::remove_dir_all(&root);
}

/// A file system that has just removed many files takes longer to make new ones.
fn rest() {
    thread::sleep(Duration::from_secs(8));
}

/// Agents that take no time.
fn instant(root: &Path) -> PathBuf {
    script(root, "instant.yaml", GROUPS, "{ write: \"work/{group}.txt\", text: \"{group}\\n\" }")
}

/// Agents that say something five times a second, for ten seconds.
fn talking(root: &Path) -> PathBuf {
    let words = "{ wait: 200ms, say: \"looks into what the other one has written of it\" }, ".repeat(50);
    script(root, "talking.yaml", PARALLEL, &format!("{words}{{ write: \"work/{{group}}.txt\", text: x }}"))
}

fn script(root: &Path, name: &str, groups: usize, does: &str) -> PathBuf {
    fs::create_dir_all(root).expect("a folder");
    let groups: Vec<String> = (0..groups).map(|n| format!("{{ id: g{n}, title: G{n} }}")).collect();
    let text = format!(
        "steps:\n  - {{ role: lead, attempt: 1, says: {{ status: PLANNED, groups: [{}] }} }}\n  \
         - {{ role: lead, says: {{ status: FINISHED }} }}\n  \
         - {{ role: developer, does: [{does}], says: {{ status: READY }} }}\n  \
         - {{ role: reviewer, says: {{ status: APPROVED }} }}\n",
        groups.join(", ")
    );
    let path = root.join(name);
    fs::write(&path, text).expect("a script");
    path
}

/// The cost of the supervisor between the run and an agent, beyond the program that it starts.
fn keeper() -> Duration {
    const TIMES: u32 = 300;
    let own = std::process::id().to_string();
    let kept = children(TIMES, || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_interlock"));
        command.args(["__keep", &own, "5000", "-", "--", "/bin/true"]);
        command
    });
    let bare = children(TIMES, || Command::new("/bin/true"));
    kept.saturating_sub(bare) / TIMES
}

/// CPU of programs that are started one after the other, with all that they start.
fn children(times: u32, program: impl Fn() -> Command) -> Duration {
    let before = waited_for();
    for _ in 0..times {
        assert!(program().stdin(Stdio::null()).status().expect("a program").success());
    }
    waited_for().saturating_sub(before)
}

/// CPU of everything that this process has started and that has ended.
fn waited_for() -> Duration {
    let stat = fs::read_to_string("/proc/self/stat").expect("itself");
    let fields: Vec<&str> = stat.rsplit_once(')').expect("a name").1.split_whitespace().collect();
    let ticks: u64 = fields[13].parse::<u64>().expect("a number") + fields[14].parse::<u64>().expect("a number");
    Duration::from_millis(ticks * 10)
}

fn project(folder: &Path) {
    for n in 0..FILES {
        let path = folder.join(format!("src/part{}/file{n}.txt", n % 20));
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, format!("file {n}\n").repeat(40)).expect("a file");
    }
    fs::write(folder.join("interlock.yaml"), WORKFLOW).expect("a workflow");
    fs::write(folder.join("m.md"), "# Wide\n").expect("a mission");
    git(folder, &["init", "-q", "-b", "main"]);
    git(folder, &["add", "-A"]);
    git(folder, &["commit", "-q", "-m", "The beginning"]);
}

fn git(folder: &Path, arguments: &[&str]) {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=B", "-c", "user.email=b@example.invalid", "-c", "gc.auto=0"]).args(arguments);
    let output = command.current_dir(folder).output().expect("git");
    assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// The same work by hand.
fn bare(root: &Path, script: &Path) -> Duration {
    let project_folder = root.join("project");
    fs::create_dir_all(&project_folder).expect("a folder");
    project(&project_folder);
    git(&project_folder, &["worktree", "add", "-q", "-b", "integration", "../integration", "main"]);
    let (next, making, merging) = (AtomicUsize::new(0), Mutex::new(()), Mutex::new(()));
    let began = Instant::now();
    agent(root, script, "lead", "session", &project_folder);
    thread::scope(|scope| {
        for _ in 0..PARALLEL {
            scope.spawn(|| {
                loop {
                    let n = next.fetch_add(1, Ordering::SeqCst);
                    if n >= GROUPS {
                        return;
                    }
                    let (name, folder) = (format!("g{n}"), root.join(format!("g{n}")));
                    {
                        let _held = making.lock().expect("the lock");
                        git(&project_folder, &["worktree", "add", "-q", "-b", &name, &format!("../{name}"), "main"]);
                    }
                    agent(root, script, "developer", &name, &folder);
                    git(&folder, &["add", "-A"]);
                    git(&folder, &["commit", "-q", "-m", &name]);
                    agent(root, script, "reviewer", &name, &folder);
                    let _held = merging.lock().expect("the lock");
                    git(&root.join("integration"), &["merge", "-q", "--no-ff", "-m", &name, &name]);
                }
            });
        }
    });
    agent(root, script, "lead", "session", &project_folder);
    began.elapsed()
}

fn agent(root: &Path, script: &Path, role: &str, group: &str, folder: &Path) {
    let output = root.join("output").join(format!("{role}-{group}"));
    let mut command = Command::new(env!("CARGO_BIN_EXE_interlock"));
    command.arg("__play").arg(script).current_dir(folder).stdin(Stdio::null()).stdout(Stdio::null());
    command.env("INTERLOCK_ROLE", role).env("INTERLOCK_ROUND", "1").env("INTERLOCK_OUTPUT", output);
    if group != "session" {
        command.env("INTERLOCK_GROUP", group);
    }
    assert!(command.status().expect("the agent").success());
}

fn interlock(root: &Path, script: &Path, live: bool) -> Took {
    let project_folder = root.join("project");
    fs::create_dir_all(&project_folder).expect("a folder");
    project(&project_folder);
    fs::copy(script, project_folder.join("scripted.yaml")).expect("the script");
    // The bare script leaves its worktrees as well.
    let team = "agents: { s: { client: scripted } }\nroles: { any: s }\nkeep: always\n";
    fs::write(project_folder.join("agents.yaml"), team).expect("a team");
    let program = env!("CARGO_BIN_EXE_interlock");
    let parallel = PARALLEL.to_string();
    let mut command = match live {
        // A terminal of its own, so that it draws.
        true => {
            let mut command = Command::new("script");
            let line = format!("exec {program} run m.md --parallel {parallel}");
            command.args(["-q", "-e", "-f", "-c", &line, "/dev/null"]);
            command
        }
        false => {
            let mut command = Command::new(program);
            command.args(["run", "m.md", "--parallel", &parallel]);
            command
        }
    };
    command
        .current_dir(&project_folder)
        .env("HOME", root)
        .env("TERM", "xterm")
        .stdin(Stdio::null())
        .stdout(Stdio::null());
    let began = Instant::now();
    let mut child = command.spawn().expect("the program");
    let (mut own_cpu, mut memory_kb) = (Duration::ZERO, 0);
    let status = loop {
        if let Some(status) = child.try_wait().expect("a process") {
            break status;
        }
        if let Some((cpu, memory)) = usage(if live { descendant(child.id()) } else { Some(child.id()) }) {
            (own_cpu, memory_kb) = (cpu, memory.max(memory_kb));
        }
        thread::sleep(Duration::from_millis(20));
    };
    assert!(status.success(), "the run ends well");
    Took { wall: began.elapsed(), own_cpu, memory_kb }
}

/// The run that `script` started.
fn descendant(parent: u32) -> Option<u32> {
    let text = fs::read_to_string(format!("/proc/{parent}/task/{parent}/children")).ok()?;
    text.split_whitespace().next()?.parse().ok()
}

/// CPU of the process itself, without what it started, and the most memory it had.
fn usage(process: Option<u32>) -> Option<(Duration, u64)> {
    let process = process?;
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks: u64 = fields.get(11)?.parse::<u64>().ok()? + fields.get(12)?.parse::<u64>().ok()?;
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let memory = line.split_whitespace().nth(1)?.parse().ok()?;
    Some((Duration::from_millis(ticks * 10), memory))
}
