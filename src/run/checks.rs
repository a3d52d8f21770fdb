//! Commands that Interlock runs itself. What came of one is bound to the tree it ran on: the same command on the same
//! tree is not run twice, and on another tree nothing is known.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use interlock_core::code::Code;
use interlock_core::id::Name;

use crate::failure::{Exit, Failure};
use crate::git::Hash;
use crate::process::{self, Control, End, Limits, Listener, Spec, Stdin, Stream, Talk};
use crate::run::crew::Crew;
use crate::team;

/// What is kept of the output of a command: its end.
const KEPT: usize = 8 << 10;
const USUAL_TIME: Duration = Duration::from_secs(15 * 60);
/// What commands that build and test things expect to find.
const VARIABLES: &[&str] = &[
    "HOME",
    "PATH",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LC_*",
    "TZ",
    "TMPDIR",
    "TERM",
    "XDG_*",
    "SSL_CERT_*",
    "CARGO_*",
    "RUSTUP_*",
    "GO*",
    "JAVA_HOME",
    "NODE_*",
    "NPM_*",
    "npm_*",
    "PYTHON*",
    "VIRTUAL_ENV",
    "CC",
    "CXX",
    "CFLAGS",
    "CXXFLAGS",
    "LD_LIBRARY_PATH",
    "PKG_CONFIG_*",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
];

/// What came of some commands.
#[derive(Clone, Debug)]
pub(super) struct Result {
    pub(super) passed: bool,
    pub(super) output: String,
    /// The command that failed.
    pub(super) failed: Option<String>,
}

/// Where, on what, and which command.
type Subject = (PathBuf, Hash, Vec<Name>);

#[derive(Default)]
pub(super) struct Checks {
    /// By the folder, too: what git ignores is there as well, and an agent may have put it there.
    known: Mutex<BTreeMap<Subject, Result>>,
}

impl Crew {
    /// Runs commands on a tree that is laid out in `folder`; the first that fails ends it.
    pub(super) fn check(
        &self,
        tree: &Hash,
        commands: &[Vec<Name>],
        folder: &Path,
        timeout: Option<Duration>,
        control: &Control,
    ) -> std::result::Result<Option<Result>, Failure> {
        let mut output = String::new();
        for command in commands {
            let Some(result) = self.check_one(tree, command, folder, timeout, control)? else { return Ok(None) };
            output.push_str(&result.output);
            if !result.passed {
                return Ok(Some(Result { output, ..result }));
            }
        }
        Ok(Some(Result { passed: true, output, failed: None }))
    }

    /// `None`: it was stopped.
    fn check_one(
        &self,
        tree: &Hash,
        command: &[Name],
        folder: &Path,
        timeout: Option<Duration>,
        control: &Control,
    ) -> std::result::Result<Option<Result>, Failure> {
        let known = (folder.to_owned(), tree.clone(), command.to_vec());
        let held = || self.checks.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(result) = held().get(&known) {
            return Ok(Some(result.clone()));
        }
        let line: Vec<&str> = command.iter().map(Name::as_str).collect();
        let line = line.join(" ");
        let mut tail = Tail::default();
        let spec = self.check_spec(command, folder, timeout);
        let end = match process::run(&spec, control, &mut tail) {
            Ok(End::Stopped) => return Ok(None),
            Ok(end) => end,
            // A command that is not there has failed like any other: the plan may be an agent's.
            Err(error)
                if matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::PermissionDenied) =>
            {
                tail.add(error.to_string().as_bytes());
                End::Exited(127)
            }
            Err(error) => {
                return Err(Failure::new(Exit::Unavailable, Code::ProgramMissing, format!("{line}: {error}")));
            }
        };
        let passed = end == End::Exited(0);
        let output = format!("$ {line}\n{}{}\n", tail.text(), ending(end));
        let result = Result { passed, output, failed: (!passed).then_some(line) };
        // A time-out says as much of the machine as of the tree.
        if matches!(end, End::Exited(_)) {
            held().insert(known, result.clone());
        }
        Ok(Some(result))
    }

    /// Runs a command that makes a workspace ready; that it fails ends the run.
    pub(super) fn prepare(
        &self,
        command: &[String],
        folder: &Path,
        control: &Control,
    ) -> std::result::Result<(), Failure> {
        let words: Vec<Name> = command.iter().map(|word| Name::new(word)).collect();
        let mut tail = Tail::default();
        let end = process::run(&self.check_spec(&words, folder, None), control, &mut tail);
        let why = match end {
            Ok(End::Exited(0) | End::Stopped) => return Ok(()),
            Ok(end) => format!("{}\n{}", ending(end), tail.text()),
            Err(error) => error.to_string(),
        };
        let message = format!("`{}` does not make the workspace ready: {why}", command.join(" "));
        Err(Failure::new(Exit::Unavailable, Code::BadAgent, message).help("mend `prepare` in the agents file"))
    }

    fn check_spec(&self, command: &[Name], folder: &Path, timeout: Option<Duration>) -> Spec {
        let (program, arguments) = command.split_first().map_or(("", &[][..]), |(first, rest)| (first.as_str(), rest));
        let variables = team::environment(VARIABLES.iter().copied());
        Spec {
            program: program.into(),
            arguments: arguments.iter().map(|word| word.as_str().into()).collect(),
            environment: variables.into_iter().map(|(name, value)| (name.into(), value.into())).collect(),
            folder: folder.to_owned(),
            stdin: Stdin::Nothing,
            limits: Limits {
                time: Some(timeout.unwrap_or(USUAL_TIME)),
                output: u64::MAX,
                line: 1 << 20,
                ..Limits::default()
            },
            transcript: None,
            lock: Some(self.lock.clone()),
            mark: format!("{}/check", self.mark),
        }
    }
}

fn ending(end: End) -> String {
    match end {
        End::Exited(0) => "passed".to_owned(),
        End::Exited(code) => format!("failed: exit code {code}"),
        End::TimedOut | End::Silent => "failed: it took too long".to_owned(),
        End::Flooded => "failed: it printed too much".to_owned(),
        End::Stopped => "stopped".to_owned(),
    }
}

/// The end of what was printed.
#[derive(Default)]
struct Tail(Vec<u8>);

impl Tail {
    fn add(&mut self, line: &[u8]) {
        self.0.extend_from_slice(line);
        self.0.push(b'\n');
        if self.0.len() > 2 * KEPT {
            self.0.drain(..self.0.len() - KEPT);
        }
    }

    fn text(&self) -> String {
        let from = self.0.len().saturating_sub(KEPT);
        let text = String::from_utf8_lossy(&self.0[from..]);
        if from > 0 { format!("…{text}") } else { text.into_owned() }
    }
}

impl Listener for Tail {
    fn line(&mut self, _: Stream, line: &[u8], _: bool, _: &mut Talk<'_>) {
        self.add(line);
    }
}
