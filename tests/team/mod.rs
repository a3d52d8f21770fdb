//! A team at work: the real program on a store of its own, with keys of its own.
#![allow(dead_code, reason = "each test takes what it needs")]

pub(crate) mod incident;

use std::fmt;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::{Value as Json, json};

/// What a run of a program left behind.
pub(crate) struct Run {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) exit: i32,
}

impl Run {
    fn of(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).expect("output is UTF-8");
        let exit = output.status.code().expect("the program was not killed");
        Self { stdout: text(output.stdout), stderr: text(output.stderr), exit }
    }

    /// The one JSON document on stdout; there must be nothing else anywhere.
    pub(crate) fn json(&self) -> Json {
        assert_eq!(self.stderr, "", "with --json, stderr is empty");
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error} in {}", self.stdout))
    }

    /// It did what was asked.
    #[track_caller]
    pub(crate) fn done(&self) -> Json {
        assert_eq!(self.exit, 0, "{self}");
        self.json()
    }

    /// The code of a refusal.
    pub(crate) fn code(&self) -> String {
        self.json()["error"]["code"].as_str().unwrap_or_else(|| panic!("no refusal: {self}")).to_owned()
    }
}

impl fmt::Display for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}--- exit {}", self.stdout, self.stderr, self.exit)
    }
}

/// Who holds an assignment: its id and its secret.
#[derive(Clone, Debug)]
pub(crate) struct Holder {
    pub(crate) assignment: String,
    pub(crate) role: String,
    pub(crate) token: String,
}

impl Holder {
    /// As if the assignment were another's.
    pub(crate) fn with_token(&self, token: &str) -> Self {
        Self { token: token.to_owned(), ..self.clone() }
    }
}

/// A project with a store, and the configuration folder that has its keys.
pub(crate) struct Team {
    root: PathBuf,
}

impl Team {
    pub(crate) fn new(test: &str) -> Self {
        let team = Self::in_folder(test);
        fs::create_dir_all(team.project()).expect("a folder for the test");
        team.ask(&["init"]).done();
        team
    }

    /// The same project, the same store, the same keys, elsewhere.
    pub(crate) fn copy(&self, test: &str) -> Self {
        let team = Self::in_folder(test);
        copy_folder(&self.root, &team.root);
        team
    }

    fn in_folder(test: &str) -> Self {
        let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test.replace("::", "-"));
        let _ = fs::remove_dir_all(&root);
        Self { root }
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.root.join("project")
    }

    pub(crate) fn config(&self) -> PathBuf {
        self.root.join("config")
    }

    pub(crate) fn store(&self) -> PathBuf {
        self.project().join(".interlock/interlock.db")
    }

    /// A file of the test, outside of the project.
    pub(crate) fn file(&self, name: &str, content: &str) -> PathBuf {
        let path = self.root.join(name);
        fs::write(&path, content).expect("a file for the test");
        path
    }

    /// The folder with the keys of the store.
    pub(crate) fn keys(&self) -> PathBuf {
        let mut folders = fs::read_dir(self.config().join("interlock")).expect("keys");
        folders.next().expect("a store").expect("readable").path()
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_interlock"));
        command.args(arguments).env_clear().stdin(Stdio::null()).current_dir(self.project());
        command.env("HOME", &self.root).env("XDG_CONFIG_HOME", self.config()).env("USER", "ann");
        command
    }

    /// Runs a command with all the keys, as a script does.
    pub(crate) fn ask(&self, arguments: &[&str]) -> Run {
        run(self.command(arguments).arg("--json"), "")
    }

    /// Runs a command with a key file that has none.
    pub(crate) fn ask_without_keys(&self, arguments: &[&str]) -> Run {
        let empty = self.file("no.key", "");
        run(self.command(arguments).arg("--json").env("INTERLOCK_KEY_FILE", empty), "")
    }

    pub(crate) fn start(&self, title: &str) -> String {
        let started = self.ask(&["session", "start", "--title", title]).done();
        started["session"].as_str().expect("a session").to_owned()
    }

    pub(crate) fn show(&self, session: &str) -> Json {
        self.ask(&["session", "show", session]).done()
    }

    pub(crate) fn status(&self, session: &str) -> String {
        self.show(session)["status"].as_str().expect("a status").to_owned()
    }

    pub(crate) fn group(&self, session: &str, group: &str) -> Json {
        let shown = self.show(session);
        let groups = shown["groups"].as_array().expect("groups");
        groups.iter().find(|known| known["id"] == group).unwrap_or_else(|| panic!("no group {group}")).clone()
    }

    pub(crate) fn group_status(&self, session: &str, group: &str) -> String {
        self.group(session, group)["status"].as_str().expect("a status").to_owned()
    }

    /// Who is to work: role and group, `-` for the session itself.
    pub(crate) fn open(&self, session: &str) -> Vec<(String, String)> {
        let next = self.ask(&["session", "next", session]).done();
        let text = |value: &Json| value.as_str().unwrap_or("-").to_owned();
        let assignments = next["assignments"].as_array().expect("assignments");
        assignments.iter().map(|given| (text(&given["role"]), text(&given["group"]))).collect()
    }

    /// The open assignment of a role on a group, `-` for the session itself.
    #[track_caller]
    pub(crate) fn assignment(&self, session: &str, role: &str, group: &str) -> String {
        let next = self.ask(&["session", "next", session]).done();
        let wanted = |given: &&Json| given["role"] == role && given["group"].as_str().unwrap_or("-") == group;
        let found = next["assignments"].as_array().expect("assignments").iter().find(wanted);
        let found = found.unwrap_or_else(|| panic!("{role} has nothing to do on {group}: {next}"));
        found["assignment"].as_str().expect("an id").to_owned()
    }

    #[track_caller]
    pub(crate) fn claim(&self, session: &str, role: &str, group: &str) -> Holder {
        let assignment = self.assignment(session, role, group);
        let claimed = self.ask(&["claim", &assignment]).done();
        let token = claimed["token"].as_str().expect("a token").to_owned();
        Holder { assignment, role: role.to_owned(), token }
    }

    /// Submits a handoff of the holder.
    pub(crate) fn report(&self, holder: &Holder, status: &str, more: Json) -> Run {
        self.give(holder, &handoff(&holder.role, status, more).to_string())
    }

    pub(crate) fn give(&self, holder: &Holder, text: &str) -> Run {
        let mut command = self.command(&["report", "--assignment", &holder.assignment, "-", "--json"]);
        run(command.env("INTERLOCK_TOKEN", &holder.token), text)
    }

    /// Claims and reports: one step of the work.
    #[track_caller]
    pub(crate) fn plays(&self, session: &str, role: &str, group: &str, status: &str, more: Json) -> Json {
        let holder = self.claim(session, role, group);
        let run = self.report(&holder, status, more);
        assert_eq!(run.exit, 0, "{role} on {group} reports {status}: {run}");
        run.json()
    }

    pub(crate) fn log(&self, session: &str) -> Vec<Json> {
        let log = self.ask(&["log", session]).done();
        log["events"].as_array().expect("events").clone()
    }

    /// The codes of the refusals in the log, each with its command.
    pub(crate) fn refusals(&self, session: &str) -> Vec<(String, String)> {
        let said = |event: &Json, what: &str| event["data"]["cause"]["refused"][what].as_str().unwrap_or("").to_owned();
        let log = self.log(session);
        let refused = log.iter().filter(|event| event["kind"] == "refused");
        refused.map(|event| (said(event, "command"), said(event, "code"))).collect()
    }

    /// Goes round the program, with the one that comes with SQLite.
    pub(crate) fn sql(&self, script: &str) -> Run {
        run(Command::new("sqlite3").arg("-bail").arg(self.store()), script)
    }

    /// What a query says.
    #[track_caller]
    pub(crate) fn query(&self, query: &str) -> String {
        let run = self.sql(query);
        assert_eq!((run.exit, run.stderr.as_str()), (0, ""), "{query}: {run}");
        run.stdout.trim_end().to_owned()
    }

    /// Goes round the program with its guards taken off first.
    #[track_caller]
    pub(crate) fn tamper(&self, script: &str) {
        let drops = self.query("SELECT 'DROP TRIGGER \"' || name || '\";' FROM sqlite_schema WHERE type = 'trigger'");
        let run = self.sql(&format!("{drops}\n{script}"));
        assert_eq!((run.exit, run.stderr.as_str()), (0, ""), "{script}: {run}");
    }

    /// With the guards taken off and put on again afterwards, so that the schema shows nothing.
    #[track_caller]
    pub(crate) fn tamper_unseen(&self, script: &str) {
        let guards = self.query("SELECT sql || ';' FROM sqlite_schema WHERE type = 'trigger'");
        self.tamper(&format!("{script};\n{guards}"));
    }

    /// Everything in the store that may not change by what is refused.
    pub(crate) fn standing(&self) -> String {
        let tables = [
            "groups",
            "assignments",
            "questions",
            "evidence",
            "blocks",
            "counters",
            "findings",
            "workflows",
            "needs",
            "store",
            "attachments",
            "prompts",
        ];
        let rows = tables.map(|table| format!("SELECT '{table}', * FROM {table};\n")).concat();
        let mut script = format!(".mode quote\n{rows}");
        script += "SELECT id, title, workflow, workflow_hash, status, started_at, lapsed FROM sessions;\n";
        script += "SELECT session, kind, data FROM events WHERE kind <> 'refused' ORDER BY id;\n";
        self.query(&script)
    }
}

/// A handoff as small as it may be, and what is added to it.
pub(crate) fn handoff(role: &str, status: &str, more: Json) -> Json {
    let mut handoff = json!({
        "agent": role,
        "output_type": "report",
        "timestamp": "2025-12-24T10:00:00Z",
        "feature_directory": "features/patient-portal",
        "skills_invoked": [],
        "status": status,
        "handoff": { "next_agent": null, "context": "What the next one has to know is in the report." },
    });
    if let (Json::Object(handoff), Json::Object(more)) = (&mut handoff, more) {
        handoff.extend(more);
    }
    handoff
}

/// Runs a program to its end, with this on its standard input.
pub(crate) fn run(command: &mut Command, input: &str) -> Run {
    run_bytes(command, input.as_bytes())
}

pub(crate) fn run_bytes(command: &mut Command, input: &[u8]) -> Run {
    let name = command.get_program().to_string_lossy().into_owned();
    let started = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut child =
        started.unwrap_or_else(|error| panic!("{name} starts: {error} (`.ci/run` installs what is missing)"));
    // A program that reads nothing closes its end.
    let _ = child.stdin.take().expect("a pipe").write_all(input);
    Run::of(child.wait_with_output().expect("the program ends"))
}

fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder for the test");
    for entry in fs::read_dir(from).expect("a folder") {
        let entry = entry.expect("readable");
        let target = to.join(entry.file_name());
        if entry.file_type().expect("readable").is_dir() {
            copy_folder(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).expect("a copy");
        }
    }
}
