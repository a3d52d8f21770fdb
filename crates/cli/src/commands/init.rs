//! `interlock init`

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use clap::Args;
use interlock_core::code::Code;
use interlock_core::workflow::builtin;
use serde_json::json;

use crate::commands::examples;
use interlock_app::context::{AppContext, FOLDER, keyring};
use interlock_app::error::CommandResult;
use interlock_app::error::{CommandError, CommandExit};
use interlock_app::library;
use interlock_app::output::CommandOutput;
use interlock_store::Store as _;
use interlock_store::sqlite::SqliteStore;
use interlock_system::clock;
use interlock_system::files;
use interlock_system::text::{HEADING, NAME, TerminalText};

/// Set a project up: a workflow to edit, a store, and the keys
///
/// Writes interlock.yaml (unless there is one), the store .interlock/interlock.db, a line in .gitignore, and the keys
/// of the store into your configuration folder, readable for you alone. What is there already is kept.
#[derive(Args)]
#[command(after_help = examples!(
    "interlock init                            # the workflow delivery-team"
    "interlock init --workflow feature app     # another one, in the folder app"
))]
pub(crate) struct InitCommand {
    /// The workflow that interlock.yaml starts from: a built-in name or a file
    #[arg(long, value_name = "NAME or FILE", default_value = "delivery-team")]
    workflow: String,

    /// The folder of the project
    #[arg(value_name = "DIR", default_value = ".")]
    folder: PathBuf,
}

impl InitCommand {
    pub(crate) fn run(&self, output: CommandOutput, place: &AppContext) -> CommandResult {
        library::pinnable(&self.workflow)?;
        fs::create_dir_all(&self.folder).map_err(|error| unwritable(&self.folder, &error))?;
        let workflow = self.write_workflow()?;
        let file = place.file_for(&self.folder);
        let made = make_store(&file)?;
        let ignored = ignore(&self.folder)?;
        let keys = made.as_ref().map(|keys| keys.display().to_string());
        if output.json {
            let workflow = workflow.as_ref().map(|path| path.display().to_string());
            output.document(&json!({ "store": file.display().to_string(), "created": made.is_some(), "workflow_file": workflow, "keys": keys }))?;
            return Ok(CommandExit::Done);
        }
        let mut text = TerminalText::default();
        let mut line = |what: &str, path: &str, note: &str| {
            text.paint(HEADING, format!("{what:<9}"));
            text.paint(NAME, path);
            text.line(format_args!("  {note}"));
        };
        match &workflow {
            Some(path) => line("workflow", &path.display().to_string(), "yours to edit; `interlock check` checks it"),
            None => line("workflow", "interlock.yaml", "was there, and is kept"),
        }
        match &keys {
            Some(keys) => {
                line("store", &file.display().to_string(), "every decision goes here");
                line("keys", keys, "keep them away from agents");
            }
            None => line("store", &file.display().to_string(), "was there, and is kept"),
        }
        if ignored {
            line("ignored", ".gitignore", "the store stays out of the repository");
        }
        text.push("\nStart with: interlock session start --title \"What is to be done\"\n");
        output.text(&text)?;
        Ok(CommandExit::Done)
    }

    /// Writes the workflow out to be edited, unless there is one.
    fn write_workflow(&self) -> Result<Option<PathBuf>, CommandError> {
        let path = self.folder.join(library::PROJECT_FILE);
        let text = match builtin(&self.workflow) {
            Some(builtin) => builtin.text.to_owned(),
            None => {
                fs::read_to_string(&self.workflow).map_err(|error| unreadable(Path::new(&self.workflow), &error))?
            }
        };
        let put = files::put_new(&path, text.as_bytes()).map_err(|error| unwritable(&path, &error))?;
        Ok(put.then_some(path))
    }
}

/// Makes the store and its keys, unless there is one. Where the keys are, if they are new.
pub(super) fn make_store(file: &Path) -> Result<Option<PathBuf>, CommandError> {
    match SqliteStore::open(file) {
        Ok(_) => return Ok(None),
        Err(fault) if fault.code == Code::NoStore => {}
        Err(fault) => return Err(fault.into()),
    }
    if let Some(folder) = file.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        fs::create_dir_all(folder).map_err(|error| unwritable(folder, &error))?;
    }
    let keyring = keyring()?;
    let (identity, keys) = keyring.make(&clock::suffix(16))?;
    let made = SqliteStore::create(file, &identity, clock::now()).and_then(|mut store| {
        let made = store.view()?.identity()?;
        files::sync_folder(file).map_err(|error| interlock_store::StoreError::unwritable(file, &error))?;
        Ok(made.id == identity.id)
    });
    match made {
        Ok(true) => Ok(Some(keys)),
        // Somebody else was faster.
        Ok(false) => {
            keyring.forget(&identity.id);
            Ok(None)
        }
        // Its keys are kept: the store may be there all the same.
        Err(fault) => Err(fault.into()),
    }
}

/// Keeps the store out of the repository. Whether a line was added.
fn ignore(folder: &Path) -> Result<bool, CommandError> {
    let path = folder.join(".gitignore");
    let line = format!("{FOLDER}/");
    let known = match fs::read(&path) {
        Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(unreadable(&path, &error)),
    };
    if known.lines().any(|known| matches!(known.trim(), FOLDER | ".interlock/" | "/.interlock" | "/.interlock/")) {
        return Ok(false);
    }
    let gap = if known.is_empty() || known.ends_with('\n') { "" } else { "\n" };
    let file = fs::OpenOptions::new().append(true).create(true).open(&path);
    let written = file.and_then(|mut file| writeln!(file, "{gap}{line}"));
    written.map(|()| true).map_err(|error| unwritable(&path, &error))
}

fn unwritable(path: &Path, error: &io::Error) -> CommandError {
    interlock_store::StoreError::unwritable(path, error).into()
}

fn unreadable(path: &Path, error: &io::Error) -> CommandError {
    CommandError::new(CommandExit::Unavailable, Code::FileUnreadable, format!("{}: {error}", path.display()))
        .help("this user must be allowed to read it")
}
