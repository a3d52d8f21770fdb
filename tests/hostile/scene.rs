//! A project of its own, a home of its own, and agents that are scripts of the test.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value as Json;

/// Everybody who behaves.
const SCRIPT: &str = r#"
steps:
  - { role: project_manager, group: session, attempt: 1, says: { status: PLANNING_COMPLETE, groups: GROUPS } }
  - { role: project_manager, group: session, says: { status: BAZINGA } }
  - { role: project_manager, says: { status: GROUP_ACCEPTED } }
  - { role: developer, does: [{ write: "work/{group}.txt", text: "by {role}\n" }], says: { status: READY_FOR_QA } }
  - { role: senior_software_engineer, does: [{ write: "work/{group}.txt", text: "by {role}\n" }], says: { status: READY_FOR_QA } }
  - { role: qa_expert, says: { status: PASS, test_progression: { still_failing: [] } } }
  - { role: tech_lead, says: { status: APPROVED, issues: [] } }
  - { role: investigator, says: { status: ROOT_CAUSE_FOUND } }
"#;

/// What every hostile agent begins with. `TURN` counts how often this role was started, corrections and all.
const PRELUDE: &str = r#"
import os, sys, json, time, signal, subprocess
E = os.environ
ROLE, OUT, NOTES = E['INTERLOCK_ROLE'], E['INTERLOCK_OUTPUT'], E['NOTES']
GROUP, ATTEMPT = E.get('INTERLOCK_GROUP', 'session'), int(E['INTERLOCK_ATTEMPT'])
PROJECT = E['PROJECT']
PROMPT = sys.stdin.buffer.read()
def note(name, text='x', mode='a'):
    with open(os.path.join(NOTES, name), mode) as file: file.write(text)
note('turns-' + ROLE)
TURN = os.path.getsize(os.path.join(NOTES, 'turns-' + ROLE))
with open(os.path.join(NOTES, 'prompt-%s-%d' % (ROLE, TURN)), 'wb') as file: file.write(PROMPT)
def doc(status, **more):
    doc = { 'agent': ROLE, 'output_type': 'report', 'timestamp': '2026-01-18T15:42:00Z', 'feature_directory': '.',
            'skills_invoked': [], 'status': status, 'handoff': { 'next_agent': None, 'context': 'done' } }
    doc.update(more)
    return doc
def say(status, **more):
    with open(os.path.join(OUT, 'handoff.json'), 'w') as file: json.dump(doc(status, **more), file)
def work(text='work\n'):
    os.makedirs('work', exist_ok=True)
    with open('work/%s.txt' % GROUP, 'w') as file: file.write(text)
def sh(line): return subprocess.run(['/bin/sh', '-c', line], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).stdout
"#;

pub(crate) struct Scene {
    pub(crate) root: PathBuf,
    agents: Vec<String>,
    roles: Vec<String>,
    more: Vec<String>,
    workflow: Option<String>,
    path: String,
}

pub(crate) struct Ran {
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
    pub(crate) exit: i32,
    /// The most memory that the run had, in megabytes.
    pub(crate) peak: u64,
}

impl Ran {
    pub(crate) fn text(&self) -> String {
        format!("{}{}", String::from_utf8_lossy(&self.stdout), String::from_utf8_lossy(&self.stderr))
    }
}

impl Scene {
    pub(crate) fn new(test: &str) -> Self {
        let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("hostile-{test}"));
        let _ = fs::remove_dir_all(&root);
        for folder in ["home", "notes", "project"] {
            fs::create_dir_all(root.join(folder)).unwrap();
        }
        let scene = Self {
            root,
            agents: Vec::new(),
            roles: Vec::new(),
            more: Vec::new(),
            workflow: None,
            path: "/usr/bin:/bin".to_owned(),
        };
        scene.put("project/README.md", "# A project\n");
        scene.put("project/tests/first.txt", "a test\n");
        scene.git(&["init", "--quiet", "--initial-branch=main", "."]);
        scene.git(&["config", "user.name", "Ann"]);
        scene.git(&["config", "user.email", "ann@example.org"]);
        scene.commit();
        scene.plan("[{ id: g, title: The work }]");
        scene
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    pub(crate) fn put(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn commit(&self) {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--message", "What there is"]);
    }

    /// The groups of the plan, in YAML.
    pub(crate) fn plan(&self, groups: &str) {
        self.put("script.yaml", &SCRIPT.replace("GROUPS", groups));
    }

    /// A role is played by a Python script.
    pub(crate) fn agent(mut self, role: &str, script: &str) -> Self {
        let path = self.path(&format!("{role}.py"));
        fs::write(&path, format!("{PRELUDE}\n{script}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        let (notes, project) = (self.path("notes"), self.path("project"));
        self.agents.push(format!(
            "{role}: {{ client: command, command: [/usr/bin/python3, {path:?}], set: {{ NOTES: {notes:?}, PROJECT: {project:?} }} }}"
        ));
        self.roles.push(format!("{role}: {role}"));
        self
    }

    /// More lines of the agents file.
    pub(crate) fn with(mut self, line: &str) -> Self {
        self.more.push(line.to_owned());
        self
    }

    /// A workflow of the test's own.
    pub(crate) fn workflow(mut self, text: &str) -> Self {
        self.put("workflow.yaml", text);
        self.workflow = Some(self.path("workflow.yaml").display().to_string());
        self
    }

    /// Programs in a folder of the test come before the system's.
    #[allow(dead_code, reason = "for tests that kill")]
    pub(crate) fn with_path(mut self, folder: &str) -> Self {
        self.path = format!("{}:{}", self.path(folder).display(), self.path);
        self
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_interlock"));
        command.args(arguments).current_dir(self.path("project")).env_clear();
        command.env("HOME", self.path("home")).env("PATH", &self.path).env("LANG", "C.UTF-8");
        command
    }

    /// Starts the run; it ends when only people can go on.
    pub(crate) fn start(&self) -> Child {
        self.launch(&["--no-wait"])
    }

    /// Starts the run; it waits for people.
    pub(crate) fn start_waiting(&self) -> Child {
        self.launch(&[])
    }

    fn launch(&self, flags: &[&str]) -> Child {
        let mut text = format!(
            "agents: {{ s: {{ client: scripted, script: script.yaml }}, {} }}\nroles: {{ any: s, {} }}\n",
            self.agents.join(", "),
            self.roles.join(", ")
        );
        for line in &self.more {
            text.push_str(line);
            text.push('\n');
        }
        self.put("agents.yaml", &text);
        self.put("mission.md", "# The mission\n\nDo the work.\n");
        let (agents, mission) =
            (self.path("agents.yaml").display().to_string(), self.path("mission.md").display().to_string());
        let mut command = self.command(&["run", &mission, "--agents", &agents]);
        command.args(flags);
        if let Some(workflow) = &self.workflow {
            command.args(["--workflow", workflow]);
        }
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// Runs it to its end; nothing of it may be left.
    #[track_caller]
    pub(crate) fn run(&self) -> Ran {
        let ran = finish(self.start());
        assert_eq!(self.left(), Vec::<String>::new(), "{}", ran.text());
        ran
    }

    /// Runs it, and the session ends as it should.
    #[track_caller]
    pub(crate) fn completes(&self) -> Ran {
        let ran = self.run();
        assert_eq!(ran.exit, 0, "{}", ran.text());
        assert_eq!(self.ask(&["audit", "verify"]).exit, 0);
        ran
    }

    pub(crate) fn ask(&self, arguments: &[&str]) -> Ran {
        finish(
            self.command(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap(),
        )
    }

    /// The folder of the only session.
    pub(crate) fn site(&self) -> PathBuf {
        let only = |folder: &Path| fs::read_dir(folder).unwrap().next().unwrap().unwrap().path();
        only(&only(&self.path("home/.local/state/interlock")))
    }

    pub(crate) fn session(&self) -> String {
        self.site().file_name().unwrap().to_str().unwrap().to_owned()
    }

    pub(crate) fn log(&self) -> Vec<Json> {
        let ran = self.ask(&["log", &self.session(), "--json", "--full"]);
        let log: Json = serde_json::from_slice(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {}", ran.text()));
        log["events"].as_array().unwrap().clone()
    }

    /// Who said what, in order: `developer no_handoff`.
    pub(crate) fn said(&self) -> Vec<String> {
        let mut roles = BTreeMap::new();
        let mut said = Vec::new();
        for event in self.log() {
            for change in event["data"]["changes"].as_array().into_iter().flatten() {
                if let Some(assigned) = change.get("assigned") {
                    roles.insert(assigned["assignment"].as_u64(), assigned["role"].as_str().unwrap_or("").to_owned());
                }
            }
            let cause = &event["data"]["cause"];
            for kind in ["reported", "lost", "merged"] {
                if let Some(status) = cause[kind]["status"].as_str() {
                    said.push(format!("{} {status}", roles[&cause[kind]["assignment"].as_u64()]));
                }
            }
        }
        said
    }

    /// What was noted with what was lost, and what was sent back.
    pub(crate) fn notes_of_losses(&self) -> Vec<String> {
        let notes = self
            .log()
            .into_iter()
            .filter_map(|event| Some(event["data"]["cause"]["lost"]["note"].as_str()?.to_owned()));
        notes.collect()
    }

    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        let mut command = Command::new("git");
        command.args(arguments).current_dir(self.path("project")).env("HOME", self.path("home"));
        let output = command.output().unwrap();
        assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
    }

    /// The files of the result.
    pub(crate) fn result(&self) -> Vec<String> {
        let branch = format!("interlock/{}", self.session());
        self.git(&["ls-tree", "-r", "--name-only", &branch]).lines().map(str::to_owned).collect()
    }

    pub(crate) fn result_of(&self, file: &str) -> String {
        self.git(&["show", &format!("interlock/{}:{file}", self.session())])
    }

    /// All that is the user's: refs but the result's, the checkout, the index, stash, hooks, configuration.
    pub(crate) fn standing(&self) -> String {
        let refs = self.git(&["for-each-ref", "--format=%(refname) %(objectname)"]);
        let refs: Vec<&str> = refs.lines().filter(|line| !line.starts_with("refs/heads/interlock/")).collect();
        let hooks = fs::read_dir(self.path("project/.git/hooks")).map(Iterator::count).unwrap_or(0);
        let parts = [
            refs.join("\n"),
            fs::read_to_string(self.path("project/.git/HEAD")).unwrap(),
            self.git(&["status", "--porcelain", "--untracked-files=all"]),
            self.git(&["stash", "list"]),
            self.git(&["diff"]),
            self.git(&["diff", "--cached"]),
            fs::read_to_string(self.path("project/.git/config")).unwrap(),
            hooks.to_string(),
        ];
        parts.join("\n---\n")
    }

    pub(crate) fn noted(&self, name: &str) -> String {
        fs::read_to_string(self.path("notes").join(name)).unwrap_or_default()
    }

    /// Every process of this scene that lives: by its home in its environment, or its folder in its arguments.
    pub(crate) fn left(&self) -> Vec<String> {
        let mark = self.root.display().to_string();
        let mut found = Vec::new();
        for entry in fs::read_dir("/proc").unwrap().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.parse::<u32>().is_err() || name == std::process::id().to_string() {
                continue;
            }
            let read = |what: &str| fs::read(entry.path().join(what)).unwrap_or_default();
            let arguments = String::from_utf8_lossy(&read("cmdline")).replace('\0', " ");
            if arguments.contains(&mark) || String::from_utf8_lossy(&read("environ")).contains(&mark) {
                found.push(format!("{name}: {arguments}"));
            }
        }
        found
    }
}

/// Waits for it, and watches its memory.
pub(crate) fn finish(mut child: Child) -> Ran {
    let (out, err) = (all_of(child.stdout.take().unwrap()), all_of(child.stderr.take().unwrap()));
    let (start, mut peak) = (Instant::now(), 0);
    let exit = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status.code().unwrap_or(-1);
        }
        peak = peak.max(high_water(child.id()));
        if start.elapsed() > Duration::from_secs(100) {
            let _ = child.kill();
        }
        thread::sleep(Duration::from_millis(5));
    };
    Ran { stdout: out.join().unwrap(), stderr: err.join().unwrap(), exit, peak }
}

fn all_of(mut pipe: impl std::io::Read + Send + 'static) -> thread::JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = pipe.read_to_end(&mut bytes);
        bytes
    })
}

/// In megabytes.
fn high_water(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches("kB").trim().parse::<u64>().ok()).unwrap_or(0) / 1024
}
