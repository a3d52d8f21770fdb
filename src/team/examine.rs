//! Whether an agent could start: its program is there, starts, and knows the flags that it is given.

use std::io::Read as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use crate::agents::find_program;
use crate::play;
use crate::team::Part;

/// How long a client may take to say its version: some take seconds, and longer on a machine that has much to do.
const LONGEST: Duration = Duration::from_secs(60);

/// Why an agent could not start.
pub(crate) struct Problem {
    pub(crate) message: String,
    pub(crate) help: Option<String>,
}

/// Where its program is, and its version if it says one.
pub(crate) fn agent(part: &Part) -> Result<(String, Option<String>), Problem> {
    if part.setup.command.get(1).is_some_and(|word| word == play::WORD) {
        return Ok((format!("scripted: {}", part.setup.command.last().map_or("-", String::as_str)), None));
    }
    let program = part.client.program(&part.setup);
    let path = part.setup.environment.get("PATH").map(String::as_str);
    let Some(found) = find_program(program, path) else {
        let help = "install it, or name it with `program` in the agents file".to_owned();
        return Err(Problem { message: format!("the program `{program}` is not there"), help: Some(help) });
    };
    let shown = found.display().to_string();
    // Clients that list their flags also say their version; a command of one's own may do anything when it is asked.
    let Some(help) = part.client.help() else { return Ok((shown, None)) };
    let Some(version) = ask(&found, &["--version"], part) else {
        return Err(Problem { message: format!("{shown} --version fails"), help: None });
    };
    let unknown = unknown_flags(&part.setup.flags, &ask(&found, help, part).unwrap_or_default());
    if !unknown.is_empty() {
        let message = format!("{shown} has no {}", unknown.join(", "));
        let help = format!("`{program} {}` lists its flags; mend `flags` in the agents file", help.join(" "));
        return Err(Problem { message, help: Some(help) });
    }
    Ok((shown, version.lines().next().map(|line| line.trim().to_owned())))
}

/// Flags that the help does not speak of. A help that could not be had says nothing.
fn unknown_flags(flags: &[String], help: &str) -> Vec<String> {
    let known = |flag: &str| {
        help.split(|character: char| !character.is_alphanumeric() && character != '-').any(|word| word == flag)
    };
    // What has one letter may be given with its value in the same word, and a value may begin with a dash.
    let is_short = |flag: &str| matches!(flag.as_bytes(), [b'-', letter] if letter.is_ascii_alphabetic());
    let names = flags
        .iter()
        .filter(|flag| is_short(flag) || (flag.starts_with("--") && flag.len() > 2))
        .map(|flag| flag.split('=').next().unwrap_or(flag));
    names.filter(|flag| !help.is_empty() && !known(flag)).map(|flag| format!("`{flag}`")).collect()
}

fn ask(program: &Path, words: &[&str], part: &Part) -> Option<String> {
    let mut command = Command::new(program);
    command.args(words).env_clear().envs(&part.setup.environment);
    answer(&mut command, LONGEST)
}

/// What a program prints, if it ends well and in time.
fn answer(command: &mut Command, longest: Duration) -> Option<String> {
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().ok()?;
    let mut pipe = child.stdout.take()?;
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = pipe.read_to_end(&mut bytes);
        let _ = sender.send(bytes);
    });
    let until = Instant::now() + longest;
    let printed = receiver.recv_timeout(longest);
    while printed.is_ok() && Instant::now() < until {
        if let Some(status) = child.try_wait().ok()? {
            return status.success().then(|| String::from_utf8_lossy(&printed.unwrap_or_default()).into_owned());
        }
        thread::sleep(Duration::from_millis(5));
    }
    let _ = child.kill();
    let _ = child.wait();
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_does_not_answer_is_not_waited_for() {
        let ask = |script: &str, longest| answer(Command::new("sh").args(["-c", script]), longest);
        assert_eq!(ask("echo 1.2", LONGEST).as_deref(), Some("1.2\n"));
        assert_eq!(ask("echo 1.2; exit 1", LONGEST), None);
        assert_eq!(ask("exec sleep 60", Duration::from_millis(50)), None);
        assert_eq!(ask("exec >&-; exec sleep 60", Duration::from_millis(50)), None);
    }

    #[test]
    fn flags_are_looked_up_whole() {
        let help = "  -m, --model <MODEL>  The model\n  -c, --config <K=V>\n      --full-auto\n";
        let flags =
            |flags: &[&str]| unknown_flags(&flags.iter().map(|flag| (*flag).to_owned()).collect::<Vec<_>>(), help);
        assert_eq!(flags(&["--model=x", "--full-auto", "-c", "a=b", "value"]), [""; 0]);
        assert_eq!(flags(&["--mode", "--full", "-Z"]), ["`--mode`", "`--full`", "`-Z`"]);
        assert_eq!(flags(&["-m", "-1", "-cx=1"]), [""; 0]);
    }
}
