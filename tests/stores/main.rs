//! Files that are no store, or no longer a whole one: each gets a code, help and exit 5, and stays as it is.

#[path = "../project/mod.rs"]
#[allow(dead_code, reason = "shared with other tests")]
mod project;

mod damaged;
mod foreign;
mod logs;
mod permissions;
mod versions;

use std::fs;
use std::path::{Path, PathBuf};

use project::{Project, Run};

/// A project with a session and a store to harm.
struct Victim {
    project: Project,
    session: String,
    store: Vec<u8>,
    events: u64,
}

impl Victim {
    fn new(name: &str) -> Self {
        let project = Project::new(name);
        let session = project.planned(2);
        let events = project.verified();
        let store = fs::read(project.store()).unwrap();
        Self { project, session, store, events }
    }

    /// Puts a file in the place of the store, with nothing beside it.
    fn put(&self, bytes: &[u8]) {
        for ending in ["-wal", "-shm", "-journal"] {
            let _ = fs::remove_file(beside(&self.project.store(), ending));
        }
        fs::write(self.project.store(), bytes).unwrap();
    }

    /// Everything that only looks.
    fn looks(&self) -> Vec<Vec<String>> {
        let Self { session, project, .. } = self;
        let backup = project.root().join("backup.db");
        let _ = fs::remove_file(&backup);
        let commands = [
            "session list".to_owned(),
            format!("session show {session}"),
            format!("session next {session}"),
            format!("log {session}"),
            format!("why {session}.d1"),
            "question list".to_owned(),
            "audit verify".to_owned(),
            format!("audit export {session}"),
            format!("backup {}", backup.display()),
        ];
        commands.iter().map(|command| command.split(' ').map(str::to_owned).collect()).collect()
    }

    /// Everything that writes.
    fn writes(&self) -> Vec<Vec<String>> {
        let commands = [
            format!("claim {}.a2", self.session),
            format!("cancel {}", self.session),
            "session start --title T".to_owned(),
            "rebuild".to_owned(),
        ];
        commands.iter().map(|command| command.split(' ').map(str::to_owned).collect()).collect()
    }

    /// Every command is told the same of this file, which is then as it was.
    #[track_caller]
    fn refused_everywhere(&self, store: &Path, code: &str) {
        let before = fs::read(store).ok();
        for command in self.looks().iter().chain(&self.writes()) {
            let run = project::run(self.project.command(command).env("INTERLOCK_STORE", store));
            assert_eq!(run.unavailable(), code, "{command:?}: {run:?}");
        }
        assert!(before == fs::read(store).ok(), "{} has been changed", store.display());
    }

    /// No state of the file makes a command panic, and commands that only read change nothing.
    #[track_caller]
    fn survived(&self) -> Run {
        let before = fs::read(self.project.store()).unwrap();
        for command in self.looks() {
            coded(&command, &self.project.run(&command));
        }
        let verified = self.project.run(&["audit", "verify"]);
        assert!(before == fs::read(self.project.store()).unwrap(), "the store has been changed");
        for command in self.writes() {
            coded(&command, &self.project.run(&command));
        }
        coded(&[], &self.project.run(&["audit", "verify"]));
        verified
    }
}

/// It ended as any command may: well, or with a code that is not a bug's.
#[track_caller]
fn coded(command: &[String], run: &Run) {
    match run.exit {
        Some(0) => drop(run.json()),
        // The event log was changed.
        Some(3) if run.json()["valid"] == false => assert!(!run.json()["problems"].as_array().unwrap().is_empty()),
        Some(3..=5) => assert_ne!(run.code(), "E0406", "{command:?}: {run:?}"),
        _ => panic!("{command:?}: {run:?}"),
    }
}

fn beside(store: &Path, ending: &str) -> PathBuf {
    PathBuf::from(format!("{}{ending}", store.display()))
}
