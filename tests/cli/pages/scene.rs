//! A prepared folder in which the commands of a page run: a home, a project and, if needed, a running server.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::{Value as Json, json};

use super::examples::minimal_handoff;

/// The address that pages show for a server. The port of the running one replaces it.
pub(super) const SHOWN_ADDRESS: &str = "127.0.0.1:7420";

pub(super) struct Scene {
    root: PathBuf,
    /// The id of the session that `add-login-4f2k` stands for.
    pub(super) session: Option<String>,
    /// The address that [`SHOWN_ADDRESS`] stands for.
    pub(super) address: Option<String>,
    /// Programs that run while the commands of the page do.
    running: Vec<Child>,
}

impl Drop for Scene {
    fn drop(&mut self) {
        for child in &mut self.running {
            let _ = child.kill();
            let _ = child.wait();
        }
        if !std::thread::panicking() {
            let _ = fs::remove_dir_all(&self.root);
        }
    }
}

impl Scene {
    pub(super) fn new(name: &str) -> Self {
        let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join("pages_console").join(name);
        let _ = fs::remove_dir_all(&root);
        let scene = Self { root, session: None, address: None, running: Vec::new() };
        for folder in [scene.home(), scene.project(), scene.root.join("bin")] {
            fs::create_dir_all(folder).expect("a folder");
        }
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_interlock"), scene.root.join("bin/interlock")).expect("a link");
        fs::write(scene.home().join(".gitconfig"), "[user]\nname = ann\nemail = ann@example.com\n").expect("a file");
        scene
    }

    pub(super) fn home(&self) -> PathBuf {
        self.root.join("home")
    }

    pub(super) fn project(&self) -> PathBuf {
        self.root.join("home/project")
    }

    pub(super) fn write(&self, file: &str, content: &str) {
        let path = self.project().join(file);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, content).expect("a file");
    }

    /// The folder with the keys of the store.
    pub(super) fn keys(&self) -> PathBuf {
        let mut folders = fs::read_dir(self.home().join(".config/interlock")).expect("keys");
        folders.next().expect("a store").expect("readable").path()
    }

    /// A shell in the project with the program on its PATH and nothing of the caller's environment.
    fn shell(&self, script: &str) -> Command {
        let mut command = Command::new("sh");
        let outer = std::env::var("PATH").unwrap_or_default();
        command.arg("-c").arg(script).env_clear().current_dir(self.project()).stdin(Stdio::null());
        command.env("PATH", format!("{}:{outer}", self.root.join("bin").display()));
        command.env("HOME", self.home()).env("USER", "ann").env("LC_ALL", "C");
        command
    }

    /// What the command prints on both streams.
    pub(super) fn run(&self, script: &str) -> String {
        let output = self.shell(&format!("exec 2>&1\n{script}")).output().expect("a shell");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// A step of the preparation, which has to succeed.
    pub(super) fn prepare(&self, script: &str) -> String {
        let output = self.shell(script).output().expect("a shell");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
        assert!(output.status.success(), "{}: {script}\n{stdout}{stderr}", self.root.display());
        stdout
    }

    fn prepare_json(&self, script: &str) -> Json {
        let printed = self.prepare(script);
        serde_json::from_str(&printed).unwrap_or_else(|error| panic!("{script}: {error}: {printed}"))
    }

    pub(super) fn start_session(&mut self, options: &str) {
        let started = self.prepare_json(&format!("interlock session start --title 'Add login' --json {options}"));
        self.session = Some(started["session"].as_str().expect("an id").to_owned());
    }

    /// Learns the id of the session that a command of the page has started.
    pub(super) fn find_session(&mut self) {
        let listed = self.run("interlock session list --json");
        let listed: Json = serde_json::from_str(&listed).unwrap_or_default();
        self.session = listed["sessions"][0]["session"].as_str().map(str::to_owned);
    }

    /// The id of something in the session, such as `a1`.
    pub(super) fn id(&self, local: &str) -> String {
        format!("{}.{local}", self.session.as_ref().expect("a session"))
    }

    /// Claims the assignment. Its token is in the file `token`, a handoff of its role in `output.json`.
    pub(super) fn claim(&self, assignment: &str) {
        let claimed = self.prepare_json(&format!("interlock claim {} --json", self.id(assignment)));
        self.write("token", claimed["token"].as_str().expect("a token"));
        let handoff = minimal_handoff(claimed["role"].as_str().expect("a role"), claimed["phase"].as_str());
        self.write("output.json", &format!("{handoff:#}\n"));
    }

    /// Claims the open assignment of a role, submits its handoff, and leaves the file `token` behind. Group EXPORT waits.
    pub(super) fn play(&self, role: &str, status: &str, more: Json) {
        let session = self.session.as_ref().expect("a session");
        let next = self.prepare_json(&format!("interlock session next {session} --json"));
        let open = next["assignments"].as_array().expect("assignments");
        let is_main_line = |assignment: &&Json| assignment["role"] == role && assignment["group"] != "EXPORT";
        let found = open.iter().find(is_main_line);
        let found = found.unwrap_or_else(|| panic!("{role} has no open assignment: {next}"));
        let id = found["assignment"].as_str().expect("an id");
        self.claim(id.rsplit('.').next().expect("a local id"));
        let mut handoff = minimal_handoff(role, None);
        handoff["status"] = json!(status);
        if let (Json::Object(handoff), Json::Object(more)) = (&mut handoff, more) {
            handoff.extend(more);
        }
        self.write("output.json", &format!("{handoff:#}\n"));
        self.prepare(&format!("interlock report --assignment {id} --token-file token output.json"));
    }

    /// Starts a program that runs until the scene ends.
    pub(super) fn launch(&mut self, script: &str) {
        let child = self.shell(&format!("exec {script}")).stdout(Stdio::null()).spawn().expect("a shell");
        self.running.push(child);
    }

    /// The same, and returns the first line that it prints with this text.
    pub(super) fn launch_until(&mut self, script: &str, text: &str) -> String {
        let mut child = self.shell(&format!("exec {script}")).stdout(Stdio::piped()).spawn().expect("a shell");
        let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
        self.running.push(child);
        let found = lines.find_map(|line| line.ok().filter(|line| line.contains(text)));
        found.unwrap_or_else(|| panic!("{script}: no line has `{text}`"))
    }
}
