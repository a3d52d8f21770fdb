//! One scripted model, one repository, and clients run in it.

use std::fs;
use std::io::{Read, Write as _};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use serde_json::Value as Json;

use crate::client::{self, Client};
use crate::models::{Models, Script};

/// No run of a client in these tests takes a tenth of this.
pub(crate) const LONGEST: Duration = Duration::from_secs(120);

pub(crate) struct Scene {
    root: PathBuf,
    pub(crate) models: Models,
}

/// What a client left behind.
#[derive(Debug)]
pub(crate) struct Run {
    /// The events on stdout.
    pub(crate) lines: Vec<Json>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) exit: Option<i32>,
}

impl Run {
    /// The last event of a type.
    #[track_caller]
    pub(crate) fn last(&self, kind: &str) -> &Json {
        self.all(kind).last().copied().unwrap_or_else(|| panic!("no {kind} in {self:#?}"))
    }

    pub(crate) fn all(&self, kind: &str) -> Vec<&Json> {
        self.lines.iter().filter(|line| line["type"] == kind).collect()
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
    pub(crate) fn new(script: Script) -> Option<Self> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        client::installed()?;
        let name = format!("clients-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        // Not in the system's folder for temporary files: Codex lets agents write there whatever its sandbox says.
        let root = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
        let scene = Self { root, models: Models::start(script) };
        fs::create_dir_all(scene.home()).expect("a home");
        fs::create_dir_all(scene.repository()).expect("a repository");
        let made = Command::new("git").args(["init", "--quiet"]).current_dir(scene.repository()).status();
        assert!(made.expect("git runs").success());
        Some(scene)
    }

    fn home(&self) -> PathBuf {
        self.root.join("home")
    }

    pub(crate) fn repository(&self) -> PathBuf {
        self.root.join("repository")
    }

    /// What agents have written into a file of the repository.
    #[track_caller]
    pub(crate) fn file(&self, name: &str) -> String {
        fs::read_to_string(self.repository().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    pub(crate) fn start(&self, client: Client, arguments: &[&str]) -> Child {
        let mut command = client.command(&self.home(), &self.models.url());
        command.args(arguments).current_dir(self.repository());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().expect("the client starts")
    }

    /// Runs a client to its end, with the prompt on stdin: an argument would be seen by everybody on the machine.
    pub(crate) fn run(&self, client: Client, arguments: &[&str], prompt: &str) -> Run {
        let mut child = self.start(client, arguments);
        let stdout = drain(child.stdout.take().expect("stdout is piped"));
        let stderr = drain(child.stderr.take().expect("stderr is piped"));
        let mut stdin = child.stdin.take().expect("stdin is piped");
        // One that has ended for another reason does not take it, and its exit code tells.
        let _ = stdin.write_all(prompt.as_bytes());
        drop(stdin);
        let exit = end(&mut child);
        let stdout = stdout.join().expect("stdout is read");
        let lines = stdout.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        Run { lines, stdout, stderr: stderr.join().expect("stderr is read"), exit }
    }

    /// That no client tried to talk to anybody but the scripted model, which is also their proxy.
    #[track_caller]
    pub(crate) fn nobody_else_was_asked(&self) {
        let strays: Vec<String> =
            self.models.asked().into_iter().filter(|asked| asked.method == "CONNECT").map(|asked| asked.path).collect();
        assert!(strays.is_empty(), "clients wanted to talk to {strays:?}");
    }
}

pub(crate) fn drain(mut from: impl Read + Send + 'static) -> JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        from.read_to_end(&mut bytes).expect("a pipe can be read");
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

/// The exit code; a client that does not end is killed and fails the test.
pub(crate) fn end(child: &mut Child) -> Option<i32> {
    let started = Instant::now();
    while started.elapsed() < LONGEST {
        if let Some(status) = child.try_wait().expect("a child can be waited for") {
            return status.code();
        }
        thread::sleep(Duration::from_millis(20));
    }
    child.kill().expect("a child can be killed");
    panic!("the client does not end");
}
