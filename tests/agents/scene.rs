//! A user's project, a scripted model, and `interlock run` between them.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value as Json;

use crate::client::{self, Client};
use crate::models::{Models, Script, Turn};

/// No run of these tests takes a third of this.
const LONGEST: Duration = Duration::from_secs(240);

pub(crate) struct Scene {
    root: PathBuf,
    pub(crate) models: Models,
}

/// What a run of `interlock` left behind.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) exit: Option<i32>,
    pub(crate) signal: Option<i32>,
}

impl Run {
    #[track_caller]
    pub(crate) fn json(&self) -> Json {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error} in {self:#?}"))
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        if !thread::panicking() {
            let _ = fs::remove_dir_all(&self.root);
        }
    }
}

impl Scene {
    /// `None`: there are no clients here, and no way to get them; that was said on stderr.
    pub(crate) fn with_clients(script: Script) -> Option<Self> {
        client::installed()?;
        Some(Self::new(script))
    }

    pub(crate) fn new(script: Script) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("agents-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        // Not in the system's folder for temporary files: Codex lets agents write there whatever its sandbox says.
        let root = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
        let scene = Self { root, models: Models::start(script) };
        for folder in [scene.home(), scene.project()] {
            fs::create_dir_all(folder).expect("a folder for the test");
        }
        scene.git(&["init", "--quiet", "--initial-branch=main"]);
        scene.put("README.md", "A project.\n");
        scene.put("mission.md", "# A page and a login\n\nWrite a page, and open the login with the key.\n");
        scene.git(&["add", "--all"]);
        scene.git(&["commit", "--quiet", "--message=A project"]);
        scene
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.root.join("home")
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.root.join("project")
    }

    /// Where runs have their workspaces.
    pub(crate) fn state(&self) -> PathBuf {
        self.root.join("state")
    }

    fn put(&self, name: &str, text: &str) {
        fs::write(self.project().join(name), text).expect("a file of the project");
    }

    /// An agents file beside the project: one agent plays every role.
    pub(crate) fn team(&self, agent: &str) -> String {
        self.mixed_team(&[("it", agent)], "any: it")
    }

    pub(crate) fn mixed_team(&self, agents: &[(&str, &str)], roles: &str) -> String {
        let path = self.root.join("agents.yaml");
        let agents: String = agents.iter().map(|(name, agent)| format!("  {name}: {agent}\n")).collect();
        let text = format!(
            "agents:\n{agents}roles: {{ {roles} }}\nretry: {{ tries: 3, first: 100ms, longest: 1s }}\ncorrections: 2\nlimits: {{ time: 2m }}\n"
        );
        fs::write(&path, text).expect("an agents file");
        path.display().to_string()
    }

    /// A program of the test's own.
    pub(crate) fn program(&self, name: &str, text: &str) -> String {
        let path = self.root.join(name);
        fs::write(&path, text).expect("a program");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("a program that can be run");
        path.display().to_string()
    }

    /// One agent: a client, and the environment in which it uses the scripted model.
    pub(crate) fn agent(&self, client: Client, more: &str) -> String {
        let environment = client.environment(&self.home(), &self.models.url());
        let set: Vec<String> = environment.iter().map(|(name, value)| format!("{name}: {value:?}")).collect();
        format!("{{ {more}, set: {{ {} }} }}", set.join(", "))
    }

    /// Git as the user has it.
    #[track_caller]
    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        let mut command = Command::new("git");
        command.args(["-c", "user.name=You", "-c", "user.email=you@example.invalid"]).args(arguments);
        let output = command.current_dir(self.project()).output().expect("git runs");
        assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
    }

    pub(crate) fn interlock(&self, arguments: &[&str]) -> Run {
        self.end(self.start(arguments))
    }

    pub(crate) fn start(&self, arguments: &[&str]) -> Child {
        let path = std::env::var("PATH").unwrap_or_default();
        let mut command = Command::new(env!("CARGO_BIN_EXE_interlock"));
        command.args(arguments).current_dir(self.project()).env_clear().env("PATH", path).env("HOME", self.home());
        command.env("XDG_STATE_HOME", self.state()).env("XDG_CONFIG_HOME", self.root.join("config"));
        // Into files: a killed process leaves no pipe that has to be read to its end.
        let file = |name: &str| fs::File::create(self.root.join(name)).expect("a file for output");
        command.stdin(Stdio::null()).stdout(file("stdout")).stderr(file("stderr"));
        command.spawn().expect("interlock starts")
    }

    /// What it left behind; one that does not end is killed, and fails the test.
    #[track_caller]
    pub(crate) fn end(&self, mut child: Child) -> Run {
        let started = Instant::now();
        let status = loop {
            if let Some(status) = child.try_wait().expect("a child can be waited for") {
                break status;
            }
            if started.elapsed() > LONGEST {
                child.kill().expect("a child can be killed");
                panic!("interlock does not end: {}", self.said("stderr"));
            }
            thread::sleep(Duration::from_millis(20));
        };
        Run { stdout: self.said("stdout"), stderr: self.said("stderr"), exit: status.code(), signal: status.signal() }
    }

    fn said(&self, stream: &str) -> String {
        String::from_utf8_lossy(&fs::read(self.root.join(stream)).unwrap_or_default()).into_owned()
    }

    /// Waits until the model is asked something.
    #[track_caller]
    pub(crate) fn until_asked(&self, what: impl Fn(&Turn) -> bool) {
        let started = Instant::now();
        while !self.models.turns().iter().any(&what) {
            assert!(started.elapsed() < LONGEST, "nobody asked: {}", self.said("stderr"));
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// What agents printed in one turn of the last attempt of an assignment.
    #[track_caller]
    pub(crate) fn transcript(&self, result: &Json, id: &str, turn: u32) -> String {
        let report = result["report"].as_str().expect("there is a report");
        let folder = Path::new(report).with_file_name("transcripts");
        let attempt = |path: &Path| {
            let name = path.file_name()?.to_str()?;
            name.strip_prefix(&format!("{id}."))?.strip_suffix(&format!(".{turn}.log"))?.parse::<u32>().ok()
        };
        let all = fs::read_dir(&folder).expect("there are transcripts").flatten().map(|entry| entry.path());
        let last = all.filter(|path| attempt(path).is_some()).max_by_key(|path| attempt(path));
        let path = last.unwrap_or_else(|| panic!("no turn {turn} of {id} in {}", folder.display()));
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// Processes that were started by runs of this scene and live.
    pub(crate) fn left_behind(&self) -> Vec<String> {
        let mark = format!("INTERLOCK_RUN={}", self.state().display());
        let numbers = fs::read_dir("/proc").expect("there is /proc").flatten();
        let is_marked = |path: &Path| {
            let environment = fs::read(path.join("environ")).unwrap_or_default();
            environment.split(|byte| *byte == 0).any(|variable| variable.starts_with(mark.as_bytes()))
        };
        let marked = numbers.map(|entry| entry.path()).filter(|path| is_marked(path));
        marked.map(|path| fs::read_to_string(path.join("cmdline")).unwrap_or_default().replace('\0', " ")).collect()
    }

    /// That no client tried to talk to anybody but the scripted model, which is also their proxy.
    #[track_caller]
    pub(crate) fn nobody_else_was_asked(&self) {
        let strays: Vec<String> =
            self.models.asked().into_iter().filter(|asked| asked.method == "CONNECT").map(|asked| asked.path).collect();
        assert!(strays.is_empty(), "clients wanted to talk to {strays:?}");
    }
}
