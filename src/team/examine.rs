//! Whether an agent could start: its program is there, starts, and knows the flags that it is given.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::agents::find_program;
use crate::play;
use crate::team::Part;

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
    let names = flags
        .iter()
        .filter(|flag| flag.starts_with("--") && flag.len() > 2)
        .map(|flag| flag.split('=').next().unwrap_or(flag));
    names.filter(|flag| !help.is_empty() && !known(flag)).map(|flag| format!("`{flag}`")).collect()
}

fn ask(program: &Path, words: &[&str], part: &Part) -> Option<String> {
    let mut command = Command::new(program);
    command.args(words).env_clear().envs(&part.setup.environment);
    let output = command.stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_are_looked_up_whole() {
        let help = "  -m, --model <MODEL>  The model\n      --full-auto\n";
        let flags =
            |flags: &[&str]| unknown_flags(&flags.iter().map(|flag| (*flag).to_owned()).collect::<Vec<_>>(), help);
        assert_eq!(flags(&["--model=x", "--full-auto", "-c", "a=b", "value"]), [""; 0]);
        assert_eq!(flags(&["--mode", "--full"]), ["`--mode`", "`--full`"]);
    }
}
