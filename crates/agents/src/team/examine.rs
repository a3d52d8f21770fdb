//! Whether an agent could start: its program is there, starts, and knows the flags that it is given.

use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use crate::find_program;
use crate::play;
use crate::team::RoleAgent;
use interlock_system::sanitise;

/// How long a client may take to say its version: some take seconds, and longer on a machine that has much to do.
const LONGEST: Duration = Duration::from_secs(60);

/// Why an agent could not start.
pub struct AgentProblem {
    pub message: String,
    pub help: Option<String>,
}

/// Facts about an agent that can start.
pub struct FoundAgent {
    /// Where its program is.
    pub place: String,
    /// If it says one.
    pub version: Option<String>,
    /// Flags that could not be verified.
    pub doubts: Vec<String>,
}

impl FoundAgent {
    fn at(place: String) -> Self {
        Self { place, version: None, doubts: Vec::new() }
    }
}

pub fn agent(part: &RoleAgent) -> Result<FoundAgent, AgentProblem> {
    if part.setup.command.get(1).is_some_and(|word| word == play::WORD) {
        return Ok(FoundAgent::at(format!("scripted: {}", part.setup.command.last().map_or("-", String::as_str))));
    }
    let program = part.client.program(&part.setup);
    let path = part.setup.environment.get("PATH").map(String::as_str);
    let Some(found) = find_program(program, path) else {
        let help = "install it, or name it with `program` in the agents file".to_owned();
        return Err(AgentProblem { message: format!("the program `{program}` is not there"), help: Some(help) });
    };
    let place = found.display().to_string();
    // Clients that list their flags also say their version; a command of one's own may do anything when it is asked.
    let Some(help) = part.client.help() else { return Ok(FoundAgent::at(place)) };
    let version = version(&found, part).map_err(|why| {
        let message = format!("{place} --version fails: {why}");
        AgentProblem { message, help: None }
    })?;
    let listed = ask(&found, help, part).filter(|answer| answer.is_well).map(|answer| answer.stdout);
    let mut doubts = Vec::new();
    let mut unknown = Vec::new();
    for flag in unlisted_flags(&part.setup.flags, &listed.unwrap_or_default()) {
        match has_flag(&found, flag, part) {
            Some(true) => {}
            Some(false) => unknown.push(format!("`{flag}`")),
            None => doubts.push(format!("`{flag}` is not in the help of {place}, which may not take it")),
        }
    }
    if !unknown.is_empty() {
        let message = format!("{place} has no {}", unknown.join(", "));
        let help = format!("`{program} {}` lists its flags; correct `flags` in the agents file", help.join(" "));
        return Err(AgentProblem { message, help: Some(help) });
    }
    Ok(FoundAgent { place, version, doubts })
}

/// The version that a program says, or why it says none.
fn version(program: &Path, part: &RoleAgent) -> Result<Option<String>, String> {
    let Some(answer) = ask(program, &["--version"], part) else {
        return Err(format!("it cannot be started, is killed, or says nothing for {} s", LONGEST.as_secs()));
    };
    let line =
        |text: &str| text.lines().map(|line| sanitise::line(line.trim()).into_owned()).find(|line| !line.is_empty());
    if answer.is_well {
        return Ok(line(&answer.stdout));
    }
    // The error comes last, below the lines that led to it.
    let last = answer.stderr.lines().rev().chain(answer.stdout.lines().rev()).find_map(line);
    Err(last.unwrap_or_else(|| "it says nothing".to_owned()))
}

/// Flags that the help does not speak of. A help that could not be had says nothing.
fn unlisted_flags<'a>(flags: &'a [String], help: &str) -> Vec<&'a str> {
    let known = |flag: &str| {
        help.split(|character: char| !character.is_alphanumeric() && character != '-').any(|word| word == flag)
    };
    // A short flag may have its value in the same word, and a value may begin with a dash.
    let is_short = |flag: &str| matches!(flag.as_bytes(), [b'-', letter] if letter.is_ascii_alphabetic());
    let names = flags
        .iter()
        .filter(|flag| is_short(flag) || (flag.starts_with("--") && flag.len() > 2))
        .map(|flag| flag.split('=').next().unwrap_or(flag));
    names.filter(|flag| !help.is_empty() && !known(flag)).collect()
}

/// Whether the program takes a flag that its help does not speak of; `None` if that cannot be found out.
fn has_flag(program: &Path, flag: &str, part: &RoleAgent) -> Option<bool> {
    let probe = part.client.probe()?;
    let words: Vec<&str> = probe.before.iter().copied().chain([flag]).chain(probe.after.iter().copied()).collect();
    let answer = ask(program, &words, part)?;
    let refuses = |line: &str| line.contains(probe.refusal) && line.contains(flag.trim_start_matches('-'));
    Some(!answer.stderr.lines().chain(answer.stdout.lines()).any(refuses))
}

fn ask(program: &Path, words: &[&str], part: &RoleAgent) -> Option<ProgramOutput> {
    let mut command = Command::new(program);
    command.args(words).env_clear().envs(&part.setup.environment);
    answer(&mut command, LONGEST)
}

/// The output of a program.
struct ProgramOutput {
    is_well: bool,
    stdout: String,
    stderr: String,
}

/// Runs a program and returns its output, if it ends in time.
fn answer(command: &mut Command, longest: Duration) -> Option<ProgramOutput> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().ok()?;
    let until = Instant::now() + longest;
    let pipes = (child.stdout.take().map(all_of), child.stderr.take().map(all_of));
    let printed = |pipe: Option<mpsc::Receiver<Vec<u8>>>| {
        let bytes = pipe?.recv_timeout(until.saturating_duration_since(Instant::now())).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    };
    let printed = (printed(pipes.0), printed(pipes.1));
    while let (Some(stdout), Some(stderr)) = &printed
        && Instant::now() < until
    {
        if let Some(status) = child.try_wait().ok()? {
            // A program that was killed has no answer.
            return status.code().map(|code| ProgramOutput {
                is_well: code == 0,
                stdout: stdout.clone(),
                stderr: stderr.clone(),
            });
        }
        thread::sleep(Duration::from_millis(5));
    }
    let _ = child.kill();
    let _ = child.wait();
    None
}

/// Reads a pipe in a thread, and sends the whole content at its end.
fn all_of(mut pipe: impl Read + Send + 'static) -> mpsc::Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = pipe.read_to_end(&mut bytes);
        let _ = sender.send(bytes);
    });
    receiver
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_does_not_answer_is_not_waited_for() {
        let ask = |script: &str, longest| {
            let answer = answer(Command::new("sh").args(["-c", script]), longest)?;
            Some((answer.is_well, answer.stdout + &answer.stderr))
        };
        assert_eq!(ask("echo 1.2; echo so >&2", LONGEST), Some((true, "1.2\nso\n".to_owned())));
        assert_eq!(ask("echo 1.2; exit 1", LONGEST), Some((false, "1.2\n".to_owned())));
        assert_eq!(ask("exec sleep 60", Duration::from_millis(50)), None);
        assert_eq!(ask("exec >&-; exec sleep 60", Duration::from_millis(50)), None);
    }

    #[test]
    fn flags_are_looked_up_whole() {
        let help = "  -m, --model <MODEL>  The model\n  -c, --config <K=V>\n      --full-auto\n";
        let flags = |flags: &[&str]| {
            let flags: Vec<String> = flags.iter().map(|flag| (*flag).to_owned()).collect();
            unlisted_flags(&flags, help).into_iter().map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(flags(&["--model=x", "--full-auto", "-c", "a=b", "value"]), [""; 0]);
        assert_eq!(flags(&["--mode", "--full", "-Z"]), ["--mode", "--full", "-Z"]);
        assert_eq!(flags(&["-m", "-1", "-cx=1"]), [""; 0]);
    }
}
