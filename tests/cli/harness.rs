//! Runs the program.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value as Json;

/// What a run of the program left behind.
pub(crate) struct Run {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) exit: i32,
}

impl Run {
    /// The one JSON document on stdout; there must be nothing else anywhere.
    pub(crate) fn json(&self) -> Json {
        assert_eq!(self.stderr, "", "with --json, stderr is empty");
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error} in {}", self.stdout))
    }
}

impl fmt::Display for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.stdout)?;
        if !self.stderr.is_empty() {
            write!(f, "--- stderr\n{}", self.stderr)?;
        }
        write!(f, "--- exit {}", self.exit)
    }
}

/// The program, with an environment that does not depend on who runs the tests.
pub(crate) fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_interlock"));
    command.args(arguments).env_clear().stdin(Stdio::null()).current_dir(env!("CARGO_TARGET_TMPDIR"));
    command
}

pub(crate) fn run(command: &mut Command) -> Run {
    let output = command.output().expect("the program starts");
    Run {
        stdout: String::from_utf8(output.stdout).expect("stdout is UTF-8"),
        stderr: String::from_utf8(output.stderr).expect("stderr is UTF-8"),
        exit: output.status.code().expect("the program was not killed"),
    }
}

pub(crate) fn interlock(arguments: &[&str]) -> Run {
    run(&mut command(arguments))
}

/// A folder for one test.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new(test: &str) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).expect("a folder for the test");
        Self(path)
    }

    pub(crate) fn with(self, file: &str, content: impl AsRef<[u8]>) -> Self {
        fs::write(self.0.join(file), content).expect("a file for the test");
        self
    }

    pub(crate) fn interlock(&self, arguments: &[&str]) -> Run {
        run(command(arguments).current_dir(&self.0))
    }
}
