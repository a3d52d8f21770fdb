//! The second gate of a session, beside the bare command in a checkout of the user's own: a Rust and a Node project, each with
//! one file changed since the first gate.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};

const ROUNDS: usize = 3;
/// Modules of the two Rust projects.
const FEW_MODULES: usize = 10;
const MANY_MODULES: usize = 30;

/// A project, its check and its `prepare`.
struct Subject {
    name: &'static str,
    files: Vec<(String, String)>,
    check: &'static [&'static str],
    prepare: &'static str,
    /// Commands that a person runs once in their own checkout.
    setup: &'static [&'static str],
    /// The file that changes, and what is added to it.
    changed: (&'static str, &'static str),
}

/// A measured time: wall clock, and processor time including all started processes.
#[derive(Clone, Copy)]
struct Took {
    wall: Duration,
    cpu: Duration,
}

impl Took {
    fn of(work: impl FnOnce()) -> Self {
        let (began, before) = (Instant::now(), cpu_of_children());
        work();
        Self { wall: began.elapsed(), cpu: cpu_of_children().saturating_sub(before) }
    }
}

/// CPU of everything that this process has started and that has ended.
fn cpu_of_children() -> Duration {
    let stat = fs::read_to_string("/proc/self/stat").expect("itself");
    let fields: Vec<&str> = stat.rsplit_once(')').expect("a name").1.split_whitespace().collect();
    let ticks: u64 = fields[13].parse::<u64>().expect("a number") + fields[14].parse::<u64>().expect("a number");
    Duration::from_millis(ticks * 10)
}

fn main() {
    let root = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("bench-gates");
    let asked: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let is_asked = |subject: &Subject| asked.is_empty() || asked.iter().any(|name| name == subject.name);
    for subject in [rust("rust", FEW_MODULES), rust("rust-large", MANY_MODULES), node()].into_iter().filter(is_asked) {
        let (mut walls, mut cpus) = (Vec::new(), Vec::new());
        for round in 0..ROUNDS {
            let _ = fs::remove_dir_all(&root);
            let bare = bare(&root.join("bare"), &subject);
            let (first, second) = gates(&root.join("gate"), &subject);
            let ratio = |one: Duration, other: Duration| one.as_secs_f64() / other.as_secs_f64();
            walls.push(ratio(second.wall, bare.wall));
            cpus.push(ratio(second.cpu, bare.cpu));
            println!(
                "{} {round}: bare {:.2} s ({:.2} s CPU), first gate {:.2} s ({:.2}), second gate {:.2} s ({:.2})",
                subject.name,
                bare.wall.as_secs_f64(),
                bare.cpu.as_secs_f64(),
                first.wall.as_secs_f64(),
                first.cpu.as_secs_f64(),
                second.wall.as_secs_f64(),
                second.cpu.as_secs_f64()
            );
        }
        let (wall, cpu) = (median(walls), median(cpus));
        println!(
            "{}: second gate {wall:.2} times the bare command, {cpu:.2} times its CPU, medians of {ROUNDS} (goal 1.3)",
            subject.name
        );
    }
    let _ = fs::remove_dir_all(&root);
}

fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers[numbers.len() / 2]
}

fn rust(name: &'static str, modules: usize) -> Subject {
    let module = |n: usize| {
        let functions: String = (0..20)
            .map(|f| format!("pub fn f{f}(x: u64) -> String {{ let v: Vec<u64> = (0..x).map(|y| y * {n} + {f}).collect(); format!(\"{{v:?}}\") }}\n"))
            .collect();
        let test = "#[cfg(test)]\nmod tests {\n    #[test]\n    fn first() {\n        \
                    let sum = (0..3_000_000u64).fold(0, |sum, n| sum + n % 7);\n        \
                    assert!(sum > 0 && super::f1(3).len() > 3);\n    }\n}\n";
        (format!("src/m{n}.rs"), format!("{functions}{test}"))
    };
    let list: String = (0..modules).map(|n| format!("pub mod m{n};\n")).collect();
    let manifest = "[package]\nname = \"small\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n[workspace]\n";
    let mut files = vec![("Cargo.toml".to_owned(), manifest.to_owned()), ("src/lib.rs".to_owned(), list)];
    files.extend((0..modules).map(module));
    files.push((".gitignore".to_owned(), "target\n.interlock\n".to_owned()));
    Subject {
        name,
        files,
        check: &["cargo", "test", "--offline", "--quiet"],
        prepare: "{ run: [[cargo, test, --no-run, --offline, --quiet]], caches: [target] }",
        setup: &["cargo", "test", "--offline", "--quiet"],
        changed: ("src/m7.rs", "pub fn more() -> u64 { 7 }\n"),
    }
}

fn node() -> Subject {
    let file = |name: &str, text: &str| (name.to_owned(), text.to_owned());
    let test = "const { test } = require('node:test');\nconst assert = require('node:assert');\nconst dep = require('dep');\n\
                test('adds', () => { let sum = 0; for (let n = 0; n < 6e8; n++) sum = dep.add(sum, n % 7); assert.ok(sum > 0); });\n";
    let lock = json!({ "name": "small", "version": "1.0.0", "lockfileVersion": 3, "requires": true, "packages": {
        "": { "name": "small", "version": "1.0.0", "dependencies": { "dep": "file:vendor/dep" } },
        "node_modules/dep": { "resolved": "vendor/dep", "link": true },
        "vendor/dep": { "version": "1.0.0" },
    } });
    Subject {
        name: "node",
        files: vec![
            file(
                "package.json",
                "{ \"name\": \"small\", \"version\": \"1.0.0\", \"dependencies\": { \"dep\": \"file:vendor/dep\" } }\n",
            ),
            file("package-lock.json", &lock.to_string()),
            file("vendor/dep/package.json", "{ \"name\": \"dep\", \"version\": \"1.0.0\", \"main\": \"index.js\" }\n"),
            file("vendor/dep/index.js", "exports.add = (one, other) => one + other;\n"),
            file("test/first.test.js", test),
            file("src/index.js", "exports.one = 1;\n"),
            file(".gitignore", "node_modules\n.interlock\n"),
        ],
        check: &["node", "--test"],
        prepare: "{ run: [[npm, ci, --offline, --silent, --no-audit, --no-fund]], inputs: [package.json, package-lock.json, \"vendor/**\"], keeps: [node_modules] }",
        setup: &["npm", "ci", "--offline", "--silent", "--no-audit", "--no-fund"],
        changed: ("src/index.js", "exports.two = 2;\n"),
    }
}

fn project(folder: &Path, subject: &Subject) {
    for (name, text) in &subject.files {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text).expect("a file");
    }
}

fn change(folder: &Path, subject: &Subject) {
    let (name, more) = subject.changed;
    let text = fs::read_to_string(folder.join(name)).expect("a file");
    fs::write(folder.join(name), format!("{text}{more}")).expect("a file");
}

/// The command in the user's own checkout, after one file was changed.
fn bare(folder: &Path, subject: &Subject) -> Took {
    project(folder, subject);
    run(folder, subject.setup);
    run(folder, subject.check);
    change(folder, subject);
    Took::of(|| run(folder, subject.check))
}

fn run(folder: &Path, words: &[&str]) {
    let output = Command::new(words[0]).args(&words[1..]).current_dir(folder).stdin(Stdio::null()).output();
    let output = output.expect("a program");
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// A session by hand: the gate of its group, and the gate on the final tree after one file was changed.
fn gates(root: &Path, subject: &Subject) -> (Took, Took) {
    let folder = root.join("project");
    project(&folder, subject);
    let script = "steps: []\n";
    let agents =
        format!("agents: {{ s: {{ client: scripted }} }}\nroles: {{ any: s }}\nprepare: {}\n", subject.prepare);
    fs::write(folder.join("scripted.yaml"), script).expect("a file");
    fs::write(folder.join("agents.yaml"), agents).expect("a file");
    git(&folder, &["init", "-q"]);
    let hand = Hand { root: root.to_owned(), folder: folder.clone() };
    hand.ask(&["init"]);
    git(&folder, &["add", "-A"]);
    git(&folder, &["commit", "-q", "-m", "The beginning"]);
    let started = hand.ask(&["session", "start", "--title", "Gates"]);
    let session = started["session"].as_str().expect("a session").to_owned();
    let groups = json!({ "groups": [{ "id": "one", "title": "One", "checks": [subject.check] }] });
    hand.plays(&session, "project_manager", "PLANNING_COMPLETE", &groups);
    for (role, status) in [
        ("developer", "READY_FOR_QA"),
        ("qa_expert", "PASS"),
        ("tech_lead", "APPROVED"),
        ("developer", "MERGE_SUCCESS"),
    ] {
        hand.plays(&session, role, status, &json!({}));
    }
    let first = hand.gate(&session, 1);
    change(&folder, subject);
    hand.plays(&session, "project_manager", "BAZINGA", &json!({}));
    let second = hand.gate(&session, 2);
    assert_eq!(hand.ask(&["session", "show", &session])["status"], "completed");
    (first, second)
}

fn git(folder: &Path, arguments: &[&str]) {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=B", "-c", "user.email=b@example.invalid"]).args(arguments).current_dir(folder);
    assert!(command.status().expect("git").success(), "git {arguments:?}");
}

/// A person with a project.
struct Hand {
    root: PathBuf,
    folder: PathBuf,
}

impl Hand {
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_interlock"));
        command.args(arguments).arg("--json").current_dir(&self.folder).stdin(Stdio::piped());
        command.env("XDG_CONFIG_HOME", self.root.join("config")).env("XDG_STATE_HOME", self.root.join("state"));
        command.stdout(Stdio::piped()).stderr(Stdio::inherit());
        command
    }

    fn ask(&self, arguments: &[&str]) -> Json {
        answer(self.command(arguments), "")
    }

    fn gate(&self, session: &str, number: u32) -> Took {
        Took::of(|| drop(self.ask(&["gate", &format!("{session}.g{number}")])))
    }

    fn plays(&self, session: &str, role: &str, status: &str, more: &Json) {
        let next = self.ask(&["session", "next", session]);
        let id = next["assignments"][0]["assignment"].as_str().expect("an assignment").to_owned();
        let claimed = self.ask(&["claim", &id]);
        let mut handoff = json!({ "agent": role, "output_type": "report", "timestamp": "2026-01-18T15:42:00Z",
            "feature_directory": ".", "skills_invoked": [], "status": status,
            "handoff": { "next_agent": null, "context": "The work is done as it was planned." } });
        let fields = handoff.as_object_mut().expect("an object");
        fields.extend(more.as_object().expect("an object").clone());
        let mut command = self.command(&["report", "--assignment", &id, "-"]);
        command.env("INTERLOCK_TOKEN", claimed["token"].as_str().expect("a token"));
        answer(command, &handoff.to_string());
    }
}

fn answer(mut command: Command, input: &str) -> Json {
    use std::io::Write as _;
    let mut child = command.spawn().expect("it starts");
    child.stdin.take().expect("its input").write_all(input.as_bytes()).expect("it listens");
    let output = child.wait_with_output().expect("it ends");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{command:?}: {text}");
    serde_json::from_str(&text).expect("JSON")
}
