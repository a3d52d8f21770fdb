//! Checks of a project that is not in a git repository: on a copy of all its files.

use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use interlock_core::checkout::GateCheckout;
use interlock_core::id::Name;

use crate::check_command::{self, CommandSettings};
use crate::gates::check_room::{CheckRoom, unusable};
use crate::gates::copy::copy_tree;
use crate::gates::slot::CheckoutSlot;
use crate::gates::{GateCommand, GateOutcome};
use interlock_app::error::CommandError;
use interlock_system::files;
use interlock_system::files::{beside, remove};
use interlock_system::process::ProcessControl;

/// A project without git, and the folder of its store, which is not part of it.
pub struct PlainProject<'a> {
    pub folder: &'a Path,
    pub store: &'a Path,
}

impl CheckRoom<'_> {
    /// Runs commands on a copy of the files as they are now. Without git, nothing separates files of the project from
    /// leftovers. The copy therefore has both, and the record says so. The name of the content replaces that of a
    /// tree.
    pub fn check_copy(
        &self,
        project: &PlainProject<'_>,
        commands: &[GateCommand],
        control: &ProcessControl,
        begins: &dyn Fn(&str),
    ) -> Result<Option<(Name, GateOutcome)>, CommandError> {
        let failed = |error: io::Error| unusable(&self.root, &error);
        let slot = CheckoutSlot::take(&self.root).map_err(failed)?;
        let source = beside(&slot.folder, "source");
        let digest = project.copy_to(&source).and_then(|()| digest_of_files(&source)).map_err(failed)?;
        let checkout = GateCheckout { without_git: true, ..GateCheckout::default() };
        let mut result = GateOutcome::nothing_yet(checkout);
        for batch in commands.chunk_by(|one, next| one.group == next.group && one.gate == next.gate) {
            remove(&slot.folder).and_then(|()| copy_tree(&source, &slot.folder)).map_err(failed)?;
            if !self.run_in(&slot.folder, batch, control, begins, &mut result)? {
                return Ok(None);
            }
            if !result.passed {
                break;
            }
        }
        remove(&source).and_then(|()| remove(&slot.folder)).map_err(failed)?;
        Ok(Some((Name::from(digest), result)))
    }

    /// Runs `prepare` and then the commands of one gate, until one fails. `false`: it was stopped.
    fn run_in(
        &self,
        folder: &Path,
        batch: &[GateCommand],
        control: &ProcessControl,
        begins: &dyn Fn(&str),
        result: &mut GateOutcome,
    ) -> Result<bool, CommandError> {
        let prepared = self.prepare.run.iter().map(|line| line.iter().map(|word| Name::new(word)).collect());
        let lines: Vec<(Vec<Name>, Option<&GateCommand>)> = prepared
            .map(|line| (line, None))
            .chain(batch.iter().map(|command| (command.command.clone(), Some(command))))
            .collect();
        for (line, command) in lines {
            if let Some(command) = command {
                begins(&command.line());
            }
            let timeout = command.and_then(|command| command.timeout);
            let (lock, mark) = (self.lock.clone(), self.mark.clone());
            let manner = CommandSettings { folder, timeout, lock, mark, variables: self.variables };
            let Some(outcome) = check_command::run(&line, &manner, control)? else { return Ok(false) };
            if command.is_some() || !outcome.passed {
                result.output.push_str(&outcome.output);
            }
            if !outcome.passed {
                result.passed = false;
                result.failed = command.cloned();
                result.failed_line = interlock_app::gate_commands::line(&line);
                break;
            }
        }
        Ok(true)
    }
}

impl PlainProject<'_> {
    fn copy_to(&self, to: &Path) -> io::Result<()> {
        remove(to)?;
        fs::create_dir_all(to)?;
        for entry in fs::read_dir(self.folder)? {
            let entry = entry?;
            if entry.path() != self.store {
                copy_tree(&entry.path(), &to.join(entry.file_name()))?;
            }
        }
        Ok(())
    }
}

/// Names the content of all files below a folder.
fn digest_of_files(folder: &Path) -> io::Result<String> {
    let mut hasher = blake3::Hasher::new();
    add_folder(folder, folder, &mut hasher)?;
    Ok(format!("files-{}", hasher.finalize().to_hex()))
}

fn add_folder(root: &Path, folder: &Path, hasher: &mut blake3::Hasher) -> io::Result<()> {
    let mut paths: Vec<PathBuf> = fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<_>>()?;
    paths.sort();
    for path in paths {
        let found = fs::symlink_metadata(&path)?;
        hasher.update(path.strip_prefix(root).unwrap_or(&path).as_os_str().as_bytes());
        hasher.update(&[0]);
        if found.is_dir() {
            add_folder(root, &path, hasher)?;
        } else if found.is_symlink() {
            hasher.update(blake3::hash(fs::read_link(&path)?.as_os_str().as_bytes()).as_bytes());
        } else if found.is_file() {
            hasher.update(blake3::hash(&files::read_plain(&path)?).as_bytes());
        }
    }
    Ok(())
}
