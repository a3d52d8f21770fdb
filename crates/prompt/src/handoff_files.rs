//! The handoff of an agent, found and read without trusting its place; and the message that is sent back if it is not
//! accepted.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use interlock_core::code::Code;
use interlock_core::handoff;
use interlock_core::problem::group_problems;
use interlock_core::rejection::Rejection;
use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat, openat2};

use interlock_system::files::{real_folder, remove};
use interlock_system::sanitise;

/// The size limit of a handoff.
const LARGEST: u64 = 64 << 20;
/// The file that prompts ask agents to write.
const FILE: &str = "handoff.json";

/// Makes the output folder of an attempt, empty. A link is removed, not followed, nor are those it would be in.
pub fn clear(folder: &Path) -> io::Result<()> {
    let above = folder.parent().unwrap_or(Path::new("."));
    for folder in [above.parent().unwrap_or(above), above] {
        real_folder(folder)?;
    }
    remove(folder)?;
    fs::create_dir_all(folder)
}

/// Lays out what did not fit into a prompt, in the output folder. Whatever has the name of a file goes, a link too.
pub fn lay_out(folder: &Path, files: &[(String, String)]) -> io::Result<()> {
    files.iter().try_for_each(|(name, text)| lay_out_bytes(folder, name, text.as_bytes()))
}

/// Writes one file of the output folder.
pub fn lay_out_bytes(folder: &Path, name: &str, bytes: &[u8]) -> io::Result<()> {
    let path = folder.join(name);
    real_folder(path.parent().unwrap_or(folder))?;
    remove(&path)?;
    OpenOptions::new().write(true).create_new(true).open(&path)?.write_all(bytes)
}

/// Makes the output folder of an assignment whose agent another program starts, with the texts that did not fit into
/// its prompt.
pub fn make(folder: &Path, files: &[(String, String)]) -> io::Result<()> {
    fs::create_dir_all(folder).and_then(|()| lay_out(folder, files))
}

/// Writes a handoff to the file that prompts ask for, whole or not at all.
pub fn write_handoff(folder: &Path, bytes: &[u8]) -> io::Result<()> {
    let new = folder.join(format!("{FILE}.new"));
    fs::write(&new, bytes)?;
    fs::rename(&new, folder.join(FILE))
}

/// The handoff that was left in the output folder, if there is one: the file that prompts ask for, or the only Markdown
/// file. No link is followed on the way, and only a plain file is read.
pub fn read_left_handoff(folder: &Path) -> io::Result<Option<Vec<u8>>> {
    if let Some(bytes) = read(folder, Path::new(FILE))? {
        return Ok(Some(bytes));
    }
    let Some(only) = only_markdown(folder) else { return Ok(None) };
    // A document without a metadata block is no handoff: it stays, for later roles.
    Ok(read(folder, &only)?.filter(|bytes| has_block(bytes)))
}

fn has_block(bytes: &[u8]) -> bool {
    !matches!(handoff::extract("handoff", bytes), Err(problems) if problems.iter().any(|one| one.code == Code::NoHandoff))
}

/// Removes a handoff that was not accepted, so that it is not read again. Other files stay. False: the folder was replaced,
/// and nothing was removed.
pub fn discard(folder: &Path) -> bool {
    let is_real = |folder: &Path| fs::symlink_metadata(folder).is_ok_and(|found| found.is_dir());
    if !is_real(folder) || !folder.parent().is_some_and(is_real) {
        return false;
    }
    let handoff = folder.join(FILE);
    match fs::symlink_metadata(&handoff).is_ok() {
        true => remove(&handoff).is_ok(),
        false => {
            let is_handoff = |only: &PathBuf| read(folder, only).ok().flatten().is_none_or(|bytes| has_block(&bytes));
            only_markdown(folder).filter(is_handoff).is_none_or(|only| remove(&folder.join(only)).is_ok())
        }
    }
}

/// The only Markdown file of the output folder, which counts as the handoff.
fn only_markdown(folder: &Path) -> Option<PathBuf> {
    let names = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| PathBuf::from(entry.file_name()));
    let mut texts = names.filter(|name| name.extension().is_some_and(|ending| ending == "md"));
    texts.next().filter(|_| texts.next().is_none())
}

/// A file of the output folder, if it is there.
pub fn read(folder: &Path, file: &Path) -> io::Result<Option<Vec<u8>>> {
    let parent = folder.parent().unwrap_or(Path::new("."));
    let name = Path::new(folder.file_name().unwrap_or_default()).join(file);
    let above = openat(CWD, parent, OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::PATH, Mode::empty())?;
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let within = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    let opened = match openat2(&above, &name, flags, Mode::empty(), within) {
        Ok(opened) => File::from(opened),
        Err(rustix::io::Errno::NOENT) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    if !opened.metadata()?.is_file() {
        return Err(io::Error::other(format!("{} is not a plain file", file.display())));
    }
    let mut bytes = Vec::new();
    opened.take(LARGEST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LARGEST {
        return Err(io::Error::other(format!("{} is larger than {} MB", file.display(), LARGEST >> 20)));
    }
    Ok(Some(bytes))
}

/// A refusal, as its lines.
pub fn problems(rejection: &Rejection) -> Vec<String> {
    // Messages quote what the agent wrote, and each problem stays one line.
    let line = |code: &str, message: &str, help: Option<&str>| {
        let help = help.map_or(String::new(), |help| format!(" ({help})"));
        sanitise::line(&format!("{code}: {message}{help}")).into_owned()
    };
    let mut lines: Vec<String> = group_problems(&rejection.problems)
        .iter()
        .map(|group| line(group.first.code.number(), &group.message(), group.help))
        .collect();
    let listed = rejection.problems.iter().any(|problem| problem.message == rejection.message);
    if !lines.is_empty() && !listed && rejection.problems.iter().all(|problem| problem.at.is_none()) {
        // The problems list what the message is about.
        lines.insert(0, sanitise::line(&format!("{}: {}", rejection.code.number(), rejection.message)).into_owned());
    }
    if lines.is_empty() {
        lines.push(line(rejection.code.number(), &rejection.message, Some(rejection.advice())));
    }
    if !rejection.allowed.is_empty() {
        lines.push(format!("accepted now: {}", rejection.allowed.join(", ")));
    }
    lines
}

/// The message to the agent, in the same conversation, when its handoff was not accepted.
pub fn correction_message(problems: &[String], folder: &Path) -> String {
    let mut text = String::from("Your handoff was not accepted. The assignment is still yours. What is wrong:\n\n");
    text.push_str(&crate::listed(problems));
    let file = folder.join(FILE);
    text.push_str(&format!(
        "\nFix each of these, return the whole handoff again as before (file: {}), and end.\n",
        file.display()
    ));
    text
}

/// The same as a section of the whole prompt, whose return format follows.
pub fn sent_back_section(problems: &[String]) -> String {
    format!("## Your last handoff was not accepted\n\nFix each of these:\n\n{}", crate::listed(problems))
}

#[cfg(test)]
mod tests {
    use interlock_core::problem::Problem;

    use super::*;

    #[test]
    fn help_of_a_code_is_sent_once() {
        let problem = |message: &str| Problem::new(Code::BadPlan, message);
        let own = problem("third").help("do that");
        let rejection = Rejection::new(Code::BadPlan, "first").problems(vec![problem("first"), problem("second"), own]);
        let lines = problems(&rejection);
        let help = format!("E0232: first ({})", Code::BadPlan.help());
        assert_eq!(lines, [help.as_str(), "E0232: second", "E0232: third (do that)"]);
    }
}
