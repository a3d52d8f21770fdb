//! Sets clients up: hooks, server, commands and roles. Everything that was there stays, and is shown before it is written.

mod claude;
mod client_pages;
mod codex;
mod doctor;
mod edit;
mod gemini;
mod json;

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use interlock_core::code::Code;
use interlock_core::workflow::Workflow;
use sha2::{Digest as _, Sha256};

use interlock_app::error::{CommandError, CommandExit};
use interlock_hooks::HookClient;

pub(crate) use doctor::examine;
pub(crate) use edit::FileEdit;

/// For whom, and what.
pub(crate) struct ClientSetup {
    pub(crate) client: HookClient,
    pub(crate) project: PathBuf,
    /// How the client calls this program.
    pub(crate) program: String,
    pub(crate) workflow: Workflow,
}

/// Whether what is ours is in a file, or not.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum TargetState {
    In,
    Out,
}

type FileMerge = Box<dyn Fn(Option<&str>, TargetState) -> Result<Option<String>, String>>;

/// One file of a set-up.
struct SetupFile {
    path: PathBuf,
    how: SetupFileContent,
}

enum SetupFileContent {
    /// The file is ours.
    Whole(String),
    /// It may hold what others have put there.
    Merged(FileMerge),
}

impl SetupFile {
    fn whole(path: PathBuf, text: String) -> Self {
        Self { path, how: SetupFileContent::Whole(text) }
    }

    fn merged(
        path: PathBuf,
        merge: impl Fn(Option<&str>, TargetState) -> Result<Option<String>, String> + 'static,
    ) -> Self {
        Self { path, how: SetupFileContent::Merged(Box::new(merge)) }
    }
}

/// All the files of a set-up, and the folders in which files of ours that are no longer in it may lie.
struct SetupPlan {
    parts: Vec<SetupFile>,
    owned: Vec<PathBuf>,
}

/// The edits to make, and the files that are kept as they are.
pub(crate) struct SetupChanges {
    pub(crate) edits: Vec<FileEdit>,
    pub(crate) kept: Vec<PathBuf>,
}

impl ClientSetup {
    pub(crate) fn install(&self) -> Result<SetupChanges, CommandError> {
        self.changes(TargetState::In)
    }

    pub(crate) fn uninstall(&self) -> Result<SetupChanges, CommandError> {
        self.changes(TargetState::Out)
    }

    fn changes(&self, stand: TargetState) -> Result<SetupChanges, CommandError> {
        let SetupPlan { parts, owned } = self.plan();
        let mut changes = SetupChanges { edits: Vec::new(), kept: Vec::new() };
        for part in &parts {
            changes.take(part, stand)?;
        }
        for folder in &owned {
            let left = ours_in(folder).into_iter().filter(|path| parts.iter().all(|part| part.path != *path));
            for path in left {
                let before = read(&path)?;
                changes.edits.push(FileEdit { path, before, after: None });
            }
        }
        changes.edits.retain(FileEdit::changes);
        Ok(changes)
    }

    fn plan(&self) -> SetupPlan {
        match self.client {
            HookClient::Claude => claude::plan(self),
            HookClient::Codex => codex::plan(self),
            HookClient::Gemini => gemini::plan(self),
        }
    }
}

impl SetupChanges {
    fn take(&mut self, part: &SetupFile, stand: TargetState) -> Result<(), CommandError> {
        let before = read(&part.path)?;
        let after = match (&part.how, stand) {
            (SetupFileContent::Merged(merge), _) => {
                merge(before.as_deref(), stand).map_err(|why| unreadable(&part.path, &why))?
            }
            // A file of another author in this place is kept.
            (SetupFileContent::Whole(text), _)
                if before.as_ref().is_some_and(|before| before != text && !is_ours(&part.path, before)) =>
            {
                self.kept.push(part.path.clone());
                return Ok(());
            }
            (SetupFileContent::Whole(text), TargetState::In) => Some(text.clone()),
            (SetupFileContent::Whole(_), TargetState::Out) => None,
        };
        self.edits.push(FileEdit { path: part.path.clone(), before, after });
        Ok(())
    }
}

/// Whether we wrote it: it says so, or it lies in a folder that is ours altogether.
fn is_ours(path: &Path, text: &str) -> bool {
    text.contains(client_pages::MARK) || path.ancestors().any(|folder| folder.ends_with(claude::FOLDER))
}

/// Files of ours in a folder, also further in.
fn ours_in(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut found = Vec::new();
    for path in entries {
        if path.is_dir() {
            found.extend(ours_in(&path));
        } else if fs::read_to_string(&path).is_ok_and(|text| is_ours(&path, &text)) {
            found.push(path);
        }
    }
    found.sort();
    found
}

fn read(path: &Path) -> Result<Option<String>, CommandError> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(unreadable(path, &error.to_string())),
    }
}

fn unreadable(path: &Path, why: &str) -> CommandError {
    CommandError::new(CommandExit::Invalid, Code::SettingsUnreadable, format!("{}: {why}", path.display()))
        .help("nothing was written; fix the file, or move it away, and try again")
}

fn home() -> PathBuf {
    env::var_os("HOME").map(PathBuf::from).unwrap_or_default()
}

/// The hash by which clients identify the content of a file.
fn sha256(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A word, as a shell takes it for one.
fn word(text: &str) -> String {
    let plain = |character: char| character.is_ascii_alphanumeric() || "/._-+".contains(character);
    if text.chars().all(plain) { text.to_owned() } else { format!("'{}'", text.replace('\'', "'\\''")) }
}

/// How a client can call this program: by its name, if that finds this one, or else by where it is.
pub(crate) fn program() -> String {
    let name = "interlock";
    let this = env::current_exe().and_then(fs::canonicalize).unwrap_or_else(|_| name.into());
    let path = env::var_os("PATH").unwrap_or_default();
    let found = env::split_paths(&path).map(|folder| folder.join(name)).find(|path| path.is_file());
    match found.and_then(|path| fs::canonicalize(path).ok()) {
        Some(found) if found == this => name.to_owned(),
        Some(_) | None => this.display().to_string(),
    }
}
