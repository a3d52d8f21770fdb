//! What came of a command is bound to the tree it ran on: the same command on the same tree is not run twice, and on
//! another tree nothing is known.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use interlock_core::code::Code;
use interlock_core::id::Name;

use crate::checks::{self, Manner, Outcome};
use crate::failure::{Exit, Failure};
use crate::git::Hash;
use crate::process::Control;
use crate::run::crew::Crew;

/// Where, on what, and which command.
type Subject = (PathBuf, Hash, Vec<Name>);

#[derive(Default)]
pub(super) struct Checks {
    /// By the folder, too: what git ignores is there as well, and an agent may have put it there.
    known: Mutex<BTreeMap<Subject, Outcome>>,
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
    ) -> Result<Option<Outcome>, Failure> {
        let mut output = String::new();
        for command in commands {
            let Some(result) = self.check_one(tree, command, folder, timeout, control)? else { return Ok(None) };
            output.push_str(&result.output);
            if !result.passed {
                return Ok(Some(Outcome { output, ..result }));
            }
        }
        Ok(Some(Outcome { passed: true, output, failed: None, ended: true }))
    }

    /// `None`: it was stopped.
    fn check_one(
        &self,
        tree: &Hash,
        command: &[Name],
        folder: &Path,
        timeout: Option<Duration>,
        control: &Control,
    ) -> Result<Option<Outcome>, Failure> {
        let known = (folder.to_owned(), tree.clone(), command.to_vec());
        let held = || self.checks.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(result) = held().get(&known) {
            return Ok(Some(result.clone()));
        }
        let result = checks::run(command, &self.manner(folder, timeout), control)?;
        // A time-out says as much of the machine as of the tree.
        if let Some(result) = result.as_ref().filter(|result| result.ended) {
            held().insert(known, result.clone());
        }
        Ok(result)
    }

    /// Runs a command that makes a workspace ready; that it fails ends the run.
    pub(super) fn prepare(&self, command: &[String], folder: &Path, control: &Control) -> Result<(), Failure> {
        let words: Vec<Name> = command.iter().map(|word| Name::new(word)).collect();
        let why = match checks::run(&words, &self.manner(folder, None), control) {
            Ok(None) => return Ok(()),
            Ok(Some(result)) if result.passed => return Ok(()),
            Ok(Some(result)) => result.output,
            Err(failure) => failure.message().to_owned(),
        };
        let message = format!("`{}` does not make the workspace ready: {why}", command.join(" "));
        Err(Failure::new(Exit::Unavailable, Code::BadAgent, message).help("mend `prepare` in the agents file"))
    }

    fn manner<'f>(&self, folder: &'f Path, timeout: Option<Duration>) -> Manner<'f> {
        Manner { folder, timeout, lock: Some(self.lock.clone()), mark: format!("{}/check", self.mark) }
    }
}
