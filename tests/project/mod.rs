//! A project of its own for a test: a folder, a home with keys, and the real program run in it.

use std::fmt::Write as _;
use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use interlock_store::Store;
use interlock_store::audit;
use interlock_store::keys::Keyring;
use interlock_store::sqlite::SqliteStore;
use serde_json::{Value as Json, json};

/// Two roles that alternate on a group as long as reports are submitted.
pub(crate) const WORKFLOW: &str = include_str!("rounds.yaml");

/// What a run of the program left behind.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    /// `None`: it was killed.
    pub(crate) exit: Option<i32>,
    pub(crate) signal: Option<i32>,
}

impl Run {
    fn of(output: Output) -> Self {
        Self {
            exit: output.status.code(),
            signal: output.status.signal(),
            stdout: String::from_utf8(output.stdout).expect("stdout is UTF-8"),
            stderr: String::from_utf8(output.stderr).expect("stderr is UTF-8"),
        }
    }

    /// What the program printed, when all went well.
    #[track_caller]
    pub(crate) fn done(&self) -> Json {
        assert_eq!(self.exit, Some(0), "{self:?}");
        self.json()
    }

    /// The one document on stdout.
    #[track_caller]
    pub(crate) fn json(&self) -> Json {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The code of a failure that is as every failure must be: coded, explained, and no fault of the program.
    #[track_caller]
    pub(crate) fn code(&self) -> String {
        let error = &self.json()["error"];
        assert_eq!(self.stderr, "", "with --json, stderr is empty");
        assert!(!matches!(self.exit, Some(0 | 1) | None), "{self:?}");
        assert!(error["message"].as_str().is_some_and(|message| !message.is_empty()), "{self:?}");
        error["code"].as_str().unwrap_or_else(|| panic!("{self:?}")).to_owned()
    }

    /// As above, and of those that say that the store cannot be used: exit 5, with help.
    #[track_caller]
    pub(crate) fn unavailable(&self) -> String {
        let code = self.code();
        assert_eq!(self.exit, Some(5), "{self:?}");
        assert!(self.json()["error"]["help"].as_str().is_some_and(|help| !help.is_empty()), "no help: {self:?}");
        code
    }
}

/// The folder of a project, with a home of its own. Gone when dropped, unless the test fails.
pub(crate) struct Project {
    root: PathBuf,
}

impl Drop for Project {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            let _ = fs::remove_dir_all(&self.root);
        }
    }
}

/// Where to work in memory: what these tests break on purpose, a disk need not see.
fn memory() -> PathBuf {
    let shared = Path::new("/dev/shm");
    if shared.is_dir() { shared.to_owned() } else { PathBuf::from(env!("CARGO_TARGET_TMPDIR")) }
}

fn unique(name: &str) -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!("interlock-{name}-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

impl Project {
    /// An empty project in memory.
    pub(crate) fn empty(name: &str) -> Self {
        Self::at(memory().join(unique(name)))
    }

    /// An empty project on the disk that the tests are built on.
    pub(crate) fn empty_on_disk(name: &str) -> Self {
        Self::at(Path::new(env!("CARGO_TARGET_TMPDIR")).join(unique(name)))
    }

    fn at(root: PathBuf) -> Self {
        let _ = fs::remove_dir_all(&root);
        let project = Self { root };
        fs::create_dir_all(project.home()).expect("a home");
        fs::create_dir_all(project.folder()).expect("a folder");
        fs::write(project.workflow(), WORKFLOW).expect("a workflow");
        project
    }

    /// A project with a store.
    pub(crate) fn new(name: &str) -> Self {
        Self::empty(name).initialised()
    }

    pub(crate) fn on_disk(name: &str) -> Self {
        Self::empty_on_disk(name).initialised()
    }

    fn initialised(self) -> Self {
        self.run(&self.init()).done();
        self
    }

    /// The arguments that make a store here.
    pub(crate) fn init(&self) -> [String; 4] {
        ["init".into(), "--workflow".into(), self.workflow().display().to_string(), self.folder().display().to_string()]
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// All that the program itself makes lies below.
    pub(crate) fn made(&self) -> PathBuf {
        self.root.join("at")
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.root.join("at/home")
    }

    pub(crate) fn folder(&self) -> PathBuf {
        self.root.join("at/project")
    }

    pub(crate) fn workflow(&self) -> PathBuf {
        self.root.join("rounds.yaml")
    }

    pub(crate) fn store(&self) -> PathBuf {
        self.folder().join(".interlock/interlock.db")
    }

    /// The program, with this home and nothing else of the test runner's environment.
    pub(crate) fn command<S: AsRef<str>>(&self, arguments: &[S]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_interlock"));
        command.args(arguments.iter().map(AsRef::as_ref)).arg("--json").env_clear().env("HOME", self.home());
        command.stdin(Stdio::null()).current_dir(self.folder());
        command
    }

    pub(crate) fn run<S: AsRef<str>>(&self, arguments: &[S]) -> Run {
        run(&mut self.command(arguments))
    }

    /// Runs on another file than the project's own.
    pub(crate) fn run_on(&self, store: &Path, arguments: &[&str]) -> Run {
        run(self.command(arguments).env("INTERLOCK_STORE", store))
    }

    /// Starts a session and says its id.
    pub(crate) fn start(&self) -> String {
        text(&self.run(&["session", "start", "--title", "T"]).done()["session"])
    }

    /// Claims an assignment and says its token.
    #[track_caller]
    pub(crate) fn claim(&self, assignment: &str) -> String {
        text(&self.run(&["claim", assignment]).done()["token"])
    }

    /// The command that reports.
    pub(crate) fn reporting(&self, assignment: &str, token: &str, handoff: &Path) -> Command {
        let mut command = self.command(&["report", "--assignment", assignment, &handoff.display().to_string()]);
        command.env("INTERLOCK_TOKEN", token);
        command
    }

    /// Writes a handoff down.
    pub(crate) fn handoff(&self, role: &str, status: &str, more: &Json) -> PathBuf {
        let mut name = format!("{role}-{status}");
        let _ = write!(name, "-{}.json", more["groups"].as_array().map_or(0, Vec::len));
        let path = self.root.join(name);
        fs::write(&path, handoff(role, status, more).to_string()).expect("a handoff");
        path
    }

    /// Starts a session and plans so many groups, `G1` and on: assignment 2 and on are their makers'.
    pub(crate) fn planned(&self, groups: usize) -> String {
        let session = self.start();
        let lead = format!("{session}.a1");
        let token = self.claim(&lead);
        run(&mut self.reporting(&lead, &token, &self.handoff("lead", "PLANNED", &plan(groups)))).done();
        session
    }

    /// Whether the log is what it was, and how many events it has.
    #[track_caller]
    pub(crate) fn verified(&self) -> u64 {
        verified(&self.run(&["audit", "verify"]))
    }

    /// As `audit verify` does it, without starting the program: for what was verified by it just before.
    #[track_caller]
    pub(crate) fn looked_at(&self, store: &Path) -> u64 {
        let open = || Ok(Box::new(SqliteStore::open(store)?) as Box<dyn Store>);
        let mut opened = open().unwrap();
        let (identity, sessions) = {
            let mut view = opened.view().unwrap();
            (view.identity().unwrap(), view.sessions().unwrap())
        };
        let key = Keyring::new(self.home().join(".config/interlock"), None).chain(&identity).unwrap();
        let report = audit::verify(&open, &key, &sessions, &[]).unwrap();
        assert_eq!(report.problems, []);
        report.events
    }

    #[track_caller]
    pub(crate) fn verified_on(&self, store: &Path) -> u64 {
        verified(&self.run_on(store, &["audit", "verify"]))
    }
}

#[track_caller]
fn verified(run: &Run) -> u64 {
    let report = run.done();
    assert_eq!((&report["valid"], &report["problems"], &report["attempts"]), (&json!(true), &json!([]), &json!([])));
    report["events"].as_u64().expect("a number of events")
}

pub(crate) fn run(command: &mut Command) -> Run {
    Run::of(command.output().expect("the program starts"))
}

pub(crate) fn text(value: &Json) -> String {
    value.as_str().unwrap_or_else(|| panic!("no text: {value}")).to_owned()
}

pub(crate) fn plan(groups: usize) -> Json {
    let groups: Vec<_> = (1..=groups).map(|n| json!({ "id": format!("G{n}"), "title": "a group" })).collect();
    json!({ "groups": groups })
}

/// The smallest handoff of a role, and more.
pub(crate) fn handoff(role: &str, status: &str, more: &Json) -> Json {
    let mut handoff = json!({
        "agent": role, "output_type": "work", "timestamp": "2026-01-01T00:00:00Z", "feature_directory": "f",
        "skills_invoked": [], "status": status, "handoff": { "next_agent": null, "context": "as asked" },
    });
    for (name, value) in more.as_object().into_iter().flatten() {
        handoff[name] = value.clone();
    }
    handoff
}

/// A generator of numbers that has no other use for them than to be different: the same in every run.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    /// Less than `sides`.
    pub(crate) fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % sides
    }
}

/// Where a fault strikes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Strike<'a> {
    /// Calls on files whose path begins with this are counted.
    pub(crate) root: &'a Path,
    /// `eio`, `full`, `short` or `kill`.
    pub(crate) kind: &'a str,
    /// The call that it strikes at, from 1.
    pub(crate) at: u32,
}

impl Strike<'_> {
    /// Runs the command with the fault. What was struck, if the command came that far.
    pub(crate) fn run(self, command: &mut Command, mark: &Path) -> (Run, Option<String>) {
        let _ = fs::remove_file(mark);
        command.env("LD_PRELOAD", library()).env("FAULT_ROOT", self.root).env("FAULT_KIND", self.kind);
        command.env("FAULT_AT", self.at.to_string()).env("FAULT_MARK", mark);
        let run = run(command);
        (run, fs::read_to_string(mark).ok().map(|line| line.trim().to_owned()))
    }
}

/// The library that makes calls fail, compiled once a run.
fn library() -> &'static Path {
    static LIBRARY: OnceLock<PathBuf> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/faults/faults.c");
        let library = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{}.so", unique("faults")));
        let mut compiler = Command::new("cc");
        compiler.args(["-shared", "-fPIC", "-O1", "-o"]).arg(&library).arg(&source).arg("-ldl");
        let compiled = compiler.output().expect("cc, which the embedded SQLite is built with as well");
        assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
        library
    })
}
