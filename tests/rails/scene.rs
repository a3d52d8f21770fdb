//! A project of a user who has set a client up with Interlock, and a scripted model.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};

use crate::client::{self, Client};
use crate::hands::{Hands, NEWEST_MODEL};
use crate::models::Models;
use crate::orchestrator::{Attempt, Orchestrator, TITLE, Then};

/// No run of these tests takes a fifth of this.
const LONGEST: Duration = Duration::from_secs(240);

/// What the user types.
const PROMPT: &str = "Add a login to this project.";

pub(crate) struct Scene {
    root: PathBuf,
    pub(crate) client: Client,
    hands: Hands,
    pub(crate) models: Models,
    pub(crate) orchestrator: Arc<Orchestrator>,
    environment: Vec<(&'static str, String)>,
}

pub(crate) struct Keys {
    at: PathBuf,
    hidden: PathBuf,
}

impl Keys {
    pub(crate) fn find_again(&self) {
        let _ = fs::remove_dir_all(&self.at);
        fs::rename(&self.hidden, &self.at).expect("the keys are where they were put");
    }
}

/// What a program left behind.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) exit: Option<i32>,
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
            return;
        }
        // The requests to the model, for debugging.
        let asked: Vec<Json> = self.models.asked().into_iter().map(|asked| asked.body).collect();
        let _ = fs::write(self.root.join("asked.json"), json!(asked).to_string());
    }
}

impl Scene {
    /// A project with a store. `None`: there are no clients here, and no way to get them; that was said on stderr.
    pub(crate) fn bare(hands: Hands, then: Then, attempts: Vec<Attempt>) -> Option<Self> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        client::installed()?;
        let client = hands.client;
        let name = format!("rails-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        // Not in the system's folder for temporary files: Codex lets agents write there whatever its sandbox says.
        let root = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
        let (home, project) = (root.join("home"), root.join("project"));
        for folder in [&home, &project] {
            fs::create_dir_all(folder).expect("a folder for the test");
        }
        let root = root.canonicalize().expect("the folder is there");
        let orchestrator = Orchestrator::new(hands, then, attempts);
        let models = Models::start(orchestrator.script());
        let mut environment = client.environment(&root.join("home"), &models.url());
        // The keys are somewhere else than most people have them.
        environment.push(("XDG_CONFIG_HOME", root.join("config").display().to_string()));
        let scene = Self { root, client, hands, models, orchestrator, environment };
        scene.ran("git", &["init", "--quiet", "--initial-branch=main"]);
        scene.put("README.md", "A project.\n");
        scene.interlock(&["init"]);
        Some(scene)
    }

    /// With the client set up by the real command, in a project that the client trusts.
    pub(crate) fn new(hands: Hands, then: Then, attempts: Vec<Attempt>) -> Option<Self> {
        let scene = Self::bare(hands, then, attempts)?;
        scene.trust();
        let installed = scene.interlock(&["plugin", "install", scene.client.name(), "--yes"]);
        assert_eq!(installed.exit, Some(0), "{installed:#?}");
        Some(scene)
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.root.join("project")
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.root.join("home")
    }

    pub(crate) fn put(&self, name: &str, text: &str) {
        put(&self.project().join(name), text);
    }

    pub(crate) fn file(&self, name: &str) -> Option<String> {
        fs::read_to_string(self.project().join(name)).ok()
    }

    /// The user has said in the client's dialog that the project may be trusted. Codex asks for nothing of the kind
    /// where there is no terminal.
    pub(crate) fn trust(&self) {
        let project = self.project().display().to_string();
        match self.client {
            Client::Claude => {
                let trusted = json!({ "projects": { project: { "hasTrustDialogAccepted": true } } });
                put(&self.home().join("claude/.claude.json"), &trusted.to_string());
            }
            Client::Gemini => {
                let trusted = json!({ project: "TRUST_FOLDER" });
                put(&self.home().join("gemini/.gemini/trustedFolders.json"), &trusted.to_string());
            }
            Client::Codex | Client::CodexAcp => {}
        }
    }

    /// Only what was watched counts in sessions that are started from now on.
    pub(crate) fn requires_watching(&self) {
        let workflow = self.file("interlock.yaml").expect("init has written it");
        self.put("interlock.yaml", &format!("{workflow}\norchestrator: {{ watched: required }}\n"));
    }

    /// The client, from the user's prompt to its end.
    pub(crate) fn run(&self, more: &[&str]) -> Run {
        self.asked(more, PROMPT)
    }

    /// The client, asked something else.
    pub(crate) fn asked(&self, more: &[&str], prompt: &str) -> Run {
        let base: &[&str] = match self.client {
            Client::Claude => &[
                "-p",
                "--output-format",
                "stream-json",
                "--verbose",
                "--allowedTools",
                "Agent,Bash,Edit,Read,Write,mcp__plugin_interlock_interlock,mcp__interlock",
            ],
            Client::Gemini => {
                &["--output-format", "stream-json", "--approval-mode", "yolo", "--model", "gemini-2.5-flash"]
            }
            Client::Codex | Client::CodexAcp => &["exec", "--json", "--dangerously-bypass-approvals-and-sandbox"],
        };
        let end: &[&str] = match self.client {
            Client::Codex if self.hands.codes => &["--model", NEWEST_MODEL, "-"],
            Client::Codex => &["-"],
            Client::Claude | Client::Gemini | Client::CodexAcp => &[],
        };
        let program = client::programs().join(self.client.name());
        self.started(&program, &[base, more, end].concat(), prompt)
    }

    /// The session is there before the client is.
    pub(crate) fn start_session(&self) {
        let started = self.interlock(&["--json", "session", "start", "--title", TITLE]);
        assert_eq!(started.exit, Some(0), "{started:#?}");
        self.orchestrator.goes_on_with(started.json()["session"].as_str().expect("a session has a name"));
    }

    /// The keys of the store are gone, until they are found again.
    pub(crate) fn lose_keys(&self) -> Keys {
        let keys = Keys { at: self.root.join("config"), hidden: self.root.join("hidden") };
        fs::rename(&keys.at, &keys.hidden).expect("there are keys");
        keys
    }

    /// The client, for something else than a conversation.
    pub(crate) fn client(&self, arguments: &[&str], stdin: &str) -> Run {
        self.started(&client::programs().join(self.client.name()), arguments, stdin)
    }

    /// The client, ready for a command.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(client::programs().join(self.client.name()));
        command.args(arguments).current_dir(self.project()).env_clear().envs(self.environment.iter().cloned());
        command
    }

    pub(crate) fn interlock(&self, arguments: &[&str]) -> Run {
        self.started(Path::new(env!("CARGO_BIN_EXE_interlock")), arguments, "")
    }

    #[track_caller]
    fn ran(&self, program: &str, arguments: &[&str]) {
        let run = self.started(Path::new(program), arguments, "");
        assert_eq!(run.exit, Some(0), "{run:#?}");
    }

    fn started(&self, program: &Path, arguments: &[&str], stdin: &str) -> Run {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        // Files: a killed process leaves no pipe that has to be read to its end.
        let path = |stream: &str| self.root.join(format!("{stream}-{number}"));
        put(&path("in"), stdin);
        let file = |stream: &str| fs::File::create(path(stream)).expect("a file for output");
        let mut command = Command::new(program);
        command.args(arguments).current_dir(self.project()).env_clear().envs(self.environment.iter().cloned());
        command.stdin(fs::File::open(path("in")).expect("what it is asked")).stdout(file("out")).stderr(file("err"));
        let mut child = command.spawn().unwrap_or_else(|error| panic!("{}: {error}", program.display()));
        let said = |stream: &str| String::from_utf8_lossy(&fs::read(path(stream)).unwrap_or_default()).into_owned();
        let started = Instant::now();
        let status = loop {
            if let Some(status) = child.try_wait().expect("a child can be waited for") {
                break status;
            }
            if started.elapsed() > LONGEST {
                child.kill().expect("a child can be killed");
                panic!("{} does not end: {} {}", program.display(), said("out"), said("err"));
            }
            thread::sleep(Duration::from_millis(20));
        };
        Run { stdout: said("out"), stderr: said("err"), exit: status.code() }
    }

    /// How the session stands, for scripts.
    #[track_caller]
    pub(crate) fn shown(&self) -> Json {
        self.interlock(&["--json", "session", "show", &self.orchestrator.session()]).json()
    }

    /// What was refused in the session.
    #[track_caller]
    pub(crate) fn refused(&self) -> Vec<Json> {
        let log = self.interlock(&["--json", "log", &self.orchestrator.session()]);
        let log = log.json();
        let events = log["events"].as_array().unwrap_or_else(|| panic!("no events in {log:#}"));
        let refused = events.iter().filter(|event| event["kind"] == "refused");
        refused.map(|event| event["data"]["cause"]["refused"].clone()).collect()
    }

    /// That no client tried to talk to anybody but the scripted model, which is also their proxy.
    #[track_caller]
    pub(crate) fn nobody_else_was_asked(&self) {
        let strays: Vec<String> =
            self.models.asked().into_iter().filter(|asked| asked.method == "CONNECT").map(|asked| asked.path).collect();
        assert!(strays.is_empty(), "clients wanted to talk to {strays:?}");
    }
}

pub(crate) fn put(file: &Path, text: &str) {
    fs::create_dir_all(file.parent().expect("files lie in a folder")).expect("a folder");
    fs::write(file, text).expect("a file");
}
