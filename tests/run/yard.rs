//! A project in git, with a home of its own, for runs of the real program.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value as Json;

pub(crate) struct Yard {
    root: PathBuf,
}

impl Yard {
    /// A new project with these files, committed.
    pub(crate) fn new(test: &str, files: &[(&str, &str)]) -> Self {
        let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join("run").join(test);
        let _ = fs::remove_dir_all(&root);
        let yard = Self { root };
        fs::create_dir_all(yard.project()).expect("a folder for the test");
        for (path, text) in files {
            yard.write(path, text);
        }
        yard.git(&["init", "-q", "-b", "main"]);
        yard.git(&["add", "-A"]);
        yard.git(&["commit", "-q", "--allow-empty", "-m", "The beginning"]);
        yard
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.root.join("project")
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.project().join(path)
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text).expect("a file");
    }

    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        let mut command = Command::new("git");
        command.args(["-c", "user.name=T", "-c", "user.email=t@example.invalid"]).args(arguments);
        let output = command.current_dir(self.project()).env("HOME", &self.root).output().expect("git");
        assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("UTF-8").trim_end().to_owned()
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_interlock"));
        command.args(arguments).current_dir(self.project()).stdin(Stdio::null());
        command.env("HOME", &self.root).env_remove("XDG_CONFIG_HOME").env_remove("XDG_STATE_HOME").env("USER", "ann");
        command
    }

    pub(crate) fn ask(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().expect("the program starts")
    }

    /// The document of a command that does what it is asked.
    #[track_caller]
    pub(crate) fn json(&self, arguments: &[&str]) -> Json {
        let arguments: Vec<&str> = arguments.iter().copied().chain(["--json"]).collect();
        let output = self.ask(&arguments);
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{arguments:?}: {text}{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error} in {text}"))
    }

    /// Runs to the end.
    #[track_caller]
    pub(crate) fn run(&self, arguments: &[&str]) -> Json {
        let arguments: Vec<&str> = ["run"].iter().chain(arguments).copied().collect();
        self.json(&arguments)
    }

    /// A run in the background.
    pub(crate) fn start(&self, arguments: &[&str]) -> Child {
        let mut command = self.command(&["run"]);
        command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program starts")
    }

    /// The kinds and statuses of what happened on a group, in order.
    pub(crate) fn statuses(&self, session: &str) -> Vec<String> {
        let log = self.json(&["log", session]);
        let events = log["events"].as_array().expect("events").clone();
        let status = |event: &Json| {
            // A refused report was not accepted with its status.
            let (kind, cause) = event["data"]["cause"].as_object()?.iter().next()?;
            cause["status"].as_str().filter(|_| kind != "refused").map(str::to_owned)
        };
        events.iter().filter_map(status).collect()
    }

    /// A file as the result has it.
    pub(crate) fn result(&self, session: &str, path: &str) -> String {
        self.git(&["show", &format!("interlock/{session}:{path}")])
    }

    /// Waits until something is so.
    pub(crate) fn until<T>(&self, what: &str, mut look: impl FnMut() -> Option<T>) -> T {
        let end = Instant::now() + Duration::from_secs(60);
        loop {
            if let Some(found) = look() {
                return found;
            }
            assert!(Instant::now() < end, "waited in vain: {what}");
            std::thread::sleep(Duration::from_millis(30));
        }
    }
}

/// A script in which everybody does the usual; `more` comes first.
pub(crate) fn script(groups: &str, more: &str) -> String {
    format!(
        "steps:\n{more}\n  - role: project_manager\n    group: session\n    attempt: 1\n    says: {{ status: PLANNING_COMPLETE, groups: [{groups}] }}\n  \
         - {{ role: project_manager, group: session, says: {{ status: BAZINGA }} }}\n  \
         - {{ role: project_manager, says: {{ status: GROUP_ACCEPTED }} }}\n  \
         - {{ role: developer, does: [{{ write: \"{{group}}.txt\", text: \"{{group}}\\n\" }}], says: {{ status: READY_FOR_QA }} }}\n  \
         - {{ role: senior_software_engineer, says: {{ status: READY_FOR_QA }} }}\n  \
         - {{ role: qa_expert, says: {{ status: PASS, test_progression: {{ still_failing: [] }} }} }}\n  \
         - {{ role: tech_lead, says: {{ status: APPROVED, issues: [] }} }}\n"
    )
}
