//! Commands that Interlock runs itself: with a time, with few variables, and with the end of what they print kept.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use interlock_core::code::Code;
use interlock_core::id::Name;

use interlock_agents::team;
use interlock_app::error::{CommandError, CommandExit};
use interlock_app::gate_commands;
use interlock_system::process::{
    self, OutputListener, OutputStream, ProcessControl, ProcessEnd, ProcessHandle, ProcessLimits, ProcessSpec,
    StdinMode,
};

/// How much of a command's output is kept, from its end.
const KEPT: usize = 8 << 10;
const USUAL_TIME: Duration = Duration::from_secs(15 * 60);
/// Environment variables that build and test commands expect. They are listed by name: a prefix could also match a
/// secret, and these commands run code that agents wrote.
const VARIABLES: &[&str] = &[
    // Of any program.
    "HOME",
    "PATH",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "LC_*",
    "TZ",
    "TMPDIR",
    "TERM",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_RUNTIME_DIR",
    "XDG_STATE_HOME",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    // Rust.
    "CARGO_BUILD_JOBS",
    "CARGO_HOME",
    "CARGO_INCREMENTAL",
    "CARGO_NET_OFFLINE",
    "CARGO_TARGET_DIR",
    "RUSTFLAGS",
    "RUSTUP_HOME",
    "RUSTUP_TOOLCHAIN",
    // Go.
    "CGO_ENABLED",
    "GOARCH",
    "GOBIN",
    "GOCACHE",
    "GOENV",
    "GOFLAGS",
    "GOMODCACHE",
    "GOOS",
    "GOPATH",
    "GOPRIVATE",
    "GOPROXY",
    "GOROOT",
    "GOSUMDB",
    "GOTOOLCHAIN",
    // Java.
    "GRADLE_USER_HOME",
    "JAVA_HOME",
    "MAVEN_OPTS",
    // Node.
    "NODE_ENV",
    "NODE_EXTRA_CA_CERTS",
    "NODE_OPTIONS",
    "NODE_PATH",
    "NPM_CONFIG_CACHE",
    "NPM_CONFIG_REGISTRY",
    "NPM_CONFIG_USERCONFIG",
    "NVM_DIR",
    "PNPM_HOME",
    "npm_config_cache",
    "npm_config_registry",
    "npm_config_userconfig",
    // Python.
    "CONDA_PREFIX",
    "PYENV_ROOT",
    "PYTHONDONTWRITEBYTECODE",
    "PYTHONHASHSEED",
    "PYTHONHOME",
    "PYTHONIOENCODING",
    "PYTHONPATH",
    "PYTHONUNBUFFERED",
    "PYTHONUTF8",
    "UV_CACHE_DIR",
    "VIRTUAL_ENV",
    // C and C++.
    "CC",
    "CFLAGS",
    "CPATH",
    "CXX",
    "CXXFLAGS",
    "LDFLAGS",
    "LD_LIBRARY_PATH",
    "LIBRARY_PATH",
    "PKG_CONFIG_LIBDIR",
    "PKG_CONFIG_PATH",
    "PKG_CONFIG_SYSROOT_DIR",
];
/// Words that mark the name of a variable as a secret.
const SECRET: &[&str] = &["TOKEN", "KEY", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL"];

/// The outcome of a command.
#[derive(Clone, Debug)]
pub(crate) struct CheckOutcome {
    pub(crate) passed: bool,
    /// The command, what it printed at the end, and how it ended.
    pub(crate) output: String,
    /// The command, if it failed.
    pub(crate) failed: Option<String>,
}

/// How commands are run: where, for how long at most, and by what they are found again if this program is killed.
pub(crate) struct CommandSettings<'a> {
    pub(crate) folder: &'a Path,
    pub(crate) timeout: Option<Duration>,
    pub(crate) lock: Option<PathBuf>,
    pub(crate) mark: String,
    /// Variables of the environment that the commands get beside the usual ones.
    pub(crate) variables: &'a [String],
}

/// Runs one command; `None` if it was stopped.
pub(crate) fn run(
    command: &[Name],
    manner: &CommandSettings<'_>,
    control: &ProcessControl,
) -> Result<Option<CheckOutcome>, CommandError> {
    let line = gate_commands::line(command);
    let mut tail = OutputTail::default();
    let end = match process::run(&manner.spec(command), control, &mut tail) {
        Ok(ProcessEnd::Stopped) => return Ok(None),
        Ok(end) => end,
        // A command that is not there has failed like any other: the plan may be an agent's.
        Err(error) if matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::PermissionDenied) => {
            tail.add(error.to_string().as_bytes());
            ProcessEnd::Exited(127)
        }
        Err(error) => {
            return Err(CommandError::new(CommandExit::Unavailable, Code::ProgramMissing, format!("{line}: {error}")));
        }
    };
    let passed = end == ProcessEnd::Exited(0);
    let output = format!("$ {line}\n{}{}\n", tail.text(), ending(end));
    Ok(Some(CheckOutcome { passed, output, failed: (!passed).then_some(line) }))
}

impl CommandSettings<'_> {
    fn spec(&self, command: &[Name]) -> ProcessSpec {
        let (program, arguments) = command.split_first().map_or(("", &[][..]), |(first, rest)| (first.as_str(), rest));
        let mut variables = environment(self.variables);
        // Files that have lost their repository belong to none that their folder happens to lie in.
        let above = self.folder.parent().unwrap_or(Path::new("/")).display().to_string();
        variables.insert("GIT_CEILING_DIRECTORIES".to_owned(), above);
        ProcessSpec {
            program: program.into(),
            arguments: arguments.iter().map(|word| word.as_str().into()).collect(),
            environment: variables.into_iter().map(|(name, value)| (name.into(), value.into())).collect(),
            folder: self.folder.to_owned(),
            stdin: StdinMode::Nothing,
            limits: ProcessLimits {
                time: Some(self.timeout.unwrap_or(USUAL_TIME)),
                output: u64::MAX,
                line: 1 << 20,
                ..ProcessLimits::default()
            },
            transcript: None,
            lock: self.lock.clone(),
            mark: self.mark.clone(),
        }
    }
}

/// Variables whose names look secret pass only if they are named in full.
fn environment(named: &[String]) -> BTreeMap<String, String> {
    let mut variables = team::environment(VARIABLES.iter().copied().chain(named.iter().map(String::as_str)));
    variables.retain(|name, _| !looks_secret(name) || named.contains(name));
    variables
}

fn looks_secret(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    SECRET.iter().any(|word| name.contains(word))
}

fn ending(end: ProcessEnd) -> String {
    match end {
        ProcessEnd::Exited(0) => "passed".to_owned(),
        ProcessEnd::Exited(code) => format!("failed: exit code {code}"),
        ProcessEnd::TimedOut | ProcessEnd::Silent => "failed: it took too long".to_owned(),
        ProcessEnd::Flooded => "failed: it printed too much".to_owned(),
        ProcessEnd::Stopped => "stopped".to_owned(),
    }
}

/// The end of what was printed.
#[derive(Default)]
struct OutputTail(Vec<u8>);

impl OutputTail {
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

impl OutputListener for OutputTail {
    fn line(&mut self, _: OutputStream, line: &[u8], _: bool, _: &mut ProcessHandle<'_>) {
        self.add(line);
    }
}
