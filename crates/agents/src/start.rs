//! Arguments, environment and files that all clients start with.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io::{self, Write as _};

use super::{AgentJob, AgentSetup, SECRET, find_program};
use interlock_system::process::{ProcessLimits, ProcessSpec, StdinMode};

/// Bytes that Linux allows in one argument, with a margin.
pub(super) const ARGUMENT: usize = 120 * 1024;

/// Variables that programs in general expect, and then a client's own.
macro_rules! variables {
    ($($own:literal),* $(,)?) => {
        &[
            "HOME", "PATH", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "LC_*", "TERM", "TMPDIR", "TZ",
            "XDG_*", "SSL_CERT_FILE", "SSL_CERT_DIR", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS",
            "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy", "no_proxy",
            $($own),*
        ]
    };
}
pub(super) use variables;

/// A program with its arguments, in the job's folder, with an environment that says what the job is.
pub(super) fn spec(
    program: &str,
    arguments: Vec<OsString>,
    setup: &AgentSetup,
    job: &AgentJob<'_>,
    stdin: StdinMode,
) -> io::Result<ProcessSpec> {
    let environment = environment(setup, job);
    for argument in &arguments {
        sendable(argument)?;
    }
    let path = setup.environment.get("PATH").map(String::as_str);
    let program = find_program(program, path).map_or_else(|| program.into(), Into::into);
    let folder = std::path::absolute(job.folder)?;
    Ok(ProcessSpec {
        program,
        arguments,
        environment,
        folder,
        stdin,
        limits: ProcessLimits::default(),
        transcript: None,
        lock: None,
        mark: String::new(),
    })
}

/// A file for the client in the job's output folder. Whatever an earlier attempt left there under its name goes: it may
/// be a link to somewhere else.
pub(super) fn put(job: &AgentJob<'_>, name: &str, text: &str) -> io::Result<OsString> {
    let path = job.output.join(name);
    match fs::remove_file(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = fs::OpenOptions::new().write(true).create_new(true).open(&path)?;
    file.write_all(text.as_bytes())?;
    Ok(path.into())
}

/// The conversation to go on with. Its name is a program's word: it must not be taken for a flag.
pub(super) fn resumed<'a>(job: &AgentJob<'a>) -> io::Result<Option<&'a str>> {
    match job.resume {
        Some(name) if name.is_empty() || name.starts_with('-') => {
            Err(io::Error::new(io::ErrorKind::InvalidInput, format!("`{name}` is not the name of a conversation")))
        }
        name => Ok(name),
    }
}

/// An argument that the system would refuse is refused with a sentence.
fn sendable(argument: &OsString) -> io::Result<()> {
    let bytes = argument.as_encoded_bytes();
    let problem = if bytes.contains(&0) {
        "an argument has a zero byte in it"
    } else if bytes.len() > ARGUMENT {
        "an argument is too long for the system: leave `{prompt}` out, and the prompt is given on standard input"
    } else {
        return Ok(());
    };
    Err(io::Error::new(io::ErrorKind::InvalidInput, problem))
}

fn environment(setup: &AgentSetup, job: &AgentJob<'_>) -> BTreeMap<OsString, OsString> {
    let given = setup.environment.iter().filter(|(name, _)| !SECRET.contains(&name.as_str()));
    let mut all: BTreeMap<OsString, OsString> = given.map(|(name, value)| (name.into(), value.into())).collect();
    let mut put = |name: &str, value: OsString| all.insert(name.into(), value);
    put("INTERLOCK_ROLE", job.role.into());
    put("INTERLOCK_ASSIGNMENT", job.assignment.into());
    put("INTERLOCK_ATTEMPT", job.attempt.to_string().into());
    put("INTERLOCK_OUTPUT", job.output.into());
    if let Some(group) = job.group {
        put("INTERLOCK_GROUP", group.into());
    }
    all
}

/// A flag that Interlock sets itself, and where a person says it instead.
pub(super) struct ReservedFlag(pub(super) &'static str, pub(super) &'static str);

/// Sentences on flags that are not a person's to set, and on words that would be taken for a prompt.
pub(super) fn check_flags(setup: &AgentSetup, ours: &[ReservedFlag]) -> Vec<String> {
    let mut problems: Vec<String> = Vec::new();
    if let Some(first) = setup.flags.first().filter(|first| !first.starts_with('-')) {
        problems.push(format!("`flags` begins with `{first}`, which is no flag: the prompt is given by Interlock"));
    }
    for flag in &setup.flags {
        if flag == "--" {
            problems.push("`--` in `flags` would turn the flags that Interlock adds into a prompt".to_owned());
        }
        if let Some(ReservedFlag(name, why)) = ours.iter().find(|ReservedFlag(name, _)| is_flag(flag, name)) {
            problems.push(format!("the flag `{name}` is set by Interlock: {why}"));
        }
    }
    problems
}

/// `--flag`, `--flag=value`; `-f`, `-fvalue`.
pub(super) fn is_flag(given: &str, name: &str) -> bool {
    match given.strip_prefix(name) {
        Some(rest) => rest.is_empty() || rest.starts_with('=') || (!name.starts_with("--") && !given.starts_with("--")),
        None => false,
    }
}

pub(super) fn check_no_command(setup: &AgentSetup) -> Option<String> {
    let given = !setup.command.is_empty();
    given.then(|| "`command` is for the clients `command` and `acp`; here, say `program` and `flags`".to_owned())
}
